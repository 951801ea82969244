"""The process in which models run, seen from the server: a short queue before it, and a hand on its throat.

A question that is beyond its time, or for which nobody waits any more, is asked to end. If it does not, the process is
ended and starts again: those that wait in the queue go on, and what was looked at is forgotten, so that it is asked for
again.
"""

import asyncio
import pickle
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from itertools import count
from queue import SimpleQueue
from time import monotonic
from typing import Any, cast

from regard.web.errors import RefusedError
from regard.web.inside import Asked, Told, name_of
from regard.web.ticket import too_long

GLANCE = 0.25  # seconds between two looks at whether somebody still waits
GRACE = 2.0  # seconds in which a question ends by itself
OPENING = 180.0  # seconds to import torch and to open a model
SLOW = f"the model was not open after {OPENING:g} seconds; ask again, or take a smaller one"
ENDING = "the explorer is ending; start it again by regard explore"

Gone = Callable[[], Awaitable[bool]]
Event = dict[str, Any]


class Process:
    """One life of the process. What it says is handed to `hear`; `lost` is called once it is no more."""

    def __init__(self, hear: Callable[[Told], None], lost: Callable[["Process"], None]) -> None:
        self.why: RefusedError | None = None  # it was ended
        self.heard: float | None = None  # when it last answered
        self._hear, self._lost = hear, lost
        self._sent: SimpleQueue[Asked | int | None] = SimpleQueue()
        self._popen = subprocess.Popen(
            [sys.executable, "-m", "regard.web.inside"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the server
        )
        for target in (self._send_all, self._hear_all):
            threading.Thread(target=target, name="regard-worker", daemon=True).start()

    @property
    def pid(self) -> int:
        """Its number."""
        return self._popen.pid

    def send(self, message: Asked | int) -> None:
        """Ask something, or drop what has this number. It never waits: the other side may hear nothing any more."""
        self._sent.put(message)

    def end(self, why: RefusedError) -> None:
        """End it, whatever it is at."""
        self.why = self.why or why
        self._popen.kill()

    def wait(self) -> None:
        """Until it is no more."""
        self._popen.wait(10)

    def _send_all(self) -> None:
        assert self._popen.stdin is not None
        with suppress(OSError), self._popen.stdin as pipe:
            while (message := self._sent.get()) is not None:
                pipe.write(pickle.dumps(message))
                pipe.flush()

    def _hear_all(self) -> None:
        assert self._popen.stdout is not None
        with suppress(EOFError, OSError, pickle.UnpicklingError), self._popen.stdout as pipe:
            while True:
                told = cast(Told, pickle.load(pipe))
                self.heard = monotonic()
                self._hear(told)
        code = self._popen.wait()
        self._sent.put(None)
        if self.why is None:
            how = f"signal {-code}" if code < 0 else f"code {code}"
            perhaps = ", perhaps because this machine has no memory left" if code == -9 else ""
            self.why = RefusedError(503, f"the process of the models stopped by itself ({how}){perhaps}; ask again")
        self._lost(self)


class Call:
    """A question under way: what it is told arrives in the loop of whoever asks."""

    def __init__(self, asked: Asked, *, quiet: bool = False) -> None:
        """A `quiet` one is nobody's, and is not counted by others."""
        self.asked, self.number = asked, asked.number
        self.dropped = False
        self.process: Process | None = None  # which it was given to
        self.ended = threading.Event()
        self.quiet = quiet
        self.begun = False  # its model is open
        self.until = float("inf")  # by when the process should have answered
        self._loop = asyncio.get_running_loop()
        self._said: asyncio.Queue[Told] = asyncio.Queue()

    def tell(self, told: Told) -> None:
        """Take what was said; the last word ends the question."""
        if told.kind == "event" and told.value.get("event") == "begun":
            self.begun, self.until = True, monotonic() + (self.asked.seconds or 0.0) + GRACE
            return
        if told.kind != "event":
            self.ended.set()
        with suppress(RuntimeError):  # the loop may be closed by now
            self._loop.call_soon_threadsafe(self._said.put_nowait, told)

    async def next(self) -> Told | None:
        """The next that is said, or nothing for a moment."""
        with suppress(TimeoutError):
            return await asyncio.wait_for(self._said.get(), GLANCE)
        return None


class Worker:
    """The queue and the process behind it, which is started when it is first needed."""

    def __init__(self, *, waiting: int = 8, seconds: float = 60.0) -> None:
        """`waiting` questions may be under way at once, the one that runs among them; each may run for `seconds`."""
        self.waiting, self.seconds = waiting, seconds
        self._numbers = count(1)
        self._lock = threading.RLock()
        self._process: Process | None = None
        self._calls: list[Call] = []  # in their order; the first is the one that runs
        self._reads: dict[int, tuple[Process, Future[Any]]] = {}
        self._turns: SimpleQueue[Call | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to work; the process itself waits until it is needed."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="regard-questions", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End everything at once."""
        with self._lock:
            process, self._process = self._process, None
            for call in self._calls:
                call.dropped = True
                call.tell(Told(call.number, "refused", (503, ENDING, {})))
        if process is not None:
            process.end(RefusedError(503, ENDING))
            process.wait()
        if self._thread is not None:
            self._turns.put(None)
            self._thread.join(5)
            self._thread = None

    @property
    def pid(self) -> int | None:
        """The number of the process, if there is one."""
        process = self._process
        return None if process is None else process.pid

    @property
    def under_way(self) -> int:
        """How many questions there are."""
        return len(self._calls)

    def submit(self, job: Callable[..., Any], *args: Any, quiet: bool = False) -> Call:
        """Put a question into the queue, or refuse where it is full: `job(inside, ticket, *args)` answers it."""
        with self._lock:
            if len(self._calls) >= self.waiting:
                raise RefusedError(
                    429, f"{self.waiting} questions are waiting already; ask again in a moment", {"Retry-After": "2"}
                )
            call = Call(Asked(next(self._numbers), name_of(job), args, self.seconds), quiet=quiet)
            self._calls.append(call)
            self._tell_places(call)
        self._turns.put(call)
        return call

    async def listen(self, call: Call, gone: Gone) -> AsyncIterator[Event]:
        """What happens to a question, event by event; the last is {"event": "answer", "value": …}.

        It is dropped where whoever asked has `gone`, or listens no more. A refusal is raised.
        """
        try:
            while True:
                told = await call.next()
                if told is None:
                    if await gone():
                        raise RefusedError(499, "nobody waits for this answer any more")
                elif told.kind == "event":
                    yield told.value
                else:
                    yield {"event": "answer", "value": _unfold(told)}
                    return
        finally:
            self.drop(call)

    async def run(self, job: Callable[..., Any], *args: Any, gone: Gone) -> Any:
        """The answer of a question alone."""
        call = self.submit(job, *args)
        async for event in self.listen(call, gone):
            if event["event"] == "answer":
                return event["value"]
        raise AssertionError("a question ends with its answer")

    def drop(self, call: Call) -> None:
        """Nobody waits for a question any more; if it runs, it is asked to end."""
        call.dropped = True
        with self._lock:
            if call in self._calls[1:]:
                self._forget(call)

    async def read(self, job: Callable[..., Any], *args: Any) -> Any:
        """What `job(inside, *args)` reads of what was looked at; it never waits behind a question."""
        number, future, sent = next(self._numbers), Future[Any](), monotonic()
        with self._lock:
            process = self._alive()
            self._reads[number] = process, future
        process.send(Asked(number, name_of(job), args, None))
        answer = asyncio.wrap_future(future)
        try:
            while not answer.done():
                await asyncio.wait({answer}, timeout=GLANCE)
                patience = OPENING if process.heard is None else self.seconds + GRACE
                if monotonic() - max(sent, process.heard or 0.0) > patience:
                    self._end(process, too_long(self.seconds))
            return _unfold(answer.result())
        finally:
            if not answer.done():
                process.send(number)  # dropped
            with self._lock:
                self._reads.pop(number, None)

    def _work(self) -> None:
        """Give the process one question after the other."""
        while (call := self._turns.get()) is not None:
            if not call.dropped:
                self._watch(call)
            self._forget(call)

    def _watch(self, call: Call) -> None:
        """Ask one question, and see that it ends."""
        with self._lock:
            process = call.process = self._alive()
            call.until = monotonic() + OPENING
        process.send(call.asked)
        late: float | None = None
        while not call.ended.wait(0.05):
            now = monotonic()
            if call.dropped and late is None:
                process.send(call.number)
                late = now + GRACE
            if late is not None and now > late:
                self._end(process, RefusedError(499, "nobody waits for this answer any more"))
            elif now > call.until:
                why = too_long(call.asked.seconds or 0.0)
                self._end(process, why if call.begun else RefusedError(503, SLOW))

    def _forget(self, call: Call) -> None:
        """Take a question out of the queue, and tell the others that they have moved on."""
        with self._lock:
            if call in self._calls:
                self._calls.remove(call)
                for other in self._calls:
                    self._tell_places(other)

    def _tell_places(self, call: Call) -> None:
        before = sum(not other.quiet for other in self._calls[: self._calls.index(call)])
        call.tell(Told(call.number, "event", {"event": "queued", "before": before}))

    def _alive(self) -> Process:
        """The process, which is started if there is none."""
        with self._lock:
            if self._process is None:
                self._process = Process(self._hear, self._lose)
            return self._process

    def _end(self, process: Process, why: RefusedError) -> None:
        """End the process; another is started when it is needed."""
        with self._lock:
            if self._process is process:
                self._process = None
        process.end(why)
        process.wait()

    def _hear(self, told: Told) -> None:
        with self._lock:
            read = self._reads.get(told.number)
            call = next((call for call in self._calls if call.number == told.number), None)
        if read is not None and not read[1].done():
            read[1].set_result(told)
        elif call is not None:
            call.tell(told)

    def _lose(self, process: Process) -> None:
        """Tell those who waited for a process that it is no more."""
        why = process.why or RefusedError(503, "the process of the models is gone; ask again")
        told = "refused", (why.status, why.error, why.headers)
        with self._lock:
            if self._process is process:
                self._process = None
            reads = [(number, future) for number, (own, future) in self._reads.items() if own is process]
            running = [call for call in self._calls if call.process is process and not call.ended.is_set()]
        for number, future in reads:
            if not future.done():
                future.set_result(Told(number, "refused", (503, "what was looked at was lost; ask again", {})))
        for call in running:
            call.tell(Told(call.number, *told))


def _unfold(told: Told) -> Any:
    """What was answered, or why not."""
    if told.kind == "answer":
        return told.value
    if told.kind == "refused":
        status, error, headers = told.value
        raise RefusedError(status, error, headers)
    if told.kind == "dropped":
        raise RefusedError(499, "nobody waits for this answer any more")
    raise RefusedError(500, f"the server failed ({told.value}); its terminal says where")
