"""A packed matrix says what the plain one says, whichever product is chosen."""

from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import regard
from regard.attention import record, uniform
from regard.decode import Int8Linear, PackedLinear, greedy, quantize, rows
from regard.decode.prepared import Part, Prepared
from regard.hub import load, save
from regard.models import gpt, transformer
from regard.text import Tokenizer

WAYS = ["with numba", "without"]


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small models are packed too, and what torch does by itself is the exception."""
    monkeypatch.setattr(rows, "LARGE", 0)
    monkeypatch.setattr(rows, "LARGE8", 0)


@pytest.fixture(params=WAYS)
def numba(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if request.param == "without":
        monkeypatch.setattr(rows, "loops", lambda: None)
    elif rows.loops() is None:
        pytest.skip("numba, or a CPU that it serves, is not there")
    return request.param == "with numba"


def tiny() -> gpt.GPT:
    torch.manual_seed(0)
    return gpt.GPT(gpt.PRESETS["gpt-nano"]).eval()


@pytest.mark.parametrize("count", [1, 2, 8, 32, 600])
@pytest.mark.parametrize(("outputs", "inputs"), [(96, 64), (70, 33), (5, 200)])
@pytest.mark.parametrize("bias", [True, False])
def test_it_equals_the_plain_layer_at_any_number_of_rows(
    numba: bool, count: int, outputs: int, inputs: int, bias: bool
) -> None:
    plain = nn.Linear(inputs, outputs, bias=bias)
    x = torch.randn(count, inputs)
    with torch.no_grad():
        packed = PackedLinear(plain.weight, plain.bias)
        torch.testing.assert_close(packed(x), plain(x), atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(packed(x[:, None]), plain(x[:, None]), atol=1e-5, rtol=1e-5)
        bent = PackedLinear(plain.weight, plain.bias, relu=True)
        torch.testing.assert_close(bent(x), plain(x).relu(), atol=1e-5, rtol=1e-5)
    assert packed.weight.equal(plain.weight)
    assert numba == bool(packed._address)


@pytest.mark.parametrize(("outputs", "inputs"), [(96, 64), (70, 33), (5, 200)])
def test_in_int8_a_row_comes_out_the_same_in_any_company(numba: bool, outputs: int, inputs: int) -> None:
    plain = nn.Linear(inputs, outputs)
    low = Int8Linear(plain.weight, plain.bias)
    x = torch.randn(11, inputs) * torch.logspace(-3, 3, 11)[:, None]  # quiet ones beside loud ones
    together = low(x)
    for count in (1, 2, 3, 4, 5, 7):
        assert low(x[:count]).equal(together[:count])
        assert low(x[None, -count:])[0].equal(together[-count:])
    near = F.linear(x, low.weight, plain.bias)
    error = (together - near).norm(dim=-1) / near.norm(dim=-1)
    assert error.max() < (1e-3 if numba else 0.02)  # 13 bits of the inputs and more, or 8
    assert low(torch.zeros(3, inputs)).equal(plain.bias.expand(3, -1))


def test_in_int8_what_is_no_number_stays_none(numba: bool) -> None:
    low = Int8Linear(torch.randn(20, 30), None)
    x = torch.randn(4, 30)
    x[1, 5], x[2, 7] = torch.nan, torch.inf
    assert low(x).isfinite().all(dim=-1).tolist() == [True, False, False, True]


@pytest.mark.parametrize("inputs", [3072, 20000])
def test_in_int8_the_largest_sums_do_not_overflow(numba: bool, inputs: int) -> None:
    low = Int8Linear(torch.ones(16, inputs), None)
    torch.testing.assert_close(low(torch.ones(2, inputs)), torch.full((2, 16), float(inputs)), rtol=1e-3, atol=0.0)


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_a_prepared_model_writes_what_the_model_writes(numba: bool, dtype: str) -> None:
    model = tiny()
    ready = quantize(model, dtype)
    ids = torch.randint(48, (3, 12))
    with torch.no_grad():
        full, low = model(ids), ready(ids)
        assert (full - low).norm() <= (1e-5 if dtype == "float32" else 0.05) * full.norm()
        # One word after another is one row, which another product answers.
        for row in range(3):
            state, steps = ready.start(1), []
            for word in ids[row : row + 1].split(1, dim=1):
                logits, state = ready.step(word, state)
                steps.append(logits)
            torch.testing.assert_close(torch.cat(steps, dim=1), low[row : row + 1], atol=1e-4, rtol=1e-3)
    written = greedy(ready.step, ready.start(1), ids[0, :1], stop=0, limit=20)[0]
    assert torch.tensor(written.log_prob).isfinite()


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_no_matrix_is_held_twice(numba: bool, dtype: str) -> None:
    ready = quantize(tiny(), dtype)
    block = ready.decoder.blocks[0]
    assert isinstance(block.attn.qkv, Prepared)
    assert all(isinstance(part, Part) for part in (block.attn.q, block.attn.k, block.attn.v))
    assert not any(isinstance(module, nn.Linear) for module in ready.modules())
    assert not any(name.endswith((".up.weight", ".out.weight")) for name, _ in ready.named_parameters())


def test_a_state_dict_is_that_of_the_model(numba: bool, tmp_path: Path) -> None:
    for model in (tiny(), transformer.Transformer(transformer.PRESETS["transformer-nano"])):
        ready, state = quantize(model, "float32"), model.state_dict()
        stored = ready.state_dict()
        assert stored.keys() == state.keys()
        assert all(stored[name].equal(state[name]) for name in state)
    save(tmp_path / "model", quantize(tiny(), "float32"), family=gpt.FAMILY, card={"task": "generate"})
    for name, tensor in load(tmp_path / "model").model.state_dict().items():
        assert tensor.equal(tiny().state_dict()[name])


def test_it_is_copied_and_cast_like_any_layer(numba: bool) -> None:
    plain = nn.Linear(40, 70)
    packed, x = PackedLinear(plain.weight, plain.bias), torch.randn(3, 40)
    with torch.no_grad():
        copy = deepcopy(packed)
        assert copy(x).equal(packed(x))
        assert copy._matrix is not packed._matrix
        torch.testing.assert_close(deepcopy(packed).double()(x.double()), plain(x).double(), atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(deepcopy(packed).bfloat16().float()(x), plain(x), atol=0.05, rtol=0.05)


def test_in_int8_it_is_copied(numba: bool) -> None:
    low, x = Int8Linear(torch.randn(70, 40), torch.randn(70)), torch.randn(3, 40)
    copy = deepcopy(low)
    assert copy(x).equal(low(x))
    assert copy.weight.equal(low.weight)


def test_a_gradient_passes_through(numba: bool) -> None:
    plain, x = nn.Linear(40, 70), torch.randn(1, 40, requires_grad=True)
    packed = PackedLinear(plain.weight, plain.bias)
    (mine,), (torchs,) = (torch.autograd.grad(layer(x).square().sum(), x) for layer in (packed, plain))
    torch.testing.assert_close(mine, torchs)


def test_a_prepared_model_is_watched_and_edited(numba: bool) -> None:
    model, ids = tiny(), torch.randint(48, (1, 6))
    ready = quantize(model, "float32")
    edits = {"decoder.blocks.0.attn": uniform}
    with torch.no_grad():
        answers, traces = [], []
        for each in (model, ready):
            with record(each, edits=edits) as trace:
                answers.append(each(ids))
            traces.append(trace.weights("decoder.blocks.1.attn"))
    torch.testing.assert_close(answers[0], answers[1], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(traces[0], traces[1], atol=1e-5, rtol=1e-4)


def test_what_is_opened_is_prepared_where_that_helps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = Tokenizer.train(["a b c d e f"], kind="characters")
    model = gpt.GPT(replace(gpt.PRESETS["gpt-nano"], vocab=words.vocab))
    save(tmp_path / "model", model, family=gpt.FAMILY, card={"task": "generate"}, tokenizer=words)
    assert any(isinstance(module, PackedLinear) for module in regard.load(tmp_path / "model").model.modules())
    monkeypatch.setattr(rows, "LARGE", 1 << 18)
    small = regard.load(tmp_path / "model").model
    assert not any(isinstance(module, Prepared) for module in small.modules())
    assert all(parameter.requires_grad for parameter in small.parameters())


def test_without_numba_one_row_is_packed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(rows, "import_module", refuse)
    rows.loops.cache_clear()
    try:
        assert rows.loops() is None
        assert rows.way(1, 1 << 20) == "packed"
        assert rows.way(1, 1 << 20, int8=True) == "packed"
    finally:
        rows.loops.cache_clear()
