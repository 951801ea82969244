"""Llama, Mistral, Qwen2 and Qwen3 as `transformers` saves them, in and out: logits, stream and attention are theirs."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from regard.attention import padding, record
from regard.decode import greedy
from regard.hub import CheckpointError, export, load, save
from regard.layers.position import Dynamic, Linear, Llama3, LongRope, Yarn
from regard.models.llama import PRESETS, Details, Llama, Turn
from regard.text import Tokenizer

VOCAB = 50
SIZES: dict[str, Any] = dict(
    vocab_size=VOCAB,
    max_position_embeddings=16,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    intermediate_size=48,
    bos_token_id=1,
    eos_token_id=1,
)
KINDS = {"llama": "Llama", "mistral": "Mistral", "qwen2": "Qwen2", "qwen3": "Qwen3"}
LENGTHS = torch.tensor([9, 4, 1])
FACTORS = [1.0, 1.5, 2.0, 4.0]
LONG = {"rope_type": "longrope", "short_factor": FACTORS, "long_factor": FACTORS[::-1]}


def randomise(theirs: Any) -> Any:
    """Biases start at zero and norms at one, where mistakes with them would not show."""
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, std=0.3)
    return theirs.eval()


def kind(name: str) -> Any:
    return getattr(transformers, f"{KINDS[name]}ForCausalLM")


def made(name: str, **changes: Any) -> Any:
    config = getattr(transformers, f"{KINDS[name]}Config")(**(SIZES | changes), attn_implementation="eager")
    return randomise(kind(name)(config))


def words(*shape: int) -> Tensor:
    return torch.randint(VOCAB, shape)


def close(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


def same_everywhere(ours: Any, theirs: Any, count: int = 9) -> None:
    """Logits, the stream before each block and behind the last, every head's weights; also padded on either side."""
    ids = words(3, count)
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
    if count == 9:
        behind = padding(LENGTHS, 9)[:, 0, 0]
        close(ours(ids, lengths=LENGTHS)[behind], theirs(ids, attention_mask=behind.long()).logits[behind])
        before = behind.flip(1)
        places = (before.cumsum(dim=1) - 1).clamp(min=0)
        padded = theirs(ids, attention_mask=before.long(), position_ids=places).logits
        close(ours(ids, visible=before)[before], padded[before])


@torch.no_grad()
@pytest.mark.parametrize(
    ("name", "changes"),
    [
        *((name, {}) for name in KINDS),
        ("llama", {"num_key_value_heads": None}),
        ("llama", {"num_key_value_heads": 1, "rope_theta": 500.0}),
        ("llama", {"attention_bias": True}),
        ("llama", {"mlp_bias": True}),
        ("llama", {"tie_word_embeddings": True}),
        ("llama", {"head_dim": 12}),
        ("llama", {"rms_norm_eps": 0.1, "hidden_act": "gelu"}),
        ("llama", {"hidden_act": "gelu_new"}),
        ("llama", {"pretraining_tp": 2, "initializer_range": 1.0, "use_cache": False}),
        ("mistral", {"sliding_window": 3}),
        ("mistral", {"sliding_window": None, "head_dim": 6}),
        ("qwen2", {"tie_word_embeddings": True, "num_key_value_heads": 4}),
        ("qwen2", {"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1}),
        ("qwen2", {"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 0}),
        (
            "qwen2",
            {
                "use_sliding_window": True,
                "sliding_window": 2,
                "layer_types": ["sliding_attention", "full_attention"],
            },
        ),
        ("qwen3", {"head_dim": 8, "attention_bias": True}),
        ("qwen3", {"head_dim": 10, "use_sliding_window": True, "sliding_window": 4, "max_window_layers": 1}),
    ],
)
def test_a_model_of_hugging_face_is_the_same_in_logits_stream_and_weights(
    tmp_path: Path, name: str, changes: dict[str, Any]
) -> None:
    theirs = made(name, **changes)
    theirs.save_pretrained(tmp_path)
    stored = load(tmp_path)
    same_everywhere(stored.model, theirs)
    assert stored.card["task"] == "generate"
    export(tmp_path / "out", stored.model)
    again, told = kind(name).from_pretrained(tmp_path / "out", output_loading_info=True)
    assert not any(told.values())
    ids = words(2, 7)
    close(again.eval()(ids).logits, theirs(ids).logits)


@torch.no_grad()
@pytest.mark.parametrize("count", [9, 25])
@pytest.mark.parametrize(
    "scaling",
    [
        {"rope_type": "default"},
        {"rope_type": "linear", "factor": 3.0},
        {"rope_type": "dynamic", "factor": 2.0},
        {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8},
        {"rope_type": "yarn", "factor": 4.0, "beta_fast": 2.0, "beta_slow": 0.2, "truncate": False},
        {"rope_type": "yarn", "factor": 2.0, "attention_factor": 1.5},
        {"rope_type": "yarn", "factor": 4.0, "mscale": 2.0, "mscale_all_dim": 0.5},
        {
            "rope_type": "llama3",
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 12,
        },
        LONG | {"original_max_position_embeddings": 12},
        LONG | {"factor": 4.0},
        LONG | {"attention_factor": 0.5, "original_max_position_embeddings": 20},
    ],
    ids=lambda scaling: (
        "-".join(str(each) for each in scaling.values() if not isinstance(each, list))
        if isinstance(scaling, dict)
        else str(scaling)
    ),
)
@pytest.mark.filterwarnings("ignore")
def test_rotations_are_scaled_as_theirs_within_and_beyond_the_context(
    tmp_path: Path, scaling: dict[str, Any], count: int
) -> None:
    theirs = made("llama", rope_parameters={**scaling, "rope_theta": 100.0})
    theirs.save_pretrained(tmp_path)
    ours = load(tmp_path).model
    same_everywhere(ours, theirs, count)
    # Older files say the same in two fields.
    about = json.loads((tmp_path / "config.json").read_text())
    about.pop("rope_parameters")
    old = {"type" if key == "rope_type" else key: value for key, value in scaling.items()}
    about |= {"rope_theta": 100.0, "rope_scaling": None if scaling["rope_type"] == "default" else old}
    (tmp_path / "config.json").write_text(json.dumps(about))
    assert load(tmp_path).model.config == ours.config
    export(tmp_path / "out", ours)
    again = kind("llama").from_pretrained(tmp_path / "out", attn_implementation="eager").eval()
    same_everywhere(ours, again, count)
    assert load(tmp_path / "out").model.config == ours.config


NANO = replace(PRESETS["llama-nano"], vocab=VOCAB)
OWN: Mapping[str, tuple[Any, str]] = {
    "plain": (NANO, "llama"),
    "tied": (replace(NANO, tied=True, attn_dropout=0.1), "llama"),
    "biased": (replace(NANO, details=Details(qkv_bias=True, out_bias=True, mlp_bias=True, activation="relu")), "llama"),
    "windows": (replace(NANO, sliding_window=3, details=Details(head_width=6)), "mistral"),
    "queries biased": (replace(NANO, sliding_window=(None, 5), details=Details(qkv_bias=True, eps=0.1)), "qwen2"),
    "normed": (replace(NANO, sliding_window=4, details=Details(qk_norm=True, head_width=12)), "qwen3"),
    "normed and biased": (replace(NANO, details=Details(qk_norm=True, qkv_bias=True, out_bias=True)), "qwen3"),
}


@torch.no_grad()
@pytest.mark.parametrize("which", OWN)
def test_what_is_exported_is_read_by_transformers_and_comes_back_bit_by_bit(tmp_path: Path, which: str) -> None:
    config, name = OWN[which]
    ours = randomise(Llama(config))
    export(tmp_path, ours)
    theirs, told = kind(name).from_pretrained(tmp_path, output_loading_info=True, attn_implementation="eager")
    assert not any(told.values())
    same_everywhere(ours, theirs.eval())
    again = load(tmp_path).model
    assert again.config == ours.config
    assert all(again.state_dict()[each].equal(tensor) for each, tensor in ours.state_dict().items())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            dict(details=Details(qkv_bias=True, mlp_bias=True)),
            "Qwen2 has no such Llama: mlp_bias is True and must be F",
        ),
        (dict(details=Details(qk_norm=True, qkv_bias=True)), "Qwen3 has no such Llama: out_bias is False and must be"),
        (dict(details=Details(out_bias=True)), "Llama has no such Llama: out_bias is True and must be False"),
        (dict(sliding_window=(3, None)), "Mistral has no such Llama: its layers see windows of their own"),
        (dict(sliding_window=(3, 4), details=Details(qk_norm=True)), r"windows of \[3, 4\] words, and it has one size"),
        (dict(turn=Turn(scaling=Dynamic(2.0, 8))), "a base that grows from 8 on has no form in a context of 32"),
    ],
)
def test_a_llama_that_nobody_knows_is_not_exported(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        export(tmp_path / "out", Llama(replace(NANO, **changes)))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "scaling", [None, Linear(2.0), Yarn(4.0, 8), Llama3(8.0, 8), LongRope((1.0,) * 4, (2.0,) * 4, 8)]
)
def test_every_rotation_comes_back_from_a_folder_of_ours(tmp_path: Path, scaling: Any) -> None:
    from regard.models.llama import FAMILY

    one = Llama(replace(NANO, turn=Turn(500.0, scaling), sliding_window=(3, None)))
    save(tmp_path / "own", one, family=FAMILY)
    assert load(tmp_path / "own").model.config == one.config


@torch.no_grad()
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.filterwarnings("ignore")
def test_a_prompt_is_gone_on_with_as_by_generate_also_in_a_padded_batch(tmp_path: Path, name: str) -> None:
    window = {} if name == "llama" else {"sliding_window": 4, "use_sliding_window": True, "max_window_layers": 1}
    if name == "mistral":
        window = {"sliding_window": 4}
    theirs = made(name, **window)
    theirs.save_pretrained(tmp_path)
    ours: Any = load(tmp_path).model
    ids, visible = words(3, 6), torch.ones(3, 6, dtype=torch.bool)
    visible[1, :3], visible[2, :5] = False, False
    settings = dict(max_new_tokens=12, do_sample=False, eos_token_id=0, pad_token_id=0)
    wanted = theirs.generate(ids, attention_mask=visible.long(), **settings)[:, 6:].tolist()
    _, state = ours.step(ids[:, :-1], ours.start(3), visible=visible[:, :-1])
    found = greedy(ours.step, state, ids[:, -1], stop=0, limit=12)
    assert [list(each.words) for each in found] == [[*row, 0][: [*row, 0].index(0)] for row in wanted]


@torch.no_grad()
def test_names_without_prefix_copies_and_tables_of_older_files_are_understood(tmp_path: Path) -> None:
    theirs = made("llama", tie_word_embeddings=True)
    theirs.save_pretrained(tmp_path)
    path, ids = tmp_path / "model.safetensors", words(2, 7)
    tensors = {name.removeprefix("model."): tensor for name, tensor in load_file(path).items()}
    assert "embed_tokens.weight" in tensors
    old = {f"layers.{i}.self_attn.rotary_emb.inv_freq": torch.ones(4) for i in range(2)}
    save_file(tensors | old | {"lm_head.weight": tensors["embed_tokens.weight"].clone()}, path)
    close(load(tmp_path).model(ids), theirs(ids).logits)
    save_file(tensors | {"lm_head.weight": torch.zeros(VOCAB, 32)}, path)
    with pytest.raises(CheckpointError, match=r"lm_head.weight is not the copy of model.embed_tokens.weight that it"):
        load(tmp_path)
    save_file(tensors | {"score.weight": torch.zeros(2, 32)}, path)
    with pytest.raises(CheckpointError, match=r"score.weight is not known"):
        load(tmp_path)
    save_file(tensors, path)
    change(tmp_path, {"tie_word_embeddings": False})
    with pytest.raises(CheckpointError, match=r"missing to_vocab.weight"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        ("llama", {"hidden_act": "quick_gelu"}, "hidden_act is 'quick_gelu'; known are silu, swish"),
        ("llama", {"sliding_window": 4}, "sliding_window is 4, and only None is supported"),
        ("llama", {"layer_types": ["full_attention"] * 2}, "layer_types is ['full_attention', 'full_attention'], and"),
        ("llama", {"partial_rotary_factor": 0.5}, "partial_rotary_factor is 0.5, and only 1.0 is supported"),
        ("llama", {"rope_interleaved": True}, "rope_interleaved is True, and only False is supported"),
        ("llama", {"quantization_config": {"bits": 4}}, "quantization_config is {'bits': 4}, and only None"),
        ("llama", {"num_experts": 4}, "num_experts is not known"),
        ("llama", {"auto_map": {"AutoModel": "evil.Model"}}, "auto_map is not known"),
        (
            "llama",
            {"rope_scaling": {"type": "mrope"}},
            "rope_scaling is of the kind 'mrope'; known are default, linear",
        ),
        ("llama", {"rope_scaling": {"type": "linear"}}, "rope_scaling.factor is missing"),
        ("llama", {"rope_scaling": {"type": "linear", "factor": "2"}}, "factor is 2, and no number above 0"),
        (
            "llama",
            {"rope_scaling": {"type": "linear", "factor": 2, "finetuned": True}},
            "rope_scaling.finetuned is not",
        ),
        ("llama", {"rope_scaling": [2]}, "rope_scaling is [2], and no object"),
        ("llama", {"rope_parameters": {"full_attention": {}}}, "rope_parameters.full_attention is not known"),
        ("llama", {"rope_parameters": {"partial_rotary_factor": 0.5}}, "partial_rotary_factor is 0.5, and only 1.0"),
        (
            "llama",
            {"rope_scaling": LONG | {"short_factor": [1.0]}},
            "1 short divisors do not fit the 4 pairs of 8 channels",
        ),
        ("llama", {"rope_scaling": LONG | {"short_factor": ["a"] * 4}}, "turn.scaling is"),
        ("llama", {"num_attention_heads": 6, "head_dim": None}, "width 32 does not split into 6 heads; try"),
        ("llama", {"num_attention_heads": 0, "head_dim": None}, "width 32, 0 heads and 2 groups make no attention"),
        ("llama", {"num_key_value_heads": 3}, "4 heads do not share 3 groups; try"),
        ("llama", {"num_attention_heads": True}, "heads is True, not int"),
        ("llama", {"head_dim": 7}, "width 7 does not split into pairs that rotate together"),
        ("llama", {"intermediate_size": 64}, "mlp.up.weight has shape (48, 32), not (64, 32)"),
        ("llama", {"num_hidden_layers": 10**6}, "far larger model than"),
        ("llama", {"attention_bias": True}, "missing decoder.blocks.0.attn.k.bias"),
        ("llama", {"attention_bias": 1}, "details.qkv_bias is 1, not bool"),
        ("llama", {"max_position_embeddings": "long"}, "max_position_embeddings is long, and no number"),
        ("mistral", {"sliding_window": 0}, "sliding_window is 0, and must be 1 or more, or null"),
        ("mistral", {"attention_bias": True}, "this Mistral is not supported: attention_bias is True"),
        ("qwen2", {"attention_bias": False}, "this Qwen2 is not supported: attention_bias is False, and only True"),
        ("qwen2", {"use_mrope": True}, "use_mrope is True, and only False is supported"),
        ("qwen2", {"layer_types": ["full_attention"]}, "layer_types is ['full_attention'], and must name 2 layers"),
        ("qwen2", {"layer_types": ["sliding_attention"] * 2}, "layer_types name a sliding_attention, and use_sliding"),
        ("qwen2", {"use_sliding_window": "yes"}, "use_sliding_window is yes, and must be true or false"),
        ("qwen2", {"num_hidden_layers": 10**12}, "num_hidden_layers is 1000000000000, and must be 0 to 10000"),
        ("qwen3", {"mlp_bias": True}, "this Qwen3 is not supported: mlp_bias is True, and only False is supported"),
        ("qwen3", {"max_window_layers": None}, "max_window_layers is None, and no whole number"),
    ],
)
def test_a_setting_is_honoured_or_refused_by_its_name(
    tmp_path: Path, name: str, changes: dict[str, Any], said: str
) -> None:
    made(name).save_pretrained(tmp_path)
    if "rope_scaling" in changes:
        change(tmp_path, {"rope_parameters": None})
    change(tmp_path, changes)
    with pytest.raises(CheckpointError) as caught:
        load(tmp_path).model(words(1, 4))
    assert said in str(caught.value)


@pytest.mark.parametrize("name", KINDS)
def test_every_field_that_transformers_writes_is_known_and_every_default_is_theirs(tmp_path: Path, name: str) -> None:
    made(name).save_pretrained(tmp_path)
    written = json.loads((tmp_path / "config.json").read_text())
    theirs = getattr(transformers, f"{KINDS[name]}Config")
    change(tmp_path, {key: value for key, value in theirs(**SIZES).to_dict().items() if key not in written})
    whole = load(tmp_path).model.config
    changed = {key: written[key] for key in ("model_type", *SIZES)}
    (tmp_path / "config.json").write_text(json.dumps(changed))
    assert load(tmp_path).model.config == whole
    # What else a file may leave out is the size of a published model.
    base, defaults = theirs(), load_defaults(name)
    for key, value in defaults.items():
        assert value is None or getattr(base, key) == value or key == "sliding_window", key


def load_defaults(name: str) -> Mapping[str, Any]:
    from regard.hub.tables import llama, mistral, qwen2, qwen3

    every = {"llama": llama.DEFAULTS, "mistral": mistral._DEFAULTS, "qwen2": qwen2.SHARED, "qwen3": qwen3._DEFAULTS}
    return every[name]


def test_fields_that_published_files_have_are_known(tmp_path: Path) -> None:
    made("llama").save_pretrained(tmp_path)
    smol = {"is_llama_config": True, "rope_interleaved": False, "transformers.js_config": {}, "pretraining_tp": 1}
    change(tmp_path, {**smol, "rope_scaling": None, "torch_dtype": "bfloat16", "_attn_implementation_autoset": True})
    assert load(tmp_path).model.config.width == 32


def test_special_ids_are_the_models_and_of_several_stops_the_first_counts(tmp_path: Path) -> None:
    tokenizer = Tokenizer.train(["a dog runs", "a cat sleeps"], kind="characters", vocab=40)
    made("llama").save_pretrained(tmp_path)
    tokenizer.save(tmp_path / "tokenizer.json")
    change(tmp_path, {"eos_token_id": [5, 6], "bos_token_id": 128000, "pad_token_id": -1})
    found = load(tmp_path).tokenizer
    assert found is not None
    assert (found.stop, found.start, found.pad) == (5, tokenizer.start, tokenizer.pad)
    assert {5, 6} <= found.specials
    change(tmp_path, {"eos_token_id": "end"})
    with pytest.raises(CheckpointError, match=r"eos_token_id is end, which is no id of this tokenizer of"):
        load(tmp_path)


def change(folder: Path, changes: dict[str, Any]) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes, default=str))
