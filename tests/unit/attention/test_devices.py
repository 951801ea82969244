"""On an accelerator as on the processor: to be run by whoever has one, and skipped elsewhere."""

import pytest
import torch

from regard.attention import Memory, causal, multihead, record, uniform
from regard.decode import greedy
from regard.models import build

HERE = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
every_device = pytest.mark.parametrize(
    "device",
    [
        pytest.param(name, marks=pytest.mark.skipif(not here, reason=f"there is no {name} device on this machine"))
        for name, here in HERE.items()
    ],
)


@every_device
@pytest.mark.parametrize("tokens", [5, 200])  # on both sides of the choice of a path
@torch.no_grad()
def test_attention_answers_as_on_the_processor(device: str, tokens: int) -> None:
    attn, x = multihead(32, 4).eval(), torch.randn(2, tokens, 32)
    wanted = attn(x, visible=causal(tokens))
    found = attn.to(device)(x.to(device), visible=causal(tokens))
    torch.testing.assert_close(found.cpu(), wanted, atol=1e-4, rtol=1e-4)


@every_device
def test_a_query_that_sees_nothing_gets_zeros_and_finite_gradients(device: str) -> None:
    attn = multihead(32, 4, out_bias=False).to(device)
    x = torch.randn(2, 6, 32, device=device, requires_grad=True)
    visible = torch.ones(6, 6, dtype=torch.bool, device=device)
    visible[3] = False
    y = attn(x, visible=visible)
    y.sum().backward()
    assert y[:, 3].count_nonzero() == 0
    assert x.grad is not None
    assert x.grad.isfinite().all()


@every_device
@torch.no_grad()
def test_watching_changes_no_bit_and_an_edit_is_applied(device: str) -> None:
    attn, x = multihead(32, 4).eval().to(device), torch.randn(2, 40, 32, device=device)
    with record(attn) as trace:
        watched = attn(x)
    assert watched.equal(attn(x))
    assert trace.weights("").device.type == device
    with record(attn, edits={"": uniform}):
        assert not attn(x).isclose(watched).all()


@every_device
@torch.no_grad()
def test_steps_equal_the_whole(device: str) -> None:
    model = build("gpt-nano").eval().to(device)
    ids = torch.randint(48, (2, 9), device=device)
    state, said = model.start(2), []
    for i in range(9):
        logits, state = model.step(ids[:, i : i + 1], state)
        said.append(logits)
    torch.testing.assert_close(torch.cat(said, dim=1), model(ids), atol=1e-4, rtol=1e-4)
    written = greedy(model.step, model.start(2), ids[:, 0], stop=None, limit=4)
    assert [len(each.words) for each in written] == [4, 4]


@every_device
@torch.no_grad()
def test_a_memory_grows_where_it_is_and_meets_no_other_device(device: str) -> None:
    here, there = (torch.randn(2, 4, 3, 8).to(name) for name in ("cpu", device))
    grown = Memory(there, there).extend(Memory(there, there))
    assert grown.k.device.type == device
    with pytest.raises(ValueError, match="remember both with one attention"):
        Memory(there, there).extend(Memory(here, here))
