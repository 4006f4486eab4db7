"""Alpha-rank of a meta-game with three or more players, from games of all line-ups.

In the meta-game, each of P players chooses one of K agents. A line-up states how many players have chosen
each agent; several players can choose *copies* of one agent. There are C(K + P - 1, P) line-ups. The payoff
of an agent in a line-up is the share of games that one copy of the agent wins. The seats have no influence,
because every agent plays every seat equally often.

The alpha-rank (Omidshafiei et al. 2019) is defined for any number of players, but needs the payoffs of all
line-ups. A tournament without `--copies` does not play all line-ups.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from risk_agents.tournament.exports import Grid, percent
from risk_agents.tournament.population import MUTATION, SAMPLES, with_intervals
from risk_agents.tournament.ratings import resampled
from risk_agents.tournament.schedule import LineUp, line_ups_with_copies
from risk_agents.tournament.summary import Estimate, Games
from risk_env.arrays import Floats

MOST_SHOWN = 5  # maximum number of line-ups in the table


@dataclass(frozen=True)
class LineUpAnalysis:
    """Alpha-rank of K agents and of all line-ups, with 95 % confidence intervals (bootstrap over deals)."""

    agents: tuple[Estimate, ...]  # (K,) share of the seats that each agent plays, averaged over time
    line_ups: tuple[tuple[LineUp, Estimate], ...]  # share of time of each line-up, largest first


def analyse_line_ups(games: Games, labels: Sequence[str], seed: int) -> LineUpAnalysis:
    """Return the analysis of a tournament's games. `seed` is the seed of the bootstrap over deals.

    `labels` name the agents in errors. Raises ValueError for a single agent, for too many line-ups, and if a
    line-up has no game.
    """
    K, P = games.num_agents, games.num_players
    if K < 2:
        raise ValueError("the tournament has one agent, but at least two agents are needed")
    wanted = line_ups_with_copies(K, P)
    wins, seats = (games.by_deal(counted, games.seats, K) for counted in (games.won, np.ones_like(games.won)))
    firsts = np.unique(games.deal, return_index=True)[1]
    line_up_of = np.sort(games.seats, axis=1)[firsts]  # (D, P)
    deals = [np.flatnonzero((line_up_of == line_up).all(axis=1)) for line_up in wanted]
    if missing := [line_up for line_up, own in zip(wanted, deals, strict=True) if not len(own)]:
        example = ", ".join(labels[agent] for agent in missing[0])
        raise ValueError(
            f"no game was played with {len(missing)} of {len(wanted)} line-ups, such as {example}: start a "
            "new tournament with --copies, or play more games"
        )
    drawn = [[np.ones(len(own)), *resampled(len(own), SAMPLES, seed + n)] for n, own in enumerate(deals)]
    payoffs = np.zeros((1 + SAMPLES, len(wanted), K))  # all games first, then the samples
    for n, own in enumerate(deals):
        counts = np.array(drawn[n])
        payoffs[:, n] = counts @ wins[own] / np.maximum(counts @ seats[own], 1.0)
    shares = np.array([alpha_rank_of_line_ups(part, wanted) for part in payoffs])
    copies = np.array([[line_up.count(agent) / P for agent in range(K)] for line_up in wanted])
    rows = zip(wanted, with_intervals(shares), strict=True)
    return LineUpAnalysis(
        agents=with_intervals(shares @ copies),
        line_ups=tuple(sorted(rows, key=lambda row: -row[1].value)),
    )


def alpha_rank_of_line_ups(payoffs: Floats, line_ups: Sequence[LineUp], mutation: float = MUTATION) -> Floats:
    """Return the share of time of each line-up, float (L,), in the limit of strong selection.

    `line_ups` are all L line-ups of K agents. `payoffs`, float (L, K), contains the payoff of one copy of
    the column's agent in the row's line-up. In each step, one seat and another agent for this seat are drawn
    uniformly. The payoff of the new agent in the new line-up is compared with the present payoff of the
    seat's agent. The probability of the change is 1 - `mutation` if the new payoff is larger, 0.5 if the
    payoffs are equal, and `mutation` otherwise.
    """
    L, K = payoffs.shape
    P, number = len(line_ups[0]), {line_up: n for n, line_up in enumerate(line_ups)}
    change = np.zeros((L, L))  # probability of a change from the row's line-up to the column's line-up
    for n, line_up in enumerate(line_ups):
        for seat, agent in enumerate(line_up):
            for other in set(range(K)) - {agent}:
                to = number[tuple(sorted((*line_up[:seat], other, *line_up[seat + 1 :])))]
                gain = payoffs[to, other] - payoffs[n, agent]
                chance = 0.5 if gain == 0 else 1.0 - mutation if gain > 0 else mutation
                change[n, to] += chance / (P * (K - 1))
    np.fill_diagonal(change, 1.0 - change.sum(axis=1))
    # stationary distribution: share @ change == share, with sum 1
    equations = change.T - np.eye(L)
    equations[-1] = 1.0
    return np.linalg.solve(equations, np.eye(L)[-1])


def line_up_grids(analysis: LineUpAnalysis, labels: Sequence[str]) -> list[Grid]:
    """Return the tables of an analysis: the agents, and the line-ups with the largest shares."""
    order = sorted(range(len(labels)), key=lambda k: (-analysis.agents[k].value, labels[k]))
    agents = [[labels[k], percent(analysis.agents[k])] for k in order]
    rows = [
        [", ".join(labels[agent] for agent in line_up), percent(share)]
        for line_up, share in analysis.line_ups[:MOST_SHOWN]
    ]
    title = "Alpha-rank over all line-ups (95 % confidence intervals, clustered by deals)"
    return [
        (title, ["agent", "share of seats %"], agents),
        ("Line-ups with the largest shares", ["line-up", "share of time %"], rows),
    ]
