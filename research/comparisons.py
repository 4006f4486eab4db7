"""Comparisons of learners, with five seeds by default.

    python -m research.comparisons inputs|imitation|decisions|first_weights [--seeds 5] [--out FOLDER]

Each comparison has several variants of the learner (*ways*), and a run for each way and seed:

* inputs: inputs of a network that learns by reinforcement.
* imitation: inputs of a network that learns by imitation.
* decisions: unit of a decision (action, move or whole turn).
* first_weights: random initial weights, or initial weights from imitation.

After every run, the program appends a line of JSON to FOLDER/COMPARISON.jsonl. If a run already has a line,
the run is not repeated. At the end, the program prints a table with means over the seeds and differences from
the first way with the same seed. Means and differences have 95 % confidence intervals (Student's t). Seconds
are CPU seconds of training on one thread, without compilation and evaluations. The note
2026-11-learning-comparisons.md contains the results.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium.spaces import Box
from sb3_contrib import MaskablePPO
from scipy.stats import t as students_t
from stable_baselines3.common.vec_env import VecEnvWrapper
from torch import nn

import risk_env
from benchmarks.records import table
from examples.imitate import learn, new_network
from risk_agents.dataset import read_decisions
from risk_agents.dataset.cli import main as record
from risk_agents.learned.schema import Schema
from risk_env import Board, Rules
from risk_env.observations import as_codes, as_floats
from risk_training.first_weights import copy_weights
from risk_training.league import League, LeagueSettings
from risk_training.sb3 import RiskVecEnv
from risk_training.sb3_league import LeagueVecEnv
from risk_training.sb3_trainer import Config, make_model

LANES, STEPS = 64, 128
SIZES: dict[str, Any] = {"n_steps": STEPS, "batch_size": 1024, "n_epochs": 3}
COMMON: dict[str, Any] = {**SIZES, "learning_rate": 1e-3, "gamma": 0.999, "ent_coef": 0.005}
LAYERS, SHAPING = [256, 256], 0.5
DECISIONS, SECONDS = 10 * LANES * STEPS, 30.0  # the two lengths of a run
TEST_LANES, GAMES_EACH, TEST_SEED = 150, 2, 10**6

TINY = {"preset": "classic", "num_players": 3, "board": "tiny", "max_rounds": 60}
DUEL = {"preset": "classic", "num_players": 2, "board": "classic", "max_rounds": 60}
TEACHER, RECORDED = "beam", 60_000  # the teacher, and the number of its recorded decisions
EPOCHS, MINIBATCH = 4, 512  # training in `compare_imitation`


# ------------------------------------------------------------------------------------ inputs of networks


def bytes_as_fractions(codes: Any, rules: Rules, board: Board) -> Any:
    """Return all codes divided by 127, the largest code."""
    return codes.astype(np.float32) / 127


def flat_floats(codes: Any, rules: Rules, board: Board) -> Any:
    """Return the floats of `observation="flat"`."""
    return as_floats(codes, board)


def features(codes: Any, rules: Rules, board: Board) -> Any:
    """Return `risk_env.features` as one row for each observation."""
    territories, whole = risk_env.features(codes, rules, board)
    return np.concatenate([territories.reshape(len(codes), -1), whole], axis=1)


INPUTS: dict[str, Callable[[Any, Rules, Board], Any]] = {
    "codes / 127": bytes_as_fractions,
    'observation="flat"': flat_floats,
    "risk_env.features": features,
}


class WithInputs(VecEnvWrapper):
    """Environments whose observations are converted to other inputs."""

    def __init__(self, venv: RiskVecEnv, inputs: Callable[[Any, Rules, Board], Any]) -> None:
        self.facts = venv.lanes.rules, venv.lanes.board
        self.inputs = inputs
        width = self.convert(np.zeros((1, *venv.observation_space.shape), np.float32)).shape[1]
        super().__init__(venv, Box(0, np.inf, (width,), np.float32))

    def convert(self, observations: Any) -> Any:
        """Return the inputs float32 (k, I) of float observations (k, D)."""
        return self.inputs(as_codes(observations, self.facts[1]), *self.facts)

    def reset(self) -> Any:
        """Return the inputs of the first decisions."""
        return self.convert(self.venv.reset())

    def step_wait(self) -> Any:
        """Return inputs, rewards, dones and infos."""
        observations, rewards, dones, infos = self.venv.step_wait()
        for info in infos:
            if "terminal_observation" in info:
                info["terminal_observation"] = self.convert(info["terminal_observation"][None])[0]
        return self.convert(observations), rewards, dones, infos


# ------------------------------------------------------------------------------------ training and tests


def training_games(game: Mapping[str, Any], bots: Sequence[str], seed: int) -> LeagueVecEnv:
    """Return games whose opponents are drawn from `bots` with equal probability."""
    league = League(LeagueSettings(bots=tuple(bots), snapshot_share=0.0, priority="even"), seed)
    return LeagueVecEnv(league, LANES, seed, shaping=SHAPING, gamma=COMMON["gamma"], **game)


def plain_model(env: Any, seed: int) -> MaskablePPO:
    """Return MaskablePPO with the network of Stable-Baselines3."""
    layers = {"net_arch": LAYERS}
    return MaskablePPO("MlpPolicy", env, policy_kwargs=layers, seed=seed, device="cpu", **COMMON)


def win_rate(model: MaskablePPO, env: RiskVecEnv, inputs: Callable[[Any], Any] = np.asarray) -> float:
    """Return the share of games won with sampled actions, in GAMES_EACH games in every lane of `env`."""
    torch.manual_seed(TEST_SEED)
    rng, games, wins = np.random.default_rng(TEST_SEED), np.zeros(env.num_envs, np.int64), 0
    observations = env.reset()
    while len(live := np.flatnonzero(games < GAMES_EACH)):
        masks = env.action_masks()
        actions = (rng.random(masks.shape, np.float32) * masks).argmax(axis=1)  # random, for finished lanes
        actions[live] = model.predict(inputs(observations[live]), action_masks=masks[live])[0]
        observations, _, ended, infos = env.step(actions)
        for lane in live[ended[live]]:
            wins += infos[lane]["winner"] == infos[lane]["seat"]
            games[lane] += 1
    return wins / games.sum()


def tests_of(
    model: MaskablePPO, game: Mapping[str, Any], bots: Sequence[str], inputs: Any = None
) -> dict[str, float]:
    """Return the model's win rate against each bot, which plays all other seats."""
    found = {}
    for bot in bots:
        env = RiskVecEnv(TEST_LANES, TEST_SEED, opponents=bot, **game)
        convert = np.asarray if inputs is None else WithInputs(env, inputs).convert
        found[bot] = win_rate(model, env, convert)
    return found


def points_of(model: MaskablePPO, measure: Callable[[], Any], seconds: float = 0.0) -> dict[str, Any]:
    """Train until both budgets (decisions, CPU seconds) are reached, and measure the model at each budget.

    `seconds` is the CPU time, in seconds, that was spent before this call.
    """
    found: dict[str, Any] = {}
    while len(found) < 2:
        start = time.process_time()
        model.learn(LANES * STEPS, reset_num_timesteps=False)
        seconds += time.process_time() - start
        reached = {"same decisions": model.num_timesteps >= DECISIONS, "same seconds": seconds >= SECONDS}
        fresh = [length for length in reached if reached[length] and length not in found]
        if fresh:
            point = {"decisions": model.num_timesteps, "seconds": seconds, **measure()}
            found |= dict.fromkeys(fresh, point)
    return found


# ------------------------------------------------------------------------------------ the comparisons


def compare_inputs(way: str, seed: int, folder: Path) -> dict[str, Any]:
    """Train MaskablePPO on the map `tiny` with three players, with the inputs of this way."""
    bots = ["grower", "hunter"]
    model = plain_model(WithInputs(training_games(TINY, bots, seed), INPUTS[way]), seed)
    return points_of(model, lambda: tests_of(model, TINY, bots, INPUTS[way]))


def compare_decisions(way: str, seed: int, folder: Path) -> dict[str, Any]:
    """Train MaskablePPO on the classic map with two players. `way` is the unit of a decision."""
    bots = ["attacker", "grower"]
    game = {**DUEL, "decisions": way}
    model = plain_model(training_games(game, bots, seed), seed)
    found = {}
    if way == "turns":  # without training, the other ways win almost no games
        found = {"untrained": {"decisions": 0, "seconds": 0.0, **tests_of(model, game, bots)}}
    return found | points_of(model, lambda: tests_of(model, game, bots))


def recorded(seed: int, folder: Path, players: int, decisions: int = RECORDED) -> Path:
    """Record decisions of the teacher in games with `hunter` and `breaker`; return the path of the file."""
    path = folder / f"{TEACHER}-{players}-{seed}-{decisions}.parquet"
    facts = ["--players", str(players), "--max-rounds", "60", "--seed", str(seed), "--only", TEACHER]
    agents = f"{TEACHER},hunter,breaker"
    record(["--agents", agents, "--decisions", str(decisions), *facts, "--out", str(path)])
    return path


def compare_imitation(way: str, seed: int, folder: Path) -> dict[str, Any]:
    """Train a plain network by imitation, and measure its agreement with the teacher in held-out games."""
    path = folder / f"{TEACHER}-3-{seed}-{RECORDED}.parquet"  # the same file for all ways
    facts, columns = read_decisions(path if path.exists() else recorded(seed, folder, players=3))
    schema = Schema.from_dict(facts["schema"])
    is_test = columns["game"] % 10 == 0
    torch.manual_seed(seed)
    rng, start = np.random.default_rng(seed), time.process_time()

    def scores(rows: Any) -> torch.Tensor:
        inputs = INPUTS[way](columns["observation"][rows], schema.rules, schema.board)
        legal = torch.as_tensor(columns["mask"][rows])
        return network(torch.from_numpy(inputs)).masked_fill(~legal, -1e9)

    width = INPUTS[way](columns["observation"][:1], schema.rules, schema.board).shape[1]
    layers = [nn.Linear(width, LAYERS[0]), nn.Tanh(), nn.Linear(*LAYERS), nn.Tanh()]
    network = nn.Sequential(*layers, nn.Linear(LAYERS[1], schema.num_actions))
    train, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
    optimizer = torch.optim.Adam(network.parameters(), 1e-3)
    for some in np.concatenate([rng.permutation(train)[: len(train) // MINIBATCH * MINIBATCH]
                                for _ in range(EPOCHS)]).reshape(-1, MINIBATCH):  # fmt: skip
        optimizer.zero_grad()
        taken = torch.as_tensor(columns["action"][some]).long()
        nn.functional.cross_entropy(scores(some), taken).backward()
        optimizer.step()
    seconds = time.process_time() - start
    with torch.no_grad():
        chosen = np.concatenate([scores(part).argmax(1).numpy() for part in np.array_split(test, 20)])
    share = float((chosen == columns["action"][test]).mean())
    return {"end": {"decisions": len(train), "seconds": seconds, "equal actions": share}}


def compare_first_weights(way: str, seed: int, folder: Path) -> dict[str, Any]:
    """Train MaskablePPO with `BoardPolicy` for two players, from random weights or from imitation.

    The seconds of the run include recording and imitation.
    """
    bots = ["attacker", "grower"]
    config = Config(
        **{**COMMON, "learning_rate": 5e-4, "n_epochs": 2}, n_envs=LANES, seed=seed, device="cpu"
    )  # with a smaller learning rate, PPO forgets less of the imitation
    env = training_games(DUEL, bots, seed)
    model = make_model(config, env)
    recorded(seed, folder, players=2, decisions=1)  # loads compiled code
    found, spent, start = {}, 0.0, time.process_time()
    if way == "imitation":
        facts, columns = read_decisions(recorded(seed, folder, players=2))
        torch.manual_seed(seed)
        imitator = new_network(Schema.from_dict(facts["schema"]))
        learn(imitator, columns, np.arange(len(columns["action"])), seed)
        copy_weights(model.policy.network.weights, imitator.weights, way)
        spent = time.process_time() - start
        found["before PPO"] = {"decisions": 0, "seconds": spent, **tests_of(model, DUEL, bots)}
    return found | points_of(model, lambda: tests_of(model, DUEL, bots), spent)


COMPARISONS: dict[str, tuple[Sequence[str], Callable[[str, int, Path], dict[str, Any]]]] = {
    "inputs": (tuple(INPUTS), compare_inputs),
    "imitation": (tuple(INPUTS), compare_imitation),
    "decisions": (("actions", "moves", "turns"), compare_decisions),
    "first_weights": (("random weights", "imitation"), compare_first_weights),
}


# ------------------------------------------------------------------------------------ tables


def interval(values: Sequence[float]) -> str:
    """Return the mean of k values in percent and, if k > 1, its 95 % confidence interval (Student's t)."""
    mean, count = np.mean(values), len(values)
    if count < 2:
        return f"{100 * mean:.1f}"
    half = students_t.ppf(0.975, count - 1) * np.std(values, ddof=1) / np.sqrt(count)
    return f"{100 * mean:.1f} ({100 * (mean - half):.1f} to {100 * (mean + half):.1f})"


def rows_of(lines: Sequence[Mapping[str, Any]], ways: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table: one row for each combination of length of a run, result and way."""
    found = {(line["way"], line["seed"]): line["found"] for line in lines}
    seeds = sorted({line["seed"] for line in lines})
    for length in dict.fromkeys(length for points in found.values() for length in points):
        for way in ways:
            points = {seed: found.get((way, seed), {}).get(length) for seed in seeds}
            points = {seed: point for seed, point in points.items() if point}
            spent = [(point["decisions"], point["seconds"]) for point in points.values()]
            names = [name for name in next(iter(points.values()), ()) if name not in ("decisions", "seconds")]
            for name in names:
                values = {seed: point[name] for seed, point in points.items()}
                firsts = {seed: found.get((ways[0], seed), {}).get(length, {}).get(name) for seed in values}
                gains = [values[seed] - first for seed, first in firsts.items() if first is not None]
                yield (
                    length, name, way, str(len(points)), *(f"{part:,.0f}" for part in np.mean(spent, axis=0)),
                    interval(list(values.values())), interval(gains) if gains and way != ways[0] else "",
                )  # fmt: skip


def main(argv: Sequence[str] | None = None) -> None:
    """Run a comparison, and print its table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("comparison", choices=COMPARISONS)
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds (default: 5)")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("runs/comparisons"),
        help="folder of the results (default: %(default)s)",
    )
    arguments = parser.parse_args(argv)
    torch.set_num_threads(1)
    torch.distributions.Distribution.set_default_validate_args(False)
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / f"{arguments.comparison}.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {(line["way"], line["seed"]) for line in lines}
    ways, run = COMPARISONS[arguments.comparison]
    for seed in range(arguments.seeds):
        for way in ways:
            if (way, seed) not in done:
                lines.append({"way": way, "seed": seed, "found": run(way, seed, arguments.out)})
                with path.open("a") as file:
                    file.write(json.dumps(lines[-1]) + "\n")
    columns = (
        "length",
        "result",
        "way",
        "seeds",
        "decisions",
        "CPU seconds",
        "mean, %",
        "difference, points",
    )
    print("\n".join(table(columns, rows_of(lines, ways))))


if __name__ == "__main__":
    main()
