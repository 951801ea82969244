"""Attention that begins as trained attention looks."""

import torch

from regard.attention import record
from regard.layers.mimetic import mimetic
from regard.models import build


def test_scores_have_a_positive_diagonal_and_what_is_blended_a_negative_one() -> None:
    torch.manual_seed(0)
    model = build("bert-nano", width=64)
    mimetic(model)
    for block in model.encoder.blocks:
        look = sum(q.T @ k for q, k in zip(block.attn.q.weight.chunk(4), block.attn.k.weight.chunk(4), strict=True))
        blend = block.attn.out.weight @ block.attn.v.weight
        assert look.diagonal().mean() > 5 * (look - look.diagonal().diag()).mean().abs()
        assert -0.6 < blend.diagonal().mean() < -0.25


@torch.no_grad()
def test_a_fresh_model_looks_near_itself_and_an_ordinary_one_evenly() -> None:
    def near(model: torch.nn.Module) -> float:
        with record(model.eval()) as trace:
            model(torch.randint(5, 48, (8, 32)))
        weights = trace.weights("encoder.blocks.0.attn").mean(dim=(0, 1))
        places = torch.arange(32)
        return weights[(places[:, None] - places).abs() <= 2].sum().item() / 32

    torch.manual_seed(0)
    ordinary, drawn = build("bert-nano", width=64), build("bert-nano", width=64)
    mimetic(drawn)
    assert near(ordinary) < 0.2  # 5 of 32 places
    assert near(drawn) > 0.3


def test_a_vit_begins_with_waves_and_attention_between_widths_is_left_alone() -> None:
    model = build("vit-nano")
    mimetic(model)
    table = model.positions[0].table
    assert not table[0].any()
    assert table[1:].std() < 0.03
    other = build("transformer-nano")
    before = other.state_dict()["decoder.blocks.0.cross.q.weight"].clone()
    mimetic(other)
    assert not other.state_dict()["decoder.blocks.0.cross.q.weight"].equal(before)  # of one width too
