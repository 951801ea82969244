"""Batch norms that become part of the layers before them."""

import torch
from torch import nn

from regard.layers.convolution import conv_bn
from regard.layers.folding import LinearNorm, fold


def trained() -> nn.Sequential:
    row = nn.Sequential(conv_bn(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Sequential(LinearNorm(4 * 25, 6), nn.Hardswish()))
    for _ in range(3):
        row(torch.randn(8, 3, 5, 5) * 3 + 1)
    for module in row.modules():
        if isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d):
            nn.init.normal_(module.weight)
            nn.init.normal_(module.bias)
    return row.eval()


@torch.no_grad()
def test_a_folded_model_says_the_same_without_any_batch_norm_and_the_other_is_left_alone() -> None:
    model, x = trained(), torch.randn(2, 3, 5, 5)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    folded = fold(model)
    torch.testing.assert_close(folded(x), model(x), atol=1e-5, rtol=1e-4)
    assert not any(isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d) for module in folded.modules())
    assert all(model.state_dict()[name].equal(tensor) for name, tensor in before.items())


def test_all_tokens_of_a_map_are_normed_together() -> None:
    layer, x = LinearNorm(4, 6), torch.randn(3, 5, 2, 4)
    y = layer(x).reshape(-1, 6)
    torch.testing.assert_close(y.mean(dim=0), torch.zeros(6), atol=1e-6, rtol=0.0)
    torch.testing.assert_close(layer(x.reshape(-1, 4)), y)
    assert not LinearNorm(4, 6, zero_init=True)(x).any()
