"""The command `serve` (`risk-env serve --help`)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from risk_agents.replay import replayed_games
from risk_env.cli import PROGRAM, command_parser

if TYPE_CHECKING:
    from risk_agents.web.lobby import Lobby

GAMES = "risk-games.sqlite"
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def main(argv: Sequence[str]) -> None:
    """Serve the page until Ctrl-C."""
    import uvicorn

    from risk_agents.web.app import LONGEST_MESSAGE, make_app
    from risk_agents.web.lobby import Lobby
    from risk_agents.web.store import GameStore

    parser = command_parser("serve")
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1, this machine only)")
    add("--port", type=int, default=8642, metavar="N", help="port (default: 8642)")
    add("--games", default=GAMES, metavar="FILE", help=f"where games are kept (default: {GAMES})")
    add(
        "--from",
        metavar="FILE",
        dest="source",
        help="show a recorded game, too, which can be continued: as `replay` reads it",
    )
    add("--game", type=int, metavar="N", help="with --from: this game of the tournament")
    add("--at", type=int, metavar="N", help="with --from: begin at this step of it")
    add("--allow-programs", action="store_true", help="let browsers name agents by file or command, which are run here")
    arguments = parser.parse_args(argv)
    lobby = Lobby(GameStore(arguments.games), arguments.allow_programs)
    recorded = _recorded(lobby, arguments) if arguments.source else ""
    hosts = list(LOOPBACK) if arguments.host in LOOPBACK else ["*"]
    host, port = arguments.host, arguments.port
    print(f"{PROGRAM}: http://{host}:{port}/{recorded} (Ctrl-C ends it; games are kept in {arguments.games})")
    uvicorn.run(
        make_app(lobby, hosts),
        host=host,
        port=port,
        log_level="warning",
        ws_max_size=LONGEST_MESSAGE,
        ws_ping_timeout=60,
    )


def _recorded(lobby: Lobby, arguments: argparse.Namespace) -> str:
    """Keep the game of `--from`; where its page is on the server."""
    found = list(islice(replayed_games(arguments.source, arguments.game), 2))
    if len(found) != 1:
        raise ValueError(
            f"--from {arguments.source}: {'several games' if found else 'no game'}: choose one with --game"
        )
    step = "" if arguments.at is None else f"#{arguments.at}"
    return f"game/{lobby.add_recorded(found[0])}{step}"
