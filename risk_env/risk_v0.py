"""The PettingZoo environment, version 0: `risk_v0.env(...)` (docs/pettingzoo.md)."""

from risk_env.envs.pettingzoo_env import OrderedEnv, env, raw_env

__all__ = ["OrderedEnv", "env", "raw_env"]
