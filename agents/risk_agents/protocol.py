"""Messages of the line protocol (docs/protocol.md), and the interpretation of the replies.

The module `program` sends and receives the lines.
"""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from risk_env.agent import View
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.board.tables import tables
from risk_env.core.types import NOWHERE, Phase
from risk_env.events import Event
from risk_env.game import Game
from risk_env.messages import shortened
from risk_env.public import hand_of, members, public_facts
from risk_env.text.amounts import AMOUNT_PHASES, most_troops
from risk_env.words.action_plan import MOST_STEPS, ActionPlan

PROTOCOL = 1
_MAP_FIELDS = (
    "name",
    "digest",
    "territories",
    "continents",
    "bonuses",
    "continent_of",
    "borders",
    "symbols",
    "stars",
)


class Exchange:
    """State of the exchange with one program, such as the requested fields and the current game's plan."""

    def __init__(self, hello: dict[str, Any]) -> None:
        self.wants_texts, self.wants_events = (hello.get(name) is True for name in ("texts", "events"))
        self.begin(0)

    def begin(self, seat: int) -> None:
        """Prepare for a new game at `seat`."""
        self.plan, self._seen = ActionPlan(seat), 0

    def request(self, view: View) -> dict[str, Any]:
        """Return the fields of the message that requests an action."""
        game = view.game
        return {
            "seat": view.seat,
            "phase": game.phase.name,
            "legal": members(game.records["legal"][0]),
            **({"texts": list(view.texts)} if self.wants_texts else {}),
            **state_facts(game, view.seat),
            "plan": {"account": self.plan.account(game), **self.plan.report()},
            **self.news(view.events if self.wants_events else ()),
        }

    def news(self, events: Sequence[Event]) -> dict[str, Any]:
        """Return {"events": [...]} with the new events, or {} if the program did not request events."""
        if not self.wants_events:
            return {}
        news, self._seen = events[self._seen :], len(events)
        return {"events": [event.to_json() for event in news]}

    def take(self, reply: dict[str, Any], game: Game) -> None:
        """Use the field `actions` of a reply, or else the field `action`, as the new plan.

        Each action is a number or a string. The reply must contain a legal action for the current
        decision, or a new standing order. Raises ValueError for any other reply, and for too many actions.
        """
        actions = reply.get("actions", [reply.get("action")])
        if not isinstance(actions, list) or len(actions) > MOST_STEPS:
            raise ValueError(
                f"'actions' is {shortened(actions)}, but must be a list of at most {MOST_STEPS} actions"
            )
        self.plan.give(actions, game)


def game_facts(rules: Rules, board: Board) -> dict[str, Any]:
    """Return the facts that a program gets when a game begins: rules, map and action numbers."""
    space, objectives = tables(rules, board).space, [objective.name for objective in board.objectives]
    return {
        "num_players": rules.num_players,
        "rules": rules.to_dict(),
        "map": {**{name: getattr(board, name) for name in _MAP_FIELDS}, "objectives": objectives},
        "actions": {block: numbers.start for block, numbers in space.blocks.items()} | {"end": space.n},
    }


def state_facts(game: Game, seat: int) -> dict[str, Any]:
    """Return the public state of a game, and the facts that only the seat knows, as a dict.

    Territories, cards and seats are numbers.
    """
    mission, phase = game.mission(seat), game.phase
    facts = public_facts(game.records, game.tables, seat)
    del facts["phase"], facts["seat"]
    facts["headquarters"][seat] = game.records["headquarters"].item(0, seat)
    facts["hand"] = hand_of(game.records, seat, game.tables)
    facts["mission"] = None if mission is None else vars(mission)
    if phase in AMOUNT_PHASES:
        position = SimpleNamespace(phase=phase, **facts)
        facts["amount"] = {"least": 1, "most": most_troops(position, game.rules.max_troops)}
    if phase == Phase.OCCUPY and facts["target"] != NOWHERE:
        facts["amount"]["moved_in"] = facts["troops"][facts["target"]]
    return facts
