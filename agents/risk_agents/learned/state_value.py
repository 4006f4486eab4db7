"""State value: each seat's win probability in games of two to six players.

The input is the observation of the seat to act. Some networks also read dangers (`learned.dangers`). A
network with two hidden layers computes a number for each player, in the order of turns from the observing
player on. The softmax of these numbers over the living players gives the win probabilities. The network is
trained on positions at the start of turns (`risk_training.state_value`). The numbers of the network are
float32 and are added in a fixed order, so these numbers have the same bits on every machine.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from risk_agents.learned.compiled_network import add_product, layer
from risk_agents.learned.dangers import dangers_workspace, first_danger, num_dangers, write_dangers
from risk_agents.learned.schema import FREE_OPTIONS, Schema, differences, schema_of
from risk_agents.learned.trained import STATE_VALUE, TrainedFile
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.board.tables import Tables
from risk_env.bots import CompiledBot
from risk_env.compiler import inlined, kernel, vectorized_entry_point
from risk_env.core.observe import TERRITORY_COLUMNS, TERRITORY_WIDTH, num_globals, observe
from risk_env.core.position import is_alive
from risk_env.core.types import MAX_SEATS, Phase, game_dtype
from risk_env.messages import shortened
from risk_env.network_features import COUNT_KINDS, count_features

MOST_UNITS = 1024  # maximum number of units of a hidden layer
KINDS = len(COUNT_KINDS)  # number of inputs of a column (`network_features.count_features`)
NOTHING = np.float32(0)
# Columns of a territory that are inputs; all global columns are also inputs
TERRITORY_INPUTS = (*(f"troops_{player}" for player in range(MAX_SEATS)), "own_card")
# Options that may differ between the training games and the games to play
FREE_STATE_OPTIONS = (*FREE_OPTIONS, "num_players", "setup")

Array = npt.NDArray[Any]


class StateValue(NamedTuple):
    """Weights as arrays for kernels, and the columns and scales of the inputs.

    Weights are float32 (inputs, outputs), and biases are float32 (outputs,).
    """

    columns: Any  # int64 (c,): columns of the observation, and of the dangers that follow it
    dangers: int  # first column of the dangers, or 0 if the network does not read dangers
    scales: Any  # float32 (128, KINDS): inputs for each code in a column
    first: Any  # KINDS rows for each column
    first_bias: Any
    second: Any
    second_bias: Any
    output: Any
    output_bias: Any


def input_columns(board: Board, has_dangers: bool = False) -> npt.NDArray[np.int64]:
    """Return the columns that the network reads, int64 (c,).

    These are columns of an observation, and all dangers if `has_dangers`.
    """
    names = [name for name, _ in TERRITORY_COLUMNS]
    of_territory = np.array([names.index(name) for name in TERRITORY_INPUTS])
    firsts = TERRITORY_WIDTH * np.arange(board.num_territories)
    globals_ = len(firsts) * TERRITORY_WIDTH + np.arange(num_globals(len(board.continents)))
    dangers = first_danger(board) + np.arange(num_dangers(board) if has_dangers else 0)
    return np.concatenate([(firsts[:, None] + of_territory).ravel(), globals_, dangers])


def state_value_shapes(
    columns: int, first: int, second: int, outputs: int = MAX_SEATS
) -> dict[str, tuple[int, ...]]:
    """Return the shape of each weight by name; `first` and `second` are the sizes of the hidden layers."""
    hidden = {"first": (KINDS * columns, first), "second": (first, second), "output": (second, outputs)}
    return hidden | {f"{name}_bias": shape[1:] for name, shape in hidden.items()}


class StateNetworkFile(TrainedFile):
    """File of a network for any number of players: weights, schema, and facts about the training."""

    num_outputs = MAX_SEATS

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each weight by name, computed from the schema's map."""
        sizes = self.size_of("first", MOST_UNITS), self.size_of("second", MOST_UNITS)
        return state_value_shapes(len(self.columns), *sizes, self.num_outputs)

    @property
    def columns(self) -> npt.NDArray[np.int64]:
        """Columns that the network reads, int64 (c,). The file states whether the network reads dangers."""
        return input_columns(self.schema.board, self.has_dangers)

    @property
    def has_dangers(self) -> bool:
        """True if the network reads dangers (`learned.dangers`)."""
        return self.made.get("dangers") is True

    @cached_property
    def value(self) -> StateValue:
        """Weights as arrays for kernels."""
        dangers = first_danger(self.schema.board) if self.has_dangers else 0
        return StateValue(self.columns, dangers, count_features(), **self.arrays)

    def checked_records(self, records: Array, tables: Tables) -> Array:
        """Return records as a contiguous array.

        Raises ValueError for tables of another map, and for an array with another shape or dtype.
        """
        if tables.space.board.digest != self.schema.map_digest:
            named = shortened(tables.space.board.source), shortened(self.schema.map_source)
            raise ValueError(f"tables are for map {named[0]}, but the {self.KIND} is for map {named[1]}")
        records = np.ascontiguousarray(records)
        if records.ndim != 1 or records.dtype != game_dtype(tables.sizes):
            raise ValueError(
                f"records have shape {records.shape} and dtype {shortened(str(records.dtype))}: must be a "
                "one-dimensional array of records of games on this map"
            )
        return records

    def knows(self, rules: Rules, board: Board) -> bool:
        """Return True if the training games differ from these games only in FREE_STATE_OPTIONS."""
        return not self._differences(rules, board)

    def check(self, rules: Rules, board: Board, source: str) -> None:
        """Raise ValueError if the training games differ from these games in more than FREE_STATE_OPTIONS.

        The message calls the network `source`, and names all differences.
        """
        if other := self._differences(rules, board):
            raise ValueError(f"{self.KIND} {source!r} was trained for {other}")

    def _differences(self, rules: Rules, board: Board) -> str:
        return differences(_facts(self.schema), _facts(schema_of(rules, board)))


def _facts(schema: Schema) -> dict[str, Any]:
    """Return the facts that must be equal in training and play, by name."""
    options = {
        name: value for name, value in schema.rules.to_dict().items() if name not in FREE_STATE_OPTIONS
    }
    return {"map": schema.map_digest, "columns": schema.columns, **options}


class StateValueFile(StateNetworkFile):
    """File of a network that computes each seat's win probability."""

    KIND = STATE_VALUE

    def chances(self, records: Array, tables: Tables) -> npt.NDArray[np.float64]:
        """Return each seat's win probability in each game, float64 (k, 6).

        Eliminated seats and unused seats have 0.
        """
        records = self.checked_records(records, tables)
        chances = np.zeros((len(records), MAX_SEATS))
        write_chances(records, tables.board, tables.rules, np.arange(len(records)), self.value, chances)
        return chances

    def bot(self, source: str, name: str | None = None) -> CompiledBot:
        """Raise ValueError, because a value cannot play on its own."""
        raise ValueError(
            f"agent={source!r} is a state value, which cannot play on its own: use tactician:FILE.npz, or "
            "name the file in the setting `judge` of training"
        )


@vectorized_entry_point
def write_chances(games, boards, rules, lanes, value, chances):
    """Write each seat's win probability in each lane of `lanes` into `chances`, float64 (k, 6).

    `write_decided` determines the values of finished games.
    """
    work = workspace(value)
    for k in range(len(lanes)):
        evaluate_table(games[lanes[k]], boards[0], rules[0], value, work, chances[k])


@inlined
def workspace(value):
    """Return the arrays for one position.

    The arrays are the codes of all columns (as uint64), both hidden layers, the outputs, and the workspace of
    the dangers.
    """
    words = np.zeros((value.columns[-1] + 8) // 8, np.uint64)
    hidden = np.zeros(value.first.shape[1], np.float32), np.zeros(value.second.shape[1], np.float32)
    return words, hidden, np.zeros(value.output.shape[1], np.float32), dangers_workspace()


@kernel
def evaluate_table(game, board, rules, value, work, chances):
    """Write the win probabilities of all seats, float64 (6,), into `chances`."""
    if write_decided(game, rules, chances):
        return
    write_outputs(game, board, rules, value, work)
    write_shares(game, rules, int(game.seat), work[2], chances)


@kernel
def write_outputs(game, board, rules, value, work):
    """Write the network's outputs for the observation of the seat to act into `work[2]`."""
    words, hidden, outputs, seen = work
    observation = words.view(np.int8)
    look(game, board, rules, value.dangers, words, seen)
    hidden[0][:] = value.first_bias
    add_columns(value, observation, hidden[0])
    layer(value.second, value.second_bias, hidden[0], hidden[1])
    outputs[:] = value.output_bias
    add_product(value.output, hidden[1], outputs)


@kernel
def look(game, board, rules, dangers, words, seen):
    """Write the observation of the seat to act into `words`, and the dangers from the column `dangers` on.

    If `dangers` is 0, only the observation is written. `seen` is the workspace of the dangers.
    """
    codes, seat = words.view(np.int8), int(game.seat)
    observe(game, board, rules, seat, words, codes)
    if dangers > 0:
        write_dangers(game, board, rules, seat, seen, codes[dangers:])


@vectorized_entry_point
def write_codes(games, boards, rules, lanes, columns, dangers, codes):
    """Write the columns `columns` for the seat to act in each lane of `lanes` into `codes`, int8 (k, c).

    `dangers` is the first column of the dangers, or 0 if `columns` contain no dangers.
    """
    words, seen = np.zeros((columns[-1] + 8) // 8, np.uint64), dangers_workspace()
    for k in range(len(lanes)):
        look(games[lanes[k]], boards[0], rules[0], dangers, words, seen)
        observed = words.view(np.int8)
        for c in range(len(columns)):
            codes[k, c] = observed[columns[c]]


@kernel
def write_decided(game, rules, chances):
    """Write the win probabilities and return True if the game is over. Otherwise, write 0 and return False.

    The winner gets 1. Without a winner, the living seats get equal shares.
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
    """Add the products of inputs and weights to `units`, skip columns with code 0, and apply ReLU."""
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
    """Write the softmax of the outputs over the living seats into `chances`.

    Output 0 belongs to `looker`, the observing seat, and output i to the i-th player after `looker`.
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
