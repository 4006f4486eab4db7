"""The content of a picture: a public position, and the names and signs that drawings need."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from risk_env.board.maps import Board
from risk_env.board.rules import Rules
from risk_env.core.types import Held, Phase
from risk_env.messages import counted
from risk_env.public import PublicState
from risk_env.text.notation import reward_name

BATTLE_PHASES = (Phase.ATTACK_DICE, Phase.DEFEND, Phase.ROLL, Phase.REROLL, Phase.COMMANDER, Phase.OCCUPY)


@dataclass(frozen=True, eq=False)
class Scene(PublicState):
    """A public state with the names and signs that drawings need."""

    names: tuple[str, ...] = ()  # (P,), or empty for "Player 0", ...
    signs: tuple[str, ...] = ()  # signs that the rules allow on territories: "city", "capital", ...

    @property
    def attack(self) -> tuple[int, int] | None:
        """Source and target of the current battle, or None."""
        return (self.source, self.target) if self.phase in BATTLE_PHASES else None

    def name(self, seat: int) -> str:
        """Return the name of a seat. `num_players` is the seat of the neutral army."""
        if seat == self.num_players:
            return "Neutral"
        return self.names[seat] if seat < len(self.names) else f"Player {seat}"

    def lives(self, seat: int) -> bool:
        """Return True if a seat is still in the game."""
        return bool(self.alive[seat]) if len(self.alive) else True

    def held_by(self, seat: int) -> list[int]:
        """Return the territories of a seat, ascending."""
        return np.flatnonzero(self.owner == seat).tolist()

    def armies(self) -> list[int]:
        """Return all seats, and the seat of the neutral army if the neutral army holds a territory."""
        return [*range(self.num_players), *([self.num_players] if self.num_players in self.owner else [])]

    def holder(self, board: Board, continent: int) -> int:
        """Return the owner of all territories of a continent (RULES 3.1.2), or -1 for nobody."""
        owners = self.owner[np.array(board.continent_of) == continent]
        return int(owners[0]) if (owners == owners[0]).all() else -1

    def goals(self, board: Board) -> list[tuple[str, str]]:
        """Return the Objectives and Rewards by holder (RULES 9.5, 9.8).

        The face-up Objectives come first, then the Objectives and Rewards of every seat.
        """
        listed = [("Objectives face up", self._objectives(board, Held.FACE_UP))]
        for seat in range(self.num_players):
            owned = [f"[{reward_name(reward)}]" for reward, owner in enumerate(self.rewards) if owner == seat]
            listed.append((self.name(seat), self._objectives(board, seat) + owned))
        return [(whose, ", ".join(names)) for whose, names in listed if names]

    def _objectives(self, board: Board, holder: int) -> list[str]:
        """Return the names of a holder's Objectives, with the Rewards that lie on face-up Objectives."""
        numbers = [
            number for number, state in enumerate(self.objectives[: len(board.objectives)]) if state == holder
        ]
        rewards = [reward_name(self.objective_rewards[n]) if holder == Held.FACE_UP else "" for n in numbers]
        named = zip([board.objectives[number].name for number in numbers], rewards, strict=True)
        return [f"{name} [{reward}]" if reward else name for name, reward in named]

    def status(self, board: Board) -> str:
        """Return one line: round, turn, phase and the current battle, or the winner."""
        if self.winner >= 0:
            return f"Round {self.round}: {self.name(self.winner)} has won"
        words = [f"Round {self.round}"] if self.round else ["Set-up"]
        if self.turn >= 0:
            words.append(f"{self.name(self.turn)}'s turn")
        if self.phase != Phase.OVER or self.truncated:
            is_other = 0 <= self.seat != self.turn  # a seat acts in another seat's turn (RULES 3.2.2)
            decider = f" ({self.name(self.seat)} decides)" if is_other else ""
            words.append(self.phase.name.replace("_", " ").lower() + decider)
        if self.attack:
            words.append(" > ".join(board.territories[t] for t in self.attack))
        return ", ".join(words)


def scene_of(game: Any, names: Sequence[str] = ()) -> Scene:
    """Return the scene of a game. `names` are the names of the seats."""
    return public_scene(game.public(), game.rules, names)


def public_scene(state: PublicState, rules: Rules, names: Sequence[str] = ()) -> Scene:
    """Return the scene of a public state of a game with these rules.

    If the game is over, `turn` is -1. Without a deck, `hand_sizes` is empty.
    """
    facts: dict[str, Any] = vars(state) | {"turn": -1} if state.phase == Phase.OVER else vars(state)
    if rules.deck == "none":
        facts = facts | {"hand_sizes": ()}
    return Scene(**facts, names=tuple(names), signs=_signs(rules))


def _signs(rules: Rules) -> tuple[str, ...]:
    """Return the signs that territories can have under these rules."""
    has = {
        "city": rules.cities is not None,
        "capital": rules.capitals,
        "headquarters": rules.victory == "headquarters",
        "airfield": rules.rewards,
    }
    return tuple(sign for sign, may_stand in has.items() if may_stand)


def check_scene(board: Board, scene: Scene) -> None:
    """Raise ValueError unless the scene fits the map: number of territories, owners and number of seats."""
    for field in ("owner", "troops"):
        given = len(getattr(scene, field))
        if given != board.num_territories:
            raise ValueError(
                f"{field}: {counted(given, 'value')}; the map {board.name!r} has {board.num_territories} "
                "territories"
            )
    for t in np.flatnonzero((scene.owner < -1) | (scene.owner > scene.num_players)):
        allowed = f"-1 (free) to {scene.num_players} (neutral)"
        raise ValueError(f"owner of {board.territories[t]}: {scene.owner[t]}; allowed: {allowed}")
    for field in ("hand_sizes", "alive", "names", "capitals", "headquarters"):
        given = len(getattr(scene, field))
        if given not in (0, scene.num_players):
            raise ValueError(
                f"{field}: {counted(given, 'value')}; allowed: none, or one per seat ({scene.num_players})"
            )
