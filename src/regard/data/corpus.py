"""A corpus of any size as token ids on disk: read once, by all cores, and mapped into memory from then on.

tokens = tokenize("enwik8", tokenizer, "corpora/enwik8")
windows(tokens.stream, context=256, rows=16)

The text is cut into shards of some megabytes. Each is tokenized by all cores (the tokenizer's own threads) and written
whole; what is done when somebody stops it is not done again. In the end the shards are joined in one file.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from regard import files
from regard.data.errors import DataError
from regard.data.text import fingerprint, passages
from regard.data.tokens import Tokens, write
from regard.progress import Progress
from regard.text import Tokenizer

FORMAT = 1
SHARD, BLOCK = 1 << 23, 1 << 16  # characters that are written together, and that one core takes at a time
MANIFEST, WHOLE = "manifest.json", "ids.tokens"


def tokenize(
    name: str | os.PathLike[str],
    tokenizer: Tokenizer,
    folder: str | os.PathLike[str],
    *,
    split: str = "train",
    shard: int = SHARD,
    progress: Progress = lambda _: None,
) -> Tokens:
    """The ids of a text (a named set, a file, a folder of .txt files), one stream over all its rows.

    They lie in the folder with a manifest of where they come from and checksums. If they are there already, they are
    opened; what an earlier call has left undone is done, and what has changed since is done again. `progress` is told
    the number of each shard.
    """
    place, name = Path(folder), Path(name) if isinstance(name, os.PathLike) else name
    about = {"format": FORMAT, "source": str(name), "split": split, "tokenizer": _digest(tokenizer), "shard": shard}
    state, known = fingerprint(name, split), _manifest(place / MANIFEST, about)
    if known.get("state") == state and known.get("bytes") == _size(place / WHOLE):
        _remove_shards(place)
        return Tokens(place / WHOLE)
    before, shards = known.get("shards", []), list[dict[str, Any]]()
    for number, text in enumerate(_shards(passages(name, split), shard)):
        wanted = hashlib.sha256(text.encode()).hexdigest()
        path, done = place / f"{number:06}.tokens", before[number] if number < len(before) else {}
        if done.get("text") != wanted or done.get("bytes") != _size(path) or done.get("sha256") != _file_digest(path):
            ids = tokenizer.encode(_blocks(text), start=False, stop=False)
            write(path, [[i for row in ids for i in row]], vocab=tokenizer.vocab)
            done = {"text": wanted, "bytes": _size(path), "sha256": _file_digest(path)}
        shards.append(done)
        files.write_json(place / MANIFEST, about | {"shards": shards})
        progress(number + 1)
    if not shards:
        raise DataError(f"{name} has no text in its split {split!r}; give more")
    rows = (row for number in range(len(shards)) for row in Tokens(place / f"{number:06}.tokens"))
    found = write(place / WHOLE, rows, vocab=tokenizer.vocab)
    done = {"state": state, "bytes": _size(place / WHOLE), "sha256": _file_digest(place / WHOLE)}
    files.write_json(place / MANIFEST, about | done | {"shards": shards})
    _remove_shards(place)
    return found


def _remove_shards(place: Path) -> None:
    for path in place.glob("*.tokens"):
        if path.name != WHOLE:
            path.unlink()


def _shards(pieces: Iterable[str], size: int) -> Iterator[str]:
    """A text in stretches of about a size, each of which ends with a line where one ends near."""
    kept, length = list[str](), 0
    for piece in pieces:
        kept.append(piece)
        length += len(piece)
        while length >= size:
            text = "".join(kept)
            end = text.rfind("\n", 0, size) + 1 or size
            yield text[:end]
            kept, length = [text[end:]], len(text) - end
    if length:
        yield "".join(kept)


def _blocks(text: str) -> list[str]:
    """A shard in the pieces that cores take; they end with a line, so that few words are cut."""
    return list(_shards([text], BLOCK))


def _manifest(path: Path, about: dict[str, Any]) -> dict[str, Any]:
    """What is known of a folder; one with the ids of another text, or by another tokenizer, is refused."""
    if not path.exists():
        return {}
    try:
        found = files.read_json(path)
    except ValueError:
        return {}
    if any(found.get(key) != value for key, value in about.items()):
        raise DataError(
            f"{path.parent} holds the ids of {found.get('source')!r}, {found.get('split')}, which were made otherwise "
            f"than those of {about['source']!r} would be; give another folder, or remove it"
        )
    return found


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else -1


def _file_digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _digest(tokenizer: Tokenizer) -> str:
    found = hashlib.sha256()
    for name, data in sorted(tokenizer.files().items()):
        found.update(name.encode() + data)
    return found.hexdigest()
