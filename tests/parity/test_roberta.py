"""RoBERTa, CamemBERT and XLM-R as `transformers` has them: the same outputs, streams and attention, in and out."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from tests.parity.encoders import BEHIND, CONTEXT, IN_FRONT, PAD, SIZE, change_config, compare, opened
from tests.parity.encoders import theirs as theirs_of

from regard.hub import CheckpointError, export, load
from regard.hub.tables import camembert, roberta, xlm_roberta
from regard.hub.tables.rules import load as load_rules
from regard.hub.tables.rules import save as save_rules
from regard.models.roberta import PRESETS, Config, RoBERTa
from regard.text import Tokenizer

KINDS = {"Roberta": roberta, "Camembert": camembert, "XLMRoberta": xlm_roberta}
ARCHITECTURES = [name for kind in KINDS.values() for name in kind.ENCODER.heads]
HEADS = {name: head for kind in KINDS.values() for name, head in kind.ENCODER.heads.items()}
SMALL = dict(vocab=50, width=32, depth=2, heads=4, hidden=48, context=CONTEXT)
TASKS = {"masked": "fill", "classify": "classify", "tokens": "tag", "spans": "answer", "none": "embed"}


def theirs(architecture: str, **changes: Any) -> Any:
    stem = next(stem for stem in ("XLMRoberta", "Roberta", "Camembert") if architecture.startswith(stem))
    given = SIZE | {"max_position_embeddings": CONTEXT + PAD + 1, "type_vocab_size": 1, "num_labels": 3} | changes
    return theirs_of(architecture, getattr(transformers, f"{stem}Config")(**given))


@torch.no_grad()
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_roberta_of_hugging_face_says_and_looks_as_before_wherever_it_is_padded(
    tmp_path: Path, architecture: str
) -> None:
    other = theirs(architecture)
    other.save_pretrained(tmp_path / "model")
    stored = load(tmp_path / "model")
    head = HEADS[architecture]
    assert (stored.family.name, stored.model.config.head, stored.card["task"]) == ("roberta", head, TASKS[head])
    assert stored.model.config.context == CONTEXT
    for kept in (BEHIND, IN_FRONT):
        compare(stored.model, other, kept, 1)


@torch.no_grad()
@pytest.mark.parametrize("architecture", roberta.ENCODER.heads)
def test_what_is_exported_is_read_by_transformers(tmp_path: Path, architecture: str) -> None:
    theirs(architecture).save_pretrained(tmp_path / "in")
    ours = load(tmp_path / "in").model
    export(tmp_path / "out", ours)
    compare(ours, opened(architecture, tmp_path / "out"), IN_FRONT, 1)
    again = load(tmp_path / "out").model
    assert again.config == ours.config
    assert all(again.state_dict()[name].equal(tensor) for name, tensor in ours.state_dict().items())


@torch.no_grad()
@pytest.mark.parametrize("stem", ["Camembert", "XLMRoberta"])
def test_relatives_are_written_as_a_roberta(tmp_path: Path, stem: str) -> None:
    other = theirs(f"{stem}ForMaskedLM")
    other.save_pretrained(tmp_path / "in")
    export(tmp_path / "out", load(tmp_path / "in").model)
    back = opened("RobertaForMaskedLM", tmp_path / "out")
    assert back.config.model_type == "roberta"
    compare(load(tmp_path / "in").model, back, BEHIND, 1)


@torch.no_grad()
@pytest.mark.parametrize(
    ("changes", "segments"),
    [
        *(({"hidden_act": name}, 1) for name in ("gelu_new", "gelu_pytorch_tanh", "relu", "swish")),
        ({"layer_norm_eps": 0.1}, 1),
        ({"type_vocab_size": 3}, 3),
        ({"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "classifier_dropout": 0.0}, 1),
        ({"max_position_embeddings": 9, "pad_token_id": 1}, 1),
    ],
    ids=str,
)
def test_settings_are_honoured_both_ways(tmp_path: Path, changes: dict[str, Any], segments: int) -> None:
    other = theirs("RobertaForMaskedLM", **changes)
    other.save_pretrained(tmp_path / "in")
    ours = load(tmp_path / "in").model
    export(tmp_path / "out", ours)
    for each in (other, opened("RobertaForMaskedLM", tmp_path / "out")):
        compare(ours, each, BEHIND, segments)


@torch.no_grad()
def test_positions_are_counted_from_behind_the_padding_whatever_its_id_is(tmp_path: Path) -> None:
    tokenizer = Tokenizer.train(["a dog runs", "a cat sleeps"], kind="characters", vocab=40)
    other = theirs("RobertaForMaskedLM", pad_token_id=3, max_position_embeddings=CONTEXT + 4)
    other.save_pretrained(tmp_path / "in")
    tokenizer.save(tmp_path / "in/tokenizer.json")
    stored = load(tmp_path / "in")
    assert (stored.model.config.context, stored.tokenizer.pad) == (CONTEXT, 3)
    ids = torch.tensor([[5, 9, 12, 7], [8, 6, 3, 3]])
    kept = ids != 3
    export(tmp_path / "out", stored.model, stored.tokenizer)
    about = json.loads((tmp_path / "out/config.json").read_text())
    assert (about["pad_token_id"], about["max_position_embeddings"]) == (3, CONTEXT + 4)
    for each in (other, opened("RobertaForMaskedLM", tmp_path / "out")):
        wanted = each(input_ids=ids, attention_mask=kept.long()).logits
        torch.testing.assert_close(stored.model(ids, visible=kept).logits[kept], wanted[kept], atol=5e-5, rtol=1e-4)
    written = load_file(tmp_path / "out/model.safetensors")["roberta.embeddings.position_embeddings.weight"]
    assert written[:4].eq(0.0).all()  # what nothing reads


@torch.no_grad()
@pytest.mark.parametrize("architecture", ["RobertaForMaskedLM", "RobertaForSequenceClassification"])
def test_old_files_are_read(tmp_path: Path, architecture: str) -> None:
    """Tied copies, buffers, a pooler that no head reads, gamma and beta, a config of few words."""
    other = theirs(architecture, num_labels=2)
    other.save_pretrained(tmp_path)
    old = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
        for name, tensor in load_file(tmp_path / "model.safetensors").items()
    }
    old |= {
        "roberta.embeddings.position_ids": torch.arange(CONTEXT + 2)[None],
        "roberta.pooler.dense.weight": torch.ones(32, 32),
        "roberta.pooler.dense.bias": torch.ones(32),
    }
    if architecture == "RobertaForMaskedLM":
        old |= {
            "lm_head.decoder.weight": old["roberta.embeddings.word_embeddings.weight"].clone(),
            "lm_head.decoder.bias": old["lm_head.bias"].clone(),
        }
    save_file(old, tmp_path / "model.safetensors")
    few = {"model_type": "roberta", "max_position_embeddings": CONTEXT + 2, "type_vocab_size": 1, **SIZE}
    few |= {} if architecture == "RobertaForMaskedLM" else {"architectures": [architecture]}
    (tmp_path / "config.json").write_text(json.dumps(few))
    compare(load(tmp_path).model, other, BEHIND, 1)


@torch.no_grad()
def test_names_without_prefix_are_understood(tmp_path: Path) -> None:
    other = theirs("RobertaModel")
    other.save_pretrained(tmp_path)
    assert not any(name.startswith("roberta.") for name in load_file(tmp_path / "model.safetensors"))
    compare(load(tmp_path).model, other, IN_FRONT, 1)
    change_config(tmp_path, architectures="left out")
    assert load(tmp_path).model.config.head == "none"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"architectures": ["RobertaForCausalLM"]},
            "architectures is ['RobertaForCausalLM']; known are RobertaForMask",
        ),
        ({"architectures": ["BertModel"]}, "architectures is ['BertModel']; known are RobertaForMaskedLM"),
        ({"pad_token_id": None}, "pad_token_id is None, and positions are counted from behind it"),
        ({"pad_token_id": -1}, "pad_token_id is -1, and positions are counted from behind it"),
        ({"pad_token_id": True}, "pad_token_id is True, and positions are counted from behind it"),
        ({"pad_token_id": 30}, "max_position_embeddings is 18, of which none lies behind pad_token_id 30"),
        ({"max_position_embeddings": 20}, "position.table has shape (16, 32), not (18, 32)"),
        ({"max_position_embeddings": "long"}, "context is 'long', not int"),
        ({"hidden_act": "mish"}, "this RoBERTa is not supported: hidden_act is 'mish'; known are gelu, gelu_python"),
        ({"position_embedding_type": "relative_key_query"}, "position_embedding_type is relative_key_query, and only"),
        ({"is_decoder": True}, "is_decoder is True, and only False is supported"),
        ({"tie_word_embeddings": False}, "tie_word_embeddings is False, and only True is supported"),
        ({"attention_probs_dropout_prob": 0.2}, "attention_probs_dropout_prob is 0.2 and hidden_dropout_prob 0.1, and"),
        ({"attention_probs_dropout_prob": None}, "attention_probs_dropout_prob is None and hidden_dropout_prob 0.1"),
        ({"classifier_dropout": 0.3}, "classifier_dropout is 0.3 and hidden_dropout_prob 0.1, and they must be the"),
        ({"type_vocab_size": 2}, "segment.weight has shape (1, 32), not (2, 32)"),
        ({"embedding_size": 16}, "embedding_size is not known"),
        ({"num_hidden_layers": 10**6}, "far larger model than"),
    ],
    ids=str,
)
def test_a_setting_is_honoured_or_refused_by_its_name(tmp_path: Path, changes: dict[str, Any], why: str) -> None:
    theirs("RobertaModel").save_pretrained(tmp_path)
    change_config(tmp_path, **changes)
    with pytest.raises(CheckpointError) as caught:
        load(tmp_path)
    assert why in str(caught.value)


@pytest.mark.parametrize("stem", KINDS)
def test_every_field_that_transformers_writes_is_known_and_every_default_is_theirs(tmp_path: Path, stem: str) -> None:
    kind, name = getattr(transformers, f"{stem}Config"), f"{stem}ForSequenceClassification"
    theirs(name, type_vocab_size=2).save_pretrained(tmp_path)
    every = kind(**SIZE, max_position_embeddings=CONTEXT + 2, num_labels=3).to_dict()
    change_config(tmp_path, **every | {"architectures": [name]})
    whole = load(tmp_path).model.config
    assert whole == Config(**SMALL, segments=2, eps=1e-12, head="classify", classes=3)
    sparse = {"model_type": kind.model_type, "architectures": [name], "num_labels": 3}
    (tmp_path / "config.json").write_text(json.dumps(sparse | SIZE | {"max_position_embeddings": CONTEXT + 2}))
    assert load(tmp_path).model.config == whole
    plain = kind()
    found = KINDS[stem].TABLE.config({"model_type": kind.model_type}, frozenset({"pooler.dense.weight"}))
    assert (found["vocab"], found["context"]) == (plain.vocab_size, plain.max_position_embeddings - PAD - 1)


def test_the_table_claims_every_tensor_of_ours_once() -> None:
    for head in ("masked", "classify", "tokens", "spans", "none"):
        rules = roberta.rules({"head": head}, {"pad_token_id": 5})
        ours = RoBERTa(Config(**SMALL, head=head)).state_dict()
        there = save_rules(rules, ours)
        assert there["roberta.embeddings.position_embeddings.weight"].shape == (CONTEXT + 6, 32)
        back = load_rules(rules, there)
        assert back.keys() == ours.keys()
        assert all(back[name].equal(tensor) for name, tensor in ours.items())


def test_a_tokenizer_without_padding_is_refused_where_positions_need_it(tmp_path: Path) -> None:
    tokenizer = Tokenizer.train(["a dog runs"], kind="characters", vocab=40)
    with pytest.raises(ValueError, match="counts positions from behind the id of its padding, and this tokenizer has"):
        export(tmp_path / "out", RoBERTa(PRESETS["roberta-nano"]), replace(tokenizer, pad=None))
    assert not (tmp_path / "out").exists()
