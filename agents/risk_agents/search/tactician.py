"""`tactician`: tries the turns that a learned policy likes best, and follows the one that ends best (`lookahead`).

The value that judges their ends has learned from its own games, the policy from trials judged by that of `strategist`.
`tactician:quick` takes the turn that the policy likes best and looks ahead only before some of its attacks.
"""

from pathlib import Path

from risk_agents.learned.table_value import TableValueFile
from risk_agents.search.lookahead import Effort
from risk_agents.search.plan_policy import PlanPolicyFile

_FOLDER = Path(__file__).parent.parent / "learned" / "policies"
FILE, VALUE_FILE = _FOLDER / "tactician.npz", _FOLDER / "tactician_value.npz"

_POLICY, _VALUE = PlanPolicyFile.load(FILE), TableValueFile.load(VALUE_FILE)

BOT = _POLICY.bot("tactician", "tactician", _VALUE)
QUICK = _POLICY.bot("tactician:quick", "tactician:quick", _VALUE, Effort(plans=1, samples=1, rest=1))
