"""Plackett-Luce ratings, with confidence intervals that are clustered by deals and openings.

In the Plackett-Luce model, places are taken one after another, from the first to the last. An agent of
strength g takes the next place with probability g / G. G is the sum of the strengths of all agents that have
no place yet. With two players, this is the Bradley-Terry model.

Ratings are 400 log10(g), shifted so that their mean is 1500. A difference of 400 points means odds of 10 to 1
of finishing ahead. `choix.ilsr_rankings` fits the same model. This module counts equal rankings once, with a
weight, so that hundreds of bootstrap samples take only seconds.

Games of the same deal form a cluster. Games with the same opening also form a cluster, even if their deals
differ. Intervals come from a bootstrap over deals. If deals share openings, intervals are widened by the
ratio of two cluster-robust standard errors. The first is clustered by deals and openings (Cameron, Gelbach
and Miller 2011), and the second only by deals.
"""

from collections.abc import Iterator

import numpy as np

from risk_env.arrays import Floats, Ints
from risk_env.seeds import uint64

MEAN = 1500.0
POINTS = 400.0 / np.log(10.0)
PRIOR = 0.5  # prior wins and losses of each agent against an average player, which keep ratings finite
LEVEL = 0.95  # confidence level
FEW_CLUSTERS = 10  # minimum number of deals and of openings; with fewer, intervals are too narrow
SAMPLES = 1000  # number of bootstrap samples for rates
RATING_SAMPLES = 300  # number of bootstrap samples for ratings
_STEPS = 100
_LONGEST_STEP = 2.0
_PRECISION = 1e-9
_Z = 1.959963984540054  # two-sided normal quantile of LEVEL


class Rankings:
    """Games of a tournament as rankings; equal rankings are stored once.

    `order`, int (G, P), contains the agents of each game, from the first place to the last. An agent may
    occur several times in a game. A stage of a ranking is the choice of the agent that takes the next place.
    R is the number of different rankings.
    """

    def __init__(self, order: Ints, num_agents: int) -> None:
        distinct, which = np.unique(order, axis=0, return_inverse=True)
        self.which: Ints = which.reshape(-1)  # (G,) index of each game's ranking among the R rankings
        self.num_agents = num_agents
        stages = max(distinct.shape[1] - 1, 1)
        copies = (distinct[:, :, None] == np.arange(num_agents)).astype(float)  # (R, P, K)
        self._chosen = copies[:, :stages].sum(axis=1)  # (R, K) number of stages that each agent wins
        # (R, stages, K) number of each agent's copies that have no place yet
        self._left = copies[:, ::-1].cumsum(axis=1)[:, ::-1][:, :stages]

    def fit(self, weights: Floats | None = None, start: Floats | None = None, prior: float = PRIOR) -> Floats:
        """Return the log strengths that maximise likelihood times prior, float (K,), with mean 0.

        `weights`, float (G,), contains the weight of each game (default: 1). `start`, float (K,), contains
        the log strengths with which Newton's method begins (default: 0). `prior` replaces PRIOR.
        """
        of_rankings = np.bincount(self.which, weights, minlength=len(self._chosen)).astype(float)
        strengths = np.zeros(self.num_agents) if start is None else start.copy()
        for _ in range(_STEPS):
            share, average = self._shares(strengths), 1.0 / (1.0 + np.exp(-strengths))
            slope = of_rankings @ (self._chosen - share.sum(axis=1)) + prior * (1.0 - 2.0 * average)
            step = np.linalg.lstsq(self._bend(share, of_rankings, strengths, prior), slope, rcond=None)[0]
            longest = np.abs(step).max()
            strengths += step * min(1.0, _LONGEST_STEP / max(longest, _PRECISION))
            if longest < _PRECISION:
                break
        return strengths - strengths.mean()

    def influences(self, strengths: Floats) -> Floats:
        """Return the first-order influence of each game on the log strengths, float (G, K)."""
        share = self._shares(strengths)
        slopes = self._chosen - share.sum(axis=1)
        bend = self._bend(share, np.bincount(self.which).astype(float), strengths, PRIOR)
        return np.linalg.lstsq(bend, slopes.T, rcond=None)[0].T[self.which]

    def _shares(self, strengths: Floats) -> Floats:
        """Return the probability that each agent wins each stage of each ranking, float (R, stages, K)."""
        share = self._left * np.exp(strengths)
        return share / share.sum(axis=2, keepdims=True)

    def _bend(self, share: Floats, weights: Floats, strengths: Floats, prior: float) -> Floats:
        """Return the negative Hessian matrix of the log likelihood with the prior, float (K, K)."""
        weighted, average = share * weights[:, None, None], 1.0 / (1.0 + np.exp(-strengths))
        bend = np.diag(weighted.sum(axis=(0, 1)) + 2.0 * prior * average * (1.0 - average))
        return bend - weighted.reshape(-1, self.num_agents).T @ share.reshape(-1, self.num_agents)


def ratings(
    rankings: Rankings, deals: Ints, seed: int, samples: int = RATING_SAMPLES, openings: Ints | None = None
) -> tuple[Floats, Floats]:
    """Return the rating of each agent, float (K,), and its confidence interval, float (K, 2).

    `deals` and `openings`, int (G,), contain the deal and the opening of each game, as numbers from 0. If
    `openings` is None, each game has a different opening. With a single deal, intervals are NaN.
    """
    fitted = rankings.fit()
    if not deals.any():
        return MEAN + POINTS * fitted, np.full((len(fitted), 2), np.nan)
    draws = [rankings.fit(counts[deals], fitted) for counts in resampled(int(deals.max()) + 1, samples, seed)]
    intervals = _between(np.array(draws))
    if openings is not None and share_openings(deals, openings):
        factors = np.array([widening(column, deals, openings) for column in rankings.influences(fitted).T])
        intervals = fitted[:, None] + factors[:, None] * (intervals - fitted[:, None])
    return MEAN + POINTS * fitted, MEAN + POINTS * intervals


def share_openings(deals: Ints, openings: Ints) -> bool:
    """Return True if an opening occurs in more than one deal."""
    pairs = np.unique(np.stack([deals, openings]), axis=1).shape[1]
    return pairs > len(np.unique(openings))


def widening(influence: Floats, deals: Ints, openings: Ints) -> float:
    """Return the factor, at least 1, by which shared openings widen an interval over deals.

    All arguments have shape (G,). `influence` contains the influence of each game on the estimate. `deals`
    and `openings` contain the deal and the opening of each game, as numbers from 0.
    """
    both = np.unique(np.stack([deals, openings]), axis=1, return_inverse=True)[1].reshape(-1)
    of_deals, of_openings, of_both = (
        float((np.bincount(clusters, influence) ** 2).sum()) for clusters in (deals, openings, both)
    )
    return max(1.0, (of_deals + of_openings - of_both) / of_deals) ** 0.5 if of_deals > 0.0 else 1.0


def rates(
    parts: Floats, wholes: Floats, seed: int, samples: int = SAMPLES, most: Ints | None = None
) -> tuple[Floats, Floats]:
    """Return the rates `parts / wholes` over all deals, float (K,), and their intervals, float (K, 2).

    `parts` and `wholes` have shape (D, K), with one row per deal. If a rate is the same in all deals, the
    bootstrap interval has no width, and Wilson's interval is used instead. The number of observations of
    Wilson's interval is the number of deals, but at most `most`, int (K,).
    """
    drawn = np.array([(counts @ parts, counts @ wholes) for counts in resampled(len(parts), samples, seed)])
    with np.errstate(invalid="ignore", divide="ignore"):
        means = parts.sum(axis=0) / wholes.sum(axis=0)
        drawn_rates = drawn[:, 0] / drawn[:, 1]
        interval = np.full((len(means), 2), np.nan)
        seen = wholes.sum(axis=0) > 0
        interval[seen] = _between(drawn_rates[:, seen])
        alike = ~np.any(np.abs(parts - means * wholes) > 1e-12, axis=0)
    number = (wholes > 0).sum(axis=0)
    interval[alike] = wilson(means, number if most is None else np.minimum(number, most))[alike]
    return means, interval


def resampled(num_deals: int, samples: int, seed: int) -> Iterator[Floats]:
    """Yield the number of times that each deal is drawn, float (D,), for each bootstrap sample."""
    rng = np.random.default_rng(int(uint64(seed)))
    for _ in range(samples):
        yield np.bincount(rng.integers(num_deals, size=num_deals), minlength=num_deals).astype(float)


def _between(draws: Floats) -> Floats:
    """Return the central interval, float (K, 2), that contains the share LEVEL of `draws`, (samples, K)."""
    tail = (1.0 - LEVEL) / 2.0
    return np.nanquantile(draws, (tail, 1.0 - tail), axis=0).T


def wilson(rate: Floats, number: Ints) -> Floats:
    """Return the Wilson score interval of each rate, float (..., 2).

    `number` contains the number of observations of each rate. The interval is [0, 1] where `number` is 0.
    """
    n = np.maximum(number, 1)
    middle = (rate + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z * np.sqrt(rate * (1 - rate) / n + _Z**2 / (4 * n**2)) / (1 + _Z**2 / n)
    interval = np.stack([np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)], axis=-1)
    interval[number == 0] = (0.0, 1.0)
    return interval
