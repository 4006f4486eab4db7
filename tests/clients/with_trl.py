"""TRL: two steps of `examples/grpo_tiny.py`, and its rewards of answers."""

import sys
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
import grpo_tiny


def main() -> None:
    """Run all of it."""
    asked = grpo_tiny.questions(1)[0]
    good, near, bad = grpo_tiny.worth(["draft Ash all; end", "draf Ash al", "#"], [asked["position"]] * 3)
    assert -1 <= bad < near < 0 == good
    with TemporaryDirectory() as folder:
        logged = grpo_tiny.train(2, folder)
    assert len(logged) == 2 and all(-1 <= float(line["reward"]) <= 1 for line in logged)
    print(
        f"TRL {version('trl')}: {len(logged)} steps, "
        f"mean rewards {[float(line['reward']) for line in logged]}"
    )


if __name__ == "__main__":
    main()
