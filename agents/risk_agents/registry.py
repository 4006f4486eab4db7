"""Make agents from specs, which are strings that name players.

    grower                     name that is registered in the entry-point group `risk_env.agents`
    path/to/file.py:NAME       player in a Python file, such as a class or a bot
    policy.npz                 trained file (.npz, .zip or .onnx)
    tactician:FILE.npz         `tactician` with another state value
    kept_out:NAME              kept-out opponent (`risk_agents.kept_out`)
    cmd:COMMAND LINE           program
    llm:MODEL                  language model
    human                      person at the terminal (`make` only)

`load` returns a player for the functions that play games. `make` returns an agent for one seat.
"""

import hashlib
import importlib.util
import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from risk_env import bots
from risk_env.agent import Agent
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.bots import CompiledBot
from risk_env.game import Game
from risk_env.match import Match
from risk_env.messages import suggestion
from risk_env.players import AgentFactory, Named, Policy, as_agent, close_made, find_player

PROGRAM = "cmd:"
MODEL = "llm:"
KEPT_OUT = "kept_out:"  # prefix of the specs of kept-out opponents (`risk_agents.kept_out`)
TACTICIAN = "tactician:"  # prefix of the spec of `tactician` with the state value in a file
HUMAN = "human"  # spec of a person at the terminal
# Specs that the help of commands lists in addition to names
SPECS = "file.py:Class, a trained file (.zip, .npz, .onnx), 'cmd:program' or llm:MODEL"
POLICY_FILES = (".npz", ".zip", ".onnx")


def make(named: Named) -> Agent:
    """Return an agent for one seat; `named` is a spec (see `load`), "human", or a player (`find_player`).

    An agent is returned unchanged. A compiled bot or a policy is wrapped in an agent that plays one seat.
    """
    if not isinstance(named, str):
        return as_agent(named)
    if named == HUMAN:
        from risk_agents.human.human import Human

        return Human()
    return as_agent(load(named))


def load(spec: str) -> CompiledBot | Policy | AgentFactory:
    """Return the player of a spec.

    A spec is a registered name, `file.py:NAME`, a trained file, `tactician:FILE.npz`, `kept_out:NAME`,
    `cmd:...` or `llm:MODEL`. The argument `opponents=`, `Match`, `GameBatch.play` and `Arena` accept the
    player. For classes of agents, state values, programs and language models, the player is an
    `AgentFactory`, which makes an agent for each seat of each game. Raises ValueError if the spec names no
    player, and FileNotFoundError if an ONNX file does not exist.
    """
    if spec == HUMAN:
        raise ValueError(
            f"agent={spec!r}: people play in `risk-env play`, or in programs with risk_agents.make({spec!r})"
        )
    if spec.startswith(PROGRAM):
        from risk_agents.external import ExternalAgent

        return AgentFactory(partial(ExternalAgent, spec), spec)
    if spec.startswith(MODEL):
        from risk_agents.llm.agent import ModelAgent

        return AgentFactory(partial(ModelAgent, spec), spec)
    if spec.startswith(KEPT_OUT):
        from risk_agents import kept_out

        return kept_out.find(spec.removeprefix(KEPT_OUT))
    if spec.startswith(TACTICIAN) and spec.endswith(POLICY_FILES):
        return _tactician(spec)
    is_trained = spec.endswith(POLICY_FILES)
    target = _load_trained(spec) if is_trained else _in_file(spec) if is_in_file(spec) else bots.find(spec)
    try:
        player = find_player(target)
    except ValueError as error:
        raise ValueError(f"agent={spec!r}: {error}") from error
    if isinstance(player, Agent):
        raise ValueError(
            f"agent={spec!r} names an agent object: name its class, so that each seat gets its own agent"
        )
    return replace(player, name=spec) if isinstance(player, AgentFactory) else player


def load_bot(spec: str) -> CompiledBot:
    """Return the compiled bot of a spec that names no program, language model or Python file.

    The function is for specs in configurations and checkpoints, which may be untrusted. Raises ValueError for
    specs of programs, language models and Python files, and for players that are not compiled bots.
    """
    bot = None if spec == HUMAN or starts_code(spec) else load(spec)
    if not isinstance(bot, CompiledBot):
        raise ValueError(
            f"bot={spec!r} is not a compiled bot: give the name of a compiled bot, a policy or beam value "
            f"(.npz), or {TACTICIAN}FILE.npz"
        )
    return bot


def load_opponent(spec: str, named: Collection[str] = ()) -> CompiledBot | Policy | AgentFactory:
    """Return the player, compiled or not, of a spec in a configuration or a checkpoint.

    `named` are the specs that the user named, which may run code. Raises UnnamedCodeError for any other spec
    of a program, a language model or a Python file.
    """
    if starts_code(spec) and spec not in named:
        raise UnnamedCodeError(spec)
    return load(spec)


class UnnamedCodeError(ValueError):
    """Error for the spec of a program, a language model or a Python file that the user did not name."""

    def __init__(self, spec: str) -> None:
        super().__init__(
            f"opponent {spec!r} is a program, a language model or a Python file, but was not named explicitly"
        )
        self.spec = spec


def starts_code(spec: str) -> bool:
    """Return True if a spec names a program, a language model or a Python file."""
    return spec.startswith((PROGRAM, MODEL)) or is_in_file(spec)


def _tactician(spec: str) -> CompiledBot:
    """Return `tactician` with the state value in the file of a spec."""
    from risk_agents.learned.state_value import StateValueFile
    from risk_agents.search import tactician

    return tactician.judged_by(StateValueFile.load(spec.removeprefix(TACTICIAN)), spec)


def _in_file(spec: str) -> Any:
    """Return the object that `file.py:NAME` names; raise ValueError if the object does not exist."""
    path, _, name = spec.rpartition(":")
    module = _module_of(Path(path))
    if not hasattr(module, name):
        hint = suggestion(name, [known for known in vars(module) if not known.startswith("_")])
        raise ValueError(f"agent={spec!r}: {path} does not define {name!r}{hint}")
    return getattr(module, name)


def is_in_file(spec: str) -> bool:
    """Return True if a spec has the form `path/to/file.py:NAME`."""
    return spec.rpartition(":")[0].endswith(".py")


def file_of(spec: str) -> str:
    """Return the path of the Python file or the trained file that a spec names, or "" for other specs."""
    if spec.startswith((PROGRAM, MODEL, KEPT_OUT)):
        return ""
    if is_in_file(spec):
        return spec.rpartition(":")[0]
    path = spec.removeprefix(TACTICIAN)
    return path if path.endswith(POLICY_FILES) else ""


def check_programs(path: str | Path, specs: Sequence[str], named: Sequence[str] = ()) -> None:
    """Raise ValueError if the file `path` names programs, language models or Python files outside `named`.

    `specs` are the specs in the file, and `named` are the specs that the user named.
    """
    external = [spec for spec in specs if starts_code(spec)]
    if unnamed := [spec for spec in dict.fromkeys(external) if spec not in named]:
        programs = ", ".join(map(ascii, unnamed))
        raise ValueError(
            f"{path} names programs, language models or Python files: {programs}. If you trust all of them, "
            "add --allow-programs"
        )


def _load_trained(spec: str) -> Any:
    """Load a trained file; return a compiled bot, a policy, or a function that makes a `Strategist`."""
    from risk_agents import onnx_policy
    from risk_agents.learned import sb3_policy, state_value
    from risk_agents.search import strategist

    if spec.endswith(".zip"):
        return sb3_policy.load_zip(spec)
    if spec.endswith(onnx_policy.SUFFIX):
        return onnx_policy.OnnxPolicy(spec)
    kind = trained_class(spec)
    return strategist.with_value(spec) if kind is state_value.StateValueFile else kind.load_bot(spec)


def trained_class(path: str | Path) -> Any:
    """Return the class that loads a `.npz` file.

    The class is `PolicyFile`, `BeamValueFile`, `StateValueFile` or `TurnPolicyFile`.
    """
    from risk_agents.learned import policy, state_value, trained
    from risk_agents.search import beam_value, turn_policy

    kinds = {trained.BEAM_VALUE: beam_value.BeamValueFile, trained.STATE_VALUE: state_value.StateValueFile}
    kinds[trained.TURN_POLICY] = turn_policy.TurnPolicyFile
    return kinds.get(trained.kind_in(trained.facts_of(path)), policy.PolicyFile)


def _module_of(path: Path) -> ModuleType:
    """Return the module of a Python file; the file is loaded only once per process."""
    if not path.is_file():
        raise ValueError(f"agent file {str(path)!r} does not exist")
    name = "risk_env_file_" + hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise ValueError(f"agent file {str(path)!r} cannot be loaded as Python")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        if str(path.resolve().parent) not in sys.path:
            sys.path.append(str(path.resolve().parent))  # the file may import modules from the same folder
        try:
            spec.loader.exec_module(module)
        except BaseException as error:
            del sys.modules[name]
            if isinstance(error, Exception | SystemExit):
                raise ValueError(f"agent file {str(path)!r}: {type(error).__name__}: {error}") from error
            raise
    return sys.modules[name]


def play_game(rules: Rules, board: Board, players: Sequence[Named], seed: int = 0, lane: int = 0) -> Game:
    """Play a game between players, one per seat (see `make`), and return the game.

    With compiled bots, the game is the same as game `lane` of `GameBatch.play` with `seed`. Agents that the
    function makes are closed at the end. Raises PlayerFault if a player fails.
    """
    seated: list[Agent] = []
    try:
        seated.extend(map(make, players))
        match = Match(rules, board, seated, seed, lane=lane)
        match.run()
        return match.game
    finally:
        close_made(seated, players)
