"""A crew of threads: all parts are done, errors come back, and the threads end with the crew."""

import gc
import os
import signal
import threading
import time
import weakref

import pytest

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
