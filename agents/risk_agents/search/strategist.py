"""`strategist`: chooses among whole turns of other bots by rollouts, for two to six players and all presets.

A plan is a bot that can play the turn. When a turn begins, each plan plays the turn in samples. A sample is a
copy of the game in which hidden facts and future chance are drawn again. After the turn, bots of different
styles (PLAYERS) play all seats of a sample. If the rules have a victory by headquarters or objectives, a beam
plays all seats instead. Bots whose habits resemble the earlier turns of a seat are drawn for the seat more
often (`search.opponents`). Some turns later, a judge evaluates the position. The judge is a learned value, or
the heuristic evaluation for games that the learned value does not know. In duels that `marshal` knows, the
value of `marshal` evaluates the position at the end of the turn.

Most plans are beams that draft to different territories, or search with different weights. The other plans
are scripted bots and `planner`. In most games, three of the plans keep sets of cards. Weak plans are dropped
in stages (sequential halving, Karnin 2013). In each stage, all remaining plans are played in the same
samples. Such rollouts of fixed policies are a policy improvement step (Tesauro and Galperin 1996).

The agent compares plans again before some of its attacks, because battles may end differently than expected.
The agent also chooses its claims and the place of its first troops by rollouts (`search.set_up`). Budgets
count games, not time. On maps with more than BIG territories, fewer games are played, and almost no beams
(`Budget.on`, `plans_for`, `players_for`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from risk_agents.explanation import Explanation, PlanEstimate, plan_words
from risk_agents.learned.state_value import StateValueFile
from risk_agents.scripted import breaker, card_killer, evolved, holder, hunter, style, turtle
from risk_agents.search import beam, marshal, planner, raider
from risk_agents.search.judges import JudgeFinder, judge_by_beam_value, judge_for, judges_by
from risk_agents.search.opponents import Opponents
from risk_agents.search.rollouts import Draft, Judge, Rollouts
from risk_agents.search.set_up import (
    PLAYER,
    QUICK_PLAYER,
    SETTLER,
    Claims,
    FirstTroops,
    SetUpChoice,
)
from risk_env.agent import Agent, CompiledAgent, View
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.bots import CompiledBot
from risk_env.core.types import NOBODY, Phase
from risk_env.game import Game
from risk_env.match import Match

NARROW = 4  # number of positions that a plan's beam keeps at each depth
SCRIPTS = (planner.BOT, breaker.BOT, hunter.BOT, raider.BOT)
# Plans that keep sets of cards; GUARD also guards all of its territories
GUARD = style.bot("guard", "1", style.Style(leader=20, odds=140, caution=60, everywhere=1, keeps=4))
KEEPERS = (evolved.ONE, evolved.FIVE, GUARD)


def _beams(name: str, weighed: int, ranks: int, width: int = NARROW) -> tuple[CompiledBot, ...]:
    """Return `ranks` beams: the first drafts to the best territory, the second to the second best, and so on.

    `name` is the beginning of the beams' names, and `weighed` is the beams' row of `beam.WEIGHTS_FOR`.
    """
    return tuple(
        beam.other_turn(beam.BOT, f"{name} {rank + 1}", rank, weighed, width) for rank in range(ranks)
    )


def _plans(bold: int) -> tuple[CompiledBot, ...]:
    """Return the plans: beams with usual, bold (row `bold`) and cautious weights, and SCRIPTS."""
    return (
        *_beams("beam", 0, 5),
        *_beams("bold beam", bold, 2),
        *_beams("cautious beam", beam.CAUTIOUS, 2),
        *SCRIPTS,
    )


# Bold beams use row 3 of `beam.WEIGHTS_FOR` or, in games of three players, row 6
PLANS, PLANS_FOR_THREE = (*_plans(bold=3), *KEEPERS), (*_plans(bold=6), *KEEPERS)
# Plans for duels also include `marshal` with different drafts; the value of `marshal` evaluates all plans
MARSHALS = tuple(beam.other_turn(marshal.BOT, f"marshal {rank + 1}", rank) for rank in range(4))
DUEL_PLANS, DUEL_JUDGE = MARSHALS + _plans(bold=3), judge_by_beam_value(marshal.VALUE)
# On big maps, beams are plans only in games with GOALS, because a beam's turn takes much longer
BIG = 80  # maps with more territories are big
BIG_GAMES = 60  # number of territories by which `Budget.on` scales the numbers of games on big maps
BIG_PLANS = (*SCRIPTS, *KEEPERS)
BIG_GOAL_PLANS = (*_beams("narrow beam", 0, 2, width=1), *SCRIPTS)
# Maximum number of further turns of the seat in a rollout, by tuple of plans
MOST_TURNS = {DUEL_PLANS: 0, PLANS_FOR_THREE: 1}
PLAYERS = (breaker.BOT, hunter.BOT, holder.BOT, card_killer.BOT, turtle.BOT, *evolved.BOTS)
GOAL_PLAYERS = (beam.other_turn(beam.BOT, "playing beam", width=3),)
GOALS = ("headquarters", "objectives")  # victories that GOAL_PLAYERS pursue and scripted bots do not
DECIDED = 0.95  # win probability of a seat in a duel above which the agent plays few games for a turn
MANY = 5  # minimum number of players with which rollouts for the place of the first troops are short
SET_UP = breaker.BOT  # plan that decides before the first turn where rollouts do not, except in duels
LEAST_GAMES = len(PLANS)  # minimum number of games of a budget: one for each of PLANS
# Player in rollouts for the place of the first troops in duels
DUEL_PLAYER = beam.other_turn(marshal.BOT, "placing marshal", width=NARROW)
MOST_LANES = 480  # maximum number of games that are played at once

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Budget:
    """Numbers of games and turns of the rollouts.

    In duels and with GOAL_PLAYERS, rollouts take longer. The agent then plays only half of `games`,
    `again` and `claims`.
    """

    games: int = 160  # number of games when a turn begins
    again: int = 40  # number of games before the second, fourth, eighth, ... attack; 0 to keep the plan
    others: int = 4  # number of plans that are compared with the chosen plan before an attack
    turns: int = 2  # number of further turns of the seat in a rollout; MOST_TURNS limits this number
    claims: int = 400  # number of games before each claim; 0 to claim without rollouts
    places: int = 100  # number of games for the place of the first troops; 0 to place them without rollouts

    def on(self, board: Board) -> Budget:
        """Return the budget on a map: the same budget unless the map is big.

        On big maps, the numbers of games fall in proportion to 1 / territories. At most two plans are
        compared with the chosen plan, and the first troops are placed without rollouts.
        """
        size = board.num_territories
        if size <= BIG:
            return self
        games, again, claims = (-(-n * BIG_GAMES // size) for n in (self.games, self.again, self.claims))
        return replace(self, games=games, again=again, others=min(self.others, 2), claims=claims, places=0)


BUDGET, LONG = Budget(), Budget(games=1600, again=400, claims=4000, places=1000)


class Strategist(Agent):
    """`strategist`: search over whole turns by rollouts; the strongest agent of docs/ladder.md.

    `budget` limits the rollouts, and `find_judge(rules, board)` returns the judge of the rollouts. By
    default, DUEL_JUDGE evaluates the turns of duels. Raises ValueError if `budget.games` is below
    LEAST_GAMES.
    """

    name = "strategist"
    version = "8"

    def __init__(self, budget: Budget = BUDGET, find_judge: JudgeFinder = judge_for) -> None:
        if budget.games < LEAST_GAMES:
            raise ValueError(f"budget.games={budget.games!r}: must be at least {LEAST_GAMES}")
        self.budget, self._find_judge = budget, find_judge
        self._table: tuple[Rules, Board] | None = None

    def prepare(self, rules: Rules, board: Board) -> None:
        """Compile all plans, players and judges for games with these rules on this map."""
        self._sit_down(rules, board)
        for compiles in (self._rollouts, *self._choices):
            compiles.prepare()
        for adviser in self._advisers:
            adviser.prepare(rules, board)

    def reset(self, seat: int, rules: Rules, board: Board, seed: int) -> None:
        """Prepare for a new game."""
        super().reset(seat, rules, board, seed)
        self._sit_down(rules, board)
        self._reset_advisers()
        self._plan, self._turn = self._set_up, (0, -1)
        for choice in self._choices:
            choice.reset()
        self._opponents = Opponents(self._players)
        self._considered: tuple[View, Array, int, list[Array]] | None = None

    def _sit_down(self, rules: Rules, board: Board) -> None:
        """Choose plans, players and judges for games with these rules on this map.

        In duels, DUEL_JUDGE evaluates the end of the turn if `find_judge` is the default.
        """
        if self._table == (rules, board):
            return
        judge, self._plans = self._find_judge(rules, board), plans_for(rules, board)
        self._map_budget, self._players = self.budget.on(board), players_for(rules, board)
        lanes = min(max(self._map_budget.games, len(self._plans)), MOST_LANES)
        of_turns = DUEL_JUDGE if self._is_duel and self._find_judge is judge_for else judge
        self._rollouts = Rollouts(rules, board, self._plans, self._players, of_turns, lanes)
        self._set_up = self._plans.index(MARSHALS[0] if self._is_duel else SET_UP)
        self._price = 2 if self._is_duel or self._players is GOAL_PLAYERS else 1
        self._choices: list[Claims | FirstTroops] = []
        if self._map_budget.claims and rules.setup == "claim":
            self._choices.append(self._chooser_of_claims(judge, rules, board))
        if self._map_budget.places:
            self._choices.append(self._chooser_of_places(judge, rules, board))
        self._turns = min(self._map_budget.turns, MOST_TURNS.get(self._plans, self._map_budget.turns))
        self._advisers = [CompiledAgent(plan) for plan in self._plans]
        self._table = rules, board

    @property
    def _is_duel(self) -> bool:
        """True if `marshal` can play the game, which then has two players."""
        return self._plans is DUEL_PLANS

    def act(self, view: View) -> int:
        """Return an action; choose a plan when a turn begins and before some attacks."""
        game = view.game
        turn = game.round, game.turn
        for choice in self._choices:
            if (place := choice.act(view)) is not None:
                return place
        if game.turn == self.seat and view.phase >= Phase.TRADE:
            if turn != self._turn:
                self._turn = turn
                self._considered = self._begin_turn(view)
            elif view.phase == Phase.ATTACK and self._map_budget.again and self._turn_matters:
                self._attacks += 1
                if self._attacks > 1 and self._attacks.bit_count() == 1:  # the second, fourth, eighth, ...
                    self._choose_again(view)
        return self._advisers[self._plan].act(view)

    def explain(self) -> Explanation | None:
        """Return an explanation of the choice at the start of the turn, or None before the first turn."""
        return None if self._considered is None else self._explain(*self._considered)

    def _explain(self, view: View, samples: Array, chosen: int, results: list[Array]) -> Explanation:
        game = Game.from_record(view.rules, view.board, samples[:1])
        tried = [plan for plan, values in enumerate(results) if len(values)]
        estimates = {plan: self._estimate(self._plans[plan], results[plan], game) for plan in tried}
        first = estimates.pop(chosen)
        others = sorted(estimates.values(), key=lambda estimate: -estimate.chance)
        rng = np.random.default_rng(self.seed)
        values = self._rollouts.continue_games(samples, self.seat, rng, self._turns, self._likely)
        values = values[:, : view.rules.num_players]
        seats = tuple(map(float, values.mean(axis=0)))
        errors = tuple(map(float, _error(values)))
        return Explanation(self.seat, game.round, first.plan, (first, *others), seats, errors)

    def _chooser_of_places(self, judge: Judge, rules: Rules, board: Board) -> FirstTroops:
        """Return the object that chooses the place of the first troops."""
        games, turns, player = self._map_budget.places, self._map_budget.turns, PLAYER
        if self._is_duel:
            turns, player = min(turns, 1), DUEL_PLAYER
        elif rules.num_players >= MANY:
            turns, player = min(turns, 1), QUICK_PLAYER
        elif rules.victory in GOALS:
            player = QUICK_PLAYER
        lanes = min(max(games, board.num_territories + 1), MOST_LANES)  # at least one for each place
        choice = SetUpChoice(rules, board, judge, (player,), beam.GATHER, games, turns, lanes)
        return FirstTroops(choice)

    def _chooser_of_claims(self, judge: Judge, rules: Rules, board: Board) -> Claims:
        """Return the object that chooses claims."""
        games, players = self._map_budget.claims // self._price, (SETTLER, *self._players)
        lanes = min(max(games, len(board.continents) + 1), MOST_LANES)  # at least one for each continent
        turns = self._map_budget.turns
        return Claims(SetUpChoice(rules, board, judge, players, style.FAVOURITE, games, turns, lanes))

    def _reset_advisers(self) -> None:
        """Clear the memories of the plans' bots. In rollouts, these bots also begin without memory."""
        for adviser in self._advisers:
            adviser.reset(self.seat, self.rules, self.board, self.seed)

    def _begin_turn(self, view: View) -> tuple[View, Array, int, list[Array]]:
        """Choose the plan of a turn, and return the arguments of `_explain`."""
        self._reset_advisers()
        self._opponents.watch(view.events)
        self._likely = self._opponents.probabilities()
        self._likely[self.seat] = 1 / len(self._players)  # the agent is not one of the players
        self._attacks, self._turn_matters = 0, self._matters(view)
        plans, games = self._plans, self._map_budget.games
        if not self._turn_matters:
            plans, games = MARSHALS[:2], LEAST_GAMES
        self._ranked, results, samples = self._rank(view, range(len(plans)), games)
        self._plan = self._ranked[0]
        return view, samples, self._plan, results

    def _matters(self, view: View) -> bool:
        """Return False if the game is a duel that is almost decided, otherwise True."""
        if not self._is_duel:
            return True
        now = view.samples(view.rng.integers(2**63, size=1))
        return bool(self._rollouts.continue_games(now, self.seat, view.rng, turns=0).max() < DECIDED)

    def _choose_again(self, view: View) -> None:
        """Change the plan for the rest of the turn if another plan has a higher value.

        The other plans are the best plans at the start of the turn.
        """
        others = [plan for plan in self._ranked if plan != self._plan]
        plans = [self._plan, *others[: self._map_budget.others]]
        memory = self._advisers[self._plan].seated.memory[0, self.seat]
        ranked, _, _ = self._rank(view, plans, self._map_budget.again, memory)
        if ranked[0] != self._plan:
            self._reset_advisers()
            self._plan = ranked[0]

    def _rank(
        self, view: View, plans: Sequence[int], games: int, memory: Array | None = None
    ) -> tuple[list[int], list[Array], Array]:
        """Rank plans by sequential halving: each stage plays a share of `games`, and drops half of the plans.

        Returns the ranked plans, the results of all stages, and the samples of the first stage. The ranked
        plans begin with the best plan. The results are the values of the games of each plan, by plan index.
        `memory` is the memory of `plans[0]` in this turn if this plan has begun the turn, else None.
        """
        memories = None if memory is None else {plans[0]: memory}
        ranked, results, samples = list(plans), [np.zeros(0) for _ in self._plans], []
        drafts: dict[int, Draft] = {}
        rounds, open_plans = int(np.ceil(np.log2(len(plans)))), len(plans)
        for _ in range(rounds):
            count = max(2, games // self._price // rounds // open_plans)
            samples.append(view.samples(view.rng.integers(2**63, size=count)))
            values = self._rollouts.play(
                ranked[:open_plans], samples[-1], view.rng, self._turns, memories, drafts, self._likely
            )
            for plan, new in zip(ranked, values, strict=False):
                results[plan] = np.append(results[plan], new)
            ranked[:open_plans] = sorted(ranked[:open_plans], key=lambda plan: -results[plan].mean())
            open_plans = -(-open_plans // 2)
        return ranked, results, samples[0]

    def _estimate(self, plan: CompiledBot, values: Array, game: Game) -> PlanEstimate:
        """Return the estimate of a plan from the values of its games."""
        captures, drafts = self._attacks_and_drafts(plan, game)
        words = plan_words(game.board, drafts, captures)
        chance, error = float(values.mean()), float(_error(values))
        return PlanEstimate(plan.name, len(values), chance, error, captures, words)

    def _attacks_and_drafts(
        self, plan: CompiledBot, game: Game
    ) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
        """Return the attacks that a plan makes in a sample, and the territories of its drafts.

        During the plan's turn, every other seat plays its last legal action, for example to choose dice.
        """
        match, turn = (
            Match.of(game.copy(), _alone(plan, self.seat, game.num_players)),
            (game.round, game.turn),
        )
        while match.run() != NOBODY and (match.game.round, match.game.turn) == turn:
            match.step(int(match.game.legal_actions()[-1]))
        events = list(takewhile(lambda event: event.kind != "turn_end", match.game.events()))
        names = game.board.territories
        battles = [(names[event.source], names[event.target]) for event in events if event.kind == "battle"]
        drafts = [names[event.territory] for event in events if event.kind == "draft"]
        return tuple(dict.fromkeys(battles)), tuple(dict.fromkeys(drafts))


class LongStrategist(Strategist):
    """`strategist:long`: `strategist` with ten times as many games."""

    name = "strategist:long"

    def __init__(self, find_judge: JudgeFinder = judge_for) -> None:
        super().__init__(LONG, find_judge)


def _error(values: Array) -> Array:
    """Return the standard error of the mean of values along their first axis."""
    return np.asarray(values.std(axis=0, ddof=1) / np.sqrt(len(values)))


def plans_for(rules: Rules, board: Board) -> tuple[CompiledBot, ...]:
    """Return the plans that are compared in games with these rules on this map."""
    if marshal.BOT.knows(rules, board):
        return DUEL_PLANS
    if board.num_territories > BIG:
        return BIG_GOAL_PLANS if rules.victory in GOALS else BIG_PLANS
    return PLANS_FOR_THREE if rules.num_players == 3 else PLANS


def players_for(rules: Rules, board: Board) -> tuple[CompiledBot, ...]:
    """Return the bots that play the rollouts of games with these rules on this map."""
    return GOAL_PLAYERS if rules.victory in GOALS and board.num_territories <= BIG else PLAYERS


def with_value(path: str | Path) -> Callable[[], Strategist]:
    """Return a function that makes a `Strategist` with the state value in a file.

    Such a strategist raises ValueError for games that the value does not know.
    """
    find_judge = judges_by(StateValueFile.load(path), str(path))
    return lambda: Strategist(BUDGET, find_judge)


def analyse(game: Game, budget: Budget = BUDGET, seed: int = 0) -> Explanation:
    """Return the strategist's comparison of plans for the seat whose turn it is.

    `seed` determines the samples. Raises ValueError during the set-up, after the end of the game, and while
    another seat is to act.
    """
    if game.is_over or game.phase < Phase.TRADE or game.turn != game.seat:
        raise ValueError(
            f"phase={game.phase.name}, seat={game.seat}, turn={game.turn}: plans exist only after the "
            "set-up, for decisions of the seat whose turn it is"
        )
    agent = Strategist(budget)
    match = Match.of(game.determinize(game.seat, seed), _alone(agent, game.seat, game.num_players))
    match.begin()
    return agent._explain(*agent._begin_turn(match.view()))


def _alone(player: CompiledBot | Agent, seat: int, num_players: int) -> list[CompiledBot | Agent | None]:
    """Return the players of a match in which only `seat` has a player."""
    return [player if other == seat else None for other in range(num_players)]
