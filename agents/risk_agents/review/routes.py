"""Routes: the drafts, attacks and moves of a turn, for a picture and in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from risk_env.agent import CompiledAgent
from risk_env.board.maps import Board
from risk_env.bots import CompiledBot
from risk_env.core.types import NOBODY
from risk_env.events import Event
from risk_env.game import Game
from risk_env.match import Match
from risk_env.messages import counted

TRIES = 5  # number of samples in which a plan is played to find its usual route
MOST_NAMED = 6  # maximum number of attacks of a turn that are described in words

Attack = tuple[int, int]  # source and target


@dataclass(frozen=True)
class Route:
    """Drafts, attacks and moves of a turn, as indices of territories and in words."""

    words: str
    drafts: tuple[tuple[int, int], ...] = ()  # (territory, troops)
    attacks: tuple[Attack, ...] = ()  # in order; consecutive battles of the same attack count once
    moves: tuple[tuple[int, int, int], ...] = ()  # fortifications (source, target, troops)

    @classmethod
    def of(cls, events: Iterable[Event], board: Board) -> Route:
        """Return the route that the events of one turn describe."""
        trades, drafts, moves = 0, Counter[int](), Counter[Attack]()
        attacks: list[Attack] = []
        for event in events:
            if event.kind == "trade":
                trades += 1
            elif event.kind in ("draft", "bonus"):
                drafts[event.territory] += event.number
            elif event.kind == "battle" and attacks[-1:] != [(event.source, event.target)]:
                attacks.append((event.source, event.target))
            elif event.kind == "move":
                moves[event.source, event.target] += event.number
        moved = tuple((*way, number) for way, number in moves.items())
        words = _in_words(trades, drafts.items(), attacks, moved, board)
        return cls(words, tuple(drafts.items()), tuple(attacks), moved)


def played_routes(game: Game) -> dict[tuple[int, int], Route]:
    """Return the routes of all turns of a game, by round and seat."""
    by_turn: dict[tuple[int, int], list[Event]] = {}
    round_number, seat = game.beginning().round, game.beginning().turn
    for event in game.events():
        if event.kind == "round":
            round_number = event.number
        elif event.kind == "turn":
            seat = event.seat
        by_turn.setdefault((round_number, seat), []).append(event)
    return {turn: Route.of(events, game.board) for turn, events in by_turn.items()}


def route_of_plan(plan: CompiledBot, start: Game) -> Route:
    """Return the usual route of a plan from the beginning of a turn.

    The plan is played in a few samples. The route whose attacks are the most common is returned.
    """
    routes = [_route_in(plan, start.determinize(start.seat, seed)) for seed in range(TRIES)]
    counts = Counter(attack for route in routes for attack in set(route.attacks))
    return max(routes, key=lambda route: sum(counts[attack] - TRIES / 2 for attack in set(route.attacks)))


def _route_in(plan: CompiledBot, game: Game) -> Route:
    """Return the route of a plan in a sample. Defenders choose the last legal action."""
    seat, turn = game.turn, (game.round, game.turn)
    players = [CompiledAgent(plan) if other == seat else None for other in range(game.num_players)]
    match = Match.of(game, players)
    while match.run() != NOBODY and (match.game.round, match.game.turn) == turn:
        match.step(int(match.game.legal_actions()[-1]))
    events = match.game.events()
    last = next((n for n, event in enumerate(events) if event.kind == "turn_end"), len(events))
    return Route.of(events[:last], game.board)


def _in_words(
    trades: int,
    drafts: Iterable[tuple[int, int]],
    attacks: Sequence[Attack],
    moves: Iterable[tuple[int, int, int]],
    board: Board,
) -> str:
    """Return a route as a sentence."""
    name = board.territories.__getitem__
    parts = []
    if trades:
        parts.append("trade a set of cards" if trades == 1 else f"trade {trades} sets of cards")
    if placed := [f"{troops} on {name(place)}" for place, troops in drafts]:
        parts.append(f"place {_listed(placed)}")
    parts += _attacks_in_words(attacks[:MOST_NAMED], board)
    if len(attacks) > MOST_NAMED:
        parts.append(counted(len(attacks) - MOST_NAMED, "more attack"))
    if not attacks:
        parts.append("no attack")
    parts += [f"move {troops} from {name(source)} to {name(target)}" for source, target, troops in moves]
    sentence = "; ".join(parts)
    return f"{sentence[:1].upper()}{sentence[1:]}."


def _attacks_in_words(attacks: Sequence[Attack], board: Board) -> Iterator[str]:
    """Yield the attacks in words. The attacks of an advancing army become one part."""
    name = board.territories.__getitem__
    chains: list[list[int]] = []
    for source, target in attacks:
        if chains and chains[-1][-1] == source:
            chains[-1].append(target)
        else:
            chains.append([source, target])
    for source, group in groupby(chains, key=lambda chain: chain[0]):
        ways = [", then ".join(map(name, chain[1:])) for chain in group]
        yield f"attack {_listed(ways)} from {name(source)}"


def _listed(parts: Sequence[str]) -> str:
    """Return the parts, joined by commas and "and"."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
