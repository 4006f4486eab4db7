"""Where work runs: the same games on a Ray cluster, also when a machine is lost; clear errors."""

import os
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from risk_agents.tournament.columns import COLUMNS
from risk_agents.tournament.loading import make_config
from risk_agents.tournament.running import conduct
from risk_agents.tournament.store import Store
from risk_agents.workers import RayExecutor, local_processes, run_same_version, version
from risk_env import Rules
from risk_env.cli import main

GAMES = 80
TIMES = ("seconds",)  # columns that no two runs share


def test_workers_are_a_number_or_a_cluster():
    assert [local_processes(text) for text in ("1", "12", "ray", "ray://head:10001")] == [1, 12, None, None]
    for wrong in ("0", "-1", "two", "rays", "", "1.5"):
        with pytest.raises(ValueError, match="must be a number of processes, ray, or ray://HOST:PORT"):
            local_processes(wrong)


def test_a_worker_with_other_code_is_refused():
    assert run_same_version(version(), max, (1, 2), {}) == 2
    with pytest.raises(RuntimeError, match=r"a worker has risk_env .*, this process 0\.0\.1 \(0\)"):
        run_same_version("0.0.1 (0)", max, (1, 2), {})


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys):
    monkeypatch.setitem(sys.modules, "ray", None)
    arguments = ["--agents", "random,grower", "--players", "2", "--workers", "ray", "--out", str(tmp_path / "t.sqlite")]
    assert main(["tournament", *arguments]) == 1
    assert "pip install 'risk-env[ray]'" in capsys.readouterr().err


@pytest.mark.slow
def test_a_cluster_that_loses_a_machine_plays_the_same_games(tmp_path: Path):
    ray = pytest.importorskip("ray", reason="the extra 'ray' is not installed")
    from ray.cluster_utils import Cluster

    rules = Rules.preset("classic", 2, attack="blitz", defender_dice="max", max_rounds=60)
    config = make_config(["beam", "planner"], rules, record=True)
    with closing(Store.create(tmp_path / "here.sqlite", config)) as store:
        conduct(store, GAMES)
        expected = rows(store)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    lost = cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
    try:
        with closing(Store.create(tmp_path / "ray.sqlite", config)) as store, RayExecutor() as executor:
            assert executor.size() == 2
            loser = threading.Thread(target=lose, args=(ray, cluster, lost))
            loser.start()
            conduct(store, GAMES, executor=executor)
            loser.join()
            assert executor.size() == 1
            assert rows(store) == expected
            with pytest.raises(ray.exceptions.WorkerCrashedError):
                executor.submit(os._exit, 1).result(timeout=120)
    finally:
        ray.shutdown()
        cluster.shutdown()


def lose(ray, cluster, node) -> None:
    """Kill a machine of the cluster as soon as all of them have work."""
    while ray.available_resources().get("CPU"):
        time.sleep(0.02)
    cluster.remove_node(node, allow_graceful=False)


def rows(store: Store) -> list:
    """The games in the file without times."""
    return list(store.rows(name for name in COLUMNS if name not in TIMES))
