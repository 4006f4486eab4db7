"""OpenEnv: its validation of the bundle of `examples/hubs` and of its server, and sessions with episodes."""

import json
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
from examples.hubs.bundle import bundle

BIN = Path(sys.executable).parent
IDLE = 30  # seconds after which a session makes room


def install(folder: Path) -> None:
    """Make the bundle, let OpenEnv validate it, and install it."""
    subprocess.run((BIN / "openenv", "validate", str(bundle("openenv", folder))), check=True)
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall")
    subprocess.run((*pip, str(folder)), check=True)


@contextmanager
def served(*settings: str) -> Iterator[str]:
    """Run the server, and return its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen((BIN / "server", "--port", str(port), *settings)) as server:
        try:
            wait_for(f"http://127.0.0.1:{port}/health", server)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def wait_for(url: str, server: Any) -> None:
    """Wait until the server answers."""
    while server.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=60).close()
            return
        except OSError:
            time.sleep(0.5)
    raise SystemExit(f"the server ended with status {server.returncode}")


def validated(address: str) -> int:
    """Let OpenEnv validate the server; return the number of criteria that it passes."""
    command = (BIN / "openenv", "validate", "--url", address, "--timeout", "60")
    done = subprocess.run(command, capture_output=True, text=True)
    report = json.loads(done.stdout)
    assert done.returncode == 0 and report["passed"], report
    return report["summary"]["passed_count"]


def play_in_two_sessions(address: str) -> int:
    """Play an episode in one session beside another session; return the number of steps."""
    from risk_openenv import RiskAction, RiskClient

    with RiskClient(base_url=address).sync() as one, RiskClient(base_url=address).sync() as other:
        first = [client.reset(seed=5).observation.text for client in (one, other)]
        assert first[0] == first[1] and first[0].startswith("Risk report 1")
        for _ in range(100):
            result = one.step(RiskAction(text="end"))
            if result.done:
                break
        assert result.done and result.reward in (-1.0, 0.0, 1.0) and "winner" in result.observation.info
        steps = one.state().step_count
        assert steps > 1 and other.state().step_count == 0
        refused = other.step(RiskAction(text="conquer the world"))
        assert refused.observation.text.startswith("Not played") and not refused.done
    return steps


def lose_an_idle_session(address: str) -> None:
    """Check that an idle session makes room for another one; OpenEnv looks every five seconds."""
    from risk_openenv import RiskClient

    with RiskClient(base_url=address).sync() as idle:
        idle.reset(seed=5)
        try:
            begin_session(address)
        except Exception as error:
            print(f"while another session uses the only place: {error}")
        else:
            raise AssertionError("two sessions, but there is only one place")
        time.sleep(2 * IDLE)
        begin_session(address)


def begin_session(address: str) -> None:
    """Begin an episode in a session of its own."""
    from risk_openenv import RiskClient

    with RiskClient(base_url=address).sync() as client:
        client.reset(seed=5)


def main() -> None:
    """Run all of it."""
    with tempfile.TemporaryDirectory() as folder:
        install(Path(folder) / "bundle")
    with served() as address:
        passed, steps = validated(address), play_in_two_sessions(address)
    with served("--sessions", "1", "--session-timeout", str(IDLE)) as address:
        lose_an_idle_session(address)
    print(
        f"OpenEnv {version('openenv-core')}: {passed} criteria of its validation, an episode of {steps} steps"
    )


if __name__ == "__main__":
    main()
