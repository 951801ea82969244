"""`regard train` trains, says where it stands, and refuses what would harm a run."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from regard.cli.main import main
from regard.train.run import metrics, read_recipe

SMALL = [
    *("--vocab", "300", "--set", "width=16", "depth=1", "heads=2", "hidden=32"),
    *("--warmup", "2", "--precision", "float32", "--save", "2"),
]


@pytest.fixture
def sentences(tmp_path: Path) -> Path:
    """A folder of one's own, with a few sentences."""
    for split, count in (("train", 40), ("val", 4)):
        for language, word in (("de", "Hund"), ("en", "dog")):
            lines = "".join(f"{word} {'abcdefgh'[i % 8]} {i % 5}\n" for i in range(count))
            (tmp_path / f"{split}.{language}").write_text(lines)
    return tmp_path


def train(sentences: Path, *more: str, steps: int = 4) -> int:
    out = ["--out", str(sentences / "run"), "--data", str(sentences), "--steps", str(steps)]
    return main(["train", "translate", *out, *SMALL, *more])


def test_a_recipe_trains_on_sentences_of_ones_own_and_tells_programs_how_it_went(
    sentences: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(sentences, "--json") == 0
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert out.count("\n") == 1
    assert told.keys() == {"recipe", "step", "best", "minutes", "finished", "folder"}
    assert (told["recipe"], told["step"], told["finished"]) == ("translate", 4, True)
    assert "step 4/4" in err
    files = {path.name for path in (sentences / "run" / "model").iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json", "card.json"} <= files
    assert train(sentences, "--resume") == 0  # a finished run may be asked again
    assert capsys.readouterr().out.startswith(f"{sentences / 'run' / 'model'}: best bleu ")


def test_the_world_needs_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from regard.recipes import translate

    short = translate.held_out
    monkeypatch.setattr(translate, "held_out", lambda recipe: short(recipe, 6))
    world = ["--data", "world", "--source", "any", "--target", "any", "--pairs", "60", "--steps", "2"]
    assert main(["train", "translate", *world, *SMALL, "--out", str(tmp_path / "run")]) == 0
    assert [row["step"] for row in metrics(tmp_path / "run")] == [1, 2]
    assert read_recipe(tmp_path / "run")["fields"]["length"] == [6, 12]


def test_a_run_goes_on_by_the_fields_it_began_with(sentences: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(sentences, "--length", "3", "9") == 0
    assert main(["train", "translate", "--out", str(sentences / "run"), "--resume"]) == 0
    assert train(sentences, "--length", "3", "9", "--resume") == 0
    capsys.readouterr()
    assert train(sentences, "--lr", "0.5", "--resume") == 2
    assert (
        "was begun otherwise: --lr was 0.002, not 0.5; resume with the same flags, or none" in capsys.readouterr().err
    )
    assert train(sentences) == 2
    assert "holds a run already; go on with --resume, or give another --out" in capsys.readouterr().err
    (sentences / "run" / "recipe.json").write_text("{")
    assert train(sentences, "--resume") == 2
    assert "recipe.json cannot be read" in capsys.readouterr().err


def test_resume_remembers_every_flag_and_averages_as_many_checkpoints_as_it_began_with(sentences: Path) -> None:
    from regard.train.checkpoint import present, read

    kept = ["--average", "3", "--keep", "4", "--threads", "1"]
    assert train(sentences, *kept, steps=8) == 0  # a checkpoint every two steps
    before = (sentences / "run/model/model.safetensors").read_bytes()
    assert main(["train", "translate", "--out", str(sentences / "run"), "--resume"]) == 0
    fields = read_recipe(sentences / "run")["fields"]
    assert (fields["average"], fields["keep"], fields["save"], fields["threads"]) == (3, 4, 2, 1)
    assert (sentences / "run/model/model.safetensors").read_bytes() == before
    assert [read(path)[1]["step"] for path in present(sentences / "run/checkpoints")] == [2, 4, 6, 8]


def test_more_steps_are_possible_where_the_schedule_has_no_end(
    sentences: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    resume = ["train", "translate", "--out", str(sentences / "run"), "--resume", "--steps"]
    assert train(sentences, "--schedule", "constant", "--evaluate", "2") == 0
    assert main([*resume, "6"]) == 0
    assert [row["step"] for row in metrics(sentences / "run")] == [1, 2, 3, 4, 5, 6]
    assert read_recipe(sentences / "run")["fields"]["steps"] == 6
    once = sentences / "once"
    assert train(sentences, "--schedule", "constant", "--evaluate", "2", "--out", str(once), steps=6) == 0
    for one, other in zip(metrics(sentences / "run"), metrics(once), strict=True):
        assert one | {"seconds": 0} == other | {"seconds": 0}
    assert train(sentences, "--out", str(sentences / "cosine")) == 0
    capsys.readouterr()
    said = ["train", "translate", "--out", str(sentences / "cosine"), "--resume", "--steps", "3000"]
    assert main(said) == 2  # also if 3000 is what nobody needs to say
    err = capsys.readouterr().err
    assert "--steps was 4, not 3000; a cosine schedule ends with its last step, so begin a new run" in err


def test_one_long_line_of_the_validation_data_does_not_end_a_training(sentences: Path) -> None:
    for language in ("de", "en"):
        with (sentences / f"val.{language}").open("a") as file:
            file.write("ein sehr langer Hund " * 900 + "\n")
    assert train(sentences) == 0


def test_a_table_says_by_its_first_line_which_column_is_which(
    sentences: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "".join(f"dog {i}\tchien {i}\n" for i in range(200))
    (sentences / "named.tsv").write_text("en\tfr\n\n" + rows)
    (sentences / "plain.tsv").write_text(rows)
    ways = ["--source", "fr", "--target", "en"]
    assert train(sentences, "--data", str(sentences / "named.tsv"), *ways) == 0
    assert "column 2 is fr, column 1 is en, as its first line says" in capsys.readouterr().err
    shown = (sentences / "run/samples.jsonl").read_text()
    assert '"read": "chien' in shown
    assert train(sentences, "--data", str(sentences / "plain.tsv"), *ways, "--out", str(sentences / "plain")) == 0
    assert "column 1 is fr, column 2 is en, by their order" in capsys.readouterr().err
    few = sentences / "few.tsv"
    few.write_text("en\tfr\na dog\tun chien\n")
    assert train(sentences, "--data", str(few), *ways, "--out", str(sentences / "few")) == 1
    assert "has no pairs in its split 'val'; give more" in capsys.readouterr().err
    assert train(sentences, "--data", str(few), "--source", "de", "--target", "en", "--out", str(few) + "x") == 1
    assert "names its columns en, fr, and none is 'de'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("width=wide", "--set width=wide: width is int, and 'wide' is none"),
        ("norm_first=maybe", "norm_first is bool, and 'maybe' is none"),
        ("breadth=3", "no field of transformer is called 'breadth'; try"),
        ("width", "--set width has no value; write field=value"),
        ("vocab=3", "--set vocab=3 is decided by the data"),
    ],
)
def test_a_field_that_cannot_be_set_is_named_with_its_value_and_type(
    sentences: Path, change: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(sentences, "--set", change) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--resume"], "holds no run to resume; leave --resume out, or give the folder by --out"),
        (["--steps", "0"], "steps is 0; give 1 or more"),
        (["--average", "5"], "average is 5, but only 2 checkpoints are kept; raise keep to it"),
        (["--schedule", "up"], "--schedule"),
        (["--threads", "100000"], "threads is 100000; give 0 to"),
        (["--label-smoothing", "2"], "label_smoothing is 2.0; give 0 to 1"),
        (["--bpe-dropout", "-0.1"], "bpe_dropout is -0.1; give 0 to 1"),
    ],
)
def test_misuse_is_told_before_the_data_are_read(
    tmp_path: Path, more: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", "translate", "--data", "nowhere", "--out", str(tmp_path / "run"), *more]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_two_processes_need_two_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert main(["train", "translate", "--out", str(tmp_path / "run")]) == 2
    assert "1 batches a step cannot be shared by 2 processes; give --accumulate 2" in capsys.readouterr().err


def test_ctrl_c_is_code_130_and_programs_are_told(
    sentences: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import signal

    from regard.train.signals import Stop
    from regard.train.training import Training

    advance = Training.advance

    def interrupted(self: Training, stop: Stop) -> object:
        signal.raise_signal(signal.SIGINT)
        return advance(self, stop)

    monkeypatch.setattr(Training, "advance", interrupted)
    assert train(sentences, "--json") == 130
    out, err = capsys.readouterr()
    assert json.loads(out)["finished"] is False
    assert "stopped at step 1; go on with the same command and --resume" in err


def test_data_that_are_missing_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "translate", "--data", str(tmp_path / "no"), "--out", str(tmp_path / "run")]) == 2
    err = capsys.readouterr().err
    assert err.startswith("regard: ")
    assert err.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_the_help_lists_every_recipe_and_keeps_commands_on_their_lines(capsys: pytest.CaptureFixture[str]) -> None:
    from regard.cli.train import recipes_of

    recipes = recipes_of([])
    assert main(["train", "--help"]) == 0
    listed = capsys.readouterr().out
    assert all(f"• {name}" in listed for name in recipes)
    for name, module in recipes.items():
        assert main(["train", name, "--help"]) == 0
        page = capsys.readouterr().out
        examples = [line for line in (module.__doc__ or "").splitlines() if line.strip().startswith("regard ")]
        assert {line.strip() for line in examples} <= {line.strip() for line in page.splitlines()}
        assert "--resume" in page


def test_a_word_that_is_no_recipe_is_answered_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train"]) == 2
    assert "translate" in capsys.readouterr().err
    assert main(["train", "trnslate", "--steps", "3"]) == 2
    assert capsys.readouterr().err.startswith("regard: no recipe is called 'trnslate'; try translate")


OWN = """
from torch import nn, ones

from regard.recipes.translate import Recipe
from regard.train.task import Task


def build(recipe):
    return Task(
        model=nn.Linear(1, 1),
        batches=[ones(4, 1)],
        size=len,
        loss=lambda model, x: model(x).square().sum(),
        score=lambda model: {"val_loss": model(ones(1, 1)).square().item()},
        metric="val_loss",
    )
"""


def test_an_own_recipe_with_the_flags_of_ours_is_built_by_its_own_file_from_its_seed(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(OWN)
    for name, seed in (("one", "1"), ("again", "1"), ("two", "2")):
        assert main(["train", str(path), "--steps", "1", "--seed", seed, "--out", str(tmp_path / name)]) == 0
    assert read_recipe(tmp_path / "one")["recipe"] == "mine"
    one, again, two = (next(iter(metrics(tmp_path / name)))["loss"] for name in ("one", "again", "two"))
    assert one == again != two


def test_a_plugin_with_the_name_of_a_recipe_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "translate.py").write_text(OWN)
    monkeypatch.setenv("REGARD_PLUGINS", str(tmp_path))
    assert main(["train", "translate"]) == 2
    assert "translate.py has the name of a recipe that is there already; rename the file" in capsys.readouterr().err


def test_the_help_does_not_wait_for_torch() -> None:
    code = (
        "import sys; from regard.cli.main import main\n"
        "main(['train', 'translate', '--help']); main(['train', '--help'])\n"
        "sys.stderr.write(' '.join({'torch', 'numpy', 'rich.console'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
