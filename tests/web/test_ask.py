"""One question for every task: what is told on the way, what is answered, and that to leave is to cancel."""

import json
import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from http.client import HTTPConnection
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from fastapi.testclient import TestClient
from tests.web.asking import question, read_events

from regard.analysis.view import unpack
from regard.pipelines import load
from regard.web.app import make_app
from regard.web.models import Models
from regard.web.state import AppState
from regard.web.worker import Worker

Ask = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def bundled(kept: Worker, runs: Path) -> Iterator[TestClient]:
    """A server with the models that are bundled."""
    with TestClient(make_app(AppState(Models(), runs, kept)), base_url="http://127.0.0.1") as client:
        yield client


@pytest.fixture
def told(bundled: TestClient) -> Ask:
    """The answer of a bundled model."""

    def asked(model: str, text: str = "", **wishes: Any) -> dict[str, Any]:
        last = read_events(bundled.post("/api/ask", json=question(text, model=model, **wishes)))[-1]
        assert last["event"] == "answer", last
        return last

    return asked


def test_words_stream_in_while_they_are_written_and_the_last_event_is_the_answer(client: TestClient) -> None:
    events = read_events(client.post("/api/ask", json=question("La casa rossa.", beam=1)))
    kinds = [event["event"] for event in events]
    assert kinds[0] == "queued"
    assert kinds[-1] == "answer"
    steps = [event for event in events if event["event"] == "step"]
    assert [step["done"] for step in steps] == list(range(len(steps)))
    written = events[-1]["output"]["outputs"][0]["text"]
    assert all(written.startswith(step["text"].strip()) for step in steps)
    assert len(steps) >= 3


def test_a_model_that_is_not_open_is_said_to_be_opened_and_once_only(zoo: Path) -> None:
    with TestClient(make_app(AppState(Models(shelf=zoo))), base_url="http://127.0.0.1") as client:
        first, second = (
            [event["event"] for event in read_events(client.post("/api/ask", json=question(model="attentive", beam=1)))]
            for _ in range(2)
        )
    assert "loading" in first
    assert "loading" not in second


def test_an_axis_says_which_words_its_pieces_make_and_which_pieces_are_none_of_the_text(told: Ask) -> None:
    answer = told("world", pair={"source": "it", "target": "en", "index": 3})
    source = answer["axes"]["source"]
    assert source["names"][0] == "[en]"
    assert source["names"][-1] == "<stop>"
    pieces = ["".join(source["labels"][first : last + 1]) for first, last in source["words"]]
    assert pieces == source["names"]
    behind, count = source["words"][0][1] + 1, len(source["labels"])
    assert source["special"] == [i < behind or i == count - 1 for i in range(count)]


def test_a_word_that_looks_at_the_tag_counts_against_its_head(told: Ask, bundled: TestClient) -> None:
    """A head that puts the most of a word's weight on the language tag has not found that word's source."""
    pair = {"source": "it", "target": "en", "index": 3, "split": "test"}
    reference = bundled.get("/api/world/pair", params=pair).json()["reference"]
    answer = told("world", pair=pair, force=reference)
    gold, axes = answer["output"]["gold"], answer["axes"]
    assert gold["matches"]
    special = {i for i, name in enumerate(axes["source"]["names"]) if name in ("[en]", "<stop>")}
    links, seen = {tuple(link) for link in gold["links"]}, 0
    words = [j for j, name in enumerate(axes["target"]["names"]) if name != "<stop>"]
    for name, errors in gold["error"].items():
        for head, error in enumerate(errors):
            query = {"name": name, "head": head, "encoding": "f32", "merge": "words"}
            found = bundled.get(f"/api/looks/{answer['id']}/weights", params=query)
            shape = [int(side) for side in found.headers["X-Regard-Shape"].split(",")]
            best = unpack(found.content, shape, "f32").argmax(axis=1)
            seen += sum(int(best[j]) in special for j in words)
            right = sum((int(best[j]), j) in links for j in words)
            assert error == pytest.approx(1 - 2 * right / (len(words) + len(links)), abs=1e-4)
    assert seen  # some heads do


def test_a_text_goes_on_and_every_token_says_what_may_come_next(told: Ask) -> None:
    answer = told("captions", "A dog", max_new=6, greedy=True)
    output, words = answer["output"], answer["axes"]["words"]
    assert output["kind"] == "next"
    assert [step["piece"] for step in output["steps"]] == words["labels"]
    assert (output["prompt"], output["read"]) == ("A dog", 3)
    assert words["special"][0]
    assert output["steps"][0]["probability"] is None
    for step, after in zip(output["steps"], output["steps"][1:], strict=False):
        assert len(step["top"]) == 10
        chances = [chance for _, chance in step["top"]]
        assert chances == sorted(chances, reverse=True)
        assert sum(chances) <= 1 + 1e-4
        known = dict(map(tuple, step["top"]))
        assert known.get(after["piece"], after["probability"]) == pytest.approx(after["probability"], abs=1e-5)
    for step, after in zip(output["steps"][2:], output["steps"][3:], strict=False):
        assert after["piece"] == step["top"][0][0]  # of those that were written, each was the likeliest
    captions: Any = load("captions")
    (expected,) = captions(["A dog"], max_new_tokens=6)
    assert output["text"] == expected.text


def test_a_seed_draws_the_same_text_and_nothing_new_is_only_read(told: Ask) -> None:
    drawn = [told("captions", "Two", max_new=12, temperature=1.2, seed=seed)["output"]["text"] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    captions: Any = load("captions")
    assert captions(["Two"], max_new_tokens=12, temperature=1.2, seed=1)[0].text == drawn[0]
    read = told("captions", "Two dogs")["output"]
    assert (read["text"], len(read["steps"])) == ("", read["read"])


def test_hidden_words_are_guessed_at_their_places(told: Ask) -> None:
    answer = told("world-bert", "The dog was [MASK] and [MASK].", top=4)
    output, words = answer["output"], answer["axes"]["words"]
    assert [words["labels"][blank["place"]] for blank in output["blanks"]] == ["<mask>", "<mask>"]
    assert not any(words["special"][blank["place"]] for blank in output["blanks"])
    fill: Any = load("world-bert")
    (filled,) = fill(["The dog was [MASK] and [MASK]."], top=4)
    for blank, guesses in zip(output["blanks"], filled.guesses, strict=True):
        assert [word for word, _ in blank["guesses"]] == [each.word for each in guesses]
    assert told("world-bert", "The dog was old.")["output"]["blanks"] == []


def test_a_picture_has_labels_or_boxes_and_a_grid(told: Ask) -> None:
    labels = told("cifar10-vit", picture="photo:cat")["output"]["labels"]
    assert len(labels) == 10
    assert math.isclose(sum(chance for _, chance in labels), 1.0, abs_tol=1e-4)
    answer = told("world-detr", picture="world:3", threshold=0.5)
    found = load("world-detr")(["world:3"])[0]
    boxes = answer["output"]["boxes"]
    assert [box["label"] for box in boxes] == [each.label for each in found]
    queries = next(axis for axis in answer["axes"].values() if axis["kind"] == "boxes")
    for box, each in zip(boxes, found, strict=True):
        np.testing.assert_allclose(queries["boxes"][box["query"]], box["box"], atol=1e-4)
        assert box["score"] == pytest.approx(each.score, abs=1e-3)
    grid = next(axis for axis in answer["axes"].values() if axis["kind"] == "grid")
    assert grid["image"].startswith("data:image/png")
    assert grid["leading"] == []
    assert len(told("world-detr", picture="world:3", threshold=0.0)["output"]["boxes"]) == len(queries["boxes"])


@pytest.mark.parametrize("given", [{"text": "/etc/passwd"}, {"text": "world:3"}, {"numbers": [1, 2]}])
def test_a_model_of_pictures_opens_no_file(bundled: TestClient, given: dict[str, Any]) -> None:
    last = read_events(bundled.post("/api/ask", json={"model": "world-detr", "input": given}))[-1]
    assert last["status"] == 422
    assert last["error"].endswith("a request opens no files")


def test_to_close_the_line_is_to_cancel(start: Callable[..., AbstractContextManager[Any]]) -> None:
    with start() as server:
        door = HTTPConnection(urlsplit(server.url).netloc, timeout=60)
        long = "La casa rossa e il cane grande. " * 12
        body = json.dumps(question(long, beam=10))
        door.request("POST", "/api/ask", body, {"Content-Type": "application/json"})
        answer = door.getresponse()
        assert json.loads(answer.readline())["event"] == "queued"
        while json.loads(answer.readline())["event"] != "step":
            pass
        door.close()
        answer.close()
        end = monotonic() + 20
        while server.state.worker.under_way and monotonic() < end:
            sleep(0.02)
        assert not server.state.worker.under_way
        assert monotonic() < end
