"""Verification of result files: all games are played again and compared with the file.

The opponents choose their actions again, and so does a measured agent that is a registered compiled bot. The
actions of any other measured agent are taken from the file.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from risk_agents.benchmark.result_file import (
    Header,
    RecordedGame,
    ResultFileError,
    Results,
    check_registered,
    read_header,
    read_recorded,
    scores_of,
)
from risk_agents.benchmark.scoring import TrackScore
from risk_agents.tournament.players import compiled_bot
from risk_agents.tournament.results import FORFEIT
from risk_agents.tournament.runner import TournamentMatch
from risk_agents.tournament.schedule import Pairing
from risk_agents.workers import in_order
from risk_agents.workers.executor import WorkExecutor
from risk_env.bots import CompiledBot
from risk_env.players import PlayerFault
from risk_env.saved_game import SavedGame, SavedGameError

AT_ONCE = 8  # maximum number of games in a chunk
_COMPARED = ("starter", "ending", "winner", "places", "rounds", "opening", "forfeit_seat", "forfeit_kind")
Progress = Callable[[int], None]  # called with the number of games played so far


class Verified(NamedTuple):
    """Result of a verification that found no error."""

    header: Header
    scores: dict[str, TrackScore]
    games: int
    agent_played: bool  # True if the actions of the agent were compared too


def verify(path: str | Path, executor: WorkExecutor, progress: Progress = lambda games: None) -> Verified:
    """Play all games of a result file again, and return the result of the verification.

    Raises ResultFileError at the first game, version or score that differs, and for a file that is not valid.
    """
    try:
        return _verified(path, executor, progress)
    except ResultFileError:
        raise
    except (ValueError, OSError) as error:
        raise ResultFileError(f"{path}: {error}") from error


def _verified(path: str | Path, executor: WorkExecutor, progress: Progress) -> Verified:
    header = read_header(path)
    plays_agent = _check_versions(path, header)
    results, played = Results(), 0

    def pieces() -> Iterator[tuple[list[RecordedGame], bool]]:
        left = read_recorded(path)
        while games := list(islice(left, AT_ONCE)):
            for game in games:
                results.add(game)
            yield games, plays_agent

    for count in in_order(executor, check_games, pieces()):
        played += count
        progress(played)
    return Verified(header, scores_of(path, header, results), played, plays_agent)


def _check_versions(path: str | Path, header: Header) -> bool:
    """Return True if the measured agent can choose its actions again, and False otherwise.

    Raises ResultFileError if a compiled bot of the file is missing or has another version, and ValueError if
    `registered` is wrong for the measured agent.
    """
    bots = [entrant for track in header.tracks for entrant in track.entrants]
    agent = header.facts["agent"]
    check_registered(agent)  # other names could be Python files, which run when they are loaded
    plays_agent = agent["registered"] and compiled_bot(agent["name"]) is not None
    if plays_agent:
        bots.append(replace(bots[0], label=agent["name"], spec=agent["name"], version=agent["version"]))
    for entrant in bots:
        bot = compiled_bot(entrant.spec)
        if bot is None or bot.version != entrant.version:
            now = "not a compiled bot" if bot is None else f"version {bot.version!r}"
            raise ResultFileError(
                f"{path}: {entrant.label} is version {entrant.version!r} in the file, but {now} in this "
                "installation"
            )
    return plays_agent


def check_games(games: Sequence[RecordedGame], plays_agent: bool) -> int:
    """Play games again, and return the number of games; raise ResultFileError if a game differs."""
    for game in games:
        check_game(game, plays_agent)
    return len(games)


def check_game(game: RecordedGame, plays_agent: bool) -> None:
    """Play a game again; raise ResultFileError if an action or the result differs."""
    saved, config, place = game.saved, game.config, game.saved.place
    pairing = Pairing(game.result.game, game.result.deal, game.result.seats)
    match = TournamentMatch(config, pairing, _players(game, plays_agent))
    try:
        changed = match.replay(saved.actions)
    except (ValueError, PlayerFault) as error:
        raise ResultFileError(f"{place}: action {len(match.game.actions)}: {error}") from error
    for seat in sorted(changed):
        label = saved.players[seat]
        raise ResultFileError(f"{place}: {label} at seat {seat} does not choose the actions in the file")
    if plays_agent and game.result.ending == FORFEIT:
        seat = game.result.forfeit_seat
        label = saved.players[seat] if seat >= 0 else "an agent"
        raise ResultFileError(f"{place}: {label} forfeits in the file, but not in the repeated game")
    fault = _fault(game, match, place)
    if fault is None and not match.game.is_over:
        raise ResultFileError(f"{place}: the game is not over after {len(saved.actions)} actions")
    _check_state(saved, match)
    true = match.game_result(fault)
    for name in _COMPARED:
        given, played = getattr(game.result, name), getattr(true, name)
        if given != played:
            raise ResultFileError(
                f"{place}: {name} is {given!r} in the file, but {played!r} in the repeated game"
            )


def _check_state(saved: SavedGame, match: TournamentMatch) -> None:
    try:
        saved.check_end(match.game)
    except SavedGameError as error:
        raise ResultFileError(str(error)) from error


def _players(game: RecordedGame, plays_agent: bool) -> list[Any]:
    """Return the bot at each seat; None stands for an agent whose actions are taken from the file."""
    players: list[CompiledBot | None] = []
    for agent in game.result.seats:
        spec = game.config.entrants[agent].spec
        players.append(compiled_bot(spec) if agent or plays_agent else None)
    return players


def _fault(game: RecordedGame, match: TournamentMatch, place: str) -> PlayerFault | None:
    """Return the fault by which the agent forfeited, or None if the agent did not forfeit.

    Opponents never forfeit. Raises ResultFileError if the forfeit in the file is impossible.
    """
    if game.result.ending != FORFEIT:
        return None
    seat = game.result.forfeit_seat
    if seat < 0 or game.result.seats[seat] != 0:
        raise ResultFileError(
            f"{place}: forfeit_seat is {seat}, but must be the seat of the measured agent: opponents never "
            "forfeit"
        )
    if not game.result.forfeit_kind:
        raise ResultFileError(f"{place}: seat {seat} forfeits, but forfeit_kind is empty")
    if match.game.is_over or match.game.seat != seat:
        raise ResultFileError(
            f"{place}: seat {seat} forfeits, but is not the seat to act after the last action"
        )
    return PlayerFault(seat, "", game.result.forfeit_kind, "")
