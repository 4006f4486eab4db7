"""Settings of training runs: what all trainers share, and YAML files in the shape of Stable-Baselines3's zoo."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

from risk_env.board.rules import Rules
from risk_env.doors.seat_lanes import training_rules
from risk_env.lanes import check_choice
from risk_env.untrusted import MOST_NESTING, read_text, shortened

CHECKPOINT, METRICS = "checkpoint.pt", "metrics.jsonl"  # files in the folder of a run
WIN_RATE = "eval/win_rate_"  # how the metrics of evaluations begin; the opponent's name follows
AUTO, FLOAT32, BFLOAT16 = "auto", "float32", "bfloat16"
PRECISIONS = (FLOAT32, BFLOAT16, AUTO)
MOST_BYTES = 1 << 14  # of a configuration
MOST = 2**63  # of a whole number in it
# The modules of the trainers; each has a `Config` and a `Trainer`
TRAINERS = {
    "sb3": "risk_training.sb3_trainer",
    "selfplay": "risk_training.ppo",
    "value": "risk_training.values",
    "table_value": "risk_training.table_values",
    "plan_policy": "risk_training.plan_policies",
}


@dataclass(frozen=True)
class EvaluationSettings:
    """Games against fixed scripted opponents at intervals, all seats in turn."""

    opponents: tuple[str, ...] = ("random", "attacker", "grower")
    games: int = 200  # against each
    interval: int = 500_000  # steps between two evaluations

    def __post_init__(self) -> None:
        check_range("evaluation.games", self.games, 1)
        check_range("evaluation.interval", self.interval, 1)


@dataclass(frozen=True)
class RunSettings:
    """What all trainers share. A step is a decision of the learner; for `trainer: value` it is a game."""

    TRAINER: ClassVar[str]
    LENGTH: ClassVar[str]  # the setting that holds the number of steps
    OLD_NAMES: ClassVar[Mapping[str, str]] = {}  # names of earlier versions, for errors

    preset: str = "classic"
    players: int | None = 2
    map: str = "classic"
    options: Mapping[str, Any] = field(default_factory=dict)  # of the rules (RULES 13)
    seed: int = 0
    device: str = "cpu"  # where the network learns: auto, cpu, cuda, cuda:N or mps
    precision: str = FLOAT32  # of its products
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)
    checkpoint_interval: int = 1_000_000  # steps between two checkpoints

    def __post_init__(self) -> None:
        check_range("checkpoint_interval", self.checkpoint_interval, 1)
        check_choice("precision", self.precision, PRECISIONS)
        self.rules()

    @property
    def length(self) -> int:
        """Steps of the whole run."""
        return int(getattr(self, self.LENGTH))

    def rules(self) -> Rules:
        """The rules of the games."""
        return training_rules(self.preset, self.players, **self.options)

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Settings from a file's names and values; ValueError names what is unknown or wrong."""
        for old, name in cls.OLD_NAMES.items():
            if old in facts:
                raise ValueError(f"config: {old!r} is now {name!r} (training/README.md)")
        return _replaced(cls(), {name: value for name, value in facts.items() if name != "trainer"}, "config")

    def to_dict(self) -> dict[str, Any]:
        """Plain names and values, which `from_dict` and YAML read."""
        return {"trainer": self.TRAINER} | _plain(dataclasses.asdict(self))


def _replaced(settings: Any, facts: Any, section: str) -> Any:
    """Settings with the values of a file; sections in it too."""
    if not isinstance(facts, Mapping):
        raise ValueError(f"{section}: {shortened(facts)} must be names and values")
    types = {entry.name: str(entry.type) for entry in dataclasses.fields(settings)}
    changes = {}
    for name, value in facts.items():
        if name not in types:
            raise ValueError(f"{section}: {shortened(name)} is unknown; known are {', '.join(types)}")
        inner = getattr(settings, name)
        is_section = dataclasses.is_dataclass(inner)
        changes[name] = _replaced(inner, value, name) if is_section else _typed(f"{section}.{name}", value, types[name])
    return dataclasses.replace(settings, **changes)


def _typed(name: str, value: Any, kind: str) -> Any:
    """The value as the type of its setting: YAML reads 1e6 as text, and has no tuples."""
    kinds = kind.split(" | ")
    if (value is None and "None" in kinds) or (isinstance(value, str) and "str" in kinds):
        return value
    if kind.startswith("tuple"):
        inner = kind.removeprefix("tuple[").partition(",")[0]
        parts = enumerate(_checked(name, value, isinstance(value, list | tuple), "a list"))
        return tuple(_typed(f"{name}[{place}]", part, inner) for place, part in parts)
    if kind.startswith("Mapping"):
        has_names = isinstance(value, Mapping) and all(isinstance(key, str) for key in value)
        return _checked(name, value, has_names, "names and values")
    if kinds[0] == "str":
        return _checked(name, value, False, "a text")
    if kinds[0] == "bool":
        return _checked(name, value, isinstance(value, bool), "true or false")
    return _typed_number(name, value, kinds[0])


def _checked(name: str, value: Any, is_right: bool, allowed: str) -> Any:
    if not is_right:
        raise ValueError(f"{name}={shortened(value)} must be {allowed}")
    return value


def _typed_number(name: str, value: Any, kind: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    _checked(name, value, math.isfinite(number) and not isinstance(value, bool), "a number")
    if kind == "float":
        return number
    _checked(name, value, number == int(number) and abs(number) < MOST, f"a whole number below {MOST}")
    return value if isinstance(value, int) else int(number)


def _plain(value: Any) -> Any:
    """Tuples as lists, mappings as dicts."""
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def check_range(name: str, value: float, least: float, most: float | None = None) -> None:
    """ValueError for a setting below `least` or above `most`."""
    if value < least or (most is not None and value > most):
        allowed = f"at least {least}" if most is None else f"{least} ... {most}"
        raise ValueError(f"{name}={value!r} must be {allowed}")


def read_config(path: str | Path, **changes: Any) -> dict[str, Any]:
    """The names and values of a configuration file, with those of `changes` that are not None in their place."""
    import yaml

    path = Path(path)
    if not path.is_file():
        raise ValueError(f"config {str(path)!r} does not exist; there are {', '.join(shipped_configs())}")
    try:
        facts = yaml.load(read_text(path, MOST_BYTES), _reader())  # a SafeLoader
    except (yaml.YAMLError, ValueError, TypeError, LookupError, RecursionError) as error:
        raise ValueError(f"config {str(path)!r} is not YAML: {error}") from error
    if not isinstance(facts, dict):
        raise ValueError(f"config {str(path)!r} must hold names and values")
    trainer = facts.get("trainer")
    if not isinstance(trainer, str) or trainer not in TRAINERS:
        raise ValueError(f"config {str(path)!r}: trainer={shortened(trainer)} must be one of {', '.join(TRAINERS)}")
    return facts | {name: value for name, value in changes.items() if value is not None}


def _reader() -> Any:
    """YAML's safe reader without aliases, by which a short text can stand for any number of values.

    Brackets are counted as they are met: its time for each token grows with the brackets that are open.
    """
    import yaml

    class Reader(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise yaml.YAMLError("aliases (*name) are not allowed")
            return super().compose_node(parent, index)

        def fetch_flow_collection_start(self, kind: Any) -> None:
            if self.flow_level >= MOST_NESTING:
                raise yaml.YAMLError(f"more than {MOST_NESTING} levels of brackets")
            super().fetch_flow_collection_start(kind)

    return Reader


def shipped_configs() -> list[str]:
    """Paths of the configurations that come with the project."""
    return [str(path) for path in sorted((Path(__file__).parent / "configs").glob("*.yml"))]
