"""Bundled models in other people's runtimes say the same: CTranslate2 and transformers, by their own code."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from regard.hub import load
from regard.hub.runtimes.ctranslate2 import write_ctranslate2
from regard.hub.runtimes.write import write
from regard.models import build

CLOSE = 1e-4
TEXT = "The dog sleeps in the house."
theirs: Any = pytest.importorskip("ctranslate2", reason="CTranslate2 is of the group `bench`")
AS_HERE = {"compute_type": "float32", "intra_threads": 1}


def spelled(tokenizer: Any, row: list[int]) -> list[str]:
    return [tokenizer.entry(i) for i in row]


@torch.no_grad()
def test_a_translator_finds_words_as_likely(tmp_path: Path) -> None:
    found = load("de-en")
    write(tmp_path / "out", found, "ctranslate2")
    words: Any = found.tokenizer
    sources = words.encode(["Ein Hund läuft.", "Zwei Kinder spielen im großen Park."], stop=True)
    targets = words.encode(["A dog runs.", "Two children play in the big park."], stop=True)
    translator = theirs.Translator(str(tmp_path / "out"), **AS_HERE)
    told = translator.score_batch(
        [spelled(words, row) for row in sources], [spelled(words, row[:-1]) for row in targets]
    )
    for source, target, each in zip(sources, targets, told, strict=True):
        logits = found.model(torch.tensor([source]), torch.tensor([[words.start, *target[:-1]]]))[0]
        ours = logits.log_softmax(dim=-1)[range(len(target)), target]
        np.testing.assert_allclose(each.log_probs, ours, atol=CLOSE)


@torch.no_grad()
def test_a_gpt_has_the_same_logits(tmp_path: Path) -> None:
    found = load("world-gpt")
    write(tmp_path / "out", found, "ctranslate2")
    words: Any = found.tokenizer
    rows = words.encode([TEXT])
    logits = theirs.Generator(str(tmp_path / "out"), **AS_HERE).forward_batch([spelled(words, row) for row in rows])
    np.testing.assert_allclose(np.array(logits), found.model(torch.tensor(rows)), atol=CLOSE)


@torch.no_grad()
def test_a_bert_has_the_same_states(tmp_path: Path) -> None:
    found = load("world-bert")
    write(tmp_path / "out", found, "ctranslate2")
    words: Any = found.tokenizer
    rows = words.encode([TEXT])
    encoder = theirs.Encoder(str(tmp_path / "out"), **AS_HERE)
    states = encoder.forward_batch(
        [spelled(words, row) for row in rows], token_type_ids=[[0] * len(row) for row in rows]
    )
    np.testing.assert_allclose(np.array(states.last_hidden_state), found.model(torch.tensor(rows)).hidden, atol=CLOSE)


@torch.no_grad()
def test_transformers_opens_what_is_written_for_it(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    found = load("world-bert")
    names = [each.path.name for each in write(tmp_path / "out", found, "hf")]
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= set(names)
    other = transformers.BertModel.from_pretrained(tmp_path / "out").eval()
    ids = torch.tensor(found.tokenizer.encode([TEXT]))
    torch.testing.assert_close(other(ids).last_hidden_state, found.model(ids).hidden, atol=CLOSE, rtol=0.0)


def test_what_ctranslate2_does_not_know_is_refused_with_a_way_out(tmp_path: Path) -> None:
    words: Any = load("world-gpt").tokenizer
    with pytest.raises(ValueError, match="CTranslate2 has no ViT; it takes Transformer, GPT, BERT, so write ONNX"):
        write_ctranslate2(tmp_path / "out", build("vit-nano"), words)
    with pytest.raises(ValueError, match=r"CTranslate2 has no such GPT: norm_first is False; write ONNX"):
        write_ctranslate2(tmp_path / "out", build("gpt-nano", norm_first=False, vocab=words.vocab), words)
    with pytest.raises(ValueError, match=r"no norm behind stacks of post-norm blocks \(final_norm\)"):
        write_ctranslate2(tmp_path / "out", build("transformer-nano", final_norm=True, vocab=words.vocab), words)
    with pytest.raises(ValueError, match="this model has no tokenizer; write ONNX"):
        write_ctranslate2(tmp_path / "out", build("gpt-nano"), None)
    assert not (tmp_path / "out").exists()
