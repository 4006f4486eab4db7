"""A game as text for training language models.

The learner plays one seat. Opponents inside the environment play the other seats. An observation is a report
(`TextMatch.report`). An answer is a plan (`risk_env.words.action_plan`), so most turns take one step. See
docs/llm.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from risk_env.agent import Agent
from risk_env.arguments import check_choice, check_count, check_seat
from risk_env.board.maps import Board, load_map
from risk_env.board.rules import FAST, Rules, rules_from
from risk_env.core.types import NOBODY
from risk_env.envs.single_seat_vector import check_empty
from risk_env.game import Game
from risk_env.match import Match
from risk_env.messages import shortened
from risk_env.players import Named, as_agents, close_made
from risk_env.words.action_plan import ActionPlan
from risk_env.words.last_turns import LastTurns, report_since
from risk_env.words.report import STYLES

REWARDS = ("win", "placement", "territories")
CURRICULA: dict[str, dict[str, Any]] = {  # stages from short games to whole games: arguments of `TextEnv`
    "tiny": {"board": "tiny", "num_players": 2, "setup": "random", "initial_troops": 8, "max_rounds": 20},
    "duel": {"num_players": 2, "setup": "random", "max_rounds": 40},
    "three": {"num_players": 3, "setup": "random"},
    "full": {"num_players": 6},
}


class TextMatch(Match):
    """A match in which plans (`risk_env.words.action_plan`) play the seats without a player."""

    def _set_up(self, game: Game, players: Sequence[Any]) -> None:
        super()._set_up(game, players)
        self.plans = {seat: ActionPlan(seat) for seat, player in enumerate(self.players) if player is None}
        self._last_turns = LastTurns(game.beginning())

    def report(self, seat: int, style: str = "brief") -> str:
        """Return a report in words of the facts that a seat may know.

        `style` is "brief" or "full" (`risk_env.words.seat_report`).
        """
        self._last_turns.catch_up(self.game.actions)
        return report_since(self.game, seat, self._last_turns.before(seat), style)

    def play_on(self) -> int:
        """Play until a seat without a player needs a new answer.

        Returns the seat, or -1 if the game is over.
        """
        while (seat := self.run()) != NOBODY and (
            action := self.plans[seat].next_action(self.game)
        ) is not None:
            self.step(action)
        return seat


@dataclass(frozen=True)
class LearnerSettings:
    """Settings of a learner.

    `reward` is "win", "placement" or "territories". "win" is 1 for the winner, -1 / (P - 1) for the others,
    and 0 if the game is truncated while the learner is alive. "placement" is 0 in the same case. Otherwise,
    "placement" goes from 1 for the first place to -1 for the last place, in even steps. "territories" is
    "win", plus in each step the change of the learner's share of the territories.
    """

    style: str = "brief"  # style of the reports: "brief" or "full"
    reward: str = "win"
    illegal_reward: float = 0.0  # added to the reward of a step whose answer is refused
    max_illegal: int = 3  # number of refused answers in a row after which a fallback plays for the learner

    def __post_init__(self) -> None:
        check_choice("reward", self.reward, REWARDS)
        check_choice("style", self.style, tuple(STYLES))
        check_count("max_illegal", self.max_illegal)


@dataclass
class Counts:
    """Counts of a learner's answers in an episode."""

    exchanges: int = 0  # number of answers
    illegal: int = 0  # number of answers that were refused
    fallbacks: int = 0  # number of times that a fallback played for the learner


class TextEnv:
    """Environment in which a learner plays one seat in one game after another.

    `preset` is a `Rules` object or the name of a preset. With a name, `num_players` and `options` are passed
    to `Rules.preset`. The profile is "fast" unless `profile` names another profile (RULES 12.1). `opponents`
    is one player for all other seats, or a list of P - 1 players, clockwise from the learner. With
    `seat=None`, the learner plays one seat in each episode, and each seat in turn. `positions` are texts from
    `Game.to_text`, such as endgames. Episodes begin with these positions in turn. `options` may also
    contain fields of `LearnerSettings`: `style`, `reward`, `illegal_reward`, `max_illegal`.
    """

    def __init__(
        self,
        preset: str | Rules = "classic",
        num_players: int | None = None,
        board: Board | str = "classic",
        opponents: Named | Sequence[Named] = "random",
        *,
        seat: int | None = None,
        positions: Sequence[str] = (),
        **options: Any,
    ) -> None:
        own = {
            field.name: options.pop(field.name) for field in fields(LearnerSettings) if field.name in options
        }
        self.settings = LearnerSettings(**own)
        players = {} if num_players is None else {"num_players": num_players}
        self.rules = rules_from(preset, {**players, **options}, FAST, TextEnv, LearnerSettings)
        self.board = board if isinstance(board, Board) else load_map(board)
        check_seat(seat, self.rules.num_players, or_none=True)
        self._named = _named(opponents, self.rules.num_players)
        self._opponents = as_agents(self._named)
        self._fixed_seat, self._positions = seat, tuple(positions)
        self._seed, self._episode = 0, NOBODY
        self._match: TextMatch | None = None

    @property
    def game(self) -> Game:
        """The game with all hidden cards and future dice. For search, use `game.determinize(seat, seed)`.

        Raises RuntimeError before `reset`.
        """
        return self.match.game

    @property
    def match(self) -> TextMatch:
        """Match of the episode. Raises RuntimeError before `reset`."""
        if self._match is None:
            raise RuntimeError("no game before reset: call reset() first")
        return self._match

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        """Begin an episode, and return the first report and the info.

        Without `seed`, begin the next game of the last seed (at first: seed 0). Games in which the learner
        has no decision are skipped. Raises RuntimeError for too many such games in a row (`check_empty`).
        """
        self._seed, self._episode = (self._seed, self._episode + 1) if seed is None else (seed, 0)
        empty = 0
        while not self._begin():
            empty += 1
            check_empty(empty)
            self._episode += 1
        return self._text(), self._info()

    def _begin(self) -> bool:
        """Begin the game of the episode. Return True if the learner has a decision in this game."""
        self.seat = self._episode % self.rules.num_players if self._fixed_seat is None else self._fixed_seat
        self._match = self._new_match()
        self.plan, self.counts, self._wrong = self.match.plans[self.seat], Counts(), 0
        if not self._is_done():
            self.match.play_on()
        self._share = self._share_now()
        return not self._is_done()

    def close(self) -> None:
        """Close the opponents that the environment has made. Agents that the caller passed stay open."""
        close_made(self._opponents, self._named)

    def _new_match(self) -> TextMatch:
        """Return the match of the episode, without a player at the learner's seat."""
        position = self._positions[self._episode % len(self._positions)] if self._positions else None
        players: list[Agent | None] = [None, *self._opponents]
        seated = players[-self.seat :] + players[: -self.seat] if self.seat else players
        return TextMatch(self.rules, self.board, seated, self._seed, episode=self._episode, position=position)

    def step(self, text: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play an answer, then let all other seats play until the learner must answer or the game ends.

        Returns text, reward, terminated, truncated and info. Raises RuntimeError after the end of an episode.
        `reset` begins the next episode.
        """
        if self._is_done():
            raise RuntimeError("the episode is over: call reset() to begin the next episode")
        self.counts.exchanges += 1
        problem = self._take(text)
        self.match.play_on()
        reward = self._reward() + (self.settings.illegal_reward if problem else 0.0)
        is_over, truncated = self._is_done(), self._is_truncated()
        return self._text(problem), reward, is_over and not truncated, truncated, self._info()

    def _take(self, text: str) -> str:
        """Give an answer to the plan. Return the error message of a refused answer, or else ""."""
        try:
            self.plan.give(text, self.game)
        except ValueError as error:
            self.counts.illegal += 1
            self._wrong += 1
            if self._wrong >= self.settings.max_illegal:
                self.counts.fallbacks += 1
                self._wrong = 0
                self.plan.fall_back(self.game)
            return str(error)
        self._wrong = 0
        return ""

    def _is_done(self) -> bool:
        return self.game.is_over or not self.game.alive[self.seat]

    def _is_truncated(self) -> bool:
        """Return True if `max_rounds` ended the game of a learner who was still alive."""
        return self.game.truncated and bool(self.game.alive[self.seat])

    def _text(self, problem: str = "") -> str:
        """Return the text that the learner reads."""
        refused = f"Not played: {problem}" if problem else ""
        parts = (refused, self.plan.account(self.game), self.match.report(self.seat, self.settings.style))
        return "\n".join(filter(None, parts))

    def _reward(self) -> float:
        share, before = self._share_now(), self._share
        self._share = share
        progress = share - before if self.settings.reward == "territories" else 0.0
        if not self._is_done() or self._is_truncated():
            return progress
        if self.settings.reward == "placement":
            place, players = int(self.game.placements()[self.seat]), self.rules.num_players
            return 1.0 - 2.0 * (place - 1) / (players - 1)
        return progress + float(self.game.returns()[self.seat])

    def _share_now(self) -> float:
        return float((self.game.owner == self.seat).mean())

    def _info(self) -> dict[str, Any]:
        game = self.game
        ends = (
            {"winner": game.winner, "placement": int(game.placements()[self.seat])} if self._is_done() else {}
        )
        course = {
            "seat": self.seat,
            "round": game.round,
            "phase": game.public(self.seat).phase.name,
            "episode": self._episode,
        }
        return course | vars(self.counts) | ends


def make(curriculum: str, **arguments: Any) -> TextEnv:
    """Return the environment for a stage of `CURRICULA`. `arguments` override the arguments of the stage."""
    check_choice("curriculum", curriculum, tuple(CURRICULA))
    return TextEnv(**{**CURRICULA[curriculum], **arguments})


def _named(opponents: Any, num_players: int) -> list[Any]:
    """Return the opponents, one for each seat except the seat of the learner.

    Raises ValueError for a wrong number of opponents.
    """
    several = isinstance(opponents, Sequence) and not isinstance(opponents, str)
    named = list(opponents) if several else [opponents] * (num_players - 1)
    if len(named) != num_players - 1:
        raise ValueError(
            f"opponents={shortened(opponents)}: {len(named)} given, {num_players - 1} needed; give "
            "one opponent for each other seat, or a single opponent for all other seats"
        )
    return named
