"""`duelist`: a policy for two players on the classic map, trained from nothing (training/README.md says how)."""

from __future__ import annotations

from pathlib import Path

from agents.policy import PolicyAgent

FILE = Path(__file__).parent / "policies" / "duelist.npz"


class Duelist(PolicyAgent):
    """`duelist`: trained by self-play from nothing, for two players on the classic map."""

    name = "duelist"

    def __init__(self) -> None:
        super().__init__(FILE)
        self.name = "duelist"
