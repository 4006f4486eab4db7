"""Describe a decision to a person: the question in words, and the legal actions in a few lines."""

from collections.abc import Mapping, Sequence

from risk_agents.human.answers import argument_of, movable
from risk_agents.human.narration import Words
from risk_agents.human.terminal import wrapped
from risk_env.agent import View
from risk_env.board.action_space import DONE, WILD
from risk_env.board.names import split_outside_quotes
from risk_env.core.types import Phase
from risk_env.render.ansi import draw_ansi
from risk_env.render.scene import public_scene
from risk_env.text.notation import DECISIONS, reward_name
from risk_env.words.report import FIXED_SETS, mission_in_words, star_sets_in_words

# ------------------------------------------------------------------------------------- the question

_QUESTIONS = {
    Phase.CAPITAL: "Where do you put your capital?",
    Phase.CLAIM: "Which territory do you claim?",
    Phase.DEPLOY: "Where do you put a troop? Troops left: {in_hand}.",
    Phase.DEPLOY_NEUTRAL: "Where do you put a troop of the neutral army? Troops left: {neutral_in_hand}.",
    Phase.HEADQUARTERS: (
        "Which of your territories is your headquarters? Your choice stays secret until all players have "
        "chosen."
    ),
    Phase.TRADE: "{trade}",
    Phase.BONUS: "Which territory on your cards gets the bonus troops?",
    Phase.DRAFT: "Where do you place troops? Troops left: {draft_left}.",
    Phase.DRAFT_AMOUNT: "How many troops for {target}? At most {most}.",
    Phase.ATTACK: "What do you attack? `done` ends the attacks.",
    Phase.ATTACK_DICE: "{source} ({at_source}) attacks {target} of {owner} ({at_target}): how many dice?",
    Phase.DEFEND: (
        "{turn} attacks {whose} {target} ({at_target}) from {source} ({at_source}) with {declared}: "
        "how many dice do you roll?"
    ),
    Phase.REROLL: "{dice} You may show your card and roll a die again: which face? `done` keeps all dice.",
    Phase.COMMANDER: "{dice} Once a turn you may turn a die to 6: which face? `done` turns none.",
    Phase.OCCUPY: "{target} is yours. How many more troops follow from {source}? At most {most}.",
    Phase.OBJECTIVE: (
        "You have met Objectives. Which Objective do you take? Without Guaranteed Card, it replaces the card "
        "of this turn; `done` takes none."
    ),
    Phase.AIRFIELD: "Where do you build the airfield?",
    Phase.FORTIFY_FROM: "From where do you move troops? `done` moves none.",
    Phase.FORTIFY_TO: "Where do troops of {source} ({at_source}) go?",
    Phase.FORTIFY_AMOUNT: "How many troops go from {source} to {target}? At most {most}.",
}


def question(view: View, words: Words) -> str:
    """Return the question about a decision, in a few sentences."""
    place = view.public
    owner, dice = int(place.owner[place.target]), (" ".join(map(str, side)) for side in place.dice)
    return _QUESTIONS[view.phase].format(
        in_hand=place.to_place[view.seat],
        neutral_in_hand=place.to_place[-1],
        draft_left=place.draft_left,
        most=movable(view),
        source=words.place(place.source),
        at_source=place.troops[place.source],
        target=words.place(place.target),
        at_target=place.troops[place.target],
        owner=words.names[owner],
        whose="your" if owner == view.seat else "the neutral",
        turn=words.names[place.turn],
        declared=f"{place.chosen_dice} {'dice' if place.chosen_dice > 1 else 'die'}",
        dice="Your dice are {} against {}.".format(*dice),
        trade=_trade(view, words),
    )


def _trade(view: View, words: Words) -> str:
    picked = [*map(words.place, view.public.picked), *[WILD] * view.public.picked_wilds]
    if picked:
        return f"Which card goes with {', '.join(picked)}?" + " `done` trades these cards." * (
            DONE in view.texts
        )
    must = "`done` keeps your cards." if DONE in view.texts else "You must trade a set."
    if view.rules.deck == "star":  # RULES 9.4
        return f"Which cards do you turn in? Name one at a time. {star_sets_in_words()} {must}"
    return f"Which cards do you trade? {_set_worth(view, 'The set')} Name one at a time. {must}"


def _set_worth(view: View, subject: str) -> str:
    """Return a sentence about the troops for the next set, or for each kind of set (RULES 5.2)."""
    if view.rules.set_values == "fixed":
        return f"{subject} is worth {FIXED_SETS}."
    return f"{subject} is worth {view.public.next_set} troops."


# ------------------------------------------------------------------------------------ what is legal


def legal_lines(view: View, words: Words, numbers: Mapping[str, int], width: int) -> list[str]:
    """Return the legal actions in a few lines; actions in the blocks NUMBERED have their numbers."""
    decision = DECISIONS[view.phase]
    if decision.block == "border":
        return _attacks(view, words, numbers, width)
    if decision.block == "territory":
        return _territories(view, numbers, width)
    if decision.block in ("card", "objective"):
        describe = card_in_words if decision.block == "card" else _objective
        listed = [f"{number} {describe(name, view)}" for name, number in _named(numbers, view)]
        return [wrapped(", ".join(listed), width, "  ", "  ")]
    names = [argument_of(text, decision) for text in numbers]
    if decision.block == "amount":
        counts = {"all": f"all ({movable(view)})", "half": f"half ({movable(view) // 2})"}
        names = [counts.get(name, name) for name in names]
    return [wrapped(" | ".join(names), width, "  ", "  ")]


def _named(numbers: Mapping[str, int], view: View) -> list[tuple[str, int]]:
    """Return the names and numbers of all actions except DONE. The question already mentions DONE."""
    return [
        (argument_of(text, DECISIONS[view.phase]), number) for text, number in numbers.items() if text != DONE
    ]


def _attacks(view: View, words: Words, numbers: Mapping[str, int], width: int) -> list[str]:
    """Return one line for each territory from which the player can attack."""
    place, rows = view.public, dict[str, list[str]]()
    for name, number in _named(numbers, view):
        source, target = map(view.board.territory, split_outside_quotes(name, " > "))
        defenders = f"{words.place(target)} {place.troops[target]} {words.names[int(place.owner[target])]}"
        rows.setdefault(f"{words.place(source)} {place.troops[source]} >", []).append(f"{number} {defenders}")
    return [_row(source, targets, width) for source, targets in rows.items()]


def _territories(view: View, numbers: Mapping[str, int], width: int) -> list[str]:
    """Return one line for each continent with its legal territories."""
    board, rows = view.board, dict[str, list[str]]()
    for name, number in _named(numbers, view):
        t = board.territory(name)
        troops = f" {view.public.troops[t]}" if view.public.owner[t] >= 0 else ""
        rows.setdefault(f"{board.continents[board.continent_of[t]]}:", []).append(f"{number} {name}{troops}")
    return [_row(continent, places, width) for continent, places in rows.items()]


def _row(title: str, entries: Sequence[str], width: int) -> str:
    """Return a title and its entries; lines break only between entries."""
    kept = [entry.replace(" ", "\xa0") for entry in entries]
    return wrapped(", ".join(kept), width, f"  {title} ", "      ").replace("\xa0", " ")


def card_in_words(name: str, view: View) -> str:
    """Return the name of a card with its symbol or stars."""
    board = view.board
    if name == WILD:
        return WILD
    t = board.territory(name)
    if view.rules.deck == "symbol":
        return f"{name} ({board.symbols[t]})" if board.symbols else name
    return f"{name} ({'*' * board.stars[t]})" if board.stars else name


def _objective(name: str, view: View) -> str:
    number = [objective.name for objective in view.board.objectives].index(name)
    reward = reward_name(view.public.objective_rewards[number])
    return f"{name} [{reward}]" if reward else name


# ------------------------------------------------------------------------------------- the position


def board_lines(view: View, words: Words, width: int, colour: bool) -> list[str]:
    """Return the lines of the board.

    If the cards have symbols and the game is not over, the last line is about the worth of the next set.
    """
    scene = public_scene(view.public, view.rules, words.names[: view.rules.num_players])
    _status, _blank, *drawn = draw_ansi(view.board, scene, colour, width).splitlines()
    is_played_for_sets = view.rules.deck == "symbol" and view.phase != Phase.OVER
    sets = [_set_worth(view, "The next set of cards")] if is_played_for_sets else []
    return [*drawn, *sets]


def own_lines(view: View, words: Words, width: int) -> list[str]:
    """Return the lines about the facts that only this player knows: cards, mission, headquarters."""
    named = [card_in_words(card, view) for card in view.hand]
    cards = wrapped(", ".join(named) or "none", width, "Your cards: ", "  ")
    lines = [] if view.rules.deck == "none" else [cards]
    if view.mission is not None:
        mission = mission_in_words(view.mission, view.board, words.names, view.seat)
        lines.append(wrapped(mission, width, "Your mission: ", "  "))
    if view.headquarters is not None:
        lines.append(f"Your headquarters: {view.headquarters}")
    return lines
