"""`walker`: keeps its troops in one large stack, and walks with it to the continents that are worth most.

It drafts where its largest stack stands, and all troops follow into a captured territory. It leaves single
troops behind and guards nothing. It does not avoid continents with many borders when it claims. On its way
it breaks continents of others, and it stops where a capture is worth little.
"""

from risk_agents.scripted.style import Style, bot

BOT = bot(
    "walker",
    "1",
    Style(
        border=2,
        gathers=1,
        home=50,
        leader=0,
        least=55,
        thin=90,
        rush=120,
        caution=85,
        guard=0,
        mass=10,
        walks=1,
    ),
)
