"""The PettingZoo environment: PettingZoo's tests on every preset and number of players, and all endings."""

import copy
import importlib
import inspect
import pickle
import random
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numba
import numpy as np
import pettingzoo
import pytest
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.test import api_test, performance_benchmark, render_test, seed_test, test_save_obs
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from risk_env import Game, GameBatch, IllegalAction, PositionError, Rules, load_map, presets, risk_v0
from risk_env.board.rules import preset_players
from risk_env.core.observe import TERRITORY_WIDTH
from risk_env.core.types import Phase
from risk_env.observations import as_floats
from risk_env.render import scene_of, window
from tests.bots import spoil
from tests.cases import TABLES
from tests.games import Player
from tests.pages import code_of, page, run_code

test_save_obs.__test__ = False  # PettingZoo's; called below

every_game = pytest.mark.parametrize(("preset", "players"), TABLES)

# What PettingZoo's tests say of every environment with masks that is not on their own lists, and of masks of
# the dead.
NOT_OURS = (
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box",
    "Action mask numpy array is all zeros",
)

# On the map tiny: seat 0 is about to attack, and each attack is a blitz that cannot fail.
LAST_STAND = """
risk_env game 1
rules: {rules}
map: tiny
phase: ATTACK
{facts}
[Woods]
Ash: player {ash}, 1 troop
Birch: player 0, 500 troops
Cedar: player 0, 500 troops
[Waste]
Dune: player 0, 500 troops
Ember: player 0, 500 troops
Flint: player 2, 1 troop
"""


def last_stand(ash: int = 1, rules: str = "", facts: str = "") -> str:
    """Return a position: seat 2's last territory is Flint, and Ash is the last territory of `ash`."""
    return LAST_STAND.format(ash=ash, rules=f"attack=blitz{rules}", facts=facts)


def blitz_env(**options: Any) -> risk_v0.OrderedEnv:
    return risk_v0.env(**{"board": "tiny", "profile": "book", "attack": "blitz", **options})


def quick(preset: str) -> str:
    """Return options of the preset with few or no questions in the set-up."""
    return "chart" if preset == "basic_training" else "random"


def number(env: Any, words: str) -> int:
    """Return the number of the action with this text."""
    return env.unwrapped.game.parse_action(words)


@contextmanager
def no_warning_of_ours() -> Iterator[None]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    ours = [str(w.message) for w in caught if not str(w.message).startswith(NOT_OURS)]
    assert not ours


class Fighter:
    """Plays an environment to its end: mostly attacks, and None for eliminated agents."""

    def __init__(self, seed: int, temper: float = 0.9) -> None:
        self.player = Player(random.Random(seed), temper)

    def __call__(self, env: Any) -> int | None:
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            return None
        game = env.unwrapped.game
        legal = np.flatnonzero(observation["action_mask"]).tolist()
        return self.player.choose(game.record, game.tables, legal)


def history(env: Any, choose: Callable[[Any], int | None], most: int = 100_000) -> list[Any]:
    """Return everything that every agent received and did, to the end."""
    told = []
    for agent in env.agent_iter(most):
        observation, reward, terminated, truncated, info = env.last()
        action = choose(env)
        told.append((agent, flat(observation), reward, terminated, truncated, flat(info), action))
        env.step(action)
    return told


def flat(value: Any) -> Any:
    """Return a comparable copy of an observation or an info."""
    if isinstance(value, dict):
        return {key: flat(part) for key, part in value.items()}
    return value.tobytes() if isinstance(value, np.ndarray) else value


# ------------------------------------------------------------------------------------- PettingZoo's own tests


@every_game
def test_api(preset: str, players: int) -> None:
    with no_warning_of_ours():
        api_test(risk_v0.env(preset, players), num_cycles=12)


@pytest.mark.parametrize("preset", presets())
def test_api_of_structured_views(preset: str) -> None:
    with no_warning_of_ours():
        api_test(risk_v0.env(preset, preset_players(preset)[0], observation="structured"), num_cycles=12)


@every_game
def test_api_past_the_end_of_a_game(preset: str, players: int) -> None:
    with no_warning_of_ours():
        api_test(
            risk_v0.raw_env(preset, players, max_rounds=1, attack="blitz", setup=quick(preset)),
            num_cycles=150,
        )


@every_game
def test_seed(preset: str, players: int) -> None:
    seed_test(lambda: risk_v0.env(preset, players), num_cycles=40)


@every_game
def test_save_observations(preset: str, players: int) -> None:
    with no_warning_of_ours():
        test_save_obs(risk_v0.env(preset, players))


@every_game
def test_performance(preset: str, players: int, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(100))
    module = sys.modules[performance_benchmark.__module__]
    monkeypatch.setattr(module, "time", type("Clock", (), {"time": staticmethod(lambda: next(clock))}))
    performance_benchmark(risk_v0.env(preset, players))


@every_game
def test_render(preset: str, players: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from risk_env import render

    monkeypatch.setattr(render, "draw_rgb", partial(render.draw_rgb, width=100))
    monkeypatch.setattr(window, "Window", partial(window.Window, width=100))
    monkeypatch.setitem(risk_v0.raw_env.metadata, "render_fps", 10_000)
    render_test(partial(risk_v0.env, preset, players))


# ------------------------------------------------------------------------------------------ whole games


@every_game
def test_the_same_seed_gives_the_same_game_past_eliminations(preset: str, players: int) -> None:
    options = {"attack": "blitz", "max_rounds": 15, "setup": quick(preset)}
    envs = [risk_v0.env(preset, players, **options) for _ in range(2)]
    for env in envs:
        env.reset(seed=players)
    one, other = (history(env, Fighter(players)) for env in envs)
    assert one == other
    ended = [told for told in one if told[6] is None]
    assert len(ended) == players


@every_game
def test_the_ends_of_a_game_add_up(preset: str, players: int) -> None:
    env = risk_v0.env(preset, players, attack="blitz", max_rounds=15, setup=quick(preset))
    env.reset(seed=1)
    ends = {told[0]: told[2:6] for told in history(env, Fighter(1)) if told[6] is None}
    game = env.unwrapped.game
    assert set(ends) == set(env.possible_agents)
    assert game.is_over
    assert not env.agents
    places = [ends[agent][3]["placement"] for agent in env.possible_agents]
    assert places == game.placements().tolist()
    for seat, agent in enumerate(env.possible_agents):
        reward, terminated, truncated, _ = ends[agent]
        assert terminated != truncated
        assert truncated == (game.truncated and bool(game.alive[seat]))
        assert reward == (0 if truncated else game.returns()[seat])
    if not game.truncated:
        assert sum(end[0] for end in ends.values()) == pytest.approx(0)


@every_game
def test_the_same_games_in_every_environment(preset: str, players: int) -> None:
    """The environment, a Game and lane 0 of a GameBatch play two episodes of a seed alike."""
    options = {"profile": "book", "attack": "blitz", "max_rounds": 2}
    env = risk_v0.raw_env(preset, players, **options)
    rules = Rules.preset(preset, players, **options)
    batch = GameBatch(rules, num_games=1, seed=7, autoreset=False)
    for episode in range(2):
        env.reset(seed=7 if episode == 0 else None)
        play_beside(env, Game(rules, seed=7, episode=episode), batch)


def play_beside(env: risk_v0.raw_env, game: Game, batch: GameBatch) -> None:
    """Play the environment, a game and a batch together to the end of the game."""
    view, mask, seat = batch.reset()
    choose = Fighter(3)
    paid = dict.fromkeys(env.possible_agents, 0.0)
    while not game.is_over:
        observation, _, terminated, truncated, info = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        assert env.agent_selection == f"player_{game.seat}" == f"player_{seat[0]}"
        assert env.game.records.tobytes() == game.records.tobytes() == batch.records.tobytes()
        assert (observation["observation"] == as_floats(view[0], env.board)).all()
        assert (observation["observation"] == game.observe(game.seat)).all()
        assert (observation["action_mask"] == mask[0]).all()
        assert (info["action_mask"] == observation["action_mask"]).all()
        action = choose(env)
        env.step(action)
        game.step(action)
        view, mask, seat, reward, terminated, truncated = batch.step(np.array([action]))
        for number, agent in enumerate(env.possible_agents):
            ends = terminated[0, number], truncated[0, number]
            if agent in env.rewards:
                assert env.rewards[agent] == pytest.approx(reward[0, number])
                assert (env.terminations[agent], env.truncations[agent]) == ends
            paid[agent] += env.rewards.get(agent, 0.0)
    assert list(paid.values()) == pytest.approx(game.returns().tolist())
    assert batch.game_over[0]


@pytest.mark.parametrize("reward", ["win", "placement"])
def test_rewards_are_those_of_the_batch(reward: str) -> None:
    rules = Rules.preset("classic", 4, attack="blitz", setup="random", max_rounds=40)
    options = {"attack": "blitz", "setup": "random", "max_rounds": 40}
    env = risk_v0.env("classic", 4, reward=reward, **options)
    batch = GameBatch(rules, num_games=1, seed=5, autoreset=False, reward=reward)
    env.reset(seed=5)
    batch.reset()
    choose = Fighter(5)
    got, due = np.zeros(4), np.zeros(4)
    for agent in env.agent_iter():
        action = choose(env)
        if action is None:
            got[env.possible_agents.index(agent)] = env.last()[1]
        else:
            due += batch.step(np.array([action]))[3][0]
        env.step(action)
    assert due.any()
    assert got == pytest.approx(due)


# ------------------------------------------------------------------------------------------ each way to end


def test_a_seat_that_dies_is_paid_and_leaves_at_that_step() -> None:
    env = blitz_env()
    env.reset(seed=0, options={"position": last_stand()})
    env.step(number(env, "attack Ember > Flint"))
    assert env.agent_selection == "player_2"
    assert env.terminations == {"player_0": False, "player_1": False, "player_2": True}
    assert not any(env.truncations.values())
    assert env.rewards == {"player_0": 0, "player_1": 0, "player_2": -0.5}
    observation, reward, terminated, truncated, info = env.last()
    assert (reward, terminated, truncated) == (-0.5, True, False)
    assert (info["winner"], info["placement"], info["rounds"]) == (-1, 3, 1)
    assert not observation["action_mask"].any()
    assert not info["action_mask"].any()
    with pytest.raises(ValueError, match="None"):
        env.step(0)
    env.step(None)
    assert env.agents == ["player_0", "player_1"]
    assert env.agent_selection == "player_0"
    assert env.rewards == {"player_0": 0, "player_1": 0}
    assert env.last()[0]["action_mask"].any()


def test_who_has_fallen_in_a_position_takes_no_part() -> None:
    env = blitz_env()
    env.reset(seed=0, options={"position": last_stand(ash=2, facts="fallen: 1")})
    assert env.agents == ["player_0", "player_2"]
    assert set(env.rewards) == set(env.infos) == {"player_0", "player_2"}


def test_a_win_ends_the_game_for_all() -> None:
    env = blitz_env()
    env.reset(seed=0, options={"position": last_stand()})
    env.step(number(env, "attack Ember > Flint"))
    env.step(None)
    while env.unwrapped.game.phase != Phase.ATTACK:
        env.step(number(env, "done"))
    env.step(number(env, "attack Birch > Ash"))
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.rewards == {"player_0": 1, "player_1": -0.5}
    ends = {agent: env.infos[agent] for agent in env.agents}
    assert [(end["winner"], end["placement"], end["rounds"]) for end in ends.values()] == [
        (0, 1, 1),
        (0, 2, 1),
    ]
    for _ in range(2):
        env.step(None)
    assert not env.agents
    assert list(env.agent_iter()) == []


def test_a_mission_fulfilled_by_anothers_act_wins() -> None:
    """Seat 0 destroys seat 2, which seat 1's mission asks for (RULES 8.2)."""
    missions = "mission 0: {1}\nmission 1: {2}\nmission 2: {0}".format(*destroy_missions())
    rules = ", victory=mission, setup=deal"
    env = blitz_env(preset="classic", victory="mission", setup="deal")
    env.reset(seed=0, options={"position": last_stand(rules=rules, facts=missions)})
    env.step(number(env, "attack Ember > Flint"))
    assert env.rewards == {"player_0": -0.5, "player_1": 1, "player_2": -0.5}
    assert all(env.terminations.values())
    assert {env.infos[agent]["winner"] for agent in env.agents} == {1}
    assert [env.infos[agent]["placement"] for agent in env.agents] == [2, 1, 3]


def destroy_missions() -> list[int]:
    """Return the numbers of the missions to destroy seat 0, 1, ..."""
    return [number for number, mission in enumerate(load_map("tiny").missions) if mission.kind == "destroy"]


@pytest.mark.parametrize("reward", ["win", "placement"])
def test_truncation_pays_nothing_and_terminates_nobody(reward: str) -> None:
    env = risk_v0.env(setup="random", max_rounds=1, reward=reward)
    env.reset(seed=0)
    told = history(env, Fighter(0, temper=0))
    ends = [entry for entry in told if entry[6] is None]
    assert {entry[0] for entry in ends} == set(env.possible_agents)
    for _, _, paid, terminated, truncated, info, _ in ends:
        assert (paid, terminated, truncated) == (0, False, True)
        assert (info["winner"], info["rounds"]) == (-1, 1)
    assert sorted(info["placement"] for *_, info, _ in ends)[0] == 1


def test_the_dead_are_paid_by_their_place() -> None:
    env = blitz_env(reward="placement")
    env.reset(seed=0, options={"position": last_stand()})
    env.step(number(env, "attack Ember > Flint"))
    assert env.last()[1] == -1


# ------------------------------------------------------------------------------------------ masks and errors


@every_game
def test_the_mask_is_what_step_accepts(preset: str, players: int) -> None:
    env = risk_v0.env(preset, players, setup=quick(preset))
    env.reset(seed=2)
    choose, phases = Fighter(2, temper=0.3), set()
    for moment, _ in enumerate(env.agent_iter(12 * players)):
        if moment >= 11 * players - 10 and env.unwrapped.game.phase not in phases and len(phases) < 3:
            phases.add(env.unwrapped.game.phase)
            try_every_action(env)
        env.step(choose(env))
    assert phases


def try_every_action(env: Any) -> None:
    """Try every action number and the numbers beside them: a refused action changes nothing."""
    assert env.unwrapped.game.board.names_in_text  # computed once, then kept and pickled with the board
    mask, before = env.last()[0]["action_mask"], pickle.dumps(env.unwrapped.game)
    legal = np.flatnonzero(mask)
    for action in {-1, len(mask), 2**70, *range(len(mask))} - set(legal.tolist()):
        with pytest.raises(IllegalAction):
            env.step(action)
    assert pickle.dumps(env.unwrapped.game) == before
    assert (env.last()[0]["action_mask"] == mask).all()
    for action in legal[:: max(1, len(legal) // 3)]:
        copy.deepcopy(env).step(action)


@pytest.mark.parametrize("action", [1.0, True, None, "nonsense", np.float32(2), [3]])
def test_what_is_no_number_is_refused(action: Any) -> None:
    env = risk_v0.env(setup="claim")
    env.reset(seed=0)
    with pytest.raises(IllegalAction, match="CLAIM"):
        env.step(action)
    assert not env.unwrapped.game.actions


@pytest.mark.parametrize("kind", [int, np.int8, np.int32, np.int64, np.uint16])
def test_any_whole_number_is_an_action(kind: type) -> None:
    env = risk_v0.env(setup="claim")
    env.reset(seed=0)
    env.step(kind(3))
    assert env.unwrapped.game.owner[3] >= 0


def test_all_masks_but_one_are_zero() -> None:
    env = risk_v0.env("classic", 4, attack="blitz", setup="random", max_rounds=2)
    env.reset(seed=1)
    choose = Fighter(1)
    for agent in env.agent_iter(200):
        for other in env.agents:
            asked = other == agent and not env.terminations[agent] and not env.truncations[agent]
            assert env.observe(other)["action_mask"].any() == env.infos[other]["action_mask"].any() == asked
        env.step(choose(env))


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"preset": "clasic"}, "clasic"),
        ({"preset": "two_player", "num_players": 3}, "num_players"),
        ({"num_players": 7}, "num_players"),
        ({"render_mode": "svg"}, "render_mode"),
        ({"reward": "score"}, "reward"),
        ({"observation": "pixels"}, "observation"),
        ({"max_rounds": 0}, "max_rounds"),
        ({"fortifi": "free"}, "fortifi"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, Any], name: str) -> None:
    with pytest.raises(ValueError, match=name):
        risk_v0.env(**options)


def test_calls_in_the_wrong_order() -> None:
    raw = risk_v0.raw_env()
    with pytest.raises(RuntimeError, match="reset"):
        raw.step(0)
    with pytest.raises(RuntimeError, match="reset"):
        raw.last()
    env = risk_v0.env()
    assert isinstance(env, OrderEnforcingWrapper)
    for call in (env.last, env.render, env.state, partial(env.step, 0), partial(env.observe, "player_0")):
        with pytest.raises((AttributeError, AssertionError), match="reset"):
            call()
    env.reset()
    with pytest.raises(ValueError, match=r"agent='player_9': choose one of 'player_0'"):
        env.observe("player_9")


def test_what_the_wrapper_tells_only_after_reset() -> None:
    env = risk_v0.env()
    for name in ("agents", "agent_selection", "num_agents", "rewards", "infos"):
        with pytest.raises(AttributeError, match=f"{name} cannot be accessed before reset"):
            getattr(env, name)
    env.reset(seed=0)
    raw = env.unwrapped
    assert env.agents == raw.agents
    assert env.agent_selection == raw.agent_selection == "player_0"
    assert (env.num_agents, env.max_num_agents) == (3, 3)


@pytest.mark.parametrize("make", [risk_v0.env, risk_v0.raw_env], ids=["env", "raw_env"])
def test_last_without_the_observation(make: Callable[..., Any]) -> None:
    env = make(board="tiny", attack="blitz", profile="book")
    env.reset(seed=0, options={"position": last_stand()})
    assert env.last(observe=False) == (None, *env.last()[1:])
    env.step(number(env, "attack Ember > Flint"))
    assert env.last(False) == (None, *env.last()[1:])
    assert env.last(False)[2]


@pytest.mark.parametrize("make", [risk_v0.env, risk_v0.raw_env], ids=["env", "raw_env"])
def test_agent_iter_ends_after_so_many_steps_or_with_the_last_agent(make: Callable[..., Any]) -> None:
    env = make(board="tiny", attack="blitz", profile="book")
    env.reset(seed=0, options={"position": last_stand()})
    agents = iter(env.agent_iter(max_iter=1))
    assert next(agents) == "player_0"
    env.step(number(env, "attack Ember > Flint"))
    assert list(agents) == []
    for _ in env.agent_iter():
        env.step(Fighter(0)(env))
    assert env.agents == []
    assert list(env.agent_iter()) == []


def test_agent_iter_of_the_wrapper_needs_a_step_before_each_next_agent() -> None:
    env = risk_v0.env()
    with pytest.raises(AssertionError, match="reset"):
        env.agent_iter()
    env.reset(seed=0)
    agents = iter(env.agent_iter())
    next(agents)
    with pytest.raises(AssertionError, match="need to call step"):
        next(agents)


# ---------------------------------------------------------------------------------------- seeds and positions


def test_episodes_of_a_seed() -> None:
    env = risk_v0.env(setup="random")
    games = []
    for seed in (3, None, None, 3, None):
        env.reset(seed=seed)
        games.append(env.unwrapped.game.to_bytes())
    assert games[:2] == games[3:]
    assert len(set(games)) == 3
    others = [risk_v0.env(setup="random") for _ in range(2)]
    for other in others:
        other.reset()
    assert others[0].unwrapped.game != others[1].unwrapped.game


def test_a_position_is_played_on_with_the_chance_of_seed_and_episode() -> None:
    env = risk_v0.env(max_rounds=5, setup="random")
    env.reset(seed=1)
    text = env.unwrapped.game.to_text()
    chances = []
    for seed in (1, None, 1, 2):
        env.reset(seed=seed, options={"position": text})
        assert env.unwrapped.game.rules.max_rounds == 5
        assert env.unwrapped.game.phase == Phase.DRAFT
        chances.append(int(env.unwrapped.game.record.random))
    assert chances[0] == chances[2]
    assert len(set(chances)) == 3
    env.reset(options={"position": text.replace("max_rounds=5", "max_rounds=7").rpartition("checksum")[0]})
    assert env.unwrapped.game.rules.max_rounds == 5


@pytest.mark.parametrize(
    ("options", "text", "problem"),
    [
        ({}, "nonsense", "risk_env game 1"),
        ({"fortify": "free"}, last_stand(), "fortify='connected' instead of 'free'"),
        ({"board": "classic"}, last_stand(), "map"),
        ({}, last_stand(facts="winner: 1").replace("ATTACK", "OVER"), "over"),
    ],
)
def test_a_position_that_does_not_fit(options: dict[str, Any], text: str, problem: str) -> None:
    env = blitz_env(**options)
    env.reset(seed=1)
    before = env.unwrapped.game.to_bytes()
    with pytest.raises((ValueError, PositionError), match=problem):
        env.reset(seed=2, options={"position": text})
    assert env.unwrapped.game.to_bytes() == before


# ------------------------------------------------------------------------------------------ what is seen


@every_game
def test_the_structured_view_is_the_flat_one(preset: str, players: int) -> None:
    flat_env, structured = (risk_v0.env(preset, players, observation=form) for form in ("flat", "structured"))
    for env in (flat_env, structured):
        env.reset(seed=4)
    choose = Fighter(4)
    for agent in flat_env.agent_iter(40):
        for who in flat_env.agents:
            view, parts = flat_env.observe(who)["observation"], structured.observe(who)["observation"]
            assert structured.observation_space(who).contains(structured.observe(who))
            assert flat_env.observation_space(who).contains(flat_env.observe(who))
            assert parts["territories"].shape[1] == TERRITORY_WIDTH
            assert (np.concatenate([parts["territories"].ravel(), parts["globals"]]) == view).all()
        assert structured.agent_selection == agent
        action = choose(flat_env)
        flat_env.step(action)
        structured.step(action)


@every_game
def test_state_is_what_all_see_together(preset: str, players: int) -> None:
    env = risk_v0.env(preset, players, attack="blitz", max_rounds=3)
    env.reset(seed=5)
    choose = Fighter(5)
    for _ in env.agent_iter(60):
        state = env.state()
        assert env.state_space.contains(state)
        views = [env.observe(agent)["observation"] for agent in env.possible_agents]
        assert (state.reshape(players, -1) == views).all()
        env.step(choose(env))


def test_what_was_handed_out_is_never_written_again() -> None:
    env = risk_v0.env(attack="blitz", setup="random", max_rounds=3)
    env.reset(seed=6)
    held, choose = [], Fighter(6)
    for _ in env.agent_iter():
        observation, *_, info = env.last()
        seen = (observation["observation"], observation["action_mask"], info["action_mask"], env.state())
        held.append((seen, [array.copy() for array in seen]))
        env.step(choose(env))
    assert len(held) > 50
    for arrays, copies in held:
        for array, at_the_time in zip(arrays, copies, strict=True):
            assert (array == at_the_time).all()


def test_secret_headquarters_are_not_drawn() -> None:
    env = risk_v0.env("capital", 3, render_mode="ansi", initial_troops=14)
    env.reset(seed=0)
    choose, marks = Fighter(0), set()
    while env.unwrapped.game.round < 1:
        scene = scene_of(env.unwrapped.game)
        assert (scene.headquarters == -1).all()
        marks.add("#" in env.render())
        env.step(choose(env))
    assert marks == {False}
    assert (scene_of(env.unwrapped.game).headquarters >= 0).all()
    assert "# headquarters" in env.render()


def test_scenes_show_a_battle_only_while_it_lasts() -> None:
    env = risk_v0.env("classic", 3, profile="book", setup="random", expert=True, max_rounds=4)
    env.reset(seed=3)
    choose, seen = Fighter(3), set()
    for _ in env.agent_iter(600):
        game = env.unwrapped.game
        scene, record = scene_of(game), game.record
        seen.add(scene.phase.name)
        battle = scene.phase.name in ("ATTACK_DICE", "DEFEND", "REROLL", "COMMANDER", "OCCUPY")
        assert scene.attack == ((record.source, record.target) if battle else None)
        if any(scene.dice):
            assert [len(dice) for dice in scene.dice] == record.chosen_dice.tolist()
        assert any(scene.dice) == (scene.phase.name in ("REROLL", "COMMANDER", "OCCUPY"))
        assert scene.hand_sizes.tolist() == [len(game.hand(seat)) for seat in range(3)]
        env.step(choose(env))
    assert {"ATTACK_DICE", "DEFEND", "OCCUPY", "COMMANDER", "DRAFT", "FORTIFY_FROM"} <= seen


def test_the_window_follows_the_game_and_closes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window, "Window", partial(window.Window, width=100))
    monkeypatch.setitem(risk_v0.raw_env.metadata, "render_fps", 10_000)
    env = risk_v0.env(render_mode="human", setup="claim")
    env.reset(seed=0)
    env.step(0)
    assert env.unwrapped._display.window.is_open
    other = copy.deepcopy(env)
    assert other.unwrapped._display.window is None
    env.close()
    env.close()
    assert env.unwrapped._display.window is None


# ------------------------------------------------------------------------------------------ copies, registry


@pytest.mark.parametrize("make", [risk_v0.env, risk_v0.raw_env], ids=["env", "raw_env"])
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_goes_on_by_itself(make: Callable[..., Any], duplicate: Callable[[Any], Any]) -> None:
    env = make("classic", 3, attack="blitz", setup="random", max_rounds=20)
    env.reset(seed=8)
    start = Fighter(8)
    for _ in range(60):
        env.step(start(env))
    other, before = duplicate(env), env.unwrapped.game.to_bytes()
    masks = [info["action_mask"] for info in other.infos.values()]
    assert not any(mask.flags.writeable for mask in masks if not mask.any())  # one for all who are not asked
    told = history(other, Fighter(9))
    assert env.unwrapped.game.to_bytes() == before
    assert history(env, Fighter(9)) == told
    assert other.unwrapped.game.log == env.unwrapped.game.log
    for ended in (env, other):
        ended.reset()
    assert env.unwrapped.game == other.unwrapped.game


def test_a_game_kept_is_not_the_next_episode() -> None:
    env = risk_v0.env(setup="random")
    env.reset(seed=1)
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    kept = env.unwrapped.game
    before = kept.to_bytes()
    env.reset()
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    assert kept.to_bytes() == before
    assert kept != env.unwrapped.game


@pytest.mark.modes
def test_the_game_of_an_environment_is_a_game_like_any_other() -> None:
    env, game = risk_v0.raw_env(setup="random"), Game("classic", seed=1, profile="fast", setup="random")
    env.reset(seed=1)
    action = int(game.legal_actions()[0])
    env.step(action)
    game.step(action)
    assert numba.typeof(env.game.records) == numba.typeof(game.records)
    assert (env.last()[0]["observation"] == game.observe(game.seat)).all()
    assert (env.last()[0]["action_mask"] == game.action_mask()).all()
    for other in (
        env.game.copy(),
        pickle.loads(pickle.dumps(env.game)),
        Game.from_bytes(env.game.to_bytes()),
    ):
        assert other == env.game == game
        other.step(int(other.legal_actions()[0]))
        assert env.game == game
        assert env.game.actions == (action,)


def test_a_copy_of_the_dead_waiting() -> None:
    env = blitz_env()
    env.reset(seed=0, options={"position": last_stand()})
    env.step(number(env, "attack Ember > Flint"))
    other = pickle.loads(pickle.dumps(env))
    for one in (env, other):
        one.step(None)
        assert one.agent_selection == "player_0"
        assert one.last()[0]["action_mask"].any()


def test_a_copy_before_the_first_game() -> None:
    env = risk_v0.env()
    other = copy.deepcopy(env)
    env.reset()
    other.reset()
    assert env.unwrapped.game == other.unwrapped.game


def test_registered_with_pettingzoo() -> None:
    for name in ("risk_env/risk_v0", "risk_env/risk-v0", "risk_env/risk"):
        env = pettingzoo.make("aec", name, preset="two_player")
        assert env.possible_agents == ["player_0", "player_1"]
    assert pettingzoo.spec("aec", "risk_env/risk_v0").version == 0
    with no_warning_of_ours():
        importlib.reload(importlib.import_module("risk_env.risk_v0"))


def test_the_name() -> None:
    assert str(risk_v0.env()) == str(risk_v0.raw_env()) == risk_v0.raw_env.metadata["name"] == "risk_v0"
    assert not risk_v0.raw_env.metadata["is_parallelizable"]


def test_importing_risk_env_compiles_nothing() -> None:
    code = "import sys, risk_env; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize("observation", ["flat", "structured"])
def test_what_a_caller_does_with_returned_values_changes_nothing(observation: str) -> None:
    """All outputs of one environment are overwritten; both environments must still agree."""
    options: dict[str, Any] = {
        "board": "tiny",
        "setup": "random",
        "max_rounds": 30,
        "observation": observation,
    }
    kept, spoiled = (risk_v0.env(render_mode="ansi", **options) for _ in range(2))
    names = kept.possible_agents
    for episode in range(2):
        kept.reset(seed=episode)
        spoiled.reset(seed=episode)
        while kept.agents:
            agent = kept.agent_selection
            assert data_equivalence(kept.last(), spoiled.last(), exact=True)
            for _ in range(2):
                spoil([*spoiled.last(), spoiled.observe(names[0]), spoiled.observe(agent), spoiled.state()])
                spoil([spoiled.agents, spoiled.possible_agents, spoiled.rewards, spoiled.terminations])
                spoil([spoiled.truncations, spoiled.infos, spoiled.metadata])
            assert data_equivalence(kept.last(), spoiled.last(), exact=True)
            assert data_equivalence(kept.infos, spoiled.infos, exact=True)
            assert (kept.rewards, kept.agents) == (spoiled.rewards, spoiled.agents)
            observation_, _, terminated, truncated, _ = kept.last()
            legal = np.flatnonzero(observation_["action_mask"])
            action = None if terminated or truncated else int(legal[-1])
            kept.step(action)
            spoiled.step(action)
    assert kept.unwrapped.game == spoiled.unwrapped.game
    assert risk_v0.env().metadata["render_modes"]


def test_what_a_caller_does_with_spaces_and_metadata_changes_nothing() -> None:
    env = risk_v0.env()
    env.action_spaces.clear()
    env.observation_spaces["player_0"] = None
    env.metadata["render_modes"].clear()
    assert list(env.action_spaces) == list(env.observation_spaces) == env.possible_agents
    assert env.action_space("player_0") is env.action_spaces["player_0"]
    assert env.observation_space("player_0") is env.observation_spaces["player_0"] is not None
    assert env.metadata == risk_v0.raw_env.metadata


def test_seeding_the_space_of_an_agent_seeds_no_other() -> None:
    env = risk_v0.env()
    env.observation_space("player_1").seed(1)
    before = env.observation_space("player_1").sample()
    env.observation_space("player_1").seed(1)
    env.observation_space("player_0").seed(2)
    assert data_equivalence(before, env.observation_space("player_1").sample(), exact=True)


def test_a_sample_knows_neither_hidden_cards_nor_dice() -> None:
    first, second = risk_v0.env(setup="random"), risk_v0.env(setup="random")
    first.reset(seed=1)
    second.reset(seed=1)
    second.unwrapped.game._games["random"] += np.uint64(12345)
    assert first.sample(7).to_record() == second.unwrapped.sample(7).to_record()
    assert first.sample(7).to_record() != first.sample(8).to_record()
    assert first.sample(7).legal_actions().tolist() == first.last()[4]["action_mask"].nonzero()[0].tolist()
    with pytest.raises(RuntimeError, match="reset"):
        risk_v0.raw_env().sample(1)


def test_the_code_about_honest_search_runs() -> None:
    (code,) = code_of(page("pettingzoo"), ".sample(seed)")
    run_code([code])


def test_the_wrapped_environment_takes_the_arguments_of_the_plain_one() -> None:
    plain = inspect.signature(risk_v0.raw_env).parameters
    assert list(inspect.signature(risk_v0.env).parameters.values()) == list(plain.values())
