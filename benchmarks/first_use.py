"""Seconds from `import risk_env` to the end of the first game, measured in a new process.

Run as `python -m benchmarks.first_use`. Nothing large is imported before the clock starts. The output is one
line of JSON.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
SEED = 0
OPTIONS: dict[str, Any] = {
    "setup": "random",
    "attack": "choice",
    "defender_dice": "choice",
    "max_rounds": 100,
}
FIRST = ("classic", 3)
SECOND = ("command_room", 4)  # another preset, another deck, another number of players


def main() -> None:
    """Measure in this process, and print the result."""
    start = time.perf_counter()
    decisions = play_game(*FIRST)
    first = time.perf_counter() - start
    compiled = compiled_signatures()
    start = time.perf_counter()
    play_game(*SECOND)
    second = time.perf_counter() - start
    added = compiled_signatures() - compiled
    print(json.dumps({"first": first, "decisions": decisions, "second": second, "compiled_by_second": added}))


def play_game(preset: str, num_players: int) -> int:
    """Play a whole game of random legal actions with `risk_env.Game` and return the number of decisions."""
    import risk_env

    game = risk_env.Game(risk_env.Rules.preset(preset, num_players=num_players, **OPTIONS), seed=SEED)
    picker = random.Random(SEED)
    decisions = 0
    while not game.is_over:
        game.step(int(picker.choice(game.legal_actions())))
        decisions += 1
    return decisions


def compiled_signatures() -> int:
    """Return the number of compiled signatures of all kernels in this process."""
    modules = [module for name, module in sys.modules.items() if name.startswith("risk_env")]
    values = {id(value): value for module in modules for value in vars(module).values()}
    return sum(len(value.signatures) for value in values.values() if hasattr(value, "signatures"))


def measure(cold: bool = True, warm_runs: int = 3) -> dict[str, Any]:
    """Return a record of the first use, with the seconds of the first game and of a second game.

    The first game is timed with a warm cache and, if `cold` is true, with an empty cache. Times with a warm
    cache are from the fastest of `warm_runs` runs.
    """
    with tempfile.TemporaryDirectory() as folder:
        empty = run(Path(folder) if cold else None)
        warm = min(
            (run(Path(folder) if cold else None) for _ in range(warm_runs)),
            key=lambda result: result["first"],
        )
    return {
        "game": f"{FIRST[0]}, {FIRST[1]} players, {warm['decisions']:,} random decisions",
        "then": f"{SECOND[0]}, {SECOND[1]} players",
        "cold_s": round(empty["first"], 2) if cold else None,
        "warm_s": round(warm["first"], 2),
        "second_s": round(warm["second"], 2),
        "compiled_by_second": empty["compiled_by_second"],
    }


def run(cache: Path | None) -> dict[str, Any]:
    """Return the result of `main` in a new process.

    Compiled code is cached in `cache` (None: the usual folder).
    """
    kept = {} if cache is None else {"RISK_ENV_CACHE_DIR": str(cache)}
    command = [sys.executable, "-m", "benchmarks.first_use"]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **kept}, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
