"""Tuning of the weights of `beam` for a number of players, in games against other bots.

In every game, `beam` plays one seat with the present weights plus random perturbations. Bots drawn from
OPPONENTS play the other seats. After each round, a linear regression of the results on the perturbations
estimates a slope for each weight. The present weights then move along the slopes. The more certain a slope,
the larger the step (an evolution strategy with mirrored sampling; Salimans et al. 2017).

    python -m research.tune_beam [--players 3] [--preset classic] [--rounds 16] [--games 800] [--seed 1] ...

After each round, the program prints the win rate of `beam` with the perturbed weights, and the present
weights in the form that `risk_agents.search.beam` takes.
"""

import argparse
from collections.abc import Sequence

import numpy as np

from benchmarks.arguments import at_least_one
from risk_agents.search import beam
from risk_agents.search.evaluation import SETS, STEADY
from risk_agents.workers import WorkExecutor, add_options, in_order, open_executor
from risk_env import arena
from risk_env.arrays import Array
from risk_env.board.maps import load_map
from risk_env.board.rules import Rules
from risk_env.bots import CompiledBot

OPPONENTS = ("beam", "planner", "breaker", "hunter")
# standard deviations of the perturbations, in the coordinates of the search
SPREAD = np.array([0.3, 0.3, 0.4, 0.15, 0.4, 0.4, 0.25, 0.4, 0.0, 0.25, 0.003, 0.3])
PLAIN = (STEADY, SETS)  # the search moves these weights, and the logarithms of all other weights
CHUNK = 100  # games that a worker plays together
STEP = 0.2  # step, as a share of SPREAD, for a slope of one standard error
MOST_SURE = 4.0  # maximum absolute value of a slope, in standard errors


def main(argv: Sequence[str] | None = None) -> None:
    """Tune the weights, and print the weights after every round."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--players", type=int, default=3, choices=range(2, 7), help="number of players (default: 3)"
    )
    parser.add_argument("--preset", default="classic", help="preset of the rules (default: classic)")
    parser.add_argument("--rounds", type=at_least_one, default=16, help="number of rounds (default: 16)")
    parser.add_argument("--games", type=at_least_one, default=800, help="games per round (default: 800)")
    parser.add_argument("--seed", type=int, default=1, help="seed of all random choices (default: 1)")
    add_options(parser)
    arguments = parser.parse_args(argv)
    rules = Rules.preset(arguments.preset, arguments.players, max_rounds=100)
    chance = np.random.default_rng(arguments.seed)
    present = bent(beam.WEIGHTS_FOR[arguments.players])
    with open_executor(arguments.workers, arguments.chunk_limit) as executor:
        for number in range(arguments.rounds):
            draws = chance.normal(size=(arguments.games // 2, len(present)))
            draws = np.concatenate([draws, -draws])
            won = play(executor, rules, straight(present + draws * SPREAD), chance)
            present = present + STEP * SPREAD * sureness(draws, won)
            weights = ", ".join(f"{weight:.3g}" for weight in straight(present[None])[0])
            print(
                f"round {number + 1}: {won.mean():.1%} of {len(won)} games won; weights now [{weights}]",
                flush=True,
            )


def bent(weights: Array) -> Array:
    """Return weights in the coordinates of the search, (NUM_WEIGHTS,)."""
    coordinates = np.log(np.maximum(weights, 1e-9))
    coordinates[list(PLAIN)] = weights[list(PLAIN)]
    return coordinates


def straight(moved: Array) -> Array:
    """Return weights (k, NUM_WEIGHTS) from coordinates of the search."""
    weights = np.exp(moved)
    weights[:, PLAIN] = moved[:, PLAIN]
    return weights


def sureness(draws: Array, won: Array) -> Array:
    """Return the slope for each weight, (NUM_WEIGHTS,), in standard errors and at most ±`MOST_SURE`."""
    slope = np.linalg.lstsq(np.column_stack([np.ones(len(won)), draws]), won.astype(float), rcond=None)[0][1:]
    return np.clip(slope * len(won) ** 0.5 / max(won.std(), 1e-9), -MOST_SURE, MOST_SURE)


def play(executor: WorkExecutor, rules: Rules, weights: Array, chance: np.random.Generator) -> Array:
    """Play a game with each row of weights (N, NUM_WEIGHTS).

    `beam` changes seats after every game. Returns bool (N,), True if `beam` with these weights won. The
    second half of the games has the same opponents as the first half.
    """
    games, players = len(weights), rules.num_players
    seed = int(chance.integers(2**62))
    half = chance.integers(len(OPPONENTS), size=(-(-games // 2), players))
    line_ups, seats = np.concatenate([half, half])[:games], np.arange(games) % players
    line_ups[np.arange(games), seats] = len(OPPONENTS)
    chunks = (slice(first, first + CHUNK) for first in range(0, games, CHUNK))
    pieces = ((rules, weights[chunk], seed, line_ups[chunk], np.arange(games)[chunk]) for chunk in chunks)
    return np.concatenate(list(in_order(executor, winners, pieces))) == seats


def winners(rules: Rules, weights: Array, seed: int, line_ups: Array, deals: Array) -> Array:
    """Play one game of each deal, deal k with row k of `weights`, and return the winning seats."""
    board, bots = load_map("classic"), [*OPPONENTS, tuned(weights)]
    games = len(deals)
    results = arena.play(rules, board, bots, games, seed, games, line_ups=line_ups, deals=deals)
    return np.asarray(results["winner"])


def tuned(weights: Array) -> CompiledBot:
    """Return a bot that plays like `beam`, with a separate row of weights for each lane."""

    def choose(games, boards, rules, lanes, randoms, memory, actions):
        beam.choose_by(games, boards, rules, lanes, randoms, memory, actions, weights)

    return CompiledBot("tuned", "", choose, beam.MEMORY)


if __name__ == "__main__":
    main()
