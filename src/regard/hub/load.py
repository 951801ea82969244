"""One way to a model on disk: by the name of a bundled one, from a folder of any kind, or from the hub."""

from pathlib import Path

import torch

from regard import zoo
from regard.hub import gate, huggingface, remote, store
from regard.hub.gate import CheckpointError
from regard.hub.store import Checkpoint


def find(what: str | Path, *, pickle: bool = False) -> tuple[Path, str]:
    """The folder of a model and the name it goes by.

    `what` is the name of a bundled model, the folder of a model (by regard or Hugging Face) or of a run, or
    `hub:owner/name`.
    """
    if isinstance(what, str) and what.startswith(remote.PREFIX):
        return remote.fetch(what, pickle=pickle), what.removeprefix(remote.PREFIX)
    try:
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
    """Open a model; see `find` for what may be given. Whatever is wrong with it is a `CheckpointError`.

    `pickle` also reads `pytorch_model.bin`, of which only tensors are taken; prefer safetensors.
    """
    folder, name = find(what, pickle=pickle)
    with gate.guard(folder):
        about = gate.read_json(folder / "config.json")
        if "format" not in about and ("model_type" in about or "architectures" in about):
            return huggingface.read(folder, name, about, dtype=dtype, device=device, pickle=pickle)
        return store.read(folder, name, about, dtype=dtype, device=device)
