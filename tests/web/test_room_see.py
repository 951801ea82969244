"""The room See in a real browser, with small models of pictures that have learnt nothing; and what the server sees."""

import base64
import json
import re
from collections.abc import Iterator
from copy import deepcopy
from importlib import import_module
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from playwright.sync_api import expect
from tests.web.conftest import SIZE, Server, Watched, _foreign, _said, serving
from tests.web.hands import PATIENCE, becomes, painted, resize, until
from tests.web.shelves import barriers
from tests.web.test_pictures import encoded, huge

from regard.hub import save
from regard.models import build
from regard.pipelines import load
from regard.web import seeing
from regard.web.answers import compose
from regard.web.errors import RefusedError
from regard.web.inside import Inside
from regard.web.models import Models
from regard.web.opened import Place
from regard.web.pictures import tell
from regard.web.question import Edit, Picture, Question
from regard.web.see import Asked, Options, see
from regard.web.see.places import place_on
from regard.web.state import AppState
from regard.web.ticket import Ticket
from regard.web.worker import Worker

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("vit", "swin", "maxvit", "accvit", "detr")
LABELS = ["cat", "dog", "cup", "disc", "ring"]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of each kind, as it was born, but more decided in what it looks at."""
    found = tmp_path_factory.mktemp("seers")
    for name in NAMES:
        torch.manual_seed(0)
        model = build(f"{name}-nano")
        with torch.no_grad():
            for key, weight in model.named_parameters():
                if ".attn" in key or ".cross" in key:
                    weight.mul_(4.0)
        task, data = ("detect", "world") if name == "detr" else ("recognize", "cifar10")
        family = import_module(f"regard.models.{name}").FAMILY
        card = {"task": task, "title": f"Untaught {name}", "data": data, "knows": "nothing yet", "labels": LABELS}
        if name == "maxvit":  # of a set that is not here, of the world, and beyond its pictures
            card["examples"] = ["cifar10:0", "world:5", "world:1000", "photo:rocket"]
        save(found / f"my-{name}", model, family=family, card=card)
    return found


@pytest.fixture(scope="module")
def readings(shelf: Path) -> dict[str, tuple[Any, Any]]:
    """Each model and what it saw in the same picture."""
    pipelines: dict[str, Any] = {name: load(shelf / f"my-{name}") for name in NAMES}
    return {name: (each.attend("world:7"), each) for name, each in pipelines.items()}


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ViT as Hugging Face saves it, of the shape of ViT-B/16 (12 × 12 heads, 197 tokens), but narrow."""
    import transformers

    folder = tmp_path_factory.mktemp("foreign") / "my-hf"
    torch.manual_seed(0)
    sizes = {"hidden_size": 48, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 48}
    config = transformers.ViTConfig(**sizes, image_size=224, patch_size=16, id2label=dict(enumerate(LABELS)))
    model = transformers.ViTForImageClassification(config)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.mul_(6.0)  # so that heads prefer some places to others
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def looker(shelf: Path, foreign: Path, kept: Worker) -> Iterator[Server]:
    """A server with these models."""
    with serving(AppState(Models([foreign], shelf), worker=kept)) as found:
        yield found


@pytest.fixture(scope="module")
def window(browser: "Browser", looker: Server) -> Iterator[Watched]:
    """A browser of one's own, since its address is another."""
    found = browser.new_context(base_url=looker.url, viewport=SIZE, locale="en-GB")
    found.set_default_timeout(1000 * PATIENCE)
    found.add_init_script("try { localStorage.setItem('regard.guided', 'yes') } catch {}")
    complaints: list[str] = []
    found.on("request", lambda request: complaints.extend(_foreign(request.url, looker.url)))
    found.on("weberror", lambda failed: complaints.append(f"the page threw {failed.error}"))
    found.on("console", lambda said: complaints.extend(_said(said.type, said.text)))
    yield Watched(found, found.new_page(), complaints)
    found.close()


@pytest.fixture
def page(window: Watched) -> "Iterator[Page]":
    """An empty page; what it complains of fails the test."""
    window.complaints.clear()
    yield window.page
    window.page.goto("about:blank")
    window.page.set_viewport_size(SIZE)
    assert not window.complaints, "\n".join(window.complaints)


def numbers(text: str, *shape: int) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), "<f4").reshape(shape)


# What the server sees


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("by", [False, True])
def test_the_looks_of_a_place_are_those_of_the_whole_map(
    readings: dict[str, tuple[Any, Any]], name: str, by: bool
) -> None:
    reading, _ = readings[name]
    for at in ("", "41,55", "100,0", "q2"):
        known = 0
        for one in see(reading, "looks", Options(at, by))["attentions"]:
            whole = reading.weights(one["name"])
            if one["weights"] is None:
                continue
            known += 1
            side = 2 if by else 1
            wanted = whole.mean(axis=side) if one["row"] is None else whole.take(one["row"], axis=side)
            found = numbers(one["weights"], one["heads"], -1)
            np.testing.assert_allclose(found, wanted, atol=1e-6)
        assert known > 0 or (at == "q2" and name != "detr")


def test_a_place_is_the_same_on_every_grid_and_a_stranger_is_refused(readings: dict[str, tuple[Any, Any]]) -> None:
    for reading, _ in readings.values():
        for axis in reading.axes.values():
            if hasattr(axis, "leading"):
                known, row = place_on(axis, "99.9,0")
                assert known
                assert row == len(axis.leading) + axis.width - 1
    vit, _ = readings["vit"]
    (grid,) = vit.axes.values()
    assert place_on(grid, "[REG 1]") == (True, 2)
    assert place_on(grid, "[DIST]") == (False, None)
    with pytest.raises(ValueError, match="is no place"):
        place_on(grid, "in the middle")


@pytest.mark.parametrize("name", ["swin", "maxvit", "accvit"])
def test_cells_share_a_group_where_they_see_each_other(readings: dict[str, tuple[Any, Any]], name: str) -> None:
    reading, _ = readings[name]
    found = see(reading, "groups")["attentions"]
    assert {one["name"] for one in found} == {one.name for one in reading.maps}
    for one in found:
        group = np.array(one["groups"])
        sees = reading.weights(one["name"]).sum(axis=0) > 0
        np.testing.assert_array_equal(group[:, None] == group[None], sees)
    said = " ".join(one["says"] for one in found)
    assert {"swin": "shifted by 2", "maxvit": "from all over the map", "accvit": "2 apart"}[name] in said


def test_what_decides_is_what_the_command_line_shows(readings: dict[str, tuple[Any, Any]]) -> None:
    from regard.analysis.seeing import gradcam, gradients

    reading, pipeline = readings["swin"]
    image = pipeline.tensors([pipeline.open("world:7")])
    for how, run in (("gradcam", gradcam), ("gradients", gradients)):
        found = see(Asked(reading, pipeline), how, Options(label="cup"))
        wanted = run(pipeline.model, image, target=2)
        np.testing.assert_allclose(numbers(found["weights"], found["height"], found["width"]), wanted, atol=1e-5)
        assert found["label"] == "cup"
        assert found["probability"] == pytest.approx(reading.output.scores["cup"], abs=1e-5)


@pytest.mark.parametrize("how", ["gradcam", "gradients", "integrated", "occlusion", "pca"])
def test_what_runs_the_model_again_runs_it_with_its_edits(readings: dict[str, tuple[Any, Any]], how: Any) -> None:
    _, pipeline = readings["vit"]
    edits = compose([Edit("blocks.0.attn", 1, "off"), Edit("blocks.1.attn", None, "uniform")])
    reading = pipeline.attend("world:7", edits=edits)
    found = see(Asked(reading, pipeline, edits), how, Options(label="cup"))
    assert found != see(Asked(reading, pipeline), how, Options(label="cup"))
    # The same without any edit: a head is off where nothing of it is added, and even where all scores are 0.
    other = deepcopy(pipeline)
    first, second = other.model.blocks[0].attn, other.model.blocks[1].attn
    with torch.no_grad():
        first.out.weight[:, 8:16] = 0.0
        for each in (second.q.weight, second.q.bias):
            each.zero_()
    wanted = see(Asked(other.attend("world:7"), other), how, Options(label="cup"))
    if how == "pca":
        assert [each["name"] for each in found["maps"]] == [each["name"] for each in wanted["maps"]]
        for one, two in zip(found["maps"], wanted["maps"], strict=True):
            pixels = (np.frombuffer(base64.b64decode(each["pixels"]), np.uint8).astype(int) for each in (one, two))
            assert np.abs(np.subtract(*pixels)).max() <= 2
        return
    assert found["probability"] == pytest.approx(wanted["probability"], abs=1e-5)
    np.testing.assert_allclose(numbers(found["weights"], -1), numbers(wanted["weights"], -1), atol=1e-3)


def test_a_picture_of_the_world_is_the_same_scene_for_every_model(readings: dict[str, tuple[Any, Any]]) -> None:
    from PIL import Image

    def small(url: str) -> np.ndarray:
        picture = Image.open(BytesIO(base64.b64decode(url.partition(",")[2]))).convert("RGB")
        return np.asarray(picture.resize((16, 16), Image.Resampling.BOX), np.float32)

    for name, (reading, _) in readings.items():
        (shown, *_) = (axis.image for axis in reading.axes.values() if getattr(axis, "image", None))
        apart = [np.abs(small(shown) - small(tell(index)["image"])).mean() for index in range(20)]
        assert int(np.argmin(apart)) == 7, name
        assert apart[7] < 6, name


def test_a_map_that_takes_too_long_names_a_faster_one(readings: dict[str, tuple[Any, Any]]) -> None:
    reading, pipeline = readings["vit"]
    inside, place = Inside(), Place("my-vit", "nowhere")
    inside.models._open[place.folder] = pipeline
    look = inside.readings.keep(reading, Question(place, Picture("world:7")))
    with pytest.raises(RefusedError, match="choose gradcam, which runs it once, or a smaller model") as refused:
        seeing.run(inside, Ticket(0.0), look, "integrated", Options())
    assert refused.value.status == 503


def test_a_detector_has_no_class_of_the_whole_picture_and_says_so(readings: dict[str, tuple[Any, Any]]) -> None:
    reading, pipeline = readings["detr"]
    with pytest.raises(ValueError, match="names no class of a whole picture; choose a model that does"):
        see(Asked(reading, pipeline), "gradcam")
    assert see(Asked(reading, pipeline), "pca")["maps"]
    with pytest.raises(ValueError, match="fish"):
        see(Asked(*readings["vit"]), "gradcam", Options(label="fish"))
    with pytest.raises(ValueError, match="every place sees every other"):
        see(readings["vit"][0], "groups")


def test_a_model_without_attention_still_shows_what_decides(tmp_path: Path) -> None:
    from regard.models import convnext

    save(tmp_path / "plain", build("convnext-nano"), family=convnext.FAMILY, card={"task": "recognize"})
    pipeline: Any = load(tmp_path / "plain")
    reading = pipeline.attend("world:7")
    assert see(reading, "looks")["attentions"] == []
    assert numbers(see(Asked(reading, pipeline), "gradcam")["weights"], -1).max() == pytest.approx(1)
    with pytest.raises(ValueError, match="has no attention, and so no groups"):
        see(reading, "groups")


# What the page shows

SHOWN = """(() => {
  if (document.querySelector(".see-table .see-canvas")) return true;
  const panels = [...document.querySelectorAll(".see-panel")];
  const shown = (panel) => panel.querySelector(".see-answer :is(ol, ul, p)")
    && panel.querySelector(".matrix-readout :is(b, .hint)");
  return panels.length > 0 && panels.every(shown);
})()"""
# A picture is painted in the frame after it was loaded, and again in the one after it has got its size.
PAINTED = """async (selector) => {
  const frame = () => new Promise(requestAnimationFrame);
  const canvas = document.querySelector(selector);
  while (!canvas.style.getPropertyValue("--aspect")) await frame();
  for (let i = 0; i < 4; i++) await frame();
  return canvas.toDataURL();
}"""


def visit(page: "Page", **state: str) -> None:
    """Open the room in a state, and wait for what all of its panels show."""
    query = "&".join(f"{key}={value}" for key, value in ({"m": "my-vit", "in": "p:photo:cat"} | state).items())
    page.goto("about:blank")
    page.goto(f"/#/see?{query}")
    until(page, SHOWN)


def head(page: "Page", name: str, number: int) -> Any:
    return page.locator(f".see-head[data-name='{name}'][data-head='{number}']")


def pixels(page: "Page", selector: str = ".see-stage .see-canvas") -> str:
    """The picture as it is drawn."""
    return str(page.evaluate(PAINTED, selector))


def changed(page: "Page", before: str) -> str:
    """The picture once it is another."""
    becomes(page, lambda: pixels(page) != before, True)
    return pixels(page)


def revision(page: "Page", name: str) -> str:
    """By which a link knows the weights of a model."""
    models = page.request.get("/api/about").json()["models"]
    return next(str(each["revision"]) for each in models if each["name"] == name)


def hold(page: "Page", key: str, value: str) -> None:
    """Wait until the address says so."""
    until(page, "([key, value]) => new URLSearchParams(location.hash.split('?')[1]).get(key) === value", [key, value])


def test_a_picture_is_named_with_probabilities(page: "Page") -> None:
    visit(page)
    shares = [float(text.split()[0]) for text in page.locator(".see-labels output").all_inner_texts()]
    assert len(shares) == 5
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(100, abs=3)
    until(page, "document.querySelector('.see-preview').naturalWidth === 256")


def test_a_click_on_a_patch_asks_where_it_looks_and_is_in_the_link(page: "Page") -> None:
    visit(page)
    expect(page.locator(".see-stage .matrix-readout")).to_have_text(re.compile("^Where \\[CLS] looks"))
    before = pixels(page)
    canvas = page.locator(".see-stage .see-canvas")
    box = canvas.bounding_box()
    assert box
    canvas.click(position={"x": 0.3 * box["width"], "y": 0.8 * box["height"]})
    hold(page, "at", "30,80")
    until(page, "document.querySelector('.see-stage .matrix-readout').textContent.startsWith('Where this patch looks')")
    page.mouse.move(0, 0)
    after = changed(page, before)
    visit(page, at="30,80")
    becomes(page, lambda: pixels(page), after)


def test_pointing_previews_and_leaving_takes_it_back(page: "Page") -> None:
    visit(page)
    page.mouse.move(0, 0)
    before = pixels(page)
    page.locator(".see-stage .see-canvas").hover(position={"x": 20, "y": 20})
    until(page, "document.querySelector('.see-stage .matrix-readout').textContent.startsWith('Where this patch')")
    assert "at=" not in page.url
    page.mouse.move(0, 0)
    until(page, "document.querySelector('.see-stage .matrix-readout').textContent.startsWith('Where [CLS]')")
    becomes(page, lambda: pixels(page), before)


def test_arrow_keys_walk_over_patches(page: "Page") -> None:
    visit(page, at="12.5,12.5")
    page.locator(".see-stage .see-canvas").focus()
    page.keyboard.press("ArrowRight")
    hold(page, "at", "37.5,12.5")
    page.keyboard.press("ArrowDown")
    hold(page, "at", "37.5,37.5")


def test_cls_and_registers_are_chips_that_ask(page: "Page") -> None:
    visit(page)
    chips = page.locator(".see-tokens .chip")
    assert [text.split(" 0.")[0] for text in chips.all_inner_texts()] == ["all places", "[CLS]", "[REG 0]", "[REG 1]"]
    chips.nth(3).click()
    hold(page, "at", "[REG 1]")
    until(page, "document.querySelector('.see-stage .matrix-readout').textContent.startsWith('Where [REG 1] looks')")
    page.go_back()
    until(page, "document.querySelector('.see-stage .matrix-readout').textContent.startsWith('Where [CLS] looks')")


def test_every_head_is_a_small_picture_and_opens(page: "Page") -> None:
    visit(page, at="30,80")
    sizes = "[...document.querySelectorAll('.see-head canvas')].map(each => each.width)"
    becomes(page, lambda: page.evaluate(sizes), [4] * 8)
    head(page, "blocks.1.attn", 2).click()
    hold(page, "look", "blocks.1.attn:2")
    until(page, "document.querySelector('.see-stage .matrix-readout b').textContent === 'layer 2, head 3'")
    page.locator(".see-row[data-name='blocks.0.attn']").click()
    until(page, "document.querySelector('.see-stage .matrix-readout b').textContent === 'layer 1, mean of its heads'")
    expect(page.locator(".see-head.current")).to_have_count(4)


def test_a_head_is_switched_off_and_the_answer_says_what_it_was(page: "Page") -> None:
    visit(page, look="blocks.0.attn:1")
    page.wait_for_selector(".see-edit .segments")
    page.get_by_role("button", name="off", exact=True).click()
    hold(page, "edits", "blocks.0.attn:1:off")
    expect(page.locator(".see-labels .quiet").first).to_have_text(re.compile("^was "))
    expect(head(page, "blocks.0.attn", 1)).to_have_attribute("data-mark", "off")
    page.get_by_role("button", name="Undo the edit").click()
    until(page, "!document.querySelector('.see-labels .quiet')")


def test_a_whole_layer_is_made_even(page: "Page") -> None:
    visit(page, look="blocks.0.attn")
    page.wait_for_selector(".see-edit .segments")
    page.get_by_role("button", name="even", exact=True).click()
    until(page, "document.querySelectorAll('.see-head[data-mark=uniform]').length === 4")


def test_rollout_and_distance_are_shown(page: "Page") -> None:
    visit(page)
    before = pixels(page)
    page.get_by_role("button", name="Rollout").click()
    until(page, "document.querySelector('.see-stage .matrix-readout b').textContent === 'rollout of all layers'")
    changed(page, before)
    expect(page.locator(".see-far circle")).to_have_count(8)
    page.locator(".see-far circle").nth(5).click()
    hold(page, "look", "blocks.1.attn:1")


def test_what_decides_is_asked_for_any_label(page: "Page") -> None:
    visit(page, **{"as": "decides"})
    readout = page.locator(".see-stage .matrix-readout b")
    best = page.locator(".see-labels b").first.inner_text()
    expect(readout).to_have_text(f"Grad-CAM: where the features of the last map speak for “{best}”")
    last = page.locator(".see-labels button").last
    wanted = last.locator("b").inner_text()
    last.click()
    hold(page, "label", wanted)
    until(
        page, "name => document.querySelector('.see-stage .matrix-readout b').textContent.includes(name)", f"“{wanted}”"
    )
    page.get_by_label("Which map").select_option("occlusion")
    until(page, "document.querySelector('.see-stage .matrix-readout b').textContent.startsWith('Occlusion')")


def test_features_are_colours_by_layer(page: "Page") -> None:
    visit(page, **{"as": "features"})
    expect(page.locator(".see-strip button")).to_have_count(2)
    before = pixels(page)
    page.locator(".see-strip button").first.click()
    hold(page, "block", "blocks.0")
    until(page, "document.querySelector('.see-stage .matrix-readout b').textContent.includes('block 1')")
    changed(page, before)


def test_windows_grids_and_atrous_groups_lie_beside_each_other(page: "Page") -> None:
    visit(page, m="my-swin,my-maxvit,my-accvit", **{"as": "groups", "in": "p:world:7"})
    until(page, "document.querySelectorAll('.see-strip button').length === 4 + 4 + 3")
    for name in ("stages.0.1.attn.attn", "blocks.0.far.attn.attn", "blocks.0.attend.attn.branches.1.attn"):
        page.get_by_role("button", name=name, exact=True).click()
        until(page, "name => document.querySelector(`.see-strip [title='${name}']`).ariaPressed === 'true'", name)
    expect(page.locator(".see-stage .matrix-readout")).to_contain_text(["shifted by 2", "a grid", "2 apart"])
    expect(page.locator(".see-stage .matrix-readout")).to_have_count(3)


def test_maps_of_several_models_are_compared_on_one_picture_with_the_truth(page: "Page") -> None:
    visit(page, m="my-swin,my-maxvit,my-accvit", truth="1", **{"as": "compare", "in": "p:world:7"})
    until(page, "document.querySelectorAll('.see-table .see-canvas').length === 18")
    expect(page.locator(".see-table :is(.hit, .miss)")).to_have_count(18)
    # One scale for all, however fine their grids are, and nothing is out of sight.
    until(
        page,
        """(() => {
          const all = [...document.querySelectorAll(".see-table .see-canvas")];
          const wide = all.map((each) => each.clientWidth);
          const loaded = all.every((each) => each.style.getPropertyValue("--aspect"));
          return loaded && Math.max(...wide) - Math.min(...wide) <= 1;
        })()""",
    )
    until(page, "(each => each.scrollWidth <= each.clientWidth)(document.querySelector('.see-compare'))")
    heads = [text.split("\n")[0].split()[0] for text in page.locator(".see-table thead th").all_inner_texts()]
    assert heads == ["my-swin", "my-maxvit", "my-accvit"]
    # On a phone, a fourth one too.
    resize(page, 390, 844)
    visit(page, m="my-swin,my-maxvit,my-accvit,my-vit", **{"as": "compare", "in": "p:world:7"})
    until(page, "document.querySelectorAll('.see-table thead th').length === 4")
    until(page, "document.querySelectorAll('.see-table .see-canvas').length >= 4")
    until(page, "(each => each.scrollWidth <= each.clientWidth)(document.querySelector('.see-compare'))")
    until(page, "document.querySelector('.see-table .see-canvas').clientWidth > 70")


def test_the_pointing_game_is_judged_by_the_mask(page: "Page") -> None:
    visit(page, truth="1", **{"as": "decides", "in": "p:world:5"})
    page.wait_for_selector(".see-stage :is(.hit, .miss)")
    said = page.locator(".see-stage :is(.hit, .miss)").inner_text()
    truth = page.request.get("/api/pictures/world?index=5").json()
    named = truth["things"][truth["largest"]]["name"]
    assert said.startswith(("Hit: ", "Miss: "))
    assert "the picture is named" in said
    assert named in said
    shown = pixels(page)
    page.get_by_label("show the truth").uncheck()
    until(page, "!document.querySelector('.see-stage :is(.hit, .miss)')")
    changed(page, shown)


def test_queries_of_a_detector_look_at_the_picture(page: "Page") -> None:
    visit(page, m="my-detr", at="q1", **{"in": "p:world:7"})
    until(page, "document.querySelector('.see-stage .matrix-readout').textContent.startsWith('Where query 1 looks')")
    before = pixels(page)
    visit(page, m="my-detr", at="q3", **{"in": "p:world:7"})
    until(page, "document.querySelector('.see-stage .matrix-readout').textContent.startsWith('Where query 3 looks')")
    changed(page, before)
    visit(page, m="my-detr", **{"in": "p:world:7", "as": "decides"})
    until(page, "document.querySelector('.see-stage .matrix-readout').textContent.includes('names no class')")


def test_a_picture_of_ones_own_is_chosen_dropped_and_pasted(page: "Page", tmp_path: Path) -> None:
    from PIL import Image

    visit(page)
    file = tmp_path / "mine.png"
    file.write_bytes(encoded(Image.new("RGB", (60, 40), "green")))
    page.locator(".see-input input[type=file]").set_input_files(file)
    until(page, "/in=p:[0-9a-f]{64}/.test(location.hash)")
    until(page, "document.querySelector('.see-preview').naturalWidth === 60")
    for kind, event in (("drop", "DragEvent"), ("paste", "ClipboardEvent")):
        page.evaluate(
            """async ([kind, event, text]) => {
              const held = new DataTransfer();
              const data = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
              held.items.add(new File([data], "mine.png", {type: "image/png"}));
              const given = event === "DragEvent" ? {dataTransfer: held} : {clipboardData: held};
              const happens = new window[event](kind, {...given, bubbles: true, cancelable: true});
              document.querySelector(".see-panels").dispatchEvent(happens);
            }""",
            [kind, event, base64.b64encode(encoded(Image.new("RGB", (len(kind) * 10, 40), "blue"))).decode()],
        )
        until(page, "wide => document.querySelector('.see-preview').naturalWidth === wide", len(kind) * 10)
    expect(page.locator(".see-panels.waiting")).to_have_count(0)
    expect(page.locator(".see-labels")).to_be_visible()


# What was said in passing, taken away at once, since it goes by itself after a while.
TAKE_TOASTS = """(() => {
  const all = [...document.querySelectorAll(".toast-error")];
  window.said = all.map((each) => each.textContent);
  all.forEach((each) => each.remove());
  return all.length > 0;
})()"""
BAD = {
    "note.png": (b"this is no picture", "no picture of a known format"),
    "script.svg": (b'<svg xmlns="http://www.w3.org/2000/svg"><script>window.bad = 1</script></svg>', "no picture"),
    "long.png": (b"words and more words\n" * 500_000, "no picture of a known format"),
    "huge.png": (huge(), "at most 64,000,000 are decoded"),
    "heavy.png": (bytes(20 * 2**20 + 1), "has 21 MB; at most 20 can be sent"),
}


def test_what_is_no_picture_gets_one_sentence_and_the_old_one_stays(page: "Page", tmp_path: Path) -> None:
    visit(page)
    for name, (data, wanted) in BAD.items():
        file = tmp_path / name
        file.write_bytes(data)
        page.locator(".see-input input[type=file]").set_input_files(file)
        until(page, TAKE_TOASTS)
        (said,) = page.evaluate("window.said")
        assert wanted in said
        assert len(said) < 250, name
        assert "photo:cat" in page.url
    assert page.evaluate("window.bad") is None
    expect(page.locator(".see-labels")).to_be_visible()


def test_of_a_moving_picture_the_page_says_that_the_first_frame_is_seen(page: "Page", tmp_path: Path) -> None:
    from PIL import Image

    visit(page)
    frames = [Image.new("RGB", (30, 20), colour) for colour in ("red", "blue")]
    file = tmp_path / "moves.gif"
    file.write_bytes(encoded(frames[0], "GIF", save_all=True, append_images=frames[1:]))
    page.locator(".see-input input[type=file]").set_input_files(file)
    until(page, "document.querySelector('.toast')?.textContent.includes('a model sees the first')")
    until(page, "document.querySelector('.see-preview').naturalWidth === 30")


def test_maps_are_of_the_edited_model_and_say_so(page: "Page") -> None:
    pair = {"m": "my-vit,my-swin", "as": "decides", "label": "cup"}
    visit(page, **pair)
    before = pixels(page)
    expect(page.locator(".see-edited")).to_have_count(0)
    visit(page, edits="blocks.0.attn:all:off,blocks.1.attn:2:uniform", **pair)
    expect(page.locator(".see-edited")).to_have_text(["with 2 edits", "unedited"])
    changed(page, before)
    # A head that is off looks nowhere, and so has no distance.
    until(page, "document.querySelectorAll('.see-far circle').length === 4")
    page.get_by_role("button", name="Compare", exact=True).click()
    wanted = [re.compile("% with 2 edits$"), re.compile("% unedited$")]
    expect(page.locator(".see-table thead th")).to_have_text(wanted)


def test_only_examples_that_can_be_opened_are_offered(page: "Page") -> None:
    page.goto("/#/see?m=my-maxvit")
    hold(page, "in", "p:world:5")
    chips = page.locator(".see-knows .example")
    expect(chips).to_have_text(["photo:rocket"])
    chips.first.click()
    hold(page, "in", "p:photo:rocket")
    page.wait_for_selector(".see-labels")
    expect(chips).to_have_text(["world:5"])


def test_a_vit_of_hugging_face_fits_with_its_144_heads_and_197_tokens(page: "Page") -> None:
    visit(page, m="my-hf")
    until(page, "document.querySelectorAll('.see-head canvas').length === 144")
    until(page, "[...document.querySelectorAll('.see-head canvas')].every((each) => each.width === 14)")
    assert [text.split(" 0.")[0] for text in page.locator(".see-tokens .chip").all_inner_texts()] == [
        "all places",
        "[CLS]",
    ]
    wider = page.locator(".see-grid").evaluate("each => each.scrollWidth - each.clientWidth")
    assert wider <= 0, "all heads of a layer are in sight"

    before = pixels(page)
    canvas = page.locator(".see-stage .see-canvas")
    box = canvas.bounding_box()
    assert box
    canvas.click(position={"x": 0.3 * box["width"], "y": 0.8 * box["height"]})
    hold(page, "at", "30,80")
    page.mouse.move(0, 0)
    until(page, "document.querySelector('.see-stage .matrix-readout').textContent.startsWith('Where this patch looks')")
    changed(page, before)
    head(page, "blocks.5.attn", 7).click()
    until(page, "document.querySelector('.see-stage .matrix-readout b').textContent === 'layer 6, head 8'")

    until(page, "document.querySelectorAll('.see-far circle').length === 144")
    columns = page.evaluate(
        """() => Array.from({length: 12}, (_, layer) => [...document.querySelectorAll(".see-far circle")]
             .slice(12 * layer, 12 * layer + 12).map((each) => Number(each.getAttribute("cx"))))"""
    )
    for one, other in pairwise(columns):
        assert max(one) < min(other), "the dots of a layer stay apart from those of the next"

    page.get_by_role("button", name="Rollout").click()
    until(page, "document.querySelector('.see-stage .matrix-readout b')?.textContent === 'rollout of all layers'")
    for view, said in (("What decides", "Grad-CAM: "), ("Features", "Features behind block 12")):
        page.get_by_role("button", name=view, exact=True).click()
        until(page, "said => document.querySelector('.see-stage .matrix-readout')?.textContent.startsWith(said)", said)
    until(page, "document.querySelectorAll('.see-strip button').length === 12")
    page.get_by_role("button", name="Groups", exact=True).click()
    until(page, "document.querySelector('.see-stage .hint')?.textContent.includes('every place sees every other')")


def test_a_link_names_its_model_and_its_picture_even_if_nobody_chose_them(page: "Page") -> None:
    page.goto("/#/see")
    page.wait_for_selector(".see-answer :is(ol, ul, p)")
    name = page.locator(".see-box > header .strong").inner_text()
    hold(page, "m", f"{name}@{revision(page, name)}")
    until(page, "/in=p:/.test(location.hash)")
    page.goto("/#/see?m=nobody&in=p:photo:cat")
    expect(page.locator(".see-knows")).to_contain_text("the model “nobody”, which this server does not have")


def test_a_link_of_another_revision_says_so_until_another_model_is_chosen(page: "Page") -> None:
    visit(page, m="my-vit@00000000,my-swin")
    has = revision(page, "my-vit")
    said = f"made with revision 00000000 of Untaught vit; this server has {has}, so that numbers may differ"
    expect(page.locator(".see-knows .warning").first).to_contain_text(said)
    hold(page, "m", f"my-vit@{has},my-swin@{revision(page, 'my-swin')}")
    page.get_by_role("button", name="Rollout").click()
    hold(page, "how", "rollout")
    expect(page.locator(".see-knows .warning").first).to_contain_text(said)
    page.get_by_role("button", name="Without my-vit").click()
    expect(page.locator(".see-knows")).not_to_contain_text("revision 00000000")


def test_a_model_is_not_trusted_beyond_what_it_knows(page: "Page") -> None:
    visit(page, **{"in": "p:world:7"})
    expect(page.locator(".see-knows")).to_contain_text("learnt from cifar10 and never saw the little world")
    visit(page, m="my-detr")
    expect(page.locator(".see-knows")).to_contain_text("knows no other")


def test_what_is_seen_can_be_taken_away(page: "Page") -> None:
    visit(page, at="30,80")
    page.wait_for_selector(".see-far circle")
    page.keyboard.press("e")
    titles = page.locator(".export-row > span:first-child")
    expect(titles).to_have_text(["picture", "all heads", "attention distance"], ignore_case=True)
    with page.expect_download() as waiting:
        page.locator(".export-row").first.get_by_role("button", name="CSV").click()
    lines = waiting.value.path().read_text(encoding="utf-8-sig").split()
    assert lines[0] == "row,column,value"
    assert len(lines) == 17
    with page.expect_download() as waiting:
        page.locator(".export-row").nth(1).get_by_role("button", name="SVG").click()
    assert waiting.value.path().read_text(encoding="utf-8").count("<image") == 8
    page.keyboard.press("Escape")


def test_it_can_be_done_without_the_page(page: "Page") -> None:
    visit(page, **{"in": "p:world:7"})
    page.locator("#link").click()
    said = page.get_by_role("dialog")
    expect(said).to_contain_text('").attend("world:7"))')
    expect(said).to_contain_text(re.compile(r"regard look \S+ world:7 --how attention"))


def test_what_the_server_has_forgotten_is_asked_again(page: "Page") -> None:
    visit(page)
    forgotten = {"status": 410, "content_type": "application/json", "body": json.dumps({"error": "forgotten"})}
    asked = []
    page.route(
        "**/seen?how=rollout*",
        lambda route: (asked.append(1), route.fulfill(**forgotten) if len(asked) == 1 else route.continue_()),
    )
    page.get_by_role("button", name="Rollout").click()
    until(page, "document.querySelector('.see-stage .matrix-readout b')?.textContent === 'rollout of all layers'")
    assert len(asked) == 2
    page.unroute_all(behavior="ignoreErrors")


def test_who_comes_back_to_a_picture_before_it_was_answered_sees_it(page: "Page") -> None:
    visit(page)
    page.evaluate(
        """() => ["world:1", "world:2", "world:1"].forEach((picture) => {
          location.hash = `#/see?m=my-vit&in=p:${picture}`;
        })"""
    )
    hold(page, "in", "p:world:1")
    expect(page.locator(".see-panels.waiting")).to_have_count(0)
    truth = page.request.get("/api/pictures/world?index=1").json()
    expect(page.locator(".see-preview")).to_have_attribute("src", truth["image"])


def test_on_a_phone_nothing_is_cut_off_and_fingers_hit(page: "Page") -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    visit(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    small = page.evaluate(
        """() => [...document.querySelectorAll(":is(.see-bar, .see-input, .see-tokens, .see-labels) button")]
             .filter((each) => each.getClientRects().length && each.getBoundingClientRect().height < 39)
             .map((each) => each.textContent)"""
    )
    assert small == []
    page.locator(".see-stage .see-canvas").click(position={"x": 40, "y": 40})
    until(page, "location.hash.includes('at=')")


# How wide the picture is, and the labels that lie on it or stand out of the window.
WALLED = """(() => {
  const picture = document.querySelector(".see-stage .see-canvas").getBoundingClientRect();
  const over = [...document.querySelectorAll(".see-labels button")].filter((each) => {
    const { left, right, top, bottom } = each.getBoundingClientRect();
    const beside = right <= picture.left || left >= picture.right || bottom <= picture.top || top >= picture.bottom;
    return !beside || left < 0 || right > innerWidth;
  });
  return [picture.width, over.length, document.querySelectorAll(".see-labels button").length];
})()"""


@pytest.mark.parametrize(("wide", "tall"), [(1366, 768), (1280, 720), (683, 384)])  # the last is the first at 200 %
def test_on_a_wall_the_picture_is_large_and_no_label_lies_on_it(page: "Page", wide: int, tall: int) -> None:
    resize(page, wide, tall)
    visit(page)
    page.keyboard.press("Shift+F")
    expect(page.locator(".top")).to_be_hidden()
    painted(page)
    width, over, labels = page.evaluate(WALLED)
    assert width >= 300
    assert (over, labels) == (0, 5)
    lines = "each => each.clientHeight / parseFloat(getComputedStyle(each).lineHeight)"
    assert page.locator(".see-stage .matrix-readout").evaluate(lines) < 2.5
    assert page.evaluate("document.documentElement.scrollWidth") <= wide
    expect(page.locator(".see-input")).to_be_hidden()
    page.keyboard.press("Shift+F")
    expect(page.locator(".top")).to_be_visible()


def test_what_is_asked_anew_is_out_of_reach_meanwhile_and_keeps_the_focus(page: "Page") -> None:
    visit(page, **{"in": "p:world:7"})
    held: list[Any] = []
    page.route("**/api/ask", lambda route: held.append(route))
    page.locator(".see-stage .see-canvas").focus()
    page.keyboard.press("]")
    becomes(page, lambda: len(held), 1)
    until(page, "document.querySelector('.see-panels.waiting .see-panel').inert")
    assert barriers(page) == []
    held[0].continue_()
    page.unroute("**/api/ask")
    expect(page.locator(".see-panels.waiting")).to_have_count(0)
    until(page, "document.activeElement.matches('.see-canvas')")
    assert not page.evaluate("document.querySelector('.see-panel').inert")


def test_nothing_keeps_anybody_out(page: "Page") -> None:
    visit(page, at="45,40")
    assert barriers(page) == []
