"""RLlib: one iteration of `examples/rllib_selfplay.py`."""

from importlib.metadata import version
from pathlib import Path
from runpy import run_path

EXAMPLE = Path(__file__).parents[2] / "examples" / "rllib_selfplay.py"


def main() -> None:
    """Collect 2,000 decisions and learn from them."""
    run_path(str(EXAMPLE))["main"](iterations=1)
    print(f"Ray {version('ray')}")


if __name__ == "__main__":
    main()
