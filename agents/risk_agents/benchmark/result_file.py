"""Result files of benchmarks: JSON Lines with a header and one saved game per line (docs/benchmark.md).

The header states the agent, the tracks and the scores. The games follow in the order of the tracks'
schedules. Each game is a `SavedGame` with a `result`. Scores are always computed again from the games that
are read.
"""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from risk_agents.benchmark.scoring import TrackScore, score_of
from risk_agents.benchmark.tracks import ORDER, Track, find
from risk_agents.game_files import read_game
from risk_agents.tournament.columns import COLUMNS
from risk_agents.tournament.config import Entrant, TournamentConfig
from risk_agents.tournament.records import saved_game
from risk_agents.tournament.results import FORFEIT, NOBODY, TRUNCATED, WON, GameResult
from risk_agents.tournament.results_store import Store
from risk_agents.tournament.schedule import Pairing
from risk_env import bots
from risk_env.bounded_io import parse_json
from risk_env.messages import shortened
from risk_env.saved_game import SavedGame
from risk_env.text.escape import LABEL_LETTERS, is_label
from risk_env.whole_file import whole_file

FORMAT = "risk_env benchmark"
SCHEMA = 1
SUFFIX = ".jsonl"
MOST_BYTES = 1 << 29  # maximum size of a file, in bytes
LONGEST_HEADER = 1 << 18  # maximum size of the header, in bytes
LONGEST_GAME = 1 << 20  # maximum size of a game, in bytes
LONGEST_TEXT = 300  # maximum number of characters in a string of the header
MOST_TEXTS = 20  # maximum number of strings in a card, and in the facts about a machine
MOST_TRACKS = len(ORDER)
TESTED = " (tested)"  # added to an agent's label if an opponent of a track has the same label
# keys of the header, and the types of their values
_HEADER: dict[str, type] = {
    "format": str,
    "schema": int,
    "risk_env": str,
    "agent": dict,
    "card": dict,
    "quick": bool,
    "tracks": list,
    "digest": str,
    "machine": dict,
    "times": dict,
}
_AGENT: dict[str, type] = {"name": str, "version": str, "registered": bool, "compiled": bool, "sha256": str}
CARD: dict[str, str] = {  # keys of an agent's card, and their meaning
    "method": "method of the agent",
    "budget": "training budget of the agent",
    "decisions": "number of training decisions (required for training tracks)",
    "code": "address of the agent's code",
}
_TRACK: dict[str, type] = {"name": str, "version": int, "digest": str, "score": dict}
# keys of a game's result
_RESULT = ("track", "game", "starter", "ending", "winner", "places", "rounds", "opening")
_FORFEIT = ("forfeit_seat", "forfeit_kind")


class ResultFileError(ValueError):
    """Error in a result file: a wrong format, or statements that contradict the games.

    The message names the file, the place and the problem.
    """


@dataclass(frozen=True)
class Header:
    """First line of a result file."""

    facts: Mapping[str, Any]  # content of the line, which has been checked
    tracks: tuple[Track, ...]

    @property
    def name(self) -> str:
        """Name of the agent."""
        return str(self.facts["agent"]["name"])

    @property
    def is_quick(self) -> bool:
        """True if only the first deals of each track were played (`--quick`)."""
        return bool(self.facts["quick"])

    def configs(self, track: Track) -> list[TournamentConfig]:
        """Return the configuration of the track's games on each map."""
        agent = self.facts["agent"]
        spec = agent["name"] if agent["registered"] else ""
        label = label_on(track, agent["name"])
        return track.configs([Entrant(label, spec, agent["version"], agent["compiled"]), *track.entrants])

    def pairings(self, track: Track) -> list[tuple[TournamentConfig, Pairing]]:
        """Return the configuration and the pairing of each game of a track, in the order of the file."""
        games = track.games(self.is_quick)
        return [(config, pairing) for config in self.configs(track) for pairing in config.schedule(games)]


@dataclass(frozen=True)
class RecordedGame:
    """Game of a result file: its track, its configuration, the saved game and the result."""

    track: Track
    config: TournamentConfig
    saved: SavedGame
    result: GameResult


def label_on(track: Track, name: str) -> str:
    """Return the label of the agent `name` on a track; add TESTED if an opponent has the same label."""
    return name + TESTED if name in {each.label for each in track.opponents} else name


# ------------------------------------------------------------------------------------------ writing


def write_results(
    path: Path, facts: Mapping[str, Any], played: Sequence[tuple[Track, Sequence[Store]]]
) -> None:
    """Write a result file.

    `facts` are the parts of the header that describe the agent, the machine and the times. `played` contains
    each track with the stores of its games, one store for each map.
    """
    header = Header(facts, tuple(track for track, _ in played))
    digest, tracks = _digest_of(facts), []
    for track, parts in played:
        for line in _lines(header, track, parts):
            digest.update(line)
        games = track.games(header.is_quick)
        score = score_of(track, [list(islice(part.results(), games)) for part in parts])
        tracks.append(
            {"name": track.name, "version": track.version, "digest": track.digest, "score": score.to_dict()}
        )
    whole = {"format": FORMAT, "schema": SCHEMA, **facts, "tracks": tracks, "digest": digest.hexdigest()}
    with whole_file(path) as fresh, open(fresh, "wb") as lines:
        lines.write(json.dumps({name: whole[name] for name in _HEADER}).encode() + b"\n")
        for track, parts in played:
            lines.writelines(_lines(header, track, parts))


def _digest_of(facts: Mapping[str, Any]) -> Any:
    """Return a hash of the version, the agent and `quick`, to be updated with the games."""
    parts = [facts[name] for name in ("risk_env", "agent", "quick")]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode())


def _lines(header: Header, track: Track, parts: Sequence[Store]) -> Iterator[bytes]:
    """Yield the lines of a track's games."""
    games = track.games(header.is_quick)
    for config, part in zip(header.configs(track), parts, strict=True):
        for result in islice(part.results(actions=True), games):
            facts = saved_game(config, result).to_dict() | {"result": result_on_track(track, result)}
            yield json.dumps(facts).encode() + b"\n"


def result_on_track(track: Track, result: GameResult) -> dict[str, Any]:
    """Return the result of a game as a dict for the result file."""
    names = _RESULT[1:] + (_FORFEIT if result.forfeit_kind else ())
    return {"track": track.name, **{name: getattr(result, name) for name in names}}


# ------------------------------------------------------------------------------------------ reading


def read_results(path: str | Path) -> tuple[Header, dict[str, TrackScore]]:
    """Read a result file, and return its header and the score on each track.

    Raises FileNotFoundError if `path` is not a regular file. Raises ResultFileError if the file is not valid,
    or if its scores do not follow from its games. Only `verification` plays the actions again.
    """
    header, results = read_header(path), Results()
    for game in read_recorded(path):
        results.add(game)
    return header, scores_of(path, header, results)


class Results:
    """Results of the games of a file, without their actions."""

    def __init__(self) -> None:
        self._results: defaultdict[tuple[str, str], list[GameResult]] = defaultdict(list)

    def add(self, game: RecordedGame) -> None:
        """Add the result of a game."""
        self._results[game.track.name, game.config.map_source].append(replace(game.result, actions=None))

    def on_track(self, track: Track) -> list[list[GameResult]]:
        """Return the results of the games on each map of a track."""
        return [self._results[track.name, name] for name, _ in track.maps]


def scores_of(path: str | Path, header: Header, results: Results) -> dict[str, TrackScore]:
    """Return the score on each track; raise ResultFileError unless the header states the same scores."""
    scores = {}
    for track, facts in zip(header.tracks, header.facts["tracks"], strict=True):
        score = scores[track.name] = score_of(track, results.on_track(track))
        true = json.loads(json.dumps(score.to_dict()))
        for name in {**true, **facts["score"]}:
            if facts["score"].get(name) != true.get(name) or name not in facts["score"]:
                raise ResultFileError(
                    f"{path}, track {track.name}: {shortened(name)} is {shortened(facts['score'].get(name))} "
                    f"in the header, but the games give {shortened(true.get(name))}"
                )
    return scores


def read_header(path: str | Path) -> Header:
    """Read the header of a result file.

    Raises FileNotFoundError if `path` is not a regular file. Raises ResultFileError if the file is too large,
    or if its first line is not a valid header.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no regular file {str(path)!r}")
    if (size := Path(path).stat().st_size) > MOST_BYTES:
        raise ResultFileError(f"{path} has {size} bytes; a result file may have at most {MOST_BYTES} bytes")
    with open(path, "rb") as lines:
        return _header(lines, path)


def _header(lines: BinaryIO, path: str | Path) -> Header:
    line = lines.readline(LONGEST_HEADER + 1)
    try:
        if len(line) > LONGEST_HEADER:
            raise ValueError(f"line too long: a header has at most {LONGEST_HEADER} bytes")
        facts = parse_json(line)
        if not isinstance(facts, dict) or facts.get("format") != FORMAT:
            raise ValueError(
                f"not a benchmark's result file: the first line must be an object with `format` {FORMAT!r}"
            )
        if facts.get("schema") != SCHEMA:
            raise ValueError(
                f"schema is {shortened(facts.get('schema'))}; this version reads schema {SCHEMA}"
            )
        return header_of(facts)
    except ValueError as error:
        raise ResultFileError(f"{path}, line 1: {error}") from error


def header_of(facts: dict[str, Any]) -> Header:
    """Return the header of a result file, given its content; raise ValueError if the content is not valid."""
    return Header(facts, _checked_tracks(facts))


def _checked_tracks(facts: dict[str, Any]) -> tuple[Track, ...]:
    """Check the header, and return its tracks; raise ValueError if a key is missing or a value is invalid."""
    _check_types(facts, _HEADER, "the header")
    _check_types(facts["agent"], _AGENT, "agent")
    for name in ("name", "version"):
        if not is_label(facts["agent"][name]):
            raise ValueError(
                f"agent: {name} is {shortened(facts['agent'][name])}, but must be 1 to {LABEL_LETTERS} "
                "printable characters, with no space at either end"
            )
    check_registered(facts["agent"])
    if not re.fullmatch("([0-9a-f]{64})?", facts["agent"]["sha256"]):
        digest = shortened(facts["agent"]["sha256"])
        raise ValueError(f'agent: sha256 is {digest}, but must be 64 hexadecimal digits, or ""')
    _check_types(facts["card"], dict.fromkeys(CARD, str), "card")
    for part in ("card", "machine"):
        if len(facts[part]) > MOST_TEXTS:
            raise ValueError(f"{part} has {len(facts[part])} strings; at most {MOST_TEXTS} are allowed")
        for name, text in facts[part].items():
            _check_text(f"a name of {part}", name)
            _check_text(f"{part}: {name}", text)
    _check_text("risk_env", facts["risk_env"])
    _check_times(facts["times"])
    if not 0 < len(facts["tracks"]) <= MOST_TRACKS:
        raise ValueError(f"tracks has {len(facts['tracks'])} entries; 1 to {MOST_TRACKS} are allowed")
    tracks = []
    for each in facts["tracks"]:
        _check_types(each, _TRACK, "a track")
        track = find(each["name"], each["version"])
        if track.digest != each["digest"]:
            raise ValueError(
                f"track {track.title} has digest {shortened(each['digest'])}, but the released track has "
                f"{track.digest}"
            )
        track.check_training(facts["card"]["decisions"])
        tracks.append(track)
    if len({track.name for track in tracks}) < len(tracks):
        raise ValueError("tracks contains the same track twice")
    return tuple(tracks)


def check_registered(agent: Mapping[str, Any]) -> None:
    """Raise ValueError if `registered` states incorrectly whether an agent of this name is registered."""
    name, is_name = agent["name"], bots.is_registered(agent["name"])
    if agent["registered"] and not is_name:
        raise ValueError(f"agent: {shortened(name)} is not registered in this installation")
    if is_name and not agent["registered"]:
        raise ValueError(f"agent: registered is false, but a registered agent has the name {shortened(name)}")


def _check_text(what: str, text: Any) -> None:
    """Raise ValueError unless `text` is a string of at most LONGEST_TEXT characters."""
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        raise ValueError(
            f"{what} is {shortened(text)}, but must be a string of at most {LONGEST_TEXT} characters"
        )


def _check_times(times: dict[str, Any]) -> None:
    """Raise ValueError unless `times` contains a date, seconds, and milliseconds per turn by track."""
    _check_types(times, {"date": str, "seconds": float, "ms_a_turn": dict}, "times")
    try:
        is_date = date.fromisoformat(times["date"]).isoformat() == times["date"]
    except ValueError:
        is_date = False
    if not is_date:
        raise ValueError(f"times: date is {shortened(times['date'])}, but must be YYYY-MM-DD")
    if not 0 <= times["seconds"] < 1e9:
        raise ValueError(
            f"times: seconds is {shortened(times['seconds'])}, but must be at least 0 and below 1e9"
        )
    paces = times["ms_a_turn"]
    for name, pace in paces.items():
        if len(paces) > MOST_TRACKS or not is_label(name) or type(pace) is not float or not 0 <= pace < 1e9:
            raise ValueError(
                f"times: ms_a_turn contains {shortened(pace)} for {shortened(name)}; at most {MOST_TRACKS} "
                "tracks are allowed, with floats of at least 0 and below 1e9"
            )


def _check_types(facts: Any, kinds: Mapping[str, type], what: str) -> None:
    """Raise ValueError unless `facts` is a dict with the keys and the types of values in `kinds`."""
    if not isinstance(facts, dict):
        raise ValueError(f"{what} is {shortened(facts)}, but must be of type dict")
    for name in sorted(kinds.keys() ^ facts.keys()):
        raise ValueError(f"{what}: {shortened(name)} is {'missing' if name in kinds else 'unknown'}")
    for name, kind in kinds.items():
        if type(facts[name]) is not kind:
            raise ValueError(
                f"{what}: {name} is {shortened(facts[name])}, but must be of type {kind.__name__}"
            )


def read_recorded(path: str | Path) -> Iterator[RecordedGame]:
    """Yield the games of a result file, in order.

    The actions are not played again. Raises ResultFileError in these cases:

    * The header or a game is not valid.
    * The file does not contain exactly the games of its tracks.
    * The games do not match the digest in the header.
    """
    with open(path, "rb") as lines:
        header, number = _header(lines, path), 1
        digest = _digest_of(header.facts)
        for track in header.tracks:
            for config, pairing in header.pairings(track):
                number += 1
                line = lines.readline(LONGEST_GAME + 1)
                digest.update(line)
                try:
                    yield _game(line, f"{path}, line {number}", track, config, pairing)
                except ValueError as error:
                    text = str(error)
                    place = "" if text.startswith(str(path)) else f"{path}, line {number}: "
                    raise ResultFileError(f"{place}{text}") from error
        if lines.read(1):
            raise ResultFileError(f"{path} contains data after the last game of its tracks")
        if digest.hexdigest() != header.facts["digest"]:
            raise ResultFileError(
                f"{path}: the digest in the header does not match: version, agent or games were changed "
                "after the file was written"
            )


def _game(line: bytes, place: str, track: Track, config: TournamentConfig, pairing: Pairing) -> RecordedGame:
    """Read the next game of the schedule; raise ValueError if the line does not contain this game."""
    if not line:
        raise ValueError(f"game {pairing.game} of track {track.name} is missing")
    if len(line) > LONGEST_GAME:
        raise ValueError(f"line too long: a game has at most {LONGEST_GAME} bytes")
    saved, facts = read_game(line, place)
    result = replace(_result(facts, track, config, pairing), actions=saved.actions)
    expected = saved_game(config, result)
    for name in vars(expected):
        if name != "place" and getattr(saved, name) != getattr(expected, name):
            given, true = shortened(getattr(saved, name)), shortened(getattr(expected, name))
            raise ValueError(f"{name} is {given}, but {true} in the schedule of track {track.title}")
    return RecordedGame(track, config, saved, result)


def _result(facts: dict[str, Any], track: Track, config: TournamentConfig, pairing: Pairing) -> GameResult:
    """Return the result of a game from a file; raise ValueError if a value is not allowed."""
    names = {*_RESULT, *(_FORFEIT if facts.get("ending") == FORFEIT else ())}
    for name in sorted(names ^ facts.keys(), key=str):
        raise ValueError(f"result: the key {shortened(name)} is {'missing' if name in names else 'unknown'}")
    if facts["track"] != track.name or facts["game"] != pairing.game or type(facts["game"]) is not int:
        given = f"{shortened(facts['game'])} of {shortened(facts['track'])}"
        raise ValueError(
            f"result: game {given}, but the next game of the schedule is {pairing.game} of {track.name}"
        )
    P = config.num_players
    if not isinstance(facts["places"], list) or len(facts["places"]) != P:
        raise ValueError(f"result: places is {shortened(facts['places'])}, but must be a list of {P} places")
    for name in sorted(names - {"track", "game"}):
        column = COLUMNS[name]
        values = facts[name] if name == "places" else [facts[name]]
        if not all(column.is_right(value, config) for value in values):
            raise ValueError(f"result: {name} is {shortened(facts[name])}, but must be {column.words}")
    if len(set(facts["places"])) < P:
        raise ValueError(f"result: places is {facts['places']}, but all places must differ")
    _check_ending(facts, config)
    values = {name: facts[name] for name in names - {"track", "game", "places"}}
    return GameResult(
        pairing.game,
        pairing.deal,
        pairing.seats,
        places=tuple(facts["places"]),
        decisions=(0,) * P,
        turns=(0,) * P,
        seconds=(0.0,) * P,
        **values,
    )


def _check_ending(facts: Mapping[str, Any], config: TournamentConfig) -> None:
    """Raise ValueError if ending, winner, places and rounds contradict each other or the track's rules."""
    ending, winner, places = facts["ending"], facts["winner"], facts["places"]
    if (winner == NOBODY and ending == WON) or (winner != NOBODY and ending == TRUNCATED):
        raise ValueError(f"result: winner is {winner}, but ending is {ending!r}")
    if winner != NOBODY and places[winner] != 1:
        raise ValueError(f"result: winner is {winner}, but places are {places}")
    most = config.rules.max_rounds
    if most is not None and facts["rounds"] > most:
        raise ValueError(
            f"result: rounds is {facts['rounds']}, but games of the track end after {most} rounds"
        )
