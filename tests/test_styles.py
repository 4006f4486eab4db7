"""Bots with a style (`risk_agents.scripted.style`): each bot plays as its description says."""

from __future__ import annotations

import pytest

from risk_agents.scripted import (
    breaker,
    card_killer,
    grudge,
    holder,
    leader_stopper,
    saver,
    style,
    turtle,
    walker,
)
from risk_env import Game
from risk_env.bots import CompiledBot, SeatedBot
from risk_env.core.types import MAX_SEATS, Phase
from tests.positions import position

STYLES = [each.BOT for each in (holder, walker, card_killer, saver, turtle, leader_stopper, grudge)]
RULES = "preset=classic, num_players=3, attack=blitz, defender_dice=max"


def test_styles_share_one_kernel_and_differ_in_their_parameters() -> None:
    assert {bot.choose for bot in STYLES} == {style.choose}
    assert len({bot.begins for bot in STYLES}) == len(STYLES)
    assert all(len(bot.begins) == style.GRUDGES for bot in STYLES)


def answer(bot: CompiledBot, game: Game) -> str:
    """Return the words of the bot's action."""
    return game.action_text(SeatedBot(bot, 1).choose(game))


@pytest.mark.parametrize(
    ("bot", "keeps"), [(saver.BOT, True), (turtle.BOT, True), (walker.BOT, False), (breaker.BOT, False)]
)
def test_savers_keep_a_set_that_they_need_not_trade(bot: CompiledBot, keeps: bool) -> None:
    hand, trade = "Alaska, Alberta, wild", {"phase": "trade", "trade": "free", "draft_left": 3}
    game = position(RULES, "Ural 4", "rest 3", "Brazil 3", hand_0=hand, **trade)
    assert (answer(bot, game) == "done") == keeps


def test_a_saver_trades_a_set_that_pays_for_a_hunt() -> None:
    hand, trade = "Alaska, Alberta, wild", {"phase": "trade", "trade": "free", "draft_left": 3}
    game = position(RULES, "Peru 3", "rest 3", "Brazil 6", hand_0=hand, hand_2="Peru, Brazil", **trade)
    assert answer(saver.BOT, game).startswith("card ")


@pytest.mark.parametrize(
    ("bot", "place"), [(holder.BOT, "Indonesia"), (turtle.BOT, "Indonesia"), (walker.BOT, "Brazil")]
)
def test_holders_guard_the_border_of_their_continent(bot: CompiledBot, place: str) -> None:
    game = position(RULES, "Australia, Brazil 8", "rest 2, Siam 5", "Ural 9", phase="draft", draft_left=7)
    assert answer(bot, game) == f"draft {place}"


@pytest.mark.parametrize(("bot", "left"), [(turtle.BOT, 3), (walker.BOT, 1)])
def test_guards_stay_behind_and_walkers_take_all_along(bot: CompiledBot, left: int) -> None:
    game = position(RULES, "Ural 14", "rest 8, Ukraine 1", "Brazil", phase="attack")
    game.step("attack Ural > Ukraine")
    assert game.phase == Phase.OCCUPY
    while game.phase == Phase.OCCUPY:
        game.step(SeatedBot(bot, 1).choose(game))
    assert game.troops[game.board.territory("Ural")] == left


@pytest.mark.parametrize(("bot", "victim"), [(leader_stopper.BOT, 1), (saver.BOT, 2), (card_killer.BOT, 2)])
def test_a_leader_stopper_attacks_the_strongest_rival(bot: CompiledBot, victim: int) -> None:
    weak = "Congo, Egypt, East Africa, Argentina, Iceland, Japan 30"
    game = position(RULES, "North Africa 9", "rest 3", weak, phase="attack")
    target = answer(bot, game).partition(" > ")[2]
    assert game.owner[game.board.territory(target)] == victim


def test_a_grudge_counts_who_captured_from_it() -> None:
    seated = SeatedBot(grudge.BOT, 1)
    own, others = "Ural 9, Alaska, Egypt", "rest 2"
    seated.choose(position(RULES, own, others, "Brazil"))
    seated.choose(position(RULES, "Ural 9", others, "Brazil, Egypt, Alaska"))
    assert seated.memory[0, 0, style.GRUDGES :][:MAX_SEATS].tolist() == [0, 0, 2, 0, 0, 0]
