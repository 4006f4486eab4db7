"""Gymnasium: its checker, and a vector environment under its wrappers."""

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers.vector import NormalizeObservation, NormalizeReward, RecordEpisodeStatistics

import risk_env  # noqa: F401 (registers risk_env/Risk-v0)

GAME = {"num_players": 2, "opponents": "random", "setup": "random", "max_rounds": 5}


def play_vector(steps: int = 300) -> RecordEpisodeStatistics:
    """Play random legal actions in eight lanes; return the wrapper with the statistics of the episodes."""
    envs = gymnasium.make_vec("risk_env/Risk-v0", num_envs=8, autoreset_mode="NextStep", **GAME)
    statistics = RecordEpisodeStatistics(envs)
    envs = NormalizeObservation(NormalizeReward(statistics))
    chance = np.random.default_rng(0)
    _observations, info = envs.reset(seed=0)
    for _ in range(steps):
        masks = info["action_mask"]
        _observations, rewards, _terminated, _truncated, info = envs.step(
            (chance.random(masks.shape) * masks).argmax(1)
        )
        assert np.isfinite(rewards).all()
    envs.close()
    return statistics


def main() -> None:
    """Run all of it."""
    check_env(
        gymnasium.make("risk_env/Risk-v0", illegal_action="random", **GAME).unwrapped, skip_render_check=True
    )
    statistics = play_vector()
    mean = np.mean(statistics.length_queue)
    print(f"Gymnasium {gymnasium.__version__}: {statistics.episode_count} episodes of {mean:.0f} decisions")
    assert statistics.episode_count > 8


if __name__ == "__main__":
    main()
