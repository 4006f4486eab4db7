"""The thread pool: all parts are done, errors are passed on, and the threads end with the pool."""

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

from risk_env.compiler import JIT_DISABLED, PLAIN, entry_point
from risk_env.engine.thread_pool import ThreadPool
from risk_env.engine.work_stealing import (
    ALONE,
    CALLED,
    FIRST,
    SECOND,
    STATE,
    Sharing,
    all_are_checked,
    become_ready,
    is_called,
    is_caller,
    one_failed,
    report_checked,
    take,
)

PATIENT = 1_000_000_000


def helper_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "risk_env helper"]


def test_each_part_is_done_in_a_thread_of_its_own() -> None:
    pool, barrier = ThreadPool(3), threading.Barrier(3, timeout=10)
    done: dict[str, int] = {}

    def work(part: str, number: int) -> None:
        barrier.wait()  # nobody passes unless all three are at it
        done[part] = number + threading.get_ident()

    for number in range(50):
        done.clear()
        pool.share(work, ["a", "b", "c"], number)
        assert set(done) == {"a", "b", "c"} and len(set(done.values())) == 3
        assert done["a"] == number + threading.get_ident()


def test_fewer_parts_than_threads() -> None:
    pool, done = ThreadPool(3), []
    pool.share(done.append, [1])
    pool.share(done.append, [2, 3])
    assert done[0] == 1 and sorted(done[1:]) == [2, 3]


def test_more_parts_than_threads_are_refused_and_none_is_done() -> None:
    done: list[int] = []
    with pytest.raises(ValueError, match="zip"):
        ThreadPool(2).share(done.append, [1, 2, 3])
    assert done == []


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_what_a_part_raises_is_raised_when_all_have_ended(bad: int) -> None:
    pool, done = ThreadPool(3), []

    def work(part: int) -> None:
        if part == bad:
            raise ValueError(f"part {part}")
        done.append(part)

    for _ in range(3):
        done.clear()
        with pytest.raises(ValueError, match=f"part {bad}"):
            pool.share(work, [0, 1, 2])
        assert sorted(done) == [part for part in range(3) if part != bad]
    bad = -1
    pool.share(work, [0, 1, 2])
    assert sorted(done)[-1] == 2


def test_an_interrupt_while_it_waits_leaves_the_pool_in_order() -> None:
    pool, release, done = ThreadPool(2), threading.Event(), []

    def work(part: int) -> None:
        if part == 1:
            release.wait(10)
        done.append(part)

    helper = pool._helpers[0]
    helper.begin(lambda: work(1))  # as if share had been left before `finish`
    release.set()
    pool.share(work, [0, 1])
    assert sorted(done) == [0, 1, 1]


@entry_point
def note(counts, by, fails, refused, share):
    """Count each element and note its thread, unless an element is refused.

    Helpers raise if told to. Return True if, as far as this thread knows, none was refused.
    """
    if share.thread == ALONE:
        if not refused.any():
            counts += 1
        return not refused.any()
    while is_caller(share) or is_called(share):
        first, last = take(share, FIRST, 8)
        while first < last:
            report_checked(share, last - first, refused[first:last].any())
            first, last = take(share, FIRST, 8)
        accepted = all_are_checked(Sharing(share.signals, share.bounds, share.thread, PATIENT), len(counts))
        accepted = accepted and not one_failed(share)
        if accepted:
            first, last = take(share, SECOND, 8)
            while first < last:
                for k in range(first, last):
                    counts[k] += 1
                    by[k] = share.thread
                    if fails[0] and not is_caller(share):
                        raise ValueError("told to")
                first, last = take(share, SECOND, 8)
        if is_caller(share):
            return accepted
        become_ready(share)
    return True


class Noted(NamedTuple):
    """The counts and notes of `note`."""

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
    pool, noted = ThreadPool(threads), Noted.of(size)
    work = partial(note, *noted)
    for times in range(1, 301):
        assert pool.repeat(work, size)
        assert (noted.counts == times).all()
        if times % 50 == 0:
            time.sleep(0.005)  # helpers fall asleep
        if times % 70 == 0:
            parts: list[int] = []
            pool.share(parts.append, [*range(threads)])  # they are wanted for something else
            assert sorted(parts) == [*range(threads)]


@pytest.mark.modes
def test_other_work_and_another_size_are_seen_by_all() -> None:
    pool = ThreadPool(2)
    for size in (500, 400, 500):
        noted = Noted.of(size)
        work = partial(note, *noted)
        for times in range(1, 51):
            pool.repeat(work, size)
            assert (noted.counts == times).all()


@pytest.mark.modes
@pytest.mark.parametrize("threads", [2, 5])
def test_where_one_element_is_refused_nothing_is_done(threads: int) -> None:
    pool, noted = ThreadPool(threads), Noted.of(100)
    work = partial(note, *noted)
    assert pool.repeat(work, 100)
    for k in range(100):
        noted.refused[k] = True
        assert not pool.repeat(work, 100)
        noted.refused[k] = False
        assert (noted.counts == 1).all()
    assert pool.repeat(work, 100)
    assert (noted.counts == 2).all()


@pytest.mark.skipif(JIT_DISABLED or PLAIN, reason="the caller repeats the work alone")
def test_helpers_do_their_part() -> None:
    pool, noted = ThreadPool(2), Noted.of(200_000)
    work = partial(note, *noted)
    seen: set[int] = set()
    for _ in range(200):
        pool.repeat(work, len(noted.counts))
        seen |= set(noted.by.tolist())
    assert seen == {0, 1}


@pytest.mark.skipif(JIT_DISABLED or PLAIN, reason="the caller repeats the work alone")
def test_what_a_helper_raises_is_raised_and_the_next_repetition_is_whole() -> None:
    pool, noted = ThreadPool(2), Noted.of(200_000)
    work = partial(note, *noted)
    pool.repeat(work, len(noted.counts))
    noted.fails[0] = True
    with pytest.raises(ValueError, match="told to"):
        for _ in range(1000):
            pool.repeat(work, len(noted.counts))
    noted.fails[0] = False
    noted.counts[:] = 0
    pool.repeat(work, len(noted.counts))
    assert (noted.counts == 1).all()


@pytest.mark.skipif(JIT_DISABLED or PLAIN, reason="the caller repeats the work alone")
def test_an_interrupt_amid_a_repetition_leaves_the_pool_in_order() -> None:
    pool, noted = ThreadPool(2), Noted.of(1000)
    work, counts = partial(note, *noted), noted.counts

    def interrupted(share: Sharing) -> None:
        if share.thread == 1:
            raise KeyboardInterrupt
        note(*noted, share)

    for _ in range(50):
        with pytest.raises(KeyboardInterrupt):
            pool.repeat(interrupted, 1000)
        counts[:] = 0
        pool.repeat(work, 1000)
        assert (counts == 1).all()
    pool._is_repeating = True  # as if one had come between the call and the helper's beginning
    pool._signals[0, STATE] = CALLED
    counts[:] = 0
    pool.repeat(work, 1000)
    assert (counts == 1).all()


class Work:
    def do(self, part: int) -> None:
        pass


def test_threads_end_with_the_pool_and_keep_nothing_alive() -> None:
    before = set(helper_threads())
    pool = ThreadPool(3)
    helpers = set(helper_threads()) - before

    work = Work()
    pool.share(work.do, [0, 1, 2])
    kept = weakref.ref(work)
    del work
    gc.collect()
    assert kept() is None
    assert len(helpers) == 2
    del pool
    gc.collect()
    for thread in helpers:
        thread.join(10)
        assert not thread.is_alive()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_starts_helpers_of_its_own() -> None:
    pool = ThreadPool(2)
    done: list[int] = []
    pool.share(done.append, [0, 1])
    child = os.fork()
    if child == 0:
        pool.share(done.append, [2, 3])
        os._exit(0 if sorted(done) == [0, 1, 2, 3] else 1)
    deadline = time.monotonic() + 20
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < deadline:
        time.sleep(0.01)
    if ended == (0, 0):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert ended == (child, 0)
