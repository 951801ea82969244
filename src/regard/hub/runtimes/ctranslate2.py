"""Models as folders of CTranslate2, for the families that it knows: Transformer, GPT and BERT."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from regard.hub.gate import listed
from regard.models.bert import BERT
from regard.models.gpt import GPT
from regard.models.transformer import Transformer
from regard.text import Tokenizer

MISSING = "writing for ctranslate2 needs the package of that name; in a clone of regard, pip install '.[export]'"
POSITIONS = 1024  # rows of the table in which sines and cosines are written down
_ACTIVATIONS = {"relu": "RELU", "gelu": "GELU", "gelu_tanh": "GELUTanh", "silu": "SWISH"}


def write_ctranslate2(folder: Path, model: nn.Module, tokenizer: Tokenizer | None) -> None:
    """Fill a folder for `ctranslate2.Translator`, `Generator` or `Encoder`; words are the entries of the tokenizer."""
    makers: dict[type[nn.Module], Callable[[Any], Any]] = {Transformer: _translator, GPT: _generator, BERT: _encoder}
    if type(model) not in makers:
        known = ", ".join(each.__name__ for each in makers)
        raise ValueError(f"CTranslate2 has no {type(model).__name__}; it takes {known}, so write ONNX of this one")
    if tokenizer is None:
        raise ValueError("CTranslate2 knows words by their spelling, and this model has no tokenizer; write ONNX of it")
    try:
        import ctranslate2  # noqa: F401
    except ImportError:
        raise ImportError(MISSING) from None
    spec = makers[type(model)](model)
    config: Any = model.config
    words = [tokenizer.entry(i) for i in range(tokenizer.vocab)]
    words += [f"<unused {i}>" for i in range(len(words), config.vocab)]
    if type(model) is Transformer:
        spec.register_source_vocabulary(words)
        spec.register_target_vocabulary(words)
        spec.config.decoder_start_token = words[tokenizer.special("start")]
    else:
        spec.register_vocabulary(words)
    for ours, theirs in (("start", "bos_token"), ("stop", "eos_token"), ("unknown", "unk_token")):
        i = getattr(tokenizer, ours)
        if i is not None and hasattr(spec.config, theirs):
            setattr(spec.config, theirs, words[i])
    spec.validate()
    spec.optimize()
    spec.save(str(folder))
    tokenizer.save(folder / "tokenizer.json")


def _translator(model: Transformer) -> Any:
    from ctranslate2.specs import TransformerSpec

    config = model.config
    if config.final_norm and not config.norm_first:
        raise ValueError("CTranslate2 has no norm behind stacks of post-norm blocks (final_norm); write ONNX of it")
    spec = TransformerSpec.from_config(
        config.depth, config.heads, pre_norm=config.norm_first, activation=_activation(config.activation)
    )
    table = model.position(torch.zeros(1, POSITIONS, config.width))[0]
    for side, stack, norm in (
        (spec.encoder, model.encoder, model.encoder_norm),
        (spec.decoder, model.decoder, model.decoder_norm),
    ):
        side.scale_embeddings = config.scale_embedding
        side.position_encodings.encodings = _numbers(table)
        if config.norm_first:
            _norm(side.layer_norm, norm)
        for layer, block in zip(side.layer, stack.blocks, strict=True):
            _block(layer, block)
    spec.encoder.embeddings[0].weight = spec.decoder.embeddings.weight = _numbers(model.embed.weight)
    _linear(spec.decoder.projection, model.to_vocab)
    spec.config.layer_norm_epsilon = 1e-5
    return spec


def _generator(model: GPT) -> Any:
    from ctranslate2.specs import TransformerDecoderModelSpec

    config, details = model.config, model.config.details
    problems = [
        f"{name} is {value!r}"
        for name, value, usual in (
            ("norm_first", config.norm_first, True),
            ("scale", details.scale, "width"),
            ("bias", details.bias, True),
        )
        if value != usual
    ]
    if problems:
        raise ValueError(f"CTranslate2 has no such GPT: {listed(problems)}; write ONNX of it")
    spec = TransformerDecoderModelSpec.from_config(
        config.depth, config.heads, pre_norm=True, activation=_activation(config.activation)
    )
    spec.decoder.scale_embeddings = False
    spec.decoder.embeddings.weight = _numbers(model.embed.weight)
    spec.decoder.position_encodings.encodings = _numbers(model.position.table)
    _norm(spec.decoder.layer_norm, model.norm)
    for layer, block in zip(spec.decoder.layer, model.decoder.blocks, strict=True):
        _block(layer, block)
    _linear(spec.decoder.projection, model.to_vocab)
    spec.config.layer_norm_epsilon = details.eps
    return spec


def _encoder(model: BERT) -> Any:
    from ctranslate2.specs import TransformerEncoderModelSpec, TransformerEncoderSpec
    from ctranslate2.specs.common_spec import EmbeddingsMerge

    config, pooler = model.config, model.head.pooler
    encoder = TransformerEncoderSpec(
        config.depth,
        config.heads,
        pre_norm=False,
        activation=_activation(config.activation),
        layernorm_embedding=True,
        num_source_embeddings=2,
        embeddings_merge=EmbeddingsMerge.ADD,
    )
    spec = TransformerEncoderModelSpec(encoder, pooling_layer=pooler is not None)
    encoder.scale_embeddings = False
    encoder.embeddings[0].weight = _numbers(model.embed.weight)
    encoder.embeddings[1].weight = _numbers(model.segment.weight)
    encoder.position_encodings.encodings = _numbers(model.position.table)
    _norm(encoder.layernorm_embedding, model.norm)
    stack: Any = model.encoder
    for layer, block in zip(encoder.layer, stack.blocks, strict=True):
        _block(layer, block)
    if pooler is not None:
        _linear(spec.pooler_dense, pooler.dense)
    spec.config.layer_norm_epsilon = config.eps
    return spec


def _block(layer: Any, block: Any) -> None:
    """One block of ours as a layer of theirs, where the projections of one input are one matrix."""
    _norm(layer.self_attention.layer_norm, block.attn_norm)
    _linear(layer.self_attention.linear[0], block.attn.q, block.attn.k, block.attn.v)
    _linear(layer.self_attention.linear[1], block.attn.out)
    if block.cross is not None:
        _norm(layer.attention.layer_norm, block.cross_norm)
        _linear(layer.attention.linear[0], block.cross.q)
        _linear(layer.attention.linear[1], block.cross.k, block.cross.v)
        _linear(layer.attention.linear[2], block.cross.out)
    _norm(layer.ffn.layer_norm, block.mlp_norm)
    _linear(layer.ffn.linear_0, block.mlp.up)
    _linear(layer.ffn.linear_1, block.mlp.down)


def _linear(spec: Any, *parts: Any) -> None:
    spec.weight = np.concatenate([_numbers(part.weight) for part in parts])
    if parts[0].bias is not None:
        spec.bias = np.concatenate([_numbers(part.bias) for part in parts])


def _norm(spec: Any, norm: Any) -> None:
    spec.gamma, spec.beta = _numbers(norm.weight), _numbers(norm.bias)


def _numbers(x: torch.Tensor) -> np.ndarray[Any, np.dtype[np.float32]]:
    return x.detach().float().cpu().numpy()


def _activation(name: str) -> Any:
    from ctranslate2.specs.common_spec import Activation

    return Activation[_ACTIVATIONS[name]]
