"""SAM beside transformers with the same weights: a picture that is seen once, and a click.

MobileSAM, which transformers has not, is measured beside onnxruntime where it can be imported. Weights are drawn by
chance: what they say costs no time.
"""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from bench.clock import Times, console, race, show
from regard.decode import quantize
from regard.hub.tables.rules import save
from regard.hub.tables.sam import rules, to_json
from regard.layers.folding import fold
from regard.models import build
from regard.models.sam import VIT_B, Config, Seen
from regard.names import Dtype

THEIRS, OURS, ONNX = "transformers float32", "regard float32", "onnxruntime float32"
KINDS: tuple[Dtype, ...] = ("float32", "int8")
SMALLER = 512  # pixels at which the paper's ViT is measured; at 1024 it takes half a minute


def run(*, quick: bool, bfloat16: bool) -> list[dict[str, object]]:  # noqa: ARG001
    torch.manual_seed(0)
    return _seeing(quick) + _clicking(quick) + _mobile(quick)


@torch.inference_mode()
def _seeing(quick: bool) -> list[dict[str, object]]:
    """The eye of sam-base, on pictures of half the side."""
    size = 128 if quick else SMALLER
    ours: Any = build("sam-base", eye=replace(VIT_B, size=size)).eval()
    theirs, image = _transformers(ours), torch.randn(1, 3, size, size)
    torch.testing.assert_close(
        ours.encode(image).cells.permute(0, 3, 1, 2), theirs.vision_encoder(image)[0], atol=1e-3, rtol=1e-3
    )
    contestants: dict[str, Callable[[], object]] = {THEIRS: partial(theirs.vision_encoder, image)}
    contestants |= {f"regard {kind}": partial(_encode, quantize(ours, kind), image) for kind in KINDS}
    times = race(contestants, seconds=0.0 if quick else 20.0, least=1 if quick else 3)
    return show("A picture is seen", {f"sam-base, {size} pixels": times}, reference=THEIRS)


@torch.inference_mode()
def _clicking(quick: bool) -> list[dict[str, object]]:
    """Clicks on a picture of 64×64 cells that was seen before."""
    ours: Any = build("sam-mobile", eye=replace(VIT_B, width=16, depth=1, heads=1, hidden=16, everywhere=())).eval()
    theirs = _transformers(ours)
    seen = Seen(torch.randn(1, 64, 64, 256) * 0.1, ours.prompts.cells(64, 64))
    cells, found = seen.cells.permute(0, 3, 1, 2).contiguous(), dict[str, Mapping[str, Times]]()
    for clicks in (1, 16):
        points, labels = torch.rand(clicks, 1, 2) * 1000, torch.ones(clicks, 1, dtype=torch.long)
        given = {"input_points": points[None], "input_labels": labels[None], "image_embeddings": cells}
        torch.testing.assert_close(
            ours.prompt(seen, points, labels).masks[:, 1:], theirs(**given).pred_masks[0], atol=1e-3, rtol=1e-3
        )
        contestants: dict[str, Callable[[], object]] = {THEIRS: partial(theirs, **given)}
        prepared: dict[str, Any] = {f"regard {kind}": quantize(ours, kind) for kind in KINDS}
        contestants |= {name: partial(model.prompt, seen, points, labels) for name, model in prepared.items()}
        times = race(contestants, seconds=0.0 if quick else 10.0, least=1 if quick else 5)
        found[f"{clicks} click{'s' * (clicks > 1)}"] = times
    return show("Clicks on a picture that was seen", found, reference=THEIRS)


@torch.inference_mode()
def _mobile(quick: bool) -> list[dict[str, object]]:
    """MobileSAM as the pipeline runs it, its batch norms being part of the convolutions before them."""
    ours: Any = fold(build("sam-mobile").eval())
    image, cells = torch.randn(1, 3, 1024, 1024), torch.randn(1, 64, 64, 256) * 0.1
    points, labels = torch.rand(1, 1, 2) * 1000, torch.ones(1, 1, dtype=torch.long)
    seen, small = Seen(cells, ours.prompts.cells(64, 64)), quantize(ours, "int8")
    given = {"image": (_Eye(ours), (image,)), "click": (_Click(ours), (cells, points, labels))}
    looks: dict[str, dict[str, Callable[[], object]]] = {
        "image": {OURS: partial(_encode, ours, image), "regard int8": partial(_encode, small, image)},
        "click": {OURS: partial(ours.prompt, seen, points, labels)},
    }
    found = dict[str, Mapping[str, Times]]()
    for work, contestants in looks.items():
        if (peer := _onnxruntime(*given[work])) is not None:
            contestants = {ONNX: peer} | contestants
        found[work] = race(contestants, seconds=0.0 if quick else 20.0, least=1 if quick else 3)
    return show("MobileSAM, 1024 pixels", found, reference=next(iter(found["image"])))


def _encode(model: Any, image: Tensor) -> Tensor:
    cells: Tensor = model.encode(image).cells
    return cells


def _transformers(ours: Any) -> Any:
    """Their SAM with our weights."""
    import transformers

    given: Config = ours.config
    said = to_json(given, None)
    parts = {name: said[name] for name in ("vision_config", "prompt_encoder_config", "mask_decoder_config")}
    theirs = transformers.SamModel(transformers.SamConfig(**parts)).eval()
    missing, strange = theirs.load_state_dict(save(rules(asdict(given), {}), ours.state_dict()), strict=False)
    assert not strange
    assert set(missing) <= {"prompt_encoder.shared_embedding.positional_embedding"}
    theirs.prompt_encoder.shared_embedding = theirs.shared_image_embedding
    return theirs


class _Eye(nn.Module):
    """A picture in, cells out, as an exporter wants it."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, image: Tensor) -> Tensor:
        return _encode(self.model, image)


class _Click(nn.Module):
    """Cells and a click in, masks and how sure of each out."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model
        self.where = nn.Buffer(model.prompts.cells(64, 64))

    def forward(self, cells: Tensor, points: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        said = self.model.prompt(Seen(cells, self.where), points, labels)
        return said.masks, said.iou


def _onnxruntime(module: nn.Module, given: tuple[Tensor, ...]) -> Callable[[], object] | None:
    try:
        onnxruntime: Any = import_module("onnxruntime")
        import_module("onnxscript")  # which torch's exporter needs
    except ImportError:
        console.print("onnxruntime is left out: it and onnxscript are not installed.")
        return None
    names = [f"given_{i}" for i in range(len(given))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        torch.onnx.export(module.eval(), given, path, input_names=names, dynamo=True, verbose=False)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    inputs = {name: each.numpy() for name, each in zip(names, given, strict=True)}
    for mine, theirs in zip(_flat(module(*given)), session.run(None, inputs), strict=True):
        torch.testing.assert_close(mine, torch.from_numpy(theirs), atol=1e-3, rtol=1e-2)
    return partial(session.run, None, inputs)


def _flat(said: Tensor | tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return said if isinstance(said, tuple) else (said,)
