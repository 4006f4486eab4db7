"""Score of an agent on a track.

The score is 100 (w - e) / (1 - e). Here w is the share of games that the agent wins, and e = 1 / P is the
even share of P players. Without truncated games, an agent as strong as its opponents scores 0 on average.
Nobody wins a truncated game. An agent that wins every game scores 100.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np

from risk_agents.benchmark.tracks import Track
from risk_agents.tournament.ratings import FEW_CLUSTERS
from risk_agents.tournament.results import FORFEIT, TRUNCATED, GameResult
from risk_agents.tournament.summary import Estimate, Games

DIGITS = 2  # decimal places of scores and percentages
# Names of a track's scores: over all games, and over the games against each group of opponents
RATES = ("score", "train", "kept_out")


@dataclass(frozen=True)
class TrackScore:
    """Results of an agent on a track; the confidence intervals are clustered by deals."""

    games: int
    deals: int
    wins: int
    truncated: int
    forfeits: int  # games that the agent forfeited
    score: Estimate
    train: Estimate | None  # score against opponents that agents may be trained against
    kept_out: Estimate | None  # score against kept-out opponents
    # percentage of shared games in which the agent finished before an opponent, by label of the opponent
    ahead: dict[str, Estimate | None]
    # names in RATES and labels of opponents whose rates have too few deals for a reliable interval
    rough: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the results as a dict for `json.dumps`, with each rate as the list [value, low, high]."""
        rates = {name: _listed(getattr(self, name)) for name in RATES}
        return {**vars(self), **rates, "ahead": {name: _listed(rate) for name, rate in self.ahead.items()}}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> "TrackScore":
        """Return the results that a dict from `to_dict` describes, even after a round trip through JSON."""
        rates = {name: _estimate(facts[name]) for name in RATES}
        ahead = {name: _estimate(rate) for name, rate in facts["ahead"].items()}
        return cls(**{**facts, **rates, "ahead": ahead, "rough": tuple(facts["rough"])})


def _listed(rate: Estimate | None) -> list[float] | None:
    return None if rate is None else list(astuple(rate))


def _estimate(rate: Sequence[float] | None) -> Estimate | None:
    return None if rate is None else Estimate(*rate)


def score_of(track: Track, parts: Sequence[Sequence[GameResult]]) -> TrackScore:
    """Return the results of the measured agent, which is agent 0, on a track.

    `parts` contains the results of the games on each map. Raises ValueError if there is no game.
    """
    results = [
        replace(result, deal=result.deal * len(parts) + number)
        for number, part in enumerate(parts)
        for result in part
    ]
    if not results:
        raise ValueError(f"track {track.title}: no game has been played")
    kept_out = {number for number, each in enumerate(track.opponents, 1) if each.kept_out}
    groups: dict[str, list[GameResult]] = {"train": [], "kept_out": []}
    for result in results:
        groups["kept_out" if kept_out & set(result.seats) else "train"].append(result)
    games = Games(results, len(track.opponents) + 1)
    own = games.seats == 0
    return TrackScore(
        games=len(results),
        deals=games.num_deals,
        wins=int((games.won & own).sum()),
        truncated=sum(result.ending == TRUNCATED for result in results),
        forfeits=sum(result.ending == FORFEIT for result in results),
        score=_score(track, results),
        **{name: _score(track, group) if group else None for name, group in groups.items()},
        ahead=_ahead(track, games),
        rough=_rough(track, {"score": results, **groups}),
    )


def _rough(track: Track, groups: Mapping[str, Sequence[GameResult]]) -> tuple[str, ...]:
    """Return the names in RATES and the labels of opponents whose rates come from too few deals.

    `groups` contains the games of each name in RATES.
    """
    meetings = {
        each.label: [result for result in groups["score"] if number in result.seats]
        for number, each in enumerate(track.opponents, 1)
    }
    deals = {name: len({result.deal for result in part}) for name, part in {**groups, **meetings}.items()}
    return tuple(name for name, count in deals.items() if 0 < count < FEW_CLUSTERS)


def _score(track: Track, results: Sequence[GameResult]) -> Estimate:
    """Return the score in the games of `results`, with its interval."""
    games = Games(results, len(track.opponents) + 1)
    estimate = games.rate(games.won, np.where(games.seats == 0, 0, 1), 2, track.seed)[0]
    share = track.even_share
    return _scaled(estimate, lambda rate: 100.0 * (rate - share) / (1.0 - share))


def _ahead(track: Track, games: Games) -> dict[str, Estimate | None]:
    """Return the percentage of shared games in which the agent finished before each opponent, by label.

    The percentage is None for an opponent without shared games.
    """
    own = np.where(games.seats == 0, games.places, 0).sum(axis=1)
    rates = games.rate(own[:, None] < games.places, games.seats, games.num_agents, track.seed)
    return {
        each.label: None
        if np.isnan(rates[number].value)
        else _scaled(rates[number], lambda rate: 100.0 * rate)
        for number, each in enumerate(track.opponents, 1)
    }


def _scaled(estimate: Estimate, scale: Callable[[float], float]) -> Estimate:
    """Return an estimate on another scale, rounded to DIGITS."""
    return Estimate(*(round(scale(rate), DIGITS) for rate in astuple(estimate)))
