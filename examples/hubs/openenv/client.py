"""The client of the OpenEnv environment."""

from typing import Any

from openenv.core import EnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server.types import State

from .models import RiskAction, RiskObservation


class RiskClient(EnvClient[RiskAction, RiskObservation, State]):
    """A client of the environment. Each `RiskClient(base_url=...)` has a separate session."""

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
