"""A good folder, spoilt in one way each."""

import json
import os
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

Spoil = Callable[[Path], object]


def fifo(name: str) -> Spoil:
    def spoil(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)

    return spoil


def link(name: str, to: str) -> Spoil:
    def spoil(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(to)

    return spoil


def content(name: str, data: bytes) -> Spoil:
    return lambda folder: (folder / name).write_bytes(data)


def sparse(name: str, size: int) -> Spoil:
    def spoil(folder: Path) -> None:
        (folder / name).write_bytes(b"{")
        os.truncate(folder / name, size)

    return spoil


def config(**changes: object) -> Spoil:
    """Fields of the model's own config, told otherwise; a text is put there as it is."""

    def spoil(folder: Path) -> None:
        path = folder / "config.json"
        about = json.loads(path.read_text())
        raw = {name: value for name, value in changes.items() if isinstance(value, bytes)}
        about["config"] |= {name: f"RAW {name}" if name in raw else value for name, value in changes.items()}
        text = json.dumps(about)
        for name, value in raw.items():
            text = text.replace(json.dumps(f"RAW {name}"), value.decode())
        path.write_text(text)

    return spoil


def about(**changes: object) -> Spoil:
    def spoil(folder: Path) -> None:
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return spoil


def parts(folder: Path) -> tuple[dict[str, Any], bytes]:
    data = (folder / "model.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def written(folder: Path, header: bytes, body: bytes) -> None:
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + body)


def header(change: Callable[[dict[str, Any]], object]) -> Spoil:
    """The header of the weights after some change; the weights themselves stay."""

    def spoil(folder: Path) -> None:
        rows, body = parts(folder)
        change(rows)
        written(folder, json.dumps(rows).encode(), body)

    return spoil


def tensors(change: Callable[[dict[str, torch.Tensor]], object]) -> Spoil:
    def spoil(folder: Path) -> None:
        found = load_file(folder / "model.safetensors")
        change(found)
        save_file(found, folder / "model.safetensors")

    return spoil


def row(**changes: object) -> Callable[[dict[str, Any]], object]:
    return lambda rows: rows["embed.weight"].update(changes)


def doubled_header(folder: Path) -> None:
    rows, body = parts(folder)
    text = json.dumps(rows)
    written(folder, (text[:-1] + ', "embed.weight": ' + json.dumps(rows["embed.weight"]) + "}").encode(), body)


def length(claimed: int) -> Spoil:
    def spoil(folder: Path) -> None:
        data = (folder / "model.safetensors").read_bytes()
        (folder / "model.safetensors").write_bytes(struct.pack("<Q", claimed) + data[8:])

    return spoil


def cut(folder: Path) -> None:
    data = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(data[:-100])


def shifted(rows: dict[str, Any]) -> None:
    rows["embed.weight"]["data_offsets"] = [each + 4 for each in rows["embed.weight"]["data_offsets"]]


def without(name: str) -> Spoil:
    return lambda folder: (folder / name).unlink()


def tokenizer(change: Callable[[dict[str, Any]], object]) -> Spoil:
    def spoil(folder: Path) -> None:
        data = json.loads((folder / "tokenizer.json").read_text())
        change(data)
        (folder / "tokenizer.json").write_text(json.dumps(data))

    return spoil


def far(data: dict[str, Any]) -> None:
    data["model"]["vocab"]["zzz"] = 4_000_000_000


BIG = 10**9
# What is done to a folder, and a part of what is then said of it.
HOSTILE: Mapping[str, tuple[Spoil, str]] = {
    "a pipe as config": (fifo("config.json"), "is no regular file"),
    "a pipe as card": (fifo("card.json"), "is no regular file"),
    "a pipe as weights": (fifo("model.safetensors"), "is no regular file"),
    "a pipe as tokenizer": (fifo("tokenizer.json"), "is no regular file"),
    "an endless card": (link("card.json", "/dev/zero"), "is no regular file"),
    "endless weights": (link("model.safetensors", "/dev/zero"), "is no regular file"),
    "an endless tokenizer": (link("tokenizer.json", "/dev/zero"), "is no regular file"),
    "a folder as weights": (link("model.safetensors", "."), "is no regular file"),
    "a link to itself": (link("config.json", "config.json"), ""),
    "a card of a gigabyte": (sparse("card.json", BIG), "at most 2,097,152 are read"),
    "a config of a gigabyte": (sparse("config.json", BIG), "at most 2,097,152 are read"),
    "a tokenizer of a gigabyte": (sparse("tokenizer.json", BIG), "at most 64,000,000 are read"),
    "a tokenizer of 60 megabytes of nothing": (sparse("tokenizer.json", 60_000_000), "is not a tokenizer"),
    "weights of a gigabyte of nothing": (sparse("model.safetensors", BIG), "is no sound JSON"),
    "a deep card": (content("card.json", b"[" * 200_000), "is nested too deeply"),
    "a deep config": (content("config.json", b'{"a":' * 100_000), "is nested too deeply"),
    "a deep tokenizer": (content("tokenizer.json", b"[" * 200_000), "is not a tokenizer"),
    "many lists in a card": (content("card.json", b"[" + b"[]," * 690_000 + b"[]]"), "holds list and no object"),
    "no card": (without("card.json"), "card.json is missing"),
    "no weights": (without("model.safetensors"), "model.safetensors is missing"),
    "a card that is no JSON": (content("card.json", b"\xff\xfe\x00"), "is no sound JSON"),
    "half a character in a title": (content("card.json", b'{"title": "\\ud800"}'), "has half a character"),
    "NaN in a card": (content("card.json", b'{"bleu": NaN}'), "NaN is no number"),
    "a config that is a list": (content("config.json", b"[1, 2]"), "holds list and no object"),
    "a config within that is a list": (about(config=[1, 2]), "config is [1, 2], not an object"),
    "a key twice in a config": (content("config.json", b'{"format": 1, "format": 1}'), "a key stands twice"),
    "an unknown family": (about(family="transfomer"), "no family is called 'transfomer'; try transformer"),
    "a family that is a path": (about(family="../../os"), "no family is called"),
    "a family that is a list": (about(family=[1]), "no family is called"),
    "another format": (about(format=7), "has format 7"),
    "ten thousand layers": (config(depth=10_000), "a far larger model than the 85 tensors of its file"),
    "ten million layers": (config(depth=10_000_000), "no number beyond 1,048,576 is believed"),
    "a million layers": (config(depth=1_000_000), "a far larger model"),
    "no layers": (config(depth=0), "unknown decoder.blocks.0"),
    "fewer than no layers": (config(depth=-1), "unknown decoder.blocks.0"),
    "a negative width": (config(width=-16), "describes no Transformer"),
    "a wider model": (config(width=1024), "does not fit its config"),
    "no heads": (config(heads=0), "make no attention"),
    "heads that do not divide": (config(heads=3), "does not split into 3 heads"),
    "a truth for a number": (config(depth=True), "depth is True, not int"),
    "half a layer": (config(depth=1.5), "depth is 1.5, not int"),
    "a number of 400 digits": (config(depth=b"1" + b"0" * 400), "a number of 401 digits"),
    "an infinite number": (config(dropout=b"1e999"), "dropout is inf"),
    "a dropout of 2": (config(dropout=2.0), "describes no Transformer"),
    "a word for a number": (config(width="wide"), "width is 'wide', not int"),
    "an unknown choice": (config(activation="sin"), "activation is 'sin', not"),
    "an unknown field": (config(colour=3), "unknown field 'colour'"),
    "a header that claims the world": (length(2**60), "its header claims 1,152,921,504,606,846,976 bytes"),
    "a header that claims too little": (length(10), "is no sound JSON"),
    "an empty file of weights": (content("model.safetensors", b""), "its header claims"),
    "weights that are a pickle": (content("model.safetensors", b"\x80\x02}q\x00." + bytes(64)), "its header claims"),
    "weights cut short": (cut, "bytes where its header announces"),
    "an unknown dtype": (header(row(dtype="F4")), "has the dtype 'F4'"),
    "a dtype that is a list": (header(row(dtype=["F32"])), "has the dtype"),
    "a shape that is too large": (header(row(shape=[2**40, 2**40])), "which its shape"),
    "a negative shape": (header(row(shape=[-48, -32])), "no whole numbers"),
    "offsets beyond the file": (header(row(shape=[2**30], data_offsets=[0, 2**32])), "a gap or an overlap"),
    "offsets that overlap": (header(shifted), "a gap or an overlap"),
    "offsets backwards": (header(row(data_offsets=[6144, 0])), "which its shape"),
    "a row without a shape": (header(lambda rows: rows["embed.weight"].pop("shape")), "is not announced by"),
    "a tensor twice": (doubled_header, "a key stands twice"),
    "weights that are NaN": (
        tensors(lambda found: found["embed.weight"][3].fill_(float("nan"))),
        "embed.weight in",
    ),
    "weights that are infinite": (
        tensors(lambda found: found["encoder.blocks.0.mlp.up.bias"][:1].fill_(float("inf"))),
        "NaN or infinite",
    ),
    "whole numbers for weights": (
        tensors(lambda found: found.update({"embed.weight": found["embed.weight"].long()})),
        "embed.weight is I64, not float32",
    ),
    "a wrong shape": (
        tensors(lambda found: found.update({"embed.weight": found["embed.weight"].T.contiguous()})),
        "embed.weight has shape",
    ),
    "a missing tensor": (tensors(lambda found: found.pop("embed.weight")), "missing embed.weight"),
    "an unknown tensor": (tensors(lambda found: found.update(extra=torch.zeros(2))), "unknown extra"),
    "a scale of nothing": (
        tensors(lambda found: found.update({"embed.weight.scale": torch.zeros(48)})),
        "unknown embed.weight.scale",
    ),
    "an id far away": (tokenizer(far), "is not a tokenizer"),
    "a tokenizer of nothing": (content("tokenizer.json", b"{}"), "is not a tokenizer"),
    "a tokenizer without a model": (tokenizer(lambda data: data.pop("model")), "is not a tokenizer"),
}
