"""Example of a bot in Python that gathers troops at one border and attacks with a majority (docs/agents.md).

risk-env tournament --agents random,examples/bot.py:Borderer --players 2 --games 100
"""

from typing import Any

import numpy as np

from risk_env import ActionSpace, Agent, Board, Phase, Rules, View


class Borderer(Agent):
    """A bot that drafts to its best front, attacks smaller garrisons, and occupies with all troops."""

    name = "borderer"
    version = "1"

    def reset(self, seat: int, rules: Rules, board: Board, seed: int) -> None:
        """Prepare for a game: store the ends of each border."""
        super().reset(seat, rules, board, seed)
        self.sources, self.targets = np.array(board.borders).T
        blocks = ActionSpace(rules, board).blocks
        self.first_border, self.first_card = blocks["border"].start, blocks["card"].start

    def act(self, view: View) -> int:
        """Return one of `view.legal_actions`."""
        legal = view.legal_actions
        if view.phase in (Phase.CLAIM, Phase.DEPLOY, Phase.DRAFT):
            return int(legal[self.best_attacks(view)[legal].argmax()])
        if view.phase == Phase.ATTACK:
            borders = legal[legal < self.first_card] - self.first_border
            gains = self.gains(view)[borders]
            return int(legal[gains.argmax()] if gains.max() > 0 else legal[-1])  # the last action is `done`
        if view.phase in (Phase.ATTACK_DICE, Phase.DRAFT_AMOUNT, Phase.OCCUPY):
            return int(legal[legal < self.first_card].max())  # a blitz if it is legal, all troops
        return int(view.rng.choice(legal))

    def gains(self, view: View) -> np.ndarray[Any, Any]:
        """Return the troops of each border's source minus the troops of the target, int64 (B,).

        The value is -10**6 if the bot owns the target.
        """
        troops, is_own = view.public.troops, view.public.owner == self.seat
        return np.where(is_own[self.targets], -(10**6), troops[self.sources] - troops[self.targets])

    def best_attacks(self, view: View) -> np.ndarray[Any, Any]:
        """Return the highest gain among the borders from each territory, int64 (T,)."""
        best = np.full(self.first_border, -(10**6))
        np.maximum.at(best, self.sources, self.gains(view))
        return best
