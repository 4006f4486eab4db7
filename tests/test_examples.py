"""The training examples run for a moment and do what they claim."""

from pathlib import Path

import numpy as np
import pytest
import torch

import risk_env
from risk_agents.registry import play_game
from risk_env import Game, GameBatch, Rules, View, load_map
from risk_env.observations import as_floats
from tests.examples import example

torch.set_num_threads(1)


def test_an_own_script_trains_evaluates_and_its_model_plays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = example("sb3_own_script")
    monkeypatch.setattr(script, "GAME", {**script.GAME, "board": "tiny", "max_rounds": 5})
    model = script.train(0.0, "random")
    found = script.evaluate(model, "random", lanes=4, games_each=2)
    assert found.games == 8 and 0 <= found.wins <= 8
    monkeypatch.setattr(script, "MODEL", tmp_path / "model.zip")
    model.save(script.MODEL)
    rules = Rules.preset("classic", 2, attack="blitz", defender_dice="max", max_rounds=5)
    games = [play_game(rules, load_map("tiny"), [script.Mine(), "random"], seed=3) for _ in range(2)]
    assert games[0].is_over and games[0] == games[1]


def test_selfplay_learns_from_every_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    script = example("selfplay_torch")
    monkeypatch.setattr(script, "LANES", 8)
    monkeypatch.setattr(script, "STEPS", 64)
    torch.manual_seed(0)
    batch = GameBatch(script.RULES, script.BOARD, 8, seed=0)
    batch.reset()
    policy = script.ActorCritic(batch.observation.shape[1], batch.num_actions)
    data = script.collect(policy, batch)
    assert 0.8 * 8 * 64 < len(data["advantages"]) <= 8 * 64
    before = [weights.clone() for weights in policy.parameters()]
    script.learn(policy, torch.optim.Adam(policy.parameters(), 1e-3), data)
    assert not all(torch.equal(old, new) for old, new in zip(before, policy.parameters(), strict=True))
    won, truncated = script.against_random(policy, 20)
    assert 0 <= won <= 1 and 0 <= truncated <= 1


def test_a_stream_s_last_decision_gets_its_end_when_another_seat_decides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One lane: seats 0, 1, 0, 1; seat 0 loses in the last step, in which seat 1 wins."""
    script = example("selfplay_torch")
    monkeypatch.setattr(script, "GAMMA", 1.0)
    monkeypatch.setattr(script, "LAMBDA", 1.0)
    column = lambda *numbers: np.array(numbers, np.float32)[:, None]  # noqa: E731
    seats = np.array([[0], [1], [0], [1]])
    ends = np.array([[False], [False], [True], [True]])
    values, nothing = column(0.5, 0.25, 0.0, 0.5), column(0, 0, 0, 0)
    following = np.array([0]), np.array([9.0], np.float32)
    found, known = script.along_streams(seats, column(0, 0, -1, 1), ends, values, nothing, *following)
    assert known.all()
    assert found[:, 0].tolist() == [-1.5, 0.75, -1.0, 0.5]


def test_a_search_decides_by_sampled_games_and_not_by_the_true_ones() -> None:
    script = example("search")
    agent = script.FlatSearch(playouts=24, bot="random", lanes=32)
    assert 0 <= script.wins("random", 2, "random") <= 2
    game = Game(script.RULES, script.BOARD, seed=5)
    for _ in range(30):
        game.step(int(game.legal_actions()[-1]))
    chosen = []
    for seed in (0, 1):  # the same view of games with other hidden facts and other dice
        agent.batch.episodes[:] = -1
        agent.reset(game.seat, script.RULES, script.BOARD, 3)
        hidden = game.determinize(game.seat, seed)
        chosen.append(agent.act(View(hidden, chance=7)))
        assert hidden.is_legal(chosen[-1])
    assert chosen[0] == chosen[1]


def test_ppo_for_three_learns_along_the_streams_of_its_seats(monkeypatch: pytest.MonkeyPatch) -> None:
    script = example("ppo_three")
    for name, value in {"LANES": 8, "STEPS": 64, "EPOCHS": 1, "MINIBATCH": 128}.items():
        monkeypatch.setattr(script, name, value)
    torch.manual_seed(0)
    network, league = script.Network(16), script.Snapshots()
    league.add(network)
    games = script.Games(["random", league], 8, seed=0)
    games.step()
    data = script.collect(network, games)
    codes, masks, actions, _, advantages, returns = data
    assert len(codes) == len(actions) == 8 * 64
    assert (masks[np.arange(len(masks)), actions] == 1).all()
    assert (games.batch.seat == games.seat).all()
    assert np.isfinite(advantages).all() and (np.abs(returns) <= 1.5).all()
    before = [weights.clone() for weights in network.parameters()]
    script.learn(network, torch.optim.Adam(network.parameters(), 1e-2), data, np.random.default_rng(0))
    assert not all(torch.equal(old, new) for old, new in zip(before, network.parameters(), strict=True))
    assert 0 <= script.win_rate(network, "random", 9) <= 1


@pytest.mark.parametrize(
    ("name", "facts", "player"),
    [("graph_network", "MapGraph", "GraphPolicy"), ("transformer", "MapTokens", "Attentive")],
)
def test_one_set_of_weights_plays_maps_of_every_size(
    name: str, facts: str, player: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = example(name)
    small = {"TEACHER": "grower", "GAMES": 4, "UPDATES": 20, "RATE": 2e-2, "WIDTH": 16, "MINIBATCH": 64}
    for constant, value in small.items():
        monkeypatch.setattr(script, constant, value)
    board = load_map("tiny")
    codes, masks, actions = script.recorded(board, 3, seed=1)
    assert len(codes) > 50 and (masks[np.arange(len(masks)), actions] == 1).all()
    network, of_map = script.train(1, seed=0), getattr(script, facts)(board)
    with torch.no_grad():
        before, after = (each.legal_scores(codes, masks, of_map) for each in (script.Network(), network))
    losses = [torch.nn.functional.cross_entropy(s, torch.tensor(actions)) for s in (before, after)]
    assert losses[1] < 0.9 * losses[0]
    for unseen in ("inner_sea", "random:3:territories=9"):  # the network has not seen these maps
        other = GameBatch(script.RULES, load_map(unseen), 4, seed=0)
        policy = getattr(script, player)(network)
        policy.prepare(other.rules, other.board)
        other.reset()
        chosen = policy.act_batch(as_floats(other.observation, other.board), other.action_mask, other.seat)
        assert (other.action_mask[np.arange(4), chosen] == 1).all()
    found = script.win_rate(network, load_map("random:3:territories=9"), games=6)
    assert found.games == 6 and found.rounds > 0
    with pytest.raises(ValueError, match=f"{name} plays only"):
        policy.prepare(Rules.preset("classic", 2, profile="fast"), board)
    monkeypatch.setattr(script, "MODEL", Path("runs/none.pt"))
    script.trained.cache_clear()
    with pytest.raises(ValueError, match=r"runs/none.pt does not exist; train the network: python "):
        getattr(script, player)()


def test_expert_iteration_learns_from_its_search(monkeypatch: pytest.MonkeyPatch) -> None:
    script = example("expert_iteration")
    monkeypatch.setattr(script, "RULES", script.RULES.replace(max_rounds=2, setup="random"))
    taught = script.taught(4, seed=5)
    network = script.Network(taught[1].shape[1])
    found = script.searched(network, games=1, first_seed=0)
    codes, masks, wanted, won = (np.concatenate(parts) for parts in zip(taught, found, strict=True))
    assert len(codes) > 30 and set(won.tolist()) <= {0.0, 1.0}
    assert wanted.sum(axis=1) == pytest.approx(np.ones(len(codes)), abs=1e-4)
    assert (wanted[masks == 0] == 0).all()  # only legal actions have a probability
    before = [values.clone() for values in network.state_dict().values()]
    script.learn(network, [taught, found], 1e-3, np.random.default_rng(0))
    assert any(not torch.equal(a, b) for a, b in zip(before, network.state_dict().values(), strict=True))
    player = script.Search(network)
    match = risk_env.Match(script.RULES, script.BOARD, [player, "grower", "grower"], seed=1)
    match.run()
    assert match.game.is_over
