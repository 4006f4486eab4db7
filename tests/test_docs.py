"""Pages that repeat facts of the code: no option, argument or cited section is missing."""

import importlib.util
import inspect
import re
import subprocess
import sys
from dataclasses import fields
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote

import numpy as np
import pytest

import risk_env
from risk_agents.export import FOLDER
from risk_agents.learned.trained import facts_of, kind_in
from risk_agents.program import LONGEST_LINE
from risk_env import GameBatch, PublicState, Rules, load_map
from risk_env.board.action_space import BLOCK_OF, ActionSpace
from risk_env.envs.gymnasium_env import lane_arguments, make_lanes
from risk_env.words.action_plan import MOST_CHARACTERS, MOST_STEPS
from tests.fuzz.targets import named as fuzz_targets
from tests.pages import ROOT, code_of, page, run_code


def program(name: str) -> ModuleType:
    """Return a program of docs/ as a module."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / "docs" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGES = program("generate").PAGES
SITE = program("site").files()
LINK = re.compile(r"\]\(([^)\s]+)\)")


def rows(name: str, section: str = "") -> dict[str, list[str]]:
    """Return the cells of a page's table rows, by the code words of the first cell; earlier tables win.

    With `section`, only the tables under the heading of this name are read.
    """
    text = page(name).split(f"\n## {section}\n")[1].split("\n## ")[0] if section else page(name)
    cells = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `")]
    return {word: row for row in reversed(cells) for word in re.findall("`(.*?)`", row[0])}


def default_of(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def test_every_option_and_its_default_is_in_the_rules() -> None:
    told = rows("rules", "13 Options")
    for option in fields(Rules):
        assert told[option.name][2].strip("`") == default_of(option.default), option.name


@pytest.mark.parametrize(
    ("name", "function"),
    [("batch", GameBatch.__init__), ("gymnasium", make_lanes), ("gymnasium", lane_arguments)],
)
def test_every_argument_is_on_its_page(name: str, function: object) -> None:
    told = rows(name)
    for argument in inspect.signature(function).parameters.values():
        if argument.name != "self" and argument.kind not in (argument.POSITIONAL_ONLY, argument.VAR_KEYWORD):
            assert argument.name in told, argument.name
            assert told[argument.name][1].strip("`") == default_of(argument.default), argument.name


def test_the_page_of_public_facts_has_every_field() -> None:
    assert set(rows("public", "`PublicState`")) == {field.name for field in fields(PublicState)}


def test_the_page_of_public_facts_has_every_word_of_the_actions() -> None:
    told = rows("public", "`ActionSpace`")
    space = ActionSpace(Rules.preset("command_room", commander=True), load_map("classic"))
    assert set(told) == {space.decode(action).kind for action in range(space.n)}
    words = {word: kind for kind, cells in told.items() for word in re.findall("`(.*?)`", "".join(cells[2:]))}
    assert {*words, *told} == set(BLOCK_OF)
    assert all(BLOCK_OF[word] == BLOCK_OF[kind] for word, kind in words.items())


def test_an_argument_has_the_same_value_in_every_command() -> None:
    values: dict[str, set[str]] = {}
    for option, value in re.findall(r"^\| `(--[\w-]+)(?: ([^`]*))?` \|", page("commands"), re.MULTILINE):
        values.setdefault(option, set()).add(value.replace("FOLDER", "FILE"))
    assert len(values) > 80
    assert {option for option, words in values.items() if len(words) > 1} == set()


def test_every_section_that_is_cited_is_there() -> None:
    there = set(re.findall(r"^#+ ([0-9.]+) ", page("rules"), re.MULTILINE))
    there |= set(re.findall(r"\*\*([0-9.]+)\*\*", page("rules")))
    sources = [
        path for folder in ("risk_env", "agents", "training", "docs") for path in (ROOT / folder).rglob("*.*")
    ]
    texts = [path.read_text(encoding="utf-8") for path in sources if path.suffix in (".py", ".md", ".toml")]
    cited = {number for text in texts for number in re.findall(r"RULES ([0-9]+(?:\.[0-9]+)*)", text)}
    assert len(cited) > 60
    assert cited <= there, cited - there


def test_the_code_about_replays_runs() -> None:
    codes = code_of(page("browser"), "page = ")
    assert len(codes) == 2
    for code in codes:
        assert run_code([code])["page"].startswith("<!doctype html>")


@pytest.mark.parametrize("name", ["docs/public.md", "README.md"])
def test_the_code_about_public_facts_runs(name: str) -> None:
    codes = code_of((ROOT / name).read_text(encoding="utf-8"), "game.public()")
    assert codes
    for code in codes:
        run_code([code])


def cited_files(text: str) -> set[str]:
    """Return the files of this repository that a text names."""
    folders = "docs|tests|examples|benchmarks|research|risk_env|agents|training"
    return set(re.findall(rf"\b((?:{folders})/[a-z_0-9/-]+\.(?:md|py|toml|yml))\b", text))


@pytest.mark.parametrize(
    ("name", "most"), [("README.md", 100), ("CONTRIBUTING.md", 50), ("docs/training.md", 250)]
)
def test_a_page_stays_short(name: str, most: int) -> None:
    assert len((ROOT / name).read_text().splitlines()) <= most


def test_the_architecture_names_modules_by_their_present_names() -> None:
    """A name may be a path in the repository, a path from a package's folder, or the file's name alone."""
    folders = ("risk_env", "agents", "training", "benchmarks", "tests", "docs")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    modules = [f"/{path.relative_to(ROOT).as_posix()}" for path in files]
    named = sorted(set(re.findall(r"`((?:[a-z_0-9]+/)*[a-z_0-9]+\.py)", page("architecture"))))
    assert len(named) > 30
    assert [name for name in named if not any(path.endswith(f"/{name}") for path in modules)] == []


def test_the_page_of_the_protocol_has_the_limits_of_an_answer() -> None:
    limits = {
        "| 1 MiB |": LONGEST_LINE == 1 << 20,
        f"| {MOST_STEPS} |": True,
        f"| {MOST_CHARACTERS:,} |": True,
    }
    assert all(limit in page("protocol") and is_right for limit, is_right in limits.items())


def test_the_security_policy_names_tests_and_fuzz_targets_that_exist() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    named = set(re.findall("`([a-z]+)`", " ".join(re.findall("fuzz targets? ((?:`[a-z]+`(?:, )?)+)", text))))
    assert len(named) > 15 and named <= set(fuzz_targets())
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| a ")]
    assert len(rows) > 15
    assert [row[0] for row in rows if "Data." in row[1] and not re.search("tests/|fuzz target", row[2])] == []


def test_every_file_that_is_cited_is_there() -> None:
    folders = ("risk_env", "agents", "training", "benchmarks", "research", "tests", "docs", "examples")
    sources = [
        path for folder in folders for kind in ("py", "md") for path in (ROOT / folder).rglob(f"*.{kind}")
    ]
    cited = {
        name
        for path in [*sources, *ROOT.glob("*.md")]
        for name in cited_files(path.read_text(encoding="utf-8"))
    }
    assert "docs/rules.md" in cited and len(cited) > 20
    assert [name for name in sorted(cited) if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_as_generated(name: str) -> None:
    assert PAGES[name]() == (ROOT / "docs" / name).read_text(encoding="utf-8"), "run: make docs"


def test_the_reference_has_every_public_name() -> None:
    assert set(re.findall(r"^::: risk_env\.(\w+)$", page("api/risk_env"), re.MULTILINE)) == set(
        risk_env.__all__
    )


def without_code(path: Path) -> str:
    """Return the text of a page without its code blocks."""
    return re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(path: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    titles = re.findall(r"^#+ (.*)$", LINK.sub("", without_code(path)), re.MULTILINE)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in titles}


@pytest.mark.parametrize("path", [path for path in SITE if path.suffix == ".md"], ids=lambda path: path.name)
def test_every_link_of_a_page_leads_to_a_file_of_the_site_and_to_a_heading(path: Path) -> None:
    for link in LINK.findall(without_code(path)):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target in SITE, f"{link}: docs/site.py copies no such file"
        assert not anchor or anchor in anchors(target), f"{link}: no such heading"


class Site(HTMLParser):
    """A page's loaded files (scripts, pictures, styles, frames), its links, and its targets of links."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.links: list[str] = []
        self.anchors = {""}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "src" or (tag == "link" and name == "href"):
                self.addresses.append(value or "")
            elif tag == "a" and name == "href":
                self.links.append(value or "")
            elif name in ("id", "name"):
                self.anchors.add(value or "")


def pages_of(site: Path) -> dict[Path, Site]:
    """Return the pages of a built site by file, except the 404 page, whose links are absolute."""
    found = {}
    for path in site.rglob("*.html"):
        if path.name != "404.html":
            found[path] = Site()
            found[path].feed(path.read_text(encoding="utf-8"))
    return found


def dead_links(pages: dict[Path, Site]) -> list[str]:
    """Return the links to files or anchors that the site does not have."""
    dead = []
    for path, found in pages.items():
        for link in found.links:
            if re.match(r"[a-z]+:", link):
                continue
            file, _, anchor = unquote(link).partition("#")
            target = (path.parent / file).resolve() if file else path
            target = target / "index.html" if target.is_dir() else target
            known = pages[target].anchors if target in pages else {""} if target.is_file() else set()
            if anchor not in known:
                dead.append(f"{path}: {link}")
    return dead


def test_the_site_builds_without_a_warning_has_no_dead_link_and_loads_nothing_from_outside() -> None:
    pytest.importorskip("zensical")
    pytest.importorskip("mkdocstrings")
    built = subprocess.run(
        [sys.executable, "docs/site.py"], cwd=ROOT, capture_output=True, text=True, timeout=240
    )
    assert built.returncode == 0, built.stdout + built.stderr
    site = ROOT / "build" / "site"
    pages = pages_of(site)
    styles = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    addresses = [address for found in pages.values() for address in found.addresses]
    addresses += [
        found for style in styles for found in re.findall(r"""(?:url\(|@import)\s*["']?([^"')]+)""", style)
    ]
    assert len(addresses) > 100
    assert [address for address in addresses if re.match(r"(?:[a-z]+:)?//", address)] == []
    assert dead_links(pages) == []
    assert (site / "docs" / "replay.html").is_file() and "docs/replay.html" in pages[
        site / "index.html"
    ].addresses
    reference = (site / "docs" / "api" / "risk_env" / "index.html").read_text(encoding="utf-8")
    assert "A game in progress." in reference  # the docstring of Game


def test_the_code_about_search_runs() -> None:
    game = run_code(code_of(page("search")))["game"]
    assert isinstance(game, risk_env.Game) and len(game.actions) == 40


def test_the_cards_of_the_shipped_models_agree_with_the_files() -> None:
    told, files = rows("models"), sorted(FOLDER.glob("*.npz"))
    assert len(files) == len([name for name in told if name.endswith(".npz")])
    for path in files:
        made, kind = facts_of(path)["made"], kind_in(facts_of(path))
        with np.load(path) as arrays:
            weights = sum(arrays[name].size for name in arrays.files if name != "facts")
        unit = "decisions" if kind == "policy" else "games"
        found = (
            kind,
            f"{weights:,}",
            f"{made['steps']:,} {unit}",
            f"{made['cpu_seconds']:,} s",
            made["version"],
        )
        assert tuple(told[path.name][1:]) == found, path.name
        assert f"## `{path.stem}`" in page("models") and f"seed {made['config']['seed']}" in page("models")
