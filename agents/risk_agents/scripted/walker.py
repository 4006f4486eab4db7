"""`walker`: keeps its troops in one large stack, and moves the stack to the most valuable continents.

`walker` prefers to draft to its largest stack. All troops follow into a captured territory beside enemies.
`walker` leaves single troops behind, guards no territory, and also claims continents with many borders. The
stack breaks continents of rivals on its way, and stops when no further capture is worth enough.
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
