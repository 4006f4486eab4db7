"""Three kinds of players: every function that takes players takes each kind, or refuses it by name."""

from __future__ import annotations

import copy
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest

from risk_agents import load, make
from risk_agents.dataset.recorder import RecordingSpec, record
from risk_agents.learned import duelist
from risk_agents.registry import play_game
from risk_agents.scripted import grower
from risk_agents.tournament.loading import make_config
from risk_agents.tournament.players import PlayerPool
from risk_agents.tournament.runner import play_single
from risk_env import (
    Agent,
    CompiledBot,
    Game,
    GameBatch,
    Match,
    PlayerFault,
    Policy,
    Rules,
    View,
    arena,
    load_map,
)
from risk_env.agent import CompiledAgent
from risk_env.arena import Arena
from risk_env.bots import compiled
from risk_env.envs.single_seat_vector import SingleSeatVector
from risk_env.players import AgentFactory, find_player
from risk_env.text_env import TextEnv
from risk_training.evaluate import loaded, play_piece

QUICK = {"setup": "random", "attack": "blitz", "defender_dice": "max", "max_rounds": 3, "initial_troops": 8}
RULES = Rules.preset("classic", 2, **QUICK)
BOARD = load_map("tiny")
GYM = {"preset": "classic", "board": "tiny", "num_players": 2, **QUICK}

SOURCE = """
from risk_env import Agent, Policy

class First(Agent):
    def act(self, view):
        assert any(event.kind == "round" for event in view.events)
        return int(view.legal_actions[0])

class FirstOfMany(Policy):
    def act_batch(self, observations, masks, seats, state=None):
        return masks.argmax(axis=1)

class Plain:
    def act(self, view):
        return int(view.legal_actions[0])

class Both:
    def act(self, view): 1 / 0
    def act_batch(self, observations, masks, seats): 1 / 0

OBJECT, NUMBER = First(), 7

def first():
    return First()
"""


class First(Agent):
    """An agent that plays the first legal action, and keeps the events that it has seen."""

    name = "first"

    def reset(self, seat: int, rules: Any, board: Any, seed: int) -> None:
        super().reset(seat, rules, board, seed)
        self.seen: list[Any] = []

    def act(self, view: View) -> int:
        self.seen = list(view.events)
        return int(view.legal_actions[0])


class FirstOfMany(Policy):
    """A policy without state."""

    name = "first of many"

    def act_batch(self, observations: Any, masks: Any, seats: Any, state: Any = None) -> Any:
        return masks.argmax(axis=1)


class Alternating(Policy):
    """A policy that counts its decisions of a game in its state.

    It alternates between the first and the last legal action.
    """

    name = "alternating"

    def initial_state(self, count: int) -> Any:
        return np.zeros((count, 1), np.int64)

    def act_batch(self, observations: Any, masks: Any, seats: Any, state: Any = None) -> Any:
        last = masks.shape[1] - 1 - (masks[:, ::-1] > 0).argmax(axis=1)
        return np.where(state[:, 0] % 2, last, masks.argmax(axis=1)), state + 1


class PlainAgent:
    """A class with only the method `act`."""

    def act(self, view: View) -> int:
        return int(view.legal_actions[0])


class PlainPolicy:
    """A class with only the method `act_batch`."""

    def act_batch(self, observations: Any, masks: Any, seats: Any) -> Any:
        return masks.argmax(axis=1)


class Hijacked(Agent):
    """An agent that also looks like a policy, in two ways."""

    name = "hijacked"
    policy = SimpleNamespace(logits=lambda *given: 1 / 0)
    asked = 0

    def act_batch(self, *given: Any) -> Any:
        raise AssertionError("an Agent is asked by act")

    def act(self, view: View) -> int:
        Hijacked.asked += 1
        return int(view.legal_actions[0])


class Both:
    """A class with both methods and no base class."""

    def act(self, view: View) -> int:
        return 0

    def act_batch(self, observations: Any, masks: Any, seats: Any) -> Any:
        return masks.argmax(axis=1)


KINDS: dict[str, Callable[[], Any]] = {
    "name": lambda: "grower",
    "compiled bot": lambda: grower.BOT,
    "policy": FirstOfMany,
    "class of policies": lambda: FirstOfMany,
    "policy with a state": Alternating,
    "plain policy": PlainPolicy,
    "agent": First,
    "class of agents": lambda: First,
    "function": lambda: lambda: First(),
    "plain agents": lambda: PlainAgent,
    "hijacked": lambda: Hijacked,
}


def step_all(env: Any, info: Any) -> None:
    """Play a few steps of a Gymnasium environment."""
    for _ in range(30):
        _, _, _, _, info = env.step(info["action_mask"].argmax(axis=-1))
        if not info["action_mask"].any():
            break
    env.close()


def in_gymnasium(player: Any) -> None:
    env = gymnasium.make("risk_env/Risk-v0", opponents=player, disable_env_checker=True, **GYM)
    step_all(env, env.reset(seed=1)[1])


def in_a_vector(player: Any) -> None:
    env = gymnasium.make_vec(
        "risk_env/Risk-v0", num_envs=1 if isinstance(player, Agent) else 3, opponents=player, **GYM
    )
    step_all(env, env.reset(seed=1)[1])


def in_sb3(player: Any) -> None:
    from risk_training.sb3 import RiskVecEnv

    env = RiskVecEnv(1 if isinstance(player, Agent) else 3, opponents=[player], **GYM)
    env.reset()
    for _ in range(20):
        env.step(env.action_masks().argmax(axis=1))
    env.close()


def in_text(player: Any) -> None:
    env = TextEnv(opponents=player, **GYM)
    env.reset(seed=1)
    assert env.game.num_players == 2


ENTRIES: dict[str, Callable[[Any], Any]] = {
    "Match": lambda player: Match(RULES, BOARD, ["random", player], seed=1).run(),
    "play_game": lambda player: play_game(RULES, BOARD, ["random", player], seed=1),
    "make": lambda player: Match(RULES, BOARD, [make(player), make("random")], seed=1).run(),
    "GameBatch.play": lambda player: GameBatch(RULES, BOARD, 3).play([player, "random"], games=3),
    "arena.play": lambda player: arena.play(RULES, BOARD, [player, "random"], games=3),
    "gymnasium": in_gymnasium,
    "make_vec": in_a_vector,
    "RiskVecEnv": in_sb3,
    "TextEnv": in_text,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("entry", ENTRIES)
def test_every_kind_plays_wherever_players_are_named(entry: str, kind: str) -> None:
    before = Hijacked.asked
    ENTRIES[entry](KINDS[kind]())
    assert kind != "hijacked" or Hijacked.asked > before


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize(
    ("player", "said"),
    [
        (3, "player=3: must be a registered name"),
        (Both(), "has both act and act_batch"),
        (Both, "has both act and act_batch"),
        (type("Two", (First, FirstOfMany), {}), "derive the class from risk_env.Agent or from"),
        ("growser", "did you mean 'grower'|unknown"),
        ("bot.py:Mine", r"pass risk_agents\.load\('bot\.py:Mine'\)"),
    ],
)
def test_who_is_no_player_is_named(entry: str, player: Any, said: str) -> None:
    if entry in ("make", "play_game") and player == "bot.py:Mine":
        said = "does not exist"
    with pytest.raises(ValueError, match=said):
        ENTRIES[entry](player)


def test_one_object_plays_one_seat() -> None:
    three = RULES.replace(num_players=3)
    calls: list[Callable[[Agent], Any]] = [
        lambda agent: Match(three, BOARD, [agent, "random", agent], seed=1),
        lambda agent: arena.play(three, BOARD, [agent, "random", agent], games=1),
        lambda agent: SingleSeatVector(RULES, BOARD, 2, agent),
        lambda agent: SingleSeatVector(three, BOARD, 1, agent).reset(1),
        lambda agent: TextEnv(opponents=agent, **{**GYM, "num_players": 3}),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="an agent plays one seat of one game at a time"):
            call(First())


def test_a_plain_object_of_the_caller_stays_open() -> None:
    closed = []

    class Plain(PlainAgent):
        def close(self) -> None:
            closed.append(self)

    play_game(RULES, BOARD, [Plain(), "random"], seed=1)
    assert not closed
    play_game(RULES, BOARD, [Plain, "random"], seed=1)
    assert len(closed) == 1


def test_all_players_are_closed_even_if_some_fail() -> None:
    closed = []

    class Stuck(First):
        def close(self) -> None:
            closed.append(self)
            raise OSError(f"player {len(closed)}")

    with pytest.raises(OSError, match="player 2"):
        Match(RULES, BOARD, [Stuck(), Stuck()], seed=1).close()
    table = Arena(GameBatch(RULES, BOARD, 2, seed=1, autoreset=False), [Stuck, Stuck])
    table.numbers[:, :2] = [0, 1]
    table.batch.reset()
    table.seat_players(np.arange(2))
    with pytest.raises(OSError, match="player 6"):
        table.close()
    assert len(set(closed)) == 6


@pytest.mark.parametrize("kind", [First, PlainAgent])
def test_a_factory_makes_a_new_agent_for_each_seat(kind: Any) -> None:
    agent = kind()
    with pytest.raises(ValueError, match="an agent plays one seat of one game at a time"):
        SingleSeatVector(RULES, BOARD, 2, lambda: agent).reset(1)
    SingleSeatVector(RULES, BOARD, 1, lambda: agent, seat=0).reset(1)


class Unfit(First):
    """An agent that cannot begin a game."""

    name = "unfit"
    closed = 0

    def prepare(self, rules: Any, board: Any) -> None:
        raise OSError("no such file")

    def close(self) -> None:
        Unfit.closed += 1


class Confused(First):
    """An agent whose `reset` fails."""

    name = "unfit"

    def reset(self, seat: int, rules: Any, board: Any, seed: int) -> None:
        raise OSError("no such file")


@pytest.mark.parametrize("player", [Unfit(), Unfit, Confused(), Confused])
@pytest.mark.parametrize("entry", ["Match", "arena.play"])
def test_an_agent_that_cannot_begin_is_a_fault(entry: str, player: Any) -> None:
    closed = Unfit.closed
    with pytest.raises(PlayerFault, match=r"unfit at seat [01]: OSError: no such file"):
        ENTRIES[entry](player)
    if player is Unfit and entry == "arena.play":
        assert Unfit.closed == closed + 1


def test_a_player_whose_truth_value_is_false_plays() -> None:
    class Empty(First):
        def __len__(self) -> int:
            return 0

    class EmptyBot(CompiledAgent):
        def __len__(self) -> int:
            return 0

    made = []
    table = Arena(GameBatch(RULES, BOARD, 1, seed=5, autoreset=False), [lambda: made.append(0) or Empty()])
    table.numbers[:, 0] = 0
    for _ in range(2):
        table.batch.begin([0])  # type: ignore[arg-type]
        table.seat_players(np.arange(1))
    assert len(made) == 1
    empty, usual = (Match(RULES, BOARD, [bot, "random"], seed=5) for bot in (EmptyBot(grower.BOT), "grower"))
    assert empty.run() == usual.run() and empty.game == usual.game and empty._chance == usual._chance
    view = View(empty.game, 0, history=type("Log", (list,), {"__call__": lambda self, seat: "mine"})())
    assert view.events == "mine"


def test_a_factory_makes_agents() -> None:
    with pytest.raises(TypeError, match="a factory of agents must return an Agent"):
        Match(RULES, BOARD, ["random", lambda: 3], seed=1)  # type: ignore[list-item, return-value]


@pytest.fixture
def file(tmp_path: Path) -> str:
    """Write a file with a class of each kind."""
    path = tmp_path / "mine.py"
    path.write_text(SOURCE, encoding="utf-8")
    return str(path)


SPECS = {"First": AgentFactory, "FirstOfMany": Policy, "Plain": AgentFactory, "grower": CompiledBot}


@pytest.mark.parametrize("name", SPECS)
def test_specs_stand_for_the_same_kinds(name: str, file: str) -> None:
    spec = name if name == "grower" else f"{file}:{name}"
    assert isinstance(load(spec), SPECS[name]) and isinstance(make(spec), Agent)
    assert len(play_piece(spec, "random", RULES, BOARD, range(2), seed=1)) == 4
    assert len(play_piece("random", spec, RULES, BOARD, range(2), seed=1)) == 4
    decisions = next(record(RecordingSpec(RULES, BOARD, (spec,), seed=1)))
    assert len(decisions.actions) > 0
    assert isinstance(find_player(load(spec)), SPECS[name])


def test_a_policy_in_a_file_plays_a_tournament(file: str) -> None:
    config = make_config([f"{file}:FirstOfMany", "random"], RULES, "tiny", time_limit=50.0)
    pool = PlayerPool(config)
    try:
        (result, *_) = [play_single(config, pairing, pool) for pairing in config.schedule(2)]
    finally:
        pool.close()
    assert result.forfeit_reason == "" and sum(result.decisions) > 0


def test_a_trained_file_is_loaded_once_until_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "policy.npz"
    shutil.copy(duelist.FILE, path)
    first = loaded(str(path))
    assert loaded(str(path)) is first
    os.utime(path, (1, 1))
    assert loaded(str(path)) is not first
    path.unlink()
    with pytest.raises(ValueError, match="policy"):
        loaded(str(path))


def test_specs_that_are_refused(file: str) -> None:
    for name, said in (
        ("Both", "has both act and act_batch"),
        ("OBJECT", "name its class"),
        ("Nobody", "does not define 'Nobody'"),
        ("Agent.name", "does not define 'Agent.name'"),
        ("NUMBER", "NUMBER.*player=7: must be a registered name"),
    ):
        with pytest.raises(ValueError, match=said):
            load(f"{file}:{name}")
    assert isinstance(load("cmd:./bot --fast"), AgentFactory)
    assert isinstance(make(f"{file}:first"), Agent)  # a function that makes agents
    with pytest.raises(ValueError, match="is not a CompiledBot: pass a CompiledBot"):
        compiled("strategist")


# ---------------------------------------------------------------------------------------------------- states


def test_a_state_belongs_to_a_seat_of_a_lane_and_to_one_game() -> None:
    batch = GameBatch(RULES, BOARD, 3, seed=4, autoreset=False)
    table = Arena(batch, [Alternating()], counts=True)
    table.numbers[:, :2] = 0
    ended = 0

    def begin(lanes: Any, numbers: Any) -> None:
        batch.begin_seeded(lanes, numbers)
        table.seat_players(lanes)

    for lanes, _ in table.run_games(8, begin):
        (seated,) = table.in_python
        assert (seated._state[lanes, :, 0] == table.tally.decisions[lanes]).all()  # type: ignore[attr-defined]
        ended += len(lanes)
    assert ended == 8


def test_a_match_keeps_the_same_states() -> None:
    policy = Alternating()
    results = arena.play(RULES, BOARD, [policy, policy], games=4, seed=7)
    for lane, result in enumerate(results):
        match = Match(RULES, BOARD, [policy, policy], seed=7, lane=lane)
        match.run()
        assert (result["winner"], result["decisions"]) == (match.game.winner, len(match.game.actions))
        assert [int(player.state[0, 0]) for player in match.players] == match.decisions.tolist()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (
            type("Wrong", (FirstOfMany,), {"initial_state": lambda self, count: np.zeros(7)}),
            r"not \(1, \.\.\.\)",
        ),
        (
            type("Wrong", (FirstOfMany,), {"initial_state": lambda self, count: np.zeros(count)}),
            r"\(actions, state\)",
        ),
        (
            type("Wrong", (FirstOfMany,), {"act_batch": lambda self, *seen: (0, None)}),
            "act_batch must return",
        ),
        (
            type("Wrong", (FirstOfMany,), {"act_batch": lambda self, *seen: [-1] * len(seen[2])}),
            "is not legal",
        ),
        (type("Wrong", (FirstOfMany,), {"observation": "pixels"}), "observation='pixels': choose one of"),
    ],
)
def test_a_policy_that_answers_wrongly_is_named(policy: Any, said: str) -> None:
    for play in (ENTRIES["arena.play"], ENTRIES["Match"]):
        with pytest.raises((ValueError, PlayerFault), match=said):
            play(policy)


def test_a_policy_chooses_its_form_of_observations() -> None:
    class Structured(FirstOfMany):
        observation = "structured"

        def act_batch(self, observations: Any, masks: Any, seats: Any, state: Any = None) -> Any:
            assert observations["territories"].shape[:2] == (len(seats), BOARD.num_territories)
            return masks.argmax(axis=1)

    for entry in ENTRIES.values():
        entry(Structured())


# -------------------------------------------------------------------------------------------------- histories


def test_agents_in_lanes_see_the_history_that_they_see_in_a_match() -> None:
    seats: list[First] = []

    def witness() -> First:
        seats.append(First())
        return seats[-1]

    batch = GameBatch(RULES, BOARD, 3, seed=5, autoreset=False)
    table = Arena(batch, [witness, "grower"])
    table.numbers[:, :2] = [0, 1]
    batch.reset()
    table.seat_players(np.arange(3))
    table.play_on(np.arange(3))
    for lane in range(3):
        match = Match(RULES, BOARD, [alone := First(), "grower"], seed=5, lane=lane)
        match.run()
        assert seats[lane].seen == alone.seen and alone.seen


def test_a_history_begins_with_a_position_and_needs_all_actions() -> None:
    lanes, text = SingleSeatVector(RULES, BOARD, 1, First(), seat=0), Game(RULES, BOARD, seed=9).to_text()
    lanes.reset(1)
    lanes.place(0, text)
    for _ in range(10):
        lanes.step(lanes.masks().argmax(axis=1))
    table = Arena(GameBatch(RULES, BOARD, 1, seed=5, autoreset=False), [First])
    table.numbers[:, :2] = 0
    table.batch.begin([0])  # type: ignore[arg-type]
    table.seat_players(np.arange(1))
    table.batch.step_lanes(np.arange(1), table.batch.game(0).legal_actions()[-1:])
    with pytest.raises(PlayerFault, match="a game whose actions were all played by the arena"):
        table.play_on(np.arange(1))


@pytest.mark.parametrize("kind", ["class of agents", "policy with a state"])
def test_copies_keep_the_memories_of_players(kind: str) -> None:
    env = gymnasium.make_vec("risk_env/Risk-v0", num_envs=2, opponents=KINDS[kind](), **GYM)
    _, info = env.reset(seed=3)
    other = copy.deepcopy(env)
    for _ in range(40):
        actions = info["action_mask"].argmax(axis=1)
        told = [each.step(actions) for each in (env, other)]
        info = told[0][4]
        assert np.array_equal(told[0][0], told[1][0]) and np.array_equal(told[0][1], told[1][1])
    with pytest.raises(ValueError, match="state_dict cannot hold the memory"):
        env.unwrapped.lanes.state_dict()  # type: ignore[attr-defined]
