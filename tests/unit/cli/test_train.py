"""`regard train` trains, says where it stands, and refuses what would harm a run."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from regard.cli.main import main
from regard.train.run import asked, metrics

SMALL = [
    *("--vocab", "300", "--width", "16", "--depth", "1", "--heads", "2", "--hidden", "32"),
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
    assert capsys.readouterr().out.startswith(f"{sentences / 'run' / 'model'}: best score ")


def test_the_world_needs_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from regard.recipes import translate

    short = translate.held_out
    monkeypatch.setattr(translate, "held_out", lambda recipe: short(recipe, 6))
    world = ["--data", "world", "--source", "any", "--target", "any", "--pairs", "60", "--steps", "2"]
    assert main(["train", "translate", *world, *SMALL, "--out", str(tmp_path / "run")]) == 0
    assert [row["step"] for row in metrics(tmp_path / "run")] == [1, 2]
    assert asked(tmp_path / "run")["fields"]["length"] == [6, 12]


def test_a_run_goes_on_by_the_fields_it_began_with(sentences: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(sentences, "--length", "3", "9") == 0
    assert main(["train", "translate", "--out", str(sentences / "run"), "--resume"]) == 0
    assert train(sentences, "--length", "3", "9", "--resume") == 0
    capsys.readouterr()
    assert train(sentences, "--lr", "0.5", "--resume") == 2
    assert "was begun with --lr 0.002, not 0.5; resume with the same" in capsys.readouterr().err
    assert train(sentences) == 2
    assert "holds a run already; go on with --resume, or give another --out" in capsys.readouterr().err
    (sentences / "run" / "recipe.json").write_text("{")
    assert train(sentences, "--resume") == 2
    assert "recipe.json cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--resume"], "holds no run to resume; leave --resume out, or give the folder by --out"),
        (["--steps", "0"], "steps is 0; give 1 or more"),
        (["--average", "5"], "average is 5, but only 2 checkpoints are kept; raise keep to it"),
        (["--schedule", "up"], "--schedule"),
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

    from regard.train import loop

    advance = loop._Training.advance

    def interrupted(self: loop._Training, wanted: loop._Wanted) -> object:
        signal.raise_signal(signal.SIGINT)
        return advance(self, wanted)

    monkeypatch.setattr(loop._Training, "advance", interrupted)
    assert train(sentences, "--json") == 130
    out, err = capsys.readouterr()
    assert json.loads(out)["finished"] is False
    assert "stopped at step 1; go on with the same command and --resume" in err


def test_data_that_are_missing_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "translate", "--data", str(tmp_path / "no"), "--out", str(tmp_path / "run")]) == 1
    err = capsys.readouterr().err
    assert err.startswith("regard: ")
    assert err.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_the_help_lists_every_recipe_and_keeps_commands_on_their_lines(capsys: pytest.CaptureFixture[str]) -> None:
    from regard.cli.train import RECIPES

    assert main(["train", "--help"]) == 0
    listed = capsys.readouterr().out
    assert all(f"• {name}" in listed for name in RECIPES)
    for name, module in RECIPES.items():
        assert main(["train", name, "--help"]) == 0
        page = capsys.readouterr().out
        examples = [line for line in (module.__doc__ or "").splitlines() if line.strip().startswith("regard ")]
        assert {line.strip() for line in examples} <= {line.strip() for line in page.splitlines()}
        assert "--resume" in page


def test_a_word_that_is_no_recipe_is_answered_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train"]) == 2
    assert "translate" in capsys.readouterr().err


def test_the_help_does_not_wait_for_torch() -> None:
    code = (
        "import sys; from regard.cli.main import main\n"
        "main(['train', 'translate', '--help']); main(['train', '--help'])\n"
        "sys.stderr.write(' '.join({'torch', 'numpy', 'rich.console'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
