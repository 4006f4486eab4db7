"""Win rate and mean place of an agent against players drawn from a field, and the CPU time of its turns.

    python -m benchmarks.strength strategist --players 6 --field breaker,hunter,beam,planner,grower

The agent plays every deal from every seat. The other players are drawn from the field for each game, without
repetition if the field has enough bots. In a field, `kept_out` stands for `attacker` and the four beams among
the kept-out opponents (docs/benchmark.md). The default profile of the rules is "fast".
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.arguments import at_least_one, documented_parser
from risk_agents import kept_out
from risk_agents.agent_list import split_agents
from risk_agents.registry import load, make
from risk_agents.rules_arguments import MAP, PLAYERS, add_rules_arguments, rules_of
from risk_agents.scripted import attacker
from risk_env.agent import Agent, View
from risk_env.arena import MAX_LANES, play
from risk_env.board.maps import Board, load_map
from risk_env.board.rules import FAST, Rules
from risk_env.bots import CompiledBot
from risk_env.messages import counted
from risk_env.players import Named
from risk_training.win_rate import WinRate

KEPT_OUT = "kept_out"  # name in a field


class Clock:
    """CPU time of an agent's turns in seconds, and number of turns."""

    def __init__(self) -> None:
        self.seconds, self.turns = 0.0, 0


class Timed(Agent):
    """An agent whose turns are counted and timed."""

    def __init__(self, agent: Agent, clock: Clock) -> None:
        self.agent, self.clock, self.name, self.version = agent, clock, agent.name, agent.version

    def prepare(self, rules: Rules, board: Any) -> None:
        """Let the agent prepare. The preparation is not timed."""
        self.agent.prepare(rules, board)

    def reset(self, seat: int, rules: Rules, board: Any, seed: int) -> None:
        """Begin a game."""
        self.turn = -1
        self.agent.reset(seat, rules, board, seed)

    def act(self, view: View) -> int:
        """Return the action of the agent, and add the CPU time of the decision to the clock."""
        self.clock.turns += view.game.round != self.turn
        self.turn = view.game.round
        start = time.process_time()
        action = self.agent.act(view)
        self.clock.seconds += time.process_time() - start
        return action


def main(argv: Sequence[str] | None = None) -> None:
    """Play the games; print the win rate with its 95 % interval (Wilson), mean place and time of a turn."""
    parser = documented_parser(__doc__)
    parser.add_argument("agent", help="agent to measure: a name, or any other spec")
    parser.add_argument(
        "--field",
        required=True,
        metavar="A,B,...",
        help="bots from which the other players are drawn: compiled bots, or kept_out",
    )
    add_rules_arguments(parser, FAST, f"6 if the preset allows that number; else {PLAYERS}")
    games = "minimum number of games (default: 240)"
    parser.add_argument("--games", type=at_least_one, default=240, help=games)
    parser.add_argument("--seed", type=int, default=77, help="seed of all games (default: 77)")
    arguments = parser.parse_args(argv)
    rules = rules_of(vars(arguments), FAST, 6)
    board = load_map(arguments.map or MAP)
    clock = Clock()
    field = split_agents(arguments.field, "--field")
    result = strength(arguments.agent, field, rules, board, arguments.games, arguments.seed, clock)
    rate, low, high = (100 * part for part in result.interval)
    print(
        f"{arguments.agent}: {rate:.1f} % ({low:.1f} - {high:.1f}) of {counted(result.games, 'game')} won, "
        f"even share {100 / rules.num_players:.0f} %; {100 * result.truncated:.1f} % truncated; "
        f"mean place {result.mean_place:.2f}; "
        f"{1e3 * clock.seconds / clock.turns:.3g} ms of CPU time per turn"
    )


def strength(
    spec: str, field: list[str], rules: Rules, board: Board, games: int, seed: int, clock: Clock
) -> WinRate:
    """Return the win rate of an agent in at least `games` games; every deal is played from every seat."""
    return win_rate_in_field(lambda: Timed(make(spec), clock), field, rules, board, games, seed)


def win_rate_in_field(
    player: Named,
    field: Sequence[str],
    rules: Rules,
    board: Board,
    games: int,
    seed: int,
    lanes: int = MAX_LANES,
) -> WinRate:
    """Return the win rate of a player in at least `games` games; every deal is played from every seat.

    The other players are drawn from the field for each game.
    """
    seats, chance = rules.num_players, np.random.default_rng(seed)
    games = -(-games // seats) * seats
    deals, places = np.divmod(np.arange(games), seats)
    bots = [bot for name in field for bot in _compiled(name)]
    line_ups = np.array([np.insert(drawn(len(bots), seats - 1, chance), place, 0) for place in places])
    players = [player, *bots]
    results = play(rules, board, players, games, seed, lanes, line_ups=line_ups, deals=deals)
    won = int((results["winner"] == places).sum())
    own = results["placement"][np.arange(games), places]
    truncated, rounds = float(results["truncated"].mean()), float(results["rounds"].mean())
    return WinRate(won, games, truncated, rounds, mean_place=float(own.mean()))


def drawn(size: int, count: int, chance: np.random.Generator) -> Any:
    """Draw `count` of the `size` bots of a field, and return their numbers from 1, int64 (count,).

    The bots are different if the field has enough bots.
    """
    numbers = chance.permutation(size)[:count] if size >= count else chance.integers(size, size=count)
    return 1 + numbers


def _compiled(name: str) -> tuple[CompiledBot, ...]:
    """Return the bots that a name in a field stands for."""
    if name == KEPT_OUT:
        return attacker.BOT, *kept_out.beams()
    player = load(name)
    if not isinstance(player, CompiledBot):
        raise ValueError(f"--field {name}: must be a compiled bot or {KEPT_OUT}")
    return (player,)


if __name__ == "__main__":
    main()
