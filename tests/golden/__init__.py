"""Golden games: the beginning of a game of each preset as text, and digests of the rest and of random games.

`make golden` (python -m tests.golden) writes them again; review the difference before you commit it. To see
where a game differs after its first rounds, print all of it before and after the change and compare:

    python -m tests.golden classic
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from risk_env import Game, Rules, presets
from tests.games import Player

FOLDER = Path(__file__).parent
DIGESTS = FOLDER / "digests.json"
SEED = 1959
TEMPER = 0.95
MAX_ROUNDS = 25
SHOWN_ROUNDS = 6
FURTHER_WORDS = ("troops", "dice", "blitz", "defend", "roll", "reroll", "commander", "occupy", "to", "move")


def path_of(preset: str) -> Path:
    """Return the file of a preset's golden game."""
    return FOLDER / f"{preset}.txt"


def play_golden(preset: str) -> tuple[list[str], int]:
    """Play a whole game of a preset, and return its lines and the number of lines of the first rounds.

    Every action and chance result has a line, and the final state has lines. The first rounds include the
    set-up.
    """
    rules = Rules.preset(preset, max_rounds=MAX_ROUNDS)
    game = Game(rules, seed=SEED)
    player = Player(random.Random(SEED), TEMPER)
    shown = 0
    while not game.is_over:
        game.step(player.choose(game.record, game.tables, game.legal_actions().tolist()))
        if game.round <= SHOWN_ROUNDS:
            shown = len(game.log)
    places = ", ".join(f"{seat}: {place}" for seat, place in enumerate(game.placements()))
    end = f"over in round {game.round}: winner {game.winner}, truncated {game.truncated}, places {places}"
    return [*game.log, end, "", *str(game).splitlines()], shown


def in_moves(lines: list[str]) -> Iterator[str]:
    """Yield the moves of a log, one per line: an attack with its dice, a draft or a march with its number."""
    move, seat = "", ""
    for line in lines:
        who, _, what = line.partition(": ")
        if move and what.split(" ")[0] in FURTHER_WORDS:
            move += f"; {what if who in (seat, 'chance') else line}"
            continue
        if move:
            yield move
        move, seat = line, who
    yield move


def golden_text(preset: str) -> str:
    """Return the text of a preset's file: the first rounds move by move, and a digest of the rest."""
    lines, shown = play_golden(preset)
    rest = "\n".join(lines[shown:])
    digest = hashlib.sha256(rest.encode()).hexdigest()[:16]
    heading = f"# {preset}, seed {SEED}: set-up and {SHOWN_ROUNDS} rounds"
    return "\n".join(
        [heading, *in_moves(lines[:shown]), f"# and {len(lines) - shown} lines of digest {digest}", ""]
    )


def load_digests() -> dict[str, Any]:
    """Return the digests of the random games of `tests/test_reference.py`, by preset."""
    return json.loads(DIGESTS.read_text(encoding="utf-8"))


def write_all() -> None:
    """Write every golden file again."""
    from tests.test_reference import MODE_ACTIONS, MODE_GAMES, MODE_SEED, compare

    digests = {}
    for preset in presets():
        path_of(preset).write_text(golden_text(preset), encoding="utf-8")
        seeds = range(MODE_SEED, MODE_SEED + MODE_GAMES)
        digests[preset] = [compare(preset, seed, MODE_ACTIONS).hex()[:16] for seed in seeds]
        print(f"{path_of(preset).name} written")
    DIGESTS.write_text(json.dumps(digests, indent=2) + "\n", encoding="utf-8")
