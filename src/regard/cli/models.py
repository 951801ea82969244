"""Open a model that translates: by its name in the zoo, or from its folder."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from regard.cli.errors import UsageError

if TYPE_CHECKING:  # torch waits until a model is opened, so that help does not
    from regard.decode import Translator

Precision = Literal["float32", "bfloat16", "int8"]


@dataclass(frozen=True, slots=True)
class Opened:
    """A model ready to translate, what it is called, and what its card says."""

    name: str
    folder: Path
    translator: "Translator"
    card: Mapping[str, Any]

    def told(self, to: str) -> str | None:
        """What the translator is to be asked for, given the language that the command names, or none."""
        written = str(self.card.get("target", ""))
        if not self.translator.multilingual:
            if to and written and to != written:
                raise UsageError(f"{self.name} writes {written}, not {to!r}; leave the language out")
            return None
        known = self.languages
        if not to:
            raise UsageError(f"{self.name} writes several languages; say which: {', '.join(known) or 'as by --to de'}")
        if known and to not in known:
            raise UsageError(f"{self.name} does not write {to!r}; it writes {', '.join(known)}")
        return to

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that a model of several can write: those of the data it learnt from."""
        from regard.data import SETS

        data = str(self.card.get("data", ""))
        return SETS[data].languages if data in SETS else ()


def opened(wanted: str, *, precision: Precision = "float32") -> Opened:
    """Open a model; without a name, the first of the zoo."""
    from regard.zoo import find, zoo

    if not wanted:
        wanted = next(iter(zoo()), "")
        if not wanted:
            raise UsageError("no models come along; name a folder by --model, as regard train leaves one")
    try:
        folder = find(wanted)
    except ValueError as error:
        raise UsageError(str(error)) from None
    from regard.decode import Translator

    try:
        translator = Translator.load(folder, precision=precision)
        card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise SystemExit(f"{error.filename} is missing; fetch or train it again" if error.filename else error) from None
    except (ValueError, KeyError) as error:
        # Each message says what is wrong and what to do; the kind of the error adds nothing.
        raise SystemExit(f"{wanted}: {error.args[0]}") from None
    return Opened(folder.name, folder, translator, card)
