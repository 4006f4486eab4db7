"""`risk-env demo`: a whole six-player game, then a thousand more with the wins by seat."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.console import Console
from rich.table import Table
from tqdm import tqdm

from risk_env import opponents
from risk_env.batch import GameBatch
from risk_env.cli import command_parser
from risk_env.maps import Board, load_map
from risk_env.rules import Rules

PLAYERS = 6
MAX_ROUNDS = 100
Z = 1.96  # of a 95 % interval


def main(argv: Sequence[str] | None = None) -> None:
    """The command `demo`."""
    parser = command_parser("demo")
    parser.add_argument("--games", type=int, default=1000, help="games of the table (default: %(default)s)")
    parser.add_argument("--agent", default="attacker", help="the bot of every seat (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the games' chance (default: %(default)s)")
    arguments = parser.parse_args(argv)
    rules = Rules.preset("classic", PLAYERS, attack="blitz", defender_dice="max", max_rounds=MAX_ROUNDS)
    board = load_map("classic")
    console = Console(highlight=False)
    bots = [opponents.compiled(arguments.agent)] * PLAYERS
    console.print(f"One game of six {arguments.agent}s on the {board.name} map (the first run compiles the rules) ...")
    console.print(play_one(rules, board, bots, arguments.seed), markup=False)
    results = play_many(rules, board, bots, arguments.games, arguments.seed)
    console.print(win_table(results))
    console.print(f"Truncated after {MAX_ROUNDS} rounds: {np.mean(results['truncated']):.1%}", highlight=False)


def play_one(rules: Rules, board: Board, bots: Sequence[opponents.CompiledBot], seed: int) -> str:
    """The board at the end of a game between bots, and who won."""
    batch = GameBatch(rules, board, 1, seed, observation=None, mask=None, autoreset=False)
    seating = opponents.Seating(batch, bots)
    seating.numbers[:, : len(bots)] = np.arange(len(bots))
    batch.reset()
    lane, actions = np.zeros(1, np.int64), np.zeros(1, np.int64)
    seating.sit_down(lane)
    while not batch.game_over[0]:
        batch.step_lanes(seating.answer(lane, actions), actions)
    return str(batch.game(0))


def play_many(rules: Rules, board: Board, bots: Sequence[opponents.CompiledBot], games: int, seed: int) -> np.ndarray:
    """The results of many games, behind a progress bar."""
    with tqdm(total=games, unit=" games", desc="Playing") as bar:
        return opponents.play(rules, board, bots, games, seed, progress=bar.update)


def win_table(results: np.ndarray) -> Table:
    """Wins by seat with their 95 % intervals (Wilson)."""
    table = Table("seat", "wins", "win rate", "95 % interval", title=f"{len(results)} games", title_justify="left")
    for seat in range(results["placement"].shape[1]):
        wins = int(np.sum(results["winner"] == seat))
        low, high = wilson(wins, len(results))
        table.add_row(str(seat), str(wins), f"{wins / len(results):.1%}", f"{low:.1%} ... {high:.1%}")
    return table


def wilson(wins: int, games: int) -> tuple[float, float]:
    """The 95 % interval of a win rate (Wilson 1927)."""
    rate, spread = wins / games, Z * Z / games
    middle = (rate + spread / 2) / (1 + spread)
    half = Z / (1 + spread) * np.sqrt(rate * (1 - rate) / games + spread / (4 * games))
    return max(0.0, middle - half), min(1.0, middle + half)
