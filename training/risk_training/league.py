"""The league: the opponents of the learner in training, and the probability of drawing each opponent.

The league keeps only names and results, so every trainer can use it. Opponents are bots and snapshots of the
learner. The trainer stores the weights of each snapshot under the snapshot's name, records results,
and draws opponents for new games.

    league = League(LeagueSettings(bots=("random", "grower")), seed=0)
    leaving = league.add_snapshot(100_000)        # "snapshot-100000" can be drawn from now on
    name = league.draw(1)[0]                      # draw an opponent for a new game
    league.record(name, 1.0)                      # the learner finished ahead of this opponent
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from risk_env.messages import shortened
from risk_training.config import NAMES, Settings, check_range, setting
from risk_training.declared import GENERATOR, Declared, ListOf, Number, TableOf, Whole

Weights = npt.NDArray[np.float64]

SNAPSHOT = "snapshot-"  # prefix of a snapshot's name; the number of the learner's steps follows
PRIORITIES = ("hard", "close", "even")
MOST_SNAPSHOTS = 256  # maximum number of new snapshots, and of old snapshots; each snapshot is a network


@dataclass(frozen=True)
class LeagueSettings(Settings):
    """Settings of the league: the opponents, and the probability of drawing each opponent.

    If the league has bots and snapshots, a draw gives a snapshot with probability `snapshot_share`, and a bot
    otherwise. With probability `latest_share`, a draw of a snapshot simply gives the latest snapshot. All
    other draws, among the bots or among all snapshots, are weighted by `priority`. In a share `floor` of
    these draws, however, all opponents are equally likely. If w is the learner's share of points against an
    opponent, the weight of the opponent is:

    * `"hard"`: (1 - w)^power, which prefers opponents that still beat the learner;
    * `"close"`: (w (1 - w))^power, which prefers opponents of about the learner's strength;
    * `"even"`: equal for all opponents.
    """

    SECTION: ClassVar[str] = "league."

    bots: tuple[str, ...] = setting(("random", "attacker", "grower"), **NAMES)
    snapshot_share: float = setting(0.5, 0, 1)
    latest_share: float = setting(0.5, 0, 1)
    window: int = setting(8, 1, MOST_SNAPSHOTS)  # number of newest snapshots, which are all kept
    history: int = setting(8, 0, MOST_SNAPSHOTS)  # number of older snapshots, spread evenly over the run
    priority: str = setting("hard", choices=PRIORITIES)
    power: float = setting(1.0, 0, 100)
    floor: float = setting(0.1, 0, 1)  # share of the weighted draws that ignore the weights
    smoothing: float = setting(8.0, 1e-6, 1e12)  # number of prior results, half of them wins
    horizon: float = setting(400.0, 1, 1e12)  # number of games after which old results have mostly faded

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(self.bots)) < len(self.bots):
            raise ValueError(f"league.bots={list(self.bots)!r}: name each bot once")


@dataclass
class Standing:
    """Results of the learner against one opponent. Older results count less."""

    games: float = 0.0  # discounted number of games
    points: float = 0.0  # discounted sum of the learner's points (`League.record`)


class League:
    """The opponents, the results against each opponent, and the random generator that draws opponents."""

    def __init__(self, settings: LeagueSettings | None = None, seed: int = 0) -> None:
        self.settings = LeagueSettings() if settings is None else settings
        self._steps: list[int] = []  # number of the learner's steps at each snapshot, ascending
        self._standings = {name: Standing() for name in self.settings.bots}
        self._rng = np.random.default_rng(seed)

    @property
    def snapshots(self) -> list[str]:
        """Names of the snapshots, oldest first."""
        return [snapshot_name(steps) for steps in self._steps]

    @property
    def names(self) -> list[str]:
        """Names of all opponents: the bots in the order of the settings, then the snapshots, oldest first."""
        return [*self.settings.bots, *self.snapshots]

    def add_snapshot(self, steps: int) -> list[str]:
        """Add a snapshot of the learner after `steps` steps, under the name `snapshot_name(steps)`.

        Returns the names of the snapshots that leave the league. Raises ValueError if `steps` is not above
        the steps of the latest snapshot.
        """
        if self._steps and steps <= self._steps[-1]:
            raise ValueError(
                f"steps={steps}: must be more than {self._steps[-1]}, the steps of the latest snapshot"
            )
        before = self.snapshots
        self._steps.append(int(steps))
        self._standings[snapshot_name(steps)] = Standing()
        self._steps = thinned(self._steps, self.settings.window, self.settings.history)
        leaving = [name for name in before if name not in self.snapshots]
        self._standings = {name: kept for name, kept in self._standings.items() if name not in leaving}
        return leaving

    def record(self, name: str, points: float) -> None:
        """Record the learner's points, from 0 to 1, in a game against this opponent.

        Results against a snapshot that has left the league are ignored.
        """
        check_range("points", points, 0, 1)
        standing = self._standings.get(name)
        if standing is None:
            if name.startswith(SNAPSHOT):
                return
            raise ValueError(f"name={name!r} is not in the league; allowed: {', '.join(self.names)}")
        kept = 1 - 1 / self.settings.horizon
        standing.games = standing.games * kept + 1
        standing.points = standing.points * kept + points

    def win_rate(self, name: str) -> float:
        """Return the learner's share of points against this opponent, smoothed towards one half."""
        standing, prior = self._standings[name], self.settings.smoothing
        return (standing.points + prior / 2) / (standing.games + prior)

    def weights(self) -> Weights:
        """Return the probability of drawing each opponent in `names`, float64 (K,).

        Raises ValueError if the league has no opponents.
        """
        bots, snapshots = list(self.settings.bots), self.snapshots
        if not bots and not snapshots:
            raise ValueError("bots=[]: a league without bots needs a snapshot before it can draw an opponent")
        share = self.settings.snapshot_share if bots and snapshots else float(not bots)
        of_snapshots = self._by_priority(snapshots)
        if snapshots:
            of_snapshots *= 1 - self.settings.latest_share
            of_snapshots[-1] += self.settings.latest_share
        return np.concatenate([(1 - share) * self._by_priority(bots), share * of_snapshots])

    def draw(self, count: int) -> list[str]:
        """Return the names of `count` opponents, which are drawn independently."""
        names = self.names
        return [names[k] for k in self._rng.choice(len(names), count, p=self.weights())]

    def _by_priority(self, names: Sequence[str]) -> Weights:
        """Return the probabilities of these opponents by priority. Without opponents, the array is empty."""
        won = np.array([self.win_rate(name) for name in names], np.float64)
        base = {"hard": 1 - won, "close": won * (1 - won), "even": np.ones(len(won))}[self.settings.priority]
        weights = base**self.settings.power
        total = weights.sum()
        even = np.full(len(won), 1 / max(len(won), 1))
        preferred = weights / total if total > 0 else even
        return (1 - self.settings.floor) * preferred + self.settings.floor * even

    def state_dict(self) -> dict[str, Any]:
        """Return the state for `load_state_dict` of a league with the same settings.

        The state contains only values that JSON can store.
        """
        return {
            "steps": list(self._steps),
            "standings": {name: asdict(standing) for name, standing in self._standings.items()},
            "rng": self._rng.bit_generator.state,
        }

    def declared(self) -> Declared:
        """Return the declaration (`risk_training.declared`) that a state must match for `load_state_dict`."""
        games = Number(0, self.settings.horizon + 1)  # upper limit of the discounted sum
        most = self.settings.window + self.settings.history
        standings = TableOf({"games": games, "points": games})
        return {"steps": ListOf(Whole(), 0, most), "standings": standings, "rng": GENERATOR}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the state that `state_dict` returned. Raises ValueError for an inconsistent state."""
        self._steps = list(state["steps"])
        if any(later <= steps for steps, later in pairwise(self._steps)):
            raise ValueError(f"league.steps={shortened(self._steps)}: must be strictly ascending")
        standings = {name: Standing(**values) for name, values in state["standings"].items()}
        if standings.keys() != set(self.names):
            raise ValueError(
                f"league.standings has names {shortened(list(standings))} instead of {shortened(self.names)}"
            )
        if strange := [name for name, standing in standings.items() if standing.points > standing.games]:
            raise ValueError(f"league.standings.{strange[0]} has more points than games")
        self._standings, self._rng.bit_generator.state = standings, state["rng"]


def points_of(place: int, opponents_place: int) -> float:
    """Return the learner's points against an opponent, given both places.

    The points are 1 if the learner's place is better, 0 if the opponent's place is better, and 1/2 if both
    share a place.
    """
    return 1.0 if place < opponents_place else 0.5 if place == opponents_place else 0.0


def snapshot_name(steps: int) -> str:
    """Return the name of the learner's snapshot after a number of steps."""
    return f"{SNAPSHOT}{steps}"


def thinned(steps: Sequence[int], window: int, history: int) -> list[int]:
    """Return the steps of the snapshots to keep: the last `window`, and up to `history` older ones.

    While there are too many steps, the older step whose neighbours are closest to each other is removed. The
    older steps are therefore spread evenly. The first step stays unless `history` is 0.
    """
    kept = list(steps)
    while len(kept) > window + history:
        older = len(kept) - window
        gaps = [kept[k + 1] - kept[k - 1] for k in range(1, older)]
        del kept[1 + int(np.argmin(gaps)) if gaps else 0]
    return kept
