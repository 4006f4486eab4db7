"""Habits of the players of rollouts (`risk_agents.search.opponents`), counted in games between these players.

    python -m research.habits --games 300

The command writes `agents/risk_agents/search/habits.json`.
"""

from __future__ import annotations

import argparse
import json

import numpy as np

from benchmarks.arguments import at_least_one
from risk_agents.search.opponents import FILE, HabitCounter, Habits
from risk_agents.search.strategist import PLAYERS
from risk_env.board.maps import load_map
from risk_env.board.rules import Rules
from risk_env.game import Game
from risk_env.match import Match
from risk_env.seeds import game_seed

SEED = 39
NUM_PLAYERS = (3, 4, 5, 6)


def main() -> None:
    """Play the games, and write the habits into FILE."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--games", type=at_least_one, default=300, help="number of games (default: 300)")
    games = parser.parse_args().games
    chance, board = np.random.default_rng(SEED), load_map("classic")
    total = {player.name: Habits() for player in PLAYERS}
    for number in range(games):
        seats = NUM_PLAYERS[number % len(NUM_PLAYERS)]
        line_up = [PLAYERS[k] for k in chance.permutation(len(PLAYERS))[:seats]]
        rules = Rules.preset("classic", seats, setup="deal", profile="fast")
        match = Match.of(Game(rules, board, seed=game_seed(SEED, number)), line_up)
        match.run()
        counters = [HabitCounter() for _ in line_up]
        for event in match.game.events():
            if 0 <= event.seat < seats:
                counters[event.seat].count(event)
        for player, counter in zip(line_up, counters, strict=True):
            total[player.name].captures += counter.habits.captures
            total[player.name].trades += counter.habits.trades
    measured = {
        name: {"captures": habits.captures.astype(int).tolist(), "trades": habits.trades.astype(int).tolist()}
        for name, habits in total.items()
    }
    rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(habits)}" for name, habits in measured.items())
    FILE.write_text("{\n" + rows + "\n}\n", encoding="utf-8")
    print(f"habits written to {FILE}")


if __name__ == "__main__":
    main()
