"""Requests to an endpoint with OpenAI's chat API, with limits, retries, token counts and masked keys."""

import json
import re
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from math import isfinite
from random import uniform
from typing import Any, NamedTuple

from risk_agents.llm.settings import Settings
from risk_agents.llm.transport import Reply, post
from risk_env.bounded_io import parse_json

MOST_WAIT = 60.0  # maximum wait between two attempts, in seconds, even after a longer Retry-After
MOST_DOUBLINGS = 30  # maximum number of doublings of the wait
MOST_CHARACTERS = 100_000  # maximum number of characters that are kept of an answer
PAID = ("timeout", "garbage")  # kinds of failures for which the endpoint may still charge tokens
MOST_REASON = 500  # maximum number of characters of an error's reason
MOST_TOKENS = 10_000_000  # maximum number of tokens of one message
BYTES_OF_TOKEN, MOST_BYTES_OF_TOKEN = 4, 16  # usual number of bytes per token; upper bound on the mean
_FENCED = re.compile(r"```[\w-]*\n(.*?)```", re.DOTALL)
_SCHEMA = {
    "type": "object",
    "properties": {"plan": {"type": "string", "description": "actions separated by ;"}},
    "required": ["plan"],
    "additionalProperties": False,
}
_FORMS: dict[str, dict[str, Any]] = {  # fields of a request by form of the answer
    "text": {},
    "tool": {
        "tools": [
            {"type": "function", "function": {"name": "act", "description": "Play.", "parameters": _SCHEMA}}
        ],
        "tool_choice": {"type": "function", "function": {"name": "act"}},
    },
    "json": {"response_format": {"type": "json_schema", "json_schema": {"name": "act", "schema": _SCHEMA}}},
}


class EndpointError(RuntimeError):
    """Error of an endpoint that gave no valid answer.

    `kind` is "429", "5xx", "timeout", "connection", "refused" or "garbage". `wait` is the endpoint's
    Retry-After in seconds. `tokens` estimates the tokens that the endpoint may charge for the failed request.
    """

    def __init__(self, kind: str, reason: str, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.kind, self.wait, self.tokens = kind, wait, 0


class Answer(NamedTuple):
    """Answer of a language model."""

    text: str  # the answer, with the key masked, cut to MOST_CHARACTERS
    plan: str  # the part of the answer that is played
    tokens_in: int
    tokens_out: int


class Endpoint:
    """Endpoint that provides a language model."""

    def __init__(self, model: str, settings: Settings) -> None:
        self.model, self.settings = model, settings
        self._url = f"{settings.base_url.rstrip('/')}/chat/completions"

    def request(self, messages: list[dict[str, str]], count: Callable[[EndpointError], None]) -> Answer:
        """Return the model's answer, or raise the EndpointError of the last attempt.

        `count` is called with the error of each failed attempt. All attempts and the waits between them end
        within the setting `patience`.
        """
        settings, until, body = self.settings, time.monotonic() + self.settings.patience, self._body(messages)
        for attempt in range(settings.retries + 1):
            try:
                return self._once(body, min(settings.timeout, until - time.monotonic()))
            except EndpointError as error:
                error.tokens = tokens_of(None, len(body)) if error.kind in PAID else 0
                count(error)
                wait, last = self._wait(attempt, error.wait), error
            if last.kind == "refused" or attempt == settings.retries or time.monotonic() + wait >= until:
                break
            time.sleep(wait)
        raise last

    def _wait(self, attempt: int, retry_after: float) -> float:
        """Return the wait before the next attempt, in seconds, with random jitter."""
        backoff = self.settings.backoff * 2 ** min(attempt, MOST_DOUBLINGS) * uniform(0.5, 1)
        return min(MOST_WAIT, max(retry_after, backoff))

    def _once(self, body: bytes, limit: float) -> Answer:
        try:
            reply = post(self._url, self.settings.key or "none", body, limit)
        except TimeoutError:
            raise EndpointError("timeout", f"no answer within {limit:.3g} s") from None
        except ValueError as error:
            raise self._error("garbage", error) from None
        except OSError as error:
            raise self._error("connection", error) from None
        if not 200 <= reply.status < 300:
            raise self._refusal(reply)
        try:
            return self._read(parse_json(reply.body.decode(errors="replace")), len(body))
        except (
            AttributeError,
            LookupError,
            TypeError,
            ValueError,
        ) as error:  # any part may be missing or wrong
            raise self._error("garbage", error) from None

    def _body(self, messages: list[dict[str, str]]) -> bytes:
        settings = self.settings
        options = {} if settings.temperature is None else {"temperature": settings.temperature}
        facts = {"model": self.model, "messages": messages, "max_tokens": settings.max_output_tokens}
        words = json.dumps({**facts, **_FORMS[settings.answer], **options}, ensure_ascii=False)
        return words.encode(errors="replace")

    def _read(self, reply: Any, sent: int) -> Answer:
        """Read the answer to a request of `sent` bytes.

        Raises AttributeError, LookupError, TypeError or ValueError if the reply is not valid.
        """
        message = reply["choices"][0]["message"] if reply.get("choices") else {}
        calls = message.get("tool_calls")
        text = calls[0]["function"]["arguments"] if calls else message.get("content")
        text = text.encode(errors="replace").decode() if isinstance(text, str) else ""
        usage = reply.get("usage") if isinstance(reply.get("usage"), dict) else {}
        tokens_in = tokens_of(usage.get("prompt_tokens"), sent)
        tokens_out = tokens_of(usage.get("completion_tokens"), len(text.encode()))
        text = self.settings.without_key(text)[:MOST_CHARACTERS]
        return Answer(text, plan_in(text), tokens_in, tokens_out)

    def _refusal(self, reply: Reply) -> EndpointError:
        """Return the error for a reply whose status does not indicate success."""
        kind = "429" if reply.status == 429 else "5xx" if reply.status >= 500 else "refused"
        where = " (redirects are not followed: set base_url)" if 300 <= reply.status < 400 else ""
        said = reply.body.decode(errors="replace")
        return self._error(kind, f"status {reply.status}{where}: {said}", wait_of(reply.retry_after))

    def _error(self, kind: str, reason: Exception | str, wait: float = 0.0) -> EndpointError:
        """Return an error with a short reason; the key is masked before the reason is cut."""
        said = reason if isinstance(reason, str) else f"{type(reason).__name__}: {reason}"
        return EndpointError(kind, self.settings.without_key(said)[:MOST_REASON], wait)


def tokens_of(told: Any, size: int) -> int:
    """Return the token count of a text of `size` bytes: the stated count `told`, or an estimate.

    The estimate is used if `told` is impossible. A model that reasons can state more tokens than its answer
    has bytes, but not fewer than one token per 16 bytes.
    """
    can_be = type(told) is int and size // MOST_BYTES_OF_TOKEN <= told <= MOST_TOKENS
    return told if can_be else -(-size // BYTES_OF_TOKEN)


def wait_of(retry_after: str) -> float:
    """Return the wait that a Retry-After header requests, in seconds, or 0 for an invalid header.

    The header contains a number of seconds or a date.
    """
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(retry_after).timestamp() - time.time()
        except (ValueError, OverflowError):
            return 0.0
    return max(0.0, seconds) if isfinite(seconds) else 0.0


def plan_in(text: str) -> str:
    """Return the plan in an answer.

    In a JSON object with a string `plan`, the plan is this string. In any other answer, the plan is the text
    in the last code fence, or the whole text if it has no code fence. If this text contains `PLAN:`, the plan
    is only the part after the last `PLAN:`.
    """
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        parsed = None
    if isinstance(parsed, dict) and isinstance(parsed.get("plan"), str):
        return parsed["plan"]
    fenced = _FENCED.findall(text)
    said = fenced[-1] if fenced else text
    _, mark, after = said.rpartition("PLAN:")
    return (after if mark else said).strip()
