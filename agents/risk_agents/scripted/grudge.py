"""`grudge`: strikes back at the rival that captured most territories from it, and leaves the others alone.

It counts its losses to each rival during the whole game (`grudges`). It takes its territory for the card from
the rival with the largest count. Once it is stronger than all rivals, it takes more of the territories of
that rival in a turn.
"""

from risk_agents.scripted.style import Style, bot

BOT = bot("grudge", "1", Style(leader=0, revenge=40, least=60, thin=120, caution=80))
