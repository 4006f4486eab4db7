"""Population analysis: Nash averaging, alpha-rank and cycles (risk_agents.tournament.population)."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from risk_agents.tournament.line_ups import alpha_rank_of_line_ups, analyse_line_ups
from risk_agents.tournament.loading import make_config
from risk_agents.tournament.population import alpha_rank, cycle_lines, nash_average, population
from risk_agents.tournament.results import GameResult
from risk_agents.tournament.schedule import line_ups_with_copies
from risk_agents.tournament.summary import Games
from risk_env.arrays import Floats
from risk_env.board.rules import Rules
from risk_env.cli import main

ROCK_PAPER_SCISSORS = np.array([[0.5, 0.2, 0.8], [0.8, 0.5, 0.2], [0.2, 0.8, 0.5]])


def with_copy(payoffs: Floats, agent: int) -> Floats:
    """Return payoffs in which an agent is entered twice."""
    rows = [*range(len(payoffs)), agent]
    return payoffs[np.ix_(rows, rows)]


def test_nash_averaging_of_games_whose_equilibrium_is_known() -> None:
    assert_allclose(nash_average(ROCK_PAPER_SCISSORS), np.full(3, 1 / 3), atol=1e-6)
    assert_allclose(nash_average(np.full((4, 4), 0.5)), np.full(4, 0.25), atol=1e-6)
    best = np.array([[0.5, 0.6, 0.9], [0.4, 0.5, 0.7], [0.1, 0.3, 0.5]])
    assert_allclose(nash_average(best), [1, 0, 0], atol=1e-6)
    # equilibrium weights are proportional to the gain of the opposite pair
    uneven = np.array([[0.5, 0.6, 0.1], [0.4, 0.5, 0.7], [0.9, 0.3, 0.5]])
    assert_allclose(nash_average(uneven), np.array([0.2, 0.4, 0.1]) / 0.7, atol=1e-6)


@pytest.mark.parametrize("agent", range(3))
def test_an_agent_entered_twice_shares_its_weight_and_changes_no_skill(agent: int) -> None:
    once, twice = nash_average(ROCK_PAPER_SCISSORS), nash_average(with_copy(ROCK_PAPER_SCISSORS, agent))
    assert_allclose(twice[agent], twice[3], atol=1e-5)
    assert_allclose(twice[agent] + twice[3], once[agent], atol=1e-5)
    payoffs = with_copy(ROCK_PAPER_SCISSORS, agent)
    assert_allclose((payoffs @ twice)[:3], ROCK_PAPER_SCISSORS @ once, atol=1e-5)


def test_no_agent_gains_against_the_equilibrium_of_random_pay_offs() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        upper = np.triu(rng.random((6, 6)).round(2), 1)
        payoffs = upper + np.tril(1.0 - upper.T, -1) + 0.5 * np.eye(6)
        nash = nash_average(payoffs)
        assert abs(nash.sum() - 1) < 1e-9 and nash.min() >= 0
        assert (payoffs @ nash).max() < 0.5 + 1e-6


def test_alpha_rank_of_games_whose_shares_are_known() -> None:
    assert_allclose(alpha_rank(ROCK_PAPER_SCISSORS), np.full(3, 1 / 3), atol=1e-9)
    m = 0.01
    best = np.array([[0.5, 0.9], [0.1, 0.5]])
    # the better agent is left with probability m, the worse agent with 1 - m
    assert_allclose(alpha_rank(best, m), [1 - m, m], atol=1e-9)
    assert alpha_rank(np.array([[0.5]])).tolist() == [1.0]


def duels(wins: dict[tuple[int, int], int], games: int) -> Games:
    """Return `games` duels of each pair of agents, each with a separate deal.

    `wins` contains the number of duels that the first agent of each pair wins.
    """
    results = []
    for (first, second), won in wins.items():
        for game in range(games):
            places = (1, 2) if game < won else (2, 1)
            results.append(result(len(results), (first, second), places))
    return Games(results, 1 + max(max(pair) for pair in wins))


def result(game: int, seats: tuple[int, ...], places: tuple[int, ...]) -> GameResult:
    ones = (1,) * len(seats)
    return GameResult(
        game=game, deal=game, seats=seats, starter=0, winner=places.index(1), ending="won",
        places=places, rounds=1, turns=ones, decisions=ones, seconds=(0.0,) * len(seats),
    )  # fmt: skip


def test_a_cycle_is_found_where_its_rates_are_certain() -> None:
    found = population(duels({(0, 1): 40, (1, 2): 40, (2, 0): 40}, games=50), "abc", seed=0)
    assert found.cycles == ((0, 1, 2),)
    assert cycle_lines(found, "abc") == ["cycle: a is ahead of b is ahead of c is ahead of a"]
    assert [round(each.value, 2) for each in found.nash] == [0.33, 0.33, 0.33]
    assert all(each.low <= each.value <= each.high for each in (*found.skill, *found.alpha_rank))
    assert population(duels({(0, 1): 26, (1, 2): 26, (2, 0): 26}, games=50), "abc", seed=0).cycles == ()


def test_what_cannot_be_analysed_is_refused() -> None:
    with pytest.raises(ValueError, match="a and c never met"):
        population(duels({(0, 1): 1, (1, 2): 1}, games=2), "abc", seed=0)
    with pytest.raises(ValueError, match="the tournament has one"):
        population(duels({(0, 0): 1}, games=2), "abc", seed=0)


def test_the_command_shows_and_writes_the_analysis(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, facts = tmp_path / "t.sqlite", tmp_path / "t.json"
    command = f"tournament --agents random,attacker,grower --players 2 --games 24 --population --out {out}"
    assert main([*command.split(), "--json", str(facts), "--quiet"]) == 0
    assert "Nash average %" in capsys.readouterr().out
    nash = [each["value"] for each in json.loads(facts.read_text())["population"]["nash"]]
    assert abs(sum(nash) - 1) < 1e-9 and max(nash[1:]) > nash[0]


M = 0.01  # mutation rate
DOMINANT = np.array([[1 / 3, 0], [1 / 2, 0], [1, 0], [0, 1 / 3]])  # agent 0 wins every game that it plays
MINORITY = np.array([[1 / 3, 0], [0, 1], [1, 0], [0, 1 / 3]])  # the agent with one seat wins


def test_alpha_rank_of_three_player_games_whose_shares_are_known() -> None:
    line_ups = line_ups_with_copies(2, 3)
    assert line_ups == [(0, 0, 0), (0, 0, 1), (0, 1, 1), (1, 1, 1)]
    # each seat is agent 1 with probability M, independently of the other seats
    shares = [(1 - M) ** 3, 3 * M * (1 - M) ** 2, 3 * M**2 * (1 - M), M**3]
    assert_allclose(alpha_rank_of_line_ups(DOMINANT, line_ups, M), shares, atol=1e-12)
    # 0, 0, 0 is left with probability 1 - M, and reached from 0, 0, 1 with probability M / 3
    ratio = M / (3 * (1 - M))
    shares = np.array([ratio, 1, 1, ratio]) / (2 + 2 * ratio)
    assert_allclose(alpha_rank_of_line_ups(MINORITY, line_ups, M), shares, atol=1e-12)


def minority_games(line_ups: list[tuple[int, ...]], games: int) -> Games:
    """Return games of line-ups of three seats, each with a separate deal, which the single agent wins."""
    results = []
    for line_up in line_ups:
        for game in range(games):
            alone = [seat for seat, agent in enumerate(line_up) if line_up.count(agent) == 1]
            winner = alone[0] if alone else game % 3
            places = tuple(1 if seat == winner else 2 for seat in range(3))
            results.append(result(len(results), line_up, places))
    return Games(results, 2)


def test_the_line_ups_of_a_tournament_give_its_alpha_rank() -> None:
    found = analyse_line_ups(minority_games(line_ups_with_copies(2, 3), games=30), "ab", seed=0)
    assert {line_up for line_up, _ in found.line_ups[:2]} == {(0, 0, 1), (0, 1, 1)}
    assert found.line_ups[0][1].value == pytest.approx(0.5 / (1 + M / (3 * (1 - M))))
    assert [agent.value for agent in found.agents] == pytest.approx([0.5, 0.5])
    assert all(share.low <= share.value <= share.high for share in (*found.agents, found.line_ups[0][1]))


def test_missing_line_ups_are_named() -> None:
    with pytest.raises(ValueError, match=r"with 2 of 4 line-ups, such as a, a, a: .* --copies"):
        analyse_line_ups(minority_games([(0, 0, 1), (0, 1, 1)], games=3), "ab", seed=0)
    with pytest.raises(ValueError, match="9 agents have 3,003 line-ups of 6 players"):
        line_ups_with_copies(9, 6)


def test_copies_play_every_line_up_in_whole_deals() -> None:
    config = make_config(["random", "grower"], Rules.preset("classic", 3), "tiny", copies=True)
    schedule = config.schedule(16)
    assert {tuple(sorted(pairing.seats)) for pairing in schedule} == set(line_ups_with_copies(2, 3))
    assert schedule[:8] == config.schedule(8)
    for agent in range(2):  # every seat equally often
        assert len({sum(pairing.seats[seat] == agent for pairing in schedule) for seat in range(3)}) == 1
    with pytest.raises(ValueError, match="copies=True cannot be combined with fixed_seats"):
        make_config(["random", "grower"], Rules.preset("classic", 3), "tiny", copies=True, duel=True)


def test_the_command_shows_the_alpha_rank_of_line_ups_or_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = tmp_path / "t.json"
    command = ["tournament", "--agents", "random,grower", "--players", "3", "--map", "tiny"]
    command += ["--games", "24", "--population", "--quiet"]
    assert main([*command, "--copies", "--out", str(tmp_path / "a.sqlite"), "--json", str(facts)]) == 0
    assert "share of seats %" in capsys.readouterr().out
    agents = [each["value"] for each in json.loads(facts.read_text())["line_ups"]["agents"]]
    assert sum(agents) == pytest.approx(1) and agents[1] > agents[0]
    assert main([*command, "--out", str(tmp_path / "b.sqlite")]) == 0
    assert "2 of 4 line-ups, such as random, random, random" in capsys.readouterr().out
