"""`risk_training.tune_beam`: every game has its own weights, and what wins is found."""

from __future__ import annotations

import numpy as np
import pytest

from risk_agents.search.evaluation import LEAST_CHANCE, NUM_WEIGHTS, WEIGHTS
from risk_agents.workers import InProcess
from risk_env.board.rules import Rules
from risk_training.tune_beam import MOST_SURE, bent, main, play, straight, sureness


def test_weights_come_back_as_they_were() -> None:
    assert np.allclose(straight(bent(WEIGHTS)[None])[0], WEIGHTS)


def test_the_weight_that_wins_is_found() -> None:
    chance = np.random.default_rng(0)
    draws = chance.normal(size=(4000, NUM_WEIGHTS))
    found = sureness(draws, chance.random(4000) < 0.5 + 0.1 * draws[:, 3])
    assert found[3] == MOST_SURE and (abs(np.delete(found, 3)) < MOST_SURE).all()


def test_every_game_is_played_by_its_own_weights() -> None:
    games = 40
    weights = np.tile(WEIGHTS, (games, 1))
    weights[::2, LEAST_CHANCE] = 2.0  # never sure enough to attack
    won = play(InProcess(), Rules.preset("classic", 2, max_rounds=40), weights, np.random.default_rng(0))
    assert won[1::2].sum() > 5 and not won[::2].any()


def test_the_command_prints_the_weights_of_every_round(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--players", "2", "--rounds", "2", "--games", "6"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["round 1", "round 2"] and all(
        "now [" in line for line in lines
    )
