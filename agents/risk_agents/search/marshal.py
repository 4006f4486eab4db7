"""`marshal`: the beam by a value learned from its games, for two players on the classic map (docs/training.md)."""

from pathlib import Path

from risk_agents.search.value_beam import ValueFile

FILE = Path(__file__).parent.parent / "learned" / "policies" / "marshal.npz"

VALUE = ValueFile.load(FILE)
BOT = VALUE.bot(str(FILE), "marshal")
