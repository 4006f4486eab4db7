"""Makes `risk_env/Risk-v0` known to Gymnasium, without importing Gymnasium for those who do not use it.

The environment is registered once both are imported: at `import risk_env` if Gymnasium is loaded by then, else when a
public name of `risk_env` is next used. `gymnasium.make(f"{HOME}:{ID}")` works in any order of imports.
"""

import sys

ID = "risk_env/Risk-v0"
HOME = "risk_env.doors.gymnasium_env"


def register_if_loaded() -> None:
    """Let `gymnasium.make` and `gymnasium.make_vec` know the environment, if Gymnasium is loaded."""
    gymnasium = sys.modules.get("gymnasium")
    registry = getattr(gymnasium, "registry", None)  # None in the middle of its own import
    if gymnasium is not None and registry is not None and ID not in registry:
        gymnasium.register(ID, entry_point=f"{HOME}:RiskEnv", vector_entry_point=f"{HOME}:RiskVectorEnv")
