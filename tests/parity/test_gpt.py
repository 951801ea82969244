"""GPT-2 and GPT-1 as `transformers` saves them, in and out: logits, the stream and attention weights are theirs."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import GPT2Config, GPT2LMHeadModel, GPT2Model, OpenAIGPTConfig, OpenAIGPTLMHeadModel

import regard
from regard.attention import padding, record
from regard.hub import CheckpointError, export, load, save
from regard.models.gpt import GPT, Config, Details
from regard.text import Tokenizer

VOCAB = 50
SIZES = dict(vocab_size=VOCAB, n_positions=16, n_embd=32, n_layer=2, n_head=4, bos_token_id=1, eos_token_id=1)
LENGTHS = torch.tensor([9, 4, 1])


def randomise(theirs: Any) -> Any:
    """Biases start at zero and norms at one, where mistakes with them would not show."""
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, std=0.3)
    return theirs.eval()


def second(**changes: Any) -> Any:
    return randomise(GPT2LMHeadModel(GPT2Config(**(SIZES | changes), attn_implementation="eager")))


def first(**changes: Any) -> Any:
    return randomise(OpenAIGPTLMHeadModel(OpenAIGPTConfig(**(SIZES | changes))))


def words(*shape: int) -> Tensor:
    return torch.randint(VOCAB, shape)


def close(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


def same_everywhere(ours: Any, theirs: Any) -> None:
    """Logits, the stream before each block and behind the last, and every head's weights."""
    ids = words(3, 9)
    told = theirs(ids, output_hidden_states=True, output_attentions=True)
    with record(ours, hidden=True) as trace:
        logits = ours(ids)
    close(logits, told.logits)
    for i, weights in enumerate(told.attentions):
        close(trace.weights(f"decoder.blocks.{i}.attn"), weights)
    stream = [trace.hidden[f"decoder.blocks.{i}"][0] for i in range(len(told.attentions))]
    for mine, states in zip(stream[:-1], told.hidden_states[1:-1], strict=True):
        close(mine, states)
    close(ours.norm(stream[-1]), told.hidden_states[-1])
    mask = padding(LENGTHS, 9)[:, 0, 0]
    close(ours(ids, lengths=LENGTHS)[mask], theirs(ids, attention_mask=mask.long()).logits[mask])


@torch.no_grad()
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"activation_function": "gelu"},
        {"activation_function": "gelu_fast"},
        {"activation_function": "gelu_pytorch_tanh"},
        {"activation_function": "relu"},
        {"activation_function": "swish", "n_inner": 40},
        {"layer_norm_epsilon": 0.1},
        {"scale_attn_weights": False},
        {"scale_attn_by_inverse_layer_idx": True, "reorder_and_upcast_attn": True},
        {"summary_type": "mean", "initializer_range": 1.0, "use_cache": False, "num_labels": 3},
    ],
    ids=lambda changes: "-".join(map(str, changes.values())) or "plain",
)
def test_a_gpt2_of_hugging_face_is_the_same_in_logits_stream_and_weights(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    theirs = second(**changes)
    theirs.save_pretrained(tmp_path)
    same_everywhere(load(tmp_path).model, theirs)


@torch.no_grad()
@pytest.mark.parametrize("changes", [{}, {"afn": "relu"}, {"afn": "swish"}, {"layer_norm_epsilon": 0.1}])
def test_a_gpt1_of_hugging_face_is_the_same_in_logits_stream_and_weights(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    theirs = first(**changes)
    theirs.save_pretrained(tmp_path)
    ours = load(tmp_path).model
    assert not ours.config.norm_first
    same_everywhere(ours, theirs)


@torch.no_grad()
@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"activation": "relu", "dropout": 0.2, "attn_dropout": 0.3, "details": Details(eps=0.01)},
        {"activation": "silu"},
    ],
    ids=["plain", "relu", "silu"],
)
def test_what_is_exported_is_read_by_transformers_and_comes_back_bit_by_bit(
    tmp_path: Path, norm_first: bool, changes: dict[str, Any]
) -> None:
    ours = randomise(GPT(Config(VOCAB, 16, 32, 2, 4, 128, norm_first=norm_first, **changes)))
    export(tmp_path, ours)
    kind = GPT2LMHeadModel if norm_first else OpenAIGPTLMHeadModel
    theirs, told = kind.from_pretrained(tmp_path, output_loading_info=True, attn_implementation="eager")
    assert not any(told.values())
    same_everywhere(ours, theirs.eval())
    again = load(tmp_path).model
    assert again.config == ours.config
    assert all(again.state_dict()[name].equal(tensor) for name, tensor in ours.state_dict().items())
    assert all(tensor.is_contiguous() for tensor in again.state_dict().values())


@torch.no_grad()
@pytest.mark.parametrize("scale", ["layer", "none"])
def test_scales_and_widths_of_its_own_are_exported_too(tmp_path: Path, scale: Any) -> None:
    ours = randomise(GPT(Config(VOCAB, 16, 32, 2, 4, 40, activation="gelu", details=Details(scale=scale))))
    export(tmp_path, ours)
    same_everywhere(ours, GPT2LMHeadModel.from_pretrained(tmp_path, attn_implementation="eager").eval())
    assert load(tmp_path).model.config == ours.config


def test_a_gpt_that_neither_knows_is_not_exported(tmp_path: Path) -> None:
    odd = Config(VOCAB, 16, 32, 2, 4, 40, norm_first=False, activation="gelu", details=Details(scale="none"))
    with pytest.raises(ValueError, match="GPT-1 has no such GPT: activation is 'gelu' and must be 'gelu_tanh'; hidden"):
        export(tmp_path / "out", GPT(odd))
    assert not (tmp_path / "out").exists()


@torch.no_grad()
def test_names_without_prefix_and_the_masks_of_older_files_are_understood(tmp_path: Path) -> None:
    """As the published gpt2 has them."""
    theirs = second()
    base = GPT2Model(theirs.config).eval()
    base.load_state_dict(theirs.transformer.state_dict())
    base.save_pretrained(tmp_path)
    path = tmp_path / "model.safetensors"
    tensors = load_file(path)
    assert "wte.weight" in tensors
    masks = {f"h.{i}.attn.bias": torch.ones(16, 16).tril()[None, None] for i in range(2)}
    extra = {"h.0.attn.masked_bias": torch.tensor(-1e4), "lm_head.weight": tensors["wte.weight"].clone()}
    save_file(tensors | masks | extra, path)
    ids = words(2, 7)
    close(load(tmp_path).model(ids), theirs(ids).logits)
    save_file(tensors | {"lm_head.weight": torch.zeros(VOCAB, 32)}, path)
    with pytest.raises(CheckpointError, match=r"lm_head.weight is not the copy of transformer.wte.weight that it"):
        load(tmp_path)
    save_file(tensors | {"score.weight": torch.zeros(2, 32)}, path)
    with pytest.raises(CheckpointError, match=r"score.weight is not known"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"activation_function": "quick_gelu"}, "activation_function is 'quick_gelu'; known are gelu_new, "),
        ({"tie_word_embeddings": False}, "tie_word_embeddings is False, and only True is supported"),
        ({"add_cross_attention": True}, "add_cross_attention is True, and only False is supported"),
        ({"embd_pdrop": 0.2}, "embd_pdrop and resid_pdrop are 0.2 and 0.1, and must be the same"),
        ({"n_ctx": 8}, "n_ctx and n_positions are 8 and 16, and must be the same"),
        ({"hidden_size": 64}, "hidden_size and n_embd are 64 and 32, and must be the same"),
        ({"scale_attn_weights": False, "scale_attn_by_inverse_layer_idx": True}, "are False and True, which is not"),
        ({"scale_attn_weights": 1}, "scale_attn_weights and scale_attn_by_inverse_layer_idx are 1 and False, which"),
        ({"per_layer_config": {"0": {"n_head": 2}}}, "per_layer_config is {'0': {'n_head': 2}}, and only None is"),
        ({"rope_theta": 10000}, "rope_theta is not known"),
        ({"auto_map": {"AutoModel": "evil.Model"}}, "auto_map is not known"),
        ({"n_head": 5}, "width 32 does not split into 5 heads; try"),
        ({"n_head": True}, "heads is True, not int"),
        ({"n_inner": "many"}, "hidden is 'many', not int"),
        ({"n_inner": 64}, "mlp.up.weight has shape (128, 32), not (64, 32)"),
        ({"n_layer": 10**6}, "far larger model than"),
        ({"n_positions": 17}, "position.table has shape (16, 32), not (17, 32)"),
        ({"model_type": "gpt3"}, "no model_type that can be loaded is called 'gpt3'; try gpt2"),
    ],
)
def test_a_setting_is_honoured_or_refused_by_its_name(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    second().save_pretrained(tmp_path)
    change(tmp_path, changes)
    with pytest.raises(CheckpointError) as caught:
        load(tmp_path)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"afn": "gelu_new"}, "afn is 'gelu_new'; known are gelu, relu, silu, swish"),
        ({"n_special": 3}, "n_special is 3, and only 0 is supported"),
        ({"n_inner": 64}, "n_inner is not known"),
        ({"tie_word_embeddings": False}, "this GPT-1 is not supported: tie_word_embeddings is False"),
    ],
)
def test_a_setting_of_gpt1_is_honoured_or_refused_by_its_name(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    first().save_pretrained(tmp_path)
    change(tmp_path, changes)
    with pytest.raises(CheckpointError) as caught:
        load(tmp_path)
    assert said in str(caught.value)


@pytest.mark.parametrize(("kind", "model"), [(GPT2Config, second), (OpenAIGPTConfig, first)])
def test_every_field_that_transformers_writes_is_known_and_every_default_is_theirs(
    tmp_path: Path, kind: Any, model: Any
) -> None:
    model().save_pretrained(tmp_path)
    written = json.loads((tmp_path / "config.json").read_text())
    change(tmp_path, {name: value for name, value in kind(**SIZES).to_dict().items() if name not in written})
    whole = load(tmp_path).model.config
    sparse = {name: written[name] for name in ("model_type", "vocab_size", "n_positions", "n_embd", "n_layer")}
    (tmp_path / "config.json").write_text(json.dumps(sparse | {"num_attention_heads": 4}))
    assert load(tmp_path).model.config == whole


def test_a_gpt2_is_a_model_of_ours_from_then_on_that_generates(tmp_path: Path) -> None:
    second().save_pretrained(tmp_path / "theirs")
    stored = load(tmp_path / "theirs")
    about = {"title": "theirs", "task": "generate"}
    assert (stored.family.name, stored.card, stored.tokenizer) == ("gpt", about, None)
    reading = regard.load(tmp_path / "theirs").attend([3, 1, 4])
    assert {each.kind for each in reading.maps} == {"causal"}
    save(tmp_path / "own", stored.model, family=stored.family, dtype="int8")
    assert load(tmp_path / "own").model.config == stored.model.config
    with pytest.raises(ValueError, match=r"the card of own names no task; .* the model alone by regard.hub.load"):
        regard.load(tmp_path / "own")


def test_special_ids_are_the_models_where_its_tokenizer_has_them(tmp_path: Path) -> None:
    tokenizer = Tokenizer.train(["a dog runs", "a cat sleeps"], kind="characters", vocab=40)
    second().save_pretrained(tmp_path)
    tokenizer.save(tmp_path / "tokenizer.json")
    change(tmp_path, {"eos_token_id": 3, "bos_token_id": 50256})
    found = load(tmp_path).tokenizer
    assert found is not None
    assert (found.stop, found.start) == (3, tokenizer.start)
    export(tmp_path / "out", load(tmp_path).model, found)
    assert json.loads((tmp_path / "out/config.json").read_text())["eos_token_id"] == 3
    change(tmp_path, {"eos_token_id": [3, 4]})
    with pytest.raises(CheckpointError, match=r"eos_token_id is \[3, 4\], which is no id of this tokenizer of"):
        load(tmp_path)


def change(folder: Path, changes: dict[str, Any]) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes, default=str))
