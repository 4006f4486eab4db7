"""Golden games: one whole game a preset as text, and digests of random games.

`make golden` (python -m tests.golden) writes them again; review the difference before you commit it.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from risk_env import Game, Rules, presets
from tests.games import Player

FOLDER = Path(__file__).parent
DIGESTS = FOLDER / "digests.json"
SEED = 1959
TEMPER = 0.95
MAX_ROUNDS = 25
MOST_LINES = 4000


def path_of(preset: str) -> Path:
    """The file of a preset's golden game."""
    return FOLDER / f"{preset}.txt"


def play_golden(preset: str) -> str:
    """A whole game of a preset, every action and chance result a line, and how it stood at the end."""
    rules = Rules.preset(preset, max_rounds=MAX_ROUNDS)
    game = Game(rules, seed=SEED)
    player = Player(random.Random(SEED), TEMPER)
    while not game.is_over:
        game.step(player.choose(game.record, game.tables, game.legal_actions().tolist()))
    places = ", ".join(f"{seat}: {place}" for seat, place in enumerate(game.placements()))
    end = f"over in round {game.round}: winner {game.winner}, truncated {game.truncated}, places {places}"
    return "\n".join([f"# {preset}, {rules.num_players} players, seed {SEED}", *game.log, end, "", str(game), ""])


def load_digests() -> dict[str, Any]:
    """Digests of the random games of `tests/test_twin.py`, by preset."""
    return json.loads(DIGESTS.read_text(encoding="utf-8"))


def write_all() -> None:
    """Write every golden file again."""
    from tests.test_twin import MODE_ACTIONS, MODE_GAMES, MODE_SEED, compare

    digests = {}
    for preset in presets():
        path_of(preset).write_text(play_golden(preset), encoding="utf-8")
        seeds = range(MODE_SEED, MODE_SEED + MODE_GAMES)
        digests[preset] = [compare(preset, seed, MODE_ACTIONS).hex()[:16] for seed in seeds]
        print(f"{path_of(preset).name} written")
    DIGESTS.write_text(json.dumps(digests, indent=2) + "\n", encoding="utf-8")
