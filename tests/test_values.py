"""Learned values: features, agreement of compiled code and PyTorch, TD(λ) targets, and learning."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import risk_agents
from risk_agents.learned import duelist
from risk_agents.learned.beam_value_features import GAME_COLUMNS, NUM_SIZES, WORKSPACE, num_columns
from risk_agents.learned.policy import PolicyFile
from risk_agents.learned.schema import schema_of
from risk_agents.registry import play_game
from risk_agents.search.beam_value import BeamValueFile, encode_positions
from risk_agents.search.evaluation import NUM_WEIGHTS, WEIGHTS, Evaluator, evaluate
from risk_env import arena
from risk_env.batch import GameBatch
from risk_env.board.maps import Board, load_map
from risk_env.board.rules import Rules
from risk_env.compiler import entry_point
from risk_env.core.draft import troops_due
from risk_env.core.odds import win_probability
from risk_env.core.position import holds_nothing
from risk_env.core.types import Phase
from risk_env.game import Game
from risk_training.beam_value import Config, Network, Positions, Trainer, lambda_returns, play_chunk
from risk_training.config import EvaluationSettings
from risk_training.run_files import BEAM_VALUE_FILE, CHECKPOINT

BOARD = load_map("classic")
GAMES = [
    ("classic", 2, {}),
    ("two_player", 2, {}),
    ("classic", 6, {"setup": "claim"}),
    ("capital", 3, {"setup": "claim"}),
    ("secret_mission", 4, {}),
    ("command_room", 4, {}),
]
TINY = Config(
    map="tiny", players=3, options={"max_rounds": 6}, games=60, round_games=12, memory=3,
    bots=("grower", "beam"), bot_share=0.3, explore=0.1, td_lambda=0.8, hidden_sizes=(6, 4),
    minibatches=20, batch_size=64,
    evaluation=EvaluationSettings(opponents=("random",), games=6, interval=24),
)  # fmt: skip


@entry_point
def evaluate_all(games, boards, rules, lanes, seats, weights, values):
    """Write the learned values of positions into float64 (k,)."""
    work = np.zeros(WORKSPACE, np.float32)
    for k in range(len(lanes)):
        values[k] = evaluate(games[lanes[k]], Evaluator(boards[0], rules[0], seats[k], weights, work))


def in_mid_game(rules: Rules, board: Board, lanes: int = 96) -> GameBatch:
    """Return games between random players at different stages, in attacks or before a move."""
    batch = GameBatch(rules, board, lanes, seed=3, autoreset=False)
    batch.reset()
    chance = np.random.default_rng(0)
    waiting = np.arange(lanes)
    for step in range(4000):
        phase = batch.records["phase"][waiting]
        still = ~np.isin(phase, (Phase.ATTACK, Phase.FORTIFY_FROM)) | (step < 3 * waiting + 150)
        waiting = waiting[still & (phase != Phase.OVER)]
        if not len(waiting):
            break
        batch.ask(waiting)
        masks = batch.action_mask[waiting]
        actions = np.zeros(lanes, np.int64)
        actions[waiting] = (chance.random(masks.shape) * masks).argmax(1)
        batch.step_lanes(waiting, actions)
    return batch


def features_in(batch: GameBatch, lanes: Any, seats: Any, moved: Any) -> Any:
    found = np.full((len(lanes), num_columns(batch.rules, batch.board)), np.nan, np.float32)
    T = batch.tables
    encode_positions(batch.records, T.board, T.rules, lanes, seats, moved, WEIGHTS.astype(np.float32), found)
    return found


def open_games(batch: GameBatch) -> Any:
    return np.flatnonzero(batch.records["phase"] != Phase.OVER)


def slow_features(batch: GameBatch, lane: int, seat: int, moved: bool) -> list[float]:
    """Return all features except the heuristic value, from the public facts of the game.

    Features that do not follow from these facts are NaN.
    """
    game, rules, board = batch.game(lane), batch.rules, batch.board
    P, T = rules.num_players, board.num_territories
    owner, troops = game.owner.tolist(), game.troops.tolist()
    order = [(seat + k) % P for k in range(P)] + [P] * rules.neutral
    due = {other: dues(batch, lane, other) for other in range(P)}
    extra = max(due[other] for other in range(P) if other != seat) // 2
    front, safe = slow_front(board, owner, troops, seat, P, extra)
    owners: list[float] = []
    for other in order:
        held = [t for t in range(T) if owner[t] == other]
        army = sum(troops[t] for t in held)
        cards = len(game.hand(other)) if other < P else 0
        cards += int(other == seat == int(game.record.turn) and bool(game.record.captured))
        owners += [(army / 100) ** 0.5, army / sum(troops), len(held) / T]
        owners += [due.get(other, 0) / 10, cards / 5, float(cards > 2), float(cards > 3)]
    members = [[t for t in range(T) if board.continent_of[t] == c] for c in range(len(board.continents))]
    parts = [[np.mean([owner[t] == other for t in part]) for part in members] for other in order[:P]]
    continents = [number for row in parts for part in row for number in (part, float(part == 1))]
    continents += [safe[c] if part == 1 else 0.0 for c, part in enumerate(parts[0])]
    game_facts = [float(moved), np.nan, np.nan, 1 / (1 + game.round), min(game.round, 40) / 20, np.nan]
    return [*front, *owners, *continents, *game_facts]


def dues(batch: GameBatch, lane: int, seat: int) -> int:
    """Return the troops that a seat would get now, by the core's own count, which has tests of its own."""
    found, T = np.zeros(1, np.int64), batch.tables
    count_dues(batch.records, T.board, T.rules, lane, seat, found)
    return int(found[0])


@entry_point
def count_dues(games, boards, rules, lane, seat, found):
    """Write the troops due without cards into `found`; nothing for an eliminated seat."""
    if not holds_nothing(games[lane], seat):
        found[0] = troops_due(games[lane], boards[0], rules[0], seat)


def slow_front(board: Board, owner: list[int], troops: list[int], seat: int, players: int, extra: int) -> Any:
    """Return the sums over the front, and the probability by continent that the seat loses no territory."""
    front, safe = np.zeros(8), np.ones(len(board.continents))
    for territory in range(board.num_territories):
        near, here = board.targets(territory), troops[territory]
        own = [troops[n] for n in near if owner[n] == seat]
        if owner[territory] != seat:
            front[7] += win_probability(max(own), here) if own and max(own) > 1 else 0
            continue
        if len(own) == len(near):
            front[2] += here - 1
            continue
        rival = max([troops[n] for n in near if owner[n] not in (seat, players)], default=1)
        falls = [
            win_probability(attackers, here) if attackers > 1 else 0 for attackers in (rival, rival + extra)
        ]
        front[[0, 1, 5, 6]] += [1, here - 1, *falls]
        front[3], front[4] = max(front[3], here), max(front[4], rival - 1)
        safe[board.continent_of[territory]] *= 1 - falls[1]
    return front / [10, 20, 20, 20, 20, 10, 10, 10], safe


@pytest.mark.parametrize(("preset", "players", "options"), GAMES)
def test_features_are_what_the_board_says(preset: str, players: int, options: dict[str, Any]) -> None:
    batch = in_mid_game(Rules.preset(preset, players, **options, profile="fast"), BOARD)
    lanes = open_games(batch)
    seats = batch.records["turn"][lanes].astype(np.int64)
    moved = lanes % 2 == 0
    found = features_in(batch, lanes, seats, moved)
    assert np.isfinite(found).all() and len(lanes) > 30
    for row, lane, seat, has_moved in zip(found, lanes, seats, moved, strict=True):
        expected = np.array(slow_features(batch, int(lane), int(seat), bool(has_moved)))
        known = ~np.isnan(expected)
        assert np.allclose(row[:-1][known], expected[known], atol=1e-4)
        assert known.sum() == len(row) - 4 and len(row) == num_columns(batch.rules, BOARD)


@pytest.mark.parametrize(("preset", "players", "options"), GAMES)
def test_hidden_facts_change_no_feature(preset: str, players: int, options: dict[str, Any]) -> None:
    batch = in_mid_game(Rules.preset(preset, players, **options, profile="fast"), BOARD)
    lanes = open_games(batch)
    seats = batch.records["turn"][lanes].astype(np.int64)
    before = features_in(batch, lanes, seats, lanes < 0)
    for lane, seat in zip(lanes, seats, strict=True):
        batch.games[lane] = batch.game(int(lane)).determinize(int(seat), 9).record
    assert np.array_equal(features_in(batch, lanes, seats, lanes < 0), before)


@pytest.mark.parametrize(("preset", "players", "options"), GAMES)
def test_compiled_and_torch_agree(preset: str, players: int, options: dict[str, Any], tmp_path: Path) -> None:
    rules = Rules.preset(preset, players, **options, profile="fast")
    batch = in_mid_game(rules, BOARD)
    lanes = open_games(batch)
    seats = batch.records["turn"][lanes].astype(np.int64)
    value = some_value(rules, BOARD)
    network = Network(num_columns(rules, BOARD), 6, 4)
    network.weights.load_state_dict({name: torch.as_tensor(values) for name, values in value.weights.items()})
    expected = network.chances(
        features_in(batch, lanes, seats, batch.records["phase"][lanes] == Phase.FORTIFY_FROM)
    )
    found, T = np.zeros(len(lanes)), batch.tables
    evaluate_all(batch.records, T.board, T.rules, lanes, seats, value.packed[0], found)
    undecided = (found > 0) & (found < 1)
    assert undecided.sum() > 20 and np.allclose(found[undecided], expected[undecided], atol=1e-3)
    assert expected[undecided].std() > 0.02
    value.save(tmp_path / "kept.npz")
    assert np.allclose(BeamValueFile.load(tmp_path / "kept.npz").packed, value.packed, atol=1e-2)


def some_value(rules: Rules, board: Board) -> BeamValueFile:
    """Return a value with random weights that affect its output."""
    torch.manual_seed(1)
    network = Network(num_columns(rules, board), 6, 4)
    for weights in network.parameters():
        torch.nn.init.normal_(weights, std=0.3)
    return BeamValueFile(network.arrays(), schema_of(rules, board), {"name": "novice", "version": "3"})


def test_a_value_that_corrects_nothing_plays_as_the_beam_does() -> None:
    rules = Rules.preset("classic", 2, profile="fast")
    value = some_value(rules, BOARD)
    nothing = {name: np.zeros_like(weights) for name, weights in value.weights.items()}
    nothing["trust"] = np.ones(1, np.float32)
    plain = BeamValueFile(nothing, value.schema, {}).bot("plain")
    found = [arena.play(rules, BOARD, [bot, "attacker"], 20, seed=4) for bot in (plain, "beam")]
    assert (found[0] == found[1]).mean() > 0.8  # float32 breaks some ties in another way
    assert len(value.packed[0]) == NUM_WEIGHTS + NUM_SIZES + sum(part.size for part in value.weights.values())


def test_a_value_plays_everywhere_and_files_are_told_apart(tmp_path: Path) -> None:
    rules = Rules.preset("classic", 2, profile="fast")
    file = str(tmp_path / "value.npz")
    some_value(rules, BOARD).save(file)
    bot = risk_agents.load(file)
    assert (bot.name, bot.version) == ("novice", "3")
    assert play_game(rules, BOARD, [file, "grower"], seed=2).is_over
    with pytest.raises(ValueError, match="contains a beam value, but must contain a policy"):
        PolicyFile.load(file)
    with pytest.raises(ValueError, match="contains a policy, but must contain a beam value"):
        BeamValueFile.load(duelist.FILE)
    with pytest.raises(ValueError, match=r"num_players=2, not 3"):
        bot.check(Rules.preset("classic", 3, profile="fast"), BOARD)


def test_the_beam_by_a_value_looks_at_nothing_hidden() -> None:
    rules = Rules.preset("classic", 3, profile="fast")
    bot = some_value(rules, BOARD).bot("novice")
    game, chance, asked = Game(rules, BOARD, seed=2), np.random.default_rng(1), 0
    while asked < 12:
        game.step(int(chance.choice(game.legal_actions())))
        if game.seat == 0 and game.phase in (Phase.DRAFT, Phase.ATTACK) and game.round > 3:
            asked += 1
            answers = {
                answer(bot, other) for other in (game, *(game.determinize(0, seed) for seed in range(3)))
            }
            assert len(answers) == 1 and answers <= set(game.legal_actions().tolist())


def answer(bot: Any, game: Game) -> int:
    """Return the bot's action on the given record, with all hidden facts."""
    randoms, memory = np.full((1, 6), 9, np.uint64), np.zeros((1, 6, bot.memory), np.int32)
    actions, T = np.zeros(1, np.int64), game.tables
    bot.choose(game.records, T.board, T.rules, np.zeros(1, np.int64), randoms, memory, actions)
    return int(actions[0])


def test_returns_by_their_definition() -> None:
    chance = np.random.default_rng(2)
    games, seats = chance.integers(5, size=80).astype(np.int32), chance.integers(3, size=80).astype(np.int8)
    won, cut = games == seats, games == 4
    positions = Positions(np.zeros((80, 1), np.float16), games, seats, won & ~cut, cut)
    values = chance.random(80).astype(np.float32)

    def taught(i: int) -> float:
        later = [j for j in range(i + 1, 80) if games[j] == games[i] and seats[j] == seats[i]]
        if later:
            return 0.7 * taught(later[0]) + 0.3 * float(values[later[0]])
        return float(values[i]) if cut[i] else float(won[i])

    assert np.allclose(lambda_returns(positions, values, 0.7), [taught(i) for i in range(80)], atol=1e-5)
    assert np.array_equal(lambda_returns(positions, values, 1.0)[~cut], won[~cut])


def test_positions_are_what_seats_leave_behind() -> None:
    positions = play_chunk(dataclasses.replace(TINY, explore=0.0), 0, TINY.round_games, None)
    moved = positions.features[:, -GAME_COLUMNS - 1]
    assert set(np.unique(moved)) == {0.0, 1.0} and abs(moved.mean() - 0.5) < 0.2
    assert set(positions.games.tolist()) == set(range(TINY.round_games))
    winners = {(game, seat) for game, seat in zip(positions.games, positions.seats, strict=True)}
    assert len(winners) > TINY.round_games
    assert not (positions.won & positions.truncated).any()


def test_positions_before_each_attack_are_added() -> None:
    config = dataclasses.replace(TINY, explore=0.0)
    few = play_chunk(config, 0, TINY.round_games, None)
    many = play_chunk(dataclasses.replace(config, every_attack=True), 0, TINY.round_games, None)
    rows = [
        Counter(map(bytes, np.column_stack([each.games, each.seats, each.features]))) for each in (few, many)
    ]
    added = rows[1] - rows[0]
    assert rows[0] <= rows[1] and added.total() > len(few.won) / 2
    assert many.features[:, -GAME_COLUMNS - 1].sum() == few.features[:, -GAME_COLUMNS - 1].sum()


def test_a_chunk_depends_on_its_arguments_only() -> None:
    value = some_value(TINY.rules(), load_map("tiny"))
    first, again, other = (play_chunk(TINY, number, 8, value) for number in (100, 100, 108))
    assert all(np.array_equal(getattr(first, name), getattr(again, name)) for name in vars(first))
    assert not np.array_equal(first.features[:50], other.features[:50])
    parts = [play_chunk(TINY, number, 8, value) for number in (100, 108)]
    both = Positions.joined(parts, 8)
    assert set(both.games.tolist()) == set(range(16)) and len(both.won) == len(first.won) + len(other.won)


def test_what_is_wrong_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'speed' is unknown"):
        Config.from_dict({"speed": 1})
    wrong = {
        "hidden_sizes": ((0, 4), "hidden_sizes[0]=0: must be 1 to 512"),
        "beam_width": (17, "beam_width=17: must be 1 to 16"),
        "explore": (1.5, "explore=1.5: must be 0 to 1"),
        "games": (0, "games=0: must be 1 to"),
    }
    for name, (value, words) in wrong.items():
        with pytest.raises(ValueError, match=re.escape(words)):
            dataclasses.replace(TINY, **{name: value})
    with pytest.raises(ValueError, match="nothing to resume"):
        Trainer.resume(tmp_path)
    assert not (tmp_path / CHECKPOINT).exists() and not (tmp_path / BEAM_VALUE_FILE).exists()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"features": np.zeros((2, 3), np.float16)}, "does not have the arrays"),
        ({"features": np.full((2, 5), np.nan, np.float16)}, "are not finite"),
        ({"games": np.zeros(2, np.int64)}, "does not have the arrays"),
        ({"won": np.zeros(3, np.bool_)}, "does not have the arrays"),
        (
            {"games": np.array([0, -1], np.int32)},
            "must have game numbers of 0 or more, and seats from 0 to 5",
        ),
        ({"seats": np.array([0, 6], np.int8)}, "must have game numbers of 0 or more, and seats from 0 to 5"),
        ({"seats": np.array([{}, {}])}, "cannot be read"),
        ({"more": np.zeros(2, np.float16)}, "does not have the arrays"),
    ],
)
def test_a_file_of_positions_is_checked(tmp_path: Path, change: dict[str, Any], problem: str) -> None:
    path, games, seats = tmp_path / "positions.npz", np.array([0, 1], np.int32), np.zeros(2, np.int8)
    good = Positions(np.ones((2, 5), np.float16), games, seats, np.ones(2, np.bool_), np.zeros(2, np.bool_))
    good.save(path)
    read = Positions.load(path, 5)
    assert all(np.array_equal(getattr(read, name), values) for name, values in vars(good).items())
    np.savez(path, **vars(good) | change)
    with pytest.raises(ValueError, match=f"positions.npz .*{problem}"):
        Positions.load(path, 5)


@pytest.mark.long
def test_it_learns(tmp_path: Path) -> None:
    """The value, after a few hundred games, predicts new games better than the heuristic does."""
    nobody = EvaluationSettings(opponents=())
    config = Config(
        players=2, games=500, round_games=250, evaluation=nobody, beam_width=3, minibatches=300, seed=1
    )
    trainer = Trainer(config, tmp_path)
    trainer.train()
    first, last = trainer.rows
    assert first["games/brier_heuristic"] > 0.06
    assert last["games/brier"] < 0.9 * last["games/brier_heuristic"]
