"""Composition of a part of a turn without dice. Choices are played only when the player confirms them.

A composition plays the choices on a copy of the game, so each choice can be taken back. The composition ends
where chance, another seat, or another part of the turn follows. The player sees nothing beyond this end.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from risk_agents.web.work import Refused
from risk_env.board.action_space import DONE
from risk_env.core.types import NOWHERE, Phase
from risk_env.game import Game
from risk_env.text.amounts import AMOUNT_PHASES, most_troops
from risk_env.text.notation import DECISIONS
from risk_env.words.action_plan import ActionPlan

MOST_CHOICES = 100  # maximum number of choices in a composition
# Parts of a turn that can be composed
PARTS = (
    frozenset({Phase.TRADE, Phase.BONUS, Phase.DRAFT, Phase.DRAFT_AMOUNT}),
    frozenset({Phase.FORTIFY_FROM, Phase.FORTIFY_TO, Phase.FORTIFY_AMOUNT}),
    frozenset({Phase.OBJECTIVE, Phase.AIRFIELD}),
    frozenset({Phase.CAPITAL}),
    frozenset({Phase.HEADQUARTERS}),
)
PART_OF = {phase: part for part in PARTS for phase in part}
SETTLED = (Phase.CLAIM, Phase.DEPLOY)  # decisions of the set-up that the server can make for a person


class Choice(NamedTuple):
    """A composed choice, and the copy of the game before it."""

    before: Game
    actions: tuple[int, ...]
    words: str
    changes: dict[int, int]  # troops that the choice adds to own territories, by territory


class Composition:
    """The choices of the seat to act that are not played yet."""

    def __init__(self, game: Game) -> None:
        self._seat, self._part = game.seat, PART_OF.get(game.phase, frozenset())
        self._choices: list[Choice] = []
        self.game = _copy(game)  # the game after the choices
        self.is_complete = False  # True if the part of the turn is over

    def __len__(self) -> int:
        return len(self._choices)

    @property
    def actions(self) -> list[int]:
        """All actions of the choices."""
        return [action for choice in self._choices for action in choice.actions]

    @property
    def facts(self) -> dict[str, Any]:
        """Choices in words, and the troops that they add to each territory, for the page."""
        added: dict[int, int] = {}
        for choice in self._choices:
            for territory, troops in choice.changes.items():
                added[territory] = added.get(territory, 0) + troops
        words = [choice.words for choice in self._choices if choice.words]
        steps = len(self._choices)
        return {"composed": words, "added": added, "complete": self.is_complete, "steps": steps}

    def add(self, answer: list[int] | str) -> None:
        """Add a choice, given by its actions or in words; raise Refused if it is not legal now."""
        if self.is_complete or len(self._choices) >= MOST_CHOICES or self.game.phase not in self._part:
            raise Refused("this choice cannot be taken back: confirm the earlier choices first")
        game, plan = _copy(self.game), ActionPlan(self._seat)
        try:
            plan.give(answer, game)
        except ValueError as error:
            raise Refused(str(error)) from error
        actions, words, changes, is_over = list[int](), list[str](), dict[int, int](), False
        while not is_over and (action := plan.next_action(game)) is not None:
            step = _Step(game, action)
            is_over = self._play(game, action)
            actions.append(action)
            words += step.words
            for territory, troops in step.changes(game).items():
                changes[territory] = changes.get(territory, 0) + troops
        traded = Counter(self.game.hand(self._seat)) - Counter(game.hand(self._seat))
        if traded and not changes:
            words = [f"trade {', '.join(traded.elements())}"]
        told = _told(", ".join(words), changes, game)
        self._choices.append(Choice(self.game, tuple(actions), told, changes))
        self.game, self.is_complete = game, is_over

    def _play(self, game: Game, action: int) -> bool:
        """Play an action on a copy of the game; return whether the part of the turn is over."""
        chance = game.record.random
        game.step(action)
        goes_on = game.seat == self._seat and game.phase in self._part
        return not goes_on or bool(game.record.random != chance)

    def take_back(self) -> None:
        """Take back the last choice; raise Refused if there is none."""
        if not self._choices:
            raise Refused("there is no choice to take back")
        self.game, self.is_complete = self._choices.pop().before, False


class _Step:
    """An action on a copy of a game, and the own territories whose troops it may change."""

    def __init__(self, game: Game, action: int) -> None:
        self._phase, self._text = game.phase, game.action_text(action)
        kind, arguments = game.tables.space.decode(action)
        places = [*arguments[:1]] if kind == "territory" else []
        if game.phase in AMOUNT_PHASES:
            places += [int(game.record.source), int(game.record.target)]
        self._troops = {t: int(game.troops[t]) for t in places if t != NOWHERE and game.owner[t] == game.seat}

    def changes(self, game: Game) -> dict[int, int]:
        """Return the troops that each territory has gained in `game`. Losses are negative."""
        gained = {t: int(game.troops[t]) - troops for t, troops in self._troops.items()}
        return {t: troops for t, troops in gained.items() if troops}

    @property
    def words(self) -> list[str]:
        """The action in words. Empty for a draft or a fortifying move, which `changes` describes."""
        argument = self._text.removeprefix(f"{DECISIONS[self._phase].word} ")
        if self._phase in (Phase.DRAFT, Phase.FORTIFY_FROM, Phase.FORTIFY_TO, *AMOUNT_PHASES):
            return []
        if argument == DONE:
            return ["no more cards" if self._phase == Phase.TRADE else "none"]
        return [f"card {argument}" if self._phase == Phase.TRADE else argument]


def _told(words: str, changes: dict[int, int], game: Game) -> str:
    """Return a choice in words: the troops by territory, or `words` if no territory gains troops."""
    names = game.board.territories
    gained = [f"{troops} on {names[t]}" for t, troops in changes.items() if troops > 0]
    lost = [f" from {names[t]}" for t, troops in changes.items() if troops < 0]
    return f"{', '.join(gained)}{''.join(lost)}" if gained else words


def _copy(game: Game) -> Game:
    """Return a copy of a game without its history."""
    return Game.from_record(game.rules, game.board, game.records.copy())


def settling_action(game: Game) -> int:
    """Return an action of the set-up for a person who leaves the rest of the set-up to the server.

    A claim goes to the territory with the largest share of own neighbours; a small continent breaks ties. A
    troop goes to the own territory with the most enemy troops around it per own troop.
    """
    board, owner, troops, seat = game.board, game.owner, game.troops, game.seat
    sizes = [len(members) for members in board.members_of]

    def need(t: int) -> tuple[float, float]:
        around = board.neighbours(t)
        if game.phase == Phase.CLAIM:
            own = sum(owner[other] == seat for other in around)
            return own / len(around), -sizes[board.continent_of[t]]
        enemies = sum(int(troops[other]) for other in around if owner[other] not in (seat, NOWHERE))
        return enemies / int(troops[t]), -t

    places = {
        action: game.tables.space.decode(action).arguments[0] for action in game.legal_actions().tolist()
    }
    return max(places, key=lambda action: need(places[action]))


def most_of(game: Game) -> int:
    """Return the largest number of troops of the decision, 0 if the decision is not about an amount."""
    return most_troops(game.record, game.rules.max_troops) if game.phase in AMOUNT_PHASES else 0
