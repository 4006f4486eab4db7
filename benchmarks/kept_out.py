"""Held-out opponents: no rollout, no plan and no training uses them.

A win rate against them shows that an agent has not merely learned to beat its training opponents. They are
beams with other weights and the script `attacker`. A field of `benchmarks.strength` may also contain values
of a separate training run.
"""

from __future__ import annotations

from typing import Any

from risk_agents.scripted import attacker
from risk_agents.search import beam, evaluation
from risk_env.bots import CompiledBot


def beam_with(name: str, players: int, changed: dict[int, float]) -> CompiledBot:
    """Return the beam with other weights of its evaluation, which prefers other turns."""
    weights = beam.WEIGHTS_FOR[[players]]
    for place, weight in changed.items():
        weights[0, place] = weight

    def choose(
        games: Any, boards: Any, rules: Any, lanes: Any, randoms: Any, memory: Any, actions: Any
    ) -> None:
        beam.choose_by(games, boards, rules, lanes, randoms, memory, actions, weights)

    return CompiledBot(name, beam.BOT.version, choose, beam.MEMORY)


def other_beams(players: int) -> tuple[CompiledBot, ...]:
    """Return beams with other weights: bold, careful, for own income, and against the income of others."""
    bold = beam_with("beam, bold", players, {evaluation.LEAST_CHANCE: 0.2, evaluation.EXPOSED: 0.4})
    careful = beam_with("beam, careful", players, {evaluation.LEAST_CHANCE: 0.6, evaluation.EXPOSED: 1.4})
    richer = beam_with("beam, for income", players, {evaluation.INCOME: 4.0, evaluation.PROGRESS: 0.7})
    deniers = beam_with(
        "beam, against income", players, {evaluation.THEIR_INCOME: 4.0, evaluation.SHARPNESS: 1.4}
    )
    return bold, careful, richer, deniers


def kept_out(players: int) -> tuple[CompiledBot, ...]:
    """Return the bots that `kept_out` stands for in `--field`."""
    return attacker.BOT, *other_beams(players)
