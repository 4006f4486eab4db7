"""Play all bad bots, or some, in a tournament: `python -m tests.bad_bots`.

The exit status is 1 if one of them does harm.
"""

import argparse
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from risk_agents.sandbox import LEVELS
from risk_agents.tournament.results_store import Store
from tests.bad_bots.contest import BAD_BOTS, Contest


def main() -> int:
    """Play, and print a line for each bad bot."""
    parser = argparse.ArgumentParser(prog="python -m tests.bad_bots", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *BAD_BOTS], metavar="name", help=", ".join(BAD_BOTS))
    parser.add_argument(
        "--time-limit", type=float, default=1.0, metavar="S", help="seconds for one decision (default: 1)"
    )
    parser.add_argument(
        "--sandbox", choices=LEVELS, help="level of the sandbox, as for `risk-env tournament` (default: none)"
    )
    arguments = parser.parse_args()
    contest = Contest(arguments.names or list(BAD_BOTS), arguments.time_limit, arguments.sandbox)
    expected, problems = contest.expected(), 0
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Store.create(Path(folder, "games"), contest.config)) as store,
    ):
        start = time.monotonic()
        for result in contest.play(store):
            seconds, start = time.monotonic() - start, time.monotonic()
            problem = contest.problem(result, expected)
            problems += bool(problem)
            if problem or result.game not in expected:
                name = contest.config.labels[result.seats[1]]
                print(
                    f"{name:18}{seconds:6.1f} s  {problem or result.forfeit_reason or 'plays on'}"[:160],
                    flush=True,
                )
    print(f"{len(contest.pairings)} games, {problems} not as they must be")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
