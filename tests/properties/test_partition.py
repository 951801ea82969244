"""What is true of cutting a map into groups, whatever its size."""

from copy import deepcopy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from regard.attention import (
    Atrous,
    Attention,
    Axis,
    Dilated,
    Grid,
    Layout,
    Partition,
    Partitioned,
    Relative2d,
    Shifted,
    Trace,
    Window,
    causal,
    multihead,
    record,
)
from regard.layers.blocks import Block
from regard.layers.mlp import MLP

sides = st.integers(1, 11)
partitions = st.one_of(
    st.builds(Window, st.integers(1, 5)),
    st.integers(2, 5).flatmap(lambda size: st.builds(Shifted, st.just(size), st.integers(1, size - 1))),
    st.builds(Atrous, st.integers(1, 4)),
    st.builds(Dilated, st.integers(1, 3), st.integers(1, 3)),
    st.builds(Grid, st.integers(1, 5)),
    st.builds(Axis, st.sampled_from(["rows", "columns"])),
)


def group_of(partition: Partition, row: int, column: int, height: int, width: int) -> tuple[int, int]:
    """Which group a token belongs to, from the papers' definitions and not from the code under test."""
    match partition:
        case Shifted(size, shift):
            # The window borders lie `shift` before the multiples of the size, on a side longer than one window.
            down, right = (shift if height > size else 0), (shift if width > size else 0)
            return (row + size - down) // size, (column + size - right) // size
        case Dilated(size, rate):
            # Of each class of cells `rate` apart, neighbours in that class share a window.
            return row % rate + 100 * (row // rate // size), column % rate + 100 * (column // rate // size)
        case Grid(size):
            # As many cells of a side as a window has, evenly apart.
            return row % -(-height // size), column % -(-width // size)
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


class Whole(nn.Module):
    """Attention over all of a map at once, with a mask in place of the groups."""

    def __init__(self, attn: Attention, partition: Partition) -> None:
        super().__init__()
        self.attn, self.partition = attn, partition

    def forward(
        self,
        x: Tensor,
        *,
        where: Tensor | None = None,
        visible: Tensor | None = None,
        positions: Tensor | None = None,
    ) -> Tensor:
        _, height, width, _ = x.shape
        places = [(row, column) for row in range(height) for column in range(width)]
        groups = [group_of(self.partition, row, column, height, width) for row, column in places]
        alike = torch.tensor([[a == b for b in groups] for a in groups])
        y: Tensor = self.attn(x.flatten(1, 2), visible=alike[None, None])
        return y.view_as(x)


class WholeBias(nn.Module):
    """A window's table, read for all pairs of cells of a map."""

    def __init__(self, bias: Relative2d, height: int, width: int) -> None:
        super().__init__()
        tall, wide = bias.window
        cells = torch.cartesian_prod(torch.arange(height), torch.arange(width))
        down, right = (cells[:, None] - cells[None]).unbind(-1)
        # Cells farther from each other than a window do not see each other: any number will do.
        down, right = down.clamp(1 - tall, tall - 1) + tall - 1, right.clamp(1 - wide, wide - 1) + wide - 1
        self.bias = bias.table[down * (2 * wide - 1) + right].permute(2, 0, 1)[None].detach()

    def forward(self, q: Tensor, k: Tensor) -> Tensor:
        return self.bias


def unfolded(trace: Trace, name: str) -> Tensor:
    look = trace[name][0]
    return look.layout.unfold(look.weights())


def near(one: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


@given(partitions, sides, sides)
def test_attention_in_groups_equals_full_attention_where_only_the_group_is_visible(
    partition: Partition, height: int, width: int
) -> None:
    grouped, x = Partitioned(multihead(8, 2).eval(), partition), torch.randn(2, height, width, 8)
    whole = Whole(grouped.attn, partition)
    with record(grouped) as trace:
        y = grouped(x)
    with record(whole) as full:
        near(y, whole(x))
    near(unfolded(trace, "attn"), full.weights("attn"))


@given(st.sampled_from([2, 3, 4]), sides, sides)
def test_a_swin_shows_its_weights_over_the_whole_picture(size: int, height: int, width: int) -> None:
    def block(partition: Partition) -> Block:
        attn = multihead(8, 2, bias=Relative2d(size, 2))
        nn.init.normal_(attn.bias.table)
        return Block(8, Partitioned(attn, partition), MLP(8))

    swin = nn.Sequential(block(Window(size)), block(Shifted(size, size // 2))).eval()
    whole = deepcopy(swin)
    for each in whole:
        each.attn.attn.bias = WholeBias(each.attn.attn.bias, height, width)
        each.attn = Whole(each.attn.attn, each.attn.partition)
    x = torch.randn(2, height, width, 8)
    with record(swin) as trace, torch.no_grad():
        y = swin(x)
    with record(whole) as full, torch.no_grad():
        near(y, whole(x))
    assert trace.names == full.names == ["0.attn.attn", "1.attn.attn"]
    for name in trace.names:
        near(unfolded(trace, name), full.weights(name))


def test_pooled_keys_are_a_smaller_map_beside_that_of_the_queries() -> None:
    attn, x, pooled = multihead(8, 2), torch.randn(2, 24, 8), torch.randn(2, 6, 8)
    with record(attn) as trace:
        attn(x, attn.remember(pooled), layout=Layout(4, 6, keys=(2, 3)))
    assert unfolded(trace, "").equal(trace.weights(""))
    words = "24 queries at 6 keys are not those of a map of 4×6 that looks at one of 4×6"
    with pytest.raises(ValueError, match=words):
        Layout(4, 6).unfold(trace.weights(""))
    with pytest.raises(ValueError, match=r"groups of Window\(size=2\) hold their own keys; leave keys=\(2, 3\) out"):
        Layout(4, 6, Window(2), keys=(2, 3))


def test_where_is_cut_as_the_map_is() -> None:
    attn, x, where = multihead(8, 2).eval(), torch.randn(2, 5, 6, 8), torch.randn(1, 5, 6, 8)
    same = where.expand_as(x).flatten(1, 2)
    whole = attn(x.flatten(1, 2), where=same).view_as(x)
    near(Partitioned(attn, Window(6))(x, where=where), whole)


@pytest.mark.usefixtures("as_users_meet_it")
def test_a_partition_that_cannot_be_is_refused() -> None:
    for build, words in (
        (lambda: Window(0), "a window of 0 tokens holds nothing"),
        (lambda: Shifted(4, 4), "a shift of 4 does not lie within windows of 4"),
        (lambda: Shifted(4, -2), "a shift of -2 does not lie within windows of 4"),
        (lambda: Atrous(0), "tokens 0 apart are none"),
        (lambda: Dilated(4, 0), "windows of 4 tokens 0 apart hold nothing"),
        (lambda: Grid(0), "a window of 0 tokens holds nothing"),
        (lambda: Axis("row"), "no axis is called 'row'; choose rows or columns"),
    ):
        with pytest.raises(ValueError, match=words):
            build()


def test_a_partition_settles_who_sees_whom() -> None:
    with pytest.raises(
        ValueError, match="who sees whom, and where, is settled by the partition; leave visible and positions out"
    ):
        Partitioned(multihead(8, 2), Window(2))(torch.randn(1, 4, 4, 8), visible=causal(4))


@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 3))
def test_a_dilation_of_one_is_a_window_and_one_that_spans_the_map_a_grid(size: int, rate: int, windows: int) -> None:
    x = torch.randn(2, size * rate, size * rate * windows, 2)
    assert Dilated(size, 1).split(x).equal(Window(size).split(x))
    square = x[:, :, : size * rate]
    assert Dilated(size, rate).split(square).equal(Grid(size).split(square))
    assert Grid(size).split(square).equal(Atrous(rate).split(square))


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
