"""From text to text, with models that have learnt nothing yet: what is written is nonsense, but the same nonsense."""

import math
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from regard.attention import off, only, record, then, uniform
from regard.decode import sampler
from regard.models import seq2seq, transformer
from regard.pipelines import TooLongError
from regard.pipelines.sequence import Written
from regard.pipelines.translate import Translate
from regard.text import Tokenizer

PAD, START, STOP, UNKNOWN = range(4)

TEXTS = ["Ein Hund läuft.", "Der Hund sieht den roten Ball am Ufer.", "Wasser", "Zwei Katzen schlafen."]
SEVERAL = {"languages": {"source": ["de"], "target": ["cs", "it"]}}


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


def translator(one: nn.Module | str = "transformer", card: dict[str, Any] | None = None) -> Translate:
    return Translate.of(model(one) if isinstance(one, str) else one, tokenizer(), card=card)


def same(a: Written, b: Written) -> bool:
    close = a.hypothesis.log_prob == pytest.approx(b.hypothesis.log_prob, abs=1e-3)
    return (a.text, a.source, a.hypothesis.words) == (b.text, b.source, b.hypothesis.words) and close


names = st.sampled_from(["transformer", "rnnsearch", "fixed"])


@given(names, st.integers(0, 1000), st.sampled_from([1, 3]), st.permutations(TEXTS))
@settings(max_examples=6)
def test_a_text_is_translated_as_if_it_were_alone(name: str, seed: int, beam: int, texts: list[str]) -> None:
    translate = translator(model(name, seed))
    for text, together in zip(texts, translate(texts, beam=beam, batch=3), strict=True):
        (alone,) = translate([text], beam=beam)
        assert same(together, alone)


def test_what_is_read_ends_with_the_stop_and_the_text_is_that_of_the_words() -> None:
    for text, best in zip(TEXTS, translator()(TEXTS), strict=True):
        assert list(best.source) == tokenizer().encode([text], stop=True)[0]
        assert best.text == tokenizer().decode(best.hypothesis.words)
        assert best.alternatives == ()


@pytest.mark.parametrize("name", ["transformer", "rnnsearch"])
def test_a_reading_is_what_the_winner_looks_at_when_read_in_one_go(name: str) -> None:
    made = model(name)
    translate = translator(made)
    for text, best in zip(TEXTS, translate(TEXTS, beam=4), strict=True):
        reading = translate.attend(text, beam=4)
        assert reading.output.outputs[0].hypothesis.words == best.hypothesis.words
        read = (START, *best.hypothesis.words)[: len(reading.axes["target"])]
        with torch.no_grad(), record(made) as trace:
            made(torch.tensor([best.source]), torch.tensor([read]))
        assert [each.name for each in reading.maps if each.kind == "cross"] == list(made.cross_attentions)
        for each in reading.maps:
            np.testing.assert_allclose(reading.weights(each.name), trace.weights(each.name)[0], atol=1e-4, rtol=1e-3)
            shape = (each.heads, len(reading.axes[each.rows]), len(reading.axes[each.columns]))
            assert reading.weights(each.name).shape == shape


def test_words_look_as_their_pieces_on_average_and_get_their_sum() -> None:
    reading = translator().attend(TEXTS[1])
    one = next(each for each in reading.maps if each.kind == "cross")
    pieces, words = reading.weights(one.name), reading.weights(one.name, words=True)
    source, target = reading.axes["source"], reading.axes["target"]
    assert words.shape[1:] == (len(target.labels), len(source.labels))
    (first, last), (start, end) = target.spans[0], source.spans[-2]
    expected = pieces[:, first : last + 1, start : end + 1].sum(-1).mean(-1)
    np.testing.assert_allclose(words[:, 0, -2], expected, rtol=1e-5)


def test_a_model_can_be_made_to_write_something_else() -> None:
    translate = translator()
    reading = translate.attend(TEXTS[0], target="Wasser")
    assert reading.output.outputs[0].text == "Wasser"
    (ids,) = tokenizer().encode(["Wasser"], stop=True)
    assert len(reading.axes["target"]) == len(ids)
    (source,) = tokenizer().encode([TEXTS[0]], stop=True)
    with torch.no_grad():
        logits = translate.model(torch.tensor([source]), torch.tensor([[START, *ids[:-1]]])).log_softmax(-1)
    expected = float(logits.gather(-1, torch.tensor([ids])[..., None]).sum())
    assert reading.output.outputs[0].hypothesis.log_prob == pytest.approx(expected, abs=1e-4)


def test_edits_change_the_search_and_what_is_looked_at() -> None:
    translate = translator()
    plain = translate.attend(TEXTS[0])
    name = "decoder.blocks.0.cross"
    edited = translate.attend(
        TEXTS[0], edits={name: then(only(off, 0), only(uniform, 1)), "encoder.blocks.0.attn": off}
    )
    weights = edited.weights(name)
    assert (weights[0] == 0).all()
    np.testing.assert_allclose(weights[1], 1 / weights.shape[-1], rtol=1e-5)
    assert plain.output.outputs[0].hypothesis.log_prob != edited.output.outputs[0].hypothesis.log_prob


def test_the_tree_of_a_search_holds_its_winners() -> None:
    found = translator().attend(TEXTS[0], beam=3).output
    ends = sorted((node.final, i) for i, node in enumerate(found.nodes) if node.final is not None)
    assert [rank for rank, _ in ends] == list(range(len(found.outputs)))
    words: list[int] = []
    node = ends[0][1]
    while found.nodes[node].parent is not None:
        words.append(found.nodes[node].word)
        node = found.nodes[node].parent
    best = found.outputs[0].hypothesis
    assert tuple(reversed(words))[: len(best.words)] == best.words


@pytest.mark.parametrize("name", ["transformer", "rnnsearch"])
def test_coverage_counts_what_the_winner_looks_at_when_read_in_one_go(name: str) -> None:
    made, coverage, length_penalty = model(name), 0.7, 0.6
    for some in translator(made)(TEXTS, beam=3, count=3, coverage=coverage, length_penalty=length_penalty):
        for each in (some, *some.alternatives):
            found = each.hypothesis
            with torch.no_grad(), record(made) as trace:
                read = (START, *found.words)[: len(found.rows)]
                made(torch.tensor([each.source]), torch.tensor([read]))
            looked = torch.stack([trace.weights(cross)[0].mean(dim=0) for cross in made.cross_attentions]).mean(dim=0)
            missed = sum(math.log(min(float(share), 1.0)) for share in looked.sum(dim=0))
            plain = found.log_prob / ((5 + len(read)) / 6) ** length_penalty
            assert found.score == pytest.approx(plain + coverage * missed, abs=1e-3)


def test_no_coverage_is_as_before_and_coverage_needs_an_attention() -> None:
    translate = translator()
    plain, zero = translate(TEXTS), translate(TEXTS, coverage=0.0)
    assert [each.hypothesis for each in plain] == [each.hypothesis for each in zero]
    with pytest.raises(ValueError, match=r"coverage 0.2 counts what was looked at, and this model does not look"):
        translator("fixed")(TEXTS, coverage=0.2)
    with pytest.raises(ValueError, match=r"coverage 0.2 ranks what a beam finds; give 0 or more, and 0 where"):
        translate(TEXTS, coverage=0.2, sampler=sampler())


def test_a_beam_of_one_writes_the_likeliest_word_each_time() -> None:
    made = model()
    for best, text in zip(translator(made)(TEXTS, beam=1), TEXTS, strict=True):
        source, found = torch.tensor(tokenizer().encode([text], stop=True)), best.hypothesis
        with torch.no_grad():
            logits = made(source, torch.tensor([(START, *found.words)]))[0]
        expected = (*found.words, STOP) if found.finished else found.words
        assert logits.argmax(dim=-1).tolist()[: len(expected)] == list(expected)


def test_what_never_stops_is_cut_off_in_proportion_to_its_source() -> None:
    made = model("fixed")
    made.to_vocab.bias.data[STOP] = -100.0
    for beam in (1, 3):
        for best in translator(made)(TEXTS, beam=beam):
            assert not best.hypothesis.finished
            assert len(best.hypothesis.words) == 2 * len(best.source) + 10


def test_blank_texts_have_empty_translations_and_cost_nothing() -> None:
    made, told = model(), list[float]()
    translate = translator(made)
    made.start = None  # type: ignore[assignment] # whoever runs it fails
    found = translate(["", "  \n"], count=2, progress=told.append)
    assert [(each.text, each.source, each.hypothesis.words, each.alternatives) for each in found] == [
        ("", (), (), ())
    ] * 2
    assert translate([]) == []
    assert told == []


def test_a_blank_text_keeps_its_place_among_others() -> None:
    found = translator()([TEXTS[0], " ", TEXTS[1]])
    assert [bool(each.source) for each in found] == [True, False, True]


def test_an_unknown_character_is_read_as_unknown() -> None:
    (best,) = translator()(["Ein 犬 läuft 🐕"])
    assert UNKNOWN in best.source


def test_drawing_is_repeatable_and_gives_as_many_as_asked() -> None:
    translate = translator()

    def draw(seed: int) -> list[list[str]]:
        choose = sampler(generator=torch.Generator().manual_seed(seed))
        return [
            [each.text for each in (some, *some.alternatives)] for some in translate(TEXTS, sampler=choose, count=7)
        ]

    assert draw(1) == draw(1) != draw(2)
    assert all(len(some) == 7 and len(set(some)) > 1 for some in draw(1))


def test_a_multilingual_model_reads_the_wanted_language_in_front_of_the_text() -> None:
    translate = translator(card=SEVERAL)
    (best,) = translate(["Ein Hund"], to="cs")
    assert list(best.source) == tokenizer().encode(["[cs] Ein Hund"], stop=True)[0]
    (blank,) = translate([" "], to="cs")
    assert blank.text == ""
    with pytest.raises(ValueError, match="writes several languages; say which by `to`: cs, it"):
        translate(TEXTS)
    with pytest.raises(ValueError, match="does not write 'de'; it writes cs, it"):
        translate(TEXTS, to="de")
    one = translator(card={"languages": {"source": ["de"], "target": ["en"]}})
    assert one(TEXTS, to="en") == one(TEXTS)
    with pytest.raises(ValueError, match="does not write 'cs'; it writes en"):
        one(TEXTS, to="cs")


def test_a_model_that_was_learning_goes_on_learning_and_its_frozen_parts_stay_frozen() -> None:
    made = model().train()
    made.encoder.eval()
    before = [module.training for module in made.modules()]
    translate = translator(made)
    first, second = translate(TEXTS), translate(TEXTS)
    assert [module.training for module in made.modules()] == before
    assert all(same(a, b) for a, b in zip(first, second, strict=True))  # no dropout


def test_progress_is_told_after_each_batch() -> None:
    told: list[float] = []
    translator()([*TEXTS, ""], batch=3, progress=told.append)
    assert told == [0.8, 1.0]


def test_mistakes_are_named_with_the_way_out() -> None:
    made = model()
    small = seq2seq.Seq2Seq(replace(seq2seq.PRESETS["seq2seq-nano"], vocab=40, target=48))
    with pytest.raises(ValueError, match="is that of another model, since this one has 4"):
        Translate.of(small, tokenizer())
    translate = Translate.of(made, tokenizer())
    translate.limit = 8
    with pytest.raises(TooLongError, match=r"text 1 has \d+ tokens, and at most 8 are read") as error:
        translate(["Hund", "Hund " * 20])
    assert (error.value.index, error.value.limit) == (1, 8)
    with pytest.raises(ValueError, match="a beam of 2 cannot give 3 translations; ask for 1 to 2"):
        translate(["Hund"], beam=2, count=3)
    with pytest.raises(ValueError, match="a beam of 0 finds nothing"):
        translate(["Hund"], beam=0)
    with pytest.raises(ValueError, match="batches of 0 texts hold nothing"):
        translate(["Hund"], batch=0)
    with pytest.raises(ValueError, match="an empty text leaves nothing to look at"):
        translate.attend(" ")


@pytest.mark.usefixtures("as_users_meet_it")
def test_keywords_of_other_libraries_are_answered_with_ours() -> None:
    translate: Any = translator()
    with pytest.raises(TypeError, match="takes no 'num_beams'; here it is beam"):
        translate(TEXTS, num_beams=4)
    with pytest.raises(TypeError, match=r"takes no 'top_p'; here it is sampler=regard\.decode\.sampler"):
        translate(TEXTS, top_p=0.9)
    with pytest.raises(TypeError, match="takes no 'beem'; there is beam"):
        translate(TEXTS, beem=4)
    with pytest.raises(TypeError, match="text 0 is bytes, not str"):
        translate([b"Ein Hund"])
    assert translate("Ein Hund")[0].text == translate(["Ein Hund"])[0].text


def test_a_blank_line_and_a_long_one_are_evaluated_too(tmp_path: Path) -> None:
    (tmp_path / "test.de").write_text("Ein Hund läuft.\n\n" + "Hund " * 700 + "\n")
    (tmp_path / "test.en").write_text("A dog.\nNothing was said.\n" + "dog " * 700 + "\n")
    found = translator().evaluate(str(tmp_path), source="de", target="en", beam=1)
    assert found.count == 3
    assert math.isfinite(found.scores["perplexity"].value)
    assert found.outputs[1] == ""


def test_what_begins_a_text_is_never_written_in_it() -> None:
    """Marian begins with its padding, and nothing in its weights forbids it later."""
    made = model("fixed")
    made.to_vocab.bias.data[PAD] = 100.0
    begins_with_padding = replace(tokenizer(), start=PAD)
    for beam in (1, 3):
        for best in Translate.of(made, begins_with_padding)(TEXTS, beam=beam):
            assert PAD not in best.hypothesis.words
    assert PAD in translator(made)(TEXTS, beam=1)[0].hypothesis.words
