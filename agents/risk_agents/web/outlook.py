"""Sentences for the page of a game, such as the goal, the progress of a seat, and the ending."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from risk_env.board.action_space import WILD
from risk_env.board.maps import SYMBOLS, Mission
from risk_env.board.rules import Rules
from risk_env.core.cards import MAX_STARS, MIN_STARS, SET_CARDS, completes, fixed_worth, star_troops
from risk_env.core.goals import OBJECTIVES_TO_WIN
from risk_env.core.types import NOBODY, Held, Phase
from risk_env.game import Game
from risk_env.messages import counted
from risk_env.public import PublicState, troops_for_set
from risk_env.words.report import FIXED_SETS, mission_in_words, star_sets_in_words

MOST_SETS = 3  # maximum number of proposed sets
MOST_CARDS = 10  # maximum number of cards of a hand that are tried for sets
# Plain Python versions of compiled functions of the rules
_completes, _fixed_worth, _star_troops = (
    getattr(function, "py_func", function) for function in (completes, fixed_worth, star_troops)
)


def goal_in_words(rules: Rules) -> str:
    """Return sentences about the goal of a game (RULES 7.3, 8.2, 9.7, 11.1, 11.2)."""
    goals = {
        "domination": "Eliminate all opponents to win.",
        "headquarters": "Hold your own headquarters and all other headquarters to win.",
        "mission": "Fulfil your secret mission to win.",
        "objectives": f"End your turn with {OBJECTIVES_TO_WIN} Objectives and your own capital to win.",
    }
    goal = goals[rules.victory]
    if rules.victory == "headquarters" and rules.headquarters_to_win is not None:
        goal = f"Hold your own headquarters and {rules.headquarters_to_win} of the others to win."
    limit = f" The game ends without a winner after {_rounds(rules.max_rounds)}." if rules.max_rounds else ""
    return goal + limit


def _rounds(number: int) -> str:
    return counted(number, "round")


def note_on(game: Game) -> str:
    """Return sentences about the rules for the current decision, or "" (RULES 5.2, 9.2, 9.5, 9.7)."""
    wins = game.rules.victory == "objectives"
    if game.phase == Phase.TRADE:
        return sets_pay(game)
    if game.phase == Phase.CAPITAL:
        keep = " You must control your own capital to win by Objectives." if wins else ""
        return f"Every capital that you control gives one more troop every turn.{keep}"
    if game.phase == Phase.OBJECTIVE:
        goal = f"{OBJECTIVES_TO_WIN} Objectives and your own capital win the game. " if wins else ""
        return f"{goal}Without Guaranteed Card, an Objective replaces the card of this turn."
    return ""


def ending_in_words(game: Game, names: Sequence[str]) -> str:
    """Return the winner (or nobody) and the reason, in words, or "" if the game is not over."""
    if not game.is_over:
        return ""
    winner = game.winner
    if winner == NOBODY:
        return f"Nobody has won: the game has reached its limit of {_rounds(game.round)}."
    if game.rules.victory == "domination" or game.alive.sum() == 1:
        return f"{names[winner]} has won: all opponents are eliminated."
    reasons = {
        "headquarters": "the winner holds all required headquarters",
        "objectives": f"the winner holds {OBJECTIVES_TO_WIN} Objectives and the winner's own capital",
    }
    if game.rules.victory == "mission":
        mission = mission_in_words(_mission(game, winner), game.board, names, winner)
        return f"{names[winner]} has won. The mission was: {mission}."
    return f"{names[winner]} has won: {reasons[game.rules.victory]}."


def own_outlook(game: Game, seat: int, names: Sequence[str]) -> dict[str, Any]:
    """Return the goals and progress of a seat, and the values of sets; only this seat may see the result."""
    goals: list[str] = []
    if game.rules.victory == "mission" and game.record.mission[seat] != NOBODY:
        mission = _mission(game, seat)
        words = mission_in_words(mission, game.board, names, seat)
        goals.append(f"Your mission: {words}. {_mission_progress(game, seat, mission)}")
    if game.rules.victory == "headquarters":
        goals += _headquarters(game, seat)
    return {"goals": goals, "objectives": _objectives(game, seat), "sets": sets_pay(game)}


def _mission(game: Game, seat: int) -> Mission:
    return game.board.missions[int(game.record.mission[seat])]


def _mission_progress(game: Game, seat: int, mission: Mission) -> str:
    """Return a sentence about the progress of a seat in its mission."""
    owner = game.owner.tolist()
    if mission.kind == "continents":
        told = [_continent(game, seat, c) for c in mission.continents]
        return f"Territories that you hold: {', '.join(told)}."
    if mission.kind == "territories":
        strong = [t for t, held in enumerate(owner) if held == seat and game.troops[t] >= mission.min_troops]
        return f"You hold {len(strong)} of {mission.territories} territories."
    if mission.target == seat:
        return f"You hold {owner.count(seat)} of {mission.fallback_territories} territories."
    return f"Territories of that player: {owner.count(mission.target)}."


def _continent(game: Game, seat: int, continent: int) -> str:
    members = game.board.members_of[continent]
    held = sum(int(game.owner[t]) == seat for t in members)
    return f"{held} of {len(members)} in {game.board.continents[continent]}"


def _headquarters(game: Game, seat: int) -> list[str]:
    """Return a sentence about the headquarters that a seat holds, or [] before headquarters are public."""
    places = game.public().headquarters.tolist()
    if not places or min(places) < 0:
        return []
    held = sum(int(game.owner[t]) == seat for t in places)
    return [f"You hold {held} of {len(places)} headquarters."]


def _objectives(game: Game, seat: int) -> dict[int, str]:
    """Return the progress of a seat in the Objectives that are face up, by Objective number.

    Objectives that count captures of one turn are left out.
    """
    state, owner = game.public(), game.owner.tolist()
    whole = [all(owner[t] == seat for t in members) for members in game.board.members_of]
    capitals = [t for other, t in enumerate(state.capitals.tolist()) if other != seat and t >= 0]
    counts = {
        "cities": sum(owner[t] == seat for t in state.cities),
        "territories": owner.count(seat),
        "continents": sum(whole),
        "enemy_capitals": sum(owner[t] == seat for t in capitals),
    }
    progress = {}
    for number, holder in enumerate(state.objectives.tolist()):
        objective = game.board.objectives[number] if holder == Held.FACE_UP else None
        if objective is None:
            continue
        if objective.kind == "continent":
            progress[number] = _continent(game, seat, objective.continent)
        elif objective.kind in counts:
            progress[number] = f"{counts[objective.kind]} of {objective.count}"
    return progress


# ------------------------------------------------------------------------------------------------ cards


def sets_pay(game: Game) -> str:
    """Return a sentence about the troops for the next sets of cards (RULES 2.5, 5.2, 9.4)."""
    if game.rules.deck == "none":
        return "This game has no cards."
    if game.rules.deck == "star":
        return star_sets_in_words()
    if game.rules.set_values == "fixed":
        return f"Sets pay {FIXED_SETS}."
    set_values, traded = int(game.tables.rules["set_values"][0]), int(game.record.sets_traded)
    now, after = (troops_for_set(set_values, traded + number) for number in (1, 2))
    return f"The next set pays {now} troops, and the set after that pays {after} troops."


def proposed_sets(game: Game) -> list[dict[str, Any]]:
    """Return the best sets of the hand at the start of a trade, as actions and in words; otherwise []."""
    state = game.public(game.seat)
    if game.phase != Phase.TRADE or state.picked or state.picked_wilds:
        return []
    numbers = {
        game.action_text(action).removeprefix("card "): action for action in game.legal_actions().tolist()
    }
    hand = [card for card in game.hand(game.seat) if card in numbers]
    if game.rules.deck == "star":
        return _all_stars(game, hand, numbers)
    worth = {cards: _worth(game, cards, state) for cards in combinations(hand[:MOST_CARDS], SET_CARDS)}
    held = {name for t, name in enumerate(game.board.territories) if game.owner[t] == game.seat}
    ranked = sorted(
        ((troops, cards) for cards, troops in worth.items() if troops),
        key=lambda row: (-row[0], -len(held & set(row[1])), row[1].count(WILD)),
    )
    return [
        {"cards": [numbers[card] for card in cards], "words": f"Trade {', '.join(cards)} for {troops} troops"}
        for troops, cards in ranked[:MOST_SETS]
    ]


def _all_stars(game: Game, hand: list[str], numbers: dict[str, int]) -> list[dict[str, Any]]:
    """Return a list with the trade of all cards, or [] unless they have MIN_STARS to MAX_STARS stars."""
    board = game.board
    stars = sum((board.stars or ())[board.territory(card)] for card in hand)
    if not MIN_STARS <= stars <= MAX_STARS:
        return []
    troops = int(_star_troops(stars))
    words = f"Trade {counted(len(hand), 'card')} with {counted(stars, 'star')} for {counted(troops, 'troop')}"
    return [{"cards": [*(numbers[card] for card in hand), game.tables.space.done], "words": words}]


def _worth(game: Game, cards: tuple[str, ...], state: PublicState) -> int:
    """Return the number of troops for three cards, or 0 if the cards are not a set (RULES 5.1, 5.2)."""
    board = game.board
    symbols = [(board.symbols or ())[board.territory(card)] for card in cards if card != WILD]
    counts = [symbols.count(symbol) for symbol in SYMBOLS]
    if not _completes(*counts, cards.count(WILD)):
        return 0
    return int(_fixed_worth(*counts)) if game.rules.set_values == "fixed" else state.next_set
