"""The doors through which files of strangers come in: each opens, or says in one sentence why not."""

import json
import math
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tests.hostile import good

from regard.analysis import viewfile
from regard.data.captions import captioned
from regard.data.coco import read_coco
from regard.data.errors import DataError
from regard.data.labelled import examples
from regard.data.points import read_points
from regard.data.questions import questions
from regard.data.stereo import read_disparity
from regard.data.tagged import _read as read_tagged
from regard.data.treebank import brackets
from regard.files import read
from regard.hub import CheckpointError, load
from regard.pipelines import index
from regard.sound import SoundError, open_sound
from regard.train import checkpoint
from regard.train.run import RunError, metrics, read_recipe, samples
from regard.train.run import _line as write_line
from regard.vision.cloud import CloudError, open_cloud
from regard.vision.picture import PictureError, open_picture
from regard.web.files import read_object
from regard.web.runs import _describe as describe
from regard.words import read_vectors

LONGEST = 900  # letters of a sentence
PATIENCE = 20  # seconds, on a machine that does much else


class Door(NamedTuple):
    """How a file is opened, and the one error that may come of it."""

    open: Callable[[Path], object]
    error: type[Exception]
    named: bool = True  # the sentence names the file


class HungError(BaseException):
    """A file that takes for ever."""


@contextmanager
def patience(seconds: float = PATIENCE) -> Iterator[None]:
    """An error where something takes longer, also if a door took it for one of the file's."""
    late = []

    def ring(*_: object) -> None:
        late.append(f"more than {seconds} seconds")
        raise HungError(late[0])

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if late:
            raise HungError(late[0])


def knock(kind: str, path: Path) -> str | None:
    """What is said at a door, or None where it opens; any other end is an error of the test."""
    door = DOORS[kind]
    with patience():
        try:
            door.open(path)
        except door.error as error:
            said = str(error)
        else:
            return None
    assert type(error_of(kind)) is type
    assert said, "it says nothing"
    assert "\n" not in said, said
    assert len(said) < LONGEST, f"{len(said)} letters: {said[:200]}"
    assert str(path) in said or not door.named, said
    said.encode()
    return said


def error_of(kind: str) -> type[Exception]:
    """The one error of a door."""
    return DOORS[kind].error


def _model(path: Path) -> None:
    load(path)
    json.dumps(read_object(path / "card.json"), allow_nan=False).encode()


def _picture(path: Path) -> None:
    found = open_picture(path)
    assert found.mode == "RGB"


def _sound(path: Path) -> None:
    found = open_sound(path, rate=8000)
    assert np.isfinite(found.samples).all()


def _cloud(path: Path) -> None:
    found = open_cloud(path)
    assert np.isfinite(found).all()
    assert np.abs(found).max() <= 1.001


def _index(path: Path) -> None:
    """An index that is no good is made again, so that no search ever fails by it."""
    found = index.update(path.with_suffix(""), good.mean_colour, good.MINE, path=path)
    assert len(found.search(found.vectors[0])) == len(found) > 0


def _view(path: Path) -> None:
    try:
        data = read(path, viewfile.LARGEST)
    except OSError as error:  # a page is given its bytes by the browser
        raise ValueError(str(error)) from None
    found = viewfile.read(data)
    json.dumps(found.to_json(), allow_nan=False).encode()


def _run(path: Path) -> None:
    """What the page shows of a run never fails, whatever lies there; a training that goes on may refuse."""
    shown = describe(path.name, path)
    json.dumps(shown, allow_nan=False).encode()
    _rows(metrics(path))
    _rows(samples(path))
    read_recipe(path)
    try:
        for each in checkpoint.present(path / "checkpoints"):
            checkpoint.read(each)
    except checkpoint.DamageError as error:
        raise RunError(str(error)) from None


def _rows(rows: Iterator[Mapping[str, Any]]) -> None:
    for row in rows:
        assert not isinstance(row["step"], bool)
        write_line(row).encode()  # as a run that goes on writes it again


def _vectors(path: Path) -> None:
    found = read_vectors(path)
    assert len(found.words) == len(found.matrix)
    assert math.isfinite(float(np.asarray(found.matrix).sum()))


def _disparity(path: Path) -> None:
    found = read_disparity(path)
    assert found.ndim == 2
    assert np.isfinite(found).all()


def _read_all(rows: Callable[[Path], Iterator[object]]) -> Callable[[Path], None]:
    def read_rows(path: Path) -> None:
        for _ in rows(path):
            pass

    return read_rows


DOORS: Mapping[str, Door] = {
    "folder": Door(_model, CheckpointError),
    "hugging": Door(_model, CheckpointError),
    "seeing": Door(_model, CheckpointError),
    "gguf": Door(load, CheckpointError),
    "vectors": Door(_vectors, CheckpointError),
    "picture": Door(_picture, PictureError),
    "sound": Door(_sound, SoundError),
    "cloud": Door(_cloud, CloudError),
    "index": Door(_index, ValueError),
    "view": Door(_view, ValueError, named=False),
    "run": Door(_run, RunError),
    "table": Door(_read_all(examples), DataError),
    "trees": Door(_read_all(brackets), DataError),
    "tags": Door(_read_all(read_tagged), DataError),
    "marks": Door(read_coco, DataError),
    "disparity": Door(_disparity, DataError),
    "points": Door(read_points, DataError),
    "questions": Door(questions, DataError),
    "captions": Door(captioned, DataError),
}
