"""The models that come along: each is a folder beside this file, and its name is the folder's.

No torch here: a list of models, or a page of them, need not wait for it.
"""

from difflib import get_close_matches
from pathlib import Path

SHELF = Path(__file__).parent


def zoo(shelf: Path | None = None) -> dict[str, Path]:
    """The folder of every model on a shelf, by name."""
    folders = sorted(path.parent for path in (shelf or SHELF).glob("*/config.json"))
    return {folder.name: folder for folder in folders if not folder.name.startswith(".")}


def find(wanted: str | Path, shelf: Path | None = None) -> Path:
    """The folder of a model, which is given by itself, by the folder of the run it is from, or by a name on the shelf.

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
    near = get_close_matches(str(wanted), known, n=3, cutoff=0.4) or list(known)
    way = f"try {', '.join(near)}" if near else "no models come along, so give a folder"
    raise ValueError(f"no model is called {str(wanted)!r}, and no folder lies there; {way}")
