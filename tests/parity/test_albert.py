"""ALBERT as `transformers` has it: the same outputs, streams and attention at every pass, in and out."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from tests.parity.encoders import BEHIND, CONTEXT, IN_FRONT, SIZE, change_config, compare, opened
from tests.parity.encoders import theirs as theirs_of

from regard.hub import CheckpointError, export, load
from regard.hub.tables.albert import ENCODER, rules
from regard.hub.tables.rules import load as load_rules
from regard.hub.tables.rules import save as save_rules
from regard.models.albert import ALBERT, PRESETS, Config, Details

HEADS = ENCODER.heads
GIVEN = SIZE | {"num_hidden_layers": 3, "embedding_size": 16, "max_position_embeddings": CONTEXT, "num_labels": 3}
SMALL = dict(vocab=50, embedding=16, width=32, depth=3, heads=4, hidden=48, context=CONTEXT)
TASKS = {"pretraining": "fill", "masked": "fill", "classify": "classify", "tokens": "tag", "spans": "answer"}
every_architecture = pytest.mark.parametrize("architecture", HEADS)


def theirs(architecture: str, **changes: Any) -> Any:
    return theirs_of(architecture, transformers.AlbertConfig(**(GIVEN | changes)))


@torch.no_grad()
@every_architecture
def test_an_albert_of_hugging_face_says_and_looks_as_before_wherever_it_is_padded(
    tmp_path: Path, architecture: str
) -> None:
    other = theirs(architecture)
    other.save_pretrained(tmp_path / "model")
    stored = load(tmp_path / "model")
    head = HEADS[architecture]
    assert (stored.family.name, stored.model.config.head, stored.card["task"]) == (
        "albert",
        head,
        TASKS.get(head, "embed"),
    )
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
        *({"hidden_act": name} for name in ("gelu", "gelu_pytorch_tanh", "relu", "swish")),
        {"layer_norm_eps": 0.1},
        {"type_vocab_size": 5},
        {"embedding_size": 32},
        {"num_hidden_groups": 2},
        {"num_hidden_groups": 3, "inner_group_num": 2},
        {"inner_group_num": 2},
        {"num_hidden_layers": 18, "num_hidden_groups": 14},  # where theirs rounds in its own way
        {"hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1, "classifier_dropout_prob": 0.3},
    ],
    ids=str,
)
def test_settings_are_honoured_both_ways(tmp_path: Path, changes: dict[str, Any]) -> None:
    other = theirs("AlbertForMaskedLM", **changes)
    other.save_pretrained(tmp_path / "in")
    ours = load(tmp_path / "in").model
    export(tmp_path / "out", ours)
    assert load(tmp_path / "out").model.config == ours.config
    for each in (other, opened("AlbertForMaskedLM", tmp_path / "out")):
        compare(ours, each, BEHIND, changes.get("type_vocab_size", 2), layers=changes.get("inner_group_num", 1))


@torch.no_grad()
def test_old_files_are_read(tmp_path: Path) -> None:
    """As the authors' own are: settings of another program, tied copies, a pooler, a head that is not said."""
    other = theirs("AlbertForPreTraining")
    other.save_pretrained(tmp_path)
    old = load_file(tmp_path / "model.safetensors")
    old |= {
        "albert.embeddings.position_ids": torch.arange(CONTEXT)[None],
        "predictions.decoder.weight": old["albert.embeddings.word_embeddings.weight"].clone(),
        "predictions.decoder.bias": old["predictions.bias"].clone(),
    }
    save_file(old, tmp_path / "model.safetensors")
    published = {"down_scale_factor": 1, "gap_size": 0, "net_structure_type": 0, "num_memory_blocks": 0}
    change_config(tmp_path, architectures=["AlbertForMaskedLM"], **published)
    assert load(tmp_path).model.config.head == "pretraining"
    compare(load(tmp_path).model, other, IN_FRONT, 2)
    without = {name: tensor for name, tensor in old.items() if "sop_classifier" not in name}
    save_file(without, tmp_path / "model.safetensors")  # the pooler stays, and no head reads it
    change_config(tmp_path, architectures="left out")
    assert load(tmp_path).model.config.head == "masked"


@torch.no_grad()
def test_names_without_prefix_are_understood(tmp_path: Path) -> None:
    other = theirs("AlbertModel")
    other.save_pretrained(tmp_path)
    assert not any(name.startswith("albert.") for name in load_file(tmp_path / "model.safetensors"))
    compare(load(tmp_path).model, other, IN_FRONT, 2)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"architectures": ["AlbertForMultipleChoice"]}, "architectures is ['AlbertForMultipleChoice']; known are Alb"),
        ({"hidden_act": "mish"}, "this ALBERT is not supported: hidden_act is 'mish'; known are gelu, gelu_python"),
        ({"position_embedding_type": "relative_key"}, "position_embedding_type is relative_key, and only absolute is"),
        ({"tie_word_embeddings": False}, "tie_word_embeddings is False, and only True is supported"),
        ({"attention_probs_dropout_prob": 0.2}, "attention_probs_dropout_prob is 0.2 and hidden_dropout_prob 0.0, and"),
        ({"classifier_dropout_prob": None}, "details.classifier_dropout is None, not float"),
        ({"classifier_dropout": 0.1}, "classifier_dropout is not known"),
        ({"gap_size": 2}, "gap_size is 2, and only 0 is supported"),
        ({"num_memory_blocks": 1}, "num_memory_blocks is 1, and only 0 is supported"),
        ({"num_hidden_groups": 2}, "missing encoder.blocks.1.attn.k.bias"),
        ({"num_hidden_groups": 0}, "0 groups with 0 layers do not share 3 passes; give 1 group or more"),
        ({"num_hidden_groups": 4}, "4 groups with 4 layers do not share 3 passes; give 1 group or more"),
        ({"num_hidden_groups": 10**6, "num_hidden_layers": 10**6}, "far larger model than"),
        ({"inner_group_num": 10**6}, "far larger model than"),
        ({"inner_group_num": 0}, "1 groups with 0 layers do not share 3 passes"),
        ({"num_hidden_layers": 0}, "1 groups with 1 layers do not share 0 passes"),
        ({"embedding_size": 32}, "embed.weight has shape (50, 16), not (50, 32)"),
        ({"layer_norm_eps": "small"}, "details.eps is 'small', not float"),
        ({"num_attention_heads": 5}, "width 32 does not split into 5 heads"),
    ],
    ids=str,
)
def test_a_setting_is_honoured_or_refused_by_its_name(tmp_path: Path, changes: dict[str, Any], why: str) -> None:
    theirs("AlbertModel").save_pretrained(tmp_path)
    change_config(tmp_path, **changes)
    with pytest.raises(CheckpointError) as caught:
        load(tmp_path)
    assert why in str(caught.value)


def test_every_field_that_transformers_writes_is_known_and_every_default_is_theirs(tmp_path: Path) -> None:
    theirs("AlbertForSequenceClassification").save_pretrained(tmp_path)
    every = transformers.AlbertConfig(**GIVEN).to_dict()
    change_config(tmp_path, **every | {"architectures": ["AlbertForSequenceClassification"]})
    whole = load(tmp_path).model.config
    assert whole == Config(**SMALL, head="classify", classes=3)
    sparse = {"model_type": "albert", "architectures": ["AlbertForSequenceClassification"]}
    (tmp_path / "config.json").write_text(json.dumps(sparse | GIVEN))
    assert load(tmp_path).model.config == whole
    plain = transformers.AlbertConfig()
    for ours, (name, default) in ENCODER.sizes.items():
        assert default == getattr(plain, name), ours


def test_the_table_claims_every_tensor_of_ours_once() -> None:
    for head in HEADS.values():
        config = Config(**SMALL, head=head, details=Details(groups=2, layers=2))
        known = rules({"details": {"groups": 2, "layers": 2}}, {})
        ours = ALBERT(config).state_dict()
        back = load_rules(known, save_rules(known, ours))
        assert back.keys() == ours.keys()
        assert all(back[name].equal(tensor) for name, tensor in ours.items())


@pytest.mark.parametrize(("preset", "millions"), [("albert-base", 12), ("albert-large", 18), ("albert-xlarge", 60)])
def test_published_sizes_have_the_papers_number_of_parameters(preset: str, millions: int) -> None:
    with torch.device("meta"):
        one = ALBERT(PRESETS[preset])
    assert sum(parameter.numel() for parameter in one.parameters()) == pytest.approx(millions * 1e6, rel=0.04)
