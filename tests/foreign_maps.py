"""Map files in four formats, with the faults that such files have."""

from __future__ import annotations

from typing import NamedTuple

from risk_env.board.importing.draft import Report
from risk_env.board.importing.reader import decoded, import_text
from risk_env.board.maps import Board


class Foreign(NamedTuple):
    """A file of another program.

    Without options, the importer reports these `problems` in this order, or none if the file loads. With the
    `options` of `import_map` the file loads and has `territories` and `borders` (directed). The importer then
    takes these `decisions`.
    """

    file: str
    content: bytes
    problems: list[str]
    options: dict[str, bool]
    territories: int
    borders: int
    decisions: list[str]
    cards: bytes | None = None


BOM = b"\xef\xbb\xbf"
MIRROR, SIMPLIFY = {"mirror": True}, {"simplify": True}

DOMINATION = """; made by a test
name Four Corners
ver 1
[files]
pic corners.png
crd corners.cards
[continents]
West_Side 2 yellow
East 3 #0000ff
[countries]
1 Ash 1 10 10
2 Birch_Hill 1 110 10
3 Cedar 2 10 90
4 Dune 2 110 90
[borders]
1 2 3
2 1 4
3 1 4
4 2 3
"""
CARDS = """[cards]
Infantry 1
Cavalry 2
Cannon 3
Infantry 4
Wildcard
[missions]
1 0 0 0 0 0 destroy yellow
2 0 0 0 0 0 destroy blue
3 3 0 0 0 0 destroy red
0 3 2 0 0 0 three with two troops
0 0 0 1 0 * the west and another
0 0 0 * * * any three
"""
CONQUEST = """[Map]
author=nobody
image=corners.bmp

[Continents]
West Side=2
East=3

[Territories]
Ash,10,10,West Side,Birch Hill,Cedar
Birch Hill,110,10,West Side,Ash,Dune

Cedar,10,90,East,Ash,Dune
Dune,110,90,East,Birch Hill,Cedar
"""
CLUB = """<?xml version="1.0" encoding="utf-8"?>
<map>
 <continents>
  <continent><name>West Side</name><bonus>2</bonus>
   <components><territory>Ash</territory><territory>Birch Hill</territory></components></continent>
  <continent><name>East</name><bonus>3</bonus>
   <components><territory>Cedar</territory><territory>Dune</territory></components></continent>
 </continents>
 <territories>
  <territory><name>Ash</name><borders><border>Birch Hill</border><border>Cedar</border></borders>
   <coordinates><smallx>5</smallx><smally>5</smally><largex>10</largex><largey>10</largey></coordinates></territory>
  <territory><name>Birch Hill</name><borders><border>Ash</border><border>Dune</border></borders>
   <coordinates><largex>110</largex><largey>10</largey></coordinates></territory>
  <territory><name>Cedar</name><borders><border>Ash</border><border>Dune</border></borders>
   <coordinates><largex>10</largex><largey>90</largey></coordinates></territory>
  <territory><name>Dune</name><borders><border>Birch Hill</border><border>Cedar</border></borders>
   <coordinates><largex>110</largex><largey>90</largey></coordinates></territory>
 </territories>
</map>
"""
CSV = """# kind, values
continent,West Side,2,#8fa3c7
continent,East,3
territory,Ash,West Side,10,10,infantry
territory,Birch Hill,West Side,110,10,cavalry
territory,Cedar,East,10,90,artillery
territory,Dune,East,110,90,infantry
border,Ash,Birch Hill
border,Ash,Cedar
border,Birch Hill,Dune
border,Cedar,Dune
"""
JSON = """{"name": "Graph", "directed": true, "continents": [{"name": "All", "bonus": 1}],
 "territories": [["Ash", "All"], {"name": "Birch", "continent": "All", "x": 1.5, "y": 2}, "Cedar"],
 "borders": [["Ash", "Birch"], ["Birch", "Ash"], ["Birch", "Cedar"], {"from": "Cedar", "to": "Birch"}],
 "one_way": [["Cedar", "Ash"]]}"""


def imported(number: int) -> Board:
    """Return the map of one of the files."""
    file = FILES[number]
    cards = None if file.cards is None else file.cards.decode()
    report = Report(file.file, **file.options)
    return import_text(decoded(file.content, file.file, report), cards, file.file, report).board


def changed(text: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


ODD_NAMES = (("Ash", "1st Bank"), ("Dune", "Done"), ("Cedar", "Cafétéria: [<b>]"), ("Birch Hill", "★ B > C"))
NOT_UTF8, NO_CARDS = "not UTF-8: it is read as Windows-1252", "no cards: each territory gets a card"
FILES = (
    Foreign(
        "corners.map",
        DOMINATION.encode(),
        [],
        {},
        4,
        8,
        ["cards, line 13, mission: the mission is left out"],
        CARDS.encode(),
    ),
    Foreign(
        "one_way.map",
        changed(DOMINATION, ("2 1 4\n", "2 4\n"), ("4 2 3\n", "4 2\n"), ("Cedar", "Zürich")).encode(
            "latin-1"
        ),
        ["no chain of borders leads to 'Ash' from 'Birch Hill', 'Dune'"],
        MIRROR,
        4,
        8,
        [NOT_UTF8, "no .cards file 'corners.cards'", "'Ash' > 'Birch Hill': it becomes two-way", NO_CARDS],
    ),
    Foreign(
        "odd.map",
        BOM
        + changed(DOMINATION, ("Ash", "1st_Bank"), ("Dune 2 110 90", "Done 0"), ("Cedar", 'Ca"fé')).encode(),
        [],
        {},
        4,
        8,
        [
            'is renamed to "Ca\'fé"',
            "'Done' is renamed to 'Done 2'",
            "outside all continents: 'Done 2'",
            "left out",
            "no card for 'Done 2'",
            "no coordinates for 'Done 2'",
        ],
        changed(CARDS, ("Infantry 4\n", "")).encode(),
    ),
    Foreign(
        "broken.map",
        changed(
            DOMINATION,
            ("2 Birch_Hill 1 110", "2 ash 9 x"),
            ("West_Side 2", "West_Side two"),
            ("4 2 3", "4 2 7"),
        ).encode(),
        [
            "bonus of 'West Side': 'two' is not a whole number",
            "territory 'ash' is given twice",
            "no continent 9",
            "'x', '10' are not the coordinates",
            "no country with the ID '7'",
            "'Camel 1' is not a card",
        ],
        {},
        0,
        0,
        [],
        b"[cards]\nCamel 1\n",
    ),
    Foreign("corners.map", CONQUEST.encode(), [], {}, 4, 8, [NO_CARDS]),
    Foreign(
        "one_way.map",
        changed(CONQUEST, ("Side,Ash,Dune", "Side,Dune"), ("Cedar", "Málaga")).encode("latin-1"),
        [],
        {},
        4,
        7,
        [NOT_UTF8, "one-way border 'Ash' > 'Birch Hill': it stays one-way", NO_CARDS],
    ),
    Foreign(
        "odd.map",
        BOM
        + changed(
            CONQUEST, *ODD_NAMES, ("110,90,East", "110,90,"), ("[Territories]", "Nowhere=4\n[Territories]")
        ).encode(),
        [],
        {},
        4,
        8,
        ["'Done' is renamed to 'Done 2'", "'Nowhere' has no territories", "outside all continents: 'Done 2'"],
    ),
    Foreign(
        "broken.map",
        changed(
            CONQUEST,
            ("East=3", "East=-3"),
            ("Ash,10,10,West Side", "Ash,10,10,West Sid"),
            ("East,Ash,Dune", "East,Asch"),
            ("East,Birch Hill,Cedar", "East"),
            ("Side,Ash,Dune", "Side,Ash"),
        ).encode(),
        [
            "no continent 'West Sid'; did you mean 'West Side'?",
            "no territory 'Asch'; did you mean 'Ash'?",
            "'East' has the bonus -3",
            "no chain of borders leads from 'Ash' to 'Dune'",
            "no chain of borders leads to 'Ash' from 'Cedar', 'Dune'",
        ],
        {},
        0,
        0,
        [],
    ),
    Foreign("corners.xml", CLUB.encode(), [], {}, 4, 8, [NO_CARDS]),
    Foreign(
        "one_way.xml",
        changed(
            CLUB,
            ("<border>Ash</border><border>Dune", "<border>Dune"),
            ("Dune", "Übersee"),
            ("utf-8", "iso-8859-1"),
        ).encode("latin-1"),
        ["no chain of borders leads to 'Ash' from 'Birch Hill', 'Cedar', 'Übersee'"],
        MIRROR,
        4,
        8,
        [NOT_UTF8],
    ),
    Foreign(
        "odd.xml",
        BOM
        + changed(
            CLUB,
            ("Ash<", "1st &amp; Bank<"),
            ("<bonus>3", '<bonus required="1">1</bonus><bonus>-3'),
            ("<name>Dune</name>", "<name>Dune</name><killer/><neutral>3</neutral>"),
            ("<territory>Dune</territory>", "<territory>Birch Hill</territory>"),
            (
                "</continents>",
                "<continent><name>All</name><bonus>9</bonus><components>"
                "<continent>East</continent></components></continent></continents><objectives/>",
            ),
        ).encode(),
        [
            "'Dune' has <killer>",
            "'Dune' has <neutral>",
            "'East' has several bonuses",
            "'East' shares 'Birch Hill' with 'West Side'",
            "'All' consists of continents",
            "<objectives> of the map",
            "'East' has the bonus -3",
        ],
        SIMPLIFY,
        4,
        8,
        ["does not fall back", "the bonus is 0", "outside all continents: 'Dune'"],
    ),
    Foreign(
        "evil.xml",
        b'<!DOCTYPE map [<!ENTITY a "aaaa"><!ENTITY b SYSTEM "file:///etc/passwd">]><map>&a;&b;</map>',
        ["a document type or an entity"],
        {},
        0,
        0,
        [],
    ),
    Foreign("graph.csv", CSV.encode(), [], {}, 4, 8, []),
    Foreign(
        "graph.json",
        JSON.encode(),
        [],
        {},
        3,
        5,
        [
            "outside all continents: 'Cedar'",
            "'Cedar' > 'Ash': it stays one-way",
            NO_CARDS,
            "no coordinates for 'Ash', 'Cedar'",
        ],
    ),
    Foreign(
        "odd.csv",
        changed(
            CSV, *ODD_NAMES[:2], ("Cedar", "São João"), (",90,", ","), ("110,infantry", "110,90,camel")
        ).encode("latin-1"),
        ["line 6: '10', 'artillery' are not the coordinates", "line 7, symbol: 'camel' is not one of"],
        {},
        0,
        0,
        [],
    ),
    Foreign(
        "broken.json",
        b'{"contonents": 3, "continents": 3, "territories": ["Ash", 4, {"name": "A\\u200bB"}, "Cedar"],'
        b' "borders": [["Ash", "Ceder"], ["Ash", "Ash"]]}',
        [
            "unknown key 'contonents'; did you mean 'continents'?",
            "continents: 3 is not a list",
            "territory 2: 4 is neither a string",
            "no territory 'Ceder'; did you mean 'Cedar'",
            "number of continents: 0",
            "'A\\u200bB': a name must not contain invisible",
            "no chain of borders joins 'Ash' to",
        ],
        {},
        0,
        0,
        [],
    ),
)
