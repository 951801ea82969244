"""The command line answers quickly, in order, and fails in one line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from regard import __version__
from regard.cli import verbs as verbs_file
from regard.cli.main import main
from regard.cli.verbs import verbs

PARTS = {
    "__init__",
    "main",
    "verbs",
    "flags",
    "errors",
    "ink",
    "source",
    "samples",
    "lines",
    "load",
    "pairs",
    "inside",
    "seen",
    "alike",
    "overlaid",
    "sheets",
}


def regard(*args: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "regard.cli.main", *args]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | env, timeout=120, check=False)


@pytest.mark.parametrize("args", [[], ["--help"], ["-h"], ["help"]])
def test_help_groups_the_verbs_by_purpose_and_shows_examples(
    args: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(args) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines.index("Start here") < next(i for i, line in enumerate(lines) if line.startswith("  demo"))
    assert lines.index("Start here") < lines.index("Reference") < lines.index("Try")
    assert sum(line.startswith("  regard ") for line in lines) >= 2


def test_every_file_of_the_folder_is_a_verb_or_a_known_part() -> None:
    files = {path.stem for path in Path(verbs_file.__file__).parent.glob("*.py")}
    assert files - PARTS == set(verbs())


@pytest.mark.parametrize("name", sorted(verbs()))
def test_every_verb_is_in_the_help_and_teaches_by_examples(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    verb = verbs()[name]
    assert main([]) == 0
    assert f"  {name}" in capsys.readouterr().out
    assert main([name, "--help"]) == 0
    out = capsys.readouterr().out
    assert verb.summary in out
    assert verb.examples
    assert all(example in out for example in verb.examples)


def test_a_new_file_is_a_new_verb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sing.py").write_text('"""Sing a song.\n\n    regard sing  a song\n"""\nGROUP = "Music"\n')
    (tmp_path / "quiet.py").write_text('"""No verb, since it names no group."""\n')
    monkeypatch.setattr(verbs_file, "__file__", str(tmp_path / "verbs.py"))
    assert list(verbs()) == ["sing"]
    assert "  sing  Sing a song." in list(verbs_file.overview("x"))


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"regard {__version__}\n"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["dmo"], "regard: no verb is called 'dmo'; try demo"),
        (["xyzzy"], f"regard: no verb is called 'xyzzy'; try {', '.join(list(verbs())[:6])}"),
        (["list", "--jsn"], "regard: unrecognized options: --jsn; see regard list --help"),
        (["demo", "-Hello there"], "-Hello there, and a text that begins with - goes last, behind --; see regard demo"),
        (["demo", "--seed", "two"], "--seed"),
        (["demo", "--seed"], "--seed"),
    ],
)
def test_misuse_is_one_line_and_code_2(args: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(args) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("regard: ")
    assert said in err
    assert err.count("\n") == 1


def on_a_terminal(*args: str, **env: str) -> str:
    """What somebody at a terminal sees."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    colours = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm-256color"}
    command = [sys.executable, "-m", "regard.cli.main", *args]
    subprocess.run(command, stdout=theirs, stderr=theirs, env=colours | env, timeout=120, check=False)
    os.close(theirs)
    seen = os.read(ours, 65536).decode()
    os.close(ours)
    return seen


def test_misuse_is_one_plain_line_on_a_terminal_too() -> None:
    assert on_a_terminal("list", "--jsn") == "regard: unrecognized options: --jsn; see regard list --help\r\n"


@pytest.mark.parametrize("args", [["--help"], ["list"]])
def test_a_terminal_gets_colour_unless_it_says_no(args: list[str]) -> None:
    assert "\x1b[" in on_a_terminal(*args)
    assert "\x1b[" not in on_a_terminal(*args, NO_COLOR="1")
    assert "\x1b[" not in regard(*args).stdout


def test_the_help_of_a_verb_respects_no_color() -> None:
    seen = on_a_terminal("demo", "--help", NO_COLOR="1")
    assert "--seed INT" in seen
    assert "\x1b[" not in seen


def test_failure_is_one_line_and_code_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(flags: object) -> None:
        raise OSError("the disk\nis full")

    monkeypatch.setattr("regard.cli.list.main", fail)
    monkeypatch.delenv("REGARD_TRACEBACK", raising=False)
    assert main(["list"]) == 1
    assert capsys.readouterr().err == "regard: OSError: the disk is full (REGARD_TRACEBACK=1 shows where)\n"
    monkeypatch.setenv("REGARD_TRACEBACK", "1")
    with pytest.raises(OSError, match="full"):
        main(["list"])


def test_interrupting_ends_quietly(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(flags: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("regard.cli.list.main", interrupted)
    assert main(["list"]) == 130
    assert capsys.readouterr() == ("", "")


def test_a_closed_pipe_ends_quietly() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "regard.cli.main", "list", "masks"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize(
    "args", [[], ["--version"], ["list"], ["list", "layers"], ["list", "--help"], ["demo", "--help"], ["dmo"]]
)
def test_short_answers_do_not_wait_for_torch(args: list[str]) -> None:
    code = (
        "import sys; from regard.cli.main import main; main(sys.argv[1:]); "
        "sys.stderr.write('loaded ' + ' '.join({'torch', 'numpy', 'rich.console'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, timeout=120, check=True)
    assert done.stderr.rpartition("loaded ")[2] == ""


def test_a_terminal_without_unicode_gets_its_answer() -> None:
    for args in ([], ["list", "masks"], ["list", "--help"]):
        done = regard(*args, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.isascii()
