"""Rounds of exploiters: an agent is trained against its exploiters (PSRO, Lanctot et al. 2017).

An *exploiter* is a policy that is trained against one agent only; it approximates a best response to this
agent. In each round, the trainer `selfplay` trains an exploiter of the current agent. The rounds end when an
exploiter gains less than `least_gain` over the even share of wins, or after round `rounds`. Otherwise, the
trainer `state_value` trains a new value. The training games of the value include all exploiters so far. In
the next round, the agent is `tactician` with this value.

    round-N/exploiter/   the run of the exploiter
    round-N/value/       the run of the next agent's value
    responses.json       the rounds so far

A run that was interrupted is continued, and a complete run is not trained again. The rounds are therefore the
same with and without interruptions.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from risk_agents.registry import TACTICIAN
from risk_env.messages import counted
from risk_env.whole_file import whole_file
from risk_training.config import MOST_SEED, Settings, read_names, setting
from risk_training.curves import read_log, win_rates
from risk_training.run_files import POLICY_FILE, STATE_VALUE_FILE

SUMMARY = "responses.json"
EXPLOITER, VALUE = "exploiter", "value"  # folders of a round
MOST_ROUNDS = 100
TRAINERS = {EXPLOITER: "selfplay", VALUE: "state_value"}


@dataclass(frozen=True)
class Responses(Settings):
    """Settings of the rounds of exploiters."""

    SECTION: ClassVar[str] = "responses."

    agent: str = "tactician"  # compiled bot that the first exploiter plays against
    exploiter: str = "selfplay_three"  # configuration of the exploiters
    exploiter_settings: Mapping[str, Any] = field(default_factory=dict)  # changes to `exploiter`
    value: str = "state_value_selfplay"  # configuration of the values
    value_settings: Mapping[str, Any] = field(default_factory=dict)  # changes to `value`
    exploiter_share: float = setting(0.3, 0.001, 0.999)  # share of the bots' seats that exploiters get
    rounds: int = setting(5, 1, MOST_ROUNDS)  # maximum number of rounds
    games: int = setting(600, 1, 10**6)  # number of games in which a gain is measured
    least_gain: float = setting(5.0, 0, 100)  # percentage points; a smaller gain ends the rounds
    seed: int = setting(0, 0, MOST_SEED - MOST_ROUNDS)


@dataclass(frozen=True)
class Round:
    """The result of an exploiter."""

    agent: str  # spec of the agent that the exploiter played against
    rate: float  # win rate of the exploiter
    low: float  # bounds of the 95 % confidence interval
    high: float
    even: float  # even share of wins

    @property
    def gain(self) -> float:
        """Gain over the even share of wins, in percentage points."""
        return 100 * (self.rate - self.even)

    def line(self, number: int) -> str:
        """Return one line about the round."""
        rate, low, high = (100 * part for part in (self.rate, self.low, self.high))
        return (
            f"round {number}: the exploiter of {self.agent} wins {rate:.1f} % [{low:.1f}, {high:.1f}], "
            f"even share {100 * self.even:.1f} %, gain {self.gain:+.1f} points"
        )


class Runs(Protocol):
    """Functions that train runs of a configuration with changed settings."""

    def config(self, name: str, values: Mapping[str, Any]) -> Any:
        """Return the settings of a run."""

    def train(self, name: str, values: Mapping[str, Any], folder: Path, against: str | None = None) -> None:
        """Train a run to its end, or continue the run in the folder."""


def read_responses(path: str | Path) -> Responses:
    """Return the settings in a YAML file. Raises ValueError, which names the file and the problem."""
    name = f"--responses {str(path)!r}"
    if not Path(path).is_file():
        raise ValueError(f"{name} does not exist")
    facts = read_names(Path(path), name)
    try:
        return Responses.from_facts(facts, "responses")
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def run_rounds(settings: Responses, folder: Path, runs: Runs) -> list[Round]:
    """Run the rounds that are not complete yet, and return all rounds.

    Raises ValueError if the configuration of the exploiters or of the values has the wrong trainer.
    """
    _check_trainers(settings, runs)
    rounds: list[Round] = []
    agent, exploiters, values = settings.agent, [], dict(settings.value_settings)
    for number in range(1, settings.rounds + 1):
        here = folder / f"round-{number}"
        rounds.append(_exploited(settings, settings.seed + number, here / EXPLOITER, agent, runs))
        _write(rounds, folder)
        if rounds[-1].gain < settings.least_gain or number == settings.rounds:
            break
        exploiters.append(str(here / EXPLOITER / POLICY_FILE))
        population = _population(settings, exploiters, runs) | {"seed": settings.seed + number}
        runs.train(settings.value, values | population, here / VALUE)
        path = str(here / VALUE / STATE_VALUE_FILE)
        agent, values = TACTICIAN + path, values | {"begin_with": path}
    return rounds


def _check_trainers(settings: Responses, runs: Runs) -> None:
    """Raise ValueError if the configuration of the exploiters or of the values has the wrong trainer."""
    for part, trainer in TRAINERS.items():
        name, values = getattr(settings, part), getattr(settings, f"{part}_settings")
        if (actual := runs.config(name, values).TRAINER) != trainer:
            raise ValueError(
                f"{part}={name!r} has trainer {actual!r}: must be a configuration of trainer {trainer!r}"
            )


def _exploited(settings: Responses, seed: int, folder: Path, agent: str, runs: Runs) -> Round:
    """Train an exploiter of an agent, and return the exploiter's result."""
    values = {**settings.exploiter_settings, "evaluation.games": settings.games, "seed": seed}
    runs.train(settings.exploiter, values, folder, against=agent)
    _, rate, low, high = win_rates(read_log(folder))[agent][-1]
    even = 1 / runs.config(settings.exploiter, settings.exploiter_settings).rules().num_players
    return Round(agent, rate, low, high, even)


def _population(settings: Responses, exploiters: Sequence[str], runs: Runs) -> dict[str, Any]:
    """Return the settings `bots` and `weights` of a value that is trained with all exploiters so far."""
    config = runs.config(settings.value, settings.value_settings)
    share = settings.exploiter_share
    own = [(1 - share) * weight / math.fsum(config.weights) for weight in config.weights]
    theirs = [share / len(exploiters)] * len(exploiters)
    return {"bots": [*config.bots, *exploiters], "weights": [*own, *theirs]}


def _write(rounds: Sequence[Round], folder: Path) -> None:
    """Write the rounds to SUMMARY."""
    with whole_file(folder / SUMMARY) as fresh:
        facts = [{**asdict(one), "gain": one.gain} for one in rounds]
        fresh.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def lines(settings: Responses, rounds: Sequence[Round]) -> list[str]:
    """Return a line for each round, and a line that says why the rounds ended."""
    told = [one.line(number) for number, one in enumerate(rounds, 1)]
    if rounds[-1].gain < settings.least_gain:
        end = f"a gain below {settings.least_gain:g} points ends the rounds"
        return [*told, f"{end}; the last agent is {rounds[-1].agent}"]
    end = f"stopped after {counted(settings.rounds, 'round')}, the maximum"
    return [*told, f"{end}; the last gain is at least {settings.least_gain:g} points"]
