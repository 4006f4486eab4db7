"""`grudge`: attacks the rival that has captured the most territories from the bot, and spares others.

`grudge` counts its losses to each rival during the whole game (`grudges`). The rival with the largest count
is its foe. `grudge` captures one territory of the foe per turn for the card. When `grudge` is clearly
stronger than all rivals, it can capture several territories of the foe in a turn.
"""

from risk_agents.scripted.style import Style, bot

BOT = bot("grudge", "1", Style(leader=0, revenge=40, least=60, thin=120, caution=80))
