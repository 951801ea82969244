"""A folder belongs to one run, and to one training of it at a time."""

import json
import os
from pathlib import Path

import pytest
import torch

from regard.train import checkpoint
from regard.train.run import Run, RunError, metrics, newest, read_recipe

SCORES = {"bleu": "higher"}
FIELDS = {"lr": 0.1, "length": (6, 12)}


def begun(folder: Path, *steps: int) -> None:
    run = Run(folder, "copy", FIELDS, SCORES, resume=False)
    run.open()
    run.go_on(0)
    for step in steps:
        run.log({"step": step})
        checkpoint.write(checkpoint.place(run.checkpoints, step), {"a": torch.ones(50)}, {"step": step})
    run.close()


def test_a_folder_tells_what_was_asked_with_what_and_how_it_went(tmp_path: Path) -> None:
    begun(tmp_path / "deep" / "run", 1, 2)
    assert read_recipe(tmp_path / "deep" / "run") == {"recipe": "copy", "fields": {"lr": 0.1, "length": [6, 12]}}
    assert json.loads((tmp_path / "deep/run/machine.json").read_text())["torch"] == torch.__version__
    assert [row["step"] for row in metrics(tmp_path / "deep" / "run")] == [1, 2]


def test_a_run_does_not_begin_where_another_is(tmp_path: Path) -> None:
    begun(tmp_path)
    with pytest.raises(RunError, match="holds a run already; go on with --resume, or give another --out"):
        Run(tmp_path, "copy", FIELDS, SCORES, resume=False)


def test_nothing_resumes_where_no_run_is(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="holds no run to resume; leave --resume out, or give the folder by --out"):
        Run(tmp_path, "copy", FIELDS, SCORES, resume=True)


def test_other_fields_are_refused_by_name(tmp_path: Path) -> None:
    begun(tmp_path)
    Run(tmp_path, "copy", FIELDS, SCORES, resume=True)
    with pytest.raises(
        RunError, match=r"--length was \[6, 12\], not \[6, 13\]; --lr was 0.1, not 0.2; resume with the"
    ):
        Run(tmp_path, "copy", {"lr": 0.2, "length": (6, 13)}, SCORES, resume=True)
    with pytest.raises(RunError, match="is a run of 'copy', not of 'parse'"):
        Run(tmp_path, "parse", FIELDS, SCORES, resume=True)


def test_a_field_that_is_younger_than_the_run_does_not_end_it(tmp_path: Path) -> None:
    begun(tmp_path)
    Run(tmp_path, "copy", {**FIELDS, "younger": 3}, SCORES, resume=True)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"recipe": "copy"}', '{"recipe": 1, "fields": 2}', "\xff"])
def test_a_broken_recipe_says_so(tmp_path: Path, text: str) -> None:
    (tmp_path / "recipe.json").write_text(text, encoding="latin-1")
    with pytest.raises(RunError, match=r"recipe.json cannot be read \(.*\); begin anew in another folder"):
        Run(tmp_path, "copy", FIELDS, SCORES, resume=True)


def test_two_trainings_in_one_folder_are_one_too_many(tmp_path: Path) -> None:
    run = Run(tmp_path, "copy", FIELDS, SCORES, resume=False)
    run.open()
    (tmp_path / "checkpoints").mkdir()
    (writing := tmp_path / "checkpoints" / f".x.{os.getpid()}.partial").touch()
    (model := tmp_path / ".model-x7").mkdir()
    second = Run(tmp_path, "copy", FIELDS, SCORES, resume=True)
    with pytest.raises(
        RunError, match=f"is being trained by process {os.getpid()}; wait for it, or give another --out"
    ):
        second.open()
    assert writing.exists()
    assert model.exists()
    run.close()
    second.open()
    assert not writing.exists()
    assert not model.exists()
    second.close()


def test_measurements_behind_the_checkpoint_and_a_line_cut_off_are_forgotten(tmp_path: Path) -> None:
    begun(tmp_path, 1, 2, 3)
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('17\n{"loss": 2}\n{"step": 4, "lo')
    assert [row["step"] for row in metrics(tmp_path)] == [1, 2, 3]
    run = Run(tmp_path, "copy", FIELDS, SCORES, resume=True)
    run.open()
    run.go_on(2)
    run.log({"step": 3, "again": True})
    run.close()
    assert list(metrics(tmp_path)) == [{"step": 1}, {"step": 2}, {"step": 3, "again": True}]
    assert (tmp_path / "metrics.jsonl").read_text().count("\n") == 3


def test_a_damaged_checkpoint_is_put_aside_and_told_of(tmp_path: Path) -> None:
    begun(tmp_path, 1, 2, 3)
    for step in (2, 3):
        with checkpoint.place(tmp_path / "checkpoints", step).open("r+b") as file:
            file.truncate(150)
    run = Run(tmp_path, "copy", FIELDS, SCORES, resume=True)
    said = run.open()
    run.close()
    assert len(said) == 2
    assert all("is no whole checkpoint" in line and "goes on from the one before" in line for line in said)
    assert newest(tmp_path) == checkpoint.place(tmp_path / "checkpoints", 1)
    assert len(list((tmp_path / "checkpoints").glob("*.damaged"))) == 2


def test_where_no_checkpoint_is_whole_the_run_does_not_begin_again_by_itself(tmp_path: Path) -> None:
    begun(tmp_path, 1)
    checkpoint.place(tmp_path / "checkpoints", 1).write_bytes(b"")
    run = Run(tmp_path, "copy", FIELDS, SCORES, resume=True)
    with pytest.raises(RunError, match=r"none of the checkpoints in .* is whole; begin anew in another folder"):
        run.open()
    run.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_line_that_cannot_be_written_says_what_to_do(tmp_path: Path) -> None:
    run = Run(tmp_path, "copy", FIELDS, SCORES, resume=False)
    run.open()
    (tmp_path / "metrics.jsonl").symlink_to("/dev/full")
    run._metrics = (tmp_path / "metrics.jsonl").open("a")
    with pytest.raises(OSError, match=r"could not write .*metrics.jsonl.*make room, and go on with --resume"):
        run.log({"step": 1})
    run.close()
