"""`saver`: keeps its sets of cards while its hand is small, and avoids unnecessary attacks.

`saver` keeps a set while its hand has at most four cards, unless the troops of the set suffice to eliminate a
rival. `saver` captures one territory per turn for the card, with good odds.
"""

from risk_agents.scripted.style import Style, bot

BOT = bot("saver", "1", Style(keeps=4, odds=120, leader=0))
