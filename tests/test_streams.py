"""Standard streams that are closed, full, without a reader, or unable to show a character."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from tests.cases import others_long

ROOT = Path(__file__).parent.parent
NEEDS_FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
PRESETS = "-m risk_env presets classic"


def shell(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments in a shell, and return the finished process."""
    line = f"exec {shlex.quote(sys.executable)} {command}"
    variables = {**os.environ, **environment}
    return subprocess.run(
        ["bash", "-c", line], cwd=ROOT, env=variables, capture_output=True, text=True, timeout=300
    )


COMMANDS = [PRESETS, "-m risk_env --version", "-m risk_env presets --help"]
CLOSED = [">&-", "2>&-", "<&-", "<&- >&-", "<&- >&- 2>&-", "2>/dev/full"]
# `make test` closes every stream, and tries every command.
CASES = others_long([*product(COMMANDS, CLOSED)], [*range(len(CLOSED)), len(CLOSED), 2 * len(CLOSED)])


@pytest.mark.parametrize(("command", "closed"), CASES)
def test_a_closed_stream_is_discarded(command: str, closed: str) -> None:
    if "full" in closed and not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    found = shell(f"{command} {closed}")
    assert (found.returncode, found.stderr) == (0, "")
    assert bool(found.stdout) == (">&-" not in closed.replace("2>&-", ""))


@NEEDS_FULL
@pytest.mark.parametrize("command", [PRESETS, "-m risk_env --version", "-m risk_env presets --help"])
def test_a_full_disk_under_the_product_is_an_error_in_a_line(command: str) -> None:
    found = shell(f"{command} >/dev/full")
    assert found.returncode == 2
    assert found.stderr == "risk-env: error: [Errno 28] No space left on device\n"


@pytest.mark.parametrize("closed", ["2>&-", "2>/dev/full"])
def test_an_error_that_nobody_can_read_is_an_error_still(closed: str) -> None:
    found = shell(f"-m risk_env presets clasic {closed}")
    assert (found.returncode, found.stdout, found.stderr) == (2, "", "")


SPEAKER = """
from risk_env.agent import Agent

class Speaker(Agent):
    def act(self, view):
        print("ü 漢 \\ud800", flush=True)
        return view.legal_actions[0]
"""


@pytest.mark.long
@pytest.mark.parametrize("streams", ["<&- >&- 2>&-", "2>/dev/full"])
@pytest.mark.parametrize("locale", [{"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}])
def test_what_a_bot_prints_decides_no_game(streams: str, locale: dict[str, str], tmp_path: Path) -> None:
    bot, out = tmp_path / "speaker.py", tmp_path / "games.sqlite"
    bot.write_text(SPEAKER)
    stranger = f"cmd:{shlex.quote(sys.executable)} {ROOT / 'examples' / 'bot_stdlib.py'}"
    agents = shlex.quote(f"{bot}:Speaker,{stranger}")
    options = f"--players 2 --games 2 --max-rounds 1 --out {out}"
    found = shell(f"-m risk_env tournament --agents {agents} {options} {streams}", **locale)
    assert found.returncode == 0, found.stderr
    from risk_agents.tournament.results_store import Store

    store = Store.open(out)
    assert [result.forfeit_reason for result in store.results()] == ["", ""]
    store.close()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_a_letter_gets_it_spelled_out(encoding: str) -> None:
    code = (
        "import sys; from risk_env import cli; cli.prepare_streams(); "
        "print('ü漢'); print('ü漢', file=sys.stderr)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=True,
    )
    assert found.stdout == found.stderr == "ü漢\n".encode(encoding, "backslashreplace")
