"""What Perceiver IO is asked about the little world: where pixels go, hidden letters, and films with their sentences.

Letters are bytes behind six special ids, as in the published models of texts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from jaxtyping import Bool, Float32, Int64, UInt8

from regard.chance import Chance
from regard.data.filmed import MOMENTS, world_films
from regard.data.kept import kept
from regard.data.told import FAR, world_stories
from regard.vision.dice import uniforms
from regard.world import render_batch
from regard.world.flow import flow
from regard.world.language import motions
from regard.world.view import VERSION

COUNTS = {"train": 8_000, "val": 300, "test": 500}
PAD, MASK, FIRST = 0, 3, 6  # ids: of no letter, of a hidden one, and of the byte 0
THINGS, LATER = (2, 4), 3  # things in a clip, and moments between two frames of it


@dataclass(frozen=True, slots=True, eq=False)
class Flows:
    """Two frames of each clip, how far each pixel of the first moves until the second."""

    frames: UInt8[np.ndarray, "n 2 s s 3"]
    moved: Float32[np.ndarray, "n s s 2"]

    def __len__(self) -> int:
        return len(self.frames)


@dataclass(frozen=True, slots=True, eq=False)
class Letters:
    """Texts as ids of their bytes, with a pad behind short ones."""

    ids: Int64[np.ndarray, "n m"]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """Films, and the letters of what is said of each."""

    films: UInt8[np.ndarray, "n f s s 3"]
    ids: Int64[np.ndarray, "n m"]

    def __len__(self) -> int:
        return len(self.films)


Asked = Flows | Letters | Told


def checksum(known: Asked) -> int:
    """Changes when other things are asked: by their number and the last of them."""
    last = known.frames if isinstance(known, Flows) else known.ids
    return crc32(np.ascontiguousarray(last[-1]).tobytes(), len(known))


def world_flows(split: str, *, size: int, count: int = 0) -> Flows:
    """Pairs of frames of clips, each pair from another clip."""
    count = count or COUNTS[_checked(split)]
    view = motions(split="test" if split == "test" else "train", frames=MOMENTS, things=THINGS)
    first = FAR if split == "val" else 0
    key = f"{VERSION} {view.facts} {first} {LATER} {size}"

    def pair(row: int) -> tuple[int, int]:
        start = row % (MOMENTS - LATER)
        return start, start + LATER

    def draw(rows: Sequence[int]) -> UInt8[np.ndarray, "m 2 s s 3"]:
        shown = [view[first + row].clip.frames[moment] for row in rows for moment in pair(row)]
        return render_batch(shown, size)["rgb"].reshape(len(rows), 2, size, size, 3)

    def move(rows: Sequence[int]) -> Float32[np.ndarray, "m s s 2"]:
        found = []
        for row in rows:
            before, after = (view[first + row].clip.frames[moment] for moment in pair(row))
            found.append(flow(before, after, size).moved)
        return np.stack(found)

    return Flows(kept("frames world", key, count, draw), kept("flows world", key, count, move))


def world_letters(split: str, *, length: int, count: int = 0) -> Letters:
    """Sentences of the world's stories, the first letters of each."""
    count = count or COUNTS[_checked(split)]
    told = world_stories(split, count)  # which has more sentences than stories
    sentences = list(dict.fromkeys(sentence for story in told for sentence in story))[:count]
    return Letters(encode(sentences, length))


def world_told(split: str, *, frames: int, size: int, length: int, count: int = 0) -> Told:
    """Films and what is said of them."""
    found = world_films(split, frames=frames, count=count or COUNTS[_checked(split)])
    return Told(found.pixels(size), encode(found.texts, length))


def encode(texts: Sequence[str], length: int) -> Int64[np.ndarray, "n m"]:
    """The ids of the bytes of texts, so many of each; what is longer is cut off."""
    ids = np.full((len(texts), length), PAD, np.int64)
    for row, text in enumerate(texts):
        bytes_ = np.frombuffer(text.encode()[:length], np.uint8)
        ids[row, : len(bytes_)] = bytes_.astype(np.int64) + FIRST
    return ids


def decode(ids: Int64[np.ndarray, " m"]) -> str:
    """The text of such ids; a hidden letter is an underscore."""
    plain = np.where(ids == MASK, FIRST + ord("_"), ids)
    return bytes((plain[plain >= FIRST] - FIRST).astype(np.uint8)).decode(errors="replace")


def hidden(letters: Bool[np.ndarray, "n m"], share: float, chance: Chance) -> Bool[np.ndarray, "n m"]:
    """Which letters are hidden: about this share of them, and at least one of each text."""
    order = np.where(letters, uniforms(chance, letters.size).reshape(letters.shape), 2.0)
    least = order.argmin(axis=1)
    found: np.ndarray = (order < share) & letters
    found[np.arange(len(found)), least] |= letters[np.arange(len(found)), least]
    return found


def _checked(split: str) -> str:
    if split not in COUNTS:
        raise ValueError(f"no split is called {split!r}; choose {', '.join(COUNTS)}")
    return split
