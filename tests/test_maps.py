"""Maps: the facts of the shipped maps, and a clear error for every fault in a file."""

import pickle
import re
import time
import tomllib
from collections import Counter
from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from risk_env import presets
from risk_env.board import maps
from risk_env.board.charts import Chart
from risk_env.board.drawings import nearest_distance
from risk_env.board.maps import Board, MapError, load_map, map_names, read_map
from risk_env.board.toml_table import TomlTable
from risk_env.render.geometry import geometry_of
from tests.games import can_be_played

MINI = """
name = "Mini"
random_cities = 2

[[continent]]
name = "North"
bonus = 2

[[continent]]
name = "South"
bonus = 1

[[territory]]
name = "Peru"
aliases = ["Inca Land"]
continent = "North"
symbol = "infantry"
stars = 1
borders = ["Chile", "Brazil"]

[[territory]]
name = "Chile"
continent = "North"
symbol = "cavalry"
stars = 2
city = true
borders = ["Peru"]

[[territory]]
name = "Brazil"
continent = "South"
symbol = "artillery"
stars = 1
borders = ["Peru"]

[[mission]]
kind = "continents"
continents = ["North"]
any_third = true

[[mission]]
kind = "destroy"
colours = 3
fallback_territories = 2

[[objective]]
name = "North"
kind = "continent"
continent = "North"

[[objective]]
name = "2 cities"
kind = "cities"
count = 2
major = true

[[chart.3]]
capital = "Brazil"
troops = { Brazil = 3 }

[[chart.3]]
capital = "Peru"
troops = { Peru = 3 }

[[chart.3]]
capital = "Chile"
troops = { Chile = 3 }

[drawing]
width = 100
height = 50

[drawing.centres]
"Peru" = [10, 10]
"Chile" = [30, 10]
"Brazil" = [50, 10]

[drawing.outlines]
"Peru" = [[5, 5, 15, 5, 15, 15]]
"Chile" = [[25, 5, 35, 5, 35, 15]]
"Brazil" = [[45, 5, 55, 5, 55, 15]]
"""


def changed(*replacements: tuple[str, str]) -> str:
    text = MINI
    for old, new in replacements:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


# ----------------------------------------------------------------------------------------------- shipped maps


def test_names_of_shipped_maps():
    assert map_names() == tuple(sorted(path.stem for path in maps._FOLDER.iterdir()))
    assert {"classic", "tiny", "big"} <= set(map_names())
    assert all(load_map(name) is load_map(name) for name in map_names())


def test_classic_facts():
    """RULES 1.1, 1.2, 2.1, 2.2."""
    board = load_map("classic")
    assert board.num_territories == 42
    assert len(board.borders) == 2 * 83
    sizes = Counter(board.continent_of)
    facts = {c: (board.bonuses[i], sizes[i]) for i, c in enumerate(board.continents)}
    assert facts == {
        "North America": (5, 9),
        "South America": (2, 4),
        "Europe": (5, 7),
        "Africa": (3, 6),
        "Asia": (7, 12),
        "Australia": (2, 4),
    }
    assert Counter(board.symbols) == {"infantry": 14, "cavalry": 14, "artillery": 14}
    assert Counter(board.stars) == {1: 30, 2: 12}
    assert (board.num_wilds, board.random_cities) == (2, 15)


@pytest.mark.parametrize(
    ("name", "neighbours"),
    [
        ("Greenland", {"Northwest Territory", "Ontario", "Quebec", "Iceland"}),
        ("Brazil", {"Venezuela", "Peru", "Argentina", "North Africa"}),
        ("Japan", {"Kamchatka", "Mongolia"}),
        ("Siam", {"China", "India", "Indonesia"}),
    ],
)
def test_classic_neighbours(name, neighbours):
    """The examples of RULES 1.2."""
    board = load_map("classic")
    assert {board.territories[t] for t in board.targets(board.territory(name))} == neighbours


@pytest.mark.parametrize(
    "chain",
    [
        ("Alaska", "Kamchatka"),
        ("Egypt", "North Africa", "Western Europe"),
        ("North Africa", "Brazil"),
        ("Indonesia", "Siam", "India", "Afghanistan", "Ukraine"),
    ],
)
def test_classic_chains(chain):
    board = load_map("classic")
    numbers = [board.territory(name) for name in chain]
    for one, other in pairwise(numbers):
        assert (one, other) in board.borders
        assert (other, one) in board.borders


def test_classic_cities():
    """The cities of RULES 9.1."""
    board = load_map("classic")
    assert [board.territories[t] for t in board.basic_training_cities] == [
        *(
            "Ontario",
            "Western United States",
            "Eastern United States",
            "Brazil",
            "Great Britain",
            "Northern Europe",
        ),
        *("Western Europe", "Southern Europe", "Ukraine", "Egypt", "South Africa", "Japan", "China", "India"),
        "Eastern Australia",
    ]


def test_classic_missions():
    """Mission order of docs/decisions.md: 0-3 continents, 4-5 territories, 6-11 destroy, 12-13 extended."""
    board = load_map("classic")
    kinds = [m.kind for m in board.missions]
    assert kinds == ["continents"] * 4 + ["territories"] * 2 + ["destroy"] * 6 + ["continents"] * 2
    assert [m.target for m in board.missions[6:12]] == [0, 1, 2, 3, 4, 5]
    assert {m.fallback_territories for m in board.missions[6:12]} == {24}
    assert [(m.territories, m.min_troops) for m in board.missions[4:6]] == [(24, 1), (18, 2)]
    assert [m.extended for m in board.missions] == [False] * 12 + [True] * 2
    assert [m.any_third for m in board.missions] == [False] * 12 + [True] * 2
    pairs = [{board.continents[c] for c in m.continents} for m in board.missions if m.kind == "continents"]
    assert {"Asia", "South America"} in pairs
    assert {"Europe", "Australia"} in pairs


def test_classic_objectives():
    """RULES 9.6 and 9.1, named as in the contract."""
    board = load_map("classic")
    assert [(o.name, o.kind, o.count, o.major, o.basic_training) for o in board.objectives] == [
        ("Europe", "continent", 1, False, True),
        ("North America", "continent", 1, False, True),
        ("Asia", "continent", 1, False, True),
        ("8 cities", "cities", 8, False, True),
        ("an enemy capital", "enemy_capitals", 1, False, False),
        ("4 cities in one turn", "cities_in_turn", 4, False, False),
        ("10 territories in one turn", "territories_in_turn", 10, True, True),
        ("2 enemy capitals", "enemy_capitals", 2, True, True),
        ("18 territories", "territories", 18, True, True),
        ("2 complete continents", "continents", 2, True, True),
        ("an entire continent in one turn", "continent_in_turn", 1, True, False),
        ("11 cities", "cities", 11, True, False),
    ]
    named = [board.continents[o.continent] for o in board.objectives if o.continent >= 0]
    assert named == ["Europe", "North America", "Asia"]


def test_tiny_and_big():
    tiny, big = load_map("tiny"), load_map("big")
    assert (tiny.num_territories, len(tiny.continents), len(tiny.borders)) == (6, 2, 14)
    assert tiny.borders[:5] == ((0, 1), (0, 2), (1, 0), (1, 2), (1, 4))
    assert (big.num_territories, len(big.continents), len(big.borders)) == (75, 9, 312)


@pytest.mark.parametrize("name", map_names())
def test_every_shipped_map_can_be_played(name):
    board = load_map(name)
    assert any(can_be_played(preset, board) for preset in presets())
    assert list(board.borders) == sorted(board.borders)
    assert board.source == name


@pytest.mark.parametrize("name", ["classic", "tiny", "big"])
def test_maps_with_everything(name):
    board = load_map(name)
    assert len(set(Counter(board.symbols).values())) == 1
    assert set(board.stars) == {1, 2}
    assert {m.kind for m in board.missions} == set(maps.MISSION_KINDS)
    assert {o.kind for o in board.objectives} == set(maps.OBJECTIVE_KINDS)
    assert [o.major for o in board.objectives] == [False] * 6 + [True] * 6
    assert sum(o.basic_training for o in board.objectives) == 8
    assert board.basic_training_cities


@pytest.mark.parametrize("name", map_names())
def test_drawn_areas_touch_only_where_there_is_a_border(name):
    board = load_map(name)
    assert geometry_of(board).touching <= set(board.borders)


# ------------------------------------------------------------------------------------------------ the board


@pytest.mark.parametrize("name", ["Russia", " ukraine ", "UKRAINE", "russia\t"])
def test_territory_by_any_name(name):
    board = load_map("classic")
    assert board.territories[board.territory(name)] == "Ukraine"


def test_unknown_territory_names_near_ones():
    with pytest.raises(MapError, match="no territory 'Kamtchatka'; did you mean 'Kamchatka'"):
        load_map("classic").territory("Kamtchatka")


@pytest.mark.parametrize("number", [-1, 42])
def test_neighbours_of_no_territory(number):
    with pytest.raises(MapError, match=f"territory {number}: .* 0 to 41"):
        load_map("classic").targets(number)


def test_board_is_a_value():
    board = read_map(MINI)
    assert board == read_map(MINI, "another file")
    assert hash(board) == hash(read_map(MINI))
    copy = pickle.loads(pickle.dumps(board))
    assert copy == board
    assert copy.digest == board.digest
    assert board.targets(0) == (1, 2)
    assert board.territory("inca land") == 0
    assert board.basic_training_cities == (1,)


# ------------------------------------------------------------------------------------------------ the digest


@pytest.mark.parametrize(
    "text",
    [
        "# a remark\n" + MINI.replace("\n", "\n\n").replace(" = ", "="),
        changed(('["Chile", "Brazil"]', '["Brazil", "Chile"]')),
        changed(("[10, 10]", "[11, 12.5]"), ("[5, 5, 15", "[6, 5, 15")),
        changed(("bonus = 2", 'bonus = 2\ncolour = "#102030"')),
        MINI[: MINI.index("[drawing]")],
        changed(('name = "Mini"', 'name = "Maxi"'), ('"Inca Land"', '"Andes"')),
        changed(("Brazil = 3", "Brazil = 4")),
    ],
    ids=[
        "format",
        "order of borders",
        "drawing",
        "colour",
        "no drawing",
        "map's name and alias",
        "start chart",
    ],
)
def test_digest_ignores_what_does_not_matter_to_play(text):
    assert read_map(text).digest == read_map(MINI, "elsewhere").digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("random_cities = 2", "random_cities = 1"),
        ("random_cities = 2", "random_cities = 2\nwilds = 1"),
        ("bonus = 1", "bonus = 3"),
        ('symbol = "artillery"', 'symbol = "infantry"'),
        ("stars = 2", "stars = 1"),
        ("city = true", "city = false"),
        ("colours = 3", "colours = 4"),
        ("any_third = true", "any_third = false"),
        ("count = 2", "count = 3"),
        ('name = "2 cities"', 'name = "two cities"'),
        ("count = 2", "count = 2\nbasic_training = true"),
    ],
)
def test_digest_notices_what_matters(old, new):
    assert read_map(changed((old, new))).digest != read_map(MINI).digest


def test_territories_outside_all_continents():
    text = changed(
        ("any_third = true\n", ""),
        ('continent = "South"\nsymbol', "symbol"),
        ('borders = ["Peru"]', 'continent = "South"\nborders = ["Peru"]'),
        ('continent = "North"\nsymbol = "cavalry"', 'symbol = "cavalry"'),
    )
    board = read_map(text)
    assert (board.continents, board.bonuses) == (("North", "South", "Outside"), (2, 1, 0))
    assert [board.continents[c] for c in board.continent_of] == ["North", "South", "Outside"]
    with pytest.raises(MapError, match="the name 'Outside' is already used by continent 'outside'"):
        read_map(text.replace('"South"', '"outside"'))
    with pytest.raises(MapError, match="territory 'Brazil' is in no continent, so no Objective may count"):
        read_map(text.replace('kind = "cities"', 'kind = "continents"'))


def test_a_drawing_of_centres_has_discs():
    start, end = MINI.index("[drawing.outlines]"), len(MINI)
    drawing = read_map(MINI[:start] + MINI[end:]).drawing
    assert [len(ring) for (ring,) in drawing.outlines] == [24, 24, 24]
    assert nearest_distance(drawing.centres) == 20
    assert max(x for x, _ in drawing.outlines[0][0]) < min(x for x, _ in drawing.outlines[1][0])


def test_digest_is_sha256():
    assert re.fullmatch("[0-9a-f]{64}", load_map("classic").digest)
    assert len({load_map(name).digest for name in map_names()}) == len(map_names())


def test_digest_of_classic_is_that_of_saved_games_and_policies():
    assert load_map("classic").digest.startswith("19b9d6e3f648da11")


def test_chart_of_a_map():
    """RULES 9.1: seats in the order of the file."""
    (chart,) = read_map(MINI).charts
    assert chart == read_map(MINI).chart(3) == Chart(owner=(1, 2, 0), troops=(3, 3, 3), capitals=(2, 0, 1))


# -------------------------------------------------------------------------------------------- what is refused

LAST = 'symbol = "artillery"\nstars = 1\nborders = ["Peru"]'
WRONG = {
    "not TOML": (("[[continent]]", "[[continent"), "cannot be read as TOML: .*line"),
    "same key twice": (("bonus = 2", "bonus = 2\nbonus = 2"), "cannot be read as TOML"),
    "unknown key": (
        ('name = "Mini"', 'name = "Mini"\nrandom_city = 2'),
        "unknown key 'random_city'.*'random_cities'",
    ),
    "unknown key of a territory": (
        ("stars = 2", "stars = 2\nstar = 2"),
        "territory 'Chile': unknown key 'star'",
    ),
    "unknown key of a continent": (
        ("bonus = 2", "bonus = 2\nbonos = 2"),
        "continent 'North': unknown key 'bonos'",
    ),
    "unknown key of a mission": (
        ("any_third = true", "territories = 2"),
        "mission 1: unknown key 'territories'",
    ),
    "unknown key of an objective": (
        ("count = 2", "count = 2\nx = 1"),
        "objective '2 cities': unknown key 'x'",
    ),
    "no name": (('name = "Mini"', ""), "the key 'name' .* is missing"),
    "no bonus": (("bonus = 1", ""), "continent 'South': the key 'bonus' .* is missing"),
    "no borders": (
        ('borders = ["Chile", "Brazil"]', ""),
        "territory 'Peru': the key 'borders' .* is missing",
    ),
    "no continent": (
        ('continent = "South"\nsymbol', "symbol"),
        "any_third: territory 'Brazil' is in no continent",
    ),
    "bonus of a wrong type": (
        ("bonus = 1", 'bonus = "1"'),
        "continent 'South', bonus: '1' is not a whole number",
    ),
    "bonus true": (("bonus = 1", "bonus = true"), "bonus: True is not a whole number"),
    "bonus below 0": (("bonus = 1", "bonus = -1"), "bonus: -1 is not between 0 and"),
    "borders of a wrong type": (
        ('["Chile", "Brazil"]', '"Chile"'),
        "borders: 'Chile' is not a list of strings",
    ),
    "a border of a wrong type": (('["Chile", "Brazil"]', "[1]"), "borders 1: 1 is not a string"),
    "city of a wrong type": (("city = true", "city = 1"), "city: 1 is not true or false"),
    "unknown border": (
        ('["Chile", "Brazil"]', '["Chile", "Brasil"]'),
        "'Peru', border 2: no .*'Brasil'.*'Brazil'",
    ),
    "one-sided border": (
        ('borders = ["Peru"]', 'borders = ["Peru", "Brazil"]'),
        "'Chile', border 2: .*'Brazil' does",
    ),
    "forgotten border": (
        ('["Chile", "Brazil"]', '["Brazil"]'),
        "'Chile', border 1: territory 'Peru' does not list",
    ),
    "border with itself": (
        ('["Chile", "Brazil"]', '["Chile", "Brazil", "Peru"]'),
        "'Peru', border 3: .* itself",
    ),
    "border twice": (
        ('["Chile", "Brazil"]', '["Chile", "Brazil", "Chile"]'),
        "'Peru', border 3: 'Chile' .* twice",
    ),
    "in two pieces": (
        ('["Chile", "Brazil"]', '["Chile"]', LAST, LAST.replace('["Peru"]', "[]")),
        "territory 'Brazil', borders: no chain",
    ),
    "empty continent": (('continent = "South"', 'continent = "North"'), "continent 'South': no territory"),
    "unknown continent": (('continent = "South"', 'continent = "Sauth"'), "no continent 'Sauth'.*'South'"),
    "name twice": (
        ('name = "Brazil"', 'name = "PERU"'),
        "territory 'PERU', name: .* already used by territory 'Peru'",
    ),
    "alias twice": (("Inca Land", "BRAZIL"), "'Peru', aliases 1: .* already used by territory 'Brazil'"),
    "continent twice": (('name = "South"', 'name = "north"'), "already used by continent 'North'"),
    "objective twice": (('name = "2 cities"', 'name = "north"'), "already used by objective 'North'"),
    "a name that actions need": (
        ("Inca Land", "wild"),
        "aliases 1: 'wild' cannot be .* reserved for action texts",
    ),
    "a name in quotes": (
        ("Inca Land", r"A \"B\""),
        "aliases 1: .* cannot be a name: .* not contain double quotes",
    ),
    "a name with two spaces": (("Inca Land", "A  B"), "cannot be a name: .* single spaces"),
    "a name with a tab": (("Inca Land", r"A\tB"), "cannot be a name: .* single spaces"),
    "an invisible letter": (("Inca Land", r"A\u200bB"), "cannot be a name: .* invisible"),
    "a filler": (("Inca Land", r"A\u3164B"), "cannot be a name: .* invisible"),
    "an empty sign": (("Inca Land", r"\u2800"), "cannot be a name: .* invisible"),
    "a variant": (("Inca Land", r"A\ufe0f"), "cannot be a name: .* invisible"),
    "a mark first": (("Inca Land", r"\u0301A"), "cannot be a name: .* combining mark"),
    "an empty name": (("Inca Land", ""), "'' cannot be a name"),
    "unknown symbol": (('"cavalry"', '"camel"'), "'Chile', symbol: 'camel' is not one of infantry, cavalry"),
    "three stars": (("stars = 2", "stars = 3"), "'Chile', stars: 3 is not between 1 and 2"),
    "no star": (("stars = 2", "stars = 0"), "'Chile', stars: 0 is not"),
    "no card at all": (
        ('symbol = "infantry"', 'symbol = "none"', 'symbol = "cavalry"', 'symbol = "none"')
        + ('symbol = "artillery"', 'symbol = "none"'),
        "the symbol of every territory is 'none'",
    ),
    "symbols for some": (
        ('symbol = "cavalry"', ""),
        "'Chile': the key 'symbol' is missing; territory 'Peru' has this key",
    ),
    "stars for some": (("stars = 2", ""), "'Chile': the key 'stars' is missing"),
    "too many random cities": (
        ("random_cities = 2", "random_cities = 4"),
        "random_cities: 4 is not between 0 and 3",
    ),
    "too many wild cards": (("random_cities = 2", "wilds = 3"), "wilds: 3 is not between 0 and 2"),
    "mission's continent": (
        ('continents = ["North"]', 'continents = ["Nord"]'),
        "mission 1, continents 1: .*'Nord'",
    ),
    "mission without continents": (('continents = ["North"]', "continents = []"), "mission 1, continents"),
    "no third continent": (
        ('continents = ["North"]', 'continents = ["North", "South"]'),
        "any_third: .* no continents besides",
    ),
    "unknown mission": (('kind = "destroy"', 'kind = "destory"'), "mission 2, kind: 'destory' is not one of"),
    "too many colours": (("colours = 3", "colours = 7"), "mission 2, colours: 7 is not between 1 and 6"),
    "fallback too large": (
        ("fallback_territories = 2", "fallback_territories = 4"),
        "fallback_territories: 4 is not",
    ),
    "objective's continent": (
        ('continent = "North"\n\n[[obj', 'continent = "Nort"\n\n[[obj'),
        "objective 'North', cont",
    ),
    "unknown objective": (
        ('kind = "cities"', 'kind = "city"'),
        "objective '2 cities', kind: 'city' is not one of",
    ),
    "objective too large": (
        ("count = 2", "count = 4"),
        "objective '2 cities', count: 4 is not between 1 and 3",
    ),
    "objective without count": (("count = 2", ""), "objective '2 cities': the key 'count'"),
    "chart for six": (("chart.3", "chart.6"), "chart: unknown key '6'; allowed: 3, 4, 5"),
    "chart of a wrong type": (("[[chart.3]]", "[chart.3]"), "cannot be read as TOML|not a list of tables"),
    "chart with too few seats": (
        ('[[chart.3]]\ncapital = "Brazil"\ntroops = { Brazil = 3 }', ""),
        r"chart, 3: number of \[\[chart.3\]\] tables: 2",
    ),
    "chart with too many seats": (
        ("[[chart.3]]", "[[chart.3]]\n[[chart.3]]"),
        r"number of \[\[chart.3\]\] tables: 4; must be at most 3",
    ),
    "unknown key of a seat": (("[[chart.3]]", "[[chart.3]]\ncards = 1"), "chart.3 1: unknown key 'cards'"),
    "territory of nobody": (("troops = { Peru = 3 }", "troops = {}"), "chart, 3: 'Peru' has no owner"),
    "territory of two": (
        ("{ Peru = 3 }", "{ Brazil = 3 }"),
        "chart.3 2.troops, Brazil: already owned by seat 0",
    ),
    "unknown territory": (("{ Peru = 3 }", "{ Piru = 3 }"), "chart.3 2.troops: no territory 'Piru'.*'Peru'"),
    "no troops": (("{ Peru = 3 }", "{ Peru = 0 }"), "chart.3 2.troops, Peru: 0 is not between 1 and 1000"),
    "capital of another": (
        ('capital = "Peru"', 'capital = "Chile"'),
        "'Chile' belongs to seat 2, not to seat 1",
    ),
    "no capital": (('capital = "Peru"', ""), "chart.3 2: the key 'capital'"),
    "unknown capital": (('capital = "Peru"', 'capital = "Lima"'), "chart.3 2, capital: no territory 'Lima'"),
    "minor after major": (
        (
            'name = "North"\nkind',
            'name = "North"\nmajor = true\nkind',
            "major = true\n\n[[chart",
            "\n[[chart",
        ),
        "min",
    ),
    "colour": (("bonus = 1", 'bonus = 1\ncolour = "red"'), "continent 'South', colour: 'red'"),
    "centre missing": (('"Peru" = [10, 10]', ""), "drawing.centres: the key 'Peru'"),
    "centre outside": (
        ('"Peru" = [10, 10]', '"Peru" = [10, 51]'),
        "drawing.centres, Peru: 51 is not .* 0 and 50",
    ),
    "centre not finite": (('"Peru" = [10, 10]', '"Peru" = [10, nan]'), "drawing.centres, Peru: nan"),
    "centre of three": (('"Peru" = [10, 10]', '"Peru" = [1, 1, 1, 1]'), "drawing.centres, Peru: 4 numbers"),
    "outline of two points": (
        ("[[5, 5, 15, 5, 15, 15]]", "[[5, 5, 15, 5]]"),
        "outlines, Peru, ring 1: number of points: 2",
    ),
    "outline without ring": (
        ("[[5, 5, 15, 5, 15, 15]]", "[]"),
        "drawing.outlines, Peru: the list of rings is empty",
    ),
    "outline of nobody": (('"Peru" = [[5', '"Piru" = [[5'), "drawing.outlines: no territory 'Piru'.*'Peru'"),
    "wrapped with nobody": (
        ("height = 50", 'height = 50\nwrapped = [["Peru", "X"]]'),
        "drawing, wrapped 1: no terr",
    ),
    "wrapped with one": (("height = 50", 'height = 50\nwrapped = [["Peru"]]'), "wrapped 1: .* not a pair"),
    "route of one point": (
        ("height = 50", 'height = 50\n[[drawing.route]]\nbetween = ["Peru", "Chile"]\npoints = [1, 1]'),
        "drawing.route 1, points: number of points: 1",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_refused(case):
    replacements, words = WRONG[case]
    pairs = list(zip(replacements[::2], replacements[1::2], strict=True))
    with pytest.raises(MapError) as error:
        read_map(changed(*pairs), "mini.toml")
    assert str(error.value).startswith("mini.toml: ")
    assert re.search(words, str(error.value)), str(error.value)


def line_of(territories: int, continents: int = 1) -> str:
    """Return a map whose territories form a line."""
    text = 'name = "Line"\n' + "".join(
        f'[[continent]]\nname = "C{c}"\nbonus = 1\n' for c in range(continents)
    )
    for t in range(territories):
        near = [f'"T{u}"' for u in (t - 1, t + 1) if 0 <= u < territories]
        text += (
            f'[[territory]]\nname = "T{t}"\ncontinent = "C{t % max(continents, 1)}"\n'
            f"borders = [{', '.join(near)}]\n"
        )
    return text


def crowd(size: int) -> str:
    """Return a map on which all territories border each other."""
    text = 'name = "Crowd"\n[[continent]]\nname = "C"\nbonus = 1\n'
    for t in range(size):
        near = ", ".join(f'"T{u}"' for u in range(size) if u != t)
        text += f'[[territory]]\nname = "T{t}"\ncontinent = "C"\nborders = [{near}]\n'
    return text


def test_sizes():
    assert read_map(line_of(256, 64)).num_territories == 256
    assert len(read_map(crowd(32)).borders) == 992
    small = read_map(line_of(2))
    assert (small.symbols, small.stars, small.missions, small.objectives, small.drawing) == (
        None,
        None,
        (),
        (),
        None,
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (line_of(257), "territory.* tables: 257; must be at most 256"),
        (line_of(1), "territory.* tables: 1; must be at least 2"),
        (line_of(100, 65), "continent.* tables: 65; must be at most 64"),
        (line_of(3, 0), "no .*continent"),
        (crowd(33), "1056 borders.*at most 1024"),
        (
            line_of(2) + 13 * '[[objective]]\nname = "a"\nkind = "cities"\ncount = 1\n',
            "objective.* tables: 13; must be at most 12",
        ),
        (
            line_of(2) + 11 * '[[mission]]\nkind = "destroy"\ncolours = 6\nfallback_territories = 1\n',
            "66 missions",
        ),
        ("x = " + "[" * 5000, "cannot be read as TOML"),
        ("# " + "é" * (maps.MOST_BYTES // 2), "bytes; at most"),
        ('name = "Mini"\ncontinent = "x"', "continent: 'x' is not a list of tables"),
        ('name = "Mini"\ncontinent = [1]', "continent 1: 1 is not a table"),
    ],
)
def test_refused_sizes(text, words):
    with pytest.raises(MapError, match=words):
        read_map(text)


DOTTED = "a.b.c.d.e.f.g.h.i.j"  # nine dots
ROWS = "[\n" + "[1, 1],\n" * (maps.MOST_HEADERS + 1) + "]\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{DOTTED} = 1", "more than eight dots"),
        (f"[{DOTTED}]", "more than eight dots"),
        (f"[[ {DOTTED.replace('.', ' . ')} ]]", "more than eight dots"),
        (f"x = {{ {DOTTED} = 1 }}", "more than eight dots"),
        ('"a b".' + "'c # d'." * 8 + '"e\\"f" = 1', "more than eight dots"),
        ("x = 'a' # \"\n" + DOTTED + " = 1", "more than eight dots"),
        ('x = """a" \\""" \'\'\' """""\n' + DOTTED + " = 1", "more than eight dots"),
        ("[a]\n" * (maps.MOST_HEADERS + 1), "2001 table headers; at most 2000"),
        (" \t[[a]] # of a\r\n" * (maps.MOST_HEADERS + 1), "2001 table headers; at most 2000"),
        ("x = [[1],\n[2]]\n" + "[[a]]\n" * (maps.MOST_HEADERS + 1), "2001 table headers; at most 2000"),
    ],
)
def test_texts_that_take_long_to_parse_are_refused(text, words):
    with pytest.raises(MapError, match=words):
        read_map(text)


@pytest.mark.parametrize(
    "text",
    [
        f"# see {DOTTED}.html\n",
        f"about = \"see 'it' at {DOTTED}\"\n",
        f"about = 'see \"it\" at {DOTTED}'\n",
        f'about = """see\n{DOTTED} = 1\n[a]\n"""\n',
        f"about = '''see ''\n{DOTTED} = 1\n'''\n",
        "about = [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5]\n",
        "a.b.c.d.e.f.g.h.i = 1\n",
        f"rows = {ROWS}",
        f"table = {{ rows = {ROWS[:-1]} }}\n",
        "about = '''\n" + "[a]\n" * (maps.MOST_HEADERS + 1) + "'''\n",
        "[a]\n" + "[[b]]\n" * (maps.MOST_HEADERS - 1),
    ],
)
def test_ordinary_texts_are_read(text):
    maps.check_parsing_time(text, maps.MOST_HEADERS, "text")
    assert tomllib.loads(text) is not None


@pytest.mark.parametrize(
    "piece", ['"', "'", '"""', "'''", '\\"""', "\\", '"\\', "#", ".a", ". ", "[", "]\n", '"""\\']
)
def test_the_time_to_check_a_text_is_linear(piece):
    begun = time.process_time()
    for start in ("", '"""', "'''", "a"):
        with suppress(MapError):
            maps.check_parsing_time(start + piece * (maps.MOST_BYTES // len(piece)), 1, "text")
    assert time.process_time() - begun < 5  # a time that grows with the square would take minutes


# -------------------------------------------------------------------------------------------- names and files


def test_load_by_path(tmp_path):
    path = tmp_path / "mini.toml"
    path.write_text(MINI)
    assert load_map(path) == load_map(str(path)) == read_map(MINI)
    assert load_map(path).source == str(path)


def test_unknown_map_lists_the_shipped_ones():
    with pytest.raises(MapError, match=r"'clasic' \(did you mean 'classic'\?\); allowed: .*big, classic,"):
        load_map("clasic")


@pytest.mark.parametrize("name", ["nowhere.toml", "no/where", "a\0b.toml", "."])
def test_unreadable_path(name):
    with pytest.raises(MapError, match=r"cannot be read|no map"):
        load_map(name)


@pytest.mark.parametrize("name", [None, 3, b"classic"])
def test_neither_name_nor_path(name):
    with pytest.raises(MapError, match="neither a name nor a path"):
        load_map(name)


def test_not_text(tmp_path):
    path = tmp_path / "mini.toml"
    path.write_bytes(b"name = \xff")
    with pytest.raises(MapError, match="cannot be read"):
        load_map(path)


# ------------------------------------------------------------------------------------------------ fuzz

PIECES = [
    '"',
    "[",
    "]",
    "=",
    "-",
    "0",
    "3",
    "true",
    "\n",
    "#",
    "é",
    "\0",
    '"Peru"',
    "[[mission]]",
    "nan",
    "1e400",
    "{}",
]


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_fuzz_text(data):
    """Every mutilated file is a board or a MapError."""
    text = MINI
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = start + data.draw(st.integers(0, 12))
        text = text[:start] + data.draw(st.sampled_from(PIECES) | st.text(max_size=3)) + text[end:]
    try:
        assert isinstance(read_map(text), Board)
    except MapError:
        pass


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 300),
    st.floats(),
    st.sampled_from(["", "Peru", "North", "cities", "destroy", "x" * 99]),
    st.lists(st.sampled_from(["Peru", "Chile", 1, 2.5, True, [], {}]), max_size=3),
    st.dictionaries(st.sampled_from(["name", "kind", "Peru"]), st.integers(0, 3), max_size=2),
)


def places_in(value, here=()):
    """Yield every place inside a nested value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in inside:
        yield (*here, key)
        yield from places_in(child, (*here, key))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_fuzz_values(data):
    """Every value in every place is a board or a MapError."""
    values = tomllib.loads(MINI)
    *way, last = data.draw(st.sampled_from(list(places_in(values))))
    inner = values
    for key in way:
        inner = inner[key]
    new = data.draw(VALUES)
    if new is None:
        del inner[last]
    else:
        inner[last] = new
    try:
        assert isinstance(maps._board(TomlTable("fuzz", "", values)), Board)
    except MapError:
        pass
