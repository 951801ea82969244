"""The room Read in a real browser, with small text models that have learnt nothing; and what the server tells."""

import csv
import io
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import numpy as np
import pytest
import torch
from playwright.sync_api import expect
from tests.unit.pipelines.encoders import bert, tokenizer_of
from tests.web.conftest import SIZE, Server, Watched, _foreign, _said, save_model, serving
from tests.web.hands import (
    PATIENCE,
    address,
    answered,
    bars_off,
    becomes,
    choose_model,
    resize,
    save_as,
    shared,
    shell_words,
    thumb,
    until,
    watching,
)
from tests.web.shelves import barriers

import regard
from regard.analysis.contexts import contexts
from regard.decode.sampling import narrow
from regard.hub import save
from regard.models.bert import FAMILY as BERT_FAMILY
from regard.models.gpt import FAMILY, GPT, Config
from regard.pipelines import load
from regard.text import Tokenizer
from regard.web.models import Models
from regard.web.senses import draw
from regard.web.state import AppState
from regard.web.worker import Worker
from regard.world.language import stories, text

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LINES = [text(sentence) for story in stories()[:60] for sentence in story.sentences]
TEXT = "Anna found a dog."
TIRED = "The animal didn't cross the street because it was too tired."
HEADS = {"my-bert": "masked", "my-tagger": "tokens", "my-asker": "spans", "my-embedder": "none"}
TASKS = {"masked": "fill", "tokens": "tag", "spans": "answer", "none": "embed"}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GPT, a BERT of each head, and models of other tasks, as they were born but more decided."""
    found = tmp_path_factory.mktemp("readers")
    tokenizer = Tokenizer.train(LINES, kind="bytes", vocab=400)
    torch.manual_seed(0)
    gpt = GPT(Config(tokenizer.vocab, 512, 16, 2, 2, 32, 0.0, 0.0))
    with torch.no_grad():
        for weight in gpt.parameters():
            weight.mul_(4.0 if weight.ndim > 1 else 1.0)
    card = {"task": "generate", "title": "Untaught GPT", "data": "world", "language": "en", "rows": "lines"}
    more = {"knows": "nothing yet", "examples": [TEXT], "default": True}
    save(found / "my-gpt", gpt, family=FAMILY, card=card | more, tokenizer=tokenizer)
    for name, head in HEADS.items():
        labels = {"labels": ["O", "B-PER"]} if head == "tokens" else {}
        about = {"task": TASKS[head], "title": f"Untaught {name}", "examples": ["The dog runs."], **labels}
        words = tokenizer_of(found.parent / "words")
        save(found / name, bert(head), family=BERT_FAMILY, card=about, tokenizer=words)
    save_model(found / "my-classifier", kind="intra", task="classify", labels=["calm", "wild"], languages={})
    save_model(found / "my-rememberer", kind="memnet", task="recall", pairs=2, words=9, distance=8, languages={})
    return found


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GPT-2 as transformers saves it."""
    from transformers import GPT2Config, GPT2LMHeadModel

    folder = tmp_path_factory.mktemp("theirs") / "gpt2-tiny"
    tokenizer = Tokenizer.train(LINES, kind="bytes", vocab=300)
    config = GPT2Config(
        vocab_size=tokenizer.vocab, n_positions=64, n_embd=16, n_layer=2, n_head=2, bos_token_id=1, eos_token_id=2
    )
    GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer.save(folder / "tokenizer.json")
    return folder


@pytest.fixture(scope="module")
def reader(shelf: Path, foreign: Path, kept: Worker) -> Iterator[Server]:
    """A server with these models."""
    models = Models(shelf=shelf)
    models.folders[foreign.name] = foreign
    with serving(AppState(models, worker=kept)) as found:
        yield found


@pytest.fixture(scope="module")
def window(browser: "Browser", reader: Server) -> Iterator[Watched]:
    """A browser of one's own, since its address is another."""
    found = browser.new_context(base_url=reader.url, viewport=SIZE, locale="en-GB")
    found.set_default_timeout(1000 * PATIENCE)
    found.add_init_script("try { localStorage.setItem('regard.guided', 'yes') } catch {}")
    complaints: list[str] = []
    found.on("request", lambda request: complaints.extend(_foreign(request.url, reader.url)))
    found.on("weberror", lambda failed: complaints.append(f"the page threw {failed.error}"))
    found.on("console", lambda said: complaints.extend(_said(said.type, said.text)))
    yield Watched(found, found.new_page(), complaints)
    found.close()


@pytest.fixture
def page(window: Watched) -> "Iterator[Page]":
    """An empty page; what it complains of fails the test."""
    window.complaints.clear()
    yield window.page
    window.page.unroute_all(behavior="ignoreErrors")
    window.page.goto("about:blank")
    window.page.set_viewport_size(SIZE)
    assert not window.complaints, "\n".join(window.complaints)


def read(page: "Page", **state: str) -> None:
    """Open the room in a state and wait for its answer."""
    page.goto("about:blank")
    page.goto(f"/#/read?{address(**({'m': 'my-gpt', 'given': f't:{TEXT}'} | state))}")
    answered(page)


def post(server: Server, path: str, asked: dict[str, Any]) -> Any:
    """What a server answers; of several lines the last."""
    headers = {"Content-Type": "application/json"}
    with urlopen(Request(server.url + path, json.dumps(asked).encode(), headers)) as answer:
        return json.loads(answer.read().decode().splitlines()[-1])


def ask(server: Server, model: str, given: str, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = post(server, "/api/ask", {"model": model, "input": {"text": given}, "options": options})
    assert found["event"] == "answer", found
    return found


def asked_texts(page: "Page") -> list[str]:
    """The texts of all questions from here on."""
    found: list[str] = []
    page.on(
        "request",
        lambda request: (
            found.append(json.loads(request.post_data)["input"].get("text", ""))
            if request.url.endswith("/api/ask") and request.post_data
            else None
        ),
    )
    return found


def at_end(shelf: Path, given: str) -> torch.Tensor:
    """The logits behind a text."""
    generate: Any = load(shelf / "my-gpt")
    with torch.no_grad():
        return generate.model(torch.tensor(generate.prompts.encode([given])))[0, -1, : generate.vocab].float()


# What the server tells


@pytest.mark.parametrize("dials", [(1.0, 1.0, 50), (0.6, 0.8, 50), (1.7, 0.95, 20), (0.0, 0.5, 7)])
def test_the_page_draws_among_the_tokens_and_with_the_chances_of_the_server(
    page: "Page", reader: Server, shelf: Path, dials: tuple[float, float, int]
) -> None:
    temperature, top_p, top_k = dials
    last = ask(reader, "my-gpt", TEXT)["output"]["last"]
    assert len(last["top"]) == 50
    assert sum(math.exp(each["log"]) for each in last["top"]) < 1.0
    page.goto("/", wait_until="commit")
    found = page.evaluate(
        "([last, dials]) => import('./js/read/sampling.js').then(({reshaped}) => reshaped(last, dials))",
        [last, {"temperature": temperature, "topP": top_p, "topK": top_k, "seed": 0}],
    )
    logits = at_end(shelf, TEXT)
    best = logits.topk(50)
    if temperature == 0.0:
        assert [each["share"] for each in found] == [1.0] + [0.0] * 49
        return
    kept = narrow(logits[None] / temperature, top_k=top_k, top_p=top_p)[0].softmax(-1)[best.indices]
    np.testing.assert_allclose([each["share"] for each in found], kept, atol=1e-4)
    # The others are told by how many they are, which is exact enough.
    whole = (logits / temperature).softmax(-1)[best.indices]
    np.testing.assert_allclose([each["probability"] for each in found], whole, rtol=0.03)


def test_a_hidden_word_is_told_its_own_chance(reader: Server, shelf: Path) -> None:
    output = ask(reader, "my-bert", "The [MASK] and the [MASK].", own=["dogs", None])["output"]
    assert [blank["own"] and blank["own"][0] for blank in output["blanks"]] == ["dog", "##s", None]
    fill: Any = load(shelf / "my-bert")
    ids = torch.tensor([[2, 5, 4, 4, 10, 5, 4, 18, 3]])
    with torch.no_grad():
        chances = fill.model(ids).logits[0, 2].softmax(-1)
    _, chance, rank = output["blanks"][0]["own"]
    assert chance == pytest.approx(float(chances[6]), abs=1e-5)
    assert rank == int((chances > chances[6]).sum())


def test_two_sentences_hide_words_and_are_told_apart(reader: Server) -> None:
    answer = ask(reader, "my-bert", "The [MASK] runs.\tThe cat [MASK].", own=["dog", "sleeps"])
    assert answer["axes"]["words"]["labels"][:6] == ["[CLS]", "the", "[MASK]", "runs", ".", "[SEP]"]
    assert answer["axes"]["words"]["segments"] == [0] * 6 + [1] * 5
    assert [blank["own"][0] for blank in answer["output"]["blanks"]] == ["dog", "sleeps"]


def test_choices_weigh_what_their_tokens_do_together(reader: Server, shelf: Path) -> None:
    ((choice, log),) = ask(reader, "my-gpt", TEXT, choices=[" The dog ran."])["output"]["choices"]
    steps = ask(reader, "my-gpt", TEXT + choice)["output"]["steps"]
    read_before = len(ask(reader, "my-gpt", TEXT)["output"]["steps"])
    assert log == pytest.approx(sum(math.log(each["probability"]) for each in steps[read_before:]), abs=0.05)


def test_a_word_lies_where_its_vectors_do(shelf: Path) -> None:
    fill: Any = load(shelf / "my-bert")
    senses = [["The dog runs.", "The cat runs."], ["Who runs in the park?", "The dog and the cat runs."]]
    found = draw(fill, "runs", senses)
    assert [layer["name"] for layer in found["layers"]] == ["input", "encoder.blocks.0", "encoder.blocks.1"]
    assert [word["sense"] for word in found["words"]] == [0, 0, 1, 1]
    vectors = contexts(fill.model, fill.tokenizer, [each for some in senses for each in some], ["runs"]).vectors
    spots = np.array(found["layers"][-1]["points"])
    away, near = (np.linalg.norm(x[:, None] - x, axis=-1) for x in (vectors, spots))
    assert np.corrcoef(away.ravel(), near.ravel())[0, 1] > 0.8
    same = draw(fill, "runs", [["The dog runs."], ["The cat runs."], ["The park runs."]])["layers"][0]
    assert same["points"] == [[0.0, 0.0]] * 3  # one word at one place goes in alike
    with pytest.raises(ValueError, match="occurs 1 times, and a map needs 3 or more"):
        draw(fill, "runs", [["The dog runs."]])


def test_a_stranger_s_senses_are_bounded(reader: Server) -> None:
    from urllib.error import HTTPError

    for wrong in (
        {"word": ""},
        {"senses": [["The dog runs."] * 61]},
        {"senses": [["x" * 301]]},
        {"senses": [["a"]] * 5},
        {"word": "zebra"},
        {"model": "../my-bert"},
    ):
        with pytest.raises(HTTPError) as refused:
            post(reader, "/api/senses", {"model": "my-bert", "word": "dog", "senses": [["The dog runs."] * 3]} | wrong)
        assert refused.value.code in (404, 422)
        assert json.loads(refused.value.read())["error"]


def test_a_folder_of_hugging_face_says_its_task_without_being_opened(reader: Server, foreign: Path) -> None:
    (about,) = [each for each in reader.state.models.about() if each["name"] == foreign.name]
    assert (about["task"], about["family"]) == ("generate", "gpt2")


# GPT


def test_after_every_token_the_likeliest_next_ones_are_seen(page: "Page", reader: Server) -> None:
    steps = ask(reader, "my-gpt", TEXT)["output"]["steps"]
    read(page)
    tokens = page.locator(".token")
    becomes(page, tokens.all_inner_texts, [step["piece"] for step in steps])
    expect(page.locator(".next-after h3")).to_have_text("Next token, after “.”")
    assert bars_off(page) < 0.06
    tokens.nth(2).hover()
    until(page, f"document.querySelector('.next-after h3').textContent === 'After “{steps[2]['piece']}”'")
    names = page.locator(".bars .bar-name")
    becomes(page, lambda: names.all_inner_texts()[:10], [name for name, _ in steps[2]["top"]])
    becomes(page, page.locator(".came .bar-name").inner_text, steps[3]["piece"])
    expect(page.locator(".next-after")).to_contain_text("really came")
    tokens.nth(3).click()
    until(page, "location.hash.includes('tok=3')")
    page.mouse.move(0, 0)
    expect(tokens.nth(3)).to_have_attribute("aria-pressed", "true")
    becomes(page, page.locator(".next-after h3").inner_text, f"After “{steps[3]['piece']}”")


def test_temperature_and_top_p_move_the_bars_and_ask_nobody(page: "Page") -> None:
    read(page)
    asked = asked_texts(page)
    numbers = page.locator(".bars .bar-number")
    before = numbers.all_inner_texts()
    page.get_by_label("temperature").fill("0.3")
    becomes(page, lambda: float(numbers.first.inner_text().split()[0]) > float(before[0].split()[0]), True)
    page.get_by_label("temperature").fill("1")
    becomes(page, numbers.all_inner_texts, before)
    page.get_by_label("top-k").fill("3")
    expect(page.locator(".bar-row.cut")).to_have_count(7)
    expect(page.locator(".next-after")).to_contain_text("3 tokens are left")
    page.get_by_label("top-p").fill("0.05")
    expect(page.locator(".next-after")).to_contain_text("One token is left")
    until(page, "location.hash.includes('topk=3') && location.hash.includes('topp=0.05')")
    assert asked == []


def test_one_token_is_taken_by_the_dice_or_by_hand_and_back_gives_it_back(page: "Page", reader: Server) -> None:
    top = [each for each in ask(reader, "my-gpt", TEXT)["output"]["last"]["top"] if each["text"] and not each["ends"]]
    first = top[0]
    read(page)
    page.get_by_label("temperature").fill("0")
    page.get_by_role("button", name="Take one").click()
    until(page, "text => document.querySelector('.composer').value === text", arg=TEXT + first["text"])
    answered(page)
    page.get_by_role("button", name="Undo").click()
    until(page, "text => document.querySelector('.composer').value === text", arg=TEXT)
    answered(page)
    second = page.locator("button.bar-row").nth(1)
    name = second.locator(".bar-name").inner_text()
    second.click()
    (text,) = {each["text"] for each in top[:10] if each["piece"] == name}
    until(page, "text => document.querySelector('.composer').value === text", arg=TEXT + text)


def test_the_model_writes_on_by_a_seed_and_what_it_wrote_is_kept(page: "Page", reader: Server) -> None:
    read(page, temp="0.8", topp="0.9", seed="5")
    page.get_by_label("How many tokens").select_option("10")
    page.get_by_role("button", name="Write on").click()
    wishes = {"max_new": 10, "temperature": 0.8, "top_p": 0.9, "top_k": 50, "seed": 5}
    written = ask(reader, "my-gpt", TEXT, **wishes)["output"]
    expect(page.locator(".token.written")).to_have_count(len(written["steps"]) - written["read"])
    page.get_by_role("button", name="Another", exact=True).click()
    until(page, "location.hash.includes('w=10,0.8,0.9,50,6')")
    answered(page)
    page.get_by_role("button", name="Undo").click()
    until(page, "location.hash.includes('w=10,0.8,0.9,50,5')")
    answered(page)
    page.get_by_role("button", name="Keep it").click()
    until(page, "text => document.querySelector('.composer').value === text", arg=TEXT + written["text"])
    until(page, "document.querySelectorAll('.token.written').length === 0")


def test_writing_on_can_be_given_up(page: "Page") -> None:
    read(page)
    page.route("**/api/ask", lambda _: None)
    page.get_by_role("button", name="Write on").click()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Stopped after").wait_for()


def test_examples_in_the_prompt_change_the_labels_chances(page: "Page") -> None:
    read(page)
    asked = asked_texts(page)
    page.get_by_text("Few-shot prompt").click()
    page.get_by_role("button", name="Fill in examples").click()
    expect(page.locator(".shown-table tbody tr th")).to_have_text(["star", "disc", "square"])
    for column in (1, 2, 3):
        shares = page.locator(f".shown-table td:nth-of-type({column}) .bar-number").all_inner_texts()
        assert sum(float(each.strip("< %")) for each in shares) == pytest.approx(100, abs=0.3)
    lengths = sorted({len(each) for each in asked})
    assert len(lengths) >= 2, "one with the examples, one without"
    assert max(asked, key=len).endswith("Which kind is a blick?")
    assert "a dax? disc" in "".join(asked), "and one with the labels of others"
    before = page.locator(".token").count()
    page.get_by_label("examples on").uncheck()
    until(page, "many => document.querySelectorAll('.token').length < many", arg=before)
    until(page, "location.hash.includes('use=off')")


def test_an_edit_shows_which_chances_moved(page: "Page", reader: Server) -> None:
    read(page, edits="decoder.blocks.0.attn:*:off")
    page.wait_for_selector(".bars.moving")
    best = ask(reader, "my-gpt", TEXT)["output"]["last"]["top"]
    expect(page.locator(".next-after .move")).to_have_count(10)
    expect(page.locator(".next-after .move.up")).not_to_have_count(0)
    told = {each["piece"] for each in best}
    shown = page.locator(".next-after .bar-row:has(.bar-before) .bar-name").all_inner_texts()
    assert set(shown) <= told | {"end of text", "␣", "↵"}
    expect(page.locator(".facts-line")).to_contain_text("without the edits")
    page.get_by_role("button", name="Reset", exact=True).click()
    until(page, "!document.querySelector('.bars.moving')")


# BERT


def test_a_click_hides_a_word_and_tells_how_likely_it_was(page: "Page", reader: Server) -> None:
    read(page, m="my-bert", given="t:The dog runs in the park.")
    page.get_by_text("Click a word to hide it").wait_for()
    page.locator(".masked").get_by_role("button", name="dog", exact=True).click()
    page.get_by_text("itself:").wait_for()
    (own,) = ask(reader, "my-bert", "The [MASK] runs in the park.", own=["dog"])["output"]["blanks"]
    expect(page.locator(".own-word")).to_contain_text(f"{100 * own['own'][1]:.1f} %")
    becomes(page, page.locator(".bars .bar-name").all_inner_texts, [name for name, _ in own["guesses"][:8]])
    page.locator(".masked").get_by_role("button", name="park", exact=True).click()
    until(page, "document.querySelectorAll('.blank').length === 2")
    until(page, "location.hash.includes('mask=1,5')")
    page.locator(".hidden-word").first.click()
    until(page, "document.querySelectorAll('.blank').length === 1")
    guess = page.locator("button.bar-row .bar-name").first.inner_text()
    page.locator("button.bar-row").first.click()
    until(page, "text => document.querySelector('.composer').value === text", arg=f"The dog runs in the {guess}.")
    until(page, "!location.hash.includes('mask')")


def test_a_head_edit_moves_the_guesses(page: "Page") -> None:
    read(page, m="my-bert", given="t:The [MASK] runs.", edits="encoder.blocks.0.attn:*:uniform")
    page.wait_for_selector(".bars.moving .bar-before")
    expect(page.locator(".move.up, .move.down")).not_to_have_count(0)


def test_two_sentences_are_read_together_and_one_looks_at_the_other(page: "Page") -> None:
    read(page, m="my-bert", given="t:The dog runs.")
    page.get_by_role("button", name="Add a second sentence").click()
    page.get_by_label("Second sentence").fill("The cat sleeps.")
    page.locator(".masked").get_by_role("button", name="sleeps", exact=True).wait_for()
    expect(page.locator(".masked .between")).to_have_count(1)
    page.get_by_label("sentences").select_option("ba")
    expect(page.locator(".word.rows")).to_have_count(5)
    expect(page.locator(".word.columns")).to_have_text(["[CLS]", "the", "dog", "runs", ".", "[SEP]"])
    page.get_by_role("button", name="One sentence alone").click()
    until(page, "document.querySelectorAll('.masked .between').length === 0")


def test_one_word_lies_on_a_map_after_each_layer(page: "Page") -> None:
    """This BERT has never heard of a bank, and says so; of dogs it has."""
    read(page, m="my-bert", given="t:The dog runs.", view="senses")
    page.get_by_text("my-bert has no pieces for “bank”").wait_for()
    page.get_by_text("Your own word and sentences").click()
    lines = "The dog runs.\nA dog sleeps.\n\nThe cat and the dog.\nWho runs in the park, dog?"
    page.get_by_label("Sentences, one a line").fill(lines)
    page.get_by_label("Word", exact=True).fill("dog")
    until(page, "document.querySelectorAll('.sense-point').length === 4")
    expect(page.locator(".senses-told")).to_contain_text("After layer 2 of 2")
    until(page, "location.hash.includes('word=dog') && location.hash.includes('senses=')")


def test_a_recorded_model_shows_bank_in_two_senses(page: "Page") -> None:
    read(page, m="my-bert", given="t:The dog runs.", view="senses", of="minilm", layer="4")
    expect(page.locator(".sense-point")).to_have_count(12)
    expect(page.locator(".senses-told")).to_contain_text("After layer 4 of 6")
    place = "document.querySelector('.sense-point').style.transform"
    before = page.evaluate(place)
    page.get_by_label("Layer", exact=True).fill("0")
    until(page, "before => document.querySelector('.sense-point').style.transform !== before", arg=before)
    expect(page.locator(".senses-told")).to_contain_text("Before the first layer")
    until(page, "location.hash.includes('layer=0')")
    page.locator(".senses-list li").nth(3).hover()
    expect(page.locator(".sense-point.on title")).to_have_text(re.compile("^Trees grew"))
    page.get_by_role("button", name="Export", exact=True).click()
    figure = save_as(page, "SVG").decode()
    assert "“bank”: all-MiniLM-L6-v2, input" in figure
    assert figure.count("<title") == 12


# Other tasks


@pytest.mark.parametrize(
    ("model", "given", "seen"),
    [
        ("my-classifier", "La casa rossa.", ".plain-answer .bar-name"),
        ("my-tagger", "Karel runs.", ".tagged small"),
        ("my-asker", "Who sleeps?\tThe dog runs and the cat sleeps.", ".answer-span"),
        ("my-embedder", "The dog runs.\tThe cat sleeps.", ".vector-strip"),
        ("my-rememberer", "3 12 4 13 21 22 3", ".answer-value b"),
    ],
)
def test_other_answers_are_drawn_as_what_they_are(page: "Page", model: str, given: str, seen: str) -> None:
    read(page, m=model, given=f"t:{given}")
    page.wait_for_selector(seen)
    if model == "my-embedder":
        expect(page.locator(".plain-answer")).to_contain_text("Cosine")
    if model == "my-tagger":
        assert set(page.locator(seen).all_inner_texts()) <= {"O", "B-PER"}


def test_ids_that_are_no_numbers_are_refused_in_words(page: "Page") -> None:
    page.goto("about:blank")
    page.goto("/#/read?m=my-rememberer&in=t:3+four+5")
    page.get_by_text("“four” is none").wait_for()


# All of them


def test_the_lectures_sentences_warn_and_lead_to_what_real_models_recorded(page: "Page") -> None:
    read(page)
    page.get_by_role("button", name="The animal … it was too tired.").click()
    until(page, "text => document.querySelector('.composer').value === text", arg=TIRED)
    expect(page.locator(".warning").first).to_contain_text("new to my-gpt")
    page.get_by_role("link", name="all-MiniLM-L6-v2").click()
    until(page, "location.hash.startsWith('#/file?in=r:minilm-tired')")
    until(page, "document.querySelectorAll('.word').length > 20")


def test_a_link_brings_back_everything(page: "Page") -> None:
    read(
        page,
        view="matrix",
        look="decoder.blocks.0.attn:1",
        at="1",
        tok="1",
        temp="0.5",
        topk="9",
        edits="decoder.blocks.1.attn:0:off",
    )
    page.wait_for_selector("button.thumb[data-mark='off'][data-name='decoder.blocks.1.attn']")
    page.wait_for_selector("button.thumb.current[data-name='decoder.blocks.0.attn'][data-head='1']")
    expect(page.locator(".segments.tabs [aria-selected='true']")).to_have_text("Matrix")
    expect(page.locator(".token").nth(1)).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_label("temperature")).to_have_value("0.5")
    expect(page.get_by_label("top-k")).to_have_value("9")


def test_another_model_gets_an_input_that_it_can_read(page: "Page") -> None:
    read(page)
    choose_model(page, "Untaught my-bert")
    until(page, "document.querySelector('.composer').value === 'The dog runs.'")
    expect(page.locator(".masked .said")).to_have_count(4)


def test_a_model_of_hugging_face_is_read_like_any_other(page: "Page", foreign: Path) -> None:
    read(page, m=foreign.name)
    expect(page.locator("button.thumb")).to_have_count(4)
    expect(page.locator("button.bar-row")).to_have_count(10)
    assert page.locator(".token").count() > 3


def test_it_can_be_done_without_the_page(page: "Page") -> None:
    read(page, w="10,0.8,0.9,50,3")
    page.locator("#link").click()
    said = page.get_by_role("dialog")
    expect(said).to_contain_text('regard.load("my-gpt")')
    expect(said).to_contain_text("max_new_tokens=10, temperature=0.8, top_p=0.9, top_k=50, seed=3")
    expect(said).to_contain_text(f'regard generate "{TEXT}" --model my-gpt')


@pytest.mark.parametrize(
    ("model", "given", "asked", "written"),
    [
        ("my-rememberer", "3 12 4, 13 21 22 3", [3, 12, 4, 13, 21, 22, 3], "[3, 12, 4, 13, 21, 22, 3]"),
        (
            "my-asker",
            "Who sleeps?\tThe cat sleeps.",
            ("Who sleeps?", "The cat sleeps."),
            "Who sleeps?\tThe cat sleeps.",
        ),
        ("my-bert", "The [MASK] runs.\tIt sleeps.", ("The [MASK] runs.", "It sleeps."), None),
    ],
)
def test_ids_and_two_texts_can_be_given_without_the_page(
    page: "Page",
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    model: str,
    given: str,
    asked: Any,
    written: str | None,
) -> None:
    read(page, m=model, given=f"t:{given}")
    same, called = shared(page), list[Any]()
    monkeypatch.setitem(vars(regard), "load", lambda name: SimpleNamespace(attend=called.append))
    monkeypatch.setitem(vars(regard), "show", lambda reading: None)
    exec(same["Python"], {})
    assert called == [asked]
    words = shell_words(same["Command"], tmp_path) if "Command" in same else None
    assert words == (["look", model, written] if written else None)


def test_the_chances_leave_as_a_table(page: "Page", reader: Server) -> None:
    steps = ask(reader, "my-gpt", TEXT)["output"]["steps"]
    read(page)
    page.get_by_role("button", name="Export", exact=True).click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="answer as CSV").click()
    header, *rows = csv.reader(io.StringIO(waiting.value.path().read_bytes().decode("utf-8-sig")))
    assert header[:3] == ["token", "probability", "next 1"]
    assert [row[0] for row in rows] == [step["piece"] for step in steps]
    assert float(rows[2][1]) == pytest.approx(steps[2]["probability"], abs=1e-6)


def test_512_tokens_are_read_without_a_stutter(page: "Page", shelf: Path) -> None:
    generate: Any = load(shelf / "my-gpt")
    words = " ".join(LINES)
    while _length(generate, words) > 512:
        words = words[: int(len(words) * min(0.99, 520 / _length(generate, words)))]
    while _length(generate, words + ".") <= 512:
        words += "."
    page.goto("about:blank")
    page.goto(f"/#/read?{address(m='my-gpt', given=f't:{words}')}")
    answered(page)
    expect(page.locator(".token")).to_have_count(512)
    asked = asked_texts(page)
    with watching(page) as worked:
        thumb(page, "decoder.blocks.0.attn", 1).click()
        page.wait_for_selector("button.thumb.current[data-name='decoder.blocks.0.attn'][data-head='1']")
        page.keyboard.press("x")
        page.wait_for_selector(".matrix-canvas")
        page.locator(".token").nth(400).hover()
        until(page, "document.querySelector('.next-after h3').textContent.startsWith('After')")
        assert worked() < 5
    assert asked == []


def _length(generate: Any, words: str) -> int:
    return len(generate.tokenizer.encode([words], start=True, stop=False)[0])


@pytest.mark.parametrize(
    "state",
    [
        {"tok": "1"},
        {"m": "my-bert", "given": "t:The [MASK] runs."},
        {"m": "my-bert", "given": "t:The dog runs.", "view": "senses", "of": "minilm"},
        {"m": "my-tagger", "given": "t:Karel runs."},
    ],
)
def test_nothing_keeps_anybody_out(page: "Page", state: dict[str, str]) -> None:
    read(page, **state)
    if "of" in state:
        page.locator(".sense-point").first.wait_for()
    assert barriers(page) == []


@pytest.mark.parametrize(
    "state", [{}, {"m": "my-bert", "given": "t:The [MASK] runs.", "view": "senses", "of": "minilm"}]
)
def test_everything_fits_a_phone(page: "Page", state: dict[str, str]) -> None:
    resize(page, 390, 844)
    read(page, **state)
    page.wait_for_selector(".bars")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    small = page.evaluate(
        "[...document.querySelectorAll('.room-read button:not(.thumb):not(.edge):not(.word)')]"
        ".filter(each => each.offsetParent && each.offsetHeight < 40).map(each => each.textContent)"
    )
    assert small == []
