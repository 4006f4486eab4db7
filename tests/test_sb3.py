"""`sb3.RiskVecEnv`: Stable-Baselines3's contract, masks, ends, policies as opponents, and learning on it."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import torch
from gymnasium.utils.env_checker import data_equivalence
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor, VecNormalize

from risk_env.envs.gymnasium_env import RiskEnv
from risk_env.text.notation import IllegalAction
from risk_training.sb3 import ModelPolicy, RiskVecEnv
from tests.bots import COIN, Picker, pick, spoil

torch.set_num_threads(1)
QUICK: dict[str, Any] = {"board": "tiny", "setup": "random", "max_rounds": 8, "opponents": COIN}


def make(num_envs: int = 4, **arguments: Any) -> RiskVecEnv:
    return RiskVecEnv(num_envs, **{"seed": 0, **QUICK, **arguments})


def picks(env: Any, observations: Any) -> Any:
    masks = get_action_masks(env)
    return np.array([pick(observation, mask) for observation, mask in zip(observations, masks, strict=True)])


def small_model(env: Any, **arguments: Any) -> MaskablePPO:
    net = {"net_arch": [16]}
    return MaskablePPO(
        "MlpPolicy", env, n_steps=32, batch_size=64, n_epochs=1, seed=0, policy_kwargs=net, **arguments
    )


@pytest.mark.filterwarnings("error")
def test_the_single_environment_passes_sb3s_check() -> None:
    check_env(RiskEnv(**QUICK, illegal_action="random"))


@pytest.mark.filterwarnings("error")
def test_it_answers_as_sb3s_own_vector_environment_does() -> None:
    """Environment 0 plays the games of `RiskEnv`, so `DummyVecEnv` around one must return the same."""
    native, dummy = make(1, seed=None), DummyVecEnv([lambda: RiskEnv(**QUICK)])
    native.seed(6)
    dummy.seed(6)
    seen = native.reset()
    np.testing.assert_array_equal(seen, dummy.reset())
    ends = 0
    for _ in range(150):
        np.testing.assert_array_equal(get_action_masks(native), get_action_masks(dummy))
        actions = picks(native, seen)
        mine, theirs = native.step(actions), dummy.step(actions)
        seen = mine[0]
        for k in range(3):
            np.testing.assert_array_equal(mine[k], theirs[k])
            assert mine[k].dtype == theirs[k].dtype
        assert native.reset_infos[0]["seat"] == dummy.reset_infos[0]["seat"]
        if mine[2][0]:
            ends += 1
            assert all(np.array_equal(value, theirs[3][0][name]) for name, value in mine[3][0].items())
            assert {"terminal_observation", "TimeLimit.truncated", "winner", "placement", "rounds"} <= set(
                mine[3][0]
            )
    assert ends > 1
    assert native.observation_space == dummy.observation_space
    assert native.action_space == dummy.action_space


def test_the_end_is_told_with_the_observation_before_it() -> None:
    env, kinds = make(16), set()
    seen = env.reset()
    for _ in range(60):
        seen, rewards, dones, infos = env.step(picks(env, seen))
        for lane in range(16):
            assert bool(infos[lane]) == dones[lane]
            if dones[lane]:
                truncated = infos[lane]["TimeLimit.truncated"]
                kinds.add(truncated)
                assert (rewards[lane] == 0.0) == truncated
                assert infos[lane]["terminal_observation"] in env.observation_space
                assert not np.array_equal(infos[lane]["terminal_observation"], seen[lane])
    assert kinds == {False, True}


@pytest.mark.parametrize("observation", ["flat", "structured"])
def test_what_was_handed_out_is_never_written_again(observation: str) -> None:
    env = make(8, observation=observation)
    held: list[Any] = [(env.reset(), None, None, [{}])]
    kept = copy.deepcopy(held)
    for _ in range(60):
        masks = get_action_masks(env)
        held.append((*env.step(masks.argmax(axis=1)), masks))
        kept.append(copy.deepcopy(held[-1]))
    assert any(any(step[3]) for step in held)
    assert data_equivalence(kept, held, exact=True)


def test_masks_and_attributes() -> None:
    env = make(3)
    env.reset()
    assert is_masking_supported(env) and env.has_attr("action_masks") and not env.has_attr("mask")
    masks = env.env_method("action_masks")
    assert len(masks) == 3 and masks[0].dtype == np.bool_ and masks[0].any()
    assert np.array_equal(env.env_method("action_masks", indices=1)[0], masks[1])
    assert np.array_equal(env.get_attr("action_masks", [2])[0](), masks[2])
    assert env.get_attr("seat") == env.lanes.seat.tolist()
    assert env.get_attr("render_mode", indices=[0, 2]) == [None, None]
    assert env.env_is_wrapped(Monitor) == [False] * 3
    for ask in (
        lambda: env.get_attr("spec"),
        lambda: env.env_method("seed"),
        lambda: env.set_attr("seat", 1),
    ):
        with pytest.raises(AttributeError):
            ask()


def test_seeds() -> None:
    one, other = make(seed=5), make(seed=None)
    first = one.reset()
    assert not np.array_equal(other.reset(), first)
    assert other.seed(5) == [5, 6, 7, 8]
    np.testing.assert_array_equal(other.reset(), first)
    np.testing.assert_array_equal(one.reset(), other.reset())  # both go on with the next games


def test_an_illegal_action_is_refused() -> None:
    env = make(2)
    env.reset()
    actions = get_action_masks(env).argmin(axis=1)
    with pytest.raises(IllegalAction, match="lane 0"):
        env.step(actions)


@pytest.mark.parametrize("arguments", [{"render_mode": "ansi"}, {"num_envs": 0}, {"opponents": [COIN] * 5}])
def test_wrong_arguments_are_named(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(arguments)).removesuffix("_envs")):
        make(**arguments)


def test_drawing() -> None:
    env = make(2, render_mode="rgb_array")
    env.reset()
    assert env.render().dtype == np.uint8
    with pytest.warns(UserWarning, match="render_mode"):
        assert make(2).get_images() == [None, None]


def test_maskable_ppo_learns_and_is_evaluated() -> None:
    env = VecMonitor(make(8), info_keywords=("winner", "placement", "rounds"))
    model = small_model(env).learn(1024)
    assert model.ep_info_buffer and {"r", "l", "winner", "placement", "rounds"} <= set(
        model.ep_info_buffer[0]
    )
    rewards, lengths = evaluate_policy(model, env, n_eval_episodes=16, return_episode_rewards=True)
    assert len(rewards) == 16 and set(np.round(rewards, 3)) <= {1.0, 0.0, -0.5} and min(lengths) >= 1


def test_it_can_be_wrapped_and_structured() -> None:
    env = VecNormalize(make(2, observation="structured"), norm_obs_keys=["globals"])
    model = MaskablePPO(
        "MultiInputPolicy", env, n_steps=16, batch_size=32, n_epochs=1, policy_kwargs={"net_arch": [16]}
    )
    model.learn(64)


def test_a_model_plays_against_a_model_in_one_inference() -> None:
    model = small_model(make(2))
    calls: list[int] = []
    predict = model.predict

    def counted(observation: Any, **arguments: Any) -> Any:
        calls.append(len(observation))
        return predict(observation, **arguments)

    model.predict = counted  # type: ignore[method-assign]
    env = make(16, opponents=[ModelPolicy(model), Picker()], opponent_order="shuffled")
    seen = env.reset()
    for _ in range(10):
        seen, _, _, _ = env.step(picks(env, seen))
    assert max(calls) > 3


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_answer_for_their_own_games(duplicate: Any) -> None:
    env = make()
    env.reset()
    other = duplicate(env)
    env.step(picks(env, env.lanes.observation()))
    for answer in ("seat", "render_mode"):
        assert len(other.get_attr(answer)) == 4
    assert [game.to_bytes() for game in other.get_attr("game")] != [
        game.to_bytes() for game in env.get_attr("game")
    ]
    for index, masks in enumerate(other.get_attr("action_masks")):
        np.testing.assert_array_equal(masks(), other.lanes.masks()[index])


def test_options_are_refused() -> None:
    env = make()
    env.set_options()
    with pytest.raises(ValueError, match="position"):
        env.set_options([{"position": "text"}, {}, {}, {}])


def test_a_replaced_action_is_told() -> None:
    env = make(illegal_action="random")
    env.reset()
    wrong = env.lanes.masks().argmin(axis=1)
    assert [info["replaced"] for info in env.step(wrong)[3]] == [True] * 4
    assert not any(info["replaced"] for info in env.step(env.lanes.masks().argmax(axis=1))[3])


def test_what_a_caller_does_with_returned_values_changes_nothing() -> None:
    kept, spoiled = make(3), make(3)
    kept.reset()
    spoil(spoiled.reset())
    for _ in range(300):
        actions = kept.action_masks().argmax(axis=1)
        spoil([spoiled.action_masks(), spoiled.env_method("action_masks"), spoiled.get_attr("seat")])
        mine = actions.copy()
        spoiled.step_async(mine)
        mine[:] = -1
        one, other = kept.step(actions), spoiled.step_wait()
        assert data_equivalence(one, other, exact=True)
        spoil(other)
    assert kept.get_attr("sample")[1](5).to_record() == spoiled.get_attr("sample")[1](5).to_record()
