"""A value for every table: each seat's chance to win, with two to six players, from what the seat to decide observes.

A network of two hidden layers gives a number for each player, counted from the one who observes; the softmax over the
living are their chances. It is learnt where turns begin (`risk_training.table_values`). All numbers are float32 and
added up in one order: the same bits on every machine.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from risk_agents.learned.layout import scaled_counts
from risk_agents.learned.network import add_product, layer
from risk_agents.learned.schema import Schema, differences, schema_of
from risk_agents.learned.trained import TABLE_VALUE, TrainedFile
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.board.tables import Tables
from risk_env.bots import CompiledBot
from risk_env.compiler import inlined, kernel, vectorized_entry_point
from risk_env.core.observe import MOST_CODE, TERRITORY_COLUMNS, TERRITORY_WIDTH, num_globals, observe
from risk_env.core.position import is_alive
from risk_env.core.types import MAX_SEATS, Phase, game_dtype
from risk_env.untrusted import shortened

MOST_UNITS = 1024  # of a hidden layer
KINDS = 3  # inputs of a column: whether its code is 0, a logarithm, linear (`layout.scaled_counts`)
NOTHING = np.float32(0)
# Columns of a territory that are inputs; all global columns are
TERRITORY_INPUTS = (*(f"troops_{player}" for player in range(MAX_SEATS)), "own_card")
# Options by which tables may differ from those it was trained for
TABLE_OPTIONS = ("num_players", "setup", "attack", "defender_dice", "max_rounds")

Array = npt.NDArray[Any]


class TableValue(NamedTuple):
    """The weights as kernels take them, float32 (inputs, outputs), biases (outputs,); and what the inputs are."""

    columns: Any  # int64 (c,): columns of the observation
    scales: Any  # float32 (128, KINDS): inputs by the code in a column
    first: Any  # KINDS rows a column
    first_bias: Any
    second: Any
    second_bias: Any
    output: Any
    output_bias: Any


def input_columns(board: Board) -> npt.NDArray[np.int64]:
    """The columns of an observation that the network reads, int64 (c,)."""
    names = [name for name, _ in TERRITORY_COLUMNS]
    of_territory = np.array([names.index(name) for name in TERRITORY_INPUTS])
    firsts = TERRITORY_WIDTH * np.arange(board.num_territories)
    globals_ = len(firsts) * TERRITORY_WIDTH + np.arange(num_globals(len(board.continents)))
    return np.concatenate([(firsts[:, None] + of_territory).ravel(), globals_])


def input_scales() -> npt.NDArray[np.float32]:
    """The inputs of a column by its code, float32 (128, KINDS)."""
    return np.stack(scaled_counts(np.arange(MOST_CODE + 1, dtype=np.float32)), 1).astype(np.float32)


def table_value_shapes(columns: int, first: int, second: int, outputs: int = MAX_SEATS) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the weights, for the numbers of columns, units of the hidden layers, and outputs."""
    hidden = {"first": (KINDS * columns, first), "second": (first, second), "output": (second, outputs)}
    return hidden | {f"{name}_bias": shape[1:] for name, shape in hidden.items()}


class TableFile(TrainedFile):
    """A network for every table, what it was trained for, and how."""

    num_outputs = MAX_SEATS

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the names and shapes of all weights, computed from the schema's map."""
        sizes = self.size_of("first", MOST_UNITS), self.size_of("second", MOST_UNITS)
        return table_value_shapes(len(input_columns(self.schema.board)), *sizes, self.num_outputs)

    @cached_property
    def value(self) -> TableValue:
        """The weights as kernels take them; ValueError for weights that do not fit the schema."""
        return TableValue(columns=input_columns(self.schema.board), scales=input_scales(), **self.arrays)

    def checked_records(self, records: Array, tables: Tables) -> Array:
        """Return records of games for kernels; raise ValueError for other records or another map's tables."""
        if tables.space.board.digest != self.schema.map_digest:
            named = shortened(tables.space.board.source), shortened(self.schema.map_source)
            raise ValueError(f"tables are for map {named[0]}, but the {self.KIND} is for map {named[1]}")
        records = np.ascontiguousarray(records)
        if records.ndim != 1 or records.dtype != game_dtype(tables.sizes):
            raise ValueError(f"records must be an array (k,) of records of games of this map, not {records.shape}")
        return records

    def knows(self, rules: Rules, board: Board) -> bool:
        """Whether it was trained for such tables, whatever the number of players."""
        return not self._differences(rules, board)

    def check(self, rules: Rules, board: Board, source: str) -> None:
        """ValueError naming all that differs, if it does not know such tables; errors call it `source`."""
        if other := self._differences(rules, board):
            raise ValueError(f"{self.KIND} {source!r} was trained for {other}")

    def _differences(self, rules: Rules, board: Board) -> str:
        return differences(_facts(self.schema), _facts(schema_of(rules, board)))


def _facts(schema: Schema) -> dict[str, Any]:
    """Return the facts that must be equal, by name."""
    options = {name: value for name, value in schema.rules.to_dict().items() if name not in TABLE_OPTIONS}
    return {"map": schema.map_digest, "columns": schema.columns, **options}


class TableValueFile(TableFile):
    """Each seat's chance to win."""

    KIND = TABLE_VALUE

    def chances(self, records: Array, tables: Tables) -> npt.NDArray[np.float64]:
        """Each seat's chance to win in each of these games, float64 (k, 6): 0 for seats that are not there."""
        records = self.checked_records(records, tables)
        chances = np.zeros((len(records), MAX_SEATS))
        write_chances(records, tables.board, tables.rules, np.arange(len(records)), self.value, chances)
        return chances

    def bot(self, source: str, name: str | None = None) -> CompiledBot:
        """ValueError: a value alone plays nothing."""
        raise ValueError(f"agent={source!r} is a value for every table, which `strategist` plays by, and no agent")


@vectorized_entry_point
def write_chances(games, boards, rules, lanes, value, chances):
    """Write each seat's chance to win in each of these lanes, float64 (k, 6); 1 and 0 where that is decided."""
    work = workspace(value)
    for k in range(len(lanes)):
        evaluate_table(games[lanes[k]], boards[0], rules[0], value, work, chances[k])


@inlined
def workspace(value):
    """For one position: its observation as words, both hidden layers, the outputs."""
    words = np.zeros((value.columns[-1] + 8) // 8, np.uint64)
    hidden = np.zeros(value.first.shape[1], np.float32), np.zeros(value.second.shape[1], np.float32)
    return words, hidden, np.zeros(value.output.shape[1], np.float32)


@kernel
def evaluate_table(game, board, rules, value, work, chances):
    """Write the chances of all seats, as the network sees them from the seat to decide: float64 (6,)."""
    if write_decided(game, rules, chances):
        return
    write_outputs(game, board, rules, value, work)
    write_shares(game, rules, int(game.seat), work[2], chances)


@kernel
def write_outputs(game, board, rules, value, work):
    """Write the outputs of the network, work[2], for what the seat to decide observes."""
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
    """Clear the chances, and write those of a game that is over: 1 for the winner, even for the living without one.

    Returns whether it is over.
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
    """Add the rows of all columns whose code is not 0, and rectify the units."""
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
    """The softmax over the living; output i is that of the i-th player after the one who observes."""
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
