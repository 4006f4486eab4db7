"""Places of work: equal games on a Ray cluster, even if a machine is lost; clear errors."""

import dataclasses
import math
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from risk_agents.tournament import running
from risk_agents.tournament.columns import COLUMNS
from risk_agents.tournament.loading import make_config
from risk_agents.tournament.results_store import Store
from risk_agents.tournament.running import conduct
from risk_agents.workers import (
    InProcess,
    ProcessExecutor,
    RayExecutor,
    WorkExecutor,
    in_order,
    local_processes,
    open_executor,
    processes,
    watchdog,
)
from risk_agents.workers.cluster import run_same_version
from risk_agents.workers.executor import LEAST_LIMIT, Limits, WorkLostError
from risk_env import Rules, load_map
from risk_env.cli import main
from risk_training import beam_value, ppo, turn_policy
from risk_training.evaluate import evaluate
from risk_training.run import load_checkpoint
from risk_training.run_files import METRICS
from tests import hanging
from tests.test_run import BEAM_VALUES as SMALL
from tests.test_run import PPO, TURN_POLICIES, untimed

GAMES = 80
DRIVER = """
import subprocess, sys, time
from risk_agents.workers.cluster import OwnRay
own = OwnRay(None)
for session in (False, True):
    with open(own.folder + "/log", "a") as log:
        child = subprocess.Popen(["sleep", "600"], stdout=log, start_new_session=session)
    print(child.pid, flush=True)
print(own.folder, flush=True)
if sys.argv[1] == "close":
    own.close()
else:
    time.sleep(600)
"""
BEAM_VALUES = dataclasses.replace(SMALL, games=24, round_games=8, chunk_games=2, checkpoint_interval=1)
ACTORS = dataclasses.replace(PPO, actors=2, staleness=1)
PLANS = dataclasses.replace(TURN_POLICIES, games=4, chunk_games=1)
TIMES = ("seconds",)  # columns that no two runs share


def test_workers_are_a_number_or_a_cluster():
    assert [local_processes(text) for text in ("1", "12", "ray", "ray://head:10001")] == [1, 12, None, None]
    for wrong in ("0", "-1", "two", "rays", "", "1.5"):
        with pytest.raises(ValueError, match="must be a number of processes, ray, or ray://HOST:PORT"):
            local_processes(wrong)


def test_a_worker_with_other_code_is_refused():
    with pytest.raises(RuntimeError, match=r"a worker has risk_env .*, but the driver has 0\.0\.1 \(0\)"):
        run_same_version("0.0.1 (0)", b"never read")


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys):
    monkeypatch.setitem(sys.modules, "ray", None)
    arguments = [
        "--agents",
        "random,grower",
        "--players",
        "2",
        "--workers",
        "ray",
        "--out",
        str(tmp_path / "t.sqlite"),
    ]
    assert main(["tournament", *arguments]) == 1
    assert "pip install 'risk-env[ray]'" in capsys.readouterr().err


def test_results_come_in_order_and_little_is_out_at_once():
    class Slow(InProcess):
        out = most = 0

        def __init__(self):
            self.threads = ThreadPoolExecutor(3)

        def size(self):
            return 2

        def submit(self, function, /, *args, **kwargs):
            self.out += 1
            self.most = max(self.most, self.out)
            future = self.threads.submit(function, *args, **kwargs)
            future.add_done_callback(lambda done: setattr(self, "out", self.out - 1))
            return future

    def wait_longer_first(number):
        time.sleep(0.03 if number % 3 == 0 else 0.001)
        return number

    executor = Slow()
    assert list(in_order(executor, wait_longer_first, ((number,) for number in range(20)))) == list(range(20))
    assert executor.most == 4
    with pytest.raises(ZeroDivisionError):
        list(in_order(executor, divmod, [(1, 1), (1, 0)]))


@pytest.mark.slow
@pytest.mark.long
def test_a_process_that_is_killed_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Rounds, actors and evaluations in two processes, one of which is killed, equal those in one process."""
    beam_value.Trainer(BEAM_VALUES, tmp_path / "here").train()
    ppo.Trainer(ACTORS, tmp_path / "actors here").train()
    turn_policy.Trainer(PLANS, tmp_path / "plans here").train()
    rules = Rules.preset("classic", 2, max_rounds=20, profile="fast")
    scores = [evaluate("grower", "random", rules, load_map("tiny"), 300)]
    with open_executor("2") as executor:
        killer = threading.Thread(target=kill_one_at_work, args=(executor, tmp_path / "there" / METRICS))
        killer.start()
        beam_value.Trainer(BEAM_VALUES, tmp_path / "there", executor).train()
        killer.join()
        ppo.Trainer(ACTORS, tmp_path / "actors there", executor).train()
        turn_policy.Trainer(PLANS, tmp_path / "plans there", executor).train()
        scores.append(evaluate("grower", "random", rules, load_map("tiny"), 300, executor=executor))
        monkeypatch.setattr(processes, "RETRIES", 0)
        with pytest.raises(WorkLostError, match="its worker died, or exceeded"):
            executor.submit(os._exit, 1).result()
    assert not multiprocessing.active_children()
    assert trained(tmp_path / "there") == trained(tmp_path / "here")
    assert trained(tmp_path / "actors there") == trained(tmp_path / "actors here")
    assert trained(tmp_path / "plans there") == trained(tmp_path / "plans here")
    assert scores[0] == scores[1] and scores[0].games == 300


def kill_one_at_work(executor: ProcessExecutor, log: Path) -> None:
    """Kill a process of the executor after the first update of the run."""
    while not (log.exists() and log.read_text()):
        time.sleep(0.005)
    multiprocessing.active_children()[0].kill()


def trained(folder: Path) -> Any:
    """Return the checkpoint of a run, without times."""
    return untimed(load_checkpoint(folder))


@pytest.mark.long
def test_work_that_hangs_begins_again_elsewhere(tmp_path: Path, capsys):
    with ProcessExecutor(2, limit=4) as executor:
        pieces = ((tmp_path / "mark", number) for number in range(6))
        assert list(in_order(executor, hanging.stop_once, pieces)) == list(range(6))
        assert (
            "a worker process took more than 4 s; its work begins again elsewhere\n"
            in capsys.readouterr().err
        )


def test_work_that_always_hangs_ends_the_run(monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.setattr(processes, "RETRIES", 0)
    with (
        open_executor("2", limit=0.5) as executor,
        pytest.raises(WorkLostError, match="failed 1 times: its worker died, or exceeded"),
    ):
        executor.submit(hanging.loop, 60).result()
    assert "begins again" not in capsys.readouterr().err


STATE = np.zeros(1 << 17, np.int64)  # a megabyte, so that it is in Ray's object store


def chained(executor: WorkExecutor, *options: Any) -> list[int]:
    """Return the results of two parallel chains of four links.

    The options apply to the second link of the first chain.
    """
    first: Any = STATE
    second: Any = STATE
    links: list[Any] = []
    for number in range(4):
        first = executor.submit_after(first, hanging.link, number, *(options if number == 1 else ()))
        second = executor.submit_after(second, hanging.link, number)
        links += [first, second]
    results = [found.result(timeout=120) for found in links]
    assert all((state == number // 2 + 1).all() for number, (_, state) in enumerate(results))
    return [result for result, _ in results]


CHAINED = [number + number * len(STATE) for number in range(4) for _ in range(2)]


@pytest.mark.parametrize("how", ["", "end", pytest.param("stop", marks=pytest.mark.long)])
def test_a_chain_of_work_hands_its_state_on(how: str, tmp_path: Path):
    if not how:
        assert chained(InProcess()) == CHAINED
    with ProcessExecutor(2, limit=4) as executor:
        assert chained(executor, *((tmp_path / "mark", how) if how else ())) == CHAINED


def test_a_chain_ends_with_the_first_error():
    with ProcessExecutor(2) as executor:
        failing = executor.submit_after(STATE, hanging.link, 7, None, "raise")
        following = executor.submit_after(failing, hanging.link, 8)
        with pytest.raises(ArithmeticError, match="7"):
            following.result(timeout=60)
        late = executor.submit_after(
            executor.submit_after(STATE, hanging.link, 0, None, "", 0.5), hanging.link, 1
        )
    assert late.result(timeout=0)[0] == 1 + len(STATE)  # `shutdown` waits for it
    with open_executor("2") as executor:
        dropped = executor.submit_after(
            executor.submit_after(STATE, hanging.link, 0, None, "", 60), hanging.link, 1
        )
    with pytest.raises(CancelledError):
        dropped.result(timeout=10)


def test_large_results_and_errors_come_back():
    with ProcessExecutor(1) as executor:
        given = np.arange(1e5)
        found = executor.submit(hanging.large, 22, given).result()
        assert found["bits"].sum() == 7 << 22 and (found["records"]["b"] == 1).all()
        assert np.array_equal(found["given"], given + 1)
        assert all(array.flags.aligned and array.flags.writeable for array in found.values())
        with pytest.raises(ZeroDivisionError) as raised:
            executor.submit(divmod, 1, 0).result()
        assert "Traceback" in str(raised.value.__cause__)
        with pytest.raises(RuntimeError, match=r"HereError.*cannot be sent"):
            executor.submit(hanging.refuse, "no").result()


def test_a_limit_is_the_users_or_generous():
    limits = Limits()
    assert limits.of(abs) == math.inf
    limits.ended(abs, 1)
    assert limits.of(abs) == LEAST_LIMIT
    limits.ended(abs, 60)
    limits.ended(abs, 50)
    assert (limits.of(abs), limits.of(max)) == (1200, math.inf)
    assert Limits(7).of(abs) == 7
    for wrong in (0, -1, math.inf, math.nan):
        with pytest.raises(ValueError, match="must be a finite number of seconds above 0"):
            Limits(wrong)


@pytest.mark.parametrize("text", ["0", "-1", "inf", "soon"])
def test_a_wrong_limit_is_named(text: str, capsys):
    with pytest.raises(SystemExit):
        main(["evaluate", "grower", "--chunk-limit", text])
    assert f"--chunk-limit: {text!r}: must be a finite number of seconds above 0" in capsys.readouterr().err


@pytest.mark.long
def test_a_tournament_goes_on_where_a_process_has_stopped(
    tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch
):
    rules = Rules.preset("classic", 2, attack="blitz", defender_dice="max", max_rounds=60)
    config = make_config(["beam", "planner"], rules, record=True)
    with closing(Store.create(tmp_path / "here.sqlite", config)) as store:
        conduct(store, GAMES)
        expected = rows(store)
    monkeypatch.setattr(running, "play_and_store", hanging.store_and_stop_once)
    with closing(Store.create(tmp_path / "there.sqlite", config)) as store:
        conduct(store, GAMES, 2, limit=10)
        assert "took more than 10 s" in capsys.readouterr().err
        assert rows(store) == expected


@pytest.fixture(scope="module")
def cluster():
    ray = pytest.importorskip("ray", reason="the extra 'ray' is not installed")
    from ray.cluster_utils import Cluster

    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    path = {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}  # of this working tree, in development
    ray.init(
        address=found.address, runtime_env={"env_vars": path}, log_to_driver=False, logging_level="error"
    )
    yield found
    ray.shutdown()
    found.shutdown()


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="/proc says who has a file open")
@pytest.mark.parametrize("how", ["kill", "close"])
def test_nothing_of_an_own_ray_is_left_when_its_driver_ends(how: str):
    """All processes with an open log in the folder of this Ray end, whatever their session.

    The folder is removed too.
    """
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, how], stdout=subprocess.PIPE, text=True)
    assert driver.stdout
    *pids, folder = (driver.stdout.readline().strip() for _ in range(3))
    if how == "kill":
        driver.kill()
    status, until = driver.wait(120), time.monotonic() + 120
    assert status == (-signal.SIGKILL if how == "kill" else 0)  # the watchdog spares its caller
    while (any(map(is_running, map(int, pids))) or Path(folder).exists()) and time.monotonic() < until:
        time.sleep(0.1)
    assert not any(map(is_running, map(int, pids))) and not Path(folder).exists()


LOST = """
import os, sys
from risk_agents.workers import open_executor
from tests import hanging
with open_executor("ray") as executor:
    work = executor.submit(hanging.loop, 600)
    print(executor._own.folder, flush=True)
    work.result()
"""


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("part", ["raylet", "driver"])
def test_a_lost_ray_says_how_to_go_on_and_leaves_nothing(part: str):
    root = Path(__file__).parents[1]
    found = subprocess.Popen(
        [sys.executable, "-c", LOST], cwd=root, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert found.stdout
    folder = found.stdout.readline().strip()
    names = {
        pid: Path(f"/proc/{pid}/comm").read_text().strip() for pid in watchdog.users(folder, but=found.pid)
    }
    killed = [found.pid] if part == "driver" else [pid for pid, name in names.items() if name == part]
    os.kill(killed[0], signal.SIGKILL)
    errors = found.communicate(timeout=180)[1]
    if part != "driver":
        assert f"the process {part} has ended; run the command again" in errors
        assert "Raylet is terminated" not in errors and "Failed to connect" not in errors
    until = time.monotonic() + 120
    while (watchdog.users(folder) or Path(folder).exists()) and time.monotonic() < until:
        time.sleep(0.2)
    assert not watchdog.users(folder) and not Path(folder).exists()


def all_have_work() -> bool:
    """Return True if no machine of the cluster has an idle CPU."""
    import ray

    return not ray.available_resources().get("CPU")


@contextmanager
def losing_a_machine(cluster, at: Callable[[], bool] = all_have_work):
    """Return an executor on two machines, one of which is killed once `at` is true."""
    lost = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    with RayExecutor() as executor:
        assert executor.size() == 2
        loser = threading.Thread(target=lose, args=(cluster, lost, at))
        loser.start()
        yield executor
        loser.join()
        until = time.monotonic() + 60
        while executor.size() > 1 and time.monotonic() < until:
            time.sleep(0.1)
        assert executor.size() == 1


def lose(cluster, node, at: Callable[[], bool]) -> None:
    """Kill a machine of the cluster once `at` is true, or after a minute."""
    until = time.monotonic() + 60
    while not at() and time.monotonic() < until:
        time.sleep(0.02)
    cluster.remove_node(node, allow_graceful=False)


@pytest.mark.long
def test_a_cluster_that_loses_a_machine_plays_the_same_games(
    tmp_path: Path, cluster, monkeypatch: pytest.MonkeyPatch
):
    rules = Rules.preset("classic", 2, attack="blitz", defender_dice="max", max_rounds=60)
    config = make_config(["beam", "planner"], rules, record=True)
    with closing(Store.create(tmp_path / "here.sqlite", config)) as store:
        conduct(store, GAMES)
        expected = rows(store)
    with (
        closing(Store.create(tmp_path / "ray.sqlite", config)) as store,
        losing_a_machine(cluster) as executor,
    ):
        conduct(store, GAMES, executor=executor)
        assert rows(store) == expected
    monkeypatch.setattr("risk_agents.workers.cluster.RETRIES", 0)  # each would start a process
    with RayExecutor() as executor, pytest.raises(WorkLostError, match="its worker died, or exceeded"):
        executor.submit(os._exit, 1).result(timeout=120)


@pytest.mark.long
def test_a_cluster_that_loses_a_machine_learns_the_same_value(tmp_path: Path, cluster):
    beam_value.Trainer(BEAM_VALUES, tmp_path / "here").train()
    with losing_a_machine(cluster) as executor:
        beam_value.Trainer(BEAM_VALUES, tmp_path / "ray", executor).train()
    assert trained(tmp_path / "ray") == trained(tmp_path / "here")


@pytest.mark.long
def test_a_cluster_that_loses_a_machine_plays_the_same_rollouts(tmp_path: Path, cluster):
    # a rollout takes long enough to be sent to both machines
    size = {"n_envs": 400, "n_steps": 32, "batch_size": 4096}
    config = dataclasses.replace(ACTORS, **size, n_timesteps=8 * 2 * 400 * 32)
    ppo.Trainer(config, tmp_path / "here").train()
    log = tmp_path / "ray" / METRICS

    def at() -> bool:
        return log.exists() and log.read_text().count("\n") > 1 and all_have_work()

    with losing_a_machine(cluster, at) as executor:
        ppo.Trainer(config, tmp_path / "ray", executor).train()
    assert trained(tmp_path / "ray") == trained(tmp_path / "here")


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(("how", "said"), [("", ""), ("end", "was lost"), ("stop", "took more than 2 s")])
def test_a_chain_of_work_on_a_cluster(how: str, said: str, tmp_path: Path, cluster, capsys):
    with RayExecutor(limit=2) as executor:
        assert chained(executor, *((tmp_path / "mark", how) if how else ())) == CHAINED
    assert said in capsys.readouterr().err


@pytest.mark.long
def test_a_state_that_the_cluster_has_lost_is_sent_again(cluster):
    import ray

    with RayExecutor() as executor:
        link: Any = executor.submit_after(STATE, hanging.link, 0)
        link.result(timeout=120)
        link.reference, owner = ray.get(ray.remote(hanging.put).remote())
        os.kill(owner, signal.SIGKILL)  # what it has put into the store is lost with it
        assert executor.submit_after(link, hanging.link, 1).result(timeout=120)[0] == 1 + len(STATE)


@pytest.mark.long
@pytest.mark.slow
def test_a_chain_on_a_cluster_ends_with_the_first_error(
    tmp_path: Path, cluster, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("risk_agents.workers.cluster.RETRIES", 0)
    executor = RayExecutor()
    failing = executor.submit_after(STATE, hanging.link, 7, None, "raise")
    for following in (
        executor.submit_after(failing, hanging.link, 8),
        executor.submit_after(failing, hanging.link, 9),
    ):
        with pytest.raises(ArithmeticError, match="7"):
            following.result(timeout=120)
    with pytest.raises(ArithmeticError, match="7"):
        executor.submit_after(failing, hanging.link, 8).result(timeout=120)  # which has ended
    lost = executor.submit_after(STATE, hanging.link, 0, tmp_path / "mark", "end")
    with pytest.raises(WorkLostError):
        executor.submit_after(lost, hanging.link, 1).result(timeout=120)
    dropped = executor.submit_after(
        executor.submit_after(STATE, hanging.link, 0, None, "", 60), hanging.link, 1
    )
    executor.shutdown(cancel_futures=True)
    with pytest.raises(CancelledError):
        dropped.result(timeout=10)


@pytest.mark.long
def test_a_ray_worker_that_has_stopped_is_replaced(tmp_path: Path, cluster, capsys):
    with RayExecutor(limit=2) as executor:
        pieces = ((tmp_path / "mark", number) for number in range(3))
        assert list(in_order(executor, hanging.stop_once, pieces)) == [0, 1, 2]
    assert "a Ray worker took more than 2 s; its work begins again elsewhere" in capsys.readouterr().err


@pytest.mark.long
def test_a_machine_that_joins_is_used(cluster):
    with RayExecutor() as executor:
        pieces = in_order(executor, hanging.place, ((0.3,) for _ in range(40)))
        places = {next(pieces)}
        joined = cluster.add_node(num_cpus=1)
        places |= set(pieces)
    cluster.remove_node(joined)
    assert len(places) == 2


def rows(store: Store) -> list:
    """Return the games in the file, without times."""
    return list(store.rows(name for name in COLUMNS if name not in TIMES))
