"""Keep a server reachable: close connections of clients that send or read nothing, and limit the log.

uvicorn waits without limit for the first request of a connection, and for a client that does not read. A
client with a thousand open connections would block the server, and each failed attempt to accept a connection
would be logged.
"""

from __future__ import annotations

import errno
import logging
import resource
import socket
import time
from collections import Counter
from functools import partial
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from risk_agents.serving.rates import network_of

MOST_CONNECTIONS, MOST_OF_ADDRESS = 1000, 200  # maximum number of connections: in total, per address
# Maximum number of connections without a complete request: in total, per address
MOST_WAITING, MOST_WAITING_OF_ADDRESS = 256, 64
PATIENCE = 15.0  # time limit for a complete request, in seconds
STALLED = 15.0  # time limit for a client to read some of the unread data, in seconds
MOST_UNREAD = 1 << 20  # maximum size of the unread data of a client, in bytes
MOST_FRAGMENTS = 64  # maximum number of fragments of a WebSocket message
MOST_RECORDS, WINDOW = 50, 60.0  # maximum number of log lines per logger in WINDOW seconds
OPEN_FILES = 8192  # maximum number of open files that the server requests from the system
MOST_PORT = 65_535
SHUTDOWN = 3  # time for clients to disconnect when the server stops, in seconds


class Connections:
    """Set of the open connections of a server; closes a new or an old connection if a limit is exceeded."""

    def __init__(self, most: int = MOST_CONNECTIONS) -> None:
        self._most = most
        self._open: dict[Any, str] = {}  # network of the client, by connection
        self._waiting: dict[Any, float] = {}  # start of the wait for a request, by connection; oldest first
        # By connection: number of unread bytes, and time when the client last read data
        self._unread: dict[Any, tuple[int, float]] = {}
        self._counts: Counter[str] = Counter()  # number of connections by network

    def add(self, protocol: Any) -> None:
        """Add a new connection.

        If there are too many connections, close the connection that has waited longest for a request. If
        there are still too many connections, in total or from one address, close the new connection.
        """
        network = network_of(protocol.client)
        if len(self._open) >= self._most and self._waiting:
            self._close(next(iter(self._waiting)))
        self._open[protocol] = network
        self._counts[network] += 1
        if self._counts[network] > MOST_OF_ADDRESS or len(self._open) > self._most:
            self._close(protocol)

    def remove(self, protocol: Any) -> None:
        """Remove a closed connection; may be called several times."""
        network = self._open.pop(protocol, None)
        self._waiting.pop(protocol, None)
        self._unread.pop(protocol, None)
        if network is not None:
            self._counts[network] -= 1
            if not self._counts[network]:
                del self._counts[network]

    def wait(self, protocol: Any) -> None:
        """Record that a connection waits for a request.

        If too many connections wait in total, close the connection that has waited longest. If too many
        connections from one address wait, close the longest-waiting connection from this address.
        """
        network = self._open.get(protocol)
        if network is None:
            return  # the connection is being closed
        self._waiting.pop(protocol, None)
        self._waiting[protocol] = time.monotonic()
        if len(self._waiting) > MOST_WAITING:
            self._close(next(iter(self._waiting)))
        alike = [other for other in self._waiting if self._open.get(other) == network]
        if len(alike) > MOST_WAITING_OF_ADDRESS:
            self._close(alike[0])

    def begin(self, protocol: Any) -> None:
        """Record that a connection has sent a complete request."""
        self._waiting.pop(protocol, None)

    def check(self) -> None:
        """Close connections that exceed a time limit or MOST_UNREAD; called once per second."""
        now = time.monotonic()
        for protocol, since in list(self._waiting.items()):
            if now - since > PATIENCE:
                self._close(protocol)
        for protocol in list(self._open):
            size = protocol.transport.get_write_buffer_size()
            before, since = self._unread.get(protocol, (0, now))
            self._unread[protocol] = (size, now) if size < max(before, 1) else (size, since)
            if size > MOST_UNREAD or now - self._unread[protocol][1] > STALLED:
                self._close(protocol)

    def _close(self, protocol: Any) -> None:
        """Close a connection and stop counting it."""
        self.remove(protocol)
        protocol.transport.abort()


class GuardedHTTP(H11Protocol):
    """HTTP protocol of a connection in `Connections`."""

    def __init__(self, guard: Connections, **facts: Any) -> None:
        super().__init__(**facts)
        self._guard = guard

    def connection_made(self, transport: Any) -> None:
        """Add the connection to the guard."""
        super().connection_made(transport)
        self._guard.add(self)
        self._guard.wait(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection from the guard."""
        self._guard.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Handle received data; ignore data that arrives after the connection was closed."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._guard.begin(self)

    def on_response_complete(self) -> None:
        """Record that the connection waits for the next request."""
        if not self.transport.is_closing():
            self._guard.wait(self)
        super().on_response_complete()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Hand the connection over to the WebSocket protocol."""
        self._guard.remove(self)
        super().handle_websocket_upgrade(event)


class GuardedSocket(WebSocketsSansIOProtocol):
    """WebSocket protocol of a connection in `Connections`."""

    def __init__(self, guard: Connections, **facts: Any) -> None:
        super().__init__(**facts)
        self._guard = guard

    def connection_made(self, transport: Any) -> None:
        """Add the connection to the guard."""
        super().connection_made(transport)
        self._guard.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection from the guard."""
        self._guard.remove(self)
        super().connection_lost(exc)

    def handle_cont(self, event: Any) -> None:
        """Handle a fragment of a message; close the connection if the message has too many fragments."""
        if len(self.frames) >= MOST_FRAGMENTS:
            self.transport.abort()
        else:
            super().handle_cont(event)


class GuardedServer(uvicorn.Server):
    """Server that checks its connections."""

    def __init__(self, config: uvicorn.Config, guard: Connections) -> None:
        super().__init__(config)
        self._guard = guard

    async def on_tick(self, counter: int) -> bool:
        """Check the connections once per second."""
        if counter % 10 == 0:
            self._guard.check()
        return await super().on_tick(counter)


class FewRecords(logging.Filter):
    """Log filter that passes at most MOST_RECORDS records per logger in WINDOW seconds.

    The last passed record states that further lines are omitted.
    """

    def __init__(self) -> None:
        super().__init__()
        self._until, self._counts = 0.0, Counter[str]()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True if the record may be logged."""
        if time.monotonic() > self._until:
            self._until = time.monotonic() + WINDOW
            self._counts.clear()
        self._counts[record.name] += 1
        if self._counts[record.name] == MOST_RECORDS:
            record.msg, record.args, record.exc_info = (
                "%s (further lines of this minute are omitted)",
                (record.getMessage(),),
                None,
            )
        return self._counts[record.name] <= MOST_RECORDS


def make_server(app: Any, host: str, port: int, **options: Any) -> GuardedServer:
    """Return a server for an application, not yet started; `options` are arguments of `uvicorn.Config`."""
    guard = Connections(min(MOST_CONNECTIONS, _open_files() // 2))
    http, ws = partial(GuardedHTTP, guard), partial(GuardedSocket, guard)
    fixed = {"ws_per_message_deflate": False, "timeout_graceful_shutdown": SHUTDOWN, "backlog": 512}
    fixed["proxy_headers"] = False  # anybody on this machine could forge another address with each request
    defaults: Any = {"log_level": "warning", **fixed, **options}
    config = uvicorn.Config(app, host=host, port=port, http=http, ws=ws, **defaults)  # type: ignore[arg-type]
    _bound_logs()
    return GuardedServer(config, guard)


def check_address(host: str, port: int) -> None:
    """Raise ValueError if a server cannot listen on an address."""
    if not 0 <= port <= MOST_PORT:
        raise ValueError(f"--port {port}: must be from 0 to {MOST_PORT}")
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise ValueError(
            f"--host {host}: this machine has no such address ({error.strerror}); use an address of this "
            "machine, such as 127.0.0.1"
        ) from error
    for family, kind, number, _, address in addresses:
        with socket.socket(family, kind, number) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind(address)
            except OSError as error:
                raise ValueError(_why_not_bound(host, port, error)) from error


def _why_not_bound(host: str, port: int, error: OSError) -> str:
    """Return an error message that says why a server cannot listen on an address, and what to do."""
    if error.errno == errno.EADDRINUSE:
        return f"--port {port}: another program uses this port of {host}; choose another port"
    if error.errno == errno.EACCES:
        return f"--port {port}: no permission to use this port; choose a port from 1024 to {MOST_PORT}"
    return (
        f"--host {host}: the server cannot listen on this address ({error.strerror}); use an address of this "
        "machine, such as 127.0.0.1"
    )


def run(app: Any, host: str, port: int, **options: Any) -> None:
    """Serve an application until Ctrl-C; exit with status 3 if the server cannot start."""
    server = make_server(app, host, port, **options)
    try:
        server.run()
    except KeyboardInterrupt:
        return
    if not server.started:
        raise SystemExit(3)


def _open_files() -> int:
    """Raise the limit on open files to OPEN_FILES or as far as allowed, and return the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return OPEN_FILES if soft == resource.RLIM_INFINITY else soft


def _bound_logs() -> None:
    """Install the log filter in the handlers of the root logger and uvicorn, and in `logging.lastResort`."""
    few = FewRecords()
    handlers = [handler for name in ("", "uvicorn") for handler in logging.getLogger(name or None).handlers]
    for handler in (*handlers, logging.lastResort):
        if handler is not None and not any(isinstance(known, FewRecords) for known in handler.filters):
            handler.addFilter(few)
