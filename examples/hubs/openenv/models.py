"""The messages between the client and the server of the OpenEnv environment."""

from typing import Any

from pydantic import Field

from openenv.core.env_server.types import Action, Observation


class RiskAction(Action):
    """A plan, or any other text that a model writes."""

    text: str


class RiskObservation(Observation):
    """The text for the learner, and the `info` of the text environment."""

    text: str = ""
    info: dict[str, Any] = Field(default_factory=dict)
