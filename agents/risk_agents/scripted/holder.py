"""`holder`: completes a small continent with few borders, and keeps enough troops to hold it.

`holder` claims a continent with a bonus and few borders, and gathers its first troops there. The borders of
its continents keep a quarter more troops than the strongest enemy stack beside them. `holder` attacks to
complete its continent, and otherwise captures one territory per turn for the card. Breaking a rival's
continent is worth less to `holder` than to most other styles.
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
