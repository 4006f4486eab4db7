"""Exact values of a small duel without cards on the map `tiny`, and the mistakes of agents without memory.

    python -m benchmarks.tiny                    # the duel of docs/tiny.md: at most 3 troops per territory
    python -m benchmarks.tiny --max-troops 4     # eight times as many states

Results are expected results, as means over both seats. 100 is a certain win, -100 a certain loss, and 0 an
even game or a game that never ends. The table shows for each agent:

* exploitability: the result of a best response to the agent.
* against best play: the result of the agent against the solved player.
* mean regret: the expected loss of value per decision, as a mean over all decisions of the duel.
* best choices: the share of these decisions in which the agent chooses an action with the best value.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.arguments import documented_parser
from benchmarks.records import heading, heading_lines, keep, table
from risk_agents.exact.graph import TINY, StateGraph
from risk_agents.exact.solution import (
    EQUAL,
    Choices,
    Solution,
    choices_of,
    from_starts,
    meet,
    regrets,
    solve,
)
from risk_agents.exact.sweeps import BEST
from risk_env import bots

PACKAGES = ("risk-env", "numpy", "numba")

Row = dict[str, Any]


def main(argv: Sequence[str] | None = None) -> None:
    """Solve the duel, print the results and, if `--record` is given, store them."""
    parser = documented_parser(__doc__)
    add = parser.add_argument
    max_troops = "option `max_troops` of the rules (default: %(default)s)"
    add("--max-troops", type=int, default=TINY.max_troops, help=max_troops)
    add("--agents", default="random,attacker,grower", help="bots, separated by commas (default: %(default)s)")
    add("--record", action="store_true", help="store the result in benchmarks/results")
    arguments = parser.parse_args(argv)
    command = ["python", "-m", "benchmarks.tiny", *(sys.argv[1:] if argv is None else argv)]
    record = heading(command, PACKAGES) | measure(arguments.max_troops, arguments.agents.split(","))
    print(report(record))
    if arguments.record:
        print(f"\nrecorded in {keep('tiny', record, report(record))}")


def measure(max_troops: int, names: Sequence[str]) -> dict[str, Any]:
    """Return the entries of the record that follow the heading."""
    agents = [bots.compiled(name) for name in names]
    started = time.process_time()
    graph = StateGraph(TINY.replace(max_troops=max_troops))
    played = choices_of(graph, agents)
    listed = time.process_time()
    solution = solve(graph)
    solved = time.process_time()
    defended = from_starts(graph, meet(graph, solution.choices, _best(graph)))
    starts = solution.values.positions[graph.start_positions]
    return {
        "rules": repr(graph.rules),
        "positions": graph.num_positions,
        "states": graph.num_states,
        "transitions": graph.num_successors,
        "sweeps": solution.values.sweeps,
        "residual": solution.values.change,
        "seconds_to_list": listed - started,
        "seconds_to_solve": solved - listed,
        "first_seat": float(starts @ graph.start_weights),
        "solved_against_best_response": defended,
        "with_memory": [agent.name for agent in agents if agent.name not in played],
        "rows": [row_of(name, choices, solution) for name, choices in played.items()],
    }


def row_of(name: str, choices: Choices, solution: Solution) -> Row:
    """Return the row of an agent."""
    graph = solution.graph
    lost = regrets(solution, choices)[graph.is_decision]
    return {
        "agent": name,
        "exploitability": -from_starts(graph, meet(graph, choices, _best(graph))),
        "against_best_play": from_starts(graph, meet(graph, choices, solution.choices)),
        "mean_regret": float(lost.mean()),
        "best_choices": float((lost < EQUAL).mean()),
    }


def _best(graph: StateGraph) -> Choices:
    return np.full(graph.num_states, BEST, np.int8)


def report(record: dict[str, Any]) -> str:
    """Return the record as Markdown."""
    facts = [
        f"* rules: `{record['rules']}`, map `tiny`",
        f"* {record['positions']:,} positions, {record['states']:,} states, "
        f"{record['transitions']:,} transitions",
        f"* {record['sweeps']} sweeps; largest change in the last sweep: {record['residual']:.1e}",
        f"* CPU time: {record['seconds_to_list']:.0f} s to list the states, including compilation; "
        f"{record['seconds_to_solve']:.0f} s to solve",
        f"* result of the seat that begins, under best play: {100 * record['first_seat']:+.2f}",
        "* result of the solved player against a best response: "
        f"{100 * record['solved_against_best_response']:+.6f}",
        f"* agents left out because of memory or chance: {', '.join(record['with_memory']) or 'none'}",
    ]
    title = "# The solved duel"
    return "\n".join([title, "", *heading_lines(record), *facts, "", *table(*cells(record["rows"]))])


def cells(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """Return the heading and the cells of the table."""
    names = ["agent", "exploitability", "against best play", "mean regret", "best choices, %"]
    return names, [
        [
            f"`{row['agent']}`",
            f"{100 * row['exploitability']:.1f}",
            f"{100 * row['against_best_play']:+.1f}",
            f"{100 * row['mean_regret']:.2f}",
            f"{100 * row['best_choices']:.1f}",
        ]
        for row in rows
    ]


if __name__ == "__main__":
    main()
