"""torch's own Transformer as ours and back: `nn.MultiheadAttention`, `nn.TransformerEncoderLayer` and what they make.

attn = multihead(nn.MultiheadAttention(512, 8, batch_first=True))   # attn(x) is what theirs gives as x, x, x
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

import torch.nn.functional as F
from torch import nn

from regard import attention as parts
from regard.attention import Attention
from regard.hub.tables.rules import Rule, load, same, save, split
from regard.layers.blocks import Block, PostNormBlock
from regard.layers.mlp import MLP
from regard.layers.stack import Stack
from regard.models.transformer import Config, Transformer

_QKV = ("q", "k", "v")
ATTENTION: tuple[Rule, ...] = (
    split("in_proj_weight", [f"{name}.weight" for name in _QKV]),
    split("in_proj_bias", [f"{name}.bias" for name in _QKV]),
    same("out_proj.{p}", "out.{p}"),
)
# With another width of keys or values, theirs keeps the three matrices apart.
ATTENTION_APART: tuple[Rule, ...] = (
    *(same(f"{name}_proj_weight", f"{name}.weight") for name in _QKV),
    *ATTENTION[1:],
)
ENCODER_LAYER: tuple[Rule, ...] = (
    *(rule.within("self_attn", "attn") for rule in ATTENTION),
    same("norm1.{p}", "attn_norm.{p}"),
    same("linear1.{p}", "mlp.up.{p}"),
    same("linear2.{p}", "mlp.down.{p}"),
    same("norm2.{p}", "mlp_norm.{p}"),
)
DECODER_LAYER: tuple[Rule, ...] = (
    *ENCODER_LAYER[:-1],
    *(rule.within("multihead_attn", "cross") for rule in ATTENTION),
    same("norm2.{p}", "cross_norm.{p}"),
    same("norm3.{p}", "mlp_norm.{p}"),
)
TRANSFORMER: tuple[Rule, ...] = (
    *(rule.within("encoder.layers.{i}", "encoder.blocks.{i}") for rule in ENCODER_LAYER),
    *(rule.within("decoder.layers.{i}", "decoder.blocks.{i}") for rule in DECODER_LAYER),
    *(same(f"{side}.norm.{{p}}", f"{side}_norm.{{p}}") for side in ("encoder", "decoder")),
)


def multihead(source: nn.MultiheadAttention) -> Attention:
    """Our attention with the weights of torch's; masks say True where looking is allowed here, and forbidden there."""
    if source.bias_k is not None or source.add_zero_attn:
        raise ValueError(
            "add_bias_kv and add_zero_attn give every query one more key, which ours has not; leave them out"
        )
    if source.kdim != source.vdim:
        raise ValueError(
            f"kdim {source.kdim} and vdim {source.vdim} differ, and ours looks at one context; make them one"
        )
    bias = source.in_proj_bias is not None
    made = parts.multihead(
        source.embed_dim,
        source.num_heads,
        context=source.kdim,
        dropout=source.dropout,
        qkv_bias=bias,
        out_bias=bias,
    )
    return cast(Attention, _fill(made, source, ATTENTION if source.in_proj_weight is not None else ATTENTION_APART))


def block(source: nn.TransformerEncoderLayer | nn.TransformerDecoderLayer) -> Block:
    """Our block with the weights of one of torch's layers."""
    attn, width = source.self_attn, source.self_attn.embed_dim
    cross = getattr(source, "multihead_attn", None)
    bias = source.linear1.bias is not None
    made = (Block if source.norm_first else PostNormBlock)(
        width,
        multihead(attn),
        MLP(width, source.linear1.out_features, activation=_activation(source), dropout=source.dropout.p, bias=bias),
        cross=None if cross is None else multihead(cross),
        norm=partial(nn.LayerNorm, eps=source.norm1.eps, bias=bias),
        dropout=source.dropout1.p,
    )
    return cast(Block, _fill(made, source, ENCODER_LAYER if cross is None else DECODER_LAYER))


def encoder(source: nn.TransformerEncoder) -> tuple[Stack, nn.Module]:
    """Our stack with the weights of torch's, and the norm that comes after it, or none."""
    stack = Stack(block(cast(nn.TransformerEncoderLayer, layer)) for layer in source.layers)
    norm = nn.Identity() if source.norm is None else _norm(source.norm)
    return stack.train(source.training), norm.train(source.training)


def transformer(source: nn.Transformer, embed: nn.Embedding) -> Transformer:
    """Our Transformer with the weights of torch's, which has no embedding of its own: words are embedded, and told
    apart at the end, by `embed`."""
    layers: list[Any] = [*source.encoder.layers, *source.decoder.layers]
    first, norms = layers[0], [source.encoder.norm, source.decoder.norm]
    depth = len(source.encoder.layers)
    problems = [f"{depth} and {len(layers) - depth} layers"] if 2 * depth != len(layers) else []
    problems += ["layers without bias"] if first.linear1.bias is None else []
    problems += ["a norm after one stack alone"] if (norms[0] is None) != (norms[1] is None) else []
    problems += ["norms before the branches and none at the end"] if first.norm_first and norms[0] is None else []
    problems += ["norms with another eps"] if any(module.eps != 1e-5 for module in _norms(source)) else []
    if problems:
        raise ValueError(
            f"our Transformer has no form for {'; '.join(problems)}; convert its layers one by one by `block`"
        )
    config = Config(
        vocab=embed.num_embeddings,
        width=first.self_attn.embed_dim,
        depth=depth,
        heads=first.self_attn.num_heads,
        hidden=first.linear1.out_features,
        dropout=first.dropout1.p,
        norm_first=first.norm_first,
        final_norm=norms[0] is not None and not first.norm_first,
        activation=ACTIVATIONS[_activation(first)],
    )
    made = Transformer(config)
    state = load(TRANSFORMER, source.state_dict()) | {"embed.weight": embed.weight.detach()}
    made.load_state_dict(state)
    return made.train(source.training)


def to_torch(ours: Attention | Block | Transformer) -> nn.Module:
    """The module of torch that computes the same, with batches first."""
    made, rules = _theirs(ours)
    state = {name: tensor for name, tensor in ours.state_dict().items() if name != "embed.weight"}
    made.load_state_dict(save(rules, state))
    return made.train(ours.training)


ACTIVATIONS: dict[Any, Any] = {nn.ReLU: "relu", nn.GELU: "gelu"}


def _activation(layer: Any) -> type[nn.Module]:
    given = layer.activation
    for ours, theirs in ((nn.ReLU, F.relu), (nn.GELU, F.gelu)):
        if given is theirs or isinstance(given, ours):
            return ours
    raise ValueError(f"the activation {getattr(given, '__name__', given)} is not known here; take relu or gelu")


def _norms(module: nn.Module) -> Sequence[nn.LayerNorm]:
    return [each for each in module.modules() if isinstance(each, nn.LayerNorm)]


def _norm(source: nn.Module) -> nn.Module:
    if not isinstance(source, nn.LayerNorm):
        raise ValueError(f"a {type(source).__name__} after the stack is not known here; take a LayerNorm")
    made = nn.LayerNorm(source.normalized_shape[0], source.eps, bias=source.bias is not None)
    made.load_state_dict(source.state_dict())
    return made


def _fill(made: nn.Module, source: nn.Module, rules: Sequence[Rule]) -> nn.Module:
    made.load_state_dict(load(rules, source.state_dict()))
    return made.train(source.training)


def _theirs(ours: Any) -> tuple[nn.Module, Sequence[Rule]]:
    """An empty module of torch's for one of ours, and the rules that fill it."""
    if isinstance(ours, Attention):
        return _attention(ours), ATTENTION if ours.k.in_features == ours.q.in_features else ATTENTION_APART
    if isinstance(ours, Block):
        return _layer(ours), ENCODER_LAYER if ours.cross is None else DECODER_LAYER
    config: Config = ours.config
    if (config.positions, config.logit_bias, config.scale_embedding, config.activation == "silu") != (
        "interleaved",
        False,
        True,
        False,
    ):
        raise ValueError(
            f"torch's Transformer has no form for {config}; it knows relu and gelu, and nothing outside the stacks"
        )
    settings: dict[str, Any] = dict(
        dim_feedforward=config.hidden, dropout=config.dropout, activation=config.activation, batch_first=True
    )
    encoder_layer = nn.TransformerEncoderLayer(config.width, config.heads, norm_first=config.norm_first, **settings)
    decoder_layer = nn.TransformerDecoderLayer(config.width, config.heads, norm_first=config.norm_first, **settings)
    final = [nn.LayerNorm(config.width) if config.norm_first or config.final_norm else None for _ in range(2)]
    made = nn.Transformer(
        config.width,
        config.heads,
        custom_encoder=nn.TransformerEncoder(encoder_layer, config.depth, final[0], enable_nested_tensor=False),
        custom_decoder=nn.TransformerDecoder(decoder_layer, config.depth, final[1]),
        batch_first=True,
    )
    return made, TRANSFORMER


def _attention(ours: Attention) -> nn.MultiheadAttention:
    q, k, out = cast(Any, ours.q), cast(Any, ours.k), cast(Any, ours.out)
    linear = all(isinstance(part, nn.Linear) for part in (ours.q, ours.k, ours.v, ours.out))
    plain = linear and ours.bias is None and ours.rotary is None and ours.groups == ours.heads
    if not plain or repr(ours.score) != repr(parts.Dot()) or (q.bias is None) != (out.bias is None):
        raise ValueError(
            "torch's attention is the plain one: scaled dot products, no bias of scores, no rotation, no groups"
        )
    context = None if k.in_features == q.in_features else k.in_features
    return nn.MultiheadAttention(
        q.in_features,
        ours.heads,
        dropout=ours.dropout,
        bias=q.bias is not None,
        kdim=context,
        vdim=context,
        batch_first=True,
    )


def _layer(ours: Block) -> nn.Module:
    mlp, norm = cast(Any, ours.mlp), cast(Any, ours.attn_norm)
    attn = cast(Attention, ours.attn)
    if not isinstance(mlp, MLP) or type(mlp.activation) not in ACTIVATIONS or not isinstance(norm, nn.LayerNorm):
        raise ValueError("torch's layers have an MLP with relu or gelu and LayerNorm; this block has others")
    _attention(attn)
    kind = nn.TransformerEncoderLayer if ours.cross is None else nn.TransformerDecoderLayer
    made: nn.Module = cast(Any, kind)(
        norm.normalized_shape[0],
        attn.heads,
        mlp.up.out_features,
        dropout=cast(Any, ours.attn_join).dropout.p,
        activation=ACTIVATIONS[type(mlp.activation)],
        layer_norm_eps=norm.eps,
        batch_first=True,
        norm_first=not isinstance(ours, PostNormBlock),
        bias=mlp.up.bias is not None,
    )
    return made


__all__ = ["block", "encoder", "multihead", "to_torch", "transformer"]
