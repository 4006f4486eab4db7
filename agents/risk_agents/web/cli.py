"""The command `serve` (`risk-env serve --help`)."""

from collections.abc import Sequence

from risk_env.cli import PROGRAM, command_parser

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
    add("--allow-programs", action="store_true", help="let browsers name agents by file or command, which are run here")
    arguments = parser.parse_args(argv)
    hosts = list(LOOPBACK) if arguments.host in LOOPBACK else ["*"]
    app = make_app(Lobby(GameStore(arguments.games), arguments.allow_programs), hosts)
    print(f"{PROGRAM}: http://{arguments.host}:{arguments.port}/ (Ctrl-C ends it; games are kept in {arguments.games})")
    host, port = arguments.host, arguments.port
    uvicorn.run(app, host=host, port=port, log_level="warning", ws_max_size=LONGEST_MESSAGE, ws_ping_timeout=60)
