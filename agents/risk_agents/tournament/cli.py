"""The commands `tournament` and `agents` (`risk-env tournament --help`)."""

import argparse
import os
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from risk_agents.agent_list import NamedAgent, agent_list, labelled, split_agents
from risk_agents.llm.agent import is_model
from risk_agents.program import brief
from risk_agents.progress import games_bar
from risk_agents.registry import SPECS, check_programs, starts_code
from risk_agents.rules_arguments import (
    MAP,
    NAMES,
    OPTIONS,
    PLAYERS,
    PRESET,
    add_rules_arguments,
    rules_of,
)
from risk_agents.sandbox import LEVELS, sandbox
from risk_agents.tournament import sprt
from risk_agents.tournament.config import GAME_TIME, TIME_LIMIT, Entrant, TournamentConfig
from risk_agents.tournament.exports import (
    Grid,
    config_lines,
    model_grids,
    remarks,
    rich_tables,
    write_csv,
    write_json,
)
from risk_agents.tournament.jobs import close_pools
from risk_agents.tournament.line_ups import analyse_line_ups, line_up_grids
from risk_agents.tournament.loading import Trial, entrants, make_config, prepare_luck
from risk_agents.tournament.players import compiled_bot
from risk_agents.tournament.population import cycle_lines, population, population_grid
from risk_agents.tournament.records import check_has_actions, write_records
from risk_agents.tournament.replays import FORMS, parse_selection, write_replays
from risk_agents.tournament.report import KINDS, Played, write_report
from risk_agents.tournament.results import GameResult
from risk_agents.tournament.results_store import Store, StoreError
from risk_agents.tournament.running import conduct
from risk_agents.tournament.summary import Games, summarise
from risk_agents.workers import add_options, local_processes, open_executor
from risk_env import bots
from risk_env.board.rules import BOOK, FAST, Rules, check_rules
from risk_env.cli import check_output, command_parser, require
from risk_env.messages import counted
from risk_env.text.escape import for_terminal

GAMES, DUEL_GAMES = 1000, 30_000
MOST_GAMES = 1_000_000
# Games in which the command `agents` tests an agent: preset, number of players, profile
TRIALS = (("classic", 3, FAST), ("classic", 2, FAST), ("two_player", 2, FAST), ("classic", 3, BOOK))
# Arguments that determine the games, and their default values
DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(("against", *NAMES)),
    "preset": PRESET,
    "map": MAP,
    "profile": FAST,
    **dict.fromkeys(("expert", "fresh", "fixed_seats", "copies"), False),
    "option": [],
    "seed": 0,
    "luck": False,
    "time_limit": TIME_LIMIT,
    "game_time": GAME_TIME,
}

# ------------------------------------------------------------------------------------------------ tournament


def main(argv: Sequence[str]) -> None:
    """Run the command `tournament`: play games, print the results, and write output files."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.agents is None and arguments.resume is None:
        parser.error("no agents: add --agents A,B,... or --resume")
    try:
        local_processes(arguments.workers)
    except ValueError as error:
        parser.error(f"--{error}")
    _check_outputs(arguments)
    sandbox(arguments.sandbox)  # raises an error if this machine cannot provide the sandbox
    console = Console(stderr=True, quiet=arguments.quiet)
    store = _resumed(arguments) if arguments.resume is not None else _begun(arguments)
    with closing(store):
        _say(console, f"{store.path}: {', '.join(store.config.labels)}", *config_lines(store.config))
        if len(store.config.labels) == 1:
            _say(console, "only one agent: it plays all seats, so win rates and ratings show nothing")
        if store.config.sandbox:
            _say(console, f"sandbox of agents' processes: {sandbox(store.config.sandbox).says}")
        games = _games(arguments, store)
        _play(store, games, arguments, console)
        _tell(store, games, arguments)


def _check_outputs(arguments: argparse.Namespace) -> None:
    """Check the number of games, the output files and the installed extras before any game is played.

    Raises an error for the first argument that is not valid.
    """
    if arguments.games is not None and not 1 <= arguments.games <= MOST_GAMES:
        raise ValueError(f"--games {arguments.games}: must be from 1 to {MOST_GAMES:,}")
    if arguments.resume and arguments.out:
        raise ValueError(
            f"--out {arguments.out} cannot be combined with --resume, which writes to {arguments.resume}"
        )
    parse_selection(arguments.replay_games)
    if arguments.replays and Path(arguments.replays).exists() and not Path(arguments.replays).is_dir():
        raise ValueError(f"--replays {arguments.replays}: must be a folder, or the name of a new folder")
    for name in ("out", "save", "csv", "json", "report"):
        path = getattr(arguments, name)
        if path:
            check_output(f"--{name}", path, *(KINDS if name == "report" else ()))
        if path and not os.access(path if Path(path).exists() else Path(path).absolute().parent, os.W_OK):
            raise PermissionError(f"--{name} {path}: the file cannot be written; choose another path")
    if arguments.report:
        require("matplotlib")
    if arguments.population:
        require("scipy")


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("tournament")
    add = parser.add_argument
    add(
        "--agents",
        metavar="A,B,...",
        help=f"agents of the tournament: names, {SPECS}; label=agent sets a label",
    )
    add(
        "--against",
        metavar="AGENT",
        help="test whether the agent in --agents is better than AGENT, with a sequential test (SPRT)",
    )
    add_rules_arguments(parser, FAST, f"number of agents, if the preset allows that number; else {PLAYERS}")
    add(
        "--games",
        type=int,
        metavar="N",
        help=f"number of games, rounded up to whole deals (default: {GAMES:,}); with --against, maximum "
        f"number of games (default: {DUEL_GAMES:,})",
    )
    add("--seed", type=int, help="seed of all games (default: 0)")
    _add_limits(parser)
    add_options(parser, note="; if language models play, threads replace processes")
    _add_files(parser)
    _add_sandbox(parser)
    add(
        "--allow-programs",
        action="store_true",
        help="with --resume: run the programs and Python files, and query the language models, that FILE "
        "names",
    )
    add("--quiet", action="store_true", help="do not print the configuration and the progress")
    return parser


def _add_limits(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for time limits, processes, seats and luck."""
    add = parser.add_argument
    add(
        "--time-limit",
        type=float,
        metavar="S",
        help=f"time limit for one decision, in seconds (default: {TIME_LIMIT:g})",
    )
    add(
        "--game-time",
        type=float,
        metavar="S",
        help=f"time limit for all decisions of a seat in one game, in seconds (default: {GAME_TIME:g})",
    )
    add(
        "--fresh",
        action="store_true",
        default=None,
        help="start new processes for every game, so that no agent remembers the previous game",
    )
    add(
        "--fixed-seats",
        action="store_true",
        default=None,
        help="seat the agents in the order of --agents in every game",
    )
    add(
        "--copies",
        action="store_true",
        default=None,
        help="also play line-ups with copies of an agent (for --population with three or more players)",
    )
    add(
        "--luck",
        action="store_true",
        default=None,
        help="in two-player games, also report win rates without the luck of dice and cards, and use these "
        "rates for --against. The first use compiles code for about one minute",
    )


def _add_files(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for files that a tournament reads and writes."""
    add = parser.add_argument
    add(
        "--out",
        metavar="FILE",
        help="SQLite file of the games (default: a new file tournament-TIME.sqlite)",
    )
    add(
        "--resume",
        nargs="?",
        const="",
        metavar="FILE",
        help="continue the tournament in FILE; if FILE is left out, continue the tournament of --out, or "
        "else of the newest tournament-*.sqlite in this folder",
    )
    add("--save", metavar="FILE", help="write the saved games, one per line (for `risk-env replay`)")
    add("--replays", metavar="FOLDER", help="folder for replays of games, as pages for a browser")
    add(
        "--replay-games",
        metavar="WHICH",
        default="every:100",
        help=f"games for --replays: {FORMS} (default: every:100)",
    )
    add("--csv", metavar="FILE", help="write a CSV file, one row per game")
    add("--json", metavar="FILE", help="write the configuration and the summary to this file as JSON")
    add(
        "--population",
        action="store_true",
        help="also report the Nash average, alpha-rank and cycles of agents (needs the extra 'tournament')",
    )
    add(
        "--report",
        metavar="FILE",
        help="write a report: tables, plots and the list of games with links to the replays (.html), or only "
        "the plots (.png)",
    )


def _add_sandbox(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sandbox",
        nargs="?",
        const=LEVELS[0],
        choices=LEVELS,
        help="limit the network, memory and files of programs and of agents in Python (default: no "
        "limits). yes: as far as this machine allows; strict: fail unless bubblewrap works",
    )


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments on the command line that determine the games, by name."""
    names = ("agents", *DEFAULTS)
    return {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}


def _begun(arguments: argparse.Namespace) -> Store:
    """Create the file of a new tournament, and return its store."""
    wanted = {**DEFAULTS, **_given(arguments), "record": _keeps_actions(arguments)}
    config = _config(wanted, arguments.sandbox)
    usual = DUEL_GAMES if wanted["against"] else GAMES
    facts = {
        **wanted,
        "players": config.num_players,
        "games": usual if arguments.games is None else arguments.games,
    }
    facts |= {option: getattr(config.rules, option) for option in OPTIONS}
    if arguments.out:
        return Store.create(arguments.out, config, facts)
    return Store.create(time.strftime("tournament-%Y%m%d-%H%M%S.sqlite"), config, facts, may_rename=True)


def _keeps_actions(arguments: argparse.Namespace) -> bool:
    """Return True if an output needs the actions of every game."""
    return arguments.save is not None or arguments.replays is not None


def _config(wanted: dict[str, Any], level: str | None) -> TournamentConfig:
    agents = split_agents(wanted["agents"])
    if wanted["against"] is not None:
        if len(agents) != 1:
            raise ValueError(
                f"--agents names {counted(len(agents), 'agent')}; with --against, give exactly one agent"
            )
        agents.append(wanted["against"])
    names = ("seed", "time_limit", "fresh", "game_time", "fixed_seats", "copies", "record", "luck")
    options = {name: wanted[name] for name in names}
    rules, is_duel = rules_of(wanted, FAST, len(agents)), wanted["against"] is not None
    return make_config(agents, rules, wanted["map"], duel=is_duel, sandbox=level, **options)


def _resumed(arguments: argparse.Namespace) -> Store:
    """Open the tournament that `--resume` names, and return its store.

    Raises ValueError if an argument or an agent's version has changed since the tournament began, or if an
    output needs actions that the file does not contain. Also raises ValueError if the file names programs,
    language models or Python files that the command line does not allow.
    """
    store = Store.open(arguments.resume or arguments.out or _newest())
    given = _given(arguments)
    if _keeps_actions(arguments):
        check_has_actions(store)
    for name, value in given.items():
        if value != store.arguments.get(name):
            option, then = name.replace("_", "-"), store.arguments.get(name)
            was_given = then is not None and then is not False and then != []
            told = f"with {brief(then)}" if was_given else "without this option"
            raise ValueError(
                f"--{option} is {value!r}, but {store.path} was started {told}; start a new tournament "
                "with --out"
            )
    if not arguments.allow_programs:
        texts = split_agents(arguments.agents or "") + ([arguments.against] if arguments.against else [])
        named = [labelled(text).spec for text in texts]
        check_programs(store.path, [entrant.spec for entrant in store.config.entrants], named)
    store.config = _tried_again(store, arguments.sandbox)
    return store


def _newest() -> str:
    def numbers(path: Path) -> list[int]:  # date, time, and the number that was added to an existing name
        return [int(part) for part in path.stem.split("-") if part.isdecimal()]

    files = sorted(Path().glob("tournament-*.sqlite"), key=numbers)
    if not files:
        raise FileNotFoundError("--resume: this folder has no tournament-*.sqlite; add the name of a file")
    return str(files[-1])


def _tried_again(store: Store, level: str | None) -> TournamentConfig:
    """Test the agents again, and return the configuration with the tested agents.

    Raises ValueError if an agent's version has changed since the tournament began.
    """
    config = store.config
    check_rules(config.rules, config.board)
    prepare_luck(config)
    trial = Trial(config.rules, config.map_source, config.time_limit, level)
    tested = entrants([NamedAgent(entrant.label, entrant.spec) for entrant in config.entrants], trial)
    for now, then in zip(tested, config.entrants, strict=True):
        if now.version != then.version:
            raise ValueError(
                f"agent={then.label!r} is version {brief(now.version)}, but was {brief(then.version)} in "
                f"{store.path}; start a new tournament with --out"
            )
    return replace(config, entrants=tested, sandbox=level)


def _games(arguments: argparse.Namespace, store: Store) -> int:
    games = store.arguments.get("games", GAMES) if arguments.games is None else arguments.games
    if type(games) is not int or not 1 <= games <= MOST_GAMES:
        raise StoreError(
            f"{store.path}: games is {brief(games)}, but must be a whole number from 1 to {MOST_GAMES:,}"
        )
    return games


def _play(store: Store, games: int, arguments: argparse.Namespace, console: Console) -> None:
    workers, limit = arguments.workers, arguments.chunk_limit
    verdict = (lambda: _verdict(store).verdict != sprt.OPEN) if store.config.duel else (lambda: False)
    with games_bar(len(store.config.schedule(games)), console) as tell:
        try:
            with _executor(store.config, workers, limit) as executor:
                jobs = local_processes(workers) or 1
                conduct(store, games, jobs, executor, progress=tell, enough=verdict, limit=limit)
        except KeyboardInterrupt:
            _say(console, f"stopped; to continue: {shlex.join(_continuing(store, arguments))}")
            raise


def _continuing(store: Store, arguments: argparse.Namespace) -> list[str]:
    """Return the command that continues an interrupted tournament with the same sandbox and output files."""
    runs_code = any(starts_code(entrant.spec) for entrant in store.config.entrants)
    wanted = {name: getattr(arguments, name) for name in ("save", "replays", "csv", "json", "report")}
    wanted["sandbox"] = store.config.sandbox
    wanted["games"] = None if arguments.resume is None else arguments.games
    given = [f"--{name}={value}" for name, value in wanted.items() if value is not None]
    allowed = ["--allow-programs"] * runs_code
    return ["risk-env", "tournament", "--resume", str(store.path), *allowed, *given]


@contextmanager
def _executor(config: TournamentConfig, workers: str, limit: float | None) -> Iterator[Executor | None]:
    """Provide the executor of the games inside the context.

    The executor is a Ray cluster if `workers` names a cluster. If there are several workers and a language
    model plays, the executor is a pool of threads, because such games mostly wait for answers. Otherwise the
    executor is None, and `conduct` uses this process or starts processes.
    """
    jobs = local_processes(workers)
    if jobs is None:
        with open_executor(workers, limit) as cluster:
            yield cluster
    elif jobs == 1 or not any(is_model(entrant.spec) for entrant in config.entrants):
        yield None
    else:
        executor = ThreadPoolExecutor(jobs)
        try:
            yield executor
        finally:
            executor.shutdown(cancel_futures=True)
            close_pools()


def _verdict(store: Store) -> sprt.Verdict:
    """Return the verdict of the sequential test on the games in the file."""
    numbers = {label: agent for agent, label in enumerate(store.config.labels)}
    rows = list(store.rows(("deal", "agents", "winner", "luck")))
    is_known = all(row["luck"] is not None for row in rows)
    games = (
        sprt.Played(
            row["deal"],
            tuple(numbers[label] for label in row["agents"]),
            row["winner"],
            tuple(row["luck"]) if is_known else (),
        )
        for row in rows
    )
    return sprt.judge(sprt.scores(games, block_size=len(store.config.schedule(1))))


def _tell(store: Store, games: int, arguments: argparse.Namespace) -> None:
    """Print the tables, and write the output files."""
    config, results = store.config, list(store.results())
    if config.duel:
        verdict = _verdict(store)
        first, second = config.labels
        print(f"Is {for_terminal(first)} better than {for_terminal(second)}? {verdict}\n")
        if verdict.verdict != sprt.OPEN:
            results = [result for result in results if result.deal < verdict.blocks]
    summary, more = summarise(config, results), model_grids(config, results)
    lines: list[str] = []
    facts: dict[str, Any] = {}
    if arguments.population:
        grids, lines, facts = _analysed(config, results)
        more += grids
    console = Console(width=None if sys.stdout.isatty() else 160)
    for table in rich_tables(summary, more):
        console.print(table, "")
    _say(console, *remarks(config, summary), *lines)
    if arguments.csv:
        write_csv(store, arguments.csv)
    if arguments.json:
        write_json(config, summary, arguments.json, facts)
    if arguments.save:
        write_records(store, arguments.save)
    replays = {}
    if arguments.replays:
        replays = write_replays(store, arguments.replays, arguments.replay_games, summary)
        print(f"{counted(len(replays), 'replay')} in {arguments.replays}")
    if arguments.report:
        played = Played(results, replays, _command(store, games))
        write_report(config, summary, arguments.report, more, played)


def _command(store: Store, games: int) -> str:
    """Return the command that plays at least `games` games of this tournament in a new file."""
    words = ["risk-env", "tournament"]
    for name, value in (store.arguments | {"games": games}).items():
        flag = f"--{name.replace('_', '-')}"
        if value is True and name != "record":
            words.append(flag)
        elif isinstance(value, list):
            words += [word for part in value for word in (flag, str(part))]
        elif value is not None and not isinstance(value, bool) and value != DEFAULTS.get(name):
            words += [flag, str(value)]
    return shlex.join(words)


def _analysed(
    config: TournamentConfig, results: Sequence[GameResult]
) -> tuple[list[Grid], list[str], dict[str, Any]]:
    """Return the tables, the lines and the facts of `--population`.

    If an analysis is missing, a line states the reason.
    """
    games = Games(results, len(config.entrants))
    grids: list[Grid] = []
    lines: list[str] = []
    facts: dict[str, Any] = {}
    try:
        analysis = population(games, config.labels, config.seed)
        grids, lines = [population_grid(analysis, config.labels)], cycle_lines(analysis, config.labels)
        facts["population"] = asdict(analysis)
    except ValueError as error:
        lines.append(f"no population analysis: {error}")
    if games.num_players > 2:
        try:
            whole = analyse_line_ups(games, config.labels, config.seed)
            grids += line_up_grids(whole, config.labels)
            facts["line_ups"] = asdict(whole)
        except ValueError as error:
            lines.append(f"no alpha-rank over all line-ups: {error}")
    return grids, lines, facts


def _say(console: Console, *lines: str) -> None:
    """Print lines that can contain untrusted text."""
    console.print(*map(for_terminal, lines), sep="\n", highlight=False, markup=False, soft_wrap=True)


# ------------------------------------------------------------------------------------------------ agents


def show_agents(argv: Sequence[str]) -> None:
    """Run the command `agents`: list the registered agents, or test the agents on the command line."""
    parser = command_parser("agents")
    parser.add_argument(
        "agents",
        nargs="?",
        metavar="A,B,...",
        help=f"agents to test, separated by commas: names, {SPECS} (default: list all registered agents)",
    )
    _add_sandbox(parser)
    arguments = parser.parse_args(argv)
    last = "spec" if arguments.agents else "description"
    table = Table("agent", "version", "kind", last, box=None, pad_edge=False)
    for row in _tried(arguments) if arguments.agents else _registered():
        table.add_row(*(Text(for_terminal(cell)) for cell in row))
    Console(width=None if sys.stdout.isatty() else 160).print(table)


def _registered() -> Iterator[tuple[str, ...]]:
    """Yield a table row for each registered agent."""
    for name in bots.names():
        kind = "Python" if compiled_bot(name) is None else "compiled"
        yield name, str(bots.find(name).version), kind, bots.about(name)


def _tried(arguments: argparse.Namespace) -> Iterator[tuple[str, ...]]:
    """Test each agent on the command line, and yield a table row for each agent."""
    for agent in agent_list(arguments.agents, "agents"):
        entrant = _entrant_of_any(agent, arguments.sandbox)
        yield entrant.label, entrant.version, "compiled" if entrant.compiled else "other", entrant.spec


def _entrant_of_any(agent: NamedAgent, level: str | None) -> Entrant:
    """Return the entrant of an agent, after a test in the first of TRIALS that the agent can play.

    If the agent cannot play any of TRIALS, the error of the first trial is raised.
    """
    refusals = []
    for preset, players, profile in TRIALS:
        rules = Rules.preset(preset, players, profile=profile)
        try:
            (entrant,) = entrants([agent], Trial(rules, "classic", sandbox=level))
        except ValueError as error:
            refusals.append(error)
        else:
            return entrant
    raise refusals[0]
