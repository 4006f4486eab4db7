"""The text environment: episodes end, rewards are as documented, and the report allows good play."""

from collections.abc import Callable
from dataclasses import fields
from statistics import median

import pytest

from risk_agents.llm.settings import Settings
from risk_env import Agent, Game, Match, Rules, text_env
from risk_env.envs import single_seat_vector
from risk_env.text_env import CURRICULA, TextEnv
from risk_env.words.action_plan import ALWAYS, END, FORTIFY, TRADE, TRY
from tests.examples import example
from tests.pages import code_of, page, run_code

PAGE = page("llm")
GARBAGE = ("", "no", "{", "a" * 50_000, "done; " * 1000, "try", "always attack", '{"plan": "end"}')


def small(**arguments: object) -> TextEnv:
    return text_env.make("tiny", **arguments)


def episode(env: TextEnv, answers: list[str], seed: int = 0) -> tuple[float, dict[str, object]]:
    """Return the sum of rewards and the last info of an episode with these answers."""
    env.reset(seed)
    total, number = 0.0, 0
    while True:
        _, reward, terminated, truncated, info = env.step(answers[number % len(answers)])
        total, number = total + reward, number + 1
        if terminated or truncated:
            return total, info


def test_the_reader_of_reports_beats_random_with_one_exchange_a_turn() -> None:
    reader = example("report_reader")
    env = TextEnv("classic", 2, opponents="random", setup="random")
    results = [reader.play(env, seed) for seed in range(20)]
    assert sum(won for won, _ in results) >= 19
    assert median(count for _, turns in results for count in turns) == 1


@pytest.mark.parametrize("curriculum", CURRICULA)
def test_every_curriculum_is_played_to_its_end(curriculum: str) -> None:
    _, info = episode(text_env.make(curriculum, max_rounds=2), ["end"])
    assert info["fallbacks"] and "winner" in info


def test_equal_seeds_and_answers_give_equal_episodes() -> None:
    env, other = small(), small()
    assert env.reset(7) == other.reset(7)
    for _ in range(20):
        found = env.step("end")
        assert found == other.step("end")
        if found[2] or found[3]:
            break


def test_garbage_is_counted_costs_what_it_is_said_to_and_ends_every_episode() -> None:
    total, info = episode(small(illegal_reward=-0.5), list(GARBAGE))
    assert info["illegal"] == info["exchanges"] and info["fallbacks"] == info["illegal"] // 3
    assert total == pytest.approx(-0.5 * info["illegal"] + {1: -1, 2: -1}.get(info["placement"], 0), abs=2)


def test_what_was_wrong_is_said_before_the_question() -> None:
    env = small()
    env.reset(1)
    text, reward, terminated, truncated, info = env.step("conquer the world")
    assert text.startswith("Not played: 'conquer the world' is not an action") and "\nRisk report 1" in text
    assert (reward, terminated, truncated, info["illegal"]) == (0.0, False, False, 1)


ENDS = {  # by the end for the learner: the rewards "win" and "placement" (by place), terminated and truncated
    "won": (1.0, {1: 1.0}, True, False),
    "lost": (-0.5, {2: 0.0, 3: -1.0}, True, False),
    "eliminated, and the game truncated later": (-0.5, {3: -1.0, 2: 0.0}, True, False),
    "truncated": (0.0, {1: 0.0, 2: 0.0, 3: 0.0}, False, True),
}


def end_of(env: TextEnv) -> str:
    if not env.game.truncated:
        return "won" if env.game.winner == env.seat else "lost"
    return "truncated" if env.game.alive[env.seat] else "eliminated, and the game truncated later"


@pytest.mark.parametrize("reward", text_env.REWARDS)
def test_rewards_and_flags_at_the_end_are_those_of_the_gymnasium_environment(reward: str) -> None:
    reader, seen = example("report_reader"), set()
    env = small(reward=reward, num_players=3, max_rounds=12)
    for game in range(24):
        text, _ = env.reset(game // 2)
        total = float((env.game.owner == env.seat).mean()) if reward == "territories" else 0.0
        terminated = truncated = False
        while not (terminated or truncated):
            text, gain, terminated, truncated, info = env.step(reader.answer(text) if game % 2 else "end")
            total += gain
        win, by_place, *flags = ENDS[end_of(env)]
        seen.add(end_of(env))
        share = float((env.game.owner == env.seat).mean())
        wanted = {"win": win, "placement": by_place[info["placement"]], "territories": win + share}
        assert total == pytest.approx(wanted[reward])
        assert [terminated, truncated] == flags
    assert seen == set(ENDS)


def test_the_learner_takes_all_seats_in_turn_or_one() -> None:
    env = small(num_players=3)
    seats = [env.reset(5)[1]["seat"], *(env.reset()[1]["seat"] for _ in range(3))]
    assert seats[:3] == [0, 1, 2] or len(set(seats)) == 3
    assert {small(seat=1).reset(seed)[1]["seat"] for seed in range(3)} == {1}


def test_episodes_begin_in_given_positions() -> None:
    game = Game(small().rules, "tiny", seed=3)
    for _ in range(4):
        game.step(int(game.legal_actions()[0]))
    env = small(positions=[game.to_text()], seat=game.seat)
    env.reset(9)
    assert env.game.owner.tolist() == game.owner.tolist() and env.game.round == game.round


def finished(ending: Callable[[Game], bool], players: int) -> Game:
    """The game after random play up to an ending."""
    game = Game(small(num_players=players).rules, "tiny", seed=3)
    match = Match.of(game, ["random"] * players)
    while not ending(game):
        match.step(match.query_player())
    return game


@pytest.mark.parametrize(
    ("ending", "players"), [(lambda game: game.is_over, 2), (lambda game: not game.alive.all(), 3)]
)
def test_positions_without_a_decision_are_passed_over_up_to_a_limit(
    ending: Callable[[Game], bool], players: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = finished(ending, players)
    seat, fresh = int(game.alive.argmin()), Game(game.rules, "tiny", seed=3)
    monkeypatch.setattr(single_seat_vector, "MOST_EMPTY", 5)
    env = small(positions=[game.to_text()], seat=seat, num_players=players)
    with pytest.raises(RuntimeError, match="the learner had no decision in 5 games in a row"):
        env.reset(1)
    positions = [game.to_text()] * 3 + [fresh.to_text()]
    env = small(positions=positions, seat=seat, num_players=players)
    assert env.reset(1)[1]["episode"] == 3 and env.game.alive[seat]


def test_close_ends_the_opponents_that_were_made_for_the_environment() -> None:
    closed = []

    class Closing(Agent):
        def close(self) -> None:
            closed.append(self)

    class Plain:
        act = close = Closing.close

    mine, plain = Closing(), Plain()
    small(opponents=[mine, Closing, plain, "random"], num_players=5).close()
    assert len(closed) == 1 and closed[0] is not mine
    with pytest.raises(ValueError, match="an agent plays one seat of one game at a time"):
        small(opponents=[Closing, mine, mine], num_players=4)
    assert len(closed) == 2 and closed[1] is not mine


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"opponents": [None]}, "player=None: must be"),
        ({"reward": "money"}, "reward='money': choose one of 'win', 'placement', 'territories'"),
        ({"style": "long"}, "style='long': choose one of 'brief', 'full'"),
        ({"seat": 2}, r"seat=2: must be None \(each seat in turn\) or a whole number from 0 to 1"),
        ({"max_illegal": 0}, "max_illegal=0: must be a whole number of at least 1"),
        ({"opponents": ["random", "random"]}, "2 given, 1 needed"),
        ({"opponents": 3}, "player=3: must be"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, object], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        small(**arguments)


def test_steps_outside_an_episode_are_refused() -> None:
    env = small()
    with pytest.raises(RuntimeError, match="reset"):
        env.step("end")
    episode(env, ["end"])
    with pytest.raises(RuntimeError, match="the episode is over"):
        env.step("end")


def test_an_unknown_curriculum_is_named() -> None:
    with pytest.raises(ValueError, match="curriculum='huge': choose one of 'tiny'"):
        text_env.make("huge")


def test_rules_are_those_of_training_environments() -> None:
    assert small().rules == Rules.preset(
        "classic", 2, setup="random", initial_troops=8, max_rounds=20, attack="blitz", defender_dice="max"
    )


def test_the_code_of_the_page_runs() -> None:
    blocks = code_of(PAGE)
    assert len(blocks) == 2
    for code in blocks:
        run_code([code])


def test_the_page_has_every_setting_and_every_form_of_an_answer() -> None:
    settings = {field.name for field in fields(Settings)}
    assert {name for name in settings if f"`{name}`" not in PAGE} == set()
    assert {word for word in (TRADE, END, ALWAYS, FORTIFY, TRY) if f"| `{word}" not in PAGE} == set()
