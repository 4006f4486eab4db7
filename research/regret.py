"""Regret of the turns that evaluations and agents choose: `python -m research.regret [--record]`.

A position is the start of a turn in a game between strong bots. Several plans are played from the position.
A plan is a bot that plays the whole turn. All plans start from the same samples of the facts that the seat
does not know, with the same future dice. From the end of the turn, fast bots play the game to its end many
times, with the same random numbers for every plan.

The regret of a choice is the win probability of the best plan minus the probability of the chosen plan. The
best plan is selected on one half of these games, and the plans are compared on the other half. The luck of
the selected plan therefore does not count.

`--make` computes the positions, the ends of the plans' turns and the win probabilities at these ends again.
This takes about a quarter of an hour on one core. For an evaluation, the chosen plan is the plan with the
highest mean value at the ends of its turns. An agent plays the turn itself; the games continue from the end
of this turn, as after a plan. Positions are also grouped by the number of turns that the seat has begun
(PHASES).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.arguments import at_least_one
from benchmarks.records import heading, heading_lines, keep
from benchmarks.records import table as markdown_table
from risk_agents import kept_out, registry
from risk_agents.learned.state_value import StateValueFile
from risk_agents.learned.trained import STATE_VALUE, facts_of, kind_in
from risk_agents.scripted import breaker, grower, hunter, random_bot
from risk_agents.search import beam, marshal, planner
from risk_agents.search.beam_value import BeamValueFile
from risk_agents.search.judges import FILE as STRATEGIST_FILE
from risk_agents.search.judges import judge_by, judge_by_beam_value, judge_heuristically
from risk_agents.search.rollouts import Judge, Rollouts
from risk_env.agent import Agent, View
from risk_env.arena import STOPPED, Arena
from risk_env.board.maps import load_map
from risk_env.board.rules import Rules
from risk_env.bots import CompiledBot
from risk_env.core.types import MAX_SEATS
from risk_env.game import Game
from risk_env.game_vector import GameVector
from risk_env.seeds import bot_seed

FOLDER = Path(__file__).parent
FILE = FOLDER.parent / "build" / "regret.npz"
PACKAGES = ("risk-env", "numpy", "numba")
PLAYERS = (2, 3, 4, 6)
# positions per number of players, samples per position, games from each end of a turn
POSITIONS, SAMPLES, ROLLOUTS = (36, 16, 64)
PHASES = ((1, 2), (3, 5), (6, 8))  # for each group of positions: numbers of the seat's first and last turn
MOST_TURNS = PHASES[-1][1]  # highest number of the turn that begins at a position
LANES = 1024
AGENTS = ("beam", "planner", "breaker", "hunter", "grower", "marshal", "tactician", "strategist")
AGENT_SAMPLES = 4  # number of samples in which an agent plays the turn
# bots of the games from which the positions are taken
FIELD = (beam.BOT, planner.BOT, breaker.BOT, hunter.BOT, grower.BOT)
PLAYING_ON = (breaker.BOT, hunter.BOT)  # bots that play the games to the end
Z = 1.96  # normal quantile of a 95 % confidence interval

Array = npt.NDArray[Any]
Row = dict[str, Any]


def main(argv: Sequence[str] | None = None) -> None:
    """Make the data; or measure the regret, print the result and, if `--record` is given, store it."""
    arguments = _parser().parse_args(argv)
    tables = [table_for(int(players)) for players in arguments.players.split(",")]
    if arguments.make:
        write(arguments.data, tables, arguments.positions, arguments.rollouts)
        return
    command = ["python", "-m", "research.regret", *(sys.argv[1:] if argv is None else argv)]
    record = heading(command, PACKAGES)
    record["rows"] = [row for table in tables for row in measured(table, _names(arguments.agents), arguments)]
    print(report(record))
    if arguments.record:
        print(f"\nrecorded in {keep('regret', record, report(record), FOLDER)}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--make", action="store_true", help="make the data again, and measure nothing")
    add(
        "--positions",
        type=at_least_one,
        default=POSITIONS,
        metavar="N",
        help="number of positions for each number of players (default: %(default)s)",
    )
    add(
        "--rollouts",
        type=at_least_one,
        default=ROLLOUTS,
        metavar="N",
        help="number of rollouts from each end of a turn (default: %(default)s)",
    )
    add(
        "--data", type=Path, default=FILE, metavar="FILE", help="file of the data (default: build/regret.npz)"
    )
    add(
        "--players",
        default=",".join(map(str, PLAYERS)),
        metavar="N,...",
        help="numbers of players (default: %(default)s)",
    )
    add(
        "--agents",
        default=",".join(AGENTS),
        metavar="A,B,...",
        help="agents to measure (default: %(default)s)",
    )
    add("--values", default="", metavar="FILE,...", help="additional learned values to measure (.npz)")
    add("--record", action="store_true", help="store the result in research")
    return parser


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


# ------------------------------------------------------------------------------------------- tables and plans


class Table(NamedTuple):
    """A number of players, the rules of the games, and the compared plans."""

    players: int
    rules: Rules
    plans: tuple[CompiledBot, ...]


class Data(NamedTuple):
    """N positions of a `Table` with C plans, and the results of S samples of each position."""

    positions: Array  # records (N,)
    ends: Array  # records (N, C, S): end of each plan's turn, with `random` set to 0
    chances: Array  # float64 (N, C, 2): win probability of the seat to act, for each half of the games
    plans: Array  # str (C,): name and version of each plan


def table_for(players: int) -> Table:
    """Return the `Table` for a number of players: preset `classic`, with dealt territories and blitzes."""
    plans = (*FIELD, *kept_out.beams(), random_bot.BOT)
    return Table(players, Rules.preset("classic", players, profile="fast"), plans)


# ------------------------------------------------------------------------------------------------ the data


def write(path: Path, tables: Sequence[Table], count: int, rollouts: int) -> None:
    """Make the data for these numbers of players; other data in the file is kept."""
    arrays: dict[str, Array] = dict(np.load(path, allow_pickle=False)) if path.is_file() else {}
    for table in tables:
        positions = positions_of(table, count)
        ends, chances = [], []
        for number, position in enumerate(positions):
            ends.append(ends_of(table, samples_of(table, position), number))
            chances.append(chances_of(table, ends[-1], int(position["turn"]), number, rollouts))
            print(f"{table.players} players: {number + 1} of {count} positions", file=sys.stderr, flush=True)
        data = Data(positions, np.array(ends), np.array(chances), np.array(labels(table)))
        arrays |= {f"{name}_{table.players}": values for name, values in data._asdict().items()}
    path.parent.mkdir(exist_ok=True)
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]


def positions_of(table: Table, count: int) -> Array:
    """Return starts of turns, records (count,), each from a different game of FIELD."""
    rng, rows = np.random.default_rng(table.players), []
    lanes = np.arange(4 * count)
    batch = GameVector(
        table.rules, "classic", len(lanes), seed=0, observation=None, mask=None, autoreset=False
    )
    arena = Arena(batch, FIELD)
    arena.numbers[:] = rng.integers(len(FIELD), size=arena.numbers.shape)
    arena.stop_at_turn[:] = rng.integers(table.players, size=len(lanes))
    arena.stop_at_death[:] = arena.stop_at_turn
    batch.begin(lanes)
    arena.seat_players(lanes)
    left = rng.integers(1, MOST_TURNS + 1, size=len(lanes))
    for stopped in arena.run(lanes):
        turns = stopped[
            (arena.states[stopped] == STOPPED)
            & (batch.records["turn"][stopped] == arena.stop_at_turn[stopped])
        ]
        left[turns] -= batch.records["round_number"][turns] > 0
        rows.extend(turns[left[turns] == 0].tolist())
        arena.resume(turns[left[turns] > 0])
    return batch.records[np.sort(rows)[:count]]


def samples_of(table: Table, position: Array) -> Array:
    """Return samples of a position, records (SAMPLES,), with hidden facts and chance drawn again."""
    game = Game.from_record(table.rules, load_map("classic"), np.atleast_1d(position))
    return np.concatenate([game.determinize(game.seat, seed).records for seed in range(SAMPLES)])


def rollouts_of(table: Table, plans: Sequence[CompiledBot]) -> Rollouts:
    """Return the lanes in which these plans, and the games after the plans, are played."""
    return Rollouts(table.rules, load_map("classic"), plans, PLAYING_ON, judge_heuristically, LANES)


def ends_of(table: Table, samples: Array, seed: int) -> Array:
    """Play the turn with each plan from these samples, and return the ends of the turns, records (C, S)."""
    ends = rollouts_of(table, table.plans).ends_of_turn(
        range(len(table.plans)), samples, np.random.default_rng(seed)
    )
    ends["random"] = 0
    return ends


def chances_of(table: Table, ends: Array, seat: int, seed: int, rollouts: int) -> Array:
    """Return the win probabilities of a seat at the ends of turns (C, S).

    The result is float64 (C, 2), the mean of each half of the games.
    """
    lanes = rollouts_of(table, ())
    chances = []
    for samples in ends:  # the ends of one plan
        rng = np.random.default_rng(seed)  # the same players and chance for every plan
        games = np.repeat(samples, rollouts)
        games["random"] = rng.integers(2**64, size=len(games), dtype=np.uint64)
        won = lanes.continue_games(games, seat, rng)[:, seat].reshape(len(samples), rollouts)
        chances.append([won[:, ::2].mean(), won[:, 1::2].mean()])
    return np.array(chances)


def read(path: Path, table: Table) -> Data:
    """Return the data of a `Table`.

    Raises ValueError if the file has other plans, records of another version or invalid positions.
    """
    with np.load(path, allow_pickle=False) as arrays:
        data = Data(*(arrays[f"{name}_{table.players}"] for name in Data._fields))
    if data.plans.tolist() != labels(table):
        raise ValueError(f"{path} has the plans {data.plans.tolist()}, not {labels(table)}: use --make")
    for records in (data.positions, data.ends.reshape(-1)):
        lanes_of(table, records).check_records()
    return data


def labels(table: Table) -> list[str]:
    """Return the name and version of each plan of a `Table`."""
    return [f"{plan.name} {plan.version}" for plan in table.plans]


def lanes_of(table: Table, records: Array) -> GameVector:
    """Return a GameVector with the games in `records`.

    Raises ValueError for records of another version.
    """
    batch = GameVector(table.rules, "classic", len(records), observation=None, mask=None, autoreset=False)
    if records.dtype != batch.records.dtype:
        raise ValueError("the records belong to another version: use --make")
    batch.load_records(np.arange(len(records)), records)
    return batch


# ------------------------------------------------------------------------------------------------ choices


def measured(table: Table, agents: Sequence[str], arguments: argparse.Namespace) -> Iterator[Row]:
    """Yield the regret of every evaluation and every agent at the positions of a `Table`."""
    data = read(arguments.data, table)
    yield from result_rows(table, data, "mean of ten bots", "", data.chances.mean(axis=1))
    for name, judge in judges(table, _names(arguments.values)):
        chosen = estimates(table, data, judge).argmax(axis=1)
        yield from result_rows(table, data, name, "evaluation", data.chances[np.arange(len(chosen)), chosen])
    plans = [plan.name for plan in table.plans]
    for name in agents:
        if name in plans:
            achieved = data.chances[:, plans.index(name)]
        elif plays(name, table):
            achieved = chances_of_agent(table, data, name, arguments.rollouts)
        else:
            continue
        yield from result_rows(table, data, name, "agent", achieved)


def plays(spec: str, table: Table) -> bool:
    """Return True if an agent can play the games of a `Table`."""
    try:
        registry.make(spec).reset(0, table.rules, load_map("classic"), seed=0)
    except ValueError:
        return False
    return True


def regrets(data: Data, achieved: Array) -> Array:
    """Return the regret of each position, (N,).

    `achieved` (N, 2) are the win probabilities of the choice in both halves of the games. The best plan of
    one half is compared with the choice in the other half.
    """
    best = data.chances.argmax(axis=1)  # (N, 2)
    rows = np.arange(len(best))
    differences = [data.chances[rows, best[:, half], 1 - half] - achieved[:, 1 - half] for half in (0, 1)]
    return np.mean(differences, axis=0)


def result_rows(table: Table, data: Data, name: str, kind: str, achieved: Array) -> Iterator[Row]:
    """Yield the mean regret of all positions, and of each group of positions in PHASES."""
    values, turns = regrets(data, achieved), data.positions["round_number"]
    facts = {"players": table.players, "name": name, "kind": kind}
    for first, last in [(1, MOST_TURNS), *PHASES]:
        some = values[(first <= turns) & (turns <= last)]
        if len(some) > 1:
            yield {**facts, "first_turn": first, "last_turn": last, **mean_of(some)}


def mean_of(values: Array) -> Row:
    """Return the mean regret in percent of games, with its 95 % confidence interval.

    The interval assumes independent positions: each position is from a different game.
    """
    mean, half = 100 * values.mean(), 100 * Z * values.std(ddof=1) / len(values) ** 0.5
    return {"positions": len(values), "regret": mean, "low": mean - half, "high": mean + half}


def estimates(table: Table, data: Data, judge: Judge) -> Array:
    """Return a judge's mean value at the ends of each plan's turns, float64 (N, C)."""
    batch = lanes_of(table, data.ends.reshape(-1))
    chances = judge(batch, np.arange(batch.num_games)).reshape(*data.ends.shape, MAX_SEATS)
    seats = data.positions["turn"].astype(np.int64)
    return chances[np.arange(len(seats)), :, :, seats].mean(axis=2)


def judges(table: Table, files: Sequence[str]) -> Iterator[tuple[str, Judge]]:
    """Yield the name and the function of each evaluation that fits a `Table`.

    The evaluations are the heuristic, the values of `marshal` and `strategist`, and the values of files.
    """
    yield "heuristic", judge_heuristically
    shipped = {"marshal's value": str(marshal.FILE), "strategist's value": str(STRATEGIST_FILE)}
    for name, path in (shipped | {file: file for file in files}).items():
        if kind_in(facts_of(path)) == STATE_VALUE:
            learned = StateValueFile.load(path)
            if learned.knows(table.rules, load_map("classic")):
                yield name, judge_by(learned)
        elif fits(value := BeamValueFile.load(path), table):
            yield name, judge_by_beam_value(value)


def fits(value: BeamValueFile, table: Table) -> bool:
    """Return True if a value of `beam` was trained for the games of a `Table`."""
    try:
        value.bot("value").check(table.rules, load_map("classic"))
    except ValueError:
        return False
    return True


def chances_of_agent(table: Table, data: Data, spec: str, rollouts: int) -> Array:
    """Return the win probabilities after the turns of an agent, float64 (N, 2)."""
    agent = registry.make(spec)
    games = rollouts * SAMPLES // AGENT_SAMPLES
    chances = []
    for number, position in enumerate(data.positions):
        samples = samples_of(table, position)[:AGENT_SAMPLES]
        seat = int(position["turn"])
        ends = np.concatenate([played_by(agent, table, samples[k : k + 1]) for k in range(len(samples))])
        chances.append(chances_of(table, ends[None], seat, number, games)[0])
    return np.array(chances)


def played_by(agent: Agent, table: Table, sample: Array) -> Array:
    """Play an agent's turn from a sample, and return the end of the turn, record (1,)."""
    game = Game.from_record(table.rules, load_map("classic"), sample)
    seat, now = game.seat, game.round
    chance = int(bot_seed(int(sample["random"][0]), seat))
    agent.reset(seat, table.rules, game.board, chance)
    while not game.is_over and (game.turn, game.round) == (seat, now):
        game.step(int(agent.act(View(game, chance=chance))))
    return game.records


# ------------------------------------------------------------------------------------------------ the report


def report(record: dict[str, Any]) -> str:
    """Return the record as Markdown: a table of all positions, then a table for each group in PHASES."""
    text = (
        "Mean regret in percent of games, with 95 % confidence intervals. The regret is the difference in "
        "games won between the best plan of the turn and the chosen plan."
    )
    lines = ["# Regret", "", *heading_lines(record), "", text]
    spans = dict.fromkeys((row["first_turn"], row["last_turn"]) for row in record["rows"])
    for first, last in spans:
        rows = [row for row in record["rows"] if (row["first_turn"], row["last_turn"]) == (first, last)]
        lines += ["", f"Turns {first} to {last} of the seat:", "", *table_of(rows)]
    return "\n".join(lines)


def table_of(rows: Sequence[Row]) -> list[str]:
    """Return a table with a row for each choice and a column for each number of players."""
    players = {row["players"]: row["positions"] for row in rows}
    names = dict.fromkeys((row["name"], row["kind"]) for row in rows)
    cells = {(row["name"], row["kind"], row["players"]): cell(row) for row in rows}
    lines = [(name, kind, *(cells.get((name, kind, count), "") for count in players)) for name, kind in names]
    columns = (f"{count} players, {positions} positions" for count, positions in players.items())
    return markdown_table(("chosen by", "kind", *columns), lines)


def cell(row: Row) -> str:
    """Return a regret with its confidence interval."""
    return f"{row['regret']:.1f} [{row['low']:.1f}, {row['high']:.1f}]"


if __name__ == "__main__":
    main()
