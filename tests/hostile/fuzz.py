"""What is fuzzed: a file of each kind that strangers may send, and the door behind which it is read."""

import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.hostile.doors import knock
from tests.hostile.good import GOOD
from tests.hostile.spoil import spoil, spoil_json, spoil_lines


def spoil_header(data: bytes, dice: Random) -> bytes:
    """A file of tensors whose header says something else, mostly of the right length."""
    if dice.random() < 0.3:
        return spoil(data, dice)
    (length,) = struct.unpack("<Q", data[:8])
    head = spoil_json(data[8 : 8 + length], dice)
    return struct.pack("<Q", len(head)) + head + data[8 + length :]


def spoil_text(data: bytes, dice: Random) -> bytes:
    """A JSON file, as JSON or as bytes."""
    return (spoil_json if dice.random() < 0.8 else spoil)(data, dice)


class Subject(NamedTuple):
    """A file of a good thing that is spoilt, and how."""

    kind: str
    name: str  # of the file or folder
    file: str  # within the folder; empty where it is the file itself
    spoil: Callable[[bytes, Random], bytes]


def _files(kind: str, spoiling: Callable[[bytes, Random], bytes]) -> dict[str, Subject]:
    names = GOOD[kind][1]
    return {
        kind if len(names) == 1 else f"{kind} {name.rpartition('.')[2]}": Subject(kind, name, "", spoiling)
        for name in names
    }


SUBJECTS: Mapping[str, Subject] = {
    "config": Subject("folder", "model", "config.json", spoil_text),
    "header": Subject("folder", "model", "model.safetensors", spoil_header),
    "tokenizer": Subject("folder", "model", "tokenizer.json", spoil_text),
    "card": Subject("folder", "model", "card.json", spoil_text),
    "their config": Subject("hugging", "theirs", "config.json", spoil_text),
    "their processor": Subject("seeing", "theirs", "preprocessor_config.json", spoil_text),
    "recipe": Subject("run", "translate-0", "recipe.json", spoil_text),
    "metrics": Subject("run", "translate-0", "metrics.jsonl", spoil_lines),
    "samples": Subject("run", "translate-0", "samples.jsonl", spoil_lines),
    "run's card": Subject("run", "translate-0", "model/card.json", spoil_text),
    "lock": Subject("run", "translate-0", ".lock", spoil),
    **_files("gguf", spoil),
    **_files("view", spoil_text),
    **_files("table", spoil),
    "table jsonl": Subject("table", "a.jsonl", "", spoil_lines),
    **_files("trees", spoil),
    **_files("tags", spoil),
    **_files("marks", spoil_text),
    **_files("vectors", spoil),
    "vectors safetensors": Subject("vectors", "a.safetensors", "", spoil_header),
    **_files("picture", spoil),
    **_files("sound", spoil),
    **_files("cloud", spoil),
    **_files("index", spoil_header),
    **_files("disparity", spoil),
    **_files("points", spoil),
    **_files("questions", spoil_text),
    "questions jsonl": Subject("questions", "a.jsonl", "", spoil_lines),
    "captions": Subject("captions", "pictures", "captions.jsonl", spoil_lines),
}


class Fuzz:
    """A good file that is spoilt again and again."""

    def __init__(self, name: str, place: Path) -> None:
        self.subject = SUBJECTS[name]
        make, _ = GOOD[self.subject.kind]
        self.place = make(place / self.subject.name)
        self.file = self.place / self.subject.file if self.subject.file else self.place
        self.data = self.file.read_bytes()
        assert knock(self.subject.kind, self.place) is None, "it is good before it is spoilt"

    def __call__(self, dice: Random) -> str | None:
        """What is said of the file, spoilt by these dice; None where it is still good."""
        self.file.write_bytes(self.subject.spoil(self.data, dice))
        try:
            return knock(self.subject.kind, self.place)
        finally:
            self.file.write_bytes(self.data)
