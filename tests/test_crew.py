"""A crew of threads: all parts are done, errors come back, and the threads end with the crew."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
import weakref
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest

from risk_env.compiler import entry_point
from risk_env.engine.signals import (
    ALONE,
    CALLED,
    FIRST,
    SECOND,
    STATE,
    comes_to_an_end,
    hand_in,
    is_called,
    is_refused,
    report,
    take,
)
from risk_env.engine.thread_pool import Crew


def crew_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "risk_env crew"]


def test_each_part_is_done_in_a_thread_of_its_own() -> None:
    crew, barrier = Crew(3), threading.Barrier(3, timeout=10)
    done: dict[str, int] = {}

    def work(part: str, number: int) -> None:
        barrier.wait()  # nobody passes unless all three are at it
        done[part] = number + threading.get_ident()

    for number in range(50):
        done.clear()
        crew.share(work, ["a", "b", "c"], number)
        assert set(done) == {"a", "b", "c"} and len(set(done.values())) == 3
        assert done["a"] == number + threading.get_ident()


def test_fewer_parts_than_threads() -> None:
    crew, done = Crew(3), []
    crew.share(done.append, [1])
    crew.share(done.append, [2, 3])
    assert done[0] == 1 and sorted(done[1:]) == [2, 3]


def test_more_parts_than_threads_are_refused_and_none_is_done() -> None:
    done: list[int] = []
    with pytest.raises(ValueError, match="zip"):
        Crew(2).share(done.append, [1, 2, 3])
    assert done == []


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_what_a_part_raises_is_raised_when_all_have_ended(bad: int) -> None:
    crew, done = Crew(3), []

    def work(part: int) -> None:
        if part == bad:
            raise ValueError(f"part {part}")
        done.append(part)

    for _ in range(3):
        done.clear()
        with pytest.raises(ValueError, match=f"part {bad}"):
            crew.share(work, [0, 1, 2])
        assert sorted(done) == [part for part in range(3) if part != bad]
    bad = -1
    crew.share(work, [0, 1, 2])
    assert sorted(done)[-1] == 2


def test_an_interrupt_while_it_waits_leaves_the_crew_in_order() -> None:
    crew, release, done = Crew(2), threading.Event(), []

    def work(part: int) -> None:
        if part == 1:
            release.wait(10)
        done.append(part)

    helper = crew._helpers[0]
    helper.begin(lambda: work(1))  # as if share had been left before `finish`
    release.set()
    crew.share(work, [0, 1])
    assert sorted(done) == [0, 1, 1]


@entry_point
def note(counts, by, fails, refused, signals, bounds, thread, patience):
    """A work to be repeated: unless one is refused, count each element and note who did it; helpers raise if told to.

    Whether none was refused, as far as this thread knows.
    """
    if thread == ALONE:
        if not refused.any():
            counts += 1
        return not refused.any()
    threads = len(signals)
    while thread == threads - 1 or is_called(signals, thread, patience):
        first, last = take(signals, bounds, FIRST, thread, 8)
        while first < last:
            hand_in(signals, last - first, refused[first:last].any())
            first, last = take(signals, bounds, FIRST, thread, 8)
        accepted = comes_to_an_end(signals, len(counts), 1_000_000_000) and not is_refused(signals)
        if accepted:
            first, last = take(signals, bounds, SECOND, thread, 8)
            while first < last:
                for k in range(first, last):
                    counts[k] += 1
                    by[k] = thread
                    if fails[0] and thread != threads - 1:
                        raise ValueError("told to")
                first, last = take(signals, bounds, SECOND, thread, 8)
        if thread == threads - 1:
            return accepted
        report(signals, thread)
    return True


class Noted(NamedTuple):
    """What `note` works on."""

    counts: np.ndarray
    by: np.ndarray
    fails: np.ndarray
    refused: np.ndarray

    @classmethod
    def of(cls, size: int) -> Noted:
        flags = np.zeros(1, np.bool_), np.zeros(size, np.bool_)
        return cls(np.zeros(size, np.int64), np.zeros(size, np.int64), *flags)


@pytest.mark.modes
@pytest.mark.parametrize("threads", [2, 3, 5])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_every_element_is_worked_on_once_a_repetition(threads: int, size: int) -> None:
    crew, noted = Crew(threads), Noted.of(size)
    work = partial(note, *noted)
    for times in range(1, 301):
        assert crew.repeat(work, size)
        assert (noted.counts == times).all()
        if times % 50 == 0:
            time.sleep(0.005)  # helpers fall asleep
        if times % 70 == 0:
            parts: list[int] = []
            crew.share(parts.append, [*range(threads)])  # they are wanted for something else
            assert sorted(parts) == [*range(threads)]


@pytest.mark.modes
def test_other_work_and_another_size_are_seen_by_all() -> None:
    crew = Crew(2)
    for size in (500, 400, 500):
        noted = Noted.of(size)
        work = partial(note, *noted)
        for times in range(1, 51):
            crew.repeat(work, size)
            assert (noted.counts == times).all()


@pytest.mark.modes
@pytest.mark.parametrize("threads", [2, 5])
def test_where_one_element_is_refused_nothing_is_done(threads: int) -> None:
    crew, noted = Crew(threads), Noted.of(100)
    work = partial(note, *noted)
    assert crew.repeat(work, 100)
    for k in range(100):
        noted.refused[k] = True
        assert not crew.repeat(work, 100)
        noted.refused[k] = False
        assert (noted.counts == 1).all()
    assert crew.repeat(work, 100)
    assert (noted.counts == 2).all()


def test_helpers_do_their_part(kernel_mode: str) -> None:
    crew, noted = Crew(2), Noted.of(200_000)
    work = partial(note, *noted)
    seen: set[int] = set()
    for _ in range(200):
        crew.repeat(work, len(noted.counts))
        seen |= set(noted.by.tolist())
    assert seen == {0, 1}


def test_what_a_helper_raises_is_raised_and_the_next_repetition_is_whole() -> None:
    crew, noted = Crew(2), Noted.of(200_000)
    work = partial(note, *noted)
    crew.repeat(work, len(noted.counts))
    noted.fails[0] = True
    with pytest.raises(ValueError, match="told to"):
        for _ in range(1000):
            crew.repeat(work, len(noted.counts))
    noted.fails[0] = False
    noted.counts[:] = 0
    crew.repeat(work, len(noted.counts))
    assert (noted.counts == 1).all()


def test_an_interrupt_amid_a_repetition_leaves_the_crew_in_order() -> None:
    crew, noted = Crew(2), Noted.of(1000)
    work, counts = partial(note, *noted), noted.counts

    def interrupted(signals: np.ndarray, bounds: np.ndarray, thread: int, patience: int) -> None:
        if thread == 1:
            raise KeyboardInterrupt
        note(*noted, signals, bounds, thread, patience)

    for _ in range(50):
        with pytest.raises(KeyboardInterrupt):
            crew.repeat(interrupted, 1000)
        counts[:] = 0
        crew.repeat(work, 1000)
        assert (counts == 1).all()
    crew._is_amid = True  # as if one had come between the call and the helper's beginning
    crew._signals[0, STATE] = CALLED
    counts[:] = 0
    crew.repeat(work, 1000)
    assert (counts == 1).all()


class Work:
    def do(self, part: int) -> None:
        pass


def test_threads_end_with_the_crew_and_keep_nothing_alive() -> None:
    before = set(crew_threads())
    crew = Crew(3)
    helpers = set(crew_threads()) - before

    work = Work()
    crew.share(work.do, [0, 1, 2])
    kept = weakref.ref(work)
    del work
    gc.collect()
    assert kept() is None
    assert len(helpers) == 2
    del crew
    gc.collect()
    for thread in helpers:
        thread.join(10)
        assert not thread.is_alive()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_hires_helpers_of_its_own() -> None:
    crew = Crew(2)
    done: list[int] = []
    crew.share(done.append, [0, 1])
    child = os.fork()
    if child == 0:
        crew.share(done.append, [2, 3])
        os._exit(0 if sorted(done) == [0, 1, 2, 3] else 1)
    deadline = time.monotonic() + 20
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < deadline:
        time.sleep(0.01)
    if ended == (0, 0):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert ended == (child, 0)
