"""Analysis board: positions as nodes of a tree of moves.

The browser keeps the tree, and sends positions as text (docs/positions.md). The server plays moves and
estimates positions, but keeps no analysis.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from risk_agents.tournament.ratings import wilson
from risk_agents.web.analyst import Analyst
from risk_agents.web.browser_request import Refused, checked_wish
from risk_agents.web.browser_table import amount_words, check_armies, position_of, question_of
from risk_agents.web.position_edit import FIELDS, PARTS, edited, part_of
from risk_agents.web.work import BoundedThreads
from risk_env.board.rules import FAST, Rules
from risk_env.core.odds import battle_odds
from risk_env.core.types import NOBODY
from risk_env.game import Game
from risk_env.public import hand_of
from risk_env.text_env import TextMatch
from risk_env.viewer.frames import Frames
from risk_env.viewer.map_data import map_data

BOT = "breaker"  # bot that plays games to the end to estimate win probabilities
FIRST_AGENT = "strategist"  # agent that the page offers first
START = Rules.preset("classic", 3, profile=FAST, setup="random")
GAMES = 256  # number of games for the win probabilities of a position
MOST_WAITING = 8  # maximum number of running and waiting requests of each kind
MOST_TROOPS = 1000  # maximum number of troops of each side in a battle; exact odds take at most about 10 ms


class Analysis:
    """Handlers of the requests of an analysis board."""

    def __init__(self) -> None:
        self._analyst = Analyst()
        # `_thinking` sends requests to the analyst; `_playing` plays moves and computes odds
        self._thinking, self._playing = (BoundedThreads(1, MOST_WAITING) for _ in range(2))
        self._agents: list[str] | None = None

    async def node(self, wish: Any) -> dict[str, Any]:
        """Return the facts about a position, or about the position after an action or a number of troops.

        The entry `chance` of the request is the seed of future dice and cards.
        """
        checked = checked_wish(wish, {"position": str}, {"action": int, "troops": int, "chance": int})
        return await self._playing.run(_node, checked)

    async def start(self, wish: Any) -> dict[str, Any]:
        """Return the position with which the page opens: the first turn of a game of three players."""
        checked_wish(wish, {})
        return await self._playing.run(_started)

    async def edit(self, wish: Any) -> dict[str, Any]:
        """Return the position after an edit (`position_edit`)."""
        checked = checked_wish(wish, {"position": str}, FIELDS)
        return await self._playing.run(_edited, checked)

    async def chances(self, wish: Any) -> dict[str, Any]:
        """Return the win probabilities of all seats, and their 95 % intervals.

        The probabilities are estimated from GAMES games that BOT plays to the end.
        """
        checked = checked_wish(wish, {"position": str})
        request = {"type": "chances", "position": checked["position"], "bot": BOT, "games": GAMES}
        chances = await self._thinking.run(self._analyst.request, request)
        intervals = wilson(np.array(chances), np.full(len(chances), GAMES)).tolist()
        return {"chances": chances, "intervals": intervals, "bot": BOT, "games": GAMES}

    async def plans(self, wish: Any) -> dict[str, Any]:
        """Return the plans that an agent considers for the seat to act (`risk_agents.explanation`).

        Raises Refused for an agent that is not in `agents`.
        """
        checked = checked_wish(wish, {"position": str, "agent": str})
        agents = (await self.agents({}))["agents"]
        if checked["agent"] not in agents:
            raise Refused(f"agent={checked['agent'][:80]!r}: choose one of {', '.join(agents)}")
        return await self._thinking.run(self._analyst.request, {"type": "explain", **checked})

    async def agents(self, wish: Any) -> dict[str, Any]:
        """Return the names of the registered agents that can explain their choices, FIRST_AGENT first."""
        if self._agents is None:
            names = await self._thinking.run(self._analyst.request, {"type": "explaining"})
            self._agents = sorted(names, key=lambda name: name != FIRST_AGENT)
        return {"agents": self._agents}

    async def odds(self, wish: Any) -> dict[str, Any]:
        """Return the odds of a blitz, for a number of attackers and a number of defenders.

        Raises Refused unless both numbers are from 1 to MOST_TROOPS.
        """
        checked = checked_wish(wish, {"attackers": int, "defenders": int})
        for name, troops in checked.items():
            if not 1 <= troops <= MOST_TROOPS:
                raise Refused(f"{name}={troops}: must be from 1 to {MOST_TROOPS}")
        odds = await self._playing.run(battle_odds, checked["attackers"], checked["defenders"])
        return odds._asdict()

    def close(self) -> None:
        """End the analyst and the threads."""
        self._thinking.close()
        self._playing.close()
        self._analyst.close()


def _check_choice(wish: dict[str, Any]) -> None:
    """Raise Refused unless a request has either an action or a number of troops."""
    if ("action" in wish) == ("troops" in wish):
        given = "both action and troops" if "action" in wish else "neither action nor troops"
        raise Refused(f"the request has {given}; it must have exactly one of them")


def _node(wish: dict[str, Any]) -> dict[str, Any]:
    """Return the facts about a position, or about the position after a move, for the analysis board.

    The map is included only if the request plays nothing, because an action does not change the map.
    """
    game = position_of(wish["position"])
    if not ("action" in wish or "troops" in wish):
        return _opened(game)
    _check_choice(wish)
    game = game.reseed(wish.get("chance", 0))
    words = _play(game, wish)
    return _shown(game) | {"words": words}


def _edited(wish: dict[str, Any]) -> dict[str, Any]:
    """Return the position after an edit, for the board."""
    game = edited(position_of(wish.pop("position")), wish)
    check_armies(game)
    return _shown(game)


def _started() -> dict[str, Any]:
    return _opened(Game(START, seed=0))


def _opened(game: Game) -> dict[str, Any]:
    """Return a position for the board, with the map, the deck, the players and the parts of a turn."""
    parts = {name: part.words for name, part in PARTS.items()}
    facts = {"map": map_data(game.board), "deck": game.rules.deck}
    return {**facts, "players": game.num_players, "parts": parts} | _shown(game)


def _shown(game: Game) -> dict[str, Any]:
    """Return a position for the board."""
    frames = Frames(game.tables, game.seat)
    game.watched(frames.watch)
    return {
        "position": game.to_text(),
        "words": "",
        "part": part_of(game.phase),
        "state": frames.last | _hidden(game),
        "events": [event for _, events in frames.frames for event in events],
        "question": None if game.is_over else question_of(game),
    }


def _play(game: Game, wish: dict[str, Any]) -> str:
    """Play the action or the number of troops of a browser's request, and return the move in words.

    Raises ValueError if the move is not legal.
    """
    match = TextMatch.of(game, [None] * game.num_players)
    if "troops" in wish:
        words = amount_words(game, wish["troops"])
        match.plans[game.seat].give(words, game)
        match.play_on()
    else:
        words = game.action_text(wish["action"])
        match.step(wish["action"])
    return words


def _hidden(game: Game) -> dict[str, Any]:
    """Return the facts that seats hide from each other: hands and missions.

    The analysis board shows these facts, because there are no opponents to hide them from.
    """
    hands = [hand_of(game.records, seat, game.tables) for seat in range(game.num_players)]
    missions = game.record["mission"][: game.num_players].tolist()
    return {"hands": hands, "missions": missions if missions[0] != NOBODY else []}
