"""Maps of Domination: a `.map` file and, optionally, a `.cards` file with cards and missions.

```
[continents]            NAME BONUS [COLOUR]
[countries]             ID NAME CONTINENT X Y
[borders]               ID ID ID ...
[cards]                 Infantry|Cavalry|Cannon ID, or Wildcard
[missions]              PLAYER COUNTRIES TROOPS CONTINENT CONTINENT CONTINENT WORDS
```
CONTINENT is the number of a continent, from 1; 0 stands for no continent. In a mission, `*` stands for a
continent of the player's choice. PLAYER is the number of the player to destroy (0: none). COUNTRIES is the
number of countries to hold (0: none), each with at least TROOPS troops. ID is the ID of a country. An
underscore in a name stands for a space.
"""

from risk_env.board.importing.draft import (
    DraftContinent,
    DraftMission,
    DraftTerritory,
    MapDraft,
    NameIndex,
    Report,
    clean_name,
    point,
    whole_number,
)
from risk_env.board.importing.finishing import check_before_borders
from risk_env.board.importing.sections import SectionLine, Sections, needed, read_sections
from risk_env.board.maps import MAX_COLOURS, MAX_WILDS
from risk_env.messages import counted, shortened

SYMBOL_OF = {"infantry": "infantry", "cavalry": "cavalry", "cannon": "artillery", "artillery": "artillery"}
WILDCARD = "wildcard"
ANY = "*"  # in a mission: a third continent of the player's choice


def read_domination(text: str, cards: str | None, name: str, report: Report) -> MapDraft:
    """Return the map in a `.map` text.

    `cards` is the text of the `.cards` file, with cards and missions, or None. Raises ValueError if the
    section `[continents]`, `[countries]` or `[borders]` is missing, and MapError as `check_before_borders`
    does.
    """
    sections = read_sections(text)
    draft = MapDraft(_name_of(sections, name))
    names = NameIndex("continent", report)
    for line in needed(sections, "continents"):
        _read_continent(line, names, draft, report)
    numbers = _read_countries(needed(sections, "countries"), draft, report)
    check_before_borders(draft, report)
    for line in needed(sections, "borders"):
        _read_borders(line, numbers, draft, report)
    if cards is not None:
        try:
            _read_cards(read_sections(cards, "cards"), numbers, draft, report)
        except ValueError as error:
            report.problem(f"cards: {error}")
    return draft


def cards_file_of(text: str) -> str:
    """Return the name of the `.cards` file that a `.map` text names, or "" if the text names no file."""
    for line in read_sections(text).get("files", ()):
        key, _, value = line.text.partition(" ")
        if key.casefold() in ("crd", "cards"):
            return value.strip()
    return ""


def _name_of(sections: Sections, otherwise: str) -> str:
    for line in sections[""]:
        key, _, value = line.text.partition(" ")
        if key.casefold() == "name" and value.strip():
            return value.strip()
    return otherwise


def _read_continent(line: SectionLine, names: NameIndex, draft: MapDraft, report: Report) -> None:
    words = line.text.split()
    if len(words) < 2:
        report.problem(f"{line.place}: {shortened(line.text)} is not of the form NAME BONUS")
        words.append("0")
    name = clean_name(words[0].replace("_", " "), "continent", report)
    names.add(name, line.place)
    bonus = whole_number(words[1], f"{line.place}: bonus of {shortened(name)}", report)
    draft.continents.append(DraftContinent(name, bonus))


def _read_countries(lines: list[SectionLine], draft: MapDraft, report: Report) -> dict[str, int]:
    """Read the countries, and return the number of each country, by ID."""
    numbers: dict[str, int] = {}
    names = NameIndex("territory", report)
    for line in lines:
        words = line.text.split()
        if len(words) < 3:
            report.problem(f"{line.place}: {shortened(line.text)} is not of the form ID NAME CONTINENT X Y")
            continue
        if words[0] in numbers:
            report.problem(f"{line.place}: ID {shortened(words[0])} is given twice")
        numbers[words[0]] = len(draft.territories)
        name = clean_name(words[1].replace("_", " "), "territory", report)
        names.add(name, line.place)
        what = f"{line.place}: territory {shortened(name)}"
        number = whole_number(words[2], f"{what}, continent", report)
        if not 0 <= number <= (most := len(draft.continents)):
            report.problem(f"{what}: no continent {number}; the file has {counted(most, 'continent')}")
            number = 0
        centre = point(words[3], words[4], what, report) if len(words) >= 5 else None
        draft.territories.append(DraftTerritory(name, number - 1, centre))
    return numbers


def _read_borders(line: SectionLine, numbers: dict[str, int], draft: MapDraft, report: Report) -> None:
    source, *targets = (_country(word, line, numbers, report) for word in line.text.split())
    draft.add_borders(source, targets)


def _country(word: str, line: SectionLine, numbers: dict[str, int], report: Report) -> int:
    if word not in numbers:
        report.problem(f"{line.place}: no country with the ID {shortened(word)}")
    return numbers.get(word, -1)


def _read_cards(sections: Sections, numbers: dict[str, int], draft: MapDraft, report: Report) -> None:
    wilds = 0
    for line in needed(sections, "cards"):
        kind, *ids = line.text.split()
        if kind.casefold() == WILDCARD:
            wilds += 1
        elif kind.casefold() not in SYMBOL_OF or len(ids) != 1:
            problem = f"{shortened(line.text)} is not a card of the form SYMBOL ID or Wildcard"
            report.problem(f"{line.place}: {problem}")
        elif (country := _country(ids[0], line, numbers, report)) >= 0:
            territory = draft.territories[country]
            if territory.symbol is not None:
                report.decision(f"territory {territory.name!r} has several cards: the first one counts")
            territory.symbol = territory.symbol or SYMBOL_OF[kind.casefold()]
    draft.wilds = min(wilds, MAX_WILDS)
    if wilds > MAX_WILDS:
        report.decision(f"{wilds} wild cards: {MAX_WILDS} are kept")
    _read_missions(sections.get("missions", []), draft, report)


def _read_missions(lines: list[SectionLine], draft: MapDraft, report: Report) -> None:
    colours = fallback = 0
    for line in lines:
        words = line.text.split(maxsplit=6)
        place = f"{line.place}, mission"
        if len(words) < 6:
            form = "PLAYER COUNTRIES TROOPS CONTINENT CONTINENT CONTINENT"
            report.problem(f"{place}: {shortened(line.text)} is not of the form {form}")
            continue
        player, countries, troops = (whole_number(word, place, report) for word in words[:3])
        if player > 0:
            colours, fallback = max(colours, min(player, MAX_COLOURS)), max(fallback, countries)
        elif countries > 0:
            values: dict[str, int | bool] = {"territories": countries, "min_troops": max(1, troops)}
            draft.missions.append(DraftMission("territories", values))
        else:
            _read_continents_mission(words[3:6], place, draft, report)
    if colours:
        most = fallback or 4 * len(draft.territories) // 7
        values = {"colours": colours, "fallback_territories": most}
        draft.missions.append(DraftMission("destroy", values))


def _read_continents_mission(words: list[str], place: str, draft: MapDraft, report: Report) -> None:
    named = [whole_number(word, place, report) for word in words if word != ANY]
    numbers = list(dict.fromkeys(number - 1 for number in named if number))
    most = len(draft.continents)
    if wrong := [number + 1 for number in numbers if not 0 <= number < most]:
        report.problem(f"{place}: no continent {wrong[0]}; the file has {counted(most, 'continent')}")
    elif not numbers or words.count(ANY) > 1:
        report.decision(f"{place}: the mission is left out because the rules have no such mission")
    else:
        values: dict[str, int | bool] = {"any_third": True} if ANY in words else {}
        draft.missions.append(DraftMission("continents", values, numbers))
