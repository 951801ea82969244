"""One process computes: in order, within its time and its memory, and only for those who still wait."""

import asyncio
import os
from collections.abc import Coroutine, Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any, TypeVar

import pytest
from tests.alone import run
from tests.web import jobs
from tests.web.hands import PATIENCE

from regard.web import worker as module
from regard.web.errors import RefusedError
from regard.web.worker import Worker

T = TypeVar("T")


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    monkeypatch.setattr(module, "GRACE", 0.5)
    one = Worker(waiting=3, seconds=float(PATIENCE))
    one.start()
    yield one
    one.stop()


async def here() -> bool:
    return False


async def gone() -> bool:
    return True


def ask(worker: Worker, job: Any, *args: Any) -> Coroutine[Any, Any, Any]:
    return worker.run(job, *args, gone=here)


def alive(pid: int | None) -> bool:
    """Whether a process is still there."""
    try:
        os.kill(pid or 0, 0)
    except ProcessLookupError:
        return False
    return True


async def until(true: Any) -> None:
    end = monotonic() + PATIENCE
    while not true():
        assert monotonic() < end, "it takes too long"
        await asyncio.sleep(0.02)


def test_jobs_run_one_by_one_in_their_order_in_another_process(worker: Worker) -> None:
    async def all_of_them() -> list[Any]:
        return await asyncio.gather(*(ask(worker, jobs.echo, i, 0.02) for i in range(3)), ask_later())

    async def ask_later() -> Any:
        await until(lambda: worker.under_way < 3)
        return await ask(worker, jobs.where)

    *numbers, (pid, thread) = run(all_of_them())
    assert numbers == [0, 1, 2]
    assert (pid, thread) == (worker.pid, "regard-inference")
    assert pid != os.getpid()


def test_a_question_is_told_how_many_are_before_it_and_how_far_it_is(worker: Worker) -> None:
    async def listen(call: Any) -> list[dict[str, Any]]:
        return [event async for event in worker.listen(call, here)]

    async def both() -> list[list[dict[str, Any]]]:
        calls = [worker.submit(jobs.echo, name, 0.05) for name in "ab"]
        return await asyncio.gather(*map(listen, calls))

    first, second = run(both())
    step = {"event": "step", "done": 1, "of": 1, "text": "a"}
    assert first == [{"event": "queued", "before": 0}, step, {"event": "answer", "value": "a"}]
    assert [each.get("before") for each in second[:2]] == [1, 0]
    assert second[-1] == {"event": "answer", "value": "b"}


def test_a_full_queue_is_refused_at_once_and_empties_again(worker: Worker) -> None:
    async def crowd() -> None:
        waiting = [asyncio.ensure_future(ask(worker, jobs.echo, i, 0.2)) for i in range(3)]
        await asyncio.sleep(0)
        began = monotonic()
        with pytest.raises(RefusedError) as refused:
            await ask(worker, jobs.echo, 3)
        assert monotonic() - began < 0.2
        assert (refused.value.status, refused.value.headers) == (429, {"Retry-After": "2"})
        assert await asyncio.gather(*waiting) == [0, 1, 2]
        assert await ask(worker, jobs.echo, "again") == "again"

    run(crowd())


def test_a_question_that_checks_its_ticket_ends_when_its_time_is_up_and_the_process_stays(worker: Worker) -> None:
    pid, _ = run(ask(worker, jobs.where))
    worker.seconds = 0.3
    with pytest.raises(RefusedError, match=r"more than 0\.3 seconds") as late:
        run(ask(worker, jobs.endless))
    assert late.value.status == 503
    assert worker.pid == pid


def test_a_question_that_does_not_end_is_ended_with_its_process_and_the_next_is_answered(worker: Worker) -> None:
    pid, _ = run(ask(worker, jobs.where))
    worker.seconds = 0.3

    async def stuck_and_next() -> Any:
        bad = asyncio.ensure_future(ask(worker, jobs.stuck))
        await asyncio.sleep(0)
        good = asyncio.ensure_future(ask(worker, jobs.echo, "next"))
        with pytest.raises(RefusedError, match=r"more than 0\.3 seconds") as late:
            await bad
        assert late.value.status == 503
        return await good

    assert run(stuck_and_next()) == "next"
    assert not alive(pid)
    assert worker.pid not in (None, pid)


def test_a_question_ends_when_nobody_waits_for_it(worker: Worker) -> None:
    async def leave() -> Any:
        with pytest.raises(RefusedError, match="nobody waits"):
            await worker.run(jobs.endless, gone=gone)
        return await ask(worker, jobs.echo, "free again")

    assert run(leave()) == "free again"


def test_one_that_nobody_waits_for_and_that_does_not_end_is_ended(worker: Worker, tmp_path: Path) -> None:
    pid, _ = run(ask(worker, jobs.where))
    sign = tmp_path / "sign"

    async def leave() -> Any:
        task = asyncio.ensure_future(ask(worker, jobs.stuck, str(sign)))
        await until(sign.exists)
        task.cancel()  # as closing the connection does
        return await ask(worker, jobs.where)

    again, _ = run(leave())
    assert again != pid
    assert not alive(pid)


def test_those_who_left_are_not_begun_and_take_no_place(worker: Worker, tmp_path: Path) -> None:
    sign = tmp_path / "sign"

    async def come_and_go() -> list[Any]:
        first = asyncio.ensure_future(ask(worker, jobs.echo, 0, 1.0))
        await asyncio.sleep(0)
        for _ in range(4):
            with pytest.raises(RefusedError, match="nobody waits"):
                await worker.run(jobs.stuck, str(sign), gone=gone)
        return await asyncio.gather(first, *(ask(worker, jobs.echo, i) for i in (1, 2)))

    assert run(come_and_go()) == [0, 1, 2]
    assert not sign.exists()


def test_more_memory_than_there_is_for_it_is_refused_by_a_sentence_and_harms_nobody(worker: Worker) -> None:
    pid, _ = run(ask(worker, jobs.where))
    with pytest.raises(RefusedError, match=r"more than the 6 GB that a question may hold") as much:
        run(ask(worker, jobs.hungry))
    assert much.value.status == 503
    assert run(ask(worker, jobs.where))[0] == pid


def test_a_process_that_dies_is_told_and_started_again(worker: Worker) -> None:
    with pytest.raises(RefusedError, match=r"stopped by itself \(code 3\); ask again") as dead:
        run(ask(worker, jobs.die))
    assert dead.value.status == 503
    assert run(ask(worker, jobs.echo, "well")) == "well"


def test_a_failing_job_fails_alone(worker: Worker) -> None:
    pid, _ = run(ask(worker, jobs.where))
    with pytest.raises(RefusedError, match="the server failed \\(ZeroDivisionError\\)") as fault:
        run(ask(worker, jobs.fail))
    assert fault.value.status == 500
    assert run(ask(worker, jobs.where))[0] == pid


def test_reading_does_not_wait_behind_a_question(worker: Worker, tmp_path: Path) -> None:
    sign = tmp_path / "sign"

    async def both() -> bool:
        slow = asyncio.ensure_future(ask(worker, jobs.stuck, str(sign)))
        await until(sign.exists)
        assert await worker.read(jobs.peek, 7) == 7
        done = slow.done()
        slow.cancel()
        return done

    assert not run(both())


def test_a_read_that_does_not_end_is_ended_too(worker: Worker) -> None:
    run(worker.read(jobs.peek, 0))
    pid, worker.seconds = worker.pid, 0.2

    async def sit() -> Any:
        with pytest.raises(RefusedError, match="ask again") as lost:
            await worker.read(jobs.sit)
        assert lost.value.status == 503
        return await worker.read(jobs.peek, "here")

    assert run(sit()) == "here"
    assert not alive(pid)


def test_stopping_ends_the_process_at_once_and_whoever_waits_is_told(worker: Worker) -> None:
    async def stop() -> int | None:
        running = asyncio.ensure_future(ask(worker, jobs.stuck))
        waiting = asyncio.ensure_future(ask(worker, jobs.echo, 1))
        await until(lambda: worker.pid is not None)
        await asyncio.sleep(0.5)
        pid = worker.pid
        await asyncio.get_running_loop().run_in_executor(None, worker.stop)
        for each in (running, waiting):
            with pytest.raises(RefusedError, match="ending"):
                await each
        return pid

    assert not alive(run(stop()))


def test_the_process_ends_with_its_server(tmp_path: Path) -> None:
    """However the server ended: here it had no time to say anything."""
    import subprocess
    import sys

    code = (
        "import asyncio, os, signal\n"
        "from regard.web.worker import Worker\n"
        "from tests.web import jobs\n"
        "async def main():\n"
        "    worker = Worker(); worker.start()\n"
        "    await worker.read(jobs.peek, 1)\n"
        "    worker.submit(jobs.stuck)\n"
        "    print(worker.pid, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "asyncio.run(main())\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=False)
    pid, end = int(ended.stdout), monotonic() + PATIENCE
    while alive(pid) and monotonic() < end:
        sleep(0.05)
    assert not alive(pid)
