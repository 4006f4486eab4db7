"""What a message of the line protocol costs the referee: `python -m benchmarks.protocol [--record]`.

A program that answers at random plays a seat of three, by the rules of the ladder: every decision is a message and
its answer. Time is processor time of the referee's thread: the copy of the game without hidden facts, the message, its
way to the program and back, and the check of the answer. That of the program is not in it: the last column is the
time that passes, both included.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections.abc import Sequence
from random import Random
from statistics import median
from typing import Any

from benchmarks.arguments import at_least_one
from benchmarks.records import heading, heading_lines, keep, table
from risk_agents.external import ExternalAgent
from risk_env.agent import View
from risk_env.board.rules import Rules
from risk_env.game import Game

FORMS: dict[str, dict[str, Any]] = {  # what a program asks for in its answer to `hello`
    "numbers": {"protocol": 1},
    "with texts": {"protocol": 1, "texts": True},
    "with events": {"protocol": 1, "events": True},
}
AIM = 0.2  # ms per message without texts and events
RULES = Rules.preset("classic", 3, profile="fast", setup="claim", max_rounds=20)
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
    """Measure, print, and with `--record` keep the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=at_least_one, default=10, help="games of each form (default: %(default)s)")
    parser.add_argument("--record", action="store_true", help="keep the result in benchmarks/results")
    arguments = parser.parse_args(argv)
    command = ["python", "-m", "benchmarks.protocol", *(sys.argv[1:] if argv is None else argv)]
    record = heading(command, PACKAGES)
    record["rows"] = [measure(form, arguments.games) for form in FORMS]
    print(report(record))
    if arguments.record:
        print(f"\nKept: {keep('protocol', record, report(record))}")


def measure(form: str, games: int) -> Row:
    """Messages and processor time of the best of some games, after one that is not measured."""
    agent = ExternalAgent(f"cmd:{shlex.join([sys.executable, '-c', PROGRAM, json.dumps(FORMS[form])])}")
    try:
        found = [play(agent, seed) for seed in range(games + 1)][1:]
    finally:
        agent.close()
    rates = sorted(1000 * seconds / messages for messages, seconds, _ in found)
    return {
        "form": form,
        "games": games,
        "messages": sum(messages for messages, *_ in found),
        "ms_best": rates[0],
        "ms_median": median(rates),
        "ms_elapsed": median(1000 * elapsed / messages for messages, _, elapsed in found),
    }


def play(agent: ExternalAgent, seed: int) -> tuple[int, float, float]:
    """One game: messages to the agent in seat 0, the seconds of processor time that they took, and the seconds."""
    game, chance = Game(RULES, seed=seed), Random(seed)
    agent.reset(0, game.rules, game.board, seed)
    messages, seconds, elapsed = 0, 0.0, 0.0
    while not game.is_over:
        if game.seat == 0:
            start, begun = time.thread_time(), time.perf_counter()
            action = agent.act(View(game, history=lambda seat: game.events(seat=seat)))
            seconds += time.thread_time() - start
            elapsed += time.perf_counter() - begun
            messages += 1
        else:
            action = int(chance.choice(game.legal_actions()))
        game.step(action)
    return messages, seconds, elapsed


def report(record: dict[str, Any]) -> str:
    """The record as Markdown."""
    rows = [
        (row["form"], row["messages"], *(f"{row[f'ms_{kind}']:.3f}" for kind in ("best", "median", "elapsed")))
        for row in record["rows"]
    ]
    columns = ("form", "messages", "ms per message, best game", "median game", "question to answer, median")
    aim = f"Aim: less than {AIM} ms per message without texts and events."
    return "\n".join(["# The line protocol", "", *heading_lines(record), "", *table(columns, rows), "", aim])


if __name__ == "__main__":
    main()
