"""Pictures and words: CLIP and captions beside transformers, indexing a folder, and a contrastive step at large batch.

Weights are drawn by chance, so that of captions as many words are written as asked for.
"""

import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from bench.clock import Times, console, race, show
from regard.decode import quantize
from regard.models import build, caption, vit
from regard.names import Dtype
from regard.pipelines.index import update
from regard.train.contrastive import contrast
from regard.vision import Processor, Size

THEIRS = "transformers float32"
KINDS: tuple[Dtype, ...] = ("float32", "int8")
WORDS, VOCAB = 16, 50257  # of a caption, and GPT-2's vocabulary
WIDTH, DEPTH, HEADS = 768, 12, 12  # of a captioner's eye and of its writer


def run(*, quick: bool, bfloat16: bool) -> list[dict[str, object]]:  # noqa: ARG001
    torch.manual_seed(0)
    return [*_matching(quick), *_captioning(quick), *_indexing(quick), *_contrasting(quick)]


def _matching(quick: bool) -> list[dict[str, object]]:
    """CLIP ViT-B/32: a picture as a vector, and a text."""
    ours: Any = build("clip-vit-b32").eval()
    theirs, models = _clip(), {kind: quantize(ours, kind) for kind in KINDS}
    found: dict[str, Mapping[str, Times]] = {}
    for batch in (1,) if quick else (1, 16):
        image, ids = torch.randn(batch, 3, 224, 224), torch.randint(1000, (batch, 16))
        asked: dict[str, tuple[Callable[[], object], str, Tensor]] = {
            "pictures": (partial(theirs.get_image_features, pixel_values=image), "encode_image", image),
            "texts of 16 tokens": (partial(theirs.get_text_features, input_ids=ids), "encode_text", ids),
        }
        for work, (peer, name, given) in asked.items():
            own = {f"regard {kind}": partial(getattr(model, name), given) for kind, model in models.items()}
            with torch.inference_mode():
                found[f"{batch} {work}"] = _race({THEIRS: peer, **own}, quick)
    return show("CLIP ViT-B/32, vectors", found, reference=THEIRS)


def _captioning(quick: bool) -> list[dict[str, object]]:
    """A ViT-B/16 and a decoder of twelve blocks, greedy, beside a vision encoder–decoder of the same shapes."""
    eye = vit.Config(224, patch=16, width=WIDTH, depth=DEPTH, heads=HEADS, hidden=4 * WIDTH, classes=0, pool="mean")
    ours = caption.Caption(
        caption.Config(
            VOCAB, eye, way="transformer", width=WIDTH, hidden=4 * WIDTH, depth=DEPTH, heads=HEADS, dropout=0.0
        )
    ).eval()
    theirs = _captioner()
    models: dict[str, Any] = {f"regard {kind}": quantize(ours, kind) for kind in KINDS}
    found: dict[str, Mapping[str, Times]] = {}
    for batch in (1,) if quick else (1, 8):
        image = torch.randn(batch, 3, 224, 224)
        contestants: dict[str, Callable[[], object]] = {THEIRS: partial(_write_theirs, theirs, image)}
        contestants |= {name: partial(_write, model, image) for name, model in models.items()}
        with torch.inference_mode():
            found[f"{batch} pictures, {WORDS} words"] = _race(contestants, quick)
    return show("Captions, greedy: ViT-B/16 and twelve blocks", found, reference=THEIRS)


def _indexing(quick: bool) -> list[dict[str, object]]:
    """A folder of JPEGs as vectors of CLIP ViT-B/32, from decoding to the file beside it."""
    count, dice = 8 if quick else 128, np.random.default_rng(0)
    ours: Any = build("clip-vit-b32").eval()
    processor = Processor(size=Size(height=224, width=224))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "pictures"
        folder.mkdir()
        for i in range(count):
            # Noise of few cells: as large a file as a photograph's.
            coarse = dice.integers(0, 255, (48, 64, 3), dtype=np.uint8)
            Image.fromarray(coarse).resize((640, 480), Image.Resampling.BICUBIC).save(folder / f"{i}.jpg", quality=85)

        def index(model: Any, name: str) -> None:
            place = Path(name)
            place.unlink(missing_ok=True)
            with torch.inference_mode():
                update(folder, lambda some: model.encode_image(processor(some)), model=place.stem, path=place)

        models = {f"regard {kind}": quantize(ours, kind) for kind in KINDS}
        contestants = {who: partial(index, model, f"{name}/{who}.index") for who, model in models.items()}
        times = _race(contestants, quick)
    for who, each in times.items():
        console.print(f"{who}: {count / each.best:.1f} pictures a second are indexed, at best")
    return show(f"An index of {count} JPEGs of 640 × 480", {"a folder": times}, reference="regard float32")


def _contrasting(quick: bool) -> list[dict[str, object]]:
    """A step of the world's CLIP at a large batch: all at once, and in chunks that are computed twice."""
    batch, chunk = (64, 16) if quick else (2048, 128)
    names = {"all at once": 0, f"chunks of {chunk}": chunk}
    for who, size in names.items():
        # A process of its own for each: the peak of a process never goes down again.
        script = f"from bench.pictured import peak; print(peak({batch}, {size}))"
        told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
        console.print(f"{who}: {float(told):,.0f} MB more at the peak of a step than before it")
    contestants = {who: _step(batch, size) for who, size in names.items()}
    return show(
        f"A contrastive step, batch {batch}", {"clip-world": _race(contestants, quick)}, reference="all at once"
    )


def _step(batch: int, chunk: int) -> Callable[[], None]:
    model: Any = build("clip-world")
    image, ids = torch.randn(batch, 3, 48, 48), torch.randint(200, (batch, 16))

    def step() -> None:
        model.zero_grad()
        (contrast(model(image, ids, chunk=chunk)) / batch).backward()

    return step


def peak(batch: int, chunk: int) -> float:
    """How many megabytes a step needs beyond what the process had before it."""
    _step(2, 0)()  # what torch allocates once
    step, before = _step(batch, chunk), _most()
    step()
    return _most() - before


def _most() -> float:
    """Megabytes at the peak of this process; `getrusage` would tell that of its parent, if that was larger."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 2**10


def _race(contestants: Mapping[str, Callable[[], object]], quick: bool) -> dict[str, Times]:
    return race(contestants, seconds=0.0 if quick else 20.0, least=1 if quick else 5)


def _write(model: Any, image: Tensor) -> Tensor:
    state, words = model.start(image), torch.zeros(len(image), 1, dtype=torch.long)
    for _ in range(WORDS):
        logits, state = model.step(words, state)
        words = logits.argmax(dim=-1)
    return words


def _write_theirs(model: Any, image: Tensor) -> Tensor:
    written: Tensor = model.generate(
        pixel_values=image, max_new_tokens=WORDS, min_new_tokens=WORDS, num_beams=1, do_sample=False
    )
    return written


def _clip() -> Any:
    from transformers import CLIPConfig, CLIPModel

    return CLIPModel(CLIPConfig()).eval()  # whose defaults are ViT-B/32


def _captioner() -> Any:
    from transformers import GPT2Config, GPT2LMHeadModel, VisionEncoderDecoderModel, ViTConfig, ViTModel

    writer = GPT2Config(
        vocab_size=VOCAB,
        n_embd=WIDTH,
        n_layer=DEPTH,
        n_head=HEADS,
        is_decoder=True,
        add_cross_attention=True,
        bos_token_id=0,
        eos_token_id=0,
        pad_token_id=0,
    )
    model = VisionEncoderDecoderModel(encoder=ViTModel(ViTConfig()), decoder=GPT2LMHeadModel(writer))
    model.config.decoder_start_token_id = model.generation_config.decoder_start_token_id = 0
    model.config.pad_token_id = model.generation_config.pad_token_id = 0
    return model.eval()
