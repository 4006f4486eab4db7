"""`evolved`: seven bots with styles from searches over the parameters (`research/evolve_styles.py`).

The first search plays games of five and six players among styles, keeps the styles that win most, and changes
some of their parameters. Its best styles, `evolved:1` to `evolved:6`, keep their sets, capture little, attack
the strongest rival, and eliminate weak rivals. In such games, they win about twice as many games as
`breaker`. `strategist` uses the six bots as players of its rollouts, because strong opponents play similarly.

`evolved:7` comes from another search, in games of three against two copies of `beam`. `strategist` does not
use `evolved:7`.
"""

from risk_agents.scripted.style import Style, bot

# Parameters that most of the bots share
KEEPER = Style(crowd=0, gathers=1, leader=40, stalk=3, rush=120, caution=60, keeps=4)

ONE = bot("evolved:1", "1", KEEPER._replace(spoil=150, revenge=20, odds=140, mass=3))
TWO = bot("evolved:2", "1", KEEPER._replace(spoil=150, revenge=20, odds=140, guard=0, everywhere=1, mass=0))
THREE = bot(
    "evolved:3", "1", KEEPER._replace(spoil=150, revenge=20, stalk=6, least=60, odds=140, guard=0, mass=0)
)
FOUR = bot("evolved:4", "1", KEEPER._replace(border=10, home=15, least=60, odds=140, mass=0))
FIVE = bot("evolved:5", "1", KEEPER._replace(border=10, home=15, revenge=20, mass=6))
SIX = bot(
    "evolved:6",
    "1",
    KEEPER._replace(border=10, home=60, spoil=150, leader=20, revenge=20, odds=140, guard=0, mass=6),
)
SEVEN = bot(
    "evolved:7",
    "1",
    KEEPER._replace(border=10, home=15, least=60, odds=80, rush=300, mass=0, walks=1),
)
# Bots of the first search, which `strategist` uses
BOTS = (ONE, TWO, THREE, FOUR, FIVE, SIX)
