"""Dropout with cheap random numbers is dropout."""

import pytest
import torch
import torch.nn.functional as F

from regard.layers.dropout import LEVELS, Dropout, drop


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5, 0.9])
def test_it_keeps_its_probability(p: float) -> None:
    numbers = 400_000
    lost = float((Dropout(p)(torch.ones(numbers)) == 0).float().mean())
    exact = round(p * LEVELS) / LEVELS
    assert abs(exact - p) <= 0.5 / LEVELS
    assert abs(lost - exact) < 5 * (exact * (1 - exact) / numbers) ** 0.5  # one in a million


@pytest.mark.parametrize("lost", [1, 26, 77, 128, 255])
def test_the_mean_stays(lost: int) -> None:
    """The survivors, LEVELS - lost of LEVELS, are scaled so that the expectation is the number itself."""
    y = drop(torch.full((100_000,), 3.0), lost)
    scale = float(y.max()) / 3.0
    assert scale * (LEVELS - lost) / LEVELS == pytest.approx(1.0)
    assert set(y.unique().tolist()) == {0.0, float(y.max())}


def test_the_gradient_goes_where_the_numbers_went() -> None:
    x = torch.randn(33, 7, requires_grad=True)
    y = Dropout(0.4)(x)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    torch.testing.assert_close(y, x * gradient)
    assert 0 < int((gradient == 0).sum()) < x.numel()


def test_neighbours_are_lost_independently() -> None:
    """Eight neighbours share one draw: each of its bytes must be random on its own."""
    gone = (Dropout(0.5)(torch.ones(80_000)) == 0).float().view(-1, 8)
    together = torch.corrcoef(gone.T) - torch.eye(8)
    assert float(together.abs().max()) < 0.05


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 5), (2, 3, 7), (8,), (9,), (4, 0, 2)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_any_size_and_kind_will_do(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    y = Dropout(0.5)(torch.ones(shape, dtype=dtype))
    assert y.shape == shape
    assert y.dtype == dtype
    assert set(y.flatten().tolist()) <= {0.0, 2.0}


def test_seeds_decide() -> None:
    x, layer = torch.ones(100), Dropout(0.5)
    torch.manual_seed(1)
    first, second = layer(x), layer(x)
    torch.manual_seed(1)
    assert first.equal(layer(x))
    assert not first.equal(second)


def test_outside_training_nothing_is_lost() -> None:
    x = torch.randn(50)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0)(x) is x


def test_other_devices_use_their_own_dropout(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(F, "dropout", lambda x, p: asked.append(p) or x)
    Dropout(0.3)(torch.ones(5, device="meta"))
    assert asked == [0.3]


@pytest.mark.parametrize("p", [-0.1, 1.0, 30.0])
def test_what_is_no_probability_is_refused(p: float) -> None:
    with pytest.raises(ValueError, match=f"dropout {p} is no probability to lose an element; give 0 to below 1"):
        Dropout(p)
