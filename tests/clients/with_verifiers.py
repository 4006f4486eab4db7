"""verifiers: its validation of the bundle of `examples/hubs`, and games with a scripted model on loopback."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
from examples.hubs.bundle import bundle  # noqa: E402
from tests.fake_endpoint import FakeEndpoint  # noqa: E402


def install(folder: Path) -> None:
    """Install the bundle, and let verifiers validate three of its tasks."""
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall")
    subprocess.run((*pip, str(bundle("verifiers", folder / "bundle"))), check=True)
    names = ("verifiers_risk", "-n", "3", "--runtime.type", "subprocess", "--no-rich", "-o", str(folder))
    subprocess.run((Path(sys.executable).with_name("vf-validate"), *names), check=True)
    (summary,) = (json.loads(path.read_text()) for path in folder.rglob("summary.json"))
    assert summary["outcomes"]["valid"] == summary["total"] == 3, summary


def play(habit: str, games: int) -> list:
    """Return the traces of some games of a model with a habit."""
    import verifiers_risk

    with FakeEndpoint(habit).running() as endpoint:
        episodes = asyncio.run(verifiers_risk.evaluate("fake", endpoint.url, games))
    assert all(episode.ok and not episode.errors for episode in episodes)
    return [trace for episode in episodes for trace in episode.traces]


def main() -> None:
    """Run all of it."""
    os.environ["OPENAI_API_KEY"] = "none"
    with tempfile.TemporaryDirectory() as folder:
        install(Path(folder))
    good, bad = play("good", 4), play("garbage", 1)
    assert all(trace.reward in (-1.0, 0.0, 1.0) for trace in good) and sum(trace.reward for trace in good) > 0
    assert all(
        trace.metrics["illegal"] == 0 and trace.num_turns == trace.metrics["exchanges"] for trace in good
    )
    assert bad[0].metrics["illegal"] == bad[0].metrics["exchanges"] > bad[0].metrics["fallbacks"] > 0
    print(
        f"verifiers {version('verifiers')}: its validation, {len(good)} games, "
        f"rewards {[trace.reward for trace in good]}"
    )


if __name__ == "__main__":
    main()
