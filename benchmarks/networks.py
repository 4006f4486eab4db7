"""Decisions per second in tournaments of ONNX models and bots: `python -m benchmarks.networks [--record]`.

Two networks and the bots `grower` and `breaker` play a tournament of duels on the classic map. The networks
have two hidden layers of 256 units and random weights. The same bots play another tournament without the
networks. The two tournaments alternate several times, in one process with one thread. The table shows
decisions per second of CPU time: the median, the smallest and the largest value of the repetitions.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.arguments import at_least_one, documented_parser
from benchmarks.records import heading, heading_lines, keep, table
from risk_agents.tournament.config import TournamentConfig
from risk_agents.tournament.jobs import play
from risk_agents.tournament.loading import make_config
from risk_env.board.maps import load_map
from risk_env.board.rules import FAST, Rules
from risk_env.board.tables import tables
from risk_env.observations import observation_size

UNITS = 256  # width of both hidden layers
BOTS = ("grower", "breaker")
PACKAGES = ("risk-env", "numpy", "numba", "onnxruntime")
RULES = Rules.preset("classic", 2, profile=FAST)

Row = dict[str, Any]


def main(argv: Sequence[str] | None = None) -> None:
    """Print the results of the measurement and, if `--record` is given, store them."""
    parser = documented_parser(__doc__)
    add = parser.add_argument
    add(
        "--games",
        type=at_least_one,
        default=512,
        help="number of games per tournament (default: %(default)s)",
    )
    add("--repeats", type=at_least_one, default=5, help="number of repetitions (default: %(default)s)")
    add("--record", action="store_true", help="store the result in benchmarks/results")
    arguments = parser.parse_args(argv)
    command = ["python", "-m", "benchmarks.networks", *(sys.argv[1:] if argv is None else argv)]
    record = heading(command, PACKAGES)
    with TemporaryDirectory() as folder:
        networks = [write_network(Path(folder) / f"network{seed}.onnx", seed) for seed in (1, 2)]
        configs = {
            "networks and bots": make_config([*map(str, networks), *BOTS], RULES),
            "bots alone": make_config(BOTS, RULES),
        }
        record["rows"] = measure(configs, arguments.games, arguments.repeats)
    print(report(record))
    if arguments.record:
        print(f"\nrecorded in {keep('networks', record, report(record))}")


def write_network(path: Path, seed: int) -> Path:
    """Write an ONNX model with two hidden layers of UNITS units and random weights, and return its path."""
    from onnx import TensorProto, helper, numpy_helper

    board = load_map("classic")
    rows, actions = observation_size(board), tables(RULES, board).num_actions
    sizes, chance = (rows, UNITS, UNITS, actions), np.random.default_rng(seed)
    nodes, weights, last = [], [], "observation"
    for layer, (inputs, outputs) in enumerate(pairwise(sizes)):
        is_last = layer == len(sizes) - 2
        values = chance.normal(0, inputs**-0.5, (inputs, outputs)).astype(np.float32)
        weights.append(numpy_helper.from_array(values, f"weights{layer}"))
        product = "logits" if is_last else f"product{layer}"
        nodes.append(helper.make_node("MatMul", [last, f"weights{layer}"], [product]))
        if not is_last:
            nodes.append(helper.make_node("Relu", [product], [f"hidden{layer}"]))
        last = f"hidden{layer}"
    given = helper.make_tensor_value_info("observation", TensorProto.FLOAT, ["N", rows])
    found = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", actions])
    graph = helper.make_graph(nodes, "network", [given], [found], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


def measure(configs: dict[str, TournamentConfig], games: int, repeats: int) -> list[Row]:
    """Play the tournaments alternately, and return a row for each tournament."""
    rows: dict[str, list[Row]] = {name: [] for name in configs}
    for _ in range(repeats):
        for name, config in configs.items():
            rows[name].append(measured(config, games))
    return [
        {
            "tournament": name,
            "games": parts[0]["games"],
            "decisions": parts[0]["decisions"],
            "by_networks": parts[0]["by_networks"],
            "per_second": sorted(part["decisions"] / part["seconds"] for part in parts),
        }
        for name, parts in rows.items()
    ]


def measured(config: TournamentConfig, games: int) -> Row:
    """Play a tournament; return the numbers of games and decisions, and the seconds of CPU time."""
    schedule = tuple(config.schedule(games))
    start = time.process_time()
    results = list(play(config, schedule))
    seconds = time.process_time() - start
    decided = np.zeros(len(config.entrants), np.int64)
    for result in results:
        np.add.at(decided, list(result.seats), result.decisions)
    networks = [number for number, each in enumerate(config.entrants) if each.spec.endswith(".onnx")]
    by_networks = int(decided[networks].sum())
    decisions = int(decided.sum())
    return {"games": len(results), "decisions": decisions, "by_networks": by_networks, "seconds": seconds}


def report(record: dict[str, Any]) -> str:
    """Return the record as Markdown."""
    columns = [
        "tournament",
        "games",
        "decisions",
        "decisions by networks",
        "decisions per second of CPU time",
    ]
    cells = []
    for row in record["rows"]:
        rates = row["per_second"]
        rate = f"{median(rates):,.0f} [{rates[0]:,.0f}, {rates[-1]:,.0f}]"
        cells.append(
            [
                row["tournament"],
                f"{row['games']:,}",
                f"{row['decisions']:,}",
                f"{row['by_networks']:,}",
                rate,
            ]
        )
    return "\n".join(["# Networks in tournaments", "", *heading_lines(record), "", *table(columns, cells)])


if __name__ == "__main__":
    main()
