"""RLlib: an iteration of each form of `examples/rllib_selfplay.py`."""

from importlib.metadata import version
from pathlib import Path
from runpy import run_path

EXAMPLE = Path(__file__).parents[2] / "examples" / "rllib_selfplay.py"


def main() -> None:
    """Collect decisions, learn from them, and play games: many agents, then one."""
    example = run_path(str(EXAMPLE), run_name="rllib_selfplay")
    for form in ([], ["--single"]):
        rows = example["main"]([*form, "--minutes", "0", "--games", "32"])
        assert [row["time/steps"] > 0 for row in rows] == [False, True]
    print(f"Ray {version('ray')}")


if __name__ == "__main__":
    main()
