"""The Build up room: its numbers are the library's, and everything on it can be moved."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator, Page, expect
from tests.web.hands import becomes, resize
from torch import Tensor, nn

import regard
from regard.attention import Additive, Attention, Dot, Look, additive, causal, mix, weigh

STEPS = [
    *("words", "additive", "dot", "scaled", "softmax", "values", "self", "order"),
    *("heads", "mask", "cross", "block", "learning", "next"),
]
PLAIN = ("words", "learning")  # no line of the library computes them
CLOSE = dict(atol=1e-6, rtol=1e-5)
# The page reads an address before the event of its change is told.
FOLLOW = """(hash) => new Promise((done) => {
  const before = location.href;
  addEventListener("hashchange", done, {once: true});
  location.hash = hash;
  if (location.href === before) done();
})"""


@pytest.fixture
def build(page: Page) -> Page:
    """A page of its own for each."""
    return page


def at(page: Page, step: str, more: str = "") -> Page:
    """A step, with all that comes to it later: letters, and the code that computes it."""
    place = f"#/build?step={step}{more}"
    if "#/build" in page.url:
        page.evaluate(FOLLOW, place)
    else:
        page.goto(f"/{place}")
        page.evaluate("document.fonts.ready.then(() => true)")
    expect(page.locator(".steps [aria-current=step]")).to_contain_text(step, ignore_case=True)
    if step not in PLAIN:
        page.locator(".code :is(pre, p)").first.wait_for(state="attached")
    return page


def computed(page: Page, call: str, **values: Any) -> Any:
    """What a function of the page gives for tensors."""
    plain = {name: value.tolist() if isinstance(value, Tensor) else value for name, value in values.items()}
    page.goto("/", wait_until="commit")
    return page.evaluate(f"async (v) => {{ const m = await import('/js/build/math.js'); return {call}; }}", plain)


def grid(page: Page, name: str) -> Locator:
    return page.get_by_role("group", name=name, exact=True)


def numbers(page: Page, name: str) -> list[float]:
    """The numbers of a matrix as they stand on the page."""
    cells = (
        grid(page, name)
        .locator(".cell")
        .evaluate_all("all => all.map(c => c.matches('input') ? c.value : c.textContent)")
    )
    return [float(cell.replace("−", "-").replace("∞", "inf")) for cell in cells]


def drag(page: Page, arrow: Locator, right: float, up: float, pause: int = 0) -> None:
    box = arrow.locator(".handle").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + right / 2, y - up / 2)
    page.wait_for_timeout(pause)
    page.mouse.move(x + right, y - up)
    page.mouse.up()


def arrow(page: Page, name: str) -> Locator:
    return page.locator(f".plane .arrow[aria-label^='{name}:']").first


def drag_to(page: Page, arrow: Locator, x: float, y: float) -> None:
    """Drag the tip of an arrow to a place of the plane, in its own numbers."""
    here, plane = arrow.locator(".handle").bounding_box(), page.locator(".plane svg").first.bounding_box()
    assert here is not None
    assert plane is not None
    unit = plane["width"] / 5.2  # the plane goes from -2.6 to 2.6
    right = plane["x"] + plane["width"] / 2 + x * unit - here["x"] - here["width"] / 2
    up = here["y"] + here["height"] / 2 - plane["y"] - plane["height"] / 2 + y * unit
    drag(page, arrow, right, up)


# The numbers


def test_the_scores_of_the_page_are_those_of_the_library(page: Page) -> None:
    q, k, w = torch.randn(3, 4), torch.randn(5, 4), torch.randn(4)
    score = Additive(4)
    score.energy.weight.data = w[None]
    mine = computed(page, "[m.additive(v.q, v.k, v.w), m.dot(v.q, v.k, 1), m.dot(v.q, v.k)]", q=q, k=k, w=w)
    theirs = [each(q[None, None], k[None, None])[0, 0] for each in (score, Dot(1.0), Dot())]
    for one, other in zip(mine, theirs, strict=True):
        torch.testing.assert_close(torch.tensor(one), other, **CLOSE)


def test_the_weights_of_the_page_are_those_of_the_library_also_where_somebody_is_blind(page: Page) -> None:
    scores, visible = torch.randn(6, 6) * 5, torch.rand(6, 6) < 0.6
    visible[2] = False
    mine = computed(page, "[m.weigh(v.scores), m.weigh(v.scores, v.visible)]", scores=scores, visible=visible)
    torch.testing.assert_close(torch.tensor(mine[0]), weigh(scores), **CLOSE)
    torch.testing.assert_close(torch.tensor(mine[1]), weigh(scores, visible), **CLOSE)
    assert mine[1][2] == [0.0] * 6


def test_large_scores_do_not_overflow_on_the_page(page: Page) -> None:
    assert computed(page, "m.weigh([[1000, 999, -1000]])")[0] == pytest.approx([0.7310586, 0.2689414, 0.0])


def test_the_page_sees_the_past_as_the_library_does(page: Page) -> None:
    assert computed(page, "m.causal(5)") == causal(5).draw().tolist()


@pytest.mark.parametrize("masked", [False, True])
def test_the_heads_of_the_page_are_those_of_the_library(page: Page, masked: bool) -> None:
    x, z = torch.randn(4, 2), torch.randn(4, 2)
    attn = Attention(
        nn.Linear(2, 4, False), nn.Linear(2, 4, False), nn.Linear(2, 4, False), nn.Linear(4, 2, False), heads=2
    )
    q, k, v = (part.weight.detach().T for part in (attn.q, attn.k, attn.v))
    heads = [
        {"q": q[:, i : i + 2].tolist(), "k": k[:, i : i + 2].tolist(), "v": v[:, i : i + 2].tolist()} for i in (0, 2)
    ]
    visible = causal(4).draw() if masked else None
    call = "m.multihead(v.z, v.x, v.heads, v.out, v.visible ?? undefined)"
    mine = computed(page, call, x=x, z=z, heads=heads, out=attn.out.weight.detach().T, visible=visible)
    memory = attn.remember(x[None])
    theirs = attn(z[None], memory, visible=visible)[0]
    torch.testing.assert_close(torch.tensor(mine["y"]), theirs, **CLOSE)
    weights = attn.look(z[None], memory, visible=visible).weights()[0]
    torch.testing.assert_close(torch.tensor([each["weights"] for each in mine["looks"]]), weights, **CLOSE)


def test_the_answer_on_the_page_is_what_the_library_mixes(build: Page) -> None:
    at(build, "values")
    q = torch.tensor([[[[1.1, 1.1]]]])
    k = torch.tensor([[1.7, 0.8], [0.8, 1.7], [-1.6, 0.6], [0.3, -1.8]])[None, None]
    look = Look(q, k)
    assert numbers(build, "shares") == pytest.approx(look.weights().flatten().tolist(), abs=0.006)
    v = torch.tensor(numbers(build, "values")).view(1, 1, 4, 2)
    assert numbers(build, "answer") == pytest.approx(mix(look, v).flatten().tolist(), abs=0.006)


def test_the_first_attention_on_the_page_is_bahdanaus(build: Page) -> None:
    at(build, "additive")
    network = build.evaluate("async () => (await import('/js/build/numbers.js')).ADDITIVE")
    attn = additive(2, 2, 3)
    for layer, weight in ((attn.q, network["q"]), (attn.k, network["k"])):
        layer.weight.data = torch.tensor(weight, dtype=torch.float32).T
    attn.k.bias.data.fill_(network["b"])
    assert isinstance(attn.score, Additive)
    attn.score.energy.weight.data = torch.ones(1, 3)
    x = torch.tensor(numbers(build, "keys")).view(1, 4, 2)
    look = attn.look(torch.tensor([[numbers(build, "question")]]), attn.remember(x))
    assert numbers(build, "score") == pytest.approx(look.score(look.q, look.k).flatten().tolist(), abs=0.006)


@pytest.mark.parametrize("words", ["we see the sky", "grandmother sees a wonderful blue mountain", "the dog the dog"])
def test_in_the_first_attention_a_question_that_lies_on_a_word_likes_it_best(page: Page, words: str) -> None:
    page.goto("/", wait_until="commit")
    scores = page.evaluate(
        """async (words) => {
          const [{read, projected}, {additive}] =
            await Promise.all([import('/js/build/numbers.js'), import('/js/build/math.js')]);
          const now = read({words});
          return now.x.map((q) => {
            const asked = projected({...now, q});
            return additive(asked.q, asked.k, now.w)[0];
          });
        }""",
        words,
    )
    assert all(row[i] == max(row) for i, row in enumerate(scores))


# The lesson


def test_every_task_can_be_solved_one_after_the_other(build: Page) -> None:
    """As a reader does it: each step begins unsolved, and doing what it asks earns its tick."""

    def additive() -> None:
        drag_to(build, arrow(build, "q"), *numbers(build, "keys")[-2:])
        becomes(build, lambda: max(enumerate(numbers(build, "score")), key=lambda each: each[1])[0], 3)

    def dot() -> None:
        i = ["we", "see", "the", "sky"].index(asked_word(build))
        x, y = numbers(build, "keys")[2 * i : 2 * i + 2]
        drag_to(build, arrow(build, "q"), -x, -y)
        becomes(build, lambda: numbers(build, "score")[i] < 0, True)

    def order() -> None:
        build.get_by_role("button", name="Shuffle").click()
        expect(build.locator(".trying strong").first).to_have_text("Try")
        assert not build.locator(".trying.seen").count(), "positions are still to be added"
        build.get_by_role("button", name="Add positions").click()

    def block() -> None:
        build.get_by_role("button", name="residual").click()
        build.get_by_role("slider", name="blocks").press("End")

    def learning() -> None:
        build.get_by_role("button", name="Play").click()

    def following() -> None:
        drag_to(build, arrow(build, "y"), *tip(build, asked_word(build)))

    ways: dict[str, Callable[[], object]] = {
        "words": lambda: drag_to(build, arrow(build, "sky"), 0.7, -1.5),
        "additive": additive,
        "dot": dot,
        "scaled": lambda: build.get_by_label("width").press("End"),
        "softmax": lambda: drag_to(build, arrow(build, "q"), 2.5, 2.5),
        "values": lambda: drag(build, build.locator(".arrow.role-v").first, 20, 30),
        "self": lambda: build.get_by_label("matrix W q, number 1").first.fill("-1"),
        "order": order,
        "heads": lambda: build.get_by_label("turn head 2").press("ArrowRight"),
        "mask": lambda: drag(build, arrow(build, "sky"), 20, 30),
        "cross": lambda: drag(build, arrow(build, "cielo"), 20, 30),
        "block": block,
        "learning": learning,
        "next": following,
    }
    at(build, "words")
    for step in STEPS:
        expect(build.locator(".steps [aria-current=step]")).to_contain_text(step, ignore_case=True)
        expect(build.locator(".trying strong"), step).to_have_text(["Try"])
        ways[step]()
        expect(build.locator(".trying.seen .solved"), step).to_have_text("Solved")
        expect(build.locator("li.seen > [aria-current=step]"), step).to_have_count(1)
        build.locator(".walk .primary").click()
    expect(build.locator("#rooms [aria-current]")).to_contain_text("Translate")


def asked_word(page: Page) -> str:
    """The word in quotes that a task names."""
    found = re.search("“(.*?)”", page.locator(".trying").inner_text())
    assert found is not None
    return found[1]


def tip(page: Page, name: str) -> tuple[float, float]:
    """Where an arrow ends, in the numbers of its plane."""
    said = page.locator(f".plane .arrow[aria-label^='{name}:']").get_attribute("aria-label") or ""
    x, y = re.findall(r"[-−]?\d+\.\d+", said)[:2]
    return float(x.replace("−", "-")), float(y.replace("−", "-"))


def test_each_step_has_one_idea_an_equation_a_thing_to_try_and_our_own_code(build: Page) -> None:
    for step in STEPS:
        at(build, step)
        expect(build.locator("h1")).not_to_be_empty()
        expect(build.locator(".formula math").first).to_be_visible()
        assert build.locator(".formula .new").count() >= 1, f"{step} marks what it adds"
        expect(build.locator(".trying")).to_contain_text("Try")
        if step in PLAIN:
            continue
        marked = build.locator(".code .marked").first
        expect(marked).to_be_visible()
        path = re.match(r"src/regard/(\S+), line \d+", build.locator(".code-file").inner_text())
        assert path is not None, step
        source = (Path(regard.__file__).parent / path[1]).read_text(encoding="utf-8")
        assert marked.inner_text().strip() in {line.strip() for line in source.splitlines()}


def test_without_a_server_the_room_still_computes_and_says_where_the_code_is(build: Page) -> None:
    build.route("**/api/source*", lambda route: route.fulfill(status=503, json={"error": "closed"}))
    at(build, "softmax")
    expect(build.locator(".code")).to_contain_text("regard/attention/core.py")
    assert sum(numbers(build, "share")) == pytest.approx(1, abs=0.03)


def test_the_arrow_keys_walk_through_all_steps_and_back(build: Page) -> None:
    at(build, "words")
    for step in STEPS[1:]:
        build.keyboard.press("ArrowRight")
        expect(build.locator(".steps [aria-current=step]")).to_contain_text(step, ignore_case=True)
    build.keyboard.press("ArrowRight")  # there is nothing behind the last one, and the room stays
    expect(build.locator(".steps [aria-current=step]")).to_contain_text("Next word")
    build.keyboard.press("ArrowLeft")
    expect(build.locator(".steps [aria-current=step]")).to_contain_text("Learning")


def test_dragging_the_question_moves_every_score_and_is_taken_back_in_one_step(build: Page) -> None:
    at(build, "dot")
    before = numbers(build, "score")
    drag(build, arrow(build, "q"), -190, -150, pause=1500)  # milliseconds: who thinks in between drags once
    becomes(
        build, lambda: [one == other for one, other in zip(before, numbers(build, "score"), strict=True)], [False] * 4
    )
    after = numbers(build, "score")
    expect(build.locator(".trying")).to_contain_text("Solved")
    build.keyboard.press("Control+z")
    expect(grid(build, "question").locator(".cell").first).to_have_value("1.1")
    becomes(build, lambda: numbers(build, "score"), before)
    build.keyboard.press("Control+Shift+z")
    becomes(build, lambda: numbers(build, "score"), after)


def test_an_arrow_moves_by_the_keys_and_the_step_stays(build: Page) -> None:
    at(build, "words")
    arrow(build, "sky").focus()
    build.keyboard.press("ArrowRight")
    build.keyboard.press("Shift+ArrowUp")
    becomes(build, lambda: numbers(build, "vectors")[-2:], pytest.approx([0.4, -1.3]))
    expect(build.locator(".steps [aria-current=step]")).to_contain_text("Words")


def test_a_number_is_typed_stepped_or_dragged(build: Page) -> None:
    at(build, "dot")
    cell = build.get_by_label("keys, we, number 1")
    cell.fill("-1,5")
    becomes(build, lambda: numbers(build, "score")[0], pytest.approx(1.1 * -1.5 + 1.1 * 0.8, abs=0.006))
    cell.press("ArrowUp")
    expect(cell).to_have_value("−1.4")
    cell.press("Enter")
    box = cell.bounding_box()
    assert box is not None
    build.mouse.move(box["x"] + 10, box["y"] + 10)
    build.mouse.down()
    build.mouse.move(box["x"] + 10, box["y"] - 20)
    build.mouse.up()
    expect(cell).to_have_value("−0.9")


def test_what_is_no_number_changes_nothing(build: Page) -> None:
    at(build, "dot")
    before = numbers(build, "score")
    cell = build.get_by_label("keys, we, number 1")
    cell.fill("many")
    becomes(build, lambda: cell.get_attribute("aria-invalid") is not None, True)
    assert numbers(build, "score") == before
    cell.press("Enter")
    expect(cell).to_have_value("1.7")
    cell.fill("99")
    cell.press("Enter")
    expect(cell).to_have_value("3.0")


def test_the_first_equation_names_the_word_in_hand(build: Page) -> None:
    at(build, "words")
    expect(build.locator(".formula")).to_contain_text("“we”")
    arrow(build, "the").press("ArrowUp")
    expect(build.locator(".formula")).to_contain_text("“the”")


def test_a_new_sentence_makes_new_matrices_and_words_that_were_moved_keep_their_arrows(build: Page) -> None:
    at(build, "self")
    arrow(build, "see").press("ArrowUp")
    kept = numbers(build, "vectors")[2:4]
    build.get_by_label("The sentence", exact=True).fill("we see a green house")
    expect(grid(build, "shares").locator(".cell")).to_have_count(25)
    assert numbers(build, "vectors")[2:4] == kept
    build.get_by_label("The sentence", exact=True).fill("one two three four five six seven eight")
    expect(grid(build, "shares").locator(".cell")).to_have_count(36)
    expect(build.get_by_text("The first 6 words are used")).to_be_visible()
    build.get_by_label("The sentence", exact=True).fill("")
    expect(grid(build, "shares").locator(".cell")).to_have_count(1)


def test_without_the_root_a_wide_vector_gives_everything_to_one_word(build: Page) -> None:
    at(build, "scaled")
    narrow = max(numbers(build, "shares without"))
    build.get_by_label("width").press("End")
    expect(build.locator("output.big")).to_have_text("64")
    assert narrow < 0.6
    becomes(build, lambda: max(numbers(build, "shares without")) > 0.98, True)
    assert max(numbers(build, "shares with the root")) < 0.6
    expect(build.locator(".trying")).to_contain_text("Solved")


def test_a_longer_question_is_more_decided(build: Page) -> None:
    long, short = (numbers(at(build, "softmax", f"&q={q}"), "share") for q in ("2.4,2.4", "0.1,0.1"))
    assert min(short) > 0.2
    assert long == pytest.approx([0.5, 0.5, 0, 0], abs=0.01)


def test_a_key_that_moves_leaves_its_value_alone(build: Page) -> None:
    at(build, "values")
    before, shares = numbers(build, "values"), numbers(build, "shares")
    drag(build, arrow(build, "sky"), 60, 120)
    becomes(build, lambda: numbers(build, "shares") != shares, True)
    assert numbers(build, "values") == before
    expect(build.locator(".trying.seen")).to_have_count(0)


def test_shuffled_words_take_their_numbers_along(build: Page) -> None:
    at(build, "self")
    before = numbers(build, "shares")
    build.get_by_role("button", name="Shuffle").click()
    expect(build.get_by_label("The sentence", exact=True)).not_to_have_value("we see the sky")
    words = build.get_by_label("The sentence", exact=True).input_value().split()
    order = [["we", "see", "the", "sky"].index(word) for word in words]
    assert sorted(order) == [0, 1, 2, 3]
    becomes(build, lambda: numbers(build, "shares"), [before[4 * i + j] for i in order for j in order])


def test_turning_one_head_leaves_the_other_alone(build: Page) -> None:
    at(build, "heads")
    first, second = numbers(build, "shares of head 1"), numbers(build, "shares of head 2")
    build.get_by_label("turn head 2").fill("180")
    becomes(build, lambda: numbers(build, "shares of head 2") != second, True)
    assert numbers(build, "shares of head 1") == first


def test_heads_that_are_not_turned_apart_look_alike(build: Page) -> None:
    at(build, "heads")
    expect(build.locator("output.big")).to_have_text("90°")
    build.get_by_label("turn head 2").press("Home")
    expect(build.locator("output.big")).to_have_text("0°")
    becomes(build, lambda: numbers(build, "shares of head 2"), numbers(build, "shares of head 1"))


def test_behind_the_mask_the_last_word_moves_nobody_before_it(build: Page) -> None:
    at(build, "mask")
    before = numbers(build, "shares")
    assert all(before[4 * i + j] == 0 for i in range(4) for j in range(4) if j > i)
    drag(build, arrow(build, "sky"), 50, 80)
    becomes(build, lambda: numbers(build, "shares")[12:] != before[12:], True)
    assert numbers(build, "shares")[:12] == before[:12]
    build.get_by_role("button", name="Let all see all").click()
    becomes(build, lambda: all(share > 0 for share in numbers(build, "shares")[:2]), True)


def test_a_word_that_may_see_nothing_weighs_nothing(build: Page) -> None:
    at(build, "mask")
    grid(build, "scores; press one to hide it").locator(".cell").first.click()
    becomes(build, lambda: numbers(build, "shares")[:4], [0, 0, 0, 0])
    expect(build.locator(".worked")).to_contain_text("may not see")


def test_in_cross_attention_each_written_word_looks_at_the_read_ones(build: Page) -> None:
    at(build, "cross")
    shares = numbers(build, "shares")
    assert len(shares) == 12
    assert [sum(shares[i : i + 4]) for i in (0, 4, 8)] == pytest.approx([1, 1, 1], abs=0.03)
    assert shares[0] + shares[1] > 0.9, "vediamo comes from we see"
    assert shares[11] > 0.9, "cielo comes from sky"


def test_a_link_brings_everything_back(build: Page) -> None:
    at(build, "mask")
    drag(build, arrow(build, "sky"), 50, 80)
    grid(build, "scores; press one to hide it").locator(".cell").nth(4).click()
    expect(build).to_have_url(re.compile("hide="))
    seen, link = numbers(build, "shares"), build.url
    other = build.context.new_page()
    other.goto(link)
    expect(other.locator("h1")).to_have_text("No peeking")
    becomes(other, lambda: numbers(other, "shares"), seen)


def test_a_broken_link_opens_with_the_numbers_of_the_lecture(build: Page) -> None:
    for broken in ("x=1,2", "x=a,b;c,d;e,f;g,h", "row=99", "d=1e9", "hide=%00", "turn=NaN", "q=;", "wq=1,2"):
        at(build, "self", f"&{broken}")
        assert numbers(build, "vectors")[:2] == [1.7, 0.8], broken


def test_no_step_is_wider_than_its_screen_with_any_letters(build: Page) -> None:
    wide = ":root { --sans: 'DejaVu Sans Mono', monospace; --serif: var(--sans) } body { letter-spacing: 1px }"
    for step in STEPS:
        at(build, step, "&words=grandmother+sees+a+wonderful+blue+mountain")
        for width in (1024, 768, 390, 320):  # wider ones are those of test_nothing_wraps_and_nothing_is_cut_off
            resize(build, width, 800)
            assert build.evaluate("document.documentElement.scrollWidth") <= width, (step, width)
        build.evaluate(
            """rules => {
              const sheet = new CSSStyleSheet();
              sheet.replaceSync(rules);
              document.adoptedStyleSheets = [sheet];
            }""",
            wide,
        )
        assert build.evaluate("document.documentElement.scrollWidth") <= 320, step
        build.evaluate("document.adoptedStyleSheets = []")


def test_every_number_fits_its_cell(build: Page) -> None:
    low = ";".join(["-2.88,-2.85"] * 6)
    for step in STEPS:
        at(build, step, f"&words=a+b+c+d+e+f&x={low}&v={low}&q=-2.88,-2.88&wq=-2.88,-2.88;-2.88,-2.88")
        for width in (320, 390, 768, 1280, 1440):
            resize(build, width, 800)
            cut = build.evaluate(
                """[...document.querySelectorAll('.cell')]
                  .filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth)
                  .map(e => e.value || e.textContent)"""
            )
            assert cut == [], (step, width)
