"""The environment that the server makes for each session."""

from typing import Any

from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import State
from risk_env import text_env

from ..models import RiskAction, RiskObservation


class RiskEnvironment(Environment[RiskAction, RiskObservation, State]):
    """A game in words. The learner changes seats after every game. Compiled bots play all other seats."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, curriculum: str = "tiny", opponents: str = "random") -> None:
        super().__init__()
        self._env, self._state = text_env.make(curriculum, opponents=opponents), State()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **options: Any
    ) -> RiskObservation:
        """Begin an episode. Without `seed`, begin the next game in the series of the last seed."""
        text, info = self._env.reset(seed)
        self._state = State(episode_id=episode_id, step_count=0)
        return RiskObservation(text=text, info=info)

    def step(self, action: RiskAction, timeout_s: float | None = None, **options: Any) -> RiskObservation:
        """Play the actions of an answer."""
        text, reward, terminated, truncated, info = self._env.step(action.text)
        self._state.step_count += 1
        return RiskObservation(text=text, reward=reward, done=terminated or truncated, info=info)

    @property
    def state(self) -> State:
        """Id of the episode, and number of steps."""
        return self._state
