"""What a turn does: its drafts, attacks and moves, for a picture and in words."""

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

TRIES = 5  # samples in which a plan is played to find its usual course


@dataclass(frozen=True)
class Route:
    """Drafts, attacks and moves of a turn, by numbers of territories."""

    trades: int = 0  # number of sets of cards
    drafts: tuple[tuple[int, int], ...] = ()  # (territory, troops)
    attacks: tuple[tuple[int, int, bool], ...] = ()  # (source, target, whether the target fell), in order
    moves: tuple[tuple[int, int, int], ...] = ()  # fortifications (source, target, troops)

    def words(self, board: Board) -> str:
        """Return the route as a sentence."""
        name = board.territories.__getitem__
        parts = [f"trade {'a set' if self.trades == 1 else f'{self.trades} sets'} of cards"] * (self.trades > 0)
        if self.drafts:
            parts.append(f"place {_listed([f'{troops} on {name(place)}' for place, troops in self.drafts])}")
        parts += list(_attacks_in_words(self.attacks, board)) or ["attack nobody"]
        parts += [f"move {troops} from {name(source)} to {name(target)}" for source, target, troops in self.moves]
        return "; ".join(parts)

    @classmethod
    def of(cls, events: Iterable[Event]) -> Route:
        """Return the route of the events of one turn."""
        trades, drafts, attacks, moves = 0, Counter[int](), list[tuple[int, int, bool]](), []
        for event in events:
            if event.kind == "trade":
                trades += 1
            elif event.kind in ("draft", "bonus"):
                drafts[event.territory] += event.number
            elif event.kind == "battle":
                battle = event.source, event.target, not event.left[1]
                if attacks and attacks[-1][:2] == battle[:2]:
                    attacks.pop()
                attacks.append(battle)
            elif event.kind == "move" and event.number:
                moves.append((event.source, event.target, event.number))
        return cls(trades, tuple(drafts.items()), tuple(attacks), tuple(moves))


def played_routes(game: Game) -> dict[tuple[int, int], Route]:
    """Return the routes of all turns of a game, by round and seat."""
    return {turn: Route.of(events) for turn, events in _turns(game.events())}


def _turns(events: Iterable[Event]) -> Iterator[tuple[tuple[int, int], list[Event]]]:
    """Yield the events of each turn, by round and seat."""
    round_number, seat, found = 0, NOBODY, list[Event]()
    for event in events:
        if event.kind in ("round", "turn"):
            if seat != NOBODY and found:
                yield (round_number, seat), found
            found = []
            round_number = event.number if event.kind == "round" else round_number
            seat = event.seat if event.kind == "turn" else seat
        else:
            found.append(event)
    if seat != NOBODY and found:
        yield (round_number, seat), found


def route_of_plan(plan: CompiledBot, start: Game) -> Route:
    """Return the usual route of a plan from the beginning of a turn.

    The plan is played in a few samples. The route of the sample whose attacks are most common is returned.
    """
    routes = [_route_in(plan, start.determinize(start.seat, seed)) for seed in range(TRIES)]
    counts = Counter(attack[:2] for route in routes for attack in route.attacks)

    def commonness(route: Route) -> float:
        pairs = {attack[:2] for attack in route.attacks}
        return sum(counts[pair] - TRIES / 2 for pair in pairs)

    return max(routes, key=commonness)


def _route_in(plan: CompiledBot, game: Game) -> Route:
    """Return the route of a plan in a sample. Defenders play their last legal actions."""
    seat, turn = game.turn, (game.round, game.turn)
    players = [CompiledAgent(plan) if other == seat else None for other in range(game.num_players)]
    match = Match.of(game, players)
    while match.run() != NOBODY and (match.game.round, match.game.turn) == turn:
        match.step(int(match.game.legal_actions()[-1]))
    events = match.game.events()
    last = next((n for n, event in enumerate(events) if event.kind == "turn_end"), len(events))
    return Route.of(events[:last])


def _attacks_in_words(attacks: Sequence[tuple[int, int, bool]], board: Board) -> Iterator[str]:
    """Yield the attacks in words: one part for each army that advances."""
    name = board.territories.__getitem__
    chains: list[list[int]] = []
    for source, target, _ in attacks:
        if chains and chains[-1][-1] == source:
            chains[-1].append(target)
        else:
            chains.append([source, target])
    for source, group in groupby(chains, key=lambda chain: chain[0]):
        ways = [", then ".join(map(name, chain[1:])) for chain in group]
        yield f"attack {_listed(ways)} from {name(source)}"


def _listed(parts: Sequence[str]) -> str:
    """Return parts as a list in words."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
