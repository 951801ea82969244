"""Folders of sentence-transformers: an encoder, and what makes one vector of a text (Reimers 2019).

`modules.json` lists the parts: a transformer, here or in `0_Transformer`, a pooling, and perhaps dense layers and a
normalisation. What they say becomes the card of the model; what we do not compute is refused by its name.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from regard import files
from regard.hub import gate
from regard.hub.gate import CheckpointError

MODULES = "modules.json"
# Their names of ways to pool, in the order in which several are laid side by side.
OLD_NAMES = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
POOLINGS = tuple(OLD_NAMES.values())
SIMILARITIES = ("cosine", "dot")
ACTIVATIONS = {"Identity": nn.Identity, "Tanh": nn.Tanh, "ReLU": nn.ReLU, "GELU": nn.GELU, "Sigmoid": nn.Sigmoid}
LARGEST = 2**16  # of the sides of a dense layer
NORMALIZE = "normalize"


def home(folder: Path) -> Path | None:
    """The folder with `modules.json`, if the model in a folder is part of one."""
    places = (folder, folder.parent) if folder.name.startswith("0_") else (folder,)
    return next((each for each in places if _transformer(each) == folder), None)


def find(what: str | Path) -> Path | None:
    """The folder of the transformer in a folder of sentence-transformers that keeps it apart."""
    folder = Path(what)
    found = _transformer(folder)
    return found if found is not None and found != folder and not (folder / "config.json").exists() else None


def card(folder: Path) -> dict[str, Any]:
    """What the files of such a folder say, as a card: how a text becomes a vector."""
    pooling, steps = ["mean"], list[str]()
    for kind, place in _modules(folder)[1:]:
        if kind == "Pooling" and not steps:
            pooling = _pooling(gate.read_json(place / "config.json"), place)
        elif kind == "Dense":
            steps.append(place.name)
        elif kind == "Normalize":
            steps.append(NORMALIZE)
        elif kind != "Dropout":  # which does nothing to a trained model
            raise CheckpointError(
                f"{folder / MODULES} has a part {kind[:60]!r} at that place, and Pooling, Dense and Normalize are known"
            )
    return {"task": "embed", "pooling": pooling, "after_pooling": steps, **_settings(folder)}


def dense(folder: Path, name: str) -> nn.Module:
    """A dense layer behind the pooling, with its weights."""
    place = folder / name
    with gate.guard(place):
        about = gate.read_json(place / "config.json")
        sides: tuple[Any, Any] = about.get("in_features"), about.get("out_features")
        activation = ACTIVATIONS.get(str(about.get("activation_function", "Tanh")).rpartition(".")[2])
        if about.get("use_residual") or about.get("module_input_name", "sentence_embedding") != "sentence_embedding":
            raise CheckpointError(f"{place} has a residual, or reads tokens; only a plain layer over vectors is known")
        if activation is None or not all(type(side) is int and 0 < side <= LARGEST for side in sides):
            raise CheckpointError(
                f"{place / 'config.json'} says no sound layer; its activation is one of {', '.join(ACTIVATIONS)}"
            )
        stored = gate.header(place / "model.safetensors")
        linear = nn.Linear(*sides, bias=about.get("bias", True) is not False, device="meta")
        layer = nn.Sequential()
        layer.add_module("linear", linear)
        gate.compare(stored, layer.state_dict(), place)
        weights: Mapping[str, Tensor] = {each: tensor.to(torch.float32) for each, tensor in gate.read(stored)}
        layer.load_state_dict(weights, assign=True)
        layer.add_module("activation", activation())
    return layer.requires_grad_(False).eval()


def _transformer(folder: Path) -> Path | None:
    """Where the first part of a folder lies, or None where the folder is none of these."""
    try:
        if not (folder / MODULES).is_file():
            return None
    except OSError:  # a name that is too long is no folder's
        return None
    with gate.guard(folder):
        return _modules(folder)[0][1]


def _modules(folder: Path) -> list[tuple[str, Path]]:
    """The kind of each part, and its folder, which lies in this one."""
    path = folder / MODULES
    rows = gate.parse_json(b'{"modules": %b}' % files.read(path, gate.JSON), path)["modules"]
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and isinstance(row.get("type"), str) and isinstance(row.get("path"), str) for row in rows
    ):
        raise CheckpointError(f"{path} is no list of parts with type and path; fetch it again")
    if any(Path(row["path"]).name != row["path"] or row["path"] == ".." for row in rows):
        raise CheckpointError(f"{path} names a folder that does not lie beside it; fetch it again")
    found = [(row["type"].rpartition(".")[2], folder / row["path"]) for row in rows]
    if not found or found[0][0] != "Transformer":
        raise CheckpointError(f"{path} begins with {found[0][0][:60] if found else 'nothing'!r} and no Transformer")
    return found


def _pooling(about: Mapping[str, Any], place: Path) -> list[str]:
    said = about.get("pooling_mode") or [ours for theirs, ours in OLD_NAMES.items() if about.get(theirs)] or ["mean"]
    modes: Sequence[object] = [said] if isinstance(said, str) else said if isinstance(said, list) else [said]
    strange = [mode for mode in modes if mode not in POOLINGS]
    strange += [name for name, on in about.items() if name.startswith("pooling_mode_") and on and name not in OLD_NAMES]
    if strange:
        raise CheckpointError(f"{place} pools by {str(strange[0])[:60]!r}; known are {', '.join(POOLINGS)}")
    if about.get("include_prompt") is False:
        raise CheckpointError(f"{place} leaves the prompt out of the pooling (include_prompt), which is not supported")
    return [str(mode) for mode in modes]


def _settings(folder: Path) -> dict[str, Any]:
    """Prompts, the most tokens of a text, and how two vectors are compared."""
    whole, text = folder / "config_sentence_transformers.json", _transformer(folder) or folder
    said = gate.read_json(whole) if whole.exists() else {}
    prompts, default = said.get("prompts") or {}, said.get("default_prompt_name")
    similarity = said.get("similarity_fn_name") or "cosine"
    if not isinstance(prompts, dict) or not all(isinstance(each, str) for each in prompts.values()):
        raise CheckpointError(f"{whole} has prompts that are no texts by name; fetch it again")
    if default is not None and default not in prompts:
        raise CheckpointError(f"{whole} names the prompt {str(default)[:60]!r}, which it does not have; fetch it again")
    if similarity not in SIMILARITIES:
        raise CheckpointError(
            f"{whole} compares vectors by {str(similarity)[:60]!r}; known are {', '.join(SIMILARITIES)}"
        )
    first, second = text / "sentence_bert_config.json", text / "tokenizer_config.json"
    about = gate.read_json(first) if first.exists() else {}
    limit = about.get("max_seq_length")
    if limit is None and second.exists():
        limit = gate.read_json(second).get("model_max_length")  # where newer folders write it
    return {
        "prompts": prompts,
        "prompt": default,
        "similarity": similarity,
        "limit": limit if type(limit) is int and 0 < limit < 10**6 else None,
        "lower": about.get("do_lower_case") is True,
    }
