"""`marshal`: the beam by a value learnt from its own games, for two players on the classic map (training/README.md)."""

from pathlib import Path

from agents.value_beam import load_bot

FILE = Path(__file__).parent / "policies" / "marshal.npz"

BOT = load_bot(FILE, "marshal")
