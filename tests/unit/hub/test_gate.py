"""No folder of a stranger does more than be refused: one error, one sentence, soon and in little memory."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any, Literal

import pytest
import torch
from tests.hostile.doors import patience
from tests.unit.hub.hostile import HOSTILE

from regard.hub import CheckpointError, gate, load, save
from regard.models.family import Family, families
from regard.models.transformer import FAMILY, PRESETS, Transformer
from regard.text import Tokenizer

MEASURE = """
import json, resource, sys, time
import regard.hub

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

regard.hub.load(sys.argv[1])
before, found = peak(), {}
for folder in sys.argv[2:]:
    start = time.process_time()
    try:
        regard.hub.load(folder)
        said = "loaded"
    except regard.hub.CheckpointError as error:
        said = "refused"
    except BaseException as error:
        said = repr(error)
    found[folder] = (said, time.process_time() - start, peak() - before)
print(json.dumps(found))
"""


def saved(folder: Path) -> Path:
    torch.manual_seed(0)
    tokenizer = Tokenizer.train(["ein Hund läuft"], kind="characters", vocab=20)
    save(folder, Transformer(PRESETS["transformer-nano"]), family=FAMILY, card={"title": "good"}, tokenizer=tokenizer)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return saved(tmp_path / "model")


def test_the_folder_that_is_spoilt_below_is_good(folder: Path) -> None:
    assert load(folder).card == {"title": "good"}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_folder_is_refused_in_one_sentence(name: str, folder: Path) -> None:
    spoil, said = HOSTILE[name]
    spoil(folder)
    with pytest.raises(CheckpointError) as caught:
        load(folder)
    sentence = str(caught.value)
    assert said in sentence
    assert str(folder) in sentence
    assert "\n" not in sentence
    assert len(sentence) < 900
    sentence.encode()


def test_no_hostile_folder_costs_a_second_or_100_megabytes(tmp_path: Path) -> None:
    folders = []
    for number, (spoil, _) in enumerate(HOSTILE.values()):
        folders.append(saved(tmp_path / str(number)))
        spoil(folders[-1])
    command = [sys.executable, "-c", MEASURE, str(saved(tmp_path / "good")), *map(str, folders)]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    found = json.loads(answer.stdout)
    for folder, name in zip(folders, HOSTILE, strict=True):
        said, seconds, megabytes = found[str(folder)]
        assert (name, said) == (name, "refused")
        assert seconds < 1, name
        assert megabytes < 100, name


@dataclass(frozen=True, slots=True)
class Inner:
    width: int = 3


@dataclass(frozen=True, slots=True)
class Settings:
    depths: tuple[int, ...] = (2, 2, 6, 2)
    size: tuple[int, int] = (224, 224)
    pairs: tuple[tuple[int, str], ...] = ()
    tower: Inner = Inner()
    context: int | None = None
    pooling: Literal["sum", "mean"] = "sum"
    eps: float = 1e-5
    new: bool = field(default=True, metadata={"later": True})


GIVEN = {
    "depths": [1, 2, 3],
    "size": [7, 8],
    "pairs": [[1, "a"], [2, "b"]],
    "tower": {"width": 5},
    "context": None,
    "pooling": "mean",
    "eps": 1,
}


def read(**changes: object) -> Settings:
    made = gate.config(Settings, GIVEN | changes, Path("config.json"), {})
    assert isinstance(made, Settings)
    return made


def numbers(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the whole numbers of a config stand; of a list, the first is enough."""
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value[:1]):
            yield from numbers(each, (*place, key))
    elif type(value) is int:
        yield place


@pytest.mark.parametrize("family", families().values(), ids=lambda family: family.name)
def test_no_number_of_a_config_keeps_anybody_busy(family: Family, tmp_path: Path) -> None:
    (name,) = (name for name in family.presets if name.endswith("-nano"))
    with torch.device("meta"):
        tensors = family.build(name).state_dict()
    entries = {key: gate.Entry(tmp_path, "F32", tuple(tensor.shape)) for key, tensor in tensors.items()}
    good = json.loads(json.dumps(asdict(family.presets[name])))
    for place in numbers(good):
        for number in (0, -1):
            given = deepcopy(good)
            reduce(getitem, place[:-1], given)[place[-1]] = number
            with patience(5), suppress(CheckpointError), gate.guard(tmp_path):
                gate.build(family.model, gate.config(family.config, given, tmp_path, entries), tmp_path, entries)


def test_lists_become_tuples_and_configs_nest() -> None:
    assert read() == Settings((1, 2, 3), (7, 8), ((1, "a"), (2, "b")), Inner(5), None, "mean", 1, True)
    assert read(context=9, new=False) == Settings(
        (1, 2, 3), (7, 8), ((1, "a"), (2, "b")), Inner(5), 9, "mean", 1, False
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"depths": [1, True]}, "depths[1] is True, not int"),
        ({"depths": 3}, "depths is 3, not tuple[int, ...]"),
        ({"size": [1, 2, 3]}, "size is [1, 2, 3], not tuple[int, int]"),
        ({"pairs": [[1, 2]]}, "pairs[0][1] is 2, not str"),
        ({"tower": {"width": 1.5}}, "tower.width is 1.5, not int"),
        ({"tower": {}}, "missing field 'tower.width'"),
        ({"tower": 3}, "tower is 3, not an object"),
        ({"context": "x"}, "context is 'x', not int | None"),
        ({"context": 10**7}, "context is 10000000, not int | None"),
        ({"pooling": True}, "pooling is True"),
        ({"new": 1}, "new is 1, not bool"),
    ],
)
def test_what_does_not_fit_is_named(changes: dict[str, object], said: str) -> None:
    with pytest.raises(CheckpointError) as caught:
        read(**changes)
    assert said in str(caught.value)


def test_a_build_in_another_thread_is_not_count_tensors(folder: Path) -> None:
    """The hooks that count are global, and a server builds several models at once."""
    import threading

    with gate._count_tensors(1, folder):
        made: list[Transformer] = []
        other = threading.Thread(target=lambda: made.append(Transformer(PRESETS["transformer-nano"])))
        other.start()
        other.join()
    assert made
    with pytest.raises(CheckpointError, match="far larger"), gate._count_tensors(1, folder):
        Transformer(PRESETS["transformer-small"])
