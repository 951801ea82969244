"""The same model in fewer bits says nearly the same."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from regard.decode import Precision, quantize
from regard.models import seq2seq, transformer


def model(name: str) -> nn.Module:
    if name == "transformer":
        return transformer.Transformer(replace(transformer.PRESETS["transformer-nano"], vocab=200, width=64)).eval()
    config = replace(seq2seq.PRESETS["seq2seq-nano"], vocab=200, target=200, width=64, hidden=64)
    return seq2seq.Seq2Seq(config).eval()


SOURCE, TARGET = torch.randint(4, 200, (3, 9)), torch.randint(4, 200, (3, 7))


@pytest.mark.parametrize("name", ["transformer", "seq2seq"])
@pytest.mark.parametrize(("precision", "error"), [("float32", 1e-5), ("bfloat16", 0.05), ("int8", 0.08)])
def test_logits_are_those_of_the_model_but_for_rounding(name: str, precision: Precision, error: float) -> None:
    made = model(name)
    with torch.no_grad():
        full, low = (each(SOURCE, TARGET).float() for each in (made, quantize(made, precision)))
    assert (full - low).norm() <= error * full.norm()
    assert (full - low).norm() >= 1e-5 * full.norm() or precision == "float32"  # it is rounded indeed


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_the_model_itself_stays_as_it_is(precision: Precision) -> None:
    made = model("transformer").train()
    before = {name: tensor.clone() for name, tensor in made.state_dict().items()}
    low = quantize(made, precision)
    after = made.state_dict()
    assert after.keys() == before.keys()
    assert all(after[name].equal(before[name]) for name in before)
    assert made.training
    assert not low.training
    assert all(parameter.requires_grad for parameter in made.parameters())
    with torch.no_grad():
        low.embed.weight.zero_()
    assert made.embed.weight.abs().sum() > 0


def test_steps_in_eight_bits_follow_the_whole_in_eight_bits() -> None:
    low = quantize(model("transformer"), "int8")
    with torch.no_grad():
        whole, state = low(SOURCE, TARGET), low.start(SOURCE)
        steps = []
        for word in TARGET.split(1, dim=1):
            logits, state = low.step(word, state)
            steps.append(logits)
    # What is read is rounded on a scale of the whole batch, so the two differ by roundings.
    assert (whole - torch.cat(steps, dim=1)).norm() <= 0.05 * whole.norm()


def test_words_look_at_themselves_by_one_product() -> None:
    low = quantize(model("transformer"), "int8")
    attn, x = low.decoder.blocks[0].attn, torch.randn(3, 5, 64)
    with torch.no_grad():
        for one, other in zip(attn._project(x), (attn.q(x), attn.k(x), attn.v(x)), strict=True):
            assert one.equal(other)


def test_every_matrix_is_packed_and_rows_have_scales_of_their_own() -> None:
    made = nn.Sequential(nn.Linear(16, 4), nn.ReLU(), nn.Sequential(nn.Linear(4, 3, bias=False)))
    with torch.no_grad():
        made[0].weight[0] *= 1000.0  # one loud row does not drown the others
    low = quantize(made, "int8")
    assert not any(isinstance(module, nn.Linear) for module in low.modules())
    assert isinstance(made[0], nn.Linear)
    x = torch.randn(8, 16)
    with torch.no_grad():
        for row in range(4):
            full, few = made[0](x)[:, row], low[0](x)[:, row]
            assert (full - few).norm() <= 0.05 * full.norm()


def test_zero_weights_and_zero_inputs_stay_zero() -> None:
    linear = nn.Linear(8, 4)
    nn.init.zeros_(linear.weight)
    low = quantize(nn.Sequential(linear), "int8")
    assert low(torch.randn(2, 8)).equal(linear.bias.expand(2, 4))
    assert low(torch.zeros(2, 8)).equal(linear.bias.expand(2, 4))


@pytest.mark.usefixtures("as_users_meet_it")
def test_an_unknown_precision_is_refused() -> None:
    with pytest.raises(ValueError, match="no precision is called 'int4'; choose float32, bfloat16, int8"):
        quantize(model("seq2seq"), "int4")
