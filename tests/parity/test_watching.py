"""Watching other people's models: outputs to the last bit, weights as the models themselves return them."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F
import transformers as hf
from torch import Tensor, nn

from regard.attention import multihead, off, only, record, uniform

IMAGE = torch.randn(2, 3, 32, 32, generator=torch.Generator().manual_seed(1))
IDS = torch.randint(3, 60, (2, 7), generator=torch.Generator().manual_seed(2))
PADDED = torch.tensor([[1] * 7, [1] * 4 + [0] * 3])
SMALL = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48)
RESNET = dict(model_type="resnet", embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], out_features=["stage2"])


def gpt2() -> Any:
    return hf.GPT2Config(vocab_size=60, n_positions=32, n_embd=32, n_layer=2, n_head=4, eos_token_id=0)


def llama() -> Any:
    return hf.LlamaConfig(**SMALL, vocab_size=60, num_key_value_heads=2, eos_token_id=0, bos_token_id=1)


def t5() -> Any:
    return hf.T5Config(vocab_size=60, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4)


def clip() -> Any:
    text = dict(SMALL, vocab_size=60, max_position_embeddings=16, eos_token_id=59, bos_token_id=1)
    return hf.CLIPConfig(text_config=text, vision_config=dict(SMALL, image_size=32, patch_size=8), projection_dim=16)


def detr() -> Any:
    return hf.DetrConfig(
        use_timm_backbone=False,
        use_pretrained_backbone=False,
        backbone_config=RESNET,
        num_queries=5,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
    )


def swin() -> Any:
    return hf.SwinConfig(image_size=32, patch_size=2, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4)


# The configuration, the class, the inputs, and where the eager model returns its attentions, in the order they look.
MODELS: dict[str, tuple[Any, str, dict[str, Any], Any]] = {
    "gpt2": (gpt2, "GPT2Model", dict(input_ids=IDS), lambda out: out.attentions),
    "llama": (llama, "LlamaModel", dict(input_ids=IDS), lambda out: out.attentions),
    "bert": (
        lambda: hf.BertConfig(**SMALL, vocab_size=60, max_position_embeddings=16),
        "BertModel",
        dict(input_ids=IDS, attention_mask=PADDED),
        lambda out: out.attentions,
    ),
    "vit": (
        lambda: hf.ViTConfig(**SMALL, image_size=32, patch_size=8),
        "ViTModel",
        dict(pixel_values=IMAGE),
        lambda out: out.attentions,
    ),
    "swin": (swin, "SwinModel", dict(pixel_values=IMAGE), lambda out: out.attentions),
    "clip": (
        clip,
        "CLIPModel",
        dict(input_ids=IDS, pixel_values=IMAGE),
        lambda out: (*out.vision_model_output.attentions, *out.text_model_output.attentions),
    ),
    "t5": (
        t5,
        "T5Model",
        dict(input_ids=IDS, attention_mask=PADDED, decoder_input_ids=IDS[:, :5]),
        lambda out: (
            *out.encoder_attentions,
            *(a for both in zip(out.decoder_attentions, out.cross_attentions, strict=True) for a in both),
        ),
    ),
    "detr": (
        detr,
        "DetrModel",
        dict(pixel_values=IMAGE),
        lambda out: (
            *out.encoder_attentions,
            *(a for both in zip(out.decoder_attentions, out.cross_attentions, strict=True) for a in both),
        ),
    ),
}


def build(name: str, attention: str | None = None) -> Any:
    """A tiny random model, the same whatever its attention; transformers chooses torch's function by itself."""
    config, kind, _, _ = MODELS[name]
    torch.manual_seed(0)
    settings = {} if attention is None else dict(attn_implementation=attention)
    return getattr(hf, kind)._from_config(config(), **settings).eval()


@pytest.mark.parametrize("name", MODELS)
@torch.no_grad()
def test_a_model_of_transformers_is_watched_like_ours(name: str) -> None:
    _, _, inputs, attentions = MODELS[name]
    model, eager = build(name), build(name, "eager")
    with record(model) as trace:
        watched = model(**inputs)
    for one, other in zip(watched.to_tuple(), model(**inputs).to_tuple(), strict=True):
        assert not isinstance(one, Tensor) or one.equal(other)
    expected = attentions(eager(**inputs, output_attentions=True))
    names = trace.names
    if name == "swin":  # its own list has the last block of each stage alone
        names = [each for each in names if "blocks.1" in each]
    assert len(names) == len(expected)
    for each, weights in zip(names, expected, strict=True):
        torch.testing.assert_close(trace.weights(each), weights, atol=1e-5, rtol=0.0)


@torch.no_grad()
def test_padding_is_not_looked_at() -> None:
    model = build("bert")
    with record(model) as trace:
        model(input_ids=IDS, attention_mask=PADDED)
    assert trace.names == ["encoder.layer.0.attention.self", "encoder.layer.1.attention.self"]
    assert trace.weights(trace.names[0])[1, :, :, 4:].count_nonzero() == 0


@torch.no_grad()
def test_grouped_queries_share_their_keys() -> None:
    model = build("llama")
    with record(model) as trace:
        model(input_ids=IDS)
    (look,) = trace["layers.0.self_attn"]
    assert (look.q.shape[1], trace.weights("layers.0.self_attn").shape) == (4, (2, 4, 7, 7))


@torch.no_grad()
def test_what_is_generated_with_a_cache_is_laid_end_to_end() -> None:
    model = hf.GPT2LMHeadModel(gpt2()).eval()
    with record(model) as trace:
        ids = model.generate(IDS, max_new_tokens=5, do_sample=False, pad_token_id=0)
    name = "transformer.h.1.attn"
    assert len(trace[name]) == 5  # the prompt, and one for each token but the last
    with record(model) as whole:
        model(ids[:, :-1])
    torch.testing.assert_close(trace.weights(name), whole.weights(name), atol=1e-5, rtol=0.0)
    assert ids.equal(model.generate(IDS, max_new_tokens=5, do_sample=False, pad_token_id=0))


@torch.no_grad()
def test_a_foreign_attention_is_edited_like_ours() -> None:
    model = build("gpt2")
    plain = model(IDS).last_hidden_state
    with record(model, edits={"h.0.attn": lambda look: look.weights()}):
        same = model(IDS).last_hidden_state
    torch.testing.assert_close(same, plain, atol=1e-5, rtol=0.0)
    with record(model, edits={"h.0.attn": only(off, 1), "h.1.attn": uniform}) as trace:
        edited = model(IDS).last_hidden_state
    assert not edited.isclose(plain).all()
    assert trace.weights("h.0.attn").sum(dim=(0, 2, 3)).gt(0).tolist() == [True, False, True, True]
    torch.testing.assert_close(
        trace.weights("h.1.attn")[0, 0], torch.ones(7, 7).tril() / torch.arange(1.0, 8.0)[:, None]
    )
    assert model(IDS).last_hidden_state.equal(plain)


def test_an_edit_is_the_same_as_heads_without_values() -> None:
    """With one head off, what is left is the model whose head has no way out."""
    model, silenced = build("gpt2"), build("gpt2")
    silenced.h[0].attn.c_proj.weight.data[8:16] = 0.0
    with record(model, edits={"h.0.attn": only(off, 1)}):
        y = model(IDS).last_hidden_state
    torch.testing.assert_close(y, silenced(IDS).last_hidden_state, atol=1e-5, rtol=0.0)
    y.sum().backward()
    assert model.h[0].attn.c_attn.weight.grad is not None


@torch.no_grad()
def test_the_stream_after_each_block_is_what_the_model_says() -> None:
    for name, blocks in {
        "gpt2": "h.{}",
        "llama": "layers.{}",
        "bert": "encoder.layer.{}",
        "t5": "encoder.block.{}",
    }.items():
        model, inputs = build(name), MODELS[name][2]
        with record(model, hidden=True) as trace:
            out = model(**inputs, output_hidden_states=True)
        theirs = out.encoder_hidden_states if name == "t5" else out.hidden_states
        assert trace.hidden[blocks.format(0)][0].equal(theirs[1])  # the last is after one more norm in most
        assert blocks.format(1) in trace.hidden


@pytest.mark.parametrize("name", ["gpt2", "bert"])
@torch.no_grad()
def test_a_model_that_writes_its_softmax_out_says_so(name: str) -> None:
    model, inputs = build(name, "eager"), MODELS[name][2]
    with pytest.warns(UserWarning, match='cannot be watched: .* attn_implementation="sdpa"'), record(model) as trace:
        model(**inputs)
    with pytest.raises(KeyError, match="cannot be watched"):
        trace.weights("h.0.attn" if name == "gpt2" else "encoder.layer.0.attention.self")


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
@torch.no_grad()
def test_deberta_is_named_as_unwatchable() -> None:
    model = hf.DebertaModel(hf.DebertaConfig(**SMALL, vocab_size=60)).eval()
    words = r"'encoder.layer.0.attention.self', 'encoder.layer.1.attention.self' \(DisentangledSelfAttention\) cannot"
    with pytest.warns(UserWarning, match=words), record(model):
        model(IDS)


# torch's own


def attend(attn: nn.MultiheadAttention, x: Tensor, context: Tensor, **settings: Any) -> tuple[Tensor, Tensor]:
    y, weights = attn(x, context, context, average_attn_weights=False, **settings)
    return y, weights


LONG = torch.zeros(2, 6, dtype=torch.bool)
LONG[1, 4:] = True  # hidden, in torch's convention
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "plain": ({}, {}),
    "padding": ({}, dict(key_padding_mask=LONG)),
    "bool mask": ({}, dict(attn_mask=torch.ones(5, 6, dtype=torch.bool).triu(2))),
    "float mask for each head": ({}, dict(attn_mask=torch.randn(8, 5, 6))),
    "both": ({}, dict(attn_mask=torch.ones(5, 6, dtype=torch.bool).triu(2), key_padding_mask=LONG)),
    "other widths": (dict(kdim=16, vdim=16), {}),
    "a learned key and a key of zeros": (dict(add_bias_kv=True, add_zero_attn=True), dict(key_padding_mask=LONG)),
    "without biases": (dict(bias=False), {}),
}


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_torchs_attention_is_watched_like_ours(case: str, need_weights: bool, batch_first: bool) -> None:
    settings, masks = CASES[case]
    attn = nn.MultiheadAttention(16, 4, batch_first=batch_first, **settings)
    for bias in (attn.in_proj_bias, attn.out_proj.bias):
        if bias is not None:
            nn.init.normal_(bias)
    x, context = torch.randn(2, 5, 16), torch.randn(2, 6, 16)
    if not batch_first:
        x, context = x.transpose(0, 1), context.transpose(0, 1)
    plain, _ = attend(attn, x, context, need_weights=need_weights, **masks)
    _, weights = attend(attn, x, context, **masks)
    with record(attn) as trace:
        watched, returned = attend(attn, x, context, need_weights=need_weights, **masks)
    assert watched.equal(plain)
    assert returned is None or returned.equal(weights)
    torch.testing.assert_close(trace.weights(""), weights, atol=1e-6, rtol=0.0)
    with record(attn, edits={"": lambda look: look.weights()}):
        edited, _ = attend(attn, x, context, need_weights=need_weights, **masks)
    torch.testing.assert_close(edited, plain, atol=1e-5, rtol=0.0)
    with record(attn, edits={"": off}) as trace:
        silent, _ = attend(attn, x, context, need_weights=need_weights, **masks)
    constant = torch.zeros(16) if attn.out_proj.bias is None else attn.out_proj.bias
    torch.testing.assert_close(silent, constant.expand_as(silent))
    assert trace.weights("").count_nonzero() == 0


@pytest.mark.parametrize("need_weights", [True, False])
def test_torchs_attention_without_a_batch(need_weights: bool) -> None:
    attn, x = nn.MultiheadAttention(16, 4), torch.randn(5, 16)
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    with record(attn) as trace:
        y, _ = attn(x, x, x, need_weights=need_weights, attn_mask=mask, is_causal=True)
    assert y.equal(attn(x, x, x, need_weights=need_weights, attn_mask=mask, is_causal=True)[0])
    weights = attn(x, x, x, average_attn_weights=False, attn_mask=mask)[1]
    torch.testing.assert_close(trace.weights("")[0], weights)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_torchs_encoder_leaves_its_fast_path_and_no_other() -> None:
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
    encoder, x = nn.TransformerEncoder(layer, 2).eval(), torch.randn(2, 6, 16)
    with torch.no_grad():
        fused = encoder(x, src_key_padding_mask=LONG)
        with record(encoder, hidden=True) as trace:
            watched = encoder(x, src_key_padding_mask=LONG)
        torch.backends.mha.set_fastpath_enabled(False)
        try:
            assert watched.equal(encoder(x, src_key_padding_mask=LONG))
        finally:
            torch.backends.mha.set_fastpath_enabled(True)
    torch.testing.assert_close(watched[~LONG], fused[~LONG], atol=5e-6, rtol=0.0)
    assert trace.names == ["layers.0.self_attn", "layers.1.self_attn"]
    assert trace.weights("layers.1.self_attn")[1, :, :, 4:].count_nonzero() == 0
    assert trace.hidden["layers.1"][0].equal(watched)


def test_torchs_transformer_learns_while_it_is_watched() -> None:
    model = nn.Transformer(16, 4, 1, 1, 32, batch_first=True, dropout=0.0)
    source, target = torch.randn(2, 6, 16), torch.randn(2, 5, 16)
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    with record(model) as trace:
        y = model(source, target, tgt_mask=mask, tgt_is_causal=True)
    y.sum().backward()
    assert y.equal(model(source, target, tgt_mask=mask, tgt_is_causal=True))
    assert trace.names == [
        "encoder.layers.0.self_attn",
        "decoder.layers.0.self_attn",
        "decoder.layers.0.multihead_attn",
    ]
    assert trace.weights("decoder.layers.0.self_attn").triu(1).count_nonzero() == 0
    assert trace.weights("decoder.layers.0.multihead_attn").shape == (2, 4, 5, 6)


def test_ours_and_theirs_stand_in_one_trace() -> None:
    class Both(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.ours, self.theirs = multihead(16, 4), nn.MultiheadAttention(16, 4, batch_first=True)

        def forward(self, x: Tensor) -> Tensor:
            x = self.ours(x)
            y: Tensor = self.theirs(x, x, x, need_weights=False)[0]
            return F.scaled_dot_product_attention(y, y, y)

    # Long enough for our own attention to call torch's function, which must not be seen twice.
    model, x = Both(), torch.randn(2, 200, 16)
    with record(model) as trace:
        y = model(x)
    assert y.equal(model(x))
    assert {name: len(trace[name]) for name in trace} == {"ours": 1, "theirs": 1, "": 1}
    torch.testing.assert_close(trace.weights("")[:, 0] @ trace[""][0].k[:, 0], y)
