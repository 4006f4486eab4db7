"""Command `mcp`: a server for the Model Context Protocol, over standard streams or streamable HTTP."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import wraps
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp

from risk_agents.mcp.games import OPEN, OpenGames, load_open_map
from risk_agents.serving import connections
from risk_agents.serving.hosts import NamedHosts, served_names
from risk_agents.serving.rates import LONGEST_BODY, Rates, network_of
from risk_env import bots
from risk_env.board.maps import map_names
from risk_env.board.rules import BOOK, PROFILES, Rules, presets
from risk_env.cli import command_parser
from risk_env.core.odds import win_probability
from risk_env.words.report import HELP

PORT = 8321
# Limits for one address: requests per second, requests in a burst, concurrent POST requests
MOST_REQUESTS, BURST, MOST_POSTS = 100, 500, 6
INSTRUCTIONS = (
    "The board game Risk. new_game begins a game against bots or other clients, and returns the tokens of "
    "your seat and of open seats. report shows the situation and the decision to make. act plays a plan: "
    "several actions in order, usually a whole turn."
)


def make_server(games: OpenGames | None = None) -> MCPServer:
    """Return a server with its own games, or with `games`."""
    games = OpenGames() if games is None else games
    server = MCPServer("risk-env", instructions=INSTRUCTIONS, log_level="WARNING")
    _add_playing(server, games)
    _add_looking(server, games)
    _add_resources(server)
    return server


def _tool(server: MCPServer) -> Callable[[Callable[..., str]], Callable[..., str]]:
    """Return a decorator that registers a function as a tool; the client gets the messages of errors."""

    def add(function: Callable[..., str]) -> Callable[..., str]:
        @wraps(function)
        def run(**arguments: Any) -> str:
            try:
                return function(**arguments)
            except (ValueError, TypeError, ArithmeticError) as error:
                raise ToolError(str(error)) from None

        return server.tool(structured_output=False)(run)

    return add


def _add_playing(server: MCPServer, games: OpenGames) -> None:

    @_tool(server)
    def new_game(
        preset: str = "classic",
        opponents: list[str] | None = None,
        seat: int = 0,
        board: str = "classic",
        seed: int | None = None,
        profile: str = BOOK,
        options: dict[str, Any] | None = None,
        context: Context[Any, Any] | None = None,
    ) -> str:
        """Start a game. Return the token of your seat, the tokens of open seats, and your first report.

        opponents: one name for each other seat, clockwise: a bot, or "open" for another client (default: two
        copies of grower). Pass the token of an open seat on to the player of this seat. profile: "book", or
        "fast", which deals the territories and asks for fewer decisions. options: options of the rules, for
        example {"max_rounds": 100}.
        """
        chosen = {"profile": profile, **(options or {})}
        tokens = games.begin(
            preset, opponents or ["grower", "grower"], seat, board, seed, chosen, client_of(context)
        )
        others = {f"P{number}": token for number, token in tokens.items() if number != seat}
        facts = json.dumps({"token": tokens[seat], "open_seats": others})
        return f"{facts}\n{games.report(tokens[seat])}"

    @_tool(server)
    def act(token: str, plan: str, style: str = "brief") -> str:
        """Play one action, or a plan: several actions separated by `;`, as far ahead as you can foresee.

        For example: trade; draft Ural 5; attack Ural > Ukraine; occupy 3; fortify Japan > Mongolia all; end
        """
        return games.act(token, plan, style)


def _add_looking(server: MCPServer, games: OpenGames) -> None:
    """Add the tools that do not change a game."""

    @_tool(server)
    def report(token: str, style: str = "brief") -> str:
        """Return the situation and your decision in words.

        style: "brief"; or "full", which adds the map and the syntax of actions.
        """
        return games.report(token, style)

    @_tool(server)
    def legal_actions(token: str) -> str:
        """Return all legal actions, one per line; none if your seat is not to act."""
        return "\n".join(games.legal_actions(token))

    @_tool(server)
    def odds(attackers: int, defenders: int) -> str:
        """Return the probability, in percent, that a blitz (an attack to the end) succeeds.

        attackers: all troops on the source. defenders: all troops on the target.
        """
        if not (1 <= attackers <= 100_000 and 1 <= defenders <= 100_000):
            raise ValueError(f"attackers={attackers}, defenders={defenders}: both must be from 1 to 100,000")
        return f"{100 * win_probability(attackers, defenders):.1f} %"

    @_tool(server)
    def history(token: str, since: int = 0) -> str:
        """Return the events that your seat saw, from event number `since` on.

        The last line has the number for the next call.
        """
        lines, following = games.history(token, since)
        return "\n".join([*lines, f"next: {following}"])

    @_tool(server)
    def rules(preset: str = "classic", num_players: int | None = None, profile: str = BOOK) -> str:
        """Return all options of a preset's rules, and the syntax of actions."""
        return rules_text(preset, num_players, profile)


def rules_text(preset: str, num_players: int | None = None, profile: str = BOOK) -> str:
    """Return the options of a preset, and the syntax of actions."""
    return "\n".join([json.dumps(Rules.preset(preset, num_players, profile=profile).to_dict()), *HELP])


def _add_resources(server: MCPServer) -> None:

    @server.resource("risk://rules/{preset}", mime_type="text/plain")
    def preset_rules(preset: str) -> str:
        """Return the rules of a preset."""
        return rules_text(preset)

    @server.resource("risk://map/{name}", mime_type="application/json")
    def map_facts(name: str) -> str:
        """Return a map: territories, continents, bonuses, borders as (source, target), and cards."""
        board = asdict(load_open_map(name))
        kept = ("name", "territories", "continents", "bonuses", "continent_of", "borders", "symbols", "stars")
        return json.dumps({field: board[field] for field in kept})

    @server.resource("risk://choices", mime_type="application/json")
    def choices() -> str:
        """Return the names of all presets, profiles, maps and opponents."""
        return json.dumps(
            {
                "presets": presets(),
                "profiles": list(PROFILES),
                "maps": map_names(),
                "opponents": [OPEN, *bots.names()],
            }
        )


def client_of(context: Context[Any, Any] | None) -> str:
    """Return the address or network of the client (`network_of`), or "" over standard streams."""
    request = None if context is None else context.request_context.request
    return network_of(getattr(request, "client", None))


def make_app(names: Sequence[str], games: OpenGames | None = None) -> ASGIApp:
    """Return the server as an application for streamable HTTP, with the limits of `serving`."""
    app: ASGIApp = make_server(games).streamable_http_app(
        max_request_body_size=LONGEST_BODY,
        stateless_http=True,  # a token identifies a game; sessions of one client would lock out other clients
        # `NamedHosts` protects against DNS rebinding
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return NamedHosts(Rates(app, a_second=MOST_REQUESTS, burst=BURST, at_once=MOST_POSTS), names)


def main(argv: Sequence[str]) -> None:
    """Run the command `mcp`: serve until Ctrl-C or, with standard streams, until the client disconnects."""
    parser = command_parser("mcp")
    parser.add_argument(
        "--http", action="store_true", help="use streamable HTTP instead of standard input and output"
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="with --http: address to listen on (default: 127.0.0.1, this machine only)",
    )
    parser.add_argument(
        "--port",
        type=int,
        default=PORT,
        metavar="N",
        help=f"with --http: port of the server (default: {PORT}); the path of the URL is /mcp",
    )
    parser.add_argument(
        "--allowed-host",
        action="append",
        default=[],
        metavar="NAME",
        help="with --http: additional host name of the server, such as a proxy's name; may be repeated",
    )
    arguments = parser.parse_args(argv)
    if arguments.http:
        names = served_names(arguments.host, arguments.allowed_host)
        connections.check_address(arguments.host, arguments.port)
        connections.run(make_app(names), arguments.host, arguments.port)
    else:
        make_server().run("stdio")
