"""PettingZoo: its own tests, and a game of random legal actions, also through the parallel interface."""

import pettingzoo
from pettingzoo.test import api_test, seed_test
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from risk_env import risk_v0

GAME = {"preset": "classic", "num_players": 3, "attack": "blitz", "setup": "random", "max_rounds": 10}


def play_in_turns() -> int:
    """Play a game in which the agents act one after another; return the number of decisions."""
    env = risk_v0.env(**GAME)
    env.reset(seed=1)
    decisions = 0
    for agent in env.agent_iter():
        observation, _reward, terminated, truncated, _info = env.last()
        is_done = terminated or truncated
        env.step(None if is_done else env.action_space(agent).sample(observation["action_mask"]))
        decisions += not is_done
    return decisions


def play_in_parallel() -> int:
    """Play a game in which all agents give actions and only the deciding agent's is used."""
    env = turn_based_aec_to_parallel(risk_v0.env(**GAME))
    _observations, infos = env.reset(seed=1)
    decisions = 0
    while env.agents:
        masks = {agent: infos[agent]["action_mask"] for agent in env.agents}
        assert sum(mask.any() for mask in masks.values()) == 1
        actions = {
            agent: env.action_space(agent).sample(mask) if mask.any() else None
            for agent, mask in masks.items()
        }
        _observations, _rewards, _terminated, _truncated, infos = env.step(actions)
        decisions += 1
    return decisions


def main() -> None:
    """Run all of it."""
    api_test(risk_v0.env(**GAME), num_cycles=300)
    seed_test(lambda: risk_v0.env(**GAME), num_cycles=100)
    print(
        f"PettingZoo {pettingzoo.__version__}: "
        f"{play_in_turns()} decisions in turns, {play_in_parallel()} in parallel"
    )


if __name__ == "__main__":
    main()
