"""Fuzz targets: one for each reader of untrusted data.

A target makes some good inputs, changes one as an attacker who knows the format would (with correct
checksums), and reads the result. The reader must refuse the input with its named error, or return a value
that is safe to use. The target therefore uses the value a little.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import io
import json
import random
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from risk_env import Game, IllegalAction, Rules, load_map
from risk_env.board.importing.draft import Report
from risk_env.board.importing.reader import decoded, format_of, import_map
from risk_env.board.map_pictures import picture_of
from risk_env.board.maps import Board, MapError, read_map
from risk_env.board.tables import tables
from risk_env.game import _CHECKSUM, _HEADER
from risk_env.game_vector import GameVector
from risk_env.render import rgb
from risk_env.render.geometry import geometry_of
from risk_env.text.check import complete
from risk_env.text.positions import PositionError
from tests.foreign_maps import FILES
from tests.fuzz.mutations import as_json, change_bytes, change_text, change_value, change_word
from tests.one_way import RING, one_way_text
from tests.pictures import BASELINE, PROGRESSIVE, SIGNATURE, chunks_of, png, png_of

CARDS_MARK = b"\n=====\n"  # between a map and its cards
FOREIGN = {"club": "conquer club", **{name: name for name in ("domination", "conquest", "json", "csv")}}
SMALL_PICTURE = 1 << 20  # maximum number of pixels of an image that the target decodes
KEY = "sk-fuzz-0123456789abcdef"
Seed = Any  # made by `make`, taken by `change`


class Target(NamedTuple):
    """A reader as a fuzz target.

    `make` returns good inputs, `change` turns one into bytes (arguments: seed, rng), and `read` reads bytes.
    `errors` are the errors that the reader may raise. `accepts` is False if the reader refuses every change.
    """

    make: Callable[[], Sequence[Seed]]
    change: Callable[[Seed, random.Random], bytes]
    read: Callable[[bytes], None]
    errors: tuple[type[Exception], ...]
    accepts: bool = True


@functools.cache
def folder() -> Path:
    """Return a folder for files that readers open by name.

    It is removed with the process.
    """
    kept = tempfile.TemporaryDirectory(
        prefix="risk-fuzz-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None
    )
    folder.kept = kept  # type: ignore[attr-defined]
    return Path(kept.name)


def written(name: str, data: bytes) -> Path:
    """Write a file with this content, and return its path."""
    path = folder() / name
    path.write_bytes(data)
    return path


def played(preset: str, seed: int, actions: int, board: str = "tiny", **options: Any) -> Game:
    """Return a game after some random actions."""
    rng = random.Random(seed)
    game = Game(Rules.preset(preset, **options), board, seed)
    play_on(game, rng, actions)
    return game


def play_on(game: Game, rng: random.Random, actions: int) -> None:
    """Play some random actions, which must be safe in a game that was read."""
    for _ in range(actions):
        if game.is_over:
            return
        game.step(int(rng.choice(game.legal_actions())))


@functools.cache
def games() -> tuple[Game, ...]:
    """Return games of several presets, in several phases."""
    kinds: tuple[tuple[str, dict[str, Any]], ...] = (
        ("classic", {"num_players": 3, "initial_troops": 9}),
        ("classic", {"num_players": 2, "initial_troops": 9, "max_rounds": 4}),
        ("two_player", {"initial_troops": 9}),
        ("capital", {"initial_troops": 9, "expert": True}),
        ("secret_mission", {"initial_troops": 9}),
        ("command_room", {"initial_troops": 9}),
        ("world_conquest", {"initial_troops": 9}),
    )
    found = [played(name, seed, 11 * seed, **options) for seed in range(6) for name, options in kinds]
    return (*found, played("basic_training", 3, 40, "classic"))


# Maps and positions


def map_texts() -> list[str]:
    """Return the text of shipped map files."""
    shipped = Path(read_map.__code__.co_filename).parent / "map_files"
    texts = [(shipped / f"{name}.toml").read_text() for name in ("tiny", "tiny", "classic", "inner_sea")]
    return [*texts, one_way_text("tiny", RING)]


def text_bytes(text: str) -> bytes:
    """Return a text as a file would contain it."""
    return text.encode(errors="surrogatepass")


def change_lines(text: str, rng: random.Random) -> bytes:
    """Change lines, sometimes bytes."""
    if rng.random() < 0.15:
        return change_bytes(text_bytes(text), rng)
    return text_bytes(change_text(text, rng))


def read_a_map(data: bytes) -> None:
    """Read the file, and prepare a game on it."""
    prepare_a_game(load_map(written("map.toml", data)))


def prepare_a_game(board: Board) -> None:
    """Prepare a game on a map if the map is small."""
    if board.num_territories <= 64 and len(board.borders) <= 192:
        try:
            rules = Rules.preset("classic", 2, initial_troops=60)
            record = (
                tables.__wrapped__(rules, board) if hasattr(tables, "__wrapped__") else tables(rules, board)
            )
        except ValueError as error:
            raise MapError(f"no game: {error}") from error
        assert record.num_actions > 0


def foreign_maps(wanted: str) -> Callable[[], list[bytes]]:
    """Return a function that returns the files of a format, each with its cards after CARDS_MARK."""
    texts = [decoded(file.content, file.file, Report(file.file)) for file in FILES]
    found = [file for file, text in zip(FILES, texts, strict=True) if format_of(text) == wanted]
    return lambda: [file.content + (CARDS_MARK + file.cards if file.cards else b"") for file in found]


def change_foreign_map(data: bytes, rng: random.Random) -> bytes:
    """Change lines or bytes, and sometimes repeat a part."""
    if rng.random() < 0.1:
        start = rng.randrange(len(data))
        part = data[start : start + rng.choice((1, 40, 400))]
        data = data[:start] + part * rng.choice((2, 30, 1000)) + data[start:]
    return change_lines(data.decode("utf-8", "surrogateescape"), rng)


def read_a_foreign_map(data: bytes) -> None:
    """Import a map with all options, with one-way borders, and without options."""
    text, _, cards = data.partition(CARDS_MARK)
    path = written("foreign.map", text)
    options: dict[str, Any] = {"cards": written("foreign.cards", cards)} if cards else {}
    prepare_a_game(import_map(path, mirror=True, simplify=True, **options).board)
    board = import_map(path, simplify=True, **options).board
    prepare_a_game(board)
    if board.drawing and board.num_territories <= 64:
        assert len(geometry_of(board).arrows) == len(board.one_way_borders)
    import_map(path, **options)


def pictures() -> list[bytes]:
    """Return images, one with a palette."""
    palette = [(b"IHDR", (4).to_bytes(4) * 2 + bytes((8, 3, 0, 0, 0))), (b"PLTE", bytes(range(12)))]
    pixels = (b"IDAT", zlib.compress(4 * b"\0\0\1\2\3"))
    return [png(8, 6), png_of([*palette, pixels, (b"IEND", b"")]), BASELINE, PROGRESSIVE]


def change_picture(content: bytes, rng: random.Random) -> bytes:
    """Change bytes, or chunks of a PNG image with correct checksums."""
    if not content.startswith(SIGNATURE) or rng.random() < 0.3:
        return change_bytes(content, rng)
    chunks = list(chunks_of(content))
    at = rng.randrange(len(chunks))
    kind, data = chunks[at]
    match rng.randrange(4):
        case 0:
            chunks.insert(rng.randrange(len(chunks) + 1), chunks[at])
        case 1:
            del chunks[at]
        case 2:
            chunks[at] = rng.choice((b"acTL", b"IDAT", b"PLTE", b"\0\0\0\0", kind)), change_bytes(data, rng)
        case 3:
            size = [rng.choice((0, 1, 8, 10_000, 2**31 - 1, 2**32 - 1)) for _ in "xy"]
            chunks[0] = b"IHDR", b"".join(side.to_bytes(4) for side in size) + chunks[0][1][8:]
    return png_of(chunks)


def read_a_picture(data: bytes) -> None:
    """Check an image, and decode it if it is small."""
    picture = picture_of(data)
    assert picture.url.isascii()
    if picture.width * picture.height <= SMALL_PICTURE:
        assert rgb.scaled(picture, (8, 6)).get_size() == (8, 6)


def random_names() -> list[str]:
    """Return names of random maps."""
    return ["random:7", "random:7:territories=20", "random:0:territories=12,continents=3"]


def read_a_random_name(data: bytes) -> None:
    """Load the random map of a name."""
    prepare_a_game(load_map("random:" + data.decode(errors="surrogateescape").removeprefix("random:")))


def change_position(text: str, rng: random.Random) -> bytes:
    """Change lines.

    The checksum is usually left out.
    """
    lines = text.splitlines()
    if rng.random() < 0.8:
        lines = [line for line in lines if not line.startswith("checksum")]
    if rng.random() < 0.2:
        lines.insert(rng.randrange(1, len(lines)), rng.choice(text.splitlines()))
    return change_lines("\n".join(lines), rng)


def read_a_position(data: bytes) -> None:
    """Read the game of a text, and play on."""
    play_on(Game.from_text(data.decode(errors="surrogateescape")), random.Random(0), 3)


def change_save(game: Game, rng: random.Random) -> bytes:
    """Change fields of the record or of the header with a correct checksum, or change bytes."""
    data = game.to_bytes()
    magic, schema, length = _HEADER.unpack_from(data)
    header, record = json.loads(data[_HEADER.size : _HEADER.size + length]), game.records.copy()
    kind = rng.randrange(8)
    if kind == 0:
        return change_bytes(data, rng)
    if kind == 1:
        header = change_value(header, rng)
    elif kind == 2:
        schema, length = rng.choice((0, 1, 2, 2**16 - 1)), rng.choice((0, 1, length, 2**32 - 1))
    else:
        change_record(record, rng)
    body = as_json(header) if kind == 1 else data[_HEADER.size : _HEADER.size + length]
    body = _HEADER.pack(magic, schema, len(body) if kind != 2 else length) + body + record.tobytes()
    if kind > 4:
        complete(record, game.tables, game.rules, game.board)
        body = body[: -record.nbytes] + record.tobytes()
    return body + hashlib.sha256(body).digest()[:_CHECKSUM]


def change_record(record: Any, rng: random.Random) -> None:
    """Change a few numbers of a game record."""
    for field in rng.sample(record.dtype.names, rng.choice((1, 1, 2, 3))):
        values = record[field].reshape(-1).view(np.uint8)
        at = rng.randrange(len(values))
        near = values[at] ^ 1 << rng.randrange(8)
        values[at] = rng.choice((0, 1, 2, 3, 6, 7, 127, 128, 255, rng.randrange(256), near))
        record[field] = values.view(record[field].dtype).reshape(record[field].shape)


def read_a_save(data: bytes) -> None:
    """Read the game of a save, and play on."""
    play_on(Game.from_bytes(data), random.Random(0), 3)


def change_loaded(game: Game, rng: random.Random) -> bytes:
    """Change fields of the record. The first byte is the number of the game."""
    record = game.records.copy()
    change_record(record, rng)
    if rng.random() < 0.5:
        complete(record, game.tables, game.rules, game.board)
    return bytes([games().index(game)]) + record.tobytes()


def load_a_record(data: bytes) -> None:
    """Begin a lane at a record, and play on."""
    game = games()[data[0]]
    batch = GameVector(game.rules, game.board, 2, autoreset=False)
    batch.load([1], np.frombuffer(data[1:], game.records.dtype))
    batch.ask([1])
    play_on(batch.game(1), random.Random(0), 3)


# Actions and programs


def change_action(game: Game, rng: random.Random) -> bytes:
    """Return the number of a game and a changed text of one of its actions."""
    text = game.action_text(int(rng.choice(game.legal_actions())))
    if rng.random() < 0.2:
        text = (
            game.action_text(int(rng.choice(game.legal_actions())))
            + rng.choice((" ", " > ", ">", "  "))
            + text
        )
    number = games().index(game)
    return bytes([number]) + change_text(
        change_word(text, rng) if rng.random() < 0.5 else text, rng, " "
    ).encode(errors="surrogatepass")


def read_an_action(data: bytes) -> None:
    """Read an action.

    The first byte chooses the game, and the rest is the text.
    """
    if data:
        game = games()[data[0] % len(games())]
        game.parse_action(data[1:].decode(errors="surrogateescape"))


def spoken(line: bytes) -> Any:
    """Return a stand-in for a program that has sent one line."""
    from risk_agents.external import Program

    class Spoken(Program):
        name, _lifeline = "fuzz", -1

        def __init__(self) -> None:
            pass

        def exchange(self, message: Any, limit: float, listen: bool) -> bytes:
            return line

        def request(self, message: Any, limit: float) -> Any:
            return self._read(line)

        def kill(self) -> None:
            pass

    return Spoken()


@functools.cache
def view() -> Any:
    """Return the input of an agent for one decision."""
    from risk_env.agent import View

    return View(games()[0])


def answers() -> list[dict[str, Any]]:
    """Return correct answers of a program."""
    legal, texts = view().legal_actions, view().texts
    by_number = [{"id": 1, "action": int(action)} for action in legal]
    return [
        *by_number,
        *({"id": 1, "action": text} for text in texts),
        {"protocol": 1, "name": "a", "version": "1"},
    ]


def change_json(value: Any, rng: random.Random) -> bytes:
    """Change values, sometimes bytes."""
    if rng.random() < 0.1:
        return change_bytes(as_json(value), rng)
    return as_json(change_value(value, rng))


def read_an_answer(data: bytes) -> None:
    """Read the line as a program's answer to a decision."""
    from risk_agents.external import ExternalAgent
    from risk_agents.protocol import Exchange

    agent = ExternalAgent.__new__(ExternalAgent)
    agent.name, agent.time_limit, agent._requests, agent._exchange = "fuzz", 1.0, 0, Exchange({})
    agent._exchange.begin(view().seat)
    agent._program = spoken(data)
    action = agent.act(view())
    assert action in view().legal_actions


def plans() -> list[dict[str, Any]]:
    """Return correct answers of a program: numbers, texts, and plans with several steps."""
    action, texts, steps = int(view().legal_actions[0]), view().texts, plan_steps()
    several = [[action, "always defend 2", *steps], [*texts[:5], *steps], steps, ["; ".join(steps)]]
    return [{"id": 1, "actions": actions} for actions in ([action], texts[:1], *several)]


def plan_steps() -> list[str]:
    """Return a plan that begins with a legal action and has all short forms."""
    one, two, three = view().board.territories[:3]
    short = ["trade", f"draft {one} all", f"attack {one} > {two}; occupy half", f"try attack {two} > {three}"]
    return [view().texts[0], *short, f"deploy {one} 3", f"fortify {one} > {two} 3", "end"]


def plan_texts() -> list[str]:
    """Return plans as language models write them."""
    lines = "\n".join(f"{place}. {step}" for place, step in enumerate(plan_steps(), 1))
    plain = "; ".join(plan_steps())
    fenced, as_object = f"Well.\n```\n{lines}\n```", json.dumps({"plan": plain})
    return [plain, f"PLAN: {lines}", fenced, as_object, f"always defend 1\n{lines}"]


def read_a_models_answer(data: bytes) -> None:
    """Read the text as a language model's answer, and play it as far as possible."""
    from risk_agents.llm.endpoint import plan_in
    from risk_env.words.action_plan import ActionPlan

    game = games()[0].copy()
    plan = ActionPlan(game.seat)
    plan.give(plan_in(data.decode(errors="replace")), game)
    for _ in range(5):
        if game.is_over or game.seat != plan.seat or (action := plan.next_action(game)) is None:
            break
        game.step(action)
    assert isinstance(plan.account(game), str)


def endpoint_replies() -> list[dict[str, Any]]:
    """Return correct replies of an endpoint with OpenAI's chat API.

    Some contain the key.
    """
    from tests.fake_endpoint import ENCODINGS, called, said

    plain = "; ".join(plan_steps())
    told = [said(form(KEY)) for form in ENCODINGS]
    return [
        said(plain),
        called(json.dumps({"plan": plain})),
        *told,
        {"error": {"message": f"not with {KEY}"}},
    ]


def read_a_reply(data: bytes) -> None:
    """Read the body of an endpoint's reply.

    No part of the key may remain in the result.

    The status follows from the length of the body.
    """
    from unittest.mock import patch

    from risk_agents.llm import endpoint
    from risk_agents.llm.settings import Settings

    reply = endpoint.Reply((200, 200, 200, 401, 302, 500)[len(data) % 6], data[-20:].decode("latin-1"), data)
    with patch.dict("os.environ", {"OPENAI_API_KEY": KEY}), patch.object(endpoint, "post", lambda *_: reply):
        model = endpoint.Endpoint("fuzz", Settings(retries=0))
        try:
            answer = model.request([{"role": "user", "content": "?" * 1000}], lambda error: None)
        except endpoint.EndpointError as error:
            assert not any(KEY[at : at + 8] in str(error) for at in range(len(KEY) - 7))
            raise
    assert 0 < answer.tokens_in <= endpoint.MOST_TOKENS and 0 <= answer.tokens_out <= endpoint.MOST_TOKENS
    assert not any(KEY[at : at + 8] in answer.text for at in range(len(KEY) - 7))
    (answer.text + answer.plan).encode()  # without lone surrogates


# Pages


def wishes() -> list[dict[str, Any]]:
    """Return requests of a browser that begin a game."""
    plain = {"preset": "classic", "map": "tiny", "players": ["human", "random"], "names": ["A", "B"]}
    options = {
        "preset": "capital",
        "map": "tiny",
        "players": ["random"] * 3,
        "options": {"initial_troops": 9},
    }
    return [plain, options, {**options, "position": games()[0].to_text()}]


@functools.cache
def lobby() -> Any:
    """Return the games of a server, without a file."""
    from risk_agents.web.game_store import GameStore
    from risk_agents.web.lobby import Lobby

    return Lobby(GameStore(":memory:"))


def read_a_wish(data: bytes) -> None:
    """Read the body of a request for a game, and make its table twice.

    The second table is made from the stored setting, as after a restart of the server.
    """
    from risk_agents.web.browser_table import BrowserTable, Setting

    setting = lobby()._setting(json.loads(data))
    BrowserTable(
        Setting.from_dict(json.loads(json.dumps(setting.to_dict()))), lambda number, action, is_open: None
    )


def messages() -> list[dict[str, Any]]:
    """Return messages of a browser on its socket."""
    return [
        {"decision": 0, "action": 3},
        {"decision": 0, "troops": 3},
        {"decision": 0, "action": 3, "troops": 2, "compose": True},
        {"decision": 0, "cards": [1, 2, 3], "compose": True},
        {"decision": 0, "command": "settle"},
        {"pace": 0.5},
        {"token": "x", "have": 2},
    ]


class Socket:
    """A stand-in for a browser that has sent one message."""

    def __init__(self, text: str, game: str = "") -> None:
        self.messages = [{"type": "websocket.receive", "text": text}]
        self.path_params = {"game": game}

    async def accept(self) -> None:
        pass

    async def close(self, code: int) -> None:
        pass

    async def receive(self) -> dict[str, Any]:
        return self.messages.pop() if self.messages else {"type": "websocket.disconnect"}

    async def send_text(self, text: str) -> None:
        json.loads(text)


def read_a_message(data: bytes) -> None:
    """Read a message on the socket of a game, as the first message and as a later one.

    The message is refused or accepted.
    """
    from starlette.websockets import WebSocketDisconnect

    from risk_agents.web.app import Pages, _listen
    from risk_agents.web.browser_table import BrowserTable

    text = data.decode(errors="replace")
    asyncio.run(Pages(lobby()).live(Socket(text, text[:40])))  # type: ignore[arg-type]
    table = BrowserTable(lobby()._setting(wishes()[0]), lambda number, action, is_open: None)

    async def listen() -> None:
        table._answer = asyncio.get_running_loop().create_future()  # the table waits for an answer
        await _listen(Socket(text), table, table.people[0], True)  # type: ignore[arg-type]

    with contextlib.suppress(WebSocketDisconnect):
        asyncio.run(listen())


def requests() -> list[dict[str, Any]]:
    """Return HTTP requests of a browser."""
    headers = {"host": "localhost", "origin": "http://localhost", "content-type": "application/json"}
    text = games()[0].to_text()
    bodies: dict[str, Any] = {
        "/api/games": wishes()[0],
        "/api/moment": {"game": "x", "frame": 0, "token": ""},
        "/api/agents": {"preset": "classic", "map": "tiny", "count": 3, "options": {}},
        "/api/again": {"game": "x", "token": ""},
        "/api/delete": {"game": "x", "token": ""},
        "/api/analysis/node": {"position": text, "action": 3, "chance": 1},
        "/api/analysis/odds": {"attackers": 3, "defenders": 2},
        "/game/x": {},
    }
    return [
        {"method": "POST", "path": path, "headers": headers, "body": body} for path, body in bodies.items()
    ]


@functools.cache
def page() -> Any:
    """Return the application of the page, without rate limits."""
    from risk_agents.serving import rates
    from risk_agents.web.app import make_app

    rates.Rates._may_send = lambda self, network: True  # type: ignore[method-assign]
    return make_app(lobby(), [])


def read_a_request(data: bytes) -> None:
    """Send a request with changed method, path, headers and body.

    The response must never be a server error.
    """
    try:
        asked = json.loads(data)
        method, path, body = str(asked["method"]), str(asked["path"]), as_json(asked["body"])
        headers = [(str(n).encode("latin-1"), str(v).encode("latin-1")) for n, v in asked["headers"].items()]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("no request") from error
    found: list[int] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        found.extend([message["status"]] if "status" in message else [])

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": b"",
        "query_string": b"",
        "headers": headers,
    }
    scope |= {
        "server": ("127.0.0.1", 80),
        "client": ("127.0.0.1", 1),
        "scheme": "http",
        "http_version": "1.1",
    }
    scope |= {"root_path": "", "asgi": {"version": "3.0"}}
    asyncio.run(page()(scope, receive, send))
    assert len(found) == 1 and found[0] < 500


@functools.cache
def store_file() -> bytes:
    """Return a file with some games of the page."""
    from risk_agents.web.browser_table import Setting
    from risk_agents.web.game_store import GameStore
    from risk_agents.web.lobby import Lobby
    from risk_env.saved_game import SavedGame

    path = folder() / "games.sqlite"
    kept = Lobby(GameStore(path))
    for seed in range(3):
        game = played("classic", seed, 20, num_players=2, initial_troops=9)
        setting = Setting.new(SavedGame.of(game, ["human", "random"]), ["A", "B"])
        kept.store.add_game(f"game-{seed}", setting.to_dict(), game.actions)
    kept.close()
    return path.read_bytes()


def read_a_store(data: bytes) -> None:
    """Read a file of games: the lobby lists the file, and each game is opened."""
    from risk_agents.web.game_store import GameStore
    from risk_agents.web.lobby import Lobby

    kept = Lobby(GameStore(written("changed.sqlite", data)))
    try:
        json.dumps(kept._listed())
        for name in (*kept.store.games(9)[0], "game-1"):
            with contextlib.suppress(ValueError):
                kept._restored(name).close()
    finally:
        kept.close()
        for rest in ("-wal", "-journal"):
            (folder() / f"changed.sqlite{rest}").unlink(missing_ok=True)


def tool_calls() -> list[dict[str, Any]]:
    """Return calls of an MCP client."""
    new = {"preset": "classic", "opponents": ["random"], "seat": 0, "board": "tiny", "seed": 1}
    found: list[dict[str, Any]] = [
        {"tool": "begin", **new, "options": {"max_rounds": 2, "initial_troops": 9}}
    ]
    found += [{"tool": name, "token": ""} for name in ("report", "legal_actions", "history")]
    return [*found, {"tool": "act", "token": "", "plan": "deploy Ash", "style": "full"}]


def read_a_call(data: bytes) -> None:
    """Read an MCP call with changed arguments that have the types of the schema."""
    from risk_agents.mcp.games import OpenGames

    games = OpenGames()
    types: dict[str, Any] = {
        "token": str,
        "plan": str,
        "style": str,
        "preset": str,
        "board": str,
        "opponents": list,
    }
    types |= {"seat": int, "seed": int | None, "options": dict | None}
    try:
        asked = json.loads(data)
        tool = asked.pop("tool")
    except (LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("no call") from error
    if any(
        not isinstance(value, types.get(name, object)) or name not in types for name, value in asked.items()
    ):
        raise ValueError("refused by the schema")
    if tool not in ("begin", "report", "legal_actions", "history", "act") or not all(
        isinstance(name, str) for name in asked.get("opponents", [])
    ):
        raise ValueError("refused by the schema")
    if "token" in asked:
        asked["token"] = games.begin("classic", ["open"], board="tiny", seed=1)[0]
    getattr(games, tool)(**asked)


# Recorded games


@functools.cache
def records() -> tuple[dict[str, Any], ...]:
    """Return lines of `tournament --save`."""
    from risk_agents.registry import play_game
    from risk_env.saved_game import SavedGame

    found = []
    for seed in range(4):
        rules = Rules.preset(
            "classic", 2, initial_troops=12, max_rounds=3, attack="blitz", defender_dice="max"
        )
        game = play_game(rules, load_map("tiny"), ["random", "attacker"], seed)
        result = {
            "game": seed,
            "versions": ["1", "1"],
            "winner": game.winner,
            "ending": "truncated" if game.truncated else "won",
            "places": game.placements().tolist(),
            "rounds": game.round,
            "forfeit_seat": -1,
            "forfeit_reason": "",
        }
        found.append(SavedGame.of(game, ["random", "attacker"]).to_dict() | {"result": result})
    return tuple(found)


def read_replays(data: bytes) -> None:
    """Read a file of records, and play all games again."""
    from risk_agents.replay import replayed_games

    for _ in replayed_games(str(written("games.jsonl", data)), None):
        pass


def kept_games() -> list[dict[str, Any]]:
    """Return games saved by `play`, with and without an initial position."""
    from risk_env.saved_game import SavedGame

    begun = [played("classic", seed, 30, num_players=2, initial_troops=9) for seed in range(4)]
    begun += [
        Game(game.rules, game.board, seed=1, position=game.to_text()) for game in begun if not game.is_over
    ]
    return [SavedGame.of(game, ["human", "random"]).to_dict() for game in begun]


def read_a_kept_game(data: bytes) -> None:
    """Read the game, and play it up to its last saved action."""
    from risk_agents.game_files import load_game

    load_game(written("kept.json", data)).replay()


# Trained files


def change_arrays(path: Path, rng: random.Random) -> bytes:
    """Change facts, or an array's shape, type or values, or change bytes."""
    if rng.random() < 0.3:
        return change_bytes(path.read_bytes(), rng)
    arrays = dict(contents(path))
    name = rng.choice([name for name in arrays if name != "facts"])
    match rng.randrange(0 if "facts" in arrays else 2, 6):
        case 0 | 1:
            facts = change_value(json.loads(str(arrays["facts"])), rng)
            arrays["facts"] = np.array(as_json(facts).decode())
        case 2:
            arrays[name] = arrays[name][..., : rng.randrange(arrays[name].shape[-1] + 1)]
        case 3:
            arrays[name] = arrays[name].astype(rng.choice(("f8", "i4", "U3", "?", "c8", "f2", ">f2")))
        case 4:
            with np.errstate(all="ignore"):
                arrays[name] = arrays[name] * np.float16(rng.choice((np.nan, np.inf, 0, 60000, -1)))
        case _:
            arrays[rng.choice((name, "extra", "facts"))] = arrays.pop(name)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


@functools.cache
def contents(path: Path) -> dict[str, Any]:
    """Return the arrays of a file."""
    with np.load(path) as found:
        return {name: found[name] for name in found.files}


def shipped(kind: str) -> Path:
    """Return the path of a trained file that is part of the project."""
    from risk_agents.learned import duelist
    from risk_agents.search import marshal

    return {"policy": duelist.FILE, "value": marshal.FILE}[kind]


def read_a_trained_file(data: bytes) -> None:
    """Read the bot of a file, and let it make one decision."""
    from risk_agents import registry

    ask(registry.load(str(written("trained.npz", data))))


def ask(bot: Any) -> None:
    """Let a compiled bot make one decision, in the game for which the shipped files were trained."""

    game = Game(Rules.preset("classic", 2, profile="fast"), "classic", 1)
    bot.check(game.rules, game.board)
    T, actions = game.tables, np.zeros(1, np.int64)
    randoms, memory = np.zeros((1, 6), np.uint64), np.zeros((1, 6, bot.memory), np.int32)
    bot.choose(game.records, T.board, T.rules, np.zeros(1, np.int64), randoms, memory, actions)
    assert actions[0] in game.legal_actions()


@functools.cache
def sb3_zip() -> tuple[dict[str, Any], bytes]:
    """Return the facts and weights of an SB3 policy with the project's own network."""
    import torch

    from risk_agents.learned.sb3_policy import OWN_POLICY, OWN_WEIGHTS

    arrays = contents(shipped("policy"))
    facts = json.loads(str(arrays["facts"]))
    buffer = io.BytesIO()
    weights = {name: torch.from_numpy(values.copy()) for name, values in arrays.items() if name != "facts"}
    torch.save({OWN_WEIGHTS + name: values for name, values in weights.items()}, buffer)
    return {
        "name": "x",
        "schema": facts["schema"],
        "made": {"config": {"policy": OWN_POLICY, "policy_kwargs": {}}},
    }, buffer.getvalue()


def change_zip(parts: tuple[dict[str, Any], bytes], rng: random.Random) -> bytes:
    """Change the facts, the weights or the bytes."""
    facts, weights = parts
    kind = rng.randrange(3)
    facts = change_value(facts, rng) if kind == 0 else facts
    weights = change_bytes(weights, rng) if kind == 1 else weights
    whole = zip_of(facts, weights)
    return change_bytes(whole, rng) if kind == 2 else whole


def zip_of(facts: Any, weights: bytes) -> bytes:
    """Return a `.zip` with these facts and weights."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("risk_env.json", as_json(facts).decode())
        archive.writestr("policy.pth", weights)
    return buffer.getvalue()


def read_a_zip(data: bytes) -> None:
    """Read the agent of a `.zip`, and let it make one decision."""
    from risk_agents import registry

    bot = registry.load(str(written("trained.zip", data)))
    if hasattr(bot, "choose"):
        ask(bot)


def change_map(wish: list[Any], rng: random.Random) -> bytes:
    """Return a file of another kind, or with another named map, digest, shapes or sizes."""
    from tests.crafted import KINDS, UNITS, crafted

    kind, *maps = wish
    kind = rng.choice(list(KINDS)) if rng.random() < 0.5 else kind
    maps = [rng.choice(("tiny", "classic", name)) for name in maps]
    path = crafted(folder() / "crafted.npz", kind, *maps, rng.choice((1, UNITS, UNITS + 1)))
    return change_arrays(path, rng) if rng.random() < 0.3 else path.read_bytes()


# Recorded decisions


@functools.cache
def recorded() -> Any:
    """Return recorded decisions as an Arrow table."""
    import pyarrow.parquet as pq

    from risk_agents.dataset.files import first_games, write_parquet
    from risk_agents.dataset.recorder import RecordingSpec, record

    spec = RecordingSpec(
        Rules.preset("classic", 3, max_rounds=2, initial_troops=6), load_map("tiny"), ("random", "grower")
    )
    write_parquet(folder() / "decisions.parquet", spec, first_games(record(spec), 60, lambda written: None))
    return pq.read_table(folder() / "decisions.parquet")


def change_decisions(table: Any, rng: random.Random) -> bytes:
    """Change a value of a column, the facts, the page format, or bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    options: dict[str, Any] = {
        "use_dictionary": rng.random() < 0.1,
        "compression": rng.choice(("zstd", "none")),
    }
    if rng.random() < 0.7:
        column = rng.randrange(table.num_columns)
        field, values = table.schema.field(column), table.column(column).to_pylist()
        row = rng.randrange(len(values))
        if isinstance(values[row], bytes):
            values[row] = bytes(rng.randrange(256) for _ in values[row])
        else:
            values[row] = rng.choice((0, 1, -1, 100, 2**31 - 1, None, float("nan"), float("inf"), 1e300))
        with contextlib.suppress(pa.ArrowException, OverflowError):
            table = table.set_column(column, field, pa.array(values, field.type))
    elif rng.random() < 0.6:
        facts = change_value(json.loads(table.schema.metadata[b"risk_env"]), rng)
        table = table.replace_schema_metadata({"risk_env": as_json(facts)})
    else:
        table = pa.concat_tables([table.slice(0, 1)] * rng.choice((1, 50_000)))
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **options)
    return change_bytes(buffer.getvalue(), rng) if rng.random() < 0.4 else buffer.getvalue()


def read_recorded(data: bytes) -> None:
    """Read the decisions of a file.

    Its numbers must be valid array indices.
    """
    from risk_agents.dataset import read_decisions

    facts, columns = read_decisions(written("decisions.parquet", data))
    assert (
        np.isfinite(columns["reward"]).all()
        and columns["mask"][np.arange(len(columns["action"])), columns["action"]].all()
    )
    assert columns["agent"].max(initial=0) < len(facts["agents"])


# GameVector


def method_calls() -> list[list[Any]]:
    """Return calls of the methods of batches and arenas: a name, then its arguments."""
    lanes, seeds = [0, 1, 2, 3], [7, 8, 9, 10]
    return [
        [
            ["begin", lanes],
            ["ask", [2, 0]],
            ["numbers", 1, 2, 0],
            ["seat_players", lanes],
            ["play_on", [1, 3]],
        ],
        [
            ["begin_seeded", lanes, seeds],
            ["seat_players", lanes],
            ["query_players", lanes],
            ["step", [0, 1]],
            ["game", 2],
        ],
        [
            ["begin", lanes],
            ["step_lanes", [3], [0, 0, 0, 5]],
            ["finish", [0]],
            ["death", 1, 2],
            ["run", lanes],
        ],
        [
            ["begin", lanes],
            ["turn", 0, -2],
            ["seat_players", [0]],
            ["play_on", [0]],
            ["add_seconds", [2], 1.0],
            ["players_to_act", lanes],
            ["count", [1]],
        ],
    ]


def make_calls(data: bytes) -> None:
    """Make these calls on a batch and an arena of four lanes.

    A wrong call must change nothing that later calls need.
    """
    from risk_env.arena import Arena

    batch = GameVector(Rules.preset("classic", 3, setup="random", max_rounds=2, initial_troops=6), "tiny", 4)
    arena = Arena(batch, ["random", "grower"], counts=True, keeps_actions=True)
    arena.numbers[:, :3] = [0, 1, 0]
    does: dict[str, Any] = {
        name: getattr(batch, name) for name in ("begin", "begin_seeded", "step_lanes", "finish", "game")
    }
    does |= {
        name: getattr(arena, name) for name in ("seat_players", "play_on", "step", "players_to_act", "resume")
    }
    does |= {
        "ask": batch.ask,
        "query_players": arena.query_players,
        "count": arena.tally.count,
        "add_seconds": arena.tally.add_seconds,
        "actions": arena.tally.actions,
    }
    does |= {"run": lambda lanes: list(arena.run(lanes)), "illegal_action": arena.illegal_action}
    places = {
        "numbers": arena.numbers,
        "death": arena.stop_at_death,
        "turn": arena.stop_at_turn,
        "actions": arena.actions,
    }
    for name, *arguments in json.loads(data):
        if name in places:
            with contextlib.suppress(IndexError, OverflowError, TypeError, ValueError):
                places[name][tuple(arguments[:-1])] = arguments[-1]
        elif name in does:
            with contextlib.suppress(ValueError):
                does[name](*arguments)
    batch.begin(np.arange(4))
    batch.finish(np.arange(4))


# Training


SWEEP = """
trials: 20
sampler: random
seed: 4
keys:
  gamma: {low: 0.9, high: 1}
  learning_rate: {low: 1e-4, high: 1e-2, log: true}
  n_epochs: {values: [1, 2]}
"""
GRID_SWEEP = """
sampler: grid
keys:
  gamma: {values: [0.9, 1]}
  policy: {values: [BoardPolicy, MlpPolicy]}
"""


def configs() -> list[str]:
    """Return the shipped configurations, after importing their trainers."""
    from importlib import import_module

    from risk_training.config import TRAINERS, shipped_configs

    for module in TRAINERS.values():
        import_module(module)
    return [Path(path).read_text() for path in shipped_configs()]


def change_settings(text: str, rng: random.Random) -> bytes:
    """Change lines, replace a number in a setting, or repeat a setting."""
    lines = text.splitlines()
    places = [place for place, line in enumerate(lines) if ": " in line and not line.startswith("#")]
    place = rng.choice(places)
    name = lines[place].partition(":")[0]
    match rng.randrange(4):
        case 0:
            lines[place] = (
                f"{name}: {rng.choice(('1e30', '1e23', '-1', '0', '8000', 'nan', '.inf', '1e999', 9**99))}"
            )
        case 1:
            lines.insert(place, lines[place])
        case _:
            return change_lines(text, rng)
    return text_bytes("\n".join(lines))


def read_a_config(data: bytes) -> None:
    """Read the settings of a file."""
    from importlib import import_module

    from risk_training.config import TRAINERS, read_config

    facts = read_config(written("config.yml", data))
    import_module(TRAINERS[facts["trainer"]]).Config.from_dict(facts)


def read_a_sweep(data: bytes) -> None:
    """Read the settings of a sweep, and compute the values that are checked before the first trial."""
    from risk_training.sweep import read_sweep

    found = read_sweep(written("sweep.yml", data))
    found.extremes()
    if not 1 <= found.trials <= 10_000:
        raise AssertionError(found.trials)


@functools.cache
def checkpoints() -> tuple[bytes, ...]:
    """Return the checkpoints of short runs of the project's own trainers."""
    from tests.kill import OWN_TRAINERS
    from tests.test_run import TRAINERS

    found = []
    for name in OWN_TRAINERS:
        module, config, _ = TRAINERS[name]
        module.Trainer(config, folder() / name).train()
        found.append((folder() / name / "checkpoint.pt").read_bytes())
    return tuple(found)


def change_checkpoint(data: bytes, rng: random.Random) -> bytes:
    """Change bytes of the archive, or change a value of the state and write it again."""
    import torch

    if rng.random() < 0.3:
        return change_bytes(data, rng)
    state = torch.load(io.BytesIO(data), weights_only=True)
    _change_tree(state, rng)
    buffer = io.BytesIO()
    torch.save(state, buffer)
    return buffer.getvalue()


def _change_tree(state: Any, rng: random.Random) -> None:
    """Change one value somewhere in a tree of dicts, lists and tensors."""
    import torch

    for _ in range(30):
        keys = list(state) if isinstance(state, dict) else list(range(len(state)))
        key = rng.choice(keys)
        inner = state[key]
        if isinstance(inner, dict | list) and inner and rng.random() < 0.95:
            state = inner
            continue
        if isinstance(inner, torch.Tensor) and inner.numel() and rng.random() < 0.7:
            flat = inner.reshape(-1)
            at = rng.randrange(len(flat))
            flat[at : at + rng.choice((1, 8))] = rng.choice((0, 1, 127)) if inner.dtype == torch.uint8 else 3
        else:
            _spoil(state, key, rng)
        return


def _spoil(state: Any, key: Any, rng: random.Random) -> None:
    """Replace a value of a tree by one of another kind or size, remove it, or add it under another name."""
    import torch

    numbers = (1, -1, 8000, 10**9, 10**400, True, -1.0, 0.5, 1e30, float("nan"), float("inf"))
    others = (None, "x", "../../x", [], [1], {}, {"a": 1}, torch.zeros(3), torch.zeros(1).expand(10**10))
    match rng.randrange(6):
        case 0:
            del state[key]
        case 1 if isinstance(state, dict):
            state[rng.choice(("x", 7, ""))] = state[key]
        case 2 if isinstance(state[key], list):
            state[key] = state[key][: rng.randrange(len(state[key]) + 1)]
        case 2 | 3:
            state[key] = rng.choice(others)
        case _:
            state[key] = rng.choice(numbers)


def read_a_checkpoint(data: bytes) -> None:
    """Resume the run of a folder with this checkpoint.

    The folder also has positions, which runs of the value trainer need.
    """
    from importlib import import_module

    from risk_training.config import TRAINERS
    from risk_training.run import load_checkpoint

    path = folder() / "resumed"
    if not path.exists():
        shutil.copytree(folder() / "beam_value", path)
    (path / "checkpoint.pt").write_bytes(data)
    import_module(TRAINERS[load_checkpoint(path)["config"]["trainer"]]).Trainer.resume(path)


@functools.cache
def positions() -> Path:
    """Return the path of the positions of a short round of the value trainer."""
    from risk_training import beam_value
    from tests.test_values import TINY

    path = folder() / "positions.npz"
    beam_value.play_chunk(TINY, 0, 4, None).save(path)
    return path


def read_positions(data: bytes) -> None:
    """Read the positions of a round, and learn from them as a run does."""
    from risk_training.beam_value import Network, Positions, lambda_returns

    columns = contents(positions())["features"].shape[1]
    found = Positions.load(written("changed.npz", data), columns)
    if len(found.won):
        lambda_returns(found, Network(columns, 8, 4).chances(found.features), 0.7)


def _total(numbers):  # type: ignore[no-untyped-def]
    """Return a sum, in a kernel that compiles fast."""
    return numbers[0] + numbers[1]


@functools.cache
def kernel() -> tuple[Any, Path, bytes]:
    """Return a kernel, the file of its compiled code, and the content of the file."""
    import numba

    from risk_env.compiler.kernel_files import guard
    from risk_env.compiler.mode import numba_setting

    with numba_setting("CACHE_DIR", str(folder() / "compiled")):
        entry = numba.njit(cache=True)(_total)
    guard(entry)
    entry(np.arange(2))
    (path,) = (folder() / "compiled").rglob("*.nbc")
    return entry, path, path.read_bytes()


def read_a_kernel_file(data: bytes) -> None:
    """Read compiled code from a file of the cache, which must be unchanged or be removed."""
    entry, path, written = kernel()
    path.write_bytes(data)
    if entry._cache.load_overload(entry.signatures[0], entry.targetctx) is None:
        assert not path.exists()
        raise ValueError("damaged")
    assert data == written


def specs() -> list[str]:
    """Return values of `--agents`."""
    return ["random,grower", "policy.npz", "best.zip,a=value.npz", 'x=beam,"cmd:./bot a,b"', "label=random"]


def read_specs(data: bytes) -> None:
    """Read the agents of a list.

    Programs and Python files are not loaded.
    """
    from risk_agents import registry
    from risk_agents.agent_list import split_agents

    for spec in split_agents(data.decode(errors="surrogateescape")):
        if "cmd:" not in spec and ".py" not in spec:
            registry.load(spec)


class ShortGames:
    """Games of a benchmark's schedule with a few random actions each, in the place of a store."""

    def __init__(self, config: Any, games: int) -> None:
        self.config, self.games = config, games

    def results(self, actions: bool = False) -> Iterator[Any]:
        """Yield the result of each game, always with its actions."""
        from risk_agents.tournament.results import TRUNCATED, GameResult

        seats = self.config.rules.num_players
        for pairing in self.config.schedule(self.games):
            game = Game(self.config.rules, self.config.board, self.config.seed, lane=pairing.deal)
            play_on(game, random.Random(pairing.game), 8)
            counts = (0,) * seats, (0,) * seats, (0.0,) * seats
            places = tuple(range(1, seats + 1))
            yield GameResult(*pairing, 0, TRUNCATED, -1, places, 2, *counts, actions=game.actions)


@functools.cache
def result_lines() -> list[Any]:
    """Return the lines of a benchmark's result file with short games."""
    from risk_agents.benchmark.result_file import Header, write_results
    from risk_agents.benchmark.tracks import find

    track = find("mission")
    facts = {
        "risk_env": "0.2.0",
        "agent": {
            "name": "mine",
            "version": "1",
            "registered": False,
            "compiled": False,
            "sha256": "ab" * 32,
        },
        "quick": True,
        "card": {"method": "none", "budget": "", "decisions": "0", "code": "https://example.org"},
        "machine": {"system": "x"},
        "times": {"date": "2026-11-26", "seconds": 1.5, "ms_a_turn": {track.name: 0.5}},
    }
    (config,) = Header(facts, (track,)).configs(track)
    path = folder() / "results.jsonl"
    games: Any = ShortGames(config, track.games(quick=True))  # in the place of a store
    write_results(path, facts, [(track, [games])])
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def change_result_lines(lines: list[Any], rng: random.Random) -> bytes:
    """Change a line of a result file, or leave out or repeat lines; usually the digest is right again."""
    from risk_agents.benchmark.result_file import _digest_of

    at = rng.choice((0, rng.randrange(len(lines))))
    changed = [*lines[:at], change_value(lines[at], rng), *lines[at + rng.choice((1, 1, 1, 1, 0, 2)) :]]
    header, *games = changed
    games = [as_json(game) + b"\n" for game in games]
    with contextlib.suppress(KeyError, TypeError, AttributeError, ValueError, RecursionError):
        if rng.random() < 0.7:
            digest = _digest_of(header)
            digest.update(b"".join(games))
            header = header | {"digest": digest.hexdigest()}
    return as_json(header) + b"\n" + b"".join(games)


def read_result_file(data: bytes) -> None:
    """Read a result file as the leaderboard does."""
    from risk_agents.benchmark.result_file import read_results

    read_results(written("results.jsonl", data))


@functools.cache
def onnx_model() -> bytes:
    """Return an exported policy."""
    from risk_agents.export import read
    from risk_agents.onnx_model import model_of

    return model_of(read("duelist")).SerializeToString()


def change_model(model: bytes, rng: random.Random) -> bytes:
    """Change bytes of a model, usually outside its weights, which are the longest part."""
    first = rng.randrange(1, 20_000)
    return change_bytes(model[:first], rng) + model[first:]


def read_a_model_file(data: bytes) -> None:
    """Read an ONNX model as an agent, without running it."""
    from risk_agents.onnx_policy import OnnxPolicy

    OnnxPolicy(written("model.onnx", data))


def named() -> dict[str, Target]:
    """Return all targets by name. A database is a target if its reader is a function."""
    from risk_agents.external import ProgramFault
    from risk_agents.llm.endpoint import EndpointError
    from risk_env.game import SavedGameError

    def texts_of(change: Callable[[Game], str]) -> Callable[[], list[str]]:
        return lambda: [change(game) for game in games()]

    playing = tuple(game for game in games() if not game.is_over)
    files = ValueError, OSError
    return {
        "map": Target(map_texts, change_lines, read_a_map, (MapError,)),
        "random": Target(random_names, change_lines, read_a_random_name, (MapError,)),
        **{
            name: Target(foreign_maps(wanted), change_foreign_map, read_a_foreign_map, (MapError,))
            for name, wanted in FOREIGN.items()
        },
        "picture": Target(pictures, change_picture, read_a_picture, (ValueError,)),
        "position": Target(texts_of(Game.to_text), change_position, read_a_position, (PositionError,)),
        "save": Target(lambda: games(), change_save, read_a_save, (SavedGameError,)),
        "load": Target(lambda: games(), change_loaded, load_a_record, (ValueError,)),
        "action": Target(lambda: playing, change_action, read_an_action, (IllegalAction,)),
        "protocol": Target(answers, change_json, read_an_answer, (ProgramFault,)),
        "plan": Target(plans, change_json, read_an_answer, (ProgramFault,)),
        "model": Target(plan_texts, change_lines, read_a_models_answer, (ValueError,)),
        "wish": Target(wishes, change_json, read_a_wish, (ValueError, TypeError, RecursionError)),
        "message": Target(messages, change_json, read_a_message, (ValueError, ArithmeticError, TypeError)),
        "http": Target(requests, change_json, read_a_request, (ValueError,)),
        "store": Target(lambda: [store_file()], change_bytes, read_a_store, (ValueError,)),
        "mcp": Target(tool_calls, change_json, read_a_call, (ValueError, TypeError, ArithmeticError)),
        "replay": Target(records, change_json, read_replays, (SavedGameError,)),
        "results": Target(lambda: [result_lines()], change_result_lines, read_result_file, files),
        "onnx": Target(lambda: [onnx_model()], change_model, read_a_model_file, files),
        "kept": Target(kept_games, change_json, read_a_kept_game, (SavedGameError,)),
        "policy": Target(lambda: [shipped("policy")], change_arrays, read_a_trained_file, files),
        "value": Target(lambda: [shipped("value")], change_arrays, read_a_trained_file, files),
        "maps": Target(
            lambda: [["policy", "tiny", "classic", "tiny"]], change_map, read_a_trained_file, files
        ),
        "decisions": Target(lambda: [recorded()], change_decisions, read_recorded, files),
        "lanes": Target(method_calls, change_json, make_calls, (ValueError, TypeError, RecursionError)),
        "zip": Target(lambda: [sb3_zip()], change_zip, read_a_zip, files),
        "config": Target(configs, change_settings, read_a_config, files),
        "sweep": Target(lambda: [SWEEP, GRID_SWEEP], change_settings, read_a_sweep, files),
        "checkpoint": Target(checkpoints, change_checkpoint, read_a_checkpoint, files),
        "positions": Target(lambda: [positions()], change_arrays, read_positions, files),
        "specs": Target(specs, change_lines, read_specs, files),
        "kernel": Target(
            lambda: [kernel()[2]], change_bytes, read_a_kernel_file, (ValueError,), accepts=False
        ),
        "endpoint": Target(endpoint_replies, change_json, read_a_reply, (EndpointError,)),
    }
