"""A training run in its folder: log, checkpoints, evaluation and resuming, the same for every trainer.

    config.yml        the settings
    checkpoint.pt     the state of the run as tensors, numbers and strings; loading runs no code
    policy.npz, ...   the policy at the checkpoint, as an agent; the file name depends on the trainer
    metrics.jsonl     a line of metrics per update; docs/training.md explains each metric
    tensorboard/      the same metrics for TensorBoard, unless another tracker is set

The checkpoint is replaced atomically. The policy and the log are written afterwards. If a run is killed in
between, resuming writes the policy and the log again.
"""

import json
import math
import shlex
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
import yaml

from risk_agents.learned.sb3_policy import load_tensors
from risk_agents.learned.schema import schema_of
from risk_agents.learned.trained import TrainedFile
from risk_agents.registry import UnnamedCodeError, load_opponent
from risk_agents.workers import InProcess, WorkExecutor
from risk_env.arrays import Array
from risk_env.board.maps import load_map
from risk_env.bots import CompiledBot
from risk_env.bounded_io import parse_json, read_file
from risk_env.messages import cause, shortened
from risk_env.whole_file import whole_file
from risk_training.config import TRAINERS, RunSettings
from risk_training.declared import ROWS, Declared, Number, SomeOf, Whole, check_declared
from risk_training.devices import CPU, NamedWeights, find_device, find_precision, mixed, moved
from risk_training.first_weights import copy_weights, read_arrays
from risk_training.run_files import CHECKPOINT, CONFIG, METRICS
from risk_training.tracking import open_tracker
from risk_training.win_rate import Seating, win_rate_by

MOST_BYTES = 1 << 31  # largest size of a checkpoint, in bytes
MOST_WEIGHT = 65_504.0  # largest float16: files store weights as float16

Metrics = dict[str, Any]
Progress = Callable[[Metrics], None]


class Run(ABC):
    """A training run and its folder. A trainer is a subclass that defines the abstract methods.

    `named` are the specs of opponents that may run code (`registry.load_opponent`).
    """

    CONFIG: ClassVar[type[RunSettings]]

    def __init__(
        self,
        config: Any,
        folder: str | Path,
        executor: WorkExecutor | None = None,
        named: Sequence[str] = (),
    ) -> None:
        self.config, self.folder, self.named = config, Path(folder), tuple(named)
        self.device = find_device(config.device)
        self.precision = find_precision(config.precision, self.device)
        self.executor = executor or InProcess()  # plays games, for trainers that can use workers
        self.rules, self.board = config.rules(), load_map(config.map)
        for name in config.evaluation.opponents:  # raises now rather than at the first evaluation
            opponent = load_opponent(name, self.named)
            if isinstance(opponent, CompiledBot):
                opponent.check(self.rules, self.board)
        self.steps = self.updates = 0
        self.seconds = self.cpu_seconds = 0.0
        self._saved_steps = 0  # number of steps at the latest checkpoint
        self.spent = dict.fromkeys(("games", "update", "evaluation"), 0.0)  # CPU seconds by part of the run
        self.rows: list[Metrics] = []
        self.is_resumed = False

    def begin(self) -> None:
        """Prepare the first update of a new run: load the initial weights if `begin_with` is set."""
        if self.config.begin_with is not None:
            self.load_first_weights(self.config.begin_with)

    # Methods that a trainer defines

    @abstractmethod
    def load_first_weights(self, source: str) -> None:
        """Load the weights of a trained file, or of an agent.

        Raises ValueError if the weights do not fit these games or this network.
        """

    @abstractmethod
    def update(self) -> Metrics:
        """Play, learn and increase `steps`, and return the metrics of the update."""

    @abstractmethod
    def state_dict(self) -> dict[str, Any]:
        """Return the state for `load_state_dict`: tensors, arrays, numbers and strings."""

    @abstractmethod
    def declared(self) -> dict[str, Declared]:
        """Return the declaration (`risk_training.declared`) that a state must match for `load_state_dict`."""

    @abstractmethod
    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the state that `state_dict` returned."""

    @abstractmethod
    def weights(self) -> Mapping[str, torch.Tensor]:
        """Return the learned weights by name."""

    @abstractmethod
    def seating(self) -> Seating:
        """Return a factory of the evaluated player, which plays with the current network.

        Evaluations send the factory to workers.
        """

    @abstractmethod
    def write_policy(self) -> None:
        """Write the policy, or the value, to the folder of the run with `replace_file`."""

    # The run

    def train(self, progress: Progress = lambda row: None) -> None:
        """Train to the end of the run, and call `progress` with every line of metrics."""
        self.folder.mkdir(parents=True, exist_ok=True)
        text = yaml.safe_dump(self.config.to_dict(), sort_keys=False)
        replace_file(self.folder / CONFIG, methodcaller("write_text", text))
        self.progress, self._last_steps, self._clock = progress, self.steps, _now()
        if self.steps < self.config.length:
            self._tracker = open_tracker(self.config, self.folder, self.steps)
            with closing(self._tracker):
                self.run_updates()

    def run_updates(self) -> None:
        """Run all remaining updates."""
        if not self.is_resumed:
            self.begin()
            self.save()
        while self.steps < self.config.length:
            self.end_update(self.update())

    def end_update(self, metrics: Metrics) -> None:
        """Finish an update: write a line of the log, and evaluate and save a checkpoint when due."""
        self._check_numbers(metrics)
        is_last = self.steps >= self.config.length
        self.updates += 1
        if is_last or self.passes(self.config.evaluation.interval):
            with timed(self.spent, "evaluation"):
                metrics |= self.evaluate()
        self._log(metrics)
        self.progress(self.rows[-1])
        if is_last or self.passes(self.config.checkpoint_interval):
            self.save()
        self._last_steps = self.steps

    def _check_numbers(self, metrics: Metrics) -> None:
        """Raise DivergedError if a metric or a weight is not finite, or is too large for a file."""
        wrong = [f"{name} is {value}" for name, value in metrics.items() if not math.isfinite(value)]
        wrong += [
            f"the weights {name!r} exceed {MOST_WEIGHT:,.0f} or are not finite"
            for name, values in self.weights().items()
            if not bool((values.detach().abs() <= MOST_WEIGHT).all())
        ]
        if wrong:
            raise DivergedError(
                f"update {self.updates + 1} (step {self.steps:,}) diverged: {wrong[0]}. "
                f"Start a new run with a learning_rate below {self.config.learning_rate}. "
                f"The policy and the checkpoint in {self.folder} are still from step {self._saved_steps:,}"
            )

    def passes(self, interval: int) -> bool:
        """Return True if this update has passed a multiple of `interval` steps."""
        return self._last_steps // interval != self.steps // interval

    def evaluate(self) -> Metrics:
        """Return win rates with 95 % confidence intervals, and shares of truncated games, by opponent."""
        metrics: Metrics = {}
        settings, seating = self.config.evaluation, self.executor.share(self.seating())
        for name in settings.opponents:
            games = self.rules, self.board, name, settings.games, self.config.seed
            win_rate = win_rate_by(self.executor, seating, *games, self.named)
            metrics |= zip(
                (f"eval/{part}_{name}" for part in ("win_rate", "low", "high")),
                win_rate.interval,
                strict=True,
            )
            metrics[f"eval/truncated_{name}"] = win_rate.truncated
        return metrics

    def _log(self, metrics: Metrics) -> None:
        now = _now()
        self.seconds += now[0] - self._clock[0]
        self.cpu_seconds += now[1] - self._clock[1]
        self._clock = now
        times: Metrics = {"time/steps": self.steps, "time/updates": self.updates}
        times |= {"time/seconds": self.seconds, "time/cpu_seconds": self.cpu_seconds}
        times["time/steps_a_second"] = self.steps / self.seconds
        times |= {f"time/ns_{part}": 1e9 * spent / self.steps for part, spent in self.spent.items()}
        self.rows.append(times | metrics)
        with naming(self._tracker.place):
            self._tracker.log(self.rows[-1], self.steps)

    # Files of the run

    def save(self) -> None:
        """Write the checkpoint, then the policy and the log."""
        with naming(self._tracker.place):
            self._tracker.flush()
        state = {name: getattr(self, name) for name in _COUNTERS}
        state |= {"config": self.config.to_dict(), "trainer": self.state_dict()}
        replace_file(self.folder / CHECKPOINT, lambda path: torch.save(to_data(state), path))
        self._saved_steps = self.steps
        self.write_results()

    def write_results(self) -> None:
        """Write the policy and the log of the checkpoint."""
        self.write_policy()
        replace_file(self.folder / METRICS, methodcaller("write_text", self._lines()))

    @classmethod
    def resume(
        cls,
        folder: str | Path,
        length: float | None = None,
        executor: WorkExecutor | None = None,
        device: str | None = None,
        named: Sequence[str] = (),
    ) -> Self:
        """Return the run in a folder, in the state of the last checkpoint.

        `length` replaces the configured number of steps, and `device` the configured device. `named` are the
        specs of opponents that may run code. Raises ValueError if the folder has no checkpoint of this
        version, if the device is missing, or if an opponent may not run its code.
        """
        state = load_checkpoint(folder)
        changes = {cls.CONFIG.LENGTH: length, "device": device}
        settings = state["config"] | {name: value for name, value in changes.items() if value is not None}
        # a missing device is not an error of the checkpoint, so this line is outside `try`
        find_device(str(settings.get("device", CPU)))
        try:
            run = cls(cls.CONFIG.from_dict(settings), folder, executor, named)
            run._restore(state)
        except UnnamedCodeError as error:
            raise ValueError(
                f"{folder}: {error}. If you trust this agent, add --against {shlex.quote(error.spec)}"
            ) from error
        except Exception as error:  # a bad state can raise any exception
            raise _no_checkpoint(Path(folder) / CHECKPOINT, error) from error
        run.is_resumed = True
        run.write_results()
        return run

    def _restore(self, state: Mapping[str, Any]) -> None:
        """Load a checkpoint. Raise ValueError unless its state matches the declaration and is consistent."""
        counters = {"steps": Whole(), "updates": Whole(), "seconds": Number(0), "cpu_seconds": Number(0)}
        counters |= {
            "spent": dict.fromkeys(self.spent, Number(0)),
            "rows": ROWS,
            "config": dict,
            "trainer": dict,
        }
        check_declared(CHECKPOINT, state, counters)
        for name in _COUNTERS:
            setattr(self, name, state[name])
        last = self.rows[-1].get("time/steps") if self.rows else 0
        if (len(self.rows), last) != (self.updates, self.steps):
            raise ValueError(
                f"the log has {len(self.rows)} rows up to step {last}, but the run has "
                f"{self.updates} updates and {self.steps} steps"
            )
        check_declared("trainer", state["trainer"], self.declared())
        self._saved_steps = self.steps
        self.load_state_dict(state["trainer"])

    def _lines(self) -> str:
        return "".join(json.dumps(row) + "\n" for row in self.rows)


class TorchRun(Run):
    """A run with a network, an optimizer and minibatches: the common part of the project's own trainers."""

    FILE: ClassVar[str]  # name of the policy's file
    KIND: ClassVar[type[TrainedFile]]  # type of the policy's file
    network: NamedWeights
    optimizer: torch.optim.Optimizer

    def __init__(
        self,
        config: Any,
        folder: str | Path,
        executor: WorkExecutor | None = None,
        named: Sequence[str] = (),
    ) -> None:
        super().__init__(config, folder, executor, named)
        torch.manual_seed(config.seed)
        self.shuffle = torch.Generator().manual_seed(config.seed)
        self.averages: dict[str, torch.Tensor] = {}  # averaged weights by name, if `ema_decay` is above 0

    @torch.no_grad()
    def average_weights(self) -> None:
        """Move the averaged weights towards the network's weights, after a step of the optimizer."""
        if self.config.ema_decay == 0:
            return
        for name, values in self.weights().items():
            average = self.averages.setdefault(name, values.detach().clone())
            average.lerp_(values.detach(), 1 - self.config.ema_decay)

    def arrays(self) -> dict[str, Array]:
        """Return copies of the averaged weights or, without averaging, of the network's weights."""
        if not self.averages:
            return self.network.arrays()
        return {name: values.cpu().numpy().copy() for name, values in self.averages.items()}

    def policy(self) -> Any:
        """Return the current network as a policy file."""
        return self.KIND(self.arrays(), schema_of(self.rules, self.board), made_by(self))

    def load_first_weights(self, source: str) -> None:
        """Load the weights of a file of the same kind, or of an agent (`Run.load_first_weights`)."""
        copy_weights(self.network.weights, read_arrays(self.KIND, source, self.rules, self.board), source)

    def write_policy(self) -> None:
        """Write the policy's file."""
        replace_file(self.folder / self.FILE, self.policy().save)

    def seating(self) -> Seating:
        """Return a factory of the policy as a compiled bot."""
        return partial(self.policy().bot, "learner")

    def left(self) -> float:
        """Return the factor of settings that fall linearly over the run, from 1 to a tenth."""
        return 1 - 0.9 * min(1.0, self.steps / self.config.length)

    def set_learning_rate(self) -> float:
        """Set and return the optimizer's learning rate for this update."""
        rate: float = self.config.learning_rate * self.left()
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        return rate

    def minibatches(self, count: int) -> tuple[torch.Tensor, ...]:
        """Return the numbers 0 ... count - 1 in a new random order, split into minibatches."""
        return self.moved(torch.randperm(count, generator=self.shuffle)).split(self.config.batch_size)

    def step_optimizer(self, loss: torch.Tensor) -> torch.Tensor:
        """Make one step of the optimizer to reduce a loss; return the loss without its graph."""
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        self.average_weights()
        return loss.detach()

    def moved(self, values: torch.Tensor | Array) -> torch.Tensor:
        """Return the values as a tensor on the device of this run."""
        return moved(torch.as_tensor(values), self.device)

    def mixed(self) -> AbstractContextManager[Any]:
        """Return a context manager in which matrix products have the configured precision."""
        return mixed(self.precision, self.device)

    def state_dict(self) -> dict[str, Any]:
        """Return the state of network, averaged weights, optimizer and generator of minibatches."""
        parts = {"network": self.network.state_dict(), "optimizer": self.optimizer.state_dict()["state"]}
        return parts | {"shuffle": self.shuffle.get_state(), "averages": self.averages}

    def declared(self) -> dict[str, Declared]:
        """Return the declaration that a state must match, with tensors on the device of this run."""
        parts = {"network": self.network.state_dict(), "optimizer": declared_moments(self.optimizer)}
        averages = SomeOf({name: values.detach() for name, values in self.weights().items()})
        return parts | {"shuffle": self.shuffle.get_state(), "averages": averages}

    def weights(self) -> Mapping[str, torch.Tensor]:
        """Return the weights of the network."""
        return self.network.weights

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the state that `state_dict` returned."""
        self.network.load_state_dict(state["network"])
        load_moments(self.optimizer, state["optimizer"])
        self.shuffle.set_state(state["shuffle"])
        self.averages = {name: self.moved(values) for name, values in state["averages"].items()}


class DivergedError(ValueError):
    """Raised if an update produces values that are too large or not finite."""


def declared_moments(optimizer: torch.optim.Optimizer) -> Declared:
    """Return the declaration of Adam's moments for `load_moments`, keyed by the index of the parameter."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    return SomeOf(
        {
            number: {"step": torch.zeros(()), "exp_avg": values.detach(), "exp_avg_sq": values.detach()}
            for number, values in enumerate(parameters)
        }
    )


def load_moments(optimizer: torch.optim.Optimizer, moments: Mapping[int, Any]) -> None:
    """Restore Adam's moments and step counts, but no settings of Adam.

    Raises ValueError if a `step` or an `exp_avg_sq` is negative.
    """
    if any((moment["step"] < 0) or (moment["exp_avg_sq"] < 0).any() for moment in moments.values()):
        raise ValueError("optimizer: exp_avg_sq and step must be 0 or more")
    optimizer.load_state_dict(optimizer.state_dict() | {"state": moments})


_COUNTERS = ("steps", "updates", "seconds", "cpu_seconds", "spent", "rows")


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def made_by(run: Run) -> dict[str, Any]:
    """Return the facts about the training of a policy, for the policy's file."""
    facts = {"name": run.folder.name, "version": str(run.steps), "config": run.config.to_dict()}
    facts |= {"device": str(run.device), "precision": run.precision}
    return facts | {"steps": run.steps, "cpu_seconds": round(run.cpu_seconds)}


@contextmanager
def timed(spent: dict[str, float], part: str) -> Iterator[None]:
    """Add the CPU time of a `with` block to `spent[part]`."""
    start = time.process_time()
    try:
        yield
    finally:
        spent[part] += time.process_time() - start


def load_checkpoint(folder: str | Path) -> dict[str, Any]:
    """Return the checkpoint of a run. Raise ValueError if there is no checkpoint of this version."""
    path, config = Path(folder) / CHECKPOINT, Path(folder) / CONFIG
    if not path.is_file():
        fresh = "start a run with --config"
        again = f"start the run again with --config {config} --out {folder}" if config.is_file() else fresh
        raise ValueError(f"run {str(folder)!r} has no {CHECKPOINT} yet: nothing to resume; {again}")
    try:
        state: dict[str, Any] = from_data(load_tensors(read_file(path, MOST_BYTES)))
        if state["config"]["trainer"] not in TRAINERS:
            known = ", ".join(TRAINERS)
            raise ValueError(f"trainer={shortened(state['config']['trainer'])}: must be one of {known}")
    except Exception as error:  # PyTorch may raise any exception
        raise _no_checkpoint(path, error) from error
    return state


def _no_checkpoint(path: Path, error: Exception) -> ValueError:
    problem = f"{str(path)!r} is not a checkpoint of this version: {cause(error)}"
    return ValueError(f"{problem}; start a new run with --config")


def to_data(value: Any) -> Any:
    """Convert a value for `torch.save`: tensors to the CPU, arrays to bytes with dtype and shape."""
    if isinstance(value, np.ndarray):
        values = (
            torch.frombuffer(bytearray(value.tobytes()), dtype=torch.uint8) if value.size else torch.empty(0)
        )
        return {
            _ARRAY: json.dumps(np.lib.format.dtype_to_descr(value.dtype)),
            "shape": value.shape,
            "bytes": values,
        }
    if isinstance(value, torch.Tensor):
        return value.cpu()
    if isinstance(value, Mapping):
        return {name: to_data(inner) for name, inner in value.items()}
    if isinstance(value, np.generic):
        return value.item()
    return type(value)(map(to_data, value)) if isinstance(value, list | tuple) else value


def from_data(value: Any) -> Any:
    """Convert the result of `to_data` back: a mapping of bytes, dtype and shape becomes an array."""
    if isinstance(value, dict) and _ARRAY in value:
        dtype = np.lib.format.descr_to_dtype(_tuples(parse_json(value[_ARRAY])))
        return np.frombuffer(value["bytes"].numpy().tobytes(), dtype).reshape(value["shape"]).copy()
    if isinstance(value, dict):
        return {name: from_data(inner) for name, inner in value.items()}
    return type(value)(map(from_data, value)) if isinstance(value, list | tuple) else value


_ARRAY = "dtype of an array"


def _tuples(description: Any) -> Any:
    """Return the description of a structured dtype with tuples in place of the lists that JSON writes."""
    if isinstance(description, str):
        return description
    return [(name, _tuples(kind), *map(tuple, shape)) for name, kind, *shape in description]


def replace_file(path: Path, write: Callable[[Path], Any]) -> None:
    """Write a file of a run atomically with `write`. Raises OSError as described in `naming`."""
    with naming(path), whole_file(path) as fresh:
        write(fresh)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Replace an OSError or RuntimeError of a `with` block by an OSError with advice.

    The OSError names the file, and says how to continue the run if the run has a checkpoint.
    """
    try:
        yield
    except (OSError, RuntimeError) as error:  # PyTorch raises RuntimeError if the disk is full
        run = path.parent
        then = f", then run risk-env train --resume {run}" if (run / CHECKPOINT).is_file() else ""
        advice = f"correct the problem (if the disk is full, free disk space){then}"
        raise OSError(f"{path} cannot be written: {error}; {advice}") from error
