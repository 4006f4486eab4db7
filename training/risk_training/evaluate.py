"""`risk-env evaluate`: one agent against each of a set, in all seats over the same deals."""

from __future__ import annotations

import argparse
import ast
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from risk_agents.base import Agent
from risk_agents.external import is_program
from risk_agents.learned.sb3_policy import read_facts
from risk_agents.learned.schema import Schema
from risk_agents.learned.trained import schema_in
from risk_agents.registry import POLICY_FILES, SEARCH, SPECS, load, make, play_game
from risk_agents.tournament.loading import split_agents
from risk_env import arena
from risk_env.board.maps import Board, load_map
from risk_env.board.rules import Rules
from risk_env.bots import CompiledBot
from risk_env.cli import command_parser
from risk_env.core.observe import MOST_CODE, TERRITORY_WIDTH
from risk_env.core.types import Phase
from risk_env.doors.seat_lanes import SeatLanes, training_rules
from risk_training.win_rate import WinRate

AGAINST = "random,attacker,grower"
BEST_OF_RUN = ("best.zip", "policy.npz", "value.npz")

Array = npt.NDArray[Any]
Choice = Callable[[Array, Array], Array]  # actions (k,) of codes int8 (k, D) and masks int8 (k, n)
Ended = Callable[[int], None]  # told how many games have ended


def _tell_nobody(games: int) -> None:
    pass


@dataclass(frozen=True)
class Games:
    """What G deals in P seatings came to: G P games, the agent in every seat once a deal."""

    won: npt.NDArray[np.bool_]  # (P, G) by the agent's seat and deal
    truncated: npt.NDArray[np.bool_]  # (P, G)
    rounds: npt.NDArray[np.int64]  # (P, G)


@dataclass(frozen=True)
class Score:
    """An agent's result against one opponent, which fills all other seats."""

    opponent: str
    games: int
    wins: int
    win_rate: float  # a truncated game is won by nobody
    low: float  # of the 95 % interval (Wilson)
    high: float
    win_rate_by_seat: tuple[float, ...]  # (P,)
    rounds: float
    truncated: float  # share of the games


def evaluate(
    agent: str,
    opponent: str,
    rules: Rules,
    board: Board,
    games: int = 400,
    seed: int = 0,
    ended: Ended = _tell_nobody,
) -> Score:
    """The score of an agent (what `risk_agents.make` takes) in at least `games` games, whole deals."""
    deals = -(-games // rules.num_players)
    played = _play(agent, opponent, rules, board, deals, seed, ended)
    rate = WinRate(int(played.won.sum()), played.won.size, float(played.truncated.mean()))
    value, low, high = rate.interval
    by_seat = tuple(played.won.mean(axis=1).tolist())
    return Score(
        opponent, rate.games, rate.wins, value, low, high, by_seat, float(played.rounds.mean()), rate.truncated
    )


def _play(agent: str, opponent: str, rules: Rules, board: Board, deals: int, seed: int, ended: Ended) -> Games:
    """The games, in batches where both can answer for many of them at once."""
    mine, theirs = _in_batches(agent, rules, board), _in_batches(opponent, rules, board)
    won, truncated = np.zeros((2, rules.num_players, deals), np.bool_)
    rounds = np.zeros((rules.num_players, deals), np.int64)
    for seat in range(rules.num_players):
        if isinstance(mine, CompiledBot) and isinstance(theirs, CompiledBot):
            found = _bots_play(mine, theirs, rules, board, seat, deals, seed)
        elif isinstance(mine, BatchPolicy) and theirs is not None:
            found = _policy_plays(mine, theirs, rules, board, seat, deals, seed)
        else:
            found = _agents_play(agent, opponent, rules, board, seat, deals, seed, ended)
        won[seat], truncated[seat], rounds[seat] = found
        ended(deals * (seat + 1))
    return Games(won, truncated, rounds)


class BatchPolicy:
    """A policy that is not compiled, answering for many games at once: the likeliest actions."""

    def __init__(self, agent: Any, rules: Rules, board: Board) -> None:
        agent.reset(0, rules, board, 0)  # refuses other games than it was trained for
        self._policy, trained = agent.policy, agent.schema.rules
        first = TERRITORY_WIDTH * board.num_territories
        asked_anew = {Phase.ATTACK_DICE: trained.attack != "choice", Phase.DEFEND: trained.defender_dice != "choice"}
        self._most_dice = [first + int(phase) for phase, is_new in asked_anew.items() if is_new]

    def choose(self, codes: Array, masks: Array) -> Array:
        """Actions int64 (k,), of codes int8 (k, D) and masks int8 (k, n), as `learned.schema.answers_as_trained`."""
        actions = self._policy.logits(codes, masks).argmax(axis=1)
        last = masks.shape[1] - 1 - (masks[:, ::-1] > 0).argmax(axis=1)
        return np.where(codes[:, self._most_dice].any(axis=1), last, actions)

    def act_batch(self, observations: Array, masks: Array, seats: Array) -> Array:
        """The same as an opponent (`risk_env.doors.seat_lanes.Policy`)."""
        return self.choose(np.rint(observations * MOST_CODE).astype(np.int8), masks)


def _schema(path: str) -> Schema:
    """What the policy of a file was trained for."""
    if path.endswith(".npz"):
        return schema_in(path.removeprefix(SEARCH))
    return Schema.from_dict(read_facts(Path(path))["schema"])


def _in_batches(spec: str, rules: Rules, board: Board) -> CompiledBot | BatchPolicy | None:
    """Who answers for many games at once; None for agents that are asked one by one."""
    if is_program(spec):
        return None
    found = load(spec)
    if isinstance(found, CompiledBot):
        return found
    agent = make(spec)
    return BatchPolicy(agent, rules, board) if hasattr(getattr(agent, "policy", None), "logits") else None


def _bots_play(
    agent: CompiledBot, opponent: CompiledBot, rules: Rules, board: Board, seat: int, deals: int, seed: int
) -> tuple[Array, Array, Array]:
    bots = [agent if place == seat else opponent for place in range(rules.num_players)]
    results = arena.play(rules, board, bots, deals, seed)
    return results["winner"] == seat, results["truncated"], results["rounds"]


def _policy_plays(
    agent: BatchPolicy, opponent: Any, rules: Rules, board: Board, seat: int, deals: int, seed: int
) -> tuple[Array, Array, Array]:
    """Lane g plays deal g."""
    lanes = SeatLanes(rules, board, deals, opponent, seat=seat, autoreset=False)
    truncated = np.zeros(deals, np.bool_)
    for ended in play_out(lanes, agent.choose, seed):
        truncated[ended] = lanes.truncated[ended]
    return lanes.final["winner"] == seat, truncated, lanes.final["rounds"]


def play_out(lanes: SeatLanes, choose: Choice, seed: int) -> Iterator[npt.NDArray[np.int64]]:
    """Play the first game of every lane (made without `autoreset`); yields the lanes that have just ended."""
    lanes.reset(seed)
    actions, running = np.zeros(lanes.num_lanes, np.int64), np.arange(lanes.num_lanes)
    while len(running):
        codes, masks = np.asarray(lanes.batch.observation)[running], np.asarray(lanes.batch.action_mask)[running]
        actions[running] = choose(codes, masks)
        lanes.step(actions, running)
        ended = lanes.ended[running]
        if ended.any():
            yield running[ended]
            running = running[~ended]


def _agents_play(
    agent: str, opponent: str, rules: Rules, board: Board, seat: int, deals: int, seed: int, ended: Ended
) -> tuple[Array, Array, Array]:
    """One game after another, decision by decision."""
    players: list[Agent] = [make(agent if place == seat else opponent) for place in range(rules.num_players)]
    won, truncated, rounds = np.zeros(deals, np.bool_), np.zeros(deals, np.bool_), np.zeros(deals, np.int64)
    try:
        for deal in range(deals):
            game = play_game(rules, board, players, seed, lane=deal)
            won[deal], truncated[deal], rounds[deal] = game.winner == seat, game.truncated, game.round
            ended(deals * seat + deal + 1)
    finally:
        for player in players:
            getattr(player, "close", lambda: None)()
    return won, truncated, rounds


# ------------------------------------------------------------------------------------------------ the command


def main(argv: Sequence[str]) -> None:
    """The command `evaluate`: play, print a table, write files."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.agent is None and arguments.run is None:
        parser.error("an agent (or --run) is needed")
    if arguments.plot and arguments.run is None:
        parser.error("--plot draws the learning curves of a run: name it by --run")
    agent = arguments.agent or _best_of(Path(arguments.run))
    rules, board = _setting(agent, arguments)
    scores = _scores(agent, split_agents(arguments.against), rules, board, arguments)
    Console(width=None if sys.stdout.isatty() else 120).print(_table(agent, scores))
    if arguments.json:
        facts = {"agent": agent, "rules": rules.to_dict(), "map": board.source, "seed": arguments.seed}
        Path(arguments.json).write_text(json.dumps(facts | {"scores": [asdict(score) for score in scores]}, indent=1))
    if arguments.plot:
        from risk_training.curves import plot

        plot([arguments.run], arguments.plot)
        print(f"learning curves: {arguments.plot}")


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("evaluate")
    add = parser.add_argument
    add("agent", nargs="?", help=f"a name, {SPECS}")
    add("--against", default=AGAINST, metavar="A,B,...", help=f"agents of the same kinds (default: {AGAINST})")
    add("--preset", help="the rules (default: those a policy was trained by, else classic)")
    add("--players", type=int, metavar="N", help="seats; the opponent fills all but one")
    add("--map", help="name or file of the map (default: a policy's own, else classic)")
    add("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the rules (RULES 13)")
    add("--games", type=int, default=400, metavar="N", help="at least so many against each (default: 400)")
    add("--seed", type=int, default=0, help="decides every deal (default: 0)")
    add("--json", metavar="FILE", help="write the scores")
    add("--run", metavar="FOLDER", help="a training run: its best policy where no agent is named")
    add("--plot", metavar="FILE", help="draw the learning curves of --run (.png, .svg, .pdf)")
    return parser


def _best_of(run: Path) -> str:
    """The best policy of a run's folder."""
    for name in BEST_OF_RUN:
        if (run / name).is_file():
            return str(run / name)
    raise ValueError(f"--run {str(run)!r} has no {' or '.join(BEST_OF_RUN)}")


def _setting(agent: str, arguments: argparse.Namespace) -> tuple[Rules, Board]:
    """Rules and map: what the command line says, else what the policy was trained by."""
    options = dict(_option(text) for text in arguments.option)
    if not agent.endswith(POLICY_FILES):
        rules = training_rules(arguments.preset or "classic", arguments.players, **options)
        return rules, load_map(arguments.map or "classic")
    schema = _schema(agent)
    if arguments.preset or arguments.players:
        rules = training_rules(arguments.preset or "classic", arguments.players, **options)
    else:
        rules = schema.rules.replace(**options)
    return rules, load_map(arguments.map or schema.map_source)


def _option(text: str) -> tuple[str, Any]:
    """`name=value`, the value as Python writes it or a word."""
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"--option {text}: must be NAME=VALUE")
    try:
        return name.replace("-", "_"), ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name.replace("-", "_"), value


def _scores(
    agent: str, against: Sequence[str], rules: Rules, board: Board, arguments: argparse.Namespace
) -> list[Score]:
    if arguments.games < 1:
        raise ValueError(f"--games {arguments.games}: must be at least 1")
    scores = []
    games = -(-arguments.games // rules.num_players) * rules.num_players
    with Progress(console=Console(stderr=True), transient=True) as bar:
        for opponent in against:
            task = bar.add_task(opponent, total=games)

            def show(done: int, task: Any = task) -> None:
                bar.update(task, completed=done)

            scores.append(evaluate(agent, opponent, rules, board, games, arguments.seed, show))
            if not bar.console.is_terminal:
                bar.console.print(f"{games} games against {opponent}: {scores[-1].win_rate:.1%} won")
    return scores


def _table(agent: str, scores: Sequence[Score]) -> Table:
    table = Table(title=f"{agent}, all seats over the same deals", box=None, title_justify="left")
    table.add_column("against")
    for name in ("games", "win rate", "95 %", "by seat", "rounds", "truncated"):
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
