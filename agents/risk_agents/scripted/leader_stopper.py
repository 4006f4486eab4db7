"""`leader_stopper`: attacks the strongest rival, and breaks the continents of that rival above all.

The strongest rival is the one with most troops, including two turns of income. A capture from it counts for
more than a territory of the own continent. If the strongest rival has twice the troops of the bot, the bot
stops after one capture a turn.
"""

from risk_agents.scripted.style import Style, bot

BOT = bot("leader_stopper", "1", Style(spoil=120, leader=40, least=85, caution=85))
