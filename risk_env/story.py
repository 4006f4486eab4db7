"""The log of a game: its history played once more, every action and chance result in words (docs/decisions.md)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.board.tables import Tables, tables
from risk_env.core import entry
from risk_env.core.combat import ATTACKER, DEFENDER
from risk_env.core.types import Held, Phase
from risk_env.text.notation import action_text


class Battle(NamedTuple):
    """One roll. Dice in falling order after bonuses, in the order rolled before them."""

    source: str
    target: str
    attacker_rolled: tuple[int, ...]
    defender_rolled: tuple[int, ...]
    attacker_dice: tuple[int, ...]  # after dropped dice, re-roll, commander and airfield (RULES 9.9, 10.6)
    defender_dice: tuple[int, ...]
    attacker_losses: int
    defender_losses: int


class Story:
    """A game told once more from the start of its history, line by line."""

    def __init__(self, rules: Rules, board: Board, start: bytes | None, chance: np.uint64, ask_forced: bool) -> None:
        self.lines: list[str] = []
        self.battle: Battle | None = None
        self._board, self._tables = board, tables(rules, board)
        self._ask_forced = ask_forced
        self._games = self._tables.new_games(1)
        self._told = 0
        if start is None:
            entry.set_up_game(self._games, 0, self._tables.board, self._tables.rules, chance)
            self.lines += setup_lines(self._games[0], rules, board)
        else:
            self._games.view(np.uint8)[:] = np.frombuffer(start, np.uint8)
            self._let_chance_speak()
        self._play_on()

    def catch_up(self, actions: list[int]) -> None:
        """Tell the actions that have not been told."""
        for action in actions[self._told :]:
            self._act(action, forced=False)
            self._play_on()
        self._told = len(actions)

    def _play_on(self) -> None:
        """Forced actions, up to the next asked one."""
        record = self._games[0]
        while not self._ask_forced:
            legal = members(record.legal)
            if len(legal) != 1:
                return
            self._act(legal[0], forced=True)

    def _act(self, action: int, forced: bool) -> None:
        record = self._games[0]
        words = action_text(action, record, self._tables, self._board)
        self.lines.append(f"{int(record.seat)}: {words}{' (forced)' if forced else ''}")
        before = record.copy()
        entry.apply_action(self._games, 0, self._tables.board, self._tables.rules, action)
        if before.phase == Phase.REROLL and words != "done":
            self.lines.append(f"chance: reroll {int(record.rerolled[1])}")
        self._note_battle(before)
        self._let_chance_speak()

    def _let_chance_speak(self) -> None:
        record = self._games[0]
        while True:
            before = record.copy()
            if not entry.play_chance_once(self._games, 0, self._tables.board, self._tables.rules):
                return
            self.lines += chance_lines(before, record, self._board)
            self._note_battle(before)

    def _note_battle(self, before: Any) -> None:
        """Keep the roll that was just decided, if one was."""
        record = self._games[0]
        rolled = before.phase in (Phase.ROLL, Phase.REROLL, Phase.COMMANDER)
        if rolled and record.phase not in (Phase.REROLL, Phase.COMMANDER):
            self.battle = Battle(
                source=self._board.territories[int(before.source)],
                target=self._board.territories[int(before.target)],
                attacker_rolled=_faces(record.rolled[ATTACKER]),
                defender_rolled=_faces(record.rolled[DEFENDER]),
                attacker_dice=_faces(record.settled[ATTACKER]),
                defender_dice=_faces(record.settled[DEFENDER]),
                attacker_losses=int(record.losses[ATTACKER]),
                defender_losses=int(record.losses[DEFENDER]),
            )


def _faces(dice: npt.NDArray[np.int8]) -> tuple[int, ...]:
    return tuple(int(face) for face in dice if face)


def play_one(games: Any, records: Tables, action: int) -> None:
    """One action and the chance that follows it, forced actions not."""
    entry.apply_action(games, 0, records.board, records.rules, action)
    play_chance(games, records)


def play_chance(games: Any, records: Tables) -> None:
    """Chance, until a seat must decide."""
    while entry.play_chance_once(games, 0, records.board, records.rules):
        pass


def members(words: npt.NDArray[np.uint64]) -> list[int]:
    """The elements of a set of bit words, ascending."""
    return np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")).tolist()


def setup_lines(record: Any, rules: Rules, board: Board) -> list[str]:
    """The chance results of a set-up, in the order of RULES 11.4."""
    players = range(rules.num_players)
    words = [f"starter {int(record.starter)}"]
    if rules.victory == "mission":
        words.append(f"missions {_numbers(record.mission[: rules.num_players])}")
    if rules.cities == "random":
        words.append(f"cities {_numbers(members(record.city))}")
    if rules.objectives == "random":
        words.append(f"objectives {_objectives(record)}")
    owners, troops = record.owner[: board.num_territories], record.troops[: board.num_territories]
    if rules.setup == "deal":
        words.append(f"deal {_numbers(owners)}")
    if rules.setup == "random":
        words.append(f"setup {' '.join(f'{owner}:{count}' for owner, count in zip(owners, troops, strict=True))}")
        if rules.capitals:
            words.append(f"capitals {_numbers(record.capital[: rules.num_players])}")
        if rules.victory == "headquarters":
            words.append(f"headquarters {_numbers(record.headquarters[: rules.num_players])}")
    in_turn_order = [(int(record.starter) + place) % rules.num_players for place in players]
    for seat in in_turn_order:
        words += [f"card {seat} {board.territories[card]}" for card in members(record.hand[seat])]
    return [f"chance: {line}" for line in words]


def _numbers(values: Any) -> str:
    return " ".join(str(int(value)) for value in values)


def _objectives(record: Any) -> str:
    """Face-up objectives, each with the number of its Reward."""
    rewards = record.objective_reward
    return " ".join(f"{o}={int(rewards[o])}" for o, state in enumerate(record.objective) if state != Held.NOT_IN_PLAY)


def chance_lines(before: Any, record: Any, board: Board) -> list[str]:
    """What chance said between two states: a roll, or a card drawn."""
    if before.phase == Phase.ROLL:
        attack, defence = (" ".join(str(face) for face in dice if face) for dice in record.rolled)
        return [f"chance: roll {attack} | {defence}"]
    seat = int(before.turn)
    drawn = members(record.hand[seat] & ~before.hand[seat])
    if drawn:
        return [f"chance: card {seat} {board.territories[drawn[0]]}"]
    if record.wilds[seat] > before.wilds[seat]:
        return [f"chance: card {seat} wild"]
    return []
