"""verifiers: games of `examples/verifiers_risk.py` with a scripted model behind an endpoint on loopback."""

import asyncio
import os
import sys
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "examples")]
import verifiers_risk  # noqa: E402

from tests.fake_endpoint import FakeEndpoint  # noqa: E402


def play(habit: str, games: int) -> list:
    """Return the traces of some games of a model with a habit."""
    with FakeEndpoint(habit).running() as endpoint:
        episodes = asyncio.run(verifiers_risk.evaluate("fake", endpoint.url, games))
    assert all(episode.ok and not episode.errors for episode in episodes)
    return [trace for episode in episodes for trace in episode.traces]


def main() -> None:
    """Run all of it."""
    os.environ["OPENAI_API_KEY"] = "none"
    good, bad = play("good", 4), play("garbage", 1)
    assert all(trace.reward in (-1.0, 0.0, 1.0) for trace in good) and sum(trace.reward for trace in good) > 0
    assert all(
        trace.metrics["illegal"] == 0 and trace.num_turns == trace.metrics["exchanges"] for trace in good
    )
    assert bad[0].metrics["illegal"] == bad[0].metrics["exchanges"] > bad[0].metrics["fallbacks"] > 0
    print(f"verifiers {version('verifiers')}: {len(good)} games, rewards {[trace.reward for trace in good]}")


if __name__ == "__main__":
    main()
