"""Beam values: files with a learned evaluation for the beam search of `search.beam`."""

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy import int64

from risk_agents.learned.beam_value_features import (
    COLUMN,
    FEATURE,
    MOST_UNITS,
    WORKSPACE,
    encode_position,
    num_columns,
    packed,
    value_shapes,
)
from risk_agents.learned.trained import BEAM_VALUE, TrainedFile
from risk_agents.search.beam import MEMORY, WIDTH, choose_learned
from risk_agents.search.evaluation import WEIGHTS, Evaluator, evaluate_heuristic
from risk_agents.search.turn_search import MOST_WIDTH
from risk_env.bots import CompiledBot
from risk_env.compiler import vectorized_entry_point


@vectorized_entry_point
def encode_positions(games, boards, rules, lanes, seats, moved, weights, features):
    """Write the features, float32 (k, columns), of the positions in `lanes` for `seats`, both int64 (k,).

    `moved`, bool (k,), is True where the seat has made its fortify move. `weights`, float32 (NUM_WEIGHTS,),
    are the weights of the heuristic evaluation. No seat may have won, and each of `seats` must hold a
    territory.
    """
    work = np.zeros(WORKSPACE, np.float32)
    for k in range(len(lanes)):
        game, evaluator = games[lanes[k]], Evaluator(boards[0], rules[0], seats[k], weights, work)
        heuristic = evaluate_heuristic(game, evaluator)
        features[k] = 0.0
        for n in range(encode_position(game, boards[0], rules[0], seats[k], moved[k], heuristic, work)):
            features[k, int64(work[COLUMN, n])] = work[FEATURE, n]


class BeamValueFile(TrainedFile):
    """File of a beam value: weights (`beam_value_features.LAYERS`), schema, and facts about the training."""

    KIND = BEAM_VALUE

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each weight by name, computed from the schema's map and players."""
        sizes = self.size_of("first", MOST_UNITS), self.size_of("second", MOST_UNITS)
        return value_shapes(num_columns(self.schema.rules, self.schema.board), *sizes)

    @cached_property
    def packed(self) -> npt.NDArray[np.float32]:
        """Weights of the heuristic, then of the network, as one array for the kernels, float32 (1, n)."""
        return packed(self.arrays, WEIGHTS)[None]

    def bot(self, source: str, name: str | None = None, width: int = WIDTH) -> CompiledBot:
        """Return a beam that uses the value, and keeps `width` positions at each depth.

        `source` names the value in errors. Raises ValueError unless `width` is from 1 to MOST_WIDTH.
        """
        if not 1 <= width <= MOST_WIDTH:
            raise ValueError(f"width={width!r}: must be from 1 to {MOST_WIDTH}")
        value = self

        def choose(
            games: Any, boards: Any, rules: Any, lanes: Any, randoms: Any, memory: Any, actions: Any
        ) -> None:
            choose_learned(games, boards, rules, lanes, randoms, memory, actions, value.packed, width)

        return self.bot_of(choose, source, name, MEMORY)
