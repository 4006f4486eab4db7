"""Names under which a server may be called, and the pages that may send to it.

A page of another site can make a browser send requests here: under this server's name (cross-origin), or under a name
of its own that leads to this machine (DNS rebinding). Both are refused before anything else looks at the request.
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
POLICY_VIOLATION = 1008  # the code with which a socket is closed
_NAME = re.compile(r"[a-z0-9]([a-z0-9._-]{0,251}[a-z0-9])?")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?")  # of the header


class NamedHosts:
    """Refuses requests under host names that are not `names`, and requests from pages of other origins.

    The address that a client has connected to is always a name: no other site can be reached under it.
    """

    def __init__(self, app: ASGIApp, names: Collection[str]) -> None:
        self.app, self._names = app, frozenset(names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what may come in."""
        problem = self._problem(scope) if scope["type"] in ("http", "websocket") else None
        if problem is None:
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
        else:
            await PlainTextResponse(problem[1], problem[0])(scope, receive, send)

    def _problem(self, scope: Scope) -> tuple[int, str] | None:
        """Status and words of a refusal, None for a request that is passed on."""
        hosts = [value.lower() for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or not self._is_named(hosts[0].decode("latin-1"), scope.get("server")):
            return 400, "This server does not answer under this host name; `--allowed-host NAME` adds a name."
        origins = [value.lower() for name, value in scope["headers"] if name == b"origin"]
        if not {b"http://" + hosts[0], b"https://" + hosts[0]}.issuperset(origins):
            return 403, "Requests from pages of other origins are refused."
        return None

    def _is_named(self, host: str, server: Any) -> bool:
        found = _HOST.fullmatch(host)
        if found is None:
            return False
        name = found[1].strip("[]")
        address = _address(name)
        return name in self._names or (address is not None and bool(server) and address == _address(server[0]))


def served_names(host: str, allowed: Sequence[str]) -> list[str]:
    """The names of a server that listens on the address `host`; ValueError for an allowed name that is none.

    These are `localhost`, `allowed` and, unless only this machine can connect, the machine's own name.
    """
    for name in allowed:
        if not (_NAME.fullmatch(name.lower()) or _address(name)):
            raise ValueError(f"allowed-host={name!r}: must be a host name or an address; patterns are not allowed")
    machine = socket.gethostname().lower()
    own = [] if host in LOOPBACK else [host, machine, f"{machine}.local"]
    return ["localhost", *(str(_address(name) or name.lower()) for name in (*allowed, *own) if name)]


def url(host: str, port: int, path: str = "") -> str:
    """The address of a page: IPv6 addresses stand in brackets."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/{path}"


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """The IP address of a text; an IPv4 address that is written as an IPv6 address is an IPv4 address."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
