"""Tasks shown in a prompt: how they are written down, weighed and counted, by models whose answers are known."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.models import gpt
from regard.pipelines.generate import Generate
from regard.pipelines.shots import Item, Task, read_task, score_shots, shuffle_labels, world_task
from regard.text import Tokenizer

REVIEWS: dict[str, Any] = {
    "instruction": "Good or bad?",
    "format": "Review: {text}\nVerdict: {answer}.",
    "choices": ["good", "bad"],
    "examples": [{"text": f"film {i}", "answer": "good" if i % 2 else "bad"} for i in range(8)],
    "tests": [{"text": f"play {i}", "answer": "good" if i % 3 else "bad"} for i in range(6)],
}
WORDS = Tokenizer.train([json.dumps(REVIEWS), "Review: Verdict: good bad.\n\n play film"], kind="characters", vocab=200)


class Copycat(gpt.GPT):
    """A model that says the letter which followed the last time that these two letters were read: an induction head."""

    def read(self, ids: Tensor, **_: Any) -> Tensor:
        return ids[..., None]

    def step(self, words: Tensor, state: Any, **_: Any) -> tuple[Tensor, Any]:
        past = torch.cat((state.words, words), dim=1)
        logits = torch.zeros(*words.shape, self.config.vocab)
        for row, ids in enumerate(past.tolist()):
            for place in range(words.shape[1]):
                seen = ids[: len(ids) - words.shape[1] + place + 1]
                for before in range(len(seen) - 3, -1, -1):
                    if seen[before : before + 3] == seen[-3:] and before + 3 < len(seen):
                        logits[row, place, seen[before + 3]] = 5.0
                        break
        return logits, _Read(past)

    def start(self, rows: int) -> Any:
        return _Read(torch.zeros(rows, 0, dtype=torch.long))

    def advance(self, words: Tensor, state: Any, **_: Any) -> tuple[Tensor, Any]:
        return words[..., None].float(), _Read(torch.cat((state.words, words), dim=1))


class _Read:
    def __init__(self, words: Tensor) -> None:
        self.words = words

    def select(self, rows: Tensor) -> "_Read":
        return _Read(self.words[rows])


def copycat() -> Generate:
    return Generate.of(Copycat(gpt.Config(WORDS.vocab, 600, 8, 1, 1, 8)).eval(), WORDS, name="copycat")


def random() -> Generate:
    torch.manual_seed(0)
    one = gpt.GPT(gpt.Config(WORDS.vocab, 200, 16, 1, 2, 16)).eval()
    for parameter in one.parameters():
        nn.init.normal_(parameter, std=0.3)
    return Generate.of(one, WORDS, name="random")


@pytest.fixture
def task(tmp_path: Path) -> Task:
    path = tmp_path / "reviews.json"
    path.write_text(json.dumps(REVIEWS))
    return read_task(path)


def test_a_task_is_written_down_as_its_format_says(task: Task, tmp_path: Path) -> None:
    assert task.prompt([], task.tests[0]) == "Good or bad?\n\nReview: play 0\nVerdict: "
    shown = task.prompt(task.examples[:2], task.tests[1])
    assert shown.split("\n\n")[1:] == [
        "Review: film 0\nVerdict: bad.",
        "Review: film 1\nVerdict: good.",
        "Review: play 1\nVerdict: ",
    ]
    assert task.ends == (".",)
    path = tmp_path / "sums.toml"
    path.write_text(
        'format = "{a} + {b} = {answer}"\nseparator = "\\n"\n[[examples]]\na = 1\nb = 2\nanswer = 3\n'
        "[[tests]]\na = 2\nb = 2\nanswer = 4\nchoices = [3, 4]\n"
    )
    sums = read_task(path)
    assert sums.prompt(sums.examples, sums.tests[0]) == "1 + 2 = 3\n2 + 2 = "
    assert sums.tests[0].choices == ("3", "4")
    assert sums.ends == ("\n",)


def test_braces_in_a_text_are_text() -> None:
    item = Item({"text": "{answer} {text.__class__} {0}"}, "yes")
    assert Task("t", (), (item,), format="Q {text} A {answer}").prompt([], item) == f"Q {item.fields['text']} A "


def test_the_answer_is_the_likeliest_choice(task: Task) -> None:
    generate = random()
    for normalise in (False, True):
        found = score_shots(generate, task, [0], normalise=normalise)
        for test, said in zip(task.tests, found.outputs, strict=True):
            prompt, weights = task.prompt([], test), []
            for choice in test.choices:
                ids = torch.tensor(WORDS.encode([prompt + choice]))
                with torch.no_grad():
                    gained = generate.model(ids[:, :-1])[0].log_softmax(dim=-1).gather(-1, ids[0, 1:, None])[:, 0]
                own = gained[-len(choice) :].sum()
                weights.append(float(own) / (len(choice) if normalise else 1))
            assert said == test.choices[weights.index(max(weights))]
    assert found.scores["chance"].value == 50.0
    assert found.settings == {"answers": "choices by byte", "seed": 0}


def test_a_choice_that_joins_the_end_of_its_prompt_in_one_piece_is_weighed_with_it() -> None:
    """Of byte-level pieces, ` good` is one, and the space is no longer the prompt's."""
    torch.manual_seed(0)
    words = Tokenizer.train(["it is good", "it is bad", "so is it good"] * 9, vocab=280)
    one = gpt.GPT(replace(gpt.PRESETS["gpt-nano"], vocab=words.vocab)).eval()
    test = Item({"x": "it is"}, "good", ("good", "bad"))
    task = Task("t", (), (test,), format="{x} {answer}")
    whole = words.encode(["it is ", "it is good", "it is bad"])
    assert whole[0] != whole[1][: len(whole[0])]
    found = score_shots(Generate.of(one, words), task, [0])
    with torch.no_grad():
        rows = [torch.tensor([ids]) for ids in whole[1:]]
        gained = [one(ids[:, :-1])[0].log_softmax(dim=-1).gather(-1, ids[0, 1:, None]).sum() for ids in rows]
    assert found.outputs == ["good" if gained[0] > gained[1] else "bad"]


def test_labels_are_learnt_from_shots_and_not_from_shuffled_ones() -> None:
    """A model that repeats what followed last time: it is right where the examples are."""
    pairs = [("cat", "meow"), ("dog", "woof"), ("cow", "moo!"), ("hen", "buck")]
    words = Tokenizer.train([" ".join(map(" ".join, pairs)) + " says:"], kind="characters", vocab=99)
    items = tuple(Item({"who": who}, said) for who, said in pairs)
    asked = tuple(Item({"who": who, "n": "again"}, said) for who, said in pairs)
    task = Task("sounds", items, asked, format="{who}:{answer}", separator=" ")
    generate = Generate.of(Copycat(gpt.Config(words.vocab, 600, 8, 1, 1, 8)).eval(), words)
    found = score_shots(generate, task, [0, 4], max_new_tokens=4)
    assert found.scores["4 shots"].value == 100.0
    assert found.scores["4 shots/shuffled labels"].value == 0.0
    assert found.scores["0 shots"].value == 0.0
    assert "chance" not in found.scores
    assert "0 shots/shuffled labels" not in found.scores
    chosen = replace(task, tests=tuple(replace(test, choices=tuple(said for _, said in pairs)) for test in asked))
    found = score_shots(generate, chosen, [4])
    assert (found.scores["4 shots"].value, found.scores["chance"].value) == (100.0, 25.0)
    assert score_shots(generate, chosen, [4], free=True, max_new_tokens=4).scores["4 shots"].value == 100.0


def test_shuffled_labels_are_those_of_the_examples_in_another_order(task: Task) -> None:
    shuffled = shuffle_labels(task.examples, 3)
    assert [each.fields for each in shuffled] == [each.fields for each in task.examples]
    assert sorted(each.answer for each in shuffled) == sorted(each.answer for each in task.examples)
    assert shuffled != task.examples
    assert shuffled == shuffle_labels(task.examples, 3) != shuffle_labels(task.examples, 4)
    own = [Item({}, "a", ("a", "b")), Item({}, "c", ("c", "d"))]
    assert all(each.answer in each.choices for each in shuffle_labels(own))


def test_a_test_is_never_shown_to_itself_and_few_shots_are_among_many(task: Task, monkeypatch: Any) -> None:
    leaky = replace(task, tests=task.examples)
    seen = list[tuple[int, str]]()

    def spy(self: Task, shown: list[Item], test: Item) -> str:
        assert test.fields not in [each.fields for each in shown]
        seen.append((len(shown), " ".join(each.fields["text"] for each in shown)))
        return "Good or bad?"

    monkeypatch.setattr(Task, "prompt", spy)
    score_shots(random(), leaky, [1, 3])
    few = [text for count, text in seen if count == 1]
    many = [text for count, text in seen if count == 3]
    assert all(long.startswith(short) for short, long in zip(few, many, strict=True))
    assert len(set(few)) > 2
    with pytest.raises(ValueError, match="reviews has 7 examples for each test, and not 8; ask for fewer shots"):
        score_shots(random(), leaky, [8])


def test_episodes_of_the_world_are_a_task() -> None:
    world = world_task(30)
    assert all(test.answer in test.choices and len(test.choices) > 1 for test in world.tests)
    prompt = world.prompt(world.examples[:1], world.tests[0])
    assert prompt.endswith("? ")
    assert f"? {world.examples[0].answer} A" in prompt
    assert not {item.fields["lessons"] for item in world.examples} & {item.fields["lessons"] for item in world.tests}
    assert read_task("world").name == "world"


def test_shots_that_do_not_fit_are_refused(task: Task) -> None:
    with pytest.raises(ValueError, match=r"8 shots of reviews take \d+ tokens, and random reads 200; ask for fewer"):
        score_shots(random(), task, [8])
    with pytest.raises(ValueError, match=r"\[\] says no number of examples"):
        score_shots(random(), task, [])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"format": "Review: {text}"}, "needs {answer} once, behind everything asked"),
        ({"format": "{answer} {text}"}, "needs {answer} once, behind everything asked"),
        ({"format": "{title} {answer}"}, "has no 'title', which its format"),
        ({"tests": []}, "reviews has no tests"),
        ({"tests": [{"text": "a"}]}, "number 1 in tests of"),
        ({"tests": [{"text": ["a"], "answer": "good"}]}, "text of number 1 in tests in"),
        ({"tests": [{"text": "a", "answer": "so so"}]}, "'so so' is an answer of reviews and none of its choices"),
        ({"tests": "many"}, "must be a list of objects"),
        ({"choices": ["a", "a"]}, "must be a list of different texts"),
        ({"shots": 3}, "has 'shots', which a task does not have"),
    ],
)
def test_what_is_wrong_with_a_task_is_told(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    path = tmp_path / "reviews.json"
    path.write_text(json.dumps(REVIEWS | changes))
    with pytest.raises(ValueError, match=r".+") as caught:
        read_task(path)
    assert said in str(caught.value)


def test_what_is_no_task_is_told(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("a = [")
    with pytest.raises(ValueError, match="is no TOML"):
        read_task(tmp_path / "bad.toml")
    with pytest.raises(ValueError, match=r"is no task; give a file that ends in \.json or \.toml"):
        read_task("imagenet")
    with pytest.raises(FileNotFoundError, match="there is no task"):
        read_task(tmp_path / "none.json")
