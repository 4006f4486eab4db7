"""`turtle`: spreads its troops so that no border is weak, and waits.

`turtle` drafts first to the territory whose guard lacks the most troops. With a large majority, it captures
one territory per turn for the card, and leaves guards behind. `turtle` keeps its sets of cards, and wins
late, after its rivals have weakened each other.
"""

from risk_agents.scripted.style import Style, bot

BOT = bot(
    "turtle",
    "1",
    Style(border=10, home=10, spoil=50, leader=0, odds=130, rush=130, guard=40, everywhere=1, keeps=4),
)
