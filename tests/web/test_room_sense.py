"""The room Sense in a real browser, with small models that have learnt nothing; and what the server lets in."""

import base64
import hashlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from fastapi.testclient import TestClient
from PIL import Image
from tests.unit.sound.test_recording import TONE, wav
from tests.web.asking import read_events
from tests.web.conftest import Watched
from tests.web.hands import answered, bars_off, becomes, painted, until
from tests.web.shelves import ABOUT, KEPT, barriers, onto, small_buttons, visit, watching

from regard.data.moving import world_clips
from regard.hub import save
from regard.models import build
from regard.models.family import family
from regard.pipelines.asking import Flow
from regard.web.app import make_app
from regard.web.errors import RefusedError
from regard.web.models import Models
from regard.web.perceiving import SOUNDS, draw_flow
from regard.web.state import AppState
from regard.web.things import Things
from regard.world.language.motions import WAYS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# Labels and how each sees; points lie on a sphere, so that there is a front and a back.
SEES: dict[str, dict[str, Any]] = {
    "a-films": {"labels": list(WAYS), "films": {"frames": 8, "size": 32}},
    "b-clouds": {"labels": ["chair", "sofa"], "points": {"count": 64}},
    "c-sounds": {"labels": ["seven", "eight"], "sounds": {"frames": 96}},
}
DIRECTIONS = np.random.default_rng(0).standard_normal((64, 3))
CLOUD = DIRECTIONS / np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)
DRAWN = "document.querySelector('.gaze .patches')?.width > 0"
SEEN = "document.querySelector('.cloud').toDataURL()"
READS = "document.querySelector('.gaze .matrix-readout').textContent"


def as_file(points: np.ndarray) -> bytes:
    """Points as numpy saves them."""
    found = BytesIO()
    np.save(found, points)
    return found.getvalue()


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("perceivers")
    for name, sees in SEES.items():
        card = ABOUT | {"task": "perceive", "title": f"Untaught {name[2:]}"} | sees
        _save(folder / name, card, "perceiver-any", latents=8, depth=1, classes=len(sees["labels"]))
    card = ABOUT | {"task": "queries", "title": "Untaught flow", "asks": {"what": "flow"}}
    _save(folder / "d-flow", card, Flow.preset, latents=8, depth=1, **Flow().decided())
    return folder


def _save(folder: Path, card: dict[str, Any], preset: str, **wishes: Any) -> None:
    torch.manual_seed(0)
    model = build(preset, **wishes)
    with torch.no_grad():
        for key, weight in model.named_parameters():
            if "cross" in key:
                weight.mul_(3.0)  # so that looks prefer some places to others
    save(folder, model, family=family("perceiver"), card=card)


@pytest.fixture(scope="module")
def client(shelf: Path) -> Iterator[TestClient]:
    with TestClient(make_app(AppState(Models(shelf=shelf))), base_url="http://127.0.0.1") as found:
        yield found


@pytest.fixture(scope="module")
def window(browser: "Browser", shelf: Path) -> Iterator[Watched]:
    with onto(browser, shelf) as found:
        yield found


@pytest.fixture
def page(window: Watched) -> "Iterator[Page]":
    with watching(window) as found:
        yield found


def ask(client: TestClient, model: str, **given: str) -> dict[str, Any]:
    """What is last said to a question."""
    return read_events(client.post("/api/ask", json={"model": model, "input": given}))[-1]


def keep(client: TestClient, data: bytes) -> str:
    found: str = client.post("/api/things", content=data).json()["thing"]
    return found


# What the server answers


def test_a_film_of_the_world_has_labels_and_a_truth(client: TestClient) -> None:
    answer = ask(client, "a-films", text="world:7")
    films = world_clips("test")
    assert answer["output"]["truth"] == films.labels[films.targets[7]]
    assert {name for name, _ in answer["output"]["labels"]} == set(WAYS)
    assert answer["axes"]["input"]["image"].startswith("data:image/png")


def test_a_sound_and_a_cloud_are_asked_about_by_their_hashes(client: TestClient) -> None:
    heard = ask(client, "c-sounds", thing=keep(client, wav(np.stack([TONE, TONE], axis=1))))
    assert heard["output"]["notes"] == ["its 2 channels were mixed to one"]
    assert heard["output"]["truth"] is None
    seen = ask(client, "b-clouds", thing=keep(client, as_file(CLOUD)))
    points = np.asarray(seen["axes"]["input"]["points"])
    centred = CLOUD - CLOUD.mean(axis=0)
    np.testing.assert_allclose(points, centred / np.linalg.norm(centred, axis=1).max(), atol=1e-4)


@pytest.mark.parametrize(
    ("model", "text", "said"),
    [
        ("a-films", "/etc/passwd", "a request opens no files"),
        ("c-sounds", "../../seven.wav", "a request opens no files"),
        ("c-sounds", "tests:0", "'tests' is no set of sounds, points or films"),
        ("c-sounds", "cifar10:0", "'cifar10' is no set of sounds, points or films"),
        ("a-films", "world:99999", "number 99999 is not among these 500"),
        ("c-sounds", "world:7", "takes sounds, and these are films"),
        ("d-flow", "/etc/passwd", "flow is between two frames"),
    ],
)
def test_a_text_never_becomes_the_name_of_a_file(client: TestClient, model: str, text: str, said: str) -> None:
    last = ask(client, model, text=text)
    assert (last["event"], last["status"]) == ("error", 422)
    assert said in last["error"]
    assert "\n" not in last["error"]


def test_a_set_that_is_not_here_is_not_fetched_by_a_request(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_DATA", "/nowhere")
    monkeypatch.setattr("regard.data.fetch.cache", lambda: Path("/nowhere"))
    from regard.web.perceiving import _known

    with pytest.raises(RefusedError, match="run regard data get spoken-digits"):
        _known("spoken-digits")


def test_ten_digits_come_with_the_page_and_it_is_said_whose_voice_it_is(client: TestClient, shelf: Path) -> None:
    assert "by a synthetic voice" in (SOUNDS / "README.md").read_text(encoding="utf-8")
    for digit in range(10):
        assert (SOUNDS / f"{digit}.wav").stat().st_size < 16_000
    answer = ask(client, "c-sounds", text="sound:7")
    assert answer["output"]["kind"] == "labels"
    assert answer["output"]["truth"] is None, "this model calls it seven"
    assert "choose sound:0 to sound:9" in ask(client, "c-sounds", text="sound:10")["error"]
    assert "takes films" in ask(client, "a-films", text="sound:7")["error"]


def test_what_is_neither_a_sound_nor_a_cloud_is_refused_in_one_sentence(client: TestClient) -> None:
    for data in (b"", b"this is no cloud", b"RIFF and then nothing", wav(0 * TONE), as_file(CLOUD[:3])):
        said = client.post("/api/things", content=data)
        assert said.status_code == 422, data[:20]
        assert said.json()["error"].startswith("the file")
    assert ask(client, "d-flow", thing=keep(client, wav(TONE)))["error"].endswith("choose another model")
    forgotten = client.post("/api/ask", json={"model": "c-sounds", "input": {"thing": "0" * 64}})
    assert (forgotten.status_code, "choose it again" in forgotten.text) == (410, True)
    assert client.post("/api/ask", json={"model": "c-sounds", "input": {"thing": "x.wav"}}).status_code == 422


def test_the_store_forgets_the_oldest_and_never_the_newest() -> None:
    first, second = wav(TONE), wav(TONE / 2)
    store = Things(room=len(first))
    names = [store.keep(data).thing for data in (first, second)]
    assert names == [hashlib.sha256(data).hexdigest() for data in (first, second)]
    assert store.find(names[1]) == second
    with pytest.raises(RefusedError, match="choose it again"):
        store.find(names[0])


def test_flow_is_drawn_in_hues_and_what_stands_is_white(client: TestClient) -> None:
    moved = np.zeros((2, 2, 2), np.float32)
    moved[0, 0], moved[0, 1] = (4, 0), (-4, 0)
    drawn = np.asarray(draw_flow(moved))
    assert drawn[0, 0].tolist() == [255, 0, 0]
    assert drawn[0, 1, 0] < 10
    assert drawn[1].tolist() == [[255, 255, 255]] * 2
    output = ask(client, "d-flow", text="world:7")["output"]
    assert "of the pixels move" in output["text"]
    data = base64.b64decode(output["picture"].partition(",")[2])
    assert Image.open(BytesIO(data)).size == (32, 32)


# What the page shows


def test_a_film_is_seen_by_latents_and_the_next_one_is_a_click_away(page: "Page") -> None:
    visit(page, "sense", m="a-films", given="t:world:7")
    until(page, DRAWN)
    assert page.locator(".bars li").count() == len(WAYS)
    assert bars_off(page) < 0.06
    until(page, "document.querySelector('.sense-truth').textContent.startsWith('True label: ')")
    page.get_by_role("group", name="Who looks").get_by_role("button").nth(2).hover()
    until(page, f"{READS}.startsWith('3 looks at ')")
    page.get_by_role("button", name="Next ›").click()
    until(page, KEPT, ["in", "t:world:8"])
    answered(page)


def test_a_cloud_of_ones_own_turns_by_hand_and_by_keys(page: "Page", tmp_path: Path) -> None:
    file = tmp_path / "sphere.npy"
    file.write_bytes(as_file(CLOUD))
    page.goto("/#/sense?m=b-clouds&in=t:")
    page.locator(".empty", has_text="Name a sound").wait_for()
    page.get_by_label("Choose a sound or a cloud").set_input_files(file)
    until(page, KEPT, ["in", f"f:{hashlib.sha256(file.read_bytes()).hexdigest()}"])
    answered(page)
    until(page, "document.querySelector('.cloud')?.width > 0")
    until(page, f"{READS}.startsWith('All looks on average')")
    painted(page)
    cloud = page.get_by_label("What is seen: 64 points")
    before = page.evaluate(SEEN)
    cloud.focus()
    page.keyboard.press("ArrowRight")
    until(page, f"before => {SEEN} !== before", before)
    page.keyboard.press("0")
    until(page, f"before => {SEEN} === before", before)
    box = cloud.bounding_box()
    assert box
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] + 60, middle[1] + 20, steps=3)
    page.mouse.up()
    page.mouse.move(0, 0)
    until(page, f"before => {SEEN} !== before", before)
    until(page, f"{READS}.startsWith('All looks on average')")


def test_latents_look_at_a_sound_as_a_spectrogram(page: "Page", tmp_path: Path) -> None:
    file = tmp_path / "tone.wav"
    file.write_bytes(wav(TONE))
    page.goto("/#/sense?m=c-sounds&in=t:")
    page.get_by_label("Choose a sound or a cloud").set_input_files(file)
    answered(page)
    until(page, DRAWN)
    assert page.get_by_label("What is seen: 10 × 24 places").count() == 1
    file.write_bytes(b"RIFF and then nothing")
    page.get_by_label("Choose a sound or a cloud").set_input_files(file)
    # The browser says so too, since what was sent is refused.
    page.locator(".toast", has_text="the file").wait_for()


def test_a_room_of_sounds_opens_with_one_that_is_here_and_a_latent_is_kept_in_the_link(page: "Page") -> None:
    page.goto("about:blank")
    page.goto("/#/sense?m=c-sounds")
    answered(page)
    until(page, KEPT, ["in", "t:sound:7"])
    until(page, DRAWN)
    with page.expect_response("**/sounds/7.wav") as heard:
        page.get_by_role("button", name="▶ Listen").click()
    assert heard.value.headers["content-type"] == "audio/wav"
    assert heard.value.headers["content-security-policy"].count("media-src 'self'") == 1
    page.get_by_role("group", name="Who looks").get_by_role("button").nth(2).click()
    until(page, KEPT, ["at", "2"])
    visit(page, "sense", m="c-sounds", given="t:sound:7", at="2")
    until(page, f"{READS}.startsWith('3 looks at ')")


def test_flow_is_a_picture_and_its_queries_stand_where_their_answers_belong(page: "Page") -> None:
    visit(page, "sense", m="d-flow", given="t:world:7")
    until(page, "document.querySelector('.sense-picture img')?.naturalWidth === 32")
    until(page, DRAWN)
    assert page.get_by_label("Who looks: 8 × 8 places").count() == 1
    assert page.get_by_role("button", name="Your file …").count() == 0


def test_what_cannot_be_read_is_said_in_the_servers_words(page: "Page") -> None:
    page.goto("about:blank")
    page.goto("/#/sense?m=a-films&in=t:/etc/passwd")
    until(page, "document.querySelector('.look .problem')?.textContent.includes('a request opens no files')")


def test_on_a_phone_nothing_is_cut_off_and_nothing_keeps_anybody_out(page: "Page") -> None:
    visit(page, "sense", m="a-films,d-flow", given="t:world:7")
    until(page, DRAWN)
    assert barriers(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    becomes(page, lambda: page.evaluate("document.documentElement.scrollWidth <= 390"), True)
    assert small_buttons(page) == []
