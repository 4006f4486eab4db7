"""Games of bad bots against a good one, between games of good bots.

The contest reports everything that goes wrong.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from risk_agents.tournament.config import Entrant, TournamentConfig
from risk_agents.tournament.jobs import close_pools, play
from risk_agents.tournament.loading import make_config
from risk_agents.tournament.results import FORFEIT, GameResult
from risk_agents.tournament.results_store import Store
from risk_agents.tournament.schedule import Pairing
from risk_env.board.rules import Rules
from risk_env.players import FAULTS

FOLDER = Path(__file__).parent
GOOD = tuple(f"{FOLDER.parent / 'players.py'}:{name}" for name in ("FIRST", "BOLD"))
RULES = Rules.preset("classic", num_players=2, attack="blitz", defender_dice="max", max_rounds=2)
FINE = ""  # kind of a bot that plays well in spite of its habit


class BadBot(NamedTuple):
    """A bad bot: its spec for the tournament, and the kind of its forfeit."""

    spec: str
    kind: str


def program(habit: str) -> str:
    """Return the spec of a habit of `program.py`."""
    return f"cmd:{shlex.quote(sys.executable)} {shlex.quote(str(FOLDER / 'program.py'))} {habit}"


def agent(name: str) -> str:
    """Return the spec of a class of `agents.py`."""
    return f"{FOLDER / 'agents.py'}:{name}"


_PROGRAMS = {
    "garbage": (
        "garbage stale no_object nan overflows too_huge_number deep deep_and_closed binary empty endless "
        "for_ever newer unnamed"
    ),
    "illegal": "illegal plans-badly wrong_type boolean fraction huge_number surrogate escapes",
    "time": "half hangs ignores_signals leaves stops_supervisor deaf mute",
    "died": "half_and_exit closes dies dies_at_once aborts allocates leaves_a_daemon kills_supervisor exits",
    FINE: "good plans texts digits umlaut noisy clings",
}
_AGENTS = {
    "crash": "Crashing CrashingAtReset CrashingOddly Wordy Huge Absent Recursive",
    "illegal": "Illegal",
    "time": "Hanging HalfMessage",
    "died": "Dying Leaving ClosingPipes",
    "garbage": "GarbageMessage OtherMessage EndlessMessage",
    FINE: "Loud",
}
BAD_BOTS = {
    **{name: BadBot(program(name), kind) for kind, names in _PROGRAMS.items() for name in names.split()},
    **{name: BadBot(agent(name), kind) for kind, names in _AGENTS.items() for name in names.split()},
    "broken": BadBot(f"{FOLDER / 'broken.py'}:Bot", "crash"),
    "missing": BadBot("cmd:./no-such-program", "died"),
}


class Contest:
    """Games of every bad bot against the first good one, each followed by a game of the two good ones."""

    def __init__(self, names: Sequence[str], time_limit: float = 1.0, sandbox: str | None = None) -> None:
        self.names = names
        self.config = _config(names, time_limit, sandbox)
        self.pairings = list(_pairings(len(names)))

    def play(self, store: Store) -> Iterator[GameResult]:
        """Play all games into the store, and yield their results."""
        try:
            for pairing in self.pairings:
                (result,) = play(self.config, (pairing,))
                store.add(result)
                yield result
        finally:
            close_pools()

    def expected(self) -> dict[int, GameResult]:
        """Return the games of the good bots, by number, played without bad ones."""
        good = tuple(pairing for pairing in self.pairings if max(pairing.seats) < len(GOOD))
        return {result.game: result for result in play(self.config, good)}

    def problem(self, result: GameResult, expected: dict[int, GameResult]) -> str:
        """Return the problem with a game, or "" if there is none."""
        if result.game in expected:
            same = all(
                getattr(result, name) == getattr(expected[result.game], name)
                for name in ("actions", "places")
            )
            return "" if same else "a game of good bots went otherwise than without bad ones"
        bad = BAD_BOTS[self.names[result.seats[1] - len(GOOD)]]
        if bad.kind == FINE:
            return "" if result.ending != FORFEIT else f"forfeited: {result.forfeit_reason}"
        kinds = FAULTS if self.config.sandbox else (bad.kind,)  # a sandbox stops some bad deeds
        if (result.ending, result.forfeit_seat) != (FORFEIT, 1) or result.forfeit_kind not in kinds:
            return (
                f"must forfeit by {bad.kind!r}, "
                f"but {result.ending} {result.forfeit_kind} {result.forfeit_reason}"
            )
        if not result.forfeit_reason.isprintable() or len(result.forfeit_reason) > 500:
            return "a reason that cannot be printed"
        return "" if (result.winner, result.places) == (0, (1, 2)) else "the other one has not won"


def _config(names: Sequence[str], time_limit: float, sandbox: str | None) -> TournamentConfig:
    """Return the configuration.

    Bad bots are not tried out, because that would refuse them.
    """
    good = make_config(GOOD, RULES, record=True, time_limit=time_limit)
    bad = (Entrant(name, BAD_BOTS[name].spec, "?", compiled=False) for name in names)
    values = {**vars(good), "entrants": (*good.entrants, *bad), "sandbox": sandbox}
    return TournamentConfig(**{name: values[name] for name in TournamentConfig.__dataclass_fields__})


def _pairings(number: int) -> Iterator[Pairing]:
    for k in range(number):
        yield Pairing(2 * k, k, (0, len(GOOD) + k))
        yield Pairing(2 * k + 1, k, (0, 1))
