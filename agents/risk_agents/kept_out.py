"""Kept-out opponents: bots that no rollout, plan or training of this project uses.

Games against kept-out opponents show how an agent plays against opponents that it was not trained against.
The bots are beams with other weights: `kept_out:bold`, `kept_out:careful`, `kept_out:income` and
`kept_out:denial`. They are not registered, so lists of agents do not contain them.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from risk_agents.search import beam, evaluation
from risk_env.bots import CompiledBot
from risk_env.bounded_io import shortened

VERSION = "1"
# Weights of the evaluation (`search.evaluation`) that differ from the weights of `beam`, by column
CHANGED: dict[str, Mapping[int, float]] = {
    "bold": {evaluation.LEAST_CHANCE: 0.2, evaluation.EXPOSED: 0.4},
    "careful": {evaluation.LEAST_CHANCE: 0.6, evaluation.EXPOSED: 1.4},
    "income": {evaluation.INCOME: 4.0, evaluation.PROGRESS: 0.7},
    "denial": {evaluation.THEIR_INCOME: 4.0, evaluation.SHARPNESS: 1.4},
}
NAMES = tuple(CHANGED)


@cache
def find(name: str) -> CompiledBot:
    """Return the kept-out bot `name`, one of NAMES; raise ValueError for an unknown name."""
    if name not in CHANGED:
        raise ValueError(f"kept-out opponent {shortened(name)} is unknown; allowed: {', '.join(NAMES)}")
    weights = beam.WEIGHTS_FOR.copy()
    for column, weight in CHANGED[name].items():
        weights[:, column] = weight

    def choose(
        games: Any, boards: Any, rules: Any, lanes: Any, randoms: Any, memory: Any, actions: Any
    ) -> None:
        own = weights[int(rules[0].num_players)][None]
        beam.choose_by(games, boards, rules, lanes, randoms, memory, actions, own)

    return CompiledBot(name, f"{VERSION} beam {beam.BOT.version}", choose, beam.MEMORY)


def bots() -> tuple[CompiledBot, ...]:
    """Return all kept-out bots."""
    return tuple(map(find, NAMES))
