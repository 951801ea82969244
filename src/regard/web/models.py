"""The models that the explorer was started with: what their cards say, and each of them loaded when it is first asked.

Names in requests are compared with those there are, and never become part of a path.
"""

import os
import re
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.names import unknown
from regard.web.errors import RefusedError
from regard.web.files import read_object
from regard.zoo import card, find, zoo

if TYPE_CHECKING:
    from regard.pipelines import Pipeline

ROOM = 2 * 2**30  # bytes of weights that are open at once


class Models:
    """Folders of models by name. Only the thread of the worker opens them."""

    def __init__(self, own: Iterable[str | Path] = (), shelf: Path | None = None) -> None:
        """`own` models, each a name or a folder of a model or a run; then the bundled ones, defaults first."""
        self.folders: dict[str, Path] = {}
        bundled = sorted(zoo(shelf).values(), key=lambda folder: card(folder).get("default") is not True)
        for folder in [*(find(wanted, shelf).resolve() for wanted in own), *bundled]:
            if folder not in self.folders.values():
                name = folder.parent.name if folder.name == "model" else folder.name
                self.folders[_free(name, self.folders)] = folder
        self._open: OrderedDict[str, Pipeline] = OrderedDict()

    def about(self) -> list[dict[str, Any]]:
        """What is known of every model without opening it."""
        return [self._about(name) for name in self.folders]

    def card(self, name: str) -> dict[str, Any]:
        """What the card of a model says."""
        return read_object(self.folders[name] / "card.json")

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

    def open(self, name: str, task: str | None = None) -> "Pipeline":
        """The pipeline of a model, read from its folder unless it is open already."""
        self.check(name, task)
        if name not in self._open:
            import torch

            from regard.pipelines import load

            # Half of the cores: the other half draws the page, and small products that share a busy core crawl.
            torch.set_num_threads(max(1, (os.cpu_count() or 2) // 2))
            try:
                self._open[name] = load(self.folders[name])
                self._open[name].name = name
            except (OSError, ValueError, KeyError, RuntimeError) as error:
                said = error.args[0] if isinstance(error, KeyError) and error.args else error
                raise RefusedError(422, f"the model {name} cannot be opened: {said}") from None
            while len(self._open) > 1 and sum(map(_bytes, self._open.values())) > ROOM:
                self._open.popitem(last=False)
        self._open.move_to_end(name)
        return self._open[name]

    def _about(self, name: str) -> dict[str, Any]:
        card, config = self.card(name), read_object(self.folders[name] / "config.json")
        languages, inner, task = card.get("languages"), config.get("config"), card.get("task")
        sides = languages if isinstance(languages, dict) else {}
        source, target = (_list_texts(sides.get(side)) for side in ("source", "target"))
        facts = ("data", "knows", "takes", "gives", "terms", "parameters", "steps", "minutes")
        return {
            "name": name,
            "title": str(card.get("title") or name),
            "task": task if isinstance(task, str) else None,
            "default": card.get("default") is True,
            "family": str(config.get("family", "")),
            "source": source[0] if len(source) == 1 else None,
            "target": target[0] if len(target) == 1 else None,
            "multilingual": len(target) > 1,
            "languages": target if len(target) > 1 else [*source, *target],
            "lower": bool(card.get("lower")),
            "measured": card["measured"] if isinstance(card.get("measured"), dict) else {},
            "cross_attentions": not isinstance(inner, dict) or inner.get("attention") != "none",
            "examples": _list_texts(card.get("examples")),
            **{fact: card.get(fact) for fact in facts},
        }


def _list_texts(value: Any) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else []


def _bytes(pipeline: "Pipeline") -> int:
    return sum(each.nbytes for each in pipeline.model.state_dict().values())


def _free(name: str, taken: dict[str, Path]) -> str:
    """The name, or with a number if it is taken; only what is plain in an address stays in it."""
    name = re.sub(r"[^\w.-]+", "-", name)
    return name if name not in taken else _free(re.sub(r"(-\d+)?$", f"-{len(taken) + 1}", name, count=1), taken)
