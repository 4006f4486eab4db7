"""Test agents (`risk_agents.agent_list`) before a tournament, and make the tournament's configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from risk_agents.agent_list import NamedAgent, labelled
from risk_agents.external import ExternalAgent, is_program
from risk_agents.llm.agent import ModelAgent, is_model
from risk_agents.program import ProgramFault, check_limit
from risk_agents.registry import HUMAN, is_in_file, load
from risk_agents.sandbox import sandbox
from risk_agents.tournament.config import TIME_LIMIT, Entrant, TournamentConfig
from risk_agents.tournament.host import Host
from risk_agents.tournament.players import LanePlayer, lane_player
from risk_agents.tournament.schedule import line_ups_with_copies
from risk_env.board.maps import Board, load_map
from risk_env.board.rules import Rules, check_rules
from risk_env.board.tables import tables
from risk_env.bots import SeatedBot
from risk_env.compiling import compile_games
from risk_env.players import Policy
from risk_env.text.escape import label as as_label

_COMPILED_IN_FILES: set[str] = set()  # specs `file.py:NAME` that were found to be compiled bots


def make_config(
    agents: Sequence[str], rules: Rules, map_source: str = "classic", **options: Any
) -> TournamentConfig:
    """Test every agent once, and return the configuration of a tournament between the agents.

    An agent is a spec of `make`, or `label=spec`. `options` are the other fields of `TournamentConfig`.
    Raises ValueError if an agent cannot play, or if the options contradict each other.
    """
    board = load_map(map_source)
    check_rules(rules, board)
    config = TournamentConfig((), rules, map_source, board.digest, **options)
    check_limit("time_limit", config.time_limit)
    check_limit("game_time", config.game_time)
    if not agents or (config.duel and len(agents) != 2):
        raise ValueError(
            f"agents={list(agents)!r}: name {'two agents' if config.duel else 'at least one agent'}"
        )
    if config.fixed_seats and (config.duel or len(agents) != rules.num_players):
        raise ValueError(
            f"agents={list(agents)!r}: fixed_seats needs one agent for each of the {rules.num_players} "
            "seats, and cannot be combined with a duel (--against)"
        )
    if config.copies:
        if config.duel or config.fixed_seats:
            raise ValueError("copies=True cannot be combined with fixed_seats or a duel (--against)")
        line_ups_with_copies(len(agents), rules.num_players)
    config = replace(config, time_limit=float(config.time_limit), game_time=float(config.game_time))
    prepare_luck(config)
    trial = Trial(rules, map_source, config.time_limit, config.sandbox)
    return replace(config, entrants=entrants([labelled(text) for text in agents], trial))


def prepare_luck(config: TournamentConfig) -> None:
    """Compile the code that measures luck if the tournament measures luck."""
    if (meter := config.luck_meter()) is not None:
        meter.prepare()


class Trial(NamedTuple):
    """Settings of the test of agents: rules, map, time limit and sandbox level."""

    rules: Rules
    map_source: str
    time_limit: float = TIME_LIMIT
    sandbox: str | None = None


def entrants(agents: Sequence[NamedAgent], trial: Trial) -> tuple[Entrant, ...]:
    """Test every agent with the rules and the map of the games, and return the agents as entrants.

    The test also compiles the code that the games need, so compilation costs the agents no thinking time.
    Raises ValueError if an agent fails, or if two agents have the same label.
    """
    compile_games(trial.rules, load_map(trial.map_source))
    tested = tuple(_entrant(agent, trial) for agent in agents)
    labels = [entrant.label for entrant in tested]
    for label in labels:
        if labels.count(label) > 1:
            spec = tested[labels.index(label)].spec
            raise ValueError(f"two agents have the label {label!r}; set another label, as in other={spec}")
    return tested


def _entrant(agent: NamedAgent, trial: Trial) -> Entrant:
    label, spec = agent
    if spec == HUMAN:
        load(spec)  # raises ValueError, because people can play only in `risk-env play`
    is_unknown = is_in_file(spec) and (trial.sandbox or spec not in _COMPILED_IN_FILES)
    bot = None if is_unknown else lane_player(spec)  # loads a file in this process
    if bot is None:
        try:
            name, version = _introduced(spec, trial)
        except ProgramFault as fault:
            raise ValueError(f"agent={spec!r} cannot play: {fault}") from fault
        if spec in _COMPILED_IN_FILES and not trial.sandbox:  # `_introduced` has found a compiled bot
            return _entrant(agent, trial)
        return Entrant(label or name, spec, version, compiled=False)
    _compile(bot, spec, trial.rules, trial.map_source)
    return Entrant(label or as_label(bot.name), spec, as_label(bot.version), compiled=True)


def _compile(bot: LanePlayer, spec: str, rules: Rules, map_source: str) -> None:
    """Compile or load a player; raise ValueError if the player cannot play with these rules."""
    board = load_map(map_source)
    try:
        if isinstance(bot, Policy):
            bot.prepare(rules, board)
        else:
            bot.check(rules, board)
            SeatedBot(bot, seed=0).load(tables(rules, board))
    except Exception as error:
        raise ValueError(f"agent={spec!r} cannot play: {type(error).__name__}: {error}") from error


def refusal(spec: str, rules: Rules, board: Board) -> str:
    """Return the reason why a player cannot play games with these rules on this map, or "" if there is none.

    The result is also "" for players that are not compiled bots or ONNX models, and for all Python files.
    """
    player = None if is_in_file(spec) else lane_player(spec)
    try:
        if isinstance(player, Policy):
            player.prepare(rules, board)
        elif player is not None:
            player.check(rules, board)
    except ValueError as error:
        return str(error)
    return ""


def _introduced(spec: str, trial: Trial) -> tuple[str, str]:
    """Start an agent in a separate process, and return the agent's name and version.

    A language model has no process. Without a sandbox, a spec that names a compiled bot is added to
    _COMPILED_IN_FILES. Raises ProgramFault if the agent cannot play.
    """
    if is_model(spec):
        model = ModelAgent(spec)  # sends no request before its first decision
        return as_label(model.name), as_label(model.version)
    walls = sandbox(trial.sandbox)
    if is_program(spec):
        program = ExternalAgent(spec, trial.time_limit, sandbox=walls)
        program.close()
        return program.name, program.version
    host = Host(spec, trial.rules, trial.map_source, trial.time_limit, walls)
    if host.is_compiled:
        if trial.sandbox and is_in_file(spec):
            host.close()
            raise ProgramFault(
                "crash",
                "a compiled bot from a file cannot run in a sandbox: leave out --sandbox, or use a Python "
                "agent",
            )
        _COMPILED_IN_FILES.add(spec)
    else:
        host.prepare(seat=0)
    host.close()
    return host.name, host.version
