"""The one door: a model by its name, its folder or itself, as the pipeline of its task."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from regard.decode.quantize import quantize
from regard.hub import Checkpoint, NoTableError
from regard.hub import load as load_checkpoint
from regard.names import Dtype
from regard.pipelines.familiar import answer_familiar
from regard.pipelines.foreign import Foreign, open_with_transformers
from regard.pipelines.pipeline import Pipeline
from regard.pipelines.registry import pipeline
from regard.words.files import find_vectors, read_vectors


@answer_familiar
def load(
    what: Any,
    *,
    task: str | None = None,
    tokenizer: Any = None,
    dtype: Dtype | torch.dtype = "float32",
    device: str | torch.device | None = None,
    limit: int | None = None,
    pickle: bool = False,
) -> Pipeline:
    """Open a model and give the pipeline of its task.

    `what` is a name that `regard list zoo` shows, a model folder, a run folder, a Hugging Face folder,
    `hub:owner/name`, a file of word vectors, or a `transformers` model itself. `task` is what its card says, if left
    out; `dtype` is float32, bfloat16 or int8. Texts of more than `limit` tokens are refused: of more than 512, if left
    out, and for a language model of more than its context. What it opens is prepared for inference on this machine;
    what is to be trained is opened by `regard.hub.load`. `pickle` also reads files that are pickles, such as nanoGPT's
    ckpt.pt, of which only tensors and plain values are taken.
    """
    if isinstance(what, nn.Module):
        checkpoint = _wrap(what, tokenizer)
    elif isinstance(what, str | Path) and (file := find_vectors(what)) is not None:
        return _open_vectors(file, task)
    elif isinstance(what, str | Path):
        try:
            checkpoint = load_checkpoint(what, pickle=pickle)
        except NoTableError as error:
            checkpoint = open_with_transformers(error.folder, error.name, tokenizer)
        foreign = checkpoint.family is not None and not (checkpoint.folder / "card.json").exists()
        if foreign and task is None and "task" not in checkpoint.card:
            # Its table names no task, so that it can only be looked into, which transformers is as good for.
            checkpoint = open_with_transformers(checkpoint.folder, checkpoint.name, tokenizer)
    else:
        raise TypeError(
            f"{what!r:.80} is no model; give a name that `regard list zoo` shows, a folder, hub:owner/name, or a "
            f"model itself, which is a torch.nn.Module"
        )
    if tokenizer is not None:
        checkpoint = replace(checkpoint, tokenizer=tokenizer)
    said: Any = str(dtype).removeprefix("torch.")
    if said != "float32":
        checkpoint = replace(checkpoint, model=quantize(checkpoint.model, said))
    elif checkpoint.family is not None and torch.device(device or "cpu").type == "cpu":
        # It was read for us alone: it is prepared where it is, and never held twice.
        checkpoint = replace(checkpoint, model=quantize(checkpoint.model, said, in_place=True))
    named = task or checkpoint.card.get("task")
    bounds: dict[str, int] = {} if limit is None else {"limit": limit}
    if checkpoint.family is None and task is None:
        one: Pipeline = Foreign(checkpoint, **bounds)
    elif not named:  # as of a part that another model is made of
        raise ValueError(
            f"the card of {checkpoint.name} names no task; say which, as by task='translate', or take the model alone "
            f"by regard.hub.load"
        )
    else:
        one = pipeline(str(named))(checkpoint, **bounds)
    return one if device is None else one.to(device)


def _open_vectors(file: Path, task: str | None) -> Pipeline:
    """Vectors of words, which are no model and know one task."""
    if task not in (None, "words"):
        raise ValueError(f"{file} holds vectors of words, and nothing that does {task!r}; leave the task out")
    from regard.pipelines.words import Words

    return Words.on(read_vectors(file), folder=file.parent)


def _wrap(model: Any, tokenizer: Any) -> Checkpoint:
    """A model that is here already, as if it had come from a folder."""
    return Checkpoint(model.eval(), None, tokenizer, {"title": type(model).__name__}, Path(), type(model).__name__)
