"""TorchRL: `PettingZooWrapper` with its masks, and a policy with `MaskedCategorical` that gets a gradient."""

import torch
import torchrl
from tensordict.nn import TensorDictModule
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.modules import MaskedCategorical, ProbabilisticActor
from torchrl.objectives.value.functional import reward2go

from risk_env import risk_v0

GAME = {"board": "tiny", "num_players": 2, "attack": "blitz", "setup": "random", "max_rounds": 5}
GROUP = "agents"  # both seats: one network plays them


def main() -> None:
    """Play a rollout of a network in both seats, and make one step of policy gradient."""
    torch.manual_seed(0)
    aec = risk_v0.env(**GAME)
    env = PettingZooWrapper(aec, use_mask=True, group_map={GROUP: aec.possible_agents}, seed=0)
    observation = (GROUP, "observation", "observation")
    size, actions = env.observation_spec[observation].shape[-1], env.full_action_spec[GROUP, "action"].space.n
    network = torch.nn.Sequential(torch.nn.Linear(size, 32), torch.nn.Tanh(), torch.nn.Linear(32, actions))
    policy = ProbabilisticActor(
        TensorDictModule(network, in_keys=[observation], out_keys=[(GROUP, "logits")]),
        in_keys={"logits": (GROUP, "logits"), "mask": (GROUP, "action_mask")},
        out_keys=[(GROUP, "action")],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        log_prob_key=(GROUP, "log_prob"),
    )
    rollout = env.rollout(300, policy, break_when_any_done=False)  # several games
    played, masks = rollout[GROUP, "action"], rollout[GROUP, "action_mask"]
    acting = rollout[GROUP, "mask"]
    assert masks[acting].gather(-1, played[acting].unsqueeze(-1)).all()
    rewards, dones = rollout["next", GROUP, "reward"], rollout["next", GROUP, "done"]
    returns = reward2go(rewards.transpose(0, 1), dones.transpose(0, 1), gamma=1.0).transpose(0, 1).squeeze(-1)
    loss = -(returns * rollout[GROUP, "log_prob"])[acting].mean()
    loss.backward()
    games = int(rollout["next", "done"].sum())
    print(f"TorchRL {torchrl.__version__}: {len(rollout)} decisions, {games} games, one gradient")
    assert games > 0 and network[0].weight.grad.isfinite().all()


if __name__ == "__main__":
    main()
