"""Watching an attention at work."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Generator
from copy import deepcopy

import pytest
import torch
from tests.alone import run
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from regard.attention import Look, Shaw, Trace, additive, causal, latent, multihead, off, only, record, uniform


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


def test_a_model_compiles_into_one_graph() -> None:
    # In a process of its own, without the checks of the types: what a user compiles does not have them.
    script = """
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
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True)
