"""ViTs at 224 pixels beside transformers, timm and vit-pytorch, Swin as pictures grow, and varied pictures.

timm and vit-pytorch are measured where they can be imported. Weights are drawn by chance.
"""

import io
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch import Tensor, nn

import regard
from bench.clock import Times, console, race, show
from regard.chance import Chance
from regard.data import DataError
from regard.data.pictures import pictures
from regard.decode import quantize
from regard.models import build
from regard.names import Dtype
from regard.vision import flip, from_array, pad_and_crop, rand_augment, random_resized_crop

SIZES = {"ViT-S/16": "vit-small", "ViT-B/16": "vit-base"}
THEIRS = "transformers float32"
PEAK = 2048  # the side of a square product that finds the speed of this machine


def run(*, quick: bool, bfloat16: bool) -> list[dict[str, object]]:
    torch.manual_seed(0)
    numbers = _seeing(quick, bfloat16)
    numbers += _learning(quick)
    numbers += _growing(quick)
    numbers += _varying(quick)
    _agreeing(quick)
    return numbers


def _seeing(quick: bool, bfloat16: bool) -> list[dict[str, object]]:
    kinds: list[Dtype] = ["float32", "int8", "bfloat16"] if bfloat16 else ["float32", "int8"]
    found: dict[str, Mapping[str, Times]] = {}
    for title, preset in SIZES.items():
        ours = build(preset).eval()
        models: dict[str, Callable[[Tensor], object]] = {THEIRS: _transformers(ours.config)}
        models |= {f"regard {kind}": quantize(ours, kind) for kind in kinds}
        types = {"regard bfloat16": torch.bfloat16}  # of the pictures
        models |= {f"{name} float32": peer.eval() for name, peer in _peers(ours.config).items()}
        for batch in (1, 16):
            image = torch.randn(batch, 3, 224, 224)
            with torch.inference_mode():
                found[f"{title}, batch {batch}"] = race(
                    {name: partial(model, image.to(types.get(name, image.dtype))) for name, model in models.items()},
                    seconds=0.0 if quick else 20.0,
                    least=1 if quick else 5,
                )
    return show("Pictures of 224 pixels", found, reference=THEIRS)


def _learning(quick: bool) -> list[dict[str, object]]:
    """A training step, and which share of the machine's products it reaches."""
    ours: Any = build("vit-small", drop_path=0.0)
    batch, image = 8, torch.randn(8, 3, 224, 224)
    models: dict[str, Any] = {"regard": ours, "transformers": _transformers(ours.config)}
    models |= _peers(ours.config)
    steps = {name: _step(model.train(), image) for name, model in models.items()}
    times = race(steps, seconds=0.0 if quick else 20.0, least=1 if quick else 4)
    reference = "vit-pytorch" if "vit-pytorch" in times else "transformers"
    numbers = show("A training step of ViT-S/16, float32", {f"batch {batch}": times}, reference=reference)
    tokens, width, depth = 197, ours.config.width, ours.config.depth
    products = depth * (12 * width**2 * tokens + 2 * tokens**2 * width) * 2 * 3 * batch
    square = torch.randn(PEAK, PEAK)
    peak = 2 * PEAK**3 / race({"product": lambda: square @ square}, seconds=1.0)["product"].best
    reached = products / times["regard"].best
    console.print(
        f"{reached / 1e9:.0f} GFLOP/s of {peak / 1e9:.0f} that a square product reaches: {reached / peak:.0%}"
    )
    return numbers


def _growing(quick: bool) -> list[dict[str, object]]:
    """Windows beside full attention in whole models of the same depth and width, as the picture grows."""
    found: dict[str, Mapping[str, Times]] = {}
    for size in (112, 224) if quick else (112, 224, 336, 448):
        image = torch.randn(1, 3, size, size)
        windows = build("swin-tiny", size=size).eval()
        full = build("vit-tiny", size=size, patch=8).eval()
        with torch.inference_mode():
            found[f"{size} pixels"] = race(
                {"vit-tiny, patches of 8": partial(full, image), "swin-tiny": partial(windows, image)},
                seconds=0.0 if quick else 5.0,
                least=1 if quick else 3,
            )
    return show("Full attention and windows as pictures grow", found, reference="vit-tiny, patches of 8")


def _varying(quick: bool) -> list[dict[str, object]]:
    """Varying pictures beside decoding them, which Pillow does in any case."""
    chance = np.random.default_rng(0)
    pixels = chance.integers(0, 255, (64, 224, 224, 3), dtype=np.uint8)
    files = []
    for each in pixels:
        buffer = io.BytesIO()
        Image.fromarray(each).save(buffer, "JPEG", quality=85)
        files.append(buffer.getvalue())
    opened = [from_array(each) for each in pixels]

    def decode() -> None:
        for file in files:
            Image.open(io.BytesIO(file)).convert("RGB")

    def randomly() -> None:
        for i, each in enumerate(opened):
            rand_augment(random_resized_crop(each, 224, Chance(0, "bench", i)), Chance(1, "bench", i))

    contestants: dict[str, Callable[[], object]] = {
        "Pillow decodes": decode,
        "flip, pad and crop": lambda: pad_and_crop(flip(pixels, Chance(0, "flip")), Chance(0, "crop"), 28),
        "random crop, RandAugment": randomly,
    }
    times = race(contestants, seconds=0.0 if quick else 5.0, least=1 if quick else 3)
    return show("64 pictures of 224 pixels", {"one thread": times}, reference="Pillow decodes")


def _agreeing(quick: bool) -> None:
    """On how many test pictures the bundled ViT for CIFAR-10 says the same in int8 as in float32."""
    try:
        known = pictures("cifar10", "test")
    except DataError as error:
        console.print(f"int8 is not compared on CIFAR-10: {error}")
        return
    shown = [known.picture(i) for i in range(200 if quick else len(known))]
    exact, rounded = (
        [each.label for each in regard.load("cifar10-vit", dtype=kind)(shown)] for kind in ("float32", "int8")
    )
    same = sum(a == b for a, b in zip(exact, rounded, strict=True))
    console.print(f"cifar10-vit says the same in int8 as in float32 of {same:,} of {len(shown):,} pictures")


def _step(model: nn.Module, image: Tensor) -> Callable[[], None]:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    targets = torch.randint(1000, (len(image),))

    def step() -> None:
        said: Any = model(image)
        F.cross_entropy(getattr(said, "logits", said), targets).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def _transformers(config: Any) -> Any:
    from transformers import ViTConfig, ViTForImageClassification

    given = ViTConfig(
        hidden_size=config.width,
        num_hidden_layers=config.depth,
        num_attention_heads=config.heads,
        intermediate_size=config.hidden,
        image_size=config.size,
        patch_size=config.patch,
        num_labels=config.classes,
    )
    return ViTForImageClassification(given).eval()


def _peers(config: Any) -> dict[str, Any]:
    """The same model by others, as far as they are installed."""
    made = {"timm": _timm, "vit-pytorch": _vit_pytorch}
    return {name: peer for name, make in made.items() if (peer := make(config)) is not None}


def _timm(config: Any) -> Any:
    try:
        from timm.models.vision_transformer import VisionTransformer  # type: ignore[import-not-found]
    except ImportError:  # also where torchvision is missing, which it needs
        return None
    return VisionTransformer(
        img_size=config.size,
        patch_size=config.patch,
        num_classes=config.classes,
        embed_dim=config.width,
        depth=config.depth,
        num_heads=config.heads,
        mlp_ratio=config.hidden / config.width,
    )


def _vit_pytorch(config: Any) -> Any:
    try:
        from vit_pytorch import ViT  # type: ignore[import-not-found]
    except ImportError:
        return None
    return ViT(
        image_size=config.size,
        patch_size=config.patch,
        num_classes=config.classes,
        dim=config.width,
        depth=config.depth,
        heads=config.heads,
        mlp_dim=config.hidden,
    )
