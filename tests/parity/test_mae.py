"""The masked autoencoder as `transformers` has it: the same patches hidden, the same pixels painted, the same loss."""

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from tests.parity.pictures import change_config, close, opened, theirs

from regard.hub import CheckpointError, export, load
from regard.models import build
from regard.models.mae import join, lost

ARCHITECTURE = "ViTMAEForPreTraining"
DICE = torch.Generator().manual_seed(1)
IMAGE, NOISE = torch.randn(2, 3, 16, 16, generator=DICE), torch.rand(2, 16, generator=DICE)


def made(**changes: Any) -> Any:
    sizes = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48)
    sizes |= dict(decoder_hidden_size=24, decoder_num_hidden_layers=2, decoder_num_attention_heads=2)
    sizes |= dict(decoder_intermediate_size=40, image_size=16, patch_size=4)
    return theirs(ARCHITECTURE, transformers.ViTMAEConfig(**(sizes | changes)))


@torch.no_grad()
@pytest.mark.parametrize("changes", [{}, {"norm_pix_loss": True}, {"mask_ratio": 0.4, "layer_norm_eps": 0.1}], ids=str)
def test_an_autoencoder_of_hugging_face_paints_as_before_and_goes_back(tmp_path: Path, changes: dict[str, Any]) -> None:
    other = made(**changes)
    other.save_pretrained(tmp_path / "in")
    found = load(tmp_path / "in")
    assert found.card["task"] == "features"
    export(tmp_path / "out", found.model)
    for each in (other, opened(ARCHITECTURE, tmp_path / "out")):
        told = each(IMAGE, noise=NOISE)
        mine = found.model(IMAGE, NOISE)
        close(mine.patches, told.logits)
        assert mine.hidden.equal(told.mask.bool())
        close(lost(mine, IMAGE, found.model.config).mean(), told.loss)
        close(join(mine.patches, 4, (4, 4)), each.unpatchify(told.logits))
    assert load(tmp_path / "out").model.config == found.model.config


@torch.no_grad()
def test_the_eye_sees_a_whole_picture_as_theirs_does_when_nothing_is_hidden(tmp_path: Path) -> None:
    other = made(mask_ratio=0.0)
    other.save_pretrained(tmp_path)
    change_config(tmp_path, mask_ratio=0.75)
    eye = load(tmp_path).model.eye
    close(eye.read(IMAGE), other.vit(IMAGE, noise=torch.arange(16.0).expand(2, -1)).last_hidden_state)


@torch.no_grad()
def test_older_names_of_the_decoders_blocks_are_read_too(tmp_path: Path) -> None:
    other = made()
    other.save_pretrained(tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    renamed = {name.replace("decoder_encoder.layer", "decoder_layers"): each for name, each in weights.items()}
    assert renamed.keys() != weights.keys()
    save_file(renamed, tmp_path / "model.safetensors")
    close(load(tmp_path).model(IMAGE, NOISE).patches, other(IMAGE, noise=NOISE).logits)


def test_the_encoder_alone_is_refused_by_the_name_of_its_class(tmp_path: Path) -> None:
    made().save_pretrained(tmp_path)
    change_config(tmp_path, architectures=["ViTMAEModel"])
    with pytest.raises(CheckpointError, match=r"architectures is \['ViTMAEModel'\]; known is ViTMAEForPreTraining"):
        load(tmp_path)


def test_waves_on_the_ground_have_no_place_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a MAE has no place in other libraries"):
        export(tmp_path, build("mae-nano"))
