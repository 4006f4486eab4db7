"""`saver`: keeps its sets of cards while the next set grows, and avoids every fight that it does not need.

It trades only if it must, or if the set pays for the elimination of a rival. It takes one territory a turn
for the card, with good odds.
"""

from risk_agents.scripted.style import Style, bot

BOT = bot("saver", "1", Style(keeps=4, odds=120, leader=0))
