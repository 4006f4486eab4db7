"""Settings of `llm:MODEL` agents, such as the endpoint and limits, from a TOML file and the environment.

The environment variable `RISK_ENV_LLM` names the file. The key comes only from the environment variable that
`key_variable` names. The key is masked in transcripts and error messages (`masking`).
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from risk_agents.llm.masking import masked
from risk_env.arguments import check_choice
from risk_env.bounded_io import read_text
from risk_env.messages import shortened
from risk_env.words.report import STYLES

FILE_VARIABLE = "RISK_ENV_LLM"
URL_VARIABLE = "OPENAI_BASE_URL"
MOST_BYTES = 1 << 20  # maximum size of the file, in bytes
MOST = 10**9  # largest value of a limit or a price
ANSWERS = ("text", "tool", "json")


@dataclass(frozen=True)
class Settings:
    """Settings of all models, or of one model (a table `[models."NAME"]` in the file)."""

    base_url: str = "https://api.openai.com/v1"
    key_variable: str = "OPENAI_API_KEY"  # environment variable with the key; if unset, "none" is sent
    answer: str = "text"  # form of the answer: text, tool call, or JSON by a schema
    style: str = "brief"  # style of the reports
    prompts: str = "v1"  # folder of prompts
    temperature: float | None = None  # None: the endpoint's default
    max_output_tokens: int = 1000  # maximum number of tokens of one answer
    timeout: float = 60.0  # time limit per request, from the DNS look-up to the last byte, in seconds
    patience: float = 300.0  # time limit per answer, including all retries and waits, in seconds
    retries: int = 4  # maximum number of retries after a failed request
    backoff: float = 1.0  # seconds before the first retry, without jitter; doubled for each further retry
    attempts: int = 3  # maximum number of answers to one decision; then the fallback plays
    game_tokens: int = 1_000_000  # maximum number of tokens of a game; then the fallback plays
    game_money: float = 10.0  # maximum cost of a game, if prices are set; then the fallback plays
    price_in: float = 0.0  # price of a million input tokens
    price_out: float = 0.0  # price of a million output tokens
    transcripts: str = ""  # folder of the transcripts; "" for none

    def __post_init__(self) -> None:
        for name, allowed in (("answer", ANSWERS), ("style", tuple(STYLES))):
            check_choice(name, getattr(self, name), allowed)
        for name in ("max_output_tokens", "timeout", "patience", "attempts", "game_tokens"):
            if not 0 < getattr(self, name) <= MOST:
                raise ValueError(
                    f"{name}={shortened(getattr(self, name))}: must be above 0 and at most {MOST:,}"
                )
        for name in ("temperature", "retries", "backoff", "game_money", "price_in", "price_out"):
            value = getattr(self, name)
            if not ((name == "temperature" and value is None) or 0 <= value <= MOST):
                raise ValueError(f"{name}={shortened(getattr(self, name))}: must be from 0 to {MOST:,}")
        if not self.base_url.startswith(("http://", "https://")):
            # the message does not contain the value, which may contain a password
            raise ValueError(
                "base_url must begin with http:// or https:// (the environment variable "
                f"{URL_VARIABLE} takes precedence)"
            )
        if not (self.key.isascii() and self.key.isprintable() and " " not in self.key):
            raise ValueError(
                f"the key in {self.key_variable} must be printable ASCII characters without spaces"
            )

    @cached_property
    def key(self) -> str:
        """API key, or "" if there is none."""
        return os.environ.get(self.key_variable, "").strip()

    def without_key(self, words: str) -> str:
        """Return a string in which the key is masked (`masked`)."""
        return masked(words, self.key)

    def price(self, tokens_in: int, tokens_out: int) -> float:
        """Return the total price of input tokens and output tokens."""
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1e6


def settings_for(model: str) -> Settings:
    """Return the settings of a model.

    Later sources override earlier ones: defaults, the file, the model's table in the file, `OPENAI_BASE_URL`.
    """
    facts: dict[str, Any] = {}
    if path := os.environ.get(FILE_VARIABLE):
        facts = _read(Path(path), model)
    if URL_VARIABLE in os.environ:
        facts["base_url"] = os.environ[URL_VARIABLE]
    return Settings(**facts)


def _read(path: Path, model: str) -> dict[str, Any]:
    try:
        facts = tomllib.loads(read_text(path, MOST_BYTES))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    models = facts.pop("models", {})
    own = models.get(model, {}) if isinstance(models, Mapping) else None
    if not isinstance(own, Mapping):
        raise ValueError(f"{path}: models must contain tables, such as [models.{model!r}]")
    return _checked({**facts, **own}, path)


def _checked(facts: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return the settings of a file; raise ValueError if a setting is unknown or has a wrong type."""
    defaults = {field.name: field.default for field in fields(Settings)}
    for name, value in facts.items():
        if name not in defaults:
            raise ValueError(f"{path}: unknown setting {shortened(name)}; allowed: {', '.join(defaults)}")
        kind = float if defaults[name] is None else type(defaults[name])
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (is_number if kind is float else isinstance(value, kind) and not isinstance(value, bool)):
            raise ValueError(f"{path}: {name}={shortened(value)}: must be of type {kind.__name__}")
    return facts
