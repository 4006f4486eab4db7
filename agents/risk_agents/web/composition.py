"""Composition of a part of a turn without dice: the choices are played only after the player confirms them.

A composition first plays the choices on a copy of the game, so each choice can be undone. The composition
ends before a random result, another seat's decision, or another part of the turn. The player sees nothing
beyond this end.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from risk_agents.web.browser_request import Refused
from risk_env.board.action_space import DONE
from risk_env.core.types import NOWHERE, Phase
from risk_env.game import Game
from risk_env.text.amounts import AMOUNT_PHASES
from risk_env.text.notation import DECISIONS
from risk_env.words.action_plan import ActionPlan

MOST_CHOICES = 100  # maximum number of choices in a composition
MOST_ACTIONS = 100  # maximum number of actions of a composed choice
# Parts of a turn that can be composed
PARTS = (
    frozenset({Phase.TRADE, Phase.BONUS, Phase.DRAFT, Phase.DRAFT_AMOUNT}),
    frozenset({Phase.FORTIFY_FROM, Phase.FORTIFY_TO, Phase.FORTIFY_AMOUNT}),
    frozenset({Phase.OBJECTIVE, Phase.AIRFIELD}),
    frozenset({Phase.CAPITAL}),
    frozenset({Phase.HEADQUARTERS}),
)
PART_OF = {phase: part for part in PARTS for phase in part}
SET_UP, DEFENCE = "set-up", "defence"
# Decisions that the server can make for a person, with the group of each decision. The command `settle`
# leaves all decisions of a group to the server.
SETTLED = {
    **dict.fromkeys((Phase.CLAIM, Phase.DEPLOY, Phase.DEPLOY_NEUTRAL), SET_UP),
    Phase.DEFEND: DEFENCE,
}


class Choice(NamedTuple):
    """Composed choice, and a copy of the game before the choice."""

    before: Game
    actions: tuple[int, ...]
    words: str  # the choice in words, or "" for a choice that only places troops
    changes: dict[int, int]  # troops that the choice adds to the seat's territories, by territory


class Composition:
    """Choices that the seat to act has made, but that are not yet played."""

    def __init__(self, game: Game) -> None:
        self._seat, self._part = game.seat, PART_OF.get(game.phase, frozenset())
        self._choices: tuple[Choice, ...] = ()  # a tuple, because copies share it
        self.game = without_history(game)  # copy of the game after the choices
        self._is_over = False  # True if the part of the turn is over

    def __len__(self) -> int:
        return len(self._choices)

    @property
    def actions(self) -> list[int]:
        """All actions of the choices."""
        return [action for choice in self._choices for action in choice.actions]

    @property
    def is_complete(self) -> bool:
        """True if no further choice can be composed, so that the choices must be confirmed."""
        return self._is_over or len(self._choices) >= MOST_CHOICES

    @property
    def facts(self) -> dict[str, Any]:
        """Facts for the page, such as the choices in words and the troops that they add to territories."""
        added, placed = Counter[int](), Counter[int]()
        for choice in self._choices:
            added.update(choice.changes)
            if min(choice.changes.values(), default=0) >= 0:
                placed.update(choice.changes)
        names = self.game.board.territories
        words = [choice.words for choice in self._choices if choice.words]
        words += [f"{troops} on {names[t]}" for t, troops in placed.items()]
        steps = len(self._choices)
        return {"composed": words, "added": dict(added), "complete": self.is_complete, "steps": steps}

    def add(self, answer: list[int] | str) -> None:
        """Add a choice, as actions or in words.

        Raises Refused if the choice is not legal, has too many actions, or cannot be composed.
        """
        self._check_room()
        game, plan = without_history(self.game), ActionPlan(self._seat)
        actions, words, is_over = list[int](), list[str](), False
        try:
            plan.give(answer, game)
        except ValueError as error:
            raise Refused(str(error)) from error
        while not is_over and (action := plan.next_action(game)) is not None:
            if len(actions) == MOST_ACTIONS:
                raise Refused(f"the choice has more than {MOST_ACTIONS} actions: choose fewer troops at once")
            words += _words_of(game, action)
            is_over = self._play(game, action)
            actions.append(action)
        changes = self._changes(game)
        told = self._told(words, changes, game)
        self._choices += (Choice(self.game, tuple(actions), told, changes),)
        self.game, self._is_over = game, is_over

    def _check_room(self) -> None:
        """Raise Refused with the reason if no choice can be added."""
        if self._is_over:
            raise Refused("the choices are complete: confirm the choices, or undo the last choice")
        if len(self._choices) >= MOST_CHOICES:
            raise Refused(f"at most {MOST_CHOICES} choices can be composed: confirm the choices first")
        if self.game.phase not in self._part:
            raise Refused(f"a choice in phase {self.game.phase.name} cannot be composed: play it at once")

    def _play(self, game: Game, action: int) -> bool:
        """Play an action on a copy of the game; return True if the composition ends with the action."""
        chance = game.record.random
        game.step(action)
        goes_on = game.seat == self._seat and game.phase in self._part
        return not goes_on or bool(game.record.random != chance)

    def _changes(self, game: Game) -> dict[int, int]:
        """Return the troops that a choice and forced actions add to the seat's territories, by territory."""
        is_own = (self.game.owner == self._seat) & (game.owner == self._seat)
        gained = game.troops.astype(int) - self.game.troops.astype(int)
        return {int(t): int(gained[t]) for t in (is_own & (gained != 0)).nonzero()[0]}

    def _told(self, words: list[str], changes: dict[int, int], game: Game) -> str:
        """Return a choice in words (cards, or troops that move), or "" if it only places troops."""
        traded = Counter(self.game.hand(self._seat)) - Counter(game.hand(self._seat))
        if traded:
            return f"trade {', '.join(traded.elements())}"
        names = game.board.territories
        lost = [f" from {names[t]}" for t, troops in changes.items() if troops < 0]
        if lost:
            gained = [f"{troops} on {names[t]}" for t, troops in changes.items() if troops > 0]
            return f"{', '.join(gained)}{''.join(lost)}"
        return "" if changes else ", ".join(words)

    def take_back(self) -> None:
        """Undo the last choice; raise Refused if there is no choice."""
        if not self._choices:
            raise Refused("there is no choice to undo")
        *kept, last = self._choices
        self._choices, self.game, self._is_over = tuple(kept), last.before, False


def _words_of(game: Game, action: int) -> list[str]:
    """Return a list with the action in words, or [] if `_told` describes the troops that the action moves."""
    phase = game.phase
    if phase in (Phase.DRAFT, Phase.FORTIFY_FROM, Phase.FORTIFY_TO, *AMOUNT_PHASES):
        return []
    argument = game.action_text(action).removeprefix(f"{DECISIONS[phase].word} ")
    if argument == DONE:
        return ["no more cards" if phase == Phase.TRADE else "none"]
    return [f"card {argument}" if phase == Phase.TRADE else argument]


def without_history(game: Game) -> Game:
    """Return a copy of a game without its history."""
    return Game.from_record(game.rules, game.board, game.records.copy())


def settling_action(game: Game) -> int:
    """Return the action that the server chooses for a person in the set-up and in defence.

    The sources of a territory are the territories that can attack the territory. A claim takes the territory
    with the largest share of sources that the person owns. If shares are equal, the territory in the smallest
    continent is claimed. A troop goes to the territory with the highest ratio of opposing troops on the
    sources to troops on the territory. A defender rolls as many dice as possible.
    """
    if game.phase == Phase.DEFEND:
        return int(game.legal_actions()[-1])
    board, owner, troops, seat = game.board, game.owner, game.troops, game.seat
    sizes = [len(members) for members in board.members_of]

    def need(t: int) -> tuple[float, float]:
        around = board.sources(t)
        if game.phase == Phase.CLAIM:
            own = sum(owner[other] == seat for other in around)
            return own / len(around), -sizes[board.continent_of[t]]
        enemies = sum(int(troops[other]) for other in around if owner[other] not in (seat, owner[t], NOWHERE))
        return enemies / int(troops[t]), -t

    places = {
        action: game.tables.space.decode(action).arguments[0] for action in game.legal_actions().tolist()
    }
    return max(places, key=lambda action: need(places[action]))
