"""The sequential test of one agent against another: it stops when the question is answered.

The unit is a block: one deal with A × 1 + B × (P - 1) and B × 1 + A × (P - 1), the lone agent in every seat.
Its score is the lone A's share of wins less the lone B's. H0: the expected score is 0; H1: it is +0.03; both
errors 5 %. The likelihood ratio takes scores as normal with the variance seen so far (as chess engines are
tested).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from risk_agents.tournament.results import NOBODY

GAIN = 0.03  # H1
ERROR = 0.05  # of either kind
BOUND = math.log((1 - ERROR) / ERROR)
LEAST_BLOCKS = 30  # before them nothing is decided
_PRIOR_SQUARES = 0.5  # added to the squares of deviations: blocks that all say the same leave some doubt

BETTER = "H1"  # A is better
NO_BETTER = "H0"
OPEN = "open"


@dataclass(frozen=True)
class Verdict:
    """Where a test stands after some number of blocks."""

    verdict: str  # BETTER, NO_BETTER or OPEN
    blocks: int
    ratio: float  # log likelihood ratio; the test ends beyond ±BOUND
    score: float  # mean score of the blocks
    error: float  # its standard error

    def __str__(self) -> str:
        words = {BETTER: "better", NO_BETTER: "no better", OPEN: "not yet decided"}[self.verdict]
        doubt = f"{self.score:+.3f} ± {1.96 * self.error:.3f}"
        return (
            f"{words} after {self.blocks} blocks: score {doubt}, "
            f"log likelihood ratio {self.ratio:+.2f} (±{BOUND:.2f})"
        )


def judge(scores: npt.NDArray[np.float64]) -> Verdict:
    """The verdict at the first block at which it falls; later ones do not count.

    `scores` float (blocks,), in order.
    """
    if not len(scores):
        return Verdict(OPEN, 0, 0.0, 0.0, 0.0)
    n = np.arange(1, len(scores) + 1)
    mean = np.cumsum(scores) / n
    squares = np.maximum(np.cumsum(scores**2) - n * mean**2, 0.0) + _PRIOR_SQUARES
    ratio = n * GAIN * (mean - GAIN / 2) / (squares / n)
    ended = np.flatnonzero((np.abs(ratio) >= BOUND) & (n >= LEAST_BLOCKS))
    last = int(ended[0]) if len(ended) else len(scores) - 1
    verdict = OPEN if not len(ended) else BETTER if ratio[last] > 0 else NO_BETTER
    error = math.sqrt(squares[last]) / int(n[last])
    return Verdict(verdict, int(n[last]), float(ratio[last]), float(mean[last]), error)


class Played(NamedTuple):
    """What a test needs to know of a game. Agent 0 is A, agent 1 is B."""

    deal: int
    seats: tuple[int, ...]
    winner: int  # seat, or NOBODY


def scores(games: Iterable[Played], block_size: int) -> npt.NDArray[np.float64]:
    """Score of each block, float (blocks,), as far as blocks 0, 1, ... are whole."""
    blocks: dict[int, list[Played]] = {}
    for game in games:
        blocks.setdefault(game.deal, []).append(game)
    found: list[float] = []
    while len(blocks.get(len(found), ())) == block_size:
        found.append(_score(blocks[len(found)]))
    return np.array(found, float)


def _score(block: Sequence[Played]) -> float:
    """The lone A's share of wins less the lone B's; in a duel each is alone in every game."""
    num_players = len(block[0].seats)
    wins = [0, 0]
    for game in block:
        for lone in (0, 1):
            wins[lone] += (
                game.winner != NOBODY and game.seats.count(lone) == 1 and game.seats[game.winner] == lone
            )
    games = len(block) if num_players == 2 else num_players
    return (wins[0] - wins[1]) / games
