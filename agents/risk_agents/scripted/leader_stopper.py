"""`leader_stopper`: attacks the strongest rival, and breaks the continents of that rival.

The strongest rival has the most troops, including two turns of income. A territory of this rival is worth
more than a territory of the continent that the bot wants to complete. If the strongest of several rivals has
more than twice as many troops as the bot, the bot makes only one capture per turn.
"""

from risk_agents.scripted.style import Style, bot

BOT = bot("leader_stopper", "1", Style(spoil=120, leader=40, least=85, caution=85))
