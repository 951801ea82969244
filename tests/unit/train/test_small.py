"""The smallest training loop learns, warms up and slows down, and lets the model be measured between steps."""

from itertools import pairwise

import torch
from torch import Tensor, nn

from regard.train.small import count_parameters, learn


def _problem() -> tuple[nn.Module, Tensor, Tensor]:
    torch.manual_seed(0)
    x = torch.randn(64, 4)
    return nn.Sequential(nn.Linear(4, 1), nn.Dropout(0.0)), x, x.sum(1, keepdim=True)


def test_a_linear_layer_learns_a_sum() -> None:
    model, x, y = _problem()
    losses = list(learn(model, lambda: (model(x) - y).square().mean(), steps=200, lr=0.1))
    assert len(losses) == 200
    assert losses[-1] < 1e-3 < losses[0]


def test_between_two_steps_the_model_is_at_rest() -> None:
    model, x, y = _problem()
    modes = []

    def loss() -> Tensor:
        modes.append(model.training)
        return (model(x) - y).square().mean()

    assert not any(model.training for _ in learn(model, loss, steps=3, lr=0.1))
    assert modes == [True, True, True]


def test_the_learning_rate_rises_and_then_falls() -> None:
    model = nn.Linear(1, 1, bias=False)
    # Under a gradient that does not change, Adam moves by the learning rate.
    start, training = model.weight.item(), learn(model, lambda: model.weight.sum(), steps=50, lr=0.1)
    moves = [before - after for before, after in pairwise([start, *(model.weight.item() for _ in training)])]
    assert max(moves) == max(moves[4:6])
    assert moves[0] < moves[1] < moves[4]
    assert moves[49] < 0.1 * moves[5]


def test_weight_decay_draws_weights_to_zero() -> None:
    model = nn.Linear(8, 8)
    before = model.weight.norm().item()
    list(learn(model, lambda: 0.0 * model.weight.sum(), steps=20, lr=0.1, weight_decay=0.5))
    assert model.weight.norm().item() < 0.7 * before


def test_parameters_are_counted() -> None:
    assert count_parameters(nn.Linear(3, 2)) == 8
