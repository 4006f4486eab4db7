"""Public facts: PublicState and Event give each seat all facts that it may know, and nothing hidden."""

import dataclasses
import itertools
import json
import random
import re
import time
from collections import Counter
from functools import cache

import numpy as np
import pytest

from risk_env import Event, Game, PublicState, Rules, load_map, presets
from risk_env.core import entry
from risk_env.core.types import Phase
from risk_env.events import KEPT_ROLLS, MOST_FORCED, PRIVATE_PHASES, SCHEMA, GameLog, Roll
from risk_env.public import SECRET_PHASES, dice_of, public_facts
from tests.games import Player
from tests.positions import position
from tests.test_docs import rows

# name: (preset, options)
GAMES = {
    **{preset: (preset, {}) for preset in presets()},
    "experts": ("classic", {"expert": True, "setup": "random"}),
    "random capitals": ("command_room", {"setup": "random", "commander": True}),
    "random headquarters": ("capital", {"setup": "random"}),
    "blitzes": ("classic", {"num_players": 6, "attack": "blitz", "defender_dice": "max"}),
}
STEPS = 700


def new_game(name, seed, ask_forced=True):
    preset, options = GAMES[name]
    small = {} if preset == "basic_training" else {"initial_troops": 9}
    board = "classic" if preset == "basic_training" else "tiny"
    rules = Rules.preset(preset, **{"max_rounds": 40, **small, **options})
    return Game(rules, board, seed, ask_forced=ask_forced)


def play(game, seed, steps=STEPS):
    """Play at random, and yield the game and the next action before every action."""
    player = Player(random.Random(seed), 0.9)
    for _ in range(steps):
        if game.is_over:
            return
        action = player.choose(game.record, game.tables, game.legal_actions().tolist())
        yield action
        game.step(action)


@cache
def played(name, seed):
    """Return a game with forced questions asked, and each deciding seat's view before every action."""
    game = new_game(name, seed)
    states = [game.public(game.seat) for _ in play(game, seed)]
    return game, [*states, game.public(None if game.is_over else game.seat)]


def all_played():
    return [(name, seed) for name in GAMES for seed in range(3)]


# ----------------------------------------------------------------------------------------------- hidden facts


def with_other_secrets(game, seat, seed):
    """Return a game with other facts that the seat does not know, and the same dice to come."""
    games = game.determinize(seat, seed).records.copy()
    games["random"] = game.records["random"]
    return Game.from_record(game.rules, game.board, games, ask_forced=True)


def told(events):
    """Return the events that may not depend on secrets.

    Drawn and taken cards are left out, as is everything that a secret decides or reveals.
    """
    is_open = any(event.kind in ("over", "reveal") for event in events)
    return None if is_open else [event for event in events if event.kind not in ("card", "handed_over")]


def check_secrets(game, action, seat, seed):
    """Compare a game with another that differs only in unknown facts of `seat`, before and after an action.

    Return the new events. test_hidden covers differences in the questions that hidden facts raise.
    """
    if game.phase in SECRET_PHASES:
        game.step(action)
        return []
    other, state = with_other_secrets(game, seat, seed), game.public()
    assert other.public() == state == game.determinize(seat, seed).public()
    assert json.dumps(other.public().to_json()) == json.dumps(state.to_json())
    if action not in other.legal_actions() or other.phase != game.phase:
        game.step(action)
        return []
    counts = {viewer: len(game.events(seat=viewer)) for viewer in (None, seat)}
    one = game.copy()
    for each in (game, one, other):
        each.step(action)
    for each in (one, other):
        if each.phase == Phase.REROLL:
            each.step("done")
    new = {viewer: told(one.events(count, viewer)) for viewer, count in counts.items()}
    if None in new.values() or told(other.events()) is None:
        return []
    assert new == {viewer: told(other.events(seat=viewer)) for viewer in counts}
    return new[None]


@pytest.mark.parametrize("name", GAMES)
def test_hidden_facts_change_neither_states_nor_events(name):
    compared = []
    for seed in range(2):
        game, player = new_game(name, seed), Player(random.Random(seed), 0.9)
        for number in range(120):
            if game.is_over:
                break
            action = player.choose(game.record, game.tables, game.legal_actions().tolist())
            compared += check_secrets(game, action, number % game.num_players, number)
    kinds = {event.kind for event in compared}
    assert len(compared) > 100 and {"action", "turn", "draft", "battle"} <= kinds
    assert "draw" in kinds or name == "basic_training"


@pytest.mark.parametrize("name", GAMES)
def test_an_event_that_one_seat_alone_sees_is_for_it_alone(name):
    for seed in range(3):
        game, _ = played(name, seed)
        public, everything = game.events(), game._history().events
        assert all(event.only == -1 for event in public)
        assert not {"card", "handed_over", "mission"} & {event.kind for event in public}
        assert not {p.name for p in PRIVATE_PHASES} & {event.phase for event in public}
        for seat in range(game.num_players):
            seen = game.events(seat=seat)
            assert seen == [event for event in everything if event.only in (-1, seat)]
            assert {event.seat for event in seen if event not in public} <= {seat}


def test_who_drew_sees_the_card_and_the_others_that_it_was_drawn():
    drawn = 0
    for name, seed in all_played():
        game, _ = played(name, seed)
        for before, event in itertools.pairwise(game._history().events):
            if event.kind == "handed_over":
                assert event.only == event.seat == before.seat and len(event.cards) == before.number
            if event.kind == "card":
                assert event.only == event.seat and len(event.cards) == 1
                assert (before.only == -1 and before.seat == event.seat) or before.kind == "card"
            if before.kind == "draw":
                assert before.only == -1 and event.kind == "card"
                drawn += 1
    assert drawn > 50


def test_where_a_headquarters_is_picked_is_told_when_all_have_picked():
    told = []
    for pick in (0, -1):
        game = Game(Rules.preset("capital", 3, initial_troops=14), "classic", seed=3)
        while game.phase != Phase.HEADQUARTERS:
            game.step(int(game.legal_actions()[0]))
        seat = game.seat
        game.step(int(game.legal_actions()[pick]))
        assert game.events()[-1] == Event("pick", seat=seat)
        assert (game.public().headquarters == -1).all()
        own = [event for event in game.events(seat=seat) if event.phase == "HEADQUARTERS"]
        assert own[0].text == f"headquarters {game.headquarters(seat)}"
        told.append((game.events(), game.public()))
        for _ in range(2):
            game.step(int(game.legal_actions()[0]))
        reveal = next(event for event in game.events() if event.kind == "reveal")
        names = [game.board.territories[t] for t in reveal.territories]
        assert names == [game.headquarters(seat) for seat in range(3)]
        assert game.public().headquarters.tolist() == list(reveal.territories)
    assert told[0] == told[1]


def test_who_could_have_traded_is_not_told():
    hand = "Alaska, Alberta, Argentina"
    game = position("classic", "Alaska 9, Alberta 9", "Kamchatka 9", "rest 9", phase="trade", hand_0=hand)
    game.step("done")
    assert game.events() == []
    assert [event.text for event in game.events(seat=0)] == ["done"]
    assert game.events(seat=1) == []


# -------------------------------------------------------------------------------------------- the whole truth


class Watcher:
    """Follows owners, troops and hands by public events alone."""

    def __init__(self, state):
        self.owner, self.troops, self.hands = state.owner.copy(), state.troops.copy(), state.hand_sizes.copy()

    def see(self, event):
        if event.kind in ("capital", "claim", "deploy", "bonus", "draft", "deploy_neutral"):
            if event.kind in ("capital", "claim"):
                self.owner[event.territory] = event.seat
            self.troops[event.territory] += event.number
        elif event.kind == "battle":
            self.troops[[event.source, event.target]] = event.left
        elif event.kind in ("capture", "occupy", "move"):
            if event.kind == "capture":
                self.owner[event.target] = event.seat
            self.troops[event.source] -= event.number
            self.troops[event.target] += event.number
        elif event.kind == "elimination":
            self.hands[event.seat] += self.hands[event.other]
            self.hands[event.other] = 0
        elif event.kind in ("draw", "trade"):
            self.hands[event.seat] += 1 if event.kind == "draw" else -len(event.cards)


@pytest.mark.parametrize("name", GAMES)
def test_public_events_tell_all_that_happens_on_the_board(name):
    game = new_game(name, 2)
    watcher, told = Watcher(game.public()), len(game.events())
    for action in play(game, 2, 400):
        for event in game.events(since=told):
            watcher.see(event)
            told += 1
        state = game.public()
        assert (watcher.owner == state.owner).all() and (watcher.troops == state.troops).all(), (
            game.action_text(action)
        )
        assert (watcher.hands == state.hand_sizes).all()


def test_the_page_names_every_kind_of_event_and_its_fields():
    told = {kind: set(re.findall("`(.*?)`", cells[1])) for kind, cells in rows("public", "`Event`").items()}
    seen = {kind: set() for kind in told}
    for name, seed in all_played():
        for event in played(name, seed)[0]._history().events:
            facts = json.loads(json.dumps(event.to_json()))
            assert facts.pop("schema") == 1 and facts.pop("only") == event.only
            seen[facts.pop("kind")] |= set(facts)
            assert all(facts[name] == as_lists(getattr(event, name)) for name in facts)
    # what is forced everywhere or nowhere in these games
    assert {kind: fields - {"forced"} for kind, fields in seen.items()} == {
        k: f - {"forced"} for k, f in told.items()
    }
    assert all(seen[kind] <= told[kind] for kind in told)


def as_lists(value):
    return [as_lists(part) for part in value] if isinstance(value, tuple) else value


def test_rounds_turns_and_the_end_are_told():
    for name, seed in all_played():
        game, states = played(name, seed)
        events = [event for event in game.events() if event.kind in ("round", "turn", "over")]
        turns = [(state.round, state.turn) for state in states if state.round and state.phase != Phase.OVER]
        followed, number = [], 0
        for event in events:
            number = event.number if event.kind == "round" else number
            followed += [(number, event.seat)] if event.kind == "turn" else []
        assert followed == list(dict.fromkeys(turns))
        assert [event.seat for event in events if event.kind == "over"] == (
            [game.winner] if game.is_over else []
        )


def test_a_trade_is_worth_what_the_state_announced():
    traded = 0
    for seed in range(6):
        game = new_game("classic", seed)
        worth = count = 0
        for _ in play(game, seed):
            for event in game.events(since=count):
                if event.kind == "trade":
                    assert event.number == worth > 0
                    traded += 1
            worth, count = game.public().next_set, len(game.events())
    assert traded >= 3
    assert new_game("command_room", 1).public().next_set == 0


def test_forced_actions_are_marked_where_they_are_played_at_once():
    for name in ("classic", "two_player", "command_room"):
        asked, full = new_game(name, 4, ask_forced=False), None
        for _ in play(asked, 4, 200):
            pass
        actions = [event for event in asked._history().events if event.kind == "action"]
        assert sum(not event.forced for event in actions) == len(asked.actions)
        assert any(event.forced for event in actions)
        full = new_game(name, 4)
        for event in actions:
            full.step(event.text)
        unmarked = [event._replace(forced=False) for event in asked._history().events]
        assert full._history().events[: len(unmarked)] == unmarked


def test_events_are_counted_as_each_seat_sees_them():
    game, _ = played("secret_mission", 1)
    for seat in (None, 0, 1):
        seen = game.events(seat=seat)
        assert game.events(5, seat) == seen[5:] and game.events(since=len(seen), seat=seat) == []
    for wrong in (-1, 3, 1.5):
        with pytest.raises(ValueError, match=f"seat={wrong}"):
            game.events(seat=wrong)


# ------------------------------------------------------------------------------------------- states as values


def test_states_come_back_from_json_at_every_phase():
    phases = set()
    for name, seed in all_played():
        for state in played(name, seed)[1][::3]:
            again = PublicState.from_json(json.loads(json.dumps(state.to_json())))
            assert again == state
            assert [getattr(again, field.name).__class__ for field in dataclasses.fields(state)] == [
                getattr(state, field.name).__class__ for field in dataclasses.fields(state)
            ]
            phases.add(state.phase)
    assert phases == set(Phase) - {Phase.ROLL, Phase.DRAW}


def test_a_state_is_frozen_and_equal_states_are_equal():
    game = Game(seed=1)
    state = game.public()
    assert state == game.public() != Game(seed=2).public()
    assert state != "a state"
    for array in (state.owner, state.troops, state.alive, state.hand_sizes, state.capitals, state.objectives):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        state.turn = 2
    before = state.to_json()
    game.step("claim Alaska")
    assert state.to_json() == before != game.public().to_json()


def test_a_state_is_that_of_the_game():
    for name, seed in all_played():
        game, states = played(name, seed)
        state = states[-1]
        assert (state.phase, state.seat, state.turn, state.round) == (
            game.phase,
            game.seat,
            game.turn,
            game.round,
        )
        assert (state.winner, state.truncated, state.num_players) == (
            game.winner,
            game.truncated,
            game.num_players,
        )
        assert np.array_equal(state.owner, game.owner) and np.array_equal(state.troops, game.troops)
        assert state.owner.dtype == state.troops.dtype == np.int64 and state.alive.dtype == np.bool_
        assert state.hand_sizes.tolist() == [len(game.hand(seat)) for seat in range(game.num_players)]
        cards = game.board.num_territories + (game.board.num_wilds if game.rules.deck == "symbol" else 0)
        opened = (
            game.num_players
            if game.rules.victory == "headquarters" and (state.headquarters >= 0).all()
            else 0
        )
        assert (
            state.deck + state.hand_sizes.sum() + len(state.discard) + state.discard_wilds + opened == cards
        )


def test_public_facts_are_the_json_form_of_the_state():
    for name, seed in all_played():
        game = new_game(name, seed)
        for _ in play(game, seed):
            assert list(public_facts(game.records, game.tables).items()) == list(
                game.public().to_json().items()
            )


def test_dice_are_shown_while_they_lie_on_the_table():
    armies = ("Ash 9, Birch 3", "Cedar 3, Dune 3", "Ember 3, Flint 3")
    lines = {
        "phase": "commander",
        "source": "Ash",
        "target": "Cedar",
        "chosen_dice": "3, 1",
        "rolled": "6 4 3 | 5",
    }
    game = position(
        "preset=classic, num_players=3, commander=True, card_reroll=True", *armies, map="tiny",
        rerolled="6, 2", shown="Ash", hand_0="Ash", **lines,
    )  # fmt: skip
    state = game.public()
    assert (state.dice, state.chosen_dice) == (((4, 3, 2), (5,)), 3)
    assert (state.shown, state.shown_hands) == ((0,), (0,))
    game.step("commander 2")
    assert game.public().dice == ((), ())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": 2}, "schema=2 of a public state: this version reads 1"),
        ({"phase": "LUNCH"}, "phase='LUNCH': choose one of CAPITAL"),
        ({"mood": "good"}, "missing or unknown: .'mood'"),
    ],
)
def test_another_form_of_a_state_is_refused(change, said):
    with pytest.raises(ValueError, match=said):
        PublicState.from_json(Game(seed=1).public().to_json() | change)
    with pytest.raises(ValueError, match="schema=None"):
        PublicState.from_json({})


@pytest.mark.parametrize("schema", [SCHEMA + 1, None])
def test_another_form_of_an_event_is_refused(schema):
    facts = Event("round", number=2).to_json()
    assert Event.from_json(facts) == Event("round", number=2)
    with pytest.raises(ValueError, match=f"schema={schema} of an event: this version reads {SCHEMA}"):
        Event.from_json(facts | {"schema": schema})


def test_a_plain_state_needs_the_board_only():
    state = PublicState((0, 1, -1), (1, 2, 0), 2)
    assert state.owner.tolist() == [0, 1, -1] and state == PublicState.from_json(state.to_json())
    assert load_map("classic").num_territories == len(Game(seed=1).public().owner)


# ------------------------------------------------------------------------------------------ bounded histories


LARGEST = 262_144


def huge_blitz():
    armies = (f"Alaska {LARGEST}", f"Kamchatka {LARGEST}", "rest 2")
    return position("preset=classic, num_players=3, attack=blitz", *armies)


def test_a_blitz_of_the_largest_armies_is_one_small_event():
    game = huge_blitz()
    game.step("attack Alaska > Kamchatka")
    game.replay()  # compiles
    game = game.copy()
    start = time.process_time()
    facts = game.replay().facts
    assert time.process_time() - start < 2  # some 25 ms; one event a roll took a minute
    (battle,) = (event for event in game.events() if event.kind == "battle")
    assert battle.number > 200_000 and len(battle.rolls) == 2 * KEPT_ROLLS
    assert sum(battle.losses) == LARGEST - battle.left[0] + LARGEST - battle.left[1]
    assert len(json.dumps(facts["frames"])) < 8_000 and len(facts["frames"]) == 3
    assert len(game.log) < 70 and f"{battle.number - 2 * KEPT_ROLLS} more rolls" in game.log[KEPT_ROLLS + 1]


@pytest.mark.parametrize("armies", [(9, 9), (2, 1), (150, 150), (400, 90), (90, 400)])
@pytest.mark.parametrize("limit", [None, 7, 90])
def test_a_blitz_played_at_once_is_that_played_roll_by_roll(armies, limit):
    options = f"preset=classic, num_players=3, attack=blitz, max_battles_per_turn={limit}"
    for seed in range(6):
        holders = (f"Alaska {armies[0]}", f"Kamchatka {armies[1]}", "rest 2")
        game = position(options, *holders, random=str(seed))
        games, tables, rolls = game.records.copy(), game.tables, []
        game.step("attack Alaska > Kamchatka")
        action = game.actions[0]
        entry.apply_action(games, 0, tables.board, tables.rules, action)
        while entry.play_chance_once(games, 0, tables.board, tables.rules):
            dice = [dice_of(games[field][0]) for field in ("rolled", "settled")]
            rolls.append(Roll(*dice, tuple(games["losses"][0].tolist())))
        log = GameLog(game.rules, game.board, game._start, game._chance, True)
        log.catch_up([action])
        assert log._games.tobytes() == games.tobytes()
        battle = next(event for event in log.events if event.kind == "battle")
        kept = rolls if len(rolls) <= 2 * KEPT_ROLLS else rolls[:KEPT_ROLLS] + rolls[-KEPT_ROLLS:]
        assert (battle.number, list(battle.rolls)) == (len(rolls), kept)
        assert battle.losses == tuple(sum(roll.losses[side] for roll in rolls) for side in range(2))
        assert (battle.rolled, battle.dice) == rolls[-1][:2]


def test_a_long_run_of_forced_actions_is_skipped():
    rules = Rules.preset("classic", 6, setup="deal", initial_troops=20_000)  # a territory for each seat
    game = Game(rules, "tiny", seed=1)
    compiled = len(getattr(entry.step_game, "signatures", ()))
    kinds = Counter(event.kind for event in game.events())
    assert len(getattr(entry.step_game, "signatures", ())) == compiled
    assert kinds["deploy"] == MOST_FORCED and kinds["skipped"] == kinds["turn"] == 1
    last = game.replay().facts
    assert len(last["frames"]) < 2 * MOST_FORCED
    game.step(int(game.legal_actions()[0]))
    played = game._history()._games.copy()
    played["decisions"] = game.record.decisions  # the log does not count
    assert played.tobytes() == game.records.tobytes()
