"""The core against the reference `tests/naive.py`: legal actions and state after every action."""

import hashlib
import random
from collections import deque
from typing import Any

import pytest

from risk_env.board.maps import Board, load_map
from risk_env.board.rules import Rules, presets
from risk_env.core.types import SIZE_CLASSES
from tests import golden
from tests.conftest import mode
from tests.foreign_maps import imported
from tests.games import can_be_played, maps_of, play, random_rules, state_of
from tests.naive import Naive
from tests.one_way import random_one_way_map, ring

BLOCKS = 3  # of games for each preset
GAMES_A_BLOCK = 4
MODE_GAMES = 3  # for each preset, in each mode
MODE_SEED = 1000
MODE_ACTIONS = 150
TEMPERS = (0.0, 0.5, 0.9, 0.97)
# Large maps compile all kernels again. With the JIT off they cost nothing more.
ON_LARGE_MAPS = [pytest.mark.long] if mode() != "interpreted" else []
SIZES = [pytest.param(False, id="small"), pytest.param(True, id="large", marks=ON_LARGE_MAPS)]


def is_large(board: Board) -> bool:
    """Return True if a map is larger than the smallest size class."""
    return board.num_territories > SIZE_CLASSES[0].territories


def draw_map(rng: random.Random, preset: str) -> str:
    """Draw one of the shipped maps, small ones more often."""
    names = ["tiny", "tiny", "tiny", "classic", "classic", "big"]
    return rng.choice([name for name in names if can_be_played(preset, load_map(name))])


def draw_game(preset: str, seed: int, board: Board | None = None) -> tuple[Rules, Board, float, int]:
    """Draw rules, map, temper of the players, and length of a random game.

    Games are short on large maps, and complete on the tiny map.
    """
    rng = random.Random(f"{preset} {seed}")
    board = load_map(draw_map(rng, preset)) if board is None else board
    rules = random_rules(rng, board, preset, max_rounds=rng.choice([None, 3, 30]))
    most = 600 if board.num_territories < 20 else 400 if board.num_territories < 60 else 200
    return rules, board, rng.choice(TEMPERS), 3 * most if rng.random() < 0.1 else most


def compare(preset: str, seed: int, most: int | None = None, board: Board | None = None) -> bytes:
    """Play a random game on core and reference, and return the digest of the core's bytes."""
    rules, board, temper, length = draw_game(preset, seed, board)
    chance: deque[str] = deque()
    digest = hashlib.sha256()
    reference: Naive | None = None
    last = -1
    for games, records, lines, legal, action in play(rules, board, seed, temper, most or length):
        chance.extend(lines)
        if reference is None:
            reference = Naive(rules, board, chance)
        else:
            reference.step(last)
        where = f"{preset} seed {seed}, {rules}"
        assert not chance, f"the reference needed less chance: {list(chance)} left ({where})"
        assert set(legal) == reference.legal(), where
        assert differences(state_of(games[0], rules, records, board), reference.state()) == {}, where
        digest.update(games.tobytes())
        last = action
    return digest.digest()


def differences(core: dict[str, Any], reference: dict[str, Any]) -> dict[str, Any]:
    """Return the differences of two states: (core, reference) by key."""
    assert core.keys() == reference.keys()
    return {key: (core[key], reference[key]) for key in core if core[key] != reference[key]}


@pytest.mark.parametrize("large", SIZES)
@pytest.mark.parametrize("block", range(BLOCKS))
@pytest.mark.parametrize("preset", presets())
def test_twin_agrees(preset: str, block: int, large: bool) -> None:
    for seed in range(block * GAMES_A_BLOCK, (block + 1) * GAMES_A_BLOCK):
        if is_large(draw_game(preset, seed)[1]) == large:
            compare(preset, seed)


@pytest.mark.parametrize(
    ("preset", "map_name"),
    [
        pytest.param(preset, board.source, marks=ON_LARGE_MAPS if is_large(board) else [])
        for preset in presets()
        for board in maps_of(preset)
    ],
)
def test_twin_agrees_on_every_map(preset: str, map_name: str) -> None:
    compare(preset, 0, MODE_ACTIONS, load_map(map_name))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("preset", "board"),
    [
        ("classic", load_map("random:1:territories=60,continents=8")),
        ("secret_mission", load_map("random:2:territories=20")),
        ("world_conquest", load_map("random:3:territories=12")),
        ("classic", imported(2)),
        ("secret_mission", imported(0)),
    ],
    ids=["random", "random, missions", "random, stars", "partial cards", "imported"],
)
def test_twin_agrees_on_random_and_imported_maps(preset: str, board: Board, seed: int) -> None:
    compare(preset, seed, MODE_ACTIONS, board)


@pytest.mark.parametrize("preset", presets())
def test_twin_agrees_on_one_way_maps(preset: str) -> None:
    compare(preset, 2, 2 * MODE_ACTIONS, random_one_way_map("classic"))


ONE_WAY_DIGESTS = {  # of the bytes of games on a map with one-way borders
    "classic": "3c8c5be6d4a76b5d",
    "two_player": "5470d09bab116501",
    "secret_mission": "8796356741f04475",
    "command_room": "d269341b51198ed5",
}


@pytest.mark.modes
@pytest.mark.parametrize("preset", ONE_WAY_DIGESTS)
def test_same_bytes_in_every_mode_on_a_one_way_map(preset: str) -> None:
    assert compare(preset, 1, MODE_ACTIONS, ring()).hex()[:16] == ONE_WAY_DIGESTS[preset]


@pytest.mark.modes
@pytest.mark.parametrize("large", SIZES)
@pytest.mark.parametrize("preset", presets())
def test_same_bytes_in_every_mode(preset: str, large: bool) -> None:
    digests = golden.load_digests()[preset]
    assert len(digests) == MODE_GAMES
    for seed, digest in enumerate(digests, MODE_SEED):
        if is_large(draw_game(preset, seed)[1]) == large:
            assert compare(preset, seed, MODE_ACTIONS).hex()[:16] == digest
