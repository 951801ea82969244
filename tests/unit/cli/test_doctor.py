"""`regard doctor` prints a table of checks, and ends with 1 where a model is ill."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.cli.main import main
from regard.models import deepsets, gpt

Captured = pytest.CaptureFixture[str]


def test_a_preset_is_examined_fresh_and_well(capsys: Captured) -> None:
    assert main(["doctor", "deepsets-nano"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.startswith("deepsets-nano: well, by ")
    assert any(line.startswith("✓ weights are numbers") for line in lines)
    assert any("skipped: it has no attention" in line for line in lines)


def test_a_model_of_the_zoo_is_examined_as_json(model: Path, capsys: Captured) -> None:
    assert main(["doctor", "small", "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (found["model"], found["ill"]) == ("small", 0)
    verdicts = {each["check"]: each["verdict"] for each in found["findings"]}
    assert verdicts["cache equals no cache"] == verdicts["no gradient from the future"] == "well"
    assert all(set(each) == {"check", "verdict", "value", "why"} for each in found["findings"])


class Deaf(deepsets.DeepSets):
    """A network that hears nothing of its set."""

    def forward(self, x: Tensor, **said: Any) -> Tensor:
        return super().forward(x * 0.0, **said)


def test_an_ill_model_ends_with_one_and_says_what_usually_causes_it(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    from dataclasses import replace

    monkeypatch.setattr(deepsets, "FAMILY", replace(deepsets.FAMILY, model=Deaf))
    torch.manual_seed(1)
    assert main(["doctor", "deepsets-nano", "--steps", "20", "--seed", "3"]) == 1
    out, err = capsys.readouterr()
    assert "checks say ill" in out.splitlines()[0]
    assert "✗ one batch can be overfitted" in out
    assert "often: a detach() between the loss and the weights" in out
    assert err == ""


def test_a_text_is_read_by_the_models_own_tokenizer(tmp_path: Path, capsys: Captured) -> None:
    from regard.hub import save
    from regard.text import Tokenizer

    tokenizer = Tokenizer.train(["the queen sings to the wolf"], kind="words", vocab=30)
    one = gpt.GPT(gpt.Config(tokenizer.vocab, 32, 16, 1, 2, 16))
    save(tmp_path / "one", one, family=gpt.FAMILY, card={"task": "generate"}, tokenizer=tokenizer)
    main(["doctor", str(tmp_path / "one"), "--text", "the queen sings", "--json", "--steps", "1"])
    found = json.loads(capsys.readouterr().out)["findings"]
    (text,) = (each for each in found if each["check"] == "loss on the text below ln V")
    assert text["verdict"] in ("well", "ill")
    assert f"ln {tokenizer.vocab}" in text["value"]


def test_a_folder_of_transformers_without_a_table_is_examined_by_it(tmp_path: Path, capsys: Captured) -> None:
    from transformers import OPTConfig, OPTForCausalLM

    config = OPTConfig(
        vocab_size=40,
        hidden_size=16,
        num_hidden_layers=1,
        ffn_dim=16,
        num_attention_heads=2,
        max_position_embeddings=32,
        word_embed_proj_dim=16,
    )
    OPTForCausalLM(config).save_pretrained(tmp_path / "opt")
    capsys.readouterr()
    assert main(["doctor", str(tmp_path / "opt"), "--json"]) == 0
    found = {each["check"]: each["verdict"] for each in json.loads(capsys.readouterr().out)["findings"]}
    assert found["no gradient from the future"] == found["cache equals no cache"] == "well"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["nobody"], "no model is called 'nobody'"),
        (["gpt-3-175b"], "gpt-3-175b has 175 billion parameters; examine a smaller preset of gpt"),
        (["deepsets-nano", "--steps", "0"], "0 steps teach nothing; give 1 or more"),
        (["deepsets-nano", "--text", "hello"], "deepsets-nano has no tokenizer to read a text with"),
        (["deepsets-nano", "--text", "per\udcff"], "the text has half a character at place 3"),
    ],
)
def test_what_cannot_be_examined_is_one_line(args: list[str], said: str, capsys: Captured) -> None:
    assert main(["doctor", *args]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1
