"""Random maps: the same seed gives the same map, connected, planar and drawn. Wrong names are refused."""

from __future__ import annotations

import hashlib

import pytest

from risk_env import Game, Rules, load_map, presets
from risk_env.board.borders import is_connected
from risk_env.board.generating.cells import random_cells, triangulated
from risk_env.board.generating.spec import RandomNumbers, read_spec
from risk_env.board.maps import MapError
from risk_env.core.types import SIZE_CLASSES
from risk_env.render.geometry import geometry_of
from risk_env.seeds import game_seed
from risk_env.splitmix64 import INCREMENT, WORD, scrambled, unscrambled
from tests.games import can_be_played

SIZES = [
    (6, 1),
    (6, 3),
    (10, 2),
    (42, 6),
    (60, 8),
    (64, 32),
    (128, 20),
    pytest.param(256, 64, marks=pytest.mark.long),
]
DIGESTS = {  # of boards and drawings
    "random:0": "1b965519435dabdb",
    "random:7:territories=60,continents=8": "a0c392e6ce8edfef",
    "random:18446744073709551615:territories=100": "6fa78afd0782d7c5",
}


def name_of(seed: int, territories: int, continents: int) -> str:
    return f"random:{seed}:territories={territories},continents={continents}"


@pytest.mark.parametrize("name", DIGESTS)
def test_the_same_seed_gives_the_same_map(name: str) -> None:
    board = load_map(name)
    facts = hashlib.sha256(f"{board.digest} {board.drawing}".encode()).hexdigest()[:16]
    assert facts == DIGESTS[name]
    assert load_map(board.source) == board


def test_different_seeds_give_different_maps() -> None:
    assert len({load_map(name_of(seed, 12, 3)).digest for seed in range(20)}) == 20


@pytest.mark.parametrize(("territories", "continents"), SIZES)
def test_maps_of_all_sizes(territories: int, continents: int) -> None:
    for seed in range(3):
        board = load_map(name_of(seed, territories, continents))
        assert (board.num_territories, len(board.continents)) == (territories, continents)
        fits = next(size for size in SIZE_CLASSES if territories <= size.territories)
        assert len(board.borders) <= fits.borders
        assert len(board.borders) // 2 <= min(2 * territories, 3 * territories - 6)  # planar
        for members in board.members_of:
            assert is_connected(set(members), board.borders)
        assert geometry_of(board).touching == set(board.borders)
        assert min(map(len, map(board.targets, range(territories)))) >= 1


def test_bonuses_follow_from_territories_and_outer_territories() -> None:
    board = load_map("random:3:territories=60,continents=8")
    for members, bonus in zip(board.members_of, board.bonuses, strict=True):
        outer = [t for t in members if any(n not in members for n in board.targets(t))]
        assert bonus == max(1, (len(members) + 2 * len(outer)) // 3)


def test_presets_on_a_random_map() -> None:
    board = load_map("random:5")
    assert {preset for preset in presets() if not can_be_played(preset, board)} == {"basic_training"}


def test_triangles_are_those_of_empty_circles() -> None:
    """All triangles are counterclockwise. There are 2 n - 2 - h triangles of n points with h on the hull."""
    numbers = RandomNumbers(3)
    inner = [(numbers.below(1000), numbers.below(1000)) for _ in range(60)]
    points = [*dict.fromkeys(inner), (-10, -10), (1010, -10), (1010, 1010), (-10, 1010)]
    triangles = triangulated(points)
    assert len(triangles) == 2 * len(points) - 2 - 4
    for a, b, c in ((points[i], points[j], points[k]) for i, j, k in triangles):
        assert (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 0


def test_cells_of_neighbours_share_their_sides() -> None:
    cells = random_cells(30, RandomNumbers(1))
    sides = {(cell, side.beyond): side for cell, own in enumerate(cells.sides) for side in own}
    for (cell, beyond), side in sides.items():
        if beyond >= 0:
            assert (sides[beyond, cell].start, sides[beyond, cell].end) == (side.end, side.start)


def test_random_numbers_are_those_of_splitmix64() -> None:
    """The first numbers equal those of the published generator for the seed 1234567."""
    numbers = RandomNumbers(1234567)
    assert [numbers.below(2**64) for _ in range(3)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]


def test_splitmix64_is_the_generator_of_the_core() -> None:
    for seed, lane, episode in ((0, 0, 0), (1234567, 89, 2**64 - 1)):
        word = scrambled((seed + INCREMENT) % WORD)
        for part in (lane, episode):
            word = scrambled(((word ^ part) + INCREMENT) % WORD)
        assert game_seed(seed, lane, episode) == word
        assert scrambled(unscrambled(word)) == word


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("random:", "seed: '' is not a whole number"),
        ("random:x", "digits: the form is random:SEED:territories=N"),
        ("random:-1", "seed: '-1' is not"),
        ("random:18446744073709551616", "must be 0 to 18446744073709551615"),
        ("random:1:territory=60", "unknown option 'territory'; did you mean 'territories'?"),
        ("random:1:territories=5", "territories=5: must be 6 to 256"),
        ("random:1:territories=257", "territories=257: must be 6 to 256"),
        ("random:1:territories=", "territories: '' is not a whole number"),
        ("random:1:territories=60,territories=60", "territories is given twice"),
        ("random:1:territories=20,continents=11", "continents=11: must be 1 to 10"),
        ("random:1:continents=0", "continents=0: must be 1 to 21"),
        ("random:1:" + "x" * 100_000, "unknown option"),
        ("rnadom:1", "no map 'rnadom:1'"),
    ],
)
def test_wrong_names(name: str, problem: str) -> None:
    with pytest.raises(MapError) as error:
        load_map(name)
    assert problem in str(error.value)
    assert len(str(error.value)) < 1000


def test_names_are_completed() -> None:
    assert read_spec("random:7").name == "random:7:territories=42,continents=6"
    assert load_map("random:7").source == "random:7:territories=42,continents=6"


def test_games_on_random_maps_are_saved_and_loaded_by_name() -> None:
    game = Game(Rules.preset("classic", 3), "random:7:territories=12", seed=1)
    game.step(int(game.legal_actions()[0]))
    assert Game.from_text(game.to_text()).to_text() == game.to_text()
    assert Game.from_bytes(game.to_bytes()).to_bytes() == game.to_bytes()


def test_starting_troops_grow_with_maps_that_are_too_large_for_them() -> None:
    """RULES 4.2: two players on 90 territories have 86 troops each; on 80 the 40 of the book are enough."""
    rules = Rules.preset("classic", 2)
    assert [rules.troops_to_start(count) for count in (42, 80, 81, 90, 256)] == [40, 40, 78, 86, 244]
    assert Rules.preset("two_player").troops_to_start(120) == 40
    assert rules.replace(initial_troops=50).troops_to_start(90) == 50
