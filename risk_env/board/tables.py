"""Maps and rules as records for the kernels."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from risk_env.board.action_space import ActionSpace
from risk_env.board.maps import MISSION_KINDS, OBJECTIVE_KINDS, SYMBOLS, Board
from risk_env.board.rules import CHOICES, Rules, check_rules
from risk_env.core import types
from risk_env.core.bits import CHUNK

# for each element of a chunk (`core.bits`), the numbers of the subsets of the chunk that contain the element
SUBSETS_WITH = [np.flatnonzero(np.arange(1 << CHUNK) >> place & 1) for place in range(CHUNK)]

Records = npt.NDArray[Any]  # structured array; the fields of an element are attributes of the element


class Tables(NamedTuple):
    """A map and rules: two arrays of one record each for kernels, the size class and the action numbers."""

    board: Records
    rules: Records
    sizes: types.SizeClass
    space: ActionSpace  # the action numbers, for Python code

    @property
    def num_actions(self) -> int:
        """Number of actions."""
        return self.space.n

    def new_games(self, count: int) -> Records:
        """Return an array of `count` game records. All bytes of the records are zero."""
        return np.zeros(count, types.game_dtype(self.sizes))


@lru_cache(maxsize=256)
def tables(rules: Rules, board: Board) -> Tables:
    """Return the `Tables` of the rules and the map. Raises ValueError if the map does not fit the rules."""
    check_rules(rules, board)
    sizes = types.size_class(board.num_territories, len(board.borders), len(board.continents))
    space = ActionSpace(rules, board)
    board_table, rules_table = _board_table(board, sizes), _rules_table(rules, board, sizes, space)
    _write_empty(rules_table[0].empty, rules, board_table[0])
    board_table.flags.writeable = rules_table.flags.writeable = False
    return Tables(board_table, rules_table, sizes, space)


def _put(words: np.ndarray[Any, Any], element: int) -> None:
    words[element // 64] |= np.uint64(1 << element % 64)


def _board_table(board: Board, sizes: types.SizeClass) -> Records:
    table = np.zeros(1, types.board_dtype(sizes))
    record = table[0]
    record.num_territories = board.num_territories
    record.num_borders = len(board.borders)
    record.num_continents = len(board.continents)
    record.num_chunks = -(-board.num_territories // CHUNK)
    record.num_wilds = board.num_wilds
    record.random_cities = board.random_cities
    record.continent_bonus[: len(board.bonuses)] = board.bonuses
    _write_territories(record, board)
    _write_borders(record, board)
    _write_missions(record, board)
    _write_objectives(record, board)
    return table


def _write_territories(record: Any, board: Board) -> None:
    for territory, continent in enumerate(board.continent_of):
        _put(record.everywhere, territory)
        _put(record.continent_members[continent], territory)
        record.continent_of[territory] = continent
        if board.symbols is not None and (symbol := board.symbols[territory]) is not None:
            _put(record.symbol_cards[SYMBOLS.index(symbol)], territory)
        if board.stars is not None and board.stars[territory] == 2:
            _put(record.two_stars, territory)
    for territory in board.basic_training_cities:
        _put(record.fixed_cities, territory)


def _write_borders(record: Any, board: Board) -> None:
    record.border_source[: len(board.borders)], record.border_target[: len(board.borders)] = zip(
        *board.borders, strict=True
    )
    targets, sources = record.targets, record.sources
    chunk_targets, chunk_sources = record.chunk_targets, record.chunk_sources
    chunk_out, chunk_in = record.chunk_out, record.chunk_in
    for border, (source, target) in enumerate(board.borders):
        _put(targets[source], target)
        _put(sources[target], source)
        _put_in_subsets(chunk_targets, source, target)
        _put_in_subsets(chunk_out, source, border)
        _put_in_subsets(chunk_sources, target, source)
        _put_in_subsets(chunk_in, target, border)


def _put_in_subsets(chunks: np.ndarray[Any, Any], territory: int, element: int) -> None:
    """Add an element to the bitset of each subset of the territory's chunk that contains the territory."""
    subsets = SUBSETS_WITH[territory % CHUNK]
    chunks[territory // CHUNK, subsets, element // 64] |= np.uint64(1 << element % 64)


def _write_missions(record: Any, board: Board) -> None:
    record.num_missions = len(board.missions)
    for number, mission in enumerate(board.missions):
        record.mission_kind[number] = MISSION_KINDS.index(mission.kind)
        record.mission_continents[number] = sum(1 << continent for continent in mission.continents)
        record.mission_fallback[number] = mission.fallback_territories
        for fact in ("any_third", "territories", "min_troops", "target", "extended"):
            record[f"mission_{fact}"][number] = getattr(mission, fact)


def _write_objectives(record: Any, board: Board) -> None:
    record.num_objectives = len(board.objectives)
    for number, objective in enumerate(board.objectives):
        record.goal_kind[number] = OBJECTIVE_KINDS.index(objective.kind)
        for fact in ("count", "continent", "major"):
            record[f"goal_{fact}"][number] = getattr(objective, fact)
        record.goal_fixed[number] = objective.basic_training


def _rules_table(rules: Rules, board: Board, sizes: types.SizeClass, space: ActionSpace) -> Records:
    table = np.zeros(1, types.rules_dtype(sizes))
    record = table[0]
    record.num_players = rules.num_players
    record.num_armies = rules.num_players + rules.neutral
    for option, choices in CHOICES.items():
        record[option] = choices.index(getattr(rules, option))
    record.headquarters_to_win = rules.headquarters_to_win or rules.num_players - 1
    record.max_troops = rules.max_troops or types.MOST_TROOPS
    record.max_rounds = rules.max_rounds or types.UNLIMITED
    record.max_battles = rules.max_battles_per_turn or types.UNLIMITED
    starting_troops = rules.troops_to_start(board.num_territories)
    record.initial_troops = 0 if rules.setup == "chart" else starting_troops
    for block in ("border", "dice", "amount", "card", "die", "objective"):
        record[f"{block}_0"] = space.blocks[block].start
    record.done, record.num_actions = space.done, space.n
    _write_amounts(record)
    record.chart_capital[:] = types.NOWHERE
    chart = board.chart(rules.num_players)
    if rules.setup == "chart" and chart is not None:
        record.chart_owner[: len(chart.owner)] = chart.owner
        record.chart_troops[: len(chart.troops)] = chart.troops
        record.chart_capital[: chart.num_players] = chart.capitals
    return table


def _write_empty(game: Any, rules: Rules, board: Any) -> None:
    """Write the record of a game before set-up: no owners, all cards in the deck (RULES 2.1, 2.2, 2.5)."""
    for field in ("owner", "source", "target", "headquarters", "capital", "airfield"):
        game[field] = types.NOWHERE
    for field in ("winner", "mission", "objective_reward", "reward_owner"):
        game[field] = types.NOBODY
    game.objective = types.Held.NOT_IN_PLAY
    if rules.deck == "symbol":
        game.deck, game.deck_wilds = np.bitwise_or.reduce(board.symbol_cards), board.num_wilds
    elif rules.deck == "star":
        game.deck = board.everywhere


def _write_amounts(record: Any) -> None:
    """Write the legal amounts for each number of available troops up to `MANY` (docs/decisions.md).

    With `MANY` troops or more, all amounts are legal.
    """
    record.amounts[:] = types.AMOUNTS
    for most in range(1, types.MANY + 1):
        listed = sum(1 << number for number, amount in enumerate(types.AMOUNTS) if amount < most)
        half = most // 2 >= 1 and most // 2 not in types.AMOUNTS
        record.amount_words[most] = listed | half << types.HALF | 1 << types.ALL_OF_THEM
