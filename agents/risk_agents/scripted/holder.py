"""`holder`: completes a small continent with few borders, and keeps enough troops to hold it.

It claims where few borders protect a bonus, and gathers its first troops there. A border of an own continent
keeps a quarter more troops than the strongest enemy stack beside it. It attacks to complete its
continent, and otherwise takes one territory a turn for the card. Continents of others matter less to it.
"""

from risk_agents.scripted.style import Style, bot

BOT = bot(
    "holder",
    "1",
    Style(
        border=12,
        crowd=80,
        gathers=1,
        home=100,
        spoil=50,
        leader=0,
        least=100,
        thin=80,
        rush=120,
        caution=80,
        guard=125,
    ),
)
