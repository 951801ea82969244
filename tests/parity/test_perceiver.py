"""Perceiver IO as `transformers` has it: the same weights give the same latents by the same looks, in and out."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file
from tests.parity.pictures import change_config, opened
from tests.parity.pictures import theirs as theirs_of
from torch import Tensor

from regard.attention import record
from regard.hub import CheckpointError, export, load
from regard.models import build
from regard.models.perceiver import Config, Perceiver

SIZE: dict[str, Any] = dict(num_latents=6, d_latents=32, num_blocks=2, num_self_attends_per_block=2)
SIZE |= dict(num_self_attention_heads=4, d_model=24, vocab_size=40, max_position_embeddings=12, num_labels=5)
TEXTS = dict(num_cross_attention_heads=4, qk_channels=16, v_channels=32)
PIXELS = dict(num_cross_attention_heads=1)
IDS = torch.randint(40, (2, 9), generator=torch.Generator().manual_seed(1))
VISIBLE = torch.arange(9) < torch.tensor([[9], [5]])
IMAGE = torch.randn(2, 3, 8, 6, generator=torch.Generator().manual_seed(1))  # of any size, as the places are waves
CELLS = torch.randn(2, 7, 24, generator=torch.Generator().manual_seed(1))
MODELS: dict[str, tuple[dict[str, Any], Tensor, Tensor | None]] = {
    "PerceiverForMaskedLM": (TEXTS, IDS, VISIBLE),
    "PerceiverForSequenceClassification": (TEXTS, IDS, VISIBLE),
    "PerceiverForImageClassificationFourier": (PIXELS, IMAGE, None),
    "PerceiverModel": (TEXTS, CELLS, VISIBLE[:, :7]),
}
every_model = pytest.mark.parametrize("architecture", MODELS)


def theirs(architecture: str, **changes: Any) -> Any:
    config = transformers.PerceiverConfig(**{**SIZE, **MODELS[architecture][0], **changes})
    return theirs_of(architecture, config)


def close(mine: Tensor, their: Tensor) -> None:
    """Streams reach 20 here, and theirs computes the waves of places in float32."""
    torch.testing.assert_close(mine, their, atol=2e-4, rtol=1e-4)


def compare(ours: Any, other: Any, x: Tensor, visible: Tensor | None) -> None:
    """What is said, the latents after every layer, and the weights of every look."""
    named = {"pixel_values": x} if x.ndim == 4 else {"inputs": x}
    told = other(
        **named,
        attention_mask=None if visible is None else visible.long(),
        output_attentions=True,
        output_hidden_states=True,
    )
    with record(ours, hidden=True) as trace:
        said = ours(x, visible=visible)
    if told.get("logits") is None:
        close(said, told.last_hidden_state)
    else:  # theirs says something of all words that it could have read
        close(said, told.logits[:, : said.shape[1]])
    streams = [*told.hidden_states[1:3], *told.hidden_states[4:]]  # after each block once more
    tower = [trace.hidden[f"towers.0.{i}"][run] for run in range(2) for i in range(2)]
    for mine, their in zip(tower, streams, strict=True):
        close(mine, their)
    looks = [trace.weights(f"towers.0.{i}.attn", look=run) for run in range(2) for i in range(2)]
    for mine, their in zip(looks, told.attentions, strict=True):
        close(mine, their)
    crosses = [trace.weights("crosses.0.attn")]
    crosses += [trace.weights("decode.attn")] if "decode.attn" in trace.names else []
    for mine, their in zip(crosses, told.cross_attentions, strict=True):
        close(mine, their[:, :, : mine.shape[-2]])


@torch.no_grad()
@every_model
def test_a_perceiver_of_hugging_face_says_the_same_and_goes_back(tmp_path: Path, architecture: str) -> None:
    other = theirs(architecture)
    _, x, visible = MODELS[architecture]
    other.save_pretrained(tmp_path / "in")
    found = load(tmp_path / "in")
    compare(found.model, other, x, visible)
    if visible is not None:
        compare(found.model, other, x, None)
    export(tmp_path / "out", found.model)
    compare(found.model, opened(architecture, tmp_path / "out"), x, visible)
    again = load(tmp_path / "out").model
    assert again.config == found.model.config
    # The bare model is written as a part of one with a head, which theirs reads as well.
    stored = [load_file(tmp_path / name / "model.safetensors") for name in ("in", "out")]
    assert {name.removeprefix("perceiver.") for name in stored[1]} == {
        name.removeprefix("perceiver.") for name in stored[0]
    }


@torch.no_grad()
@pytest.mark.parametrize(
    ("architecture", "changes"),
    [
        ("PerceiverForMaskedLM", {"qk_channels": None, "v_channels": None}),
        ("PerceiverForMaskedLM", {"self_attention_widening_factor": 2, "cross_attention_widening_factor": 2}),
        (
            "PerceiverForSequenceClassification",
            {"qk_channels": None, "v_channels": None, "cross_attention_shape_for_attention": "q"},
        ),
        ("PerceiverForImageClassificationFourier", {"qk_channels": 16, "v_channels": 32}),
    ],
    ids=str,
)
def test_queries_and_keys_are_as_wide_as_theirs(tmp_path: Path, architecture: str, changes: dict[str, Any]) -> None:
    other = theirs(architecture, **changes)
    other.save_pretrained(tmp_path)
    compare(load(tmp_path).model, other, *MODELS[architecture][1:])


def test_a_model_of_pictures_names_what_they_show_and_knows_its_labels(tmp_path: Path) -> None:
    theirs("PerceiverForImageClassificationFourier").save_pretrained(tmp_path / "pixels")
    card = load(tmp_path / "pixels").card
    assert (card["task"], card["labels"]) == ("recognize", [f"LABEL_{i}" for i in range(5)])
    theirs("PerceiverForMaskedLM").save_pretrained(tmp_path / "texts")
    assert "task" not in load(tmp_path / "texts").card


@every_model
def test_every_field_that_transformers_writes_is_known(tmp_path: Path, architecture: str) -> None:
    other = theirs(architecture)
    other.save_pretrained(tmp_path)
    before = load(tmp_path).model.config
    (tmp_path / "config.json").write_text(json.dumps(other.config.to_dict() | {"architectures": [architecture]}))
    assert load(tmp_path).model.config == before


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"hidden_act": "relu"}, "hidden_act is relu, and only gelu is supported"),
        ({"use_query_residual": False}, "use_query_residual is False, and only True is supported"),
        ({"cross_attention_widening_factor": 2}, "cross_attention_widening_factor is 2 and self_attention_widening"),
        ({"v_channels": 16}, "v_channels is 16 beside qk_channels 16 and d_latents 32"),
        ({"cross_attention_shape_for_attention": "v"}, "cross_attention_shape_for_attention is 'v'; known are kv, q"),
        ({"rotary": True}, "rotary is not known"),
        ({"architectures": ["PerceiverForOpticalFlow"]}, "architectures is PerceiverForOpticalFlow; known are"),
        ({"architectures": ["PerceiverModel", "Other"]}, "architectures is ['PerceiverModel', 'Other']; known are"),
        ({"id2label": 3}, "id2label is 3, and no object"),
    ],
    ids=str,
)
def test_a_setting_is_honoured_or_refused_by_its_name(tmp_path: Path, changes: dict[str, Any], why: str) -> None:
    theirs("PerceiverForMaskedLM").save_pretrained(tmp_path)
    change_config(tmp_path, **changes)
    with pytest.raises(CheckpointError) as caught:
        load(tmp_path)
    assert why in str(caught.value)


def test_a_file_without_a_class_is_what_its_tensors_are(tmp_path: Path) -> None:
    for architecture in ("PerceiverForMaskedLM", "PerceiverModel"):
        theirs(architecture).save_pretrained(tmp_path / architecture)
        before = load(tmp_path / architecture).model.config
        change_config(tmp_path / architecture, architectures=None)
        assert load(tmp_path / architecture).model.config == before


def test_a_perceiver_that_theirs_cannot_be_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="transformers has no such Perceiver: it has those of one look"):
        export(tmp_path, build("perceiver-nano"))
    with pytest.raises(ValueError, match="export has no place for this one"):
        export(tmp_path, Perceiver(Config(16, bands=4, latents=6, width=32, looks=1, repeats=1, decoder="query")))
