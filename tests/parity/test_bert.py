"""BERT as `transformers` has it: the same weights give the same outputs and the same attention, in and out."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from tests.parity.encoders import BEHIND, CONTEXT, IN_FRONT, SIZE, change_config, compare, opened
from tests.parity.encoders import theirs as theirs_of

import regard
from regard.hub import CheckpointError, export, load, save
from regard.hub.tables.bert import ENCODER, RULES
from regard.hub.tables.rules import load as load_rules
from regard.hub.tables.rules import save as save_rules
from regard.models.bert import BERT, Config

SMALL = dict(vocab=50, width=32, depth=2, heads=4, hidden=48, context=CONTEXT)
HEADS = ENCODER.heads
TASKS = {"pretraining": "fill", "masked": "fill", "classify": "classify", "tokens": "tag", "spans": "answer"}
every_architecture = pytest.mark.parametrize("architecture", HEADS)


def theirs(architecture: str, **changes: Any) -> Any:
    given = SIZE | {"max_position_embeddings": CONTEXT, "num_labels": 3} | changes
    return theirs_of(architecture, transformers.BertConfig(**given))


@torch.no_grad()
@every_architecture
def test_a_bert_of_hugging_face_says_and_looks_as_before_wherever_it_is_padded(
    tmp_path: Path, architecture: str
) -> None:
    other = theirs(architecture)
    other.save_pretrained(tmp_path / "bert")
    stored = load(tmp_path / "bert")
    head = HEADS[architecture]
    assert (stored.family.name, stored.name, stored.model.config.head) == ("bert", "bert", head)
    assert stored.card["task"] == TASKS.get(head, "embed")
    for kept in (BEHIND, IN_FRONT):
        compare(stored.model, other, kept, 2)


@torch.no_grad()
@every_architecture
def test_what_is_exported_is_read_by_transformers(tmp_path: Path, architecture: str) -> None:
    theirs(architecture).save_pretrained(tmp_path / "in")
    ours = load(tmp_path / "in").model
    export(tmp_path / "out", ours)
    compare(ours, opened(architecture, tmp_path / "out"), BEHIND, 2)
    again = load(tmp_path / "out").model
    assert again.config == ours.config
    assert all(again.state_dict()[name].equal(tensor) for name, tensor in ours.state_dict().items())


@torch.no_grad()
@pytest.mark.parametrize(
    "changes",
    [
        *({"hidden_act": name} for name in ("gelu_new", "gelu_pytorch_tanh", "gelu_fast", "relu", "swish")),
        {"layer_norm_eps": 0.1},
        {"type_vocab_size": 5},
        {"pad_token_id": None},
        {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "classifier_dropout": 0.0},
    ],
    ids=str,
)
def test_settings_are_honoured_both_ways(tmp_path: Path, changes: dict[str, Any]) -> None:
    other = theirs("BertForMaskedLM", **changes)
    other.save_pretrained(tmp_path / "in")
    ours = load(tmp_path / "in").model
    export(tmp_path / "out", ours)
    for each in (other, opened("BertForMaskedLM", tmp_path / "out")):
        compare(ours, each, BEHIND, changes.get("type_vocab_size", 2))


@torch.no_grad()
def test_old_files_are_read(tmp_path: Path) -> None:
    """As Google's first ones are: gamma and beta, tied copies, buffers, a config of few words."""
    other = theirs("BertForPreTraining")
    other.save_pretrained(tmp_path)
    old = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
        for name, tensor in load_file(tmp_path / "model.safetensors").items()
    }
    old |= {
        "bert.embeddings.position_ids": torch.arange(16)[None],
        "cls.predictions.decoder.weight": old["bert.embeddings.word_embeddings.weight"].clone(),
        "cls.predictions.decoder.bias": old["cls.predictions.bias"].clone(),
    }
    save_file(old, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert", "max_position_embeddings": 16, **SIZE}))
    ours = load(tmp_path).model
    compare(ours, other, BEHIND, 2)
    # bert-base-uncased says one head and holds both.
    change_config(tmp_path, architectures=["BertForMaskedLM"])
    assert load(tmp_path).model.config == ours.config
    save_file(old | {"cls.predictions.decoder.weight": torch.ones(50, 32)}, tmp_path / "model.safetensors")
    with pytest.raises(CheckpointError, match=r"decoder.weight is not the copy of bert.embeddings.word_embeddings"):
        load(tmp_path)


@torch.no_grad()
@pytest.mark.parametrize("architecture", ["BertForMaskedLM", "BertForTokenClassification", "BertForQuestionAnswering"])
@pytest.mark.parametrize("pickle", [True, False])
def test_a_pooler_that_no_head_reads_is_left_out(tmp_path: Path, architecture: str, pickle: bool) -> None:
    other = theirs(architecture)
    other.save_pretrained(tmp_path)
    whole = load_file(tmp_path / "model.safetensors")
    whole |= {"bert.pooler.dense.weight": torch.ones(32, 32), "bert.pooler.dense.bias": torch.ones(32)}
    if pickle:
        (tmp_path / "model.safetensors").unlink()
        torch.save(whole, tmp_path / "pytorch_model.bin")
    else:
        save_file(whole, tmp_path / "model.safetensors")
    compare(load(tmp_path, pickle=pickle).model, other, BEHIND, 2)


def test_heads_are_found_where_no_architecture_is_said(tmp_path: Path) -> None:
    for architecture in ("BertForPreTraining", "BertForMaskedLM", "BertModel"):
        theirs(architecture).save_pretrained(tmp_path)
        change_config(tmp_path, architectures="left out")
        assert load(tmp_path).model.config.head == HEADS[architecture]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"architectures": ["BertLMHeadModel"]}, "architectures is ['BertLMHeadModel']; known are BertForPreTraining"),
        ({"architectures": []}, "architectures is []; known are"),
        ({"hidden_act": "mish"}, "hidden_act is 'mish'; known are gelu, gelu_python, gelu_pytorch_tanh"),
        ({"position_embedding_type": "relative_key"}, "position_embedding_type is relative_key, and only absolute is"),
        ({"is_decoder": True}, "is_decoder is True, and only False is supported"),
        ({"add_cross_attention": True}, "add_cross_attention is True"),
        ({"tie_word_embeddings": False}, "tie_word_embeddings is False, and only True is supported"),
        ({"pruned_heads": {"0": [1]}}, "pruned_heads is {'0': [1]}"),
        ({"attention_probs_dropout_prob": 0.2}, "attention_probs_dropout_prob is 0.2 and hidden_dropout_prob 0.1, and"),
        ({"hidden_dropout_prob": 0.2}, "attention_probs_dropout_prob is 0.1 and hidden_dropout_prob 0.2"),
        ({"classifier_dropout": 0.3}, "classifier_dropout is 0.3 and hidden_dropout_prob 0.1, and they must be the"),
        ({"id2label": 3}, "id2label is 3, and no object"),
        ({"embedding_size": 16}, "embedding_size is not known"),
        ({"layer_norm_eps": "small"}, "eps is 'small', not float"),
        ({"num_hidden_layers": 10**6}, "far larger model than"),
        ({"type_vocab_size": 3}, "segment.weight has shape (2, 32), not (3, 32)"),
        ({"num_attention_heads": 5}, "width 32 does not split into 5 heads"),
    ],
    ids=str,
)
def test_a_setting_is_honoured_or_refused_by_its_name(tmp_path: Path, changes: dict[str, Any], why: str) -> None:
    theirs("BertModel").save_pretrained(tmp_path)
    change_config(tmp_path, **changes)
    with pytest.raises(CheckpointError) as caught:
        load(tmp_path)
    assert why in str(caught.value)


def test_every_field_that_transformers_writes_is_known(tmp_path: Path) -> None:
    theirs("BertForSequenceClassification").save_pretrained(tmp_path)
    every = transformers.BertConfig(**SIZE, max_position_embeddings=16, num_labels=3).to_dict()
    change_config(tmp_path, **every | {"architectures": ["BertForSequenceClassification"]})
    assert load(tmp_path).model.config == Config(**SMALL, head="classify", classes=3)


def test_a_bert_without_the_pooler_that_its_head_reads_is_refused(tmp_path: Path) -> None:
    config = theirs("BertModel").config
    transformers.BertModel(config, add_pooling_layer=False).save_pretrained(tmp_path)
    with pytest.raises(CheckpointError, match="the pooler, which the head 'none' reads, is missing"):
        load(tmp_path)


def test_the_table_claims_every_tensor_of_ours_once() -> None:
    for head in HEADS.values():
        ours = BERT(Config(**SMALL, head=head)).state_dict()
        back = load_rules(RULES, save_rules(RULES, ours))
        assert back.keys() == ours.keys()
        assert all(back[name].equal(tensor) for name, tensor in ours.items())


@pytest.mark.usefixtures("as_users_meet_it")
def test_a_bert_that_our_table_refuses_is_looked_into_by_transformers_and_one_of_ours_needs_a_task(
    tmp_path: Path,
) -> None:
    theirs("BertModel").save_pretrained(tmp_path / "odd")
    change_config(tmp_path / "odd", attention_probs_dropout_prob=0.2, language="en", of_somebody=True)
    assert regard.load(tmp_path / "odd").task == "look"
    theirs("BertModel").save_pretrained(tmp_path / "bert")
    stored = load(tmp_path / "bert")
    save(tmp_path / "own", stored.model, family=stored.family)
    with pytest.raises(ValueError, match="the card of own names no task; say which, as by task='translate'"):
        regard.load(tmp_path / "own")
