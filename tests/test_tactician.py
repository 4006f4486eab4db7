"""`tactician`: it tries the turns that its policy prefers, and plays the one with the best value."""

from __future__ import annotations

import numpy as np
import pytest

from risk_agents.registry import load, play_game
from risk_agents.scripted import grower
from risk_agents.search import beam, tactician
from risk_env import Game, load_map
from risk_env.agent import CompiledAgent, View
from risk_env.arena import play
from risk_env.board.rules import Rules
from risk_env.core.types import Phase
from risk_training.turn_policy import Config
from tests.positions import position

BOARD = load_map("classic")


def table(players: int) -> Rules:
    return Config().rules_for(players)


@pytest.mark.parametrize("players", [2, 6])
def test_it_is_the_same_in_a_batch_and_alone(players: int) -> None:
    rules, bots = table(players), [tactician.BOT, beam.BOT, *[grower.BOT] * (players - 2)]
    together = play(rules, BOARD, bots, games=4, seed=3)
    alone = [play_game(rules, BOARD, bots, seed=3, lane=lane) for lane in range(4)]
    assert together["decisions"].tolist() == [len(game.actions) for game in alone]
    assert together["winner"].tolist() == [game.winner for game in alone]


@pytest.mark.parametrize("players", [2, 6])
def test_what_is_hidden_changes_no_choice(players: int) -> None:
    agents = [CompiledAgent(tactician.BOT) for _ in range(2)]
    for agent in agents:
        agent.reset(0, table(players), BOARD, 5)
    others = CompiledAgent(grower.BOT)
    others.reset(1, table(players), BOARD, 0)
    game, asked = Game(table(players), BOARD, seed=2), 0
    while asked < 40 and not game.is_over:
        if game.seat != 0:
            game.step(others.act(View(game)))
            continue
        actions = [
            agent.act(View(shown))
            for agent, shown in zip(agents, (game, game.determinize(0, 9)), strict=True)
        ]
        assert actions[0] == actions[1]
        asked += game.phase >= Phase.TRADE
        game.step(actions[0])


def test_it_takes_the_plan_that_wins_now() -> None:
    """`raider` would stop after the first of the two last captures, and other plans might."""
    game = position("classic, num_players=2, attack=blitz", "rest, Alaska 30, Kamchatka 30, Alberta 30",
                    "Northwest Territory, Japan", phase="draft", draft_left="3")  # fmt: skip
    agent = CompiledAgent(tactician.BOT)
    agent.reset(0, game.rules, BOARD, 1)
    for _ in range(30):
        if game.is_over or game.turn != 0:
            break
        game.step(agent.act(View(game)))
    assert game.is_over and game.winner == 0


@pytest.mark.long
def test_it_beats_the_bots_whose_turns_it_chooses_among() -> None:
    names = ["breaker", "hunter", "grower"]
    places = np.arange(60) % 3
    line_ups = (np.arange(3) != places[:, None]) * (1 + np.arange(60)[:, None] // 3 % 3)
    results = play(
        table(3), BOARD, [tactician.BOT, *names], 60, seed=1, line_ups=line_ups, deals=np.arange(60) // 3
    )
    assert (results["winner"] == places).mean() > 0.45  # an even share is 33 %


def test_it_refuses_games_that_its_value_does_not_know() -> None:
    rules = Config(preset="secret_mission", players=3, tables=(3,)).rules_for(3)
    with pytest.raises(ValueError, match="'tactician' was trained for victory='domination', not 'mission'"):
        load("tactician").check(rules, BOARD)
