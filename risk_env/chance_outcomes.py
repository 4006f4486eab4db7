"""Outcomes of chance events and their probabilities, for search with explicit chance nodes.

A chance event is one roll, a whole blitz, a re-rolled die or a card. The core plays every outcome: the state
of the game's generator is set so that the generator draws the wanted numbers next.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations_with_replacement
from math import factorial, prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from risk_env.board.maps import Board
from risk_env.board.tables import Tables
from risk_env.core import entry
from risk_env.core.combat import ATTACKER, DEFENDER
from risk_env.core.types import MAX_DICE, NUM_FACES, UNLIMITED, Phase
from risk_env.public import members
from risk_env.splitmix64 import INCREMENT, WORD, unscrambled
from risk_env.text.notation import card_text

# maximum product of the attacking and the defending troops of a blitz that is listed as one event
MOST_CELLS = 1 << 16
_HALF = 32  # number of bits of half a word
Draw = tuple[int, int]  # a number that the generator draws, and the exclusive upper limit of the draw
Games = Any  # an array of one record


class Outcome(NamedTuple):
    """One outcome of a chance event.

    The meaning of `values` depends on `kind`:

    * "roll": losses of attacker and defender. If a decision about dice follows: the attacker's dice, then the
      defender's dice, with 0 for no die.
    * "blitz": troops that attacker and defender have left.
    * "die": face of a re-rolled die.
    * "card": number of the card; `num_territories` for a wild card, -1 if no card is left.
    """

    kind: str
    values: tuple[int, ...]
    draws: tuple[tuple[Draw, ...], ...] = ()  # numbers that the generator must draw, event by event

    def text(self, board: Board) -> str:
        """Return the outcome in words."""
        if self.kind == "card":
            return "no card" if self.values[0] < 0 else f"card {card_text(self.values[0], board)}"
        if self.kind == "roll" and len(self.values) == 2 * MAX_DICE:
            attack, defence = (
                " ".join(str(face) for face in faces if face)
                for faces in (self.values[:MAX_DICE], self.values[MAX_DICE:])
            )
            return f"roll: {attack} against {defence}"
        words = {"roll": "losses", "blitz": "left", "die": "die"}[self.kind]
        return f"{self.kind}: {words} {', '.join(map(str, self.values))}"


Outcomes = list[tuple[Outcome, float]]


def play_outcomes(
    games: Games, table: Tables, action: int, taken: Sequence[Outcome], ask_forced: bool
) -> Outcomes:
    """Play a legal action, then the outcomes `taken` of chance events, and all forced actions.

    `taken` contains the outcomes of the first chance events after the action. With `ask_forced`, forced
    actions count as decisions and are not played. Returns the outcomes of the next chance event, with their
    probabilities. The list is empty if a decision or the end of the game follows. Raises ValueError if an
    outcome cannot occur, and if there are more outcomes than chance events.
    """
    left = list(taken)
    if games["phase"][0] == Phase.REROLL and action != int(table.rules[0].done):
        faces = _die_outcomes()
        if not left:
            return faces
        _force(games, _checked(left.pop(0), dict(faces)).draws[0])
    entry.apply_action(games, 0, table.board, table.rules, action)
    while True:
        if games["phase"][0] > Phase.OVER:
            outcomes = _outcomes_now(games, table)
            if not left:
                return outcomes
            for draws in _checked(left.pop(0), dict(outcomes)).draws:
                _force(games, draws)
                entry.play_chance_once(games, 0, table.board, table.rules)
            continue
        legal = members(games["legal"][0])
        if ask_forced or len(legal) != 1:
            break
        entry.apply_action(games, 0, table.board, table.rules, legal[0])
    if left:
        most = len(taken) - len(left)
        raise ValueError(f"number of outcomes: {len(taken)}; at most {most} can follow this action")
    return []


def possible_records(
    games: Games, table: Tables, action: int | None = None
) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
    """Return the records (k,) to which the chance event that is due can lead, and their probabilities (k,).

    With `action`, the event is the re-roll of a die by this action. Without `action`, the event is a roll, a
    blitz or a card. The result is empty for an action that re-rolls no die. The result is also empty for a
    blitz if the product of the attacking and the defending troops is above MOST_CELLS.
    """
    if action is None:
        is_large = bool(games["blitz"][0]) and prod(_armies(games)) > MOST_CELLS
        outcomes = [] if games["phase"][0] == Phase.ROLL and is_large else _outcomes_now(games, table)
    else:
        outcomes = [] if action == int(table.rules[0].done) else _die_outcomes()
    records = np.repeat(games, len(outcomes))
    for lane, (outcome, _) in enumerate(outcomes):
        for draws in outcome.draws:
            _force(records[lane : lane + 1], draws)
            if action is None:
                entry.play_chance_once(records, lane, table.board, table.rules)
            else:
                entry.apply_action(records, lane, table.board, table.rules, action)
    return records, np.array([chance for _, chance in outcomes])


def _checked(outcome: Outcome, known: dict[Outcome, float]) -> Outcome:
    """Return the known outcome with the same kind and values. Raises ValueError if there is none."""
    for each in known:
        if outcome[:2] == each[:2]:
            return each
    raise ValueError(
        f"{tuple(outcome[:2])!r:.80} is not an outcome of the next chance event; allowed: "
        f"{', '.join(str(each[:2]) for each in list(known)[:6])}{', ...' if len(known) > 6 else ''}"
    )


def _outcomes_now(games: Games, table: Tables) -> Outcomes:
    """Return the outcomes of the chance event that is due, with their probabilities."""
    if games["phase"][0] != Phase.ROLL:
        return _card_outcomes(games, table)
    armies = _armies(games)
    if games["blitz"][0] and prod(armies) <= MOST_CELLS and table.rules[0].max_battles == UNLIMITED:
        return _blitz_outcomes(games, table, armies)
    dice = games["chosen_dice"][0].tolist()
    rolls = _rolls(games, table, dice[ATTACKER], dice[DEFENDER])
    return [(Outcome("roll", values, ((draw,),)), chance) for values, (chance, draw) in rolls.items()]


# ------------------------------------------------------------------------------------ cards and dice


def _card_outcomes(games: Games, table: Tables) -> Outcomes:
    """Return the outcomes of the draw of a card, with their probabilities (RULES 2.4).

    The discard pile replaces an empty deck.
    """
    game = games[0]
    deck, wilds = members(games["deck"][0]), int(game.deck_wilds)
    if not deck and not wilds:
        deck, wilds = members(games["discard"][0]), int(game.discard_wilds)
    total, wild = len(deck) + wilds, int(table.board[0].num_territories)
    if not total:
        return [(Outcome("card", (-1,), ((),)), 1.0)]
    outcomes = [(Outcome("card", (card,), (((rank, total),),)), 1 / total) for rank, card in enumerate(deck)]
    return outcomes + [(Outcome("card", (wild,), (((len(deck), total),),)), wilds / total)] * (wilds > 0)


def _die_outcomes() -> Outcomes:
    """Return the outcomes of a re-rolled die, with their probabilities (RULES 10.4)."""
    faces = range(1, NUM_FACES + 1)
    return [(Outcome("die", (face,), (((face - 1, NUM_FACES),),)), 1 / NUM_FACES) for face in faces]


# ------------------------------------------------------------------------------------ rolls

Rolls = dict[tuple[int, ...], tuple[float, Draw]]  # probability of each result, and a draw that leads to it


def _rolls(games: Games, table: Tables, attack_dice: int, defence_dice: int) -> Rolls:
    """Return the results of a roll with these numbers of dice.

    A result has the form of the values of an `Outcome` of the kind "roll".
    """
    rules = table.rules[0]
    if not rules.rewards and (games["blitz"][0] or not (rules.card_reroll or rules.commander)):
        key = attack_dice, defence_dice
        if key not in _PLAIN:
            _PLAIN[key] = _played_rolls(games, table, attack_dice, defence_dice)
        return _PLAIN[key]
    return _played_rolls(games, table, attack_dice, defence_dice)


_PLAIN: dict[tuple[int, int], Rolls] = {}  # results of rolls without Rewards and decisions about dice


def _played_rolls(games: Games, table: Tables, attack_dice: int, defence_dice: int) -> Rolls:
    """Play every combination of faces once in the core, and return the results."""
    extra = _extra_dice(games, table, attack_dice, defence_dice)
    combinations = _combinations(*extra)
    scratch = np.repeat(games, len(combinations))
    scratch["chosen_dice"][:] = attack_dice, defence_dice
    for side in ("source", "target"):  # place enough troops for the losses
        place = int(games[side][0])
        scratch["troops"][:, place] = np.maximum(scratch["troops"][:, place], 4)
    total = NUM_FACES ** sum(extra)
    chances: dict[tuple[int, ...], float] = defaultdict(float)
    draws: dict[tuple[int, ...], Draw] = {}
    for lane, (number, _) in enumerate(combinations):
        _force(scratch[lane : lane + 1], ((number, total),))
        entry.play_chance_once(scratch, lane, table.board, table.rules)
    for values, (number, ways) in zip(_results(scratch), combinations, strict=True):
        chances[values] += ways / total
        draws[values] = number, total
    return {values: (chances[values], draws[values]) for values in sorted(draws)}


def _results(games: Games) -> list[tuple[int, ...]]:
    """Return the values (`Outcome`) of the rolls that were just played, one tuple for each game."""
    faces = games["settled"].reshape(len(games), -1).tolist()
    decides = np.isin(games["phase"], (Phase.REROLL, Phase.COMMANDER)).tolist()
    results = zip(faces, games["losses"].tolist(), decides, strict=True)
    return [tuple(values if decided else losses) for values, losses, decided in results]


def _extra_dice(games: Games, table: Tables, attack_dice: int, defence_dice: int) -> tuple[int, int]:
    """Return the number of dice that each side rolls, with the extra dice of Rewards (RULES 9.8)."""
    if not table.rules[0].rewards:
        return attack_dice, defence_dice
    scratch = games.copy()
    scratch["chosen_dice"][:] = attack_dice, defence_dice
    entry.play_chance_once(scratch, 0, table.board, table.rules)
    attack, defence = (scratch["rolled"][0] > 0).sum(axis=1)
    return int(attack), int(defence)


@lru_cache(maxsize=32)
def _combinations(attack_dice: int, defence_dice: int) -> list[Draw]:
    """Return a pair for each combination of faces: number to draw, and number of rolls with these faces."""
    combinations = []
    for attack, ways in _side(attack_dice):
        for defence, other_ways in _side(defence_dice):
            digits = (*attack, *defence)
            number = sum((face - 1) * NUM_FACES**place for place, face in enumerate(digits))
            combinations.append((number, ways * other_ways))
    return combinations


def _side(dice: int) -> list[tuple[tuple[int, ...], int]]:
    """Return the combinations of faces of one side, and the number of rolls that show each combination."""
    combinations = []
    for faces in combinations_with_replacement(range(1, NUM_FACES + 1), dice):
        orders = factorial(dice) // prod(factorial(faces.count(face)) for face in set(faces))
        combinations.append((faces, orders))
    return combinations


# ------------------------------------------------------------------------------------ blitz


def _armies(games: Games) -> tuple[int, int]:
    """Return the numbers of troops on the attacking and on the attacked territory."""
    troops = games["troops"][0]
    return int(troops[int(games["source"][0])]), int(troops[int(games["target"][0])])


def _blitz_outcomes(games: Games, table: Tables, armies: tuple[int, int]) -> Outcomes:
    """Return the outcomes of a blitz, with their probabilities (RULES 3.2.4)."""
    rolls = {
        (attack, defence): _rolls(games, table, attack, defence) for attack in (1, 2, 3) for defence in (1, 2)
    }
    chances: dict[tuple[int, int], float] = defaultdict(float, {armies: 1.0})
    # by state: the most probable last step to the state, as its probability, the previous state and the draw
    before: dict[tuple[int, int], tuple[float, tuple[int, int], Draw]] = {}
    ends = []
    for attackers in range(armies[0], 0, -1):
        for defenders in range(armies[1], -1, -1):
            here = attackers, defenders
            if not chances[here]:
                continue
            if attackers == 1 or defenders == 0:
                ends.append(here)
                continue
            for losses, (chance, draw) in rolls[min(3, attackers - 1), min(2, defenders)].items():
                there, way = (attackers - losses[0], defenders - losses[1]), chances[here] * chance
                chances[there] += way
                if way > before.get(there, (0.0,))[0]:
                    before[there] = way, here, draw
    return [(Outcome("blitz", end, _way_to(end, before)), chances[end]) for end in ends]


def _way_to(end: tuple[int, int], before: dict[Any, Any]) -> tuple[tuple[Draw, ...], ...]:
    """Return the draws of a sequence of rolls that leads to the state `end` of a blitz."""
    draws: list[tuple[Draw, ...]] = []
    while end in before:
        _, end, draw = before[end]
        draws.append((draw,))
    return tuple(reversed(draws))


# ------------------------------------------------------------------------------------ the generator


def _force(games: Games, draws: Sequence[Draw]) -> None:
    """Set the generator's state so that the generator makes `draws` next. Without draws, change nothing."""
    for number, limit in draws:
        games["random"][0] = _state_before(number, limit)


@lru_cache(maxsize=1 << 14)
def _state_before(number: int, limit: int) -> np.uint64:
    """Return a state of the generator in which the next draw below `limit` gives `number`."""
    high = ((number << _HALF) + (1 << (_HALF - 1))) // limit + 1  # middle of the range that gives `number`
    return np.uint64((unscrambled(high << _HALF) - INCREMENT) % WORD)
