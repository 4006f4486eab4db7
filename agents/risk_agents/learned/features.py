"""Features of the policy network, computed from an observation (docs/observation.md).

Training and play use the same features. The features of a territory are its own features and the scaled sum
of its neighbours' own features. The features of the board have three parts: all territories' own features,
the global columns, and the features of the current move's source and target.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from risk_agents.learned.layout import Layout
from risk_env.arrays import Array
from risk_env.compiler import kernel, vectorized_entry_point
from risk_env.core.observe import TERRITORY_COLUMNS, TERRITORY_WIDTH
from risk_env.network_features import COUNT_KINDS, NEIGHBOUR_SCALE, count_features
from risk_env.network_features import checked_codes as checked

NOTHING = np.float32(0)
_SCALE = np.float32(NEIGHBOUR_SCALE)
_KINDS = len(COUNT_KINDS)


class FeatureSpec(NamedTuple):
    """Arrays from which kernels compute the features of an observation."""

    num_territories: int
    count_columns: Array  # int64 (c,): columns of a territory that contain counts
    mark_columns: Array  # int64 (m,): other columns of a territory
    count_values: Array  # float32 (128, 3): features of a count by its code
    global_values: Array  # float32 (G, 128): feature of each global column by its code
    ends: Array  # int64 (2,): indices of the features that mark a territory as the source and as the target
    borders: Array  # int64 (B, 2): source and target of each border


def feature_spec(layout: Layout) -> FeatureSpec:
    """Return the arrays for games with a layout."""
    marks = [TERRITORY_COLUMNS[column][0] for column in layout.mark_columns]
    return FeatureSpec(
        num_territories=layout.territories,
        count_columns=np.array(layout.count_columns),
        mark_columns=np.array(layout.mark_columns),
        count_values=count_features(),
        global_values=layout.global_values,
        ends=_KINDS * len(layout.count_columns) + np.array([marks.index("source"), marks.index("target")]),
        borders=layout.borders,
    )


def checked_codes(spec: FeatureSpec, observations: Any) -> npt.NDArray[np.int8]:
    """Check observations, and return them as a contiguous array, int8 (k, D).

    Raises ValueError for another shape or dtype, or for a negative code.
    """
    columns = TERRITORY_WIDTH * spec.num_territories + len(spec.global_values)
    return np.ascontiguousarray(checked(observations, columns, is_batch=True))


@vectorized_entry_point
def encode(spec, observations, territory_features, board_features):
    """Write the features of `observations`, int8 (k, D).

    `territory_features` are float32 (k, T, 2 F), and `board_features` are float32 (k, I).
    """
    for k in range(len(observations)):
        encode_territories(spec, observations[k], territory_features[k])
        encode_board(spec, observations[k], territory_features[k], board_features[k])


@kernel
def encode_territories(spec, observation, features):
    """Write every territory's own features and the scaled sum of its neighbours' features.

    `features` are float32 (T, 2 F).
    """
    counts, marks = len(spec.count_columns), len(spec.mark_columns)
    own = _KINDS * counts + marks
    for territory in range(spec.num_territories):
        first = TERRITORY_WIDTH * territory
        for c in range(counts):
            code = observation[first + spec.count_columns[c]]
            for kind in range(_KINDS):
                features[territory, kind * counts + c] = spec.count_values[code, kind]
        for m in range(marks):
            features[territory, _KINDS * counts + m] = observation[first + spec.mark_columns[m]]
        features[territory, own:] = NOTHING
    for border in range(len(spec.borders)):
        territory, neighbour = spec.borders[border]
        for f in range(own):
            features[territory, own + f] += _SCALE * features[neighbour, f]


@kernel
def encode_board(spec, observation, territory_features, features):
    """Write the features of the board, float32 (I,).

    These are all territories' own features, the global columns, and all features of the source and the
    target of the current move.
    """
    own = territory_features.shape[1] // 2
    at = 0
    for territory in range(spec.num_territories):
        features[at : at + own] = territory_features[territory, :own]
        at += own
    for g in range(len(spec.global_values)):
        features[at] = spec.global_values[g, observation[TERRITORY_WIDTH * spec.num_territories + g]]
        at += 1
    features[at:] = NOTHING
    for end in range(len(spec.ends)):
        for territory in range(spec.num_territories):
            if territory_features[territory, spec.ends[end]] != NOTHING:
                for f in range(2 * own):
                    features[at + f] += territory_features[territory, f]
        at += 2 * own
