"""Flat Monte Carlo search that sees neither hidden cards nor future dice.

    python examples/search.py [--games 30] [--playouts 48]

The search plays each legal action in copies of the game. In every copy, all facts that the seat does not
know, and all future dice and cards, are redrawn. A compiled bot then plays all seats of the copies, in the
lanes of one `Arena`. The search chooses the action with the highest mean result.

The program plays games against two `hunter`s on the map `tiny`: first the bot alone, then the search. With
the defaults, the bot wins 11 of 30 games and the search 17. See docs/search.md.
"""

import argparse

import numpy as np

from risk_env import Agent, GameBatch, Match, Rules, load_map
from risk_env.arena import Arena

RULES = Rules.preset("classic", num_players=3, profile="fast")
BOARD = load_map("tiny")
TURNS = 2  # number of turns of the seat that are played before the result of a copy is estimated


class FlatSearch(Agent):
    """An agent that chooses the action with the best mean result in sampled games."""

    name = "flat search"

    def __init__(self, playouts: int = 48, bot: str = "grower", lanes: int = 256) -> None:
        self.playouts = playouts
        self.batch = GameBatch(RULES, BOARD, lanes, observation=None, mask=None, autoreset=False)
        self.arena = Arena(self.batch, [bot])
        self.arena.numbers[:] = 0  # the bot plays every seat

    def act(self, view):
        """Return the action with the highest mean result."""
        actions = view.legal_actions
        each = max(1, min(self.playouts, self.batch.num_games) // len(actions))
        # the same samples for every action, so that the comparison is less noisy
        seeds = view.rng.integers(2**31, size=each)
        games = [view.sample(int(seed)) for _ in actions for seed in seeds]
        for number, game in enumerate(games):
            game.step(int(actions[number // each]))  # also plays dice, cards and forced actions
        return int(actions[self.results(games, view.seat).reshape(len(actions), each).mean(axis=1).argmax()])

    def results(self, games, seat):
        """Continue games with the bot, and return the estimated results of a seat, float64 (k,)."""
        lanes = np.arange(len(games))
        self.batch.load(lanes, games)
        self.arena.seat_players(lanes)
        self.arena.stop_at_turn[:] = self.arena.stop_at_death[:] = seat
        for _ in range(TURNS):
            self.arena.play_on(lanes)  # to the seat's next turn, its elimination or the end
        records = self.batch.records[lanes]
        owned = records["owner"][:, : BOARD.num_territories] == seat
        troops = records["troops"][:, : BOARD.num_territories]
        share = (troops * owned).sum(axis=1) / troops.sum(axis=1)
        return np.where(records["winner"] >= 0, records["winner"] == seat, share)


def wins(player, games, opponent="hunter"):
    """Return the number of games that a player wins. The player changes seats after every game."""
    won = 0
    for number in range(games):
        seat = number % RULES.num_players
        players = [opponent] * RULES.num_players
        players[seat] = player
        match = Match(RULES, BOARD, players, seed=number)
        match.run()
        won += match.game.winner == seat
    return won


def main():
    """Compare the search with the bot that the search uses."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--games", type=int, default=30, help="number of games (default: 30)")
    parser.add_argument("--playouts", type=int, default=48, help="sampled games per decision (default: 48)")
    arguments = parser.parse_args()
    for name, player in (("grower", "grower"), ("search with grower", FlatSearch(arguments.playouts))):
        print(f"{name}: {wins(player, arguments.games)} of {arguments.games} games won")


if __name__ == "__main__":
    main()
