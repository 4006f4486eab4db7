"""`walker`: keeps its troops in one large stack, and moves the stack to the most valuable continents.

It drafts to its largest stack, and all troops follow into a captured territory. It leaves single troops
behind and guards nothing. It also claims continents with many borders. On the way the stack breaks continents
of others. The stack stops when no further capture is worth much.
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
