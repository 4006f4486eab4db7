"""Where a seat gathers its first troops, chosen by playing on from each place (for `strategist`).

Other bots place them where borders are pressed most. All of them in one place are often worth much more, but not in any
place. Places are tried by sequential halving (Karnin 2013).
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

AS_USUAL = NONE  # no place: the troops are placed as other bots do
PLAYER = beam.other_turn(beam.BOT, "placing beam", width=4)
QUICK_PLAYER = beam.other_turn(beam.BOT, "quick placing beam", width=1)


class FirstTroops:
    """Chooses a place once a game.

    `player` is a beam that plays on for that: `games` in all, until `turns` own turns after the first have begun,
    at most `lanes` games at once.
    """

    def __init__(
        self, rules: Rules, board: Board, judge: Judge, player: CompiledBot, games: int, turns: int, lanes: int
    ) -> None:
        self._rollouts = Rollouts(rules, board, (), (player,), judge, lanes)
        self._games, self._turns = games, turns
        self._place: int | None = None

    def prepare(self) -> None:
        """Compile the player and the value."""
        self._rollouts.prepare()

    def reset(self) -> None:
        """A game begins."""
        self._place = None

    def act(self, view: View) -> int | None:
        """The place for the next of the first troops; None if they are placed as usual, or the place is full."""
        if self._place is None:
            self._place = self._best_place(view)
        return self._place if self._place in view.legal_actions else None

    def _best_place(self, view: View) -> int:
        """Half of the places are dropped after each round of as many games."""
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
