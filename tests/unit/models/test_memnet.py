"""The memory network: sentences are remembered in order, looked at hop by hop, and padding is not there."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from regard.attention import record
from regard.models.memnet import PRESETS, Config, MemoryNetwork
from regard.world.recall import Recall, recalls, vocabulary

NANO = PRESETS["memnet-nano"]


def network(config: Config = NANO) -> MemoryNetwork:
    return MemoryNetwork(config).eval()


def told(sentences: int = 4, words: int = 3, batch: int = 2) -> tuple[Tensor, Tensor]:
    return torch.randint(1, 16, (batch, sentences, words)), torch.randint(1, 16, (batch, 2))


def written_out(model: MemoryNetwork, story: list[list[int]], question: list[int]) -> tuple[Tensor, list[Tensor]]:
    """The paper's equations for one story without padding, word by word: the answer and the weights of each hop."""
    width = model.config.width

    def sentence(words: list[int], hop: int) -> Tensor:
        whole, table = torch.zeros(width), model.embeddings[hop].words.weight
        for j, word in enumerate(words, start=1):
            for k in range(1, width + 1):
                whole[k - 1] += ((1 - j / len(words)) - k / width * (1 - 2 * j / len(words))) * table[word, k - 1]
        return whole

    u, weights = sentence(question, 0), []
    for hop in range(model.config.hops):
        memory, output = (
            torch.stack(
                [sentence(s, h) + model.embeddings[h].times.weight[len(story) - 1 - i] for i, s in enumerate(story)]
            )
            for h in (hop, hop + 1)
        )
        p = torch.exp(memory @ u) / torch.exp(memory @ u).sum()
        weights.append(p)
        u = u + p @ output
    return model.embeddings[-1].words.weight @ u, weights


@torch.no_grad()
def test_answer_and_weights_are_those_of_the_papers_equations() -> None:
    model = network()
    for part in model.parameters():
        part.mul_(5.0)  # away from weights that are all alike
    story, question = told(sentences=5)
    with record(model) as trace:
        answers = model(story, question)
    assert trace.names == ["hops.0", "hops.1", "hops.2"]
    for row in range(2):
        answer, weights = written_out(model, story[row].tolist(), question[row].tolist())
        torch.testing.assert_close(answers[row], answer, atol=1e-5, rtol=1e-4)
        for hop, expected in enumerate(weights):
            torch.testing.assert_close(trace.weights(f"hops.{hop}")[row, 0, 0], expected, atol=1e-5, rtol=1e-4)


@given(
    times=st.sampled_from(["learned", "fixed"]),
    words=st.integers(0, 3),
    before=st.integers(0, 2),
    after=st.integers(0, 2),
)
def test_padding_changes_nothing(times: str, words: int, before: int, after: int) -> None:
    torch.manual_seed(words)
    model = network(replace(NANO, times=times))
    story, question = told()
    padded = F.pad(story, (0, words, before, after))
    torch.testing.assert_close(model(padded, F.pad(question, (0, words))), model(story, question))


def test_padding_says_nothing_after_training_either() -> None:
    """As an answer, word 0 is learned too, since the last embedding is shared; as padding it must stay silent."""
    model = network()
    with torch.no_grad():
        for embedding in model.embeddings:
            embedding.words.weight[0] = 7.0
    story, question = told()
    torch.testing.assert_close(model(F.pad(story, (0, 2)), question), model(story, question))


def test_an_empty_story_leaves_the_question_to_itself() -> None:
    model = network()
    story, question = torch.zeros(2, 4, 3, dtype=torch.long), told()[1]
    alone = model.embeddings[0](question[:, None])[:, 0] @ model.embeddings[-1].words.weight.T
    torch.testing.assert_close(model(story, question), alone)
    torch.testing.assert_close(model(story[:, :0], question), alone)
    model(story, question).sum().backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


def test_the_order_of_words_counts_unless_they_are_in_a_bag() -> None:
    story, question = told()
    for words, same in (("position", False), ("bag", True)):
        model = network(replace(NANO, words=words))
        assert torch.allclose(model(story, question), model(story.flip(-1), question), atol=1e-6) == same


@pytest.mark.parametrize("times", ["learned", "fixed"])
def test_the_order_of_sentences_counts(times: str) -> None:
    model, (story, question) = network(replace(NANO, times=times)), told()
    assert not torch.allclose(model(story, question), model(story.flip(1), question), atol=1e-5)


def test_what_one_hop_reads_the_next_one_looks_for() -> None:
    """Adjacent sharing: three hops have four embeddings, and the answer is spelt in the last of them."""
    model = network()
    assert len(model.embeddings) == model.config.hops + 1 == 4
    tables = {name for name, _ in model.named_parameters()}
    assert tables == {f"embeddings.{i}.{part}.weight" for i in range(4) for part in ("words", "times")}


def test_a_story_too_long_for_learned_times_says_what_to_do() -> None:
    story, question = told(sentences=21)
    with pytest.raises(ValueError, match=r"a story of 21 sentences is longer than the 20 .*; give story\[:, -20:\]"):
        network()(story, question)
    assert network(replace(NANO, times="fixed"))(story, question).isfinite().all()


@pytest.mark.usefixtures("as_users_meet_it")
def test_an_unknown_choice_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="words are position or bag, times learned or fixed"):
        network(replace(NANO, words="pile"))


def batch(items: list[Recall]) -> tuple[Tensor, Tensor, Tensor]:
    story = torch.zeros(len(items), max(len(item.story) for item in items), 2, dtype=torch.long)
    for row, item in enumerate(items):
        for column, sentence in enumerate(item.story):
            story[row, column, : len(sentence)] = torch.tensor(sentence)
    return story, torch.tensor([[item.question] for item in items]), torch.tensor([item.answer for item in items])


def test_it_learns_to_recall_and_looks_at_the_pair_that_is_asked_for() -> None:
    sizes = dict(keys=5, values=5, noise=5)
    test_items = list(recalls(split="test", distance=(1, 6), pairs=3, count=300, **sizes))
    train, test = batch(list(recalls(distance=(1, 6), pairs=3, count=1500, **sizes))), batch(test_items)
    model = network(replace(NANO, vocab=vocabulary(**sizes), hops=1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(180):
        chosen = torch.randint(0, 1500, (64,))
        story, question, answers = (part[chosen] for part in train)
        loss = F.cross_entropy(model(story, question), answers)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with record(model) as trace:
        said = model(*test[:2]).argmax(dim=-1)
    assert (said == test[2]).float().mean() > 0.9  # who forgets the key guesses one of three
    asked = torch.tensor([item.place // 2 for item in test_items])
    assert (trace.weights("hops.0")[:, 0, 0].argmax(dim=-1) == asked).float().mean() > 0.9
