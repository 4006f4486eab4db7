"""Rollouts of self-play for the learner, and the compact form in which actors send rollouts.

On the classic map, about 20 of the 832 bytes of an observation change from one decision of a lane to the
next. About ten of 300 actions are legal. An actor therefore stores and sends only the changed 8-byte
words and a list of legal actions. The learner computes the features.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from risk_agents.learned.features import FeatureSpec, encode
from risk_agents.learned.layout import Layout
from risk_env.arrays import Array
from risk_env.core.types import MAX_SEATS
from risk_training.legal_actions import LegalActions

CONTINUES, TERMINATED, TRUNCATED = 0, 1, 2  # what follows a transition: a decision, an end or a truncation
# types of the arrays of a rollout; all other arrays are float32
KINDS = {"seats": np.int64, "actions": np.int64, "ends": np.int8, "next_seats": np.int64}
OF_DECISIONS = (
    "seats", "actions", "logprobs", "values", "potentials", "rewards", "ends",
    "last_values", "last_potentials",
)  # fmt: skip
OF_LANES = ("next_seats", "next_values", "next_potentials")

Packed = Mapping[str, Array]
Listed = tuple[torch.Tensor, torch.Tensor]  # legal actions (m,), and their number per decision (k,)


class ObservationRecorder:
    """Observations of N lanes over time, stored as the 8-byte words that differ from the step before."""

    def __init__(self) -> None:
        self._latest: Array | None = None  # uint64 (N D / 8,): words of the latest step
        self._places: list[Array] = []  # by step: positions of the words that have changed
        self._words: list[Array] = []  # by step: the new words, uint64

    def add(self, observations: Array) -> None:
        """Store the observations int8 (N, D) of a step."""
        words = observations.reshape(-1).view(np.uint64)
        if self._latest is None:
            self._latest = np.zeros_like(words)
        places = np.flatnonzero(words != self._latest)
        changed = words[places]
        self._latest[places] = changed
        self._places.append(_narrow(places, len(words)))
        self._words.append(changed)

    def packed(self) -> dict[str, Array]:
        """Return the input of `replayed`: places and words of all steps, and counts by step, int64 (T,)."""
        counts = np.array([len(places) for places in self._places])
        return {
            "places": np.concatenate(self._places),
            "words": np.concatenate(self._words),
            "word_counts": counts,
        }


def replayed(packed: Packed, lanes: int, columns: int) -> Iterator[Array]:
    """Yield the observations int8 (N, D) of each step, always in the same array."""
    observations, first = np.zeros((lanes, columns), np.int8), 0
    words = observations.reshape(-1).view(np.uint64)
    for last in packed["word_counts"].cumsum().tolist():
        words[packed["places"][first:last]] = packed["words"][first:last]
        yield observations
        first = last


def _narrow(values: Array, most: int) -> Array:
    """Return whole numbers from 0 to `most` in the smallest sufficient integer type."""
    return values.astype(np.min_scalar_type(most))


@dataclass
class Rollout:
    """Decisions of the learner: T steps of N lanes, filled by `SelfPlay.collect` or `Actors.collect`.

    If `keeps_features` is True, features of every step are kept. Otherwise only features of the latest step
    are kept, and the learner computes features from the recorded observations.
    """

    territory_features: Array  # float32 (T, N, territories, 2 F), or (1, ...): `risk_agents.learned.features`
    board_features: Array  # float32 (T, N, I), or (1, ...)
    seats: Array  # int64 (T, N): seat that decides
    actions: Array  # int64 (T, N)
    logprobs: Array  # float32 (T, N): log-probability of the action
    values: Array  # float32 (T, N)
    potentials: Array  # float32 (T, N): potential of the observation, for shaped rewards
    rewards: Array  # float32 (T, N)
    ends: Array  # int8 (T, N): CONTINUES, TERMINATED or TRUNCATED
    last_values: Array  # float32 (T, N): value of the seat's final observation, if TRUNCATED
    last_potentials: Array  # float32 (T, N): potential of the same observation
    next_seats: Array  # int64 (N,): seat that decides next in each lane
    next_values: Array  # float32 (N,)
    next_potentials: Array  # float32 (N,)
    layout: Layout
    keeps_features: bool = True
    recorder: ObservationRecorder = field(default_factory=ObservationRecorder)  # if features are not kept
    legal: list[Listed] = field(default_factory=list)  # by step; for actors, filled by `write_features`
    received: dict[int, Packed] = field(default_factory=dict)  # by first lane: messages of the actors

    @classmethod
    def empty(cls, steps: int, lanes: int, layout: Layout, keeps_features: bool = True) -> Rollout:
        """Return an empty rollout.

        Without `keeps_features`, the rollout has room for the features of a single step, because features
        take most of a rollout's memory.
        """
        kept = steps if keeps_features else 1
        shapes = dict.fromkeys(OF_DECISIONS, (steps, lanes)) | dict.fromkeys(OF_LANES, (lanes,))
        return cls(
            np.zeros((kept, lanes, layout.territories, 2 * layout.own_features), np.float32),
            np.zeros((kept, lanes, layout.board_features), np.float32),
            **{name: np.zeros(shape, KINDS.get(name, np.float32)) for name, shape in shapes.items()},
            layout=layout,
            keeps_features=keeps_features,
        )

    def clear(self) -> None:
        """Remove the decisions of the previous rollout."""
        self.recorder, self.legal, self.received = ObservationRecorder(), [], {}
        self.rewards[:] = 0
        self.ends[:] = CONTINUES

    def add(
        self, step: int, spec: FeatureSpec, observations: Array, legal: LegalActions
    ) -> tuple[Array, Array]:
        """Record the learner's observations int8 (N, D) and legal actions of a step. Return the features."""
        features = self.features_at(step)
        encode(spec, observations, *features)
        self.legal.append((legal.actions, legal.counts))
        if not self.keeps_features:
            self.recorder.add(observations)
        return features

    def features_at(self, step: int) -> tuple[Array, Array]:
        """Return the arrays that contain the features of a step."""
        kept = step % len(self.board_features)
        return self.territory_features[kept], self.board_features[kept]

    def legal_actions(self) -> LegalActions:
        """Return the legal actions of all T N decisions, step by step."""
        return LegalActions(*_joined(self.legal))

    def packed(self) -> dict[str, Array]:
        """Return the rollout without features, which `write_features` computes from the observations."""
        arrays = {name: getattr(self, name) for name in (*OF_DECISIONS, *OF_LANES)} | self.recorder.packed()
        arrays |= {
            "seats": _narrow(self.seats, MAX_SEATS),
            "actions": _narrow(self.actions, self.layout.num_actions),
        }
        listed = zip(("legal_actions", "legal_counts"), _joined(self.legal), strict=True)
        return arrays | {name: _narrow(values.numpy(), self.layout.num_actions) for name, values in listed}

    def unpack(self, packed: Packed, first: int) -> None:
        """Write the result of `packed` into the lanes from `first` on.

        The observations and the legal actions stay packed until `write_features` is called.
        """
        lanes = slice(first, first + len(packed["next_seats"]))
        for name in OF_DECISIONS:
            getattr(self, name)[:, lanes] = packed[name]
        for name in OF_LANES:
            getattr(self, name)[lanes] = packed[name]
        self.received[first] = packed

    def write_features(self, spec: FeatureSpec) -> None:
        """Compute the features of all received rollouts, and list the legal actions."""
        actors = [_steps(self.received[first], self.layout) for first in sorted(self.received)]
        self.received = {}
        for step, parts in enumerate(zip(*actors, strict=True)):
            first, listed = 0, []
            for observations, legal in parts:
                lanes = slice(first, first + len(observations))
                encode(spec, observations, *(features[lanes] for features in self.features_at(step)))
                listed.append(legal)
                first = lanes.stop
            self.legal.append(_joined(listed))


def _joined(listed: Sequence[Listed]) -> Listed:
    """Concatenate lists of legal actions."""
    actions, counts = zip(*listed, strict=True)
    return torch.cat(actions), torch.cat(counts)


def _steps(packed: Packed, layout: Layout) -> Iterator[tuple[Array, Listed]]:
    """Yield the observations and legal actions of each step that an actor sent."""
    observations = replayed(packed, len(packed["next_seats"]), layout.observation_columns)
    actions, counts = (
        torch.as_tensor(packed[name].astype(np.int64)) for name in ("legal_actions", "legal_counts")
    )
    counts = counts.view(packed["actions"].shape)
    return zip(observations, zip(actions.split(counts.sum(1).tolist()), counts, strict=True), strict=True)
