"""State value: each seat's win probability in games of two to six players.

The input is the observation of the seat to act. A network with two hidden layers gives a number for each
player, in the order of turns from the observing player on. The softmax over the players that are alive gives
their win probabilities. The network is trained on positions where turns begin (`risk_training.state_value`).
All numbers are float32 and are added in one order, which gives the same bits on every machine.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from risk_agents.learned.compiled_network import add_product, layer
from risk_agents.learned.schema import FREE_OPTIONS, Schema, differences, schema_of
from risk_agents.learned.trained import STATE_VALUE, TrainedFile
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.board.tables import Tables
from risk_env.bots import CompiledBot
from risk_env.bounded_io import shortened
from risk_env.compiler import inlined, kernel, vectorized_entry_point
from risk_env.core.observe import TERRITORY_COLUMNS, TERRITORY_WIDTH, num_globals, observe
from risk_env.core.position import is_alive
from risk_env.core.types import MAX_SEATS, Phase, game_dtype
from risk_env.network_features import COUNT_KINDS, count_features

MOST_UNITS = 1024  # maximum number of units of a hidden layer
KINDS = len(COUNT_KINDS)  # inputs of a column (`network_features.count_features`)
NOTHING = np.float32(0)
# Columns of a territory that are inputs; all global columns are inputs, too
TERRITORY_INPUTS = (*(f"troops_{player}" for player in range(MAX_SEATS)), "own_card")
# Options in which games may differ from the training games
FREE_STATE_OPTIONS = (*FREE_OPTIONS, "num_players", "setup")

Array = npt.NDArray[Any]


class StateValue(NamedTuple):
    """Weights as arrays for kernels, and the columns and scales of the inputs.

    Weights are float32 (inputs, outputs), biases are float32 (outputs,).
    """

    columns: Any  # int64 (c,): columns of the observation
    scales: Any  # float32 (128, KINDS): inputs by the code in a column
    first: Any  # KINDS rows for each column
    first_bias: Any
    second: Any
    second_bias: Any
    output: Any
    output_bias: Any


def input_columns(board: Board) -> npt.NDArray[np.int64]:
    """Return the columns of an observation that the network reads, int64 (c,)."""
    names = [name for name, _ in TERRITORY_COLUMNS]
    of_territory = np.array([names.index(name) for name in TERRITORY_INPUTS])
    firsts = TERRITORY_WIDTH * np.arange(board.num_territories)
    globals_ = len(firsts) * TERRITORY_WIDTH + np.arange(num_globals(len(board.continents)))
    return np.concatenate([(firsts[:, None] + of_territory).ravel(), globals_])


def state_value_shapes(
    columns: int, first: int, second: int, outputs: int = MAX_SEATS
) -> dict[str, tuple[int, ...]]:
    """Return names and shapes of the weights for numbers of columns, hidden units and outputs."""
    hidden = {"first": (KINDS * columns, first), "second": (first, second), "output": (second, outputs)}
    return hidden | {f"{name}_bias": shape[1:] for name, shape in hidden.items()}


class StateNetworkFile(TrainedFile):
    """File of a network for every number of players: weights, schema, and how it was trained."""

    num_outputs = MAX_SEATS

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the names and shapes of all weights, computed from the schema's map."""
        sizes = self.size_of("first", MOST_UNITS), self.size_of("second", MOST_UNITS)
        return state_value_shapes(len(input_columns(self.schema.board)), *sizes, self.num_outputs)

    @cached_property
    def value(self) -> StateValue:
        """Weights as arrays for kernels; ValueError for weights that do not fit the schema."""
        return StateValue(columns=input_columns(self.schema.board), scales=count_features(), **self.arrays)

    def checked_records(self, records: Array, tables: Tables) -> Array:
        """Return records of games for kernels; raise ValueError for other records or another map's tables."""
        if tables.space.board.digest != self.schema.map_digest:
            named = shortened(tables.space.board.source), shortened(self.schema.map_source)
            raise ValueError(f"tables are for map {named[0]}, but the {self.KIND} is for map {named[1]}")
        records = np.ascontiguousarray(records)
        if records.ndim != 1 or records.dtype != game_dtype(tables.sizes):
            raise ValueError(
                f"records must be an array (k,) of records of games of this map, not {records.shape}"
            )
        return records

    def knows(self, rules: Rules, board: Board) -> bool:
        """Return whether the network was trained for such games, whatever the number of players."""
        return not self._differences(rules, board)

    def check(self, rules: Rules, board: Board, source: str) -> None:
        """Raise ValueError if the network was not trained for such games; the message names all differences.

        Errors call the network `source`.
        """
        if other := self._differences(rules, board):
            raise ValueError(f"{self.KIND} {source!r} was trained for {other}")

    def _differences(self, rules: Rules, board: Board) -> str:
        return differences(_facts(self.schema), _facts(schema_of(rules, board)))


def _facts(schema: Schema) -> dict[str, Any]:
    """Return the facts that must be equal, by name."""
    options = {
        name: value for name, value in schema.rules.to_dict().items() if name not in FREE_STATE_OPTIONS
    }
    return {"map": schema.map_digest, "columns": schema.columns, **options}


class StateValueFile(StateNetworkFile):
    """File of a network that gives each seat's win probability."""

    KIND = STATE_VALUE

    def chances(self, records: Array, tables: Tables) -> npt.NDArray[np.float64]:
        """Return each seat's win probability in these games, float64 (k, 6); 0 for unused seats."""
        records = self.checked_records(records, tables)
        chances = np.zeros((len(records), MAX_SEATS))
        write_chances(records, tables.board, tables.rules, np.arange(len(records)), self.value, chances)
        return chances

    def bot(self, source: str, name: str | None = None) -> CompiledBot:
        """Raise ValueError: a value cannot play on its own."""
        raise ValueError(
            f"agent={source!r} is a state value, which cannot play on its own: name it as `judge` in training"
        )


@vectorized_entry_point
def write_chances(games, boards, rules, lanes, value, chances):
    """Write each seat's win probability in these lanes, float64 (k, 6).

    Finished games get the values of `write_decided`.
    """
    work = workspace(value)
    for k in range(len(lanes)):
        evaluate_table(games[lanes[k]], boards[0], rules[0], value, work, chances[k])


@inlined
def workspace(value):
    """Return arrays for one position: its observation as words, both hidden layers, and the outputs."""
    words = np.zeros((value.columns[-1] + 8) // 8, np.uint64)
    hidden = np.zeros(value.first.shape[1], np.float32), np.zeros(value.second.shape[1], np.float32)
    return words, hidden, np.zeros(value.output.shape[1], np.float32)


@kernel
def evaluate_table(game, board, rules, value, work, chances):
    """Write the win probabilities of all seats, float64 (6,), from the observation of the seat to act."""
    if write_decided(game, rules, chances):
        return
    write_outputs(game, board, rules, value, work)
    write_shares(game, rules, int(game.seat), work[2], chances)


@kernel
def write_outputs(game, board, rules, value, work):
    """Write the outputs of the network for the observation of the seat to act to work[2]."""
    words, hidden, outputs = work
    observation = words.view(np.int8)
    observe(game, board, rules, int(game.seat), words, observation)
    hidden[0][:] = value.first_bias
    add_columns(value, observation, hidden[0])
    layer(value.second, value.second_bias, hidden[0], hidden[1])
    outputs[:] = value.output_bias
    add_product(value.output, hidden[1], outputs)


@kernel
def write_decided(game, rules, chances):
    """Clear the win probabilities, write them if the game is over, and return whether it is over.

    The winner gets 1. Without a winner, the seats that are alive get equal shares.
    """
    chances[:] = 0.0
    if game.phase != Phase.OVER:
        return False
    living = 0
    for seat in range(rules.num_players):
        living += int(is_alive(game, seat))
    for seat in range(rules.num_players):
        if game.winner == seat or (game.winner < 0 and is_alive(game, seat)):
            chances[seat] = 1.0 if game.winner >= 0 else 1.0 / living
    return True


@inlined
def add_columns(value, observation, units):
    """Add the inputs of all columns whose code is not 0, times their weights, and rectify the units."""
    for c in range(len(value.columns)):
        code = int(observation[value.columns[c]])
        if code != 0:
            for kind in range(KINDS):
                factor = value.scales[code, kind]
                for j in range(len(units)):
                    units[j] += factor * value.first[KINDS * c + kind, j]
    for j in range(len(units)):
        units[j] = max(units[j], NOTHING)


@kernel
def write_shares(game, rules, looker, outputs, chances):
    """Write the softmax of the outputs over the seats that are alive.

    Output i belongs to the i-th player after `looker`, the observing seat.
    """
    players = int(rules.num_players)
    most, total = -1e9, 0.0
    for seat in range(players):
        if is_alive(game, seat):
            most = max(most, np.float64(outputs[(seat - looker) % players]))
    for seat in range(players):
        if is_alive(game, seat):
            chances[seat] = np.exp(np.float64(outputs[(seat - looker) % players]) - most)
            total += chances[seat]
    for seat in range(players):
        chances[seat] /= total
