"""Choice of the place where `strategist` gathers its first troops, by rollouts for each place.

Other bots place their first troops where enemies threaten a border most. It is often much better to place all
first troops in one well-chosen territory. The places are compared by sequential halving (Karnin 2013).
"""

from __future__ import annotations

import numpy as np

from risk_agents.scripted.board_sense import NONE
from risk_agents.search import beam
from risk_agents.search.rollouts import Judge, Rollouts
from risk_env.agent import View
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.bots import CompiledBot

AS_USUAL = NONE  # stands for no single place: the troops are placed as other bots place them
PLAYER = beam.other_turn(beam.BOT, "placing beam", width=4)
QUICK_PLAYER = beam.other_turn(beam.BOT, "quick placing beam", width=1)


class FirstTroops:
    """Choice of one place per game.

    `player` is a beam that plays the rollouts: about `games` games in total, at most `lanes` games at once. A
    rollout ends when the seat has begun `turns` turns after its first turn.
    """

    def __init__(
        self,
        rules: Rules,
        board: Board,
        judge: Judge,
        player: CompiledBot,
        games: int,
        turns: int,
        lanes: int,
    ) -> None:
        self._rollouts = Rollouts(rules, board, (), (player,), judge, lanes)
        self._games, self._turns = games, turns
        self._place: int | None = None

    def prepare(self) -> None:
        """Compile the code of the player and the judge."""
        self._rollouts.prepare()

    def reset(self) -> None:
        """Forget the place before a new game."""
        self._place = None

    def act(self, view: View) -> int | None:
        """Return the place for the next troop, or None if there is no single place or it is full."""
        if self._place is None:
            self._place = self._best_place(view)
        return self._place if self._place in view.legal_actions else None

    def _best_place(self, view: View) -> int:
        """Return the best place by sequential halving, which drops half of the places in each round."""
        places = np.array([AS_USUAL, *view.legal_actions])
        values, rounds = np.zeros((len(places), 0)), int(np.ceil(np.log2(len(places))))
        for _ in range(rounds):
            count = max(2, self._games // rounds // len(places))
            samples = view.samples(view.rng.integers(2**63, size=count))
            new = self._rollouts.place(places.tolist(), samples, view.seat, view.rng, self._turns)
            values = np.hstack([values, new])
            order = np.argsort(-values.mean(axis=1), kind="stable")[: -(-len(places) // 2)]
            places, values = places[order], values[order]
        return int(places[0])
