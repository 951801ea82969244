"""BERT as `transformers` has it: the same weights give the same outputs and the same attention, in and out."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

import regard
from regard.attention import padding, record
from regard.hub import CheckpointError, export, load, save
from regard.hub.tables.bert import HEADS, RULES
from regard.hub.tables.rules import load as load_rules
from regard.hub.tables.rules import save as save_rules
from regard.models.bert import BERT, Config, Output

SIZE = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, vocab_size=50)
SMALL = dict(vocab=50, width=32, depth=2, heads=4, hidden=48, context=16)
LENGTHS = torch.tensor([7, 4, 1])
KEPT = padding(LENGTHS, 7)[:, 0, 0]
every_architecture = pytest.mark.parametrize("architecture", HEADS)


def theirs(architecture: str, **changes: Any) -> Any:
    """A model whose biases are not zero and norms not one, where mistakes with them would not show."""
    config = transformers.BertConfig(
        **SIZE, max_position_embeddings=16, attn_implementation="eager", num_labels=3, **changes
    )
    if architecture == "BertForQuestionAnswering":
        config.num_labels = 2
    torch.manual_seed(0)
    model = getattr(transformers, architecture)(config)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model.eval()


def inputs() -> tuple[Tensor, Tensor]:
    return torch.randint(50, (3, 7)), torch.randint(2, (3, 7))


def said(model: Any, ids: Tensor, segments: Tensor) -> Any:
    return model(
        input_ids=ids,
        token_type_ids=segments,
        attention_mask=KEPT.long(),
        output_hidden_states=True,
        output_attentions=True,
    )


def compare(ours: Output, other: Any) -> None:
    """Whatever both say is the same, outside of the padding."""
    hidden = other.hidden_states[-1] if other.hidden_states is not None else other.last_hidden_state
    spans = torch.stack((other.start_logits, other.end_logits), -1) if "start_logits" in other else None
    logits = other.get("logits", other.get("prediction_logits", spans))
    pairs = [(ours.hidden, hidden), (ours.logits, logits), (ours.next_sentence, other.get("seq_relationship_logits"))]
    if "pooler_output" in other:
        pairs.append((ours.pooled, other.pooler_output))
    for mine, their in pairs:
        assert (mine is None) == (their is None)
        if mine is not None:
            rows = (mine[KEPT], their[KEPT]) if mine.ndim == 3 else (mine, their)
            torch.testing.assert_close(*rows, atol=3e-5, rtol=1e-5)


def change_config(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    given = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({name: value for name, value in given.items() if value != "left out"}))


@torch.no_grad()
@every_architecture
def test_a_bert_of_hugging_face_says_and_looks_as_before(tmp_path: Path, architecture: str) -> None:
    other = theirs(architecture)
    other.save_pretrained(tmp_path / "bert")
    stored = load(tmp_path / "bert")
    assert (stored.family.name, stored.name, "task" in stored.card) == ("bert", "bert", False)
    assert stored.model.config.head == HEADS[architecture]
    ids, segments = inputs()
    with record(stored.model) as trace:
        ours = stored.model(ids, segments=segments, lengths=LENGTHS)
    wanted = said(other, ids, segments)
    compare(ours, wanted)
    for i, weights in enumerate(wanted.attentions):
        found = trace.weights(f"encoder.blocks.{i}.attn")
        torch.testing.assert_close(found.transpose(1, 2)[KEPT], weights.transpose(1, 2)[KEPT], atol=1e-5, rtol=1e-5)


@torch.no_grad()
@every_architecture
def test_what_is_exported_is_read_by_transformers(tmp_path: Path, architecture: str) -> None:
    theirs(architecture).save_pretrained(tmp_path / "in")
    ours = load(tmp_path / "in").model
    export(tmp_path / "out", ours)
    kind = getattr(transformers, architecture)
    other, told = kind.from_pretrained(tmp_path / "out", output_loading_info=True, attn_implementation="eager")
    assert not any(told.values())
    ids, segments = inputs()
    compare(ours(ids, segments=segments, lengths=LENGTHS), said(other.eval(), ids, segments))
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
    back = transformers.BertForMaskedLM.from_pretrained(tmp_path / "out", attn_implementation="eager").eval()
    ids, segments = inputs()
    for each in (other, back):
        compare(ours(ids, segments=segments, lengths=LENGTHS), said(each, ids, segments))


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
    ours, (ids, segments) = load(tmp_path).model, inputs()
    compare(ours(ids, segments=segments, lengths=LENGTHS), said(other, ids, segments))
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
    ids, segments = inputs()
    ours = load(tmp_path, pickle=pickle).model
    compare(ours(ids, segments=segments, lengths=LENGTHS), said(other, ids, segments))


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
def test_a_bert_is_looked_into_where_it_came_from_and_needs_a_task_where_it_is_ours(tmp_path: Path) -> None:
    other = theirs("BertForMaskedLM")
    other.save_pretrained(tmp_path / "bert")
    ids = torch.tensor([[2, 5, 6, 3]])
    found: Any = regard.load(tmp_path / "bert")
    reading = found.attend({"input_ids": ids})
    assert (found.task, len(reading.maps)) == ("look", 2)
    theirs("BertModel").save_pretrained(tmp_path / "odd")
    change_config(tmp_path / "odd", attention_probs_dropout_prob=0.2, language="en", of_somebody=True)
    assert regard.load(tmp_path / "odd").task == "look"  # what our table refuses, transformers may know
    with pytest.raises(ValueError, match="names 0 labels"):
        regard.load(tmp_path / "bert", task="classify", tokenizer=object())
    stored = load(tmp_path / "bert")
    save(tmp_path / "own", stored.model, family=stored.family)
    with pytest.raises(ValueError, match="the card of own names no task; say which, as by task='translate'"):
        regard.load(tmp_path / "own")
