"""The room of words in a real browser: what it calculates is what the library calculates, and a link brings it back."""

import io
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
import pytest
import torch
from PIL import Image
from playwright.sync_api import expect
from tests.web.conftest import Kept, Server, Watched, serving
from tests.web.hands import becomes, painted, save_as, until

from regard.analysis.maps import Frame, pca, tsne
from regard.analysis.orthogonal import johnson_lindenstrauss, welch
from regard.web.errors import RefusedError
from regard.web.inside import Inside
from regard.web.models import VECTORS, Models
from regard.web.opened import Place
from regard.web.state import AppState
from regard.web.ticket import Ticket
from regard.web.vectors import read_given
from regard.words import Vectors, near, odd, read_vectors, solve, write_vectors
from regard.words.files import ENDINGS, Format
from regard.zoo import zoo

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    return read_vectors(zoo()["words-en"])


def visit(page: "Page", **state: object) -> None:
    """Open the room in a state, and wait until its map and its panel are there."""
    query = "&".join(f"{key}={quote(str(value), safe=',/')}" for key, value in state.items())
    page.goto("about:blank")
    page.goto(f"/#/words?{query}")
    until(page, "document.querySelector('.words-panel section') && document.querySelector('.words-told')?.textContent")


def go(page: "Page", **state: object) -> None:
    """Another state of the room that is open, as by a link within the page; the words are not fetched again."""
    query = "&".join(f"{key}={quote(str(value), safe=',/')}" for key, value in state.items())
    page.evaluate("hash => void (location.hash = hash)", f"#/words?{query}")


def camera(page: "Page") -> list[float]:
    """Where the address says that one looks from."""
    found = re.findall(r"cam=([-\d.,]+)", page.evaluate("location.hash"))
    return [float(each) for each in found[0].split(",")] if found else []


def told(page: "Page") -> str:
    return page.inner_text(".words-told")


def listed(page: "Page", place: int, within: str = ".words-panel") -> list[str]:
    """The words of one of the lists."""
    return page.locator(f"{within} .near-list").nth(place).locator(".chip").all_inner_texts()


def places(vectors: Vectors, words: list[str], page: "Page") -> list[tuple[float, float]]:
    """Where words are on the screen when they are isolated on the map of t-SNE and all of it is shown."""
    flat = np.frombuffer(page.request.get("/api/words/map.bin?dimensions=2&how=tsne").body(), "<i2").reshape(-1, 2)
    some = flat[np.sort(vectors.rows(words))] / 32767
    middle = (some.max(axis=0) + some.min(axis=0)) / 2
    some = (some - middle) / (np.ptp(some, axis=0).max() / 2)
    box = page.locator(".word-map").bounding_box()
    assert box
    scale = 0.94 * min(box["width"], box["height"]) / 2
    at = {
        vectors.words[row]: (box["x"] + box["width"] / 2 + scale * x, box["y"] + box["height"] / 2 - scale * y)
        for row, (x, y) in zip(sorted(vectors.rows(words)), some, strict=True)
    }
    return [at[word] for word in words]


def drop(page: "Page", **files: str) -> None:
    """Let files fall onto the room."""
    page.evaluate(
        """(files) => {
          const held = new DataTransfer();
          for (const [name, text] of Object.entries(files)) held.items.add(new File([text], name));
          const falls = new DragEvent("drop", {dataTransfer: held, bubbles: true, cancelable: true});
          document.querySelector(".room-words").dispatchEvent(falls);
        }""",
        files,
    )


def test_the_server_hands_out_what_is_stored(page: "Page", vectors: Vectors) -> None:
    about = page.request.get("/api/words").json()
    count, width = about["count"], about["width"]
    assert page.request.get("/api/words/list").json() == list(vectors.words)
    body = page.request.get("/api/words/vectors.bin").body()
    scales, rows = np.frombuffer(body, "<f4", count), np.frombuffer(body, np.int8, offset=4 * count)
    assert np.allclose(rows.reshape(count, width) * scales[:, None], vectors.matrix, atol=1e-6)
    assert about["maps"]["tsne-2"]["preservation"] > 20 * about["maps"]["pca-2"]["preservation"]
    assert page.request.get("/api/words/map.bin?dimensions=4").status == 422


def test_neighbours_are_those_of_the_library_and_what_the_map_got_wrong_is_marked(
    page: "Page", vectors: Vectors
) -> None:
    visit(page, w="king")
    until(page, "document.querySelectorAll('.near-list li').length === 20")
    true = [each.word for each in near(vectors, "king").without_inputs]
    assert listed(page, 0) == true
    shown = listed(page, 1)
    kept = set(true) & set(shown)
    assert f"keeps {len(kept)} of the 10" in page.inner_text(".near-told")
    assert 0 < len(kept) < 10
    marked = page.locator(".near-list li").evaluate_all("all => all.map((item) => item.className)")
    assert marked == ["kept" if word in kept else "wrong" for word in (*true, *shown)]
    lost = next(word for word in shown if word not in kept)
    cosines = vectors.unit @ vectors.unit[vectors.rows(["king"])[0]]
    rank = int((cosines > cosines[vectors.rows([lost])[0]]).sum())
    row = page.locator(".near-list").nth(1).locator("li", has=page.get_by_role("button", name=lost, exact=True))
    assert f"{rank:,}" in row.locator("small").inner_text()


def test_a_word_is_chosen_by_a_click_on_its_point_and_back_undoes_it(page: "Page", vectors: Vectors) -> None:
    words = ["king", "music", "paris", "seven"]
    visit(page, sel=",".join(words), only=1)
    until(page, "document.querySelector('.words-told').textContent.includes('of 4 words')")
    painted(page)
    x, y = places(vectors, words, page)[1]
    page.mouse.move(x, y)
    until(page, "document.querySelector('.words-hover').textContent.startsWith('music')")
    page.mouse.click(x, y)
    until(page, "location.hash.includes('w=music')")
    page.go_back()
    until(page, "!location.hash.includes('w=music') && document.querySelector('#words-panel input').value === ''")


def test_a_sum_is_answered_by_both_rules_which_are_named(page: "Page", vectors: Vectors) -> None:
    asked = "king - man + woman"
    visit(page, **{"as": "sums", "sum": asked})
    page.wait_for_selector(".answer .near-list")
    answer = solve(vectors, asked, count=8)
    assert listed(page, 0, ".answer") == [each.word for each in answer.without_inputs]
    assert listed(page, 1, ".answer") == [each.word for each in answer.with_inputs]
    said = page.inner_text(".sum-told")
    assert "≈ queen, if king, man, woman may not be the answer" in said
    assert "If they may, it is king" in said
    assert page.locator(".answer h3").all_inner_texts() == ["Without king, man, woman", "With all words"]
    field = page.get_by_label("A sum of words")
    wrong = {"king - - man": "two signs", "kingg - man": "kingg", "king man": "no sign", "a -": "ends"}
    for asked, sentence in wrong.items():
        field.fill(asked)
        field.press("Enter")
        until(page, "said => document.querySelector('.answer .problem')?.textContent.includes(said)", sentence)


def test_a_sum_is_drawn_by_three_clicks(page: "Page", vectors: Vectors) -> None:
    words = ["man", "woman", "king", "queen"]
    visit(page, **{"as": "sums", "sel": ",".join(words), "only": 1})
    until(page, "document.querySelector('.words-told').textContent.includes('of 4 words')")
    painted(page)
    page.get_by_role("button", name="Draw it on the map").click()
    for place, hint in zip(places(vectors, words[:3], page), ("begins", "ends", "same step"), strict=True):
        until(page, "hint => document.querySelector('.answer .hint')?.textContent.includes(hint)", hint)
        page.mouse.click(*place)
    until(page, "document.querySelector('.sum-told')?.textContent.startsWith('woman - man + king ≈ queen')")


def test_arrows_of_pairs_lie_on_their_own_plane(page: "Page") -> None:
    visit(page, **{"as": "sums"})
    for name in ("male – female", "verb tense", "country – capital"):
        page.evaluate("document.querySelector('.plane')?.setAttribute('data-before', '')")
        page.get_by_role("button", name=name).click()
        until(page, "name => [...new URLSearchParams(location.hash.split('?')[1]).values()].includes(name)", name)
        until(page, "document.querySelectorAll('.plane:not([data-before]) .pair').length >= 6")
        turns = page.evaluate(
            "[...document.querySelectorAll('.plane .pair')].map(({x1, x2, y1, y2}) =>"
            " Math.atan2(y2.baseVal.value - y1.baseVal.value, x2.baseVal.value - x1.baseVal.value))"
        )
        mean = np.exp(1j * np.array(turns)).mean()
        assert abs(mean) > 0.6, f"most of {name} point the same way"


def test_the_odd_one_is_the_one_of_the_library(page: "Page", vectors: Vectors) -> None:
    words = ["breakfast", "cereal", "dinner", "lunch", "london"]
    visit(page, **{"as": "sums", "odd": " ".join(words)})
    page.wait_for_selector(".odd-list")
    found = odd(vectors, words)
    assert listed(page, 0) == [each.word for each in found.ranked]
    expect(page.locator(".odd-list li.wrong .chip")).to_have_text(found.word)


def test_words_are_found_by_their_beginning_or_a_pattern_and_no_pattern_takes_forever(
    page: "Page", vectors: Vectors
) -> None:
    visit(page)
    field = page.get_by_label("Find words")
    for asked, pattern in (("king", "^king"), ("/ing$/", "ing$"), ("/^(.)(.).?\\2\\1$/", r"^(.)(.).?\2\1$")):
        field.fill(asked)
        count = sum(re.search(pattern, word) is not None for word in vectors.words)
        until(page, "said => document.querySelector('.words-found').textContent.startsWith(said)", f"{count:,} found")
    field.fill("/(/")
    until(page, "document.querySelector('.words-found .problem')?.textContent.includes('mend the pattern')")
    field.fill("/^((.*)*)*!$/")
    until(page, "document.querySelector('.words-found .problem')?.textContent.includes('given up')")
    field.fill("queen")
    field.press("Enter")
    until(page, "location.hash.includes('w=queen')")


def test_what_was_found_is_selected_and_isolated_and_a_view_is_kept_in_the_address(page: "Page") -> None:
    visit(page, q="/ology$/")
    page.get_by_role("button", name="Select them").click()
    page.get_by_role("button", name="Isolate").click()
    until(page, "/of \\d{2,3} words/.test(document.querySelector('.words-told').textContent)")
    few = told(page)
    page.get_by_role("button", name="Keep this view").click()
    page.get_by_role("button", name="Clear").click()
    until(page, "document.querySelector('.words-told').textContent.includes('of 30,000 words')")
    page.reload()
    page.get_by_title("Go back to this view").click()
    until(page, "few => document.querySelector('.words-told').textContent === few", few)
    page.get_by_role("button", name="Forget view 1").click()
    until(page, "!location.hash.includes('marks=')")


def test_a_box_drawn_on_the_map_selects_what_is_in_it(page: "Page") -> None:
    visit(page)
    box = page.locator(".word-map").bounding_box()
    assert box
    page.keyboard.down("Shift")
    page.mouse.move(box["x"] + 400, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 430, box["y"] + 230)
    page.mouse.move(box["x"] + 450, box["y"] + 240)
    page.mouse.up()
    page.keyboard.up("Shift")
    until(page, "/\\d+ selected/.test(document.querySelector('.words-choices').textContent)")
    until(page, "location.hash.includes('sel=')")


def test_spherised_vectors_have_neighbours_of_their_own(page: "Page", vectors: Vectors) -> None:
    visit(page, w="water", vec="sphere")
    until(page, "document.querySelectorAll('.near-list li').length === 20")
    centred = vectors.matrix - vectors.matrix.mean(axis=0)
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)
    row = vectors.rows(["water"])[0]
    order = np.argsort(-(centred @ centred[row]))[1:11]
    assert listed(page, 0) == [vectors.words[each] for each in order]
    expect(page.get_by_label("How vectors are taken")).to_have_value("sphere")


def test_pca_and_tsne_of_the_browser_are_those_of_the_library(page: "Page", vectors: Vectors) -> None:
    points = vectors.unit[:150]
    page.goto("/#/words")
    found = page.evaluate(
        """async (rows) => {
          const table = Float32Array.from(rows.flat());
          const {pca} = await import("/js/words/pca.js");
          const {frames} = await import("/js/words/tsne.js");
          const flat = pca(table, 100, 3);
          const steps = [...frames(table, 100, {perplexity: 20, dimensions: 2, steps: 400, every: 5})];
          const kl = steps.map(each => each.kl);
          return {flat: [...flat.places], shares: flat.shares, kl, second: [...steps[1].places]};
        }""",
        points.tolist(),
    )
    flat = pca(points, 3)
    assert np.allclose(np.reshape(found["flat"], (-1, 3)), flat.places, atol=2e-4)
    assert np.allclose(found["shares"], flat.facts["variance"], atol=1e-5)
    ours: list[Frame] = []
    tsne(points, 20, steps=400, init="pca", every=5, watch=ours.append)
    assert np.allclose(found["kl"][:3], [each.kl for each in ours[:3]], rtol=1e-3)
    assert np.allclose(np.reshape(found["second"], (-1, 2)), ours[1].places, atol=0.01 * np.abs(ours[1].places).max())
    # Later on the last bits of a number decide, and both go to maps that are as good as each other.
    assert found["kl"][-1] == pytest.approx(ours[-1].kl, rel=0.15)


def test_tsne_runs_in_the_browser_and_its_steps_can_be_walked(page: "Page") -> None:
    visit(page, **{"as": "live"})
    page.get_by_label("words", exact=True).fill("60")
    page.get_by_label("steps", exact=True).fill("500")
    page.get_by_role("button", name="Start").click()
    until(page, "document.querySelector('.words-panel [role=status]').textContent.startsWith('Step 500 of 500')")
    expect(page.locator(".words-panel [role=status]")).to_contain_text("lowered to 19.7")
    until(page, "document.querySelector('.words-told').textContent.includes('step 500')")
    last = float(re.findall(r"KL (\d+\.\d+)", told(page))[0])
    slider = page.get_by_label("Step", exact=True)
    slider.focus()
    slider.press("Home")
    until(page, "document.querySelector('.words-told').textContent.includes('step 0')")
    assert float(re.findall(r"KL (\d+\.\d+)", told(page))[0]) > last + 0.2
    for _ in range(4):
        slider.press("ArrowRight")
    until(page, "document.querySelector('.words-told').textContent.includes('step 40')")
    until(page, "/step=40(&|$)/.test(location.hash)")
    before = told(page)
    page.reload()
    until(page, "document.querySelector('.words-told')?.textContent.includes('step 40')")
    assert told(page).split(" It ")[0] == before.split(" It ")[0], "a link computes the same map"


OWN = {
    "word2vec.txt": "4 3\none 1 0 0\ntwo 0 1 0\nthree 0 0 1\nfour 0.9 0.1 0\n",
    "glove.txt": "one 1 0 0\ntwo 0 1 0\nthree 0 0 1\nfour 0.9 0.1 0\n",
    "vectors.tsv": "1\t0\t0\n0\t1\t0\n0\t0\t1\n0.9\t0.1\t0\n",
}
METADATA = "word\tkind\tsize\none\todd\t3\ntwo\teven\t3\nthree\todd\t5\nfour\teven\t4\n"


def test_own_vectors_are_read_in_the_browser_alone(page: "Page") -> None:
    visit(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.method + request.url))
    for name, text in OWN.items():
        page.get_by_role("tab", name="Your vectors").click()
        drop(page, **{name: text} | ({"metadata.tsv": METADATA} if name.endswith("tsv") else {}))
        said = f"{name}: 4 rows of 3 numbers"
        until(page, "said => document.querySelector('.own-said')?.textContent.includes(said)", said)
        until(
            page, "document.querySelector('.words-told').textContent.includes('of 4 words in 3-D')"
        )  # they are places
        page.get_by_role("tab", name="Neighbours").click()
        page.get_by_label("A word").fill("one")
        page.get_by_label("A word").press("Enter")
        until(page, "document.querySelector('.near-list .chip')?.textContent === 'four'")
    page.get_by_label("Colour by").select_option("kind")
    until(page, "document.querySelector('.words-legend').textContent === 'oddeven'")
    assert not [each for each in asked if each.startswith("POST") or "/api/" in each]
    page.reload()
    page.get_by_role("tab", name="Your vectors").click()
    until(page, "document.querySelector('.own-said')?.textContent.includes('Drop it here to see the same')")


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory, vectors: Vectors) -> dict[str, Path]:
    """The first words in every form that `regard explore --model` takes."""
    folder = tmp_path_factory.mktemp("given")
    few = vectors.first(300)
    forms: dict[str, Format] = {
        "text.txt": "word2vec",
        "bytes.bin": "word2vec-binary",
        "glove.vec.gz": "glove",
        "own.safetensors": "safetensors",
    }
    for name, form in forms.items():
        write_vectors(folder / name, few, form)
    copied = folder / "trained"
    shutil.copytree(zoo()["words-en"], copied, ignore=shutil.ignore_patterns("maps.safetensors"))
    return {name: folder / name for name in (*forms, "trained")}


@pytest.fixture(scope="module")
def beside(given: dict[str, Path], kept: Kept) -> Iterator[Server]:
    """A server that was started with vectors of one's own."""
    with serving(AppState(Models([*given.values()]), worker=kept)) as found:
        yield found


def test_vectors_of_ones_own_are_served_as_the_library_reads_them(beside: Server, page: "Page") -> None:
    for name, path in beside.state.models.folders.items():
        if name not in ("text.txt", "bytes.bin", "glove.vec.gz", "own.safetensors", "trained"):
            continue
        about = page.request.get(f"{beside.url}/api/words?model={name}").json()
        right = read_vectors(path)
        assert (about["name"], about["count"], about["total"]) == (name, len(right), len(right))
        assert about["maps"] == {}, "no map is stored beside them"
        assert page.request.get(f"{beside.url}/api/words/list?model={name}").json() == list(right.words)
        body = page.request.get(f"{beside.url}/api/words/vectors.bin?model={name}").body()
        assert np.array_equal(np.frombuffer(body, "<f4").reshape(about["count"], about["width"]), right.matrix)
        answer = page.request.get(f"{beside.url}/api/words/map.bin?dimensions=2&model={name}")
        assert answer.status == 404
        assert "let the page compute PCA" in answer.json()["error"]
    sets = page.request.get(f"{beside.url}/api/words").json()["sets"]
    assert [each["name"] for each in sets] == [
        "text.txt",
        "bytes.bin",
        "glove.vec.gz",
        "own.safetensors",
        "trained",
        "words-en",
    ]
    assert [each["bundled"] for each in sets] == [*[False] * 5, True]
    assert page.request.get(f"{beside.url}/api/words?model=de-en").status == 422
    assert page.request.get(f"{beside.url}/api/words?model=nobody").status == 404


def test_vectors_of_ones_own_are_chosen_in_the_room(
    beside: Server, page: "Page", vectors: Vectors, watched: Watched
) -> None:
    def large(route: "Route") -> None:
        route.fulfill(json=route.fetch().json() | {"total": 400_000})

    page.route("**/api/words?model=bytes.bin", large)
    page.goto(f"{beside.url}/#/words")
    until(page, "document.querySelector('.words-told')?.textContent.startsWith('PCA of 300 words')")
    until(page, "location.hash.includes('m=text.txt')")  # they come first
    page.get_by_label("A word").fill("the")
    page.get_by_label("A word").press("Enter")
    until(page, "document.querySelectorAll('.near-list li').length === 20")
    assert listed(page, 0) == [each.word for each in near(vectors.first(300), "the").without_inputs]
    page.get_by_label("Which vectors").select_option("bytes.bin")
    until(page, "document.querySelector('.words-told').textContent.includes('Of 400,000 words in all, the first 300')")
    page.get_by_label("Which vectors").select_option("words-en")
    until(page, "document.querySelector('.words-told').textContent.startsWith('t-SNE of 30,000 words')")
    page.go_back()
    until(page, "document.querySelector('.words-told').textContent.includes('the first 300')")
    page.goto("about:blank")
    page.goto(f"{beside.url}/#/words?m=nobody&w=king")
    page.wait_for_selector(".toast:has-text('nobody')")
    until(page, "document.querySelectorAll('.near-list li').length === 20")
    # A link that names no vectors that are here shows those that are.
    expect(page.locator(".words-told")).to_contain_text("of 30,000 words")
    page.goto("about:blank")  # the browser may ask for the icon late
    watched.complaints[:] = [each for each in watched.complaints if beside.url not in each and "404" not in each]


def test_a_large_set_is_shown_in_part_and_one_too_small_is_refused(
    given: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regard.web.vectors.SHOWN", 50)
    found = read_given(Inside(), Ticket(60.0), Place("text.txt", str(given["text.txt"])))
    assert (len(found.words), found.rows.shape[0], found.total) == (50, 50, 300)
    monkeypatch.setattr("regard.web.vectors.NUMBERS", 2000)
    assert len(read_given(Inside(), Ticket(60.0), Place("text.txt", str(given["text.txt"]))).words) == 20
    (tmp_path / "few.txt").write_text("a 1 2 3\nb 3 4 5\n")
    with pytest.raises(RefusedError, match="holds 2 vectors, which make no map; give 3 or more"):
        read_given(Inside(), Ticket(60.0), Place("few.txt", str(tmp_path / "few.txt")))


def test_files_of_vectors_are_known_by_their_ending(tmp_path: Path) -> None:
    assert {ending.removeprefix(".") for ending in VECTORS} | {"safetensors"} == set(ENDINGS)
    (tmp_path / "notes.md").write_text("a 1 2")
    with pytest.raises(ValueError, match="is a file, and of files the explorer shows vectors of words"):
        Models([tmp_path / "notes.md"])


WIDE = "\n".join(f"w{i} " + " ".join(f"{np.cos(i * k):.4f}" for k in range(1, 21)) for i in range(80))
BAD: dict[str, tuple[str, str]] = {
    "ragged": ("a 1 2 3\nb 1 2 3\nc 1 2\n", "Line 3 of file.txt has 2 numbers where the first has 3"),
    "longer": ("a 1 2 3\nb 1 2 3 4\nc 1 2 3\n", "Line 2 of file.txt has 4 numbers where the first has 3"),
    "nan": ("a 1 2 3\nb 1 nan 3\nc 1 2 3\n", "Line 2 of file.txt has “nan”, which is no finite number"),
    "infinite": ("a 1 2 3\nb 1 2 1e400\nc 1 2 3\n", "“1e400”, which is no finite number"),
    "empty": ("", "is empty"),
    "few": ("a 1 2 3\nb 3 4 5\n", "holds 2 vectors, which make no map"),
    "binary": ("a\0b\0\0\1\2", "is no text"),
    "endless": ("1 " * 700_000, "has a line of more than"),
    "labels": ("hello\nworld\n", "holds labels and no vectors"),
}


def test_a_bad_file_is_answered_with_one_sentence(page: "Page") -> None:
    visit(page)
    for kind, (text, sentence) in BAD.items():
        drop(page, **{"file.txt": text})
        until(page, "said => document.querySelector('.own-said .problem')?.textContent.includes(said)", sentence)
        expect(page.locator(".own-said .problem"), kind).to_have_count(1)
        expect(page.locator(".words-told"), kind).to_contain_text("of 30,000 words")


def test_words_that_stand_twice_are_kept_once_and_metadata_must_fit(page: "Page") -> None:
    visit(page)
    drop(page, **{"own.txt": WIDE + "\n" + WIDE.partition("\n")[0]})
    until(page, "document.querySelector('.own-said')?.textContent.includes('80 rows of 20 numbers')")
    expect(page.locator(".own-said")).to_contain_text("“w0” stood twice; the first was kept")
    until(page, "document.querySelector('.words-told').textContent.startsWith('PCA of 80 words')")
    drop(page, **{"metadata.tsv": "a\tb\n1\t2\n"})
    until(
        page, "document.querySelector('.own-said .problem')?.textContent.includes('1 rows of metadata and 81 vectors')"
    )
    page.get_by_role("button", name="Back to the words").click()
    until(page, "document.querySelector('.words-told').textContent.includes('of 30,000 words')")


def test_the_picture_and_the_coordinates_can_be_taken_away_and_no_two_words_cover_each_other(
    page: "Page", vectors: Vectors
) -> None:
    visit(page, w="king")
    until(page, "document.querySelectorAll('.near-list li').length === 20")
    painted(page)
    page.keyboard.press("e")
    rows = save_as(page, "CSV").decode("utf-8-sig").splitlines()
    assert rows[0] == "word,x,y"
    assert [row.split(",")[0] for row in rows[1:]] == list(vectors.words)
    drawing = save_as(page, "SVG").decode()
    assert drawing.count("h0") > 29_000, "a dot for each word in sight"
    assert Image.open(io.BytesIO(save_as(page, "PNG"))).width > 800
    found = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*font-weight="(\d+)"[^>]*>([^<]+)</text>', drawing)
    assert len(found) > 60
    assert "king" in {word for *_, word in found}
    wide = page.evaluate(
        """(words) => {
          const pen = document.createElement("canvas").getContext("2d");
          return words.map(([bold, word, font]) => (pen.font = `${bold} 12.5px ${font}`, pen.measureText(word).width));
        }""",
        [[bold, word, re.findall(r"font-family=\"([^\"]+)\"", drawing)[0]] for _, _, bold, word in found],
    )
    boxes = [(float(x), float(y), float(x) + width) for (x, y, *_), width in zip(found, wide, strict=True)]
    for i, (left, bottom, right) in enumerate(boxes):
        for other_left, other_bottom, other_right in boxes[i + 1 :]:
            apart = right <= other_left + 2 or other_right <= left + 2 or abs(bottom - other_bottom) >= 14
            assert apart, found[i]


def test_everything_is_in_the_address(page: "Page") -> None:
    visit(page, how="pca", dim=3, w="king", colour="letters", vec="unit")
    until(page, "document.querySelector('.words-told').textContent.startsWith('PCA of 30,000 words in 3-D')")
    box = page.locator(".word-map").bounding_box()
    assert box
    page.mouse.move(box["x"] + 300, box["y"] + 300)
    page.mouse.down()
    page.mouse.move(box["x"] + 420, box["y"] + 340, steps=3)
    page.mouse.up()
    page.mouse.wheel(0, -300)
    becomes(page, lambda: camera(page)[3:4] > [1.3], True)
    assert camera(page)[4] == pytest.approx(0.5 + 120 * 0.008, abs=0.01)
    address = page.evaluate("location.hash")
    painted(page)
    page.keyboard.press("e")
    before = save_as(page, "SVG")
    page.goto("about:blank")
    page.goto(f"/{address}")
    until(page, "document.querySelectorAll('.near-list li').length === 20")
    painted(page)
    page.keyboard.press("e")
    texts = [re.findall(r"<text[^>]*>([^<]+)<", each.decode()) for each in (before, save_as(page, "SVG"))]
    assert texts[0] == texts[1]


def test_the_map_is_moved_by_keys(page: "Page") -> None:
    visit(page)
    page.locator(".word-map").focus()
    for key in ("+", "+", "ArrowRight"):
        page.keyboard.press(key)
    becomes(page, lambda: camera(page)[:1] > [0], True)  # the last key moves it to the right
    assert camera(page)[2] == pytest.approx(1.5625, rel=0.01)
    page.keyboard.press("0")
    until(page, "!/cam=.*,1\\.56/.test(location.hash)")


DRAG = """async () => {
  const map = document.querySelector(".word-map");
  const box = map.getBoundingClientRect();
  map.setPointerCapture = () => {};
  const at = (type, i) => map.dispatchEvent(new PointerEvent(type, {
    pointerId: 1, buttons: 1, clientX: box.left + 200 + 4 * i, clientY: box.top + 200 + i, bubbles: true}));
  at("pointerdown", 0);
  for (let i = 0; i < 60; i++) {
    at("pointermove", i);
    await new Promise(requestAnimationFrame);
  }
  at("pointerup", 60);
}"""


COUNT = """() => {
  window.calls = {};
  for (const [kind, names] of [
    [CanvasRenderingContext2D, ["strokeText", "createImageData", "putImageData", "drawImage"]],
    [OffscreenCanvasRenderingContext2D, ["strokeText"]],
  ]) {
    for (const name of names) {
      const real = kind.prototype[name];
      kind.prototype[name] = function (...given) {
        calls[name] = (calls[name] ?? 0) + 1;
        return real.apply(this, given);
      };
    }
  }
}"""


@pytest.mark.parametrize("dimensions", [2, 3])
def test_30000_words_move_and_a_frame_does_nothing_twice(page: "Page", dimensions: int) -> None:
    """What would make it stutter: words written anew and pixels allocated in every frame, or a second canvas."""
    visit(page, dim=dimensions, w="king")
    until(page, "document.querySelectorAll('.near-list li').length === 20")
    assert page.locator(".word-map canvas").count() == 1
    page.evaluate(DRAG)
    page.evaluate(COUNT)
    page.evaluate(DRAG)
    calls = page.evaluate("calls")
    assert calls["putImageData"] >= 50, "it is drawn while it moves"
    assert calls["drawImage"] > 40 * calls["putImageData"], "words are laid down"
    assert "createImageData" not in calls
    assert calls.get("strokeText", 0) < calls["drawImage"] / 10, "most words were written before"


def test_a_graphics_card_draws_what_the_hand_draws(page: "Page", watched: Watched) -> None:
    """Chromium's card is pretended by the processor, which is told from its name; here it is believed."""
    shots = []
    for believed in (False, True):
        page.goto("about:blank")
        page.goto("/#/words" if not believed else "/#/words?dim=2")
        if believed:
            page.evaluate(
                """() => {
                  const real = WebGLRenderingContext.prototype.getParameter;
                  WebGLRenderingContext.prototype.getParameter = function (which) {
                    return which === 37446 ? "A card" : real.call(this, which);
                  };
                  location.hash = "#/home";
                }"""
            )
            page.wait_for_selector(".room-home")
            page.evaluate("location.hash = '#/words?dim=2'")
        until(page, "document.querySelector('.words-told')?.textContent.includes('30,000')")
        expect(page.locator(".word-map")).to_have_attribute("data-by", "webgl" if believed else "canvas")
        painted(page)
        shots.append(np.asarray(Image.open(io.BytesIO(page.locator(".word-map").screenshot())).convert("L"), float))
    low = [torch.nn.functional.avg_pool2d(torch.tensor(shot)[None], 16).flatten() for shot in shots]
    assert float(torch.corrcoef(torch.stack(low))[0, 1]) > 0.95
    assert shots[1].std() > 5, "something is drawn"
    watched.complaints[:] = [each for each in watched.complaints if "ReadPixels" not in each]


def test_room_for_concepts_tells_random_possible_and_impossible(page: "Page") -> None:
    visit(page, **{"as": "concepts", "n": 24, "count": 384})
    page.wait_for_selector(".chart .bar")
    whole = re.compile(r"nearest two are [\d.]+° apart, and \d+ % of the pairs lie within 5° of a right angle\. ")
    expect(page.locator(".concepts-told")).to_have_text(whole)
    said = page.inner_text(".concepts-told")
    floor, ceiling = (np.degrees(np.arccos(bound(384, 24))) for bound in (johnson_lindenstrauss, welch))
    assert f"promises {floor:.1f}°" in said
    assert f"no more than {ceiling:.1f}°" in said
    smallest = float(re.findall(r"nearest two are ([\d.]+)°", said)[0])
    assert floor < smallest < ceiling
    room = page.request.get("/api/words").json()["room"]["optimised"]
    best = next(angle for n, count, angle in room if (n, count) == (24, 384))
    assert float(re.findall(r"they reach ([\d.]+)°", said)[0]) == pytest.approx(best, abs=0.06)
    assert smallest < best < ceiling
    page.get_by_label("directions, exactly").fill("1000")
    page.get_by_label("directions, exactly").press("Enter")
    until(page, "document.querySelector('.concepts-told').textContent.startsWith('Of 1,000 random directions')")
    until(page, "location.hash.includes('count=1000')")
    page.get_by_label("Number of dimensions").focus()
    page.keyboard.press("End")
    until(page, "/in 512 dimensions the nearest/.test(document.querySelector('.concepts-told').textContent)")


def test_angles_of_the_browser_spread_as_chance_has_it(page: "Page") -> None:
    page.goto("/#/words")
    found: dict[str, Any] = page.evaluate(
        """async () => {
          const {angles} = await import("/js/words/angles.js");
          return [...angles(300, 50, 0)].at(-1);
        }"""
    )
    counts = np.array(found["counts"])
    assert counts.sum() == 300 * 299 // 2
    middles = np.arange(180) + 0.5
    assert (counts * middles).sum() / counts.sum() == pytest.approx(90, abs=0.3)
    deviation = np.sqrt((counts * (middles - 90) ** 2).sum() / counts.sum())
    assert deviation == pytest.approx(np.degrees(1 / np.sqrt(50)), rel=0.03)


def test_the_room_fits_a_phone(page: "Page") -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    visit(page)
    states = {
        ".near-list": {"w": "king"},
        ".answer .near-list": {"as": "sums", "sum": "king - man + woman"},
        ".concepts .chart": {"as": "concepts"},
        ".own": {"as": "own"},
    }
    for shown, state in states.items():
        go(page, **state)
        page.wait_for_selector(shown)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, json.dumps(state)
