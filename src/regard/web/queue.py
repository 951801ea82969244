"""One thread that computes, and a short queue before it, so that no question makes the page or another user wait long.

A job gets a `Ticket` and checks it in between: it ends where its time is up or where nobody waits for it any more.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError, Future
from queue import SimpleQueue
from time import monotonic
from typing import Any, TypeVar

from regard.web.errors import RefusedError

T = TypeVar("T")

GLANCE = 0.25  # seconds between two looks at whether somebody still waits


class Ticket:
    """The right to go on computing."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.until, self.dropped = seconds, float("inf"), False

    def begin(self) -> None:
        """The time runs from here."""
        self.until = monotonic() + self.seconds

    def check(self) -> None:
        """Go on, or end here."""
        if self.dropped:
            raise CancelledError
        if monotonic() > self.until:
            raise RefusedError(
                503, f"this takes more than {self.seconds:g} seconds; give a shorter text or a narrower beam"
            )


Job = Callable[[Ticket], T]


class Worker:
    """The thread, which takes jobs in the order they come."""

    def __init__(self, *, waiting: int = 8, seconds: float = 60.0) -> None:
        """`waiting` jobs may be under way at once, the one that runs among them; each may run for `seconds`."""
        self.waiting, self.seconds = waiting, seconds
        self._jobs: SimpleQueue[tuple[Job[Any], Ticket, Future[Any]] | None] = SimpleQueue()
        self._under_way: set[Ticket] = set()
        self._thread = threading.Thread(target=self._work, name="regard-inference", daemon=True)

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def stop(self, patience: float = 2.0) -> None:
        """End the job that runs at its next step, and take no other."""
        for ticket in list(self._under_way):
            ticket.dropped = True
        self._jobs.put(None)
        self._thread.join(patience)

    def submit(self, job: Job[T]) -> "tuple[Future[T], Ticket]":
        """Put a job into the queue, or refuse where it is full."""
        if len(self._under_way) >= self.waiting:
            raise RefusedError(
                429, f"{self.waiting} questions are waiting already; ask again in a moment", {"Retry-After": "2"}
            )
        ticket, future = Ticket(self.seconds), Future[T]()
        self._under_way.add(ticket)
        future.add_done_callback(lambda _: self._under_way.discard(ticket))
        self._jobs.put((job, ticket, future))
        return future, ticket

    async def run(self, job: Job[T], gone: Callable[[], Awaitable[bool]]) -> T:
        """The answer of a job, unless whoever asked has `gone`."""
        future, ticket = self.submit(job)
        answer = asyncio.wrap_future(future)
        try:
            while not answer.done():
                await asyncio.wait({answer}, timeout=GLANCE)
                if not answer.done() and await gone():
                    break
            if answer.done():
                return answer.result()
        finally:
            ticket.dropped = True
            self._under_way.discard(ticket)
            answer.cancel()
        raise RefusedError(499, "nobody waits for this answer any more")

    def _work(self) -> None:
        while (item := self._jobs.get()) is not None:
            job, ticket, future = item
            if not future.set_running_or_notify_cancel():
                continue
            try:
                ticket.begin()
                ticket.check()
                future.set_result(job(ticket))
            except BaseException as error:
                future.set_exception(error)
            # What was answered is not kept alive until the next job.
            del item, job, ticket, future
