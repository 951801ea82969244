"""The bundled models: each is a folder beside this file, and its name is the folder's.

No torch here: a list of models, or a page of them, need not wait for it.
"""

from contextlib import suppress
from pathlib import Path
from typing import Any

from regard.files import read_json
from regard.names import unknown

SHELF = Path(__file__).parent
READINGS = SHELF / "readings"
SENSES = SHELF / "senses"  # where vectors of one word lie in many sentences, of public models


def zoo(shelf: Path | None = None) -> dict[str, Path]:
    """The folder of every model on a shelf, by name."""
    folders = sorted(path.parent for path in (shelf or SHELF).glob("*/config.json"))
    return {folder.name: folder for folder in folders if not folder.name.startswith(".")}


def readings() -> dict[str, Path]:
    """What public models looked at in the lectures' sentences, as files that the explorer opens, by name."""
    return {path.stem: path for path in sorted(READINGS.glob("*.json"))}


def find(wanted: str | Path, shelf: Path | None = None) -> Path:
    """The folder of a model, which is given by itself, by the folder of the run it is from, or by a name on the shelf.

    A name is compared with those there are, and never becomes part of a path.
    """
    folder, known, here = Path(wanted), zoo(shelf), False
    if str(wanted):
        with suppress(OSError):  # a name that is too long is no folder's
            for place in (folder, folder / "model"):
                if (place / "config.json").exists():
                    return place
            here = folder.is_dir()
    if str(wanted) in known:
        return known[str(wanted)]
    if here:
        raise ValueError(f"{folder} holds no model, since config.json is missing; give the folder of a model or a run")
    if not known:
        raise ValueError(f"no model is called {str(wanted)[:100]!r}, and none are bundled; give a folder")
    raise ValueError(f"{unknown('model', wanted, known)}, or give a folder that is there")


def card(folder: Path) -> dict[str, Any]:
    """What the card of a model says, or nothing where it cannot be read."""
    try:
        return read_json(folder / "card.json")
    except (OSError, ValueError):
        return {}


def default(task: str, shelf: Path | None = None) -> str | None:
    """The bundled model that does a task unless another one is named: the one whose card says so."""
    cards = {name: card(folder) for name, folder in zoo(shelf).items()}
    able = [name for name, found in cards.items() if found.get("task") == task]
    return next((name for name in able if cards[name].get("default")), next(iter(able), None))
