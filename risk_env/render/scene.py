"""What a picture shows: the public facts of a position, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from risk_env.board.maps import Board
from risk_env.core.types import NOBODY, NOWHERE, Held
from risk_env.text.notation import reward_name


@dataclass(frozen=True)
class Scene:
    """A public position. Seats are 0 ... `num_players` - 1; `num_players` owns the neutral army, -1 nobody.

    `attack` is the running battle's (source, target) and `dice` its last roll, (attacker's, defender's).
    `capitals` and `headquarters` hold a territory a seat, -1 for none or one not yet public;
    `cities` and `airfields` are territories.
    """

    owner: tuple[int, ...]  # (T,)
    troops: tuple[int, ...]  # (T,)
    num_players: int
    turn: int = -1  # whose turn it is
    seat: int = -1  # who decides now
    phase: str = ""
    round: int = 0
    hand_sizes: tuple[int, ...] = ()  # (P,) or empty: not shown
    alive: tuple[bool, ...] = ()  # (P,) or empty: all live
    names: tuple[str, ...] = ()  # (P,) or empty: "Player 0", ...
    cities: tuple[int, ...] = ()
    capitals: tuple[int, ...] = ()  # (P,) or empty
    headquarters: tuple[int, ...] = ()  # (P,) or empty
    airfields: tuple[int, ...] = ()
    objectives: tuple[tuple[str, int, str], ...] = ()  # in play: name, holder (-1 face up), Reward that lies with it
    rewards: tuple[tuple[str, int], ...] = ()  # that are owned: name, owner
    signs: tuple[str, ...] = ()  # what may stand on territories by the rules: "city", "capital", ...
    attack: tuple[int, int] | None = None
    dice: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    winner: int = -1

    def name(self, seat: int) -> str:
        """What a seat is called; the neutral army's seat is `num_players`."""
        if seat == self.num_players:
            return "Neutral"
        return self.names[seat] if seat < len(self.names) else f"Player {seat}"

    def lives(self, seat: int) -> bool:
        """Whether a seat is still in the game."""
        return self.alive[seat] if self.alive else True

    def held_by(self, seat: int) -> list[int]:
        """The territories of a seat, ascending."""
        return [t for t, owner in enumerate(self.owner) if owner == seat]

    def armies(self) -> list[int]:
        """All seats, and the neutral army's if it holds a territory."""
        return [*range(self.num_players), *([self.num_players] if self.num_players in self.owner else [])]

    def holder(self, board: Board, continent: int) -> int:
        """Who holds a whole continent (RULES 3.1.2), -1 for nobody."""
        owners = {self.owner[t] for t, c in enumerate(board.continent_of) if c == continent}
        return owners.pop() if len(owners) == 1 else -1

    def goals(self) -> list[tuple[str, str]]:
        """Objectives face up, and those taken and Rewards (RULES 9.5, 9.8): whose, and which."""
        face_up = [f"{name} [{reward}]" if reward else name for name, holder, reward in self.objectives if holder < 0]
        told = [("Objectives face up", face_up)]
        for seat in range(self.num_players):
            held = [name for name, holder, _ in self.objectives if holder == seat]
            told.append((self.name(seat), held + [f"[{name}]" for name, owner in self.rewards if owner == seat]))
        return [(whose, ", ".join(names)) for whose, names in told if names]

    def status(self, board: Board) -> str:
        """One line: round, turn, phase and the running battle."""
        if self.winner >= 0:
            return f"Round {self.round}: {self.name(self.winner)} has won"
        words = [f"Round {self.round}"] if self.round else ["Set-up"]
        if self.turn >= 0:
            words.append(f"{self.name(self.turn)}'s turn")
        if self.phase:
            words.append(self.phase.replace("_", " ").lower() + self._decider())
        if self.attack:
            words.append(" > ".join(board.territories[t] for t in self.attack))
        return ", ".join(words)

    def _decider(self) -> str:
        """Names the seat to decide where it is not the one whose turn it is (RULES 3.2.2)."""
        return f" ({self.name(self.seat)} decides)" if 0 <= self.seat != self.turn else ""


def check_scene(board: Board, scene: Scene) -> None:
    """ValueError unless the scene is one of this board's."""
    for field in ("owner", "troops"):
        given = len(getattr(scene, field))
        if given != board.num_territories:
            raise ValueError(f"{field}: {given} values; the map {board.name!r} has {board.num_territories} territories")
    for t, owner in enumerate(scene.owner):
        if not -1 <= owner <= scene.num_players:
            allowed = f"-1 (free) ... {scene.num_players} (neutral)"
            raise ValueError(f"owner of {board.territories[t]}: {owner}; allowed are {allowed}")
    for field in ("hand_sizes", "alive", "names", "capitals", "headquarters"):
        given = len(getattr(scene, field))
        if given not in (0, scene.num_players):
            raise ValueError(f"{field}: {given} values; allowed are none or one a seat ({scene.num_players})")


BATTLES = ("ATTACK_DICE", "DEFEND", "REROLL", "COMMANDER", "OCCUPY")  # phases of a running battle (docs/decisions.md)
ROLLED = ("REROLL", "COMMANDER", "OCCUPY")  # those in which its dice lie on the table


def scene_of(game: Any) -> Scene:
    """The public facts of a `Game`: no hands, no missions, no headquarters before all are open (RULES 7.1)."""
    record, seats, phase = game.record, range(game.num_players), game.phase.name
    headquarters = record.headquarters if record.headquarters_open else ()
    return Scene(
        owner=tuple(game.owner.tolist()),
        troops=tuple(game.troops.tolist()),
        num_players=game.num_players,
        turn=-1 if game.is_over else game.turn,
        seat=game.seat,
        phase=phase,
        round=game.round,
        hand_sizes=tuple(game.hand_size(seat) for seat in seats),
        alive=tuple(game.alive.tolist()),
        cities=tuple(t for t in range(game.board.num_territories) if int(record.city[t >> 6]) >> (t & 63) & 1),
        capitals=_places(record.capital[: game.num_players]),
        headquarters=_places(headquarters[: game.num_players]),
        airfields=tuple(int(place) for place in record.airfield if place != NOWHERE),
        objectives=_objectives(game),
        rewards=tuple((reward_name(r), int(owner)) for r, owner in enumerate(record.reward_owner) if owner != NOBODY),
        signs=_signs(game.rules),
        attack=(int(record.source), int(record.target)) if phase in BATTLES else None,
        dice=_dice_of(record) if phase in ROLLED else None,
        winner=game.winner,
    )


def _signs(rules: Any) -> tuple[str, ...]:
    """The signs that territories can have by these rules."""
    has = {
        "city": rules.cities is not None,
        "capital": rules.capitals,
        "headquarters": rules.victory == "headquarters",
        "airfield": rules.rewards,
    }
    return tuple(sign for sign, may_stand in has.items() if may_stand)


def _objectives(game: Any) -> tuple[tuple[str, int, str], ...]:
    """Those in play (RULES 9.3)."""
    states, rewards = game.record.objective.tolist(), game.record.objective_reward.tolist()
    return tuple(
        (objective.name, state, reward_name(reward))
        for objective, state, reward in zip(game.board.objectives, states, rewards, strict=False)
        if state != Held.NOT_IN_PLAY
    )


def _places(territories: Any) -> tuple[int, ...]:
    """A territory a seat, or nothing where there is none at all."""
    places = tuple(int(territory) for territory in territories)
    return places if any(place != NOWHERE for place in places) else ()


def _dice_of(record: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The last roll as it stands, (attacker's, defender's), highest first."""
    attacker, defender = (tuple(int(die) for die in dice if die) for dice in record.settled)
    return attacker, defender
