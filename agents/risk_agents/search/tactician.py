"""`tactician`: tries the turns that a learned policy likes best, and follows the one that ends best (`lookahead`)."""

from pathlib import Path

from risk_agents.search.plan_policy import PlanPolicyFile

FILE = Path(__file__).parent.parent / "learned" / "policies" / "tactician.npz"

BOT = PlanPolicyFile.load_bot(FILE, "tactician")
