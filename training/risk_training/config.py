"""Configurations of training runs: YAML files in the shape that users of Stable-Baselines3 and its zoo know."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from risk_env.board.rules import Rules
from risk_env.doors.seat_lanes import training_rules
from risk_training.league import LeagueSettings

TRAINERS = ("sb3", "selfplay", "value")
POLICIES = ("BoardPolicy", "MlpPolicy")
LINEAR = "lin_"

Schedule = Callable[[float], float]


@dataclass(frozen=True)
class EvaluationSettings:
    """Games against fixed scripted opponents at intervals, all seats in turn."""

    opponents: tuple[str, ...] = ("random", "attacker", "grower")
    games: int = 200  # against each
    interval: int = 500_000  # steps between two evaluations
    best_by: tuple[
        str, ...
    ] = ()  # the best model is that with the highest mean win rate against these; (): against all

    def __post_init__(self) -> None:
        object.__setattr__(self, "opponents", tuple(self.opponents))
        object.__setattr__(self, "best_by", tuple(self.best_by) or self.opponents)
        _check_at_least("evaluation.games", self.games, 1)
        _check_at_least("evaluation.interval", self.interval, 1)
        strange = [name for name in self.best_by if name not in self.opponents]
        if strange:
            raise ValueError(f"evaluation.best_by: {strange[0]!r} is not in opponents={list(self.opponents)!r}")


@dataclass(frozen=True)
class Sb3Config:
    """A run of MaskablePPO; the names between `policy` and `target_kl` are its own arguments.

    Steps are the learner's decisions, all environments together. `learning_rate` and `clip_range` may be `lin_3e-4`:
    falling linearly to 0 over the run.
    """

    trainer: str = "sb3"
    preset: str = "classic"
    players: int | None = None
    map: str = "classic"
    options: Mapping[str, Any] = field(default_factory=dict)  # of the rules (RULES 13)
    reward: str = "win"
    shaping: float = 0.0  # weight of the potential (risk_training.ppo.potential)
    seed: int = 0
    device: str = "cpu"
    n_timesteps: int = 20_000_000
    n_envs: int = 256
    policy: str = "BoardPolicy"
    policy_kwargs: Mapping[str, Any] = field(default_factory=dict)
    n_steps: int = 128
    batch_size: int = 2048
    n_epochs: int = 3
    gamma: float = 0.999
    gae_lambda: float = 0.95
    learning_rate: float | str = "lin_5e-4"
    clip_range: float | str = 0.2
    clip_range_vf: float | None = None
    normalize_advantage: bool = True
    ent_coef: float = 0.005
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    target_kl: float | None = None
    league: LeagueSettings = field(default_factory=LeagueSettings)
    snapshot_interval: int = 1_000_000  # steps between two snapshots for the league
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)
    checkpoint_interval: int = 250_000  # steps between two checkpoints

    def __post_init__(self) -> None:
        for name in ("n_timesteps", "n_envs", "n_steps", "batch_size", "n_epochs"):
            _check_at_least(name, getattr(self, name), 1)
        for name in ("snapshot_interval", "checkpoint_interval"):
            _check_at_least(name, getattr(self, name), 1)
        if self.policy not in POLICIES:
            raise ValueError(f"policy={self.policy!r} must be one of {', '.join(map(repr, POLICIES))}")
        schedule("learning_rate", self.learning_rate)
        schedule("clip_range", self.clip_range)
        self.rules()

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Sb3Config:
        """A configuration from a file's names and values; ValueError names what is unknown or wrong."""
        checked = _of_known_types(cls, facts, "config")
        if "league" in checked:
            checked["league"] = LeagueSettings.from_dict(checked["league"])
        if "evaluation" in checked:
            checked["evaluation"] = EvaluationSettings(
                **_of_known_types(EvaluationSettings, checked["evaluation"], "evaluation")
            )
        return cls(**checked)

    def to_dict(self) -> dict[str, Any]:
        """Plain names and values, which `from_dict` and YAML read."""
        return _plain(dataclasses.asdict(self))

    def rules(self) -> Rules:
        """The rules that are played."""
        return training_rules(self.preset, self.players, **self.options)


@dataclass(frozen=True)
class GameSettings:
    """The games that an own trainer plays."""

    preset: str = "classic"
    players: int = 2
    map: str = "classic"
    options: Mapping[str, Any] = field(default_factory=dict)  # of the rules (RULES 13)

    def rules(self) -> Rules:
        """The rules that are played."""
        return training_rules(self.preset, self.players, **self.options)


def known_settings(kind: type[Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    """What a file says of an own trainer's settings, lists as tuples; ValueError names what is unknown or no number."""
    given = {name: value for name, value in facts.items() if name != "trainer"}
    checked = _of_known_types(kind, given, "config")
    return {name: tuple(value) if isinstance(value, list) else value for name, value in checked.items()}


def read_config(path: str | Path, **changes: Any) -> dict[str, Any]:
    """The names and values of a configuration file, with those of `changes` that are not None in their place."""
    import yaml

    path = Path(path)
    if not path.is_file():
        raise ValueError(f"config {str(path)!r} does not exist; there are {', '.join(shipped_configs())}")
    try:
        facts = yaml.safe_load(path.read_text())
    except yaml.YAMLError as error:
        raise ValueError(f"config {str(path)!r} is not YAML: {error}") from error
    if not isinstance(facts, dict):
        raise ValueError(f"config {str(path)!r} must hold names and values")
    if facts.get("trainer") not in TRAINERS:
        raise ValueError(f"config {str(path)!r}: trainer={facts.get('trainer')!r} must be one of {', '.join(TRAINERS)}")
    return facts | {name: value for name, value in changes.items() if value is not None}


def write_config(facts: Mapping[str, Any], path: str | Path) -> None:
    """Write names and values as YAML."""
    import yaml

    Path(path).write_text(yaml.safe_dump(dict(facts), sort_keys=False))


def shipped_configs() -> list[str]:
    """Paths of the configurations that come with the project."""
    return [str(path) for path in sorted((Path(__file__).parent / "configs").glob("*.yml"))]


def schedule(name: str, value: float | str) -> float | Schedule:
    """A number, or of `lin_3e-4` a function of what remains of the run (1 ... 0)."""
    if not isinstance(value, str):
        return float(value)
    try:
        first = float(value.removeprefix(LINEAR))
    except ValueError:
        raise ValueError(f"{name}={value!r} must be a number or {LINEAR}NUMBER, as in {LINEAR}3e-4") from None
    return Linear(first) if value.startswith(LINEAR) else first


@dataclass(frozen=True)
class Linear:
    """A schedule that falls from `first` to 0."""

    first: float

    def __call__(self, remaining: float) -> float:
        """The value when this part of the run remains (1 ... 0; less where the last update overshoots the end)."""
        return self.first * max(0.0, remaining)


def _of_known_types(kind: type[Any], facts: Any, section: str) -> dict[str, Any]:
    """The facts, with numbers as numbers: YAML reads 1e6 as a word."""
    if not isinstance(facts, Mapping):
        raise ValueError(f"{section}: {facts!r} must be names and values")
    types = {entry.name: str(entry.type) for entry in dataclasses.fields(kind)}
    unknown = [name for name in facts if name not in types]
    if unknown:
        raise ValueError(f"{section}: {unknown[0]!r} is unknown; known are {', '.join(types)}")
    return {name: _number(f"{section}.{name}", value, types[name]) for name, value in facts.items()}


def _number(name: str, value: Any, kind: str) -> Any:
    """The value as an int or float, where that is what the setting holds."""
    first = kind.partition(" ")[0]
    if first not in ("int", "float") or value is None or (isinstance(value, str) and "str" in kind):
        return value
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}={value!r} must be a number") from None
    if first == "float":
        return number
    if number != int(number):
        raise ValueError(f"{name}={value!r} must be a whole number")
    return int(number)


def _check_at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise ValueError(f"{name}={value!r} must be at least {least}")


def _plain(value: Any) -> Any:
    """Tuples as lists, mappings as dicts."""
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value
