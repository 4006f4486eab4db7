"""Sequential probability ratio test (SPRT) of agent A against agent B.

The unit of the test is a block, which contains the games of one deal. In these games, A plays alone against
P - 1 copies of B, or B alone against P - 1 copies of A. Each agent plays alone once from every seat. The
score of a block is the lone A's share of wins minus the lone B's share of wins. If the luck of all games is
known (`risk_agents.luck`), the luck of each lone agent is subtracted from its wins. This does not change the
expected score, but reduces the variance.

H0 states that the expected score is 0, and H1 that the expected score is +0.03. Both error rates are 5 %. The
likelihood ratio assumes that scores are normally distributed, with the variance of the blocks so far. Chess
engines are tested in the same way.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

GAIN = 0.03  # expected score under H1
ERROR = 0.05  # error rate of both kinds
BOUND = math.log((1 - ERROR) / ERROR)
LEAST_BLOCKS = 30  # minimum number of blocks before the test can end
_PRIOR_SQUARES = 0.5  # added to the sum of squared deviations, so that equal scores do not give variance 0

BETTER = "H1"  # verdict: A is better
NO_BETTER = "H0"  # verdict: A is not better
OPEN = "open"  # verdict: more blocks are needed


@dataclass(frozen=True)
class Verdict:
    """State of a test after a number of blocks."""

    verdict: str  # BETTER, NO_BETTER or OPEN
    blocks: int
    ratio: float  # log likelihood ratio; the test ends at or beyond ±BOUND
    score: float  # mean score of the blocks
    error: float  # standard error of `score`

    def __str__(self) -> str:
        words = {BETTER: "better", NO_BETTER: "no better", OPEN: "not yet decided"}[self.verdict]
        doubt = f"{self.score:+.3f} ± {1.96 * self.error:.3f}"
        return (
            f"{words} after {self.blocks} blocks: score {doubt}, "
            f"log likelihood ratio {self.ratio:+.2f} (bounds ±{BOUND:.2f})"
        )


def judge(scores: npt.NDArray[np.float64]) -> Verdict:
    """Return the verdict after the first block that decides the test, or else after the last block.

    `scores`, float (blocks,), contains the scores in the order of the blocks. The test is decided when the
    likelihood ratio is at or beyond a bound, but not before LEAST_BLOCKS blocks.
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
    """Facts of a game that the test needs; agent 0 is A, and agent 1 is B."""

    deal: int
    seats: tuple[int, ...]
    winner: int  # seat, or NOBODY
    luck: tuple[float, ...] = ()  # luck of each seat, or () to count only wins


def scores(games: Iterable[Played], block_size: int) -> npt.NDArray[np.float64]:
    """Return the scores of the complete blocks before the first incomplete block, float (blocks,).

    A block contains all games of one deal.
    """
    blocks: dict[int, list[Played]] = {}
    for game in games:
        blocks.setdefault(game.deal, []).append(game)
    scores: list[float] = []
    while len(blocks.get(len(scores), ())) == block_size:
        scores.append(_score(blocks[len(scores)]))
    return np.array(scores, float)


def _score(block: Sequence[Played]) -> float:
    """Return the score of a block (see the module).

    With two players, both agents are alone in every game.
    """
    num_players = len(block[0].seats)
    wins = [0.0, 0.0]
    for game in block:
        for lone in (0, 1):
            if game.seats.count(lone) == 1:
                seat = game.seats.index(lone)
                wins[lone] += (game.winner == seat) - (game.luck[seat] if game.luck else 0.0)
    games = len(block) if num_players == 2 else num_players
    return (wins[0] - wins[1]) / games
