"""Processes that answer slow requests, and that are killed if a request takes too long.

A request is a JSON object with the name of a method as its `type`, and the arguments of the method. A reply
is {"result": ...} or {"error": "..."}.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from risk_agents.program import Program, ProgramFault, python_command, serve_lines

MOST_KNOWN = 1000  # maximum number of remembered kinds of requests

Methods = Mapping[str, Callable[..., Any]]


class WorkProcess:
    """Handle of a process that runs the function `serve` of a module, and answers one request after another.

    A process that was killed is started again by the next request. A `WorkProcess` is not thread-safe.
    """

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name
        self._program: Program | None = None
        self._compiled: set[str] = set()  # kinds of requests for which the process has compiled the code

    def request(self, request: dict[str, Any], limit: float) -> Any:
        """Return the result of a request within `limit` seconds.

        Raises ValueError with the reason if the request fails or takes too long.
        """
        reply = self._reply(request, limit)
        if "error" in reply:
            raise ValueError(reply["error"])
        return reply["result"]

    def compile_once(self, kind: str, request: dict[str, Any], limit: float) -> None:
        """Send a request that compiles code, unless the process has already compiled the code for `kind`.

        An error in the reply has no effect: the request that needs the code then fails with a reason. Raises
        ValueError if the process ends, or if the request takes more than `limit` seconds.
        """
        self._running()
        if kind not in self._compiled:
            self._reply(request, limit)
            self._compiled = {*list(self._compiled)[: MOST_KNOWN - 1], kind}

    def _reply(self, request: dict[str, Any], limit: float) -> dict[str, Any]:
        """Return the reply to a request; raise ValueError if the process does not reply."""
        try:
            return self._running().request(request, limit)
        except ProgramFault as fault:
            raise ValueError(str(fault)) from fault

    def _running(self) -> Program:
        """Return the process; start the process if none is running."""
        if self._program is None or not self._program.is_alive:
            self._program = Program(python_command(self._module), self._name)
            self._compiled.clear()
        return self._program

    def close(self) -> None:
        """End the process, if it has been started."""
        if self._program is not None:
            self._program.kill()


def serve_methods(methods: Methods) -> None:
    """Answer requests, in the process of a `WorkProcess`, until the pipe is closed."""
    serve_lines(lambda request, _request: reply_to(request, methods))


def reply_to(request: dict[str, Any], methods: Methods) -> dict[str, Any]:
    """Return the reply to a request: `result`, or `error` with the reason."""
    try:
        return {"result": methods[request["type"]](**{k: v for k, v in request.items() if k != "type"})}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:500]}
