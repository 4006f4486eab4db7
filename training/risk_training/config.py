"""Settings shared by all trainers, and YAML files with settings."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

from risk_agents.rules_arguments import OWN
from risk_env.board.rules import FAST, PROFILES, Rules
from risk_env.bounded_io import MOST_NESTING, read_text
from risk_env.core.types import MAX_SEATS, Phase
from risk_env.messages import shortened, suggestion

WIN_RATE = "eval/win_rate_"  # prefix of the evaluation metrics; the opponent's name follows
AUTO, FLOAT32, BFLOAT16 = "auto", "float32", "bfloat16"
PRECISIONS = (FLOAT32, BFLOAT16, AUTO)
TENSORBOARD_TRACKER = "tensorboard"
TRACKERS = (TENSORBOARD_TRACKER, "wandb", "trackio")
MOST_BYTES = 1 << 14  # largest size of a configuration, in bytes
MOST_LETTERS = 80  # maximum number of characters of an unknown name that are compared with the known names
MOST_STEPS = 10**12  # maximum number of steps of a run, and between two evaluations, checkpoints or snapshots
MOST_LANES = 1 << 14  # largest number of lanes of an actor, of steps of a rollout, and of games per chunk
MOST_GAMES = 10**6  # maximum number of games per training round
MOST_BATCH = 1 << 20  # largest minibatch size
MOST_WIDTH = 1024  # largest layer width; the time to initialise a layer grows with the cube of its width
RATES = 1e-9, 1  # range of learning rates
MOST_SEED = 2**32 - 1  # largest seed of NumPy's legacy generator, which Stable-Baselines3 uses
MOST_ROUNDS = 10**6  # upper limit of `PositionSettings.rounds`
PHASES = tuple(phase.name.lower() for phase in Phase if phase < Phase.OVER)
LEAST, MOST = "least", "most"  # keys in the metadata of a setting
CHOICES, LENGTH = "choices", "length"
# modules of the trainers; each module has a `Config` and a `Trainer`
TRAINERS = {
    "sb3": "risk_training.sb3_trainer",
    "selfplay": "risk_training.ppo",
    "beam_value": "risk_training.beam_value",
    "state_value": "risk_training.state_value",
    "turn_policy": "risk_training.turn_policy",
    "imitation": "risk_training.imitation",
}


def setting(
    default: Any,
    least: float | None = None,
    most: float | None = None,
    *,
    choices: Any = None,
    length: Any = None,
) -> Any:
    """Declare a field of `Settings`: its default and the allowed values.

    `least` and `most` bound a number, or each number in a list. `choices` are the allowed values. `length` is
    the range of allowed list lengths.
    """
    return field(default=default, metadata={LEAST: least, MOST: most, CHOICES: choices, LENGTH: length})


NAMES = {"length": range(65)}  # for a list of names: allowed lengths
TWO = range(2, 3)  # for a list of two entries: allowed lengths


@dataclass(frozen=True)
class Settings:
    """A group of settings. Creating an object checks each value against the declaration of its field."""

    SECTION: ClassVar[str] = ""  # prefix of setting names in errors

    def __post_init__(self) -> None:
        for entry in dataclasses.fields(self):
            _check_setting(self.SECTION + entry.name, getattr(self, entry.name), entry.metadata)

    @classmethod
    def from_facts(cls, facts: Any, name: str) -> Self:
        """Return the settings from a mapping of names to values.

        Raises ValueError, which names the unknown or wrong setting. `name` denotes the whole group of
        settings in error messages.
        """
        return _replaced(cls(), facts, name)


def _check_setting(name: str, value: Any, allowed: Mapping[str, Any]) -> None:
    """Raise ValueError if the declaration of a setting does not allow this value."""
    parts = (
        {f"{name}[{place}]": part for place, part in enumerate(value)}
        if isinstance(value, tuple)
        else {name: value}
    )
    lengths = allowed.get(LENGTH)
    if lengths is not None and len(parts) not in lengths:
        raise ValueError(f"{name}={shortened(value)}: must have {_span(min(lengths), max(lengths))} entries")
    for part_name, part in parts.items():
        if allowed.get(CHOICES) and part not in allowed[CHOICES]:
            choices = ", ".join(map(repr, allowed[CHOICES]))
            raise ValueError(f"{part_name}={shortened(part)}: choose one of {choices}")
        if allowed.get(LEAST) is not None and part is not None:
            check_range(part_name, part, allowed[LEAST], allowed[MOST])


@dataclass(frozen=True)
class EvaluationSettings(Settings):
    """Settings of the periodic evaluations against fixed opponents.

    In each game, the trained agent plays one seat, and one opponent plays all other seats. The trained agent
    plays every seat equally often.
    """

    SECTION: ClassVar[str] = "evaluation."

    opponents: tuple[str, ...] = setting(("random", "attacker", "grower"), **NAMES)
    games: int = setting(200, 1, 10**6)  # games against each opponent
    interval: int = setting(500_000, 1, MOST_STEPS)  # steps between two evaluations


@dataclass(frozen=True)
class PositionSettings(Settings):
    """Start positions of training games (`risk_training.position_files`)."""

    SECTION: ClassVar[str] = "positions."

    path: str = ""  # file or folder of position texts and saved games; "": games begin with the set-up
    share: float = setting(1.0, 1e-3, 1)  # share of the games that begin at a position
    phase: str = setting("draft", choices=PHASES)  # saved games: phase of the positions
    # saved games: first and last round of the positions
    rounds: tuple[int, ...] = setting((1, MOST_ROUNDS), 0, MOST_ROUNDS, length=TWO)


@dataclass(frozen=True)
class RunSettings(Settings):
    """Settings that all trainers share.

    A step is a decision of the learner for `sb3` and `selfplay`, and a game for all other trainers.
    """

    TRAINER: ClassVar[str]
    LENGTH: ClassVar[str]  # name of the setting with the number of steps

    preset: str = "classic"
    players: int | None = setting(None, 2, MAX_SEATS)
    map: str = "classic"
    expert: bool = False  # play the variations for experts (RULES 10.1-10.5)
    profile: str = setting(FAST, choices=tuple(PROFILES))  # profile of the rules (RULES 12.1)
    options: Mapping[str, Any] = field(default_factory=dict)  # options of the rules (RULES 13)
    seed: int = setting(0, 0, MOST_SEED)
    device: str = "cpu"  # device of the network: auto, cpu, cuda, cuda:N or mps
    precision: str = setting(FLOAT32, choices=PRECISIONS)  # matmul precision
    tracker: str = setting(TENSORBOARD_TRACKER, choices=TRACKERS)
    begin_with: str | None = None  # trained file, or agent, whose weights are the initial weights
    positions: PositionSettings = field(default_factory=PositionSettings)
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)
    checkpoint_interval: int = setting(1_000_000, 1, MOST_STEPS)  # steps between two checkpoints

    def __post_init__(self) -> None:
        super().__post_init__()
        for option in OWN.keys() & self.options:
            raise ValueError(f"options={{{option!r}: ...}}: use the setting {OWN[option]!r} instead")
        self.rules()

    @property
    def length(self) -> int:
        """Number of steps of the whole run."""
        return int(getattr(self, self.LENGTH))

    def rules(self) -> Rules:
        """Return the rules of the games."""
        return self.rules_for(self.players)

    def rules_for(self, players: int | None) -> Rules:
        """Return the rules of games with this number of players."""
        return Rules.preset(self.preset, players, self.expert, self.profile, **self.options)

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Return the settings from the mapping in a configuration file.

        Raises ValueError, which names the unknown or wrong setting.
        """
        return cls.from_facts({name: value for name, value in facts.items() if name != "trainer"}, "config")

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as a dict that `from_dict` can read and YAML can store."""
        return {"trainer": self.TRAINER} | _plain(dataclasses.asdict(self))


@dataclass(frozen=True)
class NetworkSettings(RunSettings):
    """Settings that the project's own trainers share, in addition to `RunSettings`."""

    # decay of the averaged weights, which are evaluated and written to the trained file; 0: no averaging
    ema_decay: float = setting(0.0, 0, 0.99999)


def _replaced(settings: Any, facts: Any, section: str) -> Any:
    """Return settings with the values of a file, including the values in its sections."""
    if not isinstance(facts, Mapping):
        raise ValueError(f"{section}: {shortened(facts)} is not a mapping of names to values")
    types = {entry.name: str(entry.type) for entry in dataclasses.fields(settings)}
    check_names(section, facts, types)
    changes = {}
    for name, value in facts.items():
        inner = getattr(settings, name)
        is_section = dataclasses.is_dataclass(inner)
        changes[name] = (
            _replaced(inner, value, name)
            if is_section
            else _typed(f"{settings.SECTION}{name}", value, types[name])
        )
    return dataclasses.replace(settings, **changes)


def _typed(name: str, value: Any, kind: str) -> Any:
    """Return a value, converted to the type of its setting.

    YAML reads 1e6 as a string and has no tuples. Raises ValueError if the value cannot be converted.
    """
    kinds = kind.split(" | ")
    if (value is None and "None" in kinds) or (isinstance(value, str) and "str" in kinds):
        return value
    if kind.startswith("tuple"):
        inner = kind.removeprefix("tuple[").partition(",")[0]
        parts = enumerate(_checked(name, value, isinstance(value, list | tuple), "a list"))
        return tuple(_typed(f"{name}[{place}]", part, inner) for place, part in parts)
    if kind.startswith("Mapping"):
        has_names = isinstance(value, Mapping) and all(isinstance(key, str) for key in value)
        return _checked(name, value, has_names, "a mapping of names to values")
    if kinds[0] == "str":
        return _checked(name, value, False, "a string")
    if kinds[0] == "bool":
        return _checked(name, value, isinstance(value, bool), "true or false")
    return typed_number(name, value, kinds[0])


def _checked(name: str, value: Any, is_right: bool, allowed: str) -> Any:
    if not is_right:
        raise ValueError(f"{name}={shortened(value)}: must be {allowed}")
    return value


def typed_number(name: str, value: Any, kind: str) -> float:
    """Return a number from YAML as `kind`, "int" or "float". Raises ValueError for any other value."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    _checked(name, value, math.isfinite(number) and not isinstance(value, bool), "a number")
    if kind == "float":
        return number
    _checked(name, value, number == int(number), "a whole number")
    return value if isinstance(value, int) else int(number)


def _plain(value: Any) -> Any:
    """Convert tuples to lists and mappings to dicts, at all levels."""
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def check_range(name: str, value: float, least: float, most: float) -> None:
    """Raise ValueError unless `value` is from `least` to `most`; the error names the setting `name`."""
    if not least <= value <= most:
        raise ValueError(f"{name}={shortened(value)}: must be {_span(least, most)}")


def _span(least: float, most: float) -> str:
    first, last = (f"{int(bound):,}" if bound == int(bound) else f"{bound:g}" for bound in (least, most))
    return first if first == last else f"{first} to {last}"


def check_names(name: str, facts: Collection[Any], allowed: Collection[str]) -> None:
    """Raise ValueError for an unknown name. The error suggests a similar allowed name, if there is one."""
    if strange := [each for each in facts if each not in allowed]:
        hint = suggestion(str(strange[0])[:MOST_LETTERS], allowed)
        raise ValueError(f"{name}: {shortened(strange[0])} is unknown{hint}; allowed: {', '.join(allowed)}")


def difference(name: str, there: Any, wanted: Any) -> str:
    """Describe the first difference between two values of the setting `name`.

    Inside mappings, the result names the key: `league.power=1.0, not 2.0`.
    """
    if isinstance(there, Mapping) and isinstance(wanted, Mapping):
        for key in sorted({*there, *wanted}, key=str):
            if there.get(key) != wanted.get(key):
                return difference(f"{name}.{key}", there.get(key), wanted.get(key))
    return f"{name}={shortened(there)}, not {shortened(wanted)}"


def set_value(facts: dict[str, Any], text: str) -> None:
    """Set a value of a configuration, given as a string `KEY=VALUE`.

    VALUE is written in YAML. A key may be `section.key`. Raises ValueError for a string of another form.
    `Settings` checks the key and the value later.
    """
    key, equals, written = text.partition("=")
    if not equals or not all(key.strip().split(".")):
        raise ValueError(f"--set {shortened(text)}: must be KEY=VALUE")
    put_value(facts, key.strip(), _parsed(written, f"--set {shortened(key)}"), "--set")


def put_value(facts: dict[str, Any], key: str, value: Any, source: str) -> None:
    """Set a value of a configuration. A key may be `section.key`.

    Sections are copied before they are changed. Raises ValueError, with a message that begins with `source`,
    if a part of the key names a value that is not a section, or if the key is "trainer".
    """
    if key == "trainer":
        raise ValueError(f"{source} trainer: cannot be changed; use a configuration of another trainer")
    *sections, name = key.split(".")
    for section in sections:
        inner = facts.get(section)
        if inner is not None and not isinstance(inner, Mapping):
            raise ValueError(f"{source} {shortened(key)}: {shortened(section)} is not a section")
        facts[section] = dict(inner or {})
        facts = facts[section]
    facts[name] = value


def read_config(path: str | Path, **changes: Any) -> dict[str, Any]:
    """Return the settings of a configuration file, overridden by the `changes` that are not None.

    Raises ValueError for a missing or malformed file, and for an unknown trainer.
    """
    path = Path(path)
    if not path.is_file():
        names = [Path(shipped).stem for shipped in shipped_configs()]
        raise ValueError(
            f"config {str(path)!r} does not exist{suggestion(path.stem, names)}; allowed: the path of a "
            f"file, or one of {', '.join(names)}"
        )
    facts = read_names(path, f"config {str(path)!r}")
    trainer = facts.get("trainer")
    if not isinstance(trainer, str) or trainer not in TRAINERS:
        raise ValueError(
            f"config {str(path)!r}: trainer={shortened(trainer)}: choose one of {', '.join(TRAINERS)}"
        )
    return facts | {name: value for name, value in changes.items() if value is not None}


def read_names(path: Path, name: str) -> dict[str, Any]:
    """Return the mapping that a YAML file contains.

    Raises ValueError, with a message that begins with `name`, if the file does not contain a mapping.
    """
    try:
        text = read_text(path, MOST_BYTES)
    except ValueError as error:
        raise ValueError(f"{name} cannot be read as YAML: {error}") from error
    facts = _parsed(text, name)
    if not isinstance(facts, dict):
        raise ValueError(f"{name} must contain a mapping of names to values")
    return facts


def _parsed(text: str, name: str) -> Any:
    """Return the value of YAML text.

    Raises ValueError, with a message that begins with `name`, if the text is not YAML or is not allowed.
    """
    import yaml

    try:
        return yaml.load(text, _reader())  # a subclass of SafeLoader
    except (yaml.YAMLError, ValueError, TypeError, LookupError, RecursionError) as error:
        raise ValueError(f"{name} cannot be read as YAML: {error}") from error


def _reader() -> Any:
    """Return a subclass of PyYAML's `SafeLoader` that rejects dangerous or misleading files.

    Aliases are rejected, because a short text with aliases can expand without bound. Duplicate keys in one
    mapping and merges (`<<`) are rejected, because a reader could not see which value counts. The nesting of
    brackets is limited during loading, because the loader's time per token grows with the number of open
    brackets.
    """
    import yaml

    class Reader(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise yaml.YAMLError("aliases (*name) are not allowed")
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            entries = node.value if isinstance(node, yaml.MappingNode) else ()
            names = Counter(key.value for key, _ in entries if isinstance(key, yaml.ScalarNode))
            if "<<" in names:
                raise yaml.YAMLError("merges (<<) are not allowed")
            if twice := [name for name, times in names.items() if times > 1]:
                raise yaml.YAMLError(f"the key {shortened(twice[0])} is given twice")
            return super().construct_mapping(node, deep)

        def fetch_flow_collection_start(self, kind: Any) -> None:
            if self.flow_level >= MOST_NESTING:
                raise yaml.YAMLError(f"too many levels of brackets: at most {MOST_NESTING} are allowed")
            super().fetch_flow_collection_start(kind)

    return Reader


def shipped_configs() -> list[str]:
    """Return the paths of the configurations that come with the project."""
    return [str(path) for path in sorted((Path(__file__).parent / "configs").glob("*.yml"))]
