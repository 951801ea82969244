"""Many questions, two users, a full queue and a restart: what is kept is bounded, and belongs to who asked."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from socket import create_connection
from typing import Any

import httpx2 as httpx
import numpy as np
import pytest
from fastapi.testclient import TestClient
from tests.alone import run
from tests.web import jobs
from tests.web.asking import question, read_events
from tests.web.conftest import Kept

from regard.analysis.view import unpack
from regard.web.app import make_app
from regard.web.models import Models
from regard.web.state import AppState

TEXTS = ("Ieri.", "La casa.", "Il cane?", "Oggi!")
PATHS = ("/api/about", "/", "/api/world/pair?source=it&target=en", "/api/looks/none/overview")


@pytest.fixture(scope="module")
def bounded() -> Iterator[Kept]:
    """A process of its own, whose bounds may be changed."""
    one = Kept(waiting=2)
    yield one
    one.end()


@pytest.fixture
def own(models: Models, runs: Path, bounded: Kept) -> AppState:
    """A server with that process."""
    return AppState(models, runs, bounded)


def test_a_thousand_questions_leave_no_more_behind_than_fifty(own: AppState) -> None:
    with TestClient(make_app(own), base_url="http://127.0.0.1") as client:
        run(own.worker.read(jobs.bound, 2**19, 2**17, 1800.0))
        for number in range(1000):
            if number % 5:
                assert client.get(PATHS[number % 4]).status_code in (200, 410)
                continue
            asked = question(TEXTS[number // 5 % 4], force=f"The house {number}.")
            answer = read_events(client.post("/api/ask", json=asked))[-1]
            assert client.get(f"/api/looks/{answer['id']}/overview").status_code == 200
            assert run(own.worker.read(jobs.count))[1] <= 2**19 + 2**17
        assert 1 < run(own.worker.read(jobs.count))[0] < 50
        assert not own.worker.under_way


def test_the_newest_look_stays_and_the_oldest_goes(own: AppState) -> None:
    with TestClient(make_app(own), base_url="http://127.0.0.1") as client:
        run(own.worker.read(jobs.bound, 1, 1, 1800.0))
        asked = question("Ieri.", force="Yes.")
        first, second = (read_events(client.post("/api/ask", json=asked))[-1] for _ in range(2))
        gone = client.get(f"/api/looks/{first['id']}/overview")
        assert (gone.status_code, "again" in gone.json()["error"]) == (410, True)
        assert client.get(f"/api/looks/{second['id']}/overview").status_code == 200
        run(own.worker.read(jobs.bound, 2**20, 2**20, -1.0))
        assert client.get(f"/api/looks/{second['id']}/overview").status_code == 410
        volatile = {"id": "", "seconds": 0}
        assert second | volatile == first | volatile


def test_two_users_at_once_never_see_each_others_attention(server: Any) -> None:
    """Each asks again and again with a head of their own switched off, and reads what was looked at."""
    name = "decoder.blocks.0.cross"

    async def user(head: int, text: str) -> set[str]:
        ids = set()
        async with httpx.AsyncClient(base_url=server.url, timeout=120) as client:
            for _ in range(4):
                edits = [{"name": name, "head": head, "kind": "off"}]
                answer = read_events(await client.post("/api/ask", json=question(text, beam=1, edits=edits)))[-1]
                assert answer["axes"]["source"]["names"][:-1] == text.replace(".", " .").split()
                for other in (0, 1):
                    query = {"name": name, "head": other, "encoding": "f32"}
                    found = await client.get(f"/api/looks/{answer['id']}/weights", params=query)
                    shape = [int(side) for side in found.headers["x-regard-shape"].split(",")]
                    weights = unpack(found.content, shape, "f32")
                    assert shape[1] == len(answer["axes"]["source"]["labels"])
                    np.testing.assert_allclose(weights.sum(axis=1), 0.0 if other == head else 1.0, atol=1e-5)
                ids.add(answer["id"])
        return ids

    async def both() -> tuple[set[str], set[str]]:
        return await asyncio.gather(user(0, "La casa."), user(1, "Il cane grande."))

    first, second = run(both())
    assert len(first | second) == 8
    assert all(len(look) >= 22 for look in first | second)  # 128 bits


def test_a_crowd_is_told_to_come_back_and_the_page_is_served_meanwhile(own: AppState) -> None:
    app = make_app(own)

    async def crowd() -> list[int]:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=120) as client:
            asked = question("La casa.", beam=2)
            many = [asyncio.ensure_future(client.post("/api/ask", json=asked)) for _ in range(6)]
            assert (await client.get("/api/about")).status_code == 200
            found = await asyncio.gather(*many)
            assert all(one.headers["retry-after"] for one in found if one.status_code == 429)
            return sorted(one.status_code for one in found)

    own.worker.start()
    assert run(crowd()) == [200, 200, 429, 429, 429, 429]


def test_after_a_restart_the_same_question_has_the_same_answer(zoo: Path) -> None:
    told: list[list[Any]] = []
    looks: list[str] = []
    for _ in range(2):
        with TestClient(make_app(AppState(Models(shelf=zoo))), base_url="http://127.0.0.1") as client:
            assert [client.get(f"/api/looks/{look}/overview").status_code for look in looks] == [410] * len(looks)
            told.append([])
            for model in ("small", "attentive"):
                answer = read_events(client.post("/api/ask", json=question("Ieri.", model=model, beam=2)))[-1]
                picture = client.get(f"/api/looks/{answer['id']}/overview").content
                told[-1].append((answer["output"], answer["axes"], picture))
                looks.append(answer["id"])
    assert told[0] == told[1]


def test_silent_connections_are_closed_and_keep_nobody_out(
    start: Callable[..., AbstractContextManager[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regard.web.guard.PATIENCE", 2.0)
    with start() as server, ExitStack() as held:
        port = int(server.url.rpartition(":")[2])
        silent = [held.enter_context(create_connection(("127.0.0.1", port), timeout=60)) for _ in range(300)]
        silent[0].sendall(b"GET / HTTP/1.1\r\nHost: 127")  # never more than this
        for each in silent:
            assert each.recv(1) == b"", "closed by the server"
        assert httpx.get(f"{server.url}/api/about", timeout=60).status_code == 200
