"""The command `risk-env evaluate`: play an agent against each of several opponents.

Every deal is played from every seat.
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from risk_agents.agent_list import NamedAgent, agent_list, labelled
from risk_agents.learned.sb3_policy import read_facts
from risk_agents.learned.schema import Schema
from risk_agents.learned.trained import facts_of
from risk_agents.onnx_policy import SUFFIX, OnnxPolicy
from risk_agents.registry import POLICY_FILES, SPECS, file_of, load
from risk_agents.rules_arguments import MAP, add_rules_arguments, options_of, rules_of
from risk_agents.workers import InProcess, WorkExecutor, add_options, in_order, open_executor
from risk_env.arrays import Array
from risk_env.board.maps import Board, load_map
from risk_env.board.rules import FAST, Rules
from risk_env.cli import command_parser, require
from risk_env.messages import counted
from risk_env.players import AgentFactory, Player
from risk_env.whole_file import whole_file
from risk_training.run_files import BEST_OF_RUN
from risk_training.win_rate import play_deals, summarise

OPPONENTS = "random,attacker,grower"
GAMES_AT_ONCE = 128  # games per chunk, if all players act in batches
SLOW_GAMES_AT_ONCE = 12  # games per chunk, if a player acts one view at a time: such players start slowly


@dataclass(frozen=True)
class Score:
    """Result of an agent against one opponent, which plays all other seats."""

    opponent: str
    games: int
    wins: int
    win_rate: float  # share of games won; nobody wins a truncated game
    low: float  # lower end of the 95 % confidence interval (Wilson)
    high: float  # upper end of the interval
    win_rate_by_seat: tuple[float, ...]  # (P,): win rate at each seat
    rounds: float  # mean number of rounds of a game
    truncated: float  # share of truncated games


def evaluate(
    agent: str,
    opponent: str,
    rules: Rules,
    board: Board,
    games: int = 400,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
    executor: WorkExecutor | None = None,
) -> Score:
    """Return the score of an agent in at least `games` games, with every deal played from every seat.

    `agent` and `opponent` are specs as for `risk_agents.load`. `progress` is called with the number of games
    that have just ended. `executor` plays the games in chunks (`risk_agents.workers`). If `executor` is None,
    the games are played in this process. The executor does not change the score.
    """
    seats = rules.num_players
    is_slow = any(isinstance(loaded(spec), AgentFactory) for spec in (agent, opponent))
    size = (SLOW_GAMES_AT_ONCE if is_slow else GAMES_AT_ONCE) // seats  # deals per chunk
    deals, parts = range(-(-games // seats)), []
    pieces = ((agent, opponent, rules, board, deals[k : k + size], seed) for k in deals[::size])
    for part in in_order(executor or InProcess(), play_piece, pieces):
        parts.append(part)
        if progress is not None:
            progress(len(part))
    summary = summarise(np.concatenate(parts), seats)
    return Score(
        opponent,
        summary.games,
        summary.wins,
        *summary.interval,
        summary.by_seat,
        summary.rounds,
        summary.truncated,
    )


def play_piece(agent: str, opponent: str, rules: Rules, board: Board, deals: range, seed: int) -> Array:
    """Return the results of `play_deals` for two specs."""
    return play_deals(loaded(agent), rules, board, loaded(opponent), deals, seed)


def loaded(spec: str) -> Player:
    """Return the player of a spec. A trained file is cached, and loaded again when the file changes."""
    path = Path(spec)
    if not spec.endswith(POLICY_FILES) or not path.is_file():
        return load(spec)
    facts = path.stat()
    return _trained(spec, facts.st_ino, facts.st_size, facts.st_mtime_ns)


@lru_cache(maxsize=4)
def _trained(spec: str, *_state: int) -> Player:
    """Return the player of a trained file; `_state` changes with the content of the file."""
    return load(spec)


# ------------------------------------------------------------------------------------------------ the command


def main(argv: Sequence[str]) -> None:
    """Run the command `evaluate`: play the games, print a table and write files."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.agent is None and arguments.run is None:
        parser.error("name an agent, or add --run")
    if arguments.plot and arguments.run is None:
        parser.error("--plot draws the learning curves of a run: add --run")
    if arguments.plot:
        require("matplotlib")
    agent = (
        labelled(arguments.agent, "agent")
        if arguments.agent
        else NamedAgent(None, _best_of(Path(arguments.run)))
    )
    rules, board = setting(agent.spec, arguments)
    with open_executor(arguments.workers, arguments.chunk_limit) as executor:
        scores = _scores(agent, rules, board, arguments, executor)
    Console(width=None if sys.stdout.isatty() else 120).print(_table(agent.name, scores))
    if arguments.json:
        facts = {"agent": agent.name, "rules": rules.to_dict(), "map": board.source, "seed": arguments.seed}
        with whole_file(Path(arguments.json)) as fresh:
            fresh.write_text(json.dumps(facts | {"scores": [asdict(score) for score in scores]}, indent=1))
    if arguments.plot:
        from risk_training.curves import plot

        plot([arguments.run], arguments.plot)
        print(f"learning curves: {arguments.plot}")


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("evaluate")
    add = parser.add_argument
    rules = "--preset, --players, --expert or --profile"
    agent = f"agent to evaluate: a name, {SPECS}; label=agent sets a label"
    add("agent", nargs="?", help=f"{agent}. If {rules} is given, the rules in a trained file are ignored")
    opponents = "opponents, of which one plays all other seats of a game"
    add("--opponents", default=OPPONENTS, metavar="A,B,...", help=f"{opponents} (default: {OPPONENTS})")
    add_rules_arguments(parser, FAST, otherwise="value in the trained file")
    add(
        "--games",
        type=int,
        default=400,
        metavar="N",
        help="minimum number of games per opponent (default: 400)",
    )
    add("--seed", type=int, default=0, help="seed of all games (default: 0)")
    add_options(parser)
    add("--json", metavar="FILE", help="write the scores to this file as JSON")
    add(
        "--run",
        metavar="FOLDER",
        help="folder of a training run; the best agent of the run plays if no agent is named",
    )
    add("--plot", metavar="FILE", help="draw the learning curves of --run to this file (.png, .svg, .pdf)")
    return parser


def _best_of(run: Path) -> str:
    for name in BEST_OF_RUN:
        if (run / name).is_file():
            return str(run / name)
    raise ValueError(
        f"--run {str(run)!r} has no {' or '.join(BEST_OF_RUN)}: give the folder of a run that has saved a "
        "policy or a value"
    )


def setting(agent: str, arguments: argparse.Namespace) -> tuple[Rules, Board]:
    """Return the rules and the map of the command line.

    A trained file gives the default map. The file also gives the rules, unless `--preset`, `--players`,
    `--expert` or `--profile` is given.
    """
    wanted, trained = vars(arguments), training_game(agent)
    board = load_map(arguments.map or (trained[1] if trained else MAP))
    if trained and not any(wanted[name] for name in ("preset", "players", "expert", "profile")):
        return trained[0].replace(**options_of(wanted)), board
    return rules_of(wanted, FAST), board


def training_game(agent: str) -> tuple[Rules, str] | None:
    """Return the rules and the map in the trained file that `agent` names.

    Returns None for other agents, and for ONNX models without this metadata. Raises ValueError if the file
    cannot be read.
    """
    path = file_of(agent)
    if path.endswith(SUFFIX):
        return OnnxPolicy(path).training_game
    if not path.endswith(POLICY_FILES):
        return None
    facts = read_facts(Path(path)) if path.endswith(".zip") else facts_of(path)
    schema = Schema.from_dict(facts["schema"])
    return schema.rules, schema.map_source


def _scores(
    agent: NamedAgent, rules: Rules, board: Board, arguments: argparse.Namespace, executor: WorkExecutor
) -> list[Score]:
    if arguments.games < 1:
        raise ValueError(f"--games {arguments.games}: must be at least 1")
    scores = []
    games = -(-arguments.games // rules.num_players) * rules.num_players
    with Progress(console=Console(stderr=True), transient=True) as bar:
        for opponent in agent_list(arguments.opponents, "--opponents"):
            show = partial(bar.advance, bar.add_task(opponent.name, total=games))
            score = evaluate(agent.spec, opponent.spec, rules, board, games, arguments.seed, show, executor)
            scores.append(replace(score, opponent=opponent.name))
            if not bar.console.is_terminal:
                bar.console.print(
                    f"{counted(games, 'game')} against {opponent.name}: {score.win_rate:.1%} won"
                )
    return scores


def _table(agent: str, scores: Sequence[Score]) -> Table:
    table = Table(title=f"{agent}: every deal from every seat", box=None, title_justify="left")
    table.add_column("against")
    for name in ("games", "win rate", "95 % interval", "win rate by seat", "mean rounds", "truncated"):
        table.add_column(name, justify="right")
    for score in scores:
        table.add_row(
            score.opponent,
            str(score.games),
            f"{score.win_rate:.1%}",
            f"{score.low:.1%} – {score.high:.1%}",
            " ".join(f"{rate:.0%}" for rate in score.win_rate_by_seat),
            f"{score.rounds:.1f}",
            f"{score.truncated:.1%}",
        )
    return table
