"""External programs as agents: JSON lines over standard input and output (docs/protocol.md has the protocol).

`make("cmd:./my_bot --fast")` starts the program. No decision takes longer than the time limit: a program that is late,
exits or sends something else than an answer is killed and raises `ProgramFault`.
"""

import os
import shlex
from typing import Any

from risk_agents import protocol2
from risk_agents.base import Agent, View
from risk_agents.program import Program, ProgramFault, brief, check_limit
from risk_agents.sandbox import OPEN, Sandbox, shown_to
from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.board.tables import tables
from risk_env.core.types import NO_REWARD, Held, Phase
from risk_env.text.escape import label

PROTOCOL = 1
PROTOCOLS = (PROTOCOL, protocol2.PROTOCOL)
PREFIX = "cmd:"
TIME_LIMIT = 10.0  # seconds a decision
START_LIMIT = 60.0  # seconds for the program to start and say hello
_PUBLIC_FIELDS = (  # of a question, in the order of the protocol
    *("round", "turn", "starter", "owner", "troops", "alive", "hand_sizes", "sets_traded", "to_place", "draft_left"),
    *("source", "target", "dice", "captured", "battles", "moves_left", "cities", "capitals", "headquarters"),
    *("objectives", "rewards", "airfields", "deck", "discard", "discard_wilds", "shown", "shown_hands"),
    *("picked", "picked_wilds"),
)
_MAP_FIELDS = ("name", "digest", "territories", "continents", "bonuses", "continent_of", "borders", "symbols", "stars")
_SAFE_INTEGER = (1 << 53) - 1  # JSON numbers that every language reads exactly


def is_program(spec: str) -> bool:
    """Whether a spec is `cmd:` and a command line."""
    return spec.startswith(PREFIX)


class ExternalAgent(Agent):
    """A program that plays, one game after another; `close` ends it."""

    def __init__(
        self,
        spec: str,
        time_limit: float = TIME_LIMIT,
        start_limit: float = START_LIMIT,
        sandbox: Sandbox = OPEN,
    ) -> None:
        check_limit("time_limit", time_limit)
        self.time_limit, self._asked = time_limit, 0
        command = _command(spec)
        self.name, self.version = label(os.path.basename(command[0])), "?"
        self._program = Program(command, self.name, sandbox, shown_to(command))
        hello = self._program.ask({"type": "hello", "protocol": PROTOCOL, "time_limit": time_limit}, start_limit)
        if hello.get("protocol") not in PROTOCOLS:
            spoken, known = brief(hello.get("protocol")), " or ".join(map(str, PROTOCOLS))
            raise self._program.fault("garbage", f"speaks protocol {spoken}, not {known}")
        self._answers = protocol2.Answers(hello) if hello["protocol"] == protocol2.PROTOCOL else None
        self._wants_texts = hello.get("texts") is not False
        self.name, self.version = (label(hello.get(name, getattr(self, name))) for name in ("name", "version"))
        self._program.name = self.name

    def reset(self, seat: int, rules: Rules, board: Board, seed: int) -> None:
        """Tell the program that a game begins."""
        if self._answers is not None:
            self._answers.begin(seat)
        self._tell({"type": "game", "seat": seat, "seed": seed & _SAFE_INTEGER, **game_facts(rules, board)})

    def act(self, view: View) -> int:
        """Ask the program; ProgramFault if it does not answer with a legal action in time."""
        if self._answers is not None:
            return self._act_on_plan(view, self._answers)
        return self._legal(self._ask(question_facts(view, self._wants_texts)).get("action"), view)

    def _act_on_plan(self, view: View, answers: protocol2.Answers) -> int:
        """The next action of its plan (version 2), or of the one that it gives when it is asked."""
        action = answers.plan.next_action(view.game)
        if action is None:
            try:
                answers.take(self._ask(answers.question(view)), view.game)
            except ValueError as error:
                raise self._program.fault("illegal", f"in {view.phase.name}: {error}") from error
            action = answers.plan.next_action(view.game)
        if action is None:
            raise self._program.fault("illegal", f"in {view.phase.name}: the answer has no action for this question")
        return action

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """The program's answer to a question."""
        self._asked += 1
        answer = self._program.ask({"type": "act", "id": self._asked, **question}, self.time_limit)
        if answer.get("id") != self._asked:
            raise self._program.fault("garbage", f"answers id {brief(answer.get('id'))} to question {self._asked}")
        return answer

    def _legal(self, action: Any, view: View) -> int:
        """The number of an action that is given by number or by text."""
        if isinstance(action, str) and action in view.texts:
            return int(view.legal_actions[view.texts.index(action)])
        if isinstance(action, int) and not isinstance(action, bool) and action in view.legal_actions.tolist():
            return action
        few = ", ".join(map(repr, view.texts[:6]))
        more = f", … ({len(view.texts)} in all)" if len(view.texts) > 6 else ""
        raise self._program.fault("illegal", f"action {brief(action)} in {view.phase.name}: legal are {few}{more}")

    def over(self, outcome: dict[str, Any]) -> bool:
        """Tell the program how the game ended; whether it still listens."""
        try:
            self._tell({"type": "over", **outcome})
        except ProgramFault:
            return False
        return True

    def close(self) -> None:
        """Say goodbye and end the program."""
        self._program.close({"type": "bye"})

    def _tell(self, message: dict[str, Any]) -> None:
        self._program.tell(message, self.time_limit)


def _command(spec: str) -> list[str]:
    """The words of a spec's command line."""
    try:
        words = shlex.split(spec.removeprefix(PREFIX))
    except ValueError as error:
        raise ProgramFault("died", f"{spec}: {error}") from error
    if not words:
        raise ProgramFault("died", f"{PREFIX!r} needs a command line behind it")
    return words


# ------------------------------------------------------------------------------------------------ what is sent


def game_facts(rules: Rules, board: Board) -> dict[str, Any]:
    """Rules, map and numbering of actions: what a program gets when a game begins."""
    space, objectives = tables(rules, board).space, [objective.name for objective in board.objectives]
    return {
        "num_players": rules.num_players,
        "rules": rules.to_dict(),
        "map": {**{name: getattr(board, name) for name in _MAP_FIELDS}, "objectives": objectives},
        "actions": {block: numbers.start for block, numbers in space.blocks.items()} | {"end": space.n},
    }


def question_facts(view: View, has_texts: bool = True) -> dict[str, Any]:
    """A question: what is legal, in words too if `has_texts`, and what the seat may see."""
    return {
        "seat": view.seat,
        "phase": view.phase.name,
        "legal": view.legal_actions.tolist(),
        **({"texts": view.texts} if has_texts else {}),
        **_public_facts(view),
        "hand": list(view.hand),
        "mission": None if view.mission is None else vars(view.mission),
    }


def _public_facts(view: View) -> dict[str, Any]:
    """The public state in the form and order of the protocol, with the seat's own headquarters."""
    facts, rules = view.position.to_json(), view.rules
    attacker, defender = facts["dice"] if view.phase in (Phase.REROLL, Phase.COMMANDER) else ([], [])
    facts["dice"] = {"attacker": attacker, "defender": defender, "chosen": facts["chosen_dice"]}
    facts["capitals"] = facts["capitals"] if rules.capitals else []
    if view.headquarters is not None:  # -1 where others' are not public or not picked (RULES 7.1)
        facts["headquarters"][view.seat] = view.board.territory(view.headquarters)
    facts["headquarters"] = facts["headquarters"] if rules.victory == "headquarters" else []
    facts["objectives"] = _objectives(view)
    facts["rewards"] = facts["rewards"] if rules.rewards else []
    return {name: facts[name] for name in _PUBLIC_FIELDS}


def _objectives(view: View) -> list[dict[str, Any]]:
    """The Objectives in play: name, holder (-1 face up) and Reward (RULES 9.5)."""
    holders, rewards = view.position.objectives.tolist(), view.position.objective_rewards
    return [
        {"name": goal.name, "holder": holder, "reward": None if reward == NO_REWARD else reward}
        for goal, holder, reward in zip(view.board.objectives, holders, rewards, strict=False)
        if holder != Held.NOT_IN_PLAY
    ]
