"""Leaderboard: one static page about the result files in a folder.

The result files may be untrusted, so all their strings are escaped.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import quote

from risk_agents import table_page as pages
from risk_agents.benchmark.result_file import CARD, SUFFIX, Header, read_recorded, read_results
from risk_agents.benchmark.scoring import TrackScore
from risk_agents.benchmark.tracks import Track, find, names
from risk_agents.tournament.ratings import FEW_CLUSTERS
from risk_agents.tournament.results import NOBODY
from risk_agents.tournament.summary import Estimate
from risk_env.messages import counted
from risk_env.saved_game import SavedGameError
from risk_env.text.escape import for_html
from risk_env.whole_file import whole_file

TITLE = "risk_env leaderboard"
ABOUT = (
    "The score of a track is 0 for an even share of the wins, and 100 for winning every game. The mean "
    "covers all tracks that do not limit the training. Brackets contain 95 % confidence intervals. Rows with "
    "the word quick cover only the first deals of each track, so the intervals are wide. Click a heading to "
    "sort the table."
)
ABOUT_OPPONENTS = (
    "The column train shows the score against opponents that agents may be trained against. The column kept "
    "out shows the score against opponents that agents may not be trained against. Each column with the name "
    "of an opponent shows the percentage of shared games in which the agent finished before this opponent."
)
FEW_DEALS = (
    f"* The score or percentage comes from fewer than {FEW_CLUSTERS} deals, so the interval is too narrow."
)
MOST_FILES = 500
MOST_ACTIONS = 50_000  # maximum number of actions in a game with a replay


class LeaderboardEntry(NamedTuple):
    """Result file that the leaderboard shows."""

    file: str  # name of the file
    header: Header
    scores: dict[str, TrackScore]  # by name of the track
    replays: list[tuple[str, str]]  # address and title of each replay
    # None if the games were not played again; otherwise True if the agent's actions were compared too
    verified: bool | None

    @property
    def titles(self) -> dict[str, Track]:
        """Tracks of the file, by title."""
        return {track.title: track for track in self.header.tracks}

    @property
    def mean(self) -> float | None:
        """Mean score over all tracks that do not limit the training.

        None unless the file contains the newest version of each of these tracks.
        """
        newest = map(find, names())
        if any(track.training_decisions is None and track.title not in self.titles for track in newest):
            return None
        return self.mean_of_own

    @property
    def mean_of_own(self) -> float:
        """Mean score over the tracks of the file; training tracks count only if there are no other tracks."""
        general = [track.name for track in self.header.tracks if track.training_decisions is None]
        scores = [self.scores[name].score.value for name in general or self.scores]
        return math.fsum(scores) / len(scores)


def read_folder(folder: str | Path) -> list[Path]:
    """Return the result files in a folder.

    Raises NotADirectoryError if the folder does not exist. Raises ValueError if the folder contains no result
    file, or more than MOST_FILES result files.
    """
    if not Path(folder).is_dir():
        raise NotADirectoryError(f"there is no folder {str(folder)!r}")
    paths = sorted(path for path in Path(folder).glob(f"*{SUFFIX}") if path.is_file())
    if not 0 < len(paths) <= MOST_FILES:
        raise ValueError(f"{folder} contains {len(paths)} {SUFFIX} files; 1 to {MOST_FILES} are allowed")
    return paths


def write_page(
    page: Path, files: Sequence[Path], replays: int = 0, verified: Mapping[Path, bool] = MappingProxyType({})
) -> list[tuple[Path, str]]:
    """Write a page about result files, and return the files that were left out, each with its problem.

    `replays` is the maximum number of replays for each track of a file. The replays are written into a folder
    beside the page. The keys of `verified` are the files that passed `verify`; a value is True if the agent's
    actions were compared too. Raises ValueError if every file was left out.
    """
    entries, refused = [], []
    for number, path in enumerate(files):
        try:
            header, scores = _read(path)
            links = _write_replays(page, number, path, replays) if replays else []
            entries.append(LeaderboardEntry(path.name, header, scores, links, verified.get(path)))
        except ValueError as error:
            refused.append((path, str(error)))
    if not entries:
        raise ValueError("; ".join(problem for _, problem in refused))
    with whole_file(page) as fresh:
        fresh.write_text(page_of(entries), encoding="utf-8")
    return refused


def page_of(entries: Sequence[LeaderboardEntry], introduction: str = "") -> str:
    """Return the leaderboard as an HTML page. The page begins with `introduction`, which must be HTML."""
    return pages.page(TITLE, "\n".join(_content(entries, introduction)))


def _read(path: Path) -> tuple[Header, dict[str, TrackScore]]:
    """Read a result file; convert OSError to ValueError, so that the page leaves out unreadable files."""
    try:
        return read_results(path)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}") from error


# ------------------------------------------------------------------------------------------ replays


def _write_replays(page: Path, number: int, path: Path, count: int) -> list[tuple[str, str]]:
    """Write replays of the agent's longest wins, and return the address and the title of each replay.

    `count` is the maximum number of replays per track.
    """
    folder = page.with_name(f"{page.stem}-replays")
    wanted: dict[str, list[tuple[int, int]]] = {}  # by track: -rounds and index of each game
    for place, game in enumerate(read_recorded(path)):
        result = game.result
        is_won = result.winner != NOBODY and result.seats[result.winner] == 0
        if is_won and len(game.saved.actions) <= MOST_ACTIONS:
            wanted.setdefault(game.track.name, []).append((-result.rounds, place))
    chosen = {place for games in wanted.values() for _, place in sorted(games)[:count]}
    links = []
    for place, game in enumerate(read_recorded(path)):
        if place in chosen:
            folder.mkdir(exist_ok=True)
            name = f"{number}-{game.track.title}-{place}.html"
            played = game.saved.replay(game.config.board)
            if not played.is_over:
                raise SavedGameError(f"{game.saved.place}: the game is not over after its last action")
            replay = played.replay(game.saved.players)
            with whole_file(folder / name) as fresh:
                replay.save(fresh)
            links.append(
                (
                    quote(f"{folder.name}/{name}"),
                    f"{game.track.title}, {counted(game.result.rounds, 'round')}",
                )
            )
    return links


# ------------------------------------------------------------------------------------------ the page


def _content(entries: Sequence[LeaderboardEntry], introduction: str) -> Iterator[str]:
    """Yield the parts of the page, as HTML."""
    by_title = {title: track for entry in entries for title, track in entry.titles.items()}
    tracks = sorted(by_title.values(), key=lambda track: (names().index(track.name), -track.version))
    ranked = sorted(entries, key=lambda entry: (entry.mean is None, -entry.mean_of_own))
    yield introduction
    yield f"<p>{ABOUT}</p>"
    yield _scores(ranked, tracks)
    yield f"<p>{FEW_DEALS}</p>"
    yield "<h2>Agents</h2><div class='cards'>"
    yield from map(_card, ranked)
    yield f"</div><h2>Agent against opponent</h2><p>{ABOUT_OPPONENTS}</p>"
    for track in tracks:
        yield _pairwise([entry for entry in ranked if track.title in entry.titles], track)


def _scores(entries: Sequence[LeaderboardEntry], tracks: Sequence[Track]) -> str:
    titles = [("agent", "text"), ("version", "text"), ("mean score", "number")]
    heading = [*titles, *((track.title, "number") for track in tracks), ("games", "text"), ("date", "text")]
    rows = []
    for entry in entries:
        agent = entry.header.facts["agent"]
        cells = [pages.text_cell(agent["name"]), pages.text_cell(agent["version"]), _mean(entry.mean)]
        scores = [entry.scores[track.name] if track.title in entry.titles else None for track in tracks]
        cells += [
            _rate(score.score, "score" in score.rough) if score else _rate(None, False) for score in scores
        ]
        part = "quick" if entry.header.is_quick else "all"
        state = "not verified" if entry.verified is None else "verified"
        rows.append(
            [
                *cells,
                pages.text_cell(f"{part}, {state}"),
                pages.text_cell(entry.header.facts["times"]["date"]),
            ]
        )
    return pages.table("Scores", heading, rows)


def _pairwise(entries: Sequence[LeaderboardEntry], track: Track) -> str:
    heading = [("agent", "text"), ("train", "number"), ("kept out", "number")]
    heading += [(each.label, "number") for each in track.opponents]
    rows = []
    for entry in entries:
        score = entry.scores[track.name]
        rates = {"train": score.train, "kept_out": score.kept_out}
        rates |= {each.label: score.ahead[each.label] for each in track.opponents}
        cells = (_rate(rate, name in score.rough) for name, rate in rates.items())
        rows.append([pages.text_cell(entry.header.name), *cells])
    table = pages.table(f"Agents against opponents, {track.title}", heading, rows)
    return f"<details><summary>{track.title}: {for_html(track.about)}</summary>{table}</details>"


def _mean(mean: float | None) -> str:
    return pages.number_cell(mean, "" if mean is None else f"{mean:.1f}")


def _rate(rate: Estimate | None, is_rough: bool) -> str:
    if rate is None:
        return pages.number_cell(None)
    interval = f'<span class="interval">[{rate.low:.1f}, {rate.high:.1f}]{"*" * is_rough}</span>'
    return pages.number_cell(rate.value, f"{rate.value:.1f} {interval}")


def _checked(agent_played: bool | None) -> str:
    """Describe the check of a file; `agent_played` is None if the file's games were not played again."""
    if agent_played is None:
        return "scores compared with the results of the games"
    if agent_played:
        return "all games played again, all actions compared"
    return "all games played again; the agent's actions are taken from the file"


def _card(entry: LeaderboardEntry) -> str:
    """Return the card of an agent, as HTML."""
    facts = entry.header.facts
    agent, machine, times = facts["agent"], facts["machine"], facts["times"]
    lines = [(name, _linked(facts["card"][name])) for name in CARD]
    lines.append(("date", for_html(times["date"])))
    lines.append(("version of risk_env", for_html(facts["risk_env"])))
    lines.append(("result file", for_html(entry.file)))
    lines.append(("checked", _checked(entry.verified)))
    if agent["sha256"]:
        lines.append(("SHA-256", for_html(agent["sha256"])))
    paces = ", ".join(f"{name} {pace:.3g}" for name, pace in times["ms_a_turn"].items())
    lines.append(("ms per turn", for_html(paces)))
    lines.append(("machine", for_html(", ".join(f"{name} {text}" for name, text in machine.items()))))
    if entry.replays:
        links = (f'<a href="{for_html(address)}">{for_html(title)}</a>' for address, title in entry.replays)
        lines.append(("replays", "<br>".join(links)))
    title = f"{agent['name']}, version {agent['version']}"
    return f'<article class="card"><h3>{for_html(title)}</h3><dl>{pages.fact_list(lines)}</dl></article>'


def _linked(words: str) -> str:
    """Escape a string for HTML; turn an address that begins with https:// into a link."""
    text = for_html(words)
    is_address = words.startswith("https://") and words.isprintable() and not set(words) & set(" \"'<>`")
    return f'<a href="{text}" rel="nofollow noopener noreferrer">{text}</a>' if is_address else text
