"""A policy over plans: one look at the table where a turn begins says which bot plays that turn (`tactician`).

A plan is a compiled bot that plays the whole turn. The network has one output for each plan: its chance to win,
compared with that of the others. `risk_training.plan_policies` trains it by rollouts of all plans.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from risk_agents.learned.table_value import TableFile, workspace, write_outputs
from risk_agents.learned.trained import PLAN_POLICY
from risk_agents.search.plans import BOTS, MEMORY, NUMBER, SET_UP, is_chosen, remember
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.bots import CompiledBot
from risk_env.compiler import kernel, vectorized_entry_point
from risk_env.core.types import Phase
from risk_env.untrusted import shortened

PLANS = {bot.name: bot for bot in BOTS}
SET_UP_PLAN = BOTS[SET_UP].name

Array = npt.NDArray[Any]


class PlanPolicyFile(TableFile):
    """A policy over plans, their names, what it was trained for, and how."""

    KIND = PLAN_POLICY

    @cached_property
    def plans(self) -> tuple[CompiledBot, ...]:
        """The bots that play turns, in the order of the outputs; ValueError for unknown ones."""
        config = self.made.get("config")
        names = config.get("plans") if isinstance(config, dict) else None
        found = [name for name in names if isinstance(name, str) and name in PLANS] if isinstance(names, list) else []
        if found != names or SET_UP_PLAN not in found or len(set(found)) < len(found):
            known = ", ".join(PLANS)
            raise ValueError(f"plans={shortened(names)} must be different ones of {known}, {SET_UP_PLAN!r} among them")
        return tuple(PLANS[name] for name in found)

    @property
    def num_outputs(self) -> int:  # type: ignore[override]
        """One for each plan."""
        return len(self.plans)

    def outputs(self, records: Array, tables: Any) -> npt.NDArray[np.float32]:
        """What the network says of each plan for the seats to decide in these games, float32 (k, plans)."""
        found = np.zeros((len(records), self.num_outputs), np.float32)
        write_all_outputs(records, tables.board, tables.rules, np.arange(len(records)), self.value, found)
        return found

    def bot(self, source: str, name: str | None = None) -> CompiledBot:
        """The bot that follows the plan with the highest output; errors call the policy `source`."""
        plans, value, set_up = self.plans, self.value, [plan.name for plan in self.plans].index(SET_UP_PLAN)

        def choose(games: Any, boards: Any, rules: Any, lanes: Any, randoms: Any, memory: Any, actions: Any) -> None:
            numbers = np.full(len(lanes), set_up)
            follow_plans(games, boards, rules, lanes, value, memory, numbers)
            for number, plan in enumerate(plans):
                theirs = lanes[numbers == number]
                if len(theirs):
                    plan.choose(games, boards, rules, theirs, randoms, memory, actions)

        def check(rules: Rules, board: Board) -> None:
            self.check(rules, board, source)

        version = str(self.made.get("version", "1"))
        return CompiledBot(name or str(self.made.get("name", source)), version, choose, MEMORY, check)


@vectorized_entry_point
def write_all_outputs(games, boards, rules, lanes, value, found):
    """Write the outputs for the seats to decide in these lanes, float32 (k, outputs)."""
    work = workspace(value)
    for k in range(len(lanes)):
        write_outputs(games[lanes[k]], boards[0], rules[0], value, work)
        found[k] = work[2]


@vectorized_entry_point
def follow_plans(games, boards, rules, lanes, value, memory, numbers):
    """Write the number of the plan that the seat to decide follows, int64 (k,), where it is its turn."""
    work = workspace(value)
    for k in range(len(lanes)):
        game = games[lanes[k]]
        if game.phase >= Phase.TRADE and game.turn == game.seat:
            own = memory[lanes[k], int(game.seat)]
            if not is_chosen(game, own, len(work[2])):
                write_outputs(game, boards[0], rules[0], value, work)
                remember(game, own, highest(work[2]))
            numbers[k] = own[NUMBER]


@kernel
def highest(outputs):
    """The number of the highest output."""
    best = 0
    for number in range(1, len(outputs)):
        if outputs[number] > outputs[best]:
            best = number
    return best
