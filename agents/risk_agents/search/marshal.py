"""`marshal`: the beam search of `beam` with a learned value, for two players on the classic map.

docs/training.md describes the training.
"""

from pathlib import Path

from risk_agents.search.beam_value import BeamValueFile

FILE = Path(__file__).parent.parent / "learned" / "policies" / "marshal.npz"

VALUE = BeamValueFile.load(FILE)
BOT = VALUE.bot("marshal", "marshal")
