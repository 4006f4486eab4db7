"""Policies trained with Stable-Baselines3 (`training/`): the agent of a `.zip`."""

from __future__ import annotations

import hashlib
import json
import zipfile
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from risk_agents.base import Agent, View
from risk_agents.learned.policy import PolicyFile
from risk_agents.learned.schema import Schema, answers_as_trained, schema_of
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.core.observe import MOST_CODE

FACTS = "risk_env.json"  # inside the .zip: name, schema, how it was made

Array = npt.NDArray[Any]


class Sb3Policy:
    """A policy of MaskablePPO that answers for many seats in one inference."""

    def __init__(self, policy: Any) -> None:
        self.policy = policy

    def logits(self, codes: Array, masks: Array) -> Array:
        """float32 (k, n) of codes int8 (k, D) and masks (k, n); very low where not legal."""
        import torch

        self.policy.set_training_mode(False)
        seen = torch.as_tensor(codes.astype(np.float32) / np.float32(MOST_CODE), device=self.policy.device)
        legal = np.asarray(masks) > 0
        with torch.no_grad():
            if hasattr(self.policy, "answer"):
                return np.asarray(self.policy.answer(seen, legal)[0].cpu())
            return np.asarray(self.policy.get_distribution(seen, legal).distribution.logits.cpu())


class Sb3Agent(Agent):
    """Plays the likeliest action of a `.zip` of this project's trainer, in the games that it was trained for."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        facts = read_facts(self.path)
        self.schema = Schema.from_dict(facts["schema"])
        self.name = str(facts["name"])
        self.version = hashlib.sha256(self.path.read_bytes()).hexdigest()[:8]

    def reset(self, seat: int, rules: Rules, board: Board, seed: int) -> None:
        """A game begins; ValueError if the policy was trained for another."""
        super().reset(seat, rules, board, seed)
        self.schema.check(schema_of(rules, board), str(self.path))

    @cached_property
    def policy(self) -> Sb3Policy:
        """The policy, loaded when first asked."""
        try:
            from sb3_contrib import MaskablePPO
        except ImportError as error:
            raise ValueError(
                f"agent={str(self.path)!r} needs the extra 'train': in a clone, pip install -e '.[train]'"
            ) from error
        import torch

        torch.set_num_threads(1)
        torch.distributions.Distribution.set_default_validate_args(False)
        return Sb3Policy(MaskablePPO.load(self.path, device="cpu").policy)

    def act(self, view: View) -> int:
        """The likeliest legal action."""
        return self.act_batch([view])[0]

    def act_batch(self, views: list[View]) -> list[int]:
        """The same for many views in one inference."""
        codes = np.stack([view.codes for view in views])
        masks = np.stack([view.action_mask for view in views])
        likeliest = self.policy.logits(codes, masks).argmax(1)
        trained = self.schema.rules
        return [answers_as_trained(trained, view, int(action)) for view, action in zip(views, likeliest, strict=True)]


def load_zip(path: str) -> Any:
    """The compiled bot of a `.zip` with the project's own network; what makes an agent of any other."""
    agent = Sb3Agent(path)
    trained = agent.policy.policy
    if not hasattr(trained, "network"):
        return partial(Sb3Agent, path)
    made = {"name": agent.name, "version": agent.version}
    return PolicyFile(trained.network.arrays(), agent.schema, made).bot(path)


def read_facts(path: Path) -> dict[str, Any]:
    """What a `.zip` says of itself; ValueError if it is none of this project's."""
    try:
        with zipfile.ZipFile(path) as archive:
            found: dict[str, Any] = json.loads(archive.read(FACTS))
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"agent={str(path)!r} is no policy of `risk-env train`: {error}; one saved by other code plays as a class "
            "of yours, path.py:Class"
        ) from error
    return found
