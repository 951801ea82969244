"""CLIP and SigLIP as `transformers` has them: the same weights see and read the same, in and out."""

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from tests.parity.pictures import change_config, close, opened, theirs

import regard
from regard.attention import record
from regard.hub import CheckpointError, export, load
from regard.pipelines.match import Matching

SIZE = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4)
TEXT = SIZE | dict(vocab_size=50, max_position_embeddings=8, bos_token_id=48, eos_token_id=49, pad_token_id=1)
IMAGE = SIZE | dict(image_size=16, patch_size=4)
KINDS = {"CLIPModel": transformers.CLIPConfig, "SiglipModel": transformers.SiglipConfig}
every_kind = pytest.mark.parametrize("architecture", KINDS)
PICTURE = torch.randn(2, 3, 16, 16, generator=torch.Generator().manual_seed(1))
# Two texts, each of which ends with 49; the second is shorter, and padded as CLIP's tokenizer does.
IDS = torch.tensor([[48, 3, 7, 9, 11, 2, 5, 49], [48, 3, 8, 49, 49, 49, 49, 49]])
LENGTHS = torch.tensor([8, 4])


def made(architecture: str, text: dict[str, Any] | None = None, image: dict[str, Any] | None = None) -> Any:
    own = {"projection_dim": 24} if architecture == "CLIPModel" else {}
    return theirs(
        architecture,
        KINDS[architecture](text_config=TEXT | (text or {}), vision_config=IMAGE | (image or {}), **own),
    )


def compare(ours: Any, other: Any, image: torch.Tensor = PICTURE) -> None:
    """Vectors, logits, and the streams and weights of both towers are the same."""
    how = dict(output_hidden_states=True, output_attentions=True)
    told = other(input_ids=IDS, pixel_values=image, **how)
    lengths = None if ours.config.text.filled else LENGTHS
    with record(ours, hidden=True) as trace:
        found = ours(image, IDS, lengths=lengths)
    close(found.image, told.image_embeds)
    close(found.text, told.text_embeds)
    close(found.logits, told.logits_per_image)
    seen, read = told.vision_model_output, told.text_model_output
    blocks = {name: each for name, (each,) in trace.hidden.items()}
    for mine, their in zip(
        [x for n, x in blocks.items() if n.startswith("image.")], seen.hidden_states[1:], strict=True
    ):
        close(mine, their)
    for mine, their in zip(
        [x for n, x in blocks.items() if n.startswith("text.")], read.hidden_states[1:], strict=True
    ):
        for row, (one, other_one) in enumerate(zip(mine, their, strict=True)):
            size = len(one) if lengths is None else int(LENGTHS[row])
            close(one[:size], other_one[:size])
    for i in range(2):
        close(trace.weights(f"image.blocks.{i}.attn"), seen.attentions[i])
        close(trace.weights(f"text.encoder.blocks.{i}.attn")[0], read.attentions[i][0])


@torch.no_grad()
@every_kind
def test_a_model_of_hugging_face_matches_as_before_and_goes_back(tmp_path: Path, architecture: str) -> None:
    other = made(architecture)
    other.save_pretrained(tmp_path / "in")
    found = load(tmp_path / "in")
    assert found.card["task"] == "match"
    compare(found.model, other)
    export(tmp_path / "out", found.model)
    compare(found.model, opened(architecture, tmp_path / "out"))
    assert load(tmp_path / "out").model.config == found.model.config


@torch.no_grad()
@pytest.mark.parametrize("how", [{"hidden_act": "gelu"}, {"layer_norm_eps": 0.1}], ids=str)
@every_kind
def test_settings_of_each_tower_are_honoured(tmp_path: Path, architecture: str, how: dict[str, Any]) -> None:
    for number, (text, image) in enumerate([(how, {}), ({}, how)]):
        other = made(architecture, text, image)
        other.save_pretrained(tmp_path / str(number))
        compare(load(tmp_path / str(number)).model, other)


@torch.no_grad()
def test_larger_pictures_have_their_positions_interpolated_alike(tmp_path: Path) -> None:
    other = made("CLIPModel")
    other.save_pretrained(tmp_path)
    larger = torch.randn(1, 3, 24, 24)
    their = other.get_image_features(larger, interpolate_pos_encoding=True)
    vector = their if isinstance(their, torch.Tensor) else their.pooler_output
    close(load(tmp_path).model.encode_image(larger), torch.nn.functional.normalize(vector, dim=-1))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"text_config": TEXT | {"hidden_act": "relu"}}, "text_config: hidden_act is 'relu'; known are quick_gelu"),
        ({"vision_config": IMAGE | {"odd": 1}}, "vision_config: odd is not known"),
        ({"vision_config": 3}, "vision_config is 3, and no object"),
        ({"architectures": ["CLIPTextModel"]}, "known is CLIPModel"),
        ({"odd": 1}, "odd is not known"),
    ],
    ids=str,
)
def test_settings_that_are_not_honoured_are_refused_by_name(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    made("CLIPModel").save_pretrained(tmp_path)
    change_config(tmp_path, **changes)
    with pytest.raises(CheckpointError, match=said):
        load(tmp_path)


@every_kind
def test_every_field_of_their_config_is_known(tmp_path: Path, architecture: str) -> None:
    KINDS[architecture]().save_pretrained(tmp_path)
    from regard.hub.gate import read_json
    from regard.hub.tables.table import table

    about = read_json(tmp_path / "config.json")
    table(about["model_type"], tmp_path, "").config(about | {"architectures": [architecture]}, set())


def test_a_sentencepiece_tokenizer_of_siglip_fills_rows_alike(tmp_path: Path) -> None:
    """Small letters, no punctuation, an end and no beginning, and padding to the context, which is the end again."""
    sentencepiece = pytest.importorskip("sentencepiece")
    lines = [f"a photo of a {kind} in the {place}" for kind in ("dog", "cat", "horse") for place in ("snow", "sea")]
    (tmp_path / "lines.txt").write_text("\n".join(lines * 20))
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "lines.txt"),
        model_prefix=str(tmp_path / "spiece"),
        vocab_size=28,
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
    )
    made("SiglipModel").save_pretrained(tmp_path)
    (tmp_path / "spiece.vocab").unlink()
    other = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "spiece.model"))
    found = regard.load(tmp_path)
    assert isinstance(found, Matching)
    for text, plain in (("a dog", "a dog"), ("A DOG, in: the sea!", "a dog in the sea")):
        pieces = [*other.encode(plain)[:7], 1]
        ids, _ = found.padded(found.rows([text], cut=True))
        assert ids.tolist() == [pieces + [1] * (8 - len(pieces))]
