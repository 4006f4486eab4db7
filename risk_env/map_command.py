"""The command `risk-env maps`: list, draw, check and import maps."""

import argparse
import filecmp
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from risk_env.board.importing.reader import ImportedMap, import_map
from risk_env.board.maps import Board, load_map, map_names
from risk_env.board.rules import Rules, check_rules, preset_players, presets
from risk_env.board.toml_table import MapError
from risk_env.cli import PROGRAM, check_new_output, command_parser
from risk_env.core.types import size_class
from risk_env.text.escape import for_terminal
from risk_env.whole_file import whole_file

LIST, DRAW, CHECK, IMPORT = ACTIONS = ("list", "draw", "check", "import")


def main(argv: Sequence[str]) -> None:
    """Run the command `maps`."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.action not in ACTIONS and arguments.map is None:
        arguments.action, arguments.map = DRAW, arguments.action
    _check_arguments(parser, arguments)
    does: dict[str, Callable[[argparse.Namespace], None]] = {
        LIST: list_maps,
        DRAW: draw_map,
        CHECK: check_map,
        IMPORT: write_imported_map,
    }
    does[arguments.action](arguments)


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("maps")
    add = parser.add_argument
    add(
        "action",
        nargs="?",
        default=LIST,
        help=f"{LIST}, {DRAW}, {CHECK} or {IMPORT} (default: {LIST}); or the name of a map to draw",
    )
    add("map", nargs="?", help="name or file of a map; for import, a file of another program")
    add(
        "--out",
        metavar="FILE",
        help="file to write: FILE.svg for draw (default: map.svg), FILE.toml for import (default: no file)",
    )
    add(
        "--cards",
        metavar="FILE",
        help="import: .cards file of a Domination map (default: the file that the map names, if it is in the "
        "folder of the map)",
    )
    add(
        "--picture",
        metavar="FILE",
        help="import: PNG or JPEG file to draw under the map; copied into the folder of --out",
    )
    add("--mirror", action="store_true", help="import: make one-way borders two-way")
    add("--simplify", action="store_true", help="import: leave out features that the rules do not have")
    return parser


def _check_arguments(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Exit with an error if an argument does not fit the action."""
    if arguments.action not in ACTIONS:
        parser.error(f"action={arguments.action}: choose one of {', '.join(ACTIONS)}")
    if (arguments.map is None) != (arguments.action == LIST):
        parser.error(
            f"{arguments.action}: {'takes no map' if arguments.map else 'give the name or file of a map'}"
        )
    if arguments.out is not None and arguments.action not in (DRAW, IMPORT):
        parser.error(f"{arguments.action}: writes no file, so --out is not allowed")
    for option in ("cards", "picture", "mirror", "simplify"):
        if getattr(arguments, option) and arguments.action != IMPORT:
            parser.error(f"{arguments.action}: --{option} is for import only")


def list_maps(_: argparse.Namespace) -> None:
    """Print a table of the shipped maps."""
    from rich.console import Console
    from rich.table import Table

    table = Table("map", "territories", "borders", "continents", "drawing", box=None, pad_edge=False)
    for name in map_names():
        board = load_map(name)
        drawn = "drawn" if board.drawing else "automatic"
        numbers = board.num_territories, num_borders(board), len(board.continents)
        table.add_row(name, *map(str, numbers), drawn)
    console = Console()
    console.print(table)
    console.print(f"\n{PROGRAM} maps check NAME shows which presets can be played on a map.", highlight=False)


def draw_map(arguments: argparse.Namespace) -> None:
    """Write a picture of a map."""
    from risk_env.render import svg

    out = arguments.out or "map.svg"
    check_new_output("--out", out, ".svg")
    picture = svg.draw_map(load_map(arguments.map))
    with whole_file(Path(out)) as fresh:
        fresh.write_text(picture, encoding="utf-8")
    print(f"Wrote {out}.")


def check_map(arguments: argparse.Namespace) -> None:
    """Print facts about a map: its size, its drawing, and the numbers of players that each preset allows."""
    for line in description(load_map(arguments.map)):
        print(for_terminal(line))


def write_imported_map(arguments: argparse.Namespace) -> None:
    """Import a map from another program, describe the map, and write a map file if `--out` is given."""
    if arguments.out is not None:
        check_new_output("--out", arguments.out, ".toml")
    imported = _imported(arguments)
    for decision in imported.decisions:
        print(for_terminal(f"note: {decision}"))
    for line in description(imported.board):
        print(for_terminal(line))
    if arguments.out is None:
        print("Nothing is written. Use --out MAP.toml to write the map.")
        return
    _copy_picture(arguments, imported.board)
    with whole_file(Path(arguments.out)) as fresh:
        fresh.write_text(imported.text, encoding="utf-8")
    print(f"Wrote {arguments.out}. To play on this map: {PROGRAM} play --map {arguments.out}")


def _imported(arguments: argparse.Namespace) -> ImportedMap:
    """Return the imported map.

    If the import fails, the problems and the decisions are printed before the error is raised.
    """
    try:
        return import_map(
            arguments.map, arguments.cards, arguments.mirror, arguments.simplify, arguments.picture
        )
    except MapError as error:
        head, *lines = str(error).split("\n")
        notes = (f"  note: {decision}" for decision in getattr(error, "__notes__", ()))
        for line in (*lines, *notes):
            print(for_terminal(line), file=sys.stderr)
        raise MapError(head.removesuffix(":")) from None


def _copy_picture(arguments: argparse.Namespace, board: Board) -> None:
    """Copy the picture of an imported map into the folder of the map file, unless it is already there."""
    if arguments.picture is None or board.drawing is None or board.drawing.picture is None:
        return
    place = Path(arguments.out).with_name(Path(arguments.picture).name)
    if place.is_file() and filecmp.cmp(place, arguments.picture, shallow=False):
        return
    if place.exists():
        raise FileExistsError(
            f"{place}: the file exists; rename the picture or choose another folder for --out"
        )
    with whole_file(place) as fresh:
        fresh.write_bytes(board.drawing.picture.content)
    print(f"Wrote {place}.")


def num_borders(board: Board) -> int:
    """Return the number of borders. A two-way border counts once."""
    return (len(board.borders) + len(board.one_way_borders)) // 2


def _kind_of_drawing(board: Board) -> str:
    """Return the origin of a map's drawing in words."""
    if board.drawing is None:
        return "automatic"
    return "from the file, with a picture" if board.drawing.picture else "from the file"


def description(board: Board) -> Iterator[str]:
    """Yield lines about a map: its size, its drawing, and the numbers of players that each preset allows."""
    sizes = size_class(board.num_territories, len(board.borders), len(board.continents))
    one_way = f" ({len(board.one_way_borders)} one-way)" if board.one_way_borders else ""
    yield (
        f"{board.name}: {board.num_territories} territories, {num_borders(board)} borders{one_way}, "
        f"{len(board.continents)} continents; digest {board.digest[:16]}"
    )
    yield (
        f"size class: up to {sizes.territories} territories, {sizes.borders // 2} borders, "
        f"{sizes.continents} continents"
    )
    yield f"drawing: {_kind_of_drawing(board)}"
    for preset in presets():
        numbers, problem = [], ""
        for players in preset_players(preset):
            try:
                check_rules(Rules.preset(preset, players), board)
                numbers.append(str(players))
            except ValueError as error:
                problem = str(error)
        games = f"{', '.join(numbers)} players" if numbers else "not playable"
        yield f"{preset}: {games}{f' ({problem})' if problem else ''}"
