"""Choices of `strategist` during the set-up, by rollouts: favourite continent, and place of the first troops.

Before every claim, `Claims` chooses the favourite continent, where the seat claims territories first. The
best continent depends on the claims of the rivals, and on the rivals' play after the set-up.

`FirstTroops` chooses the place of the first troops. Many bots place their first troops where enemies threaten
a border most. A better choice is often to place all first troops in one territory.

The choices are compared by sequential halving (Karnin 2013), which drops half of the choices in each stage.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from risk_agents.scripted import evolved, style
from risk_agents.search import beam
from risk_agents.search.rollouts import Judge, Rollouts
from risk_env.agent import View
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.bots import CompiledBot, SeatedBot
from risk_env.core.types import Phase

AS_USUAL = 0  # number that stands for no favourite continent, and for no single place
PLAYER = beam.other_turn(beam.BOT, "placing beam", width=4)
QUICK_PLAYER = beam.other_turn(beam.BOT, "quick placing beam", width=1)
SETTLER = evolved.ONE  # claims the favourite continent first


class SetUpChoice:
    """Choice of a number, by rollouts in which a bot begins with the number in its memory.

    `column` is the column of the memory. The first of `players` plays the seat that chooses, and the players
    of the other seats are drawn. A choice takes about `games` games in total, with at most `lanes` games at
    once. A rollout ends when the seat has begun `turns` turns after its first turn.
    """

    def __init__(
        self,
        rules: Rules,
        board: Board,
        judge: Judge,
        players: Sequence[CompiledBot],
        column: int,
        games: int,
        turns: int,
        lanes: int,
    ) -> None:
        self._rollouts = Rollouts(rules, board, (), players, judge, lanes)
        self._column, self._games, self._turns = column, games, turns

    def prepare(self) -> None:
        """Compile the code of the players and the judge."""
        self._rollouts.prepare()

    def best(self, view: View, numbers: Sequence[int]) -> int:
        """Return the best of `numbers` in the game that `view` shows."""
        left = np.array(numbers)
        values, rounds = np.zeros((len(left), 0)), int(np.ceil(np.log2(len(left))))
        for _ in range(rounds):
            count = max(2, self._games // rounds // len(left))
            samples = view.samples(view.rng.integers(2**63, size=count))
            new = self._rollouts.set_up(
                self._column, left.tolist(), samples, view.seat, view.rng, self._turns
            )
            values = np.hstack([values, new])
            order = np.argsort(-values.mean(axis=1), kind="stable")[: -(-len(left) // 2)]
            left, values = left[order], values[order]
        return int(left[0])


class Claims:
    """Claims of SETTLER, with the favourite continent that `choice` selects before every claim."""

    def __init__(self, choice: SetUpChoice) -> None:
        self._choice = choice
        self.reset()

    def prepare(self) -> None:
        """Compile the code of the rollouts, in which SETTLER also plays."""
        self._choice.prepare()

    def reset(self) -> None:
        """Begin a new game with a new SETTLER, whose random numbers do not depend on earlier games."""
        self._settler = SeatedBot(SETTLER, seed=0)

    def act(self, view: View) -> int | None:
        """Return the territory to claim, or None in phases other than CLAIM."""
        if view.phase != Phase.CLAIM:
            return None
        continent_of = view.game.board.continent_of
        continents = sorted({int(continent_of[territory]) for territory in view.legal_actions} - {-1})
        favourite = self._choice.best(view, [AS_USUAL, *(1 + continent for continent in continents)])
        self._settler.memory[0, view.seat, style.FAVOURITE] = favourite
        return self._settler.choose(view.game)


class FirstTroops:
    """Place of the first troops; `choice` selects the place before the first troop is placed."""

    def __init__(self, choice: SetUpChoice) -> None:
        self._choice = choice
        self._place: int | None = None

    def prepare(self) -> None:
        """Compile the code of the rollouts."""
        self._choice.prepare()

    def reset(self) -> None:
        """Forget the place before a new game."""
        self._place = None

    def act(self, view: View) -> int | None:
        """Return the territory for the next troop, or None in phases other than DEPLOY.

        The result is also None if no single territory is the best choice, or if the choice is not legal.
        """
        if view.phase != Phase.DEPLOY:
            return None
        if self._place is None:
            places = [1 + place for place in view.legal_actions]
            self._place = self._choice.best(view, [AS_USUAL, *places]) - 1
        return self._place if self._place in view.legal_actions else None
