"""Fair start charts of Basic Training (RULES 9.1): totals, cities, drafts, distances, nothing held."""

import itertools

import pytest

from risk_env.board.charts import Chart
from risk_env.board.maps import Board, load_map, map_names
from risk_env.board.rules import Rules

CHARTS = [(name, chart.num_players) for name in map_names() for chart in load_map(name).charts]


@pytest.fixture(params=CHARTS, ids=str)
def charted(request: pytest.FixtureRequest) -> tuple[Board, Chart]:
    """Return a map and its chart for a number of players."""
    name, players = request.param
    board = load_map(name)
    return board, board.chart(players)


@pytest.fixture
def board(charted: tuple[Board, Chart]) -> Board:
    return charted[0]


@pytest.fixture
def chart(charted: tuple[Board, Chart]) -> Chart:
    return charted[1]


def of_seat(chart: Chart, seat: int) -> list[int]:
    return [t for t, owner in enumerate(chart.owner) if owner == seat]


def seats(chart: Chart) -> range:
    return range(chart.num_players)


def held(board: Board, chart: Chart, seat: int, continent: int) -> tuple[int, int]:
    """Return how many territories of a continent the seat holds, and how many the continent has."""
    inside = [t for t, c in enumerate(board.continent_of) if c == continent]
    return sum(chart.owner[t] == seat for t in inside), len(inside)


def distances(board: Board, start: int) -> dict[int, int]:
    found, queue = {start: 0}, [start]
    for t in queue:
        for u in board.targets(t):
            if u not in found:
                found[u] = found[t] + 1
                queue.append(u)
    return found


def test_every_territory_has_an_owner_and_troops(board, chart):
    assert len(chart.owner) == len(chart.troops) == board.num_territories
    assert set(chart.owner) == set(seats(chart))
    assert min(chart.troops) >= 1


def test_troop_totals_are_those_of_rules_4_2(chart):
    players = chart.num_players
    wanted = {3: 30, 4: 25, 5: 20}[players]
    assert Rules.preset("basic_training", players).troops_to_start(42) == wanted
    assert [sum(chart.troops[t] for t in of_seat(chart, seat)) for seat in seats(chart)] == [wanted] * players


def test_territories_are_shared_evenly_and_odd_ones_go_to_the_later_seats(chart):
    counts = [len(of_seat(chart, seat)) for seat in seats(chart)]
    assert counts == sorted(counts)
    assert counts[-1] - counts[0] <= 1


def test_cities_are_shared_evenly(board, chart):
    cities = [sum(chart.owner[t] == seat for t in board.basic_training_cities) for seat in seats(chart)]
    assert sum(cities) == board.random_cities
    assert max(cities) - min(cities) <= 1


def test_first_drafts_are_equal_up_to_one(board, chart):
    """RULES 9.2: a third of territories and cities, and one for the own capital; no continents yet."""
    cities = set(board.basic_training_cities)
    drafts = []
    for seat in seats(chart):
        own = of_seat(chart, seat)
        drafts.append(max(3, (len(own) + len(cities.intersection(own))) // 3) + 1)
    assert max(drafts) - min(drafts) <= 1
    assert drafts == sorted(drafts)


def test_nobody_holds_more_than_half_of_a_continent(board, chart):
    for seat, continent in itertools.product(seats(chart), range(len(board.continents))):
        own, size = held(board, chart, seat, continent)
        assert own <= size / 2, (seat, board.continents[continent])


def test_nobody_meets_an_objective_at_the_start(board, chart):
    """RULES 9.6; Objectives that need captures are not met yet."""
    cities = set(board.basic_training_cities)
    for seat in seats(chart):
        own = set(of_seat(chart, seat))
        continents = [
            c
            for c in range(len(board.continents))
            if held(board, chart, seat, c)[0] == held(board, chart, seat, c)[1]
        ]
        reached = {
            "continent": 0,
            "continents": len(continents),
            "cities": len(own & cities),
            "territories": len(own),
            "enemy_capitals": sum(t in own for s, t in enumerate(chart.capitals) if s != seat),
        }
        for objective in board.objectives:
            assert reached.get(objective.kind, 0) < objective.count, (seat, objective.name)
            assert objective.continent not in continents


def test_capitals_are_own_strongest_and_equally_threatened(board, chart):
    for seat, capital in enumerate(chart.capitals):
        own = of_seat(chart, seat)
        assert capital in own
        assert chart.troops[capital] > max(chart.troops[t] for t in own if t != capital)
        assert sum(u in own for u in board.targets(capital)) == 1
    threats = [
        sum(chart.troops[u] for u in board.targets(capital) if chart.owner[u] != seat)
        for seat, capital in enumerate(chart.capitals)
    ]
    assert len(set(threats)) == 1


def test_capitals_are_as_far_apart_as_the_board_allows(board, chart):
    away = [distances(board, t) for t in range(board.num_territories)]
    apart = min(away[a][b] for a, b in itertools.combinations(chart.capitals, 2))
    assert not can_pick(away, chart.num_players, apart + 1, [], 0)


def can_pick(away: list[dict[int, int]], missing: int, apart: int, picked: list[int], first: int) -> bool:
    """Return True if `missing` more territories exist, at least `apart` borders from each other."""
    if missing == 0:
        return True
    return any(
        can_pick(away, missing - 1, apart, [*picked, t], t + 1)
        for t in range(first, len(away))
        if all(away[t][u] >= apart for u in picked)
    )


def test_cities_are_the_books():
    board = load_map("classic")
    names = """Western United States, Ontario, Eastern United States, Brazil, Great Britain, Northern Europe,
    Western Europe, Southern Europe, Ukraine, Egypt, South Africa, India, China, Japan, Eastern Australia"""
    assert {board.territories[t] for t in board.basic_training_cities} == {
        n.strip() for n in names.split(",")
    }


def test_other_maps_and_numbers_of_players_have_none():
    assert load_map("classic").chart(6) is None
    assert load_map("tiny").charts == ()
