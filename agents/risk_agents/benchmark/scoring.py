"""Score of an agent on a track.

The score is 100 (w - e) / (1 - e), where w is the share of games that the agent wins, and e = 1 / P is the
even share of P players. An agent as strong as its opponents scores 0; an agent that wins every game scores
100. Nobody wins a truncated game.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np

from risk_agents.benchmark.tracks import Track
from risk_agents.tournament.ratings import FEW_CLUSTERS
from risk_agents.tournament.results import FORFEIT, TRUNCATED, GameResult
from risk_agents.tournament.summary import Estimate, Games

DIGITS = 2  # decimal places of scores and percentages
Rate = tuple[float, float, float]  # a value in percent or points, and its 95 % confidence interval


@dataclass(frozen=True)
class TrackScore:
    """Results of an agent on a track. Intervals count the games of a deal as one observation."""

    games: int
    deals: int
    wins: int
    truncated: int
    forfeits: int  # games that the agent forfeited
    score: Rate
    train: Rate | None  # score against opponents that agents may be trained against
    kept_out: Rate | None  # score against kept-out opponents
    # by label of the opponent: percent of meetings in which the agent finished before the opponent
    ahead: dict[str, Rate | None]
    # "score", "train", "kept_out" and labels of opponents: rates with too few deals for a reliable interval
    rough: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the results as a dict for `json.dumps`."""
        rates = {name: _listed(getattr(self, name)) for name in ("score", "train", "kept_out")}
        return {**vars(self), **rates, "ahead": {name: _listed(rate) for name, rate in self.ahead.items()}}


def _listed(rate: Rate | None) -> list[float] | None:
    return None if rate is None else list(rate)


def score_of(track: Track, parts: Sequence[Sequence[GameResult]]) -> TrackScore:
    """Return the score of agent 0 in the games of a track, which are given for each map.

    Raises ValueError if there is no game.
    """
    results = [
        replace(result, deal=result.deal * len(parts) + number)
        for number, part in enumerate(parts)
        for result in part
    ]
    if not results:
        raise ValueError(f"track {track.title}: no game has been played")
    kept_out = {number for number, each in enumerate(track.opponents, 1) if each.kept_out}
    against = [bool(kept_out & set(result.seats)) for result in results]
    games = Games(results, len(track.opponents) + 1)
    own = games.seats == 0
    return TrackScore(
        games=len(results),
        deals=games.num_deals,
        wins=int((games.won & own).sum()),
        truncated=sum(result.ending == TRUNCATED for result in results),
        forfeits=sum(result.ending == FORFEIT for result in results),
        score=_score(track, results),
        train=_score(track, [result for result, is_out in zip(results, against, strict=True) if not is_out]),
        kept_out=_score(track, [result for result, is_out in zip(results, against, strict=True) if is_out]),
        ahead=_ahead(track, games),
        rough=_rough(track, results, against),
    )


def _rough(track: Track, results: Sequence[GameResult], against: Sequence[bool]) -> tuple[str, ...]:
    """Return the names of rates from few deals. `against` is true for games with a kept-out opponent."""
    parts: dict[str, Iterable[GameResult]] = {
        "score": results,
        "train": compress(results, (not is_out for is_out in against)),
        "kept_out": compress(results, against),
    }
    for number, each in enumerate(track.opponents, 1):
        parts[each.label] = [result for result in results if number in result.seats]
    deals = {name: len({result.deal for result in part}) for name, part in parts.items()}
    return tuple(name for name, count in deals.items() if 0 < count < FEW_CLUSTERS)


def _score(track: Track, results: Sequence[GameResult]) -> Any:
    """Return the score in these games with its interval, or None without games."""
    if not results:
        return None
    games = Games(results, len(track.opponents) + 1)
    estimate = games.rate(games.won, np.where(games.seats == 0, 0, 1), 2, track.seed)[0]
    share = track.even_share
    return _rate(estimate, lambda rate: 100.0 * (rate - share) / (1.0 - share))


def _ahead(track: Track, games: Games) -> dict[str, Rate | None]:
    """Return how often agent 0 finished before each opponent."""
    own = np.where(games.seats == 0, games.places, 0).sum(axis=1)
    found = games.rate(own[:, None] < games.places, games.seats, games.num_agents, track.seed)
    return {
        each.label: None if np.isnan(found[number].value) else _rate(found[number], lambda rate: 100.0 * rate)
        for number, each in enumerate(track.opponents, 1)
    }


def _rate(estimate: Estimate, scale: Any) -> Rate:
    """Return an estimate on another scale, rounded."""
    low, value, high = (round(scale(rate), DIGITS) for rate in (estimate.low, estimate.value, estimate.high))
    return value, low, high
