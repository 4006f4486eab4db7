"""`tactician`: tries the turns that a learned policy rates best, and plays the turn with the best result.

`search.lookahead` plays the trials, and a learned value evaluates the position after each trial. The value
was trained on games of `tactician`. The policy was trained on trials that the value of `strategist`
evaluated. `tactician:quick` plays the turn that the policy rates best, and looks ahead only before some of
its attacks.
"""

from pathlib import Path

from risk_agents.learned.state_value import StateValueFile
from risk_agents.search.lookahead import Effort
from risk_agents.search.turn_policy import TurnPolicyFile
from risk_env.bots import CompiledBot

_FOLDER = Path(__file__).parent.parent / "learned" / "policies"
FILE, VALUE_FILE = _FOLDER / "tactician.npz", _FOLDER / "tactician_value.npz"

_POLICY, _VALUE = TurnPolicyFile.load(FILE), StateValueFile.load(VALUE_FILE)

QUICK = _POLICY.bot("tactician:quick", "tactician:quick", _VALUE, Effort(plans=1, samples=1, rest=1))
BOT = _POLICY.bot("tactician", "tactician", _VALUE)


def judged_by(value: StateValueFile, name: str) -> CompiledBot:
    """Return the bot `name`, which plays like `tactician` but uses the state value `value`."""
    return _POLICY.bot("tactician", name, value)
