"""`risk_training.league`: kept players, draw probabilities, and a saved league that continues unchanged."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from risk_training.league import League, LeagueSettings, snapshot_name, thinned


def league(**settings: Any) -> League:
    return League(LeagueSettings(**settings), seed=3)


def tell(pool: League, name: str, won: int, lost: int) -> None:
    for points in [1.0] * won + [0.0] * lost:
        pool.record(name, points)


def test_bots_alone_are_drawn_until_there_is_a_snapshot() -> None:
    pool = league(bots=("random", "grower"), snapshot_share=0.8)
    assert pool.names == ["random", "grower"] and pool.weights().tolist() == [0.5, 0.5]
    pool.add_snapshot(10)
    assert pool.names == ["random", "grower", "snapshot-10"]
    np.testing.assert_allclose(pool.weights(), [0.1, 0.1, 0.8])


def test_a_league_of_snapshots_only() -> None:
    pool = league(bots=(), latest_share=0.5, floor=0.0)
    with pytest.raises(ValueError, match="needs a snapshot"):
        pool.draw(1)
    pool.add_snapshot(1)
    assert pool.draw(2) == ["snapshot-1", "snapshot-1"]
    pool.add_snapshot(2)
    np.testing.assert_allclose(pool.weights(), [0.25, 0.75])


def test_who_still_beats_the_learner_comes_more_often() -> None:
    pool = league(bots=("random", "attacker", "grower"), floor=0.0, horizon=1e9, smoothing=2.0)
    tell(pool, "random", 97, 1)
    tell(pool, "attacker", 49, 49)
    tell(pool, "grower", 1, 97)
    np.testing.assert_allclose([pool.win_rate(name) for name in pool.names], [0.98, 0.5, 0.02])
    np.testing.assert_allclose(pool.weights(), np.array([0.02, 0.5, 0.98]) / 1.5)


@pytest.mark.parametrize(
    ("priority", "expected"),
    [("hard", [0.01, 0.25, 0.81]), ("close", [0.0081, 0.0625, 0.0081]), ("even", [1, 1, 1])],
)
def test_priorities(priority: str, expected: list[float]) -> None:
    pool = league(bots=("a", "b", "c"), priority=priority, power=2, floor=0.1, horizon=1e9, smoothing=2.0)
    for name, won in (("a", 89), ("b", 49), ("c", 9)):
        tell(pool, name, won, 98 - won)
    weights = 0.9 * np.array(expected) / sum(expected) + 0.1 / 3
    np.testing.assert_allclose(pool.weights(), weights, rtol=1e-6)


def test_draws_follow_the_weights() -> None:
    pool = league(bots=("random", "grower"), floor=0.0)
    tell(pool, "random", 100, 0)
    drawn = pool.draw(20_000)
    assert drawn.count("random") / 20_000 == pytest.approx(pool.weights()[0], abs=0.01)
    assert drawn.count("random") < drawn.count("grower") / 5


def test_old_results_fade() -> None:
    pool = league(bots=("grower",), horizon=20)
    tell(pool, "grower", 0, 200)
    assert pool.win_rate("grower") < 0.2 and pool.state_dict()["standings"]["grower"]["games"] < 20.1
    tell(pool, "grower", 200, 0)
    assert pool.win_rate("grower") > 0.8


def test_the_newest_snapshots_are_kept_and_a_spread_of_older_ones() -> None:
    pool = league(bots=("random",), window=3, history=4)
    gone = [name for steps in range(100, 10_100, 100) for name in pool.add_snapshot(steps)]
    kept = [int(name.removeprefix("snapshot-")) for name in pool.snapshots]
    assert kept[0] == 100 and kept[-3:] == [9800, 9900, 10_000] and len(kept) == 7
    assert max(np.diff(kept[:5])) <= 3 * min(np.diff(kept[:5]))
    assert len(gone) == 93 and not set(gone) & set(pool.snapshots)


def test_a_snapshot_that_left_is_forgotten() -> None:
    pool = league(bots=("random",), window=1, history=0)
    pool.add_snapshot(1)
    assert pool.add_snapshot(2) == ["snapshot-1"]
    pool.record("snapshot-1", 1.0)
    assert pool.names == ["random", "snapshot-2"] and len(pool.weights()) == 2


def test_thinning_keeps_order_and_number() -> None:
    assert thinned([1, 2, 3], 2, 1) == [1, 2, 3]
    assert thinned([1, 2, 3], 2, 0) == [2, 3]
    assert thinned([1, 2, 50, 60, 70], 1, 2) == [1, 50, 70]


def test_a_saved_league_goes_on_as_if_nothing_had_happened() -> None:
    pool = league(bots=("random", "grower"), window=2, history=2)
    for steps in range(1, 6):
        pool.add_snapshot(steps)
        tell(pool, snapshot_name(steps), steps, 3)
    pool.draw(5)
    other = League(pool.settings, seed=9)
    other.load_state_dict(json.loads(json.dumps(pool.state_dict())))
    for one in (pool, other):
        tell(one, "grower", 3, 9)
        one.add_snapshot(77)
    assert pool.draw(50) == other.draw(50) and pool.names == other.names
    assert pool.state_dict() == other.state_dict()


@pytest.mark.parametrize(
    "settings",
    [
        {"bots": ("random", "random")},
        {"snapshot_share": 1.5},
        {"window": 0},
        {"history": -1},
        {"floor": -0.1},
        {"smoothing": 0},
        {"horizon": 0.5},
        {"priority": "soft"},
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        LeagueSettings(**settings)


def test_wrong_calls_are_refused() -> None:
    pool = league(bots=("random",))
    with pytest.raises(ValueError, match="grower"):
        pool.record("grower", 1.0)
    with pytest.raises(ValueError, match="points=2"):
        pool.record("random", 2)
    pool.add_snapshot(5)
    with pytest.raises(ValueError, match="steps=5"):
        pool.add_snapshot(5)
