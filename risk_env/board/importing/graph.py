"""Maps as plain graphs: JSON, or a CSV table.

JSON is one object: `continents` and `territories` are lists of objects with a `name`, and `borders` is a list
of pairs of names. In CSV, each row begins with the kind of the row:

```
continent,NAME,BONUS,COLOUR
territory,NAME,CONTINENT,X,Y,SYMBOL
border,NAME,NAME
```
Entries of `borders` are two-way, unless the JSON object has `"directed": true`. Entries of `one_way` and rows
`one_way,NAME,NAME` are one-way.
"""

import csv
from collections.abc import Iterator, Mapping
from typing import Any

from risk_env.board.importing.draft import (
    DraftContinent,
    DraftTerritory,
    MapDraft,
    NameIndex,
    Report,
    clean_name,
    point,
    whole_number,
)
from risk_env.board.importing.finishing import check_before_borders
from risk_env.board.maps import SYMBOLS
from risk_env.bounded_io import parse_json
from risk_env.messages import shortened

KINDS = {
    "continent": ("name", "bonus", "colour"),
    "territory": ("name", "continent", "x", "y", "symbol"),
    "border": ("from", "to"),
    "one_way": ("from", "to"),
}
Row = tuple[str, str, dict[str, str]]  # place, kind, values


def read_json_graph(text: str, name: str, report: Report) -> MapDraft:
    """Return the map in a JSON text.

    Raises ValueError if the text is not a JSON object, and MapError as `check_before_borders` does.
    """
    try:
        values = parse_json(text)
    except ValueError as error:
        raise ValueError(f"cannot be read as JSON: {error}") from None
    if not isinstance(values, dict):
        raise ValueError("a map in JSON must be an object with territories, continents and borders")
    known = ("name", "directed", "continents", "territories", "borders", "one_way")
    for key in values:
        if key not in known:
            report.problem(f"unknown key {shortened(key)}", key, known)
    title = values.get("name", name)
    if not isinstance(title, str):
        report.problem(f"name: {shortened(title)} is not a string")
        title = name
    if not isinstance(values.get("directed", False), bool):
        report.problem(f"directed: {shortened(values['directed'])} is not true or false")
    rows = [
        *_rows(values, "continent", "continents", report),
        *_rows(values, "territory", "territories", report),
    ]
    rows += [*_rows(values, "border", "borders", report), *_rows(values, "one_way", "one_way", report)]
    return _draft_of(title, rows, values.get("directed") is True, report)


def read_csv_graph(text: str, name: str, report: Report) -> MapDraft:
    """Return the map in a CSV text.

    Raises ValueError if the text is not CSV, and MapError as `check_before_borders` does.
    """
    rows: list[Row] = []
    lines = csv.reader(text.splitlines(), skipinitialspace=True)
    try:
        for cells in lines:
            kind, *values = (cell.strip() for cell in cells or [""])
            place = f"line {lines.line_num}"
            if kind.casefold() in KINDS:
                rows.append((place, kind.casefold(), _named(values, kind.casefold(), place, report)))
            elif kind and not kind.startswith("#"):
                report.problem(f"{place}: {shortened(kind)} is not a kind of row", kind, tuple(KINDS))
    except csv.Error as error:
        raise ValueError(f"not CSV: line {lines.line_num}: {error}") from None
    return _draft_of(name, rows, False, report)


def _rows(values: Mapping[str, Any], kind: str, key: str, report: Report) -> Iterator[Row]:
    """Yield the entries of a JSON list as rows.

    An entry may be an object, a list of values, or a string. A string is the first value of the row.
    """
    entries = values.get(key, [])
    if not isinstance(entries, list):
        report.problem(f"{key}: {shortened(entries)} is not a list")
        return
    for i, entry in enumerate(entries, 1):
        cells = entry if isinstance(entry, list) else [entry] if isinstance(entry, str) else []
        place = f"{kind} {i}"
        table = entry if isinstance(entry, dict) else _named(cells, kind, place, report)
        for name in table:
            if name not in KINDS[kind]:
                report.problem(f"{place}: unknown key {shortened(name)}", name, KINDS[kind])
        if not table or any(not isinstance(value, str | int | float) for value in table.values()):
            form = "a string, nor a non-empty list or object of strings and numbers"
            report.problem(f"{place}: {shortened(entry)} is neither {form}")
        else:
            yield place, kind, {name: _as_text(value) for name, value in table.items()}


def _named(cells: list[Any], kind: str, place: str, report: Report) -> dict[str, Any]:
    """Return the cells of a row, by column name. Report a surplus cell unless the cell is empty."""
    names = KINDS[kind]
    if surplus := [cell for cell in cells[len(names) :] if cell != ""]:
        report.problem(
            f"{place}: {shortened(surplus[0])} is one value too many; the row is {', '.join(names)}"
        )
    return dict(zip(names, cells, strict=False))


def _as_text(value: Any) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _draft_of(name: str, rows: list[Row], directed: bool, report: Report) -> MapDraft:
    draft = MapDraft(name)
    continents, territories = NameIndex("continent", report), NameIndex("territory", report)
    for place, kind, values in rows:
        if kind == "continent":
            title = clean_name(values.get("name", ""), kind, report)
            bonus = whole_number(values.get("bonus", ""), f"{place}, bonus", report)
            draft.continents.append(DraftContinent(title, bonus, values.get("colour") or None))
            continents.add(title, place)
    for place, kind, values in rows:
        if kind == "territory":
            draft.territories.append(_territory(place, values, continents, report))
            territories.add(draft.territories[-1].name, place)
    check_before_borders(draft, report)
    for place, kind, values in rows:
        if kind not in ("border", "one_way"):
            continue
        if missing := [end for end in KINDS[kind] if not values.get(end)]:
            report.problem(f"{place}: {missing[0]} is missing; the row is {', '.join(KINDS[kind])}")
        else:
            source, target = (territories.find(values.get(end, ""), place) for end in KINDS[kind])
            draft.add_borders(source, [target])
            if kind == "border" and not directed:
                draft.add_borders(target, [source])
    return draft


def _territory(place: str, values: dict[str, str], continents: NameIndex, report: Report) -> DraftTerritory:
    name = clean_name(values.get("name", ""), "territory", report)
    continent = continents.find(values["continent"], place) if values.get("continent") else -1
    x, y = values.get("x", ""), values.get("y", "")
    symbol = values.get("symbol", "").casefold() or None
    if symbol not in (None, *SYMBOLS):
        report.problem(f"{place}, symbol: {shortened(symbol)} is not one of {', '.join(SYMBOLS)}")
        symbol = None
    return DraftTerritory(name, continent, point(x, y, place, report) if x or y else None, symbol)
