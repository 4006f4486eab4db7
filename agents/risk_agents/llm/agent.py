"""Agent `llm:MODEL`: a language model that reads reports and answers with plans.

If an answer cannot be played, the model gets the reason and answers again. After too many attempts or a
failure of the endpoint, the fallback of `risk_env.words.action_plan` plays. The fallback plays the rest of
the turn, or one decision of the set-up. The fallback also plays when the tokens or the money of a game are
spent. The agent counts these events for the tournament's table.
"""

import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from risk_agents.llm.endpoint import Endpoint, EndpointError
from risk_agents.llm.settings import Settings, settings_for
from risk_agents.llm.transcript import Transcript
from risk_env.agent import Agent, View
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.core.types import DRAFT_PHASES, FORTIFY_PHASES, SETUP_PHASES, Phase
from risk_env.messages import shortened
from risk_env.words.action_plan import ActionPlan
from risk_env.words.last_turns import Armies, armies_of, report_since

PREFIX = "llm:"
PRIMERS = {  # name of the prompt for each phase
    **dict.fromkeys(SETUP_PHASES, "set_up"),
    **dict.fromkeys(DRAFT_PHASES, "draft"),
    **dict.fromkeys((Phase.ATTACK, Phase.ATTACK_DICE), "attack"),
    **dict.fromkeys((Phase.DEFEND, Phase.REROLL, Phase.COMMANDER), "dice"),
    Phase.OCCUPY: "occupy",
    **dict.fromkeys((Phase.OBJECTIVE, Phase.AIRFIELD), "objective"),
    **dict.fromkeys(FORTIFY_PHASES, "fortify"),
}


@dataclass
class Counts:
    """Counts of one agent in one game, such as turns, answers, tokens and failures."""

    turns: int = 0  # rounds in which the agent had a decision
    exchanges: int = 0  # answers of the model
    illegal: int = 0  # answers of the model that could not be played
    fallbacks: int = 0  # number of times that the fallback played, for any reason
    tokens_in: int = 0
    tokens_out: int = 0
    money: float = 0.0  # cost, in the currency of the prices
    seconds: float = 0.0  # time that the agent waited for answers
    failures: Counter[str] = field(default_factory=Counter)  # failed requests by kind


def is_model(spec: str) -> bool:
    """Return True if a spec begins with `llm:`."""
    return spec.startswith(PREFIX)


@cache
def prompt(version: str, name: str) -> str:
    """Return the prompt `name` of a version; raise ValueError if the prompt does not exist."""
    folder = files("risk_agents.llm") / "prompts"
    path = folder / version / f"{name}.txt"
    if not version.isalnum() or not path.is_file():
        versions = ", ".join(sorted(each.name for each in folder.iterdir()))
        raise ValueError(f"prompts={shortened(version)} has no prompt {name!r}; allowed versions: {versions}")
    return path.read_text(encoding="utf-8").strip()


class ModelAgent(Agent):
    """Language model that plays at one seat, one game after another."""

    def __init__(self, spec: str, settings: Settings | None = None) -> None:
        self.model = spec.removeprefix(PREFIX)
        if not self.model:
            raise ValueError(f"agent={spec!r} names no model: write {PREFIX}MODEL")
        self.settings = settings_for(self.model) if settings is None else settings
        self._endpoint = Endpoint(self.model, self.settings)
        self._system = prompt(self.settings.prompts, "system")
        self.name, self.version = (
            self.model,
            f"{self.settings.prompts}-{self.settings.style}-{self.settings.answer}",
        )

    def reset(self, seat: int, rules: Rules, board: Board, seed: int) -> None:
        """Prepare for a new game."""
        super().reset(seat, rules, board, seed)
        self.plan, self.counts = ActionPlan(seat), Counts()
        self._before: Armies | None = None
        self._round = -1
        self.transcript = Transcript(self.settings, f"{self.model}-{seed & 0xFFFFFFFFFFFFFFFF:016x}-{seat}")

    def act(self, view: View) -> int:
        """Return the next action of the plan; if the plan has no action, ask the model for a new plan."""
        if view.public.round != self._round:
            self._round, self.counts.turns = view.public.round, self.counts.turns + 1
        action = self.plan.next_action(view.game)
        if action is None:
            self._new_plan(view)
            action = self.plan.next_action(view.game)
        self._remember(view, int(action))  # type: ignore[arg-type]  # a fallback always has an action
        return int(action)  # type: ignore[arg-type]

    def notes(self) -> dict[str, Any]:
        """Return the counts of this game, and the file name of its transcript, for the tournament."""
        return {
            **asdict(self.counts),
            "failures": dict(self.counts.failures),
            "transcript": self.transcript.name,
        }

    def over(self, outcome: dict[str, Any]) -> bool:
        """Write the end of the game into the transcript; return True, because no connection can fail."""
        self.transcript.write("over", **outcome, **self.notes())
        return True

    # -------------------------------------------------------------------------------------- requests

    def _new_plan(self, view: View) -> None:
        """Request answers until a plan can be played. If this fails, use the fallback.

        In either case, the plan has a next action.
        """
        messages = self._messages(view)
        for _ in range(self.settings.attempts):
            if self._is_spent():
                return self._fall_back(view, "the game's tokens or money are spent")
            try:
                answer = self._request(messages)
            except EndpointError as error:
                return self._fall_back(view, f"the endpoint failed: {error}")
            problem = self._take(answer, view)
            if not problem:
                return None
            refusal = _said("user", f"Not played: {problem}. Answer again, with actions only.")
            messages = [*messages, _said("assistant", answer[:2000] or "(nothing)"), refusal]
        return self._fall_back(view, f"no legal answer in {self.settings.attempts} attempts")

    def _take(self, answer: str, view: View) -> str:
        """Use an answer as the plan; return the reason why the answer cannot be played, or ""."""
        try:
            self.plan.give(answer, view.game)
            problem = self.plan.stopped  # set if the answer was only a standing order
        except ValueError as error:
            problem = str(error)
        if problem:
            self.counts.illegal += 1
            self.transcript.write("refused", reason=problem)
        return problem

    def _messages(self, view: View) -> list[dict[str, str]]:
        """Return the messages: the prompts for game and phase, an account of the plan, and a report."""
        account = self.plan.account(view.game)
        report = report_since(view.game, self.seat, self._before, self.settings.style)
        primer = prompt(self.settings.prompts, PRIMERS[view.phase])
        messages = [
            _said("system", f"{self._system}\n\n{primer}"),
            _said("user", "\n".join(filter(None, (account, report)))),
        ]
        self.transcript.write("question", round=view.public.round, phase=view.phase.name, messages=messages)
        return messages

    def _request(self, messages: list[dict[str, str]]) -> str:
        """Request an answer from the model, count the answer, and return the answer's plan."""
        counts, begun = self.counts, time.perf_counter()
        try:
            answer = self._endpoint.request(messages, self._failed)
        finally:
            counts.seconds += time.perf_counter() - begun
        counts.exchanges += 1
        self._spend(answer.tokens_in, answer.tokens_out)
        self.transcript.write("answer", text=answer.text, tokens=[answer.tokens_in, answer.tokens_out])
        return answer.plan

    def _failed(self, error: EndpointError) -> None:
        """Count a failed request and its estimated tokens."""
        self.counts.failures[error.kind] += 1
        self._spend(error.tokens)

    def _spend(self, tokens_in: int, tokens_out: int = 0) -> None:
        counts = self.counts
        counts.tokens_in += tokens_in
        counts.tokens_out += tokens_out
        counts.money = self.settings.price(counts.tokens_in, counts.tokens_out)

    def _is_spent(self) -> bool:
        """Return True if this game has used up its tokens or its money."""
        counts, settings = self.counts, self.settings
        has_price = settings.price_in + settings.price_out > 0
        tokens = counts.tokens_in + counts.tokens_out
        return tokens >= settings.game_tokens or (has_price and counts.money >= settings.game_money)

    def _fall_back(self, view: View, reason: str) -> None:
        self.counts.fallbacks += 1
        self.transcript.write("fallback", reason=reason)
        self.plan.fall_back(view.game)

    def _remember(self, view: View, action: int) -> None:
        """Keep the armies at the end of the seat's turn, for the next report."""
        if view.public.turn != self.seat:
            return
        after = view.game.copy()
        after.step(action)
        if after.turn != self.seat:
            self._before = armies_of(after)


def _said(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}
