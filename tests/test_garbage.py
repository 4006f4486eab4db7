"""Rare garbage collections while entry points are compiled."""

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numba.core import errors, event

from risk_env.compiler import JIT_DISABLED, decorators, entry_point
from risk_env.compiler.bound import type_of
from risk_env.compiler.garbage import FEW_COLLECTIONS

pytestmark = pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled with the JIT off")
THRESHOLDS = (500, 7, 3)


class Thresholds(event.Listener):
    """Listener that stores the thresholds of the collector at the start of each compilation."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, int, int]] = []

    def on_start(self, event: event.Event) -> None:
        """Store the thresholds."""
        self.seen.append(gc.get_threshold())

    def on_end(self, event: event.Event) -> None:
        """Do nothing."""


@pytest.fixture
def during(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[int, int, int]]]:
    """Set known thresholds, and yield the thresholds at the starts of compilations. Nothing is cached."""
    monkeypatch.setattr(decorators, "cache_directory", lambda *_: None)
    before, listener = gc.get_threshold(), Thresholds()
    gc.set_threshold(*THRESHOLDS)
    with event.install_listener("numba:compile", listener):
        yield listener.seen
    gc.set_threshold(*before)


def compile_new_entry() -> None:
    """Compile an entry point."""

    def first(numbers):  # type: ignore[no-untyped-def]
        return numbers[0]

    entry_point(first).compile((type_of(np.arange(2)),))


def test_collections_are_rare_during_a_compilation_only(during: list[tuple[int, int, int]]) -> None:
    compile_new_entry()
    assert during == [(FEW_COLLECTIONS, *THRESHOLDS[1:])]
    assert gc.get_threshold() == THRESHOLDS


@pytest.mark.parametrize("first", [0, 2 * FEW_COLLECTIONS])
def test_a_higher_threshold_and_a_collector_that_is_off_stay(
    first: int, during: list[tuple[int, int, int]]
) -> None:
    gc.set_threshold(first, *THRESHOLDS[1:])
    compile_new_entry()
    assert during == [(first, *THRESHOLDS[1:])] and gc.get_threshold()[0] == first


def test_an_error_of_the_compiler_restores_the_thresholds(during: list[tuple[int, int, int]]) -> None:
    def wrong(numbers):  # type: ignore[no-untyped-def]
        return numbers.nothing

    entry: Any = entry_point(wrong)
    with pytest.raises(errors.TypingError):
        entry.compile((type_of(np.arange(2)),))
    assert during and gc.get_threshold() == THRESHOLDS
