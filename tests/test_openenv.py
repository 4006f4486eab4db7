"""The OpenEnv example: its server and its client play episodes, sessions do not disturb each other."""

import threading
import time
from collections.abc import Iterator

import pytest

pytest.importorskip("openenv")
import uvicorn

from tests.examples import example

risk = example("openenv_risk")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a server in a thread of this process."""
    server = uvicorn.Server(uvicorn.Config(risk.make_app(), host="127.0.0.1", port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(10)


def test_two_sessions_play_their_own_episodes(address: str) -> None:
    with risk.RiskClient(base_url=address).sync() as one, risk.RiskClient(base_url=address).sync() as other:
        first = [client.reset(seed=5).observation.text for client in (one, other)]
        assert first[0] == first[1] and first[0].startswith("Risk report 1")
        for _ in range(100):
            result = one.step(risk.RiskAction(text="end"))
            if result.done:
                break
        assert result.done and result.reward in (-1.0, 0.0, 1.0) and "winner" in result.observation.info
        assert one.state().step_count > 1 and other.state().step_count == 0
        refused = other.step(risk.RiskAction(text="conquer the world"))
        assert refused.observation.text.startswith("Not played") and not refused.done
