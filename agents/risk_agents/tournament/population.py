"""Population analysis of a tournament: Nash average, alpha-rank and cycles of the agents.

The module analyses a *game of pairs*: a meta-game in which each of two players names an agent. The payoff is
the share of games in which the first agent finishes ahead of the second agent. In a two-player tournament
without truncated games, the payoff is the win rate. With more players, the payoff is the marginal rate in the
line-ups of the tournament. The analysis is then valid only for these line-ups. The module `line_ups` analyses
the meta-game with three or more players.

A rating is an average over the agents that happened to play. The Nash average (Balduzzi et al. 2018) does not
change if an agent is entered twice. The alpha-rank (Omidshafiei et al. 2019) is the share of time in which
each agent is played if players change to better agents repeatedly. Both measures take account of cycles,
which a single rating hides.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from risk_agents.tournament.exports import Grid, percent
from risk_agents.tournament.ratings import resampled
from risk_agents.tournament.summary import Estimate, Games, estimates, pairs
from risk_env.arrays import Array, Floats

SAMPLES = 200  # number of bootstrap samples over deals
MUTATION = 0.01  # probability of a change to a worse agent; 1 - MUTATION for a change to a better agent
_TOLERANCE = 1e-9
MOST_CYCLES = 5  # maximum number of cycles that are shown


@dataclass(frozen=True)
class Population:
    """Analysis of K agents; all estimates have 95 % confidence intervals from a bootstrap over deals."""

    nash: tuple[Estimate, ...]  # (K,) probability of each agent in the maximum-entropy equilibrium
    # (K,) share of games in which each agent finishes ahead of an agent drawn from `nash`
    skill: tuple[Estimate, ...]
    alpha_rank: tuple[Estimate, ...]  # (K,) share of time in which each agent is played
    # Indices of the agents of each cycle. Each agent finishes ahead of the next agent, and the last agent
    # ahead of the first agent. In each of the three pairs, the interval of this share lies above 0.5.
    cycles: tuple[tuple[int, int, int], ...]


def population(games: Games, labels: Sequence[str], seed: int) -> Population:
    """Return the analysis of a tournament's games. `seed` is the seed of the bootstrap.

    Raises ValueError if there is only one agent, or if two agents never met.
    """
    K = games.num_agents
    if K < 2:
        raise ValueError("a population analysis needs at least two agents, but the tournament has one")
    before, cell = pairs(games)
    parts, wholes = (games.by_deal(counted, cell, K * K) for counted in (before, np.ones(before.shape)))
    payoffs = _payoffs(parts.sum(axis=0), wholes.sum(axis=0), K)
    met = ~np.isnan(payoffs) | np.eye(K, dtype=bool)
    if not met.all():
        a, b = np.argwhere(~met)[0]
        raise ValueError(f"{labels[a]} and {labels[b]} never met in a game: play more games")
    draws = [_payoffs(counts @ parts, counts @ wholes, K) for counts in resampled(len(parts), SAMPLES, seed)]
    # If two agents do not meet in a sample, the sample gets the payoffs of these agents in all games
    draws = [np.where(np.isnan(draw), payoffs, draw) for draw in draws]
    analyses = [_analyse(matrix) for matrix in (payoffs, *draws)]
    nash, skill, ranks = (np.array(values) for values in zip(*analyses, strict=True))
    low = np.quantile(draws, 0.025, axis=0)
    return Population(
        nash=with_intervals(nash),
        skill=with_intervals(skill),
        alpha_rank=with_intervals(ranks),
        cycles=tuple(_cycles(low > 0.5)),
    )


def _payoffs(parts: Floats, wholes: Floats, num_agents: int) -> Floats:
    """Return the share of games in which the row's agent finished before the column's agent, (K, K).

    The share is NaN for agents that never met.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        payoffs = (parts / wholes).reshape(num_agents, num_agents)
    np.fill_diagonal(payoffs, 0.5)
    return payoffs


def _analyse(payoffs: Floats) -> tuple[Floats, Floats, Floats]:
    nash = nash_average(payoffs)
    return nash, payoffs @ nash, alpha_rank(payoffs)


def with_intervals(values: Floats) -> tuple[Estimate, ...]:
    """Return estimates from the first row of `values`, with 95 % intervals from the other rows.

    `values` is float (1 + samples, K).
    """
    return tuple(estimates(values[0], np.quantile(values[1:], (0.025, 0.975), axis=0).T))


def nash_average(payoffs: Floats) -> Floats:
    """Return the maximum-entropy equilibrium of the game of pairs, float (K,).

    `payoffs`, float (K, K), is the share of games in which the row's agent finishes ahead of the column's
    agent. No agent has a share above 0.5 against the equilibrium. The equilibria of a symmetric zero-sum game
    form a convex set. Linear programs find the agents that at least one equilibrium plays. The
    maximum-entropy equilibrium plays all of these agents, so a smooth minimisation over these agents finds
    the equilibrium.
    """
    from scipy.optimize import linprog, minimize

    gains = payoffs - payoffs.T  # (K, K) antisymmetric
    K = len(gains)
    limits = {"A_ub": gains, "b_ub": np.full(K, _TOLERANCE), "A_eq": np.ones((1, K)), "b_eq": [1.0]}
    corners = np.array([linprog(-np.eye(K)[agent], **limits).x for agent in range(K)])
    middle = corners.mean(axis=0)
    played = middle > K * _TOLERANCE
    if played.sum() == 1:
        return played.astype(float)
    solution = minimize(
        lambda p: float(p @ np.log(p)),
        middle[played],
        jac=lambda p: np.log(p) + 1.0,
        bounds=[(_TOLERANCE, 1.0)] * int(played.sum()),
        constraints=[
            {"type": "eq", "fun": lambda p: p.sum() - 1.0, "jac": np.ones_like},
            {"type": "ineq", "fun": lambda p: -gains[:, played] @ p, "jac": lambda _: -gains[:, played]},
        ],
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    nash = np.zeros(K)
    nash[played] = (
        solution.x / solution.x.sum() if solution.success else middle[played] / middle[played].sum()
    )
    return nash


def alpha_rank(payoffs: Floats, mutation: float = MUTATION) -> Floats:
    """Return the share of time in which each agent is played, float (K,), in the limit of strong selection.

    A population plays one agent at a time. In each step, another agent is drawn uniformly, and can replace
    the current agent. The drawn agent is better if it finishes ahead of the current agent in more than half
    of the games that both play. The probability of the replacement is 1 - `mutation` if the drawn agent is
    better, 0.5 if the agents are equal, and `mutation` otherwise. `payoffs` is as in `nash_average`.
    """
    gains = payoffs - payoffs.T
    K = len(gains)
    # (K, K) probability of a change from the agent of the row to the agent of the column
    change = np.where(gains.T > 0, 1.0 - mutation, np.where(gains.T < 0, mutation, 0.5)) / max(K - 1, 1)
    np.fill_diagonal(change, 0.0)
    np.fill_diagonal(change, 1.0 - change.sum(axis=1))
    # stationary distribution: share @ change == share, with sum 1
    equations = np.vstack([change.T - np.eye(K), np.ones(K)])
    return np.linalg.lstsq(equations, np.eye(K + 1)[K], rcond=None)[0]


def _cycles(is_ahead: Array) -> Iterator[tuple[int, int, int]]:
    """Yield each cycle of three agents once; a cycle begins with its smallest agent number."""
    for a, b, c in permutations(range(len(is_ahead)), 3):
        if a < min(b, c) and is_ahead[a, b] and is_ahead[b, c] and is_ahead[c, a]:
            yield a, b, c


def population_grid(analysis: Population, labels: Sequence[str]) -> Grid:
    """Return the table of an analysis; the agents with the highest probability in `nash` come first."""
    heading = ["agent", "Nash average %", "ahead of the Nash average %", "alpha-rank %"]
    order = sorted(
        range(len(labels)), key=lambda k: (-analysis.nash[k].value, -analysis.skill[k].value, labels[k])
    )
    columns = (analysis.nash, analysis.skill, analysis.alpha_rank)
    rows = [[labels[k], *(percent(column[k]) for column in columns)] for k in order]
    return "Population analysis (95 % confidence intervals, clustered by deals)", heading, rows


def cycle_lines(analysis: Population, labels: Sequence[str]) -> list[str]:
    """Return a line for each of the first MOST_CYCLES cycles, and a line that counts the further cycles."""
    lines = [
        "cycle: " + " is ahead of ".join(labels[k] for k in (*cycle, cycle[0]))
        for cycle in analysis.cycles[:MOST_CYCLES]
    ]
    more = len(analysis.cycles) - len(lines)
    return lines + ([f"further cycles of three agents: {more}"] if more > 0 else [])
