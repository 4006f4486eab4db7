"""OpenEnv's validation of the server `examples/openenv_risk.py`, and sessions with their own episodes."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import uvicorn
from openenv.cli._validation import validate_running_environment  # what `openenv validate --url` calls

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
import openenv_risk as risk


@contextmanager
def served(**settings: float) -> Iterator[str]:
    """Run the server in a thread of this process, and return its address."""
    app = risk.make_app(**settings)
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(10)


def play_in_two_sessions(address: str) -> int:
    """Play an episode in one session beside another session; return the number of steps."""
    with risk.RiskClient(base_url=address).sync() as one, risk.RiskClient(base_url=address).sync() as other:
        first = [client.reset(seed=5).observation.text for client in (one, other)]
        assert first[0] == first[1] and first[0].startswith("Risk report 1")
        for _ in range(100):
            result = one.step(risk.RiskAction(text="end"))
            if result.done:
                break
        assert result.done and result.reward in (-1.0, 0.0, 1.0) and "winner" in result.observation.info
        steps = one.state().step_count
        assert steps > 1 and other.state().step_count == 0
        refused = other.step(risk.RiskAction(text="conquer the world"))
        assert refused.observation.text.startswith("Not played") and not refused.done
    return steps


def lose_an_idle_session(address: str) -> None:
    """Check that an idle session makes room for another one; OpenEnv looks every five seconds."""
    with risk.RiskClient(base_url=address).sync() as idle:
        idle.reset(seed=5)
        try:
            begin_session(address)
        except Exception as error:
            print(f"while another session uses the only place: {error}")
        else:
            raise AssertionError("two sessions, but there is only one place")
        time.sleep(12)
        begin_session(address)


def begin_session(address: str) -> None:
    """Begin an episode in a session of its own."""
    with risk.RiskClient(base_url=address).sync() as client:
        client.reset(seed=5)


def main() -> None:
    """Run all of it."""
    with served() as address:
        report = validate_running_environment(address)
        assert report["passed"], report["criteria"]
        steps = play_in_two_sessions(address)
    risk.MOST_SESSIONS = 1
    with served(session_timeout=1.0) as address:
        lose_an_idle_session(address)
    passed = report["summary"]["passed_count"]
    print(
        f"OpenEnv {version('openenv-core')}: {passed} criteria of its validation, an episode of {steps} steps"
    )


if __name__ == "__main__":
    main()
