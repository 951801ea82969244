"""Recall: every model is asked the same, and padding says nothing."""

from dataclasses import replace

import pytest
import torch
from torch.nn.utils.rnn import pad_sequence

from regard.models.memnet import MemoryNetwork
from regard.pipelines.recall import Recall, ask
from regard.recipes.recall import Recipe, build, choose, octaves
from regard.world.recall import recalls

TINY = Recipe(distance=5, items=50, words=4)
MODELS = {
    "transformer-nano": (),
    "seq2seq-nano": (),
    "tcn-nano": (),
    "memnet-nano": ("width=16",),
    "seq2seq-tiny": ("cell=lstm", "attention=none", "bidirectional=false", "dropout=0"),
}


@pytest.mark.parametrize("model", MODELS)
@torch.no_grad()
def test_an_answer_does_not_depend_on_the_padding_beside_it(model: str) -> None:
    _, made = choose(replace(TINY, model=model, set=MODELS[model]))
    made.eval()
    items = [recalls(distance=d, pairs=3, keys=4, values=4, noise=4)[d] for d in (1, 5, 3)]
    lengths = torch.tensor([len(item.ids) for item in items])
    rows = [torch.tensor(item.ids) for item in items]
    together = ask(made, pad_sequence(rows, batch_first=True), lengths, 3)
    assert together.shape == (3, 13)
    for row, length, answer in zip(rows, lengths, together, strict=True):
        torch.testing.assert_close(ask(made, row[None], length[None], 3)[0], answer, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("model", MODELS)
@torch.no_grad()
def test_an_answer_depends_on_the_question_and_on_the_first_pair(model: str) -> None:
    _, made = choose(replace(TINY, model=model, set=MODELS[model]))
    made.eval()
    ids = torch.tensor([[1, 5, 2, 6, 3, 7, 9, 10, 1]])
    before = ask(made, ids, torch.tensor([9]), 3)
    for place, other in ((8, 2), (1, 8)):
        changed = ids.clone()
        changed[0, place] = other
        assert not ask(made, changed, torch.tensor([9]), 3).equal(before), (model, place)


def test_a_memory_is_told_pairs_and_noise_as_sentences() -> None:
    item = recalls(distance=4, pairs=2, keys=4, values=4, noise=4)[0]
    told: list[torch.Tensor] = []

    class Listener(MemoryNetwork):
        def forward(self, story: torch.Tensor, question: torch.Tensor) -> torch.Tensor:
            told.extend((story, question))
            return super().forward(story, question)

    _, made = choose(replace(TINY, model="memnet-nano"))
    ask(Listener(made.config), torch.tensor([item.ids]), torch.tensor([len(item.ids)]), 2)
    assert told[0][0].tolist() == [[*sentence, 0][:2] for sentence in item.story]
    assert told[1].tolist() == [[item.question]]


def test_a_convolution_reaches_the_first_pair_at_any_distance() -> None:
    for distance in (1, 7, 64, 300):
        _, made = choose(replace(TINY, model="tcn-nano", distance=distance))
        assert made.receptive_field >= distance + 2 * TINY.pairs


def test_the_score_is_told_for_each_distance() -> None:
    task = build(replace(TINY, model="memnet-nano"))
    scores = task.score(task.model)
    assert list(scores) == ["accuracy", "at 1", "at 2", "at 4", "at 5"]
    assert scores["accuracy"] == pytest.approx(sum(list(scores.values())[1:]) / 4)
    assert task.card["guessing among the values shown"] == 33.3


def test_short_distances_are_met_as_often_as_long_ones_and_no_item_twice() -> None:
    recipe = replace(TINY, distance=31, items=2000)
    rows = octaves(recipe)
    words = [sum(len(row.ids) for row in rows if low <= row.distance < 2 * low) for low in (1, 2, 4, 8, 16)]
    assert max(words) < 1.15 * min(words)  # and so as many batches
    assert max(row.distance for row in rows) == 31
    longest = [row.ids for row in rows if row.distance > 15]
    assert len(set(longest)) == len(longest)


def test_what_was_trained_is_evaluated_by_its_pipeline() -> None:
    task = build(TINY)
    scores = Recall.of(task.model, card=task.card).evaluate("world", limit=4).scores
    assert [name for name in scores if "/" in name] == [f"accuracy/at {far}" for far in (1, 2, 4, 5, 10)]
