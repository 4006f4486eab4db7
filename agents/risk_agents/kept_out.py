"""Kept-out opponents: bots against which no agent of this project was trained, tuned or selected.

Games against kept-out opponents show how an agent plays against opponents that it was not trained against.
Four bots are variants of `beam` with other weights: `kept_out:bold`, `kept_out:careful`, `kept_out:income`
and `kept_out:denial`. The other bots are styles that two runs of `research/evolve_styles.py` found:
`kept_out:stranger-1` to `kept_out:stranger-6`, and `kept_out:newcomer-1` to `kept_out:newcomer-6`. The runs
had different seeds from the run that found `evolved`. Kept-out bots are not registered, so lists of agents
do not contain them.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from risk_agents.scripted.style import Style, bot
from risk_agents.search import beam, evaluation
from risk_env.bots import CompiledBot
from risk_env.messages import shortened

VERSION = "1"
# Weights that differ from the weights of `beam`, by index of the weight (`search.evaluation`)
CHANGED: dict[str, Mapping[int, float]] = {
    "bold": {evaluation.LEAST_CHANCE: 0.2, evaluation.EXPOSED: 0.4},
    "careful": {evaluation.LEAST_CHANCE: 0.6, evaluation.EXPOSED: 1.4},
    "income": {evaluation.INCOME: 4.0, evaluation.PROGRESS: 0.7},
    "denial": {evaluation.THEIR_INCOME: 4.0, evaluation.SHARPNESS: 1.4},
}
STRANGERS = {
    "stranger-1": Style(
        border=15, crowd=0, home=0, leader=40, revenge=20, least=30, odds=120, rush=120, caution=60,
        guard=70, keeps=4,
    ),
    "stranger-2": Style(
        crowd=0, home=15, spoil=150, leader=40, revenge=20, least=60, odds=140, thin=0, rush=200, caution=75,
        guard=0, mass=0, keeps=4,
    ),
    "stranger-3": Style(
        border=10, crowd=0, home=0, leader=40, revenge=20, least=85, odds=140, rush=120, caution=60, keeps=4
    ),
    "stranger-4": Style(
        crowd=0, home=15, spoil=50, leader=0, revenge=40, stalk=3, least=30, odds=120, rush=120, caution=60,
        guard=0, keeps=4, walks=1,
    ),
    "stranger-5": Style(
        border=10, crowd=0, gathers=1, home=0, leader=40, revenge=20, least=30, odds=120, rush=120,
        caution=60, guard=70, keeps=4,
    ),
    "stranger-6": Style(
        border=10, crowd=0, gathers=1, home=15, spoil=150, leader=40, revenge=20, least=30, odds=120, thin=80,
        rush=200, caution=75, guard=0, keeps=4,
    ),
}  # fmt: skip
NEWCOMERS = {
    "newcomer-1": Style(
        border=15, crowd=0, gathers=1, home=100, spoil=150, leader=40, stalk=3, least=30, odds=140, thin=80,
        rush=200, caution=60, guard=0, mass=1, keeps=4, walks=1,
    ),
    "newcomer-2": Style(
        border=10, crowd=0, gathers=1, home=60, spoil=100, leader=40, stalk=6, least=85, odds=140, thin=50,
        rush=120, caution=85, guard=0, everywhere=1, mass=0, keeps=4, walks=1,
    ),
    "newcomer-3": Style(
        border=10, crowd=20, gathers=1, home=60, spoil=100, leader=40, least=85, odds=140, thin=50, rush=120,
        caution=85, guard=0, everywhere=1, mass=3, keeps=4, walks=1,
    ),
    "newcomer-4": Style(
        border=15, crowd=0, gathers=1, home=100, spoil=150, leader=20, stalk=3, least=60, odds=140, thin=120,
        rush=200, caution=85, guard=0, mass=0, keeps=4,
    ),
    "newcomer-5": Style(
        border=15, crowd=20, gathers=1, home=15, spoil=100, leader=40, least=110, odds=140, thin=50, rush=120,
        caution=85, guard=0, everywhere=1, mass=3, keeps=4, walks=1,
    ),
    "newcomer-6": Style(
        border=15, crowd=20, gathers=1, home=60, spoil=100, leader=40, revenge=20, least=85, odds=140,
        thin=50, rush=120, caution=85, guard=0, mass=3, keeps=4, walks=1,
    ),
}  # fmt: skip
STYLES = STRANGERS | NEWCOMERS
BEAMS = tuple(CHANGED)
NAMES = (*BEAMS, *STYLES)


@cache
def find(name: str) -> CompiledBot:
    """Return the kept-out bot `name`, one of NAMES; raise ValueError for an unknown name."""
    if name not in NAMES:
        raise ValueError(f"kept-out opponent {shortened(name)} is unknown; allowed: {', '.join(NAMES)}")
    if name in STYLES:
        return bot(name, VERSION, STYLES[name])
    weights = beam.WEIGHTS_FOR.copy()
    for column, weight in CHANGED[name].items():
        weights[:, column] = weight

    def choose(
        games: Any, boards: Any, rules: Any, lanes: Any, randoms: Any, memory: Any, actions: Any
    ) -> None:
        own = weights[int(rules[0].num_players)][None]
        beam.choose_by(games, boards, rules, lanes, randoms, memory, actions, own)

    return CompiledBot(name, f"{VERSION} beam {beam.BOT.version}", choose, beam.MEMORY)


def beams() -> tuple[CompiledBot, ...]:
    """Return the kept-out beams, without the styles."""
    return tuple(map(find, BEAMS))
