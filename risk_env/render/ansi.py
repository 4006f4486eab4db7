"""A position as text: status, territories by continent, players, Objectives and Rewards."""

from collections.abc import Sequence
from itertools import zip_longest
from textwrap import fill

from rich.cells import cell_len

from risk_env.board.maps import Board
from risk_env.render.scene import Scene, check_scene
from risk_env.text.escape import padded

CODES = (34, 91, 32, 33, 35, 36)  # blue, bright red, green, yellow, magenta, cyan: one for each seat
NEUTRAL_CODE, FREE_CODE = 90, 2
GAP = 3
MARKS = "* city   ^ capital   # headquarters   + airfield"


def draw_ansi(board: Board, scene: Scene, colour: bool = False, width: int = 100) -> str:
    """Return a public position as text of at most `width` columns, or more if names are long.

    `colour` adds ANSI colours.
    """
    check_scene(board, scene)
    blocks = [_block(board, scene, c, colour) for c in range(len(board.continents))]
    columns = max(1, (width + GAP) // (_block_width(board) + GAP))
    dice = ", dice " + " | ".join(" ".join(map(str, side)) for side in scene.dice) if any(scene.dice) else ""
    lines = [scene.status(board) + dice, "", *_in_columns(blocks, columns, _block_width(board))]
    if any(place >= 0 for _, places in _marked(scene) for place in places):
        lines += [fill(MARKS, width), ""]
    lines += [_player(scene, seat, colour, width) for seat in scene.armies()]
    for whose, names in scene.goals(board):
        lines.append(fill(names, width, initial_indent=f"{whose}: ", subsequent_indent="  "))
    return "\n".join(lines) + "\n"


def _name_width(board: Board) -> int:
    return max(map(cell_len, board.territories))


def _block_width(board: Board) -> int:
    """Return the width of a block: owner, name, troops and four marks."""
    return max(2 + _name_width(board) + 1 + 6 + 4, *(cell_len(c) + 6 for c in board.continents))


def _block(board: Board, scene: Scene, continent: int, colour: bool) -> list[str]:
    """Return a continent's name, bonus and territories, in lines of equal width on the screen."""
    title = f"{board.continents[continent]} +{board.bonuses[continent]}"
    own = [t for t, c in enumerate(board.continent_of) if c == continent]
    width = _block_width(board)
    return [padded(title, width), *(_territory(board, scene, t, width, colour) for t in own)]


def _territory(board: Board, scene: Scene, t: int, width: int, colour: bool) -> str:
    name = padded(board.territories[t], _name_width(board))
    troops = str(scene.troops[t]) if scene.owner[t] >= 0 else "-"
    marks = "".join(mark for mark, places in _marked(scene) if t in places)
    line = padded(f"{sign(scene, scene.owner[t])} {name} {troops:>6}{marks}", width)
    return painted(line, _code(scene, scene.owner[t])) if colour else line


def sign(scene: Scene, owner: int) -> str:
    """Return one character for an owner: the seat's number, N for the neutral army, . for nobody."""
    if owner == scene.num_players:
        return "N"
    return str(owner) if owner >= 0 else "."


def _marked(scene: Scene) -> list[tuple[str, Sequence[int]]]:
    """Return the marks, each with the territories that have the mark."""
    capitals, headquarters = scene.capitals.tolist(), scene.headquarters.tolist()
    return [("*", scene.cities), ("^", capitals), ("#", headquarters), ("+", scene.airfields)]


def _code(scene: Scene, owner: int) -> int:
    if owner == scene.num_players:
        return NEUTRAL_CODE
    return CODES[owner % len(CODES)] if owner >= 0 else FREE_CODE


def painted(text: str, code: int) -> str:
    """Return text in an ANSI colour."""
    return f"\x1b[{code}m{text}\x1b[0m"


def _in_columns(blocks: list[list[str]], columns: int, width: int) -> list[str]:
    """Arrange blocks in columns. Each block goes to the shortest column."""
    stacks: list[list[str]] = [[] for _ in range(columns)]
    for block in blocks:
        min(stacks, key=len).extend([*block, " " * width])
    return [(" " * GAP).join(row).rstrip() for row in zip_longest(*stacks, fillvalue=" " * width)]


def _player(scene: Scene, seat: int, colour: bool, width: int) -> str:
    """Return the line of a player, or two lines if one line would be longer than `width`."""
    held = scene.held_by(seat)
    arrow = ">" if seat == scene.turn else " "
    troops = sum(scene.troops[t] for t in held)
    who, line = (
        f"{arrow} {sign(scene, seat)} {scene.name(seat):<16}",
        f"{len(held):>3} territories {troops:>6} troops",
    )
    if seat < len(scene.hand_sizes):
        line += f" {scene.hand_sizes[seat]:>2} card{'s' if scene.hand_sizes[seat] != 1 else ''}"
    if seat < scene.num_players and not scene.lives(seat):
        line += "  out"
    if seat == scene.winner:
        line += "  won"
    whole = f"{who} {line}"
    if cell_len(whole) > width:
        whole = f"{who.rstrip()}\n    {' '.join(line.split())}"
    return painted(whole, _code(scene, seat)) if colour else whole
