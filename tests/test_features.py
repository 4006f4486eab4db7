"""Features for networks: equal to the input of the project's networks; the names, and the map as a graph."""

from typing import Any

import numpy as np
import pytest

import risk_env
from risk_agents.learned.features import encode, feature_spec
from risk_agents.learned.layout import Layout
from risk_env import ActionSpace, Game, GameBatch, Rules, load_map, map_names
from risk_env.network_features import COUNT_SCALE, feature_names, static_features
from risk_env.observations import as_floats
from tests.pages import code_of, page, run_code


@pytest.mark.parametrize(("preset", "players"), [("classic", 3), ("command_room", 4)])
def test_features_are_what_the_networks_of_the_project_read(preset: str, players: int) -> None:
    batch = GameBatch(preset, "classic", 16, seed=2, num_players=players)
    batch.reset()
    chance = np.random.default_rng(0)
    for _ in range(100):
        batch.step((chance.random(batch.action_mask.shape) * batch.action_mask).argmax(axis=1))
    found = risk_env.features(batch.observation, batch.rules, batch.board)
    layout = Layout(batch.rules, batch.board, batch.num_actions)
    territories, boards = layout.empty_features(16)
    encode(feature_spec(layout), np.array(batch.observation), territories, boards)
    assert found.territories == pytest.approx(territories)
    first = layout.territories * layout.own_features
    assert found.globals == pytest.approx(boards[:, first : first + found.globals.shape[1]])
    nothing = risk_env.features(batch.observation[:0], batch.rules, batch.board)
    assert nothing.territories.shape == (0, *found.territories.shape[1:])
    game = batch.game(3)
    one = risk_env.features(game)
    assert one.territories == pytest.approx(territories[3])
    assert np.array_equal(risk_env.features(game, seat=game.seat).globals, one.globals)


def test_every_feature_has_a_name() -> None:
    rules, board = Rules.preset("classic", 3, profile="fast"), load_map("tiny")
    game = Game(rules, board, seed=1)
    found, (own, whole) = risk_env.features(game), feature_names(rules, board)
    assert (len(own), len(whole)) == (found.territories.shape[1], found.globals.shape[0])
    troops = np.where(game.owner == game.seat, game.troops, 0)
    assert found.territories[:, own.index("troops_0_linear")] == pytest.approx(troops / COUNT_SCALE)
    assert found.territories[:, own.index("troops_0_any")].tolist() == (troops > 0).astype(float).tolist()
    for t in range(board.num_territories):
        near = 0.25 * (troops[list(board.targets(t))] > 0).sum()
        assert found.territories[t, own.index("near_troops_0_any")] == pytest.approx(near)
    assert found.globals[whole.index("starter")] == 1 + (game.record.starter - game.seat) % 3
    assert found.globals[whole.index("own of " + board.continents[0])] == pytest.approx(
        np.log1p((game.owner[list(board.members_of[0])] == game.seat).sum()) / 2, abs=2
    )


@pytest.mark.parametrize("name", map_names())
def test_the_graph_has_the_borders_of_the_actions(name: str) -> None:
    board = load_map(name)
    space = ActionSpace(Rules.preset("classic", 3, profile="fast"), board)
    for b, (source, target) in enumerate(board.edge_index.T.tolist()):
        action = space.decode(space.blocks["border"].start + b)
        assert action == ("attack", (source, target))
    facts = static_features(board)
    assert facts.members.sum() == board.num_territories
    assert 8 * facts.continents[:, 1] == pytest.approx(list(board.bonuses))
    assert 8 * facts.territories[:, 0] == pytest.approx(
        [len(board.targets(t)) for t in range(board.num_territories)]
    )
    with pytest.raises(ValueError, match="read-only"):
        board.edge_index[0, 0] = 3


@pytest.mark.parametrize(
    ("codes", "fault"),
    [
        (np.zeros((2, 3), np.int8), r"int8, shape \(2, 3\)"),
        (np.zeros((2, 176), np.float32), "float32"),
        (np.full((1, 176), -1, np.int8), "smallest value -1"),
    ],
)
def test_wrong_observations_are_named(codes: Any, fault: str) -> None:
    rules, board = Rules.preset("classic", 3), load_map("tiny")
    with pytest.raises(ValueError, match=rf"observations have .*{fault}.*: must be int8 codes from 0 to 127"):
        risk_env.features(codes, rules, board)
    with pytest.raises(ValueError, match="need rules and board: pass both"):
        risk_env.features(codes)


def test_the_page_runs() -> None:
    names = run_code(code_of(page("features")))
    assert names["pairs"].shape[:2] == names["attack_mask"].shape


def test_structured_and_foreign_observations_are_refused_with_the_reason() -> None:
    batch = GameBatch("classic", "tiny", num_games=2, observation="structured")
    seen, _, _ = batch.reset()
    for call in (
        lambda: as_floats(seen, batch.board),
        lambda: risk_env.features(seen, batch.rules, batch.board),
    ):
        with pytest.raises(
            ValueError, match=r"keys 'territories', 'globals': must be one array \(..., 248\)"
        ):
            call()
    with pytest.raises(ValueError, match=r"shape \(2, 248\): must be \(..., 832\) on this map"):
        as_floats(np.zeros((2, 248), np.int8), load_map("classic"))
