"""The Gymnasium environments: risk_env/Risk-v0 by `gymnasium.make` and `make_vec`, and their lanes."""

import copy
import itertools
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import vector as wrappers

from risk_env import bots
from risk_env.arena import CALLER
from risk_env.board.maps import load_map
from risk_env.board.rules import PRESETS, Rules, presets
from risk_env.core.types import Phase
from risk_env.envs import gymnasium_env as gym_env
from risk_env.envs import single_seat_vector
from risk_env.envs.single_seat_vector import SingleSeatVector
from risk_env.game import Game
from risk_env.text.notation import IllegalAction
from tests.bots import COIN, Picker, pick, play_until, spoil
from tests.pages import code_of, page, run_code

ID = "risk_env/Risk-v0"
QUICK: dict[str, Any] = {"board": "tiny", "setup": "random", "max_rounds": 15, "opponents": COIN}
TABLES = [(preset, players) for preset in presets() for players in {*PRESETS[preset].players[::2]}]


def make(**arguments: Any) -> Any:
    return gymnasium.make(ID, **{**QUICK, **arguments}).unwrapped


def make_vec(num_envs: int, **arguments: Any) -> Any:
    return gymnasium.make_vec(ID, num_envs=num_envs, **{**QUICK, **arguments})


def picks(observations: Any, masks: Any) -> Any:
    """Return a legal action for each lane, or 0 if it has none."""
    rows = zip(observations, masks, strict=True)
    return np.array([pick(observation, mask) if mask.any() else 0 for observation, mask in rows])


def play(env: Any, steps: int, seed: int | None = 0) -> list[Any]:
    """Return the outputs of a vector environment to `pick`, step by step."""
    observation, info = env.reset(seed=seed)
    told = []
    for _ in range(steps):
        step = env.step(picks(observation, info["action_mask"]))
        observation, info = step[0], step[4]
        told.append(step)
    return told


# Gymnasium's own checks and wrappers.


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("preset", "players"), TABLES)
def test_check_env(preset: str, players: int) -> None:
    env = gymnasium.make(ID, preset=preset, num_players=players, opponents=COIN, illegal_action="random")
    check_env(env.unwrapped, skip_render_check=True)


@pytest.mark.filterwarnings("error")
def test_check_env_in_every_render_mode() -> None:
    check_env(make(illegal_action="random", observation="structured"))


@pytest.mark.parametrize("imports", ["import gymnasium, risk_env", "import risk_env, gymnasium"])
def test_importing_risk_env_registers_whatever_comes_first(imports: str) -> None:
    code = (
        f"{imports}\nimport sys\nassert 'numba' not in sys.modules\n"
        f"print(gymnasium.spec('{ID}').vector_entry_point)"
    )
    root = Path(__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "risk_env.envs.gymnasium_env:RiskVectorEnv"


@pytest.mark.parametrize(
    "code",
    [
        "import gymnasium; env = gymnasium.make('risk_env:risk_env/Risk-v0')",
        "import gymnasium; env = gymnasium.make_vec('risk_env:risk_env/Risk-v0', num_envs=2)",
        "import risk_env.board.maps; import gymnasium; env = gymnasium.make('risk_env/Risk-v0')",
        "import risk_env, pettingzoo; env = pettingzoo.make('aec', 'risk_env/risk_v0')",
        "import pettingzoo, risk_env; env = pettingzoo.make('aec', 'risk_env/risk_v0')",
        pytest.param(
            "import risk_env, gymnasium; env = gymnasium.make('risk_env/Risk-v0')", marks=pytest.mark.long
        ),
        pytest.param(
            "from risk_env import risk_v0; import gymnasium; env = gymnasium.make('risk_env/Risk-v0')",
            marks=pytest.mark.long,
        ),
    ],
)
def test_the_environment_is_found_in_any_order_of_imports(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parent.parent, check=True)


def test_a_spec_as_json_makes_the_same_environment() -> None:
    opponents = ("grower", "random")
    env = gymnasium.make(ID, **{**QUICK, "opponents": opponents, "num_players": 3, "seat": 1})
    assert env.spec is not None
    read = EnvSpec.from_json(env.spec.to_json())
    assert read.kwargs == env.spec.kwargs and isinstance(env.spec.kwargs["opponents"], list)
    again = gymnasium.make(read)
    one, other = env.reset(seed=4), again.reset(seed=4)
    assert data_equivalence(one, other, exact=True)
    for _ in range(50):
        step = env.step(pick(*(one[0], one[-1]["action_mask"])))
        assert data_equivalence(step, again.step(pick(other[0], other[-1]["action_mask"])), exact=True)
        one = other = (step[0], step[4])
        if step[2] or step[3]:
            break


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("board", load_map("tiny")),
        ("opponents", COIN),
        ("opponents", [COIN, "random"]),
        ("opponents", bots.compiled("grower")),
    ],
)
def test_a_spec_that_json_would_change_is_refused(argument: str, value: Any) -> None:
    arguments = {**QUICK, "opponents": "random", argument: value}
    with pytest.raises(ValueError, match=f"{argument}: JSON cannot store a "):
        gymnasium.make(ID, **arguments).spec.to_json()  # type: ignore[union-attr]
    with pytest.raises(ValueError, match=f"{argument}: JSON cannot store a "):
        gymnasium.make_vec(ID, num_envs=2, **arguments).spec.to_json()  # type: ignore[union-attr]


@pytest.mark.parametrize("observation", ["flat", "structured"])
def test_what_a_caller_does_with_returned_values_changes_nothing(observation: str) -> None:
    kept, spoiled = (make(observation=observation, render_mode="ansi") for _ in range(2))
    step: Any = (*kept.reset(seed=3), False)
    spoil(spoiled.reset(seed=3))
    for _ in range(400):
        if step[2]:
            step = (*kept.reset(), False)
            spoil(spoiled.reset())
        action = np.flatnonzero(step[1]["action_mask"])[-1]
        spoil(
            [
                spoiled.action_masks(),
                spoiled.metadata,
                spoiled.game.legal_actions(),
                spoiled.game.action_mask(),
            ]
        )
        one, other = kept.step(action), spoiled.step(action)
        assert data_equivalence(one, other, exact=True)
        spoil(other)
        step = (one[0], one[4], one[2] or one[3])
    assert make().metadata["render_modes"]


@pytest.mark.parametrize("mode", AutoresetMode)
def test_what_a_caller_does_with_returned_vectors_changes_nothing(mode: AutoresetMode) -> None:
    kept, spoiled = (make_vec(3, autoreset_mode=mode) for _ in range(2))
    _observation, info = kept.reset(seed=3)
    spoil(spoiled.reset(seed=3))
    for _ in range(300):
        actions = info["action_mask"].argmax(axis=1)
        spoil([spoiled.action_masks(), spoiled.metadata])
        one, other = kept.step(actions), spoiled.step(actions)
        assert data_equivalence(one, other, exact=True)
        spoil(other)
        info, over = one[4], one[2] | one[3]
        if mode is AutoresetMode.DISABLED and over.any():
            _observation, info = kept.reset(options={"reset_mask": over})
            spoil(spoiled.reset(options={"reset_mask": over}))


def test_a_sample_knows_neither_hidden_cards_nor_dice() -> None:
    """Two games that look alike to the learner give equal samples, whatever their hidden facts."""
    position = Game(
        Rules.preset("classic", 3, max_rounds=15, setup="random", profile="fast"), "tiny", seed=5
    ).to_text()
    first = make(opponents="random", seat=0, num_players=3)
    second = make(opponents="random", seat=0, num_players=3)
    first.reset(seed=1, options={"position": position})
    second.reset(seed=1, options={"position": position})
    second.lanes.batch.records["random"] += np.uint64(12345)
    assert first.sample(7).to_record() == second.sample(7).to_record()
    assert first.sample(7).to_record() != first.sample(8).to_record()
    assert first.game.to_record() != second.game.to_record()
    vector = make_vec(2, opponents="random", num_players=3)
    vector.reset(seed=1)
    assert vector.sample(1, 7).legal_actions().tolist() == vector.action_masks()[1].nonzero()[0].tolist()
    with pytest.raises(ResetNeeded):
        make().sample(1)


def test_the_code_about_honest_search_runs() -> None:
    (code,) = code_of(page("gymnasium"), "unwrapped.sample(seed)")
    run_code([code], gymnasium=gymnasium, np=np)


def test_episode_statistics() -> None:
    env = gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make(ID, **QUICK))
    observation, info = env.reset(seed=0)
    length = 0
    while "episode" not in info:
        observation, _, _, _, info = env.step(pick(observation, info["action_mask"]))
        length += 1
    assert info["episode"]["l"] == length
    assert info["episode"]["r"] in (1.0, -0.5, 0.0)


# The three modes of resetting in a vector environment.


def reset_ended(env: Any, told: Any) -> Any:
    """Return observation and info to continue from. With autoreset disabled, reset ended lanes."""
    observation, _, terminated, truncated, info = told
    ended = terminated | truncated
    if env.metadata["autoreset_mode"] is AutoresetMode.DISABLED and ended.any():
        observation, info = env.reset(options={"reset_mask": ended})
    return observation, info


def play_on(env: Any, steps: int) -> Any:
    """Yield the outputs of a vector environment, beginning with `reset`."""
    observation, info = env.reset(seed=0)
    yield observation, info
    for _ in range(steps):
        told = env.step(picks(observation, info["action_mask"]))
        yield told
        observation, info = reset_ended(env, told)


@pytest.mark.modes
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_a_lane_is_gymnasiums_vector_of_one_environment(mode: AutoresetMode) -> None:
    own = make_vec(1, autoreset_mode=mode, opponents=[Picker(), COIN])
    theirs = SyncVectorEnv([lambda: make(opponents=[Picker(), COIN])], autoreset_mode=mode)
    ends = 0
    for mine, other in zip(play_on(own, 300), play_on(theirs, 300), strict=True):
        final, other_final = (told[-1].pop("final_info", {}) for told in (mine, other))
        assert data_equivalence(mine[:-1], other[:-1], exact=True)
        assert set(mine[-1]) == set(other[-1]) and set(final) == set(other_final)
        assert all(
            np.array_equal(mine[-1][name], other[-1][name]) for name in mine[-1] if name != "final_obs"
        )
        assert all(np.array_equal(final[name], other_final[name]) for name in final)
        ends += "_winner" in {**mine[-1], **final}
    assert ends > 1


def transitions(mode: AutoresetMode, observation: str) -> list[list[Any]]:
    """Return the steps of each of 5 lanes, except those that only reset.

    A step is the reward, the end, what was seen and the final info.
    """
    env = make_vec(5, autoreset_mode=mode, observation=observation, illegal_action="random")
    steps: list[list[Any]] = [[] for _ in range(5)]
    over = np.zeros(5, np.bool_)
    told = env.reset(seed=0)
    # of each lane's decisions
    chance = np.random.default_rng(0).integers(env.lanes.num_actions, size=(5, 500))
    for _ in range(500):
        told = env.step(np.array([chance[lane, len(steps[lane])] for lane in range(5)]))
        ended = told[2] | told[3]
        info = told[4]
        for lane in np.flatnonzero(~over):
            final = info.get("final_info", info) if ended[lane] else {}
            seen = (
                info["final_obs"][lane]
                if ended[lane] and "final_obs" in info
                else gym_env._rows(told[0])[lane]
            )
            names = ("winner", "placement", "rounds", "seed") if ended[lane] else ()
            steps[lane].append(
                [told[1][lane], told[2][lane], told[3][lane], seen, *(final[k][lane] for k in names)]
            )
        over = ended if mode is AutoresetMode.NEXT_STEP else over
        reset_ended(env, told)
    return steps


@pytest.mark.parametrize("observation", ["flat", "structured"])
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED])
def test_the_games_are_the_same_in_every_mode(mode: AutoresetMode, observation: str) -> None:
    same, other = transitions(AutoresetMode.SAME_STEP, observation), transitions(mode, observation)
    for one, another in zip(same, other, strict=True):
        assert data_equivalence(one[: len(another)], another, exact=True)
        assert len(another) > 450 and sum(step[1] or step[2] for step in another) > 1


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED])
def test_an_end_is_told_where_it_comes_and_the_other_lanes_go_on(mode: AutoresetMode) -> None:
    env = make_vec(3, autoreset_mode=mode.value)
    told = list(play_on(env, 80))
    for before, after in itertools.pairwise(told[1:]):
        over = before[2] | before[3]
        assert np.array_equal(before[4]["action_mask"].any(axis=1), ~over)
        assert np.array_equal(before[4].get("_winner", np.zeros(3, np.bool_)), over)
        if mode is AutoresetMode.NEXT_STEP:
            assert not after[1][over].any() and not (after[2] | after[3])[over].any()
            assert after[4]["action_mask"][over].any(axis=1).all()
    assert any("_winner" in step[4] for step in told[1:])


def test_an_illegal_action_for_one_lane_resets_no_other() -> None:
    env = make_vec(2, autoreset_mode="NextStep")
    for told in play_on(env, 200):
        if len(told) > 2 and (told[2] | told[3]).tolist() == [True, False]:
            break
    before = env.lanes.batch.records.tobytes()
    with pytest.raises(IllegalAction, match="lane 1"):
        env.step(np.array([0, int(told[4]["action_mask"][1].argmin())]))
    assert env.lanes.batch.records.tobytes() == before


def test_with_autoreset_disabled_an_ended_lane_needs_a_reset() -> None:
    env = make_vec(2, autoreset_mode="Disabled")
    observation, info = env.reset(seed=0)
    ended = np.zeros(2, np.bool_)
    while not ended.any():
        observation, _, terminated, truncated, info = env.step(picks(observation, info["action_mask"]))
        ended = terminated | truncated
    with pytest.raises(ResetNeeded, match="lanes"):
        env.step(np.zeros(2, np.int64))
    again = pickle.loads(pickle.dumps(env))
    with pytest.raises(ResetNeeded, match="lanes"):
        again.step(np.zeros(2, np.int64))
    _, info = again.reset(options={"reset_mask": ended})
    assert info["action_mask"].any(axis=1).all()
    again.step(info["action_mask"].argmax(axis=1))
    with pytest.raises(ValueError, match="at least one True"):
        again.reset(options={"reset_mask": np.zeros(2, np.bool_)})


def test_a_wrong_mode_is_refused() -> None:
    with pytest.raises(
        ValueError, match="autoreset_mode='same': choose one of 'NextStep', 'SameStep', 'Disabled'"
    ):
        make_vec(2, autoreset_mode="same")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_gymnasiums_vector_wrappers(mode: AutoresetMode) -> None:
    if mode is AutoresetMode.SAME_STEP and tuple(map(int, gymnasium.__version__.split(".")[:2])) < (1, 4):
        pytest.skip("Gymnasium counted a step too few in this mode before 1.4")
    env = wrappers.RecordEpisodeStatistics(make_vec(4, autoreset_mode=mode))
    env = wrappers.NormalizeReward(env)
    if mode is AutoresetMode.NEXT_STEP:  # the only one that Gymnasium's wrapper takes
        env = wrappers.NormalizeObservation(env)
    env = wrappers.ClipReward(env, -10.0, 10.0)
    lengths, counted, over, told = np.zeros(4, np.int64), [], np.zeros(4, np.bool_), []
    for step in itertools.islice(play_on(env, 120), 1, None):
        lengths += ~over  # the step that resets is none of the game's
        ended = step[2] | step[3]
        told += step[4]["episode"]["l"][ended].tolist() if ended.any() else []
        counted += lengths[ended].tolist()
        lengths[ended] = 0
        over = ended & (mode is AutoresetMode.NEXT_STEP)
    assert len(counted) > 2 and told == counted


# The same games as through every other interface.


@pytest.mark.parametrize(("preset", "players"), TABLES)
def test_the_games_are_those_of_game(preset: str, players: int) -> None:
    env = gym_env.RiskEnv(preset=preset, num_players=players, opponents=Picker(), max_rounds=2)
    for episode in range(2):
        observation, info = env.reset(seed=5 if episode == 0 else None)
        game = Game(env.lanes.rules, seed=5, episode=episode)
        ended, seat = False, info["seat"]
        for _ in range(60):
            play_until(game, seat)
            assert game.record.tobytes() == env.game.record.tobytes()
            np.testing.assert_array_equal(observation, game.observe(seat))
            np.testing.assert_array_equal(info["action_mask"], game.action_mask() * (not ended))
            if ended:
                break
            action = pick(observation, info["action_mask"])
            game.step(action)
            observation, _, terminated, truncated, info = env.step(action)
            ended = terminated or truncated


def test_every_lane_plays_its_own_games_however_many_there_are() -> None:
    few, many = make_vec(3, opponents=[COIN, Picker()]), make_vec(7, opponents=[COIN, Picker()])
    for mine, theirs in zip(play(few, 80), play(many, 80), strict=True):
        for k in range(4):
            np.testing.assert_array_equal(mine[k], theirs[k][:3])
        np.testing.assert_array_equal(mine[4]["action_mask"], theirs[4]["action_mask"][:3])


def test_lane_i_plays_lane_i_of_the_seed() -> None:
    env = make_vec(3, opponents=Picker())
    _, info = env.reset(seed=11)
    for lane in range(3):
        game = Game(env.lanes.rules, "tiny", seed=11, lane=lane)
        play_until(game, int(info["seat"][lane]))
        assert game.record.tobytes() == env.lanes.batch.game(lane).record.tobytes()


@pytest.mark.modes
def test_lane_0_is_the_single_environment() -> None:
    env = make(opponents=[Picker(), COIN])
    observation, info = env.reset(seed=0)
    ends = 0
    for told in play(make_vec(2, opponents=[Picker(), COIN]), 300):
        observation, reward, terminated, truncated, info = env.step(pick(observation, info["action_mask"]))
        assert (reward, terminated, truncated) == (told[1][0], told[2][0], told[3][0])
        if terminated or truncated:
            ends += 1
            np.testing.assert_array_equal(observation, told[4]["final_obs"][0])
            assert told[4]["_final_obs"][0] and told[4]["_final_info"][0]
            final = told[4]["final_info"]
            assert all(final[f"_{name}"][0] for name in info)
            assert all(np.array_equal(final[name][0], value) for name, value in info.items())
            observation, info = env.reset()
        np.testing.assert_array_equal(observation, told[0][0])
        np.testing.assert_array_equal(info["action_mask"], told[4]["action_mask"][0])
    assert ends > 1


def test_without_a_seed_games_differ_and_a_seed_brings_them_back() -> None:
    one, other = make(), make()
    assert one.reset()[1]["action_mask"].any()
    one.reset()
    other.reset()
    assert one.lanes.batch.seeds[0] != other.lanes.batch.seeds[0]
    assert one.np_random_seed != other.np_random_seed
    one.reset(seed=3)
    other.reset(seed=3)
    assert one.game == other.game


# Ends and rewards.


@pytest.mark.parametrize("reward", ["win", "placement"])
def test_what_the_learner_is_paid_at_the_end(reward: str) -> None:
    seen = {"won": 0, "died": 0, "truncated": 0}
    for _, rewards, terminated, truncated, info in play(make_vec(16, reward=reward, max_rounds=8), 150):
        ended = terminated | truncated
        assert not rewards[~ended].any()
        assert np.array_equal(info.get("_final_info", np.zeros(16, bool)), ended)
        for lane in np.flatnonzero(ended):
            final = {
                name: info["final_info"][name][lane] for name in ("winner", "placement", "rounds", "seat")
            }
            won = final["winner"] == final["seat"]
            seen["won" if won else "truncated" if truncated[lane] else "died"] += 1
            assert won == (final["placement"] == 1) or truncated[lane]
            assert final["rounds"] == 8 or terminated[lane]
            by_place = {1: 1.0, 2: 0.0, 3: -1.0} if reward == "placement" else {1: 1.0, 2: -0.5, 3: -0.5}
            assert rewards[lane] == (0.0 if truncated[lane] else by_place[final["placement"]])
    assert all(seen.values()), seen


def test_a_learner_that_died_is_done_though_the_game_goes_on() -> None:
    for _, rewards, terminated, _, info in play(make_vec(16), 200):
        for lane in np.flatnonzero(terminated):
            if info["final_info"]["winner"][lane] == -1:
                assert rewards[lane] == -0.5
                assert info["final_info"]["placement"][lane] == 3
                return
    pytest.fail("nobody died while two others lived")


def test_games_in_which_the_learner_decides_nothing_are_passed_over() -> None:
    lanes = SingleSeatVector(
        Rules.preset("classic", setup="random", max_rounds=1, profile="fast"), "tiny", 64, COIN
    )
    lanes.reset(seed=0)
    for _ in range(30):
        lanes.step(lanes.masks().argmax(axis=1))
        assert (lanes.batch.records["seat"] == lanes.seat).all()
    assert (lanes.batch.episodes > lanes.batch.episodes.min()).any()


# What is handed out.


@pytest.mark.parametrize("observation", ["flat", "structured"])
def test_what_was_handed_out_is_never_written_again(observation: str) -> None:
    env = make_vec(8, observation=observation)
    held, kept = [], []
    told = env.reset(seed=0)
    for _ in range(60):
        held.append(told)
        kept.append(copy.deepcopy(told))
        told = env.step(told[-1]["action_mask"].argmax(axis=1))
    assert any("final_obs" in step[-1] for step in held)
    assert data_equivalence(kept, held, exact=True)


def test_a_structured_observation_is_the_flat_one_in_parts() -> None:
    flat, parts = make_vec(3).reset(seed=2)[0], make_vec(3, observation="structured").reset(seed=2)[0]
    joined = [parts["territories"].reshape(3, -1), parts["globals"]]
    np.testing.assert_array_equal(np.concatenate(joined, axis=1), flat)
    assert parts["territories"].shape[1] == load_map("tiny").num_territories


@pytest.mark.parametrize("observation", ["flat", "structured"])
def test_observations_are_in_their_spaces(observation: str) -> None:
    env = make_vec(5, observation=observation)
    seen, info = env.reset(seed=0)
    for _ in range(50):
        seen, _, _, _, info = env.step(info["action_mask"].argmax(axis=1))
        assert seen in env.observation_space
        for final in info.get("final_obs", []):
            assert final is None or final in env.single_observation_space
    assert info["action_mask"].dtype == np.int8
    np.testing.assert_array_equal(env.action_masks(), info["action_mask"] == 1)


def test_masks_for_sb3_contrib() -> None:
    env = gymnasium.make(ID, **QUICK)
    _, info = env.reset(seed=0)
    masks = env.get_wrapper_attr("action_masks")()
    assert masks.dtype == np.bool_
    np.testing.assert_array_equal(masks, info["action_mask"] == 1)


# Illegal actions.


def test_an_illegal_action_is_refused_and_changes_nothing() -> None:
    env = make_vec(3)
    _, info = env.reset(seed=0)
    before = env.lanes.batch.records.tobytes()
    actions = info["action_mask"].argmax(axis=1)
    for wrong in (int(info["action_mask"][1].argmin()), -1, env.lanes.num_actions):
        with pytest.raises(IllegalAction, match="lane 1"):
            env.step(np.array([actions[0], wrong, actions[2]]))
    assert env.lanes.batch.records.tobytes() == before


def test_an_illegal_action_is_replaced_where_wanted() -> None:
    env = make_vec(3, illegal_action="random")
    _, info = env.reset(seed=0)
    legal = info["action_mask"].argmax(axis=1)
    told = env.step(np.array([legal[0], int(info["action_mask"][1].argmin()), 10**9]))
    assert told[4]["replaced"].tolist() == [False, True, True]


def test_a_game_that_has_ended_needs_a_reset() -> None:
    env = make()
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    _, info = env.reset(seed=0)
    ended = False
    while not ended:
        _, _, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
        ended = terminated or truncated
    assert not info["action_mask"].any()
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)


# Who plays.


def test_every_seat_is_the_learners_as_often() -> None:
    lanes = SingleSeatVector(Rules.preset("classic", profile="fast"), "tiny", 12, COIN)
    lanes.reset(seed=0)
    assert np.bincount(lanes.seat).tolist() == [4, 4, 4]
    before = lanes.seat.copy()
    lanes.reset()
    assert np.array_equal(lanes.seat, (before + lanes.batch.episodes) % 3)
    firsts = {make().reset(seed=seed)[1]["seat"] for seed in range(12)}
    assert firsts == {0, 1, 2}


def test_a_fixed_seat_is_kept() -> None:
    env = make_vec(4, seat=2)
    assert all((told[4]["seat"] == 2).all() for told in play(env, 60))


def seated(order: str, opponents: Any, players: int = 4, lanes: int = 200) -> Any:
    """Return the numbers of the players of the seats clockwise from the learner, (N, P - 1)."""
    table = SingleSeatVector(
        Rules.preset("classic", num_players=players, profile="fast"),
        "classic",
        lanes,
        opponents,
        opponent_order=order,
    )
    table.reset(seed=1)
    numbers = table.arena.numbers[:, :players]
    assert (numbers[np.arange(lanes), table.seat] == CALLER).all()
    return np.stack([np.roll(row, -seat)[1:] for row, seat in zip(numbers, table.seat, strict=True)])


def test_opponents_sit_clockwise_from_the_learner() -> None:
    assert (seated("clockwise", [COIN, Picker(), COIN], lanes=8) == [0, 1, 0]).all()
    assert (seated("clockwise", COIN, lanes=8) == 0).all()


def test_opponents_are_shuffled_every_game() -> None:
    rows = seated("shuffled", [COIN, Picker(), Picker()], lanes=60)
    assert (np.sort(rows) == [0, 1, 2]).all()
    assert len(np.unique(rows, axis=0)) == 6


def test_opponents_are_drawn_for_every_seat() -> None:
    rows = seated("drawn", [COIN, Picker()], lanes=60)
    assert len(np.unique(rows, axis=0)) == 8


def test_a_policy_answers_for_all_lanes_at_once() -> None:
    policy = Picker()
    env = make_vec(32, opponents=[policy, COIN], seat=0)
    env.reset(seed=0)
    assert policy.calls[0] > 1
    assert policy.seats == {1}


@pytest.mark.parametrize("answer", [10**6, -1, 0.5])
def test_a_policy_that_answers_wrongly_is_named(answer: float) -> None:
    class Wrong:
        def act_batch(self, observations: Any, masks: Any, seats: Any, state: Any = None) -> Any:
            return np.full(len(seats), answer)

    with pytest.raises(ValueError, match="Wrong"):
        make_vec(2, opponents=Wrong()).reset(seed=0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"opponents": [COIN]}, "1 given, but num_players=3"),
        ({"opponents": [], "opponent_order": "drawn"}, "at least one"),
        ({"opponents": 7}, "player=7: must be a registered name"),
        ({"opponents": "no such bot"}, "no such bot"),
        ({"opponent_order": "sideways"}, "opponent_order='sideways'"),
        ({"seat": 3}, "seat=3"),
        ({"seat": True}, "seat=True"),
        ({"illegal_action": "ignore"}, "illegal_action='ignore'"),
        ({"observation": "pixels"}, "observation='pixels'"),
        ({"reward": "fame"}, "reward='fame'"),
        ({"preset": "chess"}, "preset='chess'"),
        ({"fortify": "never"}, "fortify='never'"),
        ({"oponents": COIN}, "oponents"),
        ({"render_mode": "smell"}, "render_mode='smell'"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gym_env.RiskEnv(**{**QUICK, **arguments})


# Resets, copies, drawing.


def test_some_lanes_can_be_reset() -> None:
    env = make_vec(4)
    play(env, 10)
    before, episodes = env.lanes.batch.records.copy(), env.lanes.batch.episodes.copy()
    chosen = np.array([False, True, False, True])
    env.reset(options={"reset_mask": chosen})
    assert np.array_equal(env.lanes.batch.episodes > episodes, chosen)
    assert all((env.lanes.batch.records[lane] == before[lane]) != chosen[lane] for lane in range(4))
    with pytest.raises(ValueError, match="reset_mask"):
        env.reset(options={"reset_mask": [1, 2]})


def test_a_reset_to_a_position() -> None:
    env = make(seat=1)
    game = Game(env.lanes.rules, "tiny", seed=8)
    play_until(game, 1)
    for _ in range(2):  # the chance is that of the seed, not of the text
        observation, info = env.reset(seed=3, options={"position": game.to_text()})
        np.testing.assert_array_equal(observation, game.observe(1))
        np.testing.assert_array_equal(info["action_mask"], game.action_mask())
        assert (
            env.game.record.random == Game(game.rules, game.board, 3, position=game.to_text()).record.random
        )
    with pytest.raises(ValueError, match="instead of"):
        env.reset(options={"position": Game("capital", "tiny", seed=1).to_text()})
    with pytest.raises(ValueError, match="'seed'"):
        env.reset(options={"seed": 3})


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("vector", [False, True])
def test_copies_are_independent(duplicate: Any, vector: bool) -> None:
    env = make_vec(3) if vector else make()
    _, info = env.reset(seed=4)
    other = duplicate(env)
    for _ in range(25):
        told = [each.step(info["action_mask"].argmax(axis=-1)) for each in (env, other)]
        assert data_equivalence(told[0], told[1], exact=True)
        info = told[0][4]
        if not vector and not info["action_mask"].any():
            return
    env.step(info["action_mask"].argmax(axis=-1))
    assert other.lanes.batch.records.tobytes() != env.lanes.batch.records.tobytes()


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_with_only_some_games_begun(duplicate: Any) -> None:
    env = make_vec(2)
    env.reset(options={"reset_mask": np.array([False, True])})
    lanes, others = env.lanes.batch, duplicate(env).lanes.batch
    assert lanes.action_mask[1].any() and np.array_equal(others.action_mask, lanes.action_mask)
    assert np.array_equal(others.observation, lanes.observation)


def test_drawing() -> None:
    assert "Round" in make_reset("ansi").render()
    pixels = make_reset("rgb_array").render()
    assert pixels.dtype == np.uint8 and pixels.ndim == 3 and pixels.shape[2] == 3
    window = make_reset("human")
    assert window.render() is None
    window.close()
    window.close()
    env = make_vec(2, render_mode="ansi")
    env.reset(seed=0)
    assert len(env.render()) == 2


def make_reset(render_mode: str) -> Any:
    env = make(render_mode=render_mode)
    env.reset(seed=0)
    return env


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_gymnasiums_own_vectors_play_past_many_ends(mode: str) -> None:
    env = gymnasium.make_vec(ID, num_envs=2, vectorization_mode=mode, **QUICK)
    _, info = env.reset(seed=0)
    seeds: set[int] = set()
    for _ in range(600):
        _, _, _, _, info = env.step(info["action_mask"].argmax(axis=1))
        seeds |= set(info["seed"][info["_seed"]].tolist()) if "seed" in info else set()
    env.close()
    assert len(seeds) >= 10 and max(seeds) > 2**63


@pytest.mark.parametrize("vector", [False, True])
def test_a_look_at_its_chance_does_not_choose_the_games(vector: bool) -> None:
    seeds = set()
    for _ in range(3):
        env = make_vec(1) if vector else make()
        assert env.np_random is not None
        env.reset()
        seeds.add(int(env.lanes.batch.seeds[0]))
    assert len(seeds) == 3


@pytest.mark.parametrize("make_one", [make, lambda **arguments: make_vec(2, **arguments)])
def test_ended_lanes_begin_again_whatever_is_asked(make_one: Any) -> None:
    with pytest.raises(ValueError, match="autoreset"):
        make_one(autoreset=False)


class Wrong:
    """A policy with illegal answers."""

    def act_batch(self, observations: Any, masks: Any, seats: Any, state: Any = None) -> Any:
        """No action at all."""
        return np.full(len(seats), -1)


def test_nothing_is_played_on_after_an_error() -> None:
    env = make(num_players=3, opponents=Wrong())
    with pytest.raises(ResetNeeded):
        env.game  # noqa: B018
    with pytest.raises(ValueError, match="not legal"):
        [env.reset(seed=seed) for seed in range(9)]
    with pytest.raises(ResetNeeded):
        env.step(0)
    env = make()
    env.reset(seed=1)
    with pytest.raises(ValueError, match="nonsense"):
        env.reset(options={"position": "nonsense"})
    with pytest.raises(ResetNeeded):
        env.step(0)
    lanes = SingleSeatVector(
        Rules.preset("classic", 2, setup="random", profile="fast"), "tiny", 4, Wrong(), seat=0
    )
    with pytest.raises(ValueError, match="not legal"):
        lanes.reset(seed=0)
        for _ in range(1000):
            lanes.step(lanes.masks().argmax(axis=1))
    with pytest.raises(RuntimeError, match="reset"):
        lanes.step(lanes.masks().argmax(axis=1))


class Failing:
    """Policy that raises an error while `fails` is true."""

    fails = False

    def act_batch(self, observations: Any, masks: Any, seats: Any, state: Any = None) -> Any:
        if self.fails:
            raise OSError("no model")
        return masks.argmax(axis=1)


def test_lanes_that_an_error_interrupted_stay_interrupted_in_copies() -> None:
    policy, rules = Failing(), Rules.preset("classic", 2, setup="random", profile="fast")
    lanes = SingleSeatVector(rules, "tiny", 4, policy, seat=0)
    lanes.reset(seed=0)
    state = lanes.state_dict()
    policy.fails = True
    with pytest.raises(OSError, match="no model"):
        for _ in range(1000):
            lanes.step(lanes.masks().argmax(axis=1))
    policy.fails = False
    with pytest.raises(RuntimeError, match=r"state_dict: an error interrupted .*reset"):
        lanes.state_dict()
    for one in (copy.deepcopy(lanes), lanes):
        with pytest.raises(RuntimeError, match=r"step: .*reset"):
            one.step(one.masks().argmax(axis=1))
    other = copy.deepcopy(lanes)
    other.load_state_dict(state)
    other.step(other.masks().argmax(axis=1))
    lanes.reset(seed=0)
    lanes.step(lanes.masks().argmax(axis=1))
    assert other.batch.records.tobytes() == lanes.batch.records.tobytes()


def test_an_error_at_a_position_interrupts_the_lanes() -> None:
    policy, rules = Failing(), Rules.preset("classic", 2, setup="random", profile="fast")
    lanes = SingleSeatVector(rules, "tiny", 2, policy, seat=0)
    lanes.reset(seed=0)
    game = Game(rules, "tiny", seed=1)
    while game.seat != 1:
        game.step(int(game.legal_actions()[0]))
    lanes.place(0, game.to_text())
    lanes.step(lanes.masks().argmax(axis=1))
    policy.fails = True
    with pytest.raises(OSError, match="no model"):
        lanes.place(0, game.to_text())
    policy.fails = False
    lanes.place(1, game.to_text())
    with pytest.raises(RuntimeError, match=r"step: an error interrupted .*reset"):
        lanes.step(lanes.masks().argmax(axis=1))
    lanes.reset(seed=0)
    lanes.step(lanes.masks().argmax(axis=1))


def test_a_seed_is_that_of_all_lanes() -> None:
    with pytest.raises(ValueError, match="seed"):
        make_vec(2).reset(seed=2, options={"reset_mask": np.array([True, False])})


@pytest.mark.parametrize("action", [1.0, None, True, [0, 1]])
def test_what_is_no_action_is_refused_even_where_illegal_ones_are_replaced(action: Any) -> None:
    env = make(illegal_action="random")
    env.reset(seed=0)
    before = env.game.to_bytes()
    with pytest.raises(ValueError, match="whole numbers"):
        env.step(action)
    assert env.game.to_bytes() == before


def test_actions_and_lanes_are_read_as_they_are_whatever_their_layout() -> None:
    rules = Rules.preset("classic", 3, setup="random", profile="fast")
    plain, other = (SingleSeatVector(rules, "classic", 6, "random") for _ in range(2))
    plain.reset(seed=1)
    other.reset(seed=1, lanes=[*range(6)])
    chance = np.random.default_rng(0)
    for step in range(60):
        masks = plain.masks()
        actions = (masks * chance.random(masks.shape)).argmax(axis=1)
        lanes = np.arange(step % 2, 6, 2)
        plain.step(actions, lanes)
        forms = (lanes.tolist(), np.repeat(lanes, 2)[::2], lanes.astype(np.int8))
        other.step(np.repeat(actions, 2)[::2], forms[step % 3])
        assert plain.batch.records.tobytes() == other.batch.records.tobytes()
        assert (plain.masks() == other.masks()).all()


@pytest.mark.parametrize("bot", ["beam", "planner"])
def test_bots_go_on_from_another_players_choice(bot: str) -> None:
    """Bots play on from a position during a fortify move, although they remember no target for this move."""
    game = Game(Rules.preset("classic", 3, setup="random", profile="fast"), seed=4)
    while game.phase != Phase.FORTIFY_TO:
        legal = game.legal_actions()
        game.step(int(legal[-1] if game.phase in (Phase.ATTACK, Phase.TRADE) else legal[0]))
    learner = (game.seat + 1) % 3
    lanes = SingleSeatVector(game.rules, "classic", 1, bot, seat=learner)
    lanes.reset(seed=0)
    lanes.place(0, game.to_text())  # would raise IllegalAction
    placed = lanes.batch.game(0)
    assert placed.seat == learner
    assert placed.record.decisions > game.record.decisions


def test_games_without_a_decision_are_counted_in_each_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each lane skips up to 3 games, one lane after another, and the limit is 3 games in a row."""
    lanes = make_vec(5).lanes
    lanes.reset(seed=1)
    lanes._has_decided[:] = False
    monkeypatch.setattr(single_seat_vector, "MOST_EMPTY", 3)
    monkeypatch.setattr(lanes.arena, "resume", lambda stopped: None)
    skipping = [np.array([lane]) for _ in range(3) for lane in range(5)]
    monkeypatch.setattr(lanes.arena, "run", lambda _: iter(skipping))
    begun = lanes.batch.episodes.copy()
    for _ in range(2):
        lanes._play_on(np.arange(5))
    assert (lanes.batch.episodes - begun == 6).all()
    monkeypatch.setattr(lanes.arena, "run", lambda _: iter([*skipping, np.array([2])]))
    with pytest.raises(RuntimeError, match="the learner had no decision in 3 games in a row"):
        lanes._play_on(np.arange(5))


def test_a_position_without_a_decision_of_the_learner_is_skipped_up_to_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(single_seat_vector, "MOST_EMPTY", 5)
    game = Game(Rules.preset("classic", 3, profile="fast", setup="random"), "tiny", seed=3)
    while game.alive.all():
        game.step(int(np.random.default_rng(len(game.actions)).choice(game.legal_actions())))
    envs = make_vec(2, num_players=3, max_rounds=None, seat=int(game.alive.argmin()))
    with pytest.raises(RuntimeError, match="the learner had no decision in 5 games in a row"):
        envs.reset(seed=1, options={"positions": [game.to_text()]})
