"""What is true of cutting a map into groups, whatever its size."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from regard.attention import Atrous, Axis, Partitioned, Relative2d, Shifted, Window, causal, multihead, record
from regard.attention.partition import Partition

sides = st.integers(1, 11)
partitions = st.one_of(
    st.builds(Window, st.integers(1, 5)),
    st.integers(2, 5).flatmap(lambda size: st.builds(Shifted, st.just(size), st.integers(1, size - 1))),
    st.builds(Atrous, st.integers(1, 4)),
    st.builds(Axis, st.sampled_from(["rows", "columns"])),
)


def group_of(partition: Partition, row: int, column: int, height: int, width: int) -> tuple[int, int]:
    """Which group a token belongs to, from the papers' definitions and not from the code under test."""
    match partition:
        case Shifted(size, shift):
            # The window borders lie `shift` before the multiples of the size, on a side longer than one window.
            down, right = (shift if height > size else 0), (shift if width > size else 0)
            return (row + size - down) // size, (column + size - right) // size
        case Window(size):
            return row // size, column // size
        case Atrous(rate):
            return row % rate, column % rate
        case Axis("rows"):
            return row, 0
        case _:
            return 0, column


@given(partitions, st.integers(1, 3), sides, sides)
def test_merging_what_was_split_gives_it_back(partition: Partition, batch: int, height: int, width: int) -> None:
    x = torch.randn(batch, height, width, 2)
    assert partition.merge(partition.split(x), height, width).equal(x)


@given(partitions, sides, sides)
def test_attention_in_groups_equals_full_attention_where_only_the_group_is_visible(
    partition: Partition, height: int, width: int
) -> None:
    attn = multihead(8, 2).eval()
    x = torch.randn(2, height, width, 8)
    groups = [group_of(partition, row, column, height, width) for row in range(height) for column in range(width)]
    visible = torch.tensor([[a == b for b in groups] for a in groups])
    full: Tensor = attn(x.flatten(1, 2), visible=visible)
    torch.testing.assert_close(Partitioned(attn, partition)(x), full.view_as(x), atol=1e-5, rtol=1e-4)


@pytest.mark.usefixtures("as_users_meet_it")
def test_a_partition_that_cannot_be_is_refused() -> None:
    for build, words in (
        (lambda: Window(0), "a window of 0 tokens holds nothing"),
        (lambda: Shifted(4, 4), "a shift of 4 does not lie within windows of 4"),
        (lambda: Shifted(4, -2), "a shift of -2 does not lie within windows of 4"),
        (lambda: Atrous(0), "tokens 0 apart are none"),
        (lambda: Axis("row"), "no axis is called 'row'; choose rows or columns"),
    ):
        with pytest.raises(ValueError, match=words):
            build()


def test_a_partition_settles_who_sees_whom() -> None:
    with pytest.raises(ValueError, match="who sees whom is settled by the partition; leave visible out"):
        Partitioned(multihead(8, 2), Window(2))(torch.randn(1, 4, 4, 8), visible=causal(4))


def test_windows_carry_their_own_positions() -> None:
    attn = multihead(8, 2, bias=Relative2d(4, 2)).eval()
    torch.nn.init.normal_(attn.bias.table)
    x = torch.randn(1, 4, 4, 8)
    y = Partitioned(attn, Window(4))(x.repeat(1, 2, 3, 1))
    torch.testing.assert_close(y, Partitioned(attn, Window(4))(x).repeat(1, 2, 3, 1), atol=1e-6, rtol=1e-5)


def test_a_partitioned_attention_is_watched_like_any_other() -> None:
    model = Partitioned(multihead(8, 2), Shifted(4, 2))
    with record(model) as trace:
        model(torch.randn(2, 6, 9, 8))
    weights = trace.weights("attn")
    assert weights.shape == (2 * 2 * 3, 2, 16, 16)
    sums = weights.sum(dim=-1)
    assert ((sums - 1).abs().lt(1e-5) | sums.eq(0)).all()
