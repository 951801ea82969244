"""The explorer under good, bad and slow clients at once: every good question is answered, and memory stays flat.

python -m bench soak                 ten minutes
python -m bench soak --minutes 2     a first look

Good clients translate, look at what was looked at, and have pictures recognized; some leave before their answer. Bad
ones send what no page sends, hostile pictures, and questions to a model whose folder is broken. Slow ones say nothing,
send a byte at a time, or never read. All of it stays on this machine.
"""

import asyncio
import json
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from random import Random
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from PIL import Image
from rich.table import Table
from tests.hostile import good
from tests.hostile.spoil import spoil

from bench.clock import console
from regard.world.language import pairs, text

PATIENCE = 120.0  # seconds for an answer; whoever waits longer has lost it
SOON = 2.0  # seconds in which what runs no model is answered
FLAT = 0.10  # by so much memory may grow from the second quarter of the time to the last
AGAIN = (429, 503)  # what a page answers by asking again
SENTENCES = [text(pair.source) for pair in pairs("it", "en")[:100]]
HEADS = {"Host": "127.0.0.1", "Connection": "close"}


@dataclass(frozen=True)
class Trial:
    minutes: float = 10.0
    """How long."""
    good: int = 6
    """Good clients, each of which asks one question after the other."""
    bad: int = 6
    """Bad clients."""
    slow: int = 60
    """Slow clients."""
    seed: int = 0
    """Of what they do."""


@dataclass
class Seen:
    """What happened."""

    answered: Counter[str] = field(default_factory=Counter)
    again: int = 0  # how often somebody was told to come back, and did
    lost: list[str] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)  # of what bad clients were told
    waits: list[float] = field(default_factory=list)  # seconds of plain questions
    memory: list[tuple[float, float]] = field(default_factory=list)  # minutes, megabytes of server and models


class Explorer:
    """`regard explore` in a process of its own, as a user starts it, with a broken model among the others."""

    def __init__(self, broken: Path) -> None:
        command = [sys.executable, "-m", "regard", "explore", "--no-open", "--port", "0", "--model", str(broken)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.port = urlsplit(self.process.stdout.readline().split()[-1]).port or 0

    async def send(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, bytes]:
        """A request and its answer: status and body."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            lines = [f"{name.replace('_', '-')}: {value}" for name, value in (HEADS | headers).items()]
            length = [f"Content-Length: {len(body)}"] if body or method == "POST" else []
            writer.write("\r\n".join([f"{method} {path} HTTP/1.1", *lines, *length, "", ""]).encode() + body)
            head, _, said = (await asyncio.wait_for(reader.read(), PATIENCE)).partition(b"\r\n\r\n")
        finally:
            writer.close()
        if not head.startswith(b"HTTP/1.1 "):
            raise ConnectionError("closed without an answer")
        return int(head.split(b" ", 2)[1]), _joined(said) if b"transfer-encoding: chunked" in head.lower() else said

    @property
    def megabytes(self) -> float:
        """What the server and the process of the models hold."""
        return sum(map(_resident, (self.process.pid, *_children(self.process.pid))))


def main(trial: Trial) -> None:
    """Run, tell, and end with code 1 where an answer was lost or memory grew."""
    seen = Seen()
    with TemporaryDirectory() as folder:
        broken = good.folder(Path(folder) / "broken")
        (broken / "model.safetensors").write_bytes(b"\xff" * 5000)
        explorer = Explorer(broken)
        try:
            asyncio.run(_soak(explorer, trial, seen))
            alive = explorer.process.poll() is None
        finally:
            explorer.process.terminate()
            explorer.process.wait(30)
        complaints = explorer.process.stderr.read() if explorer.process.stderr else ""
    sys.exit(_tell(trial, seen, alive, complaints))


async def _soak(explorer: Explorer, trial: Trial, seen: Seen) -> None:
    dice = Random(trial.seed)
    models = json.loads((await explorer.send("GET", "/api/about"))[1])["models"]
    of = {task: [each["name"] for each in models if each.get("task") == task] for task in ("translate", "recognize")}
    of["translate"] = [name for name in of["translate"] if name != "broken"][:2]
    for task in of:
        assert of[task], f"no model does {task}"
        await _ask(explorer, seen, dice, of, task)  # models are open before the time begins
    until, began = monotonic() + 60 * trial.minutes, monotonic()

    async def again(act: Callable[[], Awaitable[None]], rest: float) -> None:
        while monotonic() < until:
            await act()
            await asyncio.sleep(dice.uniform(0, rest))

    async def watch() -> None:
        while monotonic() < until:
            seen.memory.append(((monotonic() - began) / 60, explorer.megabytes))
            start = monotonic()
            status, _ = await explorer.send("GET", dice.choice(("/", "/api/about", "/api/zoo", "/api/runs")))
            seen.waits.append(monotonic() - start)
            if status != 200:
                seen.lost.append(f"a plain question was answered by {status}")
            await asyncio.sleep(0.5)

    await asyncio.gather(
        watch(),
        *(again(lambda: _good(explorer, seen, dice, of), 0.5) for _ in range(trial.good)),
        *(again(lambda: _bad(explorer, seen, dice, of), 0.3) for _ in range(trial.bad)),
        *(again(lambda: _slow(explorer, dice), 5.0) for _ in range(trial.slow)),
    )


async def _good(explorer: Explorer, seen: Seen, dice: Random, of: dict[str, list[str]]) -> None:
    task = dice.choice(("translate", "recognize", "leave"))
    try:
        await (_leave(explorer, dice, of) if task == "leave" else _ask(explorer, seen, dice, of, task))
    except (OSError, TimeoutError, ValueError, KeyError) as error:
        seen.lost.append(f"{task}: {type(error).__name__} {error}"[:200])


async def _ask(explorer: Explorer, seen: Seen, dice: Random, of: dict[str, list[str]], task: str) -> None:
    """One question as a page asks it: whoever is told to come back does, and then looks at what was looked at."""
    body = await _question(explorer, seen, dice, of, task)
    status, last = await _events(explorer, body)
    while status in AGAIN or last.get("status") in AGAIN:
        seen.again += 1
        await asyncio.sleep(dice.uniform(0.5, 2))
        status, last = await _events(explorer, body)
    if last.get("event") != "answer":
        seen.lost.append(f"{task}: {status} {last}"[:200])
        return
    seen.answered[task] += 1
    status, _ = await explorer.send("GET", f"/api/looks/{last['id']}/overview")
    if status not in (200, 410):  # a look may have been forgotten meanwhile, and is asked for again
        seen.lost.append(f"overview: {status}")
    seen.answered["look" if status == 200 else "forgotten look"] += 1


async def _events(explorer: Explorer, body: bytes) -> tuple[int, dict[str, Any]]:
    """The status of an answer, and the last that was said."""
    status, said = await explorer.send("POST", "/api/ask", body, Content_Type="application/json")
    last: dict[str, Any] = json.loads(said.splitlines()[-1])
    return status, last


async def _question(explorer: Explorer, seen: Seen, dice: Random, of: dict[str, list[str]], task: str) -> bytes:
    if task == "translate":
        given: dict[str, Any] = {"text": dice.choice(SENTENCES)}
    elif dice.random() < 0.5:
        given = {"picture": f"world:{dice.randrange(500)}"}
    else:
        status, said = await explorer.send("POST", "/api/pictures", _picture(dice), Content_Type="image/png")
        if status != 200:
            raise ValueError(f"a picture was answered by {status}")
        seen.answered["picture"] += 1
        given = {"picture": json.loads(said)["picture"]}
    return json.dumps({"model": dice.choice(of[task]), "input": given, "options": {}, "edits": []}).encode()


async def _leave(explorer: Explorer, dice: Random, of: dict[str, list[str]]) -> None:
    """Ask, and go away before the answer."""
    asked = {"model": of["translate"][0], "input": {"text": dice.choice(SENTENCES)}, "options": {}, "edits": []}
    body = json.dumps(asked).encode()
    _, writer = await asyncio.open_connection("127.0.0.1", explorer.port)
    head = f"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    writer.write(f"{head}\r\n\r\n".encode() + body)
    await asyncio.sleep(dice.uniform(0, 0.3))
    writer.transport.abort()


async def _bad(explorer: Explorer, seen: Seen, dice: Random, of: dict[str, list[str]]) -> None:
    asked = {"model": of["translate"][0], "input": {"text": "Ieri."}, "options": {}, "edits": []}
    body = json.dumps(asked).encode()
    ways: list[tuple[str, str, bytes, dict[str, str]]] = [
        ("POST", "/api/ask", spoil(body, dice), {}),
        ("POST", "/api/ask", json.dumps(asked | {"model": "broken"}).encode(), {}),
        ("POST", "/api/ask", json.dumps(asked | {"model": "../../etc"}).encode(), {}),
        ("POST", "/api/ask", json.dumps(asked | {"edits": [{"name": "x", "kind": "off"}] * 300}).encode(), {}),
        ("POST", "/api/ask", b"[" * 100_000, {}),
        ("POST", "/api/ask", bytes(300_000), {}),
        ("POST", "/api/pictures", spoil(_picture(dice), dice), {"Content_Type": "image/png"}),
        ("GET", "/../../../../etc/passwd", b"", {}),
        ("GET", f"/api/looks/{dice.getrandbits(128):032x}/overview", b"", {}),
        ("GET", "/api/about", b"", {"Host": "evil.example"}),
        ("GET", "/api/about", b"", {"Origin": "http://evil.example"}),
        ("GET", "/" + "a" * 70_000, b"", {}),
    ]
    method, path, data, more = dice.choice(ways)
    headers = {"Content_Type": "application/json"} | more if data else more
    with suppress(OSError):  # what is too long may be cut off before it is read
        status, _ = await explorer.send(method, path, data, **headers)
        seen.statuses[status] += 1
        if status >= 500 and status not in AGAIN:
            seen.lost.append(f"the server failed ({status}) over {method} {path[:60]}")


async def _slow(explorer: Explorer, dice: Random) -> None:
    """A connection over which hardly anything comes."""
    with suppress(OSError, TimeoutError):
        reader, writer = await asyncio.open_connection("127.0.0.1", explorer.port)
        said = b"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5000\r\n\r\n{"
        match dice.randrange(3):
            case 0:  # nothing at all
                await asyncio.wait_for(reader.read(), 12)
            case 1:  # a byte at a time
                for place in range(dice.randrange(len(said))):
                    writer.write(said[place : place + 1])
                    await asyncio.sleep(0.1)
            case _:  # many questions, and nothing is read
                writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 50)
                await asyncio.sleep(dice.uniform(1, 10))
        writer.transport.abort()


def _tell(trial: Trial, seen: Seen, alive: bool, complaints: str) -> int:
    quarter = max(1, len(seen.memory) // 4)
    early = median(megabytes for _, megabytes in seen.memory[quarter : 2 * quarter] or seen.memory)
    late = median(megabytes for _, megabytes in deque(seen.memory, quarter))
    growth, worst = late / early - 1, max(seen.waits)
    often = quantiles(seen.waits, n=100)[98] if len(seen.waits) > 1 else worst
    table = Table(title=f"{trial.minutes:g} minutes, {trial.good} good, {trial.bad} bad and {trial.slow} slow clients")
    table.add_column("what")
    table.add_column("how many", justify="right")
    for what, count in sorted(seen.answered.items()):
        table.add_row(f"answered: {what}", str(count))
    table.add_row("told to come back, and answered then", str(seen.again))
    table.add_row("lost", str(len(seen.lost)))
    for status, count in sorted(seen.statuses.items()):
        table.add_row(f"bad clients told {status}", str(count))
    table.add_row("plain questions, 99 of 100 within", f"{often:.2f} s")
    table.add_row("the longest of them", f"{worst:.2f} s")
    table.add_row("memory in the second quarter, and in the last", f"{early:.0f} MB, {late:.0f} MB ({growth:+.1%})")
    table.add_row("lines on the server's terminal", str(len(complaints.splitlines())))
    console.print(table)
    for said, count in Counter(seen.lost).most_common(20):
        console.print(f"{count} × {said}", markup=False)
    if complaints:
        console.print(complaints[-2000:], markup=False)
    if worst > SOON:
        console.print(f"A plain question took {worst:.1f} s, more than {SOON:g}.")
    return int(bool(seen.lost) or not alive or growth > FLAT)


def _picture(dice: Random) -> bytes:
    file = BytesIO()
    colour = (dice.randrange(256), dice.randrange(256), dice.randrange(256))
    Image.new("RGB", (dice.randrange(8, 200), dice.randrange(8, 200)), colour).save(file, "PNG")
    return file.getvalue()


def _joined(said: bytes) -> bytes:
    """A body that was sent in pieces."""
    found = b""
    while said:
        size, _, said = said.partition(b"\r\n")
        length = int(size or b"0", 16)
        found, said = found + said[:length], said[length + 2 :]
    return found


def _children(pid: int) -> list[int]:
    found = set[int]()
    with suppress(OSError):  # a thread may end meanwhile
        for task in Path(f"/proc/{pid}/task").iterdir():
            found.update(map(int, (task / "children").read_text().split()))
    return sorted(found)


def _resident(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/status").read_text().partition("VmRSS:")[2].split()[0]) / 1024
    except (OSError, IndexError):
        return 0.0
