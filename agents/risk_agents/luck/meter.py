"""Luck of each seat in a duel: the change of the seat's win probability by dice and cards.

    meter = LuckMeter(rules, board)
    meter.luck(meter.begun(seeds), actions)  # float64 (k, 2): the luck of both seats in each of k games

The result of a seat minus its luck is the result without luck. The expected luck is 0, so the mean of results
without luck estimates the win rate. Results without luck have a smaller variance, so fewer games are needed
to show a difference. The method is AIVAT's control variate for chance events (Burch et al. 2018; White and
Bowling 2009), with weight 1.

The probabilities come from a learned value (VALUE). Luck is therefore known only in games that this value
covers. These are duels of the preset `classic` on the classic map, with any `attack`, `defender_dice` and
`max_rounds`. With three or more players, the method saves too few games (`docs/agents.md`).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from risk_agents.learned.beam_value_features import WORKSPACE
from risk_agents.learned.schema import schema_of
from risk_agents.luck.kernels import ILLEGAL, MOST_LEFT, RECORDS, Events, Tools, write_luck
from risk_agents.search.beam_value import BeamValueFile
from risk_env.arrays import Array, Floats
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.board.tables import tables
from risk_env.core import entry
from risk_env.core.odds import roll_odds
from risk_env.game import Game
from risk_env.messages import shortened
from risk_env.start_positions import check_same_game
from risk_env.viewer.replay import Replay

# value that was trained on positions between the attacks of scripted bots and `beam`
VALUE = BeamValueFile.load(Path(__file__).parent.parent / "learned" / "policies" / "luck.npz")
KINDS = BATTLES, DICE, CARDS = ("battle", "die", "card")
PLAYERS = 2


class LuckEvent(NamedTuple):
    """Luck of one battle, re-rolled die or card."""

    kind: str  # one of KINDS
    actions: int  # number of actions before the event, without forced actions
    seat: int  # seat whose turn it is
    source: int  # attacking territory; -1 for a card
    target: int  # attacked territory; -1 for a card
    luck: float  # change of the seat's win probability; the other seat's luck is -`luck`


def why_unknown(rules: Rules, board: Board, value: BeamValueFile = VALUE) -> str:
    """Return the reason why luck is unknown with these rules on this map, or "" if luck is known."""
    if rules.num_players != PLAYERS:
        return f"num_players={rules.num_players}: luck is measured only in games of {PLAYERS} players"
    other = value.schema.differences(schema_of(rules, board))
    return f"the evaluation that measures luck was trained for {other}" if other else ""


class LuckMeter:
    """Meter of the luck of both seats in recorded games; not thread-safe, so use one meter per thread."""

    def __init__(self, rules: Rules, board: Board, value: BeamValueFile = VALUE) -> None:
        """Create a meter; raise ValueError if luck is unknown in these games (`why_unknown`)."""
        if reason := why_unknown(rules, board, value):
            raise ValueError(f"the luck of these games is unknown: {reason}")
        self._rules, self._board, self._tables = rules, board, tables(rules, board)
        room = MOST_LEFT + 1
        self._tools = Tools(
            self._tables.new_games(RECORDS),
            roll_odds(),
            np.zeros((room, room)),
            np.zeros((2, 2, room)),
            value.packed[0],
            np.zeros(WORKSPACE, np.float32),
        )

    def prepare(self) -> None:
        """Compile the kernels that measure luck."""
        self.luck(self.begun([]), [])

    def begun(self, seeds: Sequence[int]) -> Array:
        """Return the records of games before the first action, given their seeds (`seeds.game_seed`)."""
        games = self._tables.new_games(len(seeds))
        for game, seed in enumerate(seeds):
            entry.set_up_game(games, game, self._tables.board, self._tables.rules, np.uint64(seed))
        return games

    def luck(self, games: Array, actions: Sequence[Sequence[int]]) -> Floats:
        """Return the luck of each seat in games, float64 (k, 2).

        `games` are records (k,). `actions` contains the next actions of each game, without forced actions;
        the actions need not reach the end of the game. Raises ValueError if an action is not legal.
        """
        measured, _ = self._measure(games, actions, _events(0))
        return np.stack([measured, -measured], axis=1)

    def events(self, game: Array, actions: Sequence[int]) -> list[LuckEvent]:
        """Return the luck of every battle, re-rolled die and card, in the order of play.

        `game` is an array (1,) with the record of a game. `actions` are the next actions of this game,
        without forced actions. Raises ValueError if an action is not legal.
        """
        _, count = self._measure(game, [actions], _events(0))
        events = _events(count)
        self._measure(game, [actions], events)
        pairs = zip(events.facts.tolist(), events.luck.tolist(), strict=True)
        return [
            LuckEvent(KINDS[kind], played, seat, source, target, luck)
            for (kind, played, seat, source, target), luck in pairs
        ]

    def of_game(self, game: Game) -> list[LuckEvent]:
        """Return the luck of every battle, re-rolled die and card since the beginning of a `Game`.

        Raises ValueError if the rules or the map of the game differ from the rules or the map of the meter.
        """
        check_same_game(game.rules, game.board, self._rules, self._board)
        return self.events(game.beginning().records, game.actions)

    def show(self, page: Replay, game: Game) -> None:
        """Add the luck of every battle of a `Game` to the page of its replay."""
        battles: list[float] = []
        last = -1  # number of actions before the last battle; the rolls of a blitz follow the same action
        for event in self.of_game(game):
            if event.kind == BATTLES and event.actions != last:
                battles.append(0.0)
                last = event.actions
            if event.kind != CARDS:
                battles[-1] += event.luck
        shown = (event for _, seen in page.facts["frames"] for event in seen if event["kind"] == "battle")
        for battle, luck in zip(shown, battles, strict=True):
            battle["luck"] = round(luck, 4)

    def _measure(self, games: Array, actions: Sequence[Sequence[int]], events: Events) -> tuple[Floats, int]:
        """Return the luck of seat 0 in each game, and the number of events of the last game."""
        records = np.ascontiguousarray(games)
        if records.dtype != self._tools.games.dtype or records.shape != (len(actions),):
            raise ValueError(
                f"games have shape {records.shape} and dtype {shortened(str(records.dtype))}: must be "
                f"{len(actions)} records of games on this map, one for each list of actions"
            )
        counts = np.array([len(of_game) for of_game in actions], np.int64)
        played = np.zeros((len(counts), int(counts.max(initial=0))), np.int32)
        for game, of_game in enumerate(actions):
            played[game, : len(of_game)] = of_game
        luck, board, rules = np.zeros(len(counts)), self._tables.board, self._tables.rules
        count = int(write_luck(records, board, rules, played, counts, self._tools, luck, events))
        if count == ILLEGAL:
            raise ValueError("actions contain an action that is not legal, or that follows the end of a game")
        return luck, count


def _events(count: int) -> Events:
    """Return arrays for `count` events of a game."""
    return Events(np.zeros((count, len(LuckEvent._fields) - 1), np.int64), np.zeros(count))
