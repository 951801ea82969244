"""From a text to how it goes on: small GPTs, one of which has learnt a line by heart."""

import json
import math
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import regard
from regard.attention import off
from regard.data.text import text as read_text
from regard.hub import save
from regard.models import gpt
from regard.pipelines import TooLongError
from regard.pipelines.generate import Generate
from regard.text import Tokenizer

LINE = "the cat sat on my mat and saw größer hills. "
TEXTS = ["the cat", "a", "on my mat and", "größer"]
CHAT = "{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}[assistant] "


@cache
def tokenizer(kind: str = "bytes") -> Tokenizer:
    return Tokenizer.train([LINE * 3, CHAT, "[user] [assistant] [system]"], kind=kind, vocab=300)


@cache
def model(kind: str = "bytes", context: int = 64) -> gpt.GPT:
    """Which prefers some words to others, and knows nothing."""
    torch.manual_seed(0)
    one = gpt.GPT(replace(gpt.PRESETS["gpt-nano"], vocab=tokenizer(kind).vocab, context=context)).eval()
    for parameter in one.parameters():
        nn.init.normal_(parameter, std=0.2)
    return one


@cache
def taught() -> Generate:
    """Which has learnt LINE by heart, character by character."""
    torch.manual_seed(0)
    words = tokenizer("characters")
    one = gpt.GPT(gpt.Config(words.vocab, 64, 32, 1, 4, 64, dropout=0.0, attn_dropout=0.0))
    ids = torch.tensor(words.encode([LINE * 3])[0])
    tuned = torch.optim.AdamW(one.parameters(), lr=1e-2)
    for _ in range(200):
        starts = torch.randint(len(ids) - 61, (4,))
        rows = torch.stack([ids[start : start + 61] for start in starts])
        loss = F.cross_entropy(one(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
        tuned.zero_grad()
        loss.backward()
        tuned.step()
    return Generate.of(one.eval(), words, name="taught")


def pipeline(kind: str = "bytes", card: dict[str, Any] | None = None, context: int = 64) -> Generate:
    return Generate.of(model(kind, context), tokenizer(kind), card=card, name="small")


def test_what_was_learnt_by_heart_is_gone_on_with() -> None:
    (found,) = taught()(["the cat sat"], max_new_tokens=20)
    assert found.text == LINE[len("the cat sat") :][:20]
    assert -2.0 < found.log_prob < 0.0
    assert not found.finished
    assert taught()("my mat and", max_new_tokens=99, stop=".")[0].text == " saw größer hills"
    assert "".join(taught().stream("my mat and", max_new_tokens=99, stop=["hill", "."])) == " saw größer "


@pytest.mark.parametrize("kind", ["bytes", "characters", "words", "pieces"])
def test_a_text_is_gone_on_with_as_if_it_were_alone(kind: str) -> None:
    generate = pipeline(kind)
    for wishes in ({}, {"temperature": 1.0, "top_p": 0.9, "seed": 3, "repetition_penalty": 1.2}):
        for text, each in zip(TEXTS, generate(TEXTS, max_new_tokens=12, batch=3, **wishes), strict=True):
            (alone,) = generate([text], max_new_tokens=12, **wishes)
            assert (alone.text, alone.ids, alone.prompt) == (each.text, each.ids, each.prompt)
            assert alone.log_prob == pytest.approx(each.log_prob, abs=1e-3)
            pieces = list(generate.stream(text, max_new_tokens=12, **wishes))
            assert "".join(pieces) == each.text
            assert all(pieces)


@torch.no_grad()
def test_the_log_probability_is_that_of_the_words_whatever_they_were_chosen_by() -> None:
    generate = pipeline()
    for wishes in ({}, {"temperature": 0.7, "top_k": 5, "repetition_penalty": 1.5}, {"beam": 3}):
        for each in generate(TEXTS, max_new_tokens=6, **wishes):
            ids = torch.tensor([[*each.prompt, *each.ids]])
            gained = generate.model(ids[:, :-1])[0].log_softmax(dim=-1).gather(-1, ids[0, 1:, None])
            if not each.finished:
                assert each.log_prob == pytest.approx(float(gained[len(each.prompt) - 1 :].sum()), abs=1e-3)


def test_several_are_drawn_with_different_dice() -> None:
    (found,) = pipeline()(["the cat"], temperature=1.0, count=4, seed=5)
    assert len({each.ids for each in (found, *found.alternatives)}) == 4
    assert found.ids == pipeline()(["the cat"], temperature=1.0, seed=5)[0].ids
    assert found == pipeline()(["a", "the cat"], temperature=1.0, count=4, seed=5, batch=2)[1]
    (best,) = pipeline()(["the cat"], beam=4, count=3, max_new_tokens=5)
    assert [each.log_prob for each in best.alternatives] == sorted(
        (each.log_prob for each in best.alternatives), reverse=True
    )
    assert len(best.alternatives) == 2


def test_a_stop_ends_a_text_and_is_not_shown() -> None:
    generate = pipeline()
    (whole,) = generate(["the cat"], max_new_tokens=8)
    stop = whole.ids[3]
    generate.prompts.stops = frozenset((stop,))
    (found,) = generate(["the cat"], max_new_tokens=8)
    assert found.finished
    assert found.ids == whole.ids[: whole.ids.index(stop)]


def test_it_ends_where_the_context_is_full_and_what_does_not_fit_is_refused() -> None:
    generate = pipeline(context=16)
    prompt = [5] * 10
    assert len(generate([prompt], max_new_tokens=99)[0].ids) == 7  # what follows 16 words is the last to be known
    assert len(generate([[5] * 16], max_new_tokens=99)[0].ids) == 1
    assert [len(each.ids) for each in generate([[5] * 16, [5] * 3], max_new_tokens=9)] == [1, 9]
    with pytest.raises(TooLongError, match="text 1 has 17 tokens, and at most 16 are read"):
        generate([prompt, [5] * 17])


@pytest.mark.parametrize(("limit", "read"), [(None, 64), (16, 16), (1000, 64)])
def test_a_limit_is_honoured_where_it_is_less_than_the_context(limit: int | None, read: int) -> None:
    one = Generate.of(model("characters"), tokenizer("characters"), limit=limit)
    assert one.limit == read
    with pytest.raises(TooLongError, match=f"at most {read} are read"):
        one(["a" * (read + 1)])


def test_an_empty_text_begins_with_start_or_stop_or_is_refused() -> None:
    ours = tokenizer()
    assert pipeline()([""])[0].prompt == (ours.start,)
    second = replace(ours, start=None)  # as GPT-2's, whose texts are parted by their stop
    assert Generate.of(model(), second)([""])[0].prompt == (ours.stop,)
    with pytest.raises(ValueError, match="an empty prompt leaves small nothing to go on from"):
        Generate.of(model(), replace(ours, start=None, stop=None), name="small")([""])
    assert pipeline(card={"rows": "lines"})(["a"])[0].prompt[0] == ours.start
    assert pipeline()(["a"])[0].prompt[0] != ours.start


def test_words_that_the_tokenizer_cannot_say_are_never_written() -> None:
    wide = gpt.GPT(replace(gpt.PRESETS["gpt-nano"], vocab=tokenizer().vocab + 40)).eval()
    with torch.no_grad():
        wide.embed.weight[tokenizer().vocab :] *= 500
    generate = Generate.of(wide, tokenizer())
    for each in generate(TEXTS, max_new_tokens=9, temperature=5.0):
        assert all(i < tokenizer().vocab for i in each.ids)


def test_without_a_tokenizer_there_are_ids() -> None:
    generate = Generate.of(model(), None, name="bare")
    (found,) = generate([[3, 4, 5]], max_new_tokens=4)
    assert (found.text, len(found.ids), found.prompt) == ("", 4, (3, 4, 5))
    with pytest.raises(ValueError, match="bare has no tokenizer to read a text with; give one by tokenizer=, or give"):
        generate(["a"])
    with pytest.raises(ValueError, match="the id 999 is no prompt; give one id or more, each from 0 to"):
        generate([[999]])
    with pytest.raises(ValueError, match="an empty list of ids is no prompt"):
        generate([[]])
    assert generate.attend([3, 4, 5]).axes["words"].pieces == ("3", "4", "5")


def test_a_chat_is_put_into_the_template_of_the_card_or_of_the_tokenizer(tmp_path: Path) -> None:
    generate = pipeline(card={"chat_template": CHAT})
    (found,) = generate(["Hi"], chat=True, system="Be.", max_new_tokens=3)
    assert tokenizer().decode(found.prompt) == "[system] Be.\n[user] Hi\n[assistant] "
    talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]
    assert tokenizer().decode(generate([talk], chat=True)[0].prompt) == "[user] Hi\n[assistant] Ho\n[assistant] "
    assert list(generate.stream("Hi", chat=True, max_new_tokens=3))
    with pytest.raises(ValueError, match="small has no chat template"):
        pipeline()(["Hi"], chat=True)
    with pytest.raises(ValueError, match="what a system prompt says is part of a chat"):
        generate(["Hi"], system="Be.")
    with pytest.raises(ValueError, match="of messages is a chat; say chat=True"):
        generate([talk])
    save(tmp_path, model(), family=gpt.FAMILY, card={"task": "generate"}, tokenizer=tokenizer())
    opened: Any = regard.load(tmp_path)
    settings = json.dumps({"chat_template": [{"name": "tool", "template": "x"}, {"name": "default", "template": CHAT}]})
    opened.prompts.tokenizer = replace(tokenizer(), _files={"tokenizer_config.json": settings.encode()})
    assert opened(["Hi"], chat=True)[0].prompt == generate(["Hi"], chat=True)[0].prompt
    (tmp_path / "chat_template.jinja").write_text("{{ messages[0].content }}!")
    assert tokenizer().decode(opened(["Hi"], chat=True)[0].prompt) == "Hi!"


def test_a_text_is_measured_with_a_stated_context_and_stride(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text(f"{LINE}\n" * 60)
    generate, text = pipeline("characters"), read_text(path, "test")
    found = generate.evaluate(str(path), stride=64)
    ids = tokenizer("characters").encode([text])[0]
    assert found.count == len(ids) - 1
    assert found.settings == {"context": 64, "stride": 64}
    loss = found.scores["loss"].value
    assert found.scores["perplexity"].value == pytest.approx(math.exp(loss))
    assert found.scores["bits_per_character"].value == pytest.approx(loss / math.log(2))
    assert found.scores["bits_per_byte"].value < found.scores["bits_per_character"].value  # ö and ß have two
    for score in found.scores.values():
        assert score.interval is not None
        assert score.interval[0] <= score.value <= score.interval[1]
        assert not score.higher_is_better
    fuller = generate.evaluate(str(path), context=32, stride=1, limit=40)
    assert fuller.count == 39
    assert fuller.scores["loss"].signature == "context:32|stride:1|resampled:windows"
    good, bad = (each.evaluate(str(path)).scores["perplexity"].value for each in (taught(), generate))
    assert good < 5 < bad
    with pytest.raises(ValueError, match="a context of 65 tokens is not the model's; give 1 to 64"):
        generate.evaluate(str(path), context=65)


@torch.no_grad()
def test_lines_that_stand_for_themselves_are_measured_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    lines = ["the cat", "a hat", "on the mat and saw"] * 20
    path.write_text("\n".join(lines))
    generate = pipeline(card={"rows": "lines"})
    found = generate.evaluate(str(path), limit=2)
    words, lost, count, size = tokenizer(), 0.0, 0, 0
    for line in path.read_text().splitlines()[-3:][:2]:
        ids = torch.tensor(words.encode([line], start=True, stop=True))
        lost -= float(generate.model(ids[:, :-1])[0].log_softmax(dim=-1).gather(-1, ids[0, 1:, None]).sum())
        count += ids.shape[1] - 1
        size += len(line.encode()) + 1
    assert found.count == count
    assert found.scores["loss"].value == pytest.approx(lost / count, abs=1e-4)
    assert found.scores["bits_per_byte"].value == pytest.approx(lost / size / math.log(2), abs=1e-4)
    assert found.settings == {"context": 64, "rows": "lines"}


def test_a_reading_has_what_was_read_and_written_and_what_was_guessed_at_every_place() -> None:
    reading = taught().attend("the cat s", max_new_tokens=5)
    words = reading.axes["words"]
    assert "".join(words.pieces) == "the cat sat on"
    assert {(each.kind, each.rows, each.columns) for each in reading.maps} == {("causal", "words", "words")}
    assert reading.output.text == "at on"
    assert len(reading.output.guesses) == len(words)
    assert reading.output.guesses[8][0].text == "a"
    for row in reading.output.guesses:
        assert all(left.probability >= right.probability for left, right in pairwise(row))
    weights = reading.weights("decoder.blocks.0.attn")
    assert weights.shape == (4, 14, 14)
    assert not weights[:, 2, 3:].any()
    assert "“the cat s” → “at on”" in reading.caption
    blind = taught().attend("the cat s", max_new_tokens=5, edits={"decoder.blocks.0.attn": off})
    assert blind.output != reading.output


def test_other_peoples_words_for_it_are_answered_with_ours() -> None:
    generate: Any = pipeline()
    for name, way in (
        ("max_length", "here it is max_new_tokens"),
        ("num_beams", "here it is beam"),
        ("do_sample", r"here it is temperature=1\.0"),
        ("streamer", r"\.stream\(prompt\)"),
        ("attention_mask", "never changes an answer"),
    ):
        with pytest.raises(TypeError, match=way):
            generate(["a"], **{name: 1})


def test_a_model_that_only_translates_is_no_language_model() -> None:
    from regard.models import build

    with pytest.raises(ValueError, match="model is a Transformer, which does not go on with a text"):
        Generate.of(build("transformer-nano"), tokenizer())
    with pytest.raises(ValueError, match=r"a tokenizer of .* entries is that of another model"):
        Generate.of(build("gpt-nano"), tokenizer())


@pytest.mark.parametrize("dtype", ["bfloat16", "int8"])
def test_fewer_bits_write_too(tmp_path: Path, dtype: Any) -> None:
    save(tmp_path, model(), family=gpt.FAMILY, card={"task": "generate"}, tokenizer=tokenizer())
    few: Any = regard.load(tmp_path, dtype=dtype)
    assert len(few(["the cat"], max_new_tokens=5)[0].ids) == 5
