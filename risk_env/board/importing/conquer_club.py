"""Maps of Conquer Club: one XML file with `continents` and `territories`.

A continent has a `name`, a `bonus` and a `territory` element for each of its territories. A territory has a
`name`, `border` elements and `coordinates`. Entities and document types are refused, so the parser reads no
other file and expands nothing.
"""

from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

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
from risk_env.bounded_io import MOST_NESTING
from risk_env.messages import shortened

MOST_ELEMENTS = 20_000
IGNORED = {  # elements of a territory that have no counterpart in the rules, and the effect of `simplify`
    "bombardments": "bombardments are left out",
    "killer": "the territory does not fall back to the neutral army",
    "bonus": "the territory gives no additional troops",
    "neutral": "the territory begins like any other territory",
    "conditional_borders": "conditional borders are left out",
}
IGNORED_OF_MAP = ("objectives", "requirements", "positions", "transforms", "collections")


def read_conquer_club(text: str, name: str, report: Report) -> MapDraft:
    """Return the map in an XML text.

    Raises ValueError as `parse_xml` does, and MapError as `check_before_borders` does.
    """
    root = parse_xml(text)
    draft = MapDraft(_text(root, "name") or name)
    elements = list(root.iterfind("territories/territory"))
    territories = NameIndex("territory", report)
    for element in elements:
        draft.territories.append(_territory(element, report))
        territories.add(draft.territories[-1].name)
    check_before_borders(draft, report)
    for source, element in enumerate(elements):
        what = f"territory {shortened(territories.names[source])}"
        named = [border.text or "" for border in element.iterfind("borders/border")]
        draft.add_borders(source, (territories.find(name, what) for name in named))
    _read_continents(root, territories, draft, report)
    for tag in IGNORED_OF_MAP:
        if root.find(tag) is not None:
            report.left_out(f"<{tag}> of the map", f"<{tag}> is left out")
    return draft


def parse_xml(text: str) -> Element:
    """Return the root element of an XML text.

    Raises ValueError for any other text, for a document type or an entity, and for more than MOST_ELEMENTS
    elements or MOST_NESTING levels.
    """
    builder, parser = TreeBuilder(), expat.ParserCreate("utf-8")
    depth = count = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth, count
        depth, count = depth + 1, count + 1
        if depth > MOST_NESTING or count > MOST_ELEMENTS:
            raise ValueError(
                f"XML file too large: at most {MOST_ELEMENTS} elements and {MOST_NESTING} levels are allowed"
            )
        builder.start(tag.casefold(), attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag.casefold())

    def refuse(*_: Any) -> Any:
        raise ValueError("the file has a document type or an entity; remove it from the file")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    try:
        parser.Parse(text.encode(errors="replace"), True)
    except expat.ExpatError as error:
        raise ValueError(f"not XML: {error}") from None
    return builder.close()


def _text(element: Element, tag: str) -> str:
    """Return the text of the first child element with this tag, or "" if there is no such element."""
    return (element.findtext(tag) or "").strip()


def _territory(element: Element, report: Report) -> DraftTerritory:
    name = clean_name(_text(element, "name"), "territory", report)
    what = f"territory {shortened(name)}"
    for tag, instead in IGNORED.items():
        if element.find(tag) is not None:
            report.left_out(f"{what} has <{tag}>", instead)
    for x, y in (("largex", "largey"), ("smallx", "smally")):
        if element.find(f"coordinates/{x}") is not None:
            place = _text(element, f"coordinates/{x}"), _text(element, f"coordinates/{y}")
            return DraftTerritory(name, centre=point(*place, f"{what}, coordinates", report))
    return DraftTerritory(name)


def _read_continents(root: Element, territories: NameIndex, draft: MapDraft, report: Report) -> None:
    names = NameIndex("continent", report)
    for element in root.iterfind("continents/continent"):
        name = clean_name(_text(element, "name"), "continent", report)
        what = f"continent {shortened(name)}"
        if any(inner.tag == "continent" for inner in element.iterfind(".//*")):
            report.left_out(f"{what} consists of continents", "it is left out")
            continue
        number = names.add(name)
        draft.continents.append(DraftContinent(name, _bonus(element, what, report)))
        for territory in _members(element, what, territories):
            if draft.territories[territory].continent >= 0:
                other = draft.continents[draft.territories[territory].continent].name
                shown = shortened(territories.names[territory])
                instead = f"the territory stays in {other!r}"
                report.left_out(f"{what} shares {shown} with {other!r}", instead)
            else:
                draft.territories[territory].continent = number


def _members(element: Element, what: str, territories: NameIndex) -> Iterator[int]:
    named = [inner.text or "" for inner in element.iter("territory")]
    numbers = dict.fromkeys(territories.find(name, what) for name in named)
    return (territory for territory in numbers if territory >= 0)


def _bonus(element: Element, what: str, report: Report) -> int:
    """Return the bonus for a whole continent. Report a problem and return 0 if the bonus is missing.

    Bonuses for a part of the continent are left out.
    """
    bonuses = list(element.iter("bonus"))
    for bonus in bonuses[:-1]:
        shown = shortened((bonus.text or "").strip())
        instead = f"the bonus {shown} for a part of the continent is left out"
        report.left_out(f"{what} has several bonuses", instead)
    if not bonuses:
        report.problem(f"{what}: the bonus is missing")
        return 0
    return whole_number(bonuses[-1].text or "", f"{what}, bonus", report)
