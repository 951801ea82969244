"""DeBERTa v2 and v3 as `transformers` has them: the same weights give the same outputs and attention, in and out."""

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from regard.attention import record
from regard.attention.disentangled import Distances
from regard.hub import CheckpointError, export, load
from regard.hub.tables.deberta_v2 import ENCODER, RULES
from regard.hub.tables.rules import load as load_rules
from regard.hub.tables.rules import save as save_rules
from regard.layers.heads import Output
from regard.models.deberta import Config, Convolution, DeBERTa, Details, Positions

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message=".*torch.jit.script", category=DeprecationWarning)  # theirs is scripted
    from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

SIZE = dict(
    vocab_size=50,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=48,
    max_position_embeddings=16,
)
V3 = dict(
    relative_attention=True,
    position_buckets=4,  # so few that most of the distances share one
    norm_rel_ebd="layer_norm",
    share_att_key=True,
    pos_att_type=["p2c", "c2p"],
    position_biased_input=False,
)
V2 = V3 | dict(conv_kernel_size=3, conv_act="gelu", attention_head_size=8)
SMALL = dict(vocab=50, width=32, depth=2, heads=4, hidden=48, context=16)
# Padded behind, in front, and not at all.
KEPT = torch.tensor([[1] * 9, [1] * 4 + [0] * 5, [0] * 7 + [1] * 2]).bool()
HEADS = ENCODER.heads
every_architecture = pytest.mark.parametrize("architecture", HEADS)


def theirs(architecture: str = "DebertaV2ForMaskedLM", **changes: Any) -> Any:
    """A model whose biases are not zero and norms not one, where mistakes with them would not show."""
    config = transformers.DebertaV2Config(**SIZE | V3 | dict(num_labels=3) | changes)
    if architecture == "DebertaV2ForQuestionAnswering":
        config.num_labels = 2
    torch.manual_seed(0)
    model = getattr(transformers, architecture)(config)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model.eval()


def inputs() -> tuple[Tensor, Tensor]:
    return torch.randint(50, (3, 9)), torch.randint(2, (3, 9))


def said(model: Any, ids: Tensor, segments: Tensor) -> Any:
    return model(
        input_ids=ids,
        token_type_ids=segments,
        attention_mask=KEPT.long(),
        position_ids=(KEPT.cumsum(dim=1) - 1).clamp(min=0),
        output_hidden_states=True,
        output_attentions=True,
    )


def compare(model: Any, other: Any) -> Output:
    """Whatever both say and look at is the same, outside of the padding."""
    ids, segments = inputs()
    with record(model, hidden=True) as trace:
        ours = model(ids, segments=segments, visible=KEPT)
    wanted = said(other, ids, segments)
    spans = torch.stack((wanted.start_logits, wanted.end_logits), -1) if "start_logits" in wanted else None
    logits = wanted.get("logits", spans)
    assert (ours.logits is None) == (logits is None)
    pairs = [(ours.hidden, wanted.hidden_states[-1])]
    pairs += [(trace.hidden[f"encoder.blocks.{i}"][0], states) for i, states in enumerate(wanted.hidden_states[1:])]
    for i, weights in enumerate(wanted.attentions):
        pairs.append((trace.weights(f"encoder.blocks.{i}.attn").transpose(1, 2), weights.transpose(1, 2)))
    if logits is not None and logits.ndim == 3:
        pairs.append((ours.logits, logits))
    for mine, their in pairs:
        torch.testing.assert_close(mine[KEPT], their[KEPT], atol=5e-5, rtol=1e-4)
    if logits is not None and logits.ndim == 2:
        # Theirs reads the first place, also where a text is padded in front: there it is asked of the text alone.
        single = other(ids[2:, 7:], token_type_ids=segments[2:, 7:]).logits
        torch.testing.assert_close(ours.logits, torch.cat((logits[:2], single)), atol=5e-5, rtol=1e-4)
    return ours


def change_config(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    given = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({name: value for name, value in given.items() if value != "left out"}))


@torch.no_grad()
@every_architecture
def test_a_deberta_of_hugging_face_says_and_looks_as_before(tmp_path: Path, architecture: str) -> None:
    other = theirs(architecture)
    other.save_pretrained(tmp_path / "deberta")
    stored = load(tmp_path / "deberta")
    tasks = {"masked": "fill", "classify": "classify", "tokens": "tag", "spans": "answer", "none": "embed"}
    assert (stored.family.name, stored.card["task"]) == ("deberta", tasks[HEADS[architecture]])
    assert stored.model.config.head == HEADS[architecture]
    assert stored.model.config.positions == Positions(buckets=4, reach=16)
    compare(stored.model, other)


@torch.no_grad()
@every_architecture
def test_what_is_exported_is_read_by_transformers(tmp_path: Path, architecture: str) -> None:
    theirs(architecture).save_pretrained(tmp_path / "in")
    ours = load(tmp_path / "in").model
    export(tmp_path / "out", ours)
    other, told = getattr(transformers, architecture).from_pretrained(tmp_path / "out", output_loading_info=True)
    assert not any(told.values())
    compare(ours, other.eval())
    again = load(tmp_path / "out").model
    assert again.config == ours.config
    assert all(again.state_dict()[name].equal(tensor) for name, tensor in ours.state_dict().items())


@torch.no_grad()
@pytest.mark.parametrize(
    "changes",
    [
        V2,
        V2 | {"conv_act": "tanh", "conv_kernel_size": 5, "conv_groups": 4},
        {"share_att_key": False},
        {"share_att_key": False, "pos_att_type": "c2p"},
        {"share_att_key": False, "pos_att_type": ["p2c"]},
        {"pos_att_type": "C2P"},
        {"pos_att_type": ["p2c"]},
        {"pos_att_type": "p2c|c2p"},
        {"position_buckets": -1},
        {"position_buckets": -1, "max_relative_positions": 3},
        {"position_buckets": 4, "max_relative_positions": 5},
        {"norm_rel_ebd": "none"},
        {"position_biased_input": True, "type_vocab_size": 2},
        {"relative_attention": False, "pos_att_type": None, "norm_rel_ebd": "none", "position_biased_input": True},
        {"embedding_size": 16},
        {"embedding_size": 16, "position_biased_input": True, "type_vocab_size": 5},
        {"legacy": False},
        {"layer_norm_eps": 0.1},
        {"pad_token_id": None},
        {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "cls_dropout": 0.0, "pooler_dropout": 0.3},
        *({"hidden_act": name} for name in ("gelu_new", "relu", "swish")),
    ],
    ids=str,
)
def test_settings_are_honoured_both_ways(tmp_path: Path, changes: dict[str, Any]) -> None:
    other = theirs(**changes)
    other.save_pretrained(tmp_path / "in")
    ours = load(tmp_path / "in").model
    export(tmp_path / "out", ours)
    back = transformers.DebertaV2ForMaskedLM.from_pretrained(tmp_path / "out").eval()
    for each in (other, back):
        compare(ours, each)
    assert load(tmp_path / "out").model.config == ours.config


@pytest.mark.parametrize(("buckets", "reach"), [(256, 512), (4, 16), (32, 1000), (7, 512)])
def test_far_distances_share_the_vectors_that_they_share_there(buckets: int, reach: int) -> None:
    away = torch.arange(-3 * reach, 3 * reach)
    shared = make_log_bucket_position(away, buckets, reach).long()
    ours = Distances(8, buckets=buckets, reach=reach).bucket(away)
    assert ours.equal((shared + buckets).clamp(0, 2 * buckets - 1))


@torch.no_grad()
def test_the_authors_own_files_are_read(tmp_path: Path) -> None:
    """They say no architecture, name the layer of words in their own way and keep what only training needed."""
    other = theirs(legacy=False)
    other.save_pretrained(tmp_path)
    change_config(tmp_path, architectures="left out", legacy="left out", pos_att_type="p2c|c2p")
    whole = load_file(tmp_path / "model.safetensors")
    for part in ("dense", "LayerNorm", "classifier"):
        whole |= {f"mask_predictions.{part}.{name}": torch.ones(1) for name in ("weight", "bias")}
    whole["deberta.embeddings.position_embeddings.weight"] = torch.ones(16, 32)
    whole["deberta.embeddings.position_ids"] = torch.arange(16)[None]
    torch.save(whole, tmp_path / "pytorch_model.bin")
    (tmp_path / "model.safetensors").unlink()
    stored = load(tmp_path, pickle=True)
    assert stored.card["task"] == "fill"
    compare(stored.model, other)
    save_file(whole, tmp_path / "model.safetensors")
    change_config(tmp_path, architectures=["DebertaV2Model"])
    alone = load(tmp_path).model
    assert alone.config.head == "none"
    compare(alone, other.deberta)


@torch.no_grad()
def test_a_head_is_found_where_no_architecture_is_said(tmp_path: Path) -> None:
    for architecture in ("DebertaV2ForMaskedLM", "DebertaV2Model"):
        theirs(architecture).save_pretrained(tmp_path)
        change_config(tmp_path, architectures="left out")
        assert load(tmp_path).model.config.head == HEADS[architecture]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"architectures": ["DebertaV2ForMultipleChoice"]}, "architectures is ['DebertaV2ForMultipleChoice']; known"),
        ({"hidden_act": "mish"}, "hidden_act is 'mish'; known are gelu, gelu_python, gelu_pytorch_tanh"),
        ({"conv_act": "mish"}, "conv_act is 'mish'; known are gelu"),
        ({"pooler_hidden_act": "tanh"}, "pooler_hidden_act is tanh, and only gelu is supported"),
        ({"pooler_hidden_size": 16}, "pooler_hidden_size is 16 and hidden_size 32, and they must be the same"),
        ({"attention_head_size": 16}, "attention_head_size is 16 and that of heads 8, and they must be the same"),
        ({"attention_probs_dropout_prob": 0.2}, "attention_probs_dropout_prob is 0.2 and hidden_dropout_prob 0.1, and"),
        ({"cls_dropout": 0.3}, "cls_dropout is 0.3 and hidden_dropout_prob 0.1, and they must be the same"),
        ({"tie_word_embeddings": False}, "tie_word_embeddings is False, and only True is supported"),
        ({"is_decoder": True}, "is_decoder is True, and only False is supported"),
        ({"pos_att_type": "p2p|c2p"}, "pos_att_type is p2p|c2p; known are c2p and p2c"),
        ({"pos_att_type": 3}, "pos_att_type is 3; known are"),
        ({"pos_att_type": []}, "pos_att_type is [] and relative_attention True; both or neither"),
        ({"relative_attention": False}, "pos_att_type is ['p2c', 'c2p'] and relative_attention False; both or neither"),
        ({"relative_attention": False}, "norm_rel_ebd is layer_norm and relative_attention False; nothing is normed"),
        ({"relative_attention": 1}, "relative_attention is 1, and neither true nor false"),
        ({"norm_rel_ebd": "batch_norm"}, "norm_rel_ebd is batch_norm; known are none and layer_norm"),
        ({"legacy": False}, "legacy is False, and the layer that guesses words is cls.predictions"),
        ({"legacy": "no"}, "legacy is no, and neither true nor false"),
        ({"id2label": 3}, "id2label is 3, and no object"),
        ({"talking_head": True}, "talking_head is not known"),
        ({"layer_norm_eps": "small"}, "details.eps is 'small', not float"),
        ({"position_buckets": "many"}, "positions.buckets is 'many', not"),
        ({"position_buckets": 30}, "give at least 2 buckets and a reach above 16"),
        ({"position_buckets": 8}, "distances.table.weight has shape (8, 32), not (16, 32)"),
        ({"conv_kernel_size": 4}, "a convolution over 4 words has no middle"),
        ({"conv_kernel_size": 3}, "missing encoder.blocks.0.conv.bias"),
        ({"embedding_size": 16}, "missing widen.weight"),
        ({"type_vocab_size": 3}, "missing segment.weight"),
        ({"position_biased_input": True}, "missing position.table"),
        ({"share_att_key": False}, "missing encoder.blocks.0.attn.bias.k.bias"),
        ({"num_hidden_layers": 10**6}, "far larger model than"),
        ({"num_attention_heads": 5}, "width 32 does not split into 5 heads"),
    ],
    ids=str,
)
def test_a_setting_is_honoured_or_refused_by_its_name(tmp_path: Path, changes: dict[str, Any], why: str) -> None:
    theirs().save_pretrained(tmp_path)
    change_config(tmp_path, **changes)
    with pytest.raises(CheckpointError) as caught:
        load(tmp_path)
    assert why in str(caught.value)


def test_every_field_that_transformers_writes_is_known(tmp_path: Path) -> None:
    theirs("DebertaV2ForSequenceClassification").save_pretrained(tmp_path)
    every = transformers.DebertaV2Config(**SIZE | V3, num_labels=3).to_dict()
    change_config(tmp_path, **every | {"architectures": ["DebertaV2ForSequenceClassification"]})
    positions = Positions(buckets=4, reach=16)
    assert load(tmp_path).model.config == Config(**SMALL, positions=positions, head="classify", classes=3)


def test_the_table_claims_every_tensor_of_ours_once() -> None:
    for head in HEADS.values():
        config = Config(
            **SMALL,
            positions=Positions(absolute="input", buckets=4, shared=False),
            convolution=Convolution(),
            details=Details(segments=2, embedding=16),
            head=head,
        )
        ours = DeBERTa(config).state_dict()
        back = load_rules(RULES, save_rules(RULES, ours))
        assert back.keys() == ours.keys()
        assert all(back[name].equal(tensor) for name, tensor in ours.items())


def test_a_mask_decoder_has_no_place_in_transformers(tmp_path: Path) -> None:
    decoder = Positions(absolute="decoder", buckets=4)
    with pytest.raises(ValueError, match=r"no such DeBERTa: positions.absolute is 'decoder', and must be none or inp"):
        export(tmp_path / "out", DeBERTa(Config(**SMALL, positions=decoder)))
    export(tmp_path / "out", DeBERTa(Config(**SMALL, positions=decoder, head="none")))
