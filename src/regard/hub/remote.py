"""Models on the Hugging Face hub: `hub:owner/name`, `hub:owner/name@revision`, or a file `hub:owner/name/file.gguf`.

The cache is looked at first, and the network only for what is not in it.
"""

import re
from pathlib import Path

from regard.hub import gate
from regard.hub.gate import CheckpointError

PREFIX = "hub:"
# Nothing that could be executed: no pickles, no code.
SAFE = ("config.json", "card.json", "generation_config.json", "*.safetensors", "model.safetensors.index.json")
TOKENIZERS = (
    *("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.json", "vocab.txt"),
    *("merges.txt", "*.spm", "spiece.model", "tokenizer.model", "sentencepiece.bpe.model"),
)
SENTENCES = (
    *("modules.json", "config_sentence_transformers.json", "sentence_bert_config.json"),
    *("*_Pooling/config.json", "*_Dense/config.json", "0_Transformer/*.json"),
)
PICKLE = "pytorch_model.bin"
GGUF = ("gguf",)


def is_file(what: str | Path, endings: tuple[str, ...] = GGUF) -> bool:
    """Whether a file on the hub is meant, such as a GGUF file, of which a repository has many."""
    return isinstance(what, str) and what.startswith(PREFIX) and what.partition("@")[0].endswith(_dotted(endings))


def fetch_file(what: str, endings: tuple[str, ...] = GGUF) -> Path:
    """A file on the hub, fetched if it is not in the cache."""
    given = re.fullmatch(r"hub:([\w.-]{1,96}/[\w.-]{1,96})/([\w./-]{1,200})(?:@([\w./-]{1,200}))?", what)
    given = given if given is not None and given[2].endswith(_dotted(endings)) else None
    if given is None or ".." in what:
        raise CheckpointError(f"{what[:200]!r} names no file on the hub; write hub:owner/name/file.{endings[0]}")
    name, file, revision = given[1], given[2], given[3] or "main"
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        return Path(hf_hub_download(name, file, revision=revision, local_files_only=True))
    except (LocalEntryNotFoundError, OSError):
        pass
    try:
        return Path(hf_hub_download(name, file, revision=revision))
    except Exception as error:  # whatever the client lets through of the network's many ways to fail
        raise _failed(what, error) from None


def _dotted(endings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f".{each}" for each in endings)


def fetch(what: str, *, pickle: bool = False) -> Path:
    """The folder of a model on the hub, fetched if it is not in the cache."""
    given = re.fullmatch(r"hub:([\w.-]{1,96}/[\w.-]{1,96})(?:@([\w./-]{1,200}))?", what)
    if given is None or ".." in what:
        raise CheckpointError(
            f"{what[:200]!r} names no model on the hub; write hub:owner/name or hub:owner/name@revision"
        )
    name, revision = given[1], given[2] or "main"
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    patterns = [*SAFE, *TOKENIZERS, *SENTENCES, *([PICKLE] if pickle else [])]
    try:
        folder = Path(snapshot_download(name, revision=revision, allow_patterns=patterns, local_files_only=True))
        if _whole(folder, pickle):
            return folder
    except (LocalEntryNotFoundError, OSError):
        pass
    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=patterns, max_workers=2))
    except Exception as error:  # whatever the client lets through of the network's many ways to fail
        raise _failed(what, error) from None


def _failed(what: str, error: BaseException) -> CheckpointError:
    status = _status(error)
    if status is not None:
        return CheckpointError(
            f"{what} cannot be fetched: the hub answers {status}; check owner, name and revision, and log in where "
            f"the model is not public"
        )
    said = " ".join(str(error).split())[:200]
    return CheckpointError(
        f"{what} is not in the cache and cannot be fetched ({said}); go online, or give the folder of a copy"
    )


def _status(error: BaseException | None) -> int | None:
    """The status of the answer that an error of the client began with, if there was an answer."""
    while error is not None:
        if (response := getattr(error, "response", None)) is not None:
            return int(response.status_code)
        error = error.__cause__ or error.__context__
    return None


def _whole(folder: Path, pickle: bool) -> bool:
    """Whether an earlier fetch has brought all: one that was interrupted leaves some of the files."""
    names = ["model.safetensors"]
    if (index := folder / "model.safetensors.index.json").exists():
        weights = gate.read_json(index).get("weight_map")
        names = sorted(set(map(str, weights.values()))) if isinstance(weights, dict) else []  # what reads it complains
    whole = all((folder / name).exists() for name in names) or (pickle and (folder / PICKLE).exists())
    return (folder / "config.json").exists() and whole
