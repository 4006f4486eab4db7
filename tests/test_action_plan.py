"""Action plans: the actions of an answer are played as long as they are legal and make sense."""

import random
import time

import pytest

from risk_env import Game, Rules, load_map
from risk_env.board.maps import SYMBOLS
from risk_env.core.types import AMOUNTS as LISTED
from risk_env.core.types import Phase
from risk_env.text.amounts import first_amount
from risk_env.words.action_plan import MOST_STEPS, WORDS, ActionPlan, fallback_action, read_plan
from tests.positions import CLASSIC, position
from tests.test_public import GAMES, new_game

BLITZ = "classic, attack=blitz, defender_dice=max"
CHOICE = "classic, defender_dice=max"


def answer(game: Game, text: str) -> ActionPlan:
    """Give an answer for the deciding seat, and play it as far as possible."""
    plan = ActionPlan(game.seat)
    plan.give(text, game)
    go_on(game, plan)
    return plan


def go_on(game: Game, plan: ActionPlan) -> None:
    while not game.is_over and game.seat == plan.seat and (action := plan.next_action(game)) is not None:
        game.step(action)


def troops(game: Game, name: str) -> int:
    return int(game.troops[game.board.territory(name)])


def owner(game: Game, name: str) -> int:
    return int(game.owner[game.board.territory(name)])


def in_draft(rules: str = BLITZ, **lines: object) -> Game:
    return position(
        rules,
        "Ural 4, Siam 2, Japan 3",
        "rest",
        "Brazil",
        phase="draft",
        draft_left=7,
        **lines,  # type: ignore[arg-type]
    )


def test_a_whole_turn_is_one_answer() -> None:
    game = in_draft()
    answer(
        game, "draft Siam 2; draft Ural all; attack Ural > Ukraine; occupy 3; fortify Ural > Ukraine 1; end"
    )
    assert game.seat == 1 and game.round == 1
    assert (owner(game, "Ukraine"), troops(game, "Siam")) == (0, 4)


@pytest.mark.parametrize("number", range(1, 8))
def test_any_number_of_troops_is_placed_exactly(number: int) -> None:
    game = in_draft()
    answer(game, f"draft Siam {number}")
    assert troops(game, "Siam") == 2 + number


@pytest.mark.parametrize("most", [1, 2, 7, 14, 60, 131])
def test_every_number_of_troops_is_a_sequence_of_legal_amounts(most: int) -> None:
    for wanted in range(1, most + 1):
        left, room, chosen = wanted, most, []
        while left:
            word, rest = first_amount(left, room)
            moved = {"all": room, "half": room // 2}.get(word) or int(word)
            assert moved == left - rest and (word == "all") == (moved == room)
            assert word in ("all", "half") or (int(word) in LISTED and moved < room)
            left, room, chosen = rest, room - moved, [*chosen, word]
        assert len(chosen) <= 5


@pytest.mark.parametrize("wanted", [0, -3])
@pytest.mark.parametrize("most", [0, 1, 20])
def test_an_amount_of_no_troops_is_refused_by_name(wanted: int, most: int) -> None:
    with pytest.raises(ValueError, match=f"wanted={wanted}: must be at least 1"):
        first_amount(wanted, most)


def test_an_amount_beyond_what_there_is_means_all() -> None:
    game = in_draft()
    answer(game, "draft Siam 99")
    assert (troops(game, "Siam"), game.phase) == (9, Phase.ATTACK)


@pytest.mark.parametrize("number", range(8))
def test_any_number_of_troops_moves_into_a_captured_territory(number: int) -> None:
    game = position(BLITZ, "Ural 200", "rest", "Brazil")
    answer(game, f"attack Ural > Ukraine; occupy {number}")
    assert game.phase == Phase.ATTACK and troops(game, "Ukraine") == 3 + number


def test_troops_go_on_with_an_attack_from_what_was_captured_and_else_stay() -> None:
    game = position(BLITZ, "Ural 200", "rest", "Brazil")
    answer(game, "attack Ural > Ukraine; attack Ukraine > Scandinavia; end")
    assert owner(game, "Scandinavia") == 0 and troops(game, "Ural") == 1
    game = position(BLITZ, "Ural 200", "rest", "Brazil")
    answer(game, "attack Ural > Ukraine; attack Ural > Siberia; end")
    assert troops(game, "Ukraine") == troops(game, "Siberia") == 3


def test_an_attack_without_dice_is_a_blitz_and_with_dice_one_roll() -> None:
    game = position(CHOICE, "Ural 200", "Ukraine 9, rest", "Brazil")
    answer(game, "attack Ural > Ukraine; occupy all")
    assert owner(game, "Ukraine") == 0
    game = position(CHOICE, "Ural 200", "Ukraine 9, rest", "Brazil")
    answer(game, "attack Ural > Ukraine; dice 2")
    assert troops(game, "Ural") + troops(game, "Ukraine") == 207


def test_where_dice_decide_otherwise_the_next_question_says_what_was_done() -> None:
    game = position(BLITZ, "Ural 3, Japan 5", "Ukraine 90, rest", "Brazil")
    plan = answer(game, "attack Ural > Ukraine; occupy all; attack Ukraine > Scandinavia; end")
    assert (game.seat, game.phase) == (0, Phase.ATTACK)
    told = plan.account(game)
    assert "Played: attack Ural > Ukraine\n  Ural > Ukraine: not taken" in told
    assert "'attack Ukraine > Scandinavia' is not legal" in told
    assert told.endswith("Not played: attack Ukraine > Scandinavia; end")


def test_a_later_attack_with_too_few_troops_must_be_said_again() -> None:
    game = position(BLITZ, "Ural 40, Japan 5", "Ukraine 1, Kamchatka 20, rest", "Brazil")
    plan = answer(game, "attack Ural > Ukraine; attack Japan > Kamchatka; end")
    assert "the source has 5 troops and the target 20" in plan.account(game)
    plan.give("attack Japan > Kamchatka", game)
    go_on(game, plan)
    assert troops(game, "Japan") < 5


SET = [CLASSIC.territories[CLASSIC.symbols.index(symbol)] for symbol in SYMBOLS]


@pytest.mark.parametrize(
    ("text", "sets"),
    [
        ("trade; draft Ural all", 1),
        (f"trade {SET[2]}, {SET[0]}, {SET[1]}; draft Ural all", 1),
        ("draft Ural all", 0),
    ],
)
def test_cards_are_traded_by_name_or_as_any_set_or_kept(text: str, sets: int) -> None:
    hand = ", ".join(SET)
    game = position(BLITZ, "Ural 4", "rest", "Brazil", phase="trade", trade="free", draft_left=3, hand_0=hand)
    answer(game, text)
    assert game.public().sets_traded == sets and game.phase == Phase.ATTACK
    assert troops(game, "Ural") == 4 + 3 + 4 * sets


def test_in_set_up_a_plan_outlasts_the_turns_of_others() -> None:
    game = Game(Rules.preset("classic", 2), seed=1)
    plan = ActionPlan(game.seat)
    name = game.board.territories[int(game.legal_actions()[0])]
    before = troops(game, name)
    plan.give(f"deploy {name} 5", game)
    while plan.seat != game.seat or (action := plan.next_action(game)) is not None:
        game.step(action if plan.seat == game.seat else int(game.legal_actions()[0]))
    assert troops(game, name) == before + 5


def test_a_claim_that_was_taken_gives_way_to_the_next_wish() -> None:
    game = Game("classic", seed=1)
    plan = ActionPlan((game.seat + 1) % 3)
    game.step("claim Alaska")
    plan.give("claim Peru; claim Brazil; claim Siam; claim Ural", game)
    for rival in ("claim Brazil", "claim Egypt"):
        game.step(plan.next_action(game))
        game.step(rival)
        game.step(int(game.legal_actions()[-1]))
    assert game.action_text(plan.next_action(game)) == "claim Ural"


def test_a_standing_order_answers_every_attack() -> None:
    game = position("classic", "Ural 30", "Ukraine 9, rest", "Brazil")
    defender = ActionPlan(1)
    game.step("attack Ural > Ukraine")
    game.step("dice 3")
    defender.give("always defend 2", game)
    for _ in range(3):
        assert game.action_text(defender.next_action(game)) == "defend 2"
        game.step("defend 2")
        game.step("attack Ural > Ukraine")
        game.step("dice 3")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the answer has no action"),
        ("I think I should attack", "is not an action: an action begins with one of"),
        ("attack Ural > Brazil", "Ural does not border Brazil"),
        ("attack Ural > Atlantis", "has no territory 'Atlantis'"),
        ("draft Ural 3", "no action for this decision"),
        ("troops 3; occupy 2", "no action for this decision"),
        ("fortify Ural", "is not of the form fortify SOURCE > TARGET N"),
        ("always attack", "standing orders are"),
        ("done; " * (MOST_STEPS + 1), f"at most {MOST_STEPS} are allowed"),
        ([10**9] * 10**6, f"1000000 actions; at most {MOST_STEPS} are allowed"),
        ("x" * 100_000, "characters"),
        ("fallback", "is not an action"),
    ],
)
def test_an_answer_whose_first_action_cannot_be_played_is_refused(text: str, problem: str) -> None:
    game = position(BLITZ, "Ural 9", "rest", "Brazil")
    state, begun = game.to_record(), time.process_time()
    with pytest.raises(ValueError, match=problem):
        ActionPlan(0).give(text, game)
    assert game.to_record() == state and time.process_time() - begun < 5


def test_a_try_within_a_try_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'try try .* is not an action"):
        read_plan("try " * 4999, load_map("tiny"))


def test_bullets_numbers_and_arrows_are_read() -> None:
    steps = read_plan("1. Attack Ural -> Ukraine\n- occupy all.\n* `end`", load_map("classic"))
    assert [str(step) for step in steps] == ["attack Ural > Ukraine", "occupy all", "end"]


def test_a_plan_is_over_with_its_turn() -> None:
    game = position(BLITZ, "Ural 9", "rest", "Brazil")
    plan = answer(game, "done; draft Ural all")
    while game.seat != 0:
        game.step(fallback_action(game))
    assert plan.next_action(game) is None
    assert "the turn was over. Not played: draft Ural; troops all" in plan.account(game)


@pytest.mark.parametrize("name", GAMES)
def test_the_fallback_ends_every_game(name: str) -> None:
    game = new_game(name, seed=1)
    plans = [ActionPlan(seat) for seat in range(game.num_players)]
    for _ in range(20_000):
        if game.is_over:
            break
        plan = plans[game.seat]
        if (action := plan.next_action(game)) is None:
            plan.fall_back(game)
            action = plan.next_action(game)
        game.step(action)
    assert game.is_over


def test_an_attack_that_is_only_tried_is_passed_over_where_it_makes_no_sense() -> None:
    game = position(BLITZ, "Ural 40, Japan 5", "Ukraine 1, Kamchatka 20, rest", "Brazil")
    answer(game, "attack Ural > Ukraine; try attack Japan > Kamchatka; try attack Peru > Brazil; end")
    assert troops(game, "Japan") == 5 and game.seat == 1


def test_a_standing_order_before_other_steps_changes_none_of_them() -> None:
    game = position(BLITZ, "Ural 200", "rest", "Brazil")
    game.step("attack Ural > Ukraine")
    answer(game, "always defend 1; occupy 5")
    assert troops(game, "Ukraine") == 3 + 5


AMOUNTS = ("1", "2", "7", "all", "half", "0", "-3", "9" * 30, "two", "")


def random_step(game: Game, rng: random.Random) -> object:
    """Return an action as text or number, or something similar that may be invalid."""
    legal = int(rng.choice(game.legal_actions()))
    here, there = rng.choices([*game.board.territories, "wild", "Atlantis", "9", ""], k=2)
    word, amount = rng.choice(WORDS), rng.choice(AMOUNTS)
    forms = (f"{word} {here} {amount}", f"{word} {here} > {there} {amount}", f"{word} {amount}", word)
    step = rng.choice((game.action_text(legal), game.action_text(legal), *forms))
    prefix = rng.choice(("", "", "", "", "", "try ", "always "))
    return (
        rng.choice((legal, rng.randrange(-3, game.num_actions + 3))) if rng.random() < 0.1 else prefix + step
    )


@pytest.mark.parametrize("name", GAMES)
def test_whatever_is_answered_only_legal_actions_are_played(name: str) -> None:
    game, rng = new_game(name, seed=2, ask_forced=False), random.Random(name)
    plans = [ActionPlan(seat) for seat in range(game.num_players)]
    given = 0
    for _ in range(250):
        if game.is_over:
            break
        plan, state = plans[game.seat], game.to_record()
        while (action := plan.next_action(game)) is None:
            steps = [random_step(game, rng) for _ in range(rng.randrange(1, 5))]
            try:
                plan.give(rng.choice((steps, "; ".join(map(str, steps)))), game)
                given += 1
            except ValueError as error:
                assert 0 < len(str(error)) < 1000
            assert game.to_record() == state and isinstance(plan.account(game), str)
        assert type(action) is int and action in game.legal_actions()
        game.step(action)
    assert given >= 10


def test_a_standing_order_is_never_only_tried() -> None:
    plan = ActionPlan(0)
    plan.give("try always defend 1", position(BLITZ, "Ural 9", "rest", "Brazil"))
    assert plan.next_action(position(BLITZ, "Ural 9", "rest", "Brazil")) is None


def test_what_others_take_back_was_taken_all_the_same() -> None:
    game = position(BLITZ, "Ural 200", "rest", "Brazil")
    plan = answer(game, "attack Ural > Ukraine; occupy 0; end")
    game.step("draft Scandinavia")
    game.step("troops all")
    while owner(game, "Ukraine") == 0:
        game.step("attack Scandinavia > Ukraine")
    while game.seat != 0:
        game.step(fallback_action(game))
    assert "Ural > Ukraine: taken" in plan.account(game) and owner(game, "Ukraine") == 1


@pytest.mark.parametrize("as_number", [int, str])
def test_a_number_in_a_plan_is_played_as_its_text_is(as_number: type) -> None:
    space = in_draft().tables.space
    numbers = [
        space.encode("draft", "Ural"),
        space.encode("troops", "all"),
        space.encode("attack", "Ural", "Ukraine"),
    ]
    numbers += [space.encode("dice", 3), space.encode("occupy", 3), space.done]
    texts = ["draft Ural", "troops all", "attack Ural > Ukraine", "dice 3", "occupy 3", "done"]
    by_text, by_number = in_draft(), in_draft()  # with a blitz no dice are asked for: the step is passed over
    told = (
        answer(by_text, texts).report(),
        answer(by_number, [as_number(number) for number in numbers]).report(),
    )
    assert by_text.to_text() == by_number.to_text()
    assert told[0] == told[1]


@pytest.mark.parametrize("setup", range(3))
def test_random_plans_of_numbers_are_played_as_their_texts_are(setup: int) -> None:
    chance = random.Random(setup)
    for _ in range(100):
        game = (
            new_game(chance.choice(list(GAMES)), chance.randrange(1000), setup > 1)
            if setup
            else in_draft(CHOICE)
        )
        for _ in range(chance.randrange(60)):
            if not game.is_over:
                game.step(int(chance.choice(game.legal_actions())))
        shadow, numbers, texts = game.copy(), [], []
        for _ in range(0 if game.is_over else 4):
            legal = shadow.legal_actions()
            number = int(chance.choice(legal))
            numbers.append(number)
            texts.append(shadow.action_text(number))
            shadow.step(number)
            if shadow.is_over or shadow.seat != game.seat:
                break
        if not numbers:
            continue
        by_text, by_number = game.copy(), game.copy()
        answer(by_text, texts)
        answer(by_number, numbers)
        assert by_text.to_text() == by_number.to_text(), (numbers, texts)


@pytest.mark.parametrize(
    ("steps", "reason", "left"),
    [
        (["draft Ural all", "attack Ural > Peru"], "illegal", 1),
        (["draft Ural all", "end"], None, 0),
        (["draft Ural all", 10**9], "illegal", 1),
    ],
)
def test_a_plan_says_to_programs_why_it_stopped(steps: list, reason: str | None, left: int) -> None:
    game = in_draft()
    report = answer(game, steps).report()
    assert (report["stopped"], report["left"]) == (reason, left)
    assert report["played"][0] == game.tables.space.encode("draft", "Ural")
