"""SAM: prompts as tokens, attention both ways, and masks of which each is made by a token of its own."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from regard.attention import record
from regard.models import build, resnet, vit
from regard.models.sam import FAMILY, IN, NOWHERE, OUT, PRESETS, SAM, Config, Eye, Seen

NANO = PRESETS["sam-nano"]


def sam(**changes: Any) -> SAM:
    torch.manual_seed(0)
    return SAM(replace(NANO, **changes)).eval()


def seen(model: SAM, count: int = 1) -> Seen:
    return model.encode(torch.randn(count, 3, 32, 32, generator=torch.Generator().manual_seed(1)))


def click(*places: tuple[float, float], label: int = IN) -> dict[str, torch.Tensor]:
    points = torch.tensor([[place] for place in places])
    return {"points": points, "labels": torch.full((len(places), 1), label)}


@pytest.mark.parametrize(
    ("preset", "millions"), [("sam-base", 93.7), ("sam-large", 312.3), ("sam-huge", 641.1), ("sam-mobile", 9.8)]
)
def test_published_sizes_have_the_published_number_of_parameters(preset: str, millions: float) -> None:
    with torch.device("meta"):
        model = build(preset)
    assert sum(p.numel() for p in model.parameters()) / 1e6 == pytest.approx(millions, rel=0.001)


def test_the_one_of_the_world_is_small() -> None:
    with torch.device("meta"):
        assert sum(p.numel() for p in build("sam-world").parameters()) <= 600_000


@torch.no_grad()
def test_a_picture_is_seen_once_and_asked_often() -> None:
    model = sam()
    image = torch.randn(1, 3, 32, 32)
    looked, places = model.encode(image), [(3.0, 4.0), (20.0, 9.0), (31.0, 0.0)]
    together = model.prompt(looked, **click(*places))
    assert together.masks.shape == (3, 4, 16, 16)  # four to the side of a cell
    for i, place in enumerate(places):
        alone = model(image, **click(place))
        torch.testing.assert_close(alone.masks[0], together.masks[i], atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(alone.iou[0], together.iou[i], atol=1e-5, rtol=1e-4)


@torch.no_grad()
def test_where_a_click_falls_and_what_it_says_decide_about_the_masks() -> None:
    model = sam()
    looked = seen(model)
    one = model.prompt(looked, **click((5.0, 5.0))).masks
    assert not one.allclose(model.prompt(looked, **click((25.0, 5.0))).masks, atol=1e-3)
    assert not one.allclose(model.prompt(looked, **click((5.0, 5.0), label=OUT)).masks, atol=1e-3)
    assert not one.allclose(model.prompt(looked, boxes=torch.tensor([[5.0, 5.0, 9.0, 9.0]])).masks, atol=1e-3)


@torch.no_grad()
def test_points_that_are_none_are_the_same_wherever_they_are() -> None:
    model = sam()
    for place in ((0.0, 0.0), (17.0, 30.0)):
        tokens = model.prompts.points(torch.tensor([[place]]), torch.tensor([[NOWHERE]]))
        assert tokens[0].equal(model.prompts.nowhere)


@torch.no_grad()
def test_a_token_at_the_middle_of_a_cell_stands_where_the_cell_stands() -> None:
    model = sam()
    cells = model.prompts.cells(4, 4)
    # The third cell of the second row: pixels 16 to 23 across and 8 to 15 down, whose middle is 19.5 and 11.5.
    token = (
        model.prompts.points(torch.tensor([[[19.5, 11.5]]]), torch.tensor([[IN]]))[0, 0] - model.prompts.kinds[IN][0]
    )
    torch.testing.assert_close(token, cells[1 * 4 + 2], atol=1e-5, rtol=1e-4)
    alike = torch.nn.functional.cosine_similarity(token[None], cells)
    assert int(alike.argmax()) == 6


@torch.no_grad()
def test_rows_may_have_a_rough_mask_or_none() -> None:
    model, rough = sam(), torch.randn(2, 1, 16, 16)
    looked = seen(model)
    given = click((5.0, 5.0), (5.0, 5.0))
    mixed = model.prompt(looked, **given, masks=rough, with_mask=torch.tensor([True, False])).masks
    torch.testing.assert_close(mixed[1], model.prompt(looked, **click((5.0, 5.0))).masks[0], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(mixed[0], model.prompt(looked, **given, masks=rough).masks[0], atol=1e-5, rtol=1e-4)
    assert not mixed[0].allclose(mixed[1], atol=1e-3)


@torch.no_grad()
def test_tokens_look_at_cells_and_cells_look_back() -> None:
    model = sam()
    looked = seen(model)
    with record(model) as trace:
        model.prompt(looked, **click((5.0, 5.0)), boxes=torch.tensor([[1.0, 1.0, 9.0, 9.0]]))
    shapes = {name: tuple(trace.weights(name).shape) for name in trace}
    tokens = 1 + 4 + 1 + 2  # IoU, masks, a point, two corners
    for i in range(2):
        assert shapes[f"blocks.{i}.attn"] == (1, 2, tokens, tokens)
        assert shapes[f"blocks.{i}.cross"] == (1, 2, tokens, 16)
        assert shapes[f"blocks.{i}.back"] == (1, 2, 16, tokens)
    assert shapes["last"] == (1, 2, tokens, 16)
    assert len(shapes) == 7


@torch.no_grad()
def test_the_eye_looks_inside_windows_but_for_blocks_that_look_everywhere() -> None:
    model = sam()
    with record(model.eye) as trace:
        model.eye.features(torch.randn(1, 3, 32, 32))
    near, far = (trace.map(f"blocks.{i}.attn.attn")[0, 0] for i in range(2))
    assert near[0].view(4, 4)[:3, :3].sum() > 0.5
    assert not near[0].view(4, 4)[3].any()  # of another window of three
    assert (far > 0).all()


@pytest.mark.parametrize(
    "eye",
    [
        vit.Config(32, patch=8, width=16, depth=1, heads=2, hidden=16, classes=0),
        resnet.Config(32, stem="deep", stem_width=8, block="basic", widths=(8, 16), depths=(1, 1), classes=0),
    ],
    ids=["vit", "resnet"],
)
def test_any_tower_may_see(eye: Any) -> None:
    model = sam(eye=eye)
    image = torch.randn(1, 3, 32, 32)
    rows, columns = model.encode(image).cells.shape[1:3]
    assert model(image, **click((5.0, 5.0))).masks.shape == (1, 4, 4 * rows, 4 * columns)


def test_mistakes_are_answered_with_a_way_out() -> None:
    model = sam()
    looked = seen(model, 2)
    with pytest.raises(
        ValueError, match="a picture of 40×32 is not what this model was built for; scale and pad it to"
    ):
        model.encode(torch.randn(1, 3, 40, 32))
    with pytest.raises(ValueError, match="3 prompts do not go with 2 pictures; give one picture, or one for each"):
        model.prompt(looked, **click((1.0, 1.0), (2.0, 2.0), (3.0, 3.0)))
    with pytest.raises(ValueError, match="points and labels go together"):
        model.prompt(looked, torch.zeros(2, 1, 2))
    with pytest.raises(ValueError, match=r"a mask of 8×8 does not fit 4×4 cells; give the logits .* 16×16"):
        model.prompt(looked, **click((1.0, 1.0), (2.0, 2.0)), masks=torch.zeros(2, 1, 8, 8))
    with pytest.raises(ValueError, match="width 24 does not split into 2 heads 2 times narrower"):
        replace(NANO, width=24)
    with pytest.raises(ValueError, match="there is no block 12 of 12; count from 0"):
        Eye(everywhere=(12,))
    with pytest.raises(ValueError, match="an eye with 64 classes has a head that nothing reads; give 0"):
        FAMILY.build("sam-nano", eye=replace(PRESETS["sam-world"].eye, classes=64))
    with pytest.raises(ValueError, match="make no decoder"):
        Config(masks=0)
