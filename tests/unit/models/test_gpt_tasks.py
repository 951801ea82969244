"""The task inputs of GPT-1: what is laid out, what is read, and how answers follow from it."""

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from transformers import OpenAIGPTConfig, OpenAIGPTForSequenceClassification, OpenAIGPTLMHeadModel

import regard
from regard.attention import packed
from regard.hub import load, save
from regard.models import build, gpt, gpt_tasks
from regard.models.gpt_tasks import NEW, PRESETS, GPTTasks
from regard.recipes import classify
from regard.text import Tokenizer
from regard.train.loop import fit

NANO = PRESETS["gpt_tasks-nano"]
START, BETWEEN, EXTRACT = range(NANO.vocab - 3, NANO.vocab)


def model(task: Any, classes: int = 2) -> GPTTasks:
    torch.manual_seed(0)
    return GPTTasks(replace(NANO, task=task, classes=classes)).eval()


def test_each_task_is_laid_out_as_in_figure_1() -> None:
    a, b, c = [1, 2, 3], [4], [5, 6]
    assert model("classify").lay_out([a], 9) == [START, *a, EXTRACT]
    assert model("classify").lay_out([a, b], 9) == [START, *a, BETWEEN, *b, EXTRACT]
    both = [START, *a, BETWEEN, *b, EXTRACT, START, *b, BETWEEN, *a, EXTRACT]
    assert model("similarity").lay_out([a, b], 9) == both
    each = [START, *a, BETWEEN, *b, EXTRACT, START, *a, BETWEEN, *c, EXTRACT]
    assert model("choice").lay_out([a, b, c], 9) == each


def test_a_long_text_is_cut_before_a_short_one_and_no_sequence_is_longer_than_the_limit() -> None:
    long, short = [1] * 20, [2, 2]
    assert model("classify").lay_out([long, short], 10) == [START, *[1] * 5, BETWEEN, 2, 2, EXTRACT]
    assert len(model("classify").lay_out([long, long], 9)) == 9
    assert len(model("classify").lay_out([long], 6)) == 6
    assert len(model("similarity").lay_out([long, short], 8)) == 16


@pytest.mark.parametrize(("task", "texts"), [("classify", 3), ("similarity", 1), ("choice", 2), ("choice", 5)])
def test_a_number_of_texts_that_does_not_fit_is_refused(task: str, texts: int) -> None:
    with pytest.raises(ValueError, match=f"the inputs of '{task}' have .* texts, and these are {texts}"):
        model(task, 3).lay_out([[1]] * texts, 9)


@torch.no_grad()
def test_a_similarity_does_not_depend_on_the_order_and_another_task_does() -> None:
    a, b = [1, 2, 3], [4, 5]
    for task, same in (("similarity", True), ("classify", False)):
        one = model(task)
        forth, back = (one(torch.tensor([one.lay_out(texts, 20)])).logits for texts in ([a, b], [b, a]))
        assert torch.allclose(forth, back, atol=1e-6) is same


@torch.no_grad()
def test_of_answers_the_order_decides_nothing() -> None:
    one, (context, *answers) = model("choice", 3), [[1, 2, 3], [4], [5, 6], [7, 8]]
    said = one(torch.tensor([one.lay_out([context, *answers], 20)])).logits[0]
    turned = one(torch.tensor([one.lay_out([context, *answers[::-1]], 20)])).logits[0]
    torch.testing.assert_close(said.flip(0), turned)


@torch.no_grad()
@pytest.mark.parametrize(("task", "texts"), [("classify", [[1, 2], [3]]), ("similarity", [[1, 2], [3]])])
def test_padded_packed_or_alone_a_question_is_answered_alike(task: str, texts: list[list[int]]) -> None:
    one = model(task)
    rows = [one.lay_out(texts, 20), one.lay_out([[5, 6, 7], [8, 9]], 20)]
    alone = torch.cat([one(torch.tensor([row])).logits for row in rows])
    flat = one(torch.tensor([rows[0] + rows[1]]), visible=packed([len(row) for row in rows])).logits
    wide = max(map(len, rows))
    behind = torch.tensor([row + [0] * (wide - len(row)) for row in rows])
    lengths = torch.tensor([len(row) for row in rows])
    front = torch.tensor([[0] * (wide - len(row)) + row for row in rows])
    seen = torch.arange(wide) >= wide - lengths[:, None]
    for said in (flat, one(behind, lengths=lengths).logits, one(front, visible=seen).logits):
        torch.testing.assert_close(said, alone, atol=1e-5, rtol=1e-4)


@torch.no_grad()
def test_a_class_is_read_from_the_last_token_as_transformers_does(tmp_path: Path) -> None:
    torch.manual_seed(0)
    sizes = {"vocab_size": 48, "n_positions": 32, "n_embd": 32, "n_layer": 2, "n_head": 4}
    theirs = OpenAIGPTForSequenceClassification(OpenAIGPTConfig(**sizes, num_labels=3, pad_token_id=0)).eval()
    writer = OpenAIGPTLMHeadModel(theirs.config)
    writer.transformer.load_state_dict(theirs.transformer.state_dict())
    writer.save_pretrained(tmp_path)
    ours = gpt_tasks.of(load(tmp_path).model, "classify", 3).eval()
    ours.classifier.weight.copy_(theirs.score.weight)
    ids, lengths = torch.randint(1, 48, (2, 9)), torch.tensor([9, 6])
    ids[1, 6:] = 0
    wanted = theirs(ids, attention_mask=(ids > 0).long()).logits
    torch.testing.assert_close(ours(ids, lengths=lengths).logits, wanted, atol=1e-5, rtol=1e-4)


def test_a_trained_gpt_keeps_all_it_knows_and_gets_three_words_more() -> None:
    body: Any = build("gpt-nano")
    made = gpt_tasks.of(body, "classify", 4)
    assert made.config.vocab == body.config.vocab + len(NEW)
    ids = torch.randint(body.config.vocab, (2, 6))
    torch.testing.assert_close(made.body.eval()(ids)[..., : body.config.vocab], body.eval()(ids))


def test_a_field_may_change_that_changes_no_shape() -> None:
    body: Any = build("gpt-nano")
    assert gpt_tasks.of(body, "classify", 2, dropout=0.4).config.body.dropout == 0.4
    for change in ({"width": 64}, {"depth": 1}, {"depth": 3}):
        with pytest.raises(ValueError, match=r"cannot change: .* was trained otherwise"):
            gpt_tasks.of(body, "classify", 2, **change)


def test_inputs_of_a_gpt_are_refused_for_any_other_model(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("text,label\n" + "".join(f"w{i} {i},{i % 2}\n" for i in range(200)))
    for model in ("intra-sst-binary", "world-bert"):
        with pytest.raises(ValueError, match=r"--inputs similarity is for a .*GPT, and .* leave it out"):
            classify.build(classify.Recipe(data=str(tmp_path / "mine.csv"), model=model, inputs="similarity"))


@pytest.fixture
def written(tmp_path: Path) -> str:
    """The folder of a GPT that reads letters."""
    tokenizer = Tokenizer.train(["abcdefgh ."], kind="characters", vocab=40)
    save(tmp_path / "gpt", build("gpt-nano", vocab=tokenizer.vocab), family=gpt.FAMILY, tokenizer=tokenizer)
    return str(tmp_path / "gpt")


@pytest.mark.parametrize("task", ["classify", "similarity", "choice"])
def test_a_gpt_is_fine_tuned_on_a_table_and_answers_as_any_classifier(task: Any, written: str, tmp_path: Path) -> None:
    chance = Random(0)
    rows = [[*("".join(chance.choices("abcdefgh", k=8)) for _ in range(3)), str(i % 2)] for i in range(200)]
    lines = [",".join(row) for row in [["first", "second", "third", "label"], *rows]]
    (tmp_path / "mine.csv").write_text("\n".join(lines) + "\n")
    columns = {"classify": "first", "similarity": "first,second", "choice": "first,second,third"}[task]
    recipe = classify.Recipe(
        data=str(tmp_path / "mine.csv"), text=columns, label="label", model=written, inputs=task, steps=2, evaluate=2
    )
    fit(classify.build(recipe), recipe, tmp_path / "run", recipe="classify", quiet=True)
    asked = regard.load(str(tmp_path / "run" / "model"))
    given = ("abc", "ad", "gh")[: columns.count(",") + 1]
    answer = asked([given])[0]
    assert answer.label in ("0", "1")
    assert sum(answer.scores.values()) == pytest.approx(1)
    words = asked.attend(given).axes["words"].labels
    assert (words[0], words[-1]) == ("⟨start⟩", "⟨extract⟩")
    assert words.count("⟨start⟩") == (1 if task == "classify" else 2)
