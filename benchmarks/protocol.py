"""Cost of a message of the line protocol for the referee: `python -m benchmarks.protocol [--record]`.

A program that acts at random plays one of three seats, with claimed territories and the profile "fast". Every
decision is a message and an answer. The measured time is the CPU time of the referee's thread. This thread
copies the game without hidden facts, writes the message, transfers message and answer, and checks the answer.
The CPU time of the program is not included. The last column is wall time, which includes referee and program.
"""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Sequence
from random import Random
from statistics import median
from typing import Any

from benchmarks.arguments import at_least_one, documented_parser
from benchmarks.records import heading, heading_lines, keep, table
from risk_agents.external import ExternalAgent
from risk_env.board.rules import Rules
from risk_env.core.types import NOBODY
from risk_env.match import Match

FORMS: dict[str, dict[str, Any]] = {  # requests of a program in its answer to `hello`
    "numbers": {"protocol": 1},
    "with texts": {"protocol": 1, "texts": True},
    "with events": {"protocol": 1, "events": True},
}
AIM = 0.2  # ms of CPU time per message without texts and events
PLAYERS = 3
PACKAGES = ("risk-env", "numpy", "numba")
PROGRAM = """
import json, random, sys
chance = random.Random(0)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(sys.argv[1], flush=True)
    elif message["type"] == "act":
        print(json.dumps({"id": message["id"], "action": chance.choice(message["legal"])}), flush=True)
"""

Row = dict[str, Any]


def main(argv: Sequence[str] | None = None) -> None:
    """Print the results of the measurement and, if `--record` is given, store them."""
    parser = documented_parser(__doc__)
    parser.add_argument(
        "--games", type=at_least_one, default=10, help="number of games per form (default: %(default)s)"
    )
    parser.add_argument(
        "--max-rounds",
        type=at_least_one,
        default=20,
        help="number of rounds after which a game is truncated (default: %(default)s)",
    )
    parser.add_argument("--record", action="store_true", help="store the result in benchmarks/results")
    arguments = parser.parse_args(argv)
    command = ["python", "-m", "benchmarks.protocol", *(sys.argv[1:] if argv is None else argv)]
    record = heading(command, PACKAGES)
    rules = Rules.preset("classic", PLAYERS, profile="fast", setup="claim", max_rounds=arguments.max_rounds)
    record["rows"] = [measure(form, arguments.games, rules) for form in FORMS]
    print(report(record))
    if arguments.record:
        print(f"\nrecorded in {keep('protocol', record, report(record))}")


def measure(form: str, games: int, rules: Rules) -> Row:
    """Return the number of messages and the time per message. The first game is not measured."""
    agent = ExternalAgent(f"cmd:{shlex.join([sys.executable, '-c', PROGRAM, json.dumps(FORMS[form])])}")
    try:
        played = [play(agent, rules, seed) for seed in range(games + 1)][1:]
    finally:
        agent.close()
    rates = sorted(1000 * seconds / messages for messages, seconds, _ in played)
    return {
        "form": form,
        "games": games,
        "messages": sum(messages for messages, *_ in played),
        "ms_best": rates[0],
        "ms_median": median(rates),
        "ms_elapsed": median(1000 * elapsed / messages for messages, _, elapsed in played),
    }


def play(agent: ExternalAgent, rules: Rules, seed: int) -> tuple[int, float, float]:
    """Play one game; return the number of messages to seat 0, and their CPU and wall time in seconds."""
    match, chance = TimedMatch(rules, "classic", [agent, None, None], seed), Random(seed)
    while match.run() != NOBODY:
        match.step(int(chance.choice(match.game.legal_actions())))
    return int(match.decisions[0]), match.processor_seconds, float(match.seconds[0])


class TimedMatch(Match):
    """A match that measures the CPU time of the queries to its players."""

    processor_seconds = 0.0

    def query_player(self) -> int:
        """Return the action of the seat to act, and add the query's CPU time to `processor_seconds`."""
        start = time.thread_time()
        action = super().query_player()
        self.processor_seconds += time.thread_time() - start
        return action


def report(record: dict[str, Any]) -> str:
    """Return the record as Markdown."""
    rows = [
        (
            row["form"],
            row["messages"],
            *(f"{row[f'ms_{kind}']:.3f}" for kind in ("best", "median", "elapsed")),
        )
        for row in record["rows"]
    ]
    columns = (
        *("form", "messages", "CPU ms per message, best game", "CPU ms per message, median game"),
        "wall ms per message, median game",
    )
    aim = f"Aim: less than {AIM} ms of CPU time per message without texts and events."
    return "\n".join(["# The line protocol", "", *heading_lines(record), "", *table(columns, rows), "", aim])


if __name__ == "__main__":
    main()
