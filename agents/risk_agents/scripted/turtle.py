"""`turtle`: spreads its troops so that no border is weak, and waits.

It drafts first to the border that the strongest enemy stack threatens most. It captures one territory per
turn for the card where it is much stronger, and its borders keep their guards. It keeps its sets of cards,
and wins late, after others have weakened each other.
"""

from risk_agents.scripted.style import Style, bot

BOT = bot(
    "turtle",
    "1",
    Style(border=10, home=10, spoil=50, leader=0, odds=130, rush=130, guard=40, everywhere=1, keeps=4),
)
