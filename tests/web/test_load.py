"""Many questions, two users, a full queue and a restart: what is kept is bounded, and belongs to who asked."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from socket import create_connection
from typing import Any

import httpx2 as httpx
import numpy as np
import pytest
from fastapi.testclient import TestClient
from tests.alone import run

from regard.analysis.view import unpack
from regard.web.app import make_app
from regard.web.models import Models
from regard.web.queue import Worker
from regard.web.readings import Readings
from regard.web.state import AppState

TEXTS = ("Ieri.", "La casa.", "Il cane?", "Oggi!")
PATHS = ("/api/about", "/", "/api/world/pair?source=it&target=en", "/api/looks/none/overview")


def test_a_thousand_questions_leave_no_more_behind_than_a_hundred(models: Models) -> None:
    state = AppState(models, None, Worker(), Readings(room=2**19, cached=2**17))
    with TestClient(make_app(state), base_url="http://127.0.0.1") as client:
        for number in range(1000):
            if number % 10:
                path = ("/api/about", "/", "/api/world/pair?source=it&target=en", "/api/looks/none/overview")[
                    number % 4
                ]
                assert client.get(path).status_code in (200, 410)
                continue
            asked = {"model": "small", "text": TEXTS[number // 10 % 4], "force": f"The house {number}."}
            answer = client.post("/api/translate", json=asked).json()
            assert client.get(f"/api/looks/{answer['id']}/overview").status_code == 200
            assert state.readings.nbytes <= 2**19 + 2**17
        assert 1 < len(state.readings) < 50
        assert not state.worker._under_way


def test_the_newest_look_stays_and_the_oldest_goes(models: Models) -> None:
    state = AppState(models, None, Worker(), Readings(room=1))
    with TestClient(make_app(state), base_url="http://127.0.0.1") as client:
        first, second = (
            client.post("/api/translate", json={"model": "small", "text": "Ieri.", "force": "Yes."}).json()["id"]
            for _ in range(2)
        )
        assert client.get(f"/api/looks/{first}/overview").status_code == 410
        assert client.get(f"/api/looks/{second}/overview").status_code == 200


def test_two_users_at_once_never_see_each_others_attention(server: Any) -> None:
    """Each asks again and again with a head of their own switched off, and reads what was looked at."""
    name = "decoder.blocks.0.cross"

    async def user(head: int, text: str) -> set[str]:
        ids = set()
        async with httpx.AsyncClient(base_url=server.url, timeout=120) as client:
            for _ in range(4):
                edits = [{"name": name, "head": head, "kind": "off"}]
                asked = {"model": "small", "text": text, "beam": 1, "edits": edits}
                answer = (await client.post("/api/translate", json=asked)).json()
                assert answer["axes"]["source"]["labels"][:-1] == text.replace(".", " .").split()
                for other in (0, 1):
                    query = {"name": name, "head": other, "encoding": "f32"}
                    found = await client.get(f"/api/looks/{answer['id']}/weights", params=query)
                    shape = [int(side) for side in found.headers["x-regard-shape"].split(",")]
                    weights = unpack(found.content, shape, "f32")
                    assert shape[1] == len(answer["axes"]["source"]["pieces"])
                    np.testing.assert_allclose(weights.sum(axis=1), 0.0 if other == head else 1.0, atol=1e-5)
                ids.add(answer["id"])
        return ids

    async def both() -> tuple[set[str], set[str]]:
        return await asyncio.gather(user(0, "La casa."), user(1, "Il cane grande."))

    first, second = run(both())
    assert len(first | second) == 8
    assert all(len(look) >= 22 for look in first | second)  # 128 bits


def test_a_crowd_is_told_to_come_back_and_the_page_is_served_meanwhile(models: Models, runs: Path) -> None:
    state = AppState(models, runs, Worker(waiting=2), Readings())
    app = make_app(state)

    async def crowd() -> list[int]:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=120) as client:
            asked = {"model": "small", "text": "La casa.", "beam": 2}
            many = [asyncio.ensure_future(client.post("/api/translate", json=asked)) for _ in range(6)]
            assert (await client.get("/api/about")).status_code == 200
            found = await asyncio.gather(*many)
            assert all(one.headers["retry-after"] for one in found if one.status_code == 429)
            return sorted(one.status_code for one in found)

    state.worker.start()
    try:
        assert run(crowd()) == [200, 200, 429, 429, 429, 429]
    finally:
        state.worker.stop()


@pytest.mark.parametrize("model", ["small", "attentive"])
def test_after_a_restart_the_same_question_has_the_same_answer(zoo: Path, model: str) -> None:
    answers: list[dict[str, Any]] = []
    pictures = []
    for _ in range(2):
        state = AppState(Models(shelf=zoo))
        with TestClient(make_app(state), base_url="http://127.0.0.1") as client:
            answer = client.post("/api/translate", json={"model": model, "text": "Ieri.", "beam": 2}).json()
            if answers:
                assert client.get(f"/api/looks/{answers[0]['id']}/overview").status_code == 410
            pictures.append(client.get(f"/api/looks/{answer['id']}/overview").content)
            answers.append(answer)
    assert pictures[0] == pictures[1]
    assert [answers[0][part] for part in ("outputs", "axes", "beam")] == [
        answers[1][part] for part in ("outputs", "axes", "beam")
    ]


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
