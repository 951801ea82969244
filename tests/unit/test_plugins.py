"""Files of one's own: each is a module of its own, and one that is broken is named."""

import sys
from pathlib import Path

import pytest

from regard import plugins
from regard.cli.main import main
from regard.pipelines.registry import pipeline


def test_two_plugins_of_one_name_are_two_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.py").write_text(f"SAID = {name!r}\n")
    monkeypatch.setenv("REGARD_PLUGINS", f"{tmp_path / 'a'}:{tmp_path / 'b'}")
    found = plugins.modules()
    assert [module.SAID for module in found] == ["a", "b"]
    assert [sys.modules[module.__name__] for module in found] == found


@pytest.mark.parametrize("code", ["import nowhere_at_all\n", "def f(:\n", "raise SystemExit(3)\n"])
@pytest.mark.parametrize("command", [["list", "models"], ["train", "recall", "--help"]])
def test_a_broken_plugin_is_named_in_one_line(
    command: list[str],
    code: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "broken.py").write_text(code)
    monkeypatch.setenv("REGARD_PLUGINS", str(tmp_path / "broken.py"))
    assert main(command) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"regard: {tmp_path}/broken.py cannot be run: ")
    assert line.endswith("mend it, or take it out of REGARD_PLUGINS")
    assert not any("regard_plugin_broken" in name for name in sys.modules)


def test_a_plugin_that_is_not_there_is_misuse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REGARD_PLUGINS", str(tmp_path / "gone.py"))
    assert main(["list", "models"]) == 2
    assert "gone.py, and nothing lies there; give Python files or folders" in capsys.readouterr().err


def test_a_bundled_task_needs_no_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken.py").write_text("1 / 0\n")
    monkeypatch.setenv("REGARD_PLUGINS", str(tmp_path / "broken.py"))
    assert pipeline("translate").task == "translate"
    with pytest.raises(plugins.PluginError, match="ZeroDivisionError"):
        pipeline("elsewhere")
