"""The zoo: files that somebody made to do harm, one way each, for every door there is.

A specimen is made by code at a path; what it must come to is the one error of its door. Of an index, and of what the
page shows of a run, it must come to nothing: they do without. Folders of our own have theirs in tests/unit/hub.
"""

import gzip
import io
import json
import os
import pickle
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from PIL import Image
from safetensors.torch import save_file
from tests.hostile import good
from tests.hostile.good import GOOD, wav
from tests.unit.hub import ggufs

Make = Callable[[Path], object]
BIG = 10**9
DEEP = b"[" * 200_000


class Specimen(NamedTuple):
    """One hostile file: the door it knocks at, what it is, how it is called and made, and whether it is refused."""

    kind: str
    what: str
    name: str
    make: Make
    refused: bool = True


class Bomb:
    """A pickle that would make a folder if anybody ran it."""

    def __init__(self, sign: Path) -> None:
        self.sign = sign

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.sign),)


def specimens() -> list[Specimen]:
    """All of them."""
    kinds = (_theirs, _ggufs, _vectors, _pictures, _sounds, _clouds, _indexes, _views, _runs, _tables, _arrays, _said)
    return [*_anything(), *(each for kind in kinds for each in kind())]


def signs(home: Path) -> list[Path]:
    """What lies there because something was executed."""
    return list(home.rglob("executed"))


def _anything() -> Iterator[Specimen]:
    """What no door takes: a pipe, a device without end, a folder, a link to itself, nothing, too much, another file."""
    for kind, (_, names) in GOOD.items():
        if kind in ("folder", "hugging", "seeing", "run", "captions"):
            continue  # folders have files of their own that may be all of this
        name, refused = names[0], kind != "index"
        yield Specimen(kind, "a pipe", name, _in_place(kind, os.mkfifo), refused)
        yield Specimen(
            kind, "an endless device", name, _in_place(kind, lambda path: path.symlink_to("/dev/zero")), refused
        )
        yield Specimen(kind, "a link to itself", name, _in_place(kind, lambda path: path.symlink_to(path)), refused)
        if kind not in ("tags", "trees", "table"):  # without lines they have nothing to say
            yield Specimen(kind, "nothing", name, _in_place(kind, lambda path: path.write_bytes(b"")), refused)
        yield Specimen(kind, "bytes by chance", name, _in_place(kind, _noise), refused)
        yield Specimen(kind, "a pickle", name, _in_place(kind, _pickle), refused)


def _in_place(kind: str, make: Make) -> Make:
    def put(path: Path) -> None:
        if kind == "index":  # it lies beside its pictures
            GOOD[kind][0](path)
            path.unlink()
        make(path)

    return put


def _noise(path: Path) -> None:
    path.write_bytes(np.random.default_rng(0).integers(0, 256, 3000, np.uint8).tobytes())


def _pickle(path: Path) -> None:
    path.write_bytes(pickle.dumps(Bomb(path.parent / "executed")))


def _sparse(head: bytes, size: int) -> Make:
    def make(path: Path) -> None:
        path.write_bytes(head)
        os.truncate(path, size)

    return make


def _bytes(data: bytes) -> Make:
    return lambda path: path.write_bytes(data)


def _spoilt(kind: str, change: Callable[[bytes], bytes]) -> Make:
    """A good file whose bytes were changed."""

    def make(path: Path) -> None:
        GOOD[kind][0](path)
        path.write_bytes(change(path.read_bytes()))

    return make


def _first(count: int) -> Callable[[bytes], bytes]:
    return lambda data: data[:count]


def _part(part: int) -> Callable[[bytes], bytes]:
    return lambda data: data[: len(data) // part]


def _within(kind: str, make: Make) -> Make:
    """A good folder in which something was changed."""

    def spoil(path: Path) -> None:
        make(GOOD[kind][0](path))

    return spoil


def _theirs() -> Iterator[Specimen]:
    def config(**changes: Any) -> Make:
        def spoil(folder: Path) -> None:
            path = folder / "config.json"
            path.write_text(json.dumps(json.loads(path.read_text()) | changes))

        return spoil

    def index(weights: object) -> Make:
        def spoil(folder: Path) -> None:
            (folder / "model.safetensors").rename(folder / "other.safetensors")
            (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weights}))

        return spoil

    def processor(**changes: Any) -> Make:
        def spoil(folder: Path) -> None:
            path = folder / "preprocessor_config.json"
            path.write_text(json.dumps(json.loads(path.read_text()) | changes))

        return spoil

    texts: dict[str, Make] = {
        "a type that nobody knows": config(model_type="gpt9000"),
        "a type that is a path": config(model_type="../../os"),
        "a type that is a list": config(model_type=["gpt2"]),
        "code that wants to be run": config(auto_map={"AutoModel": "evil.Model"}, model_type="evil"),
        "a million layers": config(n_layer=10**6),
        "a milliard of layers": config(n_layer=BIG),
        "fewer than no layers": config(n_layer=-1),
        "a width of nothing": config(n_embd=0),
        "a negative width": config(n_embd=-32),
        "a vocabulary of a milliard": config(vocab_size=BIG),
        "heads that are a word": config(n_head="many"),
        "an activation by a path": config(activation_function="os.system"),
        "a dropout that is no number": config(resid_pdrop=[0.1]),
        "an epsilon that is a word": config(layer_norm_epsilon="small"),
        "shards that lie elsewhere": index({"wte.weight": "../../../etc/passwd"}),
        "shards by an absolute path": index({"wte.weight": "/etc/passwd"}),
        "shards that are numbers": index({"wte.weight": 3}),
        "shards that are not there": index({"wte.weight": "none.safetensors"}),
        "shards without end": index({f"{i}": f"{i}.safetensors" for i in range(2000)}),
        "a list in place of shards": index([1, 2]),
        "a pickle in place of weights": _only_pickle,
    }
    for what, make in texts.items():
        yield Specimen("hugging", what, "theirs", _within("hugging", make))
    pictures: dict[str, Make] = {
        "a picture of a milliard": processor(size={"height": BIG, "width": BIG}),
        "a negative size": processor(size={"height": -1, "width": 3}),
        "a size that is a word": processor(size="large"),
        "a deviation of nothing": processor(image_std=[0, 0, 0]),
        "four colours": processor(image_mean=[0.5] * 4),
        "no filter of Pillow's": processor(resample=99),
        "a processor by a path": processor(image_processor_type="os.system"),
        "a deep processor": lambda folder: (folder / "preprocessor_config.json").write_bytes(DEEP),
        "a processor of a gigabyte": lambda folder: _sparse(b"{", BIG)(folder / "preprocessor_config.json"),
    }
    for what, make in pictures.items():
        yield Specimen("seeing", what, "theirs", _within("seeing", make))


def _only_pickle(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Bomb(folder / "executed")))


def _ggufs() -> Iterator[Specimen]:
    def counts(tensors: int, keys: int) -> bytes:
        return ggufs.written([], [], b"", counts=(tensors, keys))

    one = [("general.architecture", "llama")]
    row = ("token_embd.weight", (4, 4), 0, 0)
    made: dict[str, bytes] = {
        "a version of the future": ggufs.written(one, [], b"", version=99),
        "a version of the past": ggufs.written(one, [], b"", version=1),
        "a milliard of tensors": counts(BIG, 0),
        "tensors beyond all": counts(2**64 - 1, 0),
        "keys beyond all": counts(0, 2**64 - 1),
        "no keys at all": ggufs.written([], [], b""),
        "an architecture that is a number": ggufs.written([("general.architecture", 3)], [], b""),
        "an architecture that nobody knows": ggufs.written([("general.architecture", "evil")], [], b""),
        "a key twice": ggufs.written(one * 2, [], b""),
        "a text beyond the file": ggufs.written([("a", struct.pack("<IQ", 8, 2**62))], [], b""),
        "a text that is no text": ggufs.written([("a", struct.pack("<I", 8) + ggufs.text(b"\xff\xfe"))], [], b""),
        "a list beyond the file": ggufs.written([("a", struct.pack("<IIQ", 9, 5, 2**62))], [], b""),
        "lists in a list": ggufs.written([("a", struct.pack("<IIQ", 9, 9, 3))], [], b""),
        "a type of value that is none": ggufs.written([("a", struct.pack("<I", 77))], [], b""),
        "a type of tensor that is none": ggufs.written(one, [("token_embd.weight", (4, 4), 999, 0)], bytes(64)),
        "a tensor beyond the file": ggufs.written(one, [("token_embd.weight", (2**20, 2**20), 0, 0)], bytes(64)),
        "a tensor whose size wraps around": ggufs.written(one, [("token_embd.weight", (2**63, 2), 0, 0)], bytes(64)),
        "a tensor of nothing": ggufs.written(one, [("token_embd.weight", (0, 4), 0, 0)], bytes(64)),
        "a tensor with seven axes": ggufs.written(one, [("token_embd.weight", (1,) * 7, 0, 0)], bytes(64)),
        "a tensor twice": ggufs.written(one, [row, row], bytes(64)),
        "tensors in one place": ggufs.written(one, [row, ("output.weight", (4, 4), 0, 0)], bytes(64)),
        "an offset beyond all": ggufs.written(one, [("token_embd.weight", (4, 4), 0, 2**63)], bytes(64)),
        "an alignment of nothing": ggufs.written([*one, ("general.alignment", 0)], [row], bytes(64)),
        "an alignment by seven": ggufs.written([*one, ("general.alignment", 7)], [row], bytes(64)),
        "sizes that are missing": ggufs.written(one, [row], bytes(64)),
    }
    for what, data in made.items():
        yield Specimen("gguf", what, "a.gguf", _bytes(data))
    for share in (1, 4, 30, 200, 1000, 3000):
        yield Specimen("gguf", f"{share} bytes of it", "a.gguf", _spoilt("gguf", _first(share)))
    yield Specimen("gguf", "a gigabyte of nothing", "a.gguf", _sparse(b"GGUF", BIG))


def _vectors() -> Iterator[Specimen]:
    def npy(array: np.ndarray, words: str = "king\nqueen\nlunch\n") -> Make:
        def make(path: Path) -> None:
            np.save(path, array, allow_pickle=True)
            path.with_suffix(".txt").write_text(words)

        return make

    texts = {
        "a milliard of words": b"1000000000 300\nking 1 2\n",
        "numbers without end": b"3 999999999999\nking 1 2\n",
        "no numbers": b"3 0\nking\nqueen\nlunch\n",
        "fewer words than it says": b"5 2\nking 1 2\nqueen 3 4\n",
        "a line that is too short": b"king 1 2\nqueen 3\n",
        "a number that is none": b"king 1 2\nqueen 3 x\n",
        "NaN": b"king 1 nan\nqueen 3 4\n",
        "infinity": b"king 1 inf\nqueen 3 4\n",
        "one line without end": b"king" + b" 1" * 600_000,
    }
    for what, data in texts.items():
        yield Specimen("vectors", what, "a.vec", _bytes(data))
    binary = {
        "binary of a milliard of words": b"1000000000 300\nking " + bytes(40),
        "binary without a word": b"2 2\n" + bytes(30),
        "binary cut short": b"2 4\nking " + bytes(16) + b"queen " + bytes(3),
        "binary with a word without end": b"1 2\n" + b"a" * 9000 + b" " + bytes(8),
    }
    for what, data in binary.items():
        yield Specimen("vectors", what, "a.bin", _bytes(data))
    yield Specimen("vectors", "binary of zeros", "a.bin", _sparse(b"3 4\n", 10**8))
    yield Specimen("vectors", "a bomb of gzip", "a.vec.gz", _bytes(gzip.compress(b"king" + b" 1" * 20_000_000)))
    yield Specimen("vectors", "gzip cut short", "a.vec.gz", _bytes(gzip.compress(b"king 1 2\n" * 500)[:-9]))
    yield Specimen("vectors", "objects of Python", "a.npy", npy(np.array([[Bomb(Path("executed"))]] * 3, object)))
    yield Specimen("vectors", "a cube", "a.npy", npy(np.zeros((3, 2, 2), np.float32)))
    yield Specimen("vectors", "words of Python", "a.npy", npy(np.array([["a", "b"]] * 3)))
    yield Specimen("vectors", "fewer words than rows", "a.npy", npy(np.zeros((3, 2), np.float32), "king\n"))
    yield Specimen("vectors", "rows that are NaN", "a.npy", npy(np.full((3, 2), np.nan, np.float32)))
    head = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118)
    claim = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 300), }".ljust(117) + b"\n"
    yield Specimen("vectors", "a shape beyond the file", "a.npy", _bytes(head + claim + bytes(100)))
    run = b"{'descr': __import__('os').mkdir('executed'), 'fortran_order': False, 'shape': (3, 2)}".ljust(117) + b"\n"
    yield Specimen("vectors", "a header with code", "a.npy", _bytes(head + run + bytes(100)))
    yield Specimen(
        "vectors", "tensors of something else", "a.safetensors", lambda path: save_file({"a": torch.ones(3)}, path)
    )


def _png(width: int, height: int, data: bytes, *, depth: int = 8, colours: int = 2) -> bytes:
    def chunk(kind: bytes, inside: bytes) -> bytes:
        return struct.pack(">I", len(inside)) + kind + inside + struct.pack(">I", zlib.crc32(kind + inside))

    head = struct.pack(">IIBBBBB", width, height, depth, colours, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def _pictures() -> Iterator[Specimen]:
    def bmp(width: int, height: int) -> bytes:
        return b"BM" + struct.pack("<IHHIIiiHHIIiiII", 54, 0, 0, 54, 40, width, height, 1, 24, *[0] * 6)

    made = {
        "a bomb of pixels": _png(30_000, 30_000, zlib.compress(bytes(10**6))),
        "a picture without pixels": _png(0, 0, zlib.compress(b"")),
        "a picture of one line without end": _png(2**31 - 1, 1, zlib.compress(bytes(100))),
        "colours that are none": _png(8, 8, zlib.compress(bytes(72)), colours=77),
        "a depth that is none": _png(8, 8, zlib.compress(bytes(72)), depth=77),
        "pixels that are not packed": _png(8, 8, b"not zlib"),
        "pixels that end early": _png(2000, 2000, zlib.compress(bytes(10))),
        "a gif without pictures": b"GIF89a" + struct.pack("<HHBBB", 60_000, 60_000, 0, 0, 0) + b";",
        "a gif beyond all": b"GIF89a" + struct.pack("<HHBBB", 65_535, 65_535, 0x80, 0, 0) + bytes(50),
        "a jpeg of a header": b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\xff\xd9",
        "a jpeg beyond all": b"\xff\xd8\xff\xc0\x00\x11\x08\xff\xff\xff\xff\x03" + bytes(20) + b"\xff\xd9",
        "a bmp of a negative width": bmp(-9, 9),
        "a bmp beyond all": bmp(2**30, 2**30),
        "a tiff in a circle": b"II*\x00\x08\x00\x00\x00" + struct.pack("<H", 0) + struct.pack("<I", 8),
        "a tiff of no tags": b"MM\x00*\x00\x00\x00\x08\xff\xff",
        "a webp of a header": b"RIFF\x10\x00\x00\x00WEBPVP8 \x04\x00\x00\x00\x00\x00\x00\x00",
        "a ppm without numbers": b"P6\n" + b"9" * 5000,
        "a ppm beyond all": b"P6\n100000 100000\n255\n",
        "a drawing that is a program": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(executed) (w) file\n",
        "a page of the web": b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        "a list of sound": wav(1, 1, 8000, 16, bytes(800)),
    }
    for what, data in made.items():
        yield Specimen("picture", what, "a.png", _bytes(data))
    for end in ("png", "jpg", "gif", "webp", "tiff"):
        for part in (3, 2):
            make = _spoilt("picture", _part(part))
            yield Specimen("picture", f"1/{part} of a {end}", f"a.{end}", make)
    yield Specimen("picture", "a gigabyte of nothing", "a.png", _sparse(b"\x89PNG\r\n\x1a\n", BIG))
    yield Specimen("picture", "text packed in a png", "a.png", _chatty)


def _chatty(path: Path) -> None:
    """A small picture that brings a text of a gigabyte, packed."""
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(bytes(2**20)) for _ in range(300)) + packer.flush()
    data = io.BytesIO()
    Image.new("RGB", (4, 4)).save(data, "png")
    inside = b"zTXt" + b"note\0\0" + packed
    chunk = struct.pack(">I", len(inside) - 4) + inside + struct.pack(">I", zlib.crc32(inside))
    path.write_bytes(data.getvalue()[:33] + chunk + data.getvalue()[33:])


def _sounds() -> Iterator[Specimen]:
    tone = (np.sin(np.arange(800) / 5) * 20000).astype("<i2").tobytes()
    floats = np.full(800, np.nan, "<f4").tobytes()
    made = {
        "no channel": wav(1, 0, 8000, 16, tone),
        "channels without end": wav(1, 65_535, 8000, 16, tone),
        "a rate of nothing": wav(1, 1, 0, 16, tone),
        "a rate beyond all": wav(1, 1, 2**32 - 1, 16, tone),
        "samples of no bits": wav(1, 1, 8000, 0, tone),
        "samples of 13 bits": wav(1, 1, 8000, 13, tone),
        "a format that is packed": wav(0x55, 1, 8000, 16, tone),
        "samples that are NaN": wav(3, 1, 8000, 32, floats),
        "samples that are infinite": wav(3, 1, 8000, 32, np.full(800, np.inf, "<f4").tobytes()),
        "samples beyond a float": wav(3, 1, 8000, 64, np.full(800, 1e300, "<f8").tobytes()),
        "silence": wav(1, 1, 8000, 16, bytes(1600)),
        "one sample": wav(1, 1, 8000, 16, tone[:2]),
        "no sample": wav(1, 1, 8000, 16, b""),
        "more than there is": wav(1, 1, 8000, 16, tone, size=2**31),
        "a day at a whisper": wav(1, 1, 1000, 8, bytes(range(256)) * 4000),
        "a header alone": wav(1, 1, 8000, 16, tone)[:44],
        "half a header": wav(1, 1, 8000, 16, tone)[:30],
        "parts of nothing without end": b"RIFF\0\0\0\0WAVE" + b"junk\0\0\0\0" * 6_000_000,
        "a part beyond all": b"RIFF\0\0\0\0WAVE" + b"junk\xff\xff\xff\xff" + bytes(100),
        "samples before what they are": b"RIFF\0\0\0\0WAVEdata\x10\0\0\0" + bytes(16),
        "a program": b"#!/bin/sh\nmkdir executed\n",
        "an mp3": b"ID3\x04\x00\x00\x00\x00\x00\x00" + bytes(300),
    }
    for what, data in made.items():
        yield Specimen("sound", what, "a.wav", _bytes(data))
    yield Specimen("sound", "a gigabyte of nothing", "a.wav", _sparse(b"RIFF\0\0\0\0WAVE", BIG))


# What a file of NumPy may say of itself.
HEADERS = {
    "a shape beyond the file": "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 3)}",
    "a shape that is negative": "{'descr': '<f8', 'fortran_order': False, 'shape': (-4, -3)}",
    "a shape that is a word": "{'descr': '<f8', 'fortran_order': False, 'shape': 'x'}",
    "an item of a gigabyte": "{'descr': '|V1000000000', 'fortran_order': False, 'shape': (1, 3)}",
    "an item of nothing": "{'descr': '|V0', 'fortran_order': False, 'shape': (5, 3)}",
    "a header that is code": "__import__('os').mkdir('executed')",
    "a header that never ends": "{'descr': '<f8', 'fortran_order': (((((((",
    "a header that is deep": "[" * 110,
}


def _header(text: str, version: bytes = b"\x01\x00") -> bytes:
    body = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY" + version + struct.pack("<H", len(body)) + body + bytes(100)


def _clouds() -> Iterator[Specimen]:
    def npy(array: np.ndarray) -> Make:
        return lambda path: np.save(path, array, allow_pickle=True)

    points = np.arange(30.0).reshape(10, 3)
    arrays: dict[str, np.ndarray] = {
        "objects of Python": np.array([Bomb(Path("executed"))] * 12, object).reshape(4, 3),
        "words": np.array([["a", "b", "c"]] * 5),
        "complex numbers": points.astype(complex),
        "truths": points > 3,
        "two columns": points[:, :2],
        "a cube": points.reshape(5, 2, 3),
        "one number": np.array(3.0),
        "three points": points[:3],
        "no points": points[:0],
        "NaN": np.full((9, 3), np.nan),
        "infinity": np.where(points == 4, np.inf, points),
        "beyond all": points * 1e306,
        "all in one place": np.ones((9, 3)),
    }
    for what, array in arrays.items():
        yield Specimen("cloud", what, "a.npy", npy(array))
    for what, text in HEADERS.items():
        yield Specimen("cloud", what, "a.npy", _bytes(_header(text)))
    yield Specimen("cloud", "a version of the future", "a.npy", _bytes(_header("{}", b"\x63\x63")))
    yield Specimen("cloud", "a bomb of zip", "a.npz", _zipped("points.npy", bytes(2 * 10**8)))
    yield Specimen("cloud", "an archive of something else", "a.npz", _zipped("note.txt", b"hello"))
    yield Specimen("cloud", "a way out of an archive", "a.npz", _zipped("../../executed", b"hello"))
    yield Specimen("cloud", "an archive of nothing", "a.npz", _bytes(b"PK\x05\x06" + bytes(18)))
    yield Specimen("cloud", "an archive of archives", "a.npz", _many)
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        make = _zipped("points.npy", bytes(300), method, spoil=True)
        yield Specimen("cloud", f"packed by way {method} and damaged", "a.npz", make)
    lines = {
        "words in lines": b"a b c\n" * 9,
        "two numbers a line": b"1 2\n" * 9,
        "a line without end": b"1 " * 30_000_000,
        "lines without points": b"#\n" * 30_000_000,
        "numbers of many digits": b"1" * 10**6 + b" 2 3\n",
    }
    for what, data in lines.items():
        yield Specimen("cloud", what, "a.xyz", _bytes(data))
    yield Specimen("cloud", "a gigabyte of nothing", "a.xyz", _sparse(b"1 2 3\n", BIG))


def _zipped(name: str, data: bytes, method: int = zipfile.ZIP_DEFLATED, *, spoil: bool = False) -> Make:
    def make(path: Path) -> None:
        with zipfile.ZipFile(path, "w", method) as archive:
            archive.writestr(name, data)
        if spoil:
            whole = bytearray(path.read_bytes())
            start = 30 + len(name)
            whole[start + 6 : start + 20] = bytes(14)
            path.write_bytes(whole)

    return make


def _many(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(3000):
            archive.writestr(f"{number}.npy", b"")


def _indexes() -> Iterator[Specimen]:
    """What is no good is made again; only vectors that another hand has widened are refused."""

    def about(**changes: str) -> Make:
        def make(path: Path) -> None:
            good.indexed(path)
            known = {"format": "regard index 1", "model": good.MINE, "pictures": "[]", "broken": "[]"}
            save_file({"vectors": torch.zeros(0, 1)}, path, metadata=known | changes)

        return make

    made: dict[str, Make] = {
        "names in depth": about(pictures="[" * 100_000),
        "a size beyond all": about(pictures='[["one.png", 1e999, 3]]'),
        "a size that is a word": about(pictures='[["one.png", "x", 3]]'),
        "names that are no list": about(pictures="7"),
        "half a row": about(pictures='[["one.png"]]'),
        "reasons that are no list": about(broken='{"a": 1}'),
        "more names than vectors": about(pictures='[["one.png", 1, 2], ["two.png", 1, 2]]'),
        "a way out": about(pictures='[["../../etc/passwd", 1, 2]]'),
        "another format": about(format="regard index 99"),
        "another model": about(model="yours"),
        "vectors that are NaN": _known(torch.full((2, 3), torch.nan)),
        "vectors of whole numbers": _known(torch.ones(2, 3, dtype=torch.int64)),
        "vectors in a cube": _known(torch.ones(2, 3, 1)),
        "a gigabyte of nothing": _in_place("index", _sparse(b"\xff\xff\xff\x00\x00\x00\x00\x00", BIG)),
    }
    for what, make in made.items():
        yield Specimen("index", what, "photos.regard-index", make, refused=False)


def _known(vectors: torch.Tensor) -> Make:
    def make(path: Path) -> None:
        good.indexed(path)
        rows = []
        for name in ("one.png", "two.png"):
            about = (path.with_suffix("") / name).stat()
            rows.append([name, about.st_size, about.st_mtime_ns])
        told = {"format": "regard index 1", "model": good.MINE, "pictures": json.dumps(rows), "broken": "[]"}
        save_file({"vectors": vectors}, path, metadata=told)

    return make


def _views() -> Iterator[Specimen]:
    def view(**changes: Any) -> Make:
        def change(data: bytes) -> bytes:
            found = json.loads(data)
            found["views"][0] |= changes
            return json.dumps(found).encode()

        return _spoilt("view", change)

    packed = {"shape": [2, 3], "encoding": "f32", "data": ""}
    made: dict[str, Make] = {
        "a deep file": _bytes(DEEP),
        "another format": _bytes(b'{"format": "regard-views-99"}'),
        "no views": _bytes(b'{"format": "regard-views-1", "views": []}'),
        "a list": _bytes(b"[]"),
        "weights elsewhere": view(weights={"href": "http://169.254.169.254/"}),
        "weights of a milliard": view(weights=packed | {"shape": [BIG, BIG]}),
        "weights of a wrong size": view(weights=packed | {"data": "AAAA"}),
        "weights that are no base64": view(weights=packed | {"data": "§§§"}),
        "weights that are NaN": view(weights=[[float("nan")] * 3] * 2),
        "weights beyond all": view(weights=[[1e300] * 3] * 2),
        "weights that are words": view(weights=[["a"] * 3] * 2),
        "weights in crooked rows": view(weights=[[1, 2, 3], [1]]),
        "weights in heads of several shapes": view(weights=[[[1, 2, 3]], [[1], [2]]]),
        "an encoding that is none": view(weights=packed | {"encoding": "pickle"}),
        "a name that is a number": view(name=3),
        "a name without end": view(name="a" * 10**6),
        "a layer that is negative": view(layer=-1),
        "a head that is a truth": view(head=True),
        "heads beyond all": view(heads=10**9),
        "a kind that is none": view(kind="evil"),
        "a kind that is a list": view(kind=["self"]),
        "rows that are none": view(rows={"kind": "hexagons"}),
        "rows by an unhashable kind": view(rows={"kind": {}}),
        "rows without labels": view(rows={"kind": "words", "labels": []}),
        "rows that are half characters": _spoilt("view", lambda data: data.replace(b'"a"', b'"\\ud800"')),
        "spans backwards": view(rows={"kind": "words", "labels": ["a", "b"], "words": [[1, 0]]}),
        "spans beyond": view(rows={"kind": "words", "labels": ["a", "b"], "words": [[0, 9]]}),
        "a grid of a milliard": view(rows={"kind": "grid", "height": BIG, "width": BIG}),
        "a picture from elsewhere": view(
            rows={"kind": "grid", "height": 1, "width": 2, "image": "http://evil.example/a.png"}
        ),
        "a picture that is a page": view(
            rows={"kind": "grid", "height": 1, "width": 2, "image": "data:image/svg+xml;base64,AAAA"}
        ),
        "boxes that are words": view(rows={"kind": "boxes", "boxes": [["a"] * 4] * 2, "labels": ["a", "b"]}),
        "boxes without end": view(rows={"kind": "boxes", "boxes": [[0, 0, 1, 1]] * 5000, "labels": ["a"] * 5000}),
        "latents by half": view(rows={"kind": "latents", "count": 1.5}),
    }
    for what, make in made.items():
        yield Specimen("view", what, "a.json", make)
    yield Specimen("view", "a gigabyte of nothing", "a.json", _sparse(b"{", BIG))


def _runs() -> Iterator[Specimen]:
    """Of a run the page shows what can be read; a training does not go on by such a recipe, or from such a file."""

    def put(name: str, data: bytes) -> Make:
        return lambda folder: (folder / name).write_bytes(data)

    def instead(name: str, make: Make) -> Make:
        def spoil(folder: Path) -> None:
            (folder / name).unlink()
            make(folder / name)

        return spoil

    last = "checkpoints/step-00000003.safetensors"
    refused: dict[str, Make] = {
        "a deep recipe": put("recipe.json", DEEP),
        "a recipe of a gigabyte": lambda folder: _sparse(b"{", BIG)(folder / "recipe.json"),
        "a recipe that is a list": put("recipe.json", b"[1]"),
        "a recipe without fields": put("recipe.json", b'{"recipe": "translate"}'),
        "fields that are a number": put("recipe.json", b'{"recipe": "translate", "fields": 3}'),
        "a recipe that is a pipe": instead("recipe.json", os.mkfifo),
        "a recipe that is a device": instead("recipe.json", lambda path: path.symlink_to("/dev/zero")),
        "a checkpoint that is a pickle": lambda folder: _pickle(folder / last),
        "a checkpoint that is a pipe": instead(last, os.mkfifo),
        "a checkpoint that is a device": instead(last, lambda path: path.symlink_to("/dev/zero")),
        "a checkpoint of nothing": put(last, b""),
        "a checkpoint of zeros": lambda folder: _sparse(b"", BIG)(folder / last),
        "a checkpoint that is cut": lambda folder: (folder / last).write_bytes((folder / last).read_bytes()[:-1]),
        "a checkpoint with another bit": lambda folder: _flip(folder / last, -1),
        "a checkpoint with another step": lambda folder: _replace(folder / last, rb"\"step\": 3", rb"\"step\": 4"),
        "a checkpoint with other batches": lambda folder: _replace(folder / last, rb"\"taken\": 3", rb"\"taken\": 9"),
    }
    for what, make in refused.items():
        yield Specimen("run", what, "translate-0", _within("run", make))
    shown: dict[str, Make] = {
        "measurements in depth": put("metrics.jsonl", DEEP),
        "measurements that are a pipe": instead("metrics.jsonl", os.mkfifo),
        "samples that are a pipe": instead("samples.jsonl", os.mkfifo),
        "samples of half characters": put("samples.jsonl", b'{"step": 2, "samples": [{"\\ud800": "\\udfff"}]}\n'),
        "steps that are truths": put("metrics.jsonl", b'{"step": true, "loss": 1}\n{"step": "x"}\n'),
        "scores that are words": put("metrics.jsonl", b'{"step": 2, "bleu": "high"}\n{"step": 3, "bleu": [1]}\n'),
        "scores that are NaN": put("metrics.jsonl", b'{"step": 2, "bleu": NaN, "seconds": Infinity}\n'),
        "a deep card": put("model/card.json", DEEP),
        "a card of a gigabyte": lambda folder: _sparse(b"{", BIG)(folder / "model/card.json"),
        "a lock of letters": put(".lock", b"x" * 5000),
        "a lock of everybody": put(".lock", b"-1"),
        "a lock beyond all": put(".lock", b"9" * 19),
    }
    for what, make in shown.items():
        yield Specimen("run", what, "translate-0", _within("run", make), refused=False)


def _flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


def _replace(path: Path, before: bytes, after: bytes) -> None:
    data = path.read_bytes()
    assert before in data
    path.write_bytes(data.replace(before, after))


def _tables() -> Iterator[Specimen]:
    lines: dict[str, tuple[str, bytes]] = {
        "a line without end": ("a.tsv", b"text\tlabel\n" + b"a" * 2**21),
        "bytes that are no text": ("a.tsv", b"text\tlabel\n\xff\xfe\tgood\n"),
        "half a row": ("a.tsv", b"text\tlabel\nonly one\n"),
        "columns without names": ("a.tsv", b"a\tb\tc\n"),
        "a quote that never ends": ("a.csv", b'text,label\n"never,ends\n' + b"a,b\n" * 2000),
        "a cell without end": ("a.csv", b"text,label\n" + b"a" * 200_000 + b",good\n"),
        "a zero in a cell": ("a.csv", b'text,label\n"a\x00b"x,good\n'),
        "a deep line": ("a.jsonl", DEEP),
        "a line that is a list": ("a.jsonl", b"[1, 2]\n"),
        "a label that is an object": ("a.jsonl", b'{"text": "a", "label": {}}\n'),
        "a text that is a list": ("a.jsonl", b'{"text": ["a"], "label": "b"}\n'),
        "a text of half characters": ("a.jsonl", b'{"text": "\\ud800", "label": "b"}\n'),
        "a label of many digits": ("a.jsonl", b'{"text": "a", "label": ' + b"9" * 5000 + b"}\n"),
        "a line without its label": ("a.jsonl", b'{"text": "a", "label": "b"}\n{"text": "a"}\n'),
        "parquet of a header": ("a.parquet", b"PAR1" + bytes(40) + b"PAR1"),
        "parquet that claims the world": ("a.parquet", b"PAR1" + bytes(8) + b"\xff\xff\xff\x7fPAR1"),
        "an ending that nobody knows": ("a.exe", b"MZ"),
    }
    for what, (name, data) in lines.items():
        yield Specimen("table", what, name, _bytes(data))
    yield Specimen("table", "parquet that is cut", "a.parquet", _spoilt("table", lambda data: data[:-20]))
    yield Specimen("table", "gzip that is cut", "a.tsv.gz", _bytes(gzip.compress(b"text\tlabel\n" * 99)[:-9]))
    yield Specimen("table", "a bomb of gzip", "a.tsv.gz", _bytes(gzip.compress(bytes(10**8))))
    trees = {
        "brackets without end": b"(S " * 100_000,
        "a deep tree": b"(S " * 50_000 + b"a" + b")" * 50_000,
        "words outside": b"hello (S a)",
        "brackets of nothing": b"()",
        "a tree that closes twice": b"(S (A a)))",
    }
    for what, data in trees.items():
        yield Specimen("trees", what, "a.mrg", _bytes(data))
    tags = {"a word without a tag": b"Anna\n", "no text": b"\xff\xfe O\n", "a line without end": b"a" * 2**21 + b" O\n"}
    for what, data in tags.items():
        yield Specimen("tags", what, "a.conll", _bytes(data))

    def coco(**changes: Any) -> Make:
        return _spoilt("marks", lambda data: json.dumps(json.loads(data) | changes).encode())

    box = {"image_id": 1, "category_id": 7, "bbox": [1, 2, 3, 4]}
    marks: dict[str, Make] = {
        "a deep file": _bytes(DEEP),
        "no pictures": _bytes(b"{}"),
        "pictures that are numbers": coco(images=[1, 2]),
        "a picture without a name": coco(images=[{"id": 1}]),
        "numbers that are lists": coco(images=[{"id": [], "file_name": "a"}]),
        "classes that cannot be sorted": coco(categories=[{"id": 1, "name": "a"}, {"id": "b", "name": "c"}]),
        "a mark of no picture": coco(annotations=[box | {"image_id": 99}]),
        "a mark of no class": coco(annotations=[box | {"category_id": 99}]),
        "a box of three sides": coco(annotations=[box | {"bbox": [1, 2, 3]}]),
        "a box of words": coco(annotations=[box | {"bbox": ["a"] * 4}]),
        "a box beyond all": coco(annotations=[box | {"bbox": [1, 2, 10**400, 4]}]),
        "a box of infinity": coco(annotations=[box | {"bbox": [float("inf"), 2, 3, 4]}]),
        "a box that is a number": coco(annotations=[box | {"bbox": 3}]),
    }
    for what, make in marks.items():
        yield Specimen("marks", what, "a.json", make)


def _arrays() -> Iterator[Specimen]:
    """Numbers in rows and columns: disparities and points."""
    for kind in ("disparity", "points"):
        for what, text in HEADERS.items():
            yield Specimen(kind, what, "a.npy", _bytes(_header(text)))
        yield Specimen(kind, "an archive of nothing", "a.npy", _bytes(b"PK\x05\x06" + bytes(18)))
        yield Specimen(kind, "an archive that is damaged", "a.npy", _bytes(b"PK\x03\x04" + bytes(30)))
        yield Specimen(kind, "an archive of arrays", "a.npy", _zipped("a.npy", _header("{}")))
        for what, array in {
            "words": np.array([["a", "b"]]),
            "complex numbers": np.ones((2, 2), complex),
            "moments": np.zeros((2, 2), "M8[s]"),
            "a cube": np.ones((2, 2, 2)),
        }.items():
            yield Specimen(kind, what, "a.npy", _saved(array))
    pictures = {
        "a bomb": (60_000, 60_000),
        "more than are read": (9_000, 9_000),
        "all that there can be": (2**31 - 1,) * 2,
    }
    for what, (width, height) in pictures.items():
        yield Specimen(
            "disparity", what, "a.png", _bytes(_png(width, height, zlib.compress(bytes(9)), depth=16, colours=0))
        )
    yield Specimen("disparity", "a picture that is cut", "a.png", _spoilt("disparity", _part(2)))
    tables = {
        "a word among numbers": b"1,2\n3,dog\n",
        "a row that is short": b"1,2\n3\n",
        "a cell without end": b"1," + b"9" * 200_000 + b"\n",
        "no text": b"\xff\xfe1,2\n",
    }
    for what, data in tables.items():
        yield Specimen("points", what, "a.csv", _bytes(data))


def _saved(array: np.ndarray) -> Make:
    return lambda path: np.save(path, array)


def _said() -> Iterator[Specimen]:
    """Questions and captions."""
    asked = {"question": "Who?", "context": "A dog.", "answers": ["a dog"]}
    lines = {
        "a deep line": DEEP,
        "a number": b"1\n",
        "half a character": json.dumps(asked | {"question": "\ud800"}).encode(),
        "an answer that is letters": json.dumps(asked | {"answers": "a dog"}).encode(),
        "an answer that is a number": json.dumps(asked | {"answers": [3]}).encode(),
        "a question without a text": json.dumps({"question": "Who?", "answers": []}).encode(),
    }
    for what, data in lines.items():
        yield Specimen("questions", what, "a.jsonl", _bytes(data))
    yield Specimen("questions", "no question", "a.json", _bytes(b'{"data": []}'))
    yield Specimen("questions", "an endless number", "a.json", _bytes(b'{"data": ' + b"9" * 5000 + b"}"))
    row = {"image": "a.png", "captions": ["A dog runs."]}
    told: dict[str, object] = {
        "a picture elsewhere": row | {"image": "../../etc/passwd"},
        "a picture by an absolute path": row | {"image": "/etc/passwd"},
        "a picture of zeros": row | {"image": "a\0.png"},
        "a picture that is a list": row | {"image": []},
        "a picture that is not there": row | {"image": "b.png"},
        "a caption of half a character": row | {"captions": ["\ud800"]},
        "a caption that is a number": row | {"captions": [3]},
        "a caption without end": row | {"captions": ["a" * 3000]},
        "captions that are an object": row | {"captions": {}},
        "a split of nobody's": row | {"split": "\ud800"},
        "a list": [1],
    }
    for what, value in told.items():
        yield Specimen("captions", what, "pictures", _within("captions", _told(json.dumps(value).encode())))
    yield Specimen("captions", "a deep table", "pictures", _within("captions", _told(DEEP)))
    yield Specimen("captions", "a table that is a pipe", "pictures", _within("captions", _piped))


def _told(data: bytes) -> Make:
    return lambda folder: (folder / "captions.jsonl").write_bytes(data)


def _piped(folder: Path) -> None:
    (folder / "captions.jsonl").unlink()
    os.mkfifo(folder / "captions.jsonl")
