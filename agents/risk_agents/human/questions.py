"""What a person is asked, in plain words, and what is legal, in few lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from risk_agents.base import View
from risk_agents.human.answers import argument_of, movable, question_of
from risk_agents.human.narration import Words
from risk_agents.human.terminal import wrapped
from risk_env.board.action_space import DONE, WILD
from risk_env.core.cards import (
    MAX_STARS,
    MIN_STARS,
    ONE_OF_EACH,
    THREE_ARTILLERY,
    THREE_CAVALRY,
    THREE_INFANTRY,
    star_troops,
)
from risk_env.core.types import Phase
from risk_env.render.ansi import draw_ansi
from risk_env.render.scene import scene_of
from risk_env.text.notation import reward_name
from risk_env.words.report import mission_in_words

_star_troops = getattr(star_troops, "py_func", star_troops)  # the rules' own function, called from Python

# ------------------------------------------------------------------------------------------------ the question


def question(view: View, words: Words) -> str:
    """What is asked, in a sentence or two."""
    asked = _ASKED[view.phase]
    return asked if isinstance(asked, str) else asked(view, words)


def _deploy(view: View, words: Words) -> str:
    return f"Where do you put a troop? {view.position.to_place[view.seat]} left in your hand."


def _deploy_neutral(view: View, words: Words) -> str:
    return f"Where do you put a troop of the neutral army? {view.position.to_place[-1]} left."


def _trade(view: View, words: Words) -> str:
    picked = [*map(words.place, view.position.picked), *[WILD] * view.position.picked_wilds]
    if picked:
        return f"Which card goes with {', '.join(picked)}?" + " `done` trades them." * (DONE in view.texts)
    must = "`done` keeps them." if DONE in view.texts else "You must trade a set."
    if view.rules.deck == "star":
        return f"Which cards do you turn in? Name one at a time. {_stars_worth()} {must}"
    return f"Which cards do you trade? {_set_worth(view, 'The set')} Name one at a time. {must}"


def _set_worth(view: View, subject: str) -> str:
    """Troops for the next set, or for each kind of set where its cards decide (RULES 5.2)."""
    if view.rules.set_values == "fixed":
        return (
            f"{subject} is worth {THREE_INFANTRY} troops for three infantry, {THREE_CAVALRY} for three cavalry, "
            f"{THREE_ARTILLERY} for three artillery, {ONE_OF_EACH} for one of each."
        )
    return f"{subject} is worth {view.position.next_set} troops."


def _stars_worth() -> str:
    """Troops for each number of stars (RULES 9.4)."""
    troops = ", ".join(str(int(_star_troops(stars))) for stars in range(MIN_STARS, MAX_STARS + 1))
    return f"{MIN_STARS} to {MAX_STARS} stars give {troops} troops."


def _draft(view: View, words: Words) -> str:
    return f"Where do you place troops? {view.position.draft_left} to place."


def _draft_amount(view: View, words: Words) -> str:
    return f"How many troops for {_target(view)}? At most {movable(view)}."


def _attack_dice(view: View, words: Words) -> str:
    return f"{_army(view, view.position.source)} attacks {_army(view, view.position.target, words)}: how many dice?"


def _defend(view: View, words: Words) -> str:
    dice = view.position.chosen_dice
    is_own = int(view.position.owner[view.position.target]) == view.seat
    return (
        f"{words.names[view.position.turn]} attacks {'your' if is_own else 'the neutral'} "
        f"{_army(view, view.position.target)} from {_army(view, view.position.source)} with "
        f"{dice} {'dice' if dice > 1 else 'die'}: how many dice do you roll?"
    )


def _dice_on_table(view: View) -> str:
    mine, theirs = (" ".join(map(str, side)) for side in view.position.dice)
    return f"Your dice are {mine} against {theirs}."


def _reroll(view: View, words: Words) -> str:
    return f"{_dice_on_table(view)} You may show your card and roll a die again: which face? `done` keeps all."


def _commander(view: View, words: Words) -> str:
    return f"{_dice_on_table(view)} Once a turn you may turn a die to 6: which face? `done` turns none."


def _occupy(view: View, words: Words) -> str:
    return f"{_target(view)} is yours. How many more troops follow from {_source(view)}? At most {movable(view)}."


def _fortify_amount(view: View, words: Words) -> str:
    return f"How many troops go from {_source(view)} to {_target(view)}? At most {movable(view)}."


def _source(view: View) -> str:
    return view.board.territories[view.position.source]


def _target(view: View) -> str:
    return view.board.territories[view.position.target]


def _army(view: View, territory: int, words: Words | None = None) -> str:
    """A territory with its troops and, if `words` are given, its owner."""
    owner = "" if words is None else f" of {words.names[int(view.position.owner[territory])]}"
    return f"{view.board.territories[territory]}{owner} ({view.position.troops[territory]})"


_ASKED: dict[Phase, str | Callable[[View, Words], str]] = {
    Phase.CAPITAL: "Where do you put your capital?",
    Phase.CLAIM: "Which territory do you claim?",
    Phase.DEPLOY: _deploy,
    Phase.DEPLOY_NEUTRAL: _deploy_neutral,
    Phase.HEADQUARTERS: "Which of your territories is your headquarters? It stays secret until all have picked.",
    Phase.TRADE: _trade,
    Phase.BONUS: "Your card shows it: which territory gets the bonus troops?",
    Phase.DRAFT: _draft,
    Phase.DRAFT_AMOUNT: _draft_amount,
    Phase.ATTACK: "What do you attack? `done` ends the attacks.",
    Phase.ATTACK_DICE: _attack_dice,
    Phase.DEFEND: _defend,
    Phase.REROLL: _reroll,
    Phase.COMMANDER: _commander,
    Phase.OCCUPY: _occupy,
    Phase.OBJECTIVE: "You have met Objectives. Which do you take? It costs the card of this turn; `done` takes none.",
    Phase.AIRFIELD: "Where do you build the airfield?",
    Phase.FORTIFY_FROM: "From where do you move troops? `done` moves none.",
    Phase.FORTIFY_TO: lambda view, words: f"Where do troops of {_army(view, view.position.source)} go?",
    Phase.FORTIFY_AMOUNT: _fortify_amount,
}


# ------------------------------------------------------------------------------------------------ what is legal


def legal_lines(view: View, words: Words, numbers: Mapping[str, int], width: int) -> list[str]:
    """Legal actions with the numbers by which they can be called, in few lines."""
    asked = question_of(view)
    if asked.block == "border":
        return _attacks(view, words, numbers, width)
    if asked.block == "territory":
        return _territories(view, numbers, width)
    if asked.block in ("card", "objective"):
        describe = card_in_words if asked.block == "card" else _objective
        listed = [f"{number} {describe(argument_of(text, asked), view)}" for text, number in _named(numbers)]
        return [wrapped(", ".join(listed), width, "  ", "  ")]
    counts = (
        {"all": f"all ({movable(view)})", "half": f"half ({movable(view) // 2})"} if asked.block == "amount" else {}
    )
    names = [argument_of(text, asked) for text in numbers]
    return [wrapped(" | ".join(counts.get(name, name) for name in names), width, "  ", "  ")]


def _named(numbers: Mapping[str, int]) -> list[tuple[str, int]]:
    """All but DONE, which the question mentions."""
    return [(text, number) for text, number in numbers.items() if text != DONE]


def _attacks(view: View, words: Words, numbers: Mapping[str, int], width: int) -> list[str]:
    """A line for every territory to attack from."""
    place, rows = view.position, dict[str, list[str]]()
    for text, number in _named(numbers):
        source, target = (view.board.territory(name) for name in argument_of(text, question_of(view)).split(" > "))
        row = rows.setdefault(f"{view.board.territories[source]} {place.troops[source]} >", [])
        row.append(
            f"{number} {view.board.territories[target]} {place.troops[target]} {words.names[int(place.owner[target])]}"
        )
    return [_row(source, targets, width) for source, targets in rows.items()]


def _territories(view: View, numbers: Mapping[str, int], width: int) -> list[str]:
    """A line for every continent."""
    board, rows = view.board, dict[str, list[str]]()
    for text, number in _named(numbers):
        t = board.territory(argument_of(text, question_of(view)))
        troops = f" {view.position.troops[t]}" if view.position.owner[t] >= 0 else ""
        row = rows.setdefault(f"{board.continents[board.continent_of[t]]}:", [])
        row.append(f"{number} {board.territories[t]}{troops}")
    return [_row(continent, places, width) for continent, places in rows.items()]


def _row(title: str, entries: Sequence[str], width: int) -> str:
    """A title and entries; an entry is never broken."""
    kept = [entry.replace(" ", "\xa0") for entry in entries]
    return wrapped(", ".join(kept), width, f"  {title} ", "      ").replace("\xa0", " ")


def card_in_words(name: str, view: View) -> str:
    """A card with its symbol or stars."""
    board = view.board
    if name == WILD:
        return WILD
    t = board.territory(name)
    if view.rules.deck == "symbol":
        return f"{name} ({board.symbols[t]})" if board.symbols else name
    return f"{name} ({'*' * board.stars[t]})" if board.stars else name


def _objective(name: str, view: View) -> str:
    number = [objective.name for objective in view.board.objectives].index(name)
    reward = reward_name(view.position.objective_rewards[number])
    return f"{name} [{reward}]" if reward else name


# ------------------------------------------------------------------------------------------------ the position


def board_lines(view: View, words: Words, width: int, colour: bool) -> list[str]:
    """The board, and the worth of the next set of cards."""
    scene = scene_of(view.position, view.rules, words.names[: view.rules.num_players])
    _status, _blank, *drawn = draw_ansi(view.board, scene, colour, width).splitlines()
    is_played_for_sets = view.rules.deck == "symbol" and view.phase != Phase.OVER
    sets = [_set_worth(view, "The next set of cards")] if is_played_for_sets else []
    return [*drawn, *sets]


def own_lines(view: View, words: Words, width: int) -> list[str]:
    """What only this player knows: cards, mission, headquarters."""
    named = [card_in_words(card, view) for card in view.hand]
    lines = [wrapped(", ".join(named) or "none", width, "Your cards: ", "  ")]
    if view.mission is not None:
        lines.append(
            wrapped(mission_in_words(view.mission, view.board, words.names, view.seat), width, "Your mission: ", "  ")
        )
    if view.headquarters is not None:
        lines.append(f"Your headquarters: {view.headquarters}")
    return lines
