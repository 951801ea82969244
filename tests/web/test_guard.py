"""Who may ask: this machine by its own names, the page itself, and whoever has the token."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from tests.alone import run

from regard.web import guard
from regard.web.app import make_app
from regard.web.guard import Guard
from regard.web.state import AppState

TOKEN = "a-token-of-many-letters"


@pytest.fixture
def distant(state: AppState) -> Iterator[TestClient]:
    """A server that listens beyond this machine."""
    app = make_app(state, names={"workstation"}, token=TOKEN, cookie="regard_1")
    with TestClient(app, base_url="http://192.168.1.7:8420", follow_redirects=False) as client:
        yield client


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8420", "localhost:9000", "[::1]:8420", "LOCALHOST"])
def test_this_machine_is_known_by_its_names(client: TestClient, host: str) -> None:
    assert client.get("/api/about", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "192.168.1.7", "localhost@evil.example", "", "[::1", "a/b"]
)
def test_a_name_that_somebody_pointed_here_is_refused(client: TestClient, host: str) -> None:
    for path in ("/", "/api/about", "/js/app.js"):
        response = client.get(path, headers={"Host": host})
        assert response.status_code == 403
        assert "regard explore" in response.json()["error"]


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:9999", "http://127.0.0.1.evil.example"]
)
def test_a_page_of_another_site_is_refused(client: TestClient, origin: str) -> None:
    asked = {"model": "small", "input": {"text": "La casa."}}
    assert client.post("/api/ask", json=asked, headers={"Origin": origin}).status_code == 403
    assert client.get("/api/about", headers={"Origin": origin}).status_code == 403


def test_our_own_page_and_a_followed_link_are_let_in(client: TestClient) -> None:
    assert client.get("/api/about", headers={"Origin": "http://127.0.0.1"}).status_code == 200
    assert client.get("/", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200
    assert client.get("/api/about", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_pictures_and_numbers_are_not_for_other_sites(client: TestClient, site: str) -> None:
    assert client.get("/api/world/scene/rgb.png", headers={"Sec-Fetch-Site": site}).status_code == 403


def test_every_answer_keeps_the_page_in_its_bounds(client: TestClient) -> None:
    refused = {"Host": "evil.example"}
    for response in (
        client.get("/"),
        client.get("/api/about"),
        client.get("/nowhere"),
        client.get("/", headers=refused),
    ):
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in response.headers


def test_without_the_token_nothing_is_told(distant: TestClient) -> None:
    for path in ("/", "/api/about", "/js/app.js", "/?token=", "/?token=a-token-of-many-letterS"):
        response = distant.get(path)
        assert response.status_code == 401
        assert TOKEN not in response.text
    assert distant.post(f"/api/ask?token={TOKEN}", json={}).status_code == 401


def test_the_token_is_taken_once_and_becomes_a_cookie(distant: TestClient) -> None:
    first = distant.get(f"/?token={TOKEN}&theme=dark")
    assert (first.status_code, first.headers["location"]) == (303, "/?theme=dark")
    assert {"HttpOnly", "SameSite=Lax"} <= set(first.headers["set-cookie"].split("; "))
    assert distant.get("/api/about").status_code == 200  # by the cookie that the client has now
    distant.cookies.clear()
    assert distant.get("/api/about").status_code == 401
    assert distant.get("/api/about", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_the_token_leads_to_no_other_server(distant: TestClient) -> None:
    for path in ("//evil.example/", "/\\evil.example/", "///evil.example/"):
        sent = distant.build_request("GET", f"http://192.168.1.7:8420/?token={TOKEN}")
        sent.url = sent.url.copy_with(path=path)
        place = distant.send(sent).headers.get("location", "/")
        assert place.startswith("/")
        assert not place.startswith(("//", "/\\"))


@pytest.mark.parametrize(("host", "status"), [("workstation:8420", 200), ("10.0.0.1", 200), ("evil.example", 403)])
def test_beyond_this_machine_names_still_count(distant: TestClient, host: str, status: int) -> None:
    headers = {"Host": host, "Authorization": f"Bearer {TOKEN}"}
    assert distant.get("/api/about", headers=headers).status_code == status


def test_a_large_body_is_not_read(client: TestClient) -> None:
    body = json.dumps({"model": "small", "input": {"text": "a" * guard.BODY}})
    assert client.post("/api/ask", content=body).status_code == 413

    def drops() -> Iterator[bytes]:  # without a length
        for _ in range(guard.BODY // 1024 + 1):
            yield b" " * 1024

    assert client.post("/api/ask", content=drops()).status_code == 413


def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "PATIENCE", 0.05)
    sent: list[dict[str, Any]] = []

    async def never() -> dict[str, Any]:
        await asyncio.sleep(60)
        return {}

    async def send(message: Any) -> None:
        sent.append(message)

    async def app(*_: object) -> None:
        raise AssertionError("it must not be asked")

    headers = [(b"host", b"localhost"), (b"content-length", b"10")]
    scope = {"type": "http", "method": "POST", "path": "/api/ask", "query_string": b"", "headers": headers}
    run(Guard(app)(scope, never, send))
    assert sent[0]["status"] == 408


def test_there_is_no_other_conversation(client: TestClient) -> None:
    assert client.get("/docs").status_code == client.get("/redoc").status_code == 404
    assert client.delete("/api/about").status_code == 405
