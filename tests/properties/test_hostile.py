"""No file of a stranger does more than be refused: by one error, in one sentence, soon, and nothing is executed."""

import json
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hostile.doors import DOORS, knock
from tests.hostile.fuzz import SUBJECTS, Fuzz
from tests.hostile.good import GOOD
from tests.hostile.zoo import Specimen, signs, specimens
from tests.unit.hub.hostile import HOSTILE

pytest.importorskip("gguf", reason="GGUF files are read by the package gguf, the extra of that name")
pytest.importorskip("pyarrow", reason="Parquet files are read by pyarrow, of the extra `tables`")

ZOO = specimens()
EXAMPLES = 300  # spoilt files of each kind


def test_the_zoo_is_large_and_every_door_is_knocked_at() -> None:
    names = [(each.kind, each.what) for each in ZOO]
    assert len(set(names)) == len(names)
    assert len(names) + len(HOSTILE) > 350
    assert {each.kind for each in ZOO} | {"folder"} == set(DOORS) == set(GOOD)
    assert {each.kind for each in SUBJECTS.values()} == set(DOORS)


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, (_, names) in GOOD.items() for name in names])
def test_what_is_spoilt_below_is_good(kind: str, name: str, tmp_path: Path) -> None:
    assert knock(kind, GOOD[kind][0](tmp_path / name)) is None


@pytest.mark.parametrize("specimen", ZOO, ids=lambda each: f"{each.kind}: {each.what}")
def test_a_hostile_file_is_one_sentence_and_nothing_else(specimen: Specimen, tmp_path: Path) -> None:
    place = tmp_path / specimen.name
    specimen.make(place)
    said = knock(specimen.kind, place)
    assert (said is not None) == specimen.refused, said
    assert not signs(tmp_path)
    assert not signs(Path.cwd())


WATCH = """
import json, resource, sys, time, warnings
warnings.simplefilter("ignore")
from pathlib import Path
from tests.hostile.doors import knock
from tests.hostile.good import GOOD

FORBIDDEN = ("os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess.Popen", "socket.connect")
seen = []
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

good, rows = json.loads(sys.stdin.read())
for kind, place in good:
    knock(kind, Path(place))
def watch(event, args):
    if event in FORBIDDEN or (event == "os.mkdir" and "executed" in str(args[0])):
        seen.append(event)

sys.addaudithook(watch)
found, before = [], peak()
for kind, place in rows:
    seen.clear()
    start = time.process_time()
    try:
        knock(kind, Path(place))
        wrong = ""
    except BaseException as error:
        wrong = repr(error)
    found.append((wrong, time.process_time() - start, max(0.0, peak() - before), list(seen)))
    before = max(before, peak())
print(json.dumps(found))
"""


def test_no_hostile_file_costs_much_or_starts_anything(tmp_path: Path) -> None:
    """All of them in one process, which is watched from its first line on for what it starts and whom it calls."""
    good, rows = [], []
    for kind, (make, names) in GOOD.items():
        for number, name in enumerate(names):
            place = tmp_path / f"{kind}-{number}" / name
            place.parent.mkdir()
            good.append((kind, str(make(place))))
    for number, each in enumerate(ZOO):
        place = tmp_path / str(number) / each.name
        place.parent.mkdir()
        each.make(place)
        rows.append((each.kind, str(place)))
    answer = subprocess.run(
        [sys.executable, "-c", WATCH],
        input=json.dumps([good, rows]),
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    for each, (wrong, seconds, megabytes, started) in zip(ZOO, json.loads(answer.stdout), strict=True):
        told = f"{each.kind}: {each.what}"
        assert (told, wrong, started) == (told, "", [])
        assert seconds < 5, told
        assert megabytes < 300, told


@pytest.mark.parametrize("name", SUBJECTS)
def test_whatever_is_wrong_with_a_file_is_one_sentence(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    fuzz = Fuzz(name, tmp_path_factory.mktemp("fuzz"))

    @given(st.integers(0, 2**32))
    @settings(max_examples=EXAMPLES, database=None)
    def opens_or_is_refused(seed: int) -> None:
        fuzz(Random(seed))

    opens_or_is_refused()
