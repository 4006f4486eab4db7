"""Command `play` (`risk-env play --help`)."""

import argparse
import secrets
import shlex
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from risk_agents.agent_list import labelled, split_agents
from risk_agents.game_files import load_game
from risk_agents.human.terminal import Terminal
from risk_agents.play.terminal_table import Leave, TerminalTable
from risk_agents.play.uncompiled import is_command_line, must_wait, play_uncompiled
from risk_agents.registry import HUMAN, SPECS, check_programs
from risk_agents.rules_arguments import MAP, PLAYERS, PRESET, add_rules_arguments, rules_of
from risk_env.arguments import check_seat
from risk_env.board.maps import load_map
from risk_env.board.rules import BOOK, Rules, check_rules
from risk_env.cli import INTERRUPTED, PROGRAM, SUCCESS, command_parser
from risk_env.compiler import JIT_DISABLED
from risk_env.game import Game

OPPONENTS = ("planner", "breaker", "grower", "hunter", "attacker")  # default opponents
SEED_BITS = 32  # number of bits of a random seed; such a seed is short enough to type


def main(argv: Sequence[str]) -> int:
    """Run the command `play`, and return the exit status.

    The command begins or continues a game. If the person stops before the end, the game is saved.
    """
    parser = _parser()
    arguments = parser.parse_args(argv)
    own = ("resume", "allow_programs")
    given = [name for name, value in vars(arguments).items() if value not in (None, []) and name not in own]
    if arguments.resume is not None and given:
        parser.error(
            "--resume continues a game with the settings in the game's file, and cannot be combined with "
            f"{', '.join(f'--{name}'.replace('_', '-') for name in sorted(given))}"
        )
    terminal = Terminal()
    if is_command_line(argv) and must_wait(_specs(arguments)):
        terminal.say(
            "The game begins with uncompiled code, so the bots are slow. Another process compiles the code "
            "for your next games, which takes a few minutes."
        )
        play_uncompiled(argv)
    if not JIT_DISABLED:
        terminal.say("Preparing the bots. The first time, this takes up to a few minutes.")
    table = _begun(arguments, terminal) if arguments.resume is None else _resumed(arguments, terminal)
    try:
        return play(table)
    finally:
        table.close()


def play(table: TerminalTable) -> int:
    """Play a game at the terminal, and return the exit status; save the game if it stops before the end."""
    try:
        with _closing_is_an_interrupt():
            table.play()
    except (Leave, EOFError):
        _keep(table)
    except KeyboardInterrupt:
        _keep(table)
        return INTERRUPTED
    except Exception:
        _keep(table)
        raise
    return SUCCESS


@contextmanager
def _closing_is_an_interrupt() -> Iterator[None]:
    """Inside the context, let SIGHUP (the window closes) and SIGTERM interrupt the game, like Ctrl-C."""
    signals = [getattr(signal, name) for name in ("SIGHUP", "SIGTERM") if hasattr(signal, name)]
    before = [signal.signal(number, signal.default_int_handler) for number in signals]
    try:
        yield
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)


def _keep(table: TerminalTable) -> None:
    """Save the game, and print the command that continues the game.

    If the file cannot be written, the game is saved in the folder for temporary files.
    """
    told = [""]
    try:
        table.keep(table.path)
    except (OSError, ValueError) as error:
        told.append(f"{error}.")
        table.keep(str(Path(tempfile.gettempdir()) / _new_name()))
    told.append(f"The game is saved in {table.path}.")
    told.append(f"To continue: {PROGRAM} play --resume {shlex.quote(table.path)}")
    with suppress(OSError):  # the terminal may be gone
        table.terminal.say(*told)


def _new_name() -> str:
    return time.strftime("risk-%Y%m%d-%H%M%S.json")


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("play")
    add = parser.add_argument
    opponents = (
        f"agents in the other seats, in the order of the seats: {HUMAN}, names, {SPECS}; label=agent sets a "
        f"label (default: as many as needed of {','.join(OPPONENTS)})"
    )
    add("--opponents", metavar="A,B,...", help=opponents)
    players = f"1 plus the number of agents in --opponents, if the preset allows that number; else {PLAYERS}"
    add_rules_arguments(parser, BOOK, players)
    add(
        "--seat",
        type=int,
        metavar="N",
        help="your seat, from 0 (default: 0); a die decides who starts, except with setup=chart",
    )
    add("--seed", type=int, help="seed of the game (default: a random seed, which the game shows)")
    add("--save", metavar="FILE", help="file for an unfinished game (default: a new file risk-TIME.json)")
    add("--resume", metavar="FILE", help="continue the game in this file")
    add(
        "--allow-programs",
        action="store_true",
        help="with --resume: run the programs and Python files, and query the language models, that FILE "
        "names",
    )
    return parser


def _opponents(arguments: argparse.Namespace) -> list[str]:
    """Return the opponents that the command line names."""
    return split_agents(arguments.opponents or "", "--opponents")


def _specs(arguments: argparse.Namespace) -> Sequence[str]:
    """Return the specs of a saved game's players, or of the opponents in a new game (default: OPPONENTS)."""
    if arguments.resume is None:
        players: Sequence[str] = _opponents(arguments) or OPPONENTS
    else:
        players = load_game(arguments.resume).players
    return [labelled(player, "--opponents").spec for player in players]


def _begun(arguments: argparse.Namespace, terminal: Terminal) -> TerminalTable:
    opponents = _opponents(arguments)
    rules = rules_of(vars(arguments), BOOK, len(opponents) + 1 if opponents else None)
    board = load_map(arguments.map or MAP)
    check_rules(rules, board)
    players = seating(opponents, rules, arguments.seat or 0)
    seed = secrets.randbits(SEED_BITS) if arguments.seed is None else arguments.seed
    path = arguments.save or _new_name()
    if arguments.save and Path(path).exists():
        raise FileExistsError(
            f"--save {path}: the file exists; choose another name, or continue the game with --resume"
        )
    table = TerminalTable(Game(rules, board, seed), players, terminal, path)
    terminal.say(f"{_title(table, arguments.preset or PRESET)}, seed {seed}")
    return table


def _title(table: TerminalTable, preset: str) -> str:
    seats = ", ".join(f"{seat} {name}" for seat, name in enumerate(table.names[:-1]))
    return f"{preset} on the map {table.game.board.name}: {seats}"


def _resumed(arguments: argparse.Namespace, terminal: Terminal) -> TerminalTable:
    """Return the match of a saved game, after all actions of the saved game have been played."""
    saved = load_game(arguments.resume)
    if not arguments.allow_programs:
        check_programs(arguments.resume, [labelled(player).spec for player in saved.players])
    table = TerminalTable(saved.start(), saved.players, terminal, arguments.resume)
    try:
        table.resume(saved)
    except BaseException:
        table.close()
        raise
    terminal.say(f"{_title(table, 'The game continues')}, seed {table.game.seed}")
    return table


def seating(opponents: Sequence[str], rules: Rules, seat: int) -> tuple[str, ...]:
    """Return the players in the order of the seats, with a person at `seat`.

    The opponents keep their order, and the last opponent also fills the seats that are left.
    """
    others = rules.num_players - 1
    check_seat(seat, rules.num_players)
    if len(opponents) > others:
        raise ValueError(
            f"--opponents names {len(opponents)} opponents ({', '.join(opponents)}), but num_players="
            f"{rules.num_players} leaves only {others} {'seats' if others > 1 else 'seat'} for opponents"
        )
    named = list(opponents or OPPONENTS[:others])
    named += [named[-1]] * (others - len(named))
    return (*named[:seat], HUMAN, *named[seat:])
