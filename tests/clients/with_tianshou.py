"""Tianshou 2: its PettingZoo environment, a DQN with masks in one seat and its random player in the other."""

from importlib.metadata import version

from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.env.pettingzoo_env import PettingZooEnv
from tianshou.utils.net.common import Net
from tianshou.utils.torch_utils import policy_within_training_step

from risk_env import risk_v0

# a death ends Tianshou's episode
GAME = {"num_players": 2, "attack": "blitz", "setup": "random", "max_rounds": 5}


def main() -> None:
    """Collect games and update the DQN from them."""
    envs = DummyVectorEnv([lambda: PettingZooEnv(risk_v0.env(**GAME)) for _ in range(4)])
    env = PettingZooEnv(risk_v0.env(**GAME))
    size, actions = env.observation_space["observation"].shape, env.action_space
    policy = DiscreteQLearningPolicy(
        model=Net(state_shape=size, action_shape=actions.n, hidden_sizes=[32]),
        action_space=actions,
        eps_training=0.5,
    )
    learner = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), target_update_freq=100)
    both = MultiAgentOffPolicyAlgorithm(
        algorithms=[learner, MARLRandomDiscreteMaskedOffPolicyAlgorithm(actions)], env=env
    )
    collector = Collector(both, envs, VectorReplayBuffer(4000, len(envs)), exploration_noise=True)
    found = collector.collect(n_step=1200, reset_before_collect=True)
    with policy_within_training_step(both.policy):
        both.update(buffer=collector.buffer, sample_size=64)
    print(
        f"Tianshou {version('tianshou')}: "
        f"{found.n_collected_steps} decisions, {found.n_collected_episodes} games"
    )
    assert found.n_collected_episodes > 0


if __name__ == "__main__":
    main()
