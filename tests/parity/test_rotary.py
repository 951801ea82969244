"""Rotations as transformers turns them."""

import pytest
import torch
from transformers import LlamaConfig
from transformers.models.gptj import modeling_gptj
from transformers.models.llama import modeling_llama

from regard.layers.position import Rotary


@pytest.mark.parametrize(("base", "start"), [(10000.0, 0), (10000.0, 300), (500000.0, 2000)])
def test_llama_turns_alike(base: float, start: int) -> None:
    config = LlamaConfig(
        hidden_size=64, num_attention_heads=4, rope_parameters={"rope_type": "default", "rope_theta": base}
    )
    q, k = torch.randn(2, 4, 7, 16), torch.randn(2, 2, 7, 16)
    cos, sin = modeling_llama.LlamaRotaryEmbedding(config)(q, torch.arange(start, start + 7)[None])
    theirs = modeling_llama.apply_rotary_pos_emb(q, k, cos, sin)
    ours = Rotary(16, base)
    # Their angles are float32: at place 2000 they are off by up to 2000 · 2⁻²³.
    for x, turned in zip((q, k), theirs, strict=True):
        assert torch.allclose(ours(x, start), turned, atol=1e-6 + start * 5e-7)


@pytest.mark.parametrize("start", [0, 300])
def test_gptj_turns_alike_and_leaves_the_rest_of_each_head(start: int) -> None:
    x = torch.randn(2, 4, 7, 32)
    sin, cos = modeling_gptj.create_sinusoidal_positions(start + 7, 16)[None, start:].chunk(2, dim=-1)
    turned = modeling_gptj.apply_rotary_pos_emb(x[..., :16].transpose(1, 2), sin, cos).transpose(1, 2)
    theirs = torch.cat((turned, x[..., 16:]), dim=-1)
    assert torch.allclose(Rotary(16, interleaved=True)(x, start), theirs, atol=1e-6 + start * 5e-7)
