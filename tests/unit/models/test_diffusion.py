"""A denoiser that looks at words."""

import pytest
import torch

from regard.attention import record
from regard.models import build
from regard.models.diffusion import Config


def awake(fine: int = 0) -> torch.nn.Module:
    """One whose gates are open, as training leaves it."""
    torch.manual_seed(0)
    model = build("diffusion-nano", fine=fine).eval()
    with torch.no_grad():
        for each in model.parameters():
            each.add_(0.1 * torch.randn_like(each))
    return model


@pytest.mark.parametrize("fine", [0, 8])
def test_a_fresh_model_says_nothing_yet(fine: int) -> None:
    model = build("diffusion-nano", fine=fine)
    said = model(torch.randn(2, 3, 16, 16), torch.rand(2), torch.randint(48, (2, 5)))
    assert said.shape == (2, 3, 16, 16)
    assert not said.any()


@pytest.mark.parametrize("fine", [0, 8])
@torch.no_grad()
def test_it_minds_the_time_the_words_and_their_order(fine: int) -> None:
    model, x, ids = awake(fine), torch.randn(1, 3, 16, 16), torch.tensor([[5, 6, 7]])
    said = model(x, torch.tensor([0.5]), ids)
    assert not torch.allclose(said, model(x, torch.tensor([0.6]), ids))
    assert not torch.allclose(said, model(x, torch.tensor([0.5]), ids.flip(-1)))
    assert not torch.allclose(said, model(x, torch.tensor([0.5]), torch.tensor([[5, 6, 8]])))


@torch.no_grad()
def test_padding_is_not_read() -> None:
    model, x, time = awake(), torch.randn(1, 3, 16, 16), torch.tensor([0.5])
    short = model(x, time, torch.tensor([[5, 6]]))
    padded = model(x, time, torch.tensor([[5, 6, 9, 9]]), lengths=torch.tensor([2]))
    torch.testing.assert_close(short, padded, atol=1e-5, rtol=1e-4)


@torch.no_grad()
def test_words_are_read_once_for_all_steps() -> None:
    model, x, time, ids = awake(), torch.randn(2, 3, 16, 16), torch.rand(2), torch.randint(48, (2, 5))
    state = model.start(ids)
    assert model.step(x, time, state).equal(model(x, time, ids))
    with record(model) as trace:
        model.step(x, time, state)
    assert set(model.cross_attentions) < set(trace)
    assert not any("encoder" in name for name in trace)
    assert trace.weights("blocks.1.cross").shape == (2, 4, 16, 5)


@torch.no_grad()
def test_each_patch_is_put_where_it_was_cut() -> None:
    model = awake()
    for block in model.blocks:  # nobody looks at anybody, so that a patch depends on itself alone
        block.attn.out.weight.zero_()
    x = torch.randn(1, 3, 16, 16)
    other = x.clone()
    other[:, :, 4:8, 12:16] += 1
    time, ids = torch.ones(1), torch.ones(1, 2, dtype=torch.long)
    changed = (model(x, time, ids) != model(other, time, ids)).any(dim=1)
    assert changed[0, 4:8, 12:16].all()
    changed[0, 4:8, 12:16] = False
    assert not changed.any()


@torch.no_grad()
def test_with_convolutions_an_outline_passes_by_the_transformer() -> None:
    model = awake(fine=8)
    model.to_patch.weight.zero_()  # nothing leaves the Transformer
    x = torch.randn(1, 3, 16, 16)
    other = x.clone()
    other[:, :, 7, 9] += 1
    time, ids = torch.ones(1), torch.ones(1, 2, dtype=torch.long)
    assert not torch.allclose(model(x, time, ids), model(other, time, ids))


def test_sizes_that_do_not_divide_are_refused() -> None:
    with pytest.raises(ValueError, match="a picture of 30 does not divide into patches of 4"):
        Config(size=30, patch=4)
    with pytest.raises(ValueError, match="give a multiple of 4"):
        Config(width=30)
    with pytest.raises(ValueError, match="never make patches of 1; give 2, 4, 8 or 16"):
        Config(patch=1, fine=8)
