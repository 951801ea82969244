"""From text to text, with models that have learnt nothing yet: what is written is nonsense, but the same nonsense."""

import math
from dataclasses import replace
from functools import cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from regard.attention import record
from regard.decode import Translation, Translator, sampler
from regard.models import seq2seq, transformer
from regard.text import Tokenizer

PAD, START, STOP, UNKNOWN = range(4)

TEXTS = ["Ein Hund läuft.", "Der Hund sieht den roten Ball am Ufer.", "Wasser", "Zwei Katzen schlafen."]


@cache
def tokenizer() -> Tokenizer:
    return Tokenizer.train(TEXTS, kind="pieces", vocab=64)


def model(name: str = "transformer", seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    vocab = tokenizer().vocab
    if name == "transformer":
        made: nn.Module = transformer.Transformer(
            replace(transformer.PRESETS["transformer-nano"], vocab=vocab, dropout=0.5)
        )
    else:
        config = replace(seq2seq.PRESETS["seq2seq-nano"], vocab=vocab, target=vocab, dropout=0.5)
        made = seq2seq.Seq2Seq(replace(config, attention="none") if name == "fixed" else config)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.mul_(2.0)  # so that it prefers some words to others
    return made.eval()


def same(a: Translation, b: Translation) -> bool:
    close = a.written.log_prob == pytest.approx(b.written.log_prob, abs=1e-3)
    return (a.text, a.source, a.written.words) == (b.text, b.source, b.written.words) and close


names = st.sampled_from(["transformer", "rnnsearch", "fixed"])


@given(names, st.integers(0, 1000), st.sampled_from([1, 3]), st.permutations(TEXTS))
@settings(max_examples=6)
def test_a_text_is_translated_as_if_it_were_alone(name: str, seed: int, beam: int, texts: list[str]) -> None:
    translator = Translator(model(name, seed), tokenizer())
    for text, (together,) in zip(texts, translator.translate(texts, beam=beam, batch=3), strict=True):
        ((alone,),) = translator.translate([text], beam=beam)
        assert same(together, alone)


def test_what_is_read_ends_with_the_stop_and_the_text_is_that_of_the_words() -> None:
    for text, (best,) in zip(TEXTS, Translator(model(), tokenizer()).translate(TEXTS), strict=True):
        assert list(best.source) == tokenizer().encode([text], stop=True)[0]
        assert best.text == tokenizer().decode(best.written.words)
        assert best.weights == {}


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("name", ["transformer", "rnnsearch"])
def test_what_a_translation_looked_at_is_what_it_looks_at_when_read_in_one_go(name: str, beam: int) -> None:
    made = model(name)
    for some in Translator(made, tokenizer()).translate(TEXTS, beam=beam, count=beam, watch=True):
        for each in some:
            read = (START, *each.written.words)[: len(each.written.rows)]
            with torch.no_grad(), record(made) as trace:
                made(torch.tensor([each.source]), torch.tensor([read]))
            assert each.weights.keys() == set(made.cross_attentions) != set()
            for cross, weights in each.weights.items():
                torch.testing.assert_close(weights, trace.weights(cross)[0], atol=1e-4, rtol=1e-3)


def test_watching_changes_no_word_and_a_fixed_context_has_nothing_to_watch() -> None:
    for name in ("transformer", "rnnsearch", "fixed"):
        translator = Translator(model(name), tokenizer())
        plain, watched = translator.translate(TEXTS), translator.translate(TEXTS, watch=True)
        assert [each.written for (each,) in plain] == [each.written for (each,) in watched]
    assert all(each.weights == {} for (each,) in watched)


@pytest.mark.parametrize("name", ["transformer", "rnnsearch"])
def test_coverage_counts_what_the_winner_looks_at_when_read_in_one_go(name: str) -> None:
    made, coverage, length_penalty = model(name), 0.7, 0.6
    for some in Translator(made, tokenizer()).translate(
        TEXTS, beam=3, count=3, coverage=coverage, length_penalty=length_penalty
    ):
        for each in some:
            with torch.no_grad(), record(made) as trace:
                read = (START, *each.written.words)[: len(each.written.rows)]
                made(torch.tensor([each.source]), torch.tensor([read]))
            looked = torch.stack([trace.weights(cross)[0].mean(dim=0) for cross in made.cross_attentions]).mean(dim=0)
            missed = sum(math.log(min(float(share), 1.0)) for share in looked.sum(dim=0))
            plain = each.written.log_prob / ((5 + len(read)) / 6) ** length_penalty
            assert each.written.score == pytest.approx(plain + coverage * missed, abs=1e-3)


def test_no_coverage_is_as_before_and_coverage_needs_an_attention() -> None:
    translator = Translator(model(), tokenizer())
    plain, zero = translator.translate(TEXTS), translator.translate(TEXTS, coverage=0.0)
    assert [each.written for (each,) in plain] == [each.written for (each,) in zero]
    with pytest.raises(ValueError, match=r"coverage 0.2 counts what was looked at, and this model does not look"):
        Translator(model("fixed"), tokenizer()).translate(TEXTS, coverage=0.2)
    with pytest.raises(ValueError, match=r"coverage 0.2 ranks what a beam finds; give 0 or more, and 0 where"):
        translator.translate(TEXTS, coverage=0.2, choose=sampler())


def test_a_beam_of_one_writes_the_likeliest_word_each_time() -> None:
    made = model()
    for (best,), text in zip(Translator(made, tokenizer()).translate(TEXTS, beam=1), TEXTS, strict=True):
        source = torch.tensor(tokenizer().encode([text], stop=True))
        with torch.no_grad():
            logits = made(source, torch.tensor([(START, *best.written.words)]))[0]
        expected = (*best.written.words, STOP) if best.written.finished else best.written.words
        assert logits.argmax(dim=-1).tolist()[: len(expected)] == list(expected)


def test_what_never_stops_is_cut_off_in_proportion_to_its_source() -> None:
    made = model("fixed")
    made.to_vocab.bias.data[STOP] = -100.0
    for beam in (1, 3):
        for (best,) in Translator(made, tokenizer()).translate(TEXTS, beam=beam):
            assert not best.written.finished
            assert len(best.written.words) == 2 * len(best.source) + 10


def test_blank_texts_have_empty_translations_and_cost_nothing() -> None:
    made, told = model(), []
    made.start = None  # type: ignore[assignment] # whoever runs it fails
    found = Translator(made, tokenizer()).translate(["", "  \n"], count=2, progress=lambda *at: told.append(at))
    assert [[(each.text, each.source, each.written.words) for each in some] for some in found] == [[("", (), ())]] * 2
    assert Translator(made, tokenizer()).translate([]) == []
    assert told == []


def test_a_blank_text_keeps_its_place_among_others() -> None:
    found = Translator(model(), tokenizer()).translate([TEXTS[0], " ", TEXTS[1]])
    assert [bool(each.source) for (each,) in found] == [True, False, True]


def test_an_unknown_character_is_read_as_unknown() -> None:
    ((best,),) = Translator(model(), tokenizer()).translate(["Ein 犬 läuft 🐕"])
    assert UNKNOWN in best.source


def test_drawing_is_repeatable_and_gives_as_many_as_asked() -> None:
    translator = Translator(model(), tokenizer())

    def drawn(seed: int) -> list[list[str]]:
        choose = sampler(generator=torch.Generator().manual_seed(seed))
        return [[each.text for each in some] for some in translator.translate(TEXTS, choose=choose, count=7)]

    assert drawn(1) == drawn(1) != drawn(2)
    assert all(len(some) == 7 and len(set(some)) > 1 for some in drawn(1))


def test_a_tagged_model_reads_the_wanted_language_in_front_of_the_text() -> None:
    translator = Translator(model(), tokenizer(), multilingual=True)
    ((best,),) = translator.translate(["Ein Hund"], to="cs")
    assert list(best.source) == tokenizer().encode(["[cs] Ein Hund"], stop=True)[0]
    ((blank,),) = translator.translate([" "], to="cs")
    assert blank.text == ""
    with pytest.raises(ValueError, match="this model writes several languages; say which one, as by to='de'"):
        translator.translate(TEXTS)
    with pytest.raises(ValueError, match="writes one language and cannot be asked for 'cs'; leave `to` out"):
        Translator(model(), tokenizer()).translate(TEXTS, to="cs")


def test_a_model_that_was_learning_goes_on_learning_and_its_frozen_parts_stay_frozen() -> None:
    made = model().train()
    made.encoder.eval()
    before = [module.training for module in made.modules()]
    translator = Translator(made, tokenizer())
    first, second = translator.translate(TEXTS), translator.translate(TEXTS)
    assert [module.training for module in made.modules()] == before
    assert all(same(a, b) for (a,), (b,) in zip(first, second, strict=True))  # no dropout


def test_progress_is_told_after_each_batch() -> None:
    told: list[tuple[int, int]] = []
    Translator(model(), tokenizer()).translate([*TEXTS, ""], batch=3, progress=lambda *at: told.append(at))
    assert told == [(4, 5), (5, 5)]


def test_mistakes_are_named_with_the_way_out() -> None:
    made = model()
    with pytest.raises(ValueError, match="a tokenizer of 5 entries is that of another model, since this one has 6"):
        Translator(made, Tokenizer.train(["a"], kind="characters", vocab=5))
    other = seq2seq.Seq2Seq(replace(seq2seq.PRESETS["seq2seq-nano"], vocab=tokenizer().vocab, target=48))
    with pytest.raises(ValueError, match="since this one has 48"):
        Translator(other, tokenizer())
    translator = Translator(made, tokenizer(), limit=8)
    with pytest.raises(ValueError, match=r"text 1 has \d+ tokens, and at most 8 are read; translate it sentence by"):
        translator.translate(["Hund", "Hund " * 20])
    with pytest.raises(ValueError, match="a beam of 2 cannot give 3 translations; ask for 1 to 2"):
        translator.translate(["Hund"], beam=2, count=3)
    with pytest.raises(ValueError, match="a beam of 0 finds nothing"):
        translator.translate(["Hund"], beam=0)
    with pytest.raises(ValueError, match="batches of 0 texts hold nothing"):
        translator.translate(["Hund"], batch=0)


@pytest.mark.usefixtures("as_users_meet_it")
def test_one_text_is_not_taken_for_several() -> None:
    with pytest.raises(TypeError, match=r"'Ein Hund' is one text, but several are expected; write \[text\]"):
        Translator(model(), tokenizer()).translate("Ein Hund")
    with pytest.raises(TypeError, match="text 0 is bytes, not str"):
        Translator(model(), tokenizer(), multilingual=True).translate([b"Ein Hund"], to="cs")  # type: ignore[list-item]
