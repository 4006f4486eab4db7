"""A crew of threads: all parts are done, errors come back, and the threads end with the crew."""

import gc
import os
import signal
import threading
import time
import weakref
from functools import partial

import numpy as np
import pytest

from risk_env.core.jit import entry_point
from risk_env.core.signals import ALONE, CALLED, STATE, claim, is_called, report
from risk_env.crew import Crew


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
def note(counts, by, fails, signals, bounds, thread, patience):
    """A work to be repeated: count each element, and note who did it; a helper raises where it is told to."""
    threads = len(signals)
    while thread == ALONE or thread == threads - 1 or is_called(signals, thread, patience):
        for part in range(threads):
            while True:
                first = 0 if thread == ALONE else claim(signals, part, 8)
                last = len(counts) if thread == ALONE else min(first + 8, bounds[part + 1])
                for k in range(first, last):
                    counts[k] += 1
                    by[k] = thread
                    if fails[0] and thread != threads - 1:
                        raise ValueError("told to")
                if thread == ALONE:
                    return
                if first >= last:
                    break
        if thread == threads - 1:
            return
        report(signals, thread)


@pytest.mark.modes
@pytest.mark.parametrize("threads", [2, 3, 5])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_every_element_is_worked_on_once_a_repetition(threads: int, size: int) -> None:
    crew, counts, by, fails = Crew(threads), np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(1, np.bool_)
    work = partial(note, counts, by, fails)
    for times in range(1, 301):
        crew.repeat(work, size)
        assert (counts == times).all()
        if times % 50 == 0:
            time.sleep(0.005)  # helpers fall asleep
        if times % 70 == 0:
            parts: list[int] = []
            crew.share(parts.append, [*range(threads)])  # they are wanted for something else
            assert sorted(parts) == [*range(threads)]


@pytest.mark.modes
def test_other_work_and_another_size_are_seen_by_all() -> None:
    crew, fails = Crew(2), np.zeros(1, np.bool_)
    for size in (500, 400, 500):
        counts, by = np.zeros(size, np.int64), np.zeros(size, np.int64)
        work = partial(note, counts, by, fails)
        for times in range(1, 51):
            crew.repeat(work, size)
            assert (counts == times).all()


def test_helpers_do_their_part(kernel_mode: str) -> None:
    counts, by, crew = np.zeros(200_000, np.int64), np.zeros(200_000, np.int64), Crew(2)
    work = partial(note, counts, by, np.zeros(1, np.bool_))
    seen: set[int] = set()
    for _ in range(200):
        crew.repeat(work, len(counts))
        seen |= set(by.tolist())
    assert seen == {0, 1}


def test_what_a_helper_raises_is_raised_and_the_next_repetition_is_whole() -> None:
    counts, by, fails, crew = np.zeros(200_000, np.int64), np.zeros(200_000, np.int64), np.zeros(1, np.bool_), Crew(2)
    work = partial(note, counts, by, fails)
    crew.repeat(work, len(counts))
    fails[0] = True
    with pytest.raises(ValueError, match="told to"):
        for _ in range(1000):
            crew.repeat(work, len(counts))
    fails[0] = False
    counts[:] = 0
    crew.repeat(work, len(counts))
    assert (counts == 1).all()


def test_an_interrupt_amid_a_repetition_leaves_the_crew_in_order() -> None:
    counts, by, crew = np.zeros(1000, np.int64), np.zeros(1000, np.int64), Crew(2)
    work = partial(note, counts, by, np.zeros(1, np.bool_))

    def interrupted(signals: np.ndarray, bounds: np.ndarray, thread: int, patience: int) -> None:
        if thread == 1:
            raise KeyboardInterrupt
        note(counts, by, np.zeros(1, np.bool_), signals, bounds, thread, patience)

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
