"""Short fuzzing of every target, and all inputs that once broke a target.

`python -m tests.fuzz` does more.
"""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.mutations import change_value
from tests.fuzz.running import Finding, read_one, regressions
from tests.fuzz.targets import Target, named

ROOT = Path(__file__).parents[1]
QUICK = (
    *(
        "map",
        "random",
        *("domination", "conquest", "club", "json", "csv"),
        "picture",
        "position",
        "save",
        "load",
        "action",
        "protocol",
        "plan",
        "model",
        "wish",
        "message",
        "replay",
        "kept",
        "results",
        "specs",
    ),
    *("config", "value", "zip", "positions", "endpoint", "kernel"),
)


@pytest.mark.parametrize("name", QUICK)
def test_some_inputs_of_every_target(name):
    target, rng = named()[name], random.Random(name)
    seeds = target.make()
    for _ in range(5 if name in ("value", "zip", "config", "positions") else 60):
        data = target.change(rng.choice(seeds), rng)
        outcome, what = read_one(target, data)
        assert outcome != "broke", f"{what}\n{Finding(name, 0, what, data).keep()}"


def test_what_once_broke_something_does_not_again():
    targets = named()
    for name, path in regressions():
        outcome, what = read_one(targets[name], path.read_bytes())
        assert outcome != "broke", f"{path}: {what}"


def test_what_breaks_is_noticed():
    def read(data):
        raise KeyError(data)

    target = Target(list, lambda seed, rng: b"", read, (ValueError,))
    assert read_one(target, b"")[0] == "broke"
    assert read_one(target._replace(errors=(KeyError,)), b"") == ("refused", "KeyError")


def test_a_change_leaves_what_it_is_given():
    value = {"a": [1, {"b": 2}], "c": "d"}
    for seed in range(200):
        change_value(value, random.Random(seed))
    assert value == {"a": [1, {"b": 2}], "c": "d"}


def test_the_command_shows_a_table():
    command = [sys.executable, "-m", "tests.fuzz", "action", "--inputs", "50", "--seed", "3"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert "IllegalAction" in found.stdout
