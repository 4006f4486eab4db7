"""`strategist`: rollouts of whole turns, their judge (a value for all numbers of players), and choices."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from risk_agents.explanation import plan_words
from risk_agents.learned.beam_value_features import num_columns
from risk_agents.learned.dangers import DANGERS
from risk_agents.learned.schema import schema_of
from risk_agents.learned.state_value import (
    TERRITORY_INPUTS,
    StateValueFile,
    input_columns,
    state_value_shapes,
    write_codes,
)
from risk_agents.registry import make, play_game
from risk_agents.scripted import breaker, grower, hunter
from risk_agents.search import beam, judges, marshal
from risk_agents.search.beam_value import encode_positions
from risk_agents.search.evaluation import WEIGHTS
from risk_agents.search.judges import judge_by_beam_value, judge_heuristically, judges_by
from risk_agents.search.rollouts import TO_THE_END, Judge, Rollouts
from risk_agents.search.set_up import AS_USUAL, Claims, SetUpChoice
from risk_agents.search.strategist import (
    BUDGET,
    DECIDED,
    DUEL_PLANS,
    GOAL_PLAYERS,
    LEAST_GAMES,
    MARSHALS,
    Budget,
    Strategist,
    analyse,
    plans_for,
    players_for,
)
from risk_agents.search.strategist import PLANS as PLANS_FOR_FOUR
from risk_agents.search.strategist import PLAYERS as STYLES
from risk_env import Game, Rules, load_map
from risk_env.agent import Agent, CompiledAgent, View
from risk_env.arena import ANY_SEAT, Arena, play
from risk_env.board.maps import Board
from risk_env.board.tables import tables
from risk_env.bots import CompiledBot, SeatedBot
from risk_env.core.types import MAX_SEATS, Phase
from risk_env.game_vector import GameVector
from risk_env.match import Match
from risk_training import beam_value
from risk_training.state_value import (
    Config,
    Games,
    Network,
    Positions,
    Trainer,
    living,
    play_chunk,
    table_targets,
)
from tests.test_observation import code_of_count

BOARD = load_map("classic")
SMALL = Budget(games=20, again=10, turns=0, places=44)
SECOND_BEAM = beam.other_turn(beam.BOT, "beam 2", rank=1)
PLANS, PLAYERS = (beam.BOT, breaker.BOT, SECOND_BEAM), (breaker.BOT, hunter.BOT)


def heuristic_judge(rules: Rules, board: Board) -> Judge:
    return judge_heuristically


def table(players: int, preset: str = "classic", **options: Any) -> Rules:
    rules = Rules.preset(preset, players, max_rounds=30, **options, profile="fast")
    return rules.replace(setup="deal") if rules.setup == "claim" else rules


def value_file(rules: Rules, seed: int = 0, dangers: bool = False) -> StateValueFile:
    """Return a value with random weights."""
    rng = np.random.default_rng(seed)
    shapes = state_value_shapes(len(input_columns(BOARD, dangers)), 8, 4)
    weights = {name: rng.normal(scale=0.1, size=shape).astype(np.float32) for name, shape in shapes.items()}
    return StateValueFile(weights, schema_of(rules, BOARD), {"name": "drawn", "dangers": dangers})


def at_turn(rules: Rules, turns: int, seed: int = 3) -> Game:
    """Return a game between growers after this many turns."""
    batch = GameVector(rules, BOARD, 1, seed, observation=None, mask=None, autoreset=False)
    arena = Arena(batch, [grower.BOT])
    arena.numbers[:] = 0
    lane = np.zeros(1, np.int64)
    batch.begin(lane)
    arena.seat_players(lane)
    arena.stop_at_turn[:] = ANY_SEAT
    while turns:
        arena.play_on(lane)
        turns -= int(batch.records["round_number"][0]) > 0
    return batch.game(0)


def test_a_lane_stops_where_the_turn_of_any_seat_begins() -> None:
    rules = table(3)
    games = [at_turn(rules, turns) for turns in (1, 2, 3, 4)]
    assert [(game.turn - games[0].turn) % 3 for game in games] == [0, 1, 2, 0]
    assert all(game.phase in (Phase.TRADE, Phase.DRAFT) for game in games)


def test_many_samples_are_those_of_single_seeds() -> None:
    view = View(at_turn(table(3, "secret_mission"), 5))
    records = view.samples(np.array([4, 9]))
    assert [row.tobytes() for row in records] == [view.sample(seed).to_record() for seed in (4, 9)]


@pytest.mark.parametrize("turns", [0, 2, TO_THE_END])
def test_rollouts_do_not_depend_on_the_number_of_lanes(turns: int | None) -> None:
    rules = table(3)
    samples = View(at_turn(rules, 5)).samples(np.arange(6))
    found = [
        Rollouts(rules, BOARD, PLANS, PLAYERS, judge_heuristically, lanes).play(
            [2, 0, 1], samples, np.random.default_rng(1), turns
        )
        for lanes in (18, 7, 3)
    ]
    assert found[0].shape == (3, 6)
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])
    assert 0 < found[0].mean() < 1 and len(np.unique(found[0])) > 1


def test_a_plan_is_the_turn_that_its_bot_plays() -> None:
    rules = table(4)
    game = at_turn(rules, 6)
    samples = View(game).samples(np.arange(3))
    rollouts = Rollouts(rules, BOARD, PLANS, PLAYERS, judge_heuristically)
    ends = rollouts.ends_of_turn([2, 0], samples, np.random.default_rng(0))
    for row, bot in enumerate((SECOND_BEAM, beam.BOT)):
        for sample in range(3):
            alone = Game.from_record(rules, BOARD, samples[sample : sample + 1])
            player = CompiledAgent(bot)
            player.reset(alone.seat, rules, BOARD, 0)
            while not alone.is_over and alone.turn == game.turn:
                alone.step(player.act(View(alone)))
            assert np.array_equal(alone.record["troops"], ends[row, sample]["troops"])


def test_a_beam_of_another_rank_drafts_to_another_place() -> None:
    game = at_turn(table(6), 14)
    while game.phase == Phase.TRADE:
        game.step(int(game.legal_actions()[0]))
    bots = [beam.other_turn(beam.BOT, f"beam {rank}", rank) for rank in range(40)]
    places = [CompiledAgent(bot) for bot in bots]
    for player in places:
        player.reset(game.seat, game.rules, BOARD, 0)
    drafted = [player.act(View(game)) for player in places]
    assert set(drafted) <= set(game.legal_actions().tolist())
    assert drafted[0] == SeatedBot(beam.BOT, 0).choose(game)
    assert len(set(drafted[:3])) == 3
    assert len(set(drafted[beam.MOST_RANK :])) == 1  # from there on


def test_beams_of_other_ranks_and_weights_play_other_games() -> None:
    def games(bot: CompiledBot) -> bytes:
        return play(table(2), BOARD, [bot, grower.BOT], 4, seed=1).tobytes()

    plain, second = games(beam.BOT), games(SECOND_BEAM)
    found = {
        key: games(beam.other_turn(beam.BOT, "other", *key))
        for key in ((0, 0), (1, beam.CAUTIOUS), (1, 99), (-1, -1))
    }
    assert found[0, 0] == plain and found[1, 99] == second  # there are no such weights
    assert len({plain, second, found[1, beam.CAUTIOUS], found[-1, -1]}) == 4


def test_games_that_are_played_to_the_end_are_won_by_one_seat() -> None:
    rules = table(3)
    samples = View(at_turn(rules, 4)).samples(np.arange(16))
    rollouts = Rollouts(rules, BOARD, PLANS, PLAYERS, judge_heuristically, lanes=8)
    chances = rollouts.continue_games(samples, 0, np.random.default_rng(0))
    assert np.allclose(chances.sum(1), 1) and (chances[:, 3:] == 0).all()
    assert np.isin(chances, (0, 0.5, 1 / 3, 1)).all()


def seen_codes(file: StateValueFile, games: list[Game]) -> np.ndarray:
    """Return the codes that the network of `file` reads in each game."""
    records, tables = np.concatenate([game.records for game in games]), games[0].tables
    codes = np.zeros((len(games), len(file.columns)), np.int8)
    lanes = np.arange(len(games))
    write_codes(records, tables.board, tables.rules, lanes, file.columns, file.value.dangers, codes)
    return codes


@pytest.mark.parametrize(("players", "dangers"), [(2, False), (3, True), (6, False), (6, True)])
def test_compiled_and_torch_agree(players: int, dangers: bool) -> None:
    rules = table(players)
    file = value_file(rules, dangers=dangers)
    games = [at_turn(rules, turns) for turns in (1, 7, 12)]
    records = np.concatenate([game.records for game in games])
    columns, codes = file.columns, seen_codes(file, games)
    observed = len(input_columns(BOARD))
    assert all(
        np.array_equal(codes[row, :observed], game.observe_codes(game.seat)[columns[:observed]])
        for row, game in enumerate(games)
    )
    alive = np.stack([np.roll(game.alive, -game.seat) for game in games])
    network = Network(len(columns), living(columns, BOARD), 8, 4)
    network.load_state_dict(
        {f"weights.{name}": torch.as_tensor(values) for name, values in file.weights.items()}
    )
    found, expected = file.chances(records, games[0].tables), network.chances(codes)
    for row, game in enumerate(games):
        assert found[row].sum() == pytest.approx(1)
        assert np.allclose(np.roll(found[row, :players], -game.seat), expected[row, :players], atol=1e-5)
        assert ((found[row, :players] > 0) == game.alive).all() and alive[row, 0]


def naive_dangers(game: Game) -> tuple[list[int], dict[str, list[int]]]:
    """Return the strongest enemy stacks by territory, and the other dangers by name, for the seat to act."""
    board, players, troops, owner = game.board, game.num_players, game.troops.tolist(), game.owner.tolist()
    territories = range(board.num_territories)
    owned = {seat: [t for t in territories if owner[t] == seat] for seat in range(players)}
    enemies: list[list[int]] = [[] for _ in territories]  # sources of enemies, by territory
    for source, target in board.borders:
        if owner[source] != owner[target]:
            enemies[target].append(source)
    strongest = [max((troops[s] for s in near), default=0) for near in enemies]

    def sendable(seat: int) -> int:
        if not game.alive[seat]:
            return 0
        held = [
            b
            for c, b in enumerate(board.bonuses)
            if {owner[t] for t in territories if board.continent_of[t] == c} == {seat}
        ]
        cards = game.public().next_set if game.public().hand_sizes[seat] >= 3 else 0
        return max(3, len(owned[seat]) // 3) + sum(held) + cards

    def margin(hunter: int, prey: int) -> int:
        beside = [troops[s] - 1 for s, t in board.borders if owner[s] == hunter and owner[t] == prey]
        if hunter == prey or max(beside, default=0) == 0:
            return 0
        army = sum(troops[t] for t in owned[prey])
        return max(0, max(beside) + sendable(hunter) - int(0.95 * army) - len(owned[prey]))

    order = [(game.seat + k) % players for k in range(players)]
    return strongest, {
        "singles": [sum(troops[t] == 1 for t in owned[seat]) for seat in order],
        "largest": [max((troops[t] for t in owned[seat]), default=0) for seat in order],
        "front": [sum(troops[t] for t in owned[seat] if enemies[t]) for seat in order],
        "outnumbered": [sum(strongest[t] > troops[t] for t in owned[seat]) for seat in order],
        "sendable": [sendable(seat) for seat in order],
        "hunted": [max(margin(other, seat) for other in range(players)) for seat in order],
        "prey": [margin(game.seat, seat) for seat in order],
        "hunter": [margin(seat, game.seat) for seat in order],
    }


@pytest.mark.parametrize("players", [3, 6])
def test_dangers_by_their_definitions(players: int) -> None:
    rules = table(players)
    file = value_file(rules, dangers=True)
    games = [at_turn(rules, turns, seed) for turns, seed in ((1, 3), (9, 4), (20, 5), (31, 6))]
    codes = seen_codes(file, games)[:, len(input_columns(BOARD)) :]
    for row, game in enumerate(games):
        strongest, facts = naive_dangers(game)
        assert codes[row, : BOARD.num_territories].tolist() == [code_of_count(count) for count in strongest]
        by_player = codes[row, BOARD.num_territories :].reshape(len(DANGERS), MAX_SEATS)
        for name, found in zip(DANGERS, by_player.tolist(), strict=True):
            expected = [code_of_count(count) for count in facts[name]] + [0] * (MAX_SEATS - players)
            assert (name, found) == (name, expected)


def test_a_value_knows_its_tables(tmp_path: Path) -> None:
    file = value_file(table(6))
    assert all(file.knows(table(players), BOARD) for players in (2, 3, 6))
    assert file.knows(Rules.preset("classic", 4, profile="fast"), BOARD)
    assert not file.knows(table(3, "secret_mission"), BOARD)
    assert not file.knows(table(3, "command_room"), BOARD)
    assert not file.knows(table(3), load_map("tiny"))
    with pytest.raises(ValueError, match="cannot play on its own"):
        file.bot("value.npz")
    file.save(tmp_path / "value.npz")
    agent = make(str(tmp_path / "value.npz"))
    agent.reset(0, table(3), BOARD, 0)
    with pytest.raises(ValueError, match="victory='domination', not 'mission'"):
        agent.reset(0, table(3, "secret_mission"), BOARD, 0)
    wrong = StateValueFile({**file.weights, "output": np.zeros((4, 5))}, file.schema, {})
    with pytest.raises(ValueError, match="output has shape"):
        _ = wrong.value


def test_targets_by_their_definition() -> None:
    chances = np.zeros((4, 6), np.float32)
    chances[:, :2] = [[0.6, 0.4], [0.3, 0.7], [0.5, 0.5], [0.9, 0.1]]
    positions = Positions(
        np.zeros((4, 1), np.int8), np.array([0, 1, 0, 1]), np.array([0, 1, 1, 0]), np.array([0, -1]), 2
    )
    targets = table_targets(positions, chances, td_lambda=0.5)
    assert np.allclose(targets[2, :2], [0, 1])  # its game was won by seat 0, it looks from seat 1
    # half of that, half of the chances there, seen from seat 0
    assert np.allclose(targets[0, :2], [0.75, 0.25])
    assert np.allclose(targets[3, :2], [0.9, 0.1])  # the rounds ran out
    assert np.allclose(targets[1, :2], [0.1, 0.9])
    assert (targets[:, 2:] == 0).all()


def test_rounds_of_games_are_the_same_from_the_same_seed() -> None:
    config = Config(
        players=3, tables=(3,), round_games=4, bots=("grower", "hunter"), weights=(1.0, 1.0), share=0.5
    )
    played = [play_chunk(dataclasses.replace(config, seed=seed), 3, 0, 4) for seed in (1, 1, 2)]
    assert np.array_equal(played[0].codes, played[1].codes) and np.array_equal(
        played[0].winners, played[1].winners
    )
    assert played[0].codes.shape != played[2].codes.shape
    assert set(played[0].games.tolist()) == set(range(4))
    assert (played[0].codes[:, living(input_columns(BOARD), BOARD)[0]] == 1).all()  # who looks lives


@pytest.mark.parametrize("gather", [0.0, 1.0])
def test_seats_of_training_games_gather_their_first_troops(gather: float) -> None:
    config = Config(
        players=3, tables=(3,), round_games=4, bots=("grower",), weights=(1.0,), share=1.0, gather=gather
    )
    played = play_chunk(config, 3, 0, 4)
    first = [int(np.flatnonzero(played.games == game)[0]) for game in range(4)]
    of_territories = len(TERRITORY_INPUTS) * BOARD.num_territories
    troops = played.codes[first, :of_territories].reshape(4, -1, len(TERRITORY_INPUTS))[:, :, :3]
    assert (troops.max(axis=1) == 22).all() == bool(gather)  # 35 troops on 14 territories


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"tables": []}, "tables=\\(\\): must have 1 to 5 entries"),
        ({"round_games": 7}, "round_games=7: must be a multiple of 5, the number of entries of tables"),
        ({"weights": [1, 1]}, "must have one number for each of bots="),
        ({"hidden_sizes": [4]}, "must have 2 entries"),
        ({"hidden_sizes": [4, 0]}, r"hidden_sizes\[1\]=0: must be 1"),
        ({"search_games": 3}, "search_games=3: must be 16 to"),
        ({"share": 1.5}, "share=1.5: must be 0"),
        ({"gather": -0.5}, "gather=-0.5: must be 0"),
        ({"bot_share": 2}, "bot_share=2.0: must be 0"),
        ({"setups": ["chart"]}, r"setups=\('chart',\): .* not setup='chart'"),
        ({"setups": ["deal", "clam"]}, r"setups\[1\]='clam': choose one of 'claim', "),
        ({"judge": "strategist"}, "judge='strategist' needs a bot_share below 1"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Config.from_dict(settings)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, ["deal"]),
        ({"preset": "command_room"}, ["capitals"]),
        ({"options": {"setup": "claim"}}, ["claim"]),
        ({"setups": ["deal", "claim"]}, ["deal", "claim"]),
        ({"preset": "command_room", "setups": ["claim", "random"]}, ["random"]),
    ],
)
def test_training_games_have_the_set_ups_of_the_rules_or_of_the_setting(
    settings: dict[str, Any], expected: list[str]
) -> None:
    config = Config.from_dict({"tables": [3], "round_games": 300, **settings})
    assert [rules.setup for rules in config.setups_for(3)] == expected
    played = [Games(config, 3, chunk * config.chunk_games).rules.setup for chunk in range(4)]
    assert played == (expected * 4)[:4]


def test_gatherers_play_also_if_a_bot_is_left_out() -> None:
    config = Config(
        players=3,
        options={"max_rounds": 3},
        tables=(3,),
        round_games=4,
        bots=("grower", "breaker"),
        weights=(1.0, 0.0),
        gather=1.0,
    )
    games = Games(config, 3, 0)
    assert games.seated[games.gatherer_number] is games.gatherer
    assert len(games.play(4).winners) == 4


def test_the_tactician_plays_its_share_of_training_games_by_its_judge() -> None:
    options = {"max_rounds": 5}
    config = Config(players=3, options=options, tables=(3,), round_games=4, bots=("grower",), weights=(1.0,))
    judges_ = [value_file(config.rules_for(3), seed) for seed in range(2)]
    without, unused = (play_chunk(config, 3, 0, 4, judge) for judge in (None, judges_[0]))
    assert np.array_equal(without.codes, unused.codes)  # with a bot_share of 1
    mixed = [
        play_chunk(dataclasses.replace(config, bot_share=0.5), 3, 0, 4, judge)
        for judge in (*judges_, judges_[0])
    ]
    assert np.array_equal(mixed[0].codes, mixed[2].codes)
    assert len({played.codes.tobytes() for played in (without, *mixed)}) == 3


def test_a_run_begins_with_the_weights_of_a_value(tmp_path: Path) -> None:
    rules = table(3)
    value_file(rules).save(tmp_path / "value.npz")
    source = str(tmp_path / "value.npz")
    run = Trainer(
        Config(hidden_sizes=(8, 4), begin_with=source, players=3, tables=(3,), round_games=4), tmp_path
    )
    run.begin()
    expected = StateValueFile.load(source).weights
    assert all(np.array_equal(values, expected[name]) for name, values in run.policy().weights.items())
    other = Trainer(Config(begin_with=source, players=3, tables=(3,), round_games=4), tmp_path)
    with pytest.raises(ValueError, match=r"'first': \(\d+, 8\) in the file, \(\d+, 192\) in the network"):
        other.begin()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"bot_share": 0.5, "judge": "no.npz"}, "no.npz"),
        ({"bot_share": 0.5, "judge": "strategist", "map": "tiny"}, "strategist.npz' was trained for map="),
        ({"bot_share": 0.5, "map": "tiny"}, "turn policy .* was trained for map="),
        ({"begin_with": "strategist", "map": "tiny"}, "strategist.npz' was trained for map="),
    ],
)
def test_values_that_do_not_fit_the_games_are_refused(
    settings: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=words):
        Trainer(Config(players=2, tables=(2,), **settings), tmp_path).begin()


def troops_on(territory: int) -> Judge:
    """Return a judge that favours the seat with the most troops on a territory."""

    def judge(batch: GameVector, lanes: Any) -> Any:
        chances = np.zeros((len(lanes), 6))
        records = batch.records[lanes]
        chances[np.arange(len(lanes)), records["owner"][:, territory]] = (
            records["troops"][:, territory] / 1000
        )
        return chances

    return judge


def test_first_troops_are_gathered_in_each_place() -> None:
    game = Game(table(2), BOARD, seed=3)
    places = game.legal_actions().tolist()[:3]
    beams = beam.other_turn(beam.BOT, "narrow", width=2)
    rollouts = Rollouts(game.rules, BOARD, (), (beams,), troops_on(places[1]), lanes=12)
    samples = np.concatenate([game.determinize(game.seat, seed).records for seed in range(3)])
    numbers, rng = [0, *(1 + place for place in places)], np.random.default_rng(0)
    usual, *gathered = rollouts.set_up(beam.GATHER, numbers, samples, game.seat, rng, turns=0)
    # 21 territories were dealt
    assert np.array_equal(1000 * np.array(gathered), [[1] * 3, [1 + 40 - 21] * 3, [1] * 3])
    assert usual.max() < gathered[1].min()
    for wrong in ([], [0] * 13, [-1], [BOARD.num_territories + 1]):
        with pytest.raises(ValueError, match=r"numbers=.*: give 1 to 12 numbers from 0 to 42"):
            rollouts.set_up(beam.GATHER, wrong, samples, game.seat, rng)


@pytest.mark.parametrize("preset", ["classic", "capital"])
def test_it_claims_the_continent_where_playing_on_is_best(preset: str) -> None:
    asia = BOARD.continents.index("Asia")  # scripted bots claim in Asia last
    members = np.array(BOARD.continent_of) == asia

    def share_of_asia(batch: GameVector, lanes: Any) -> Any:
        owners = batch.records["owner"][lanes][:, np.flatnonzero(members)]
        return np.stack([(owners == seat).mean(axis=1) for seat in range(6)], axis=1)

    rules = Rules.preset(preset, 3, setup="claim", profile="fast")
    players = [Strategist(SMALL, lambda rules, board: share_of_asia), grower.BOT, grower.BOT]
    match = Match.of(Game(rules, BOARD, seed=3), players)
    while match.game.phase <= Phase.CLAIM:
        match.step(match.query_player())
    owned = match.game.owner == 0
    assert owned.sum() == 14
    assert (owned & members).sum() >= 11


def test_likely_players_are_drawn_more_often() -> None:
    rollouts = Rollouts(table(3), BOARD, PLANS, PLAYERS, judge_heuristically, lanes=3)
    likely = np.array([[1, 0], [0, 1], [0.25, 0.75], *[[0.5, 0.5]] * 3])
    drawn = rollouts._drawn(2000, np.random.default_rng(1), likely) - len(PLANS)
    assert drawn.shape == (2000, MAX_SEATS)
    assert np.allclose(drawn.mean(axis=0), likely[:, 1], atol=0.05)
    assert set(drawn[:, 0]) == {0} and set(drawn[:, 1]) == {1}


class NoFavourite(SetUpChoice):
    """A choice that plays no rollouts, and leaves the claims to the settler."""

    def __init__(self) -> None: ...

    def best(self, view: View, numbers: Sequence[int]) -> int:
        assert numbers[0] == AS_USUAL
        return AS_USUAL


def test_claims_do_not_depend_on_earlier_games() -> None:
    claims, found = Claims(NoFavourite()), []
    for _ in range(3):
        claims.reset()
        game = Game("classic", BOARD, num_players=3, seed=1)
        while game.phase == Phase.CLAIM:
            action = claims.act(View(game))
            assert action is not None
            game.step(action)
        assert claims.act(View(game)) is None
        found.append(game.owner.tolist())
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("preset", "players"), [("classic", 2), ("capital", 3), ("secret_mission", 4), ("classic", 6)]
)
def test_a_game_begins_with_troops_where_playing_on_is_best(preset: str, players: int) -> None:
    rules = table(players, preset)
    game = Game(rules, BOARD, seed=3)
    wanted, placed = int(game.legal_actions()[4]), int(game.records[0]["to_place"][game.seat])
    seats: list[Agent] = [CompiledAgent(grower.BOT) for _ in range(players)]
    seats[game.seat] = agent = Strategist(SMALL, lambda rules, board: troops_on(wanted))
    for seat in range(players):
        seats[seat].reset(seat, rules, BOARD, 5)
    while game.phase == Phase.DEPLOY:
        game.step(seats[game.seat].act(View(game, chance=5)))
    assert game.troops[wanted] == 1 + placed
    assert game.owner[wanted] == agent.seat


@pytest.mark.parametrize(
    ("preset", "players"), [("classic", 2), ("classic", 6), ("command_room", 3), ("capital", 4)]
)
def test_what_is_hidden_changes_no_choice(preset: str, players: int) -> None:
    rules = table(players, preset)
    agent = Strategist(SMALL, heuristic_judge)
    agent.reset(0, rules, BOARD, 5)
    game, asked = Game(rules, BOARD, seed=2), 0
    others = CompiledAgent(grower.BOT)
    others.reset(1, rules, BOARD, 0)
    while asked < 12 and not game.is_over:
        if game.seat != 0:
            game.step(others.act(View(game)))
            continue
        again = Strategist(SMALL, heuristic_judge)
        own = {"_advisers": copies(agent._advisers), "_opponents": copy.deepcopy(agent._opponents)}
        again.__dict__.update({**vars(agent), **own})
        action = agent.act(View(game, chance=5))
        blind = View(game.determinize(0, 99), chance=5, history=lambda seat: game.events(seat=seat))
        assert again.act(blind) == action
        asked += game.phase >= Phase.TRADE
        game.step(action)


def copies(advisers: list[CompiledAgent]) -> list[CompiledAgent]:
    """Return advisers with the same memory."""
    found = []
    for adviser in advisers:
        other = CompiledAgent(adviser.bot)
        other.reset(adviser.seat, adviser.rules, adviser.board, adviser.seed)
        other.seated.memory[:], other.seated.randoms[:] = adviser.seated.memory, adviser.seated.randoms
        found.append(other)
    return found


@pytest.mark.parametrize(
    ("preset", "players"),
    [("world_domination", 3), ("secret_mission", 4), ("command_room", 5), ("two_player", 2)],
)
def test_it_plays_every_preset_and_the_same_game_again(preset: str, players: int) -> None:
    rules = Rules.preset(preset, players, max_rounds=4, profile="fast")
    seats = [Strategist(SMALL), *[grower.BOT] * (players - 1)]
    games = [play_game(rules, BOARD, seats, seed=6) for _ in range(2)]
    assert games[0].is_over and games[0] == games[1]


def test_on_big_maps_few_games_and_almost_no_beams_are_played() -> None:
    kept, small, large = (load_map(f"random:1:territories={size}") for size in (80, 81, 256))
    domination, capitals = table(6), Rules.preset("capital", 6, profile="fast")
    assert BUDGET.on(kept) == BUDGET and plans_for(domination, kept) == PLANS_FOR_FOUR
    assert players_for(capitals, kept) == GOAL_PLAYERS
    for board, games, again, claims in ((small, 119, 30, 297), (large, 38, 10, 94)):
        expected = Budget(games=games, again=again, others=2, turns=2, claims=claims, places=0)
        assert BUDGET.on(board) == expected
        assert players_for(capitals, board) == players_for(domination, board) == STYLES
        assert not any(is_beam(plan) for plan in plans_for(domination, board))
        assert [plan.name for plan in plans_for(capitals, board) if is_beam(plan)] == [
            "narrow beam 1",
            "narrow beam 2",
        ]
    assert Budget(again=0, claims=0).on(large).again == Budget(again=0, claims=0).on(large).claims == 0


def is_beam(bot: CompiledBot) -> bool:
    return bot.choose is beam.BOT.choose


@pytest.mark.long
@pytest.mark.parametrize("preset", ["classic", "capital"])
def test_it_plays_big_maps(preset: str) -> None:
    board = load_map("random:1:territories=256")
    rules = Rules.preset(preset, 6, max_rounds=2, setup="claim", profile="fast")
    budget = Budget(games=LEAST_GAMES, again=8, claims=16)
    games = [play_game(rules, board, [Strategist(budget), *[grower.BOT] * 5], seed=6) for _ in range(2)]
    assert games[0].is_over and games[0] == games[1]


def test_it_says_what_it_considered() -> None:
    rules = table(3)
    game = at_turn(rules, 5)
    agent = Strategist(SMALL)
    agent.reset(game.seat, rules, BOARD, 1)
    assert agent.explain() is None
    agent.act(View(game, chance=1))
    told = agent.explain()
    assert told is not None and (told.seat, told.round) == (game.seat, game.round)
    assert {plan.plan for plan in told.plans} == {plan.name for plan in plans_for(rules, BOARD)}
    assert told.plans[0].plan == told.chosen and sum(plan.games for plan in told.plans) >= 10
    assert all(0 <= plan.chance <= 1 and plan.error >= 0 for plan in told.plans)
    owned = {name for name, owner in zip(BOARD.territories, game.owner, strict=True) if owner == game.seat}
    assert all(plan.captures[0][0] in owned for plan in told.plans if plan.captures)
    assert any(plan.captures for plan in told.plans)
    assert sum(told.chances) == pytest.approx(1) and len(told.errors) == len(told.chances)
    assert all("attack" in plan.words for plan in told.plans)
    assert told.to_dict()["plans"][0]["plan"] == told.chosen
    assert analyse(game, SMALL, seed=1).chosen in {plan.plan for plan in told.plans}
    with pytest.raises(ValueError, match="decisions of the seat whose turn it is"):
        analyse(Game(Rules.preset("classic", 3, profile="fast"), BOARD, seed=1))
    with pytest.raises(ValueError, match="games=4: must be at least 16"):
        Strategist(Budget(games=4))


def duel_chances(game: Game) -> Any:
    """Return the chances by `marshal`'s value at the start of a turn."""
    batch = GameVector(game.rules, BOARD, 1, observation=None, mask=None, autoreset=False)
    batch.records[:] = game.records
    return judge_by_beam_value(marshal.VALUE)(batch, np.zeros(1, np.int64))[0]


@pytest.mark.parametrize(("players", "name"), [(2, "tiny"), (3, "classic")])
def test_a_value_judges_no_games_that_its_weights_do_not_fit(players: int, name: str) -> None:
    rules = Rules.preset("classic", players, profile="fast")
    batch = GameVector(rules, name, 1, observation=None, mask=None, autoreset=False)
    with pytest.raises(ValueError, match=f"{players} players on map '{name}', but .* 2 players on map 'clas"):
        judge_by_beam_value(marshal.VALUE)(batch, np.zeros(1, np.int64))


def test_the_value_of_marshal_judges_the_seat_whose_turn_is_over() -> None:
    rules = table(2)
    records = np.concatenate([at_turn(rules, turns).records for turns in (2, 5, 8)])
    others = 1 - records["turn"].astype(np.int64)
    T, weights = tables(rules, BOARD), marshal.VALUE.arrays
    features = np.zeros((3, num_columns(rules, BOARD)), np.float32)
    moved = np.zeros(3, np.bool_)
    encode_positions(
        records, T.board, T.rules, np.arange(3), others, moved, WEIGHTS.astype(np.float32), features
    )
    network = beam_value.Network(features.shape[1], *weights["second"].shape)
    network.load_state_dict(
        {f"weights.{name}": torch.as_tensor(numbers) for name, numbers in weights.items()}
    )
    found = np.array([duel_chances(Game.from_record(rules, BOARD, records[k : k + 1])) for k in range(3)])
    assert np.allclose(found[np.arange(3), others], network.chances(features), atol=1e-5)
    assert np.allclose(found.sum(1), 1) and (found[:, 2:] == 0).all()


def test_a_duel_that_is_over_is_judged_by_its_result() -> None:
    for choice, chances in ((0, {0: 0, 1: 1}), (-1, {0: 0.5, 1: 0.5})):  # attacks while it can; never attacks
        game = at_turn(table(2), 3)
        while not game.is_over:
            game.step(int(game.legal_actions()[choice]))
        assert game.winner == (1 if choice == 0 else -1)
        assert dict(enumerate(duel_chances(game)[:2])) == chances


def test_in_duels_much_is_tried_only_while_they_are_open() -> None:
    games = [at_turn(table(2), turns) for turns in range(2, 26)]
    is_open = [bool(duel_chances(game).max() < DECIDED) for game in games if not game.is_over]
    assert set(is_open) == {False, True}
    for wanted, plans in ((True, DUEL_PLANS), (False, MARSHALS[:2])):
        told = analyse(games[is_open.index(wanted)], SMALL, seed=1)
        assert {plan.plan for plan in told.plans} == {plan.name for plan in plans}
        assert sum(told.chances) == pytest.approx(1) and all(plan.games >= 2 for plan in told.plans)


@pytest.mark.parametrize(
    ("drafts", "captures", "words"),
    [
        (
            ["Egypt"],
            [("Egypt", "Congo"), ("Congo", "East Africa")],
            "attack through Africa with the draft on Egypt",
        ),
        ([], [("Egypt", "Congo")], "attack Congo from Egypt"),
        (["Egypt", "Congo"], [], "no attack, draft on Egypt and Congo"),
        ([], [], "no attack"),
        (
            ["Alaska", "Peru", "Egypt", "Congo"],
            [("Alaska", "Kamchatka"), ("Peru", "Brazil"), ("Alaska", "Alberta"), ("Siam", "Indonesia")],
            "attack through Asia, South America and 2 more with the draft on Alaska, Peru and 2 more",
        ),
    ],
)
def test_a_plan_is_told_in_words(drafts: list[str], captures: list[tuple[str, str]], words: str) -> None:
    assert plan_words(BOARD, drafts, captures) == words


def test_a_learned_judge_decides_what_is_chosen() -> None:
    rules = table(3)
    view = View(at_turn(rules, 5), chance=1)
    told = []
    for seed in range(3):
        agent = Strategist(SMALL, judges_by(value_file(rules, seed), "drawn"))
        agent.reset(view.seat, rules, BOARD, 1)
        agent.act(view)
        told.append(agent.explain())
    assert len({tuple(plan.chance for plan in found.plans) for found in told if found}) == 3


def test_the_shipped_value_knows_the_classic_tables() -> None:
    shipped = StateValueFile.load(judges.FILE)
    assert all(shipped.knows(table(players), BOARD) for players in range(2, 7))
    assert judges.FILE.stat().st_size < 5e6
