"""TextArena: whole games of `examples/textarena_risk.py` through its registry and its wrappers."""

import copy
import sys
from importlib.metadata import version
from pathlib import Path

import textarena as ta

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
import textarena_risk
from report_reader import answer

GAME = {"board": "tiny", "setup": "random", "initial_troops": 8, "max_rounds": 20}


def play(env: ta.Env, num_players: int, seed: int, garbage: bool = False) -> tuple[dict, int]:
    """Play a game between readers of reports, one of which may answer garbage.

    Return rewards and number of answers.
    """
    env.reset(num_players=num_players, seed=seed)
    done, answers = False, 0
    while not done:
        player, report = env.get_observation()
        assert f"You are P{player}" in report and "[GAME]" not in report
        done, _info = env.step("I resign!" if garbage and player == 0 else answer(report))
        answers += 1
    rewards, info = env.close()
    assert info[0]["invalid_move"] == garbage and set(rewards) == set(range(num_players))
    return rewards, answers


def main() -> None:
    """Run all of it."""
    for name in ("Risk-v0", "Risk-v0-raw"):
        ta.check_env_exists(name)
        assert isinstance(ta.make(name), ta.Env)
    assert isinstance(ta.make("Risk-v0-raw"), textarena_risk.RiskEnv)
    template = ta.make("Risk-v0", **GAME)
    played = [play(copy.deepcopy(template), players, seed) for players in (2, 3) for seed in range(3)]
    assert played == [
        play(ta.make("Risk-v0", **GAME), players, seed) for players in (2, 3) for seed in range(3)
    ]
    assert all(abs(sum(rewards.values())) < 1e-9 for rewards, _ in played)
    garbled, _ = play(ta.make("Risk-v0", **GAME), 2, 0, garbage=True)
    assert garbled == {0: -1.0, 1: 1.0}
    print(
        f"TextArena {version('textarena')}: {len(played)} games, "
        f"{sum(answers for _, answers in played)} answers"
    )


if __name__ == "__main__":
    main()
