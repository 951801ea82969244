"""Pictures with captions: of a named set, of the world, or of your own folder."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from regard.data.album import Files
from regard.data.captioned import Captioned, within
from regard.data.described import FEW, world_captions
from regard.data.errors import DataError
from regard.data.places import ALSO
from regard.data.records import Records, open_records
from regard.data.rows import SPLITS, belongs
from regard.data.sets import MODULES, SETS
from regard.names import listed

TABLES = ("captions.jsonl", "captions.tsv", "captions.csv", "captions.txt")
PICTURES = ("image", "picture", "file", "file_name", "filename", "path", "photo")
CAPTIONS = ("captions", "caption", "text", "sentence", "sentences")
MOST, LONGEST, EACH = 1_000_000, 2_000, 1_000  # pictures, characters of a caption, and captions of a picture
_WORLD = re.compile(r"world(?:/(\d)(?:-(\d))?)?")
FORM = 'a folder with captions.jsonl ({"image": "dog.jpg", "captions": ["A dog runs."]}) or captions.tsv'


def captioned(name: str | Path, split: str = "train", *, limit: int = 0) -> Captioned:
    """Pictures with their captions: of a named set, of the world, or of your own folder.

    `world` has pictures of one or two things, `world/3-4` of three or four. Your folder has a table of files and
    captions beside the pictures, one caption a line or several in a list; a column `split`, folders called train, val
    and test, or else the names of the files divide them. A `limit` takes the first so many pictures.
    """
    if found := _WORLD.fullmatch(str(name)):
        fewest, most = (int(found[1]), int(found[2] or found[1])) if found[1] else FEW
        return world_captions(split, things=(fewest, most), count=limit)
    if str(name) in SETS:
        module, dataset = MODULES[str(name)], SETS[str(name)]
        if not hasattr(module, "captioned"):
            raise ValueError(f"{name} has {dataset.kind} without captions of pictures; choose {_named()}")
        dataset.check(split)
        whole: Captioned = module.captioned(split)
    else:
        whole = _own(Path(name), split)
    return first(whole, limit)


def first(whole: Captioned, count: int) -> Captioned:
    """The first so many pictures, or all of them where the count is 0."""
    import numpy as np

    return whole if not count or count >= len(whole) else whole.part(np.arange(count))


def _own(folder: Path, split: str) -> Captioned:
    """The pictures of a folder and their captions."""
    if split not in SPLITS:
        raise ValueError(f"no split is called {split!r}; choose {', '.join(SPLITS)}")
    if not folder.is_dir():
        raise DataError(
            f"no set with captions is called {str(folder)!r} and no folder lies there; choose {_named()}, or {FORM}"
        )
    homes = {each: _home(folder, each) for each in SPLITS}
    if homes["train"] is not None:
        home = homes[split]
        if home is None:
            raise DataError(f"{folder} has a folder train and none called {split} with captions; put one there")
        return _gather(home, _read(home, _table(home)), "")
    return _gather(folder, _read(folder, _table(folder)), split)


def _gather(folder: Path, rows: Iterator[tuple[str, str, list[str]]], split: str) -> Captioned:
    """Captions of one file after another, where they are of the split."""
    found = dict[str, list[str]]()
    for name, said, captions in rows:
        if split and (said or belongs(name)) != split:
            continue
        some = found.setdefault(name, [])
        some += captions
        if len(found) > MOST or len(some) > EACH:
            raise DataError(f"{folder} has more than {MOST:,} pictures or {EACH:,} captions of one; divide it")
    if not found:
        raise DataError(f"{folder} has no captions for the split {split or 'asked for'!r}; give more pictures")
    missing = [name for name in found if not (folder / name).is_file()]
    if missing:
        raise DataError(
            f"{folder} has captions of {missing[0]!r} and no such picture, nor {len(missing) - 1} others; put it there"
        )
    return Captioned(tuple(map(tuple, found.values())), Files([folder / name for name in found]), tuple(found))


def _read(folder: Path, path: Path) -> Iterator[tuple[str, str, list[str]]]:
    """The file, the split where it is said, and the captions of each line."""
    table = open_records(path, lambda cells: not cells.isdisjoint(PICTURES) and not cells.isdisjoint(CAPTIONS))
    where = _columns(table)
    for number, cells in table.rows:
        if len(cells) <= max(where.values()):
            raise DataError(f"{path}, line {number} has {len(cells)} columns; give a file and a caption")
        name, said = cells[where["picture"]], cells[where["caption"]]
        captions = list(said) if isinstance(said, list | tuple) else [said]
        if not isinstance(name, str) or not within(name.strip()):
            raise DataError(f"{path}, line {number} names {name!r}, which is no file inside of {folder}; give one")
        for caption in captions:
            if not isinstance(caption, str) or not caption.strip() or len(caption) > LONGEST:
                raise DataError(
                    f"{path}, line {number} has no caption of 1 to {LONGEST:,} characters; write one, or leave it out"
                )
            if not _encodes(caption):
                raise DataError(f"{path}, line {number} has half a character, a lone surrogate; write it as UTF-8")
        split = str(cells[where["split"]]).strip().lower() if "split" in where else ""
        known = {other: name for name, others in ALSO.items() for other in others}
        if split and split not in known:
            raise DataError(f"{path}, line {number} has the split {split!r}; choose {', '.join(SPLITS)}")
        yield name.strip().partition("#")[0], known.get(split, ""), [caption.strip() for caption in captions]


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _columns(table: Records) -> Mapping[str, int]:
    """Where a table has files, captions and splits: by the names of its columns, or in the first two."""
    if not table.columns:
        return {"picture": 0, "caption": 1}
    names = [name.casefold() for name in table.columns]
    found: dict[str, Any] = {
        part: next((names.index(name) for name in usual if name in names), None)
        for part, usual in (("picture", PICTURES), ("caption", CAPTIONS), ("split", ("split",)))
    }
    if found["picture"] is None or found["caption"] is None:
        raise DataError(
            f"{table.path} names its columns {listed(table.columns)}; call them image and caption, or captions"
        )
    return {part: place for part, place in found.items() if place is not None}


def _home(folder: Path, split: str) -> Path | None:
    inside = (folder / name for name in ALSO[split])
    return next((each for each in inside if each.is_dir() and any((each / name).is_file() for name in TABLES)), None)


def _table(folder: Path) -> Path:
    for name in TABLES:
        if (folder / name).is_file():
            return folder / name
    raise DataError(f"{folder} has no {', '.join(TABLES[:-1])} or {TABLES[-1]}; write {FORM}")


def _named() -> str:
    return ", ".join(("world", *(name for name, module in MODULES.items() if hasattr(module, "captioned"))))
