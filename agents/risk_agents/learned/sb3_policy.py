"""Policies trained with Stable-Baselines3 (`training/`), loaded without running code from the `.zip`.

SB3's own loader unpickles the whole model. This module reads the weights as tensors (`weights_only`), and
builds the network from the facts that the trainer wrote into the same `.zip`.
"""

import hashlib
import io
import math
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from risk_agents.learned.policy import PolicyFile
from risk_agents.learned.schema import Schema, schema_of, unfamiliar_columns
from risk_agents.learned.trained import check_numbers
from risk_env.arrays import Array
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.bots import CompiledBot
from risk_env.bounded_io import UNREADABLE, parse_json, read_file, read_zip
from risk_env.messages import shortened
from risk_env.players import Policy

FACTS = "risk_env.json"  # file inside the .zip: name, schema, and facts about the training
MOST_WIDTH = 1024  # maximum number of units of a layer
MOST_LAYERS = 8  # maximum number of hidden layers
MOST_BYTES = 1 << 28  # maximum number of bytes of a .zip, and of the content that is read from it
WEIGHTS = "policy.pth"  # file inside the .zip, written by SB3
OWN_POLICY, SB3_POLICY = "BoardPolicy", "MlpPolicy"  # the project's own network; Stable-Baselines3's network
POLICIES = {OWN_POLICY: ("width", "local"), SB3_POLICY: ("net_arch",)}  # allowed keys of `policy_kwargs`
# By key of `net_arch`: name of the hidden layers, name of the output layer
LAYERS = {"pi": ("policy_net", "action_net"), "vf": ("value_net", "value_net")}
OWN_WEIGHTS = "network.weights."  # prefix of the names of the weights of the project's network


class Sb3Policy(Policy):
    """Policy of MaskablePPO that was trained with `rules` on `board`, and plays its likeliest actions.

    In a phase that never occurred in training (`unfamiliar_phases`), the policy plays the last legal action.
    """

    name = "sb3"

    def __init__(self, network: Any, rules: Rules, board: Board) -> None:
        self.network = network
        self._unfamiliar = unfamiliar_columns(rules, board)

    def act_batch(self, observations: Array, masks: Array, seats: Array, state: Array | None = None) -> Array:
        """Return the likeliest action in each lane, or the last legal action in an unfamiliar phase."""
        likeliest = logits_of(self.network, observations, masks).argmax(axis=1)
        last = masks.shape[1] - 1 - (masks[:, ::-1] > 0).argmax(axis=1)
        return np.where(observations[:, self._unfamiliar].any(axis=1), last, likeliest)


def logits_of(network: Any, observations: Array, masks: Array) -> Array:
    """Return the logits, float32 (k, n), of observations, float32 (k, D).

    The logits of illegal actions are very low.
    """
    import torch

    network.set_training_mode(False)
    inputs, legal = torch.as_tensor(observations, device=network.device), np.asarray(masks) > 0
    with torch.no_grad():
        if hasattr(network, "logits_and_values"):
            return np.asarray(network.logits_and_values(inputs, legal)[0].cpu())
        return np.asarray(network.get_distribution(inputs, legal).distribution.logits.cpu())


class ZipPolicy(Policy):
    """Policy in a `.zip` of `risk-env train`, for the games that the policy was trained for."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        facts = read_facts(self.path)
        self.schema = Schema.from_dict(facts["schema"])
        try:
            _ = self.schema.board
        except ValueError as error:
            raise ValueError(f"agent={str(path)!r}: {error}") from error
        self.config: dict[str, Any] = facts["made"]["config"]
        self.name = str(facts["name"])
        self.version = hashlib.sha256(self.path.read_bytes()).hexdigest()[:8]

    def prepare(self, rules: Rules, board: Board) -> None:
        """Load the network; raise ValueError if the network was trained for other games."""
        self.schema.check(schema_of(rules, board), str(self.path))
        _ = self.policy

    @cached_property
    def policy(self) -> Sb3Policy:
        """The policy, which is loaded at the first access."""
        weights = read_weights(self.path)
        import torch
        from gymnasium.spaces import Discrete
        from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

        from risk_env.envs.spaces import observation_space

        torch.set_num_threads(1)
        torch.distributions.Distribution.set_default_validate_args(False)
        spaces = observation_space(self.schema.board), Discrete(self.schema.num_actions)
        columns = math.prod(spaces[0].shape or ())
        layers = layers_of(self.config["policy_kwargs"])
        try:
            check_shapes(weights, mlp_shapes(layers, columns, self.schema.num_actions))
            network = MaskableActorCriticPolicy(*spaces, lambda _: 0.0, net_arch=layers, ortho_init=False)
            network.load_state_dict(weights)
        except Exception as error:  # SB3 does not check its arguments
            raise ValueError(
                f"agent={str(self.path)!r}: its weights do not fit 'policy_kwargs': {error}"
            ) from error
        return Sb3Policy(network, self.schema.rules, self.schema.board)

    def act_batch(self, observations: Array, masks: Array, seats: Array, state: Array | None = None) -> Array:
        """Return the actions of the policy."""
        return self.policy.act_batch(observations, masks, seats)


def load_zip(path: str) -> CompiledBot | Policy:
    """Load a `.zip`: return a compiled bot if it contains the project's own network, otherwise a policy."""
    policy = ZipPolicy(path)
    return own_network(path).bot(path) if policy.config["policy"] == OWN_POLICY else policy


def own_network(path: str | Path) -> PolicyFile:
    """Return the policy of a `.zip` with the project's own network; raise ValueError for other networks."""
    policy = ZipPolicy(path)
    if policy.config["policy"] != OWN_POLICY:
        raise ValueError(
            f"policy {str(path)!r} is an {policy.config['policy']}: only a {OWN_POLICY} can be converted"
        )
    weights = {
        name.removeprefix(OWN_WEIGHTS): values.numpy() for name, values in read_weights(policy.path).items()
    }
    return PolicyFile(weights, policy.schema, {"name": policy.name, "version": policy.version})


def read_weights(path: Path) -> dict[str, Any]:
    """Return the tensors of a `.zip` by name.

    Raises ValueError if PyTorch or SB3 is missing, or if the tensors cannot be read.
    """
    try:
        import sb3_contrib  # noqa: F401
        import torch
    except ImportError as error:
        raise ValueError(
            f"agent={str(path)!r} needs the extra 'train': in a clone, pip install -e '.[train]'"
        ) from error
    try:
        weights = load_tensors(read_zip(read_file(path, MOST_BYTES), MOST_BYTES, [WEIGHTS])[WEIGHTS])
        if not isinstance(weights, dict) or not all(
            isinstance(values, torch.Tensor) for values in weights.values()
        ):
            raise ValueError("must contain a dict of tensors")
        check_numbers({name: values.numpy() for name, values in weights.items()})
        return weights
    except Exception as error:  # PyTorch raises many kinds of errors
        raise ValueError(f"agent={str(path)!r}: {WEIGHTS} cannot be read: {error}") from error


def load_tensors(content: bytes) -> Any:
    """Return the content of a PyTorch file: tensors, containers and simple values.

    Raises ValueError, or an error of PyTorch, for any other content. A tensor must not be larger than the
    file. No container with content may occur twice, because a copy could then be much larger than the file.
    """
    import torch

    read_zip(content, 2 * len(content))  # check the size before PyTorch expands the content
    loaded = torch.load(io.BytesIO(content), "cpu", weights_only=True)
    seen, todo = set[int](), [loaded]
    while todo:
        value = todo.pop()
        if isinstance(value, torch.Tensor) and value.numel() * value.itemsize > len(content):
            raise ValueError("a tensor is larger than the file")
        if isinstance(value, dict | list | tuple) and value:
            if id(value) in seen:
                raise ValueError("the same dict, list or tuple occurs twice")
            seen.add(id(value))
            todo += value.values() if isinstance(value, dict) else value
    return loaded


def read_facts(path: Path) -> dict[str, Any]:
    """Return the facts in a `.zip`; raise ValueError if `risk-env train` did not write the file."""
    try:
        facts = parse_json(read_zip(read_file(path, MOST_BYTES), MOST_BYTES, [FACTS])[FACTS])
        _check_facts(facts)
    except UNREADABLE as error:
        raise ValueError(
            f"agent={str(path)!r} is not a policy of `risk-env train`: {error}; "
            "to play a policy of another program, write an agent class and name it as path.py:Class"
        ) from error
    return facts


def _check_facts(facts: Any) -> None:
    """Raise ValueError, KeyError or TypeError for facts that are incomplete or have wrong types."""
    config = facts["made"]["config"]
    if not isinstance(facts["name"], str) or not isinstance(config["policy"], str):
        given = f"'name' is {shortened(facts['name'])} and 'policy' is {shortened(config['policy'])}"
        raise ValueError(f"{given}: both must be strings")
    check_policy(config["policy"], config["policy_kwargs"])
    Schema.from_dict(facts["schema"]).check_types()


def check_policy(policy: str, arguments: Any) -> None:
    """Raise ValueError unless `policy` is in POLICIES and `arguments` are valid `policy_kwargs` for it."""
    if policy not in POLICIES:
        raise ValueError(f"policy={shortened(policy)}: choose one of {', '.join(map(repr, POLICIES))}")
    allowed = POLICIES[policy]
    if not isinstance(arguments, Mapping) or not set(arguments) <= set(allowed):
        raise ValueError(f"policy_kwargs={shortened(arguments)}; {policy} allows only: {', '.join(allowed)}")
    if policy == SB3_POLICY:
        layers_of(arguments)
    elif not all(_is_width(arguments[name]) for name in arguments):
        raise ValueError(
            f"policy_kwargs={shortened(arguments)}: values must be whole numbers from 1 to {MOST_WIDTH:,}"
        )


def layers_of(arguments: Mapping[str, Any]) -> dict[str, list[int]]:
    """Return the widths of the hidden layers for actions ("pi") and for values ("vf").

    Raises ValueError if `net_arch` is not valid.
    """
    given = arguments.get("net_arch", [64, 64])
    layers = given if isinstance(given, dict) else dict.fromkeys(LAYERS, given)
    if layers.keys() != LAYERS.keys() or not all(
        isinstance(sizes, list) and len(sizes) <= MOST_LAYERS and all(map(_is_width, sizes))
        for sizes in layers.values()
    ):
        allowed = (
            f"a list of at most {MOST_LAYERS} whole numbers from 1 to {MOST_WIDTH:,}, or a dict with a list "
            "for pi and a list for vf"
        )
        raise ValueError(f"policy_kwargs: net_arch={shortened(given)}: must be {allowed}")
    return layers


def _is_width(value: Any) -> bool:
    return type(value) is int and 1 <= value <= MOST_WIDTH


def mlp_shapes(layers: Mapping[str, list[int]], columns: int, actions: int) -> dict[str, tuple[int, ...]]:
    """Return the shape of each weight of Stable-Baselines3's network, by name."""
    shapes: dict[str, tuple[int, ...]] = {}
    for kind, (hidden, last) in LAYERS.items():
        names = [f"mlp_extractor.{hidden}.{2 * place}" for place in range(len(layers[kind]))]
        sizes = [columns, *layers[kind], actions if last == "action_net" else 1]
        for name, inputs, outputs in zip([*names, last], sizes[:-1], sizes[1:], strict=True):
            shapes |= {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}
    return shapes


def check_shapes(weights: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Raise ValueError unless the weights have these shapes, dtype float32 and finite values."""
    if weights.keys() != shapes.keys():
        raise ValueError(
            f"the weights are {shortened(sorted(weights))}, but must be {shortened(sorted(shapes))}"
        )
    for name, values in weights.items():
        if str(values.dtype) != "torch.float32" or tuple(values.shape) != shapes[name]:
            raise ValueError(
                f"{name} is {values.dtype} {tuple(values.shape)}, but must be torch.float32 {shapes[name]}"
            )
        if not bool(values.isfinite().all()):
            raise ValueError(f"{name} contains values that are not finite")
