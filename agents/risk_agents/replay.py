"""Command `replay`: play recorded games again to check, print or draw them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from risk_agents.game_files import read_games
from risk_agents.progress import progress_bar
from risk_agents.tournament.records import check_result
from risk_agents.win_chances import chances_by_play
from risk_env.cli import check_output, command_parser
from risk_env.game import Game
from risk_env.messages import counted
from risk_env.render.rgb import draw_rgb, import_pygame
from risk_env.render.scene import scene_of
from risk_env.render.video import FRAMES_A_SECOND, check_fps, import_imageio, write_video
from risk_env.saved_game import SavedGame
from risk_env.text.escape import for_terminal
from risk_env.whole_file import whole_file

if TYPE_CHECKING:
    from risk_agents.luck import LuckMeter
    from risk_agents.review import Review

PICTURES = ("html", "gif", "mp4")
MOMENTS = ("decision", "turn", "round")


def main(argv: Sequence[str]) -> None:
    """Run the command `replay`: replay the games, check their results, and print or draw the games."""
    arguments = _parser().parse_args(argv)
    outputs = [(kind, path) for kind in PICTURES if (path := getattr(arguments, kind))]
    check_fps("--fps", arguments.fps)
    if arguments.review and arguments.seat is not None:
        raise ValueError("--review shows facts of all seats: leave out --seat")
    if arguments.gif or arguments.mp4:
        import_imageio()
        import_pygame()
    for kind, path in outputs:
        check_output(f"--{kind}", path, *([f".{kind}"] if kind != "html" else []))
    count, game_review = 0, None
    for count, (saved, game, line) in enumerate(replayed_games(arguments.file, arguments.game), 1):
        if outputs and count > 1:
            raise ValueError(f"{arguments.file} contains several games: choose one with --game")
        _print(game, line, arguments)
        game_review = reviewed(game, saved.players) if arguments.review else None
    if not count:
        which = "no game" if arguments.game is None else f"no game {arguments.game}"
        raise ValueError(f"{arguments.file} contains {which}")
    print(f"{counted(count, 'game')} replayed without differences from the file")
    for kind, path in outputs:
        with whole_file(Path(path)) as fresh:
            _WRITERS[kind](game, saved.players, arguments, str(fresh), game_review)
        print(f"{path}: {Path(path).stat().st_size / 1000:,.0f} kB")


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("replay")
    add = parser.add_argument
    add("file", help="file to replay: JSON Lines from `tournament --save`, or a game saved by `play`")
    add("--game", type=int, metavar="N", help="replay only game N of the tournament (default: all games)")
    add("--log", action="store_true", help="print every action and roll")
    add("--board", action="store_true", help="print the final position")
    add("--html", metavar="FILE", help="write the game as a page for a browser")
    add("--gif", metavar="FILE", help="write the game as an animated GIF")
    add("--mp4", metavar="FILE", help="write the game as an MP4 video")
    _add_video(parser)
    add(
        "--chances",
        metavar="BOT",
        help="show every seat's win probability in --html, estimated from games of this compiled bot",
    )
    add(
        "--luck",
        action="store_true",
        help="print the luck of both seats of a duel, and show the luck of each battle in --html",
    )
    add(
        "--review",
        action="store_true",
        help="print every seat's luck and costliest turns, and show both in --html. A game of 60 turns takes "
        "up to a minute; the first use takes a few minutes more",
    )
    add(
        "--seat",
        type=int,
        metavar="N",
        help="show in --html only the facts that this seat knew (default: public facts)",
    )
    return parser


def _add_video(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that control the videos of --gif and --mp4."""
    add = parser.add_argument
    add(
        "--every",
        choices=MOMENTS,
        default="decision",
        help="interval between two frames of --gif and --mp4 (default: decision)",
    )
    add(
        "--fps",
        type=float,
        default=FRAMES_A_SECOND,
        metavar="N",
        help=f"frames per second of --gif and --mp4 (default: {FRAMES_A_SECOND})",
    )


def replayed_games(path: str, number: int | None) -> Iterator[tuple[SavedGame, Game, str]]:
    """Replay all games of a file, or only the game with the number `number`.

    Yields each saved game, the replayed game, and a line that describes the game. Raises SavedGameError if
    the result of a game differs from the recorded result.
    """
    for saved, result in read_games(path):
        if number not in (None, result.get("game")):
            continue
        game, seats = (
            saved.replay(),
            ", ".join(f"{seat}: {label}" for seat, label in enumerate(saved.players)),
        )
        if result:
            check_result(saved, game, result)
            end = f"{result['ending']}, winner {result.get('winner')}, {counted(game.round, 'round')}"
            yield saved, game, f"game {result.get('game')} ({seats}): {end}"
        else:
            yield saved, game, f"saved game ({seats}): round {game.round}"


def _print(game: Game, line: str, arguments: argparse.Namespace) -> None:
    if arguments.log:
        print(*game.log, sep="\n")
    if arguments.board:
        print(game)
    if any((arguments.log, arguments.board, arguments.luck, arguments.review, arguments.game is not None)):
        print(for_terminal(line))
    if arguments.luck:
        luck = 100 * meter_for(game).luck(game.beginning().records, [game.actions])[0]
        print(f"luck (gain in win probability): seat 0 {luck[0]:+.1f} %, seat 1 {luck[1]:+.1f} %")


def reviewed(game: Game, names: Sequence[str]) -> Review:
    """Review a game; print and return the review."""
    from risk_agents.review import review  # slow import, about one second
    from risk_agents.review.report import lines

    total = sum(event.kind == "turn" for event in game.events())
    with progress_bar("turns", total, Console(stderr=True)) as show:
        game_review = review(game, names, progress=lambda done: show(done, ""))
    print(*map(for_terminal, lines(game_review)), sep="\n")
    return game_review


def _write_html(
    game: Game, names: Sequence[str], arguments: argparse.Namespace, path: str, game_review: Review | None
) -> None:
    bot = arguments.chances
    evaluate = chances_by_play(game.rules, game.board, bot) if bot else None
    page = game.replay(names, arguments.seat, evaluate)
    if arguments.luck:
        meter_for(game).show(page, game)
    if game_review is not None:
        page.facts["review"] = game_review.to_dict()
    page.save(path)


def meter_for(game: Game) -> LuckMeter:
    """Return a meter for the luck of a game; raise ValueError if the luck of such games is unknown."""
    from risk_agents.luck import LuckMeter  # slow import, about one second

    return LuckMeter(game.rules, game.board)


def _write_video(
    game: Game, names: Sequence[str], arguments: argparse.Namespace, path: str, game_review: Review | None
) -> None:
    scenes = (scene_of(past, names) for past in moments(game, arguments.every))
    write_video(path, (draw_rgb(game.board, scene) for scene in scenes), arguments.fps)


def moments(game: Game, every: str) -> Iterator[Game]:
    """Yield a game before its first decision, at later moments, and after its last action.

    `every` determines the later moments: after each decision ("decision"), or at the start of each new turn
    ("turn") or round ("round"). The set-up has no turns. The same Game object is yielded each time.
    """
    past = game.beginning()
    yield past
    for number, action in enumerate(game.actions, 1):
        before = (past.round, past.turn)
        past.step(action)
        new_round = past.round != before[0]
        new_turn = past.round > 0 and (past.round, past.turn) != before
        if {"decision": True, "turn": new_turn, "round": new_round}[every] or number == len(game.actions):
            yield past


_WRITERS = {"html": _write_html, "gif": _write_video, "mp4": _write_video}
