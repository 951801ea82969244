"""Blocks, what joins them, and how positions enter a stack of them."""

import math

import pytest
import torch
from torch import nn

from regard.attention import Partitioned, Window, causal, multihead, padding
from regard.layers.blocks import Block, GatedBlock, PostNormBlock
from regard.layers.mlp import MLP, GatedMLP
from regard.layers.position import Learned, Sinusoidal
from regard.layers.residual import Residual
from regard.layers.stack import Stack

BLOCKS = {
    "pre-norm": lambda: Block(16, multihead(16, 4), MLP(16)),
    "pre-norm RMS gated": lambda: Block(16, multihead(16, 4, groups=2), GatedMLP(16), norm=nn.RMSNorm, layer_scale=0.1),
    "post-norm": lambda: PostNormBlock(16, multihead(16, 4), MLP(16)),
}


@pytest.mark.parametrize("kind", list(BLOCKS))
@torch.no_grad()
def test_a_block_goes_step_by_step_as_it_goes_at_once(kind: str) -> None:
    block, x = BLOCKS[kind]().eval(), torch.randn(2, 7, 16)
    whole, past, steps = block(x, visible=causal(7)), None, []
    for piece in x.split([3, 1, 1, 2], dim=1):
        y, past = block.step(piece, past)
        steps.append(y)
    torch.testing.assert_close(torch.cat(steps, dim=1), whole, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("kind", list(BLOCKS))
@torch.no_grad()
def test_prompts_of_different_lengths_are_continued_together(kind: str) -> None:
    block, x, word = BLOCKS[kind]().eval(), torch.randn(2, 4, 16), torch.randn(2, 1, 16)
    _, past = block.step(x, visible=padding(torch.tensor([4, 2]), 4))
    together, _ = block.step(word, past)
    for i, n in enumerate((4, 2)):
        _, alone = block.step(x[i : i + 1, :n])
        torch.testing.assert_close(together[i : i + 1], block.step(word[i : i + 1], alone)[0], atol=1e-5, rtol=1e-4)


def test_a_gate_opens_by_its_hyperbolic_tangent() -> None:
    block, x = GatedBlock(16, multihead(16, 4), MLP(16)), torch.randn(1, 4, 16)
    context = block.cross.remember(torch.randn(1, 5, 16))
    block.cross_gate.data.fill_(0.5)
    block.mlp_gate.data.fill_(2.0)
    y = x + math.tanh(0.5) * block.cross(block.cross_norm(x), context)
    torch.testing.assert_close(block(x, context), y + math.tanh(2.0) * block.mlp(block.mlp_norm(y)))


def test_dropout_thins_the_branch_and_the_thought() -> None:
    x = torch.randn(2, 30, 16)
    for module in (MLP(16, dropout=0.5), GatedMLP(16, dropout=0.5), Block(16, multihead(16, 4), MLP(16), dropout=0.5)):
        assert not module(x).equal(module(x))
        module.eval()
        assert module(x).equal(module(x))


@torch.no_grad()
def test_each_block_of_a_stack_looks_at_its_own_context() -> None:
    model = Stack(Block(16, multihead(16, 4), MLP(16), cross=multihead(16, 4)) for _ in range(3)).eval()
    x, encoded = torch.randn(1, 4, 16), torch.randn(1, 5, 16)
    contexts = [block.cross.remember(encoded) for block in model.blocks]
    y = x
    for block, context in zip(model.blocks, contexts, strict=True):
        y = block(y, context, visible=causal(4))
    torch.testing.assert_close(model(x, contexts, visible=causal(4)), y)
    torch.testing.assert_close(model.step(x, None, contexts)[0], y)
    with pytest.raises(ValueError, match="2 contexts do not go with 3 blocks; give one for each"):
        model(x, contexts[:2])


def test_a_pre_norm_stream_runs_through_untouched_when_the_branches_are_silent() -> None:
    block, x = Block(16, multihead(16, 4), MLP(16)), torch.randn(2, 3, 16)
    for silent in (block.attn.out, block.mlp.down):
        nn.init.zeros_(silent.weight)
        nn.init.zeros_(silent.bias)
    assert block(x).equal(x)


def test_a_gated_block_starts_closed_and_can_open() -> None:
    block, x = GatedBlock(16, multihead(16, 4, context=8), MLP(16)), torch.randn(2, 3, 16)
    context = block.cross.remember(torch.randn(2, 5, 8))
    y = block(x, context)
    assert y.equal(x)
    y.sum().backward()
    assert block.cross_gate.grad is not None
    assert block.cross_gate.grad.abs() > 0
    nn.init.ones_(block.cross_gate)
    assert not block(x, context).isclose(x).all()


def test_text_before_any_image_passes_a_gated_block_as_without_images() -> None:
    block, x = GatedBlock(16, multihead(16, 4, qkv_bias=False, out_bias=False), MLP(16)), torch.randn(1, 4, 16)
    nn.init.ones_(block.cross_gate)
    visible = torch.tensor([[False] * 5, [False] * 5, [True] * 5, [True] * 5])
    y = block(x, block.cross.remember(torch.randn(1, 5, 16)), visible=visible)
    assert y[:, :2].equal(x[:, :2])
    assert not y[:, 2:].isclose(x[:, 2:]).all()


@pytest.mark.parametrize("kind", [Block, PostNormBlock])
def test_a_context_is_neither_forgotten_nor_ignored(kind: type[Block]) -> None:
    x = torch.randn(1, 3, 16)
    looking, alone = (kind(16, multihead(16, 4), MLP(16), cross=cross) for cross in (multihead(16, 4), None))
    with pytest.raises(ValueError, match=r"looks at a context; give it context=block.cross.remember\(encoded\)"):
        looking(x)
    with pytest.raises(ValueError, match="looks at no context; build it with cross=multihead"):
        alone(x, looking.cross.remember(x))


@pytest.mark.parametrize("kind", [Block, PostNormBlock])
def test_positions_reach_queries_and_keys_but_no_value(kind: type[Block]) -> None:
    block, x, where = kind(16, multihead(16, 4), MLP(16)), torch.randn(2, 5, 16), torch.randn(5, 16)[None]
    assert not block(x, where=where).isclose(block(x)).all()
    for asking in (block.attn.q, block.attn.k):
        nn.init.zeros_(asking.weight)
    torch.testing.assert_close(block(x, where=where), block(x))


@pytest.mark.parametrize("kind", [Block, PostNormBlock])
def test_what_is_hidden_of_a_context_is_not_looked_at(kind: type[Block]) -> None:
    block, x, encoded = kind(16, multihead(16, 4), MLP(16), cross=multihead(16, 4)), *torch.randn(2, 1, 5, 16)
    hidden = block(x, block.cross.remember(encoded), context_visible=padding(torch.tensor([3]), 5))
    torch.testing.assert_close(hidden, block(x, block.cross.remember(encoded[:, :3])))
    assert not hidden.isclose(block(x, block.cross.remember(encoded))).all()


def test_a_stack_hands_positions_and_masks_to_each_of_its_blocks() -> None:
    model = Stack(Block(16, multihead(16, 4), MLP(16), cross=multihead(16, 4)) for _ in range(2))
    x, where, encoded = torch.randn(3, 1, 5, 16)
    contexts, mask = [block.cross.remember(encoded) for block in model.blocks], padding(torch.tensor([3]), 5)
    y = x
    for block, context in zip(model.blocks, contexts, strict=True):
        y = block(y, context, where=where, visible=causal(5), context_visible=mask)
    assert model(x, contexts, where=where, visible=causal(5), context_visible=mask).equal(y)


def test_skipped_branches_keep_the_expected_sum() -> None:
    join = Residual(4, drop_path=0.25)
    x, branch = torch.zeros(40_000, 1, 4), torch.ones(40_000, 1, 4)
    y = join(x, branch)
    assert y.unique().tolist() == pytest.approx([0.0, 1 / 0.75])
    assert y.mean().item() == pytest.approx(1.0, abs=0.02)
    assert join.eval()(x, branch).equal(branch)


def test_a_skip_of_one_would_leave_nothing() -> None:
    with pytest.raises(ValueError, match=r"drop_path 1.0 leaves no sample to learn from; give 0 to below 1"):
        Residual(4, drop_path=1.0)


def test_layer_scale_starts_small_and_is_learned() -> None:
    join = Residual(4, layer_scale=1e-4)
    join(torch.zeros(1, 1, 4), torch.ones(1, 1, 4)).sum().backward()
    assert join(torch.zeros(1, 1, 4), torch.ones(1, 1, 4)).unique().item() == pytest.approx(1e-4)
    assert join.layer_scale is not None
    assert join.layer_scale.grad is not None


def test_a_gated_mlp_weighs_as_much_as_a_plain_one() -> None:
    def weight(module: nn.Module) -> int:
        return sum(p.numel() for name, p in module.named_parameters() if name.endswith("weight"))

    assert weight(GatedMLP(96)) == weight(MLP(96))


def stack(inject: str, position: type[nn.Module] = Learned) -> Stack:
    blocks = [Block(16, multihead(16, 4), MLP(16)) for _ in range(3)]
    return Stack(blocks, lambda: Learned(12, 16) if position is Learned else Sinusoidal(16), inject=inject).eval()


def parameters(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


def test_positions_enter_once_or_at_every_layer_or_shared() -> None:
    one_table = 12 * 16
    assert [len(stack(inject).positions) for inject in ("once", "every", "shared")] == [1, 3, 1]
    assert parameters(stack("every")) - parameters(stack("once")) == 2 * one_table
    x = torch.randn(1, 5, 16)
    shared = stack("shared")
    once = Stack(shared.blocks, lambda: shared.positions[0]).eval()
    assert not shared(x).isclose(once(x)).all()


def test_one_encoding_will_do_where_one_is_enough() -> None:
    blocks = [Block(16, multihead(16, 4), MLP(16)) for _ in range(3)]
    position, x = Learned(12, 16), torch.randn(1, 5, 16)
    for inject in ("once", "shared"):
        assert Stack(blocks, position, inject=inject)(x).equal(Stack(blocks, lambda: position, inject=inject)(x))
    with pytest.raises(ValueError, match="3 blocks need 3 encodings of their own; give a maker"):
        Stack(blocks, position, inject="every")


@pytest.mark.parametrize("inject", ["once", "every", "shared"])
@pytest.mark.parametrize("position", [Learned, Sinusoidal])
@torch.no_grad()
def test_a_stack_knows_where_it_is_when_it_goes_step_by_step(inject: str, position: type[nn.Module]) -> None:
    model, x = stack(inject, position), torch.randn(2, 9, 16)
    past, steps = None, []
    for piece in x.split([4, 1, 1, 3], dim=1):
        y, past = model.step(piece, past)
        steps.append(y)
    torch.testing.assert_close(torch.cat(steps, dim=1), model(x, visible=causal(9)), atol=1e-5, rtol=1e-4)


def test_a_windowed_block_does_not_go_in_steps() -> None:
    block = Block(16, Partitioned(multihead(16, 4), Window(2)), MLP(16))
    assert block(torch.randn(1, 4, 4, 16), where=torch.randn(1, 4, 4, 16)).shape == (1, 4, 4, 16)
    with pytest.raises(TypeError, match="Partitioned has no past to continue; only a block around an Attention"):
        block.step(torch.randn(1, 4, 16))


@pytest.mark.usefixtures("as_users_meet_it")
def test_an_unknown_injection_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="positions cannot enter 'twice'; choose from once, every, shared"):
        stack("twice")
