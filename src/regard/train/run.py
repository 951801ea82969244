"""The folder of a run: what was asked for, with what, how it went, and where it stands.

runs/translate-0/recipe.json       the recipe, all its fields, and which scores are better high
                 machine.json      versions, processor, threads
                 metrics.jsonl     one line for each step and each score
                 samples.jsonl     what the model made of some held-out things, one line for each score
                 checkpoints/      the newest few, and the best
                 model/            what came out, with its card
"""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from regard.files import read_json, write
from regard.train import checkpoint, machine
from regard.train.plan import OF_THE_RUN, WITHOUT_END


class RunError(Exception):
    """The folder cannot be trained in; the message says why and what to do."""


class Run:
    """A folder that belongs to one training at a time."""

    def __init__(
        self, folder: Path, recipe: str, fields: Mapping[str, Any], scores: Mapping[str, str], *, resume: bool
    ) -> None:
        # As they are read back: a pair becomes a list.
        self.folder, self.recipe, self.fields = folder, recipe, json.loads(json.dumps(dict(fields)))
        self.scores = dict(scores)
        self._metrics: IO[str] | None = None
        self._lock: IO[str] | None = None
        admit(folder, resume=resume)
        if resume:
            compare(folder, recipe, self.fields)

    @property
    def checkpoints(self) -> Path:
        return self.folder / "checkpoints"

    @property
    def model(self) -> Path:
        return self.folder / "model"

    def open(self) -> list[str]:
        """Take the folder, and clear away what a killed process or a failing disk left; what is worth saying of it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = _lock_folder(self.folder)
        for partial in (*self.folder.glob(".*.partial"), *self.checkpoints.glob(".*.partial")):
            partial.unlink(missing_ok=True)
        for partial in self.folder.glob(".model-*"):  # a model that was being written
            shutil.rmtree(partial, ignore_errors=True)
        about = {"recipe": self.recipe, "fields": self.fields, "scores": self.scores}
        _replace(self.folder / "recipe.json", json.dumps(about, indent=2))
        _replace(self.folder / "machine.json", json.dumps(machine.describe(), indent=2))
        said = []
        for path in reversed(checkpoint.present(self.checkpoints)):
            try:
                checkpoint.read(path)
                break
            except checkpoint.DamageError as error:
                path.rename(path.with_name(f"{path.name}.damaged"))
                said.append(f"{error}; it is put aside, and the run goes on from the one before")
        if said and not checkpoint.present(self.checkpoints):
            raise RunError(f"none of the checkpoints in {self.checkpoints} is whole; begin anew in another folder")
        return said

    def go_on(self, step: int) -> None:
        """Measure from here; what was measured behind the step that the run goes on from is forgotten."""
        for path, rows in (
            (self.folder / "metrics.jsonl", metrics(self.folder)),
            (self.folder / "samples.jsonl", samples(self.folder)),
        ):
            if path.exists():
                _replace(path, "\n".join(_line(row) for row in rows if row["step"] <= step))
        self._metrics = (self.folder / "metrics.jsonl").open("a", encoding="utf-8")

    def close(self) -> None:
        """Let go of the folder."""
        for file in (self._metrics, self._lock):
            if file is not None:
                with suppress(OSError):  # a full disk was told of when the line was written
                    file.close()
        self._metrics = self._lock = None

    def log(self, row: Mapping[str, Any]) -> None:
        """Add a line of measurements."""
        if self._metrics is not None:
            try:
                self._metrics.write(_line(row) + "\n")
                self._metrics.flush()
            except OSError as error:
                raise checkpoint.write_error(self.folder / "metrics.jsonl", error) from None

    def show(self, step: int, shown: list[dict[str, str]]) -> None:
        """Keep what the model made of some things at a step."""
        path = self.folder / "samples.jsonl"
        try:
            with path.open("a", encoding="utf-8") as file:
                file.write(_line({"step": step, "samples": shown}) + "\n")
        except OSError as error:
            raise checkpoint.write_error(path, error) from None


def compare(folder: Path, recipe: str, fields: Mapping[str, Any]) -> None:
    """Refuse to go on with a run by other fields than it began with, unless they are about how it is kept."""
    before = read_recipe(folder)
    if before["recipe"] != recipe:
        raise RunError(f"{folder} is a run of {before['recipe']!r}, not of {recipe!r}")
    was: dict[str, Any] = before["fields"]
    # A field that is younger than the run says nothing.
    other = {name for name, value in fields.items() if was.get(name, value) != value} - OF_THE_RUN
    if was.get("schedule") in WITHOUT_END:
        other -= {"steps"}
    if not other:
        return
    said = "; ".join(f"--{name.replace('_', '-')} was {was[name]}, not {fields[name]}" for name in sorted(other))
    way = "resume with the same flags, or none: the folder remembers them"
    if other == {"steps"}:
        way = (
            f"a {was['schedule']} schedule ends with its last step, so begin a new run with another --out; one with "
            "--schedule constant or inverse_sqrt can be made longer"
        )
    raise RunError(f"{folder} was begun otherwise: {said}; {way}")


def admit(folder: Path, *, resume: bool) -> None:
    """Refuse to begin where a run is, and to go on where none is."""
    began = (folder / "recipe.json").exists()
    if began and not resume:
        raise RunError(f"{folder} holds a run already; go on with --resume, or give another --out")
    if resume and not began:
        raise RunError(f"{folder} holds no run to resume; leave --resume out, or give the folder by --out")


def read_recipe(folder: Path) -> dict[str, Any]:
    """The recipe of a run and its fields."""
    try:
        found = read_json(folder / "recipe.json")
        return {"recipe": str(found["recipe"])[:100], "fields": dict(found["fields"])}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(f"{folder / 'recipe.json'} cannot be read ({error}); begin anew in another folder") from None


def metrics(folder: Path) -> Iterator[dict[str, Any]]:
    """The measurements of a run; a last line that was cut off is left out."""
    yield from _lines(folder / "metrics.jsonl")


def samples(folder: Path) -> Iterator[dict[str, Any]]:
    """What the model of a run made of some held-out things, score by score."""
    yield from _lines(folder / "samples.jsonl")


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    if path.is_file():
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(row, dict) and type(row.get("step")) is int:
                yield row


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False).encode("utf-8", "replace").decode()  # half a character has no bytes


def newest(folder: Path) -> Path | None:
    """The last checkpoint of a run, if it has one."""
    return next(reversed(checkpoint.present(folder / "checkpoints")), None)


def _lock_folder(folder: Path) -> IO[str]:
    """A lock that goes away with its process, however that ends."""
    file = (folder / ".lock").open("a+", encoding="utf-8")
    try:
        import fcntl
    except ImportError:  # Windows has no such lock; there two trainings in one folder are the user's care
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        owner = file.read().strip() or "unknown"
        file.close()
        raise RunError(f"{folder} is being trained by process {owner}; wait for it, or give another --out") from None
    except OSError:  # a file system without locks
        return file
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def _replace(path: Path, text: str) -> None:
    try:
        write(path, text + "\n" if text else "")
    except OSError as error:
        raise checkpoint.write_error(path, error) from None
