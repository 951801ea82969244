"""What carries the name of a checkpoint is whole."""

import os
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from regard.train import checkpoint
from regard.train.checkpoint import DamageError


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = checkpoint.place(tmp_path / "deep", 7)
    given = {"model.a": torch.randn(3, 4).T, "model.b": torch.tensor(5), "other": torch.randn(2).bfloat16()}
    checkpoint.write(path, given, {"step": 7, "best": None})
    tensors, state = checkpoint.read(path)
    assert state == {"step": 7, "best": None} == checkpoint.state(path)
    assert tensors.keys() == given.keys()
    assert all(tensors[name].equal(given[name]) and tensors[name].dtype == given[name].dtype for name in given)
    assert checkpoint.under(checkpoint.read(path, "model.")[0], "model.").keys() == {"a", "b"}
    assert [each.name for each in path.parent.iterdir()] == ["step-00000007.safetensors"]


def test_one_parameter_may_have_two_names(tmp_path: Path) -> None:
    first, second = nn.Linear(3, 3), nn.Linear(3, 3)
    second.weight = first.weight
    given = nn.Sequential(first, second).state_dict()
    checkpoint.write(tmp_path / "x", given, {})
    read, _ = checkpoint.read(tmp_path / "x")
    assert all(read[name].equal(tensor) for name, tensor in given.items())


def test_checkpoints_stand_in_the_order_of_their_steps(tmp_path: Path) -> None:
    for step in (100_000_000, 20, 3):
        checkpoint.write(checkpoint.place(tmp_path, step), {}, {})
    for name in (
        "best.safetensors",
        "step-5.txt",
        ".step-00000009.safetensors.77.partial",
        "step-00000004.safetensors.damaged",
    ):
        (tmp_path / name).touch()
    assert [checkpoint.step(path) for path in checkpoint.present(tmp_path)] == [3, 20, 100_000_000]
    assert checkpoint.present(tmp_path / "nowhere") == []


def test_an_interruption_leaves_no_trace_among_the_regular_checkpoints() -> None:
    paths = [checkpoint.place(Path(), step) for step in (100, 200, 237, 300, 310)]
    assert [checkpoint.step(path) for path in checkpoint.regular(paths, 100)] == [100, 200, 300, 310]
    assert [checkpoint.step(path) for path in checkpoint.regular(paths[:-1], 100)] == [100, 200, 300]
    assert checkpoint.regular([], 100) == []


@pytest.mark.parametrize("keep", [0, 1, 8, 40, -1])
def test_a_file_that_was_cut_short_is_known_by_its_header(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "step-00000001.safetensors"
    checkpoint.write(path, {"a": torch.randn(1000)}, {"step": 1})
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(DamageError, match=r"step-00000001\.safetensors is no whole checkpoint"):
        checkpoint.state(path)
    with pytest.raises(DamageError, match="no whole checkpoint"):
        checkpoint.read(path)


def test_one_bit_that_was_flipped_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "step-00000001.safetensors"
    checkpoint.write(path, {"a": torch.randn(1000), "b": torch.tensor(3)}, {"step": 1})
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)
    with pytest.raises(DamageError, match="no whole checkpoint"):
        checkpoint.read(path)


def test_a_state_that_says_something_else_is_noticed_too(tmp_path: Path) -> None:
    path = tmp_path / "step-00000001.safetensors"
    checkpoint.write(path, {"a": torch.randn(10)}, {"step": 1, "batches": {"taken": 7}})
    data = path.read_bytes()
    for before, after in ((b'step\\": 1', b'step\\": 2'), (b'taken\\": 7', b'taken\\": 8')):
        assert before in data
        path.write_bytes(data.replace(before, after))
        with pytest.raises(DamageError, match="no whole checkpoint"):
            checkpoint.read(path)


def test_what_the_first_versions_wrote_is_read_and_checked(tmp_path: Path) -> None:
    from zlib import crc32

    from safetensors.torch import save_file

    path, tensor = tmp_path / "step-00000001.safetensors", torch.arange(5.0)
    for crc, whole in ((crc32(tensor.numpy().tobytes(), crc32(b"a")), True), (7, False)):
        save_file({"a": tensor}, path, {"state": '{"step": 1}', "crc": str(crc)})
        if whole:
            assert checkpoint.read(path)[1] == {"step": 1}
        else:
            with pytest.raises(DamageError, match="its hash is another"):
                checkpoint.read(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")
def test_a_pipe_with_the_name_of_a_checkpoint_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "step-00000001.safetensors")
    with pytest.raises(DamageError, match="is no regular file"):
        checkpoint.read(tmp_path / "step-00000001.safetensors")


def test_a_foreign_file_is_no_checkpoint(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    save_file({"a": torch.ones(2)}, tmp_path / "x")
    with pytest.raises(DamageError, match="no whole checkpoint"):
        checkpoint.read(tmp_path / "x")


@pytest.mark.parametrize("when", ["save_file", "fsync"])
def test_a_write_that_fails_leaves_the_earlier_one_and_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    path = tmp_path / "best.safetensors"
    checkpoint.write(path, {"a": torch.ones(9)}, {"step": 1})

    def half(tensors: object, beside: Path, *_: Any) -> None:
        beside.write_bytes(b"half of it")
        raise OSError(28, "No space left on device")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    if when == "save_file":
        monkeypatch.setattr(checkpoint, "save_file", half)
    else:
        monkeypatch.setattr("os.fsync", full)
    with pytest.raises(
        OSError, match=r"could not write .*No space left.* is whole: make room, and go on with --resume"
    ):
        checkpoint.write(path, {"a": torch.zeros(9)}, {"step": 2})
    monkeypatch.undo()
    assert checkpoint.read(path)[0]["a"].equal(torch.ones(9))
    assert list(tmp_path.iterdir()) == [path]


def test_the_mean_of_checkpoints_is_that_of_a_hand(tmp_path: Path) -> None:
    paths = [checkpoint.place(tmp_path, step) for step in (1, 2, 3)]
    for path, value in zip(paths, (1.0, 2.0, 6.0), strict=True):
        checkpoint.write(path, {"model.a": torch.full((2,), value), "exp_avg.a": torch.full((2,), 99.0)}, {})
    assert checkpoint.mean(paths, "model.")["a"].tolist() == [3.0, 3.0]
    assert checkpoint.mean(paths, "model.").keys() == {"a"}
