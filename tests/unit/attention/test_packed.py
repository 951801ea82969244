"""Texts one behind another in a row: each is answered as if it were alone."""

import pytest
import torch
from torch import Tensor

from regard.attention import Packed, causal, multihead, off, packed, read_visible, record
from regard.layers.position import Rotary

LENGTHS = [3, 5, 5, 1]


def texts(width: int = 16) -> list[Tensor]:
    return [torch.randn(1, length, width) for length in LENGTHS]


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("groups", [None, 2])
def test_a_packed_text_is_answered_as_if_it_were_alone(is_causal: bool, groups: int | None) -> None:
    attn, some = multihead(16, 4, groups=groups, rotary=Rotary(4)).eval(), texts()
    alone = [attn(x, visible=causal(x.shape[1]) if is_causal else None) for x in some]
    together = packed(LENGTHS, causal=is_causal)
    y = attn(torch.cat(some, dim=1), visible=together, positions=together.positions())
    torch.testing.assert_close(y, torch.cat(alone, dim=1))


def test_gradients_of_packed_texts_are_those_of_each() -> None:
    attn, some = multihead(16, 4), [x.requires_grad_() for x in texts()]
    attn(torch.cat(some, dim=1), visible=packed(LENGTHS)).square().sum().backward()
    gained = [x.grad for x in some]
    for x in some:
        x.grad = None
        attn(x).square().sum().backward()
    for x, before in zip(some, gained, strict=True):
        torch.testing.assert_close(x.grad, before)


def test_watching_packed_texts_shows_blocks_and_changes_nothing() -> None:
    attn, x = multihead(16, 4).eval(), torch.cat(texts(), dim=1)
    before = attn(x, visible=packed(LENGTHS))
    with record(attn) as trace:
        assert attn(x, visible=packed(LENGTHS)).equal(before)
    weights = trace.weights("")
    drawn = packed(LENGTHS).draw()
    assert (weights[..., ~drawn] == 0).all()
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(1, 4, 14))


def test_an_edit_of_packed_texts_is_honoured() -> None:
    attn, x = multihead(16, 4).eval(), torch.cat(texts(), dim=1)
    with record(attn, edits={"": off}):
        edited = attn(x, visible=packed(LENGTHS))
    assert not edited.allclose(attn(x, visible=packed(LENGTHS)))


def test_positions_and_beginnings_are_those_of_each_text() -> None:
    some = packed(torch.tensor([2, 3]))
    assert some.positions().tolist() == [[0, 1, 0, 1, 2]]
    assert some.firsts().tolist() == [0, 2]
    assert list(packed(LENGTHS).runs()) == [(0, 1, 3), (3, 2, 5), (13, 1, 1)]


def test_what_cannot_be_packed_is_refused_with_the_way_out() -> None:
    with pytest.raises(ValueError, match="1 token or more in each"):
        packed([3, 0])
    attn = multihead(16, 4)
    with pytest.raises(ValueError, match=r"packed texts of 14 tokens do not fit .* lie in one row"):
        attn(torch.randn(2, 14, 16), visible=packed(LENGTHS))
    with pytest.raises(ValueError, match="packed texts of 14 tokens do not fit a look of 9 queries"):
        attn(torch.randn(1, 9, 16), visible=packed(LENGTHS))


def test_positions_count_what_is_visible_wherever_padding_stands() -> None:
    visible = torch.tensor([[False, True, True, True], [True, True, False, False], [True, False, True, True]])
    mask, positions = read_visible(None, visible, 4)
    assert isinstance(mask, Tensor)
    assert mask.shape == (3, 1, 1, 4)
    assert positions is not None
    assert [row[seen].tolist() for row, seen in zip(positions, visible, strict=True)] == [[0, 1, 2], [0, 1], [0, 1, 2]]


def test_padding_is_said_once_and_in_the_right_shape() -> None:
    seen = torch.ones(2, 4, dtype=torch.bool)
    with pytest.raises(ValueError, match="give one of them"):
        read_visible(torch.tensor([4, 4]), seen, 4)
    with pytest.raises(ValueError, match="of texts it is bool, batch × 5"):
        read_visible(None, seen, 5)
    assert read_visible(None, None, 4) == (None, None)
    assert isinstance(read_visible(None, packed([4]), 4)[0], Packed)


def test_a_sliding_window_shows_the_newest_keys_alone() -> None:
    drawn = causal(4, window=2).draw()
    assert drawn.int().tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    assert causal(1, 4, window=2).draw().int().tolist() == [[0, 0, 1, 1]]
    with pytest.raises(ValueError, match="a window of 0 keys shows nothing"):
        causal(4, window=0)


def test_steps_through_a_sliding_window_equal_the_whole() -> None:
    attn, x = multihead(16, 4, rotary=Rotary(4), sliding_window=3).eval(), torch.randn(2, 9, 16)
    with torch.no_grad():
        whole, past, steps = attn(x, visible=causal(9)), None, []
        for piece in x.split([4, 1, 1, 3], dim=1):
            y, past = attn.step(piece, past)
            steps.append(y)
    torch.testing.assert_close(torch.cat(steps, dim=1), whole)
    changed = x.clone()
    changed[:, 0] += 1.0
    assert attn(changed, visible=causal(9))[:, 3:].equal(whole[:, 3:])
    assert not attn(changed, visible=causal(9))[:, 2].equal(whole[:, 2])


def test_a_sliding_window_is_counted_without_padding_between_two_steps() -> None:
    attn, x = multihead(16, 4, rotary=Rotary(4), sliding_window=3).eval(), torch.randn(1, 7, 16)
    real = torch.tensor([[True] * 4 + [False] * 2 + [True] * 3])
    padded = torch.cat((x[:, :4], torch.randn(1, 2, 16), x[:, 4:]), dim=1)
    positions = (real.cumsum(dim=1) - 1).clamp(min=0)
    with torch.no_grad():
        _, past = attn.step(padded[:, :6], visible=real[:, None, None, :6], positions=positions[:, :6])
        late, _ = attn.step(padded[:, 6:], past, positions=positions[:, 6:])
        whole = attn(x, visible=causal(7))
    torch.testing.assert_close(late, whole[:, 4:])
