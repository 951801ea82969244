"""The bundled models: each is a folder beside this file, and its name is the folder's.

No torch here: a list of models, or a page of them, need not wait for it.
"""

from pathlib import Path
from typing import Any

from regard.files import read_json
from regard.names import nearest

SHELF = Path(__file__).parent


def zoo(shelf: Path | None = None) -> dict[str, Path]:
    """The folder of every model on a shelf, by name."""
    folders = sorted(path.parent for path in (shelf or SHELF).glob("*/config.json"))
    return {folder.name: folder for folder in folders if not folder.name.startswith(".")}


def card(folder: Path) -> dict[str, Any]:
    """What the card of a model says, or nothing where it cannot be read."""
    try:
        return read_json(folder / "card.json")
    except (OSError, ValueError):
        return {}


def find(wanted: str | Path, shelf: Path | None = None) -> Path:
    """The folder of a model: given by itself, by the folder of the run it is from, or by a name on the shelf.

    A name is compared with those there are, and never becomes part of a path.
    """
    folder, known = Path(wanted), zoo(shelf)
    for place in (folder, folder / "model"):
        if (place / "config.json").is_file():
            return place
    if str(wanted) in known:
        return known[str(wanted)]
    if folder.is_dir():
        raise ValueError(f"{folder} holds no model, since config.json is missing; give a folder that regard saved")
    way = f"try {nearest(str(wanted), known)}" if known else "no models are bundled, so give a folder"
    raise ValueError(f"no model is called {str(wanted)!r}, and no folder lies there; {way}")


def default(task: str, shelf: Path | None = None) -> str | None:
    """The bundled model that does a task unless another one is named: the one whose card says so."""
    able = {name: card(folder) for name, folder in zoo(shelf).items()}
    able = {name: found for name, found in able.items() if found.get("task") == task}
    return next((name for name, found in able.items() if found.get("default")), next(iter(able), None))
