"""A patched run is the corrupted one with a piece of the clean one in it."""

from typing import Any

import numpy as np
import pytest
import torch

from regard.analysis.cells import patch_cells, svg
from regard.analysis.patching import patch
from regard.models import build

CLEAN = torch.tensor([[3, 1, 4, 1, 5]])
CORRUPT = torch.tensor([[3, 9, 4, 1, 5]])  # another word at place 1
PARTS = ["stream", "attention", "mlp", "heads"]


@pytest.fixture
def model() -> Any:
    """A fresh model looks almost nowhere: larger weights make its words depend on each other."""
    found: Any = build("gpt-nano").eval()
    with torch.no_grad():
        for block in found.decoder.blocks:
            for layer in (block.attn.q, block.attn.k, block.attn.v, block.attn.out):
                layer.weight.mul_(12)
    return found


def test_a_word_carries_the_difference_until_it_has_been_looked_at(model: Any) -> None:
    found = patch(model, CLEAN, CORRUPT, answer=7, wrong=8)
    assert found.layers == ("decoder.blocks.0", "decoder.blocks.1")
    assert found.restored.shape == (2, 5)
    # Before the last layer has looked, nothing but the changed word and what came after it can differ.
    np.testing.assert_allclose(found.restored[:, 0], 0, atol=1e-4)
    # After the last layer, the last place decides alone.
    np.testing.assert_allclose(found.restored[1], [0, 0, 0, 0, 1], atol=1e-4)


@torch.no_grad()
def test_a_patch_of_the_stream_is_what_one_would_do_by_hand(model: Any) -> None:
    found = patch(model, CLEAN, CORRUPT, answer=7, wrong=8)
    block, kept = model.decoder.blocks[0], []
    handle = block.register_forward_hook(lambda _, __, y: kept.append(y.clone()))
    best = model(CLEAN)[0, -1]
    handle.remove()

    def put(_: object, __: object, y: torch.Tensor) -> torch.Tensor:
        y = y.clone()
        y[:, 1] = kept[0][:, 1]
        return y

    worst = model(CORRUPT)[0, -1]
    handle = block.register_forward_hook(put)
    patched = model(CORRUPT)[0, -1]
    handle.remove()
    gap = [(logits[7] - logits[8]).item() for logits in (best, worst, patched)]
    assert (found.clean, found.corrupt) == pytest.approx((gap[0], gap[1]), abs=1e-5)
    assert found.restored[0, 1] == pytest.approx((gap[2] - gap[1]) / (gap[0] - gap[1]), abs=1e-3)


@torch.no_grad()
def test_all_heads_together_are_the_attention(model: Any) -> None:
    """With one head a layer, its patch at all places is that of the whole attention."""
    single: Any = build("gpt-nano", heads=1).eval()
    single.load_state_dict(model.state_dict())
    heads = patch(single, CLEAN, CORRUPT, answer=7, wrong=8, part="heads")
    places = patch(single, CLEAN, CORRUPT, answer=7, wrong=8, part="attention")
    assert heads.restored.shape == (2, 1)
    # In the last layer only the last place is read, so that both are the same patch.
    assert heads.restored[1, 0] == pytest.approx(places.restored[1, -1], abs=1e-4)


@pytest.mark.parametrize("part", PARTS)
def test_patching_in_parts_changes_nothing_and_leaves_the_model_as_it_was(
    model: Any, part: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = patch(model, CLEAN, CORRUPT, answer=7, wrong=8, part=part)
    before = model(CLEAN)
    monkeypatch.setattr("regard.analysis.patching.ROOM", 1)
    parts = patch(model, CLEAN, CORRUPT, answer=7, wrong=8, part=part)
    np.testing.assert_allclose(whole.restored, parts.restored, atol=2e-4)
    assert model(CLEAN).equal(before)
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


@pytest.mark.parametrize("part", PARTS)
def test_models_of_transformers_are_patched_alike(part: Any) -> None:
    from transformers import BertConfig, BertForMaskedLM, LlamaConfig, LlamaForCausalLM

    small: dict[str, Any] = {"vocab_size": 40, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2}
    llama = LlamaForCausalLM(LlamaConfig(**small, num_attention_heads=4, num_key_value_heads=2)).eval()
    bert = BertForMaskedLM(BertConfig(**small, num_attention_heads=4)).eval()
    for model, place in ((llama, 4), (bert, 1)):
        found = patch(model, CLEAN, CORRUPT, answer=7, wrong=8, part=part, place=place)
        assert found.restored.shape == (2, 4 if part == "heads" else 5)
        assert np.isfinite(found.restored).all()
        if part == "stream":
            np.testing.assert_allclose(found.restored[1], np.arange(5) == place, atol=1e-2)


def test_an_encoder_can_be_patched_for_what_its_decoder_says() -> None:
    model = build("transformer-nano").eval()
    words = torch.tensor([[1, 2, 3]])
    clean, corrupt = ({"source": ids, "target": words} for ids in (CLEAN, CORRUPT))
    found = patch(model, clean, corrupt, answer=7, wrong=8, stack="encoder.blocks")
    assert found.restored.shape == (2, 5)
    assert abs(found.restored[0, 1]) > 0.1


def test_prompts_and_answers_that_do_not_go_together_are_refused(model: Any) -> None:
    with pytest.raises(ValueError, match="the clean prompt has 5 tokens and the corrupted one 4; a state goes to the"):
        patch(model, {"ids": CLEAN}, {"ids": CORRUPT[:, :4]}, answer=7, wrong=8)
    with pytest.raises(ValueError, match=r"after both prompts the answers differ by .*; choose other prompts"):
        patch(model, CLEAN, CLEAN, answer=7, wrong=8)
    with pytest.raises(ValueError, match="the words 7 and 48 are not both below 48"):
        patch(model, CLEAN, CORRUPT, answer=7, wrong=48)
    with pytest.raises(ValueError, match="one prompt is patched at a time, and these are 2"):
        patch(model, {"ids": CLEAN.repeat(2, 1)}, {"ids": CORRUPT.repeat(2, 1)}, answer=7, wrong=8)


@pytest.mark.usefixtures("as_users_meet_it")
def test_a_part_that_is_not_there_is_answered_with_those_that_are(model: Any) -> None:
    wrong: Any = "norm"
    with pytest.raises(ValueError, match="no part is called 'norm'; choose from stream, attention, mlp, heads"):
        patch(model, CLEAN, CORRUPT, answer=7, wrong=8, part=wrong)


def test_the_figure_shows_what_is_restored_and_what_is_made_worse(model: Any) -> None:
    found = patch(model, CLEAN, CORRUPT, answer=7, wrong=8)
    object.__setattr__(found, "restored", np.array([[0.0, -0.4, 0.2, 1.0, 0.0]] * 2, np.float32))
    drawn = svg(patch_cells(found, ["a", "b", "c", "d", "e"]))
    assert 'class="d' in drawn
    assert "layer 1, b: -40.0 % restored" in drawn
