"""The server of the OpenEnv environment: each session has its own environment.

    server --port 8000 --curriculum duel

Environment variables set the defaults, for example in a container: `RISK_CURRICULUM`, `RISK_OPPONENTS`,
`RISK_SESSIONS` (maximum number of concurrent sessions) and `RISK_SESSION_TIMEOUT` (seconds after which a
session whose client sends nothing is closed).
"""

import argparse
import os
from functools import partial
from typing import Any

from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.types import ConcurrencyConfig
from risk_env import text_env

from ..models import RiskAction, RiskObservation
from .environment import RiskEnvironment

SETTINGS = {"curriculum": "tiny", "opponents": "random", "sessions": "64", "session_timeout": "1800"}


def make_app(**settings: str) -> Any:
    """Return the application of the server. `settings` override environment variables."""
    values = {name: os.environ.get(f"RISK_{name.upper()}", default) for name, default in SETTINGS.items()}
    values |= settings
    limits = ConcurrencyConfig(
        max_concurrent_envs=int(values["sessions"]), session_timeout=float(values["session_timeout"])
    )
    environment = partial(RiskEnvironment, values["curriculum"], values["opponents"])
    return create_app(
        environment, RiskAction, RiskObservation, env_name="risk_openenv", concurrency_config=limits
    )


app = make_app()


def main() -> None:
    """Run the server."""
    import uvicorn

    parser = argparse.ArgumentParser(description="Risk as an OpenEnv server")
    address = "address to listen on (default: 127.0.0.1, this machine only)"
    parser.add_argument("--host", default="127.0.0.1", help=address)
    parser.add_argument("--port", type=int, default=8000, help="port (default: 8000)")
    parser.add_argument(
        "--curriculum", choices=text_env.CURRICULA, help="games to play (default: RISK_CURRICULUM, else tiny)"
    )
    parser.add_argument(
        "--opponents",
        help="compiled bot that plays against the client (default: RISK_OPPONENTS, else random)",
    )
    parser.add_argument(
        "--sessions", help="maximum number of concurrent sessions (default: RISK_SESSIONS, else 64)"
    )
    parser.add_argument(
        "--session-timeout",
        metavar="SECONDS",
        help="idle time after which a session is closed, in seconds (default: RISK_SESSION_TIMEOUT, else "
        "1800)",
    )
    arguments = vars(parser.parse_args())
    host, port = arguments.pop("host"), arguments.pop("port")
    given = {name: value for name, value in arguments.items() if value is not None}
    uvicorn.run(make_app(**given), host=host, port=port)


if __name__ == "__main__":
    main()
