"""`search`: tries the answers of several bots in games that could be the one played, and takes the best.

At each draft and attack the answers of `beam`, `planner`, `breaker` and `grower` are played on from determinised copies
(everything hidden is drawn again, future chance included): its own turn as `beam`, the others' as `breaker`, until its
next turn begins. The position there is evaluated by `search.evaluation`. The budget is a number of games, not a time.
"""

import numpy as np
import numpy.typing as npt

from risk_agents.explanation import Explanation, PlanEstimate
from risk_agents.scripted import breaker, grower
from risk_agents.search import beam, planner
from risk_agents.search.evaluation import WEIGHTS, WORKSPACE, Evaluator, evaluate
from risk_env.agent import Agent, CompiledAgent, View
from risk_env.arena import Arena
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.compiler import entry_point
from risk_env.core.types import MAX_SEATS, Phase
from risk_env.lanes import Lanes

OWN, OTHERS = 0, 1  # numbers of the bots in the games that are tried


@entry_point
def evaluate_games(games, boards, rules, seat, values):
    """Write the values of all games for a seat, float64 (N,); 1 and 0 for games won and lost."""
    evaluator = Evaluator(boards[0], rules[0], seat, WEIGHTS, np.zeros(WORKSPACE))
    for i in range(len(values)):
        if games[i].phase == Phase.OVER:
            values[i] = 1.0 if games[i].winner == seat else 0.0
        else:
            values[i] = evaluate(games[i], evaluator)


class SearchAgent(Agent):
    """Flat Monte Carlo over the answers of compiled bots; `samples` games for each answer that is tried."""

    name = "search"
    version = "2"

    def __init__(self, samples: int = 12, margin: float = 1.0) -> None:
        if samples < 2:
            raise ValueError(f"samples={samples!r} must be a whole number of at least 2")
        self.samples, self.margin = samples, margin
        self._advisers = [CompiledAgent(bot) for bot in (beam.BOT, planner.BOT, breaker.BOT, grower.BOT)]

    def prepare(self, rules: Rules, board: Board) -> None:
        """Compile the bots and the evaluation."""
        self.reset(0, rules, board, 0)
        for adviser in self._advisers:
            adviser.prepare(rules, board)
        self._arena.prepare()
        self._evaluated(0)

    def reset(self, seat: int, rules: Rules, board: Board, seed: int) -> None:
        """A game begins."""
        super().reset(seat, rules, board, seed)
        self._explanation: Explanation | None = None
        for adviser in self._advisers:
            adviser.reset(seat, rules, board, seed)
        lanes = self.samples * (len(self._advisers) + 1)
        self._batch = Lanes(rules, board, lanes, observation=None, mask=None, autoreset=False)
        self._arena = Arena(self._batch, (beam.BOT, breaker.BOT))
        self._arena.numbers[:] = np.where(np.arange(MAX_SEATS) == seat, OWN, OTHERS)
        self._arena.stop_at_turn[:] = seat

    def act(self, view: View) -> int:
        """The answer whose games went best; the beam's unless another is clearly better."""
        answers = self._answers(view)
        if len(answers) == 1:
            return answers[0]
        values = self._values(view, answers)
        gains = values - values[0]
        clear = gains.mean(axis=1) - self.margin * self._error(gains)
        best = int(clear.argmax()) if clear.max() > 0 else 0
        if best:
            self._forget_plan(self._advisers[0].seated.memory[0, self.seat], view)
        self._explanation = self._explained(view, answers, values, best)
        return answers[best]

    def explain(self) -> Explanation | None:
        """The answers that were tried for the last choice in draft or attack, as values of `search.evaluation`."""
        return self._explanation

    def _error(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Standard errors of the means of the rows."""
        return values.std(axis=1, ddof=1) / np.sqrt(self.samples)

    def _explained(self, view: View, answers: list[int], values: npt.NDArray[np.float64], best: int) -> Explanation:
        words = dict(zip(view.legal_actions.tolist(), view.texts, strict=True))
        rows = zip(answers, values.mean(axis=1).tolist(), self._error(values).tolist(), strict=True)
        plans = [
            PlanEstimate(words[answer], self.samples, chance, error, _captures(view, answer))
            for answer, chance, error in rows
        ]
        plans.sort(key=lambda plan: -plan.chance)
        return Explanation(self.seat, view.position.round, words[answers[best]], tuple(plans))

    def _answers(self, view: View) -> list[int]:
        """The answers to try, the beam's first; only that one outside of draft and attack."""
        first = self._advisers[0].act(view)
        if view.phase not in (Phase.DRAFT, Phase.ATTACK):
            return [first]
        answers = [first, *(adviser.act(view) for adviser in self._advisers[1:])]
        if view.phase == Phase.ATTACK:
            answers.append(int(view._game.tables.rules[0].done))
        return list(dict.fromkeys(answers))

    def _forget_plan(self, memory: npt.NDArray[np.int32], view: View) -> None:
        """Let the beam make a new plan after another's answer."""
        memory[beam.PLAN] = 0
        memory[beam.DRAFT_WANTED] = view.position.draft_left

    def _values(self, view: View, answers: list[int]) -> npt.NDArray[np.float64]:
        """How well each game went: float64 (answers, samples); sample i of every answer begins in the same game."""
        lanes = np.arange(len(answers) * self.samples)
        games = self._batch.games
        for sample, seed in enumerate(view.rng.integers(2**63, size=self.samples)):
            games[sample : len(lanes) : self.samples] = view.sample(int(seed)).record
        self._batch.seeds[lanes] = np.tile(view.rng.integers(2**63, size=self.samples).astype(np.uint64), len(answers))
        self._arena.seat_players(lanes)
        memory = self._arena.memory[lanes, self.seat]
        memory[:, : beam.BOT.memory] = self._advisers[0].seated.memory[0, self.seat]
        for row in memory[self.samples :]:
            self._forget_plan(row, view)
        self._arena.memory[lanes, self.seat] = memory
        self._arena.actions[lanes] = np.repeat(answers, self.samples)
        self._arena.play_on(lanes)  # until its next turn begins
        return self._evaluated(len(lanes)).reshape(len(answers), self.samples)

    def _evaluated(self, count: int) -> npt.NDArray[np.float64]:
        """Return the values of the first `count` games for the agent's seat."""
        values, T = np.zeros(count), self._batch.tables
        evaluate_games(self._batch.games, T.board, T.rules, self.seat, values)
        return values


def _captures(view: View, action: int) -> tuple[tuple[str, str], ...]:
    """The attack that an action is, by names; () for any other."""
    kind, arguments = view.game.tables.space.decode(action)
    if kind != "attack":
        return ()
    source, target = (view.board.territories[t] for t in arguments)
    return ((source, target),)
