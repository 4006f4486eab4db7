"""All states of a small duel (`StateGraph`), listed by playing every action and every roll in the core."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from risk_agents.exact.enumeration import (
    DICE_STEP,
    DONE,
    DRAFT_BITS,
    FULL,
    KEPT,
    NEW,
    REACHED,
    STATES,
    SUCCESSORS,
    TEMPLATE,
    TROOPS_BITS,
    UNBEGUN,
    UNSEEN,
    Kept,
    Space,
    enumerate_states,
    fill_slots,
    find_states,
    write_keys,
    write_positions,
)
from risk_agents.exact.sweeps import Graph
from risk_env.batch import GameBatch
from risk_env.board.maps import Board, load_map
from risk_env.board.rules import OPTIONS, Rules
from risk_env.board.tables import tables
from risk_env.core import entry
from risk_env.core.combat import DEFENDER, MAX_ATTACK_DICE, MAX_DEFENCE_DICE
from risk_env.core.draft import MIN_DRAFT
from risk_env.core.odds import roll_odds
from risk_env.core.types import Phase
from risk_env.game import Game

Ints = npt.NDArray[np.int64]

TINY = Rules(
    num_players=2,
    deck="none",
    setup="random",
    initial_troops=6,
    max_troops=3,
    attack="blitz",
    defender_dice="max",
)
MAP = "tiny"
MOST_TERRITORIES = 7  # limit of MOVES_BITS, and of the int32 numbers of positions
NEEDED = {  # options that keep the set of states finite, and the states free of counters
    "num_players": 2,
    "neutral": False,
    "deck": "none",
    "setup": "random",
    "commander": False,
    "max_rounds": None,
    "max_battles_per_turn": None,
}
FIRST_STATES, FIRST_SUCCESSORS, STACK = 1 << 16, 1 << 18, 1 << 13
BUFFER = 1 << 14  # maximum number of decisions that `records` yields at once
START_GAMES = 1 << 16  # number of games whose start positions represent all start positions


def check_small(rules: Rules, board: Board) -> None:
    """Raise ValueError unless `StateGraph` can list the states of games with these rules on this map."""
    for option, needed in NEEDED.items():
        if (value := getattr(rules, option)) != needed:
            raise ValueError(f"{option}={value!r}: must be {needed!r}, so that states can be listed")
    most = 1 << TROOPS_BITS
    if rules.max_troops is None or rules.max_troops > most:
        raise ValueError(
            f"max_troops={rules.max_troops!r}: must be from 2 to {most}, so that states can be listed"
        )
    if board.num_territories > MOST_TERRITORIES:
        raise ValueError(
            f"map={board.name!r} has {board.num_territories} territories: states can be listed for at most "
            f"{MOST_TERRITORIES} territories"
        )
    if sum(board.bonuses) + MIN_DRAFT >= 1 << DRAFT_BITS:
        raise ValueError(
            f"map={board.name!r}: its continents give {sum(board.bonuses)} troops in total, but states can "
            f"be listed only if the continents give at most {(1 << DRAFT_BITS) - MIN_DRAFT - 1} troops"
        )


class StateGraph:
    """States of a duel (decisions and rolls), and the transitions between the states.

    The graph is empty until `records` has listed the states.
    """

    def __init__(self, rules: Rules = TINY, board: Board | str = MAP) -> None:
        """Find the start positions; raise ValueError if the states cannot be listed (`check_small`)."""
        self.board = load_map(board) if isinstance(board, str) else board
        self.rules = rules
        check_small(rules, self.board)
        self.tables = tables(rules, self.board)
        games = self._first_games()
        self.start_positions, counts = np.unique(self._positions(games), return_counts=True)
        self.start_weights = counts / counts.sum()
        self._space = self._empty_space(games[:1])
        self._space.reached[: len(self.start_positions)] = self.start_positions
        self._space.starts[self.start_positions] = UNBEGUN
        self._space.counts[REACHED] = len(self.start_positions)

    @property
    def num_states(self) -> int:
        """Number of decisions and rolls."""
        return int(self._space.counts[STATES])

    @property
    def num_successors(self) -> int:
        """Number of transitions."""
        return int(self._space.counts[SUCCESSORS])

    @property
    def num_positions(self) -> int:
        """Number of positions at which a turn can begin."""
        return int(self._space.counts[REACHED])

    @property
    def num_position_numbers(self) -> int:
        """Number of positions that can be encoded, including positions that are never reached."""
        return len(self._space.starts)

    @property
    def is_decision(self) -> npt.NDArray[np.bool_]:
        """Mask of the states, bool (N,): True for a decision, False for a roll."""
        return np.asarray(self._space.dice[: self.num_states] == 0)

    def records(self) -> Iterator[tuple[Any, Any]]:
        """List all states, and yield the decisions as pairs of arrays: game records and state numbers.

        A pair contains at most BUFFER decisions, and the next pair overwrites it.
        """
        kept = Kept(self.tables.new_games(BUFFER), np.zeros(BUFFER, np.int32))
        while (result := enumerate_states(self._space, self.tables.board, self.tables.rules, kept)) != DONE:
            if result == FULL:
                self._grow()
            else:
                yield kept.records, kept.states
                self._space.counts[KEPT] = 0
        left = int(self._space.counts[KEPT])
        if left:
            yield kept.records[:left], kept.states[:left]

    def graph(self) -> Graph:
        """Return the arrays that kernels read."""
        space, N = self._space, self.num_states
        return Graph(
            first=space.first[:N],
            number=space.number[:N],
            mine=space.mine[:N],
            dice=space.dice[:N],
            order=space.order[:N],
            successors=space.successors[: self.num_successors],
            starts=space.starts,
            odds=roll_odds().reshape(-1, DICE_STEP),
        )

    def find(self, game: Game) -> int:
        """Return the number of a game's state; raise ValueError if the graph does not contain the state."""
        if game.rules != self.rules or game.board != self.board:
            names = [name for name in OPTIONS if getattr(game.rules, name) != getattr(self.rules, name)]
            raise ValueError(f"game: {', '.join(names or ['the map'])} must be the same as in the graph")
        state = int(self.find_all(game.records)[0])
        if state < 0 or game.is_over:
            raise ValueError(
                f"game: the graph does not contain the state of the game, in phase {game.phase.name}"
            )
        return state

    def find_all(self, games: Any) -> Ints:
        """Return the state number of each game record, or -1 if the state is unknown, int64 (k,)."""
        keys, states = np.zeros(len(games), np.int64), np.zeros(len(games), np.int64)
        write_keys(games, self.tables.board, keys)
        find_states(self._space.keys[: self.num_states], self._space.slots, keys, states)
        return states

    def _first_games(self) -> Any:
        """Return the records of the first games of a batch with seed 0."""
        batch = GameBatch(self.rules, self.board, START_GAMES, seed=0, observation=None, mask=None)
        batch.reset()
        return batch.games.copy()

    def _positions(self, games: Any) -> Ints:
        positions = np.zeros(len(games), np.int64)
        write_positions(games, self.tables.board, self.tables.rules, positions)
        return positions

    def _empty_space(self, game: Any) -> Space:
        positions = (2 * int(self.rules.max_troops or 0)) ** self.board.num_territories
        scratch = self.tables.new_games(3)
        scratch[TEMPLATE] = game[0]
        return Space(
            keys=np.zeros(FIRST_STATES, np.int64),
            first=np.full(FIRST_STATES, NEW, np.int64),
            number=np.zeros(FIRST_STATES, np.uint8),
            mine=np.zeros(FIRST_STATES, np.bool_),
            dice=np.zeros(FIRST_STATES, np.uint8),
            order=np.zeros(FIRST_STATES, np.int32),
            successors=np.zeros(FIRST_SUCCESSORS, np.int32),
            slots=np.full(4 * FIRST_STATES, -1, np.int32),
            starts=np.full(positions, UNSEEN, np.int32),
            reached=np.zeros(positions, np.int32),
            stack=self.tables.new_games(STACK),
            marks=np.zeros(STACK, np.int32),
            scratch=scratch,
            rolls=_generators(game, self.tables),
            counts=np.zeros(KEPT + 1, np.int64),
        )

    def _grow(self) -> None:
        """Double the lengths of the arrays for states, transitions and the stack."""
        space, N = self._space, self.num_states
        of_states = {
            name: _doubled(getattr(space, name)) for name in ("keys", "number", "mine", "dice", "order")
        }
        first = _doubled(space.first)
        first[len(space.first) :] = NEW
        slots = np.full(4 * len(first), -1, np.int32)
        fill_slots(space.keys[:N], slots)
        others = {name: _doubled(getattr(space, name)) for name in ("successors", "stack", "marks")}
        self._space = space._replace(first=first, slots=slots, **of_states, **others)


def _doubled(array: Any) -> Any:
    return np.concatenate([array, np.zeros(len(array), array.dtype)])


def _generators(game: Any, T: Any) -> Any:
    """Return a state of the random generator for each result of a roll, uint64 (4, 3, 3).

    The indices are the attack dice, the defence dice and the defender's losses. The core rolls dice from
    different generator states until each result has occurred.
    """
    states = np.zeros((MAX_ATTACK_DICE + 1, MAX_DEFENCE_DICE + 1, MAX_DEFENCE_DICE + 1), np.uint64)
    scratch = game.copy()
    for attack in range(1, MAX_ATTACK_DICE + 1):
        for defence in range(1, MAX_DEFENCE_DICE + 1):
            wanted = set(range(min(attack, defence) + 1))
            number = 0
            while wanted:
                number += 1
                scratch[:] = game
                scratch["phase"], scratch["chosen_dice"], scratch["random"] = (
                    Phase.ROLL,
                    (attack, defence),
                    number,
                )
                scratch["source"], scratch["target"] = (
                    T.board["border_source"][0][0],
                    T.board["border_target"][0][0],
                )
                scratch["troops"][:] = scratch["troops"] + 2
                entry.play_chance_once(scratch, 0, T.board, T.rules)
                lost = int(scratch["losses"][0, DEFENDER])
                if lost in wanted:
                    wanted.remove(lost)
                    states[attack, defence, lost] = number
    return states
