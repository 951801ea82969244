"""The process in which models run: `python -m regard.web.inside`, started and ended by `regard.web.worker`.

It reads jobs from its standard input and writes what they give to its standard output, both pickled; nobody but the
server that started it holds the other ends. One thread computes, question by question, and another reads what was
looked at, so that weights never wait for a long translation. Where the server is gone, so is this.
"""

import os
import pickle
import signal
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from queue import SimpleQueue
from typing import Any, BinaryIO, NamedTuple

from regard.web import memory
from regard.web.errors import RefusedError
from regard.web.opened import Opened
from regard.web.readings import Readings
from regard.web.ticket import DroppedError, Ticket


@dataclass(slots=True)
class Inside:
    """All that jobs share: the open models, and what was looked at."""

    models: Opened = field(default_factory=Opened)
    readings: Readings = field(default_factory=Readings)


class Asked(NamedTuple):
    """One job: a function by its name, called with what is inside, its ticket if it is a question, and arguments."""

    number: int
    job: str  # module:function
    args: tuple[Any, ...]
    seconds: float | None  # None: it only reads what was looked at


class Told(NamedTuple):
    """What is said about a job: an event on its way, or at last its answer, or why there is none."""

    number: int
    kind: str  # event, answer, refused, failed, dropped
    value: Any = None


class Loop:
    """The jobs of one process."""

    def __init__(self, inside: Inside, tell: Callable[[Told], None]) -> None:
        self.inside, self.tell = inside, tell
        self.tickets: dict[int, Ticket] = {}
        self.questions, self.reads = SimpleQueue[Asked](), SimpleQueue[Asked]()
        self.importing = threading.Lock()  # two threads that import parts of one package may each meet half of it

    def start(self) -> None:
        """Begin to work."""
        for name, jobs in (("regard-inference", self.questions), ("regard-reader", self.reads)):
            threading.Thread(target=self._work, args=(jobs,), name=name, daemon=True).start()

    def take(self, asked: Asked) -> None:
        """Put a job into its queue."""
        number = asked.number
        self.tickets[number] = Ticket(asked.seconds or 0.0, lambda event: self.tell(Told(number, "event", event)))
        (self.reads if asked.seconds is None else self.questions).put(asked)

    def drop(self, number: int) -> None:
        """Nobody waits for a job any more."""
        with suppress(KeyError):
            self.tickets[number].dropped = True

    def _work(self, jobs: "SimpleQueue[Asked]") -> None:
        while True:
            asked = jobs.get()
            told = self._answer(asked, self.tickets[asked.number])
            del self.tickets[asked.number]
            self.tell(told)
            del asked, told  # what was answered is not kept alive until the next job

    def _answer(self, asked: Asked, ticket: Ticket) -> Told:
        try:
            ticket.check()
            with self.importing:
                job = _find(asked.job)
            given = (self.inside,) if asked.seconds is None else (self.inside, ticket)
            return Told(asked.number, "answer", job(*given, *asked.args))
        except RefusedError as error:
            return Told(asked.number, "refused", (error.status, error.error, error.headers))
        except DroppedError:
            return Told(asked.number, "dropped")
        except BaseException as error:
            if memory.was_refused(error):
                why = f"this needs more than the {memory.MOST >> 30} GB that a question may hold; give a shorter text"
                return Told(asked.number, "refused", (503, why, {}))
            traceback.print_exc()
            return Told(asked.number, "failed", type(error).__name__)


def name_of(job: Callable[..., Any]) -> str:
    """A function by its name, under which the other process finds it."""
    return f"{job.__module__}:{job.__qualname__}"


def _find(job: str) -> Callable[..., Any]:
    module, _, name = job.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found


def main() -> None:
    """Work until the other end of standard input is closed."""
    questions, answers = _take_pipes()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this
    memory.bound()
    sending = threading.Lock()

    def tell(told: Told) -> None:
        data = pickle.dumps(told, protocol=pickle.HIGHEST_PROTOCOL)
        with sending:
            answers.write(data)
            answers.flush()

    loop = Loop(Inside(Opened(bound=memory.bound)), tell)
    loop.start()
    with suppress(EOFError, OSError):
        while True:
            said = pickle.load(questions)
            loop.take(said) if isinstance(said, Asked) else loop.drop(said)
    os._exit(0)  # whatever the threads are at


def _take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Both pipes for us alone: what anybody prints must not be taken for an answer."""
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return questions, answers


if __name__ == "__main__":
    # By its own name, so that what is pickled here is what the server knows.
    from regard.web.inside import main as run

    run()
