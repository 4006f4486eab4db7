"""`card_killer`: eliminates weak rivals to get their cards.

`card_killer` drafts beside rivals that hold many cards, and begins a hunt with fewer troops than `hunter`
needs. Between hunts it captures one territory per turn for the card, and keeps its army together for the next
hunt.
"""

from risk_agents.scripted.style import Style, bot

BOT = bot("card_killer", "1", Style(stalk=3, caution=75, leader=0))
