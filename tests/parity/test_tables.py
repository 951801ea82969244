"""Other people's checkpoints, in and out, by their outputs: Marian as `transformers` saves it, and torch's modules."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import MarianConfig, MarianMTModel

from regard.attention import causal, padding
from regard.hub import CheckpointError, export, load, save
from regard.hub.tables import torch as torchs
from regard.hub.tables.marian import RULES
from regard.hub.tables.rules import alias, ignored, same, split, split_transposed, squeezed, tied, transposed
from regard.hub.tables.rules import load as load_rules
from regard.hub.tables.rules import save as save_rules
from regard.models.transformer import Config, Transformer

LENGTHS = torch.tensor([7, 4, 1])
VOCAB = 50


def randomise(module: nn.Module) -> None:
    """Biases start at zero and norms at one, where mistakes with them would not show."""
    fixed = {id(each.weight) for name, each in module.named_modules() if name.endswith("embed_positions")}
    for parameter in module.parameters():
        if id(parameter) not in fixed:
            nn.init.normal_(parameter, std=0.3)
    module.eval()


def close(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, atol=3e-5, rtol=1e-5)


def marian(**changes: Any) -> MarianMTModel:
    sides = dict(layers=2, attention_heads=4, ffn_dim=48)
    both = {f"{side}_{name}": value for name, value in sides.items() for side in ("encoder", "decoder")}
    fixed = dict(vocab_size=VOCAB, d_model=32, max_position_embeddings=16, pad_token_id=49, decoder_start_token_id=49)
    model = MarianMTModel(MarianConfig(**(both | fixed | {"activation_function": "swish", **changes})))
    randomise(model)
    model.final_logits_bias.normal_()
    return model


def logits(theirs: MarianMTModel, source: Tensor, target: Tensor) -> Tensor:
    mask = padding(LENGTHS, source.shape[1])[:, 0, 0].long()
    found: Tensor = theirs(input_ids=source, attention_mask=mask, decoder_input_ids=target).logits
    return found


def words(*shape: int) -> Tensor:
    return torch.randint(0, VOCAB - 1, shape)


@torch.no_grad()
@pytest.mark.parametrize("activation", ["swish", "relu", "gelu"])
@pytest.mark.parametrize("scale", [True, False])
def test_a_marian_of_hugging_face_gives_its_own_logits(tmp_path: Path, activation: str, scale: bool) -> None:
    theirs = marian(activation_function=activation, scale_embedding=scale)
    theirs.save_pretrained(tmp_path / "opus")
    stored = load(tmp_path / "opus")
    assert (stored.family.name, stored.card["task"], stored.name) == ("transformer", "translate", "opus")
    source, target = words(3, 7), words(3, 5)
    close(stored.model(source, target, lengths=LENGTHS), logits(theirs, source, target))


@torch.no_grad()
def test_the_features_of_a_source_are_marians(tmp_path: Path) -> None:
    theirs = marian()
    theirs.save_pretrained(tmp_path / "opus")
    model: Any = load(tmp_path / "opus").model
    source = words(3, 7)
    seen = padding(LENGTHS, source.shape[1])[:, 0, 0]
    wanted = theirs.get_encoder()(input_ids=source, attention_mask=seen.long()).last_hidden_state
    close(model.encode(source, lengths=LENGTHS)[seen], wanted[seen])


@torch.no_grad()
def test_what_is_exported_is_read_by_transformers(tmp_path: Path) -> None:
    marian().save_pretrained(tmp_path / "in")
    ours = load(tmp_path / "in").model
    export(tmp_path / "out", ours)
    theirs, told = MarianMTModel.from_pretrained(tmp_path / "out", output_loading_info=True)
    assert not any(told.values())
    source, target = words(3, 7), words(3, 5)
    close(ours(source, target, lengths=LENGTHS), logits(theirs.eval(), source, target))
    again = load(tmp_path / "out").model
    for name, tensor in ours.state_dict().items():
        assert again.state_dict()[name].equal(tensor)


@torch.no_grad()
def test_a_marian_is_a_model_of_ours_from_then_on(tmp_path: Path) -> None:
    marian().save_pretrained(tmp_path / "in")
    stored = load(tmp_path / "in")
    save(tmp_path / "own", stored.model, family=stored.family, dtype="int8")
    assert load(tmp_path / "own").model.config == stored.model.config


def test_weights_in_several_files_are_one_model(tmp_path: Path) -> None:
    theirs = marian()
    theirs.save_pretrained(tmp_path / "one")
    theirs.save_pretrained(tmp_path / "many", max_shard_size="30KB")
    shards = sorted(path.name for path in (tmp_path / "many").glob("*.safetensors"))
    assert len(shards) > 2
    one, many = (load(tmp_path / name).model.state_dict() for name in ("one", "many"))
    assert all(many[name].equal(tensor) for name, tensor in one.items())
    index = tmp_path / "many/model.safetensors.index.json"
    whole = json.loads(index.read_text())
    first = next(iter(whole["weight_map"]))
    for wrong, said in (
        ({first: "../one/model.safetensors"}, "in the same folder"),
        ({first: shards[-1]}, "do not agree on"),
        ({first: 3}, "has no weight_map"),
    ):
        index.write_text(json.dumps(whole | {"weight_map": whole["weight_map"] | wrong}))
        with pytest.raises(CheckpointError, match=said):
            load(tmp_path / "many")
    index.write_text(json.dumps(whole))
    (tmp_path / "many" / shards[0]).unlink()
    with pytest.raises(CheckpointError, match=f"{shards[0]} is missing"):
        load(tmp_path / "many")


def test_a_pickle_is_read_only_behind_its_flag_and_only_tensors_of_it(tmp_path: Path) -> None:
    theirs = marian()
    theirs.save_pretrained(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"model.safetensors is missing; the folder"):
        load(tmp_path)
    torch.save(theirs.state_dict(), tmp_path / "pytorch_model.bin")
    with pytest.raises(CheckpointError, match=r"pytorch_model.bin is a pickle, .*: load it with pickle=True, or take"):
        load(tmp_path)
    embed = load(tmp_path, pickle=True).model.state_dict()["embed.weight"]
    assert embed.equal(theirs.state_dict()["model.shared.weight"])
    torch.save(Evil(), tmp_path / "pytorch_model.bin")
    with pytest.raises(CheckpointError, match="holds no model that can be loaded: Weights only load failed"):
        load(tmp_path, pickle=True)
    assert not Evil.ran


class Evil:
    ran = False

    def __reduce__(self) -> Any:
        return (setattr, (Evil, "ran", True))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"encoder_layers": 3}, "encoder_layers and decoder_layers are 3 and 2, and must be the same"),
        ({"activation_function": "mish"}, "activation_function is 'mish'; known are relu, gelu, swish, silu"),
        ({"normalize_before": True}, "normalize_before is True, and only False is supported"),
        ({"attention_dropout": 0.1}, "attention_dropout is 0.1, and only 0 is supported"),
        ({"share_encoder_decoder_embeddings": False}, "share_encoder_decoder_embeddings is False"),
        ({"rope_theta": 10000}, "rope_theta is not known"),
        ({"d_model": True}, "width is True, not int"),
        ({"encoder_layers": 10**6, "decoder_layers": 10**6, "num_hidden_layers": 10**6}, "far larger model than"),
        ({"scale_embedding": 1}, "scale_embedding is 1, not bool"),
        ({"model_type": "mariam"}, "no model_type that can be loaded is called 'mariam'; try marian"),
        ({"model_type": ["marian"]}, "names no model_type"),
        ({"model_type": "../torch"}, "no model_type that can be loaded is called"),
    ],
)
def test_a_setting_is_honoured_or_refused_by_its_name(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    marian().save_pretrained(tmp_path)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(CheckpointError) as caught:
        load(tmp_path)
    assert said in str(caught.value)


def test_a_transformer_that_marian_does_not_know_is_not_exported(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="norm_first is True and must be False; positions is 'interleaved' and must"):
        export(tmp_path / "out", Transformer(Config(50, 32, 2, 4, 48, norm_first=True)))
    with pytest.raises(
        ValueError, match="a Linear has no place in other libraries; models of these families have: albert, bert"
    ):
        export(tmp_path / "out", nn.Linear(2, 2))
    assert not (tmp_path / "out").exists()


def test_rules_read_forwards_and_backwards_are_the_same_tensors() -> None:
    rules = [
        same("wte.weight", "embed.weight"),
        transposed("h.{i}.c_fc.weight", "blocks.{i}.up.weight"),
        split("h.{i}.qkv.{p}", ["blocks.{i}.q.{p}", "blocks.{i}.k.{p}", "blocks.{i}.v.{p}"]),
        split_transposed("h.{i}.kv.weight", ["blocks.{i}.kv.k", "blocks.{i}.kv.v"]),
        squeezed("final", "bias"),
        tied("head.weight", "wte.weight"),
        alias("ln.gamma", "norm.weight"),
        same("ln.weight", "norm.weight"),
        ignored("h.{i}.mask"),
    ]
    embed = torch.randn(5, 4)
    theirs = {
        "wte.weight": embed,
        "h.0.c_fc.weight": torch.randn(4, 8),
        "h.0.qkv.weight": torch.randn(12, 4),
        "h.0.qkv.bias": torch.randn(12),
        "h.0.kv.weight": torch.randn(4, 6),
        "final": torch.randn(1, 5),
        "ln.weight": torch.randn(4),
    }
    ours = load_rules(rules, theirs | {"head.weight": embed.clone(), "h.0.mask": torch.ones(3)})
    assert ours["blocks.0.k.weight"].equal(theirs["h.0.qkv.weight"][4:8])
    assert ours["blocks.0.kv.v"].equal(theirs["h.0.kv.weight"][:, 3:].T)
    assert ours["blocks.0.up.weight"].shape == (8, 4)
    assert ours["bias"].shape == (5,)
    older = {"ln.gamma" if name == "ln.weight" else name: tensor for name, tensor in theirs.items()}
    assert load_rules(rules, older)["norm.weight"].equal(theirs["ln.weight"])
    with pytest.raises(CheckpointError, match=r"ln.gamma is norm.weight, which is there already"):
        load_rules(rules, theirs | older)
    back = save_rules(rules, ours)
    assert back.keys() == theirs.keys()
    assert all(back[name].equal(tensor) for name, tensor in theirs.items())


def test_every_name_is_claimed_once_and_all_problems_are_told_together() -> None:
    rules = [same("a.{i}", "b.{i}"), same("a.x", "c"), tied("copy", "a.y"), split("s", ["q", "k"])]
    theirs = {
        "a.x": torch.ones(1),
        "odd": torch.ones(1),
        "copy": torch.ones(1),
        "a.y": torch.zeros(1),
        "s": torch.ones(3),
    }
    with pytest.raises(CheckpointError) as caught:
        load_rules(rules, theirs)
    for said in ("a.x is claimed twice", "odd is not known", "copy is not the copy of a.y", "does not split into 2"):
        assert said in str(caught.value)
    with pytest.raises(CheckpointError, match=r"written under their names: k is not known; z is not known"):
        save_rules(rules, {"b.y": torch.ones(1), "k": torch.ones(1), "z": torch.ones(1)})


def test_a_matrix_that_does_not_split_is_told_by_its_shape() -> None:
    for shape in ((4, 7), (6,), (2, 3, 6)):
        with pytest.raises(CheckpointError, match=rf"s of shape \({shape[0]}, ?.*\) does not split into 2"):
            load_rules([split_transposed("s", ["q", "k"])], {"s": torch.ones(shape)})


def test_a_prefix_is_added_only_where_a_rule_is_waiting_for_it() -> None:
    rules, one = [same("t.a", "a"), same("t.b", "b"), same("head", "c")], torch.ones(1)
    assert load_rules(rules, {"a": one, "t.b": one, "head": one}, prefix="t.").keys() == {"a", "b", "c"}
    with pytest.raises(CheckpointError, match="understood: a is not known; odd is not known"):
        load_rules(rules, {"a": one, "t.a": one, "odd": one}, prefix="t.")
    with pytest.raises(CheckpointError, match="a is not known"):
        load_rules(rules, {"a": one})


def test_marians_table_claims_every_tensor_of_ours_once() -> None:
    ours = Transformer(Config(50, 32, 2, 4, 48, positions="halves", logit_bias=True)).state_dict()
    back = load_rules(RULES, save_rules(RULES, ours))
    assert back.keys() == ours.keys()
    assert all(back[name].equal(tensor) for name, tensor in ours.items())


@torch.no_grad()
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("context", [None, 24])
def test_torchs_attention_is_ours_and_back(bias: bool, context: int | None) -> None:
    theirs = nn.MultiheadAttention(32, 4, bias=bias, kdim=context, vdim=context, batch_first=True)
    randomise(theirs)
    ours = torchs.multihead(theirs)
    assert not ours.training
    x, y = torch.randn(2, 5, 32), torch.randn(2, 7, context or 32)
    memory = ours.remember(y)
    close(ours(x, memory), theirs(x, y, y)[0])
    if context is None:
        hidden = ~causal(5).draw()
        close(ours(x, visible=causal(5)), theirs(x, x, x, attn_mask=hidden)[0])
    back = torchs.to_torch(ours)
    assert all(back.state_dict()[name].equal(tensor) for name, tensor in theirs.state_dict().items())
    close(back(x, y, y)[0], theirs(x, y, y)[0])


@torch.no_grad()
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("bias", [True, False])
def test_torchs_layers_are_our_blocks_and_back(first: bool, activation: str, bias: bool) -> None:
    settings: dict[str, Any] = dict(norm_first=first, activation=activation, bias=bias, batch_first=True)
    x, y, ahead = torch.randn(2, 5, 32), torch.randn(2, 7, 32), ~causal(5).draw()
    layer = nn.TransformerEncoderLayer(32, 4, 48, **settings)
    randomise(layer)
    block = torchs.block(layer)
    close(block(x), layer(x))
    close(torchs.to_torch(block)(x), layer(x))
    decoder = nn.TransformerDecoderLayer(32, 4, 48, **settings)
    randomise(decoder)
    block = torchs.block(decoder)
    assert block.cross is not None
    expected = decoder(x, y, tgt_mask=ahead, tgt_is_causal=True)
    close(block(x, block.cross.remember(y), visible=causal(5)), expected)
    close(torchs.to_torch(block)(x, y, tgt_mask=ahead, tgt_is_causal=True), expected)
    encoder = nn.TransformerEncoder(layer, 3, nn.LayerNorm(32), enable_nested_tensor=False)
    randomise(encoder)
    stack, norm = torchs.encoder(encoder)
    close(norm(stack(x)), encoder(x))


@torch.no_grad()
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("first", [True, False])
def test_torchs_transformer_is_ours_and_back(first: bool) -> None:
    """As `nn.Transformer` comes, with a norm after each stack, and embedded as the paper has it."""
    theirs = nn.Transformer(32, 4, 2, 2, 48, norm_first=first, activation="gelu", batch_first=True)
    theirs.encoder.use_nested_tensor = False  # a prototype that warns
    embed = nn.Embedding(VOCAB, 32)
    randomise(theirs)
    ours = torchs.transformer(theirs, embed)
    source, target = words(3, 7), words(3, 5)
    x, y = (ours.position(embed(ids) * 32**0.5) for ids in (source, target))
    hidden, ahead = ~padding(LENGTHS, 7)[:, 0, 0], ~causal(5).draw()
    for each in (theirs, torchs.to_torch(ours)):
        z = each(x, y, tgt_mask=ahead, src_key_padding_mask=hidden, memory_key_padding_mask=hidden, tgt_is_causal=True)
        close(ours(source, target, lengths=LENGTHS), z @ embed.weight.T)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_what_torch_has_and_ours_has_not_is_told() -> None:
    with pytest.raises(ValueError, match="add_bias_kv and add_zero_attn"):
        torchs.multihead(nn.MultiheadAttention(32, 4, add_bias_kv=True))
    with pytest.raises(ValueError, match="kdim 8 and vdim 16 differ"):
        torchs.multihead(nn.MultiheadAttention(32, 4, kdim=8, vdim=16))
    with pytest.raises(ValueError, match="the activation silu is not known here; take relu or gelu"):
        torchs.block(nn.TransformerEncoderLayer(32, 4, activation=nn.functional.silu))
    with pytest.raises(ValueError, match=r"no form for 2 and 1 layers; convert its layers one by one"):
        torchs.transformer(nn.Transformer(32, 4, 2, 1, 48), nn.Embedding(9, 32))
    with pytest.raises(ValueError, match="torch's Transformer has no form for"):
        torchs.to_torch(Transformer(Config(50, 32, 2, 4, 48, positions="halves")))
