"""Bundled models are found by their names, and by nothing that only looks like one."""

from pathlib import Path

import pytest

from regard.zoo import find, zoo


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    for name in ("translate-de-en", "translate-it-en", ".half-written", "empty"):
        (tmp_path / "zoo" / name).mkdir(parents=True)
        if name != "empty":
            (tmp_path / "zoo" / name / "config.json").write_text("{}")
    return tmp_path / "zoo"


def test_a_name_is_that_of_a_whole_folder(shelf: Path) -> None:
    assert zoo(shelf) == {name: shelf / name for name in ("translate-de-en", "translate-it-en")}
    assert zoo(shelf / "nowhere") == {}
    assert find("translate-it-en", shelf) == shelf / "translate-it-en"


def test_a_folder_is_found_before_a_name(shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "translate-de-en"
    own.mkdir()
    monkeypatch.chdir(tmp_path)
    assert find("translate-de-en", shelf) == shelf / "translate-de-en"  # an empty folder is no model
    (own / "config.json").write_text("{}")
    assert find("translate-de-en", shelf) == Path("translate-de-en")
    assert find(own, shelf) == own


def test_the_folder_of_a_run_will_do(shelf: Path, tmp_path: Path) -> None:
    (tmp_path / "run/model").mkdir(parents=True)
    (tmp_path / "run/model/config.json").write_text("{}")
    assert find(tmp_path / "run", shelf) == tmp_path / "run/model"


def test_near_misses_are_named(shelf: Path) -> None:
    with pytest.raises(ValueError, match="no model is called 'translate-de-em'; try translate-de-en"):
        find("translate-de-em", shelf)
    with pytest.raises(ValueError, match="try translate-de-en, translate-it-en"):
        find("xyz", shelf)
    with pytest.raises(ValueError, match="none are bundled; give a folder"):
        find("xyz", shelf / "nowhere")


def test_a_name_does_not_lead_elsewhere(shelf: Path, tmp_path: Path) -> None:
    for wanted in ("../zoo/translate-de-en", ".half-written", "translate-de-en/..", ""):
        with pytest.raises(ValueError, match=r"no model is called|holds no model"):
            find(wanted, shelf)


def test_a_folder_without_a_model_is_told(shelf: Path) -> None:
    with pytest.raises(ValueError, match=r"empty holds no model, since config.json is missing"):
        find(shelf / "empty", shelf)
