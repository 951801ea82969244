"""A lens reads each layer as the model reads its last one."""

from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from regard.analysis.cells import lens_cells, name_rows, svg
from regard.analysis.lens import lens
from regard.attention import record
from regard.models import build

IDS = torch.tensor([[3, 1, 4, 1, 5, 9, 2]])


@torch.no_grad()
def test_each_layer_goes_through_the_final_norm_and_the_vocabulary() -> None:
    model: Any = build("gpt-nano").eval()
    found = lens(model, IDS)
    with record(model, hidden=True) as trace:
        model(IDS)
    for row, name in enumerate(found.layers[1:], start=1):
        chances = model.to_vocab(model.norm(trace.hidden[name][0]))[0].softmax(dim=-1)
        np.testing.assert_array_equal(found.guesses[row], chances.argmax(dim=-1))
        np.testing.assert_allclose(found.chances[row], chances.amax(dim=-1), rtol=1e-5)
        entropy = -(chances * chances.log()).sum(dim=-1)
        np.testing.assert_allclose(found.entropies[row], entropy, rtol=1e-4)
    before = model.to_vocab(model.norm(model.position(model.embed(IDS))))[0].argmax(dim=-1)
    assert found.layers[0] == "embedding"
    np.testing.assert_array_equal(found.guesses[0], before)


@torch.no_grad()
@pytest.mark.parametrize(
    "preset",
    [f"{name}-nano" for name in ("gpt", "llama", "bert", "roberta", "albert", "distilbert", "deberta", "transformer")],
)
def test_the_last_layer_says_what_the_model_says(preset: str) -> None:
    model: Any = build(preset).eval()
    given = {"source": IDS, "target": IDS[:, :4]} if preset == "transformer-nano" else IDS
    found = lens(model, given)
    output = model(**given) if isinstance(given, dict) else model(given)
    logits = output if isinstance(output, Tensor) else output.logits
    chances = logits[0].softmax(dim=-1)
    np.testing.assert_array_equal(found.guesses[-1], chances.argmax(dim=-1))
    np.testing.assert_allclose(found.answers[-1], chances.amax(dim=-1), rtol=1e-5)
    np.testing.assert_allclose(found.answers[-1], found.chances[-1])
    assert (found.answers <= found.chances + 1e-6).all()


@torch.no_grad()
def test_a_masked_head_is_the_lens_of_an_encoder() -> None:
    model: Any = build("bert-nano").eval()
    with record(model, hidden=True) as trace:
        model(IDS)
    first = model.head.words(trace.hidden["encoder.blocks.0"][0])[0].argmax(dim=-1)
    np.testing.assert_array_equal(lens(model, IDS).guesses[1], first)


def test_long_texts_are_read_in_parts_and_the_model_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    model = build("gpt-nano").train()
    whole = lens(model, IDS)
    monkeypatch.setattr("regard.analysis.lens.ROOM", 1)
    parts = lens(model, IDS)
    np.testing.assert_allclose(whole.answers, parts.answers, rtol=1e-5)
    assert model.training
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


def test_it_is_told_from_where_on_the_answer_stands() -> None:
    found = lens(build("gpt-nano"), IDS)
    guesses = np.array([[1, 2, 3, 3], [1, 3, 3, 4], [1, 3, 4, 3]])
    object.__setattr__(found, "guesses", guesses)
    assert found.settled().tolist() == [0, 1, 2, 2]


@torch.no_grad()
def test_models_of_transformers_are_read_by_their_own_heads() -> None:
    from transformers import AlbertConfig, AlbertForMaskedLM, GPT2Config, GPT2LMHeadModel, GPT2Model

    small = {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 16, "bos_token_id": 0, "eos_token_id": 0}
    gpt = GPT2LMHeadModel(GPT2Config(vocab_size=40, **small)).eval()
    found = lens(gpt, IDS)
    states = gpt(IDS, output_hidden_states=True).hidden_states
    for row in (0, 1):  # its last state is normed already
        expected = gpt.lm_head(gpt.transformer.ln_f(states[row]))[0].softmax(dim=-1).amax(dim=-1)
        np.testing.assert_allclose(found.chances[row], expected, rtol=1e-5)
    headless = GPT2Model(gpt.config).eval()
    headless.load_state_dict(gpt.transformer.state_dict())
    np.testing.assert_allclose(lens(headless, IDS).answers, found.answers, rtol=1e-4)
    by_hand = lens(headless, IDS, vocabulary=lambda states: states @ headless.wte.weight.T)
    np.testing.assert_allclose(by_hand.answers, found.answers, rtol=1e-4)
    shared = AlbertForMaskedLM(
        AlbertConfig(
            vocab_size=40,
            embedding_size=8,
            hidden_size=16,
            num_hidden_layers=3,
            num_attention_heads=2,
            intermediate_size=16,
        )
    ).eval()
    rows = lens(shared, IDS).layers
    assert len(rows) == 4
    assert name_rows(rows) == ("embedding", "layer 0", "layer 1", "layer 2")


def test_what_has_no_words_or_no_layers_says_so() -> None:
    with pytest.raises(ValueError, match=r"a BERT gives .*, which are no logits of 48 words for each place; load it"):
        lens(build("bert-nano", head="none"), IDS)
    with pytest.raises(ValueError, match="a Seq2Seq has no layers to look between"):
        lens(build("seq2seq-nano"), IDS)
    with pytest.raises(ValueError, match=r"a lens reads one text, and these are 2; give ids\[:1\]"):
        lens(build("gpt-nano"), {"ids": IDS.repeat(2, 1)})
    with pytest.raises(ValueError, match=r"no layers stand in 'encoder'; they stand in encoder.blocks, decoder.blocks"):
        lens(build("transformer-nano"), IDS, stack="encoder")
    with pytest.raises(ValueError, match="has 7 places and the model speaks of 4; choose by stack="):
        lens(build("transformer-nano"), {"source": IDS, "target": IDS[:, :4]}, stack="encoder.blocks")


def test_the_figure_says_each_guess_in_its_cell() -> None:
    found = lens(build("gpt-nano"), IDS)
    places = [f"word {i}" for i in range(7)]
    guesses = [[f"<{guess}>" for guess in line] for line in found.guesses]
    drawn = svg(lens_cells(found, places, guesses), title="A lens", caption="a model & its words")
    picture = ElementTree.fromstring(drawn)
    kinds = [(each.get("class") or "", each.text) for each in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert [text for kind, text in kinds if kind.startswith("number")] == [word for line in guesses for word in line]
    assert [text for kind, text in kinds if kind == "row"] == ["embedding", "layer 0", "layer 1"]
    assert [text for kind, text in kinds if kind.startswith("word")] == places


class Hollow(nn.Module):
    """A model that gives nothing that could be read."""

    def forward(self, ids: Tensor) -> dict[str, int]:
        return {"count": ids.numel()}


def test_an_answer_that_is_no_tensor_is_refused() -> None:
    from regard.analysis.anatomy import read_answer

    with pytest.raises(TypeError, match="a model that gives a dict has no answer to read"):
        read_answer(Hollow()(IDS))
