"""From what stands behind `--agents` to entrants: `grower`, `bots.py:MyBot`, `best.zip`, `cmd:./bot`, `label=spec`."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from functools import cache

import numpy as np

from risk_agents.external import ExternalAgent, is_program
from risk_agents.llm.agent import ModelAgent, is_model
from risk_agents.program import ProgramFault, check_limit
from risk_agents.registry import HUMAN, POLICY_FILES, load
from risk_agents.tournament.config import GAME_TIME, TIME_LIMIT, Entrant, TournamentConfig
from risk_agents.tournament.host import Host
from risk_agents.tournament.results import Forfeit
from risk_env import bots
from risk_env.board.maps import load_map
from risk_env.board.rules import Rules, check_rules
from risk_env.board.tables import tables
from risk_env.bots import CompiledBot
from risk_env.core.types import MAX_SEATS
from risk_env.text import escape

_COMPILED_IN_FILES: set[str] = set()  # specs of files that a host has loaded and found a compiled bot in
_LABELLED = re.compile(r"([\w .+-]+)=(.+)", re.DOTALL)


def split_agents(text: str) -> list[str]:
    """The specs of a list with commas; quotes protect commas: `random,"cmd:./bot --levels 1,2"`."""
    (row,) = csv.reader([text], skipinitialspace=True)
    return [spec.strip() for spec in row if spec.strip()]


@cache
def compiled_bot(spec: str) -> CompiledBot | None:
    """The compiled bot of a name, `file.py:NAME` or a policy file; None if the spec is of another kind."""
    if (
        is_program(spec)
        or is_model(spec)
        or not (is_in_file(spec) or spec.endswith(POLICY_FILES) or spec in bots.names())
    ):
        return None
    found = load(spec)
    return found if isinstance(found, CompiledBot) else None


def is_in_file(spec: str) -> bool:
    """Whether a spec is `path/to/file.py:NAME`."""
    return bool(re.search(r"\.py:\w+$", spec))


def make_config(
    agents: Sequence[str],
    rules: Rules,
    map_source: str = "classic",
    *,
    seed: int = 0,
    time_limit: float = TIME_LIMIT,
    record: bool = False,
    duel: bool = False,
    fresh: bool = False,
    game_time: float = GAME_TIME,
    fixed_seats: bool = False,
) -> TournamentConfig:
    """The configuration of a tournament of these agents (`make` specs, or `label=spec`); every agent is tried once."""
    if not agents or (duel and len(agents) != 2):
        raise ValueError(f"agents={list(agents)!r}: {'two are' if duel else 'at least one is'} needed")
    if fixed_seats and (duel or len(agents) != rules.num_players):
        raise ValueError(
            f"fixed_seats needs one agent for each of {rules.num_players} seats and no test against another, not "
            f"agents={list(agents)!r}"
        )
    check_limit("time_limit", time_limit)
    check_limit("game_time", game_time)
    board = load_map(map_source)
    check_rules(rules, board)
    found = entrants(agents, rules, map_source, time_limit)
    return TournamentConfig(
        found,
        rules,
        map_source,
        board.digest,
        seed,
        float(time_limit),
        record,
        duel,
        fresh,
        float(game_time),
        fixed_seats,
    )


def entrants(
    texts: Sequence[str], rules: Rules, map_source: str, time_limit: float = TIME_LIMIT
) -> tuple[Entrant, ...]:
    """Try every agent once, in the game that it will play; ValueError for one that cannot be had or played."""
    found = tuple(_entrant(text, rules, map_source, time_limit) for text in texts)
    labels = [entrant.label for entrant in found]
    for label in labels:
        if labels.count(label) > 1:
            spec = found[labels.index(label)].spec
            raise ValueError(f"--agents: two agents are called {label!r}; name one of them, as other={spec}")
    return found


def _entrant(text: str, rules: Rules, map_source: str, time_limit: float) -> Entrant:
    labelled = _LABELLED.fullmatch(text) if not is_program(text) else None
    label, spec = labelled.groups() if labelled else (None, text)
    if spec == HUMAN:
        load(spec)  # says that people play elsewhere
    bot = None if is_in_file(spec) and spec not in _COMPILED_IN_FILES else compiled_bot(spec)
    if bot is None:
        try:
            name, version = _asked(spec, rules, map_source, time_limit)
        except (Forfeit, ProgramFault) as fault:
            raise ValueError(f"agent={spec!r} cannot play: {fault}") from fault
        if spec in _COMPILED_IN_FILES:  # as is known now
            return _entrant(text, rules, map_source, time_limit)
        return Entrant(label or name, spec, version, compiled=False)
    _compile(bot, spec, rules, map_source)
    return Entrant(label or bot.name, spec, bot.version, compiled=True)


def _compile(bot: CompiledBot, spec: str, rules: Rules, map_source: str) -> None:
    """Ask a compiled bot nothing at all, which compiles it; ValueError if that fails, or such games are not for it."""
    board = load_map(map_source)
    records = tables(rules, board)
    nobody, memory = np.zeros(0, np.int64), np.zeros((1, MAX_SEATS, bot.memory), np.int32)
    randoms, actions = np.zeros((1, MAX_SEATS), np.uint64), np.zeros(1, np.int64)
    try:
        bot.check(rules, board)
        bot.choose(records.new_games(1), records.board, records.rules, nobody, randoms, memory, actions)
    except Exception as error:
        raise ValueError(f"agent={spec!r} cannot play: {type(error).__name__}: {error}") from error


def _asked(spec: str, rules: Rules, map_source: str, time_limit: float) -> tuple[str, str]:
    """Name and version of an agent as it says itself, in a process of its own; compiled ones are noted."""
    if is_model(spec):
        model = ModelAgent(spec)  # its first request is that of its first decision
        return escape.label(model.name), escape.label(model.version)
    if is_program(spec):
        program = ExternalAgent(spec, time_limit=time_limit)
        program.close()
        return program.name, program.version
    host = Host(spec, rules, map_source, time_limit)
    if host.is_compiled:
        _COMPILED_IN_FILES.add(spec)
    else:
        host.rehearse()
    host.close()
    return host.name, host.version
