"""Hand-made positions: armies as text, default values for everything else, and dice as ordered.

An army is a text such as `"Alaska 3, Europe 2, Ukraine, rest"`. It lists territories or whole continents,
each with its troops (one if no number is given). Later names override earlier ones, within an army and
between armies. `rest` is every territory that no army names. The other lines of a position are those of
`Game.to_text`, with underscores for spaces.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pytest

from risk_env import Game, IllegalAction, load_map
from risk_env.board.maps import Board
from risk_env.core.types import Phase, Reward
from risk_env.events import Battle

CLASSIC = load_map("classic")
MINOR = ("airfield", "additional maneuver", "guaranteed card", "starting maneuver")
MAJOR = ("major airfield", "attack die", "defense die", "two troops")
AIRFIELDS = ("airfield", "major airfield")

Goal = int | str | tuple[int | str, str]  # holder or "face up", optionally with the Reward of the objective


# Positions


def position(
    rules: str,
    *armies: str,
    map: str | Board = "classic",
    ask_forced: bool = False,
    entries: Mapping[str, Any] | None = None,
    **lines: Any,
) -> Game:
    """Return a game with one army for each seat.

    `rules` is a text such as `preset=classic, fortify=adjacent`. A bare word is the name of a preset. `map`
    is a map or the name of a shipped one.
    """
    board = load_map(map) if isinstance(map, str) else map
    options = rules if "=" in rules.split(",")[0] else f"preset={rules}"
    told = {"rules": options, "map": board.source, "phase": "attack", "random": "7", **(entries or {})}
    told |= {key.replace("_", " "): value for key, value in lines.items()}
    head = ["risk_env game 1", *(f"{key}: {value}" for key, value in told.items()), "[territories]"]
    names = ["0", "1", "neutral"] if "two_player" in rules else list("012345")
    held = [f"{place}: {names[army]}, {troops}" for place, (army, troops) in _held(armies, board).items()]
    return Game.from_text("\n".join([*head, *held]), board, ask_forced)


def _held(armies: Iterable[str], board: Board) -> dict[str, tuple[int, int]]:
    """Return army and troops of each named territory.

    The army after the last seat is the neutral one.
    """
    held: dict[str, tuple[int, int]] = {}
    rest = None
    for seat, army in enumerate(armies):
        for place, troops in _garrisons(army):
            if place == "rest":
                rest = seat, troops
            held |= dict.fromkeys(_named(place, board), (seat, troops))
    if rest is not None:
        held |= {name: rest for name in board.territories if name not in held}
    return held


def _garrisons(army: str) -> Iterable[tuple[str, int]]:
    for part in filter(None, (part.strip() for part in army.split(","))):
        name, _, last = part.rpartition(" ")
        yield (name, int(last)) if last.isdigit() else (part, 1)


def _named(place: str, board: Board) -> list[str]:
    """Return the territories of a continent, or the one territory, or none for `rest`."""
    if place == "rest":
        return []
    if place not in board.continents:
        return [board.territories[board.territory(place)]]
    number = board.continents.index(place)
    return [
        name
        for name, continent in zip(board.territories, board.continent_of, strict=True)
        if continent == number
    ]


def star_position(
    rules: str,
    *armies: str,
    capitals: tuple[str, ...] = (),
    cities: str = "",
    goals: Mapping[str, Goal] | None = None,
    **lines: Any,
) -> Game:
    """Return a 2008 game with capitals, cities and objectives.

    The default capitals are the territories that the armies name first, and the default cities those of Basic
    Training. `goals` lays out objectives by name. Four minor and four major objectives are completed with
    others of the map, face up. A Reward belongs to the holder of its objective. The Reward of an airfield
    does so only if a line tells where the airfield stands.
    """
    basic = "basic_training" in rules
    told: dict[str, Any] = {}
    for seat, place in enumerate(capitals or (() if basic else _first_places(armies))):
        told[f"capital {seat}"] = place
    if not basic:
        fixed = [CLASSIC.territories[t] for t in CLASSIC.basic_training_cities]
        told["cities"] = cities or ", ".join(fixed)
    return position(rules, *armies, entries=told | _objective_lines(goals or {}, lines, basic), **lines)


def _first_places(armies: tuple[str, ...]) -> list[str]:
    """Return the territory that each army names first, or the first that it holds."""
    held = _held(armies, CLASSIC)
    named = [[name for place, _ in _garrisons(army) for name in _named(place, CLASSIC)] for army in armies]
    return [[*names, *(t for t in held if held[t][0] == seat)][0] for seat, names in enumerate(named)]


def _objective_lines(goals: Mapping[str, Goal], lines: Mapping[str, Any], basic: bool) -> dict[str, str]:
    """Return the lines of the objectives and of the Rewards that have an owner."""
    told: dict[str, str] = {}
    for name, (holder, reward) in (_with_holders(goals) if basic else _laid_out(goals)).items():
        state = f"player {holder}" if isinstance(holder, int) else holder
        told[f"objective {name}"] = f"{state}, reward {reward}" if reward else state
        stands = reward not in AIRFIELDS or reward.replace(" ", "_") in lines
        if isinstance(holder, int) and reward and stands:
            told[f"reward {reward}"] = str(holder)
    return told


def _with_holders(goals: Mapping[str, Goal]) -> dict[str, tuple[int | str, str]]:
    return {name: goal if isinstance(goal, tuple) else (goal, "") for name, goal in goals.items()}


def _laid_out(goals: Mapping[str, Goal]) -> dict[str, tuple[int | str, str]]:
    """Return four minor and four major objectives, each with a Reward of its rank (RULES 9.3)."""
    laid: dict[str, tuple[int | str, str]] = {}
    for major, rewards in ((False, MINOR), (True, MAJOR)):
        names = [goal.name for goal in CLASSIC.objectives if goal.major == major]
        chosen = [name for name in names if name in goals] + [name for name in names if name not in goals]
        told = _with_holders({name: goals.get(name, "face up") for name in chosen[:4]})
        left = [reward for reward in rewards if reward not in {given for _, given in told.values()}]
        laid |= {name: (holder, reward or left.pop(0)) for name, (holder, reward) in told.items()}
    return laid


def places(text: str, without: str = "") -> str:
    """Return the territories of an army's text, less some others, as a position lists them."""
    named = [name for place, _ in _garrisons(text) for name in _named(place, CLASSIC)]
    left_out = [name for place, _ in _garrisons(without) for name in _named(place, CLASSIC)]
    return ", ".join(name for name in dict.fromkeys(named) if name not in left_out) or "-"


# Playing


def play(game: Game, *texts: str) -> Game:
    """Play actions one after another and return the same game."""
    for text in texts:
        game.step(text)
    return game


def legal(game: Game) -> list[str]:
    """Return the legal actions as texts, in the order of their numbers."""
    return [game.action_text(action) for action in game.legal_actions()]


def refused(game: Game, *texts: str) -> None:
    """Check that none of the actions is legal, and that trying them changes nothing."""
    before = game.to_bytes()
    for text in texts:
        with pytest.raises(IllegalAction):
            game.step(text)
    assert game.to_bytes() == before


def to_next_turn(game: Game) -> Game:
    """Decline every decision until another seat's turn has begun or the game is over."""
    turn = game.turn
    while game.turn == turn and not game.is_over:
        game.step("done")
    return game


def place_all(game: Game) -> Game:
    """Place the whole draft on one territory."""
    return play(game, legal(game)[0], "troops all")


def to_own_draft(game: Game, seat: int = 0) -> Game:
    """Play to the start of a seat's next turn.

    The other seats place all troops and do nothing else.
    """
    to_next_turn(game)
    while game.turn != seat:
        if game.phase == Phase.TRADE:
            game.step("done")
        while game.phase in (Phase.DRAFT, Phase.DRAFT_AMOUNT):
            game.step(int(game.legal_actions()[-1]))
        to_next_turn(game)
    return game


def play_at_random(game: Game, rng: random.Random, most: int) -> Iterable[Game]:
    """Play at random and yield the game before every action and at the end."""
    for _ in range(most):
        yield game
        if game.is_over:
            return
        game.step(rng.choice(game.legal_actions().tolist()))


def with_generator(game: Game, state: int) -> Game:
    """Return the same position with another state of the random generator.

    Its history begins here.
    """
    games = np.frombuffer(game.to_record(), game.records.dtype).copy()
    games["random"] = state
    return Game.from_record(game.rules, game.board, games.tobytes())


def futures(game: Game, number: int) -> Iterable[Game]:
    """Return an iterator over the same position with `number` different futures."""
    return (with_generator(game, state) for state in range(1, number + 1))


def made_to_order(
    game: Game, texts: Iterable[str], wanted: Callable[[Game], bool], tries: int = 5000
) -> Game:
    """Return the game after some actions, with random numbers that make the result as wanted."""
    for other in futures(game, tries):
        if wanted(play(other, *texts)):
            return other
    raise LookupError(f"none of {tries} futures is wanted")


def rolled(game: Game) -> tuple[list[int], list[int]]:
    """Return the rolled dice of both sides, from the highest down. This is faster than `battle`."""
    attack, defence = (
        sorted((int(face) for face in dice if face), reverse=True) for dice in game.record.rolled
    )
    return attack, defence


def battle(game: Game) -> Battle:
    """Return the last roll, or raise LookupError if there was none."""
    last = game.last_battle
    if last is None:
        raise LookupError("nothing was rolled")
    return last


# Looking


def troops_on(game: Game, *names: str) -> list[int]:
    """Return the troops on some territories."""
    return [int(game.troops[game.board.territory(name)]) for name in names]


def owner_of(game: Game, name: str) -> int:
    """Return the owner of a territory."""
    return int(game.owner[game.board.territory(name)])


def to_draft(game: Game) -> int:
    """Return the number of troops that are still to be placed."""
    return int(game.record.draft_left)


def holder(game: Game, objective: str) -> int:
    """Return the seat that holds an objective, -1 if it is face up, -2 if it is not in play."""
    names = [goal.name for goal in game.board.objectives]
    return int(game.record.objective[names.index(objective)])


def reward_owner(game: Game, reward: Reward) -> int:
    """Return the seat that owns a Reward, or -1 if nobody does."""
    return int(game.record.reward_owner[reward])


def in_phase(game: Game, phase: Phase, seat: int | None = None) -> bool:
    """Return True if the game is in this phase, and `seat`, if given, is to act."""
    return game.phase == phase and (seat is None or game.seat == seat)
