"""Masks are pictures of who sees whom; here they are, drawn."""

import pytest
import torch
from torch import Tensor
from torch._subclasses import FakeTensorMode

from regard.attention import Causal, both, causal, either, local, media, multihead, padding, prefix, strided


def drawn(mask: Tensor | Causal | None) -> list[str]:
    assert mask is not None
    return ["".join(".█"[int(cell)] for cell in row) for row in (mask.draw() if isinstance(mask, Causal) else mask)]


def test_causal_sees_the_past_and_itself() -> None:
    assert drawn(causal(4)) == ["█...", "██..", "███.", "████"]


def test_new_queries_are_the_newest_of_the_keys() -> None:
    assert drawn(causal(2, 4)) == ["███.", "████"]


def test_local_sees_its_neighbours() -> None:
    assert drawn(local(5, reach=1)) == ["██...", "███..", ".███.", "..███", "...██"]


def test_dilated_skips_the_keys_between() -> None:
    assert drawn(local(6, reach=1, step=2)) == ["█.█...", ".█.█..", "█.█.█.", ".█.█.█", "..█.█.", "...█.█"]


def test_strided_sees_every_second_key_at_any_distance() -> None:
    assert drawn(strided(4, step=2)) == ["█.█.", ".█.█", "█.█.", ".█.█"]


def test_prefix_is_seen_by_all_and_sees_itself_both_ways() -> None:
    assert drawn(prefix(4, length=2)) == ["██..", "██..", "███.", "████"]


def test_padding_hides_what_follows_each_sentence() -> None:
    mask = padding(torch.tensor([1, 3]), 3)
    assert mask.shape == (2, 1, 1, 3)
    assert drawn(mask[:, 0, 0]) == ["█..", "███"]


def test_text_sees_the_latest_image_before_it_and_none_before_the_first() -> None:
    text = torch.tensor([[0, 1, 0, 1, 0]]).bool()  # a word, an image, a word, an image, a word
    assert drawn(media(text, latents=2)[0, 0]) == ["....", "██..", "██..", "..██", "..██"]


def test_media_leaves_room_for_images_that_a_text_does_not_have() -> None:
    assert media(torch.tensor([[1, 0]]).bool(), latents=2, count=3).shape == (1, 1, 2, 6)


def test_both_hides_what_either_hides() -> None:
    assert drawn(both(causal(3), local(3, reach=1))) == ["█..", "██.", ".██"]
    assert drawn(either(causal(3), local(3, reach=1))) == ["██.", "███", "███"]


def test_new_queries_are_the_newest_in_every_mask() -> None:
    assert drawn(local(2, 4, reach=1)) == [".███", "..██"]
    assert drawn(strided(2, 4, step=2)) == ["█.█.", ".█.█"]
    assert drawn(prefix(2, 4, length=1)) == ["███.", "████"]


def test_two_causal_masks_are_one_and_stay_undrawn() -> None:
    assert both(causal(3), causal(3)) == causal(3)


def test_none_hides_nothing() -> None:
    assert both(None, None) is None
    assert both(None, causal(3)) == causal(3)
    assert either(None, causal(3)) is None


def test_more_queries_than_keys_cannot_be_the_newest() -> None:
    for mask in (causal, lambda q, k: local(q, k, reach=1), lambda q, k: prefix(q, k, length=1)):
        with pytest.raises(ValueError, match=r"5 queries cannot be the newest of 3 keys; give 1 to 3 queries"):
            mask(5, 3)


# What people get wrong, and what they are told.

WRONG = {
    "a forgotten bracket": (causal, TypeError, r"visible is a function, which is no mask; did you mean causal\(4\)\?"),
    "a word": ("causal", TypeError, r"visible is a str, which is no mask; write causal\(4\)"),
    "a float mask": (
        torch.zeros(4, 4),
        TypeError,
        r"float32, but it must be bool.* visible == 0 if it holds 0 and -inf, .* with bias=lambda q, k: mask",
    ),
    "a mask of ones": (torch.ones(4, 4).long(), TypeError, r"int64, but it must be bool.* write visible.bool\(\)"),
    "three dimensions": (torch.ones(2, 4, 4).bool(), ValueError, r"\(2, 4, 4\), which could mean batch or heads"),
    "padding as a table": (torch.ones(2, 4).bool(), ValueError, r"\(2, 4\).* padding is padding\(lengths, 4\)"),
    "another length": (torch.ones(4, 5).bool(), ValueError, r"\(4, 5\), which does not fit a look of 4 queries at 4"),
    "causal of another length": (causal(5), ValueError, r"causal\(5, 5\) does not fit .* write causal\(4, 4\)"),
}


@pytest.mark.usefixtures("as_users_meet_it")
@pytest.mark.parametrize("mistake", list(WRONG))
def test_a_mask_that_would_be_misread_is_refused(mistake: str) -> None:
    mask, error, words = WRONG[mistake]
    with pytest.raises(error, match=words):
        multihead(8, 2)(torch.randn(2, 4, 8), visible=mask)


PADDING = {
    "right": torch.arange(4) < torch.tensor([[4], [2], [3], [1]]),
    "left": torch.arange(4) >= torch.tensor([[0], [2], [1], [0]]),
    "hardly": torch.arange(4) < torch.tensor([[4], [4], [3], [4]]),
    "sorted": torch.arange(4) < torch.tensor([[3], [4], [4], [4]]),
}


@pytest.mark.parametrize("padded", list(PADDING))
def test_padding_is_not_read_as_queries_by_keys_where_batch_and_length_agree(padded: str) -> None:
    attn, x, table = multihead(8, 2).eval(), torch.randn(4, 4, 8), PADDING[padded]
    words = r"looks like padding, batch × keys.* write visible\[:, None, None\] if it is padding, visible\[None, None\]"
    with pytest.raises(ValueError, match=words):
        attn(x, visible=table)
    torch.testing.assert_close(attn(x, visible=table[:, None, None])[:1], attn(x[:1], visible=table[:1]))
    torch.testing.assert_close(attn(x, visible=table[None, None])[:1], attn(x[:1], visible=table))


@pytest.mark.parametrize(
    "mask",
    [
        causal(4).draw(),
        causal(4).draw().flip(0, 1),
        prefix(4, length=2),
        local(4, reach=1),
        strided(4, step=2),
        both(causal(4), local(4, reach=1)),
        torch.ones(4, 4).bool(),
        torch.eye(4).bool(),
    ],
)
def test_masks_between_queries_and_keys_pass_where_batch_and_length_agree(mask: Tensor) -> None:
    attn, x = multihead(8, 2).eval(), torch.randn(4, 4, 8)
    torch.testing.assert_close(attn(x, visible=mask), torch.cat([attn(one[None], visible=mask) for one in x]))


def test_a_float_mask_is_added_as_the_message_says() -> None:
    mask, x = torch.zeros(4, 4).masked_fill(~causal(4).draw(), -torch.inf), torch.randn(2, 4, 8)
    attn = multihead(8, 2, bias=lambda q, k: mask)
    expected = attn(x)
    attn.bias = None
    torch.testing.assert_close(attn(x, visible=mask == 0), expected)


@pytest.mark.usefixtures("as_users_meet_it")
def test_lengths_must_be_there_and_fit() -> None:
    with pytest.raises(ValueError, match=r"lengths \[3, 9\] do not lie between 0 and the 5 keys"):
        padding(torch.tensor([3, 9]), 5)
    with pytest.raises(TypeError, match=r"lengths is a list; write torch.tensor\(lengths\)"):
        padding([3, 5], 5)


@pytest.mark.usefixtures("as_users_meet_it")
def test_masks_are_made_where_there_are_no_numbers_to_check() -> None:
    lengths, tables = torch.tensor([[1, 3], [2, 2]]), torch.rand(3, 4, 4) < 0.5
    assert torch.vmap(lambda each: padding(each, 3))(lengths).equal(torch.stack([padding(each, 3) for each in lengths]))
    attn, x = multihead(8, 2).eval(), torch.randn(4, 4, 8)
    every = torch.vmap(lambda table: attn(x, visible=table))(tables)
    torch.testing.assert_close(every[0], attn(x, visible=tables[:1, None]))
    with FakeTensorMode():
        assert padding(torch.tensor([1, 3]), 3).shape == (2, 1, 1, 3)
        assert multihead(8, 2)(torch.randn(4, 4, 8), visible=torch.ones(4, 4).bool()).shape == (4, 4, 8)


@pytest.mark.usefixtures("as_users_meet_it")
def test_a_memory_takes_padding_only() -> None:
    with pytest.raises(ValueError, match="which does not fit a look of 1 queries at 4 keys"):
        multihead(8, 2).remember(torch.randn(2, 4, 8), visible=torch.ones(2, 1, 4, 4).bool())
