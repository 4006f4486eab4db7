"""Stable-Baselines3: MaskablePPO of sb3-contrib learns on `RiskVecEnv`, and plays with masks."""

import sb3_contrib
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecMonitor

from risk_training.sb3 import RiskVecEnv

GAME = {"num_players": 2, "opponents": "random", "setup": "random", "max_rounds": 5}


def main() -> None:
    """Learn for 2,048 decisions, then play."""
    torch.set_num_threads(1)
    env = VecMonitor(RiskVecEnv(16, seed=0, **GAME))
    model = MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=256, n_epochs=1, seed=0, device="cpu")
    model.learn(2048)
    observations, episodes = env.reset(), 0
    for _ in range(200):
        masks = env.env_method("action_masks")
        actions, _ = model.predict(observations, action_masks=masks)
        assert all(mask[action] for mask, action in zip(masks, actions, strict=True))
        observations, _rewards, dones, _infos = env.step(actions)
        episodes += dones.sum()
    print(
        f"sb3-contrib {sb3_contrib.__version__}: "
        f"{model.num_timesteps} decisions learned from, {episodes} games played"
    )
    assert episodes > 0


if __name__ == "__main__":
    main()
