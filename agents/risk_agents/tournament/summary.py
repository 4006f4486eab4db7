"""Summary of a tournament's games, with win rates, ratings, seat bias and thinking times."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np

from risk_agents.tournament.config import TournamentConfig
from risk_agents.tournament.ratings import MEAN, Rankings, rates, ratings, share_openings, widening
from risk_agents.tournament.results import FORFEIT, NOBODY, TRUNCATED, GameResult
from risk_env.arrays import Array, Floats, Ints
from risk_env.messages import counted


@dataclass(frozen=True)
class Estimate:
    """Number and its 95 % confidence interval."""

    value: float
    low: float  # NaN if there is no interval
    high: float


@dataclass(frozen=True)
class AgentSummary:
    """Results of an agent over all seats that the agent has played, including several seats of one game."""

    label: str
    version: str
    games: int  # number of seats played
    wins: int
    win_rate: Estimate  # share of games won; nobody wins a truncated game
    # Win rate without the luck of dice and cards: same expected value, smaller variance. The estimate can lie
    # slightly outside 0 to 1. None if the luck of a game is unknown.
    adjusted: Estimate | None
    places: tuple[float, ...]  # (P,) share of each place
    mean_place: Estimate
    rating: Estimate
    win_rate_by_order: tuple[float, ...]  # (P,) win rate by place in the turn order, the starter first
    decisions: float  # mean number of decisions per game
    ms_a_turn: float  # mean thinking time per turn, in milliseconds
    forfeits: int


@dataclass(frozen=True)
class Summary:
    """Results of a tournament with K agents and P players."""

    games: int
    deals: int
    openings: int  # number of distinct known openings
    won: int  # number of games with a winner, including forfeits that left one seat alive
    truncated: int
    forfeited: int
    rounds: tuple[float, float, float]  # number of rounds: mean, median, 90th percentile
    agents: tuple[AgentSummary, ...]  # best rating first
    seat_win_rate: tuple[Estimate, ...]  # (P,) win rate by seat number
    order_win_rate: tuple[Estimate, ...]  # (P,) win rate by place in the turn order, the starter first
    # (K, K) share of games in which the row's agent finished before the column's agent, in the order of
    # `agents`; None on the diagonal and for agents that never met
    ahead: tuple[tuple[Estimate | None, ...], ...]
    lengths: tuple[int, ...]  # number of rounds of each game
    forfeits: tuple[str, ...]  # one line for each agent and kind of forfeit
    # Variance of win rates over deals, divided by the variance of adjusted rates (`_luck_gain`)
    luck_gain: float | None


class Games:
    """Results of games as arrays: G games, D deals, P players, K agents."""

    def __init__(self, results: Sequence[GameResult], num_agents: int) -> None:
        self.num_agents = num_agents
        self.seats: Ints = np.array([result.seats for result in results])  # (G, P)
        self.places: Ints = np.array([result.places for result in results])  # (G, P)
        self.num_players = self.seats.shape[1]
        winners = np.array([result.winner for result in results])
        self.won = winners[:, None] == np.arange(self.num_players)  # (G, P)
        starters = np.array([result.starter for result in results])
        self.order: Ints = (np.arange(self.num_players) - starters[:, None]) % self.num_players  # (G, P)
        self.deal: Ints = np.unique([result.deal for result in results], return_inverse=True)[1].reshape(-1)
        self.num_deals = int(self.deal.max()) + 1
        names = [result.opening or f"of game {number}" for number, result in enumerate(results)]
        self.opening: Ints = np.unique(names, return_inverse=True)[1].reshape(-1)
        self.shares_openings = share_openings(self.deal, self.opening)
        self.luck = _luck(results)
        self.rounds: Ints = np.array([result.rounds for result in results])
        self.decisions: Ints = np.array([result.decisions for result in results])
        self.turns: Ints = np.array([result.turns for result in results])
        self.seconds: Floats = np.array([result.seconds for result in results])

    def by_deal(self, values: Array, groups: Ints, num_groups: int) -> Floats:
        """Return the sums of `values`, (G, P), by deal and group, float (D, num_groups).

        `groups`, int (G, P), contains the group of each value.
        """
        cells = (self.deal[:, None] * num_groups + groups).reshape(-1)
        sums = np.bincount(
            cells, np.broadcast_to(values, groups.shape).reshape(-1), self.num_deals * num_groups
        )
        return sums.astype(float).reshape(self.num_deals, num_groups)

    def by_agent(self, values: Array) -> Floats:
        """Return the sums of `values`, (G, P), by agent, float (K,)."""
        return np.bincount(self.seats.reshape(-1), values.reshape(-1), self.num_agents).astype(float)

    def rate(self, values: Array, groups: Ints, num_groups: int, seed: int) -> list[Estimate]:
        """Return the mean of `values`, (G, P), in each group, with its confidence interval."""
        ones = np.ones(values.shape)
        parts, wholes = (self.by_deal(counted, groups, num_groups) for counted in (values, ones))
        if not self.shares_openings:
            return estimates(*rates(parts, wholes, seed))
        members = [groups == group for group in range(num_groups)]
        most = np.array([len(np.unique(self.opening[member.any(axis=1)])) for member in members])
        means, intervals = rates(parts, wholes, seed, most=most)
        for group, member in enumerate(members):
            influence = ((values - means[group]) * member).sum(axis=1)
            factor = widening(influence, self.deal, self.opening)
            intervals[group] = means[group] + factor * (intervals[group] - means[group])
            if values.min() >= 0.0 and values.max() <= 1.0:
                intervals[group] = np.clip(intervals[group], 0.0, 1.0)
        return estimates(means, intervals)


def _luck(results: Sequence[GameResult]) -> Floats | None:
    """Return the luck of each seat in each game, float (G, P), or None if luck is unknown in any game."""
    lucks = [result.luck for result in results]
    return None if None in lucks else np.array(lucks)


def estimates(values: Floats, intervals: Floats) -> list[Estimate]:
    """Return numbers, float (N,), with their intervals, float (N, 2)."""
    return [Estimate(float(v), float(i[0]), float(i[1])) for v, i in zip(values, intervals, strict=True)]


def summarise(config: TournamentConfig, results: Sequence[GameResult]) -> Summary:
    """Return the summary of the games; raise ValueError if there is no game."""
    if not results:
        raise ValueError("no game has been played yet")
    games = Games(results, len(config.entrants))
    P = games.num_players
    agents = sorted(_agents(config, games, results), key=lambda agent: -agent.rating.value)
    endings = [result.ending for result in results]
    return Summary(
        games=len(results),
        deals=games.num_deals,
        openings=len({result.opening for result in results} - {""}),
        won=sum(result.winner != NOBODY for result in results),
        truncated=endings.count(TRUNCATED),
        forfeited=endings.count(FORFEIT),
        rounds=(
            float(games.rounds.mean()),
            float(np.median(games.rounds)),
            float(np.percentile(games.rounds, 90)),
        ),
        agents=tuple(agents),
        seat_win_rate=tuple(
            games.rate(games.won, np.broadcast_to(np.arange(P), games.seats.shape), P, config.seed)
        ),
        order_win_rate=tuple(games.rate(games.won, games.order, P, config.seed)),
        ahead=_ahead(games, [config.labels.index(agent.label) for agent in agents], config.seed),
        lengths=tuple(games.rounds.tolist()),
        forfeits=_forfeits(config, results),
        luck_gain=_luck_gain(games),
    )


def _agents(config: TournamentConfig, games: Games, results: Sequence[GameResult]) -> list[AgentSummary]:
    K, P, seed = games.num_agents, games.num_players, config.seed
    played = np.maximum(games.by_agent(np.ones(games.seats.shape)), 1)
    wins = games.by_agent(games.won)
    win_rate = games.rate(games.won, games.seats, K, seed)
    adjusted: Sequence[Estimate | None] = [None] * K
    if games.luck is not None:
        adjusted = games.rate(games.won - games.luck, games.seats, K, seed)
    behind = games.rate((games.places - 1) / (P - 1), games.seats, K, seed)
    shares = np.array([games.by_agent(games.places == place) / played for place in range(1, P + 1)])
    seated = [games.order == order for order in range(P)]
    by_order = np.array(
        [games.by_agent(games.won & sat) / np.maximum(games.by_agent(sat), 1) for sat in seated]
    )
    decisions = games.by_agent(games.decisions) / played
    pace = 1000.0 * games.by_agent(games.seconds) / np.maximum(games.by_agent(games.turns), 1)
    rated = [Estimate(MEAN, MEAN, MEAN)]
    if K > 1:
        order = np.take_along_axis(games.seats, np.argsort(games.places, axis=1), axis=1)
        rated = estimates(*ratings(Rankings(order, K), games.deal, seed, openings=games.opening))
    lost = [result.seats[result.forfeit_seat] for result in results if result.forfeit_seat != NOBODY]
    return [
        AgentSummary(
            label=entrant.label,
            version=entrant.version,
            games=int(games.by_agent(np.ones(games.seats.shape))[k]),
            wins=int(wins[k]),
            win_rate=win_rate[k],
            adjusted=adjusted[k],
            places=tuple(shares[:, k].tolist()),
            mean_place=Estimate(*(1 + (P - 1) * value for value in astuple(behind[k]))),
            rating=rated[k],
            win_rate_by_order=tuple(by_order[:, k].tolist()),
            decisions=float(decisions[k]),
            ms_a_turn=float(pace[k]),
            forfeits=lost.count(k),
        )
        for k, entrant in enumerate(config.entrants)
    ]


def _luck_gain(games: Games) -> float | None:
    """Return the variance of win rates over deals, divided by the variance of adjusted rates.

    Returns None if the luck of a game is unknown, or if there is only one agent or one deal. Also returns
    None if the adjusted rates have no variance.
    """
    if games.luck is None or games.num_agents == 1 or games.num_deals < 2:
        return None
    plain, adjusted = (_squares(games, values) for values in (games.won, games.won - games.luck))
    return plain / adjusted if adjusted > 0.0 else None


def _squares(games: Games, values: Array) -> float:
    """Return the sum of the squared deviations of each agent's results in each deal from the agent's mean."""
    K = games.num_agents
    parts, wholes = (games.by_deal(counted, games.seats, K) for counted in (values, np.ones(values.shape)))
    return float(((parts - wholes * parts.sum(axis=0) / wholes.sum(axis=0)) ** 2).sum())


def _ahead(games: Games, order: Sequence[int], seed: int) -> tuple[tuple[Estimate | None, ...], ...]:
    """Return the field `ahead` of the summary for the agents in the order `order`."""
    K = games.num_agents
    before, cell = pairs(games)
    shares = games.rate(before, cell, K * K, seed)
    return tuple(tuple(_between(shares[a * K + b], a == b) for b in order) for a in order)


def pairs(games: Games) -> tuple[Array, Ints]:
    """Return facts about every pair of different seats in each game, as two arrays (G, P (P - 1)).

    The first array is True if the first seat of the pair finished before the second seat. The second array is
    K times the agent of the first seat, plus the agent of the second seat.
    """
    P = games.num_players
    mine, theirs = np.array([(seat, other) for seat in range(P) for other in range(P) if seat != other]).T
    cell = games.seats[:, mine] * games.num_agents + games.seats[:, theirs]
    return games.places[:, mine] < games.places[:, theirs], cell


def _between(estimate: Estimate, oneself: bool) -> Estimate | None:
    return None if oneself or np.isnan(estimate.value) else estimate


def _forfeits(config: TournamentConfig, results: Sequence[GameResult]) -> tuple[str, ...]:
    """Return a line for each agent and kind of forfeit, with the number of forfeits and the first reason."""
    seen: dict[tuple[str, str], list[GameResult]] = {}
    for result in results:
        if result.ending == FORFEIT:
            label = config.labels[result.seats[result.forfeit_seat]]
            seen.setdefault((label, result.forfeit_kind), []).append(result)
    return tuple(
        f"{label}: {counted(len(games), 'forfeit')} of kind {kind!r}; "
        f"reason in game {games[0].game}: {games[0].forfeit_reason}"
        for (label, kind), games in sorted(seen.items())
    )
