"""Play the benchmark games of an agent: one resumable tournament for each track and map."""

import hashlib
import json
import os
import platform
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from risk_agents.agent_list import NamedAgent
from risk_agents.benchmark.result_file import SUFFIX, TESTED, label_on
from risk_agents.benchmark.tracks import Track
from risk_agents.progress import games_bar
from risk_agents.registry import file_of
from risk_agents.tournament.config import Entrant, TournamentConfig
from risk_agents.tournament.jobs import close_pools
from risk_agents.tournament.loading import Trial, entrants, refusal
from risk_agents.tournament.results_store import Store
from risk_agents.tournament.running import conduct, tournament_processes
from risk_agents.workers import WorkExecutor, local_processes, open_executor
from risk_env import __version__, bots
from risk_env.bounded_io import parse_json, read_file
from risk_env.text.escape import LABEL_LETTERS
from risk_env.whole_file import whole_file

AGENT_FILE = "agent.json"  # file in the run's folder: digest of the agent's file, and total seconds
MOST_BYTES = 1 << 12  # maximum size of AGENT_FILE, in bytes
CHANGED = "changed"  # replaces the digest in AGENT_FILE if the agent's file changes during a run
FOLDER_SUFFIX = ".games"  # the folder of unfinished tracks has the result file's name with this suffix


class TrackGames(NamedTuple):
    """Games of an agent on a track, with a store for each map."""

    track: Track
    agent: Entrant
    stores: list[Store]


class BenchmarkRun(NamedTuple):
    """Agent, tracks and settings of a run of the command `benchmark`."""

    agent: NamedAgent
    tracks: Sequence[Track]
    quick: bool
    folder: Path
    sandbox: str | None
    workers: str
    limit: float | None  # time limit for a chunk of games, in seconds


def default_path(agent: NamedAgent) -> Path:
    """Return the default path of an agent's result file."""
    words = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(agent.name).name if agent.label is None else agent.label)
    return Path(f"benchmark-{words.strip('-.') or 'agent'}{SUFFIX}")


def playable(
    agent: NamedAgent, tracks: Sequence[Track], decisions: str = ""
) -> tuple[list[Track], dict[str, str]]:
    """Return the playable tracks, and the reasons why the agent cannot play the other tracks, by title.

    `decisions` is the number of decisions in the training of the agent, as a string ("" if unknown). Raises
    ValueError if the agent can play no track.
    """
    refused: dict[str, str] = {}
    for track in tracks:
        try:
            track.check_training(decisions)
        except ValueError as error:
            refused[track.title] = str(error)
            continue
        reasons = (refusal(agent.spec, track.rules, board) for board in track.boards)
        if reason := next(filter(None, reasons), ""):
            refused[track.title] = reason
    if len(refused) == len(tracks):
        raise ValueError(f"agent={agent.spec!r} can play no track: {next(iter(refused.values()))}")
    return [track for track in tracks if track.title not in refused], refused


def play_tracks(run: BenchmarkRun, console: Console) -> list[TrackGames]:
    """Play the games that the run's folder does not yet contain, and return all games of each track.

    The caller closes the stores. Raises ValueError in these cases:

    * The agent cannot play a track, or takes the name of a registered agent.
    * An opponent does not have the version that the track needs.
    * The folder contains games of another agent, another version or another agent file.
    * A file in the folder is damaged.
    """
    played = []
    with same_agent(run), _executor(run) as executor:
        for track in run.tracks:
            console.print(f"{track.title}: {track.about}", highlight=False)
            configs = configs_of(track, run.agent, run.sandbox)
            stores = [_store(run.folder, track, config) for config in configs]
            for store in stores:
                _play(store, track.games(run.quick), run, executor, console)
            played.append(TrackGames(track, configs[0].entrants[0], stores))
    return played


def configs_of(track: Track, agent: NamedAgent, sandbox: str | None) -> list[TournamentConfig]:
    """Test that the agent and all opponents can play a track, and return the configuration for each map."""
    named = [NamedAgent(each.label, each.agent) for each in track.opponents]
    trials = [Trial(track.rules, name, track.time_limit, sandbox) for name, _ in track.maps]
    for trial in trials:
        (own,) = entrants([agent], trial)
        others = entrants(named, trial)
    for installed, wanted in zip(others, track.entrants, strict=True):
        if installed != wanted:
            raise ValueError(
                f"track {track.title} needs version {wanted.version!r} of {wanted.label}; "
                f"this installation has version {installed.version!r}"
            )
    own = replace(own, label=label_on(track, own_name(own)))
    return [replace(config, sandbox=sandbox) for config in track.configs([own, *others])]


def own_name(agent: Entrant) -> str:
    """Return an agent's label, shortened to leave room for TESTED.

    Raises ValueError if the agent is not registered, but its label is the name of a registered agent, with or
    without TESTED.
    """
    name = agent.label[: LABEL_LETTERS - len(TESTED)].strip()
    if not bots.is_registered(agent.spec) and bots.is_registered(name.removesuffix(TESTED)):
        raise ValueError(
            f"agent={agent.spec!r}: {name.removesuffix(TESTED)!r} is the name of a registered agent; "
            "set another label with label=agent"
        )
    return name


def _store(folder: Path, track: Track, config: TournamentConfig) -> Store:
    """Open or create the store of a map's games; raise ValueError if the configuration has changed."""
    map_name = re.sub("[^A-Za-z0-9_]+", "-", config.map_source)
    path = folder / f"{track.title}-{map_name}.sqlite"
    if not path.exists():
        return Store.create(path, config)
    store = Store.open(path)
    if store.config != replace(config, sandbox=None):
        store.close()
        raise ValueError(
            f"{path} contains games of another agent, version or configuration: delete the folder {folder}, "
            "or choose another --out"
        )
    store.config = config
    return store


def _play(
    store: Store, games: int, run: BenchmarkRun, executor: WorkExecutor | None, console: Console
) -> None:
    jobs = local_processes(run.workers) or 1
    with games_bar(games, console) as tell:
        conduct(store, games, jobs, executor, progress=tell, limit=run.limit)


@contextmanager
def same_agent(run: BenchmarkRun) -> Iterator[None]:
    """Context manager of a run: check that the agent stays the same, and add the duration to AGENT_FILE.

    Raises ValueError if AGENT_FILE is damaged or belongs to another agent, or if the agent's file has changed
    since the first game.
    """
    path, start = run.folder / AGENT_FILE, time.monotonic()
    run.folder.mkdir(exist_ok=True)
    digest = _file_digest(run.agent.spec)
    fresh: dict[str, Any] = {"sha256": digest, "seconds": 0.0}
    kept = _kept(run.folder) if path.exists() else fresh
    if kept["sha256"] != digest:
        raise _changed(run)
    _keep(path, kept)
    try:
        yield
    finally:
        is_same = _file_digest(run.agent.spec) == digest
        kept = {
            "sha256": digest if is_same else CHANGED,
            "seconds": kept["seconds"] + time.monotonic() - start,
        }
        _keep(path, kept)
        if not any(run.folder.glob("*.sqlite")):  # no game was begun
            path.unlink()
            run.folder.rmdir()
    if not is_same:
        raise _changed(run)


def _changed(run: BenchmarkRun) -> ValueError:
    return ValueError(
        f"{run.folder} contains games of another agent, or {run.agent.spec} has changed since the first "
        "game: delete the folder, or choose another --out"
    )


def _keep(path: Path, facts: dict[str, Any]) -> None:
    """Write AGENT_FILE atomically, so that the run can be continued after an error."""
    with whole_file(path) as fresh:
        fresh.write_text(json.dumps(facts), encoding="utf-8")


def _kept(folder: Path) -> dict[str, Any]:
    """Return the content of AGENT_FILE; raise ValueError if the file is damaged."""
    facts = parse_json(read_file(folder / AGENT_FILE, MOST_BYTES))
    is_right = isinstance(facts, dict) and facts.keys() == {"sha256", "seconds"}
    if not is_right or not isinstance(facts["sha256"], str) or type(facts["seconds"]) is not float:
        raise ValueError(f"{folder / AGENT_FILE} is damaged: delete the folder {folder}")
    return dict(facts)


@contextmanager
def _executor(run: BenchmarkRun) -> Iterator[WorkExecutor | None]:
    """Provide one executor for the games of all tracks, or None if this process plays the games."""
    jobs = local_processes(run.workers)
    if jobs is None:
        with open_executor(run.workers, run.limit) as cluster:
            yield cluster
    elif jobs == 1:
        try:
            yield None
        finally:
            close_pools()
    else:
        with tournament_processes(jobs, run.limit) as processes:
            yield processes


def remove_games(played: Sequence[TrackGames], folder: Path) -> None:
    """Close and delete the stores, delete AGENT_FILE, and delete the folder if it is empty."""
    for store in (store for each in played for store in each.stores):
        store.close()
        for path in (store.path, *(store.path.with_name(store.path.name + end) for end in ("-wal", "-shm"))):
            path.unlink(missing_ok=True)
    (folder / AGENT_FILE).unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()


# ------------------------------------------------------------------------------------------ the header


def header_facts(run: BenchmarkRun, played: Sequence[TrackGames], card: dict[str, str]) -> dict[str, Any]:
    """Return the parts of a result file's header that describe the agent, the machine and the times."""
    agent, kept = played[0].agent, _kept(run.folder)
    paces = {each.track.name: _pace(each.stores, each.track.games(run.quick)) for each in played}
    return {
        "risk_env": __version__,
        "agent": _agent_facts(agent, kept["sha256"]),
        "card": card,
        "quick": run.quick,
        "machine": machine(),
        "times": {
            "date": time.strftime("%Y-%m-%d", time.gmtime()),
            "seconds": round(kept["seconds"], 1),
            "ms_a_turn": paces,
        },
    }


def _agent_facts(agent: Entrant, digest: str) -> dict[str, Any]:
    spec, is_registered = agent.spec, bots.is_registered(agent.spec)
    return {
        "name": spec if is_registered else agent.label.removesuffix(TESTED),
        "version": agent.version,
        "registered": is_registered,
        "compiled": agent.compiled,
        "sha256": digest,
    }


def _file_digest(spec: str) -> str:
    """Return the SHA-256 of the agent's file (`file_of`), or "" if the agent has no file."""
    path = Path(file_of(spec))
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def _pace(stores: Sequence[Store], games: int) -> float:
    """Return the agent's mean thinking time per turn in ms, over the first `games` games of each store."""
    seconds, turns = 0.0, 0
    for result in (result for store in stores for result in islice(store.results(), games)):
        seat = result.seats.index(0)
        seconds, turns = seconds + result.seconds[seat], turns + result.turns[seat]
    return round(1000.0 * seconds / max(turns, 1), 4)


def machine() -> dict[str, str]:
    """Return facts about this machine and its software, without the host name."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": str(os.cpu_count() or ""),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
