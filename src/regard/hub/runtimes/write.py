"""One door to all formats: a loaded model, written as a folder that others read."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp

from regard.hub.huggingface import export
from regard.hub.runtimes.ctranslate2 import write_ctranslate2
from regard.hub.runtimes.onnx import CLOSE, Written, write_onnx
from regard.hub.store import Checkpoint, files_beside
from regard.names import Runtime
from regard.text import Tokenizer


def write(folder: str | Path, checkpoint: Checkpoint, to: Runtime, *, any_size: bool = False) -> list[Written]:
    """Write a model, and its tokenizer or processor beside it, for another runtime; the files it consists of.

    `any_size` leaves the size of pictures free in ONNX. What the format has no place for is refused, and so is a folder
    that holds something already.
    """
    folder, tokenizer = Path(folder), checkpoint.tokenizer
    if checkpoint.family is None:
        raise ValueError(f"{checkpoint.name} is not one of regard's models; its own library can export it")
    if tokenizer is not None and not isinstance(tokenizer, Tokenizer):
        raise ValueError(f"{checkpoint.name} has a tokenizer of another library; its own library can export it")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} holds something already; name a folder that is new or empty")
    written: list[Written] = []
    with _beside(folder) as place:
        if to == "hf":
            export(place, checkpoint.model, tokenizer, processor=checkpoint.processor)
        elif to == "ctranslate2":
            write_ctranslate2(place, checkpoint.model, tokenizer)
        else:
            example = checkpoint.family.example(checkpoint.model.config)
            written = write_onnx(place, checkpoint.model, example, any_size=any_size)
            far = [f"{each.path.name} by {each.difference:.2g}" for each in written if (each.difference or 0) > CLOSE]
            if far:
                raise ValueError(f"onnxruntime answers otherwise than the model ({', '.join(far)}); please report this")
            for name, data in files_beside(tokenizer, checkpoint.processor).items():
                (place / name).write_bytes(data)
    if not written:
        written = [Written(path, {}, (), None) for path in sorted(folder.iterdir())]
    return [replace(each, path=folder / each.path.name) for each in written]


@contextmanager
def _beside(folder: Path) -> Iterator[Path]:
    """A place beside the folder, which becomes it when all has been written."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    place = Path(mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        yield place
        place.chmod(0o755)  # as other folders are, which everybody may read
        place.replace(folder)
    finally:
        shutil.rmtree(place, ignore_errors=True)
