"""Random games for tests: random rules, players with different tempers, and states in plain words."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from risk_env.board.maps import Board, load_map, map_names
from risk_env.board.rules import CHOICES, PRESETS, Rules, check_rules
from risk_env.board.tables import Tables, tables
from risk_env.core import entry
from risk_env.core.observe import BLOCK, TERRITORY_WIDTH
from risk_env.core.types import Phase
from risk_env.events import Event, chance_events, log_lines, setup_events
from risk_env.observations import observation_size
from risk_env.public import members
from risk_env.seeds import game_seed

OPTIONS: dict[str, tuple[Any, ...]] = {  # a value that is added to an option is drawn as well
    "setup": tuple(value for value in CHOICES["setup"] if value != "chart"),
    "initial_troops": (None, 14, 23),
    "neutral": CHOICES["neutral"],
    "headquarters_to_win": (None, 1, 2),
    **{
        name: CHOICES[name]
        for name in ("missions", "set_values", "occupied_bonus", "fortify", "defender_dice", "attack")
    },
    "max_troops": (None, 12, 5),
    **{
        name: CHOICES[name]
        for name in ("card_reroll", "commander", "cities", "objectives", "rewards", "capitals")
    },
    "max_battles_per_turn": (None, 1, 7),
}


def random_rules(rng: random.Random, board: Board, preset: str, **fixed: Any) -> Rules:
    """Return a preset with some options changed at random, for some number of players.

    The rules can be played on the map.
    """
    while True:
        options = {name: rng.choice(values) for name, values in OPTIONS.items() if rng.random() < 0.3}
        expert = rng.random() < 0.2
        try:
            rules = Rules.preset(preset, rng.choice(PRESETS[preset].players), expert, **{**options, **fixed})
            check_rules(rules, board)
        except ValueError:
            continue
        return rules


class Player:
    """A player that acts at random, and more aggressively the higher `temper` is (0: uniformly at random)."""

    def __init__(self, rng: random.Random, temper: float) -> None:
        self.rng, self.temper = rng, temper

    def choose(self, record: Any, records: Tables, legal: list[int]) -> int:
        """Return one of the legal actions."""
        if self.rng.random() < self.temper:
            eager = self._eager(record, records.rules[0], records.board[0], legal)
            legal = eager or legal
        return self.rng.choice(legal)

    def _eager(self, record: Any, rules: Any, board: Any, legal: list[int]) -> list[int]:
        phase = record.phase
        if phase == Phase.ATTACK:
            borders = [a - int(rules.border_0) for a in legal if a != rules.done]
            good = [b for b in borders if self._outnumbers(record, board, b)]
            return [b + int(rules.border_0) for b in good]
        if phase in (Phase.ATTACK_DICE, Phase.DRAFT_AMOUNT, Phase.OCCUPY):
            return [max(a for a in legal if a != rules.done)]
        if phase in (Phase.TRADE, Phase.OBJECTIVE):
            return [a for a in legal if a != rules.done]
        return []

    @staticmethod
    def _outnumbers(record: Any, board: Any, border: int) -> bool:
        source, target = board.border_source[border], board.border_target[border]
        return bool(record.troops[source] > record.troops[target])


def play(
    rules: Rules, board: Board, seed: int, temper: float, most: int = 100_000
) -> Iterator[tuple[Any, Tables, list[str], list[int], int]]:
    """Play a game action by action, including forced actions.

    Yield (games, tables, chance lines since the previous action, legal actions, action to be played next or
    -1 at the end). Stop after `most` actions.
    """
    records = tables(rules, board)
    games = records.new_games(1)
    entry.set_up_game(games, 0, records.board, records.rules, game_seed(seed))
    entry.write_legal_actions(games, 0, records.board, records.rules)
    record = games[0]
    player = Player(random.Random(seed), temper)
    lines = list(_chance_lines(setup_events(record, rules, board), board))
    for _ in range(most):
        legal = members(record.legal)
        action = player.choose(record, records, legal) if legal else -1
        yield games, records, lines, legal, action
        if action < 0:
            return
        lines = list(apply(games, records, board, action))


def apply(games: Any, records: Tables, board: Board, action: int) -> Iterator[str]:
    """Play one action and the chance events after it, and yield the chance lines."""
    record = games[0]
    before = record.copy()
    entry.apply_action(games, 0, records.board, records.rules, action)
    if before.phase == Phase.REROLL and action != records.rules[0].done:
        yield f"reroll {int(record.rerolled[1])}"
    while True:
        before = record.copy()
        if not entry.play_chance_once(games, 0, records.board, records.rules):
            return
        yield from _chance_lines(chance_events(before, record, board), board)


def _chance_lines(events: list[Event], board: Board) -> Iterator[str]:
    return (line.removeprefix("chance: ") for line in log_lines(events, board))


def state_of(record: Any, rules: Rules, records: Tables, board: Board) -> dict[str, Any]:
    """Return the state of a record in the format of `tests/naive.py`."""
    P, T = rules.num_players, board.num_territories
    over = record.phase == Phase.OVER
    objectives = rules.objectives is not None
    return {
        "phase": Phase(int(record.phase)).name,
        "seat": int(record.seat),
        "turn": int(record.turn),
        "round": int(record.round_number),
        "owner": record.owner[:T].tolist(),
        "troops": record.troops[:T].tolist(),
        "to_place": record.to_place[:P].tolist(),
        "neutral_to_place": int(record.to_place[P]) if rules.neutral else 0,
        "hands": [
            members(hand) + [T] * wilds for hand, wilds in zip(record.hand[:P], record.wilds[:P], strict=True)
        ],
        "picked": members(record.picked) + [T] * int(record.picked_wilds),
        "deck": members(record.deck) + [T] * int(record.deck_wilds),
        "discard": members(record.discard) + [T] * int(record.discard_wilds),
        "shown": members(record.shown),
        "sets_traded": int(record.sets_traded),
        "draft_left": int(record.draft_left),
        "alive": (record.death[:P] == 0).tolist(),
        "missions": record.mission[:P].tolist() if rules.victory == "mission" else [],
        "headquarters": record.headquarters[:P].tolist() if rules.victory == "headquarters" else [],
        "capitals": record.capital[:P].tolist() if rules.capitals else [],
        "cities": members(record.city),
        "objective_holder": record.objective[: len(board.objectives)].tolist() if objectives else [],
        "objective_reward": record.objective_reward[: len(board.objectives)].tolist() if objectives else [],
        "reward_owner": record.reward_owner.tolist() if rules.rewards else [],
        "airfields": record.airfield.tolist() if rules.rewards else [],
        "moves_left": int(record.moves_left),
        "must_trade": _must_trade(record, records, board),
        "captured": bool(record.captured),
        "battles": int(record.battles),
        "winner": int(record.winner),
        "truncated": bool(record.truncated),
        "placement": _places(record, rules, records) if over else [],
    }


def _must_trade(record: Any, records: Tables, board: Board) -> bool:
    """Return True if the observation of the seat at turn says that it must trade."""
    games, observation = np.array([record], record.dtype), np.zeros(observation_size(board), np.int8)
    entry.observe_game(
        games, 0, records.board, records.rules, int(record.turn), observation.view(np.uint64), observation
    )
    return bool(observation[TERRITORY_WIDTH * board.num_territories + BLOCK.must_trade])


def _places(record: Any, rules: Rules, records: Tables) -> list[int]:
    games = np.array([record], record.dtype)
    places = np.zeros(rules.num_players, np.int64)
    entry.placements(games, 0, records.board, records.rules, places)
    return places.tolist()


def maps_of(preset: str) -> list[Board]:
    """Return the shipped maps on which a preset can be played with some number of players."""
    return [load_map(name) for name in map_names() if can_be_played(preset, load_map(name))]


def can_be_played(preset: str, board: Board) -> bool:
    """Return True if a preset can be played on a map with some number of players."""
    for players in PRESETS[preset].players:
        try:
            check_rules(Rules.preset(preset, players), board)
        except ValueError:
            continue
        return True
    return False
