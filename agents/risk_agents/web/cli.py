"""Command `serve` (`risk-env serve --help`)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from risk_agents.replay import replayed_games
from risk_agents.rules_arguments import MAP, PRESET, add_rules_arguments, options_of, rules_of
from risk_env.board.maps import MapError, check_open_map, load_map
from risk_env.board.rules import BOOK, check_rules
from risk_env.cli import PROGRAM, command_parser

if TYPE_CHECKING:
    from risk_agents.web.lobby import Lobby

DATABASE = "risk-games.sqlite"


def main(argv: Sequence[str]) -> None:
    """Run the command `serve`: run the web server until Ctrl-C."""
    from risk_agents.serving import connections, hosts
    from risk_agents.web.app import LONGEST_MESSAGE, make_app
    from risk_agents.web.game_store import GameStore
    from risk_agents.web.lobby import Lobby

    arguments = _parser().parse_args(argv)
    host, port = arguments.host, arguments.port
    connections.check_address(host, port)
    names = hosts.served_names(host, arguments.allowed_host)
    proposed = proposed_game(arguments)
    lobby = Lobby(GameStore(arguments.database), arguments.allow_programs, proposed)
    try:
        recorded = _recorded(lobby, arguments) if arguments.source else ""
        address = hosts.url(host, port, recorded)
        print(f"{PROGRAM}: {address} (Ctrl-C stops the server; games are saved in {arguments.database})")
        connections.run(make_app(lobby, names), host, port, ws_max_size=LONGEST_MESSAGE, ws_ping_timeout=60)
    finally:
        lobby.close()


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("serve")
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1, this machine only)")
    add("--port", type=int, default=8642, metavar="N", help="port of the server (default: 8642)")
    add(
        "--allowed-host",
        action="append",
        default=[],
        metavar="NAME",
        help="additional host name of the server, such as a proxy's name; may be repeated",
    )
    add(
        "--database", default=DATABASE, metavar="FILE", help=f"SQLite file of all games (default: {DATABASE})"
    )
    add(
        "--from",
        metavar="FILE",
        dest="source",
        help="show a recorded game from a file that `replay` can read; people can continue the game from any "
        "moment",
    )
    add("--game", type=int, metavar="N", help="with --from: number of the game in the tournament")
    add("--at", type=int, metavar="N", help="with --from: first step to show")
    add(
        "--allow-programs",
        action="store_true",
        help="let browsers name files, commands and language models as agents, which this machine runs or "
        "queries",
    )
    group = parser.add_argument_group("new games", "initial values of the form for a new game")
    add_rules_arguments(group, BOOK, maps="name of a shipped map, or random:SEED")
    return parser


def proposed_game(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the initial values of the form for a new game.

    Raises ValueError if a browser may not choose the map, or if the rules cannot be played on the map.
    """
    from risk_agents.web.lobby import proposal

    wanted, name = vars(arguments), arguments.map or MAP
    try:
        check_open_map(name)
    except MapError as error:
        raise ValueError(f"--map {error}") from None
    rules = rules_of(wanted, BOOK)
    check_rules(rules, load_map(name))
    beside = {"expert": bool(arguments.expert), "profile": arguments.profile or BOOK}
    return proposal(arguments.preset or PRESET, name, rules, **beside, **options_of(wanted))


def _recorded(lobby: Lobby, arguments: argparse.Namespace) -> str:
    """Add the game of `--from` to the database, and return the path of the game's page.

    Raises ValueError unless `--from` and `--game` select exactly one game.
    """
    games = list(islice(replayed_games(arguments.source, arguments.game), 2))
    if len(games) != 1:
        game = "no game" if arguments.game is None else f"no game {arguments.game}"
        found = "several games" if games else game
        other = "choose another file" if arguments.game is None else "choose another number with --game"
        hint = "choose one with --game" if games else other
        raise ValueError(f"--from {arguments.source}: the file contains {found}; {hint}")
    step = "" if arguments.at is None else f"#{arguments.at}"
    return f"game/{lobby.add_recorded(games[0][0])}{step}"
