"""Environments in which a decision is a move with its amount, or a whole turn."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from risk_env import Game, Rules, load_map
from risk_env.arena import play
from risk_env.core.types import Phase
from risk_env.envs.gymnasium_env import RiskEnv, make_lanes
from risk_env.envs.macro import NAMED_AMOUNTS, MoveVector, TurnVector
from risk_env.text.notation import IllegalAction
from tests.bots import COIN
from tests.pages import code_of, page, run_code

GAME: dict[str, Any] = {"board": "tiny", "setup": "random", "max_rounds": 12, "opponents": COIN}
ASKED = (Phase.DRAFT_AMOUNT, Phase.OCCUPY, Phase.FORTIFY_AMOUNT)


def make(kind: str, num_envs: int = 4, **options: Any) -> Any:
    return make_lanes(RiskEnv, num_envs, **{**GAME, "decisions": kind, **options})


def picks(masks: Any, rng: np.random.Generator) -> Any:
    return (rng.random(masks.shape) * masks).argmax(axis=1)


def by_hand(game: Game, seat: int, kind: str) -> None:
    """Answer, one by one, the decisions about amounts that follow an action with an amount."""
    is_repeated = False
    while not game.is_over and game.seat == seat and game.phase in ASKED:
        words = {text.split()[1]: text for text in map(game.action_text, game.legal_actions()) if " " in text}
        most = max(int(word) for word in words if word.isdigit()) if len(words) > 1 else 1
        if game.phase != Phase.DRAFT_AMOUNT and (
            is_repeated or (kind == "least" and game.phase == Phase.OCCUPY)
        ):
            game.step("done")
        elif kind == "half" and len(words) > 1:
            state = game.public()
            left = state.draft_left if game.phase == Phase.DRAFT_AMOUNT else game.troops[state.source] - 1
            game.step(words.get("half") or words[str(left // 2)])
        elif kind == "least" and most >= 1 and "1" in words:
            game.step(words["1"])
        else:
            game.step(words["all"])
        is_repeated = True


@pytest.mark.parametrize("options", [{}, {"attack": "choice", "fortify": "free", "initial_troops": 40}])
def test_an_amount_in_advance_plays_the_game_that_answers_by_hand_play(options: dict[str, Any]) -> None:
    lanes, rng = make("moves", 1, num_players=2, **options), np.random.default_rng(0)
    assert isinstance(lanes, MoveVector)
    lanes.autoreset = False
    played = 0
    for seed in range(2):
        lanes.reset(seed)
        while not lanes.ended[0]:
            action = picks(lanes.masks(), rng)
            game, seat = lanes.batch.game(0), int(lanes.seat[0])
            assert game.phase not in ASKED
            kind, action_of_game = divmod(int(action[0]), lanes.batch.num_actions)
            game.step(action_of_game)
            by_hand(game, seat, NAMED_AMOUNTS[kind])
            lanes.step(action)
            if not game.is_over and game.seat == seat:  # no opponent has acted in between
                assert lanes.batch.game(0).to_record() == game.to_record()
                played += kind > 0
    assert played > 10


def test_a_turn_is_played_by_the_chosen_bot() -> None:
    """With a single plan, the games are the same as the games of this bot in the learner's seat."""
    rules = Rules.preset("classic", 3, profile="fast", setup="random", max_rounds=12)
    lanes = make("turns", 24, num_players=3, seat=1, plans=[COIN])
    results = play(rules, load_map("tiny"), [COIN] * 3, 24, seed=5)
    lanes.autoreset = False
    lanes.reset(5)
    turns, open_lanes, truncated = np.zeros(24, int), np.ones(24, bool), np.zeros(24, bool)
    while open_lanes.any():
        at = np.flatnonzero(open_lanes)
        assert (lanes.batch.records["turn"][at] == 1).all()
        assert (lanes.batch.records["phase"][at] <= Phase.DRAFT_AMOUNT).all()
        lanes.step(np.zeros(24, np.int64), at)
        turns[at] += 1
        open_lanes[lanes.ended] = False
        truncated |= lanes.truncated
    is_same = lanes.final["seed"] == results["seed"]  # a game without a decision of the learner is skipped
    assert is_same.sum() > 12
    survived = lanes.final["winner"] == 1
    assert np.array_equal(survived[is_same], (results["winner"] == 1)[is_same])
    whole = is_same & (survived | truncated)
    assert np.array_equal(lanes.final["rounds"][whole], results["rounds"][whole])
    assert (turns[whole] <= results["rounds"][whole]).all() and (turns[whole & truncated] == 12).all()


@pytest.mark.parametrize("kind", ["moves", "turns"])
def test_the_interfaces_take_macro_decisions(kind: str) -> None:
    plans = {"plans": [COIN, "random"]} if kind == "turns" else {}
    check_env(RiskEnv(**GAME, decisions=kind, illegal_action="random", **plans), skip_render_check=True)
    envs: Any = gymnasium.make_vec("risk_env/Risk-v0", num_envs=4, **GAME, decisions=kind, **plans)
    _, info = envs.reset(seed=1)
    rng = np.random.default_rng(1)
    rewards = 0.0
    for _ in range(60):
        assert info["action_mask"].shape == (4, envs.single_action_space.n)
        _, reward, _, _, info = envs.step(picks(info["action_mask"], rng))
        rewards += abs(reward).sum()
    assert rewards > 0
    lanes = envs.unwrapped.lanes
    copied = copy.deepcopy(lanes)
    for each in (lanes, copied):
        each.step(picks(each.masks(), np.random.default_rng(2)))
    assert copied.batch.records.tobytes() == lanes.batch.records.tobytes()


def test_the_page_runs() -> None:
    rng = np.random.default_rng(0)
    names = run_code(code_of(page("gymnasium"), 'decisions="turns"'), gymnasium=gymnasium, rng=rng)
    assert names["rewards"].shape == names["actions"].shape == (8,)


def test_wrong_arguments_and_actions_are_named() -> None:
    with pytest.raises(ValueError, match="decisions='turn': choose one of 'actions', 'moves', 'turns'"):
        make("turn")
    with pytest.raises(ValueError, match=r"plans=\['random'\] need decisions='turns', not 'moves'"):
        make("moves", plans=["random"])
    with pytest.raises(ValueError, match=r"plans=\[\]: must be a list of CompiledBot objects"):
        make("turns", plans=[])
    turns = make("turns", 2, plans=[COIN])
    turns.reset(0)
    assert isinstance(turns, TurnVector)
    with pytest.raises(
        IllegalAction, match=r"lane 1: action 1 must be from 0 to 0, the index of a plan in \['coin'\]"
    ):
        turns.step(np.array([0, 1]))
    moves = make("moves", 1, num_players=2)
    moves.reset(0)
    with pytest.raises(IllegalAction, match=r"lane 0: action -1 must be from 0 to 146"):
        moves.step(np.array([-1]))
    n, mask = moves.batch.num_actions, moves.masks()[0]
    with pytest.raises(IllegalAction, match="lane 0"):
        moves.step(np.flatnonzero(mask[:n] == 0)[:1])
    unasked = np.flatnonzero((mask[:n] > 0) & (mask[n : 2 * n] == 0))
    with pytest.raises(IllegalAction, match="with the amount 'half', but no decision about an amount"):
        moves.step(unasked[:1] + n)
