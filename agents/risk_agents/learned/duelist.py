"""`duelist`: a policy for two players on the classic map, trained by self-play from nothing (docs/training.md)."""

from pathlib import Path

from risk_agents.learned.policy import PolicyFile

FILE = Path(__file__).parent / "policies" / "duelist.npz"

BOT = PolicyFile.load_bot(FILE, "duelist")
