"""`duelist`: a policy for two players on the classic map, trained from scratch by self-play.

training/README.md describes its training.
"""

from pathlib import Path

from risk_agents.learned.policy import PolicyFile

FILE = Path(__file__).parent / "policies" / "duelist.npz"

BOT = PolicyFile.load_bot(FILE, "duelist")
