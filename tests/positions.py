"""Hand-made positions: armies in words, usual values for everything else, dice made to order.

An army is a text such as `"Alaska 3, Europe 2, Ukraine, rest"`: territories or whole continents, each with its troops
(one where no number stands). What is named later wins, within an army and between armies; `rest` is all that no army
names. The other lines of a position are those of `Game.to_text`, blanks written as underscores.
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

Goal = int | str | tuple[int | str, str]  # holder or "face up", and perhaps the Reward that comes with it


# ------------------------------------------------------------------------------------------------ positions


def position(
    rules: str,
    *armies: str,
    map: str = "classic",
    ask_forced: bool = False,
    entries: Mapping[str, Any] | None = None,
    **lines: Any,
) -> Game:
    """A game: `rules` as `preset=classic, fortify=adjacent` (a bare word is a preset), an army for each seat."""
    board = load_map(map)
    options = rules if "=" in rules.split(",")[0] else f"preset={rules}"
    told = {"rules": options, "map": map, "phase": "attack", "random": "7", **(entries or {})}
    told |= {key.replace("_", " "): value for key, value in lines.items()}
    head = ["risk_env game 1", *(f"{key}: {value}" for key, value in told.items()), "[territories]"]
    names = ["0", "1", "neutral"] if "two_player" in rules else list("012345")
    held = [f"{place}: {names[army]}, {troops}" for place, (army, troops) in _held(armies, board).items()]
    return Game.from_text("\n".join([*head, *held]), ask_forced)


def _held(armies: Iterable[str], board: Board) -> dict[str, tuple[int, int]]:
    """Army and troops of each territory that is named; the army after the last seat is the neutral one."""
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
    """The territories of a continent, or the one territory; none for `rest`."""
    if place == "rest":
        return []
    if place not in board.continents:
        return [board.territories[board.territory(place)]]
    number = board.continents.index(place)
    return [name for name, continent in zip(board.territories, board.continent_of, strict=True) if continent == number]


def star_position(
    rules: str,
    *armies: str,
    capitals: tuple[str, ...] = (),
    cities: str = "",
    goals: Mapping[str, Goal] | None = None,
    **lines: Any,
) -> Game:
    """A 2008 game: capitals by seat (else what each army names first), cities (else Basic Training's), objectives.

    `goals` lays out objectives by name; four minor and four major ones come together with others of the map, face up.
    A Reward belongs to the holder of its objective, that of an airfield only if a line says where it stands.
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
    """The territory that each army names first, or the first that it holds."""
    held = _held(armies, CLASSIC)
    named = [[name for place, _ in _garrisons(army) for name in _named(place, CLASSIC)] for army in armies]
    return [[*names, *(t for t in held if held[t][0] == seat)][0] for seat, names in enumerate(named)]


def _objective_lines(goals: Mapping[str, Goal], lines: Mapping[str, Any], basic: bool) -> dict[str, str]:
    """The lines of the objectives and of the Rewards that somebody owns."""
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
    """Four minor and four major objectives, each with a Reward of its rank (RULES 9.3)."""
    laid: dict[str, tuple[int | str, str]] = {}
    for major, rewards in ((False, MINOR), (True, MAJOR)):
        names = [goal.name for goal in CLASSIC.objectives if goal.major == major]
        chosen = [name for name in names if name in goals] + [name for name in names if name not in goals]
        told = _with_holders({name: goals.get(name, "face up") for name in chosen[:4]})
        left = [reward for reward in rewards if reward not in {given for _, given in told.values()}]
        laid |= {name: (holder, reward or left.pop(0)) for name, (holder, reward) in told.items()}
    return laid


def places(text: str, without: str = "") -> str:
    """The territories of an army's text as a line of a position lists them, less some others."""
    named = [name for place, _ in _garrisons(text) for name in _named(place, CLASSIC)]
    left_out = [name for place, _ in _garrisons(without) for name in _named(place, CLASSIC)]
    return ", ".join(name for name in dict.fromkeys(named) if name not in left_out) or "-"


# ------------------------------------------------------------------------------------------------ playing


def play(game: Game, *texts: str) -> Game:
    """Play actions one after the other; the game itself."""
    for text in texts:
        game.step(text)
    return game


def legal(game: Game) -> list[str]:
    """The legal actions as texts, in the order of their numbers."""
    return [game.action_text(action) for action in game.legal_actions()]


def refused(game: Game, *texts: str) -> None:
    """None of the actions is legal, and trying them changes nothing."""
    before = game.to_bytes()
    for text in texts:
        with pytest.raises(IllegalAction):
            game.step(text)
    assert game.to_bytes() == before


def to_next_turn(game: Game) -> Game:
    """Say no to everything that is asked until another seat's turn has begun, or the game is over."""
    turn = game.turn
    while game.turn == turn and not game.is_over:
        game.step("done")
    return game


def place_all(game: Game) -> Game:
    """Place the whole draft on one territory."""
    return play(game, legal(game)[0], "troops all")


def to_own_draft(game: Game, seat: int = 0) -> Game:
    """On to the start of a seat's next turn; the others place all they have and do nothing else."""
    to_next_turn(game)
    while game.turn != seat:
        if game.phase == Phase.TRADE:
            game.step("done")
        while game.phase in (Phase.DRAFT, Phase.DRAFT_AMOUNT):
            game.step(int(game.legal_actions()[-1]))
        to_next_turn(game)
    return game


def play_at_random(game: Game, rng: random.Random, most: int) -> Iterable[Game]:
    """Random play, the game yielded before every action and at the end."""
    for _ in range(most):
        yield game
        if game.is_over:
            return
        game.step(rng.choice(game.legal_actions().tolist()))


def with_generator(game: Game, state: int) -> Game:
    """The same position with another state of the generator: other chance to come; its history begins here."""
    games = np.frombuffer(game.to_record(), game.records.dtype).copy()
    games["random"] = state
    return Game.from_record(game.rules, game.board, games.tobytes())


def futures(game: Game, number: int) -> Iterable[Game]:
    """The same position with that number of different futures."""
    return (with_generator(game, state) for state in range(1, number + 1))


def made_to_order(game: Game, texts: Iterable[str], wanted: Callable[[Game], bool], tries: int = 5000) -> Game:
    """The game after some actions, with such chance as makes it what is wanted."""
    for other in futures(game, tries):
        if wanted(play(other, *texts)):
            return other
    raise LookupError(f"none of {tries} futures is wanted")


def rolled(game: Game) -> tuple[list[int], list[int]]:
    """The dice of both sides as they fell, from the highest down; quicker than `battle`."""
    attack, defence = (sorted((int(face) for face in dice if face), reverse=True) for dice in game.record.rolled)
    return attack, defence


def battle(game: Game) -> Battle:
    """The last roll, which there must have been."""
    last = game.last_battle
    if last is None:
        raise LookupError("nothing was rolled")
    return last


# ------------------------------------------------------------------------------------------------ looking


def troops_on(game: Game, *names: str) -> list[int]:
    """The troops on some territories."""
    return [int(game.troops[game.board.territory(name)]) for name in names]


def owner_of(game: Game, name: str) -> int:
    """Who holds a territory."""
    return int(game.owner[game.board.territory(name)])


def to_draft(game: Game) -> int:
    """Troops that are still to be placed."""
    return int(game.record.draft_left)


def holder(game: Game, objective: str) -> int:
    """The seat that holds an objective, -1 face up, -2 not in play."""
    names = [goal.name for goal in game.board.objectives]
    return int(game.record.objective[names.index(objective)])


def reward_owner(game: Game, reward: Reward) -> int:
    """The seat that owns a Reward, -1 nobody."""
    return int(game.record.reward_owner[reward])


def in_phase(game: Game, phase: Phase, seat: int | None = None) -> bool:
    """Whether a phase is at hand, and a seat is asked."""
    return game.phase == phase and (seat is None or game.seat == seat)
