"""Risk as an OpenEnv environment: a server with one environment for each session, and its client.

    python examples/openenv_risk.py --port 8322 --curriculum tiny

This example needs `pip install openenv-core`. The observation is a report, and the action is a plan
(docs/llm.md). In a container, add `--host 0.0.0.0`. A new session can replace a session whose client has sent
nothing for `--session-timeout` seconds, so clients that disappear do not use up the sessions.
"""

import argparse
from typing import Any

from openenv.core import EnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, ConcurrencyConfig, Observation, State
from pydantic import Field

from risk_env import text_env

MOST_SESSIONS = 64
SESSION_TIMEOUT = 1800.0  # seconds


class RiskAction(Action):
    """A plan, or any other text that a model writes."""

    text: str


class RiskObservation(Observation):
    """The text for the learner, and the `info` of the text environment."""

    text: str = ""
    info: dict[str, Any] = Field(default_factory=dict)


class RiskEnvironment(Environment[RiskAction, RiskObservation, State]):
    """The environment of one session."""

    SUPPORTS_CONCURRENT_SESSIONS = True
    curriculum = "tiny"

    def __init__(self) -> None:
        super().__init__()
        self._env, self._state = text_env.make(self.curriculum), State()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **options: Any
    ) -> RiskObservation:
        """Begin an episode. Without a seed, begin the game after the previous game."""
        text, info = self._env.reset(seed)
        self._state = State(episode_id=episode_id, step_count=0)
        return RiskObservation(text=text, info=info)

    def step(self, action: RiskAction, timeout_s: float | None = None, **options: Any) -> RiskObservation:
        """Play an answer."""
        text, reward, terminated, truncated, info = self._env.step(action.text)
        self._state.step_count += 1
        return RiskObservation(text=text, reward=reward, done=terminated or truncated, info=info)

    @property
    def state(self) -> State:
        """Id of the episode, and number of steps."""
        return self._state


class RiskClient(EnvClient[RiskAction, RiskObservation, State]):
    """A client. Each `RiskClient(base_url=...)` has a separate session."""

    def _step_payload(self, action: RiskAction) -> dict[str, Any]:
        return {"text": action.text}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[RiskObservation]:
        seen, reward, done = payload.get("observation", {}), payload.get("reward"), payload.get("done", False)
        observation = RiskObservation(
            text=seen.get("text", ""), info=seen.get("info", {}), reward=reward, done=done
        )
        return StepResult(observation=observation, reward=reward, done=done)

    def _parse_state(self, payload: dict[str, Any]) -> State:
        return State(episode_id=payload.get("episode_id"), step_count=payload.get("step_count", 0))


def make_app(session_timeout: float = SESSION_TIMEOUT) -> Any:
    """Return the server's application. New sessions can replace sessions idle for `session_timeout` s."""
    limits = ConcurrencyConfig(max_concurrent_envs=MOST_SESSIONS, session_timeout=session_timeout)
    return create_fastapi_app(RiskEnvironment, RiskAction, RiskObservation, concurrency_config=limits)


def main() -> None:
    """Run the server."""
    import uvicorn

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine)")
    parser.add_argument("--port", type=int, default=8322)
    parser.add_argument("--session-timeout", type=float, default=SESSION_TIMEOUT, metavar="SECONDS")
    parser.add_argument("--curriculum", default="tiny", choices=text_env.CURRICULA)
    arguments = parser.parse_args()
    RiskEnvironment.curriculum = arguments.curriculum
    uvicorn.run(make_app(arguments.session_timeout), host=arguments.host, port=arguments.port)


if __name__ == "__main__":
    main()
