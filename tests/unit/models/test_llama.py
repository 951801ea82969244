"""A Llama turns what it looks for by where it stands, and what it wrote is not computed again."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from regard.attention import packed, record
from regard.layers import DecoderState
from regard.layers.position import Dynamic, Linear, Llama3, LongRope, Scaling, Yarn
from regard.models.llama import PRESETS, Config, Details, Llama, Turn

NANO = PRESETS["llama-nano"]
WINDOWS = replace(NANO, sliding_window=(3, None), tied=True, details=Details(qk_norm=True, head_width=12))
KINDS = {
    "llama": NANO,
    "mistral": replace(NANO, sliding_window=3),
    "qwen2": replace(NANO, groups=1, details=Details(qkv_bias=True)),
    "qwen3": WINDOWS,
}
LONG = LongRope((1.0,) * 4, (4.0, 3.0, 2.0, 1.0), 6, 1.2)
SCALINGS: tuple[Scaling, ...] = (Linear(2.0), Yarn(4.0, 8), Llama3(8.0, 8), LongRope((2.0,) * 4, (2.0,) * 4, 4))
of_every_kind = pytest.mark.parametrize("kind", KINDS)


def model(config: Config) -> Llama:
    """Of weights so large that what one word says is heard by the others."""
    one = Llama(config).eval()
    for parameter in one.parameters():
        nn.init.normal_(parameter, std=0.3)
    return one


def scaled(scaling: Scaling) -> Llama:
    return model(replace(NANO, turn=Turn(100.0, scaling)))


def words(*shape: int) -> Tensor:
    return torch.randint(NANO.vocab, shape)


def close(one: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)


def written(one: Llama, pieces: list[Tensor], state: DecoderState) -> Tensor:
    logits = []
    for piece in pieces:
        after, state = one.step(piece, state)
        logits.append(after)
    return torch.cat(logits, dim=1)


@of_every_kind
def test_a_word_cannot_see_its_future(kind: str) -> None:
    one, ids = model(KINDS[kind]), words(1, 6)
    other = ids.clone()
    other[0, 3] = (ids[0, 3] + 1) % NANO.vocab
    before, after = one(ids), one(other)
    assert before[:, :3].equal(after[:, :3])
    assert before[:, 3:].ne(after[:, 3:]).any(dim=-1).all()


@given(st.sampled_from(sorted(KINDS)), st.booleans(), st.lists(st.integers(1, 4), min_size=1, max_size=5))
def test_writing_in_steps_equals_reading_at_once_also_beyond_the_window(
    kind: str, learning: bool, steps: list[int]
) -> None:
    one, ids = model(KINDS[kind]), words(2, sum(steps))
    with torch.set_grad_enabled(learning):
        close(written(one, list(ids.split(steps, dim=1)), one.start(2)), one(ids))


@of_every_kind
@torch.no_grad()
def test_padding_on_either_side_and_packing_change_nothing(kind: str) -> None:
    one, lengths = model(KINDS[kind]), torch.tensor([8, 5, 1])
    texts = [words(1, int(length)) for length in lengths]
    alone = [one(text) for text in texts]
    behind, before = words(3, 8), words(3, 8)
    for i, text in enumerate(texts):
        behind[i, : text.shape[1]], before[i, 8 - text.shape[1] :] = text[0], text[0]
    visible = torch.arange(8) >= 8 - lengths[:, None]
    right, left = one(behind, lengths=lengths), one(before, visible=visible)
    for i, wanted in enumerate(alone):
        close(right[i, : lengths[i]], wanted[0])
        close(left[i, 8 - lengths[i] :], wanted[0])
    close(one(torch.cat(texts, dim=1), visible=packed(lengths)), torch.cat(alone, dim=1))


@of_every_kind
@torch.no_grad()
def test_rows_that_are_padded_before_go_on_as_if_they_were_alone(kind: str) -> None:
    one, lengths = model(KINDS[kind]), [7, 4, 2]
    ids, newer = words(3, 7), words(3, 6)
    visible = torch.arange(7) >= 7 - torch.tensor(lengths)[:, None]
    _, state = one.advance(ids, one.start(3), visible=visible)
    together = written(one, list(newer.split([1, 1, 3, 1], dim=1)), state)
    for i, length in enumerate(lengths):
        whole = torch.cat((ids[i, 7 - length :], newer[i]))[None]
        close(together[i], one(whole)[0, length:])


@torch.no_grad()
def test_the_past_is_not_computed_again_and_selected_rows_go_on() -> None:
    one, counted = model(NANO), list[int]()
    one.decoder.blocks[0].attn.k.register_forward_hook(lambda _, x, __: counted.append(x[0].shape[1]))
    ids, rows, newer = words(2, 3), torch.tensor([1, 0, 1]), words(3, 2)
    _, state = one.step(ids, one.start(2))
    logits, _ = one.step(newer, state.select(rows))
    assert counted == [3, 2]
    close(logits, one(torch.cat((ids[rows], newer), dim=1))[:, 3:])


@torch.no_grad()
def test_each_layer_sees_its_own_window() -> None:
    one = model(WINDOWS)
    with record(one) as trace:
        one(words(1, 7))
    near, whole = (trace.weights(f"decoder.blocks.{i}.attn")[0] for i in range(2))
    past = torch.ones(7, 7, dtype=torch.bool).tril()
    assert near.ne(0).equal((past & past.triu(-2)).expand(4, 7, 7))
    assert whole.ne(0).equal(past.expand(4, 7, 7))
    with pytest.raises(ValueError, match="3 windows do not go with 2 layers; give one for each, or a number"):
        Llama(replace(NANO, sliding_window=(1, 2, 3)))


@torch.no_grad()
def test_only_distances_matter() -> None:
    one, ids = model(NANO), words(1, 5)
    far = torch.arange(1000, 1005)[None]
    close(one.decoder(one.embed(ids), positions=far), one.decoder(one.embed(ids)))


@pytest.mark.parametrize("scaling", SCALINGS, ids=lambda each: type(each).__name__)
@torch.no_grad()
def test_a_scaled_rotation_changes_answers_and_steps_still_equal_the_whole(scaling: Scaling) -> None:
    one, ids = scaled(scaling), words(2, 14)
    plain = Llama(replace(one.config, turn=Turn(100.0))).eval()
    plain.load_state_dict(one.state_dict())
    whole = one(ids)
    assert not torch.allclose(whole, plain(ids), atol=1e-2)
    close(written(one, list(ids.split([5, 1, 1, 7], dim=1)), one.start(2)), whole)


@pytest.mark.parametrize("scaling", [Dynamic(2.0, 6), LONG], ids=["dynamic", "long"])
@torch.no_grad()
def test_a_text_is_turned_by_its_own_length_and_not_by_its_neighbours(scaling: Scaling) -> None:
    one, lengths = scaled(scaling), torch.tensor([9, 4, 1, 7])
    texts = [words(1, int(length)) for length in lengths]
    alone = [one(text) for text in texts]
    ids = words(4, 9)
    for i, text in enumerate(texts):
        ids[i, : text.shape[1]] = text[0]
    together = one(ids, lengths=lengths)
    for i, wanted in enumerate(alone):
        close(together[i, : lengths[i]], wanted[0])
    close(one(torch.cat(texts, dim=1), visible=packed(lengths)), torch.cat(alone, dim=1))


@torch.no_grad()
def test_what_was_turned_for_a_shorter_text_is_not_gone_on_with() -> None:
    for scaling in (Dynamic(2.0, 6), LONG):
        one, ids = scaled(scaling), words(2, 9)
        close(written(one, list(ids[:, :6].split(2, dim=1)), one.start(2)), one(ids[:, :6]))
        _, state = one.step(ids[:, :5], one.start(2))
        said = r"the 5 tokens before were turned as those of a text of up to 6, which now has 9, .* from its start"
        with pytest.raises(ValueError, match=said):
            one.step(ids[:, 5:], state)
        visible = torch.ones(2, 5, dtype=torch.bool)
        visible[1, 0] = False
        _, state = one.step(ids[:, :5], one.start(2), visible=visible)
        with pytest.raises(ValueError, match="tokens before were turned as those of a text of up to 6"):
            one.step(ids[:, 5:], state)
    # Beyond its context all texts of a LongRope are turned alike.
    close(written(one, list(ids.split([7, 2], dim=1)), one.start(2)), one(ids))


def test_reading_and_writing_may_share_one_matrix() -> None:
    for tied, names in ((True, ["embed.weight"]), (False, ["embed.weight", "to_vocab.weight"])):
        one = Llama(replace(NANO, tied=tied))
        assert [name for name, p in one.named_parameters() if NANO.vocab in p.shape] == names


def test_relatives_have_their_own_parameters() -> None:
    def names(**details: Any) -> set[str]:
        one = Llama(replace(NANO, depth=1, details=Details(**details)))
        return {name.removeprefix("decoder.blocks.0.") for name, _ in one.named_parameters()}

    plain = names()
    assert names(qkv_bias=True) - plain == {f"attn.{part}.bias" for part in "qkv"}
    assert names(out_bias=True) - plain == {"attn.out.bias"}
    assert names(mlp_bias=True) - plain == {f"mlp.{part}.bias" for part in ("gate", "up", "down")}
    assert names(qk_norm=True) - plain == {"attn.q_norm.weight", "attn.k_norm.weight"}
    assert not any(name.endswith("bias") for name in plain)


def test_weights_start_small_and_constants_at_zero() -> None:
    one = Llama(Config(500, 64, 128, 2, 4, 2, 256, details=Details(qkv_bias=True)))
    for name, parameter in one.named_parameters():
        if parameter.ndim == 2:
            assert parameter.std().item() == pytest.approx(0.02, rel=0.05), name
        else:
            assert parameter.eq(0.0 if name.endswith("bias") else 1.0).all()


@pytest.mark.parametrize(
    ("size", "millions"),
    [
        *(("llama-7b", 6738), ("llama-13b", 13016), ("llama-33b", 32529), ("llama-65b", 65286)),
        *(("llama-2-70b", 68977), ("llama-3-8b", 8030), ("llama-3.1-70b", 70554), ("llama-3.1-405b", 405853)),
        *(("llama-3.2-1b", 1236), ("llama-3.2-3b", 3213), ("llama-mistral-7b", 7242)),
        *(("llama-qwen2-0.5b", 494), ("llama-qwen2-1.5b", 1544), ("llama-qwen2-7b", 7616)),
        *(("llama-qwen3-0.6b", 596), ("llama-qwen3-1.7b", 1721), ("llama-qwen3-4b", 4022), ("llama-qwen3-8b", 8191)),
        *(("llama-smollm2-135m", 135), ("llama-smollm2-360m", 362), ("llama-smollm2-1.7b", 1711)),
    ],
)
def test_the_published_sizes_weigh_what_is_published(size: str, millions: int) -> None:
    with torch.device("meta"):
        count = sum(p.numel() for p in Llama(PRESETS[size]).parameters())
    assert round(count / 1e6) == millions


def test_what_does_not_fit_is_refused_with_a_way_out() -> None:
    with pytest.raises(ValueError, match="4 heads do not share 3 groups; try"):
        Llama(replace(NANO, groups=3))
    with pytest.raises(ValueError, match="width 7 does not split into pairs that rotate together; try 6 or 8"):
        Llama(replace(NANO, details=Details(head_width=7)))
