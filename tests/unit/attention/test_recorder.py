"""Watching an attention at work."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from tests.alone import run
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from regard.attention import (
    Look,
    Partitioned,
    Shaw,
    Trace,
    Window,
    additive,
    causal,
    latent,
    multihead,
    off,
    only,
    record,
    then,
    uniform,
)
from regard.attention.core import Dot
from regard.layers import MLP, Block, Stack


class Pair(nn.Module):
    """Two attentions in a row, the second watched by nobody but who asks."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = multihead(16, 4), multihead(16, 4)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.second(self.first(x, visible=causal(x.shape[1])))
        return y


@pytest.fixture
def model() -> Pair:
    return Pair().eval()


@pytest.fixture
def x() -> Tensor:
    return torch.randn(2, 5, 16)


def test_every_attention_is_named_as_in_the_model(model: Pair, x: Tensor) -> None:
    with record(model) as trace:
        model(x)
    assert trace.names == ["first", "second"]
    assert trace.weights("first").shape == (2, 4, 5, 5)
    assert repr(trace) == "Trace(2 of 2 attentions looked: first, second)"


def test_the_weights_are_those_that_were_used(model: Pair, x: Tensor) -> None:
    with record(model) as trace:
        y = model.first(x, visible=causal(5))
    v = model.first.remember(x).v
    torch.testing.assert_close(model.first.finish(trace.weights("first") @ v), y)


def test_a_trace_holds_no_gradient_and_no_weights(model: Pair, x: Tensor) -> None:
    with record(model) as trace:
        model(x)
    (look,) = trace["first"]
    assert not look.q.requires_grad
    assert not look.k.requires_grad
    assert trace.nbytes == 2 * 2 * (2 * 5 * 16) * 4  # q and k of two attentions, in float32


def test_nothing_is_kept_outside_the_scope(model: Pair, x: Tensor) -> None:
    with record(model) as trace:
        pass
    model(x)
    assert len(trace) == 0


def test_a_learned_bias_and_a_learned_score_are_kept_as_they_were() -> None:
    for attn in (multihead(16, 4, bias=Shaw(4, 2)), additive(16, 16, 8)):
        x = torch.randn(2, 5, 16)
        with record(attn) as trace:
            attn(x, attn.remember(x))
        before = trace.weights("")
        assert not before.requires_grad
        for parameter in attn.parameters():
            parameter.data += 1.0
        assert trace.weights("").equal(before)


def test_what_a_random_edit_gave_is_what_is_read(model: Pair, x: Tensor) -> None:
    given = []

    def shuffled(look: Look) -> Tensor:
        given.append(look.weights()[..., torch.randperm(5)])
        return given[-1]

    with record(model, edits={"second": shuffled}) as trace:
        model(x)
    assert trace.weights("second").equal(given[0])
    assert len(given) == 1


def test_an_edit_of_another_shape_is_named(model: Pair, x: Tensor) -> None:
    with (
        record(model, edits={"first": lambda look: look.weights()[..., :1]}),
        pytest.raises(ValueError, match=r"edit of 'first' gave weights of shape \(2, 4, 5, 1\), not \(2, 4, 5, 5\)"),
    ):
        model(x)


def test_an_edit_that_never_happened_is_told(model: Pair, x: Tensor) -> None:
    words = "no look was edited at 'first': the model did not run inside the scope"
    with pytest.warns(UserWarning, match=words), record(model, edits={"first": uniform}):
        deepcopy(model)(x)


def test_an_error_ends_the_scope(model: Pair, x: Tensor) -> None:
    with pytest.raises(ZeroDivisionError), record(model, edits={"first": off}) as trace:
        _ = 1 / 0
    plain = model(x)
    assert len(trace) == 0
    with record(model):
        assert model(x).equal(plain)


def test_scopes_in_generators_may_end_in_any_order(model: Pair, x: Tensor) -> None:
    def stream() -> Generator[Trace, None, None]:
        with record(model) as trace:
            while True:
                model(x)
                yield trace

    one, other = stream(), stream()
    first, second = next(one), next(other)
    one.close()
    next(other)
    other.close()
    model(x)
    assert len(first["first"]) == 2  # its own run, and the one that the other started while it was open
    assert len(second["first"]) == 2


def test_a_scope_may_end_in_another_thread(model: Pair, x: Tensor) -> None:
    def stream() -> Generator[Trace, None, None]:
        with record(model, edits={"first": off}) as trace:
            model(x)
            yield trace

    plain, running = model(x), stream()
    trace = next(running)
    thread = threading.Thread(target=running.close)
    thread.start()
    thread.join()
    assert model(x).equal(plain)
    assert len(trace["first"]) == 1


def test_two_tasks_never_see_each_other(model: Pair) -> None:
    async def watch(n: int) -> list[int]:
        with record(model) as trace:
            for _ in range(5):
                model(torch.randn(1, n, 16))
                await asyncio.sleep(0)
        return [look.q.shape[-2] for look in trace["first"]]

    async def both() -> tuple[list[int], list[int]]:
        return await asyncio.gather(watch(3), watch(4))

    threes, fours = run(both())
    assert (threes, fours) == ([3] * 5, [4] * 5)


def test_a_checkpoint_computed_again_is_no_new_look(model: Pair, x: Tensor) -> None:
    with record(model, edits={"first": lambda look: look.weights() / 2}) as trace:
        checkpoint(model, x, use_reentrant=False).sum().backward()
    assert len(trace["first"]) == 1
    assert model.first.q.weight.grad is not None


def test_a_module_in_two_places_answers_to_both_names(x: Tensor) -> None:
    attn = multihead(16, 4)
    model = nn.ModuleDict({"a": attn, "b": attn})
    with record(model, edits={"b": uniform}) as trace:
        model["a"](x)
    assert trace.weights("b").equal(trace.weights("a"))
    assert trace.names == ["a"]


def test_what_merely_remembers_is_no_attention() -> None:
    class Diary(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attn = multihead(16, 4)

        def remember(self) -> None: ...

    with pytest.raises(KeyError, match="no attention is called ''; try attn"), record(Diary(), edits={"": off}):
        pass


def test_an_edit_changes_what_follows_and_nothing_else(model: Pair, x: Tensor) -> None:
    plain = model(x)
    with record(model, edits={"first": uniform}) as trace:
        edited = model(x)
    assert not plain.isclose(edited).all()
    # Every visible key alike: one key for the first query, two for the second.
    torch.testing.assert_close(trace.weights("first")[0, 0], torch.ones(5, 5).tril() / torch.arange(1.0, 6.0)[:, None])
    assert model(x).equal(plain)


def test_only_the_edited_attention_is_written_out(model: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    fused = []
    kernel = nn.functional.scaled_dot_product_attention
    monkeypatch.setattr(
        nn.functional, "scaled_dot_product_attention", lambda *a, **k: fused.append(1) or kernel(*a, **k)
    )
    x = torch.randn(1, 200, 16)
    with record(model):
        model(x)
    assert len(fused) == 2
    with record(model, edits={"first": uniform}):
        model(x)
    assert len(fused) == 3


def test_a_head_can_be_switched_off(model: Pair, x: Tensor) -> None:
    with record(model, edits={"second": only(off, 1, 3)}) as trace:
        model(x)
    assert trace.weights("second").sum(dim=(0, 2, 3)).gt(0).tolist() == [True, False, True, False]


@pytest.mark.usefixtures("as_users_meet_it")
def test_a_head_that_is_not_there_is_named(model: Pair, x: Tensor) -> None:
    for heads in ((), ([0, 1],)):
        with pytest.raises(TypeError, match=r"are not numbers; write only\(edit, 0, 3\)"):
            only(off, *heads)
    with (
        record(model, edits={"first": only(off, 9)}),
        pytest.raises(ValueError, match=r"no head 9; .* from 0 to 3"),
    ):
        model(x)


def test_a_gradient_passes_through_an_edit(model: Pair, x: Tensor) -> None:
    seen = []
    with record(model, edits={"first": lambda look: seen.append(look.weights()) or seen[-1]}):
        model(x).sum().backward()
    assert seen[0].requires_grad
    assert model.first.q.weight.grad is not None


def test_scopes_nest_and_the_inner_edit_sees_the_outer(model: Pair, x: Tensor) -> None:
    with record(model, edits={"first": uniform}) as outer:
        with record(model, edits={"first": lambda look: look.weights() / 2}) as inner:
            model(x)
        model(x)
    assert len(outer["first"]) == 2
    torch.testing.assert_close(inner.weights("first"), outer.weights("first", look=0) / 2)


def test_a_scope_watches_its_own_model_only(model: Pair, x: Tensor) -> None:
    with record(model.second) as trace:
        model(x)
    assert trace.names == [""]


def test_two_threads_never_see_each_other(model: Pair) -> None:
    shapes: dict[int, list[tuple[int, ...]]] = {}
    barrier = threading.Barrier(4)

    def watch(n: int) -> None:
        with record(model) as trace:
            barrier.wait()
            for _ in range(20):
                model(torch.randn(1, n, 16))
            barrier.wait()
        shapes[n] = [tuple(look.q.shape) for look in trace["first"]]

    threads = [threading.Thread(target=watch, args=(n,)) for n in (3, 4, 5, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shapes == {n: [(1, 4, n, 4)] * 20 for n in (3, 4, 5, 6)}


@torch.no_grad()
def test_the_steps_of_decoding_are_laid_end_to_end(x: Tensor) -> None:
    attn = multihead(16, 4)
    with record(attn) as whole:
        attn(x, visible=causal(5))
    with record(attn) as trace:
        past = None
        for word in x.split(1, dim=1):
            past = attn.remember(word, past)
            attn(word, past)
    assert len(trace[""]) == 5
    torch.testing.assert_close(trace.weights(""), whole.weights(""))


def test_looks_of_different_batches_are_not_mixed_up(model: Pair) -> None:
    with record(model) as trace:
        model(torch.randn(2, 3, 16))
        model(torch.randn(1, 3, 16))
    with pytest.raises(ValueError, match="'first' looked 2 times with batches 2, 1; ask for one"):
        trace.weights("first")
    assert trace.weights("first", look=1).shape == (1, 4, 3, 3)


def test_a_wrong_name_is_answered_with_the_right_ones(model: Pair, x: Tensor) -> None:
    with record(model) as trace:
        with pytest.raises(KeyError, match="'first' is watched but has not looked; run the model inside the scope"):
            trace.weights("first")
        model(x)
    with pytest.raises(KeyError, match="no attention is called 'frist'; try first"):
        trace.weights("frist")
    with pytest.raises(KeyError, match="no attention is called 'thrid'"), record(model, edits={"thrid": uniform}):
        pass


def test_learned_queries_are_watched_too() -> None:
    pool = latent(3, 16, 4)
    with record(pool) as trace:
        pool(torch.randn(2, 7, 16))
    assert trace.weights("attn").shape == (2, 4, 3, 7)


def test_a_compiled_model_says_that_it_cannot_be_watched(model: Pair) -> None:
    compiled = torch.compile(model, backend="eager")
    words = r"a compiled model is not watched.* record the model it was compiled from"
    with pytest.raises(ValueError, match=words), record(compiled):
        pass


def alone(script: str) -> None:
    """In a process of its own, without the checks of the types: what a user compiles does not have them."""
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True)


def test_a_compiled_function_runs_as_it_is_written_while_its_model_is_watched() -> None:
    alone("""
import torch
from torch import nn
from regard.attention import multihead, record, uniform

class Theirs(nn.Module):
    def forward(self, x):
        return nn.functional.scaled_dot_product_attention(x, x, x)

x = torch.randn(2, 40, 16)
for model in (nn.Sequential(multihead(16, 4)), nn.Sequential(Theirs())):
    for fullgraph in (True, False):
        compiled = torch.compile(lambda x: model(x), backend="eager", fullgraph=fullgraph)
        plain = compiled(x)
        with record(model, edits={"0": uniform}) as trace:
            edited = compiled(x)
        assert not edited.isclose(plain).all()
        assert len(trace["0"]) == 1
        assert compiled(x).equal(plain)
        torch._dynamo.reset()
""")


def test_what_cannot_be_watched_from_within_says_so() -> None:
    alone("""
import torch
from regard.attention import multihead, record

attn, x = multihead(16, 4), torch.randn(2, 5, 16)
def inside(x):
    with record(attn):
        return attn(x)
try:
    with record(attn):  # the compiler is not loaded yet
        torch.compile(lambda x: attn(x), backend="eager")(x)
except RuntimeError as error:
    assert "call torch.compile before the scope" in str(error), error
else:
    raise AssertionError("nothing was said")
try:
    torch.compile(inside, backend="eager")(x)
except RuntimeError as error:
    assert "open the scope around the call" in str(error), error
else:
    raise AssertionError("nothing was said")
with record(attn) as trace:
    attn(x)
assert len(trace[""]) == 1
""")


def test_a_model_compiles_into_one_graph() -> None:
    alone("""
import torch
from regard.attention import Partitioned, Relative2d, Shifted, Window, causal, multihead
from regard.layers.position import Rotary
attn = multihead(16, 4, rotary=Rotary(4)).eval()
compiled = torch.compile(attn, backend="eager", fullgraph=True)
for n in (5, 200, 210):
    x = torch.randn(2, n, 16)
    assert compiled(x, visible=causal(n)).equal(attn(x, visible=causal(n)))
for windows in (Window(4), Shifted(4, 2)):
    swin = Partitioned(multihead(16, 4, bias=Relative2d(4, 4)), windows).eval()
    x = torch.randn(2, 9, 8, 16)
    assert torch.compile(swin, backend="eager", fullgraph=True)(x).equal(swin(x))
""")


# Several edits


@pytest.fixture
def evaluations(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each time that scores are computed."""
    counted: list[int] = []
    score = Dot.__call__
    monkeypatch.setattr(Dot, "__call__", lambda *args: counted.append(1) or score(*args))
    return counted


def test_forty_edits_of_one_attention_cost_one_look(model: Pair, x: Tensor, evaluations: list[int]) -> None:
    edits = then(*(only((uniform, off)[i % 4 == 2], i % 4) for i in range(40)))
    with torch.no_grad(), record(model, edits={"first": edits}) as trace:
        model(x)
        trace.weights("first")
    assert len(evaluations) <= 2 + 1  # one for each attention, and one more to spare
    assert trace.weights("first").sum(dim=(0, 2, 3)).gt(0).tolist() == [True, True, False, True]


def test_edits_in_a_row_see_what_the_one_before_gave(model: Pair, x: Tensor) -> None:
    with record(model, edits={"first": then(uniform, lambda look: look.weights() / 2, only(off, 0))}) as trace:
        model(x)
    weights = trace.weights("first")[0]
    assert weights[0].count_nonzero() == 0
    torch.testing.assert_close(weights[1, 3], torch.tensor([0.125, 0.125, 0.125, 0.125, 0.0]))


def test_an_edit_may_ask_a_question_of_its_own(x: Tensor) -> None:
    attn = multihead(16, 4, bias=Shaw(4, 2))
    for parameter in attn.bias.parameters():
        nn.init.normal_(parameter)

    def unbiased(look: Look) -> Tensor:
        biased, plain = look.weights(), replace(look, bias=None).weights()
        assert not biased.isclose(plain).all()
        return plain

    with record(attn, edits={"": lambda look: look.weights()}), record(attn, edits={"": unbiased}):
        attn(x)


def test_sixteen_scopes_cost_one_look(model: Pair, x: Tensor, evaluations: list[int]) -> None:
    with ExitStack() as stack:
        traces = [stack.enter_context(record(model, edits={"first": only(off, i % 4)})) for i in range(16)]
        with torch.no_grad():
            model(x)
        assert len(evaluations) <= 2 + 1
        assert traces[-1].weights("first").count_nonzero() == 0
        assert traces[1].weights("first").sum(dim=(0, 2, 3)).gt(0).tolist() == [False, False, True, True]
    assert len(evaluations) <= 2 + 1


# Attentions that are not ours


class Theirs(nn.Module):
    """An attention as others write it."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(16, 48)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x).unflatten(-1, (3, 4, 4)).permute(2, 0, 3, 1, 4)
        y: Tensor = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        return y


class Written(nn.Module):
    """An attention that nobody sees."""

    def __init__(self) -> None:
        super().__init__()
        self.q = nn.Linear(16, 16)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = (self.q(x) @ x.mT).softmax(dim=-1) @ x
        return y


@pytest.mark.parametrize("leading", [(), (3,), (2, 3), (2, 2, 3)])
@pytest.mark.parametrize("keys", [4, 7])
@pytest.mark.parametrize("kind", ["none", "causal", "bool", "float"])
def test_any_call_of_torchs_function_is_read_as_torch_reads_it(leading: tuple[int, ...], keys: int, kind: str) -> None:
    class Call(nn.Module):
        def forward(self, q: Tensor, k: Tensor) -> Tensor:
            mask = {"bool": torch.rand(4, keys) > 0.3, "float": torch.randn(*leading, 4, keys)}.get(kind)
            eye = torch.eye(keys).expand(*leading, keys, keys)  # so that the answer is the weights
            return F.scaled_dot_product_attention(q, k, eye, attn_mask=mask, is_causal=kind == "causal", scale=0.3)

    model, q, k = Call(), torch.randn(*leading, 4, 8), torch.randn(*leading, keys, 8)
    with record(model) as trace:
        expected = model(q, k)
    torch.testing.assert_close(trace.weights("").reshape(expected.shape), expected)
    with record(model, edits={"": lambda look: look.weights() * 2}) as trace:
        edited = model(q, k)
    torch.testing.assert_close(trace.weights("").reshape(edited.shape), edited)


def test_dropout_falls_on_edited_weights_too() -> None:
    class Dropped(nn.Module):
        def forward(self, q: Tensor) -> Tensor:
            return F.scaled_dot_product_attention(q, q, q, dropout_p=0.5)

    model, q = Dropped(), torch.ones(1, 1, 100, 4)
    with record(model, edits={"": uniform}):
        y = model(q)
    assert y.std() > 0.01
    assert abs(float(y.mean()) - 1.0) < 0.1


def test_a_scope_leaves_nothing_on_torchs_stack(x: Tensor) -> None:
    model = Theirs()

    def stream() -> Generator[Trace, None, None]:
        with record(model) as trace:
            model(x)
            yield trace

    one, other = stream(), stream()
    first, second = next(one), next(other)
    with torch.device("meta"):
        one.close()
        late = stream()
        assert torch.empty(1).device.type == "meta"
    third = next(late)
    other.close()
    late.close()
    assert torch.empty(1).device.type == "cpu"
    assert torch.overrides._get_current_function_mode_stack() == []
    assert [len(trace[""]) for trace in (first, second, third)] == [2, 2, 1]


def test_other_modes_end_as_they_began(x: Tensor) -> None:
    class Counting(torch.overrides.TorchFunctionMode):
        count = 0

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.count += func is F.scaled_dot_product_attention
            return func(*args, **(kwargs or {}))

    model, counting = Theirs(), Counting()

    def stream() -> Generator[Trace, None, None]:
        with record(model) as trace:
            model(x)
            yield trace

    running = stream()
    with counting:
        trace = next(running)
    model(x)  # still watched, and counted no more
    running.close()
    assert (counting.count, len(trace[""])) == (1, 2)
    assert torch.overrides._get_current_function_mode_stack() == []


def test_threads_watch_a_foreign_model_each_for_itself() -> None:
    model, barrier = Theirs(), threading.Barrier(4)
    shapes: dict[int, list[int]] = {}

    def watch(n: int) -> None:
        with record(model) as trace:
            barrier.wait()
            for _ in range(20):
                model(torch.randn(1, n, 16))
            barrier.wait()
        shapes[n] = [look.q.shape[-2] for look in trace[""]]

    threads = [threading.Thread(target=watch, args=(n,)) for n in (3, 4, 5, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shapes == {n: [n] * 20 for n in (3, 4, 5, 6)}


def test_tasks_watch_a_foreign_model_each_for_itself() -> None:
    model = Theirs()

    async def watch(n: int) -> list[int]:
        with record(model) as trace:
            for _ in range(n):
                model(torch.randn(1, n, 16))
                await asyncio.sleep(0)
        return [look.q.shape[-2] for look in trace[""]]

    async def both() -> tuple[list[int], list[int]]:
        return await asyncio.gather(watch(3), watch(5))

    assert tuple(run(both())) == ([3] * 3, [5] * 5)


def test_a_foreign_checkpoint_is_edited_again_in_backward(x: Tensor) -> None:
    model = Theirs()
    with record(model, edits={"": lambda look: look.weights() / 2}) as trace:
        y = checkpoint(model, x, use_reentrant=False)
        y.sum().backward()
    assert len(trace[""]) == 1
    twice = [parameter.grad for parameter in model.parameters()]
    model.zero_grad()
    with record(model, edits={"": lambda look: look.weights() / 2}):
        model(x).sum().backward()
    for one, other in zip(twice, model.parameters(), strict=True):
        torch.testing.assert_close(one, other.grad)


def test_a_foreign_module_in_a_list_is_known_by_its_place(x: Tensor) -> None:
    model = nn.Sequential(Theirs(), Theirs())
    with record(model) as outer, record(model[1]) as inner:
        y = model(x)
    assert y.equal(model(x))
    assert (outer.names, inner.names) == (["0", "1"], [""])


@pytest.mark.usefixtures("as_users_meet_it")
def test_an_attention_that_writes_its_softmax_out_is_never_passed_over_in_silence(x: Tensor) -> None:
    class SelfAttention(Written): ...

    named = nn.ModuleDict({"attn": SelfAttention(), "mlp": nn.Linear(16, 16)})
    words = r"'attn' \(SelfAttention\) cannot be watched: .*; load a transformers model with attn_implementation="
    with pytest.warns(UserWarning, match=words), record(named) as trace:
        named["attn"](x)
    with pytest.raises(KeyError, match="cannot be watched: they write their softmax out"):
        trace.weights("attn")
    model = Written()
    with pytest.warns(UserWarning, match="no attention was seen though the model ran"), record(model) as trace:
        model(x)
    with pytest.raises(KeyError, match="the model has no attention"):
        trace.weights("q")


# The stream, and maps


def test_the_stream_after_each_block_is_kept(x: Tensor) -> None:
    stack = Stack(Block(16, multihead(16, 4), MLP(16)) for _ in range(2))
    with record(stack, hidden=True) as trace:
        y = stack(x)
    assert list(trace.hidden) == ["blocks.0", "blocks.1"]
    assert trace.hidden["blocks.1"][0].equal(y)
    assert trace.hidden["blocks.0"][0].equal(stack.blocks[0](x))
    assert not trace.hidden["blocks.0"][0].requires_grad
    assert len(stack.blocks[0]._forward_hooks) == 0


def test_a_stream_that_is_added_to_in_place_is_kept_as_it_was(x: Tensor) -> None:
    class Adding(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attn = Theirs()

        def forward(self, x: Tensor) -> tuple[Tensor, None]:
            x += self.attn(x)
            return x, None

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = nn.ModuleList([Adding(), Adding()])
            self.heads = nn.ModuleList([nn.Linear(16, 16)])

        def forward(self, x: Tensor) -> Tensor:
            for block in self.blocks:
                x, _ = block(x)
            return self.heads[0](x)

    model = Model()
    with torch.no_grad(), record(model, hidden=True) as trace:
        model(x.clone())
        first, _ = model.blocks[0](x.clone())
    assert list(trace.hidden) == ["blocks.0", "blocks.1"]
    assert trace.hidden["blocks.0"][0].equal(first)


def test_a_stream_that_was_not_kept_is_not_empty(model: Pair, x: Tensor) -> None:
    with record(model) as trace:
        model(x)
    with pytest.raises(ValueError, match=r"was not kept; write record\(model, hidden=True\)"):
        _ = trace.hidden


def test_a_map_is_the_weights_where_nothing_is_grouped(model: Pair, x: Tensor) -> None:
    with record(model) as trace:
        model(x)
    assert trace.map("first").equal(trace.weights("first"))
    assert trace.map("first", look=0).equal(trace.weights("first"))


def test_a_map_lays_windows_out_over_the_whole(x: Tensor) -> None:
    windows = Partitioned(multihead(16, 4), Window(2))
    image = torch.randn(2, 4, 6, 16)
    with record(windows) as trace:
        windows(image)
    whole = trace.map("attn")
    assert whole.shape == (2, 4, 24, 24)
    torch.testing.assert_close(whole.sum(dim=-1), torch.ones(2, 4, 24))
    # The first cell looks at its own window: two cells of the first row of the map, two of the second.
    assert whole[0, 0, 0].nonzero().flatten().tolist() == [0, 1, 6, 7]
    torch.testing.assert_close(whole[1, 2, 0, [0, 1, 6, 7]], trace.weights("attn")[6, 2, 0])
    assert trace.map("attn", look=0).equal(whole)
    with record(windows) as trace:
        windows(image)
        windows(image)
    with pytest.raises(ValueError, match="'attn' looked 2 times over maps; ask for one, say look=0"):
        trace.map("attn")
