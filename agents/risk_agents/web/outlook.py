"""Sentences for the page of a game: the goal, the progress of a seat, values of sets, and the ending."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from types import SimpleNamespace
from typing import Any

from risk_env.board.action_space import WILD
from risk_env.board.maps import Mission
from risk_env.board.rules import Rules
from risk_env.core.cards import (
    MAX_STARS,
    MIN_STARS,
    ONE_OF_EACH,
    SET_CARDS,
    THREE_ARTILLERY,
    THREE_CAVALRY,
    THREE_INFANTRY,
    set_troops_due,
    star_troops,
)
from risk_env.core.goals import OBJECTIVES_TO_WIN
from risk_env.core.types import NOBODY, Held, Phase
from risk_env.game import Game
from risk_env.words.report import mission_in_words

MOST_SETS = 3  # number of sets of a hand that are proposed
MOST_CARDS = 10  # number of cards of a hand that are tried for sets
# the rules' own functions, called from Python
_set_troops = getattr(set_troops_due, "py_func", set_troops_due)
_star_troops = getattr(star_troops, "py_func", star_troops)
_FIXED: dict[str | None, int] = {
    "infantry": THREE_INFANTRY,
    "cavalry": THREE_CAVALRY,
    "artillery": THREE_ARTILLERY,
}


def goal_in_words(rules: Rules) -> str:
    """Return sentences that state how a game is won (RULES 7.3, 8.2, 9.7, 11.1)."""
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
    return f"{number} round{'s' * (number != 1)}"


def note_on(game: Game) -> str:
    """Return the sentence about a decision that depends on the rules, or "" if none does (RULES 9.2, 9.7)."""
    wins = game.rules.victory == "objectives"
    if game.phase == Phase.TRADE:
        return sets_pay(game)
    if game.phase == Phase.CAPITAL:
        keep = " You must control your own capital to win by Objectives." if wins else ""
        return f"Every capital that you control gives one more troop every turn.{keep}"
    if game.phase == Phase.OBJECTIVE:
        goal = f"{OBJECTIVES_TO_WIN} Objectives and your own capital win the game. " if wins else ""
        return f"{goal}An Objective replaces the card of this turn."
    return ""


def ending_in_words(game: Game, names: Sequence[str]) -> str:
    """Return a sentence that names the winner and the reason, or "" if the game goes on."""
    if not game.is_over:
        return ""
    winner = game.winner
    if winner == NOBODY:
        return f"Nobody has won: the game ended after {_rounds(game.round)}, its limit."
    others = [seat for seat in range(game.num_players) if seat != winner]
    alive = game.public().alive
    if not any(alive[seat] for seat in others):
        return f"{names[winner]} has won: all opponents are eliminated."
    reasons = {
        "headquarters": "all required headquarters are in one hand",
        "objectives": f"{OBJECTIVES_TO_WIN} Objectives and the winner's capital were held at the turn's end",
        "domination": "all opponents are eliminated",
    }
    if game.rules.victory == "mission":
        mission = mission_in_words(_mission(game, winner), game.board, names, winner)
        return f"{names[winner]} has won. The mission was: {mission}."
    return f"{names[winner]} has won: {reasons[game.rules.victory]}."


def own_outlook(game: Game, seat: int, names: Sequence[str]) -> dict[str, Any]:
    """Return goals and progress of a seat, and values of sets. Only this seat may see the result."""
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
    """Return the progress of a seat in its mission, as a sentence."""
    owner = game.owner.tolist()
    if mission.kind == "continents":
        told = [_continent(game, seat, c) for c in mission.continents]
        return f"You hold {', '.join(told)}."
    if mission.kind == "territories":
        strong = [t for t, held in enumerate(owner) if held == seat and game.troops[t] >= mission.min_troops]
        return f"You hold {len(strong)} of {mission.territories}."
    if mission.target == seat:
        return f"You hold {owner.count(seat)} of {mission.fallback_territories}."
    return f"That player holds {owner.count(mission.target)} territories."


def _continent(game: Game, seat: int, continent: int) -> str:
    members = game.board.members_of[continent]
    held = sum(int(game.owner[t]) == seat for t in members)
    return f"{held} of {len(members)} in {game.board.continents[continent]}"


def _headquarters(game: Game, seat: int) -> list[str]:
    """Return a sentence with the number of headquarters that a seat holds, once they are public."""
    places = game.public().headquarters.tolist()
    if not places or min(places) < 0:
        return []
    held = sum(int(game.owner[t]) == seat for t in places)
    return [f"You hold {held} of {len(places)} headquarters."]


def _objectives(game: Game, seat: int) -> dict[int, str]:
    """Return the progress of a seat in each Objective that is face up, by number of the Objective."""
    state, owner = game.public(), game.owner.tolist()
    whole = [all(owner[t] == seat for t in members) for members in game.board.members_of]
    capitals = [t for other, t in enumerate(state.capitals.tolist()) if other != seat and t >= 0]
    counts = {
        "cities": sum(owner[t] == seat for t in state.cities),
        "territories": owner.count(seat),
        "continents": sum(whole),
        "enemy_capitals": sum(owner[t] == seat for t in capitals),
    }
    found = {}
    for number, holder in enumerate(state.objectives.tolist()):
        objective = game.board.objectives[number] if holder == Held.FACE_UP else None
        if objective is None:
            continue
        if objective.kind == "continent":
            found[number] = _continent(game, seat, objective.continent)
        elif objective.kind in counts:
            found[number] = f"{counts[objective.kind]} of {objective.count}"
    return found


# ------------------------------------------------------------------------------------------------ cards


def sets_pay(game: Game) -> str:
    """Return a sentence with the troops for the next sets of cards (RULES 5.2, 9.4)."""
    if game.rules.deck == "star":
        troops = ", ".join(str(int(_star_troops(stars))) for stars in range(MIN_STARS, MAX_STARS + 1))
        return f"{MIN_STARS} to {MAX_STARS} stars pay {troops} troops."
    if game.rules.set_values == "fixed":
        kinds = ", ".join(f"three {kind} {troops}" for kind, troops in _FIXED.items())
        return f"Sets pay: {kinds}, one of each {ONE_OF_EACH} troops."
    now, after = (_pays(game, number) for number in (1, 2))
    return f"The next set pays {now} troops, the one after it {after}."


def _pays(game: Game, number: int) -> int:
    """Return the troops for the next set (`number` 1), or for the set after it (2)."""
    rules = SimpleNamespace(set_values=int(game.tables.rules["set_values"][0]))  # all that the function reads
    return int(_set_troops(rules, int(game.record.sets_traded) + number))


def proposed_sets(game: Game) -> list[dict[str, Any]]:
    """Return the best sets of the hand at the start of a trade, each with its actions and in words."""
    if game.phase != Phase.TRADE or game.public(game.seat).picked or game.public(game.seat).picked_wilds:
        return []
    numbers = {
        game.action_text(action).removeprefix("card "): action for action in game.legal_actions().tolist()
    }
    hand = [card for card in game.hand(game.seat) if card in numbers]
    if game.rules.deck == "star":
        return _all_stars(game, hand, numbers)
    sets = [(_worth(game, cards), cards) for cards in combinations(hand[:MOST_CARDS], SET_CARDS)]
    held = {name for t, name in enumerate(game.board.territories) if game.owner[t] == game.seat}
    ranked = sorted(
        (found for found in sets if found[0]),
        key=lambda found: (-found[0], -len(held & set(found[1])), found[1].count(WILD)),
    )
    return [
        {"cards": [numbers[card] for card in cards], "words": f"Trade {', '.join(cards)} for {troops} troops"}
        for troops, cards in ranked[:MOST_SETS]
    ]


def _all_stars(game: Game, hand: list[str], numbers: dict[str, int]) -> list[dict[str, Any]]:
    """Return the trade of all cards if the number of stars is from MIN_STARS to MAX_STARS."""
    board = game.board
    stars = sum((board.stars or ())[board.territory(card)] for card in hand)
    if not MIN_STARS <= stars <= MAX_STARS:
        return []
    troops = int(_star_troops(stars))
    words = f"Trade {len(hand)} cards with {stars} stars for {troops} troops"
    return [{"cards": [*(numbers[card] for card in hand), game.tables.space.done], "words": words}]


def _worth(game: Game, cards: tuple[str, ...]) -> int:
    """Return the troops for three cards, or 0 if the cards are not a set (RULES 5.1, 5.2)."""
    board, wilds = game.board, cards.count(WILD)
    symbols = [(board.symbols or ())[board.territory(card)] for card in cards if card != WILD]
    kinds = len(set(symbols))
    if not wilds and kinds == 2:
        return 0
    if game.rules.set_values != "fixed":
        return _pays(game, 1)
    return _FIXED[symbols[0]] if kinds == 1 and len(symbols) > 1 else ONE_OF_EACH
