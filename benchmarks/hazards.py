"""Eliminations of an agent before its next turn, and calibration of the value of `strategist`.

    python -m benchmarks.hazards strategist --players 6 --field card_killer,planner
    python -m benchmarks.hazards beam --players 5 --setup claim --field walker,saver,grudge,breaker

The agent plays every deal from every seat. The other players are drawn from the field for each game.

* Deaths: the share of the agent's turns, from round 5 on, after which the agent is eliminated before its next
  turn. Turns are grouped by the state of the game at the end of the turn.
* Calibration: at the start of each turn of the agent, the value of `strategist` predicts the agent's win
  probability. The predictions are sorted and divided into ten groups of equal size. The mean prediction of
  each group is compared with the share of won games.

Intervals are 95 % confidence intervals from a bootstrap over deals.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.arguments import at_least_one, documented_parser
from benchmarks.records import heading, heading_lines, keep, table
from benchmarks.strength import drawn
from risk_agents.agent_list import split_agents
from risk_agents.learned.state_value import StateValueFile
from risk_agents.registry import load, make
from risk_agents.rules_arguments import MAP, PLAYERS, add_rules_arguments, rules_of
from risk_agents.search.judges import FILE
from risk_agents.workers import in_order, open_executor
from risk_env.arrays import Array, Floats
from risk_env.board.maps import load_map
from risk_env.board.rules import FAST, Rules
from risk_env.game import Game
from risk_env.match import Match
from risk_env.seeds import game_seed

FIRST_ROUND = 5
MANY_CARDS = 4
SINGLE_SHARE = 0.7
GROUPS = 10
SAMPLES = 1000  # number of bootstrap samples
PACKAGES = ("risk-env", "numpy", "numba")


class Turn(NamedTuple):
    """A turn of the agent."""

    deal: int
    round: int
    predicted: float  # win probability at the start of the turn
    cards: int  # number of cards after the turn
    singles: float  # share of the agent's territories with one troop after the turn
    died: bool  # True if the agent is eliminated before its next turn
    won: bool  # True if the agent wins the game


# Tests that select turns by the state of the game at the end of the turn
KINDS: dict[str, Callable[[Array], Array]] = {
    "all turns": lambda turns: turns["cards"] >= 0,
    f"{MANY_CARDS} or more cards": lambda turns: turns["cards"] >= MANY_CARDS,
    f"fewer than {MANY_CARDS} cards": lambda turns: turns["cards"] < MANY_CARDS,
    f"one troop on over {SINGLE_SHARE:.0%} of territories": lambda turns: turns["singles"] > SINGLE_SHARE,
    f"one troop on at most {SINGLE_SHARE:.0%} of territories": lambda turns: turns["singles"] <= SINGLE_SHARE,
}


def main(argv: Sequence[str] | None = None) -> None:
    """Play the games, print the report and, if `--record` is given, store the report."""
    parser = documented_parser(__doc__)
    parser.add_argument("agent", help="agent to measure: a name, or any other spec")
    parser.add_argument(
        "--field", required=True, metavar="A,B,...", help="agents from which the other players are drawn"
    )
    add_rules_arguments(parser, FAST, f"6 if the preset allows that number; else {PLAYERS}")
    parser.add_argument("--deals", type=at_least_one, default=40, help="number of deals (default: 40)")
    parser.add_argument("--seed", type=int, default=39, help="seed of all games (default: 39)")
    parser.add_argument("--workers", default="1", metavar="N", help="number of processes (default: 1)")
    parser.add_argument("--record", action="store_true", help="store the report in benchmarks/results")
    arguments = parser.parse_args(argv)
    rules = rules_of(vars(arguments), FAST, 6)
    field = split_agents(arguments.field, "--field")
    pieces = [
        (arguments.agent, field, rules, arguments.map or MAP, arguments.seed, deal)
        for deal in range(arguments.deals)
    ]
    with open_executor(arguments.workers) as executor:
        turns = [turn for deal_turns in in_order(executor, turns_of_deal, pieces) for turn in deal_turns]
    command = ["python", "-m", "benchmarks.hazards", *(sys.argv[1:] if argv is None else argv)]
    record = heading(command, PACKAGES)
    kept = np.array(turns, [(name, np.float64) for name in Turn._fields])
    record |= {"agent": arguments.agent, "players": rules.num_players, "field": field}
    record |= {"deaths": deaths(kept, arguments.seed), "calibration": calibration(kept, arguments.seed)}
    print(report(record))
    if arguments.record:
        print(f"\nrecorded in {keep('hazards', record, report(record))}")


def turns_of_deal(
    agent: str, field: Sequence[str], rules: Rules, map_source: str, seed: int, deal: int
) -> list[Turn]:
    """Play a deal from every seat, and return the agent's turns.

    Raises ValueError if the value of `strategist` was not trained for these rules on this map.
    """
    board, chance = load_map(map_source), np.random.default_rng([seed, deal])
    value = StateValueFile.load(FILE)
    value.check(rules, board, "strategist")
    turns = []
    for seat in range(rules.num_players):
        others = [load(field[k - 1]) for k in drawn(len(field), rules.num_players - 1, chance)]
        match = WatchedMatch.of(
            Game(rules, board, seed=game_seed(seed, deal)), [*others[:seat], make(agent), *others[seat:]]
        )
        turns += turns_of_game(match, seat, value, deal)
    return turns


def turns_of_game(match: WatchedMatch, seat: int, value: StateValueFile, deal: int) -> list[Turn]:
    """Play a game, and return the turns of `seat`."""
    match.watch(seat, value, deal)
    match.run()
    game = match.game
    ended = [turn._replace(won=game.winner == seat) for turn in match.seen]
    return ended if game.alive[seat] else [*ended[:-1], *(turn._replace(died=True) for turn in ended[-1:])]


class WatchedMatch(Match):
    """A match that records the turns of one seat in `seen`."""

    def watch(self, seat: int, value: StateValueFile, deal: int) -> None:
        """Record the turns of `seat` from now on, with the win probabilities that `value` predicts."""
        self._seat, self._value, self._deal = seat, value, deal
        self._begun: tuple[int, float] | None = None  # round and prediction of the current turn
        self.seen: list[Turn] = []

    def step(self, action: int | str) -> None:
        """Play an action, and record each turn of the seat when the turn ends."""
        super().step(action)
        game, seat = self.game, self._seat
        if game.round > 0 and game.turn == seat and self._begun is None and not game.is_over:
            self._begun = game.round, float(self._value.chances(game.records, game.tables)[0, seat])
        elif self._begun is not None and (game.turn != seat or game.is_over):
            own = game.troops[game.owner == seat]
            singles = float((own == 1).mean()) if len(own) else 0.0
            cards = int(game.public().hand_sizes[seat])
            self.seen.append(Turn(self._deal, *self._begun, cards, singles, died=False, won=False))
            self._begun = None


def deaths(turns: Array, seed: int) -> list[dict[str, Any]]:
    """Return, for each of KINDS, the share of turns after which the agent was eliminated.

    The elimination comes before the agent's next turn. Turns before FIRST_ROUND are not counted.
    """
    late = turns[turns["round"] >= FIRST_ROUND]
    rows = []
    for name, is_kind in KINDS.items():
        kind = late[is_kind(late)]
        rows.append({"state": name, "turns": len(kind), "died": share(kind, kind["died"], seed)})
    return rows


def calibration(turns: Array, seed: int) -> list[dict[str, Any]]:
    """Return the mean prediction and the share of won games of GROUPS groups, in order of the predictions.

    Groups without turns are left out.
    """
    groups = np.array_split(turns[np.argsort(turns["predicted"], kind="stable")], GROUPS)
    return [
        {
            "turns": len(group),
            "predicted": float(group["predicted"].mean()),
            "won": share(group, group["won"], seed),
        }
        for group in groups
        if len(group)
    ]


def share(turns: Array, values: Floats, seed: int) -> tuple[float, float, float]:
    """Return the mean of `values`, and its 95 % confidence interval from a bootstrap over the deals.

    Without turns, the mean is 0 and the interval is from 0 to 1.
    """
    if not len(turns):
        return 0.0, 0.0, 1.0
    _, deal_of = np.unique(turns["deal"], return_inverse=True)
    sums, counts = np.bincount(deal_of, values), np.bincount(deal_of)
    drawn_deals = np.random.default_rng(seed).integers(len(counts), size=(SAMPLES, len(counts)))
    means = sums[drawn_deals].sum(axis=1) / counts[drawn_deals].sum(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(values.mean()), float(low), float(high)


def report(record: dict[str, Any]) -> str:
    """Return the record as Markdown."""

    def percent(estimate: tuple[float, float, float]) -> str:
        return "{:.1f} [{:.1f}, {:.1f}]".format(*(100 * part for part in estimate))

    dead = [(row["state"], f"{row['turns']:,}", percent(row["died"])) for row in record["deaths"]]
    calibrated = [
        (f"{row['turns']:,}", f"{100 * row['predicted']:.1f}", percent(row["won"]))
        for row in record["calibration"]
    ]
    title = f"# Hazards of {record['agent']}: {record['players']} players, field {', '.join(record['field'])}"
    return "\n".join(
        [
            *(title, "", *heading_lines(record), ""),
            *table(
                (
                    f"state after a turn from round {FIRST_ROUND} on",
                    "turns",
                    "eliminated before next turn, %",
                ),
                dead,
            ),
            *("", *table(("turns", "mean prediction, %", "games won, %"), calibrated)),
        ]
    )


if __name__ == "__main__":
    main()
