"""What a named data set is: its kind, its terms, where it lives, and how each file is recognised."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["pairs", "labels", "similarity", "text", "images", "boxes", "words", "sounds", "points", "stereo"]


@dataclass(frozen=True, slots=True)
class File:
    """A file as its home publishes it."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A set that has a name. `splits` says how many items each has; None is without end."""

    name: str
    kind: Kind
    about: str
    terms: str
    home: str
    splits: dict[str, int | None]
    languages: tuple[str, ...] = ()  # none of pictures
    files: tuple[File, ...] = ()
    folder: str = ""  # the address that file names are appended to; none where the home has another form

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    def file(self, name: str) -> File:
        """One of its files."""
        found = next((file for file in self.files if file.name == name), None)
        if found is None:
            raise ValueError(f"{self.name} has no file {name!r}; it has {', '.join(f.name for f in self.files)}")
        return found

    def check(self, split: str, *languages: str) -> None:
        """Refuse a language or split that the set does not have."""
        for language in languages:
            if language not in self.languages:
                raise ValueError(f"{self.name} has no language {language!r}; it has {', '.join(self.languages)}")
        if len(set(languages)) < len(languages):
            raise ValueError(
                f"a pair needs two languages, not {languages[0]!r} twice; choose of {', '.join(self.languages)}"
            )
        if split not in self.splits:
            raise ValueError(f"{self.name} has no split {split!r}; it has {', '.join(self.splits)}")
