"""Registration of the environments with Gymnasium and PettingZoo.

`import risk_env` registers the environments, before or after the import of Gymnasium and PettingZoo.
`gymnasium.make("risk_env:risk_env/Risk-v0")` imports `risk_env` itself.
"""

from dataclasses import dataclass
from typing import Any

import gymnasium
import pettingzoo
from gymnasium.envs.registration import EnvSpec

ID = "risk_env/Risk-v0"
AEC_ID = "risk_env/risk-v0"  # PettingZoo's spelling of "risk_env/risk_v0"
_HOME = "risk_env.envs.gymnasium_env"


def register() -> None:
    """Register the environments for `gymnasium.make`, `gymnasium.make_vec` and `pettingzoo.make`."""
    if ID not in gymnasium.registry:
        gymnasium.register(ID, entry_point=f"{_HOME}:RiskEnv", vector_entry_point=f"{_HOME}:RiskVectorEnv")
    if AEC_ID not in pettingzoo.aec_registry:
        pettingzoo.register("aec", AEC_ID, entry_point="risk_env.risk_v0:env")


@dataclass
class PlainSpec(EnvSpec):
    """An EnvSpec whose `to_json` refuses arguments that JSON would change."""

    def to_json(self) -> str:
        """Return the spec as JSON.

        Raises ValueError for arguments that JSON would change, for example a `Board`.
        """
        for name, value in self.kwargs.items():
            if not _is_plain(value):
                problem = f"JSON cannot store a value such as {value!r:.80}"
                raise ValueError(f"{name}: {problem}. Pass presets, maps and bots by name.")
        return super().to_json()


class SpecAttribute:
    """The attribute `spec`, which Gymnasium sets, stored as a PlainSpec."""

    def __get__(self, env: Any, owner: Any = None) -> PlainSpec | None:
        return None if env is None else vars(env).get("_spec")

    def __set__(self, env: Any, spec: EnvSpec | None) -> None:
        vars(env)["_spec"] = None
        if spec is not None:
            vars(env)["_spec"] = plain = PlainSpec(spec.id)
            vars(plain).update(vars(spec))
            plain.kwargs = {name: _as_lists(value) for name, value in spec.kwargs.items()}


def _as_lists(value: Any) -> Any:
    """Return a value with lists in place of tuples, because JSON has no tuples."""
    return [_as_lists(each) for each in value] if type(value) in (list, tuple) else value


def _is_plain(value: Any) -> bool:
    """Return True if JSON does not change a value: None, a boolean, number or string, or a list of these."""
    if type(value) is list:
        return all(map(_is_plain, value))
    return value is None or type(value) in (bool, int, float, str)
