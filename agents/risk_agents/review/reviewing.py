"""Review of a game: chances to win over the game, luck of dice and cards, and the turns that cost most.

* A seat's chance is the share of games that the seat wins when bots play from the position to the end.
* The luck of a battle or card is the value of its outcome minus the mean value of all outcomes. A value
  function, the judge, evaluates the position that follows if the turn ends right after the event.
* The loss of a turn is the chance after the best plan minus the chance after the turn as it was played. Both
  chances come from the same samples, in which dice, cards and hidden facts are drawn again. Some samples are
  used to choose the plan, and others to measure the loss. The measured loss therefore has no selection bias.
* A turn is reported only if rollouts to the end of the game, in new samples, confirm the loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from risk_agents.review.recorded import ChanceEvent, RecordedTurn, recorded_turns
from risk_agents.review.routes import Route, played_routes, route_of_plan
from risk_agents.review.turn_rollouts import TurnRollouts
from risk_agents.search import beam
from risk_agents.search.judges import judge_for, judge_heuristically
from risk_agents.search.rollouts import TO_THE_END
from risk_agents.search.strategist import (
    DUEL_JUDGE,
    DUEL_PLANS,
    GOALS,
    MOST_TURNS,
    PLAYERS,
    plans_for,
)
from risk_agents.win_chances import shares
from risk_env.agent import samples_of
from risk_env.arrays import Array, Floats
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.core import entry
from risk_env.game import Game
from risk_env.seeds import game_seed
from risk_env.viewer.replay import seat_names

SCHEMA = 1
ROUGH = "Luck is a rough estimate: no learned value knows these rules on this map."
LANES = 512
PASSIVE = "breaker"  # plan that plays the rest of a turn after the last attack
WORST = 3  # maximum number of reported turns of a seat
LEAST_LOSS = 0.06  # minimum loss of a reported turn, in win probability
LEAST_GAMES = 16  # in long games, `Budget.chances` and `Budget.samples` are not reduced below this number
FINALISTS = 4  # number of plans that are compared in all samples
SURE = 3.0  # minimum loss of a reported turn, in standard errors
HOPEFUL = 0.03  # minimum estimated loss of a turn that is checked by rollouts, in win probability
CHANCES, SAMPLES, BOTS, PLAYING_ON = range(4)  # purposes of random generators
LATER_TURNS = -1  # stands for the usual number of later turns before the judge evaluates a position

Progress = Callable[[int], None]  # receives the number of turns that have been compared with the plans


@dataclass(frozen=True)
class Budget:
    """Numbers of rollouts and samples in a review of a game with at most `turns` turns.

    In longer games, each turn gets fewer rollouts and samples.
    """

    chances: int = 160  # number of rollouts for the chances at the beginning of a turn
    samples: int = 48  # number of samples in which the best plans are compared
    check: int = 128  # number of samples in each step of a check
    steps: int = 5  # maximum number of steps of a check
    candidates: int = 5  # maximum number of turns of a seat that are checked
    turns: int = 60

    def for_turns(self, turns: int) -> Budget:
        """Return the budget for a game with `turns` turns."""
        share = min(1.0, self.turns / max(turns, 1))
        chances = max(min(self.chances, LEAST_GAMES), int(share * self.chances))
        samples = max(min(self.samples, LEAST_GAMES), int(share * self.samples))
        return replace(self, chances=chances, samples=samples)


BUDGET = Budget()
# Players of rollouts in games with goals; these beams keep fewer positions than the beams of `strategist`
GOAL_PLAYERS = (beam.other_turn(beam.BOT, "reviewing beam", width=2),)
# Smaller budget for games with goals: rollouts with GOAL_PLAYERS take about ten times as long as others
GOAL_BUDGET = Budget(chances=16, samples=12, check=32, candidates=2)


@dataclass(frozen=True)
class ReviewedTurn:
    """A turn of a review: chances at the beginning of the turn, luck and loss."""

    round: int
    seat: int
    chances: tuple[float, ...]  # (P,) win probability of each seat when the turn begins
    luck: tuple[float, ...]  # (P,) change in each seat's chance through dice and cards of the turn
    loss: float  # estimated loss of the seat against the best plan; below 0 if the turn was played better


@dataclass(frozen=True)
class Mistake:
    """A turn that cost the seat much of its win probability, and a better plan for this turn."""

    round: int
    seat: int
    loss: float  # confirmed loss, in win probability
    error: float  # standard error of `loss`
    games: int  # number of rollouts of the played turn, and of the better plan
    plan: str  # name of the bot that plays the better plan
    played: Route
    better: Route


@dataclass(frozen=True)
class Review:
    """The review of a game."""

    names: tuple[str, ...]
    turns: tuple[ReviewedTurn, ...]
    end: tuple[float, ...]  # (P,) chance of each seat at the end of the game
    mistakes: tuple[Mistake, ...]  # by seat; within a seat, the most costly turn first
    note: str  # ROUGH if a heuristic measures the luck, "" if a learned value does

    def to_dict(self) -> dict[str, Any]:
        """Return the review as a dict for `json.dumps`."""
        return {"schema": SCHEMA, **asdict(self)}


class Candidate(NamedTuple):
    """A turn with a large estimated loss: index of the turn, loss, and index of the best plan."""

    number: int
    loss: float
    plan: int


def review(
    game: Game,
    names: Sequence[str] = (),
    budget: Budget | None = None,
    seed: int = 0,
    progress: Progress = lambda done: None,
) -> Review:
    """Return the review of a game, computed from the game's history.

    `progress` receives the number of finished turns. The same arguments always give the same review. Raises
    ValueError for a game without a turn.
    """
    names = seat_names(names, game.num_players)
    reviewer = Reviewer(game.rules, game.board, budget, seed)
    return reviewer.review(game, names, progress)


class Reviewer:
    """A reviewer of games with the same rules on the same map."""

    def __init__(self, rules: Rules, board: Board, budget: Budget | None = None, seed: int = 0) -> None:
        self._plans = plans_for(rules, board)
        is_duel = self._plans is DUEL_PLANS
        judge = DUEL_JUDGE if is_duel else judge_for(rules, board)
        has_goals = rules.victory in GOALS
        players = GOAL_PLAYERS if has_goals else PLAYERS
        self._rollouts = TurnRollouts(rules, board, self._plans, players, judge, LANES)
        self._passive = self.plan_named(PASSIVE)
        self._later_turns = MOST_TURNS.get(self._plans, 2)
        self._budget = budget or (GOAL_BUDGET if has_goals else BUDGET)
        self._seed, self._players = seed, rules.num_players
        self._is_calibrated = judge is not judge_heuristically

    def prepare(self) -> None:
        """Compile the code that reviews need, or load the code from the cache."""
        self._rollouts.prepare()
        tables, game = self._rollouts.tables, Game(self._rollouts.rules, self._rollouts.board, seed=0)
        scratch = game.records.copy()
        entry.determinize_game(scratch, 0, tables.board, tables.rules, game.seat, game_seed(0))
        entry.play_chance_once(scratch, 0, tables.board, tables.rules)
        entry.apply_action(scratch, 0, tables.board, tables.rules, int(game.legal_actions()[0]))

    def plan_named(self, name: str) -> int:
        """Return the index of the plan called `name`."""
        return [plan.name for plan in self._plans].index(name)

    def review(self, game: Game, names: Sequence[str], progress: Progress = lambda done: None) -> Review:
        """Return the review of a game; raise ValueError for a game without a turn."""
        turns, events = recorded_turns(game)
        changes = [(event.turn, self._luck(event)) for event in events]  # completes the turns
        if not turns:
            raise ValueError("the game has no turn yet: only turns are reviewed, not the set-up")
        lucks = np.zeros((len(turns), self._players))
        for number, change in changes:
            lucks[number] += change
        budget = self._budget.for_turns(len(turns))
        reviewed, candidates = [], list[Candidate]()
        for number, turn in enumerate(turns):
            chances = self._chances(turn, budget, number)
            candidate = self._search(turn, budget, number)
            loss = candidate.loss if candidate else 0.0
            candidates += [candidate] if candidate else []
            luck = _floats(lucks[number])
            reviewed.append(ReviewedTurn(turn.round, turn.seat, chances, luck, round(loss, 4)))
            progress(number + 1)
        return Review(
            tuple(names),
            tuple(reviewed),
            self._end(game),
            tuple(self._mistakes(game, turns, candidates, budget)),
            "" if self._is_calibrated else ROUGH,
        )

    # ---------------------------------------------------------------------------------- chances and luck

    def _chances(self, turn: RecordedTurn, budget: Budget, number: int) -> tuple[float, ...]:
        """Return each seat's chance to win when a turn begins, (P,)."""
        rng = self._rng(CHANCES, number)
        games = np.repeat(turn.start, budget.chances)
        games["random"] = rng.integers(2**64, size=len(games), dtype=np.uint64)
        shares = self._rollouts.continue_games(games, turn.seat, rng, TO_THE_END)
        return _floats(shares.mean(axis=0)[: self._players])

    def _end(self, game: Game) -> tuple[float, ...]:
        """Return each seat's chance after the last action, (P,).

        In a finished game, the winner has 1, or the living seats have equal shares.
        """
        if game.is_over:
            return _floats(shares(np.array([game.winner]), game.alive))
        turn = RecordedTurn(game.round, game.turn, game.records)
        return self._chances(turn, self._budget, len(game.actions))

    def _luck(self, event: ChanceEvent) -> Floats:
        """Return the luck of each seat in a chance event, (P,)."""
        records = np.concatenate([event.records, event.after])
        values = np.concatenate(
            [
                self._rollouts.chances_of(
                    self._rollouts.ends_now(records[first : first + LANES], self._passive)
                )
                for first in range(0, len(records), LANES)
            ]
        )[:, : self._players]
        return values[-1] - event.chances @ values[:-1] / event.chances.sum()

    # ---------------------------------------------------------------------------------- losses

    def _search(self, turn: RecordedTurn, budget: Budget, number: int) -> Candidate | None:
        """Compare a turn with all plans; return a candidate, or None if the seat made no decision.

        The first samples are used to choose FINALISTS plans. Further samples are split into two halves: the
        best plan of each half is compared with the played turn in the opposite half.
        """
        if not turn.decisions:
            return None
        first = self._values_of(range(len(self._plans)), turn, budget.samples // 3, (number, 0))
        open_plans = np.argsort(-first.mean(axis=1), kind="stable")[:FINALISTS].tolist()
        values = self._values_of(open_plans, turn, budget.samples, key := (number, 1))
        best = open_plans[int(values.mean(axis=1).argmax())]
        samples = self._samples(turn, budget.samples, key)
        played = self._values(turn, self._played(turn, best, samples, key), key)
        halves = [(slice(half, None, 2), slice(1 - half, None, 2)) for half in (0, 1)]
        losses = [
            values[values[:, one].mean(axis=1).argmax(), other].mean() - played[other].mean()
            for one, other in halves
        ]
        return Candidate(number, float(np.mean(losses)), best)

    def _values_of(
        self, plans: Sequence[int], turn: RecordedTurn, count: int, key: tuple[int, ...]
    ) -> Floats:
        """Return the seat's value after the turn for each plan and sample, (plans, count)."""
        ends = self._ends(plans, self._samples(turn, count, key), key)
        return np.array([self._values(turn, of_plan, key) for of_plan in ends])

    def _mistakes(
        self, game: Game, turns: Sequence[RecordedTurn], candidates: Sequence[Candidate], budget: Budget
    ) -> Iterator[Mistake]:
        """Yield the turns with a confirmed loss, by seat; within a seat, the most costly turn first."""
        routes = played_routes(game)
        for seat in range(self._players):
            own = [each for each in candidates if turns[each.number].seat == seat and each.loss >= HOPEFUL]
            own = sorted(own, key=lambda each: -each.loss)[: budget.candidates]
            checked = [(self._check(turns[each.number], each, budget), each) for each in own]
            certain = [(loss, each) for loss, each in checked if loss.is_certain]
            for loss, each in sorted(certain, key=lambda pair: -pair[0].loss)[:WORST]:
                turn, plan = turns[each.number], self._plans[each.plan]
                start = Game.from_record(game.rules, game.board, turn.start)
                played, better = routes[turn.round, seat], route_of_plan(plan, start)
                yield Mistake(turn.round, seat, *loss.rounded(), plan.name, played, better)

    def _check(self, turn: RecordedTurn, candidate: Candidate, budget: Budget) -> Loss:
        """Measure the loss of a turn by rollouts to the end of the game, in new samples.

        The check ends early when further samples would hardly change the result (`Loss.is_settled`).
        """
        loss = Loss(0.0, 1.0, 0)
        differences = np.zeros(0)
        for step in range(1, budget.steps + 1):
            new = self.differences(turn, candidate.plan, budget.check, (candidate.number, step))
            differences = np.append(differences, new)
            loss = Loss.of(differences)
            if loss.is_settled(budget.steps * budget.check):
                break
        return loss

    def differences(self, turn: RecordedTurn, plan: int, count: int, key: tuple[int, ...]) -> Floats:
        """Return the results of a plan minus the results of the played turn in pairs of rollouts, (count,).

        Both rollouts of a pair begin in the same sample, with the same dice to come, and go to the end of the
        game. The same `key` gives the same samples.
        """
        parts = []
        for first in range(0, count, LANES):
            part = (*key, first)
            samples = self._samples(turn, min(LANES, count - first), part)
            better = self._values(turn, self._ends([plan], samples, part)[0], part, TO_THE_END)
            played = self._values(turn, self._played(turn, plan, samples, part), part, TO_THE_END)
            parts.append(better - played)
        return np.concatenate(parts)

    def _samples(self, turn: RecordedTurn, count: int, key: tuple[int, ...]) -> Array:
        """Return samples of the beginning of a turn, records (count,)."""
        seeds = self._rng(SAMPLES, *key).integers(2**62, size=count)
        return samples_of(turn.start, turn.seat, self._rollouts.tables, seeds)

    def _ends(self, plans: Sequence[int], samples: Array, key: tuple[int, ...]) -> Array:
        """Return the records at the end of the turn for each plan and sample, (plans, samples)."""
        return self._rollouts.ends_of_turn(plans, samples, self._rng(BOTS, *key))

    def _played(self, turn: RecordedTurn, plan: int, samples: Array, key: tuple[int, ...]) -> Array:
        """Return the records at the end of the played turn, (samples,)."""
        return self._rollouts.ends_of_played(turn, plan, samples, self._rng(BOTS, *key))

    def _values(
        self, turn: RecordedTurn, ends: Array, key: tuple[int, ...], later: int | None = LATER_TURNS
    ) -> Floats:
        """Return the seat's value after the turn in each sample, (samples,).

        The dice and cards after the turn are the same for every plan. The judge evaluates the position after
        `later` further turns of the seat, unless `later` is TO_THE_END.
        """
        rng, games = self._rng(PLAYING_ON, *key), ends.copy()
        games["random"] = rng.integers(2**64, size=len(games), dtype=np.uint64)
        later = self._later_turns if later == LATER_TURNS else later
        return self._rollouts.continue_games(games, turn.seat, rng, later)[:, turn.seat]

    def _rng(self, *key: int) -> np.random.Generator:
        """Return the random generator for a key of non-negative integers."""
        return np.random.default_rng([self._seed, *key])


class Loss(NamedTuple):
    """A measured loss: the mean, the standard error, and the number of pairs of rollouts."""

    loss: float
    error: float
    games: int

    @classmethod
    def of(cls, differences: Floats) -> Loss:
        """Return the loss that the `differences` of pairs of rollouts measure."""
        error = float(differences.std(ddof=1) / np.sqrt(len(differences)))
        return cls(float(differences.mean()), error, len(differences))

    @property
    def is_certain(self) -> bool:
        """True if the loss is large and certain enough to be reported."""
        return self.loss >= LEAST_LOSS and self.loss >= SURE * self.error

    def is_settled(self, most: int) -> bool:
        """Return True if further rollouts, up to `most` pairs in total, would hardly change `is_certain`."""
        last_error = self.error * np.sqrt(self.games / most)
        needed = max(LEAST_LOSS, SURE * last_error)
        return bool(self.loss + self.error < needed or self.loss - LEAST_LOSS > SURE * self.error)

    def rounded(self) -> tuple[float, float, int]:
        """Return `loss`, `error` and `games`, with four decimal places."""
        return round(self.loss, 4), round(self.error, 4), self.games


def _floats(values: Array) -> tuple[float, ...]:
    """Return the values, rounded to four decimal places."""
    return tuple(round(float(value), 4) for value in values)
