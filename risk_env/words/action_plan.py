"""Action plans: several actions in one answer, played one by one while the actions are legal and make sense.

A step is an action text (docs/decisions.md) or one of the short forms of docs/llm.md: `draft Ural 5`,
`trade`, `fortify Ural > Siam all`, `end`. `ActionPlan.next_action` returns the action for the current
decision, or None if a new answer is needed. `ActionPlan.account` lists the played actions, and gives the
reason why the plan stopped.
"""

import re
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from risk_env.board.action_space import ALL, BLITZ, BLOCK_OF, DONE
from risk_env.board.maps import Board
from risk_env.board.names import read_arrows, split_outside_quotes
from risk_env.bounded_io import composed
from risk_env.core.types import NOWHERE, Phase
from risk_env.messages import shortened
from risk_env.text.amounts import first_amount, most_troops
from risk_env.text.notation import DECISIONS, IllegalAction, action_words

MOST_STEPS = 200  # maximum number of steps of one answer
MOST_CHARACTERS = 20_000  # maximum number of characters of one answer
TRADE, END, ALWAYS, FORTIFY, TRY = "trade", "end", "always", "fortify", "try"
ILLEGAL, OUTNUMBERED, TURN_OVER, NO_ANSWER = "illegal", "outnumbered", "turn over", "no answer"
REASONS = (ILLEGAL, OUTNUMBERED, TURN_OVER, NO_ANSWER)  # reasons why a plan stops
FALLBACK, NUMBER = "fallback", "number"  # words of steps that no answer contains
_NO_ACTION = 2**31  # greater than any action number
WORDS = (*BLOCK_OF, TRADE, END, ALWAYS, FORTIFY, TRY)
_BULLET = re.compile(r"^[\W\d_]+")
_NUMBER = re.compile(r"\s*[0-9]{1,10}\s*")
_AMOUNT = re.compile(r"(\d{1,9}|all|half)")
_LATER = {  # for each phase, the first words of steps before which the decision of the phase is declined
    Phase.TRADE: ("draft", "attack", "from", END),
    Phase.ATTACK: ("from", END),
    Phase.FORTIFY_FROM: (END,),
    Phase.FORTIFY_AMOUNT: ("from", END),
}
_ONLY = {  # for each step, its only phase: in any other phase the step is skipped
    "card": Phase.TRADE,
    TRADE: Phase.TRADE,
    "bonus": Phase.BONUS,
    "troops": Phase.DRAFT_AMOUNT,
    "dice": Phase.ATTACK_DICE,
    BLITZ: Phase.ATTACK_DICE,
    "reroll": Phase.REROLL,
    "commander": Phase.COMMANDER,
    "occupy": Phase.OCCUPY,
    "objective": Phase.OBJECTIVE,
    "airfield": Phase.AIRFIELD,
    "move": Phase.FORTIFY_AMOUNT,
}
# steps that are skipped if the engine has already chosen the only possible territory
_PLACED = {("draft", Phase.DRAFT_AMOUNT), ("to", Phase.FORTIFY_AMOUNT)}
_PLACE_WORDS = {Phase.FORTIFY_AMOUNT: "to"}  # word before a territory; "draft" in all other phases
_AFTER_DRAFT = (Phase.ATTACK, Phase.FORTIFY_FROM)


class Step(NamedTuple):
    """One step: the first word in lower case, and the rest of the text."""

    word: str
    argument: str = ""
    only: Phase | None = None  # only phase of the step, if the step was added to complete another step
    is_optional: bool = False  # True for `try`: the step is skipped if it is not legal or makes no sense

    def __str__(self) -> str:
        return f"{self.word} {self.argument}".rstrip()


class Stopped(Exception):
    """Signal that the seat needs a new answer.

    The message is for people. `reason` (one of REASONS) is for programs.
    """

    def __init__(self, message: str, reason: str = ILLEGAL) -> None:
        super().__init__(message)
        self.reason = reason


def read_plan(answer: str | Sequence[Any], board: Board) -> list[Step]:
    """Return the steps of an answer, which is a text or a list of texts and action numbers.

    Short forms are replaced by the actions that they stand for. Raises ValueError for an answer that is empty
    or too long, or that contains anything but actions. The error names the problem.
    """
    parts = [answer] if isinstance(answer, str) else answer
    _check_number(len(parts))
    length = sum(len(part) for part in parts if isinstance(part, str))
    if length > MOST_CHARACTERS:
        raise ValueError(f"the answer has {length} characters; at most {MOST_CHARACTERS} are allowed")
    if not isinstance(answer, str):  # an action number may be written as text
        parts = [int(part) if isinstance(part, str) and _NUMBER.fullmatch(part) else part for part in parts]
    steps = [step for part in parts for step in _read_part(part, board)]
    if not steps:
        raise ValueError("the answer has no action")
    _check_number(len(steps))
    return steps


def _check_number(actions: int) -> None:
    """Raise ValueError if an answer has too many actions."""
    if actions > MOST_STEPS:
        raise ValueError(f"the answer has {actions} actions; at most {MOST_STEPS} are allowed")


def _read_part(part: Any, board: Board) -> list[Step]:
    """Return the steps of a text, or of one action number."""
    if isinstance(part, int) and not isinstance(part, bool):
        return [Step(NUMBER, str(part) if 0 <= part < _NO_ACTION else str(_NO_ACTION))]
    if not isinstance(part, str):
        raise ValueError(f"{shortened(part)} is neither the text nor the number of an action")
    pieces = (words for line in part.split("\n") for words in split_outside_quotes(line, ";"))
    return [step for words in pieces for step in _read_step(words, board)]


def _read_step(part: str, board: Board, words: Sequence[str] = WORDS) -> list[Step]:
    """Return the steps of `part`, which may be empty or begin with a bullet or a number.

    `words` are the allowed first words.
    """
    text = _BULLET.sub("", " ".join(read_arrows(composed(part)).split()).strip("`*., "))
    if not text:
        return []
    word, _, argument = text.partition(" ")
    word = word.casefold()
    if word not in words:
        raise ValueError(
            f"{shortened(text)} is not an action: an action begins with one of {', '.join(words)}"
        )
    return _written_out(word, argument, board)


def _written_out(word: str, argument: str, board: Board) -> list[Step]:
    """Return the steps that a short form stands for. Any other step is returned unchanged."""
    if word == TRY:
        steps = _read_step(argument, board, words=tuple(other for other in WORDS if other != TRY))
        return [step._replace(is_optional=step.word != ALWAYS) for step in steps]
    if word == ALWAYS:
        return [Step(word, _order(argument))]
    if word == TRADE and argument:
        return [Step("card", card.strip()) for card in split_outside_quotes(argument, ",")]
    if word == FORTIFY:
        way, amount = _split_amount(argument, board)
        source, *target = split_outside_quotes(way, ">", 1)
        if not target:
            raise ValueError(
                f"{shortened(f'{word} {argument}')} is not of the form fortify SOURCE > TARGET N"
            )
        return [Step("from", source.strip()), Step("to", target[0].strip()), Step("move", amount or "all")]
    place, amount = _split_amount(argument, board)
    if word == "draft" and amount:
        return [Step("draft", place), Step("troops", amount)]
    if word == "deploy" and amount.isdecimal():
        return [Step("deploy", place)] * min(int(amount), MOST_STEPS + 1)
    return [Step(word, argument)]


def _order(argument: str) -> str:
    """Return the number of dice of a standing order to defend. Raises ValueError for any other order."""
    match = re.fullmatch(r"defend ([12])", argument.casefold())
    if not match:
        raise ValueError(
            f"always {shortened(argument)}: standing orders are `always defend 1` and `always defend 2`"
        )
    return match[1]


def _split_amount(argument: str, board: Board) -> tuple[str, str]:
    """Return the territories in `argument`, and the amount that follows the territories, or "".

    The name of a territory may end in a number.
    """
    place, _, amount = argument.rpartition(" ")
    last = split_outside_quotes(argument, ">")[-1].strip()
    if not _AMOUNT.fullmatch(amount.casefold()) or _territory(last, board) != NOWHERE:
        return argument, ""
    return place, amount.casefold()


def _territory(name: str, board: Board) -> int:
    """Return the number of a territory, or -1 if no territory has this name."""
    try:
        return board.territory(name.strip())
    except ValueError:
        return NOWHERE


def _in_words(number: int, phase: Phase, game: Any) -> Step:
    """Return the step for an action number: the step that the text of the action would give."""
    block = next((name for name, numbers in game.tables.space.blocks.items() if number in numbers), "")
    decision = DECISIONS[phase]
    words = {
        "territory": _PLACE_WORDS.get(phase, "draft"),
        "border": "attack",
        "die": "reroll",
        "dice": "dice",
    }
    words |= {
        "card": "card",
        "objective": "objective",
        "amount": "move" if phase == Phase.DRAFT_AMOUNT else "troops",
    }
    word = decision.word if block == decision.block else words.get(block, "")
    named = next((other for other in DECISIONS.values() if other.word == word), None)
    text = action_words(number, named, game.tables, game.board)
    if not text:
        raise Stopped(f"action {number} is not legal in phase {phase.name}")
    word, _, argument = text.partition(" ")
    return Step(word, argument)


class ActionPlan:
    """The plan of one seat in one game: actions for several decisions.

    Call `give` with an answer, then `next_action` for one decision after another.
    """

    def __init__(self, seat: int) -> None:
        self.seat = seat
        self._steps: deque[Step] = deque()
        self._first: int | None = None  # action for the decision to which the answer was given
        self._defence = ""  # number of dice of a standing order
        self._turn: tuple[int, int] | None = None  # round and turn in which the steps were given
        self._played: list[tuple[Phase, int]] = []
        # by source and target of each played attack: owner of the target, and troops at both places
        self._attacks: dict[tuple[int, int], list[int]] = {}
        self.stopped = self.reason = ""  # reason why the plan stopped, in words and as one of REASONS
        self._unplayed: tuple[Step, ...] = ()

    def give(self, answer: str | Sequence[Any], game: Any) -> None:
        """Take an answer for the current decision.

        `answer` is a text, or a list of texts and action numbers. The answer must contain a legal action for
        the current decision, or a standing order. Raises ValueError for any other answer. Later steps are
        checked at later decisions.
        """
        done = Step(NUMBER, str(game.tables.space.done))
        steps = [Step(DONE) if step == done else step for step in read_plan(answer, game.board)]
        self.clear()
        self._steps.extend(steps)
        self._turn = (game.round, game.turn)
        before = self._defence
        self._first = self._try(game)
        if self._first is None and self._defence == before:
            reason = self.stopped or "the answer has no action for this decision"
            self.clear()
            raise ValueError(reason)

    def clear(self) -> None:
        """Forget the steps and the played actions, but not the standing order."""
        self._steps.clear()
        self._first = None
        self._played, self._attacks, self._unplayed = [], {}, ()
        self.stopped = self.reason = ""

    def fall_back(self, game: Any) -> None:
        """Let `fallback_action` play the rest of this turn, or this one decision in set-up."""
        self.clear()
        self._steps.append(Step(FALLBACK))
        self._turn = (game.round, game.turn)

    def next_action(self, game: Any) -> int | None:
        """Return the legal action for the current decision, or None if the seat needs a new answer."""
        self._look_at_attacks(game)
        action, self._first = self._try(game) if self._first is None else self._first, None
        if action is not None:
            phase = game.phase
            self._played.append((phase, action))
            if phase == Phase.ATTACK and action != game.tables.space.done:
                self._attacks[game.tables.space.decode(action).arguments] = []
        return action

    def _try(self, game: Any) -> int | None:
        """Return the result of `next_action`, but do not record the action."""
        if not self._steps and not self._defence:
            return None
        if self._defence and game.phase == Phase.DEFEND:
            return self._defend(game)
        now = (game.round, game.turn)
        is_over = now[0] > 0 and now != self._turn
        try:
            if is_over and any(step.word not in (END, DONE, FALLBACK) for step in self._steps):
                raise Stopped("the turn was over", TURN_OVER)
            return self._next(game) if self._steps and not is_over else None
        except Stopped as stop:
            self.stopped, self.reason, self._unplayed = str(stop), stop.reason, tuple(self._steps)
            self._steps.clear()
            return None

    def account(self, game: Any) -> str:
        """Return lines about the actions played since the last answer, and the reason why the plan stopped.

        The lines also contain the results of attacks, and the steps that were not played. The result is "" if
        no action was played and the plan has not stopped.
        """
        if not self._played and not self.stopped:
            return ""
        played = [
            action_words(action, DECISIONS[phase], game.tables, game.board) for phase, action in self._played
        ]
        lines = [f"Played: {'; '.join(played) or 'nothing'}"]
        self._look_at_attacks(game)
        lines += [
            f"  {self._result(attack, after, game.board)}" for attack, after in self._attacks.items() if after
        ]
        if self.stopped:
            rest = "; ".join(str(step) for step in self._unplayed if not step.only)
            lines.append(f"Stopped: {self.stopped}" + (f". Not played: {rest}" if rest else ""))
        return "\n".join(lines)

    def report(self) -> dict[str, Any]:
        """Return a dict of the actions played, the reason for stopping, and the number of steps not played.

        While the plan has not stopped, the reason is None and the number is 0.
        """
        left = sum(not step.only for step in self._unplayed)
        return {
            "played": [action for _, action in self._played],
            "stopped": self.reason or None,
            "left": left,
        }

    def _look_at_attacks(self, game: Any) -> None:
        """Store the results of the attacks. After the turn of the attacks, stored results do not change."""
        if not self._attacks or (game.round, game.turn) != self._turn:
            return
        owner, troops = game.records["owner"][0], game.records["troops"][0]
        for source, target in self._attacks:
            self._attacks[source, target] = [int(owner[target]), int(troops[source]), int(troops[target])]

    def _result(self, attack: tuple[int, int], after: Sequence[int], board: Board) -> str:
        """Return the result of an attack in words, from the target's owner and the troops at both places."""
        (source, target), (owner, *troops) = (board.names_in_text[place] for place in attack), after
        result = "taken" if owner == self.seat else "not taken"
        return f"{source} > {target}: {result} ({source} {troops[0]}, {target} {troops[1]})"

    # -------------------------------------------------------------------------------- one decision

    def _next(self, game: Any) -> int | None:
        """Return the action of the next step for the decision, or None if no step is left.

        Steps whose decision is over, and optional steps that do not fit, are skipped. Raises Stopped if any
        other step does not fit the decision.
        """
        phase = game.phase
        while self._steps:
            step = self._steps[0]
            if step.word == FALLBACK:
                return self._fall_back_once(game)
            if step.word == NUMBER:
                step = self._steps[0] = _in_words(int(step.argument), phase, game)
            if self._is_past(step, phase, game):
                self._steps.popleft()
                continue
            implied = self._implied(step, phase, game)
            if implied:
                return self._legal(implied, game)
            try:
                return self._play(step, phase, game)
            except Stopped:
                if not step.is_optional:
                    raise
                self._steps.popleft()
        return self._legal(BLITZ, game) if phase == Phase.ATTACK_DICE and self._attacks else None

    def _fall_back_once(self, game: Any) -> int:
        if not game.round:
            self._steps.popleft()
        return fallback_action(game)

    def _is_past(self, step: Step, phase: Phase, game: Any) -> bool:
        """Return True if the decision of a step is over, or will not come."""
        only = step.only or _ONLY.get(step.word)
        if only is not None:
            return phase != only
        if (step.word, phase) in _PLACED:
            return _territory(step.argument, game.board) == game.records["target"][0]
        if step.word == "claim" and phase == Phase.CLAIM:
            return self._is_claimed(step, game)
        return step.word == "draft" and phase in _AFTER_DRAFT

    def _is_claimed(self, step: Step, game: Any) -> bool:
        """Return True if the territory is already claimed and the plan has a further step."""
        territory = _territory(step.argument, game.board)
        return len(self._steps) > 1 and territory >= 0 and bool(game.owner[territory] >= 0)

    def _implied(self, step: Step, phase: Phase, game: Any) -> str:
        """Return the action for a decision that the plan skips, or "" if the step itself is the action."""
        if step.word == ALWAYS:
            return ""
        if phase == Phase.ATTACK_DICE and step.word not in ("dice", BLITZ):
            return BLITZ
        if phase == Phase.OCCUPY and step.word not in ("occupy", DONE):
            return "occupy all" if self._goes_on(step, game) else DONE
        has_draft = any(later.word == "draft" for later in self._steps)
        if phase == Phase.DRAFT_AMOUNT and step.word != "troops" and not has_draft:
            return "troops all"
        is_declined = step.word in _LATER.get(phase, ()) and game.is_legal(game.tables.space.done)
        return DONE if is_declined else ""

    def _goes_on(self, step: Step, game: Any) -> bool:
        """Return True if a step begins at the territory that was just captured."""
        source = _territory(split_outside_quotes(step.argument, ">", 1)[0], game.board)
        return step.word in ("attack", "from") and source == game.records["target"][0]

    def _play(self, step: Step, phase: Phase, game: Any) -> int:
        """Return the action of a step for the current decision, and remove the step from the plan.

        If the action covers only a part of an amount, steps for the rest replace the step. A step `trade`
        stays in the plan until the set is complete.
        """
        decision = DECISIONS[phase]
        if step.word == ALWAYS:
            return self._play_always(step, game)
        if step.word == TRADE:
            # Card actions have lower numbers than `done`. The step is over when the set is complete.
            return int(game.legal_actions()[0])
        if step.word == "attack" and phase == Phase.ATTACK and self._attacks:
            self._check_sense(step, game)
        text, rest = str(step), list[Step]()
        if decision.block == "amount" and step.word == decision.word:
            text, rest = self._amount(step, phase, game)
        action = self._legal(text, game)
        self._steps.popleft()
        self._steps.extendleft(reversed(rest))
        return action

    def _legal(self, text: str, game: Any) -> int:
        """Return the number of the action with this text. Raises Stopped if the action is not legal.

        If a blitz is not legal, return the action with the most dice.
        """
        try:
            return int(game.parse_action(text))
        except IllegalAction as error:
            if text == BLITZ and game.phase == Phase.ATTACK_DICE:
                return int(game.legal_actions()[-1])
            raise Stopped(str(error)) from None

    def _check_sense(self, step: Step, game: Any) -> None:
        """Raise Stopped if the source of a later attack does not have more troops than the target."""
        sides = split_outside_quotes(step.argument, ">", 1)
        source, target = (_territory(place, game.board) for place in (*sides, "")[:2])
        if source < 0 or target < 0 or game.owner[source] != self.seat:
            return
        attackers, defenders = int(game.troops[source]), int(game.troops[target])
        if attackers <= defenders:
            raise Stopped(
                f"{step}: the source has {attackers} troops and the target {defenders}; repeat the attack to "
                "confirm",
                OUTNUMBERED,
            )

    def _amount(self, step: Step, phase: Phase, game: Any) -> tuple[str, list[Step]]:
        """Return the action for an amount (any whole number), and the steps for the rest of the amount."""
        word, wanted = step.word, step.argument.casefold()
        if not wanted.isdecimal():
            return str(step), _decline_rest(phase)
        number = int(wanted)
        if number == 0:
            return (str(step) if phase == Phase.DRAFT_AMOUNT else DONE), []
        first, left = first_amount(number, most_troops(game.record, game.rules.max_troops))
        if not left:
            return f"{word} {first}", [] if first == ALL else _decline_rest(phase)
        again = [Step(word, str(left))]
        if phase == Phase.DRAFT_AMOUNT:
            again = [Step("draft", game.board.names_in_text[game.record.target]), *again]
        return f"{word} {first}", again

    # -------------------------------------------------------------------------------- standing orders

    def _play_always(self, step: Step, game: Any) -> int:
        """Store the standing order, and continue with the next step."""
        self._defence = step.argument
        self._steps.popleft()
        action = self._defend(game) if game.phase == Phase.DEFEND else self._next(game)
        if action is None:
            raise Stopped("the standing order is stored, but this decision needs an action too", NO_ANSWER)
        return action

    def _defend(self, game: Any) -> int:
        """Return the action for the number of dice of the standing order, or for the highest legal number."""
        legal = game.legal_actions()
        return int(legal[min(int(self._defence), len(legal)) - 1])


def fallback_action(game: Any) -> int:
    """Return the action for a seat without a legal answer: `done` if legal, otherwise the last legal action.

    The last legal action places or moves all troops at once, starts a blitz, rolls the most dice, or chooses
    the last territory or card.
    """
    legal = game.legal_actions()
    return game.tables.space.done if game.tables.space.done in legal else int(legal[-1])


def _decline_rest(phase: Phase) -> list[Step]:
    """Return the steps that decline to move the rest after an amount smaller than all.

    After such an amount, the same decision about the rest follows.
    """
    return [Step(DONE, only=phase)] if phase in (Phase.OCCUPY, Phase.FORTIFY_AMOUNT) else []
