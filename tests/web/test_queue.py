"""One thread computes: in order, within its time, and only for those who still wait."""

import asyncio
import threading
from collections.abc import Iterator
from time import monotonic, sleep

import pytest
from tests.alone import run

from regard.web.errors import RefusedError
from regard.web.queue import Ticket, Worker


@pytest.fixture
def worker() -> Iterator[Worker]:
    one = Worker(waiting=3, seconds=0.3)
    one.start()
    yield one
    one.stop()


async def here() -> bool:
    return False


async def gone() -> bool:
    return True


def endless(ticket: Ticket) -> None:
    while True:
        ticket.check()
        sleep(0.005)


def test_jobs_run_one_by_one_in_their_order_and_beside_the_loop(worker: Worker) -> None:
    done: list[tuple[int, str]] = []

    def job(number: int) -> int:
        sleep(0.02)
        done.append((number, threading.current_thread().name))
        return number

    async def all_of_them() -> list[int]:
        return await asyncio.gather(*(worker.run(lambda _, i=i: job(i), here) for i in range(3)))  # type: ignore[misc]

    assert run(all_of_them()) == [0, 1, 2]
    assert done == [(i, "regard-inference") for i in range(3)]


def test_a_full_queue_is_refused_at_once_and_empties_again(worker: Worker) -> None:
    hold = threading.Event()

    async def crowd() -> None:
        waiting = [asyncio.ensure_future(worker.run(lambda _: hold.wait(5), here)) for _ in range(3)]
        await asyncio.sleep(0.05)
        began = monotonic()
        with pytest.raises(RefusedError) as refused:
            await worker.run(lambda _: None, here)
        assert monotonic() - began < 0.2
        assert (refused.value.status, refused.value.headers) == (429, {"Retry-After": "2"})
        hold.set()
        assert await asyncio.gather(*waiting) == [True] * 3
        assert await worker.run(lambda _: "again", here) == "again"

    run(crowd())


def test_a_job_ends_when_its_time_is_up(worker: Worker) -> None:
    with pytest.raises(RefusedError, match=r"more than 0\.3 seconds") as late:
        run(worker.run(endless, here))
    assert late.value.status == 503


def test_a_job_ends_when_nobody_waits_for_it(worker: Worker) -> None:
    worker.seconds = 60.0

    async def leave() -> str:
        with pytest.raises(RefusedError, match="nobody waits"):
            await worker.run(endless, gone)
        return await worker.run(lambda _: "free again", here)

    assert run(leave()) == "free again"


def test_a_job_that_nobody_waits_for_is_not_begun(worker: Worker) -> None:
    begun, hold = [], threading.Event()

    async def leave() -> None:
        first = asyncio.ensure_future(worker.run(lambda _: hold.wait(5), here))
        await asyncio.sleep(0)
        with pytest.raises(RefusedError):
            await worker.run(lambda _: begun.append(1), gone)
        hold.set()
        await first
        await worker.run(lambda _: None, here)

    run(leave())
    assert not begun


def test_those_who_left_take_no_place_in_the_queue(worker: Worker) -> None:
    hold = threading.Event()

    async def come_and_go() -> None:
        first = asyncio.ensure_future(worker.run(lambda _: hold.wait(5), here))
        await asyncio.sleep(0)
        for _ in range(2):
            with pytest.raises(RefusedError, match="nobody waits"):
                await worker.run(lambda _: None, gone)
        last = [asyncio.ensure_future(worker.run(lambda _: "here", here)) for _ in range(2)]
        hold.set()
        assert await asyncio.gather(first, *last) == [True, "here", "here"]

    run(come_and_go())


def test_a_failing_job_fails_alone(worker: Worker) -> None:
    async def fail() -> str:
        with pytest.raises(ZeroDivisionError):
            await worker.run(lambda _: 1 // 0, here)
        return await worker.run(lambda _: "well", here)

    assert run(fail()) == "well"


def test_stopping_ends_what_runs() -> None:
    one = Worker(seconds=60.0)
    one.start()
    future, _ = one.submit(endless)
    sleep(0.02)
    one.stop()
    assert future.done()
