"""The server's addresses: the lobby, the pages of games, and a socket for every browser that watches or plays.

The server decides everything. A browser gets the frames that its seat may see, claims a seat by a secret, and may only
answer the question that its seat is asked.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from risk_agents.web.analysis import Analysis, checked_wish
from risk_agents.web.lobby import MOST_GAMES, Lobby
from risk_agents.web.table import Refused, Table
from risk_env.untrusted import parse_json
from risk_env.viewer.map_data import sign_symbols
from risk_env.viewer.page import MODULES, digest, fill, static

PACKAGE = "risk_agents.web"
LONGEST_BODY = 1 << 17  # bytes of a request: a position has up to 65,536 letters
LONGEST_MESSAGE = 4_096  # bytes of a message on a socket
MOST_MESSAGES = 20  # a second on one socket
MOST_SOCKETS = 500
PATIENCE = 10.0  # seconds until a socket must say who it is
OWN_MODULES = ("analysis", "lobby", "play", "question", "server")
POLICY_VIOLATION = 1008


def make_app(lobby: Lobby, hosts: list[str]) -> Starlette:
    """The application. `hosts` are the names under which it may be called, `*` for any."""
    pages, analysis = Pages(lobby), Analysis()
    routes = [
        Route("/", pages.lobby_page),
        Route("/game/{game}", pages.game_page),
        Route("/analysis", pages.analysis_page),
        Route("/static/{name}", pages.static_file),
        Route("/api/options", pages.options),
        Route("/api/games", pages.games),
        Route("/api/games", answering(pages.begin), methods=["POST"]),
        Route("/api/moment", answering(pages.moment), methods=["POST"]),
        *(
            Route(f"/api/analysis/{answer.__name__}", answering(answer), methods=["POST"])
            for answer in (analysis.node, analysis.chances, analysis.plans, analysis.agents, analysis.odds)
        ),
        WebSocketRoute("/game/{game}/live", pages.live),
    ]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(MOST_GAMES))  # an agent of each may think
        yield
        lobby.close()
        analysis.close()

    middleware = [Middleware(TrustedHostMiddleware, allowed_hosts=hosts), Middleware(SameOrigin)]
    return Starlette(routes=routes, middleware=middleware, lifespan=lifespan)


class SameOrigin:
    """Refuses what a page of another origin sends."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what comes from the server's own pages or from no page."""
        headers = dict(scope.get("headers", ()))
        origin, host = headers.get(b"origin"), headers.get(b"host", b"").decode("latin-1")
        if origin is None or urlsplit(origin.decode("latin-1")).netloc == host:
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
        else:
            await PlainTextResponse("requests of other origins are refused", 403)(scope, receive, send)


class Pages:
    """The answers of all addresses."""

    def __init__(self, lobby: Lobby) -> None:
        self.lobby = lobby
        self._sockets = 0

    async def lobby_page(self, request: Request) -> Response:
        """The lobby."""
        return _page(static("lobby.html", PACKAGE), "lobby")

    async def analysis_page(self, request: Request) -> Response:
        """The analysis board."""
        return _page(static("analysis.html", PACKAGE), "analysis")

    async def game_page(self, request: Request) -> Response:
        """The page of a game; who looks at it is decided on its socket."""
        parts = {name: static(f"{name}.html", PACKAGE) for name in ("tools", "question")}
        return _page(fill(static("replay.html"), parts | {"policy": "", "title": "Risk"}), "play")

    async def static_file(self, request: Request) -> Response:
        """A module of a page."""
        name = request.path_params["name"].removesuffix(".js")
        if name not in (*MODULES, *OWN_MODULES):
            return PlainTextResponse("not found", 404)
        text = static(f"{name}.js", PACKAGE) if name in OWN_MODULES else static(f"{name}.js")
        return Response(text, media_type="text/javascript")

    async def options(self, request: Request) -> Response:
        """What a new game may be."""
        return JSONResponse(self.lobby.options())

    async def games(self, request: Request) -> Response:
        """The open games."""
        return JSONResponse(self.lobby.listed())

    async def begin(self, wish: Any) -> dict[str, Any]:
        """Begin a game; its secrets are in the answer and nowhere else."""
        name, setting = self.lobby.begin(wish)
        return {"game": name, "owner": setting.owner, "tokens": list(setting.tokens)}

    async def moment(self, wish: Any) -> dict[str, Any]:
        """The position at a moment of a game; Refused if this viewer may not continue from it."""
        found = checked_wish(wish, {"game": str, "frame": int, "token": str})
        table = await self.lobby.table(found["game"])
        game = await asyncio.to_thread(table.moment, table.viewer(found["token"]), found["frame"])
        return {"position": game.to_text(), "names": list(table.setting.names), "over": game.is_over}

    async def live(self, socket: WebSocket) -> None:
        """A browser that watches or plays."""
        if self._sockets >= MOST_SOCKETS:
            await socket.close(POLICY_VIOLATION)
            return
        self._sockets += 1
        try:
            await socket.accept()
            await self._serve(socket)
        except (WebSocketDisconnect, TimeoutError):
            pass
        except (Refused, ValueError, ArithmeticError, KeyError, TypeError) as error:
            await _close(socket, str(error))
        finally:
            self._sockets -= 1

    async def _serve(self, socket: WebSocket) -> None:
        hello = await asyncio.wait_for(_message(socket), PATIENCE)
        table = await self.lobby.table(socket.path_params["game"])
        token, have = str(hello.get("token", "")), hello.get("have", 0)
        viewer = table.viewer(token)
        may_pace = bool(token)
        table.viewers += 1
        sending = asyncio.create_task(_send_frames(socket, table, viewer, have if isinstance(have, int) else 0))
        try:
            await _listen(socket, table, viewer, may_pace)
        finally:
            table.viewers -= 1
            sending.cancel()


async def _send_frames(socket: WebSocket, table: Table, viewer: int, sent: int) -> None:
    """Send what the viewer has not seen, and its question, whenever something has changed."""
    await socket.send_text(json.dumps({"facts": table.facts(viewer)}))
    sent = min(max(sent, 0), len(table.frames[viewer]))
    while True:
        changed, frames = table.changed, table.frames[viewer][sent:]
        sent += len(frames)
        told = {"question": table.question(viewer), "problem": table.problem, "notice": table.notice}
        rest = json.dumps(told | {"pace": table.pace})
        await socket.send_text(f'{{"frames":[{",".join(frames)}],{rest[1:]}')
        await changed.wait()


async def _listen(socket: WebSocket, table: Table, viewer: int, may_pace: bool) -> None:
    """Take answers and wishes, not too many a second."""
    allowance, last = float(MOST_MESSAGES), time.monotonic()
    while True:
        message = await _message(socket)
        now = time.monotonic()
        allowance, last = min(MOST_MESSAGES, allowance + (now - last) * MOST_MESSAGES) - 1, now
        if allowance < 0:
            raise Refused("too many messages")
        try:
            if "action" in message:
                table.answer(viewer, int(message["decision"]), int(message["action"]))
            elif "pace" in message and may_pace:
                table.set_pace(float(message["pace"]))
        except Refused as error:
            await socket.send_text(json.dumps({"refused": str(error)}))


async def _message(socket: WebSocket) -> dict[str, Any]:
    text = await socket.receive_text()
    if len(text) > LONGEST_MESSAGE:
        raise Refused("the message is too long")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise Refused("a message is a JSON object")
    return message


async def _close(socket: WebSocket, reason: str) -> None:
    try:
        await socket.send_text(json.dumps({"refused": reason[:200], "final": True}))
        await socket.close(POLICY_VIOLATION)
    except (RuntimeError, WebSocketDisconnect):
        pass  # the browser has gone


def answering(answer: Callable[[Any], Awaitable[dict[str, Any]]]) -> Callable[[Request], Awaitable[Response]]:
    """The address that answers the JSON value of a request; status 400 and the reason where `answer` refuses."""

    async def answered(request: Request) -> Response:
        try:
            return JSONResponse(await answer(parse_json(await _body(request))))
        except (ValueError, TypeError, RecursionError) as error:
            return JSONResponse({"error": " ".join(str(error).split())[:500]}, 400)

    return answered


async def _body(request: Request) -> bytes:
    """The body of a request; Refused if it is too long."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_BODY:
            raise Refused(f"the request is longer than {LONGEST_BODY} bytes")
    return body


def _page(page: str, module: str) -> HTMLResponse:
    """A page whose modules come from this server, and which takes nothing from elsewhere."""
    imports = json.dumps({"imports": {f"risk/{name}": f"/static/{name}.js" for name in (*MODULES, *OWN_MODULES)}})
    start, style = f'import "risk/{module}";', static("viewer.css")
    parts = {
        "style": f"<style>{style}</style>",
        "symbols": sign_symbols(),
        "scripts": f'<script type="importmap">{imports}</script>\n<script type="module">{start}</script>',
    }
    allowed = f"'self' '{digest(imports)}' '{digest(start)}'"
    policy = f"default-src 'none'; connect-src 'self'; script-src {allowed}; style-src '{digest(style)}'"
    headers = {"Content-Security-Policy": f"{policy}; frame-ancestors 'none'", "Referrer-Policy": "no-referrer"}
    return HTMLResponse(fill(page, parts), headers=headers)
