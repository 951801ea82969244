"""A crowd, silent ones and slow ones: others are answered within two seconds, and what they hold is bounded.

The server is a process of its own, as users start it, so that its memory and its connections can be seen.
"""

import asyncio
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import monotonic
from urllib.parse import urlsplit

import pytest
from tests.alone import run
from tests.web.asking import question
from tests.web.hands import PATIENCE

from regard.web.connection import YOUNG

SOON = 2.0  # seconds in which others are answered, on a machine that has time
ASK = json.dumps(question("La casa.", beam=1)).encode()
Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Explorer:
    """A server in a process of its own."""

    def __init__(self, shelf: Path) -> None:
        command = [
            sys.executable,
            "-m",
            "regard",
            "explore",
            "--no-open",
            "--port",
            "0",
            "--model",
            str(shelf / "small"),
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.port = urlsplit(self.process.stdout.readline().split()[-1]).port or 0

    async def connect(self) -> Pair:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def answer(self, request: bytes) -> int:
        """The status of what is answered to a request, or 0 where the connection is closed without a word."""
        reader, writer = await self.connect()
        writer.write(request)
        try:
            said = await asyncio.wait_for(reader.read(), PATIENCE)
        except ConnectionError:
            said = b""
        writer.close()
        return int(said.split(b" ", 2)[1]) if said.startswith(b"HTTP/1.1 ") else 0

    async def prompt(self) -> float:
        """How long plain questions take, in seconds; all of them are answered.

        It is their median, since the machine that runs the tests may stop for a second by itself.
        """
        took = []
        for path in ("/api/about", "/", "/api/about"):
            began = monotonic()
            assert await self.answer(plain(path)) == 200
            took.append(monotonic() - began)
        return median(took)

    def soon(self) -> float:
        """Two seconds; more where the machine does so much else that even a calm server needs long."""
        return max(SOON, 10 * run(self.prompt()))

    @property
    def megabytes(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    @property
    def open_files(self) -> int:
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))


def plain(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode()


def posted(body: bytes, length: int | None = None, path: str = "/api/ask") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body) if length is None else length}\r\n\r\n".encode() + body


@pytest.fixture(scope="module")
def explorer(zoo: Path) -> Iterator[Explorer]:
    if not Path("/proc/self/status").exists():
        pytest.skip("this system does not tell what a process holds")
    one = Explorer(zoo)
    run(one.answer(posted(ASK)))  # the model is open
    yield one
    one.process.terminate()
    one.process.communicate(timeout=PATIENCE)


def test_a_thousand_requests_at_once_are_all_answered_and_leave_nothing_behind(explorer: Explorer) -> None:
    kinds = (plain("/api/about"), plain("/"), posted(ASK), plain("/api/nothing"), posted(b"no JSON"))

    async def crowd() -> Counter[int]:
        return Counter(await asyncio.gather(*(explorer.answer(kinds[i % len(kinds)]) for i in range(1000))))

    async def settled() -> bool:
        until = monotonic() + PATIENCE
        while explorer.open_files > files + 8 and monotonic() < until:
            await asyncio.sleep(0.1)
        return explorer.open_files <= files + 8

    run(crowd())
    before, files, soon = explorer.megabytes, explorer.open_files, explorer.soon()
    found = run(crowd())
    assert found.total() == 1000
    assert set(found) <= {200, 404, 422, 429, 503}, found
    assert found[200] >= 400
    assert run(explorer.prompt()) < soon
    assert run(settled())
    assert explorer.megabytes - before < 60


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(b"", id="nothing at all"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: 127", id="half of a request"),
        pytest.param(posted(b'{"model"', 9000), id="the beginning of a body"),
        pytest.param(posted(b"\x89PNG", 20 * 2**20, "/api/pictures"), id="the beginning of a picture"),
    ],
)
def test_three_hundred_that_say_too_little_keep_nobody_out_and_are_closed(explorer: Explorer, said: bytes) -> None:
    before, limit = explorer.megabytes, explorer.soon()

    async def hold() -> tuple[float, float]:
        held = [await explorer.connect() for _ in range(300)]
        for _, writer in held:
            writer.write(said)
        soon = await explorer.prompt()  # at once
        await asyncio.sleep(1.2)
        later = await explorer.prompt()
        for reader, writer in held:
            try:
                told = await asyncio.wait_for(reader.read(), PATIENCE)
            except ConnectionError:
                told = b""
            assert told.startswith((b"HTTP/1.1 408", b"HTTP/1.1 400")) or not told, told[:100]
            writer.close()
        return soon, later

    soon, later = run(hold())
    assert max(soon, later) < limit
    assert explorer.megabytes - before < 60


def test_slow_senders_and_readers_keep_nobody_out(explorer: Explorer) -> None:
    """Some send a byte at a time, some never read what they have asked for."""
    soon = explorer.soon()

    async def hold() -> float:
        held = [await explorer.connect() for _ in range(200)]
        took, whole = [], posted(ASK)
        for _, writer in held[100:]:
            writer.write(plain("/") * 20)
        for place in range(0, 30, 3):
            for _, writer in held[:100]:
                writer.write(whole[place : place + 3])
            took.append(await explorer.prompt())
        for _, writer in held:
            writer.transport.abort()
        return median(took)

    assert run(hold()) < soon


def test_bodies_are_held_within_bounds(explorer: Explorer) -> None:
    """Sixty pictures of 19 MB that never end are more than a gigabyte."""
    before, soon, part = explorer.megabytes, explorer.soon(), bytes(2**20)

    async def one() -> None:
        _, writer = await explorer.connect()
        writer.write(posted(b"", 20 * 2**20, "/api/pictures"))
        try:
            for _ in range(19):
                writer.write(part)
                await asyncio.wait_for(writer.drain(), 5)
        except (ConnectionError, TimeoutError):
            pass
        await asyncio.sleep(0.5)
        writer.transport.abort()

    async def all_of_them() -> float:
        some = [asyncio.ensure_future(one()) for _ in range(60)]
        most = before
        while not all(each.done() for each in some):
            most = max(most, explorer.megabytes)
            await asyncio.sleep(0.05)
        return most

    assert run(all_of_them()) - before < 600
    assert run(explorer.prompt()) < soon


def test_more_than_a_crowd_that_says_nothing_is_closed_for_those_who_ask(explorer: Explorer) -> None:
    """Beyond a thousand connections, those whose clients do not go on make room, the oldest first."""

    async def hold() -> tuple[int, list[int]]:
        held = [await explorer.connect() for _ in range(1150)]
        await asyncio.sleep(2 * YOUNG)
        told = [await explorer.answer(plain("/api/about")) for _ in range(3)]
        await asyncio.sleep(0.2)
        closed = sum(reader.at_eof() for reader, _ in held)
        for _, writer in held:
            writer.transport.abort()
        return closed, told

    closed, told = run(hold())
    assert told == [200] * 3
    assert closed >= 100
