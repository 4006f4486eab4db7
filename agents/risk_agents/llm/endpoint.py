"""Requests to an endpoint with OpenAI's chat API: one answer each, with back-off, counted, no key in errors."""

import json
import re
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from functools import lru_cache
from math import isfinite
from random import uniform
from typing import Any, NamedTuple

from risk_agents.llm.settings import Settings

MOST_WAIT = 60.0  # seconds between two attempts, whatever the endpoint asks for
MOST_CHARACTERS = 100_000  # of an answer that are read
_FENCED = re.compile(r"```[\w-]*\n(.*?)```", re.DOTALL)
_SCHEMA = {
    "type": "object",
    "properties": {"plan": {"type": "string", "description": "actions separated by ;"}},
    "required": ["plan"],
    "additionalProperties": False,
}
_FORMS: dict[str, dict[str, Any]] = {  # how an answer is asked for
    "text": {},
    "tool": {
        "tools": [{"type": "function", "function": {"name": "act", "description": "Play.", "parameters": _SCHEMA}}],
        "tool_choice": {"type": "function", "function": {"name": "act"}},
    },
    "json": {"response_format": {"type": "json_schema", "json_schema": {"name": "act", "schema": _SCHEMA}}},
}


class EndpointError(RuntimeError):
    """The endpoint gave no answer; `kind` is "429", "5xx", "timeout", "connection", "refused" or "garbage".

    `wait` is the number of seconds that it asks to wait (Retry-After).
    """

    def __init__(self, kind: str, reason: str, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.kind, self.wait = kind, wait


class Answer(NamedTuple):
    """What a model answered."""

    text: str  # as it came, cut to MOST_CHARACTERS
    plan: str  # the part of it that is played
    tokens_in: int
    tokens_out: int


class Endpoint:
    """A model behind an endpoint."""

    def __init__(self, model: str, settings: Settings) -> None:
        self.model, self.settings = model, settings
        self._client = _client(settings.base_url, settings.key or "none")

    def ask(self, messages: list[dict[str, str]], count: Callable[[str], None], attempt: int = 0) -> Answer:
        """The model's answer; EndpointError when there is none. `count(kind)` is called for every failed attempt."""
        try:
            return self._once(messages)
        except EndpointError as error:
            count(error.kind)
            if error.kind == "refused" or attempt == self.settings.retries:
                raise
            wait = error.wait
        backoff = self.settings.backoff * 2**attempt * uniform(0.5, 1)  # games that failed together come back apart
        time.sleep(min(MOST_WAIT, max(wait, backoff)))
        return self.ask(messages, count, attempt + 1)

    def _once(self, messages: list[dict[str, str]]) -> Answer:
        import openai

        settings = self.settings
        options = {} if settings.temperature is None else {"temperature": settings.temperature}
        try:
            reply = self._client.chat.completions.create(
                model=self.model,
                messages=messages,
                max_tokens=settings.max_output_tokens,
                timeout=settings.timeout,
                **_FORMS[settings.answer],
                **options,
            )
        except openai.APITimeoutError:
            raise EndpointError("timeout", f"no answer within {settings.timeout:g} s") from None
        except openai.APIStatusError as error:
            wait = wait_of(error.response.headers.get("retry-after", ""))
            kind = "429" if error.status_code == 429 else "5xx" if error.status_code >= 500 else "refused"
            raise EndpointError(kind, self._safe(error), wait) from None
        except (openai.OpenAIError, ValueError, TypeError) as error:
            raise EndpointError("connection", self._safe(error)) from None
        try:
            return _answer(reply)
        except (AttributeError, LookupError, TypeError) as error:  # the client does not check what it gets
            raise EndpointError("garbage", self._safe(error)) from None

    def _safe(self, error: Exception) -> str:
        """An error's text, short and without the key."""
        return self.settings.without_key(f"{type(error).__name__}: {error}")[:500]


def wait_of(retry_after: str) -> float:
    """Seconds from now that a header Retry-After asks for (a number of seconds, or a date), 0 if it is neither."""
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(retry_after).timestamp() - time.time()
        except (ValueError, OverflowError):
            return 0.0
    return max(0.0, seconds) if isfinite(seconds) else 0.0


@lru_cache(maxsize=16)
def _client(base_url: str, key: str) -> Any:
    """A client, shared by all agents and threads of this process; retries are ours, so that they are counted."""
    import openai

    return openai.OpenAI(base_url=base_url, api_key=key, max_retries=0)


def _answer(reply: Any) -> Answer:
    """The answer in a reply, of which any part may be missing."""
    message = reply.choices[0].message if getattr(reply, "choices", None) else None
    calls = getattr(message, "tool_calls", None) or []
    text = str(calls[0].function.arguments if calls else getattr(message, "content", None) or "")[:MOST_CHARACTERS]
    usage = getattr(reply, "usage", None)
    tokens = [getattr(usage, name, 0) or 0 for name in ("prompt_tokens", "completion_tokens")]
    return Answer(text, plan_in(text), *(tokens if all(isinstance(count, int) for count in tokens) else (0, 0)))


def plan_in(text: str) -> str:
    """The plan in an answer: of JSON its `plan`, else what is in the last code fence or after the last `PLAN:`."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict) and isinstance(found.get("plan"), str):
        return found["plan"]
    fenced = _FENCED.findall(text)
    said = fenced[-1] if fenced else text
    _, mark, after = said.rpartition("PLAN:")
    return (after if mark else said).strip()
