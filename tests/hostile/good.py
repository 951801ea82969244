"""One good file of each kind, small, to be spoilt by others."""

import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from tests.unit.hub import ggufs
from torch import Tensor, nn

from regard.analysis.view import Grid, Latents, View, Views
from regard.hub import export, save
from regard.models import gpt, transformer, vit
from regard.models.llama import PRESETS, Details, Llama, Turn
from regard.pipelines import index
from regard.text import Tokenizer
from regard.text.words import Words
from regard.train import checkpoint
from regard.vision.processor import Processor
from regard.words import Vectors, write_vectors

LETTERS = "abcdefghijklmnopqrstuvwxyz"
MINE = "mine"  # whose vectors an index has


def folder(place: Path) -> Path:
    """A model of ours with a card and a tokenizer."""
    torch.manual_seed(0)
    model = transformer.Transformer(transformer.PRESETS["transformer-nano"])
    tokenizer = Tokenizer.train(["ein Hund läuft"], kind="characters", vocab=20)
    save(place, model, family=transformer.FAMILY, card={"title": "good", "task": "translate"}, tokenizer=tokenizer)
    return place


def hugging(place: Path) -> Path:
    """A GPT in the folder of another library, with a tokenizer."""
    torch.manual_seed(0)
    tokenizer = Tokenizer.train(["ein Hund läuft"], kind="characters", vocab=20)
    export(place, gpt.GPT(gpt.PRESETS["gpt-nano"]), tokenizer)
    return place


def seeing(place: Path) -> Path:
    """A ViT in the folder of another library, with what is done to pictures before."""
    torch.manual_seed(0)
    model = vit.ViT(replace(vit.PRESETS["vit-nano"], registers=0))
    export(place, model, processor=Processor())
    return place


def gguf(place: Path) -> Path:
    """A Llama in one file, with a tokenizer."""
    torch.manual_seed(0)
    one = Llama(replace(PRESETS["llama-nano"], turn=Turn(500.0), details=Details(eps=1e-5))).eval()
    for parameter in one.parameters():
        nn.init.normal_(parameter, std=0.3)
    tokens = ["<|start|>", "<|end|>", *LETTERS, "Ġ", "1", "2", "Ċ", "th", "the", "Ġthe", "12"]
    said = {
        "model": "gpt2",
        "pre": "smollm",
        "tokens": tokens,
        "token_type": [3, 3] + [1] * (len(tokens) - 2),
        "merges": ["t h", "th e", "Ġ the", "1 2"],
        "bos_token_id": 0,
        "eos_token_id": 1,
    }
    ggufs.save(place, one, "llama", {f"tokenizer.ggml.{name}": each for name, each in said.items()})
    return place


def vectors(place: Path) -> Path:
    """Vectors of some words; the ending of the name says how they are written."""
    found = Vectors(["king", "queen", "lunch"], np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4), "good")
    if place.suffix == ".npy":
        np.save(place, found.matrix)
        place.with_suffix(".txt").write_text("king\nqueen\nlunch\n")
    else:
        kinds = {".bin": "word2vec-binary", ".safetensors": "safetensors", ".vec": "word2vec"}
        write_vectors(place, found, kinds.get(place.suffix, "glove"))
    return place


def picture(place: Path) -> Path:
    """A picture of all colours; the ending of the name says how it is written."""
    shades = np.linspace(0, 255, 12 * 10 * 3).astype(np.uint8).reshape(12, 10, 3)
    Image.fromarray(shades).save(place)
    return place


def sound(place: Path) -> Path:
    """A tone of a tenth of a second."""
    place.write_bytes(wav(1, 1, 8000, 16, (np.sin(np.arange(800) / 5) * 20000).astype("<i2").tobytes()))
    return place


def wav(kind: int, channels: int, rate: int, bits: int, data: bytes, *, size: int | None = None) -> bytes:
    """A WAV file; what it says of its size may be a lie."""
    block = channels * bits // 8
    about = struct.pack("<HHIIHH", kind, channels, rate, rate * block % 2**32, block % 2**16, bits)
    claimed = len(data) if size is None else size
    inside = b"WAVE" + b"fmt " + struct.pack("<I", 16) + about + b"data" + struct.pack("<I", claimed) + data
    return b"RIFF" + struct.pack("<I", len(inside)) + inside


def cloud(place: Path) -> Path:
    """Points of a spiral; the ending of the name says how they are written."""
    turns = np.arange(30)
    points = np.stack([np.cos(turns), np.sin(turns), turns / 30], axis=1)
    if place.suffix == ".npz":
        np.savez_compressed(place, points=points)
    elif place.suffix == ".npy":
        np.save(place, points)
    else:
        np.savetxt(place, points)
    return place


def mean_colour(pictures: object) -> Tensor:
    """An eye that is quick."""
    means = torch.tensor(np.array([np.asarray(each).mean(axis=(0, 1)) for each in pictures]))  # type: ignore[attr-defined]
    return torch.nn.functional.normalize(means.float(), dim=-1)


def indexed(place: Path) -> Path:
    """The index of a folder of pictures, which lies beside it."""
    home = place.with_suffix("")
    home.mkdir(exist_ok=True)
    for name in ("one.png", "two.png"):
        picture(home / name)
    index.update(home, mean_colour, MINE, path=place)
    return place


def view(place: Path) -> Path:
    """Views of words, of a picture and of learned queries."""
    weights, grid = np.full((2, 3), 1 / 3, np.float32), Grid(2, 2, leading=("[CLS]",))
    views = (
        View("first", Words.whole(("a", "b")), Words.whole(("c", "d", "e")), weights, kind="cross"),
        View("second", Latents(2), grid, np.full((2, 2, 5), 0.2, np.float32), heads=2, kind="cross"),
    )
    found = Views("good", views).to_json()
    found["views"][0]["weights"] = weights.tolist()  # one way to write numbers each
    place.write_text(json.dumps(found))
    return place


def run(place: Path) -> Path:
    """The folder of a training: what was asked for, how it went, and a checkpoint."""
    fields = {"steps": 20, "lr": 1e-3, "betas": [0.9, 0.98]}
    asked = {"recipe": "translate", "fields": fields, "scores": {"bleu": "higher"}}
    place.mkdir(parents=True)
    (place / "recipe.json").write_text(json.dumps(asked))
    rows = [{"step": step, "loss": 1 / step, "lr": 1e-3, "seconds": 0.5 * step, "bleu": step} for step in (1, 2, 3)]
    (place / "metrics.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    shown = {"step": 3, "samples": [{"read": "casa", "written": "house"}]}
    (place / "samples.jsonl").write_text(json.dumps(shown) + "\n")
    (place / ".lock").write_text("1")
    tensors = {"model.a": torch.arange(6.0).view(2, 3), "optimizer.step.a": torch.tensor(3)}
    checkpoint.write(checkpoint.place(place / "checkpoints", 3), tensors, {"step": 3, "batches": {"taken": 3}})
    (place / "model").mkdir()
    (place / "model/card.json").write_text(json.dumps({"title": "good", "measured": {"bleu": 3.0}}))
    return place


ROWS = (("I like it", "good"), ("I hate, it", "bad"), ("so so", "good"))


def table(place: Path) -> Path:
    """Texts and labels; the ending of the name says how they are written."""
    match place.suffix:
        case ".jsonl":
            lines = [json.dumps({"text": text, "label": label}) for text, label in ROWS]
        case ".csv":
            lines = ["text,label", *(f'"{text}",{label}' for text, label in ROWS)]
        case ".parquet":
            place.write_bytes(_parquet())
            return place
        case _:
            lines = ["text\tlabel", *(f"{text}\t{label}" for text, label in ROWS)]
    place.write_text("\n".join(lines) + "\n")
    return place


def _parquet() -> bytes:
    import pyarrow  # type: ignore[import-untyped,unused-ignore]
    from pyarrow import parquet  # type: ignore[import-untyped,unused-ignore]

    stream = BytesIO()
    parquet.write_table(
        pyarrow.table({"text": [text for text, _ in ROWS], "label": [label for _, label in ROWS]}), stream
    )
    return stream.getvalue()


def trees(place: Path) -> Path:
    """A treebank."""
    place.write_text("(S (NP (DT the) (NN dog)) (VP (VBZ runs)))\n(S (NP (PRP it)) (VP (VBZ barks)))\n")
    return place


def tags(place: Path) -> Path:
    """Words with tags."""
    place.write_text("Anna B-PER\nsleeps O\n\nRome B-LOC\n")
    return place


def marks(place: Path) -> Path:
    """Annotations in the form of COCO."""
    found = {
        "images": [{"id": 1, "file_name": "a.png"}, {"id": 2, "file_name": "b.png"}],
        "categories": [{"id": 7, "name": "dog"}],
        "annotations": [{"image_id": 1, "category_id": 7, "bbox": [1, 2, 3, 4], "iscrowd": 0}],
    }
    place.write_text(json.dumps(found))
    return place


def disparity(place: Path) -> Path:
    """Disparities of a picture; the ending of the name says how they are written."""
    shifts = np.linspace(0, 9, 20, dtype=np.float32).reshape(4, 5)
    if place.suffix == ".npy":
        np.save(place, shifts)
    else:
        Image.fromarray((shifts * 256).astype(np.uint16)).save(place)
    return place


def points(place: Path) -> Path:
    """A table of numbers with a row for each point."""
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)
    if place.suffix == ".npy":
        np.save(place, rows)
    else:
        place.write_text("x,y,z\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    return place


def questions(place: Path) -> Path:
    """A question about a text, in the form of SQuAD or in lines."""
    asked = {"question": "Who barks?", "answers": [{"text": "a dog"}]}
    if place.suffix == ".json":
        found: object = {"data": [{"paragraphs": [{"context": "In the yard a dog barks.", "qas": [asked]}]}]}
    else:
        found = asked | {"context": "In the yard a dog barks."}
    place.write_text(json.dumps(found) + "\n")
    return place


def captions(place: Path) -> Path:
    """A picture and what is said of it."""
    place.mkdir()
    picture(place / "a.png")
    row = {"image": "a.png", "captions": ["A dog runs.", "It runs."], "split": "train"}
    (place / "captions.jsonl").write_text(json.dumps(row) + "\n")
    return place


# How each kind is made, and how its file or folder is called; several endings are several ways to write it.
GOOD: Mapping[str, tuple[Callable[[Path], Path], tuple[str, ...]]] = {
    "folder": (folder, ("model",)),
    "hugging": (hugging, ("theirs",)),
    "seeing": (seeing, ("theirs",)),
    "gguf": (gguf, ("a.gguf",)),
    "vectors": (vectors, ("a.vec", "a.bin", "a.glove", "a.npy", "a.safetensors")),
    "picture": (picture, ("a.png", "a.jpg", "a.gif", "a.webp", "a.bmp", "a.tiff", "a.ppm")),
    "sound": (sound, ("a.wav",)),
    "cloud": (cloud, ("a.npy", "a.npz", "a.xyz")),
    "index": (indexed, ("photos.regard-index",)),
    "view": (view, ("a.json",)),
    "run": (run, ("translate-0",)),
    "table": (table, ("a.tsv", "a.csv", "a.jsonl", "a.parquet")),
    "trees": (trees, ("a.mrg",)),
    "tags": (tags, ("a.conll",)),
    "marks": (marks, ("a.json",)),
    "disparity": (disparity, ("a.npy", "a.png")),
    "points": (points, ("a.npy", "a.csv")),
    "questions": (questions, ("a.json", "a.jsonl")),
    "captions": (captions, ("pictures",)),
}
