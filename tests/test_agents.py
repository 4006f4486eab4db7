"""The ladder: every bot plays legal games of every preset to the end.

Bots are blind to hidden facts, and play the same from the same seed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from risk_agents import registry
from risk_agents.scripted import grower
from risk_env import arena, bots
from risk_env.agent import Agent, CompiledAgent, View, chance_seeds
from risk_env.batch import GameBatch
from risk_env.board.maps import Board, load_map
from risk_env.board.rules import PRESETS, Rules
from risk_env.bots import CompiledBot
from risk_env.core.types import Phase
from risk_env.game import Game
from risk_env.seeds import bot_seed, game_seed, hashed_seed
from tests.cases import one_of_each_preset
from tests.positions import position

FAST = {"attack": "blitz", "defender_dice": "max", "max_rounds": 100}


@cache
def classic() -> Board:
    return load_map("classic")


def plays_everything(bot: Any) -> bool:
    """Return True for a compiled bot that was not trained for certain games only."""
    try:
        return isinstance(bot, CompiledBot) and bot.check(Rules.preset("capital"), classic()) is None
    except ValueError:
        return False


LADDER = {name: bots.find(name) for name in bots.names() if plays_everything(bots.find(name))}

# One bot of each compiled function: styles share one (`risk_agents.scripted.style`).
KERNELS = list({bot.choose: name for name, bot in LADDER.items()}.values())

VARIANTS = [
    *one_of_each_preset(
        [
            (preset, players, {})
            for preset in PRESETS
            for players in PRESETS[preset].players
            if players in (2, 3, 5)
        ]
    ),
    ("classic", 6, {"attack": "blitz", "defender_dice": "max"}),
    ("classic", 4, {"expert": True}),
    ("classic", 2, {"deck": "none"}),
    ("secret_mission", 4, {"expert": True, "missions": "extended"}),
    ("capital", 4, {"headquarters_to_win": 2, "max_battles_per_turn": 9}),
    ("command_room", 4, {"attack": "max", "commander": True}),
    ("world_conquest", 3, {"fortify": "free", "max_troops": 12}),
]


@pytest.mark.parametrize(("preset", "players", "options"), VARIANTS)
def test_every_bot_plays_every_preset_legally(preset: str, players: int, options: dict[str, Any]) -> None:
    rules = Rules.preset(preset, players, **options).replace(max_rounds=12)
    ladder = list(LADDER.values())
    for first in range(0, len(ladder), players):
        play_checked(rules, [ladder[(first + seat) % len(ladder)] for seat in range(players)], games=3)


def play_checked(rules: Rules, bots: list[CompiledBot], games: int) -> None:
    """Play through `GameBatch.step`, which refuses illegal actions."""
    batch = GameBatch(rules, classic(), games, seed=5, observation=None, mask=None, autoreset=False)
    batch.reset()
    table = arena.Arena(batch, bots)
    table.numbers[:, : len(bots)] = np.arange(len(bots))
    lanes = np.arange(games)
    table.seat_players(lanes)
    for _ in range(100_000):
        running = lanes[batch.games.phase != Phase.OVER]
        if not len(running):
            return
        table.query_players(running)
        batch.step(np.where(batch.games.phase == Phase.OVER, 0, table.actions))
    pytest.fail("the games do not end")


def test_the_ladder_is_that_of_the_registry() -> None:
    assert {"random", "attacker", "grower", "hunter", "breaker", "planner", "beam"} <= set(LADDER)
    assert "duelist" not in LADDER


@pytest.mark.parametrize("name", KERNELS)
def test_every_answer_is_legal_where_forced_actions_are_asked_too(name: str) -> None:
    """All answers are legal, also after the last battle of the turn, where only DONE is legal."""
    rules = Rules.preset("classic", 3, **{**FAST, "max_battles_per_turn": 6, "max_rounds": 10})
    forced = 0
    for seed in (0, 2):
        game = Game(rules, classic(), seed, ask_forced=True)
        players = [CompiledAgent(LADDER[bot]) for bot in (name, "attacker", "grower")]
        for seat, player in enumerate(players):
            player.reset(seat, rules, classic(), seat)
        while not game.is_over:
            forced += game.phase == Phase.ATTACK and len(game.legal_actions()) == 1
            game.step(players[game.seat].act(View(game)))  # IllegalAction for another answer
    assert forced >= 10


@pytest.mark.modes
@pytest.mark.parametrize("name", ["hunter", "breaker", "planner", "beam", "grudge", "saver"])
def test_no_memory_leads_a_bot_outside(name: str) -> None:
    """The memory of a bot may come from an untrusted checkpoint."""
    extremes = np.array([-(2**31), -1, 0, 1, 2, 3, 9, 41, 10**6, 2**31 - 1])
    rules, chance = Rules.preset("classic", 3, **{**FAST, "setup": "random"}), np.random.default_rng(0)
    batch = GameBatch(rules, "tiny", 4, seed=0, observation=None, mask=None)
    batch.reset()
    table, lanes = arena.Arena(batch, [LADDER[name]]), np.arange(4)
    table.numbers[:, :3] = 0
    table.seat_players(lanes)
    for _ in range(60):
        table.memory[:] = chance.choice(extremes, table.memory.shape)
        table.query_players(lanes)
        batch.step(table.actions)  # which refuses illegal actions


def positions(
    rules: Rules, bots: list[CompiledBot], seed: int, every: int
) -> Iterator[tuple[Game, list[Agent]]]:
    """Yield decisions of a game between compiled bots at regular intervals, with the bots as then asked."""
    game = Game(rules, classic(), seed)
    players = [CompiledAgent(bot) for bot in bots]
    for seat, player in enumerate(players):
        player.reset(seat, rules, classic(), int(bot_seed(int(game_seed(seed)), seat)))
    while not game.is_over:
        if int(game.record.decisions) % every == 0:
            yield game, list(players)
        game.step(players[game.seat].act(View(game)))


def answer(agent: Any, game: Game) -> int:
    """Return the agent's action on the given record, with all hidden facts.

    The agent's state does not change.
    """
    randoms, memory, actions = agent.seated.randoms.copy(), agent.seated.memory.copy(), np.zeros(1, np.int64)
    T = game.tables
    agent.bot.choose(game._games, T.board, T.rules, np.zeros(1, np.int64), randoms, memory, actions)
    return int(actions[0])


@pytest.mark.parametrize("name", [*KERNELS, "grudge", "saver"])
@pytest.mark.parametrize("preset", ["classic", "capital", "secret_mission", "command_room"])
def test_hidden_facts_change_no_answer(name: str, preset: str) -> None:
    rules = Rules.preset(preset, 3, **{**FAST, "max_rounds": 6})
    bots = [LADDER[name], LADDER["attacker"], LADDER["grower"]]
    asked = 0
    for game, players in positions(rules, bots, seed=11, every=2):
        if game.seat == 0:
            known = answer(players[0], game)
            for seed in range(3):
                assert answer(players[0], game.determinize(0, seed)) == known
            asked += 1
    assert asked >= 10


@pytest.mark.parametrize("name", KERNELS)
def test_one_game_at_a_time_is_the_same_game_as_in_a_batch(name: str) -> None:
    rules = Rules.preset("classic", 3, **{**FAST, "max_rounds": 8})
    bots = [LADDER[name], LADDER["attacker"], LADDER[name]]
    results = arena.play(rules, classic(), bots, 3, seed=4)
    again = arena.play(rules, classic(), bots, 3, seed=4, lanes=2)
    assert np.array_equal(results, again)
    for lane in range(2):
        game = registry.play_game(rules, classic(), bots, seed=4, lane=lane)
        assert game.winner == results["winner"][lane]
        assert int(game.record.decisions) == results["decisions"][lane]


def win_rate(first: str, second: str, players: int, games: int) -> float:
    """Return the share of games won by one `first` against `second` in all other seats.

    `first` plays from every seat.
    """
    rules = Rules.preset("classic", players, **FAST)
    wins = 0
    for seat in range(players):
        bots = [LADDER[second]] * players
        bots[seat] = LADDER[first]
        wins += int((arena.play(rules, classic(), bots, games, seed=9)["winner"] == seat).sum())
    return wins / (players * games)


def test_the_ladder_is_ordered_where_the_steps_are_large() -> None:
    assert win_rate("attacker", "random", 2, 50) > 0.9
    assert win_rate("grower", "attacker", 3, 100) > 0.43
    assert win_rate("breaker", "grower", 2, 100) > 0.5
    assert win_rate("beam", "attacker", 2, 20) > 0.6
    assert win_rate("saver", "breaker", 5, 40) > 0.28


def test_bots_have_names_versions_and_no_more_memory_than_they_say() -> None:
    for name, bot in LADDER.items():
        assert bot.name == name
        assert bot.version.isdigit()
        assert bot.memory >= 1


def test_a_view_shows_the_seat_what_it_may_see_and_nothing_else() -> None:
    game = Game(Rules.preset("secret_mission", 3), classic(), seed=2)
    view = View(game)
    assert view.seat == game.seat
    assert view.mission == game.mission(game.seat)
    assert view.legal_actions.tolist() == game.legal_actions().tolist()
    assert len(view.texts) == len(view.legal_actions)
    assert np.array_equal(view.observation, game.observe(game.seat))
    assert np.array_equal(view.public.troops, game.troops)
    with pytest.raises(ValueError, match="read-only"):
        view.public.owner[0] = 1
    assert view.rng.integers(1000) == View(game).rng.integers(1000)
    assert view.sample(1) == view.sample(1)
    assert view.sample(1) != view.sample(2)


@pytest.mark.parametrize("chance", [0, 1, 2**32 - 1, 2**32, 2**64 - 1, 2**64 + 5])
def test_the_generator_of_a_view_draws_the_numbers_of_default_rng(chance: int) -> None:
    view = View(Game(Rules.preset("classic", 3), classic(), seed=2), chance=chance)
    seen = hashlib.blake2b(view.game.to_record(), digest_size=8).digest()
    wanted = np.random.default_rng([chance % 2**64, view.seat, int.from_bytes(seen, "little")])
    assert (view.rng.integers(2**63, size=100) == wanted.integers(2**63, size=100)).all()
    assert view.rng.spawn(1)[0].random() == wanted.spawn(1)[0].random()


def test_a_view_does_not_tell_who_was_asked_to_trade() -> None:
    game = Game(Rules.preset("classic", 3, setup="random"), classic(), seed=2)
    asked = game.copy()
    asked.records["decisions"] += 1
    assert View(asked)._game.to_record() == View(game)._game.to_record()
    assert View(asked).rng.integers(1 << 60) == View(game).rng.integers(1 << 60)


def test_only_a_compiled_bot_is_told_a_seed_that_tells_the_games() -> None:
    bots = [registry.make("random"), Agent(), registry.make("attacker")]
    open_seeds = [int(bot_seed(5, seat)) for seat in range(3)]
    assert chance_seeds(bots, 5) == [open_seeds[0], hashed_seed(open_seeds[1]), open_seeds[2]]


@pytest.mark.parametrize("preset", ["classic", "capital", "secret_mission", "command_room"])
def test_views_of_games_that_differ_in_hidden_facts_are_equal(preset: str) -> None:
    rules = Rules.preset(preset, 3, max_rounds=4)
    bots = [LADDER["grower"], LADDER["attacker"], LADDER["hunter"]]
    for game, _ in positions(rules, bots, seed=3, every=5):
        seen = View(game)._game.to_bytes()
        for seed in range(3):
            assert View(game.determinize(game.seat, seed))._game.to_bytes() == seen


def test_bots_claim_otherwise_from_game_to_game() -> None:
    rules, lanes = Rules.preset("classic", 6), np.arange(40)
    batch = GameBatch(rules, classic(), 40, seed=1, observation=None, mask=None, autoreset=False)
    batch.reset()
    table = arena.Arena(batch, ["attacker", "grower", "hunter", "breaker", "planner", "beam"])
    table.numbers[:] = np.arange(6)
    table.seat_players(lanes)
    while len(claiming := lanes[batch.games.phase == Phase.CLAIM]):
        table.step(claiming)
    openings = {bytes(((game.owner - game.starter) % 6).astype(np.int8)) for game in batch.games}
    assert len(openings) > 36


@pytest.mark.parametrize("troops", [3, 8, 20])
def test_the_planner_captures_remnants_in_two_places(troops: int) -> None:
    rules = "preset=classic, num_players=2, attack=blitz, defender_dice=max"
    game = position(rules, f"rest {2 * troops}", f"Iceland {troops}, Argentina {troops}")
    player = CompiledAgent(LADDER["planner"])
    player.reset(0, game.rules, game.board, 1)
    while not game.is_over and game.turn == 0:
        game.step(player.act(View(game)))
    assert game.winner == 0


def test_make_finds_names_files_and_bots(tmp_path: Any) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from risk_env import Agent\n\n\nclass First(Agent):\n    name = 'first'\n\n"
        "    def act(self, view):\n        return int(view.legal_actions[0])\n"
    )
    assert registry.make(f"{file}:First").name == "first"
    assert registry.make(grower.BOT).name == "grower"
    game = registry.play_game(
        Rules.preset("classic", 2, **{**FAST, "max_rounds": 4}),
        classic(),
        [f"{file}:First", grower.BOT],
        seed=1,
    )
    assert game.is_over
    with pytest.raises(ValueError, match="Second"):
        registry.make(f"{file}:Second")
    with pytest.raises(ValueError, match="does not exist"):
        registry.make("nowhere.py:Bot")
    with pytest.raises(ValueError, match="unknown"):
        registry.make("growser")
    with pytest.raises(ValueError, match=r"unknown; variants of tactician: tactician:quick"):
        registry.make("tactician:quicker")
    with pytest.raises(TypeError, match="act"):
        Agent().act(View(Game(seed=1)))
