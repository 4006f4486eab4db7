"""GameBatch: the same games as `Game` for every size of batch; ends, rewards, buffers, errors."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable

import numpy as np
import pytest

from risk_env import Game, GameBatch, IllegalAction, Rules, presets
from risk_env.arena import Arena, play
from risk_env.bots import CompiledBot
from risk_env.compiler import JIT_DISABLED, PLAIN, entry_point
from risk_env.core.types import Phase
from risk_env.engine.prefetch import NEAR_ROWS
from risk_env.engine.work_stealing import CHECKED, NEXT, SECOND, Sharing, call_all, new_signals
from risk_env.engine.work_stealing import FIRST as CHECK

TINY = Rules.preset(
    "classic", 3, setup="random", attack="blitz", defender_dice="max", max_rounds=20, initial_troops=6
)


@entry_point
def choose_first(games, boards, rules, lanes, randoms, memory, actions):
    """Choose the first legal action, or the last one in attacks, so that the game progresses."""
    for k in range(len(lanes)):
        legal = games[lanes[k]].legal
        for action in range(64 * len(legal)):
            if (int(legal[action >> 6]) >> (action & 63)) & 1:
                actions[lanes[k]] = action
                if games[lanes[k]].phase != Phase.TRADE:
                    break


FIRST = CompiledBot("first", "1", choose_first)


def state_of(batch: GameBatch) -> list[bytes]:
    """Return the games and all outputs of a step."""
    return [part.tobytes() for part in batch.__reduce__()[1][2]]


def legal_choice(mask: np.ndarray, step: int) -> np.ndarray:
    """Return a legal action in every lane, a different one at every step."""
    weights = mask * np.random.default_rng(step).random(mask.shape[1])
    return weights.argmax(axis=1)


def run(batch: GameBatch, steps: int, lanes: int) -> list[bytes]:
    """Play, and return the bytes of the first lanes' records after every step."""
    _, mask, _ = batch.reset()
    states = []
    for step in range(steps):
        _, mask, *_ = batch.step(legal_choice(mask, step))
        states.append(batch.records[:lanes].tobytes())
    return states


def test_games_do_not_depend_on_batch_size_or_threads() -> None:
    expected = run(GameBatch(TINY, "tiny", 4, seed=3), 300, 4)
    assert run(GameBatch(TINY, "tiny", 37, seed=3), 300, 4) == expected
    assert run(GameBatch(TINY, "tiny", 5, seed=3, threads=2), 300, 4) == expected  # too few to share
    assert run(GameBatch(TINY, "tiny", NEAR_ROWS + 1, seed=3), 100, 4) == expected[:100]  # fetched ahead
    assert run(GameBatch(TINY, "tiny", 4, seed=4), 300, 4) != expected


def test_threads_change_nothing_and_games_end_in_each() -> None:
    alone, shared = (GameBatch(TINY, "tiny", 200, seed=3, threads=threads) for threads in (1, 3))
    _, mask, _ = alone.reset()
    shared.reset()
    ended = np.zeros(200, np.bool_)
    for step in range(150):
        actions = legal_choice(mask, step)
        expected, found = alone.step(actions), shared.step(actions)
        mask = expected[1]
        assert all(np.array_equal(one, other) for one, other in zip(expected, found, strict=True))
        assert alone.records.tobytes() == shared.records.tobytes()
        assert np.array_equal(alone.final_observation, shared.final_observation)
        ended |= alone.game_over
    assert all(ended[lanes].any() for lanes in shared._shares) and len(shared._shares) == 3


@pytest.mark.parametrize("preset", presets())
def test_a_lane_is_a_game(preset: str) -> None:
    """Equal seed, lane and episode give the same record, mask, view, seat and results as `Game`."""
    rules = Rules.preset(preset, max_rounds=2)
    batch = GameBatch(rules, "classic", 3, seed=11)
    observation, mask, seat = batch.reset()
    games = [Game(rules, seed=11, lane=lane) for lane in range(3)]
    for step in range(400):
        for lane, game in enumerate(games):
            assert game.record.tobytes() == batch.records[lane].tobytes()
            assert (mask[lane] == game.action_mask()).all()
            assert seat[lane] == game.seat
            assert (observation[lane] == game.observe_codes(game.seat)).all()
        actions = legal_choice(mask, step)
        observation, mask, seat, *_ = batch.step(actions)
        for lane, game in enumerate(games):
            game.step(int(actions[lane]))
            assert batch.game_over[lane] == game.is_over
            if game.is_over:
                assert (batch.final_placement[lane] == game.placements()).all()
                assert batch.final_rounds[lane] == game.round
                for s in range(game.num_players):
                    assert (batch.final_observation[lane, s] == game.observe_codes(s)).all()
                games[lane] = Game(rules, seed=11, lane=lane, episode=int(batch.episodes[lane]))


def play_out(batch: GameBatch, steps: int = 4000) -> list[tuple[np.ndarray, ...]]:
    """Return each seat's sums of rewards, terminated and truncated, and (winner, truncated), by game."""
    _, mask, _ = batch.reset()
    P = batch.num_players
    total = np.zeros((batch.num_games, P))
    ended = np.zeros((batch.num_games, P), int)
    games = []
    for step in range(steps):
        _, mask, _, reward, terminated, truncated = batch.step(legal_choice(mask, step))
        total += reward
        ended += terminated.astype(int) + truncated
        for lane in np.flatnonzero(batch.game_over):
            places = batch.final_placement[lane].copy()
            games.append((total[lane].copy(), ended[lane].copy(), truncated[lane].copy(), places))
            total[lane], ended[lane] = 0, 0
    return games


@pytest.mark.parametrize("kind", ["win", "placement"])
def test_every_seat_ends_once_and_is_paid_its_due(kind: str) -> None:
    games = play_out(GameBatch(TINY.replace(max_rounds=8), "tiny", 16, seed=1, reward=kind))
    assert len(games) > 100
    assert any(truncated.any() for _, _, truncated, _ in games)
    assert any(not truncated.any() for _, _, truncated, _ in games)
    for total, ended, truncated, places in games:
        assert (ended == 1).all()
        due = {"win": np.where(places == 1, 1.0, -0.5), "placement": 2.0 - places}[kind]
        assert total == pytest.approx(np.where(truncated, 0.0, due))


def test_without_autoreset_a_finished_game_stays() -> None:
    batch = GameBatch(TINY, "tiny", 8, seed=1, autoreset=False, observation="structured")
    observation, mask, seat = batch.reset()
    assert observation["territories"].shape == (8, 6, 16)
    for step in range(3000):
        observation, mask, seat, reward, *_ = batch.step(legal_choice(mask, step))
        if batch.game_over.all():
            break
    assert batch.game_over.all()
    assert (seat == -1).all()
    assert not mask.any()
    before = batch.records.tobytes()
    _, _, _, reward, terminated, truncated = batch.step(np.zeros(8, int))
    assert batch.records.tobytes() == before
    assert not reward.any() and not terminated.any() and not truncated.any()
    assert (batch.episodes == 0).all()
    batch.reset()
    assert (batch.episodes == 1).all()


def test_bits_and_bytes_are_the_same_mask() -> None:
    bits, bytes_ = (GameBatch(TINY, "tiny", 5, seed=2, mask=kind) for kind in ("bits", "bytes"))
    words, mask = bits.reset()[1], bytes_.reset()[1]
    for step in range(200):
        unpacked = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little", count=bits.num_actions)
        assert (unpacked == mask).all()
        actions = legal_choice(mask, step)
        words, mask = bits.step(actions)[1], bytes_.step(actions)[1]


def test_buffers_are_lent() -> None:
    batch = GameBatch(TINY, "tiny", 4)
    observation, mask, seat = batch.reset()
    again = batch.step(mask.argmax(axis=1))
    assert np.shares_memory(observation, again[0])
    assert np.shares_memory(mask, again[1])
    assert np.shares_memory(seat, again[2])


def test_an_illegal_action_steps_no_lane() -> None:
    batch = GameBatch(TINY, "tiny", 4)
    _, mask, _ = batch.reset()
    actions = mask.argmax(axis=1)
    actions[2] = mask[2].argmin()
    before = batch.records.tobytes()
    with pytest.raises(IllegalAction, match=r"lane 2: \d+ is not legal in phase \w+; legal: \w+"):
        batch.step(actions)
    assert batch.records.tobytes() == before
    for wrong in (np.zeros(3, int), np.zeros(4), [[0] * 4], "0000"):
        with pytest.raises(ValueError, match="actions must be"):
            batch.step(wrong)
    with pytest.raises(ValueError, match="reset"):
        GameBatch(TINY, "tiny", 4).step(np.zeros(4, int))


def test_lanes_and_actions_are_read_as_they_are_whatever_their_layout() -> None:
    plain, other = (GameBatch(TINY, "tiny", 8, seed=4) for _ in range(2))
    lanes = np.array([1, 4, 6])
    mask = plain.reset()[1]
    other.reset()
    for step in range(30):
        actions = legal_choice(mask, step)
        plain.step_lanes(lanes, actions)
        plain.ask(lanes)
        spread = np.repeat(actions, 2)[::2], np.repeat(lanes, 3)[::3]
        forms = (
            spread,
            (actions.astype(np.int16), lanes.astype(np.uint8)),
            (actions.tolist(), lanes.tolist()),
        )
        taken, of = forms[step % 3]
        other.step_lanes(of, taken)
        other.ask(of)
        assert state_of(plain) == state_of(other)
    for wrong in (plain.seat == 0, lanes / 2, lanes[:, None], np.array(3)):
        with pytest.raises(ValueError, match="lanes must be a 1-D array of whole numbers, not"):
            plain.ask(wrong)


@pytest.mark.modes
@pytest.mark.parametrize("threads", [pytest.param(1, marks=pytest.mark.long), 3])
def test_the_first_illegal_action_is_named_and_no_buffer_is_written(threads: int) -> None:
    batch = GameBatch(TINY, "tiny", 200, threads=threads)
    _, mask, _ = batch.reset()
    for step in range(12):
        batch.step(legal_choice(mask, step))
    actions = legal_choice(mask, 12)
    wrong = actions.copy()
    wrong[[17, 90, 199]] = mask.argmin(axis=1)[[17, 90, 199]]
    before = state_of(batch)
    for _ in range(2 if JIT_DISABLED else 20):
        with pytest.raises(IllegalAction, match=r"^lane 17: "):
            batch.step(wrong)
    assert state_of(batch) == before
    batch.step(actions)


@pytest.mark.modes
@pytest.mark.skipif(JIT_DISABLED or PLAIN, reason="threads share a full step only by atomic operations")
def test_a_helper_that_is_slow_to_check_is_not_waited_for() -> None:
    batch, alone = (GameBatch(TINY, "tiny", 8, seed=3) for _ in range(2))
    _, mask, _ = batch.reset()
    alone.reset()
    signals, bounds = new_signals(2), np.array([0, 4, 8])
    full_step = batch._bind_full_step()
    for step in range(40):
        legal = legal_choice(mask, step)
        for illegal in (-1, batch.num_actions, None):
            call_all(signals, bounds)
            signals[0, NEXT + CHECK] = 4  # it has taken its part, and is slow
            before = state_of(batch)
            batch._actions[:] = legal
            if illegal is not None:
                batch._actions[2] = illegal
            assert full_step(Sharing(signals, bounds, 1, 0)) == (illegal is None)
            after = state_of(batch)
            assert (after == before) == (illegal is not None)
            signals[1, CHECKED] += 4  # it is done now, when the caller no longer waits for it
            signals[0, NEXT + SECOND] = 0  # as if the caller had not played yet
            full_step(Sharing(signals, bounds, 0, 10))
            assert state_of(batch) == after
        alone.step(legal)
        assert state_of(batch) == state_of(alone)


@pytest.mark.parametrize(
    "wrong",
    [{"num_games": 0}, {"threads": 0}, {"mask": "bool"}, {"observation": "pixels"}, {"reward": "score"}],
)
def test_a_wrong_argument_is_named(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        GameBatch(TINY, "tiny", **wrong)


def test_whole_games_do_not_depend_on_the_lanes() -> None:
    bots = [FIRST] * 3
    few = play(TINY, GameBatch(TINY, "tiny", 1).board, bots, 60, seed=5, lanes=7)
    many = play(TINY, GameBatch(TINY, "tiny", 1).board, bots, 60, seed=5, lanes=60)
    assert (few == many).all()
    assert len(set(few["seed"].tolist())) == 60
    assert ((few["winner"] >= 0) != few["truncated"]).all()
    through_batch = GameBatch(TINY, "tiny", 16).play(bots, games=60, seed=5)
    assert (through_batch == few).all()


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda arena: pickle.loads(pickle.dumps(arena))])
def test_an_arena_can_be_copied_and_plays_on_by_itself(duplicate: Callable[[Arena], Arena]) -> None:
    batch = GameBatch(TINY, "tiny", 8, seed=2)
    batch.reset()
    arena, lanes = Arena(batch, ["random"]), np.arange(8)
    arena.numbers[:] = 0
    arena.seat_players(lanes)
    arena.step(lanes)
    other = duplicate(arena)
    before = batch.records.tobytes()
    for _ in range(20):
        arena.step(lanes)
    assert other.batch.records.tobytes() == before != batch.records.tobytes()
    for _ in range(20):
        other.step(lanes)
    assert other.batch.records.tobytes() == batch.records.tobytes()


def test_a_lane_can_be_looked_at() -> None:
    batch = GameBatch(TINY, "tiny", 2, seed=8)
    batch.reset()
    game = batch.game(1)
    assert game.record.tobytes() == Game(TINY, "tiny", seed=8, lane=1).record.tobytes()
    game.step(int(game.legal_actions()[0]))
    assert game.record.tobytes() != batch.records[1].tobytes()


ON_TINY = [(preset, "tiny") for preset in ("world_domination", "secret_mission", "capital", "world_conquest")]


def assert_written_again(batch: GameBatch) -> None:
    """Check that every lent view equals a view written from scratch."""
    for lane in np.flatnonzero(batch.seat >= 0):
        assert (batch.observation[lane] == batch.game(lane).observe_codes(int(batch.seat[lane]))).all()


def shake(records: np.ndarray, earlier: np.ndarray, players: int, step: int) -> None:
    """Replace the games of all lanes by earlier games and by games of other lanes.

    The observing seats also change.
    """
    chance = np.random.default_rng(step)
    records[:] = np.concatenate([records, earlier])[chance.integers(2 * len(records), size=len(records))]
    looks = (records["seat"] >= 0) & (chance.random(len(records)) < 0.5)
    records["seat"][looks] = chance.integers(players, size=looks.sum())


@pytest.mark.modes
@pytest.mark.parametrize(("preset", "board"), [*((preset, "classic") for preset in presets()), *ON_TINY])
def test_a_lent_view_is_as_if_written_again(preset: str, board: str) -> None:
    """Earlier observers and other games in the lane leave no trace in the view."""
    batch = GameBatch(Rules.preset(preset, max_rounds=6 if board == "classic" else 30), board, 6, seed=4)
    _, mask, _ = batch.reset()
    earlier = batch.records.copy()
    for step in range(10 if JIT_DISABLED else 700):
        batch.step(legal_choice(mask, step))
        assert_written_again(batch)
        if step % 3 == 0:
            now = batch.records.copy()
            shake(batch.records, earlier, batch.num_players, step)
            batch.ask(np.arange(step % 2, 6))
            batch.seat[: step % 2] = batch.records["seat"][: step % 2] = -1
            assert_written_again(batch)
            batch.records[:] = now
            batch.ask(np.arange(6))
            assert_written_again(batch)
        if step % 70 == 0:
            earlier = batch.records.copy()
    batch.reset(seed=5)
    assert_written_again(batch)


def test_an_observation_is_read_only() -> None:
    flat, structured = (GameBatch(TINY, "tiny", 2, observation=kind) for kind in ("flat", "structured"))
    for view in (flat.reset()[0], *structured.reset()[0].values()):
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 0


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda batch: pickle.loads(pickle.dumps(batch))])
@pytest.mark.parametrize(("threads", "autoreset"), [(1, True), (2, False)])
def test_copies_are_independent(
    duplicate: Callable[[GameBatch], GameBatch], threads: int, autoreset: bool
) -> None:
    batch = GameBatch(
        TINY, "tiny", 128, seed=3, threads=threads, autoreset=autoreset, observation="structured"
    )
    never_begun = duplicate(batch)
    _, mask, _ = batch.reset()
    assert np.array_equal(never_begun.reset()[1], mask)
    for step in range(60):
        _, mask, *_ = batch.step(legal_choice(mask, step))
    other = duplicate(batch)
    assert np.array_equal(other.final_placement, batch.final_placement)
    for step in range(60, 120):
        assert np.array_equal(other.action_mask, mask)
        actions = legal_choice(mask, step)
        other.step(actions)
        assert not np.array_equal(other.records, batch.records)
        _, mask, *_ = batch.step(actions)
        assert other.records.tobytes() == batch.records.tobytes()
        for name, values in batch.observation.items():
            assert np.array_equal(other.observation[name], values)


def test_a_reset_forgets_what_the_last_step_brought() -> None:
    batch = GameBatch(TINY, "tiny", 32, seed=3)
    _, mask, _ = batch.reset()
    for step in range(2000):
        _, mask, _, reward, terminated, truncated = batch.step(legal_choice(mask, step))
        if reward.any() and terminated.any() and truncated.any():
            break
    assert batch.game_over.any()
    batch.reset()
    assert not (reward.any() or terminated.any() or truncated.any() or batch.game_over.any())


# ------------------------------------------------------------------------------------------------ limits


@pytest.mark.parametrize("num_games", [10**9, 10**30])
def test_more_games_than_memory_are_refused_at_once(num_games):
    with pytest.raises(ValueError, match=r"num_games=10+ needs about .* GiB of memory, but this machine has"):
        GameBatch(num_games=num_games)
    with pytest.raises(ValueError, match=r"games=10+ needs about .* GiB"):
        GameBatch(num_games=2).play(["random"] * 3, games=10**12 * num_games)


@pytest.mark.parametrize("games", [0, -1, True, 1.5, "x", None])
def test_a_number_of_games_is_checked(games):
    with pytest.raises(ValueError, match=r"games=.*: must be a whole number of at least 1"):
        GameBatch(num_games=2).play(["random"] * 3, games=games)


def test_a_second_thread_is_refused(monkeypatch):
    """During a step, `step` and `reset` of another thread raise and do not disturb the step."""
    batch, reference = GameBatch(num_games=2, seed=3), GameBatch(num_games=2, seed=3)
    (_, mask, _), _ = batch.reset(seed=3), reference.reset(seed=3)
    actions = mask.argmax(1)
    inside, go_on = threading.Event(), threading.Event()

    def slowly(given, check=batch.as_actions):
        inside.set()
        assert go_on.wait(30)
        return check(given)

    monkeypatch.setattr(batch, "as_actions", slowly)
    thread = threading.Thread(target=batch.step, args=(actions,))
    thread.start()
    assert inside.wait(30)
    for call in (lambda: batch.step(actions), batch.reset):
        with pytest.raises(RuntimeError, match="another thread"):
            call()
    go_on.set()
    thread.join()
    reference.step(actions)
    assert batch.records.tobytes() == reference.records.tobytes()
    monkeypatch.undo()
    with pytest.raises(ValueError):
        batch.step(np.zeros(5, np.int64))
    batch.reset()  # an error does not leave the batch locked
