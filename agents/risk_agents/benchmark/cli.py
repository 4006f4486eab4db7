"""The commands `benchmark` and `leaderboard` (`risk-env benchmark --help`)."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from risk_agents.agent_list import NamedAgent, labelled
from risk_agents.benchmark.leaderboard import FEW_DEALS, read_folder, write_page
from risk_agents.benchmark.playing import (
    FOLDER_SUFFIX,
    BenchmarkRun,
    default_path,
    header_facts,
    play_tracks,
    playable,
    remove_games,
)
from risk_agents.benchmark.result_file import (
    CARD,
    LONGEST_TEXT,
    SUFFIX,
    Header,
    ResultFileError,
    read_results,
    write_results,
)
from risk_agents.benchmark.scoring import RATES, TrackScore
from risk_agents.benchmark.tracks import ALL, Track, find, names
from risk_agents.benchmark.verification import verify
from risk_agents.progress import progress_bar
from risk_agents.registry import SPECS
from risk_agents.sandbox import LEVELS, sandbox
from risk_agents.tournament.summary import Estimate
from risk_agents.workers import add_options, local_processes, open_executor
from risk_env.cli import check_new_output, check_output, command_parser
from risk_env.messages import counted
from risk_env.text.escape import for_terminal

SCALE = "Score: 0 for an even share of the wins, 100 for all wins; 95 % intervals, clustered by deals"
MOST_REPLAYS = 20

# ------------------------------------------------------------------------------------------ benchmark


def main(argv: Sequence[str]) -> None:
    """Run the command `benchmark`: measure an agent on tracks, verify a result file, or list the tracks."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    try:
        local_processes(arguments.workers)
    except ValueError as error:
        parser.error(f"--{error}")
    console = Console(stderr=True, quiet=arguments.quiet)
    if arguments.verify is not None:
        _check_only_verify(parser, arguments)
        _verify(arguments, console)
    elif arguments.agent is None:
        _print_tracks()
    else:
        _benchmark(arguments, console)


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("benchmark")
    add = parser.add_argument
    add(
        "agent",
        nargs="?",
        help=f"agent to measure: a name, {SPECS}; label=agent sets a label (default: list the tracks)",
    )
    tracks = ", ".join(names())
    add(
        "--track",
        metavar="NAME",
        default=ALL,
        help=f"tracks to play, separated by commas: {tracks}, or {ALL} for all tracks that the agent can "
        f"play (default: {ALL})",
    )
    add(
        "--quick",
        action="store_true",
        help="play only the first deals of each track (about two minutes in total for the agent beam)",
    )
    add("--out", metavar="FILE", help="result file (.jsonl) to write (default: benchmark-AGENT.jsonl)")
    add("--html", metavar="FILE", help="leaderboard page (.html) to write in addition to the result file")
    add("--verify", metavar="FILE", help="verify this result file: play all games again, and compare results")
    for name, meaning in CARD.items():
        value = "N" if name == "decisions" else "TEXT"
        add(f"--{name}", metavar=value, default="", help=f"{meaning}, for the card on the leaderboard")
    add_options(parser)
    add(
        "--sandbox",
        nargs="?",
        const=LEVELS[0],
        choices=LEVELS,
        help="limit the network, memory and files of programs and of agents in Python (default: no "
        "limits). yes: as far as this machine allows; strict: fail unless bubblewrap works",
    )
    add("--quiet", action="store_true", help="do not show a progress bar")
    return parser


def _check_only_verify(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Exit with an error if an argument cannot be combined with `--verify`."""
    given = [name for name in ("quick", "out", "html", "sandbox", *CARD) if getattr(arguments, name)]
    if arguments.agent is not None or arguments.track != ALL or given:
        wrong = f"--{given[0]}" if given else "an agent" if arguments.agent is not None else "--track"
        parser.error(f"--verify checks a finished file and cannot be combined with {wrong}")


def _print_tracks() -> None:
    heading = ("track", "players", "maps", "games", "games with --quick", "description")
    table = Table(*heading, box=None, pad_edge=False)
    for track in map(find, names()):
        games = [str(track.games(quick) * len(track.maps)) for quick in (False, True)]
        maps = track.maps[0][0] if len(track.maps) == 1 else f"{len(track.maps)} maps"
        table.add_row(track.title, str(track.rules.num_players), maps, *games, track.about)
    Console(width=None if sys.stdout.isatty() else 160).print(table)


def _benchmark(arguments: argparse.Namespace, console: Console) -> None:
    """Play the tracks, write the result file, and print the scores."""
    agent = labelled(arguments.agent, "agent")
    path = Path(arguments.out) if arguments.out else default_path(agent)
    _check_outputs(path, arguments)
    sandbox(arguments.sandbox)  # raises an error if this machine cannot provide the sandbox
    folder = path.with_name(path.name + FOLDER_SUFFIX)
    limits = arguments.sandbox, arguments.workers, arguments.chunk_limit
    tracks = _tracks(arguments.track, agent, arguments.decisions)
    run = BenchmarkRun(agent, tracks, arguments.quick, folder, *limits)
    try:
        played = play_tracks(run, console)
    except KeyboardInterrupt:
        console.print(f"stopped; run the same command again to continue from {folder}", highlight=False)
        raise
    card = {name: getattr(arguments, name) for name in CARD}
    facts = header_facts(run, played, card)
    write_results(path, facts, [(each.track, each.stores) for each in played])
    try:
        header, scores = read_results(path)
    except BaseException:
        path.unlink(missing_ok=True)  # the games are still in the folder
        raise
    remove_games(played, folder)
    _print_scores(header, scores)
    games, size = sum(score.games for score in scores.values()), path.stat().st_size / 1000
    print(
        f"{path}: {counted(games, 'game')}, {size:,.0f} kB; to check it: risk-env benchmark --verify {path}"
    )
    if arguments.html:
        write_page(Path(arguments.html), [path])


def _check_outputs(path: Path, arguments: argparse.Namespace) -> None:
    check_new_output("--out", str(path), SUFFIX)
    if arguments.html:
        check_output("--html", arguments.html, ".html")
    for name in CARD:
        text = getattr(arguments, name)
        if len(text) > LONGEST_TEXT:
            raise ValueError(f"--{name} has {len(text)} characters; at most {LONGEST_TEXT} are allowed")


def _tracks(text: str, agent: NamedAgent, decisions: str) -> list[Track]:
    """Return the tracks of `--track` without duplicates.

    `decisions` is the text of `--decisions`. If `text` is ALL, the tracks that the agent cannot play are left
    out, and the reasons are printed.
    """
    if text != ALL:
        tracks = [find(name) for name in dict.fromkeys(name.strip() for name in text.split(","))]
        for track in tracks:
            track.check_training(decisions)
        return tracks
    tracks, refused = playable(agent, list(map(find, names())), decisions)
    for title, reason in refused.items():
        print(for_terminal(f"left out: {title}: {reason}"), file=sys.stderr)
    return tracks


def _print_scores(header: Header, scores: Mapping[str, TrackScore]) -> None:
    """Print a table with the score on each track."""
    title = f"{header.name}, version {header.facts['agent']['version']}" + ", quick" * header.is_quick
    heading = (
        "track",
        "score",
        "score against training opponents",
        "score against kept-out opponents",
        "games",
        "wins",
        "truncated",
        "forfeits",
    )
    table = Table(title=Text(for_terminal(title)), title_justify="left", box=None, pad_edge=False)
    for number, column in enumerate(heading):
        table.add_column(column, justify="right" if number else "left", no_wrap=number < 2)
    for track in header.tracks:
        score = scores[track.name]
        rates = (shown(getattr(score, name), name in score.rough) for name in RATES)
        counts = (score.games, score.wins, score.truncated, score.forfeits)
        table.add_row(track.title, *rates, *map(str, counts))
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(table)
    console.print(SCALE, highlight=False)
    if any(set(score.rough) & set(RATES) for score in scores.values()):
        console.print(FEW_DEALS, highlight=False)


def shown(rate: Estimate | None, is_rough: bool) -> str:
    """Format a score and its interval; add a star if the score comes from few deals."""
    return "" if rate is None else f"{rate.value:.1f} [{rate.low:.1f}, {rate.high:.1f}]" + "*" * is_rough


def _verify(arguments: argparse.Namespace, console: Console) -> None:
    """Play all games of a result file again, and print the scores."""
    header = read_results(arguments.verify)[0]
    total = sum(track.games(header.is_quick) * len(track.maps) for track in header.tracks)
    with (
        open_executor(arguments.workers, arguments.chunk_limit) as executor,
        progress_bar("games", total, console) as show,
    ):
        verified = verify(arguments.verify, executor, lambda games: show(games, ""))
    _print_scores(verified.header, verified.scores)
    whose = "all actions" if verified.agent_played else "all actions of the opponents"
    print(f"{arguments.verify}: verified; {counted(verified.games, 'game')} played again, {whose} compared")


# ------------------------------------------------------------------------------------------ leaderboard


def leaderboard(argv: Sequence[str]) -> None:
    """Run the command `leaderboard`: write one page about the result files in a folder."""
    parser = command_parser("leaderboard")
    parser.add_argument("folder", help="folder with result files of `benchmark` (.jsonl)")
    parser.add_argument("--html", metavar="FILE", required=True, help="page (.html) to write")
    parser.add_argument(
        "--max-replays",
        type=int,
        default=1,
        metavar="N",
        help="maximum number of replays for each track of a result file (default: 1); the replays are "
        "written into a folder beside the page",
    )
    parser.add_argument(
        "--check", action="store_true", help="play all games again, and leave out files with errors"
    )
    add_options(parser)
    arguments = parser.parse_args(argv)
    check_output("--html", arguments.html, ".html")
    if not 0 <= arguments.max_replays <= MOST_REPLAYS:
        parser.error(f"--max-replays={arguments.max_replays}: must be from 0 to {MOST_REPLAYS}")
    page, files = Path(arguments.html), read_folder(arguments.folder)
    verified, refused = _verified(files, arguments) if arguments.check else ({}, [])
    shown_on_page = list(verified) if arguments.check else files
    refused += write_page(page, shown_on_page, arguments.max_replays, verified)
    for path, problem in refused:
        print(for_terminal(f"left out: {path}: {problem}"), file=sys.stderr)
    shown_files = len(files) - len(refused)
    print(f"{page}: {counted(shown_files, 'result file')}")


def _verified(
    files: Sequence[Path], arguments: argparse.Namespace
) -> tuple[dict[Path, bool], list[tuple[Path, str]]]:
    """Play all games of all files again; return the verified files, and the other files with their problems.

    In the dict of verified files, a value is True if the actions of the file's agent were compared too.
    Raises ValueError if no file is verified.
    """
    verified: dict[Path, bool] = {}
    refused: list[tuple[Path, str]] = []
    with open_executor(arguments.workers, arguments.chunk_limit) as executor:
        for path in files:
            try:
                verified[path] = verify(path, executor).agent_played
            except ResultFileError as error:
                refused.append((path, str(error)))
    if not verified:
        raise ValueError("; ".join(problem for _, problem in refused))
    return verified, refused
