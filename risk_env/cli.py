"""The command line: `risk-env`, or `python -m risk_env`.

Each entry of COMMANDS names a function that takes the arguments of the command. The function parses these
arguments with `command_parser(name)`, and returns an exit status (None: success) or raises an exception. The
module of a command is imported when the command is called, so that `--help` is fast.
"""

import argparse
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from risk_env import __version__
from risk_env.streams import give_up_output, prepare_streams
from risk_env.text.escape import for_terminal

PROGRAM = "risk-env"

SUCCESS = 0
FAILURE = 1  # any other error
WRONG_INPUT = 2  # wrong input, or an error of a file or connection; argparse uses this status too
INTERRUPTED = 130  # the status that shells report after Ctrl-C


EXTRAS = {  # name of the extra that installs each optional module
    **dict.fromkeys(("torch", "stable_baselines3", "sb3_contrib", "tensorboard", "yaml"), "train"),
    **dict.fromkeys(("matplotlib", "scipy"), "tournament"),
    "pygame": "render",
    **dict.fromkeys(("onnx", "onnxruntime"), "onnx"),
    **dict.fromkeys(("imageio", "imageio_ffmpeg"), "video"),
    **dict.fromkeys(("starlette", "uvicorn", "websockets"), "web"),
    **dict.fromkeys(("httpx2", "mcp"), "llm"),
    **dict.fromkeys(("pyarrow", "minari"), "data"),
    "ray": "ray",
    "optuna": "sweep",
}


def check_output(option: str, path: str, *endings: str) -> None:
    """Raise ValueError unless `path` names a file in an existing folder, with one of `endings`.

    Without `endings`, any ending is allowed.
    """
    if endings and Path(path).suffix not in endings:
        raise ValueError(f"{option} {path}: the name must end in {' or '.join(endings)}")
    if Path(path).is_dir() or not Path(path).absolute().parent.is_dir():
        raise ValueError(f"{option} {path}: must be a file in a folder that exists")


def check_new_output(option: str, path: str, *endings: str) -> None:
    """Raise ValueError as `check_output` does, or FileExistsError if `path` exists already."""
    check_output(option, path, *endings)
    if Path(path).exists():
        raise FileExistsError(f"{option} {path}: the file exists; choose another name")


class Command(NamedTuple):
    """A subcommand: the module and the name of its function, and one line of help."""

    module: str
    function: str
    help: str


COMMANDS: dict[str, Command] = {
    "demo": Command(
        "risk_training.demo", "main", "watch a game, train an agent, and compare the agent with bots"
    ),
    "play": Command("risk_agents.play.cli", "main", "play in the terminal, against bots or other people"),
    "serve": Command("risk_agents.web.cli", "main", "play and watch games in the browser"),
    "presets": Command(
        "risk_env.cli", "show_presets", "list the presets of the rules, and the options of a preset"
    ),
    "maps": Command(
        "risk_env.map_command", "main", "list, draw and check maps, and import maps from other programs"
    ),
    "tournament": Command(
        "risk_agents.tournament.cli", "main", "play games between agents, and rate the agents"
    ),
    "benchmark": Command(
        "risk_agents.benchmark.cli",
        "main",
        "measure an agent on fixed tracks of games, or verify a result file",
    ),
    "leaderboard": Command(
        "risk_agents.benchmark.cli", "leaderboard", "write an HTML page of benchmark results"
    ),
    "agents": Command(
        "risk_agents.tournament.cli", "show_agents", "list the registered agents, or test agents"
    ),
    "replay": Command("risk_agents.replay", "main", "replay recorded games: check, read or watch them"),
    "train": Command("risk_training.cli", "main", "train an agent with the settings of a configuration"),
    "evaluate": Command(
        "risk_training.evaluate", "main", "play an agent against each of several opponents, in all seats"
    ),
    "dataset": Command(
        "risk_agents.dataset.cli", "main", "record decisions in games between agents as training data"
    ),
    "export": Command(
        "risk_agents.export", "main", "convert a trained policy or value network to ONNX or .npz"
    ),
    "bench": Command("benchmarks.speed", "main", "measure the speed of games on this machine"),
    "mcp": Command(
        "risk_agents.mcp.server",
        "main",
        "start a Model Context Protocol server, for language models that play",
    ),
    "warmup": Command("risk_env.cli", "warm_up", "compile the code now, so that the next start is fast"),
}


class Parser(argparse.ArgumentParser):
    """A parser that raises OSError if its help cannot be written."""

    def _print_message(self, message: str, file: Any = None) -> None:
        (file or sys.stderr).write(message)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, and return its exit status. The status is 0 only on success.

    With `argv=None`, the arguments of the program are used.
    """
    if argv is None:
        prepare_streams()
    parser = _parser()
    arguments = None
    try:
        arguments = parser.parse_args(argv)
        if arguments.command is None:
            parser.print_help(sys.stderr)
            return WRONG_INPUT
        status = _function(COMMANDS[arguments.command])(arguments.arguments)
        sys.stdout.flush()
    except SystemExit:  # raised by argparse
        if status := _report_unwritten():
            return status
        raise
    except (Exception, KeyboardInterrupt) as error:
        if arguments and arguments.debug:
            traceback.print_exc()
        return _report(error)
    return SUCCESS if status is None else status


def command_parser(name: str) -> argparse.ArgumentParser:
    """Return a parser for a command, with the command's name and help from COMMANDS, but no arguments."""
    help_line = COMMANDS[name].help
    return Parser(prog=f"{PROGRAM} {name}", description=f"{help_line[0].upper()}{help_line[1:]}.")


def require(module: str) -> None:
    """Import an optional module before long work begins. Raises ImportError if the module is missing.

    The command line reports this error with the extra that installs the module (`EXTRAS`).
    """
    import_module(module)


def show_presets(argv: Sequence[str]) -> None:
    """Print a table of all presets, or every option of one preset (RULES 12, 13)."""
    from risk_env.board.rules import BOOK, PROFILES, Rules, preset_players, presets

    parser = command_parser("presets")
    add = parser.add_argument
    add(
        "preset",
        nargs="?",
        help=f"preset to show with all options: {', '.join(presets())} (default: list all)",
    )
    add("--players", type=int, metavar="N", help="number of players (default: 3, or 2 for two_player)")
    add("--expert", action="store_true", help="add the variations for experts (RULES 10.1-10.5)")
    profiles = " or ".join(PROFILES)
    add("--profile", metavar="NAME", help=f"profile of the rules (RULES 12.1): {profiles} (default: {BOOK})")
    arguments = parser.parse_args(argv)
    if arguments.preset is None and (arguments.players is not None or arguments.expert or arguments.profile):
        parser.error("--players, --expert and --profile need the name of a preset")
    from rich.console import Console
    from rich.table import Table

    console, plain_table = Console(), partial(Table, box=None, pad_edge=False)
    if arguments.preset is not None:
        profile = arguments.profile or BOOK
        rules = Rules.preset(arguments.preset, arguments.players, arguments.expert, profile)
        table = plain_table("option", "value")
        for option, value in rules.to_dict().items():
            table.add_row(option, repr(value))
        console.print(table)
        return
    shown = ("deck", "setup", "fortify", "victory")
    table = plain_table("preset", "players", *shown)
    for name in presets():
        least, most = min(preset_players(name)), max(preset_players(name))
        rules = Rules.preset(name, num_players=most)
        players = f"{least}-{most}" if least < most else str(most)
        table.add_row(name, players, *(str(getattr(rules, option)) for option in shown))
    console.print(table)
    console.print(f"\n{PROGRAM} presets NAME lists all options of a preset.", highlight=False)


def warm_up(argv: Sequence[str]) -> None:
    """Compile the kernels, or load them from the cache, and print the time for each part."""
    parser = command_parser("warmup")
    parser.add_argument("--bots", action="store_true", help="also compile the code of all registered agents")
    parser.add_argument(
        "--workers", type=int, default=1, metavar="N", help="number of processes (default: 1)"
    )
    arguments = parser.parse_args(argv)
    if arguments.workers < 1:
        parser.error(f"--workers={arguments.workers}: must be at least 1")
    start = time.perf_counter()
    from risk_env import compiling

    what = "code of the rules and the agents" if arguments.bots else "code of the rules"
    usual = "a few minutes" if arguments.bots else "half a minute"
    print(f"Compiling the {what} takes up to {usual} the first time, then a few seconds.", flush=True)
    for part, seconds in compiling.compile_parts(compiling.stages(arguments.bots), arguments.workers):
        print(f"  {part:<16}{seconds:6.1f} s", flush=True)
    print(f"The {what} is compiled ({time.perf_counter() - start:.1f} s).")


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog=PROGRAM,
        description="Play the board game Risk, and train and compare agents.",
        epilog="\n".join(
            ["commands:", *(f"  {name:<12}{command.help}" for name, command in COMMANDS.items())]
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    parser.add_argument(
        "--debug",
        action="store_true",
        help="print the traceback of an error (place this option before the command)",
    )
    parser.add_argument(
        "command", nargs="?", choices=COMMANDS, metavar="command", help="a command from the list below"
    )
    parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="...", help="arguments of the command, or --help"
    )
    return parser


def _function(command: Command) -> Callable[[Sequence[str]], int | None]:
    try:
        return getattr(import_module(command.module), command.function)
    except ModuleNotFoundError as error:
        if error.name != "benchmarks":
            raise
        raise ImportError(
            "benchmarks are not installed: run `python -m risk_env bench` in a clone of the repository"
        ) from error


def _report_unwritten() -> int:
    """Flush standard output, and return SUCCESS or the exit status of an error."""
    try:
        sys.stdout.flush()
    except OSError as error:
        return _report(error)
    return SUCCESS


def _report(error: BaseException) -> int:
    """Print an error on one line, and return the exit status.

    For an interrupt and for a closed pipe, nothing is printed.
    """
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        give_up_output()
    if isinstance(error, BrokenPipeError):  # the reader, such as `head`, has closed the pipe
        return FAILURE
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, ValueError | OSError):
        return _say(str(error), WRONG_INPUT)
    if isinstance(error, ImportError):
        extra = EXTRAS.get((error.name or "").partition(".")[0])
        return _say(f"{error}: run pip install 'risk-env[{extra}]'" if extra else str(error), FAILURE)
    return _say(f"{type(error).__name__}: {error} ({PROGRAM} --debug ... prints the traceback)", FAILURE)


def _say(problem: str, status: int) -> int:
    with suppress(OSError):  # standard error may be closed
        print(for_terminal(f"{PROGRAM}: error: {' '.join(problem.split())}"), file=sys.stderr)
    return status
