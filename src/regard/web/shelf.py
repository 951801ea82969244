"""The models that the explorer was started with: what their cards say, and each of them opened when it is first asked.

Names in requests are compared with those on the shelf, and never become part of a path.
"""

import os
import re
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.web.errors import RefusedError
from regard.web.files import told
from regard.web.looks import Attended
from regard.zoo import find, zoo

if TYPE_CHECKING:
    from regard.decode import Translator

OPEN = 8  # models at once


@dataclass(frozen=True, slots=True)
class Opened:
    """A model ready to translate, and its attentions."""

    name: str
    translator: "Translator"
    attentions: tuple[Attended, ...]
    languages: tuple[str, ...]
    target: str  # the language that it writes, where there is only one

    def told(self, to: str | None) -> str | None:
        """What the translator is to be asked for."""
        if not self.translator.multilingual:
            if to and self.target and to != self.target:
                raise RefusedError(422, f"{self.name} writes {self.target}, not {to!r}; leave the language out")
            return None
        if to not in self.languages:
            raise RefusedError(422, f"{self.name} does not write {to!r}; choose {', '.join(self.languages)}")
        return to


class Shelf:
    """Folders of models by name. Only the thread of the worker opens them."""

    def __init__(self, own: Iterable[str | Path] = (), shelf: Path | None = None) -> None:
        """Every model that comes along, behind `own` ones: folders of models or of runs, or names."""
        self.folders: dict[str, Path] = {}
        for folder in [*(find(wanted, shelf).resolve() for wanted in own), *zoo(shelf).values()]:
            if folder not in self.folders.values():
                name = folder.parent.name if folder.name == "model" else folder.name
                self.folders[_free(name, self.folders)] = folder
        self._opened: OrderedDict[str, Opened] = OrderedDict()

    def about(self) -> list[dict[str, Any]]:
        """What is known of every model without opening it."""
        return [self._about(name) for name in self.folders]

    def card(self, name: str) -> dict[str, Any]:
        """What the card of a model says."""
        return told(self.folders[name] / "card.json")

    def check(self, name: str) -> None:
        """Refuse a name that is not on the shelf."""
        if name not in self.folders:
            near = get_close_matches(name, self.folders, n=3, cutoff=0.4) or list(self.folders)
            way = f"try {', '.join(near)}" if near else "start with regard explore --model FOLDER"
            raise RefusedError(404, f"no model is called {name!r}; {way}")

    def open(self, name: str) -> Opened:
        """A model, read from its folder unless it is open already."""
        self.check(name)
        if name not in self._opened:
            try:
                self._opened[name] = self._open(name)
            except (OSError, ValueError, KeyError) as error:
                said = error.args[0] if error.args and isinstance(error, KeyError | ValueError) else error
                raise RefusedError(422, f"the model {name} cannot be opened: {said}") from None
            while len(self._opened) > OPEN:
                self._opened.popitem(last=False)
        self._opened.move_to_end(name)
        return self._opened[name]

    def _open(self, name: str) -> Opened:
        import torch

        from regard.decode import Translator
        from regard.web.search import attentions

        # Half of the cores: the other half draws the page, and small products that share a busy core crawl.
        torch.set_num_threads(max(1, (os.cpu_count() or 2) // 2))
        translator, about = Translator.load(self.folders[name]), self._about(name)
        return Opened(
            name, translator, attentions(translator.model), tuple(about["languages"]), str(about["target"] or "")
        )

    def _about(self, name: str) -> dict[str, Any]:
        from regard.recipes.translate import LANGUAGES

        card, config = self.card(name), told(self.folders[name] / "config.json")
        inner = config.get("config")
        multilingual, sides = (
            bool(card.get("multilingual")),
            [str(card.get(side) or "") for side in ("source", "target")],
        )
        return {
            "name": name,
            "title": str(card.get("title") or name),
            "family": str(config.get("family", "")),
            "source": sides[0] or None,
            "target": sides[1] or None,
            "data": str(card.get("data") or ""),
            "multilingual": multilingual,
            "languages": list(LANGUAGES) if multilingual else [side for side in sides if side],
            "lower": bool(card.get("lower")),
            "measured": card.get("measured") or {},
            "parameters": card.get("parameters"),
            "steps": card.get("steps"),
            "minutes": card.get("minutes"),
            "cross_attentions": not isinstance(inner, dict) or inner.get("attention") != "none",
        }


def _free(name: str, taken: dict[str, Path]) -> str:
    """The name, or with a number if it is taken; only what is plain in an address stays in it."""
    name = re.sub(r"[^\w.-]+", "-", name)
    return name if name not in taken else _free(re.sub(r"(-\d+)?$", f"-{len(taken) + 1}", name, count=1), taken)
