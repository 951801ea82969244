"""Translation beside Marian in transformers and in CTranslate2: the base Transformer with weights drawn by chance.

Every contestant reads the same number of words and writes the same number, so what the words are does not matter.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor

from bench.clock import Times, console, race, show
from regard.decode import beam, greedy, quantize
from regard.models.transformer import Config, Transformer

VOCAB, BATCH, WORDS = 32_000, 32, 32
START, STOP = 1, 2


def run(*, quick: bool, bfloat16: bool) -> list[dict[str, object]]:
    torch.manual_seed(0)
    source = torch.randint(4, VOCAB - 1, (BATCH, WORDS))
    config = Config(vocab=VOCAB)
    marian, ours = _marian(config), Transformer(config).eval()
    contestants: dict[str, Callable[[int], object]] = {"transformers float32": partial(_generate, marian, source)}
    with TemporaryDirectory() as folder:
        try:
            contestants["CTranslate2 int8"] = _ctranslate2(marian, source, Path(folder))
        except ImportError:
            console.print("CTranslate2 is left out: it is not installed.")
        for precision in ("float32", "int8", "bfloat16") if bfloat16 else ("float32", "int8"):
            contestants[f"regard {precision}"] = partial(_write, quantize(ours, precision), source)
        rows: dict[str, Mapping[str, Times]] = {
            "greedy" if size == 1 else f"beam {size}": race(
                {name: partial(write, size) for name, write in contestants.items()},
                seconds=0.0 if quick else 60.0,
                least=1 if quick else 5,
            )
            for size in (1, 4)
        }
    title = f"Translating {BATCH} × {WORDS} words, base size, vocabulary {VOCAB}"
    numbers = show(title, rows, reference="transformers float32")
    for work, times in rows.items():
        if "CTranslate2 int8" in times:
            theirs, mine = times["CTranslate2 int8"], times["regard int8"]
            best, median = theirs.best / mine.best, theirs.median / mine.median
            console.print(f"{work}: regard int8 is {best:.2f}× (median {median:.2f}×) as fast as CTranslate2 int8")
    return numbers


@torch.no_grad()
def _write(model: Any, source: Tensor, size: int) -> object:
    def step(words: Tensor, state: Any) -> tuple[Tensor, Any]:
        logits, state = model.step(words, state)
        logits[..., STOP] = -torch.inf  # as many words as the others write
        return logits, state

    first, state = torch.full((len(source),), START), model.start(source)
    if size == 1:
        return greedy(step, state, first, stop=STOP, limit=WORDS)
    return beam(step, state, first, stop=STOP, limit=WORDS, size=size)


def _marian(config: Config) -> Any:
    from transformers import MarianConfig, MarianMTModel

    sizes = {
        f"{side}_{name}": value
        for side in ("encoder", "decoder")
        for name, value in (
            ("layers", config.depth),
            ("attention_heads", config.heads),
            ("ffn_dim", config.hidden),
        )
    }
    return MarianMTModel(
        MarianConfig(
            vocab_size=config.vocab,
            d_model=config.width,
            activation_function="relu",
            scale_embedding=True,
            bos_token_id=START,
            decoder_start_token_id=START,
            eos_token_id=STOP,
            forced_eos_token_id=None,
            pad_token_id=0,
            **sizes,
        )
    ).eval()


@torch.no_grad()
def _generate(marian: Any, source: Tensor, size: int) -> object:
    return marian.generate(
        input_ids=source,
        attention_mask=torch.ones_like(source),
        num_beams=size,
        do_sample=False,
        min_new_tokens=WORDS,
        max_new_tokens=WORDS,
    )


def _ctranslate2(marian: Any, source: Tensor, folder: Path) -> Callable[[int], object]:
    """Marian's own weights in CTranslate2, by its loader; a tokenizer is not needed, since words are made up."""
    import ctranslate2
    from ctranslate2.converters.transformers import MarianMTLoader

    spec = MarianMTLoader().get_model_spec(marian)
    words = ["<pad>", "<s>", "</s>", "<unk>", *(f"w{i}" for i in range(4, VOCAB - 1))]  # the loader drops one word
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.config.bos_token, spec.config.eos_token, spec.config.unk_token = "<s>", "</s>", "<unk>"
    spec.config.decoder_start_token = "<s>"
    spec.validate()
    spec.optimize(quantization="int8")
    spec.save(str(folder))
    translator = ctranslate2.Translator(
        str(folder), compute_type="int8", inter_threads=1, intra_threads=torch.get_num_threads()
    )
    texts = [[words[i] for i in row] for row in source.tolist()]

    def write(size: int) -> object:
        return translator.translate_batch(
            texts, beam_size=size, min_decoding_length=WORDS, max_decoding_length=WORDS, max_batch_size=BATCH
        )

    return write
