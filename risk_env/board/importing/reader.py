"""Import of map files from other programs: find the format, read and check the map, write the map as TOML."""

import csv
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from risk_env.board.importing.conquer_club import read_conquer_club
from risk_env.board.importing.conquest import read_conquest
from risk_env.board.importing.domination import cards_file_of, read_domination
from risk_env.board.importing.draft import MapDraft, Report, clean_name
from risk_env.board.importing.finishing import finish
from risk_env.board.importing.graph import KINDS, read_csv_graph, read_json_graph
from risk_env.board.importing.sections import read_sections
from risk_env.board.importing.toml_text import toml_of
from risk_env.board.map_pictures import MapPicture, read_picture
from risk_env.board.maps import Board, read_map
from risk_env.board.names import MAX_NAME
from risk_env.board.toml_table import MapError
from risk_env.bounded_io import composed, read_file, text_of
from risk_env.messages import shortened

MOST_BYTES = 1 << 19  # maximum size of a file, in bytes
OLD_ENCODING = "cp1252"  # Windows-1252
FORMATS = "Domination, Conquest, Conquer Club, or a graph in JSON or CSV"


class ImportedMap(NamedTuple):
    """An imported map: the board, the text of its map file, and the decisions of the importer."""

    board: Board
    text: str
    decisions: tuple[str, ...]


def import_map(
    path: str | Path,
    cards: str | Path | None = None,
    mirror: bool = False,
    simplify: bool = False,
    picture: str | Path | None = None,
) -> ImportedMap:
    """Return the map in a file from another program.

    `cards` is the `.cards` file of a Domination map (default: the file that the map names, if this file is in
    the same folder). `mirror` makes one-way borders two-way. `simplify` leaves out features that the rules do
    not have. `picture` is a PNG or JPEG file with the picture of the map. With a picture, the coordinates of
    the map must be pixels of the picture. The map file must then be written into the folder of the picture.

    Raises MapError if the file has problems; the error lists the problems.
    """
    path = Path(path)
    report = Report(path.name, mirror, simplify)
    text = _text_of_file(path, path.name, report)
    cards_text = None
    if format_of(text) == "domination":
        beside = Path(cards) if cards is not None else _cards_beside(path, text, report)
        cards_text = _text_of_file(beside, "cards", report) if beside is not None else None
    elif cards is not None:
        raise MapError(
            f"{path.name}: not a Domination map, and only Domination maps have a .cards file; "
            f"leave out cards={shortened(str(cards))}"
        )
    return import_text(text, cards_text, path.stem, report, None if picture is None else Path(picture))


def import_text(
    text: str, cards: str | None, name: str, report: Report, picture: Path | None = None
) -> ImportedMap:
    """Return the map in a text. `name` is the map's name if the text does not contain a name.

    `cards` is the text of a `.cards` file or None. `picture` is the file of the map's picture. Raises
    MapError if the text has problems; the error lists the problems.
    """
    try:
        draft = _draft_of(text, cards, name[:MAX_NAME], report)
        draft.name = clean_name(draft.name, "map", report)
        if picture is not None:
            draft.picture, draft.picture_name = _picture_in(picture), picture.name
        finish(draft, report)
    except MapError:
        raise
    except ValueError as error:
        report.problem(str(error))
    report.raise_problems()
    written = toml_of(draft, f"Imported from {shortened(report.file)}.")
    board = read_map(written, report.file, picture and picture.parent)
    return ImportedMap(board, written, tuple(report.decisions))


def format_of(text: str) -> str:
    """Return the format of a text, or "" if the format is unknown."""
    start = text.lstrip()[:1]
    if start in ("<", "{"):
        return "conquer club" if start == "<" else "json"
    sections = read_sections(text)
    if "countries" in sections:
        return "domination"
    if "territories" in sections:
        return "conquest"
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    try:
        cells = next(csv.reader([first], skipinitialspace=True), [""])
    except csv.Error:
        return ""
    return "csv" if cells and cells[0].strip().casefold() in KINDS else ""


def _draft_of(text: str, cards: str | None, name: str, report: Report) -> MapDraft:
    match format_of(text):
        case "domination":
            return read_domination(text, cards, name, report)
        case "conquest":
            return read_conquest(text, name, report)
        case "conquer club":
            return read_conquer_club(text, name, report)
        case "json":
            return read_json_graph(text, name, report)
        case "csv":
            return read_csv_graph(text, name, report)
    raise ValueError(f"unknown format: the importer reads {FORMATS}")


def decoded(content: bytes, what: str, report: Report) -> str:
    """Decode the content of a file as UTF-8, or else as Windows-1252.

    `what` names the file in the report. Raises ValueError for any other content.
    """
    try:
        return text_of(content)
    except UnicodeDecodeError:
        text = content.decode(OLD_ENCODING)
    report.decision(f"{what} is not UTF-8: it is read as Windows-1252")
    return composed(text)


def _text_of_file(path: Path, what: str, report: Report) -> str:
    try:
        return decoded(read_file(path, MOST_BYTES), what, report)
    except (OSError, ValueError) as error:
        raise MapError(f"{path}: cannot be read: {error}") from None


def _picture_in(path: Path) -> MapPicture:
    try:
        return read_picture(path.parent, path.name)
    except (OSError, ValueError) as error:
        raise ValueError(f"picture {shortened(str(path))}: {error}") from None


def _cards_beside(path: Path, text: str, report: Report) -> Path | None:
    """Return the `.cards` file that a map names, or None if the map's folder has no such file."""
    named = cards_file_of(text)
    beside = path.parent / Path(named.replace("\\", "/")).name
    with suppress(OSError, ValueError):  # `is_file` raises for a name that no file can have
        if named and beside.suffix == ".cards" and beside.is_file():
            return beside
    if named:
        report.decision(f"no .cards file {shortened(named)} in the folder of the map")
    return None
