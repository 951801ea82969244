"""A GPT reads from the left, never looks ahead, and computes nothing twice while it writes."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from regard.attention import record
from regard.decode import beam, greedy
from regard.layers import DecoderState
from regard.models.gpt import GPT, PRESETS, Config, Details

NANO = PRESETS["gpt-nano"]
of_either_kind = pytest.mark.parametrize("first", [True, False])


def model(**changes: Any) -> GPT:
    """Of weights so large that what one word says is heard by the others."""
    one = GPT(replace(NANO, **changes)).eval()
    for parameter in one.parameters():
        nn.init.normal_(parameter, std=0.3)
    return one


def words(*shape: int) -> Tensor:
    return torch.randint(NANO.vocab, shape)


def close(one: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)


def written(one: GPT, pieces: list[Tensor], state: DecoderState) -> Tensor:
    logits = []
    for piece in pieces:
        after, state = one.step(piece, state)
        logits.append(after)
    return torch.cat(logits, dim=1)


@of_either_kind
def test_a_word_cannot_see_its_future(first: bool) -> None:
    one, ids = model(norm_first=first), words(1, 6)
    other = ids.clone()
    other[0, 3] = (ids[0, 3] + 1) % NANO.vocab
    before, after = one(ids), one(other)
    assert before[:, :3].equal(after[:, :3])
    assert before[:, 3:].ne(after[:, 3:]).any(dim=-1).all()


@of_either_kind
def test_padding_changes_nothing(first: bool) -> None:
    one, ids, lengths = model(norm_first=first), words(3, 7), torch.tensor([7, 4, 1])
    together = one(ids, lengths=lengths)
    for i, length in enumerate(lengths):
        close(together[i : i + 1, :length], one(ids[i : i + 1, :length]))


def test_padding_is_weighed_with_nothing() -> None:
    one = model()
    with record(one) as trace:
        one(words(2, 6), lengths=torch.tensor([6, 3]))
    weights = trace.weights("decoder.blocks.1.attn")
    assert weights[1, ..., 3:].eq(0.0).all()
    assert weights[0].eq(0.0).equal(torch.ones(6, 6, dtype=torch.bool).triu(1).expand(NANO.heads, 6, 6))


@given(
    st.booleans(),
    st.booleans(),
    st.sampled_from(["width", "layer", "none"]),
    st.lists(st.integers(1, 3), min_size=1, max_size=5),
)
def test_writing_in_steps_equals_reading_at_once(first: bool, learning: bool, scale: str, steps: list[int]) -> None:
    one, ids = model(norm_first=first, details=Details(scale=scale)), words(2, sum(steps))
    with torch.set_grad_enabled(learning):
        close(written(one, list(ids.split(steps, dim=1)), one.start(2)), one(ids))


@torch.no_grad()
def test_the_past_is_not_computed_again() -> None:
    one, counted = model(), list[int]()
    one.decoder.blocks[0].attn.k.register_forward_hook(lambda _, x, __: counted.append(x[0].shape[1]))
    written(one, list(words(2, 9).split([4, 1, 1, 3], dim=1)), one.start(2))
    assert counted == [4, 1, 1, 3]


@torch.no_grad()
def test_selected_rows_go_on_as_if_they_had_always_stood_there() -> None:
    one, ids, rows, newer = model(), words(2, 3), torch.tensor([1, 0, 1]), words(3, 2)
    _, state = one.step(ids, one.start(2))
    logits, _ = one.step(newer, state.select(rows))
    close(logits, one(torch.cat((ids[rows], newer), dim=1))[:, 3:])


@torch.no_grad()
@pytest.mark.parametrize("length", [1, 5])
def test_a_prompt_is_gone_on_with_greedily_and_by_beam_as_by_reading_all_of_it_again(length: int) -> None:
    one, prompt = model(), words(3, length)
    state = one.start(3)
    if length > 1:
        _, state = one.step(prompt[:, :-1], state)
    found = greedy(one.step, state, prompt[:, -1], stop=0, limit=6)
    for row, hypothesis in zip(prompt, found, strict=True):
        ids, chosen = row[None], list[int]()
        while len(chosen) < 6 and 0 not in chosen:
            chosen.append(int(one(ids)[0, -1].argmax()))
            ids = torch.cat((ids, torch.tensor([[chosen[-1]]])), dim=1)
        assert hypothesis.words == tuple(word for word in chosen if word != 0)
    for best, likeliest in zip(
        beam(one.step, state, prompt[:, -1], stop=0, limit=6, size=NANO.vocab, length_penalty=0.0), found, strict=True
    ):
        assert best[0].log_prob >= likeliest.log_prob - 1e-4
    assert one.cross_attentions == ()


def test_a_text_longer_than_the_context_is_refused_in_steps_too() -> None:
    one = model()
    with pytest.raises(ValueError, match="position 32 lies beyond a learned table of 32"):
        one(words(1, 33))
    _, state = one.step(words(1, 32), one.start(1))
    with pytest.raises(ValueError, match="position 32 lies beyond a learned table of 32"):
        one.step(words(1, 1), state)


def test_reading_and_writing_share_one_matrix() -> None:
    assert [name for name, p in model().named_parameters() if NANO.vocab in p.shape] == ["embed.weight"]


def test_only_norms_that_come_first_need_a_last_one() -> None:
    first, after = ({name for name, _ in model(norm_first=each).named_parameters()} for each in (True, False))
    assert first - after == {"norm.weight", "norm.bias"}


@of_either_kind
def test_what_joins_the_stream_starts_smaller_in_deeper_models_whose_stream_no_norm_holds_back(first: bool) -> None:
    one = GPT(Config(vocab=500, context=64, width=128, depth=8, heads=2, hidden=512, norm_first=first))
    for name, parameter in one.named_parameters():
        if parameter.ndim == 2:
            joins = first and name.endswith(("attn.out.weight", "mlp.down.weight"))
            assert parameter.std().item() == pytest.approx(0.02 / 4 if joins else 0.02, rel=0.05), name
        elif name.endswith("bias"):
            assert parameter.eq(0.0).all()


def test_dropout_thins_embeddings_branches_and_weights_in_training_alone() -> None:
    ids = words(1, 8)
    for change in ({"dropout": 0.5}, {"attn_dropout": 0.5}):
        one = GPT(replace(NANO, **{"dropout": 0.0, "attn_dropout": 0.0, **change}))
        assert not one(ids).equal(one(ids))
        one.eval()
        assert one(ids).equal(one(ids))
    one, seen = GPT(replace(NANO, dropout=0.5)), list[Tensor]()
    one.decoder.register_forward_pre_hook(lambda _, x: seen.append(x[0]))
    one(words(4, 32))
    assert 0.45 < seen[0].eq(0.0).float().mean() < 0.55


@pytest.mark.parametrize(
    ("size", "millions"),
    [
        *(("gpt-1", 117), ("gpt-2", 124), ("gpt-2-medium", 355), ("gpt-2-large", 774), ("gpt-2-xl", 1558)),
        *(("gpt-3-125m", 125), ("gpt-3-350m", 356), ("gpt-3-760m", 760), ("gpt-3-1.3b", 1300), ("gpt-3-2.7b", 2650)),
        *(("gpt-3-6.7b", 6660), ("gpt-3-13b", 12850), ("gpt-3-175b", 174600)),
    ],
)
def test_the_published_sizes_weigh_what_the_papers_say(size: str, millions: int) -> None:
    with torch.device("meta"):
        count = sum(p.numel() for p in GPT(PRESETS[size]).parameters())
    assert abs(count / 1e6 / millions - 1) < 0.02


@torch.no_grad()
@pytest.mark.parametrize(("scale", "factors"), [("width", (1, 1)), ("layer", (1, 1 / 2)), ("none", (8**0.5,) * 2)])
def test_scores_are_scaled_by_width_and_layer(scale: str, factors: tuple[float, float]) -> None:
    one, ids = model(details=Details(scale=scale)), words(1, 6)
    with record(one) as trace:
        one(ids)
    for layer, factor in enumerate(factors):
        look = trace[f"decoder.blocks.{layer}.attn"][0]
        scores = look.q @ look.k.mT * 8**-0.5 * factor
        close(look.weights(), scores.masked_fill(torch.ones(6, 6).triu(1).bool(), -torch.inf).softmax(dim=-1))


def test_heads_that_do_not_divide_the_width_are_refused() -> None:
    with pytest.raises(ValueError, match="width 32 does not split into 5 heads; try"):
        GPT(replace(NANO, heads=5, details=Details(scale="layer")))
