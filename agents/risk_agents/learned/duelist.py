"""`duelist`: a policy for two players on the classic map, trained from scratch.

docs/models.md describes the training.
"""

from pathlib import Path

from risk_agents.learned.policy import PolicyFile

FILE = Path(__file__).parent / "policies" / "duelist.npz"

BOT = PolicyFile.load_bot(FILE, "duelist")
