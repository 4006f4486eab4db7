"""Luck in duels: the expected luck is 0 in every situation, and luck makes win rates more precise.

Tests of the kernel are `long`, because it takes a minute to compile.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.luck import measure
from risk_agents.learned.schema import schema_of
from risk_agents.luck import LuckMeter
from risk_agents.luck.kernels import EXPECTED, FALLEN, HELD
from risk_agents.luck.meter import KINDS, VALUE, why_unknown
from risk_agents.search.beam_value import BeamValueFile
from risk_agents.tournament import sprt
from risk_agents.tournament.columns import COLUMNS
from risk_agents.tournament.exports import grids, remarks, write_csv
from risk_agents.tournament.jobs import play
from risk_agents.tournament.loading import make_config
from risk_agents.tournament.players import PlayerPool
from risk_agents.tournament.results_store import Store, StoreError
from risk_agents.tournament.runner import play_single
from risk_agents.tournament.summary import summarise
from risk_env import Game, Rules, load_map
from risk_env.chance_outcomes import _force
from risk_env.core.types import Phase
from tests.test_tournament import BOLD, FIRST, config_of, result_of

BOARD = load_map("classic")
FAST = {"setup": "deal", "attack": "blitz", "defender_dice": "max"}


def meter_for(game: Game) -> LuckMeter:
    """Return a meter with the weights of the shipped value, as if the value was trained for these rules."""
    value = BeamValueFile(VALUE.weights, schema_of(game.rules, game.board), {})
    return LuckMeter(game.rules, game.board, value)


def found(is_right: Callable[[Game], bool], **options: object) -> Game:
    """Play random actions, and return the game at the first decision that `is_right` accepts."""
    for seed in range(50):
        game = Game(Rules.preset("classic", 2, **{**FAST, **options}), BOARD, seed=seed)
        chance = np.random.default_rng(seed)
        while not game.is_over and game.round < 30:
            if game.round > 0 and is_right(game):
                return game
            game.step(int(chance.choice(game.legal_actions())))
    raise AssertionError("no such decision")


def attack_in(game: Game) -> int:
    """Return an attack of six troops or more on two or more if five other sources can attack, else -1."""
    if game.phase != Phase.ATTACK:
        return -1
    borders = [BOARD.borders[action - game.tables.rules[0].border_0] for action in game.legal_actions()[:-1]]
    strong = [
        number for number, (a, b) in enumerate(borders) if game.troops[a] > 5 and 1 < game.troops[b] < 12
    ]
    few_sources = len({source for source, _ in borders}) < 6
    return -1 if few_sources or not strong else int(game.legal_actions()[strong[0]])


def card_due(game: Game) -> bool:
    """Return whether the seat may stop attacking and draws a third card, which may complete a set."""
    hand = game.hand(game.seat)
    return bool(game.phase == Phase.ATTACK and game.record.captured and len(hand) == 2 and "wild" not in hand)


def first(game: Game) -> int:
    return int(game.legal_actions()[0])


def last(game: Game) -> int:
    return int(game.legal_actions()[-1])


ROLLS = {"attack": "max"}
EVENTS = {
    "roll": (lambda game: attack_in(game) >= 0, attack_in, ROLLS),
    "roll before a re-roll": (lambda game: attack_in(game) >= 0, attack_in, ROLLS | {"card_reroll": True}),
    "chosen dice": (lambda game: game.phase == Phase.ATTACK_DICE, first, {"attack": "choice"}),
    "defender's dice": (lambda game: game.phase == Phase.DEFEND, first, ROLLS | {"defender_dice": "choice"}),
    "re-rolled die": (lambda game: game.phase == Phase.REROLL, last, ROLLS | {"card_reroll": True}),
    "commander": (lambda game: attack_in(game) >= 0, attack_in, ROLLS | {"commander": True}),
    "card": (card_due, last, {}),
}


@pytest.mark.long
@pytest.mark.parametrize("name", EVENTS)
def test_the_outcomes_of_an_event_have_mean_luck_0(name: str) -> None:
    """The outcomes and their chances come from the reference in Python, `Game.chance_outcomes`."""
    is_right, choose, options = EVENTS[name]
    game = found(is_right, **options)
    action = choose(game)
    outcomes = game.chance_outcomes(action)
    records = np.repeat(game.records, len(outcomes))
    for number, (outcome, _) in enumerate(outcomes):
        _force(records[number : number + 1], outcome.draws[0])
    meter = meter_for(game)
    luck = meter.luck(records, [[action]] * len(records))
    assert np.array_equal(luck[:, 0], -luck[:, 1])
    assert np.dot(luck[:, 0], [chance for _, chance in outcomes]) == pytest.approx(0, abs=1e-9)
    assert np.ptp(luck[:, 0]) > 1e-4
    (event,) = meter.events(records[:1], [action])
    assert (event.seat, event.luck) == (game.turn, pytest.approx(luck[0, game.turn]))
    assert event.kind == KINDS[{"re-rolled die": 1, "card": 2}.get(name, 0)]


@pytest.mark.long
def test_a_blitz_has_the_ends_of_the_reference_and_mean_luck_0() -> None:
    game = found(lambda game: attack_in(game) >= 0)
    action, meter = attack_in(game), meter_for(game)
    expected = {outcome.values: chance for outcome, chance in game.chance_outcomes(action)}
    records = np.repeat(game.records, 4000)
    records["random"] = np.random.default_rng(0).integers(2**63, size=len(records)).astype(np.uint64)
    luck = meter.luck(records, [[action]] * len(records))[:, game.turn]
    ends = meter._tools.ends[EXPECTED]
    for (attackers, defenders), chance in expected.items():
        side, left = (FALLEN, attackers) if defenders == 0 else (HELD, defenders)
        assert ends[side, left] == pytest.approx(chance)
    assert abs(luck.mean()) < 4.5 * luck.std() / len(luck) ** 0.5
    assert luck.std() > 0.001


def test_luck_is_known_only_where_the_value_knows_the_rules() -> None:
    duel = Rules.preset("classic", 2, profile="fast")
    assert why_unknown(duel, BOARD) == why_unknown(duel.replace(attack="choice"), BOARD) == ""
    assert "num_players=3" in why_unknown(Rules.preset("classic", 3), BOARD)
    assert "map=" in why_unknown(duel, load_map("tiny"))
    assert "fortify='connected', not 'free'" in why_unknown(duel.replace(fortify="free"), BOARD)
    with pytest.raises(ValueError, match="num_players=3"):
        make_config([FIRST, BOLD], Rules.preset("classic", 3), luck=True)


@pytest.mark.parametrize(("players", "name"), [(3, "classic"), (2, "tiny")])
def test_a_meter_refuses_games_of_another_kind(players: int, name: str) -> None:
    meter = LuckMeter(Rules.preset("classic", 2, profile="fast"), BOARD)
    with pytest.raises(ValueError, match=r"num_players=3|on map 'tiny'"):
        meter.of_game(Game(Rules.preset("classic", players, profile="fast"), name, seed=1))


@pytest.mark.long
def test_wrong_games_have_no_luck() -> None:
    meter = LuckMeter(Rules.preset("classic", 2, profile="fast"), BOARD)
    with pytest.raises(ValueError, match="an action that is not legal"):
        meter.luck(meter.begun([1]), [[10**6]])
    with pytest.raises(ValueError, match="2 records of games on this map"):
        meter.luck(meter.begun([1]), [[], []])


@pytest.mark.long
def test_rates_without_luck_are_unbiased_and_more_precise() -> None:
    row = measure("grower-breaker", Rules.preset("classic", 2, profile="fast"), 400, seed=1)
    assert abs(row["luck"]) < 4 * row["error"]
    assert row["adjusted"] == pytest.approx(row["win"] - row["luck"])
    assert row["gain"] > 1.4


@pytest.mark.long
def test_the_row_of_a_game_has_the_luck_of_each_seat(tmp_path: Path) -> None:
    config = config_of(FIRST, BOLD, players=2, luck=True)
    schedule = config.schedule(4)
    results = sorted(play(config, tuple(schedule)), key=lambda result: result.game)
    pool = PlayerPool(config)
    assert [play_single(config, pairing, pool).luck for pairing in schedule] == [r.luck for r in results]
    pool.close()
    assert all(result.luck and result.luck[0] == -result.luck[1] != 0 for result in results)
    store = Store.create(tmp_path / "games.sqlite", config, {"games": 4})
    store.add(*results[:3], replace(results[3], luck=None))
    assert [result.luck for result in store.results()] == [*(r.luck for r in results[:3]), None]
    write_csv(store, tmp_path / "games.csv")
    with open(tmp_path / "games.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["luck_1"] for row in rows] == [*(str(r.luck[1]) for r in results[:3] if r.luck), ""]
    assert summarise(config, list(store.results())).agents[0].adjusted is None
    wrong = dict.fromkeys(("[0.1]", "[2000.0, 0.0]", "{}"), "luck is")
    for luck, message in (wrong | {"[NaN, 0.0]": "NaN is not allowed"}).items():
        with store._database:
            store._database.execute("UPDATE games SET luck = ? WHERE game = 0", (luck,))
        with pytest.raises(StoreError, match=message):
            list(store.results())
    store.close()
    assert list(COLUMNS)[-1] == "luck"


def test_rates_without_luck_and_their_test_worked_out_by_hand() -> None:
    config = config_of(FIRST, BOLD, players=2)
    places = [((0, 1), (1, 2)), ((1, 0), (2, 1)), ((0, 1), (2, 1)), ((1, 0), (2, 1))]
    luck = [0.5, -0.25, -0.5, 0.0]  # of seat 0
    results = [
        replace(result_of(game, game // 2, *seats_and_places), luck=(luck[game], -luck[game]))
        for game, seats_and_places in enumerate(places)
    ]
    summary = summarise(config, results)
    agents = {agent.label: agent for agent in summary.agents}
    first_luck = (0.5 + 0.25 - 0.5 + 0.0) / 4
    assert agents["first"].win_rate.value == 0.75
    assert agents["first"].adjusted and agents["first"].adjusted.value == 0.75 - first_luck
    assert "win % without luck" in grids(summary)[0][1]
    assert any("without the luck of dice and cards" in line for line in remarks(config, summary))
    games = [sprt.Played(r.deal, r.seats, r.winner, r.luck or ()) for r in results]
    # first wins both games of deal 0 and one of deal 1; each deal's score counts its luck twice
    assert sprt.scores(games, 2).tolist() == [1.0 - 0.75, 0.0 + 0.5]


@pytest.mark.long
@pytest.mark.parametrize("options", [{}, {"attack": "max", "card_reroll": True, "commander": True}])
def test_a_page_shows_the_luck_of_each_battle(options: dict[str, object]) -> None:
    game = found(lambda game: game.round == 5, **options)
    meter, page = meter_for(game), game.replay()
    events = meter.of_game(game)
    meter.show(page, game)
    battles = [each for _, seen in page.facts["frames"] for each in seen if each["kind"] == "battle"]
    assert sum(each["luck"] for each in battles) == pytest.approx(
        sum(event.luck for event in events if event.kind != "card"), abs=1e-4 * len(battles)
    )
    first_event, first_battle = events[0], battles[0]
    assert (first_battle["source"], first_battle["target"]) == (first_event.source, first_event.target)
    assert len({each["luck"] for each in battles}) > len(battles) / 2
