"""One way to a model on disk: by the name of a bundled one, from a folder of any kind, or from the hub."""

from dataclasses import replace
from pathlib import Path

import torch

from regard import zoo
from regard.hub import gate, gguf, huggingface, remote, sentence, store
from regard.hub.gate import CheckpointError
from regard.hub.store import Checkpoint
from regard.hub.tables import efficientnet, nanogpt, sam


def find(what: str | Path, *, pickle: bool = False) -> tuple[Path, str]:
    """The folder of a model and the name it goes by.

    `what` is the name of a bundled model, the folder of a model (by regard or Hugging Face) or of a run, or
    `hub:owner/name`.
    """
    if isinstance(what, str) and what.startswith(remote.PREFIX):
        return remote.fetch(what, pickle=pickle), what.removeprefix(remote.PREFIX)
    try:
        if (inner := sentence.find(what)) is not None:
            return inner, Path(what).resolve().name
        folder = zoo.find(what)
    except (ValueError, OSError) as error:
        raise CheckpointError(str(error)) from None
    given = Path(what).resolve()
    return folder, folder.name if folder.name != "model" else (given if given.name != "model" else given.parent).name


def load(
    what: str | Path,
    *,
    dtype: torch.dtype = torch.float32,
    device: str | torch.device = "cpu",
    pickle: bool = False,
) -> Checkpoint:
    """Open a model; see `find` for what may be given, or give a GGUF file. All that is wrong is a `CheckpointError`.

    A GGUF file on the hub is named `hub:owner/name/file.gguf`, since a repository has many. `pickle`
    also reads `pytorch_model.bin`, and by their paths nanoGPT's ckpt.pt, the .pth of an EfficientNet-Lite, and the .pt
    or .pth of a SAM, which has sam in its name: only tensors and plain values of them. Prefer safetensors.
    """
    if remote.is_file(what):
        what = remote.fetch_file(str(what))
    if (file := gguf.find(what)) is not None:
        with gate.guard(file):
            return gguf.read(file, dtype=dtype, device=device)
    if (file := sam.find(what)) is not None:
        with gate.guard(file):
            return sam.read(file, dtype=dtype, device=device, pickle=pickle)
    if (file := nanogpt.find(what)) is not None:
        with gate.guard(file):
            return nanogpt.read(file, dtype=dtype, device=device, pickle=pickle)
    if (file := efficientnet.find(what)) is not None:
        with gate.guard(file):
            return efficientnet.read(file, dtype=dtype, device=device, pickle=pickle)
    folder, name = find(what, pickle=pickle)
    with gate.guard(folder):
        about = gate.read_json(folder / "config.json")
        if "format" not in about and "architecture" in about:  # in the singular, which timm writes
            about["model_type"] = "timm"
        if "format" not in about and ("model_type" in about or "architectures" in about):
            if (home := sentence.home(folder)) is None:
                return huggingface.read(folder, name, about, dtype=dtype, device=device, pickle=pickle)
            # What the encoder was trained from has left its name there, with a head that is seldom in the file.
            about.pop("architectures", None)
            found = huggingface.read(folder, name, about, dtype=dtype, device=device, pickle=pickle)
            return replace(found, card={**found.card, **sentence.card(home)})
        return store.read(folder, name, about, dtype=dtype, device=device)
