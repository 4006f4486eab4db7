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


def main(argv: Sequence[str]) -> None:
    """Serve the page until Ctrl-C."""
    from risk_agents.serving import connections, hosts
    from risk_agents.web.app import LONGEST_MESSAGE, make_app
    from risk_agents.web.lobby import Lobby
    from risk_agents.web.store import GameStore

    arguments = _parser().parse_args(argv)
    host, port = arguments.host, arguments.port
    names = hosts.served_names(host, arguments.allowed_host)
    lobby = Lobby(GameStore(arguments.games), arguments.allow_programs)
    try:
        recorded = _recorded(lobby, arguments) if arguments.source else ""
        address = hosts.url(host, port, recorded)
        print(f"{PROGRAM}: {address} (Ctrl-C stops the server; games are saved in {arguments.games})")
        connections.run(make_app(lobby, names), host, port, ws_max_size=LONGEST_MESSAGE, ws_ping_timeout=60)
    finally:
        lobby.close()


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("serve")
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1, this machine only)")
    add("--port", type=int, default=8642, metavar="N", help="port (default: 8642)")
    add(
        "--allowed-host",
        action="append",
        default=[],
        metavar="NAME",
        help="additional host name of the server, such as a proxy's name; may be repeated",
    )
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
    return parser


def _recorded(lobby: Lobby, arguments: argparse.Namespace) -> str:
    """Keep the game of `--from`; where its page is on the server."""
    found = list(islice(replayed_games(arguments.source, arguments.game), 2))
    if len(found) != 1:
        raise ValueError(
            f"--from {arguments.source}: {'several games' if found else 'no game'}: choose one with --game"
        )
    step = "" if arguments.at is None else f"#{arguments.at}"
    return f"game/{lobby.add_recorded(found[0][0])}{step}"
