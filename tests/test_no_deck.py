"""RULES 2.5: games without cards, in the core and in everything that shows or plays them."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from risk_agents.human.narration import Words
from risk_agents.human.questions import own_lines
from risk_env import Game, Rules, load_map
from risk_env.agent import View
from risk_env.core.types import Phase
from risk_env.render.scene import public_scene
from risk_env.viewer.frames import Frames
from tests import test_reference
from tests.games import random_rules
from tests.positions import position

CARD_FACTS = ("deck", "next_set", "sets_traded", "discard_wilds", "picked_wilds")
RULES = Rules.preset("classic", 2, profile="fast", deck="none")


@pytest.mark.parametrize("preset", ["classic", "two_player"])
def test_the_reference_agrees(preset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_reference, "random_rules", partial(random_rules, deck="none"))
    for seed in range(4):
        test_reference.compare(preset, seed, board=load_map("tiny" if seed % 2 else "classic"))


def test_no_card_is_ever_seen() -> None:
    game = Game(RULES, "classic", seed=4)
    rng = np.random.default_rng(4)
    captures = 0
    while not game.is_over:
        captures += game.phase == Phase.OCCUPY
        assert game.phase not in (Phase.TRADE, Phase.BONUS)
        actions = [action for action in game.legal_actions() if action != game.tables.space.done]
        game.step(int(rng.choice(actions)))
    kinds = {event.kind for seat in (None, 0, 1) for event in game.events(seat=seat)}
    assert captures > 10 and "capture" in kinds
    assert not kinds & {"card", "dealt", "draw", "shuffle", "trade"}
    state = game.public()
    assert not any(getattr(state, name) for name in CARD_FACTS)
    assert not state.hand_sizes.any() and game.hand(0) == game.hand(1) == ()
    assert Game.from_text(game.to_text()).to_text() == game.to_text()


@pytest.mark.parametrize("phase", ["TRADE", "DRAW"])
def test_a_text_in_a_phase_of_cards_is_refused(phase: str) -> None:
    options = ", ".join(f"{name}={value}" for name, value in RULES.to_dict().items() if value is not None)
    with pytest.raises(ValueError, match=rf"phase {phase} needs deck=symbol\|star"):
        position(options, "Alaska 9", "rest 9", phase=phase)


def test_views_have_no_hand() -> None:
    game = Game(RULES, "classic", seed=1)
    assert own_lines(View(game), Words(("Ann", "Bob"), game.board), 80) == []
    assert len(public_scene(game.public(), game.rules).hand_sizes) == 0
    frames = Frames(game.tables)
    frames.watch(game.records, [])
    assert frames.last["hand_sizes"] == []
