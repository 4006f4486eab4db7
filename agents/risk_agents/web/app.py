"""Addresses of the server: pages, requests, and a WebSocket for every browser that shows a game.

The server checks all actions. A browser watches or plays. To play, the browser sends the secret of a seat.
The browser then gets the state changes (frames) that this seat may see. The browser may act only in decisions
of this seat.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from risk_agents.serving.hosts import POLICY_VIOLATION, NamedHosts
from risk_agents.serving.rates import LONGEST_BODY, Rate, Rates
from risk_agents.web.analysis_board import Analysis
from risk_agents.web.browser_request import Refused, checked_wish
from risk_agents.web.browser_table import ANSWER_KINDS, Answer, BrowserTable, Feed, Setting
from risk_agents.web.lobby import MOST_GAMES, Lobby
from risk_agents.web.mode_pictures import LOOKS, mode_picture
from risk_agents.web.reviews import Reviews
from risk_agents.web.work import Busy
from risk_env import bots
from risk_env.board.maps import load_map
from risk_env.bounded_io import parse_json
from risk_env.viewer.map_data import sign_symbols
from risk_env.viewer.page import MODULES, digest, fill, static

PACKAGE = "risk_agents.web"
LONGEST_MESSAGE = 4_096  # maximum number of characters of a message on a socket
MOST_MESSAGES = 20  # maximum number of messages per second on one socket
MOST_SOCKETS = 500
MOST_REQUESTS, BURST = 20, 200  # maximum numbers of requests from one address, per second and in a burst
MOST_POSTS = 6  # maximum number of concurrent POST requests per address
PATIENCE = 10.0  # time limit for the first message of a browser, in seconds
TRY_AGAIN_LATER = 1013  # close code of a WebSocket if the server is busy
SENDING = 10.0  # time limit for sending a message to a browser, in seconds
PICTURE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
    "Cache-Control": "max-age=3600",
}
OWN_MODULES = ("analysis", "edit", "guide", "lobby", "news", "play", "question", "server", "sound")


def make_app(lobby: Lobby, hosts: list[str]) -> Starlette:
    """Return the server as a Starlette application.

    `hosts` are the allowed host names, in addition to the address of the connection.
    """
    pages, analysis = Pages(lobby), Analysis()
    routes = [
        Route("/", pages.lobby_page),
        Route("/game/{game}", pages.game_page),
        Route("/analysis", pages.analysis_page),
        Route("/static/{name}", pages.static_file),
        Route("/favicon.ico", pages.icon),
        Route("/mode/{preset}", pages.mode_picture),
        Route("/api/options", pages.options),
        Route("/api/games", pages.games),
        Route("/api/games", answering(pages.begin), methods=["POST"]),
        *posts("/api", pages.moment, pages.agents, pages.first, pages.again, pages.delete, pages.review),
        *posts("/api/analysis", analysis.node, analysis.start, analysis.edit, analysis.chances),
        *posts("/api/analysis", analysis.plans, analysis.agents, analysis.odds),
        WebSocketRoute("/game/{game}/live", pages.live),
    ]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        # one thread for each open game, for its agents
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(MOST_GAMES))
        yield
        lobby.close()
        analysis.close()
        pages.reviews.close()

    limits = Middleware(Rates, a_second=MOST_REQUESTS, burst=BURST, at_once=MOST_POSTS)
    middleware = [Middleware(NamedHosts, names=hosts), limits]
    return Starlette(routes=routes, middleware=middleware, lifespan=lifespan)


def posts(path: str, *answers: Callable[[Any], Awaitable[dict[str, Any]]]) -> list[Route]:
    """Return a POST route for each function in `answers`.

    The address of a route is `path`, a slash and the name of the function.
    """
    return [Route(f"{path}/{answer.__name__}", answering(answer), methods=["POST"]) for answer in answers]


class Pages:
    """Handlers of all addresses except the analysis board's requests."""

    def __init__(self, lobby: Lobby) -> None:
        self.lobby, self.reviews = lobby, Reviews()
        self._sockets = 0

    async def lobby_page(self, request: Request) -> Response:
        """Return the page of the lobby."""
        return _page(static("lobby.html", PACKAGE), "lobby")

    async def analysis_page(self, request: Request) -> Response:
        """Return the page of the analysis board."""
        parts = {"question": static("question.html", PACKAGE)}
        return _page(fill(static("analysis.html", PACKAGE), parts), "analysis")

    async def game_page(self, request: Request) -> Response:
        """Return the page of a game.

        The token that the page sends on its socket determines the viewer.
        """
        parts = {name: static(f"{name}.html", PACKAGE) for name in ("tools", "question", "words")}
        return _page(fill(static("replay.html"), parts | {"policy": "", "title": "Risk"}), "play")

    async def static_file(self, request: Request) -> Response:
        """Return a JavaScript module of a page, or status 404 for another name."""
        name = request.path_params["name"].removesuffix(".js")
        if name not in (*MODULES, *OWN_MODULES):
            return PlainTextResponse("not found", 404)
        text = static(f"{name}.js", PACKAGE) if name in OWN_MODULES else static(f"{name}.js")
        return Response(text, media_type="text/javascript")

    async def icon(self, request: Request) -> Response:
        """Return the icon of all pages."""
        return Response(static("icon.svg", PACKAGE), media_type="image/svg+xml", headers=PICTURE_HEADERS)

    def mode_picture(self, request: Request) -> Response:
        """Return the picture of a preset on the map that the query parameter `map` names.

        Returns status 404 for an unknown preset, and for a map that the lobby does not offer. Starlette runs
        this method in a thread.
        """
        preset, map_name = request.path_params["preset"], request.query_params.get("map", "")
        if preset not in LOOKS or map_name not in self.lobby.maps:
            return PlainTextResponse("not found", 404)
        picture = mode_picture(preset, load_map(map_name))
        return Response(picture, media_type="image/svg+xml", headers=PICTURE_HEADERS)

    async def options(self, request: Request) -> Response:
        """Return the choices for a new game."""
        return JSONResponse(self.lobby.options())

    async def games(self, request: Request) -> Response:
        """Return facts about the newest games, or status 503 if too many requests are waiting."""
        try:
            return Json(await self.lobby.listed())
        except Refused as error:
            return Json({"error": str(error)}, 503)

    async def begin(self, wish: Any) -> dict[str, Any]:
        """Begin a game; return the game's name and secrets.

        No other response contains these secrets.
        """
        return _secrets(*await self.lobby.begin(wish))

    async def first(self, wish: Any) -> dict[str, Any]:
        """Begin the first game of a new player; return the game's name and secrets (see `begin`)."""
        if wish != {}:
            raise Refused("the first game has no settings: send an empty JSON object")
        return _secrets(*await self.lobby.first())

    async def again(self, wish: Any) -> dict[str, Any]:
        """Begin a new game with a game's settings; return the new game's name and secrets (see `begin`)."""
        request = checked_wish(wish, {"game": str, "token": str})
        return _secrets(*await self.lobby.again(request["game"], request["token"]))

    async def delete(self, wish: Any) -> dict[str, Any]:
        """Delete a game; raise Refused unless the request has the secret of the person who began the game."""
        request = checked_wish(wish, {"game": str, "token": str})
        await self.lobby.delete(request["game"], request["token"])
        return {}

    async def agents(self, wish: Any) -> dict[str, Any]:
        """Return all agents with level and technique, and the agents that cannot play the requested game."""
        return await self.lobby.agents(wish)

    async def moment(self, wish: Any) -> dict[str, Any]:
        """Return the position at a moment of a game, with the player and the name of each seat.

        The entry `over` is true if the game is over at this moment. Raises Refused if the viewer may not
        continue from this moment.
        """
        checked = checked_wish(wish, {"game": str, "frame": int, "token": str})
        table, game = await self.lobby.moment(checked["game"], checked["token"], checked["frame"])
        names, players = table.setting.names, table.setting.game.players
        return {
            "position": game.to_text(),
            "names": list(names),
            "players": [_offered(*seat) for seat in zip(players, names, strict=True)],
            "over": game.is_over,
        }

    async def review(self, wish: Any) -> dict[str, Any]:
        """Return the review of a finished game, or {"waiting": true} while the review is being computed."""
        checked = checked_wish(wish, {"game": str, "token": str})
        table = await self.lobby.table(checked["game"])
        table.viewer(checked["token"])  # refuses an unknown token
        return await self.reviews.of(checked["game"], table)

    async def live(self, socket: WebSocket) -> None:
        """Serve the socket of a browser that watches or plays."""
        if self._sockets >= MOST_SOCKETS:
            await socket.close(POLICY_VIOLATION)
            return
        self._sockets += 1
        try:
            await socket.accept()
            await self._serve(socket)
        except (WebSocketDisconnect, TimeoutError):
            pass  # the browser closed the connection, sent no first message, or does not read
        except (ValueError, ArithmeticError, LookupError, TypeError) as error:
            await _close(socket, str(error), is_final=not isinstance(error, Busy))
        finally:
            self._sockets -= 1

    async def _serve(self, socket: WebSocket) -> None:
        hello = await asyncio.wait_for(_message(socket), PATIENCE)
        table = await self.lobby.table(socket.path_params["game"])
        token, have = str(hello.get("token", "")), hello.get("have", 0)
        viewer = table.viewer(token)
        table.viewers += 1
        tasks = [
            asyncio.create_task(_send_frames(socket, table, viewer, have if isinstance(have, int) else 0)),
            asyncio.create_task(_listen(socket, table, viewer, may_pace=bool(token))),
        ]
        for task in tasks:
            # reading the exception keeps asyncio from logging it
            task.add_done_callback(lambda task: task.cancelled() or task.exception())
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            table.viewers -= 1
            for task in tasks:
                task.cancel()


async def _send(socket: WebSocket, message: str) -> None:
    """Send a message; raise TimeoutError if the browser does not read."""
    async with asyncio.timeout(SENDING):
        await socket.send_text(message)


async def _send_frames(socket: WebSocket, table: BrowserTable, viewer: int, sent: int) -> None:
    """Send the facts of the game once; then send new frames and the viewer's decision after each change."""
    await _send(socket, json.dumps({"facts": table.facts(viewer)}))
    feed = Feed(table, viewer, sent)
    while True:
        changed = table.changed[viewer]
        while message := feed.message():
            await _send(socket, message)
        await changed.wait()


async def _listen(socket: WebSocket, table: BrowserTable, viewer: int, may_pace: bool) -> None:
    """Process answers and changes of pace from the browser; raise Refused after too many messages."""
    rate = Rate(MOST_MESSAGES, MOST_MESSAGES)
    while True:
        message = await _message(socket)
        if not rate.allows():
            raise Refused(f"too many messages: at most {MOST_MESSAGES} per second are allowed")
        try:
            if message.keys() & {"decision", *ANSWER_KINDS}:
                answer = checked_wish(message, {"decision": int}, ANSWER_KINDS)
                await table.answer(viewer, answer.pop("decision"), Answer(**answer))
            elif "pace" in message and may_pace:
                table.set_pace(float(message["pace"]))
        except Refused as error:
            await _send(socket, json.dumps({"refused": str(error)}))


async def _message(socket: WebSocket) -> dict[str, Any]:
    received = await socket.receive()
    if received["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(received.get("code", 1005))
    text = received.get("text")
    if text is None or len(text) > LONGEST_MESSAGE:
        raise Refused(f"a message must be text of at most {LONGEST_MESSAGE} characters")
    try:
        message = parse_json(text)
    except ValueError:
        message = None
    if not isinstance(message, dict):
        raise Refused("a message must be a JSON object")
    return message


async def _close(socket: WebSocket, reason: str, is_final: bool) -> None:
    """Close a socket with a reason; the page connects again unless the reason is final."""
    with suppress(RuntimeError, WebSocketDisconnect, TimeoutError):  # the browser is closed, or does not read
        await _send(socket, json.dumps({"refused": reason[:200], "final": is_final}))
        async with asyncio.timeout(SENDING):
            await socket.close(POLICY_VIOLATION if is_final else TRY_AGAIN_LATER)


def _offered(player: str, name: str) -> str:
    """Return the registered agent that plays or, in a recorded game, played a seat; "" for other players."""
    return next((agent for agent in (player, name) if bots.is_registered(agent)), "")


def _secrets(name: str, setting: Setting) -> dict[str, Any]:
    """Return the name of a new game and its secrets."""
    return {"game": name, "owner": setting.owner, "tokens": list(setting.tokens)}


class Json(JSONResponse):
    """JSON response in ASCII, because strings can contain lone surrogates."""

    def render(self, content: Any) -> bytes:
        """Encode a value as JSON."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def answering(answer: Callable[[Any], Awaitable[dict[str, Any]]]) -> Callable[[Request], Awaitable[Response]]:
    """Return a handler that calls `answer` with the JSON value of a request, and responds with the result.

    If `answer` raises ValueError, TypeError, ArithmeticError or RecursionError, the handler responds with
    status 400 and the reason.
    """

    async def answered(request: Request) -> Response:
        try:
            return Json(await answer(parse_json(await _body(request))))
        except ClientDisconnect:
            return Response(status_code=400)  # the browser closed the connection
        except (ValueError, TypeError, ArithmeticError, RecursionError) as error:
            return Json({"error": " ".join(str(error).split())[:500]}, 400)

    return answered


async def _body(request: Request) -> bytes:
    """Return the body of a request; raise Refused if the body is too long."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_BODY:
            raise Refused(f"the request is too long: at most {LONGEST_BODY} bytes are allowed")
    return bytes(body)


def _page(page: str, module: str) -> HTMLResponse:
    """Return a page whose modules come from this server, and whose policy allows no other sources."""
    imports = json.dumps(
        {"imports": {f"risk/{name}": f"/static/{name}.js" for name in (*MODULES, *OWN_MODULES)}}
    )
    start, style = f'import "risk/{module}";', static("viewer.css")
    parts = {
        "style": f"<style>{style}</style>",
        "symbols": sign_symbols(),
        "scripts": f'<script type="importmap">{imports}</script>\n<script type="module">{start}</script>',
    }
    allowed = f"'self' '{digest(imports)}' '{digest(start)}'"
    policy = f"default-src 'none'; connect-src 'self'; img-src 'self' data:; script-src {allowed}; "
    policy += f"style-src '{digest(style)}'"
    headers = {
        "Content-Security-Policy": f"{policy}; frame-ancestors 'none'",
        "Referrer-Policy": "no-referrer",
    }
    return HTMLResponse(fill(page, parts), headers=headers)
