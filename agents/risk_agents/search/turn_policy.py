"""Policy over plans: a network that rates all plans when a turn begins (for `tactician`).

The network has one output for each plan of `search.plans`. The output estimates ten times the difference
between the plan's win probability and the mean over all plans. `search.lookahead` tries the plans with the
highest outputs. `risk_training.turn_policy` trains the network on the results of trials of all plans.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from risk_agents.learned.state_value import (
    StateNetworkFile,
    StateValue,
    StateValueFile,
    workspace,
    write_outputs,
)
from risk_agents.learned.trained import TURN_POLICY
from risk_agents.search.judges import FILE as VALUE_FILE
from risk_agents.search.lookahead import Effort, choose_moves
from risk_agents.search.plans import MEMORY, NAMES
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.board.tables import Tables
from risk_env.bots import CompiledBot
from risk_env.compiler import vectorized_entry_point
from risk_env.messages import shortened

Array = npt.NDArray[Any]
EFFORT = Effort()


class TurnPolicyFile(StateNetworkFile):
    """File of a policy over plans: weights, schema, and facts about the training."""

    KIND = TURN_POLICY
    num_outputs = len(NAMES)

    def outputs(self, records: Array, tables: Tables) -> npt.NDArray[np.float32]:
        """Return the network's outputs for the seat to act in each game, float32 (k, plans)."""
        records = self.checked_records(records, tables)
        outputs = np.zeros((len(records), self.num_outputs), np.float32)
        write_all_outputs(records, tables.board, tables.rules, np.arange(len(records)), self.value, outputs)
        return outputs

    def bot(
        self,
        source: str,
        name: str | None = None,
        judge: StateValueFile | None = None,
        effort: Effort = EFFORT,
    ) -> CompiledBot:
        """Return the bot that tries the plans with the highest outputs.

        `judge` evaluates positions after a turn (default: the state value of `strategist`). `source` names
        the policy in errors. Raises ValueError if the policy was trained for plans that differ from
        `plans.NAMES`.
        """
        if self.made.get("plans") != list(NAMES):
            raise ValueError(
                f"turn policy {source!r} has plans={shortened(self.made.get('plans'))}: must be {NAMES}"
            )
        value = StateValueFile.load(VALUE_FILE) if judge is None else judge
        choose = chooser(self.value, value.value, effort)

        def check(rules: Rules, board: Board) -> None:
            self.check(rules, board, source)
            value.check(rules, board, f"judge of {source}")

        version = f"{self.made.get('version', '1')}.{value.made.get('version', '1')}"  # policy and judge
        return CompiledBot(name or str(self.made.get("name", source)), version, choose, MEMORY, check)


def chooser(
    policy: StateValue, value: StateValue, effort: Effort = EFFORT, worths: Array | None = None
) -> Any:
    """Return a function for `CompiledBot.choose` that looks ahead.

    `lookahead.choose_moves` writes the win probabilities of plans into `worths`, unless `worths` is None.
    """

    def choose(
        games: Any, boards: Any, rules: Any, lanes: Any, randoms: Any, memory: Any, actions: Any
    ) -> None:
        plan_worths = np.zeros((1, len(NAMES)), np.float32) if worths is None else worths
        choose_moves(
            games, boards, rules, lanes, randoms, memory, actions, (policy, value), effort, plan_worths
        )

    return choose


@vectorized_entry_point
def write_all_outputs(games, boards, rules, lanes, value, outputs):
    """Write the network's outputs for the seat to act in each of the k `lanes` into `outputs`."""
    work = workspace(value)
    for k in range(len(lanes)):
        write_outputs(games[lanes[k]], boards[0], rules[0], value, work)
        outputs[k] = work[2]
