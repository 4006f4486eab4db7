"""Random maps: cells of land, continents, borders, cards and goals, as the values of a map file."""

from collections.abc import Iterable, Iterator
from math import isqrt
from typing import Any

from risk_env.board.borders import is_connected, neighbours_of
from risk_env.board.generating.cells import Cells, Point, Side, random_cells, squared_distance
from risk_env.board.generating.goals import missions, objectives, share
from risk_env.board.generating.spec import RandomMap, RandomNumbers
from risk_env.core.types import SIZE_CLASSES, Symbol

SEA_CELLS = 8  # number of land cells for each sea cell
# Target for the number of borders per territory, with each border counted once. The classic map has 1.98.
BORDERS_OF_A_TERRITORY = 2
# A gap separates neighbouring cells without a border. The depth of the gap is at most 1 / GAP of the distance
# between the side and the centre of the cell. The depth is also at most about half the length of the side.
GAP = 6
STARTS = (
    *("Al", "Bar", "Cor", "Dun", "El", "Fen", "Gal", "Har", "Ist", "Kel", "Lor", "Mar", "Nor", "Orm"),
    *("Pel", "Quil", "Ros", "Sel", "Tor", "Ul", "Ver", "Wes", "Yar", "Zan", "Bren", "Cal", "Dor", "Ost"),
)
ENDS = (
    *("dale", "fell", "gard", "ham", "holm", "land", "mark", "mere", "moor", "mouth", "ness", "stead"),
    *("ton", "vale", "wick", "wold"),
)
CONTINENT_ENDS = ("ia", "onia", "issa")

Border = tuple[int, int]  # the lower number first


def random_map(spec: RandomMap) -> dict[str, Any]:
    """Return the values of the map file of a random map."""
    numbers = RandomNumbers(spec.seed)
    cells = _land(spec.territories, numbers)
    sides = {(t, s.beyond): s for t, own in enumerate(cells.sides) for s in own if t < s.beyond}
    lengths = {border: side.squared_length for border, side in sides.items() if side.squared_length}
    continent_of = _continents(spec, cells.centres, lengths)
    borders = _borders(spec, lengths, continent_of)
    places = [start + end for start in STARTS for end in ENDS]
    names = numbers.shuffled(places)[: spec.territories]
    regions = numbers.shuffled([start + end for start in STARTS for end in CONTINENT_ENDS])[: spec.continents]
    bonuses = _bonuses(spec, borders, continent_of)
    return {
        "name": f"Random {spec.seed}",
        "random_cities": share(15, spec.territories),
        "continent": [{"name": n, "bonus": b} for n, b in zip(regions, bonuses, strict=True)],
        "territory": list(_territories(names, regions, continent_of, borders, numbers)),
        "mission": missions(spec.territories, regions, [continent_of.count(c) for c in range(len(regions))]),
        "objective": objectives(spec.territories, regions, bonuses),
        "drawing": _drawing(cells, names, borders),
    }


def _land(count: int, numbers: RandomNumbers) -> Cells:
    """Return `count` connected cells of land. The other random cells are sea."""
    cells = random_cells(count + count // SEA_CELLS, numbers)
    land = set(range(len(cells.centres)))
    joined = {(t, s.beyond) for t, own in enumerate(cells.sides) for s in own if s.squared_length}
    for cell in numbers.shuffled(range(len(cells.centres))):
        if len(land) > count and is_connected(land - {cell}, joined):
            land.remove(cell)
    renumbered = {cell: new for new, cell in enumerate(sorted(land))}
    sides = [
        [side._replace(beyond=renumbered.get(side.beyond, -1)) for side in cells.sides[cell]]
        for cell in sorted(land)
    ]
    return Cells(cells.size, [cells.centres[cell] for cell in sorted(land)], sides)


def _continents(spec: RandomMap, centres: list[Point], borders: Iterable[Border]) -> list[int]:
    """Return the continent of each territory. Continents are connected and of similar sizes.

    The first territories of the continents are far from each other. Then the smallest continent that can grow
    takes the adjacent free territory nearest to the continent's first territory. This step is repeated until
    no territory is free.
    """
    first = [0]
    while len(first) < spec.continents:
        distances = [min(squared_distance(centre, centres[f]) for f in first) for centre in centres]
        first.append(distances.index(max(distances)))
    neighbours = neighbours_of(range(len(centres)), borders)
    continent_of = [-1] * len(centres)
    members = [[territory] for territory in first]
    for continent, territory in enumerate(first):
        continent_of[territory] = continent
    while -1 in continent_of:
        for continent in sorted(range(len(first)), key=lambda c: len(members[c])):
            free = {t for m in members[continent] for t in neighbours[m] if continent_of[t] < 0}
            if free:
                start = centres[first[continent]]
                taken = min(free, key=lambda t: (squared_distance(centres[t], start), t))
                continent_of[taken] = continent
                members[continent].append(taken)
                break
    return continent_of


def _borders(spec: RandomMap, lengths: dict[Border, int], continent_of: list[int]) -> list[Border]:
    """Return the borders to keep: at most BORDERS_OF_A_TERRITORY per territory on average.

    The map then fits into the size class for its number of territories. Short borders are removed first; a
    border within a continent counts as twice as long. The map and each continent stay connected. A territory
    is left with fewer than two borders only if no other border can be removed.
    """
    fits = next(size.borders // 2 for size in SIZE_CLASSES if spec.territories <= size.territories)
    wanted = min(fits, BORDERS_OF_A_TERRITORY * spec.territories)
    kept = dict.fromkeys(sorted(lengths))
    degree = [0] * spec.territories
    for border in kept:
        for end in border:
            degree[end] += 1

    def weight(border: Border) -> tuple[int, Border]:
        return lengths[border] * (4 if continent_of[border[0]] == continent_of[border[1]] else 1), border

    for least in (3, 1):  # the second pass may leave a territory with a single border
        for border in sorted(kept, key=weight):
            if len(kept) <= wanted:
                break
            if min(degree[end] for end in border) >= least and _is_spare(border, kept, continent_of):
                del kept[border]
                for end in border:
                    degree[end] -= 1
    return list(kept)


def _is_spare(border: Border, kept: dict[Border, None], continent_of: list[int]) -> bool:
    """Return True if the map and each continent stay connected without the border."""
    others = [other for other in kept if other != border]
    if continent_of[border[0]] != continent_of[border[1]]:
        return is_connected(set(range(len(continent_of))), others)
    members = {t for t, c in enumerate(continent_of) if c == continent_of[border[0]]}
    return is_connected(members, others)


def _bonuses(spec: RandomMap, borders: list[Border], continent_of: list[int]) -> list[int]:
    """Return the bonus of each continent: a third of a weighted number of territories, at least 1.

    A territory that borders another continent counts three times, and any other territory counts once. On the
    classic map, this formula gives the bonuses of the rule books, except that Africa gets one troop more.
    """
    ways = [way for border in borders for way in (border, border[::-1])]
    outer = {(continent_of[a], a) for a, b in ways if continent_of[a] != continent_of[b]}
    sizes = [
        continent_of.count(c) + 2 * sum(1 for own, _ in outer if own == c) for c in range(spec.continents)
    ]
    return [max(1, size // 3) for size in sizes]


def _territories(
    names: list[str],
    regions: list[str],
    continent_of: list[int],
    borders: list[Border],
    numbers: RandomNumbers,
) -> Iterator[dict[str, Any]]:
    """Yield the values of each territory, with the symbol and the stars of its card."""
    count = len(names)
    symbols = numbers.shuffled([tuple(Symbol)[i % 3].name.lower() for i in range(count)])
    stars = numbers.shuffled([2 if i < share(12, count) else 1 for i in range(count)])
    for t, name in enumerate(names):
        targets = [names[a + b - t] for a, b in borders if t in (a, b)]
        values = {"name": name, "continent": regions[continent_of[t]], "borders": targets}
        yield {**values, "symbol": symbols[t], "stars": stars[t]}


def _drawing(cells: Cells, names: list[str], borders: list[Border]) -> dict[str, Any]:
    kept = set(borders)
    return {
        "width": cells.size[0],
        "height": cells.size[1],
        "centres": {name: list(centre) for name, centre in zip(names, cells.centres, strict=True)},
        "outlines": {
            name: [[number for point in _outline(t, cells, kept) for number in point]]
            for t, name in enumerate(names)
        },
    }


def _outline(territory: int, cells: Cells, kept: set[Border]) -> Iterator[Point]:
    """Yield the corners of a cell. If two land cells share a side but no border, the side has a dent."""
    for side in cells.sides[territory]:
        if not side.squared_length:
            continue
        yield side.start
        border = min(territory, side.beyond), max(territory, side.beyond)
        if side.beyond >= 0 and border not in kept:
            yield _receding(side, cells.centres[territory])


def _receding(side: Side, centre: Point) -> Point:
    """Return the deepest point of a side's dent, between the middle of the side and the cell's centre."""
    x, y = ((side.start[axis] + side.end[axis]) // 2 for axis in (0, 1))
    part = max(GAP, isqrt(4 * squared_distance(centre, (x, y)) // side.squared_length))
    return x + (centre[0] - x) // part, y + (centre[1] - y) // part
