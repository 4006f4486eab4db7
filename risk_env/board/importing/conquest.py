"""Maps of the Conquest family: one `.map` file with three sections.

```
[Map]                   KEY=VALUE
[Continents]            NAME=BONUS
[Territories]           NAME,X,Y,CONTINENT,NEIGHBOUR,NEIGHBOUR,...
```
"""

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
from risk_env.board.importing.sections import SectionLine, needed, read_sections
from risk_env.messages import shortened


def read_conquest(text: str, name: str, report: Report) -> MapDraft:
    """Return the map in a `.map` text.

    Raises ValueError if the section `[Continents]` or `[Territories]` is missing, and MapError as
    `check_before_borders` does.
    """
    sections = read_sections(text)
    draft = MapDraft(name)
    continents = NameIndex("continent", report)
    for line in needed(sections, "continents"):
        title, equals, bonus = line.text.rpartition("=")
        if not equals:
            report.problem(f"{line.place}: {shortened(line.text)} is not of the form NAME=BONUS")
            continue
        title = clean_name(title, "continent", report)
        continents.add(title, line.place)
        number = whole_number(bonus, f"{line.place}: bonus of {shortened(title)}", report)
        draft.continents.append(DraftContinent(title, number))
    territories = NameIndex("territory", report)
    neighbours: list[tuple[int, SectionLine, list[str]]] = []
    for line in needed(sections, "territories"):
        cells = [cell.strip() for cell in line.text.split(",")]
        if len(cells) < 4:
            report.problem(
                f"{line.place}: {shortened(line.text)} is not of the form NAME,X,Y,CONTINENT,NEIGHBOUR,..."
            )
            continue
        territory = _territory(cells, line, continents, report)
        neighbours.append((territories.add(territory.name, line.place), line, cells[4:]))
        draft.territories.append(territory)
    check_before_borders(draft, report)
    for source, line, cells in neighbours:
        draft.add_borders(source, (territories.find(cell, line.place) for cell in cells if cell))
    return draft


def _territory(cells: list[str], line: SectionLine, continents: NameIndex, report: Report) -> DraftTerritory:
    name = clean_name(cells[0], "territory", report)
    place = f"{line.place}: territory {shortened(name)}"
    continent = continents.find(cells[3], place) if cells[3] else -1
    centre = point(cells[1], cells[2], place, report) if cells[1] or cells[2] else None
    return DraftTerritory(name, continent, centre)
