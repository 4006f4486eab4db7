"""Reviews of games: luck, losses against better plans, the command and the server's answers."""

import json
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from risk_agents.game_files import save_game
from risk_agents.registry import play_game
from risk_agents.review import reviewing
from risk_agents.review.recorded import RecordedTurn, recorded_turns
from risk_agents.review.report import lines
from risk_agents.review.reviewing import ROUGH, Budget, Loss, Review, Reviewer, review
from risk_agents.review.turn_rollouts import PlayedTurn, TurnRollouts
from risk_agents.search.judges import judge_heuristically
from risk_agents.search.strategist import PLANS, PLAYERS
from risk_env import Game, Rules, SavedGame, load_map, presets
from risk_env.cli import main
from tests.positions import position

SMALL = Budget(chances=16, samples=12, check=32, steps=2, candidates=2)
FIELDS = ("owner", "troops", "hand", "deck", "phase", "turn", "round_number", "winner")


def played(players: int, bots: list[str], seed: int = 1, **options: Any) -> Game:
    rules = Rules.preset("classic", players, **{"profile": "fast"} | options)
    return play_game(rules, load_map("tiny"), bots, seed=seed)


def turns_of(game: Game) -> tuple[list[RecordedTurn], list[Any]]:
    turns, events = recorded_turns(game)
    return turns, list(events)


@pytest.mark.parametrize("attack", ["blitz", "choice"])
def test_a_played_turn_is_repeated_by_its_own_dice(attack: str) -> None:
    """With the game's own dice, every situation comes up again, so the turn ends as it did in the game."""
    game = played(3, ["grower", "hunter", "random"], attack=attack, max_rounds=12)
    turns, _ = turns_of(game)
    rollouts = TurnRollouts(game.rules, game.board, PLANS, PLAYERS, judge_heuristically, 16)
    for turn, following in pairwise(turns):
        if turn.decisions and (following.seat, following.round) != (turn.seat, turn.round):
            ends = rollouts.ends_of_played(turn, 0, np.repeat(turn.start, 2), np.random.default_rng(0))
            for field in FIELDS:
                assert (ends[field] == following.start[field]).all(), (turn.round, turn.seat, field)


def test_other_situations_are_left_to_the_plan() -> None:
    game = played(3, ["grower", "hunter", "breaker"])
    turns, _ = turns_of(game)
    turn = max(turns, key=lambda each: len(each.decisions))
    at_hand = PlayedTurn(turn.decisions, game.tables)
    start, first = np.repeat(turn.start, 4), np.zeros(4, np.int64)
    start["troops"][1, turn.decisions[0].owners.tolist().index(turn.seat)] += 9  # another army
    start["owner"][2, 0] = (int(start["owner"][2, 0]) + 1) % 3  # another owner
    start["legal"][3] = 0  # the decision is not legal
    assert at_hand.rows(start, turn.seat, first).tolist() == [0, -1, -1, -1]


def test_what_happened_is_one_of_the_outcomes_and_their_mean_luck_is_nothing() -> None:
    game = played(3, ["grower", "hunter", "breaker"], attack="choice")
    reviewer = Reviewer(game.rules, game.board, SMALL, seed=0)
    _, events = turns_of(game)
    assert len(events) > 20
    for event in events[:4]:
        places = [
            (event.records[field] == event.after[field]).reshape(len(event.records), -1) for field in FIELDS
        ]
        assert np.concatenate(places, axis=1).all(axis=1).any()
        lucks = [
            reviewer._luck(replace(event, after=event.records[k : k + 1])) for k in range(len(event.records))
        ]
        np.testing.assert_allclose(event.chances @ np.array(lucks), 0.0, atol=1e-9)


def test_a_turn_that_gives_a_win_away_is_reported_with_the_way_to_win() -> None:
    """Seat 1 has one troop and cards worth many. Seat 0 could take the last territory, and passes."""
    game = position(
        "num_players=2, setup=random, attack=blitz, defender_dice=max",
        "Ash 20, rest",
        "Cedar",
        map="tiny",
        hand_1="Ash, Birch, Cedar",
        sets_traded=15,
    )
    while game.turn == 0:
        game.step("done")
    found = review(game, ["passes", "waits"], SMALL)
    (mistake,) = found.mistakes
    names = game.board.territories
    assert (mistake.seat, mistake.round) == (0, 1) and mistake.loss > 0.2
    assert [(names[a], names[b]) for a, b in mistake.better.attacks] == [("Ash", "Cedar")]
    assert mistake.played.attacks == () and mistake.played.words == "No attack."
    text = "\n".join(lines(found))
    assert "0: passes: this turn cost most" in text and "better: Attack Cedar from Ash." in text
    assert "1: waits: no turn cost this player much" in text
    assert ROUGH in text and ROUGH not in lines(replace(found, note=""))


def test_the_loss_of_a_turn_must_be_large_and_certain() -> None:
    assert Loss(0.2, 0.03, 500).is_certain and Loss(0.2, 0.03, 500).is_settled(640)
    assert not Loss(0.2, 0.08, 500).is_certain  # too few games
    assert not Loss(0.03, 0.001, 500).is_certain  # too small
    assert not Loss(0.07, 0.02, 500).is_settled(640) and Loss(-0.1, 0.05, 100).is_settled(640)
    # 160 pairs would have a standard error of about 0.045, so that only a loss above 0.13 could be certain
    assert not Loss(0.05, 0.1, 32).is_settled(160) and Loss(0.03, 0.1, 32).is_settled(160)


@pytest.fixture(scope="module")
def reviewed() -> tuple[Game, Review]:
    game = played(3, ["grower", "random", "hunter"], seed=3)
    return game, review(game, ["a", "b", "c"], SMALL)


def test_a_review_has_all_turns_and_is_the_same_again(reviewed: tuple[Game, Review]) -> None:
    game, found = reviewed
    turns, _ = turns_of(game)
    assert [(turn.round, turn.seat) for turn in found.turns] == [(turn.round, turn.seat) for turn in turns]
    for turn in found.turns:
        assert abs(sum(turn.chances) - 1) < 0.01 and abs(sum(turn.luck)) < 0.01 and -1 <= turn.loss <= 1
    assert found.end[game.winner] == 1.0 and found == review(game, ["a", "b", "c"], SMALL)
    assert json.loads(json.dumps(found.to_dict()))["names"] == ["a", "b", "c"]


@pytest.mark.long
@pytest.mark.parametrize("preset", presets())
def test_games_of_every_preset_are_reviewed(preset: str) -> None:
    rules = Rules.preset(preset, 2 if preset == "two_player" else 4, expert=preset == "classic")
    board = load_map("classic")
    bots = ["grower", "hunter", "walker", "breaker"][: rules.num_players]
    game = play_game(rules.replace(max_rounds=4), board, bots, seed=5)
    found = review(game, bots, SMALL)
    turns, _ = turns_of(game)
    assert len(found.turns) == len(turns) > 4
    for turn in found.turns:
        assert abs(sum(turn.chances) - 1) < 0.01 and abs(sum(turn.luck)) < 0.01
    assert abs(sum(found.end) - 1) < 0.01 and list(lines(found))


def test_a_game_without_a_turn_has_no_review() -> None:
    with pytest.raises(ValueError, match="no turn yet"):
        review(Game("classic", "tiny", seed=1, setup="claim"), budget=SMALL)


def saved(game: Game, folder: Path) -> str:
    names = [f"p{seat}" for seat in range(game.num_players)]
    return str(save_game(folder / "game.json", SavedGame.of(game, names)))


def test_the_command_prints_the_review_and_adds_it_to_the_page(
    reviewed: tuple[Game, Review], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    game, found = reviewed
    monkeypatch.setattr(reviewing, "BUDGET", SMALL)
    path, page = saved(game, tmp_path), tmp_path / "game.html"
    assert main(["replay", path, "--review", "--html", str(page)]) in (0, None)
    told = capsys.readouterr().out.splitlines()
    expected = list(lines(replace(found, names=("p0", "p1", "p2"))))
    assert [line for line in told if line in expected] == expected
    assert '"risk/review"' in page.read_text()
    assert main(["replay", path, "--review", "--seat", "1"]) == 2
    assert "--review shows facts of all seats" in capsys.readouterr().err


def test_the_server_reviews_a_finished_game_once(
    reviewed: tuple[Game, Review], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("starlette")
    from risk_agents.web import reviews, work_process
    from tests.web_server import begun, client, posted, refused

    game, found = reviewed
    asked: list[str] = []

    class NoProcess:
        """A stand-in for the process of reviews, which computes reviews in the test."""

        is_alive = True

        def __init__(self, *_: Any) -> None: ...

        def request(self, message: dict[str, Any], limit: float) -> dict[str, Any]:
            asked.append(message["type"])
            return work_process.reply_to(message, reviews.METHODS)

        def kill(self) -> None: ...

    monkeypatch.setattr(work_process, "Program", NoProcess)
    monkeypatch.setattr(reviewing, "BUDGET", SMALL)
    with client(tmp_path) as server:
        name = server.lobby.add_recorded(SavedGame.of(game, ["a", "b", "c"]))
        wish = {"game": name, "token": ""}
        while "review" not in (answer := posted(server, "/api/review", wish)):
            assert answer == {"waiting": True}
            time.sleep(0.05)
        assert answer["review"] == json.loads(json.dumps(found.to_dict()))
        assert posted(server, "/api/review", wish) == answer and asked == ["prepare", "review"]
        assert "belongs to no seat" in refused(server, "/api/review", wish | {"token": "another"})
        open_game = begun(server)["game"]
        assert "when it is over" in refused(server, "/api/review", {"game": open_game, "token": ""})


def test_a_review_that_fails_says_why() -> None:
    pytest.importorskip("starlette")
    from risk_agents.web import reviews, work_process

    game = Game("classic", "tiny", seed=1, setup="claim")
    request = {
        "type": "review",
        "game": SavedGame.of(game, ["a", "b", "c"]).to_dict(),
        "names": ["a", "b", "c"],
    }
    assert "no turn yet" in work_process.reply_to(request, reviews.METHODS)["error"]
    damaged = {"type": "review", "game": {}, "names": []}
    assert "not a saved game" in work_process.reply_to(damaged, reviews.METHODS)["error"]
