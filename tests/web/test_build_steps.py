"""The later steps of Build up, order, block, learning and the next word; and what people met when they tried it."""

import math
import re
from functools import partial
from itertools import product
from xml.etree import ElementTree

import pytest
import torch
from playwright.sync_api import Browser, Locator, Page, expect
from tests.web.conftest import Server
from tests.web.hands import PATIENCE, becomes, resize, save_as
from tests.web.test_build import CLOSE, STEPS, arrow, at, computed, drag_to, grid, numbers
from torch import Tensor, nn

from regard.attention import multihead
from regard.layers import Block
from regard.layers.mlp import MLP
from regard.layers.position import Sinusoidal

SIZES = [(1180, 800), (1280, 800), (1366, 768), (1440, 900), (1920, 1080)]
LONG = "&words=grandmother+sees+a+wonderful+blue+mountain"


def module(page: Page, name: str, call: str, value: object = None) -> object:
    """What a module of the room gives, `m`, for a value, `v`."""
    page.goto("/", wait_until="commit")
    return page.evaluate(f"async (v) => {{ const m = await import('/js/build/{name}.js'); return {call}; }}", value)


def center(locator: Locator) -> tuple[float, float]:
    box = locator.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


# The numbers


def test_the_gradient_by_hand_is_that_of_finite_differences(page: Page) -> None:
    apart = module(
        page,
        "train",
        """(() => {
          let weights = m.begin();
          let most = 0;
          for (let t = 0; t < 3; t++) {
            const slope = m.gradient(weights);
            for (const part of ['x', 'q', 'k', 'v', 'u']) weights[part].forEach((row, i) => row.forEach((_, j) => {
              const at = (by) => {
                const near = structuredClone(weights);
                near[part][i][j] += by;
                return m.loss(near);
              };
              most = Math.max(most, Math.abs((at(1e-5) - at(-1e-5)) / 2e-5 - slope[part][i][j]));
            }));
            for (let step = 0; step < 90; step++) weights = m.descend(weights, 0.2);
          }
          return most;
        })()""",
    )
    assert apart == pytest.approx(0, abs=1e-8)


def test_the_tiny_attention_is_the_librarys_and_so_is_its_gradient(page: Page) -> None:
    told = module(
        page, "train", "[m.begin(), m.gradient(m.begin()), m.SENTENCES, m.INPUTS, m.OUTPUTS, m.loss(m.begin())]"
    )
    assert isinstance(told, list)
    begin, slope, sentences, inputs, outputs, loss = told
    weights = {name: torch.tensor(value, requires_grad=True) for name, value in begin.items()}
    mine = torch.zeros(())
    for each in sentences:
        x = weights["x"][[inputs.index(word) for word in each["words"]]]
        q, k, v = x[-1:] @ weights["q"], x @ weights["k"], x @ weights["v"]
        y = nn.functional.scaled_dot_product_attention(q[None], k[None], v[None])[0]
        target = torch.tensor([outputs.index(each["next"])])
        mine = mine + nn.functional.cross_entropy(y @ weights["u"].T, target) / len(sentences)
    mine.backward()
    assert mine.item() == pytest.approx(loss, abs=1e-5)
    for name, weight in weights.items():
        torch.testing.assert_close(weight.grad, torch.tensor(slope[name]), atol=1e-5, rtol=1e-4)


def test_the_block_of_the_page_is_that_of_the_library(page: Page) -> None:
    x, head = torch.randn(5, 2), {name: torch.randn(2, 2) for name in "qkv"}
    network = module(page, "stages/block", "m.NETWORK")
    assert isinstance(network, dict)
    block = Block(
        2, multihead(2, 1), MLP(2, 4, activation=nn.ReLU, bias=False), norm=lambda width: nn.RMSNorm(width, 1e-6)
    )
    attn = block.attn
    layers: list[tuple[object, Tensor]] = [
        *((getattr(attn, name), head[name]) for name in "qkv"),
        (attn.out, torch.eye(2)),
    ]
    layers += [(block.mlp.up, torch.tensor(network["up"])), (block.mlp.down, torch.tensor(network["down"]))]
    for layer, weight in layers:
        assert isinstance(layer, nn.Linear)
        layer.weight.data = weight.T
        if layer.bias is not None:
            layer.bias.data.zero_()
    mine = computed(
        page, "m.block(v.x, v.head, v.network).y", x=x, head={n: w.tolist() for n, w in head.items()}, network=network
    )
    torch.testing.assert_close(torch.tensor(mine), block(x[None])[0].detach(), atol=1e-4, rtol=1e-4)


def test_the_positions_of_the_page_are_those_of_the_library(page: Page) -> None:
    mine = computed(page, "[0, 1, 5, 15].map((t) => m.sinusoid(t, 16))")
    theirs = Sinusoidal(16)(torch.zeros(1, 16, 16))[0][[0, 1, 5, 15]]
    torch.testing.assert_close(torch.tensor(mine), theirs, **CLOSE)
    assert computed(page, "[0, 5, 15].map((t) => m.binary(t, 4).join(''))") == ["0000", "0101", "1111"]


# Words where they belong


def test_dog_lies_near_cat_and_far_from_car_and_truck(page: Page) -> None:
    at(page, "words", "&words=dog+cat+car+truck")
    x = numbers(page, "vectors")
    dog, cat, car, truck = (x[i : i + 2] for i in (0, 2, 4, 6))
    assert math.dist(dog, cat) < 0.5 > math.dist(car, truck)
    assert min(math.dist(dog, car), math.dist(dog, truck), math.dist(cat, car)) > 2
    assert len({tuple(each) for each in (dog, cat, car, truck)}) == 4, "no two arrows lie on each other"
    expect(page.get_by_text("placed by chance")).to_have_count(0)


def test_thousands_of_words_are_known_and_take_few_bytes(page: Page) -> None:
    page.goto("/", wait_until="commit")
    known, size = page.evaluate(
        """async () => {
          const text = await (await fetch('/js/build/places.js')).text();
          const {byChance} = await import('/js/build/place.js');
          const words = 'king queen red bread river doctor eat school music Paris table, constructor'.split(' ');
          return [words.map(byChance), text.length];
        }"""
    )
    assert known == [False] * 11 + [True]
    assert size <= 60_000


def test_a_word_that_nobody_knows_says_so_until_it_is_dragged(page: Page) -> None:
    at(page, "words", "&words=the+blorp+sees")
    expect(page.get_by_role("status").filter(has_text="“blorp”: placed by chance, drag me")).to_be_visible()
    expect(arrow(page, "blorp")).to_have_attribute("aria-label", re.compile("drag me"))
    expect(page.locator(".arrow.chance")).to_have_count(1)
    drag_to(page, arrow(page, "blorp"), 1, 1)
    expect(page.get_by_text("placed by chance")).to_have_count(0)
    expect(page.locator(".arrow.chance")).to_have_count(0)


def test_values_are_no_keys_with_their_numbers_swapped(page: Page) -> None:
    at(page, "values")
    k = [1.7, 0.8, 0.8, 1.7, -1.6, 0.6, 0.3, -1.8]
    v = numbers(page, "values")
    assert v != [k[i ^ 1] for i in range(8)]
    near, far = math.dist(k[:2], k[2:4]), math.dist(v[:2], v[2:4])
    assert near < 1.3 < far + 0.3, "found together, they still add what is their own"
    assert math.dist(v[:2], v[2:4]) / math.hypot(*v[:2]) > math.dist(k[:2], k[2:4]) / math.hypot(*k[:2])


# What is said


@pytest.mark.parametrize(("step", "roles"), [("additive", "qk"), ("values", "qkv"), ("self", "qkv")])
def test_where_query_key_and_value_appear_it_is_said_what_they_are_for(page: Page, step: str, roles: str) -> None:
    at(page, step)
    names = {"q": "query", "k": "key", "v": "value"}
    for role in roles:
        term = page.locator(f".roles dt.{role}")
        expect(term).to_contain_text(names[role])
        same = "(e, role) => { const p = document.createElement('i'); p.style.color = `var(--${role})`;"
        same += (
            " e.append(p); const c = getComputedStyle(p).color; p.remove(); return c === getComputedStyle(e).color; }"
        )
        assert term.evaluate(same, role), f"{names[role]} has its own colour"
    expect(page.locator(".roles")).to_contain_text(re.compile("handed over|found"))


def test_ticks_stay_when_the_reader_leaves_and_comes_back(page: Page) -> None:
    at(page, "words")
    arrow(page, "sky").press("ArrowUp")
    expect(page.locator(".steps li.seen")).to_have_count(1)
    page.locator("#rooms").get_by_role("link", name="Gallery").click()
    expect(page.locator(".steps")).to_have_count(0)
    at(page, "dot")
    expect(page.locator(".steps li.seen")).to_have_count(1)
    page.reload()
    expect(page.locator(".steps li.seen")).to_have_text(["1Words"])


def test_undo_right_after_entering_does_not_leave_the_room(page: Page) -> None:
    page.goto("/#/gallery")
    page.locator("#rooms").get_by_role("link", name="Build up").click()
    expect(page.locator("h1")).to_have_text("A word is a list of numbers")
    page.keyboard.press("Control+z")
    page.wait_for_timeout(200)  # milliseconds, in which the old page went back
    expect(page.locator("h1")).to_have_text("A word is a list of numbers")
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    arrow(page, "sky").press("ArrowUp")
    page.keyboard.press("Control+z")
    becomes(page, lambda: numbers(page, "vectors")[-1], -1.8)


def test_on_a_phone_the_guide_speaks_of_no_keys(browser: Browser, server: Server) -> None:
    page = browser.new_page(base_url=server.url, viewport={"width": 390, "height": 844}, has_touch=True)
    page.set_default_timeout(1000 * PATIENCE)
    page.goto("/#/build")
    guide = page.get_by_role("complementary", name="First steps")
    for button in ("Next", "Next", "Done"):
        expect(guide).to_be_visible()
        assert not re.search(r"arrow keys|Ctrl|←", guide.inner_text()), guide.inner_text()
        guide.get_by_role("button", name=button).click()
    page.close()


# What is taken away


@pytest.mark.parametrize("step", ["dot", "values", "self", "order", "cross", "learning"])
def test_the_picture_that_is_seen_is_the_picture_that_is_exported(page: Page, step: str) -> None:
    at(page, step)
    seen = page.locator(".floor svg").count()
    names = page.locator(".plane text").all_text_contents()
    shown = [
        each
        for each in page.locator(".floor .cell").evaluate_all("all => all.map(c => c.value ?? c.textContent)")
        if each
    ]
    page.keyboard.press("e")
    drawing = ElementTree.fromstring(save_as(page, "SVG").decode())
    tag = "{http://www.w3.org/2000/svg}"
    written = [each.text for each in drawing.iter(f"{tag}text")]
    assert len(list(drawing.iter(f"{tag}svg"))) == seen + 2, "each drawing of the stage, and the sheet around them"
    assert all(name in written for name in names)
    assert all(written.count(each) >= shown.count(each) for each in set(shown))
    assert not [each for each in drawing.iter() if each.get("class") or "var(" in "".join(each.attrib.values())]


# The layout


def test_nothing_wraps_and_nothing_is_cut_off(page: Page) -> None:
    for step, more in product(STEPS, ("", LONG)):
        at(page, step, more)
        for width, height in SIZES:
            resize(page, width, height)
            wrong = page.evaluate(
                """[...document.querySelectorAll('.floor .line')].flatMap((line) => {
                  const grids = [...line.children].filter((e) => e.matches('.grid:not(.single)'));
                  const boxes = grids.map((each) => each.getBoundingClientRect());
                  const wraps = boxes.some((box, i) => i > 0 && box.left < boxes[i - 1].right);
                  const cut = line.scrollWidth > line.clientWidth + 1;
                  const ends = grids.map((each) => [...each.querySelectorAll('.cell')].at(-1).getBoundingClientRect());
                  const uneven = Math.max(...ends.map((e) => e.bottom)) - Math.min(...ends.map((e) => e.bottom)) > 2;
                  return wraps || cut || uneven ? [`${line.textContent.slice(0, 60)}: ${[wraps, cut, uneven]}`] : [];
                })"""
            )
            assert wrong == [], (step, width, more)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (step, width)


def test_both_planes_of_the_values_are_seen_at_once(page: Page) -> None:
    at(page, "values")
    for width, height in SIZES:
        resize(page, width, height)
        first, second = (each.bounding_box() for each in page.locator(".plane").all())
        assert first is not None
        assert second is not None
        assert first["y"] == second["y"]
        assert first["x"] + first["width"] <= second["x"]
        assert second["y"] + second["height"] <= height


# Order


def test_in_another_order_every_word_gets_the_same_answer_until_positions_are_added(page: Page) -> None:
    at(page, "order", "&words=the+dog+bites+the+man")
    names = page.locator(".mirrored .grid-row")
    expect(names).to_have_text(["man", "the", "bites", "dog", "the"])
    page.evaluate("Math.random = () => 0")
    page.get_by_role("button", name="Shuffle").click()
    expect(names).to_have_text(["dog", "bites", "the", "man", "the"])
    expect(page.get_by_label("The sentence", exact=True)).to_have_value("the dog bites the man")

    def answers(name: str, words: list[str]) -> dict[str, set[tuple[float, ...]]]:
        y = numbers(page, name)
        pairs = [(word, (y[2 * i], y[2 * i + 1])) for i, word in enumerate(words)]
        return {word: {pair for other, pair in pairs if other == word} for word, _ in pairs}

    sentence = ["the", "dog", "bites", "the", "man"]
    here, there = answers("answers as written", sentence), answers("answers in another order", names.all_inner_texts())
    assert here == there
    assert len(here["the"]) == 1, "both the are the same word"
    expect(page.locator(".agreed")).to_contain_text("All 5 words get the same answer")
    page.get_by_role("button", name="Add positions").click()
    becomes(page, lambda: len(answers("answers as written", sentence)["the"]), 2)  # now they are two
    there = answers("answers in another order", names.all_inner_texts())
    assert answers("answers as written", sentence) != there
    expect(page.locator(".twist .other").first).to_be_attached()


def test_the_counter_and_the_waves_show_the_same_position(page: Page) -> None:
    at(page, "order")
    page.get_by_label("position t").fill("5")
    mark, five = page.locator(".counter .now"), page.locator(".counter .place", has_text="5").first
    becomes(page, lambda: abs(center(mark)[1] - center(five)[1]) <= 6, True)
    row = page.locator(".counter svg > text:not(.place):not(.aside)").all_text_contents()[2:]
    assert row[4 * 5 : 4 * 5 + 4] == ["0", "1", "0", "1"]


def test_four_ways_to_reach_each_other_are_compared_and_attention_follows_the_words(page: Page) -> None:
    at(page, "self")
    ways = page.locator(".reach figure")
    for name, lines in {"Convolution": 10, "Pyramid": 6, "Full connection": 16, "Attention": 16}.items():
        expect(ways.filter(has_text=name).locator(".reach-line")).to_have_count(lines)
    widths = "all => all.map(e => e.style.strokeWidth)"
    attention = ways.filter(has_text="words decide").locator(".reach-line")
    before, fixed = attention.evaluate_all(widths), ways.first.locator(".reach-line").evaluate_all(widths)
    drag_to(page, arrow(page, "sky"), 1, 1)
    becomes(page, lambda: attention.evaluate_all(widths) != before, True)
    assert ways.first.locator(".reach-line").evaluate_all(widths) == fixed


# The block


def test_without_the_residual_words_fall_together_and_without_the_norm_they_explode(page: Page) -> None:
    def apart() -> int:
        y = numbers(page, "stream behind the block")
        return len({tuple(y[i : i + 2]) for i in range(0, 8, 2)})

    def largest() -> float:
        return max(map(abs, numbers(page, "stream behind the block")))

    at(page, "block", "&depth=8")
    assert apart() == 4
    assert largest() < 50
    page.get_by_role("button", name="residual").click()
    becomes(page, apart, 2)
    page.get_by_role("button", name="residual").click()
    page.get_by_role("button", name="norm").click()
    becomes(page, lambda: largest() > 1000, True)
    expect(page.locator(".trying.seen")).to_have_count(1)


def test_a_part_that_is_off_adds_nothing(page: Page) -> None:
    at(page, "block")
    for part, name in {"attention": "what attention adds", "MLP": "what the MLP adds"}.items():
        assert any(numbers(page, name))
        page.get_by_role("button", name=part).click()
        becomes(page, partial(numbers, page, name), [0] * 8)
    becomes(page, lambda: numbers(page, "stream behind the block"), numbers(page, "stream"))


# Learning


def loss(page: Page) -> float:
    return float(page.locator(".loss-now output").inner_text())


def test_while_it_plays_the_loss_falls_and_the_arrows_move_and_pause_stops_it(page: Page) -> None:
    at(page, "learning", "&rate=1")
    roles = "[...document.querySelectorAll('.plane .arrow')].map(e => e.ariaLabel)"
    begun, where = loss(page), page.evaluate(roles)
    page.get_by_role("button", name="Play").click()
    expect(page.locator(".trying .solved")).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    assert loss(page) < 0.1 < begun
    moved = page.evaluate(roles)
    assert len(moved) == len(where) > 10
    assert not set(moved) & set(where), "each query, each key, each value and what is mixed of them"
    steps = page.locator(".worked").inner_text()
    page.wait_for_timeout(300)  # milliseconds, in which a training that goes on would be seen
    assert page.locator(".worked").inner_text() == steps


def test_one_step_is_one_step_and_can_be_taken_back(page: Page) -> None:
    at(page, "learning")
    page.get_by_role("button", name="One step").click()
    expect(page.locator(".worked")).to_contain_text("after 1 step p")
    page.keyboard.press("Control+z")
    expect(page.locator(".worked")).to_contain_text("after 0 steps")


def test_it_learns_whom_to_look_at(page: Page) -> None:
    at(page, "learning", "&run=300@0.2&asked=2")  # the frog in the sky: who?
    assert numbers(page, "shares")[0] > 0.9
    assert numbers(page, "next word")[0] > 0.9, "green"
    page.get_by_label("Sentence of the training").select_option("3")  # where?
    becomes(page, lambda: numbers(page, "shares")[1] > 0.9, True)
    assert numbers(page, "next word")[1] > 0.9, "blue"


def test_a_link_repeats_a_training_and_a_rate_too_high_spoils_it(page: Page) -> None:
    at(page, "learning", "&run=60@0.5,20@1")
    seen = loss(page)
    other = page.context.new_page()
    at(other, "learning", "&run=60@0.5,20@1")
    assert loss(other) == seen < 0.5
    at(page, "learning", "&run=50@4")
    assert loss(page) > 1
    at(page, "learning", "&run=99999@0.2,nonsense@4,-3@1")
    expect(page.locator(".worked")).to_contain_text("after 2000 steps")
    expect(page.get_by_role("button", name="Play")).to_be_disabled()
    page.get_by_role("button", name="From the start").click()
    expect(page.locator(".worked")).to_contain_text("after 0 steps")


def test_who_wants_no_motion_sees_the_training_in_leaps(page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")
    at(page, "learning")
    page.get_by_role("button", name="Play").click()
    expect(page.locator(".worked")).to_contain_text(re.compile("after (20|40|60) steps"))
    page.get_by_role("button", name="Pause").click()


# The next word


def test_a_higher_temperature_spreads_the_chances(page: Page) -> None:
    at(page, "next")
    sharp = max(numbers(page, "chance"))
    page.get_by_label("temperature").press("End")
    becomes(page, lambda: max(numbers(page, "chance")) < sharp, True)
    assert sum(numbers(page, "chance")) == pytest.approx(1, abs=0.02)


def test_what_is_written_is_the_most_likely_word(page: Page) -> None:
    at(page, "next", "&asked=3")
    expect(page.locator(".written")).to_have_text("frog sky where? blue")
    page.get_by_role("button", name="Another sentence").click()
    expect(page.locator(".written")).not_to_contain_text("frog")
    expect(grid(page, "chance")).to_have_count(1)
