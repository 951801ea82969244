"""What the page asks, and what it is answered: all of it true of the model that answers."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from fastapi.testclient import TestClient
from tests.web.asking import question, read_events

from regard.analysis.view import unpack
from regard.analysis.viewfile import read
from regard.attention import off, only, record
from regard.pipelines import load
from regard.pipelines.translate import Translate
from regard.web import guard
from regard.web.app import make_app
from regard.web.models import Models
from regard.web.state import AppState

Ask = Callable[..., dict[str, Any]]

TEXT = "La casa rossa."

START, STOP = 1, 2


def translator(zoo: Path, name: str = "small") -> Translate:
    found = load(zoo / name)
    assert isinstance(found, Translate)
    return found


def weights(client: TestClient, look: str, name: str, **wishes: object) -> np.ndarray:
    query = {"name": name, "encoding": "f32"} | wishes
    response = client.get(f"/api/looks/{look}/weights", params=query)
    assert response.status_code == 200, response.text
    shape = [int(side) for side in response.headers["X-Regard-Shape"].split(",")]
    return unpack(response.content, shape, query["encoding"])


def test_the_page_knows_every_model_before_any_is_opened(zoo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.web.app.WARM", 3600.0)
    state = AppState(Models(shelf=zoo))
    with TestClient(make_app(state), base_url="http://127.0.0.1") as client:
        about = client.get("/api/about").json()
    found = {model["name"]: model for model in about["models"] if model["task"] == "translate"}
    assert list(found) == ["attentive", "fixed", "many", "small"]
    assert [model["cross_attentions"] for model in found.values()] == [True, False, True, True]
    assert found["many"]["languages"] == ["en", "de", "it", "cs"]
    assert about["limits"] == {"text": 10_000, "tokens": 512, "beam": 10, "new": 200, "edits": 256}
    assert state.worker.pid is None


def test_a_run_shows_what_its_model_last_wrote(models: Models, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/recipe.json").write_text('{"recipe": "translate", "fields": {"steps": 20}}')
    rows = [
        {"step": step, "samples": [{"read": "casa", "written": written}]} for step, written in ((9, "?"), (18, "house"))
    ]
    (tmp_path / "mine/samples.jsonl").write_text("\n".join(map(json.dumps, rows)) + '\n{"step": 2')
    with TestClient(make_app(AppState(models, tmp_path)), base_url="http://127.0.0.1") as client:
        (run,) = client.get("/api/runs").json()
    assert run["samples"] == [{"read": "casa", "written": "house"}]


@pytest.mark.parametrize("model", ["small", "attentive", "fixed"])
@pytest.mark.parametrize("beam", [1, 3])
def test_the_answer_is_that_of_the_translator(ask: Ask, zoo: Path, model: str, beam: int) -> None:
    answer = ask(TEXT, model=model, beam=beam)
    (expected,) = translator(zoo, model)([TEXT], beam=beam, count=beam)
    assert [output["text"] for output in answer["output"]["outputs"]] == [
        expected.text,
        *(each.text for each in expected.alternatives),
    ]
    assert answer["output"]["outputs"][0]["log_prob"] == pytest.approx(expected.hypothesis.log_prob, abs=1e-4)
    assert len(answer["axes"]["source"]["labels"]) == len(expected.source)


@pytest.mark.parametrize("model", ["small", "attentive"])
def test_the_weights_are_those_of_the_search_itself(ask: Ask, client: TestClient, zoo: Path, model: str) -> None:
    answer = ask(TEXT, model=model, beam=3)
    one = translator(zoo, model)
    words = one([TEXT], beam=3)[0].hypothesis.words
    state = one.model.start(torch.tensor(one.encode([TEXT])))
    with torch.no_grad(), record(one.model) as trace:  # step by step, as the search writes
        for word in (START, *words)[: len(answer["axes"]["target"]["labels"])]:
            _, state = one.model.step(torch.tensor([[word]]), state)
    assert trace.names
    for name in trace:
        for head, expected in enumerate(trace.weights(name)[0].numpy()):
            np.testing.assert_allclose(weights(client, answer["id"], name, head=head), expected, atol=1e-5)


def test_every_attention_lies_between_the_axes_it_names(ask: Ask, client: TestClient) -> None:
    answer = ask()
    axes = answer["axes"]
    assert {each["kind"] for each in answer["attentions"]} == {"self", "causal", "cross"}
    for each in answer["attentions"]:
        found = weights(client, answer["id"], each["name"], head=0)
        assert found.shape == (len(axes[each["rows"]]["labels"]), len(axes[each["columns"]]["labels"]))
        np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-5)
        if each["kind"] == "causal":
            assert not np.triu(found, 1).any()
    assert axes["read"]["labels"] == ["<start>", *axes["target"]["labels"][:-1]]


def test_words_hold_every_piece_once_and_weights_between_words_sum_as_between_pieces(
    ask: Ask, client: TestClient
) -> None:
    answer = ask("I maestri hanno tenuto la fragola ieri?")
    for axis in answer["axes"].values():
        assert [piece for first, last in axis["words"] for piece in range(first, last + 1)] == list(
            range(len(axis["labels"]))
        )
        assert len(axis["names"]) == len(axis["words"])
    merged = weights(client, answer["id"], "decoder.blocks.1.cross", head="mean", merge="words")
    assert merged.shape == (len(answer["axes"]["target"]["words"]), len(answer["axes"]["source"]["words"]))
    np.testing.assert_allclose(merged.sum(axis=1), 1.0, atol=1e-5)


def test_the_mean_of_some_heads_is_theirs(ask: Ask, client: TestClient) -> None:
    look, name = ask()["id"], "encoder.blocks.1.attn"
    heads = [weights(client, look, name, head=head) for head in (0, 1)]
    np.testing.assert_allclose(weights(client, look, name, head="1,0"), np.mean(heads, axis=0), atol=1e-6)
    np.testing.assert_array_equal(weights(client, look, name, head="1,1"), heads[1])
    refused = client.get(f"/api/looks/{look}/weights", params={"name": name, "head": "0,7"})
    assert (refused.status_code, "has no head 7" in refused.json()["error"]) == (404, True)
    assert client.get(f"/api/looks/{look}/weights", params={"name": name, "head": "0,"}).status_code == 422


def test_a_tile_is_a_part_of_the_whole_and_a_byte_is_a_255th(ask: Ask, client: TestClient) -> None:
    look, name = ask()["id"], "encoder.blocks.1.attn"
    whole = weights(client, look, name, head=1)
    np.testing.assert_array_equal(weights(client, look, name, head=1, rows="1:4", columns="2:3"), whole[1:4, 2:3])
    np.testing.assert_allclose(weights(client, look, name, head=1, encoding="u8"), whole, atol=0.5 / 255 + 1e-6)
    np.testing.assert_allclose(weights(client, look, name, head=1, encoding="f16"), whole, atol=1e-3)


def test_the_overview_shows_every_head_with_its_largest_mean_in_full(ask: Ask, client: TestClient) -> None:
    answer = ask()
    response = client.get(f"/api/looks/{answer['id']}/overview", params={"size": 8})
    layout = json.loads(response.headers["X-Regard-Layout"])
    assert [each["name"] for each in layout["attentions"]] == [each["name"] for each in answer["attentions"]]
    heads = sum(each["heads"] for each in layout["attentions"])
    pictures = np.frombuffer(response.content, np.uint8).reshape(heads, 8, 8)
    assert (pictures.max(axis=(1, 2)) == 255).all()


def test_the_neuron_view_adds_up_to_the_weights(ask: Ask, client: TestClient) -> None:
    look = ask()["id"]
    query = {"name": "encoder.blocks.0.attn", "head": 1, "row": 2}
    found = client.get(f"/api/looks/{look}/neuron", params=query).json()
    scores = found["scale"] * np.array(found["products"]).sum(axis=1)
    np.testing.assert_allclose(scores, found["scores"], atol=2e-3)
    expected = np.exp(scores) / np.exp(scores).sum()
    np.testing.assert_allclose(expected, found["weights"], atol=2e-3)
    np.testing.assert_allclose(found["weights"], weights(client, look, query["name"], head=1)[2], atol=1e-5)


def test_a_small_network_has_no_neuron_view_and_says_so(ask: Ask, client: TestClient) -> None:
    look = ask(model="attentive")["id"]
    response = client.get(f"/api/looks/{look}/neuron", params={"name": "decoder.attn", "head": 0, "row": 1})
    assert (response.status_code, "small network" in response.json()["error"]) == (409, True)


def test_what_is_downloaded_can_be_read_back(ask: Ask, client: TestClient) -> None:
    look = ask()["id"]
    name = "decoder.blocks.0.cross"
    found = client.get(f"/api/looks/{look}/view", params={"name": name, "head": 1}).json()
    (view,) = read(json.dumps({"format": "regard-views-1", "title": "", "views": [found]})).views
    assert (view.name, view.kind, view.layer, view.head, view.heads) == (name, "cross", 0, 1, 2)
    assert "La casa rossa." in view.caption
    np.testing.assert_array_equal(view.weights, weights(client, look, name, head=1))


@pytest.mark.parametrize("kind", ["off", "uniform"])
def test_an_edited_head_is_edited_in_the_search_and_in_the_look(
    ask: Ask, client: TestClient, zoo: Path, kind: str
) -> None:
    name = "decoder.blocks.0.cross"
    answer = ask(edits=[{"name": name, "head": 0, "kind": kind}])
    plain = ask()
    assert answer["output"]["outputs"][0]["log_prob"] != plain["output"]["outputs"][0]["log_prob"]
    edited = weights(client, answer["id"], name, head=0)
    np.testing.assert_allclose(edited, 0.0 if kind == "off" else 1 / edited.shape[1], atol=1e-6)
    np.testing.assert_allclose(weights(client, answer["id"], name, head=1).sum(axis=1), 1.0, atol=1e-5)
    if kind == "off":
        one = translator(zoo)
        with record(one.model, edits={name: only(off, 0)}):
            (expected,) = one([TEXT], beam=2)
        assert answer["output"]["outputs"][0]["text"] == expected.text


def test_several_edits_of_one_attention_go_together(ask: Ask, client: TestClient) -> None:
    name = "encoder.blocks.0.attn"
    edits = [{"name": name, "head": 0, "kind": "off"}, {"name": name, "head": 1, "kind": "uniform"}]
    look = ask(edits=edits)["id"]
    assert not weights(client, look, name, head=0).any()
    assert np.ptp(weights(client, look, name, head=1)) < 1e-6
    everything = ask(edits=[{"name": name, "head": None, "kind": "off"}])["id"]
    assert not weights(client, everything, name, head="mean").any()


@pytest.mark.parametrize("beam", [1, 2, 4])
def test_the_tree_holds_the_search(ask: Ask, beam: int) -> None:
    answer = ask(beam=beam)
    nodes = answer["output"]["beam"]["nodes"]
    assert (nodes[0]["parent"], nodes[0]["piece"], nodes[0]["id"]) == (None, "", 0)
    for node in nodes[1:]:
        above = nodes[node["parent"]]
        assert above["kept"]
        assert node["step"] == above["step"] + 1
        assert node["log_prob"] <= above["log_prob"] + 1e-5
    for step in range(1, max(node["step"] for node in nodes) + 1):
        alive = [node for node in nodes if node["step"] == step]
        assert sum(node["kept"] and node["final"] is None for node in alive) <= beam
        assert len(alive) <= 3 * beam
    for rank, output in enumerate(answer["output"]["outputs"]):
        (node,) = (node for node in nodes if node["final"] == rank)
        assert node["log_prob"] == pytest.approx(output["log_prob"], abs=1e-4)
        pieces = []
        while node["parent"] is not None:
            pieces.append(node["piece"])
            node = nodes[node["parent"]]
        assert pieces[::-1] == output["labels"]


def test_a_forced_target_is_what_the_model_is_made_to_write(ask: Ask, zoo: Path) -> None:
    answer = ask(force="The red house.")
    one = translator(zoo)
    (source,), (target,) = (one.tokenizer.encode([text], stop=True) for text in (TEXT, "The red house."))
    with torch.no_grad():
        logits = one.model(torch.tensor([source]), torch.tensor([[START, *target[:-1]]]))
    gained = logits.log_softmax(-1)[0, range(len(target)), target].sum().item()
    assert answer["output"]["outputs"][0]["text"] == "The red house."
    assert answer["output"]["outputs"][0]["log_prob"] == pytest.approx(gained, abs=1e-3)
    assert answer["axes"]["target"]["names"][-1] == "<stop>"
    assert target[-1] == STOP
    assert answer["output"]["beam"]["nodes"] == []


@pytest.mark.parametrize("model", ["small", "many", "attentive", "fixed"])
def test_a_sentence_of_the_world_comes_with_its_gold_alignment(ask: Ask, client: TestClient, model: str) -> None:
    pair = {"source": "it", "target": "en", "index": 7, "split": "test"}
    truth = client.get("/api/world/pair", params=pair).json()
    answer = ask(model=model, pair=pair, force=truth["reference"])
    gold = answer["output"]["gold"]
    source, target = (answer["axes"][side]["names"] for side in ("source", "target"))
    assert gold["matches"]
    said = {(source[i].lower(), target[j].lower()) for i, j in gold["links"]}
    linked = {(truth["source"][i].lower(), truth["target"][j].lower()) for i, j in truth["alignment"]}
    assert said == linked
    assert set(gold["error"]) == {each["name"] for each in answer["attentions"] if each["kind"] == "cross"}
    assert all(0 <= error <= 1 for errors in gold["error"].values() for error in errors)


def test_a_model_of_several_languages_asks_for_one(ask: Ask, client: TestClient) -> None:
    refused = read_events(client.post("/api/ask", json=question(model="many")))[-1]
    assert "say which by `to`: en, de, it, cs" in refused["error"]
    source = ask(model="many", to="de")["axes"]["source"]
    assert source["names"][0] == "[de]"
    behind, count = source["words"][0][1] + 1, len(source["labels"])
    assert source["special"] == [i < behind or i == count - 1 for i in range(count)]


def test_a_scene_says_which_word_names_which_thing(client: TestClient) -> None:
    scene = client.get("/api/world/scene", params={"index": 3}).json()
    for caption in scene["captions"].values():
        assert "".join(word["before"] + word["text"] for word in caption["words"]) == caption["text"]
    named = {word["text"] for word in scene["captions"]["en"]["words"] if scene["things"][0]["id"] in word["things"]}
    assert scene["things"][0]["kind"] in named
    for address in scene["images"].values():
        picture = client.get(address)
        assert (picture.headers["content-type"], picture.content[:4]) == ("image/png", b"\x89PNG")


def test_the_masks_of_a_scene_are_the_things_by_number(client: TestClient) -> None:
    from io import BytesIO

    from PIL import Image

    scene = client.get("/api/world/scene", params={"index": 3}).json()
    masks = np.array(Image.open(BytesIO(client.get(scene["images"]["masks"]).content)))
    for thing in scene["things"]:
        rows, columns = np.nonzero(masks == thing["id"] + 1)
        left, top, width, height = (side * len(masks) for side in thing["box"])
        assert (columns.min(), rows.min()) == pytest.approx((left, top), abs=0.1)
        assert (np.ptp(columns) + 1, np.ptp(rows) + 1) == pytest.approx((width, height), abs=0.1)


def test_runs_are_listed_and_their_curves_thinned_but_not_their_scores(client: TestClient) -> None:
    (run,) = client.get("/api/runs").json()
    assert (run["name"], run["steps"], run["step"], run["alive"]) == ("translate-0", 2500, 2500, False)
    assert run["best"] == {"bleu": 31.25, "val_loss": 2.0}
    found = client.get("/api/runs/translate-0/metrics").json()
    assert len(found["rows"]) <= 1000
    assert [row["step"] for row in found["rows"] if "bleu" in row] == list(range(250, 2501, 250))
    assert found["rows"][-1]["step"] == found["step"] == 2500
    newer = client.get("/api/runs/translate-0/metrics", params={"after": 2498}).json()
    assert [row["step"] for row in newer["rows"]] == [2499, 2500]


def test_numbers_that_json_cannot_hold_become_nothing(client: TestClient, runs: Path) -> None:
    run = runs / "broken"
    run.mkdir()
    (run / "recipe.json").write_text('{"recipe": "translate", "fields": {"lr": NaN}}')
    (run / "metrics.jsonl").write_text('{"step": 1, "loss": NaN}\n{"step": 2, "loss": Infinity}\n')
    try:
        assert client.get("/api/runs").status_code == 200
        rows = client.get("/api/runs/broken/metrics").json()["rows"]
        assert [row["loss"] for row in rows] == [None, None]
    finally:
        for path in (*run.iterdir(), run):
            path.unlink() if path.is_file() else path.rmdir()


def test_the_zoo_shows_cards_with_what_was_measured(client: TestClient) -> None:
    found = {each["name"]: each for each in client.get("/api/zoo").json()}
    assert found["small"]["measured"] == {"bleu": 12.5}
    assert found["many"]["card"]["languages"]["target"] == ["en", "de", "it", "cs"]


def test_our_code_is_shown_as_it_stands(client: TestClient) -> None:
    found = client.get("/api/source", params={"name": "attention.core.weigh"}).json()
    lines = (Path(__file__).parents[2] / found["path"]).read_text().splitlines()
    assert found["code"].splitlines() == lines[found["first"] - 1 : found["last"]]
    assert found["code"].startswith("def weigh(")
    assert client.get("/api/source", params={"name": "os.system"}).status_code == 404


@pytest.mark.parametrize(
    ("wish", "status", "said"),
    [
        ({"model": "../../etc"}, 404, "no model is called '../../etc'; try"),
        ({"text": " "}, 422, "nothing to look at"),
        ({"text": "a" * 10_001}, 422, "the text has 10,001 characters, and at most 10,000 are read"),
        ({"text": "casa " * 399}, 422, "tokens, and at most 512 are read"),
        ({"text": "\ud800"}, 422, "unicode"),
        ({"force": " "}, 422, "nothing to write"),
        ({"beam": 11}, 422, "beam does not fit"),
        ({"length_penalty": "much"}, 422, "penalty does not fit"),
        ({"to": "de"}, 422, "does not write 'de'; it writes en"),
        ({"edits": [{"name": "nowhere", "kind": "off"}]}, 422, "no attention is called 'nowhere'"),
        ({"edits": [{"name": "encoder.blocks.0.attn", "head": 9, "kind": "off"}]}, 422, "no head 9"),
        ({"pair": {"source": "it", "target": "it"}}, 422, "this pair has 'it'"),
        ({"pair": {"source": "de", "target": "en"}}, 422, "small reads it, and this pair has 'de'"),
        ({"model": "many", "pair": {"source": "it", "target": "it"}}, 422, "two languages"),
        ({"model": "a-parser", "pair": {"source": "it", "target": "en"}}, 422, "a pair of sentences is translated"),
        ({"surprise": 1}, 422, "surprise does not fit"),
        ({"max_new": 5}, 422, "max_new is no option of translate; it has beam, to, length_penalty, force"),
        ({"picture": "world:3"}, 422, "small takes text, and this is a picture"),
        ({"picture": "/etc/passwd"}, 422, "'/etc/passwd' is no picture"),
        ({"picture": "0" * 64}, 410, "not kept here any more"),
        ({"numbers": [1, 2]}, 422, ""),
    ],
)
def test_what_does_not_fit_is_answered_by_a_sentence(
    client: TestClient, wish: dict[str, Any], status: int, said: str
) -> None:
    body = json.dumps(question(**({"text": TEXT} | wish)))
    response = client.post("/api/ask", content=body, headers={"content-type": "application/json"})
    last = response.json() if response.status_code != 200 else read_events(response)[-1]
    assert last.get("status", response.status_code) == status
    assert said in last["error"]


@pytest.mark.parametrize("given", [{}, {"text": "La casa.", "numbers": [1]}, {"pair": None}])
def test_an_input_is_one_thing(client: TestClient, given: dict[str, Any]) -> None:
    response = client.post("/api/ask", json={"model": "small", "input": given})
    assert response.status_code == 422
    assert "one of text, pair, picture, match, told, thing or numbers" in response.json()["error"]


def test_ten_megabytes_of_text_are_refused_by_both_numbers(client: TestClient) -> None:
    response = client.post("/api/ask", json=question("a" * 10_000_000))
    assert response.status_code == 413
    assert "10000" in response.json()["error"]
    assert str(guard.BODY) in response.json()["error"]


def test_a_damaged_model_says_so_and_the_others_work(
    client: TestClient, state: AppState, tmp_path: Path, ask: Ask
) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "card.json").write_text('{"task": "translate"}')
    state.models.folders["damaged"] = tmp_path
    last = read_events(client.post("/api/ask", json=question(model="damaged")))[-1]
    del state.models.folders["damaged"]
    assert (last["status"], "cannot be opened" in last["error"]) == (422, True)
    assert math.isfinite(ask()["output"]["outputs"][0]["score"])


def test_pages_have_their_types_and_are_not_sent_twice(client: TestClient) -> None:
    first = client.get("/")
    assert (first.status_code, first.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert first.headers["cache-control"] == "no-cache"
    again = client.get("/", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    script = client.get("/js/app.js")
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"
    for outside in ("/../app.py", "/%2e%2e/app.py", "/js/../../app.py", "/..%2fapp.py", "//etc/passwd", "/js"):
        assert client.get(outside).status_code == 404
