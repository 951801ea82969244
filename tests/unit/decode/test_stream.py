"""Words as they are written: one after another, until a stop, a limit, or whoever reads them has enough."""

import pytest
import torch
from torch import Tensor

from regard.decode import argmax, beam, begin, generate, greedy, repetition_penalty, sampler, seeded, stream, surprise
from regard.decode.spell import Speller
from regard.decode.wishes import Wishes
from regard.models.gpt import GPT, PRESETS
from regard.text import Tokenizer

NANO = PRESETS["gpt-nano"]


class Counter:
    """Whose next word is always the one above; a state is nothing but its rows."""

    def __init__(self, rows: int, words: int = 10) -> None:
        self.rows, self.words = torch.arange(rows), words
        self.asked: list[int] = []

    def select(self, rows: Tensor) -> "Counter":
        self.rows = self.rows[rows]
        return self

    def step(self, words: Tensor, state: "Counter") -> tuple[Tensor, "Counter"]:
        self.asked.append(len(words))
        return 5 * torch.nn.functional.one_hot((words + 1) % self.words, self.words).float(), state


def test_every_turn_has_the_next_word_of_each_row_that_goes_on() -> None:
    toy = Counter(3)
    turns = list(stream(toy.step, toy, torch.tensor([0, 6, 3]), stop=8, limit=4))
    assert [(turn.sequences, turn.words) for turn in turns] == [
        ([0, 1, 2], [1, 7, 4]),
        ([0, 1, 2], [2, 8, 5]),
        ([0, 2], [3, 6]),
        ([0, 2], [4, 7]),
    ]
    assert toy.asked == [3, 3, 2, 2]
    assert all(-0.1 < gain < 0.0 for turn in turns for gain in turn.log_probs)


def test_nothing_is_computed_before_it_is_asked_for() -> None:
    toy = Counter(1)
    going = stream(toy.step, toy, torch.tensor([0]), stop=None, limit=100)
    assert toy.asked == []
    assert [next(going).words, next(going).words] == [[1], [2]]
    assert toy.asked == [1, 1]


@pytest.mark.parametrize(("stop", "length"), [(5, 4), ((5, 3), 2), ((), 7), (None, 7), ({9, 4}, 3)])
def test_one_id_stops_or_any_of_several_or_none(stop: object, length: int) -> None:
    (found,) = greedy(Counter(1).step, Counter(1), torch.tensor([0]), stop=stop, limit=7)
    assert found.words == tuple(range(1, length + 1))
    assert found.finished == (length < 7)
    ((best,),) = beam(Counter(1).step, Counter(1), torch.tensor([0]), stop=stop, limit=7, size=2)
    assert best.words == found.words


def test_who_reads_may_end_a_row() -> None:
    toy, seen = Counter(2), list[int]()
    for turn in stream(toy.step, toy, torch.tensor([0, 4]), stop=None, limit=5, ended=lambda row: row == 1):
        seen += turn.sequences
    assert seen == [0, 1, 0, 0, 0, 0]


def test_said_words_count_less_for_the_row_that_said_them_alone() -> None:
    logits = torch.tensor([[2.0, 1.9, -1.0, -1.1], [2.0, 1.9, -1.0, -1.1]])
    choose = repetition_penalty(argmax, 1.5, [[3], [0, 1]], 4)
    assert choose(logits).tolist() == [0, 0]  # 2 / 1.5 is 1.33, 1.9 / 1.5 is 1.27
    assert choose(logits).tolist() == [1, 0]
    assert choose(torch.tensor([[-1.0, -1.2, -1.4, -1.45]] * 2)).tolist() == [2, 2]
    only = choose.select(torch.tensor([1]))  # type: ignore[attr-defined]
    assert only(logits[1:]).tolist() == [0]
    assert repetition_penalty(argmax, 1.0, [[3]], 4) is argmax
    with pytest.raises(ValueError, match=r"a repetition penalty of 0.0 turns logits round"):
        repetition_penalty(argmax, 0.0, [], 4)


def test_a_row_has_dice_of_its_own() -> None:
    logits = torch.randn(1, 500)

    def drawn(rows: int, of: int) -> list[int]:
        choose = sampler(generator=[seeded(seed, 1)[0] for seed in range(rows)])
        return [int(choose(logits.expand(rows, -1))[of]) for _ in range(20)]

    assert drawn(1, 0) == drawn(4, 0) != drawn(4, 1)
    first, second = seeded(3, 2)
    assert torch.rand(3, generator=first).ne(torch.rand(3, generator=second)).all()
    with pytest.raises(ValueError, match="2 generators do not go with 3 rows"):
        sampler(generator=seeded(0, 2))(logits.expand(3, -1))
    with pytest.raises(ValueError, match="seed is -1; give 0 to"):
        seeded(-1, 1)


def test_no_word_is_drawn_that_may_not_be() -> None:
    logits = torch.full((4000, 50), -torch.inf)
    logits[:, 7], logits[:, 9] = 0.0, 1.0
    drawn = sampler(temperature=3.0, top_p=0.999)(logits)
    assert set(drawn.tolist()) == {7, 9}
    assert set(sampler(min_p=0.5)(logits).tolist()) == {9}
    with pytest.raises(ValueError, match=r"min_p is 1.5; give a share"):
        sampler(min_p=1.5)


@torch.no_grad()
def test_the_vocabulary_is_not_asked_about_a_prompt() -> None:
    one, rows = GPT(NANO).eval(), list[int]()
    one.to_vocab.register_forward_hook(lambda _, x, __: rows.append(x[0].shape[1]))
    state, first = begin(one, [[1, 2, 3, 4], [5, 6]])
    assert rows == []
    generate(one.step, state, first, stop=None, limit=3, choose=argmax)
    assert rows == [1, 1, 1]
    with pytest.raises(ValueError, match="an empty prompt leaves nothing to go on from"):
        begin(one, [[1], []])


def test_a_text_is_measured_in_windows_that_overlap() -> None:
    torch.manual_seed(1)
    one = GPT(NANO).eval()
    for parameter in one.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    ids = torch.randint(NANO.vocab, (23,))
    # With a stride of 1 every word but the first few has the whole context, as if it were asked for alone.
    exact = []
    for place in range(1, 23):
        before = ids[max(0, place - 8) : place]
        exact.append(one(before[None])[0, -1].log_softmax(dim=-1)[ids[place]])
    torch.testing.assert_close(
        surprise(one, ids, context=8, stride=1, batch=3), torch.stack(exact).detach(), atol=1e-4, rtol=1e-4
    )
    for stride in (3, 8):
        found = surprise(one, ids, context=8, stride=stride, batch=2)
        assert found.shape == (22,)
        torch.testing.assert_close(found[:8], torch.stack(exact[:8]).detach(), atol=1e-4, rtol=1e-4)
    whole = one(ids[None, :-1])[0].log_softmax(dim=-1).gather(-1, ids[1:, None])[:, 0].detach()
    torch.testing.assert_close(surprise(one, ids, context=32, stride=32), whole, atol=1e-4, rtol=1e-4)
    with pytest.raises(ValueError, match="a stride of 9 does not go with a context of 8; give 1 to 8"):
        surprise(one, ids, context=8, stride=9)


TEXTS = ["To be, or not to be: größer 🙂 naïve", "that is the question", "œuvre ça va"]


@pytest.mark.parametrize("kind", ["bytes", "characters", "words"])
def test_pieces_are_whole_characters_and_join_to_the_text(kind: str) -> None:
    tokenizer = Tokenizer.train(TEXTS, kind=kind, vocab=300)
    for text in TEXTS:
        (ids,) = tokenizer.encode([text])
        for cut in range(len(ids)):
            prompt, rest = ids[:cut], ids[cut:]
            speller = Speller(tokenizer, prompt)
            pieces = [*(speller.add(word) for word in rest), speller.finish()]
            assert "".join(pieces) == speller.text
            if "\ufffd" not in tokenizer.decode(prompt):
                assert tokenizer.decode(prompt) + speller.text == tokenizer.decode(ids)
                assert not any("\ufffd" in piece for piece in pieces)


@pytest.mark.parametrize(
    ("stop", "shown"),
    [(["not"], "To be, or "), (["be: ", "or not"], "To be, "), (["xyz"], TEXTS[0]), (["größ"], TEXTS[0][:21])],
)
def test_a_stop_string_ends_a_text_across_the_borders_of_pieces(stop: list[str], shown: str) -> None:
    tokenizer = Tokenizer.train(["abc"], vocab=260)  # so that every byte is a piece
    (ids,) = tokenizer.encode([TEXTS[0]])
    speller, seen = Speller(tokenizer, (), stop), ""
    for word in ids:
        seen += speller.add(word)
        assert not any(each in seen for each in stop)
        assert TEXTS[0].startswith(seen)
        if speller.done:
            break
    seen += speller.finish()
    assert (seen, speller.text, speller.done) == (shown, shown, shown != TEXTS[0])


def test_broken_characters_are_shown_as_they_come_and_only_the_last_waits() -> None:
    tokenizer = Tokenizer.train(["abc"], vocab=260)
    (euro,), speller = tokenizer.encode(["€"]), Speller(tokenizer)
    ids = [euro[1], euro[0], euro[0], euro[1], euro[2], *[euro[2]] * 20, *euro[:2]]
    shown = [speller.add(word) for word in ids]
    assert shown[:6] == ["", "\ufffd", "\ufffd", "", "€", ""]
    assert shown[6:26] == ["\ufffd"] * 20
    speller.finish()
    assert speller.text == tokenizer.decode(ids)


def test_half_a_stop_string_is_shown_in_the_end() -> None:
    tokenizer = Tokenizer.train(["abc"], vocab=260)
    speller = Speller(tokenizer, (), ["ab!"])
    (ids,) = tokenizer.encode(["cab"])
    assert [speller.add(word) for word in ids] == ["c", "", ""]
    assert speller.finish() == "ab"


@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        ({"max_new_tokens": 0}, "max_new_tokens is 0, which leaves nothing to write"),
        ({"count": 2}, "the likeliest words give one text and not 2; sample by a temperature, or widen the beam"),
        ({"beam": 3, "temperature": 1.0}, "a beam of 3 ranks whole texts and knows no sampling"),
        ({"beam": 3, "stop": "."}, "a beam of 3 ranks whole texts"),
        ({"stop": ["a", ""]}, "an empty stop string would end every text"),
        ({"top_k": 0}, "top_k is 0"),
        ({"temperature": 1.0, "seed": -1}, "seed is -1"),
        ({"repetition_penalty": -1.0}, "a repetition penalty of -1.0"),
        ({"beam": 0}, "a beam of 0 and a count of 1 write nothing"),
    ],
)
def test_a_wish_that_cannot_be_fulfilled_is_told(wishes: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Wishes(**wishes)


def test_words_are_drawn_where_anything_says_how() -> None:
    assert not Wishes().drawn
    assert not Wishes(temperature=0.0, top_k=3).drawn
    assert Wishes(top_p=0.9).drawn
    assert Wishes(temperature=0.7, count=3).drawn
