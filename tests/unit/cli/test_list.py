"""`regard list` says what the source says, without running it."""

import ast
import json
from pathlib import Path

import pytest

import regard.attention
import regard.cli.list as lister
from regard.cli.list import KINDS, Part, parts
from regard.cli.main import main
from regard.cli.source import definitions, sentence, signature


def listed(kind: str, capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, str]]:
    assert main(["list", kind, "--json"]) == 0
    return {part["name"]: part for part in json.loads(capsys.readouterr().out)}


def test_multihead_is_an_attention_and_causal_a_mask(capsys: pytest.CaptureFixture[str]) -> None:
    assert listed("masks", capsys)["causal"] == {
        "name": "causal",
        "signature": "queries, keys=None, *, window=None",
        "summary": "The past and oneself, or the newest `window` of it.",
        "module": "regard.attention.masks",
    }
    assert listed("attentions", capsys)["multihead"]["signature"].startswith("width, heads, *, context=None")


@pytest.mark.parametrize("kind", ["attentions", "biases", "masks", "partitions"])
def test_what_is_listed_of_attention_can_be_imported_from_it(kind: str) -> None:
    names = {part.name for part in parts(kind)}
    assert names
    assert names <= set(regard.attention.__all__)


def test_the_kinds_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--json"]) == 0
    counts = json.loads(capsys.readouterr().out)
    assert list(counts) == list(KINDS)
    assert counts["masks"] == len(parts("masks"))
    assert main(["list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(KINDS)


def test_the_text_shows_each_part_as_it_is_called(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "partitions"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[lines.index("Window(size)") + 1] == "    Squares of neighbours (Liu 2021)."
    assert "Shifted(size, shift)" in lines


def test_an_unknown_kind_names_the_choices(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "mask"]) == 2
    assert capsys.readouterr().err.startswith("regard: no kind is called 'mask'; try masks")


def test_an_empty_house_lists_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "models").mkdir()
    monkeypatch.setattr(lister, "PACKAGE", tmp_path)
    assert all(parts(kind) == [] for kind in KINDS)
    assert main(["list", "models"]) == 0
    assert capsys.readouterr().out == "no models yet\n"


def test_models_are_files_and_their_choices_are_the_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models = tmp_path / "models"
    models.mkdir()
    (models / "family.py").write_text('"""Finds them."""\n')
    (models / "half.py").write_text("def (")
    (models / "tiny.py").write_text(
        '"""Tiny: a model of nothing (Nobody 2030). It is small."""\n'
        "@dataclass(frozen=True)\nclass Config:\n    width: int = 8\n    heads: int = 2\n"
        'PRESETS = {"tiny-base": Config(), "tiny-nano": Config(width=2)}\n'
        'FAMILY = Family("tiny", Config, Tiny, PRESETS, example)\n'
        "FAMILY = Family('tiny', Config, Tiny, PRESETS)\n"
    )
    monkeypatch.setattr(lister, "PACKAGE", tmp_path)
    (tiny,) = parts("models")  # a file that does not parse is none
    assert tiny.signature == "width=8, heads=2"
    assert tiny.summary == "Tiny: a model of nothing (Nobody 2030). Sizes: tiny-base, tiny-nano."


@pytest.mark.parametrize(
    ("doc", "first"),
    [
        ("One. Two.", "One. Two."),  # a word alone says too little
        ("Look at a memory. And more.", "Look at a memory."),
        ("Vaswani 2017. With fewer groups. Never.", "Vaswani 2017. With fewer groups."),
        ("Half of 2.5 is shown.\n\nMore.", "Half of 2.5 is shown."),
    ],
)
def test_the_first_sentence_is_shown(doc: str, first: str) -> None:
    assert sentence(ast.parse(repr(doc))) == first


def test_a_signature_has_names_and_defaults_but_no_types() -> None:
    tree = ast.parse(
        "def f(x: int, *more: int, y: str = 'a', **rest: int) -> None: ...\n"
        "class A:\n    def __init__(self, width: int, /, heads: int = 2) -> None: ...\n"
        "class B(A): ...\n"
        "class C:\n    note: int\n"
    )
    assert [signature(node, tree) for node in definitions(tree)] == [
        "x, *more, y='a', **rest",
        "width, /, heads=2",
        "width, /, heads=2",
        "",
    ]


@pytest.mark.parametrize("kind", list(KINDS))
def test_no_summary_is_cut_within_brackets(kind: str) -> None:
    for part in parts(kind):
        assert part.summary.count("(") == part.summary.count(")"), part.summary
        assert part.summary.endswith((".", "?", "!")), part.name


def test_the_zoo_shows_what_was_measured_and_how_large_a_model_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lister, "PACKAGE", tmp_path)
    assert main(["list", "zoo"]) == 0
    assert capsys.readouterr().out == "the zoo is empty\n"
    card = {"title": "German to English", "measured": {"bleu": 38.123456, "exact": 0.25}}
    for name in ("translate-de-en", ".half-written", "untold"):
        (tmp_path / "zoo" / name).mkdir(parents=True)
        (tmp_path / "zoo" / name / "card.json").write_text(json.dumps(card) if name[0] == "t" else "{")
    (tmp_path / "zoo/translate-de-en/model.safetensors").write_bytes(bytes(1_250_000))
    assert main(["list", "zoo"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "translate-de-en  1.3 MB",
        "    German to English. bleu 38.12, exact 0.25.",
        "untold  0.0 MB",
        "    It has no card.",
    ]
    assert main(["list", "zoo", "--json"]) == 0
    assert [(each["name"], each["card"]) for each in json.loads(capsys.readouterr().out)] == [
        ("translate-de-en", card),
        ("untold", {}),
    ]


def test_a_default_is_shown_and_not_how_it_is_kept() -> None:
    assert not [part for part in parts("models") if "field(" in getattr(part, "signature", "")]
    (transformer,) = (part for part in parts("models") if part.name == "transformer")
    assert isinstance(transformer, Part)
    assert "final_norm=False" in transformer.signature
