"""Send one JSON request with a limit on the time and on the size of the answer; follow no redirect.

Requests run on an event loop in a separate thread, so that one deadline covers the DNS look-up, the
connection, the headers and the body.
"""

from __future__ import annotations

import asyncio
import os
import threading
from functools import lru_cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import httpx2

MOST_BYTES = 1 << 20  # maximum size of an answer, in bytes
_starting = threading.Lock()


class Reply(NamedTuple):
    """Reply of the endpoint."""

    status: int
    retry_after: str  # value of the header Retry-After, or ""
    body: bytes


def post(url: str, key: str, body: bytes, limit: float) -> Reply:
    """Send a request and read the reply within `limit` seconds in total; follow no redirect.

    Raises TimeoutError after that time, ValueError for a reply that is too large or compressed, and OSError
    if the connection fails.
    """
    with _starting:
        loop, client = _loop(os.getpid())
    future = asyncio.run_coroutine_threadsafe(_post(client, url, key, body, limit), loop)
    try:
        return future.result()
    finally:
        future.cancel()  # needed after Ctrl-C


@lru_cache(maxsize=1)
def _loop(process: int) -> tuple[asyncio.AbstractEventLoop, httpx2.AsyncClient]:
    """Return the event loop of the process with the ID `process`, and one client without cookies."""
    import httpx2

    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="risk_env requests", daemon=True).start()
    cookies = CookieJar(DefaultCookiePolicy(allowed_domains=()))
    return loop, httpx2.AsyncClient(cookies=cookies, limits=httpx2.Limits(max_connections=None))


async def _post(client: httpx2.AsyncClient, url: str, key: str, body: bytes, limit: float) -> Reply:
    import httpx2

    headers = {
        "Authorization": f"Bearer {key}",
        "Content-Type": "application/json",
        "Accept-Encoding": "identity",
    }
    try:
        async with asyncio.timeout(limit):
            request = client.stream(
                "POST", url, content=body, headers=headers, timeout=None, follow_redirects=False
            )
            async with request as response:
                return Reply(
                    response.status_code, response.headers.get("retry-after", ""), await _body(response)
                )
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise ConnectionError(f"{type(error).__name__}: {error}") from None


async def _body(response: httpx2.Response) -> bytes:
    """Read the body in pieces, so that a body that is too large never fills the memory."""
    coding = response.headers.get("content-encoding", "identity")
    if coding.strip().lower() not in ("identity", ""):
        raise ValueError("the answer is compressed; the request allows only an uncompressed answer")
    content = bytearray()
    async for piece in response.aiter_raw():
        content += piece
        if len(content) > MOST_BYTES:
            raise ValueError(f"the answer has more than {MOST_BYTES:,} bytes")
    return bytes(content)
