"""GPT-2 small writes 64 words after 128, beside itself in transformers and CTranslate2, with weights by chance."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor

from bench.clock import Times, console, race, show
from regard.decode import argmax, generate, quantize, rows
from regard.models.gpt import GPT, Config
from regard.names import Dtype

READ, WRITTEN, BATCHES = 128, 64, (1, 8)
THEIRS = "transformers float32"


def run(*, quick: bool, bfloat16: bool) -> list[dict[str, object]]:
    torch.manual_seed(0)
    config = Config()
    theirs, ours = _transformers(), GPT(config).eval()
    kinds: list[Dtype] = ["float32", "int8", "bfloat16"] if bfloat16 else ["float32", "int8"]
    models = {f"regard {kind}": quantize(ours, kind) for kind in kinds}
    numbers: list[dict[str, object]] = []
    with TemporaryDirectory() as folder:
        peers: dict[str, Callable[[Tensor], object]] = {THEIRS: partial(_generate, theirs)}
        for kind in ("float32", "int8"):
            try:
                peers[f"CTranslate2 {kind}"] = _ctranslate2(theirs, Path(folder) / kind, kind)
            except ImportError:
                console.print("CTranslate2 is left out: it is not installed.")
        contestants = peers | {name: partial(_write, model) for name, model in models.items()}
        found: dict[str, Mapping[str, Times]] = {}
        for batch in BATCHES:
            ids = torch.randint(10, config.vocab, (batch, READ))
            found[f"batch {batch}"] = race(
                {name: partial(write, ids) for name, write in contestants.items()},
                seconds=0.0 if quick else 60.0,
                least=1 if quick else 5,
            )
    title = f"GPT-2 small: {READ} words read, {WRITTEN} written, {'with' if rows.loops() else 'without'} numba"
    numbers += show(title, found, reference=THEIRS)
    size = sum(weight.numel() for weight in ours.parameters()) - config.context * config.width
    for work, times in found.items():
        batch = int(work.split()[1])
        for kind, width in (("float32", 4), ("int8", 1)):
            mine = times[f"regard {kind}"]
            rate = batch * WRITTEN / mine.best
            said = f"{work}, {kind}: {rate:.0f} words/s, {size * width * rate / batch / 1e9:.1f} GB/s of weights"
            if f"CTranslate2 {kind}" in times:
                peer = times[f"CTranslate2 {kind}"]
                said += f"; {peer.best / mine.best:.2f}× CTranslate2 {kind} (median {peer.median / mine.median:.2f}×)"
            console.print(said)
    return numbers


@torch.no_grad()
def _write(model: Any, ids: Tensor) -> object:
    _, state = model.advance(ids[:, :-1], model.start(len(ids)))
    return generate(model.step, state, ids[:, -1], stop=None, limit=WRITTEN, choose=argmax)


def _transformers() -> Any:
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(GPT2Config()).eval()


@torch.no_grad()
def _generate(model: Any, ids: Tensor) -> object:
    return model.generate(
        input_ids=ids,
        attention_mask=torch.ones_like(ids),
        do_sample=False,
        min_new_tokens=WRITTEN,
        max_new_tokens=WRITTEN,
        pad_token_id=0,
    )


def _ctranslate2(model: Any, folder: Path, kind: str) -> Callable[[Tensor], object]:
    """The weights of the transformers model in CTranslate2, by its loader; the words are made up."""
    import ctranslate2
    from ctranslate2.converters.transformers import GPT2Loader

    spec = GPT2Loader().get_model_spec(model)
    words = [f"w{i}" for i in range(model.config.vocab_size)]
    spec.register_vocabulary(words)
    spec.config.bos_token = spec.config.eos_token = spec.config.unk_token = words[-1]
    spec.validate()
    spec.optimize(quantization=None if kind == "float32" else kind)
    folder.mkdir()
    spec.save(str(folder))
    generator = ctranslate2.Generator(
        str(folder), compute_type=kind, inter_threads=1, intra_threads=torch.get_num_threads()
    )

    def write(ids: Tensor) -> object:
        return generator.generate_batch(
            [[words[i] for i in row] for row in ids.tolist()],
            beam_size=1,
            sampling_topk=1,
            min_length=WRITTEN,
            max_length=WRITTEN,
            include_prompt_in_result=False,
        )

    return write
