"""The doctor finds every illness that is planted, and nothing in healthy models."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.analysis.doctor import CHECKS, Finding, examine
from regard.attention import Attention, Packed
from regard.layers.position import Learned
from regard.models import families
from regard.models.bert import BERT
from regard.models.caption import Caption
from regard.models.clip import CLIP
from regard.models.family import Family, family
from regard.models.flamingo import Flamingo
from regard.models.gpt import GPT
from regard.models.transformer import Transformer

QUICK = [name for name in CHECKS if name != "one batch can be overfitted"]
LOSS, OVERFIT, GRADIENTS = "initial loss near ln V", "one batch can be overfitted", "gradients reach all weights"
FUTURE, PADDING, BATCH = "no gradient from the future", "no gradient from padding", "a batch changes no answer"
BEHIND, BEFORE = "padding behind changes no answer", "padding before changes no answer"
PACKED, CACHE = "packing changes no answer", "cache equals no cache"
DEAD, SINKS, WEIGHTS, ACTIVATIONS = "no dead heads", "attention sinks", "weights are numbers", "activations are numbers"


def ill(found: list[Finding]) -> set[str]:
    assert all(each.why for each in found if each.verdict in ("ill", "skipped"))
    return {each.check for each in found if each.verdict == "ill"}


def planted(kind: type[nn.Module], *, checks: list[str] = QUICK) -> list[Finding]:
    """What is found in a model that differs from its family's by an illness."""
    one = replace(family(kind.__mro__[1].__name__.lower()), model=kind)
    return examine(one.build(f"{one.name}-nano"), family=one, checks=checks, steps=40)


@pytest.mark.parametrize("one", families().values(), ids=lambda one: one.name)
def test_healthy_models_of_every_family_are_well(one: Family) -> None:
    model = one.build(f"{one.name}-nano")
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    model.train()
    found = examine(model, family=one)
    assert ill(found) == set()
    assert [each.check for each in found] == list(CHECKS)
    assert sum(each.verdict == "well" for each in found) >= 4
    assert model.training
    assert all(weight.equal(before[name]) for name, weight in model.state_dict().items())
    assert all(weight.grad is None for weight in model.parameters())
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


def test_checks_that_do_not_apply_say_why() -> None:
    def skipped(preset: str) -> dict[str, str]:
        one = family(preset.partition("-")[0])
        found = examine(one.build(preset), family=one, checks=QUICK)
        return {each.check: each.why for each in found if each.verdict == "skipped"}

    assert skipped("bert-nano")[FUTURE] == "it reads both ways"
    assert skipped("bert-nano")[CACHE] == "it does not write in steps"
    assert skipped("tcn-nano")[FUTURE] == "it gives one answer for a whole text"
    assert skipped("deepsets-nano")[DEAD] == "it has no attention"
    assert skipped("graph-nano")[LOSS] == "it has no words or classes to choose from"
    assert skipped("transformer-nano")[BEFORE] == "it takes no padding there"
    assert skipped("clip-nano")[LOSS] == "it has no words or classes to choose from"  # but texts of a batch
    assert skipped("diffusion-nano")[CACHE] == "it does not write in steps"  # but takes noise away


def test_a_model_that_reads_padding_as_words_is_not_called_ill_for_it() -> None:
    one = family("clip")
    text = replace(one.presets["clip-nano"].text, causal=False, filled=True)
    found = examine(one.build("clip-nano", text=text), family=one, checks=QUICK)
    assert ill(found) == set()
    assert {each.why for each in found if each.check == BEHIND} == {"nothing tells it what is padding"}


# --- illnesses


class SeesAll(Attention):
    """An attention that forgets its mask."""

    def forward(self, x: Tensor, memory: Any = None, **said: Any) -> Tensor:
        return super().forward(x, memory, **{**said, "visible": None})


class Leaky(GPT):
    """One layer without the causal mask."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.decoder.blocks[1].attn.__class__ = SeesAll


def test_a_layer_without_its_causal_mask_is_found() -> None:
    assert ill(planted(Leaky)) >= {FUTURE, PADDING, CACHE}
    (one,) = planted(Leaky, checks=[FUTURE])
    assert one.value.endswith("of the largest dependence")
    assert "a causal mask that is moved by one place" in one.why


class LeakyTarget(Transformer):
    """A decoder whose words see the words to come."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.decoder.blocks[0].attn.__class__ = SeesAll


def test_a_leak_in_the_decoder_of_a_translator_is_found() -> None:
    assert ill(planted(LeakyTarget)) == {FUTURE, CACHE}


class SeesPadding(BERT):
    """One layer that looks at padding."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.encoder.blocks[1].attn.__class__ = SeesAll
        with torch.no_grad():  # as trained ones, so that it matters what is looked at
            self.encoder.blocks[1].attn.v.weight.mul_(20)


def test_a_layer_that_looks_at_padding_is_found() -> None:
    assert ill(planted(SeesPadding)) == {PADDING, BEHIND, BEFORE, PACKED}


class Counting(Learned):
    """Positions that count whatever stands in a row."""

    def forward(self, x: Tensor, start: Any = 0) -> Tensor:
        return super().forward(x, start if isinstance(start, int) else 0)


class CountsPadding(GPT):
    """Positions that do not follow from what is visible."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.position.__class__ = Counting


def test_positions_that_count_padding_are_found() -> None:
    found = ill(planted(CountsPadding))
    assert found >= {BEFORE, PACKED}
    assert not found & {FUTURE, PADDING, BEHIND, BATCH}


class Behind(Learned):
    """Positions that are moved by one as soon as something stands before them."""

    def forward(self, x: Tensor, start: Any = 0) -> Tensor:
        return super().forward(x, start + 1 if isinstance(start, int) and start else start)


class OffByOne(GPT):
    """A cache behind which positions are moved by one."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.position.__class__ = Behind


def test_a_cache_that_is_off_by_one_is_found() -> None:
    assert ill(planted(OffByOne)) == {CACHE}


class PacksAlike(BERT):
    """Packed texts that see each other."""

    def read(self, ids: Tensor, *, visible: Any = None, **said: Any) -> Tensor:
        return super().read(ids, visible=None if isinstance(visible, Packed) else visible, **said)


def test_packed_texts_that_see_each_other_are_found() -> None:
    assert ill(planted(PacksAlike)) == {PACKED}


class Crowd(GPT):
    """A norm over the batch."""

    def read(self, ids: Tensor, **said: Any) -> Tensor:
        hidden = super().read(ids, **said)
        return hidden - hidden.mean(dim=0, keepdim=True) / 2


def test_an_answer_that_depends_on_the_rest_of_the_batch_is_found() -> None:
    assert BATCH in ill(planted(Crowd))


class Crowded(CLIP):
    """Pictures that are told apart from those of their batch."""

    def encode_image(self, image: Tensor) -> Tensor:
        vectors = super().encode_image(image)
        return vectors - vectors.mean(dim=0, keepdim=True) / 2


class Late(Flamingo):
    """A cache that forgets which pictures were shown already, behind gates that are open."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        for name, gate in self.gated.named_parameters():
            if name.endswith("gate"):
                nn.init.ones_(gate)

    def advance(self, words: Tensor, state: Any, **said: Any) -> Any:
        return super().advance(words, replace(state, seen=torch.zeros_like(state.seen)), **said)


class Peeking(Caption):
    """Words that are told of the words to come."""

    def _embed(self, words: Tensor) -> Tensor:
        y = super()._embed(words)
        return y + y.mean(dim=1, keepdim=True)


def test_illnesses_of_models_of_pictures_and_words_are_found() -> None:
    assert ill(planted(Crowded)) == {BATCH, BEHIND}
    assert ill(planted(Late)) == {CACHE}
    assert ill(planted(Peeking)) == {FUTURE, CACHE}


class Loud(GPT):
    """Words that are embedded, and said, by a matrix of unit variance."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        nn.init.normal_(self.embed.weight, std=1.0)


def test_first_weights_of_the_wrong_size_are_found() -> None:
    assert ill(planted(Loud)) == {LOSS}


class Cut(GPT):
    """Nothing that is learnt reaches the blocks."""

    def read(self, ids: Tensor, **said: Any) -> Tensor:
        return super().read(ids, **said).detach()


class Mute(GPT):
    """Nothing is learnt at all."""

    def forward(self, ids: Tensor, **said: Any) -> Tensor:
        return super().forward(ids, **said).detach()


class Dull(GPT):
    """A last layer that makes all words alike."""

    def read(self, ids: Tensor, **said: Any) -> Tensor:
        return super().read(ids, **said) * 0.0


def test_gradients_that_are_cut_off_are_found() -> None:
    assert ill(planted(Cut, checks=[GRADIENTS])) == {GRADIENTS}
    assert ill(planted(Mute, checks=[GRADIENTS, OVERFIT])) == {GRADIENTS, OVERFIT}
    (one,) = planted(Mute, checks=[OVERFIT])
    assert one.value == "the loss depends on no weight"


def test_a_model_that_cannot_tell_its_inputs_apart_cannot_overfit_them() -> None:
    assert ill(planted(Dull, checks=[OVERFIT])) == {OVERFIT}


class Divides(GPT):
    """A division by zero, of finite weights."""

    def read(self, ids: Tensor, **said: Any) -> Tensor:
        hidden = super().read(ids, **said)
        return hidden / (hidden - hidden)


class Root(GPT):
    """A square root at zero: the number is right, its gradient is not."""

    def read(self, ids: Tensor, **said: Any) -> Tensor:
        hidden = super().read(ids, **said)
        return hidden + (hidden - hidden).sqrt()


def test_numbers_that_are_none_are_found_where_they_arise() -> None:
    found = planted(Divides, checks=[WEIGHTS, ACTIVATIONS])
    assert ill(found) == {ACTIVATIONS}
    found = planted(Root, checks=[WEIGHTS, ACTIVATIONS, GRADIENTS])
    assert ill(found) == {GRADIENTS}
    assert found[-1].value.startswith("not finite at ")


def test_a_weight_that_is_no_number_is_named_and_nothing_else_is_tried() -> None:
    one = family("gpt")
    model: Any = one.build("gpt-nano")
    with torch.no_grad():
        model.decoder.blocks[1].mlp.up.weight[3, 4] = torch.nan
    found = examine(model, family=one)
    assert ill(found) == {WEIGHTS}
    assert "decoder.blocks.1.mlp.up.weight" in found[0].value
    assert {each.why for each in found[1:]} == {"its weights are no numbers"}


@pytest.mark.parametrize("left", [0.0, 1e-4])  # of its weights: none, and what weight decay may leave
@pytest.mark.parametrize("part", ["q", "k"])
def test_a_head_that_looks_the_same_whatever_it_reads_is_found(part: str, left: float) -> None:
    one = family("gpt")
    model: Any = one.build("gpt-nano")
    layer = getattr(model.decoder.blocks[1].attn, part)
    with torch.no_grad():
        layer.weight[8:16] *= left
        layer.bias[8:16] *= left
    (found,) = examine(model, family=one, checks=[DEAD])
    assert found.verdict == "ill"
    assert found.value == "1 of 8: decoder.blocks.1.attn head 1"


def test_heads_that_rest_on_the_first_word_are_counted() -> None:
    def first(q: Tensor, k: Tensor) -> Tensor:
        return torch.arange(k.shape[-2]).eq(0).float().expand(1, q.shape[1], q.shape[-2], -1) * 4

    one = family("gpt")
    model: Any = one.build("gpt-nano")
    model.decoder.blocks[0].attn.bias = first
    (found,) = examine(model, family=one, checks=[SINKS])
    assert (found.verdict, found.value) == ("counted", "4 of 8 heads give the first word over 30%")


def test_a_model_that_breaks_where_it_offers_something_is_ill() -> None:
    class Broken(GPT):
        def step(self, words: Tensor, state: Any, *, visible: Any = None) -> Any:
            raise RuntimeError("no kernel for this")

    (found,) = planted(Broken, checks=[CACHE])
    assert (found.verdict, found.value) == ("ill", "RuntimeError: no kernel for this")


# --- what it takes


def trained(text: Tensor) -> tuple[nn.Module, Family]:
    one = family("gpt")
    model = one.build("gpt-nano").eval()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(text)[0, :-1], text[0, 1:]).backward()
        optimizer.step()
    return model, one


def test_a_text_that_a_model_knows_surprises_it_less_than_guessing() -> None:
    text, check = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6]]), "loss on the text below ln V"
    model, one = trained(text)
    assert examine(model, family=one, text=text, checks=[check])[0].verdict == "well"
    (found,) = examine(model, family=one, text=(text + 7) % 48, checks=[check])
    assert found.verdict == "ill"
    assert "weights that were not loaded" in found.why


def hugging() -> dict[str, Callable[[], Any]]:
    from transformers import BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel

    gpt = {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 16, "bos_token_id": 0, "eos_token_id": 0}
    bert = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    return {
        "gpt": lambda: GPT2LMHeadModel(GPT2Config(vocab_size=40, **gpt)),
        "bert": lambda: BertForMaskedLM(BertConfig(vocab_size=40, **bert)),
    }


@pytest.mark.parametrize("name", ["gpt", "bert"])
def test_models_of_transformers_are_examined_without_a_family(name: str) -> None:
    model = hugging()[name]()
    found = {each.check: each for each in examine(model, checks=QUICK)}
    assert ill(list(found.values())) == set()
    wells = {LOSS, PADDING, BATCH, BEHIND, DEAD, GRADIENTS} | ({FUTURE, BEFORE, CACHE} if name == "gpt" else set())
    assert {check for check, each in found.items() if each.verdict == "well"} >= wells


def test_an_illness_in_a_model_of_transformers_is_found() -> None:
    model = hugging()["gpt"]()
    embed = model.transformer.wpe
    embed.register_forward_hook(lambda _, args, output: output.roll(1, 1) if args[0].shape[1] > 1 else output)
    assert CACHE in ill(examine(model, checks=[CACHE, FUTURE, BATCH]))


def test_any_other_model_is_examined_with_the_inputs_that_are_given() -> None:
    class Plain(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(4, 3)

        def forward(self, points: Tensor) -> Tensor:
            return self.layer(points)

    found = examine(Plain(), inputs={"points": torch.randn(2, 4)})
    assert ill(found) == set()
    with pytest.raises(ValueError, match="nothing says what a Plain reads; give its family, or inputs="):
        examine(Plain())


def test_a_check_that_is_not_there_is_answered_with_the_nearest() -> None:
    with pytest.raises(KeyError, match="no check is called 'no dead head'; try no dead heads"):
        examine(nn.Linear(2, 2), checks=["no dead head"])


def test_examining_twice_finds_the_same_and_disturbs_no_dice() -> None:
    one = family("gpt")
    model = one.build("gpt-nano")
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    first = examine(model, family=one, checks=QUICK)
    assert torch.rand(3).equal(expected)
    assert examine(model, family=one, checks=QUICK) == first
