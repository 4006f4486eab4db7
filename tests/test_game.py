"""One game for people and scripts: errors that change nothing, copies, saves, log, view of a seat."""

import copy
import hashlib
import pickle
import random
import re
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from risk_env import Game, Rules, load_map, presets
from risk_env.core import entry
from risk_env.core.types import Phase
from risk_env.game import SavedGameError, game_by_chance
from risk_env.observations import as_codes, as_floats
from risk_env.public import SECRET_PHASES
from risk_env.seeds import game_seed
from risk_env.text.notation import IllegalAction
from tests.positions import legal, play, play_at_random, position

CHECKSUM = 16  # bytes at the end of a saved game


def rules_of(preset, **options):
    """Return rules of short games on a small board, which reach every phase soon."""
    small = {} if preset == "basic_training" else {"initial_troops": 8}
    return Rules.preset(preset, **{"max_rounds": 6, **small, **options})


def board_of(preset):
    return "classic" if preset == "basic_training" else "tiny"


def new_game(preset, seed=1, ask_forced=False, **options):
    return Game(rules_of(preset, **options), board_of(preset), seed=seed, ask_forced=ask_forced)


GAMES = {preset: (preset, {}) for preset in presets()} | {
    "expert": ("classic", {"expert": True, "initial_troops": 12})
}


@cache
def corpus():
    """Return games in progress, of every kind and in every phase with questions."""
    kept = []
    for name, (preset, options) in GAMES.items():
        seen = {}
        for seed in range(3):
            rng = random.Random(f"{name} {seed}")
            for game in play_at_random(new_game(preset, seed, **options), rng, 200):
                if seen.setdefault(game.phase, 0) < 2 and rng.random() < 0.5:
                    seen[game.phase] += 1
                    kept.append(game.copy())
    return [*kept, at_a_bonus()]


def at_a_bonus():
    """Return a choice of the territory for the bonus of a set, which is rare in play."""
    hand = "Alaska, Alberta, Argentina"  # all infantry, two of them the player's own
    game = position("classic", "Alaska 9, Alberta 9", "Kamchatka 9", "rest 9", phase="trade", hand_0=hand)
    return play(game, "card Alaska", "card Alberta")


def some_of_each_phase():
    """Return games in progress in every phase, of different kinds."""
    return list({game.phase: game for game in corpus()}.values())


def test_the_corpus_has_every_phase():
    assert {game.phase for game in corpus()} == set(Phase) - {Phase.ROLL, Phase.DRAW}


# -------------------------------------------------------------------------------------------- illegal actions


WRONG = [
    *(
        -1,
        -5,
        10**6,
        2**40,
        True,
        False,
        np.True_,
        1.0,
        None,
        "",
        "   ",
        "attack",
        "claim Atlantis",
        "dice 9",
        "troops 7",
    ),
    *("attack Ash > Flint", "done done", b"done", (1,), [], np.float32(2), float("nan"), "42", "1"),
]


@pytest.mark.parametrize("ask_forced", [False, True])
def test_a_wrong_action_raises_and_changes_nothing(ask_forced):
    for game in some_of_each_phase():
        if ask_forced:
            game = Game.from_text(game.to_text(), ask_forced=True)
        before, log = game.to_bytes(), game.log
        illegal = [action for action in range(game.num_actions) if not game.action_mask()[action]]
        for action in [*WRONG, *illegal[:: max(1, len(illegal) // 20)], game.num_actions]:
            with pytest.raises(IllegalAction) as caught:
                game.step(action)
            assert caught.value.phase == game.phase.name
            assert caught.value.action is action or caught.value.action == action
            assert f"phase {game.phase.name}" in str(caught.value)
            assert game.to_bytes() == before and game.log == log


def test_a_number_is_legal_where_the_mask_says_so():
    for game in some_of_each_phase():
        assert [game.is_legal(action) for action in range(game.num_actions)] == game.action_mask().astype(
            bool
        ).tolist()
        assert not any(map(game.is_legal, (-1, game.num_actions, 10**9)))


@pytest.mark.modes
def test_the_message_names_action_phase_and_some_legal_ones():
    game = Game("classic", seed=1)
    with pytest.raises(
        IllegalAction, match=r"^9999 is not legal in phase CLAIM; legal: claim Alaska, .*\(42 in all\)$"
    ):
        game.step(9999)
    with pytest.raises(IllegalAction, match=r"'claim Atlantis' is not legal in phase CLAIM: .*Atlantis"):
        game.step("claim Atlantis")
    with pytest.raises(IllegalAction, match="True is not legal in phase CLAIM"):
        game.step(True)


def test_no_action_is_legal_when_the_game_is_over():
    game = next(game for game in corpus() if game.is_over)
    assert game.legal_actions().tolist() == [] and not game.action_mask().any()
    for action in (0, "done", -1):
        with pytest.raises(IllegalAction, match="the game is over"):
            game.step(action)


@pytest.mark.parametrize("seat", [-1, 3, 0.0, None, "0", 6, 10**7, -(10**9), True])
def test_a_wrong_seat_is_named(seat):
    game = Game("classic", seed=1)
    asking = (game.hand, game.mission, game.headquarters, game.observe, game.observe_codes)
    asking += (lambda wrong: game.determinize(wrong, 1),)
    for ask in asking:
        with pytest.raises(ValueError, match=r"seat=.*: must be a whole number from 0 to 2"):
            ask(seat)


def test_a_wrong_view_is_named():
    with pytest.raises(ValueError, match=r"observation='dict': choose one of 'flat', 'structured'"):
        new_game("classic").observe(0, "dict")


# ---------------------------------------------------------------------------------------------- what is legal


def test_legal_actions_mask_and_texts_say_the_same():
    for game in corpus():
        actions, mask = game.legal_actions(), game.action_mask()
        assert mask.dtype == np.int8 and mask.shape == (game.num_actions,)
        assert actions.tolist() == np.flatnonzero(mask).tolist()
        assert all(game.parse_action(game.action_text(action)) == action for action in actions[:30].tolist())


def test_numbers_and_texts_play_the_same():
    for game in some_of_each_phase():
        for action in game.legal_actions().tolist()[:3]:
            by_number, by_text, by_numpy = game.copy(), game.copy(), game.copy()
            by_text.step(game.action_text(action))
            by_number.step(action)
            by_numpy.step(np.int64(action))
            assert by_number == by_text == by_numpy
            assert by_number.actions == by_text.actions == by_numpy.actions


@pytest.mark.modes
def test_arrays_are_read_only_copies():
    game = Game("classic", seed=1)
    owner, troops = game.owner, game.troops
    for values in (owner, troops):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 7
    before = owner.tolist()
    play(game, "claim Alaska")
    assert owner.tolist() == before and game.owner.tolist() != before
    mask = game.action_mask()
    mask[:] = 1
    with pytest.raises(IllegalAction):
        game.step("claim Alaska")


# ------------------------------------------------------------------------------------------ seeds and the log


def test_the_same_seed_is_the_same_game():
    for preset in presets():
        one, other = new_game(preset, 5), new_game(preset, 5)
        assert one == other and one.log == other.log
        assert one != new_game(preset, 6)


def test_lane_and_episode_are_other_games():
    games = [
        Game("classic", seed=5, lane=lane, episode=episode).to_bytes()
        for lane in (0, 1)
        for episode in (0, 1)
    ]
    assert len(set(games)) == 4


def test_the_game_of_a_lane_is_set_up_once(monkeypatch):
    game = Game("classic", seed=3, lane=2)
    set_up, calls = entry.set_up_game, []
    monkeypatch.setattr(entry, "set_up_game", lambda *args: (calls.append(args), set_up(*args)))
    again = game_by_chance(game.rules, game.board, game_seed(3, 2, 0))
    assert len(calls) == 1 and again == game and again.log == game.log
    assert again.origin.position is None


def test_without_a_seed_games_differ():
    assert Game("classic") != Game("classic")


@pytest.mark.parametrize("ask_forced", [False, True])
@pytest.mark.parametrize("preset", presets())
def test_replaying_the_asked_actions_gives_the_same_log(preset, ask_forced):
    *_, game = play_at_random(new_game(preset, 3, ask_forced), random.Random(preset), 250)
    again = new_game(preset, 3, ask_forced)
    for action in game.actions:
        again.step(action)
    assert again.log == game.log
    assert again.to_bytes() == game.to_bytes()
    asked = [line for line in game.log if re.match(r"\d: ", line) and not line.endswith(" (forced)")]
    assert len(asked) == len(game.actions)


@pytest.mark.parametrize("preset", presets())
def test_ask_forced_asks_what_is_forced(preset):
    """The game with `ask_forced` asks for the actions that the other game plays as forced."""
    short, full, rng = new_game(preset, 4), new_game(preset, 4, ask_forced=True), random.Random(preset)
    forced = 0
    for _ in range(150):
        while len(full.legal_actions()) == 1:
            full.step(legal(full)[0])
            forced += 1
        if short.is_over:
            break
        assert len(short.legal_actions()) > 1
        action = rng.choice(short.legal_actions().tolist())
        short.step(action)
        full.step(action)
    while len(full.legal_actions()) == 1:
        full.step(legal(full)[0])
    assert [line.removesuffix(" (forced)") for line in short.log] == full.log
    assert forced and short.owner.tolist() == full.owner.tolist()
    assert not any(line.endswith("(forced)") for line in full.log)


def test_the_log_may_be_read_at_any_time():
    """The log is the same if it is read after every action or once at the end. Reading changes nothing."""
    game, rng = new_game("command_room", 2), random.Random(0)
    other = game.copy()
    for before in play_at_random(game, rng, 80):
        lines = len(before.log)
        assert lines == len(before.log)
    for action in game.actions:
        other.step(action)
    assert other.log == game.log and other == game
    game.log.clear()
    assert other.log == game.log


def test_last_battle_is_the_last_roll_of_the_log():
    game = position("classic", "Alaska 9, Alberta 9", "Kamchatka 9", "rest 9")
    assert game.last_battle is None
    for _ in range(3):
        play(game, "attack Alaska > Kamchatka", "dice 1", "defend 2")
        roll = game.last_battle
        assert (roll.source, roll.target) == ("Alaska", "Kamchatka")
        rolled = " ".join(map(str, roll.attacker_rolled)) + " | " + " ".join(map(str, roll.defender_rolled))
        assert [line for line in game.log if "roll" in line][-1] == f"chance: roll {rolled}"
        assert roll.attacker_losses + roll.defender_losses == 1


def test_returns():
    """The winner gets 1. Eliminated seats, and all losers after a win, get -1 / (P - 1). Others get 0."""
    seen = set()
    for game in corpus():
        values, players = game.returns(), game.num_players
        seen.add((game.is_over, game.truncated))
        lost = -1 / (players - 1)
        if game.winner >= 0:
            assert values.tolist() == pytest.approx(
                [1.0 if seat == game.winner else lost for seat in range(players)]
            )
        else:
            assert values.tolist() == pytest.approx([0.0 if alive else lost for alive in game.alive])
        assert values.dtype == np.float64 and values.shape == (players,)
    assert {(False, False), (True, True)} <= seen


# ------------------------------------------------------------------------------------------- copies and saves


WAYS = {
    "copy": Game.copy,
    "copy.copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda game: pickle.loads(pickle.dumps(game)),
    "bytes": lambda game: Game.from_bytes(game.to_bytes()),
    "record": lambda game: Game.from_record(game.rules, game.board, game.to_record()),
    "text": lambda game: Game.from_text(game.to_text()),
}
WITH_HISTORY = ("copy", "copy.copy", "deepcopy", "pickle")
WITHOUT_SEED = ("record", "text")


@pytest.mark.parametrize("way", WAYS)
def test_a_copy_in_the_middle_plays_on_like_the_original(way):
    for number, original in enumerate(some_of_each_phase()):
        game, other = original.copy(), WAYS[way](original)
        # the log holds the roll back until it is decided
        if way not in WITH_HISTORY and game.phase == Phase.REROLL:
            continue
        assert other.to_record() == game.to_record()
        assert (other.rules, other.board) == (game.rules, game.board)
        if way not in WITHOUT_SEED:
            assert other == game and other.to_bytes() == game.to_bytes()
        if way in WITH_HISTORY:
            assert other.log == game.log and other.actions == game.actions
        told = len(game.log)
        rng = random.Random(number)
        for _ in range(25):
            if game.is_over:
                break
            action = rng.choice(game.legal_actions().tolist())
            game.step(action)
            other.step(action)
        assert other.to_record() == game.to_record()
        assert other.log[-(len(game.log) - told) or len(other.log) :] == game.log[told:]


@pytest.mark.modes
def test_a_copy_is_on_its_own():
    game = Game("classic", seed=1)
    for other in (game.copy(), copy.deepcopy(game), pickle.loads(pickle.dumps(game))):
        before, log = game.to_bytes(), game.log
        play(other, "claim Alaska")
        assert (game.to_bytes(), game.log) == (before, log)
        assert other != game and other.log != log


def test_a_copy_of_a_loaded_game_keeps_its_history():
    game = Game.from_bytes(Game("classic", seed=1).to_bytes())
    play(game, "claim Alaska", "claim Alberta")
    assert game.log[0].endswith("claim Alaska")
    for other in (game.copy(), pickle.loads(pickle.dumps(game))):
        assert other.log == game.log and len(other.log) == 2
        assert play(other, "claim Peru").log[:2] == game.log


def test_a_position_in_the_middle_of_a_roll_tells_its_story():
    """A text may describe a position before a chance event: the event is logged at once."""
    lines = {"phase": "roll", "source": "Alaska", "target": "Kamchatka", "chosen_dice": "3, 2"}
    game = position("classic", "Alaska 9, Alberta 9", "Kamchatka 9", "rest 9", **lines)
    play(game, "attack Alberta > Ontario", "dice 1", "defend 2")
    again = Game.from_text(game.to_text())
    assert again == game and again.to_record() == game.to_record()
    assert game.log[0].startswith("chance: roll ")
    assert game.last_battle is not None and game.last_battle.target == "Ontario"
    asked = position("classic", "Alaska 9, Alberta 9", "Kamchatka 9", "rest 9", ask_forced=True, **lines)
    assert asked.last_battle is not None and asked.last_battle.target == "Kamchatka"
    assert "done" in legal(asked)


def test_games_compare_by_state_and_are_not_hashed():
    game = Game("classic", seed=1)
    assert game == game.copy() and game != play(game.copy(), "claim Alaska") and game != "a game"
    with pytest.raises(TypeError):
        hash(game)


def test_ask_forced_is_kept():
    game = Game(rules_of("classic"), "tiny", seed=1, ask_forced=True)
    for other in (game.copy(), pickle.loads(pickle.dumps(game)), Game.from_bytes(game.to_bytes())):
        for _ in range(5):
            play(other, legal(other)[0])
        assert len(other.legal_actions()) == 1  # the last free territory


# ---------------------------------------------------------------------------------------------- damaged saves


def sealed(body):
    """Return bytes with a matching checksum."""
    return body + hashlib.sha256(body).digest()[:CHECKSUM]


def saved():
    """Return a saved game in progress with many facts."""
    *_, game = play_at_random(new_game("command_room", 7), random.Random(1), 90)
    return game.to_bytes()


@pytest.mark.modes
def test_a_truncated_or_lengthened_save_is_refused():
    data = saved()
    for length in [*range(0, len(data), 97), len(data) - 1]:
        with pytest.raises(SavedGameError):
            Game.from_bytes(data[:length])
    with pytest.raises(SavedGameError):
        Game.from_bytes(data + b"\0")


def test_a_flipped_byte_is_refused():
    data, rng = saved(), random.Random(0)
    for place in [*range(40), *rng.sample(range(len(data)), 200)]:
        damaged = bytearray(data)
        damaged[place] ^= 1 << rng.randrange(8)
        with pytest.raises(SavedGameError):
            Game.from_bytes(bytes(damaged))


@given(st.binary(max_size=200))
def test_any_bytes_are_refused(data):
    for junk in (data, b"risk_env" + data, sealed(data), sealed(saved()[:14] + data)):
        with pytest.raises(SavedGameError):
            Game.from_bytes(junk)


@given(st.data())
def test_a_flipped_state_under_a_right_checksum_is_refused_or_a_game(data):
    """A save with a matching checksum gives a playable game or a SavedGameError."""
    body = bytearray(saved()[:-CHECKSUM])
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(body) - 1))
        body[place] = data.draw(st.integers(0, 255))
    try:
        game = Game.from_bytes(sealed(bytes(body)))
    except SavedGameError:
        return
    for _ in play_at_random(game, random.Random(0), 10):
        pass


def test_missing_facts_are_named():
    for name, other in ((b'"rules"', b'"ruled"'), (b'"seed"', b'"feed"')):
        body = saved()[:-CHECKSUM].replace(name, other)
        with pytest.raises(SavedGameError, match=f"the header lacks {name.decode()[1:-1]}"):
            Game.from_bytes(sealed(body))


@pytest.mark.parametrize("junk", [None, 7, "risk_env", ["risk_env"]])
def test_what_is_not_bytes_is_refused(junk):
    with pytest.raises(SavedGameError, match="instead of bytes"):
        Game.from_bytes(junk)


def test_another_map_is_refused_with_both_named():
    data = Game("classic", seed=1).to_bytes()
    tiny, classic = load_map("tiny"), load_map("classic")
    with pytest.raises(SavedGameError, match=f"{classic.digest[:16]}.*{tiny.digest[:16]}"):
        Game.from_bytes(data, tiny)
    assert Game.from_bytes(data, classic) == Game("classic", seed=1)


def test_another_format_is_refused_with_both_named():
    data = bytearray(saved()[:-CHECKSUM])
    data[8] += 1
    with pytest.raises(SavedGameError, match=r"format 2.*format 1"):
        Game.from_bytes(sealed(bytes(data)))


def test_memory_views_and_byte_arrays_are_bytes():
    data = saved()
    assert Game.from_bytes(bytearray(data)) == Game.from_bytes(memoryview(data)) == Game.from_bytes(data)


def test_a_record_of_the_wrong_length_is_refused():
    game = Game("classic", seed=1)
    with pytest.raises(SavedGameError, match="bytes"):
        Game.from_record(game.rules, game.board, game.to_record()[:-1])


# ---------------------------------------------------------------------------------------- what a seat may see


def all_cards(game):
    """Return the number of cards of each name, wherever they are."""
    record, names = game.record, game.board.territories
    piles = [record.deck, record.discard, *record.hand]
    held = [names[t] for pile in piles for t in range(len(names)) if int(pile[t // 64]) >> (t % 64) & 1]
    held += [game.headquarters(seat) for seat in range(game.num_players) if game.headquarters(seat)]
    wilds = int(record.deck_wilds) + int(record.discard_wilds) + int(record.wilds.sum())
    return sorted(held) + ["wild"] * wilds


def guesses():
    """Yield (game, seat, game with everything that the seat does not know drawn again)."""
    for number, game in enumerate(corpus()):
        for seat in range(game.num_players):
            yield game, seat, game.determinize(seat, number)


def test_determinizing_never_changes_the_seat_s_own_view():
    for game, seat, other in guesses():
        if game.seat != seat and game.phase in SECRET_PHASES:  # other dice, which it has not seen
            continue
        assert other.observe(seat).tolist() == game.observe(seat).tolist()
        assert other.hand(seat) == game.hand(seat)
        assert other.mission(seat) == game.mission(seat)
        assert other.headquarters(seat) == game.headquarters(seat)
        if game.seat == seat:
            assert other.legal_actions().tolist() == game.legal_actions().tolist()


def test_determinizing_keeps_what_is_public():
    for game, seat, other in guesses():
        if game.seat != seat and game.phase in SECRET_PHASES:
            continue
        assert str(other) == str(game)
        # of another seat: what this one may know
        phases = [each.public(seat).phase for each in (other, game)]
        assert phases[0] == phases[1]
        assert (other.seat, other.turn, other.round) == (game.seat, game.turn, game.round)
        assert other.owner.tolist() == game.owner.tolist() and other.troops.tolist() == game.troops.tolist()
        sizes = [len(game.hand(seat)) for seat in range(game.num_players)]
        assert [len(other.hand(seat)) for seat in range(game.num_players)] == sizes
        assert (
            all_cards(other) == all_cards(game) == sorted(game.board.territories) + ["wild"] * wilds_of(game)
        )
        assert other.to_text()  # a possible position


def wilds_of(game):
    return game.board.num_wilds if game.rules.deck == "symbol" else 0


def test_determinizing_draws_hidden_facts_and_the_generator_again():
    changed = {"hand": 0, "mission": 0, "headquarters": 0}
    for game, seat, other in guesses():
        assert int(other.record.random) != int(game.record.random)
        for foe in set(range(game.num_players)) - {seat}:
            changed["hand"] += other.hand(foe) != game.hand(foe)
            changed["mission"] += other.mission(foe) != game.mission(foe)
            changed["headquarters"] += other.headquarters(foe) != game.headquarters(foe)
    assert all(changed.values()), changed


def test_a_seed_gives_one_guess_and_the_game_is_left_alone():
    game = position("classic", "Alaska 9", "Kamchatka 9", "rest 9", hand_1="Peru, Japan")
    before, log = game.to_bytes(), game.log
    assert game.determinize(0, 3) == game.determinize(0, 3)
    assert game.determinize(0, 3) != game.determinize(0, 4)
    assert (game.to_bytes(), game.log) == (before, log)


def test_a_guess_can_be_played_to_its_end():
    for number, game in enumerate(some_of_each_phase()):
        other = game.determinize(0, number)
        for _ in play_at_random(other, random.Random(number), 60):
            pass
        assert len(other.log) >= len(other.actions)
        assert other.copy().log == other.log


def test_views_of_both_shapes_say_the_same():
    for game in some_of_each_phase():
        flat, parts = game.observe(0), game.observe(0, "structured")
        assert flat.dtype == np.float32
        assert np.concatenate([parts["territories"].ravel(), parts["globals"]]).tolist() == flat.tolist()
        assert parts["territories"].shape[0] == game.board.num_territories
        codes = game.observe_codes(0)
        assert np.array_equal(as_floats(codes, game.board), flat)
        assert np.array_equal(as_codes(flat, game.board), codes)


def test_the_board_for_people_shows_no_hand():
    game = position("classic", "Alaska 9", "Kamchatka 9", "rest 9", hand_1="Peru, Japan")
    other = position("classic", "Alaska 9", "Kamchatka 9", "rest 9", hand_1="China, wild")
    assert str(game) == str(other)


def test_repr_names_map_players_and_question():
    assert repr(Game("classic", seed=1)).startswith("<Game on 'Classic', 3 players, round 0, seat ")
    assert repr(next(game for game in corpus() if game.is_over)).endswith(", over>")


def test_numpys_whole_numbers_are_whole_numbers() -> None:
    game = Game("classic", "tiny", np.int64(5))
    assert game.to_bytes() == Game("classic", "tiny", 5).to_bytes()
    game.step(np.array(game.legal_actions()[0]))
    with pytest.raises(IllegalAction):
        game.step(np.array([0]) * 1.0)


def test_a_position_beyond_the_last_round_has_no_rounds_left() -> None:
    game = Game(Rules.preset("classic", 3, setup="random", max_rounds=20), "classic", seed=1)
    record = game.records.copy()
    record["round_number"] = 200
    late = Game.from_record(game.rules, game.board, record)
    assert late.round == 200
    assert late.observe(late.seat).min() >= 0
