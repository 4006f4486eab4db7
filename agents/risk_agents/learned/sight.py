"""What the network of trained policies looks at, made of a view (docs/observation.md) before any weights.

A territory has its own features and the sum of its neighbours'; the whole board is every territory's own, the global
columns, and both ends of the move under way once more. Training and play see with the same eyes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from risk_agents.learned.layout import LOCAL_SCALE, Layout, scaled_counts
from risk_env.compiler import kernel, vectorized_entry_point
from risk_env.core.observe import MOST_CODE, TERRITORY_WIDTH

Array = npt.NDArray[Any]

NOTHING = np.float32(0)
_NEAR = np.float32(LOCAL_SCALE)


class Sight(NamedTuple):
    """A layout as the kernels take it."""

    num_territories: int
    count_columns: Array  # int64 (c,) of a territory
    mark_columns: Array  # int64 (m,)
    count_values: Array  # float32 (128, 3): what a count's code is to the network
    other_values: Array  # float32 (G, 128): what the code of each global column is to it
    ends: Array  # int64 (2,): where source and target are among a territory's features
    borders: Array  # int64 (B, 2): source and target of each border


def sight_of(layout: Layout) -> Sight:
    """The layout's columns, and what their codes are to the network."""
    codes = np.arange(MOST_CODE + 1, dtype=np.float32)
    return Sight(
        num_territories=layout.territories,
        count_columns=np.array(layout.counts),
        mark_columns=np.array(layout.marks),
        count_values=np.stack(scaled_counts(codes), 1),
        other_values=np.where(layout.global_counts[:, None], scaled_counts(codes)[1], codes).astype(np.float32),
        ends=np.array(layout.end_columns),
        borders=np.stack([layout.sources, layout.targets], 1),
    )


@vectorized_entry_point
def look_all(sight, views, places, whole):
    """Look at many views int8 (k, D): territories into places float32 (k, T, 2 F), the whole boards into (k, I)."""
    for k in range(len(views)):
        look_at_places(sight, views[k], places[k])
        look_at_whole(sight, views[k], places[k], whole[k])


@kernel
def look_at_places(sight, view, places):
    """Every territory's own features, then the sum of its neighbours'."""
    counts, marks = len(sight.count_columns), len(sight.mark_columns)
    own = 3 * counts + marks
    for territory in range(sight.num_territories):
        first = TERRITORY_WIDTH * territory
        for c in range(counts):
            code = view[first + sight.count_columns[c]]
            for kind in range(3):
                places[territory, kind * counts + c] = sight.count_values[code, kind]
        for m in range(marks):
            places[territory, 3 * counts + m] = view[first + sight.mark_columns[m]]
        places[territory, own:] = NOTHING
    for border in range(len(sight.borders)):
        territory, neighbour = sight.borders[border]
        for f in range(own):
            places[territory, own + f] += _NEAR * places[neighbour, f]


@kernel
def look_at_whole(sight, view, places, whole):
    """The features of all territories, the global columns, and the ends of the move under way once more."""
    own = places.shape[1] // 2
    at = 0
    for territory in range(sight.num_territories):
        whole[at : at + own] = places[territory, :own]
        at += own
    for g in range(len(sight.other_values)):
        whole[at] = sight.other_values[g, view[TERRITORY_WIDTH * sight.num_territories + g]]
        at += 1
    whole[at:] = NOTHING
    for end in range(len(sight.ends)):
        for territory in range(sight.num_territories):
            if places[territory, sight.ends[end]] != NOTHING:
                for f in range(2 * own):
                    whole[at + f] += places[territory, f]
        at += 2 * own
