"""`tactician`: tries the turns that a learned policy likes best, and follows the one that ends best (`lookahead`).

The value that judges their ends has learned from its own games, the policy from trials judged by that of `strategist`.
"""

from pathlib import Path

from risk_agents.learned.table_value import TableValueFile
from risk_agents.search.plan_policy import PlanPolicyFile

_FOLDER = Path(__file__).parent.parent / "learned" / "policies"
FILE, VALUE_FILE = _FOLDER / "tactician.npz", _FOLDER / "tactician_value.npz"

BOT = PlanPolicyFile.load(FILE).bot("tactician", "tactician", TableValueFile.load(VALUE_FILE))
