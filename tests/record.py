"""Digests of random games and of games between agents, to detect changes of play when code is moved.

    python -m tests.record                 compare with tests/golden/record.json; exit status 1 if one differs
    python -m tests.record --only capital  compare the parts whose names begin with a word
    python -m tests.record --write         write the record again, after an intended change of play

A part is a preset with a number of players, or an agent. A digest of `batch` covers every observation, mask,
seat, reward and end of 1,000 games, and their records. A digest of `game` covers logs, texts, drawings and
saved games. `tests/test_record.py` compares a few digests in the usual test run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from risk_agents import registry
from risk_env import Game, GameBatch, Rules, arena, bots, load_map, presets
from risk_env.board.rules import preset_players

FILE = Path(__file__).parent / "golden" / "record.json"
SEED = 1957
LANES = 1000
STEPS = 300
LOGGED_GAMES = 40
LOGGED_ACTIONS = 250
AGENT_GAMES = 100
FEWER_GAMES = {"strategist": 10, "strategist:long": 2}  # for slow agents
MAX_ROUNDS = 60
FAST = {"attack": "blitz", "defender_dice": "max"}
ONLY_DUELS = ("duelist", "marshal")
ONLY_CLASSIC = (*ONLY_DUELS, "tactician", "tactician:quick")
WEIGHT_OF_DONE = 0.3  # factor for `done`: with more attacks, play reaches more of the rules


def digest_of(parts: Iterator[bytes]) -> str:
    """Return a short digest of concatenated bytes."""
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def batch_bytes(rules: Rules) -> Iterator[bytes]:
    """Yield all outputs of a batch of random games, step by step, and its records at the end."""
    batch = GameBatch(rules, "classic", LANES, SEED)
    rng = np.random.default_rng(SEED)
    done = int(batch.tables.rules["done"][0])
    _observation, mask, _seat = batch.reset()
    for _ in range(STEPS):
        wish = rng.random(mask.shape, np.float32) * mask
        wish[:, done] *= WEIGHT_OF_DONE
        step = batch.step(wish.argmax(axis=1))
        mask = step[1]
        yield from (np.ascontiguousarray(part).tobytes() for part in (*step, batch.game_over))
        for over in np.flatnonzero(batch.game_over):
            yield batch.final_observation[over].tobytes()
            yield batch.final_placement[over].tobytes()
    yield batch.records.tobytes()


def game_bytes(rules: Rules) -> Iterator[bytes]:
    """Yield logs, texts, drawings and saved games of single random games."""
    rng = np.random.default_rng(SEED)
    for seed in range(LOGGED_GAMES):
        game = Game(rules, seed=seed)
        for _ in range(LOGGED_ACTIONS):
            if game.is_over:
                break
            legal = game.legal_actions()
            done = int(game.tables.rules["done"][0])
            weights = np.where(legal == done, WEIGHT_OF_DONE, 1.0)
            game.step(int(legal[(rng.random(len(legal)) * weights).argmax()]))
        yield "\n".join([*game.log, game.to_text(), str(game), str(game.last_battle)]).encode()
        yield game.to_bytes()
        yield Game.from_text(game.to_text()).to_record()
        for seat in range(rules.num_players):
            yield game.observe(seat).tobytes()
            yield game.determinize(seat, seed).to_record()


def agent_bytes(name: str) -> Iterator[bytes]:
    """Yield games of a registered agent against scripted bots, in every preset that it plays."""
    found = bots.find(name)
    for preset in ("classic",) if name in ONLY_CLASSIC else presets():
        players = 2 if name in ONLY_DUELS else min(preset_players(preset)[-1], 3)
        rules = Rules.preset(preset, players, max_rounds=MAX_ROUNDS, **FAST)
        seating = [name, "grower", "hunter"][:players]
        board = load_map("classic")
        if isinstance(found, bots.CompiledBot):
            yield arena.play(rules, board, seating, AGENT_GAMES, SEED).tobytes()
        elif preset == "classic":
            for game in range(FEWER_GAMES.get(name, AGENT_GAMES)):
                yield registry.play_game(rules, board, seating, SEED, lane=game).to_record()


def parts() -> dict[str, Callable[[], str]]:
    """Return a function for every part of the record that computes its digest, by name."""
    found: dict[str, Callable[[], str]] = {}
    for preset in presets():
        for players in preset_players(preset):
            rules = Rules.preset(preset, players, max_rounds=MAX_ROUNDS)
            found[f"{preset} {players} batch"] = lambda rules=rules: digest_of(batch_bytes(rules))
            fast = rules.replace(**FAST)
            found[f"{preset} {players} batch of blitzes"] = lambda rules=fast: digest_of(batch_bytes(rules))
            found[f"{preset} {players} game"] = lambda rules=rules: digest_of(game_bytes(rules))
    for name in bots.names():
        found[f"agent {name}"] = lambda name=name: digest_of(agent_bytes(name))
    return found


def load() -> dict[str, str]:
    """Return the recorded digests."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def main() -> int:
    """Compare the record, or write it."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.record", description="Digests of play: compare or write."
    )
    parser.add_argument("--write", action="store_true", help="write tests/golden/record.json")
    parser.add_argument("--only", default="", metavar="NAME", help="only parts whose names begin with NAME")
    arguments = parser.parse_args()
    known = load() if FILE.is_file() else {}
    different = []
    for name, compute in parts().items():
        if not name.startswith(arguments.only):
            continue
        now = compute()
        if known.get(name) != now:
            different.append(name)
        known[name] = now
        print(f"{name:<48}{now}{'  DIFFERENT' if name in different else ''}", flush=True)
    if arguments.write:
        FILE.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
        return 0
    print(f"{len(different)} differ" if different else "all as recorded")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
