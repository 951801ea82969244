"""Export a model to run elsewhere: as ONNX, for Hugging Face transformers, or for CTranslate2.

`onnx` writes one file a graph: model.onnx is the whole model, and of one that writes, start.onnx reads a source and
step.onnx goes on by some words from the keys and values of those before. Batches and lengths are free. Each file is
run in onnxruntime, where that is installed, on other sizes than were traced, and compared with the model here.
`hf` writes config.json and model.safetensors as transformers reads them. `ctranslate2` knows Transformer, GPT and BERT.

    regard export de-en --to onnx --out de-en-onnx
    regard export world-vit --to onnx --out seen --any-size
    regard export world-bert --to hf --out for-transformers
    regard export de-en --to ctranslate2 --out for-ctranslate2
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from regard.cli.errors import UsageError
from regard.names import Runtime

GROUP = "Train and run"


@dataclass(frozen=True, slots=True)
class Flags:
    model: Annotated[Positional[str], arg(metavar="MODEL")]
    """A name that `regard list zoo` shows, a folder, or hub:owner/name."""
    to: Runtime
    """Which format to write."""
    out: Path
    """The folder to write; it must be new or empty."""
    any_size: bool = False
    """Leave the size of pictures free too; tracing takes minutes for some models. Only for onnx."""
    json: bool = False
    """Print JSON, one file a line."""


def main(flags: Flags) -> None:
    """Write the folder and say what is in it."""
    if flags.any_size and flags.to != "onnx":
        raise UsageError(f"--any-size is for --to onnx; {flags.to} keeps the model's own sizes, so leave it out")
    from regard.hub import CheckpointError, load
    from regard.hub.runtimes.write import write

    try:
        found = load(flags.model)
    except (FileNotFoundError, CheckpointError) as error:
        raise UsageError(str(error)) from None
    try:
        written = write(flags.out, found, flags.to, any_size=flags.any_size)
    except (ValueError, ImportError) as error:
        raise UsageError(str(error)) from None
    for each in written:
        print(_facts(each) if flags.json else _line(each))


def _facts(written: Any) -> str:
    facts = {"file": str(written.path), "inputs": written.inputs, "outputs": written.outputs}
    return json.dumps({**facts, "difference": written.difference}, ensure_ascii=False)


def _line(written: Any) -> str:
    takes = ", ".join(f"{name} ({' × '.join(map(str, shape))})" for name, shape in written.inputs.items())
    if not takes:
        return str(written.path)
    near = "onnxruntime is not installed, so nothing was compared"
    if written.difference is not None:
        near = f"onnxruntime differs by {written.difference:.1g} on sizes that were not traced"
    return f"{written.path}: {takes} → {', '.join(written.outputs)}; {near}"
