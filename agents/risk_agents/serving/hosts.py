"""Check the host name and the origin of requests.

A page of another site can make a browser send requests to this server. Such requests name the page's origin
(cross-origin requests), or a host name of the site that resolves to this machine (DNS rebinding). Both kinds
of requests are refused before any other check.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Collection, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "::1")
POLICY_VIOLATION = 1008  # WebSocket close code
_NAME = re.compile(r"[a-z0-9]([a-z0-9._-]{0,251}[a-z0-9])?")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?")  # allowed value of the header Host


class NamedHosts:
    """Middleware that refuses requests for host names outside `names`, and from pages of other origins.

    The address to which a client is connected is always allowed as a host name, because no other site has
    this address.
    """

    def __init__(self, app: ASGIApp, names: Collection[str]) -> None:
        self.app, self._names = app, frozenset(names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on allowed requests."""
        problem = self._problem(scope) if scope["type"] in ("http", "websocket") else None
        if problem is None:
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
        else:
            await PlainTextResponse(problem[1], problem[0])(scope, receive, send)

    def _problem(self, scope: Scope) -> tuple[int, str] | None:
        """Return the status and the message of a refusal, or None for an allowed request."""
        hosts = [value.lower() for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or not self._is_named(hosts[0].decode("latin-1"), scope.get("server")):
            return 400, "This host name is not allowed; add it with `--allowed-host NAME`."
        origins = [value.lower() for name, value in scope["headers"] if name == b"origin"]
        if not {b"http://" + hosts[0], b"https://" + hosts[0]}.issuperset(origins):
            return 403, "Requests from pages of other origins are refused."
        return None

    def _is_named(self, host: str, server: Any) -> bool:
        match = _HOST.fullmatch(host)
        if match is None:
            return False
        name = match[1].strip("[]")
        address = _address(name)
        return name in self._names or (
            address is not None and bool(server) and address == _address(server[0])
        )


def served_names(host: str, allowed: Sequence[str]) -> list[str]:
    """Return the host names of a server that listens on the address `host`.

    The names are `localhost`, the names in `allowed` and, if other machines can connect, `host` and the names
    of this machine. Raises ValueError if a name in `allowed` is not a host name.
    """
    for name in allowed:
        if not (_NAME.fullmatch(name.lower()) or _address(name)):
            raise ValueError(
                f"--allowed-host {name!r}: must be a host name or an address; patterns are not allowed"
            )
    machine = socket.gethostname().lower()
    own = [] if host in LOOPBACK else [host, machine, f"{machine}.local"]
    return ["localhost", *(str(_address(name) or name.lower()) for name in (*allowed, *own) if name)]


def url(host: str, port: int, path: str = "") -> str:
    """Return the URL of the page `path`, with brackets around an IPv6 address."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/{path}"


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """Return the IP address in `text`, or None; convert an IPv4-mapped IPv6 address to IPv4."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
