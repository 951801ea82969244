"""Every way to sum products in int8 gives the same to the last bit, on whatever CPU has it."""

import pytest
import torch
from torch import Tensor

from regard.decode import Int8Linear, rows

pytest.importorskip("numba")
if rows.loops() is None:
    pytest.skip("this CPU has no loops", allow_module_level=True)

from regard.decode import dots, loops


@pytest.fixture(params=dots.WAYS.values(), ids=lambda way: way.needs[-1])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> dots.Dot:
    if missing := dots.lacks(request.param):
        pytest.skip(f"this CPU has no {missing[0]}")
    monkeypatch.setattr(rows, "LARGE8", 0)
    monkeypatch.setattr(dots, "best", lambda: request.param)
    found: dots.Dot = request.param
    return found


def written_out(layer: Int8Linear, x: Tensor) -> Tensor:
    """What a layer computes, in whole numbers of 64 bits and the same steps of float32."""
    inputs = layer.in_features
    most = torch.tensor(float(min(2**15 - 1, (2**31 - 1) // (loops.MOST * inputs))))
    loudest = x.abs().amax(dim=-1, keepdim=True)
    rounded = (x * (most / loudest)).round().long()
    weight = (layer.weight / layer._scale[:, None]).round().long()
    return (rounded @ weight.T).float() * layer._scale * (loudest / most) + layer._constants


@pytest.mark.parametrize(("outputs", "inputs"), [(64, 128), (96, 65), (1, 2), (33, 1), (70, 3000), (1000, 384)])
def test_it_is_what_whole_numbers_give(way: dots.Dot, outputs: int, inputs: int) -> None:
    layer = Int8Linear(torch.randn(outputs, inputs), torch.randn(outputs))
    assert layer._packed.shape[2] == way.block
    for count in (*range(1, 2 * way.rows + 2), 197):
        x = torch.randn(count, inputs) * torch.logspace(-3, 3, count)[:, None]  # quiet ones beside loud ones
        assert layer(x).equal(written_out(layer, x))


def test_a_row_comes_out_the_same_in_any_company(way: dots.Dot) -> None:
    layer, x = Int8Linear(torch.randn(70, 33), None), torch.randn(2 * way.rows + 3, 33)
    together = layer(x)
    for count in range(1, len(x)):
        assert layer(x[:count]).equal(together[:count])
        assert layer(x[-count:]).equal(together[-count:])


def test_rows_that_pass_the_cache_come_out_the_same(way: dots.Dot) -> None:
    inputs = 20000
    layer, x = Int8Linear(torch.randn(40, inputs), None), torch.randn(3 * loops.TILE // inputs + 1, inputs)
    assert layer(x).equal(torch.cat([layer(row) for row in x.split(1)]))


def test_a_matrix_is_read_the_way_it_was_packed(way: dots.Dot, monkeypatch: pytest.MonkeyPatch) -> None:
    layer, x = Int8Linear(torch.randn(70, 33), None), torch.randn(5, 33)
    before = layer(x)
    for other in dots.WAYS.values():
        monkeypatch.setattr(dots, "best", lambda other=other: other)
        assert layer(x).equal(before)


def test_the_largest_sums_do_not_overflow(way: dots.Dot) -> None:
    layer = Int8Linear(torch.ones(way.block, 20000), None)
    ones = torch.ones(way.rows, 20000)
    torch.testing.assert_close(layer(ones), torch.full((way.rows, way.block), 20000.0), rtol=1e-3, atol=0.0)
    assert layer(-ones).equal(-layer(ones))


def test_a_way_that_this_cpu_has_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", lambda: {"avx512bw": True, "avx512vl": True})
    with pytest.raises(RuntimeError, match=r"packed for a CPU with .*, and this one has no avx512vnni; quantize"):
        dots.compiled.__wrapped__(dots.VNNI)


@pytest.mark.parametrize(
    ("features", "chosen"),
    [
        ({"avx2": True}, dots.AVX2),
        ({"avx2": True, "avx512bw": True, "avx512vl": True}, dots.AVX2),
        ({"avx2": True, "avx512bw": True, "avx512vl": True, "avx512vnni": True}, dots.VNNI),
        ({"avx2": True, "avx512bw": False, "avx512vl": True, "avx512vnni": True}, dots.AVX2),
    ],
)
def test_the_widest_way_that_a_cpu_has_is_taken(
    features: dict[str, bool], chosen: dots.Dot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", lambda: features)
    assert dots.best.__wrapped__() == chosen


def test_a_cpu_without_any_way_has_no_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", dict)
    with pytest.raises(RuntimeError, match="this CPU has no AVX2"):
        dots.best.__wrapped__()
