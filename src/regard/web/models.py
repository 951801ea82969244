"""The models that the explorer was started with, and what their cards say.

Names in requests are compared with those there are, and never become part of a path.
"""

import hashlib
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

from regard.files import check
from regard.names import unknown
from regard.web.errors import RefusedError
from regard.web.files import read_object
from regard.web.opened import Place
from regard.zoo import card, find, zoo

WEIGHTS = "model.safetensors"
# How files of vectors end, as regard.words reads them; to ask it would be to wait for torch.
VECTORS = (*(f".{each}{packed}" for each in ("vec", "txt", "bin", "glove", "w2v") for packed in ("", ".gz")), ".npy")
AT_ONCE = 64 * 2**20  # bytes of weights whose revision is not waited for, but computed meanwhile


class Models:
    """Folders of models and files of vectors by name, and what is known of them without opening any."""

    def __init__(self, own: Iterable[str | Path] = (), shelf: Path | None = None) -> None:
        """`own` models, each a name, a folder of a model or a run, or a file of vectors; then the bundled ones."""
        self.folders: dict[str, Path] = {}
        bundled = sorted(zoo(shelf).values(), key=lambda folder: card(folder).get("default") is not True)
        for folder in [*(_find(wanted, shelf).resolve() for wanted in own), *bundled]:
            if folder not in self.folders.values():
                name = folder.parent.name if folder.name == "model" else folder.name
                self.folders[_free(name, self.folders)] = folder

    def about(self) -> list[dict[str, Any]]:
        """What is known of every model without opening it."""
        return [self._about(name) for name in self.folders]

    def card(self, name: str) -> dict[str, Any]:
        """What the card of a model says; one of Hugging Face has none, and its configuration tells its task."""
        folder = self.folders[name]
        if folder.is_file():
            return {"task": "words", "title": folder.name, "takes": "expression", "gives": "words"}
        return read_object(folder / "card.json") or foreign_card(folder, read_object(folder / "config.json"))

    def of_task(self, task: str) -> list[str]:
        """The models that do a task; the first is the one to take unless another is named."""
        return [name for name in self.folders if self.card(name).get("task") == task]

    def check(self, name: str, task: str | None = None) -> None:
        """Refuse a name that is not there, or that does something else."""
        if name not in self.folders:
            way = unknown("model", name, self.folders) if self.folders else "start with regard explore --model FOLDER"
            raise RefusedError(404, way)
        does = self.card(name).get("task")
        if task is not None and does != task:
            raise RefusedError(422, f"{name} does {does or 'nothing that its card names'}, not {task}; choose another")

    def place(self, name: str, task: str | None = None) -> Place:
        """Where a model is, for the process that opens it."""
        self.check(name, task)
        return Place(name, str(self.folders[name]))

    def _about(self, name: str) -> dict[str, Any]:
        card, config = self.card(name), read_object(self.folders[name] / "config.json")
        languages, inner, task = card.get("languages"), config.get("config"), card.get("task")
        sides = languages if isinstance(languages, dict) else {}
        source, target = (_list_texts(sides.get(side)) for side in ("source", "target"))
        facts = ("data", "knows", "takes", "gives", "terms", "parameters", "steps", "minutes", "measured_on")
        weights = self.folders[name] if self.folders[name].is_file() else self.folders[name] / WEIGHTS
        return {
            "name": name,
            "title": str(card.get("title") or name),
            "task": task if isinstance(task, str) else None,
            "default": card.get("default") is True,
            "family": str(config.get("family") or config.get("model_type") or ""),
            "source": source[0] if len(source) == 1 else None,
            "target": target[0] if len(target) == 1 else None,
            "multilingual": len(target) > 1,
            "languages": target if len(target) > 1 else [*source, *target],
            "lower": bool(card.get("lower")),
            "measured": card["measured"] if isinstance(card.get("measured"), dict) else {},
            "cross_attentions": not isinstance(inner, dict) or inner.get("attention") != "none",
            "examples": _list_texts(card.get("examples")),
            "labels": _list_texts(card.get("labels")),
            "hears": isinstance(card.get("sounds"), dict),
            "limit": learnt(card, config),
            "bytes": weights.stat().st_size if weights.is_file() else None,
            "revision": revision(weights),
            **{fact: card.get(fact) for fact in facts},
        }


# What the architecture of a Hugging Face model ends with, by task.
HEADS = {
    "generate": ("ForCausalLM", "LMHeadModel"),
    "fill": ("ForMaskedLM", "ForPreTraining"),
    "classify": ("ForSequenceClassification",),
    "tag": ("ForTokenClassification",),
    "answer": ("ForQuestionAnswering",),
    "translate": ("MTModel",),
    "recognize": ("ForImageClassification",),
    "detect": ("ForObjectDetection",),
    "match": ("CLIPModel", "SiglipModel"),
}


def foreign_card(folder: Path, config: dict[str, Any]) -> dict[str, Any]:
    """What the configuration of a Hugging Face folder says of a model, as far as it says anything."""
    said = next(iter(_list_texts(config.get("architectures"))), "")
    task = next((task for task, ends in HEADS.items() if said.endswith(ends)), None)
    if task is None and (folder / "modules.json").is_file():  # of sentence-transformers
        task = "embed"
    named = config.get("id2label")
    labels = list(map(str, named.values())) if isinstance(named, dict) else []
    return {"task": task, "labels": labels} if task else {}


def _find(wanted: str | Path, shelf: Path | None) -> Path:
    """A file of vectors, or the folder of a model."""
    place = Path(wanted)
    try:
        if not str(wanted) or not place.is_file():
            return find(wanted, shelf)
    except OSError:  # a name that is too long is no file's
        return find(wanted, shelf)
    if not place.name.endswith((*VECTORS, ".safetensors")):
        raise ValueError(
            f"{place} is a file, and of files the explorer shows vectors of words, {', '.join(VECTORS[::2])} and "
            ".safetensors; give one of them, or the folder of a model"
        )
    return place


def _list_texts(value: Any) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else []


def learnt(card: dict[str, Any], config: dict[str, Any]) -> int | None:
    """The most tokens of a text that the model was trained on, where its card or its configuration says."""
    stages = card.get("stages")
    trained = [card.get("trained_with"), *(stages if isinstance(stages, list) else []), config.get("config")]
    named = [each[name] for each in trained if isinstance(each, dict) for name in ("limit", "context") if name in each]
    return max((each for each in named if type(each) is int and each > 0), default=None)


def revision(weights: Path) -> str | None:
    """The first letters of the hash of weights, which tell models of one name apart; nothing while it is computed."""
    try:
        about = weights.stat()
        key = weights, about.st_mtime_ns, check(weights)
    except (OSError, ValueError):
        return None
    if key not in _revisions:
        if about.st_size <= AT_ONCE:
            _compute_revision(key)
        elif key not in _computing:
            _computing.add(key)
            Thread(target=_compute_revision, args=(key,), daemon=True).start()
    return _revisions.get(key)


_revisions: dict[tuple[Path, int, int], str] = {}
_computing: set[tuple[Path, int, int]] = set()


def _compute_revision(key: tuple[Path, int, int]) -> None:
    with suppress(OSError), key[0].open("rb") as file:
        _revisions[key] = hashlib.file_digest(file, "sha256").hexdigest()[:8]


def _free(name: str, taken: dict[str, Path]) -> str:
    """The name, or with a number if it is taken; only what is plain in an address stays in it."""
    name = re.sub(r"[^\w.-]+", "-", name)
    return name if name not in taken else _free(re.sub(r"(-\d+)?$", f"-{len(taken) + 1}", name, count=1), taken)
