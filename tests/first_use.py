"""Check that nothing is compiled, or loaded from the cache, while an agent decides.

    python -m tests.first_use              every registered agent, every preset and number of players
    python -m tests.first_use --few        every registered agent, every preset, few numbers of players
    python -m tests.first_use --empty      the same from an empty cache, which takes some minutes
    python -m tests.first_use --only NAME  agents whose names begin with NAME
    python -m tests.first_use --empty --tournaments  a tournament of all agents for each preset: no forfeit

Agents play the beginnings of games through a tournament's host (`tournament.host`), against random players.
Their processes are new, so that any code that an agent did not prepare shows, whatever the cache holds.
"""

from __future__ import annotations

import argparse
import base64
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from risk_agents.search.strategist import LEAST_GAMES, Budget
from risk_agents.tournament import jobs
from risk_agents.tournament.host import AgentServer
from risk_agents.tournament.loading import make_config
from risk_env import bots
from risk_env.board.maps import Board, load_map
from risk_env.board.rules import Rules, preset_players, presets
from risk_env.compiler import notice
from risk_env.events import Event
from risk_env.game import Game

FAST: dict[str, Any] = {"attack": "blitz", "defender_dice": "max", "max_rounds": 6}
SMALL = Budget(games=LEAST_GAMES, again=8, places=1)  # budget of a strategist: the same code, but fewer games
MOST_DECISIONS = 60
FEW = (2, 3, 5)  # numbers of players for which a strategist uses different code


class Work(NamedTuple):
    """The work of one process: an agent plays these games one after another, given as `preset:players`."""

    agent: str
    games: tuple[str, ...]


def works(few: bool, only: str = "") -> Iterator[Work]:
    """Yield all work to do.

    An agent in Python gets a new process for each preset, or each game.

    The code that such an agent needs depends on the game.
    """
    for name in bots.names():
        if not name.startswith(only):
            continue
        games = [[f"{preset}:{players}" for players in _numbers(preset, few)] for preset in presets()]
        is_variant = few and ":" in name  # variant of an agent that is checked by itself
        if isinstance(bots.find(name), bots.CompiledBot) or is_variant:
            yield Work(name, tuple(game for preset in games for game in preset[: 1 if few else None]))
        else:
            for preset in games:
                yield from [Work(name, tuple(preset))] if few else [Work(name, (game,)) for game in preset]


def _numbers(preset: str, few: bool) -> list[int]:
    numbers = list(preset_players(preset))
    return [number for number in numbers if number in FEW] or numbers[:1] if few else numbers


def loaded() -> set[str]:
    """Return the compiled or loaded code of this process: entry points, with the number of signatures."""
    entries = [entry for entry in notice._listener.folder_of if entry.overloads]
    return {
        f"{entry.py_func.__module__}.{entry.py_func.__name__} {len(entry.overloads)}" for entry in entries
    }


def play(agent: str, preset: str, players: int) -> tuple[int, set[str]]:
    """Return the agent's number of decisions, and the code that was compiled or loaded in them.

    The number is 0 if the agent refuses the game.
    """
    rules, board = Rules.preset(preset, players, **FAST), load_map("classic")
    server, game, chance = AgentServer(), Game(rules, board, seed=1), np.random.default_rng(1)
    server.load(rules.to_dict(), "classic")
    server.introduce(agent)
    try:
        server.prepare(seat=0, seconds=0.0)
        server.begin(0, seed=1)
    except ValueError:
        return 0, set()
    if hasattr(server._agents[0], "budget"):
        server._agents[0].budget = SMALL
    decisions, found = 0, set[str]()
    while not game.is_over and game.alive[0] and decisions < MOST_DECISIONS:
        if game.seat != 0:
            game.step(int(chance.choice(game.legal_actions())))
            continue
        record, events = base64.b64encode(game.determinize(0, 0).to_record()).decode(), game.events(seat=0)
        before = loaded()
        reply = server.reply(
            {"id": decisions, "type": "act", "seat": 0, "record": record}, partial(answer, events)
        )
        if "error" in reply:
            raise RuntimeError(reply["error"])
        found |= loaded() - before
        decisions += 1
        game.step(reply["result"])
    return decisions, found


def answer(events: Sequence[Event], wish: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of a host to an agent's process that requests events."""
    return {"id": wish["id"], "events": [event.to_json() for event in events[wish["since"] :]]}


def play_apart(work: Work) -> tuple[str, list[str]]:
    """Call `play` in a new process and return a line about it, and lines about compiled code or errors."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "tests.first_use", "--play", *work.games, "--only", work.agent]
    done = subprocess.run(command, capture_output=True, text=True)
    decisions, *found = done.stdout.split("\n")[:-1] if done.returncode == 0 else ["0", done.stderr[-500:]]
    seconds = time.perf_counter() - start
    return f"{work.agent:<18}{', '.join(work.games)}: {decisions} decisions, {seconds:.1f} s", found


def check(chosen: Sequence[Work], jobs: int) -> list[str]:
    """Let all agents play and return a line for each fault."""
    faults = []
    with ThreadPoolExecutor(jobs) as threads:
        for line, found in threads.map(play_apart, chosen):
            print(line, flush=True)
            faults += [f"{line}: {fault}" for fault in found]
    return faults


def forfeits(preset: str, games: int, time_limit: float) -> list[str]:
    """Return the forfeits of a tournament of all registered agents that play a preset.

    The tournament has the smallest number of players of the preset.
    """
    rules, board = Rules.preset(preset, preset_players(preset)[0], **FAST), load_map("classic")
    agents = [name for name in bots.names() if _plays(bots.find(name), rules, board)]
    config = make_config(agents, rules, "classic", time_limit=time_limit)
    try:
        results = [result for pairing in config.schedule(games) for result in jobs.play(config, (pairing,))]
    finally:
        jobs.close_pools()
    found = [
        f"{preset}, game {result.game}: {result.forfeit_reason}" for result in results if result.forfeit_kind
    ]
    print(f"{preset}: {len(agents)} agents, {len(results)} games, {len(found)} forfeits", flush=True)
    return found


def _plays(found: Any, rules: Rules, board: Board) -> bool:
    try:
        return not isinstance(found, bots.CompiledBot) or found.check(rules, board) is None
    except ValueError:
        return False


def main() -> int:
    """Check the agents and return exit status 1 if anything was compiled or loaded in a decision."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.first_use", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--few", action="store_true", help="check only a few numbers of players")
    parser.add_argument("--empty", action="store_true", help="begin with an empty cache of compiled code")
    parser.add_argument(
        "--only", default="", metavar="NAME", help="check only agents whose names begin with NAME"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="number of processes (default: one per CPU)",
    )
    parser.add_argument("--tournaments", action="store_true", help="play a tournament of each preset instead")
    parser.add_argument(
        "--games", type=int, default=60, metavar="N", help="games of each tournament (default: 60)"
    )
    parser.add_argument(
        "--time-limit", type=float, default=10.0, metavar="S", help="seconds for one decision (default: 10)"
    )
    parser.add_argument("--play", nargs="*", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.play:
        games = [game.split(":") for game in arguments.play]
        played = [play(arguments.only, preset, int(players)) for preset, players in games]
        print(
            sum(decisions for decisions, _ in played),
            *sorted(set().union(*(found for _, found in played))),
            sep="\n",
        )
        return 0
    if arguments.tournaments and not arguments.empty:
        faults = [
            fault for name in presets() for fault in forfeits(name, arguments.games, arguments.time_limit)
        ]
        print(*faults, f"{len(faults)} forfeits", sep="\n")
        return 1 if faults else 0
    with tempfile.TemporaryDirectory() as folder:
        if arguments.empty:
            os.environ["RISK_ENV_CACHE_DIR"] = folder
        if arguments.tournaments:  # in a new process with an empty cache
            again = [
                "--tournaments",
                "--games",
                str(arguments.games),
                "--time-limit",
                str(arguments.time_limit),
            ]
            return subprocess.run([sys.executable, "-m", "tests.first_use", *again]).returncode
        faults = check(list(works(arguments.few, arguments.only)), arguments.jobs)
    print(*faults, f"{len(faults)} times something was compiled or loaded in a decision", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
