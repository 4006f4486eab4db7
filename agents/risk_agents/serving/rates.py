"""Limit requests per address: the rate, and the number of concurrent POST requests."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from ipaddress import IPv6Address, ip_address
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from risk_agents.serving.hosts import POLICY_VIOLATION

MOST_KNOWN = 4096  # maximum number of addresses whose requests are counted
LONGEST_BODY = 1 << 17  # maximum size of a request's body, in bytes; a position has up to 65,536 characters


class Rate:
    """Limit of `a_second` events per second, and of `burst` events at once after a pause."""

    def __init__(self, a_second: float, burst: float) -> None:
        self._a_second, self._burst = a_second, burst
        self._left, self._when = burst, time.monotonic()

    def allows(self) -> bool:
        """Return True and count an event if one more event is within the limit, otherwise return False."""
        now = time.monotonic()
        self._left = min(self._burst, self._left + (now - self._when) * self._a_second)
        self._when = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Rates:
    """Middleware that limits the request rate of each address (`Rate`), and its concurrent POST requests.

    `at_once` is the maximum number of concurrent POST requests.
    """

    def __init__(self, app: ASGIApp, a_second: float, burst: float, at_once: int) -> None:
        self.app, self._a_second, self._burst, self._at_once = app, a_second, burst, at_once
        self._rates: OrderedDict[str, Rate] = OrderedDict()  # by address, in the order of the last request
        self._posts: Counter[str] = Counter()  # number of unfinished POST requests, by address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests within the limits."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        network, posts = network_of(scope.get("client")), scope.get("method") == "POST"
        if not self._may_send(network) or (posts and self._posts[network] >= self._at_once):
            await _refuse(scope, receive, send)
            return
        self._posts[network] += posts
        try:
            await self.app(scope, receive, send)
        finally:
            self._posts[network] -= posts
            if not self._posts[network]:
                del self._posts[network]

    def _may_send(self, network: str) -> bool:
        """Return True and count a request if one more request is within the rate, otherwise return False."""
        rate = self._rates.pop(network, None) or Rate(self._a_second, self._burst)
        self._rates[network] = rate
        if len(self._rates) > MOST_KNOWN:
            self._rates.popitem(last=False)
        return rate.allows()


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": POLICY_VIOLATION})
    else:
        words = {"error": "Too many requests from your address: try again in a second."}
        await JSONResponse(words, 429, {"Retry-After": "1"})(scope, receive, send)


def network_of(client: Any) -> str:
    """Return the IPv4 address or IPv6 /64 network of a client, to which limits apply; "" for no client."""
    if not client:
        return ""
    try:
        address = ip_address(str(client[0]).partition("%")[0])
    except ValueError:
        return str(client[0])
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return str(IPv6Address(int(address) >> 64 << 64))
    return str(getattr(address, "ipv4_mapped", None) or address)
