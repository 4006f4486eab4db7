"""`strategist`: chooses among whole turns of other bots by playing on, for two to six players and every preset.

When its turn begins, each of the plans (a bot that would play the turn) is played on in samples of the game that could
be the one played: others' turns as `breaker` or `hunter`, or as a beam where headquarters or objectives win, until a
learned value, or the heuristic evaluation for tables that it does not know, judges the position. In duels the value of
`marshal` judges the end of the turn. Most plans are beams: the best turns that draft to different places, by different
weights. Plans that do badly are dropped while samples come in (sequential halving, Karnin 2013). It chooses again
before some of its attacks, where the dice may have fallen otherwise. Rollouts of fixed policies with common chance are
a policy improvement step (Tesauro and Galperin 1996). The place of the first troops is chosen likewise
(`search.first_troops`). Budgets count games, not time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from risk_agents.explanation import Explanation, PlanEstimate
from risk_agents.learned.table_value import TableValueFile
from risk_agents.scripted import breaker, hunter
from risk_agents.search import beam, marshal, planner, raider
from risk_agents.search.first_troops import PLAYER, QUICK_PLAYER, FirstTroops
from risk_agents.search.judges import JudgeFinder, judge_by_beam_value, judge_for, judges_by
from risk_agents.search.rollouts import Draft, Judge, Rollouts
from risk_env.agent import Agent, CompiledAgent, View
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.bots import CompiledBot
from risk_env.core.types import NOBODY, Phase
from risk_env.game import Game
from risk_env.match import Match

NARROW = 4  # positions that a plan's beam keeps at each depth
SCRIPTS = (planner.BOT, breaker.BOT, hunter.BOT, raider.BOT)


def _beams(name: str, weighed: int, ranks: int) -> tuple[CompiledBot, ...]:
    """The beams that draft to the best places."""
    return tuple(beam.other_turn(beam.BOT, f"{name} {rank + 1}", rank, weighed, NARROW) for rank in range(ranks))


def _plans(bold: int) -> tuple[CompiledBot, ...]:
    """Beams by the usual weights, by those for a number of players, and by cautious ones; and the scripts."""
    return *_beams("beam", 0, 5), *_beams("bold beam", bold, 2), *_beams("cautious beam", beam.CAUTIOUS, 2), *SCRIPTS


PLANS, PLANS_FOR_THREE = _plans(bold=3), _plans(bold=6)  # weights that are not the usual ones there
# In duels, judged by `marshal`'s value: its own turns by several drafts, and turns that it did not search itself
MARSHALS = tuple(beam.other_turn(marshal.BOT, f"marshal {rank + 1}", rank) for rank in range(4))
DUEL_PLANS, DUEL_JUDGE = MARSHALS + PLANS, judge_by_beam_value(marshal.VALUE)
MOST_TURNS = {DUEL_PLANS: 0, PLANS_FOR_THREE: 1}  # own turns that are played on at such tables
PLAYERS = (breaker.BOT, hunter.BOT)
GOAL_PLAYERS = (beam.other_turn(beam.BOT, "playing beam", width=3),)
GOALS = ("headquarters", "objectives")  # victories by places, which GOAL_PLAYERS know and the scripts do not
DECIDED = 0.95  # a seat's chance to win in a duel from which on few games choose the turns
MANY = 5  # from this number of players on, first troops are played on by the quick beam and over one own turn
SET_UP = breaker.BOT  # the plan that places the first troops, but in duels
LEAST_GAMES = len(PLANS)  # in a budget: one of each plan of most tables
DUEL_PLAYER = beam.other_turn(marshal.BOT, "placing marshal", width=NARROW)  # that plays on from places in duels
MOST_LANES = 480  # games that are played on at once

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Budget:
    """How much is tried."""

    games: int = 160  # when a turn begins; half as many where turns take longer, of `marshal` and of GOAL_PLAYERS
    again: int = 40  # before the second, fourth, eighth, ... attack; 0: the plan is kept
    others: int = 4  # plans that are considered there beside that of the turn
    turns: int = 2  # own turns that are played on before a position is judged; fewer at some tables
    places: int = 100  # when the first troops are placed; 0: they are placed as usual


BUDGET, LONG = Budget(), Budget(games=1600, again=400, places=1000)


class Strategist(Agent):
    """Rollouts of whole turns; `find_judge` gives what judges the positions of a table."""

    name = "strategist"
    version = "7"

    def __init__(self, budget: Budget = BUDGET, find_judge: JudgeFinder = judge_for) -> None:
        if budget.games < LEAST_GAMES:
            raise ValueError(f"games={budget.games!r} must be at least {LEAST_GAMES}")
        self.budget, self._find_judge = budget, find_judge
        self._table: tuple[Rules, Board] | None = None

    def prepare(self, rules: Rules, board: Board) -> None:
        """Compile all plans, players and values for such games."""
        self._sit_down(rules, board)
        self._rollouts.prepare()
        if self._first_troops:
            self._first_troops.prepare()
        for adviser in self._advisers:
            adviser.prepare(rules, board)

    def reset(self, seat: int, rules: Rules, board: Board, seed: int) -> None:
        """A game begins."""
        super().reset(seat, rules, board, seed)
        self._sit_down(rules, board)
        self._reset_advisers()
        self._plan, self._turn = self._set_up, (0, -1)
        if self._first_troops:
            self._first_troops.reset()
        self._considered: tuple[View, Array, int, list[Array]] | None = None

    def _sit_down(self, rules: Rules, board: Board) -> None:
        """Choose plans, players and judges for such games; DUEL_JUDGE in duels unless another judge was asked for."""
        if self._table == (rules, board):
            return
        judge, self._plans = self._find_judge(rules, board), plans_for(rules, board)
        lanes = min(max(self.budget.games, len(self._plans)), MOST_LANES)
        players = GOAL_PLAYERS if rules.victory in GOALS else PLAYERS
        of_turns = DUEL_JUDGE if self._is_duel and self._find_judge is judge_for else judge
        self._rollouts = Rollouts(rules, board, self._plans, players, of_turns, lanes)
        self._first_troops = self._chooser_of_places(judge, rules, board) if self.budget.places else None
        self._set_up = self._plans.index(MARSHALS[0] if self._is_duel else SET_UP)
        self._price = 2 if self._is_duel or players is GOAL_PLAYERS else 1
        self._turns = min(self.budget.turns, MOST_TURNS.get(self._plans, self.budget.turns))
        self._advisers = [CompiledAgent(plan) for plan in self._plans]
        self._table = rules, board

    @property
    def _is_duel(self) -> bool:
        """Whether these are games that `marshal` knows."""
        return self._plans is DUEL_PLANS

    def act(self, view: View) -> int:
        """What the chosen plan does."""
        game = view.game
        turn = game.round, game.turn
        if view.phase == Phase.DEPLOY and self._first_troops:
            place = self._first_troops.act(view)
            if place is not None:
                return place
        if game.turn == self.seat and view.phase >= Phase.TRADE:
            if turn != self._turn:
                self._turn = turn
                self._considered = self._begin_turn(view)
            elif view.phase == Phase.ATTACK and self.budget.again and self._turn_matters:
                self._attacks += 1
                if self._attacks > 1 and self._attacks.bit_count() == 1:  # the second, fourth, eighth, ...
                    self._choose_again(view)
        return self._advisers[self._plan].act(view)

    def explain(self) -> Explanation | None:
        """What was considered when the present turn began; None before the first."""
        return None if self._considered is None else self._explain(*self._considered)

    def _explain(self, view: View, samples: Array, chosen: int, found: list[Array]) -> Explanation:
        game = Game.from_record(view.rules, view.board, samples[:1])
        tried = [plan for plan, values in enumerate(found) if len(values)]
        estimates = {plan: self._estimate(self._plans[plan], found[plan], game) for plan in tried}
        first = estimates.pop(chosen)
        others = sorted(estimates.values(), key=lambda estimate: -estimate.chance)
        rng = np.random.default_rng(self.seed)
        chances = self._rollouts.continue_games(samples, self.seat, rng, self._turns).mean(axis=0)
        seats = tuple(map(float, chances[: view.rules.num_players]))
        return Explanation(self.seat, game.round, first.plan, (first, *others), seats)

    def _chooser_of_places(self, judge: Judge, rules: Rules, board: Board) -> FirstTroops:
        """What chooses the place for the first troops."""
        games, turns, player = self.budget.places, self.budget.turns, PLAYER
        if self._is_duel:
            turns, player = min(turns, 1), DUEL_PLAYER
        elif rules.num_players >= MANY:
            turns, player = min(turns, 1), QUICK_PLAYER
        elif rules.victory in GOALS:
            player = QUICK_PLAYER
        lanes = min(max(games, board.num_territories + 1), MOST_LANES)  # one for each place at least
        return FirstTroops(rules, board, judge, player, games, turns, lanes)

    def _reset_advisers(self) -> None:
        """The advisers forget: in rollouts they begin without memory, too."""
        for adviser in self._advisers:
            adviser.reset(self.seat, self.rules, self.board, self.seed)

    def _begin_turn(self, view: View) -> tuple[View, Array, int, list[Array]]:
        """Choose the plan of a turn; what `_explain` takes."""
        self._reset_advisers()
        self._attacks, self._turn_matters = 0, self._matters(view)
        plans, games = (self._plans, self.budget.games) if self._turn_matters else (MARSHALS[:2], LEAST_GAMES)
        self._ranked, found, samples = self._rank(view, range(len(plans)), games)
        self._plan = self._ranked[0]
        return view, samples, self._plan, found

    def _matters(self, view: View) -> bool:
        """Whether much depends on the turn that begins: not in a duel that is all but decided."""
        if not self._is_duel:
            return True
        now = view.samples(view.rng.integers(2**63, size=1))
        return bool(self._rollouts.continue_games(now, self.seat, view.rng, turns=0).max() < DECIDED)

    def _choose_again(self, view: View) -> None:
        """Another plan for the rest of the turn, of those that were best at its beginning, if it beats going on."""
        others = [plan for plan in self._ranked if plan != self._plan]
        plans = [self._plan, *others[: self.budget.others]]
        memory = self._advisers[self._plan].seated.memory[0, self.seat]
        ranked, _, _ = self._rank(view, plans, self.budget.again, memory)
        if ranked[0] != self._plan:
            self._reset_advisers()
            self._plan = ranked[0]

    def _rank(
        self, view: View, plans: Sequence[int], games: int, memory: Array | None = None
    ) -> tuple[list[int], list[Array], Array]:
        """The plans from the best on, by sequential halving: as many games in each round, of half as many plans.

        Also the values of every plan, and the first samples. `memory` is what the first plan remembers of this turn.
        """
        memories = None if memory is None else {plans[0]: memory}
        ranked, found, samples = list(plans), [np.zeros(0) for _ in self._plans], []
        drafts: dict[int, Draft] = {}
        rounds, open_plans = int(np.ceil(np.log2(len(plans)))), len(plans)
        for _ in range(rounds):
            count = max(2, games // self._price // rounds // open_plans)
            samples.append(view.samples(view.rng.integers(2**63, size=count)))
            values = self._rollouts.play(ranked[:open_plans], samples[-1], view.rng, self._turns, memories, drafts)
            for plan, new in zip(ranked, values, strict=False):
                found[plan] = np.append(found[plan], new)
            ranked[:open_plans] = sorted(ranked[:open_plans], key=lambda plan: -found[plan].mean())
            open_plans = -(-open_plans // 2)
        return ranked, found, samples[0]

    def _estimate(self, plan: CompiledBot, values: Array, game: Game) -> PlanEstimate:
        """What came of a plan."""
        error = float(values.std(ddof=1) / np.sqrt(len(values)))
        return PlanEstimate(plan.name, len(values), float(values.mean()), error, self._captures(plan, game))

    def _captures(self, plan: CompiledBot, game: Game) -> tuple[tuple[str, str], ...]:
        """The attacks that a plan makes in a sample. The other seats play their last legal actions in this turn."""
        match, turn = Match.of(game.copy(), _alone(plan, self.seat, game.num_players)), (game.round, game.turn)
        while match.run() != NOBODY and (match.game.round, match.game.turn) == turn:
            match.step(int(match.game.legal_actions()[-1]))
        events, names = takewhile(lambda event: event.kind != "turn_end", match.game.events()), game.board.territories
        battles = [(names[event.source], names[event.target]) for event in events if event.kind == "battle"]
        return tuple(dict.fromkeys(battles))


class LongStrategist(Strategist):
    """`strategist:long`: ten times as many games."""

    name = "strategist:long"

    def __init__(self, find_judge: JudgeFinder = judge_for) -> None:
        super().__init__(LONG, find_judge)


def plans_for(rules: Rules, board: Board) -> tuple[CompiledBot, ...]:
    """The bots whose turns are considered in such games."""
    try:
        marshal.BOT.check(rules, board)
    except ValueError:
        return PLANS_FOR_THREE if rules.num_players == 3 else PLANS
    return DUEL_PLANS


def with_value(path: str | Path) -> Callable[[], Strategist]:
    """A function that makes strategists with the value of a file, which refuse tables that it does not know."""
    find_judge = judges_by(TableValueFile.load(path), str(path))
    return lambda: Strategist(BUDGET, find_judge)


def analyse(game: Game, budget: Budget = BUDGET, seed: int = 0) -> Explanation:
    """What the strategist would consider for the seat in turn; ValueError outside of a turn."""
    if game.is_over or game.phase < Phase.TRADE or game.turn != game.seat:
        raise ValueError(f"phase={game.phase.name}: there are plans where a seat is asked in its own turn only")
    agent = Strategist(budget)
    match = Match.of(game.determinize(game.seat, seed), _alone(agent, game.seat, game.num_players))
    match.begin()
    return agent._explain(*agent._begin_turn(match.view()))


def _alone(player: CompiledBot | Agent, seat: int, num_players: int) -> list[CompiledBot | Agent | None]:
    """The players of a match in which only this seat has a player."""
    return [player if other == seat else None for other in range(num_players)]
