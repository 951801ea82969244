"""DistilBERT as `transformers` has it: the same outputs, streams and attention, in and out."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from tests.parity.encoders import BEHIND, CONTEXT, IN_FRONT, change_config, compare, opened
from tests.parity.encoders import theirs as theirs_of

from regard.hub import CheckpointError, export, load
from regard.hub.tables.distilbert import ENCODER, RULES
from regard.hub.tables.rules import load as load_rules
from regard.hub.tables.rules import save as save_rules
from regard.models.distilbert import Config, DistilBERT

HEADS = ENCODER.heads
GIVEN = dict(vocab_size=50, dim=32, n_layers=2, n_heads=4, hidden_dim=48, max_position_embeddings=CONTEXT, num_labels=3)
SMALL = dict(vocab=50, width=32, depth=2, heads=4, hidden=48, context=CONTEXT)
TASKS = {"masked": "fill", "classify": "classify", "tokens": "tag", "spans": "answer", "none": "embed"}
every_architecture = pytest.mark.parametrize("architecture", HEADS)


def theirs(architecture: str, **changes: Any) -> Any:
    labels = 2 if "QuestionAnswering" in architecture else 3
    return theirs_of(architecture, transformers.DistilBertConfig(**(GIVEN | {"num_labels": labels} | changes)))


@torch.no_grad()
@every_architecture
def test_a_distilbert_of_hugging_face_says_and_looks_as_before_wherever_it_is_padded(
    tmp_path: Path, architecture: str
) -> None:
    other = theirs(architecture)
    other.save_pretrained(tmp_path / "model")
    stored = load(tmp_path / "model")
    head = HEADS[architecture]
    assert (stored.family.name, stored.model.config.head, stored.card["task"]) == ("distilbert", head, TASKS[head])
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
    ("architecture", "changes", "dropout"),
    [
        *(("DistilBertForMaskedLM", {"activation": name}, 0.2) for name in ("gelu_new", "relu", "silu")),
        ("DistilBertForMaskedLM", {"sinusoidal_pos_embds": True}, 0.2),
        ("DistilBertForMaskedLM", {"dropout": 0.0, "attention_dropout": 0.0}, 0.2),
        ("DistilBertForSequenceClassification", {"seq_classif_dropout": 0.4, "qa_dropout": 0.3}, 0.4),
        ("DistilBertForQuestionAnswering", {"seq_classif_dropout": 0.4, "qa_dropout": 0.3}, 0.3),
        ("DistilBertForQuestionAnswering", {}, 0.1),
    ],
    ids=str,
)
def test_settings_are_honoured_both_ways(
    tmp_path: Path, architecture: str, changes: dict[str, Any], dropout: float
) -> None:
    other = theirs(architecture, **changes)
    other.save_pretrained(tmp_path / "in")
    ours = load(tmp_path / "in").model
    assert ours.config.head_dropout == dropout
    export(tmp_path / "out", ours)
    assert load(tmp_path / "out").model.config == ours.config
    for each in (other, opened(architecture, tmp_path / "out")):
        compare(ours, each, BEHIND, 1)


@torch.no_grad()
def test_positions_that_are_sines_are_those_of_the_file(tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = transformers.DistilBertConfig(**GIVEN, sinusoidal_pos_embds=True, attn_implementation="eager")
    other = transformers.DistilBertForMaskedLM(config).eval()
    other.save_pretrained(tmp_path)
    ours = load(tmp_path).model
    assert ours.position.table[0].equal(torch.tensor([0.0, 1.0] * 16))
    compare(ours, other, IN_FRONT, 1)


@torch.no_grad()
def test_old_files_are_read(tmp_path: Path) -> None:
    """Other names of fields, tied copies, gamma and beta, buffers."""
    other = theirs("DistilBertForMaskedLM")
    other.save_pretrained(tmp_path)
    old = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
        for name, tensor in load_file(tmp_path / "model.safetensors").items()
    }
    old |= {
        "distilbert.embeddings.position_ids": torch.arange(CONTEXT)[None],
        "vocab_projector.weight": old["distilbert.embeddings.word_embeddings.weight"].clone(),
    }
    save_file(old, tmp_path / "model.safetensors")
    few: dict[str, Any] = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "hidden_dim": 48,
        "tie_weights_": True,
    }
    few |= {"model_type": "distilbert", "vocab_size": 50, "max_position_embeddings": CONTEXT}
    (tmp_path / "config.json").write_text(json.dumps(few))
    ours = load(tmp_path).model
    assert ours.config == Config(**SMALL)
    compare(ours, other, BEHIND, 1)
    save_file(old | {"vocab_projector.weight": torch.ones(50, 32)}, tmp_path / "model.safetensors")
    with pytest.raises(CheckpointError, match=r"vocab_projector.weight is not the copy of distilbert.embeddings.word"):
        load(tmp_path)


@torch.no_grad()
def test_names_without_prefix_are_understood(tmp_path: Path) -> None:
    other = theirs("DistilBertModel")
    other.save_pretrained(tmp_path)
    assert not any(name.startswith("distilbert.") for name in load_file(tmp_path / "model.safetensors"))
    compare(load(tmp_path).model, other, IN_FRONT, 1)
    change_config(tmp_path, architectures="left out")
    assert load(tmp_path).model.config.head == "none"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"architectures": ["DistilBertForMultipleChoice"]}, "architectures is ['DistilBertForMultipleChoice']; known"),
        ({"activation": "mish"}, "this DistilBERT is not supported: activation is 'mish'; known are gelu, gelu_python"),
        ({"hidden_act": "gelu"}, "hidden_act is not known"),
        ({"layer_norm_eps": 1e-5}, "layer_norm_eps is not known"),
        ({"type_vocab_size": 2}, "type_vocab_size is not known"),
        ({"attention_dropout": 0.2}, "attention_dropout is 0.2 and dropout 0.1, and they must be the same"),
        ({"hidden_size": 64}, "hidden_size and dim are 64 and 32, and must be the same"),
        ({"num_hidden_layers": 3}, "num_hidden_layers and n_layers are 3 and 2, and must be the same"),
        ({"tie_word_embeddings": False}, "tie_word_embeddings is False, and only True is supported"),
        ({"tie_weights_": False}, "tie_weights_ is False, and only True is supported"),
        ({"pruned_heads": {"0": [1]}}, "pruned_heads is {'0': [1]}"),
        ({"seq_classif_dropout": "much"}, "head_dropout is 'much', not float"),
        ({"n_layers": 10**6}, "far larger model than"),
        ({"n_heads": 5}, "width 32 does not split into 5 heads"),
        ({"max_position_embeddings": 17}, "position.table has shape (16, 32), not (17, 32)"),
    ],
    ids=str,
)
def test_a_setting_is_honoured_or_refused_by_its_name(tmp_path: Path, changes: dict[str, Any], why: str) -> None:
    theirs("DistilBertModel").save_pretrained(tmp_path)
    change_config(tmp_path, **changes)
    with pytest.raises(CheckpointError) as caught:
        load(tmp_path)
    assert why in str(caught.value)


def test_every_field_that_transformers_writes_is_known_and_every_default_is_theirs(tmp_path: Path) -> None:
    theirs("DistilBertForTokenClassification").save_pretrained(tmp_path)
    every = transformers.DistilBertConfig(**GIVEN).to_dict()
    change_config(tmp_path, **every | {"architectures": ["DistilBertForTokenClassification"]})
    whole = load(tmp_path).model.config
    assert whole == Config(**SMALL, head="tokens", classes=3)
    sparse = {"model_type": "distilbert", "architectures": ["DistilBertForTokenClassification"]}
    (tmp_path / "config.json").write_text(json.dumps(sparse | GIVEN))
    assert load(tmp_path).model.config == whole
    plain = transformers.DistilBertConfig()
    for ours, (name, default) in ENCODER.sizes.items():
        assert default == getattr(plain, name), ours


def test_the_table_claims_every_tensor_of_ours_once() -> None:
    for head in HEADS.values():
        ours = DistilBERT(Config(**SMALL, head=head)).state_dict()
        back = load_rules(RULES, save_rules(RULES, ours))
        assert back.keys() == ours.keys()
        assert all(back[name].equal(tensor) for name, tensor in ours.items())
