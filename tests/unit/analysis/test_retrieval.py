"""Pictures and texts that find each other, names in sentences, and features that a line divides."""

import numpy as np
import pytest
import torch

from regard.analysis.probes import linear_probe
from regard.analysis.retrieval import ranks, recalls
from regard.analysis.zero_shot import class_vectors, sentence


def test_recall_is_counted_both_ways() -> None:
    alike = np.array([[0.9, 0.1, 0.2, 0.3], [0.8, 0.2, 0.7, 0.1]])
    owners = np.array([0, 0, 1, 1])
    to_text, to_image = ranks(alike, owners)
    assert to_text.tolist() == [0, 1]  # the first text is nearer to the second picture than its own
    assert to_image.tolist() == [0, 1, 0, 1]
    found = recalls(alike, owners, at=(1, 2))
    assert found["image to text R@1"].value == 50
    assert found["text to image R@1"].value == 50
    assert found["image to text R@2"].value == found["text to image R@2"].value == 100


def test_a_model_that_says_the_same_of_everything_finds_nothing() -> None:
    found = recalls(np.ones((20, 20)), np.arange(20))
    assert all(each.value == 0 for each in found.values())


@pytest.mark.parametrize(
    ("alike", "owners", "said"),
    [
        (np.ones((0, 0)), np.array([], np.int64), "0 pictures and 0 texts find nothing"),
        (np.ones((2, 2)), np.array([0, 2]), "belongs to picture 2, and there are 2"),
    ],
)
def test_likenesses_that_do_not_fit_are_refused(alike: np.ndarray, owners: np.ndarray, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        recalls(alike, owners)


def test_names_stand_in_sentences_with_their_article() -> None:
    assert sentence("There is {a}.", "orange disc") == "There is an orange disc."
    assert sentence("a photo of the {}.", "dog") == "a photo of the dog."
    with pytest.raises(ValueError, match=r"has no place for a class; write \{\} or \{a\} where it belongs"):
        sentence("a photo", "dog")


def test_the_vector_of_a_class_is_the_mean_of_its_sentences() -> None:
    vectors = {"a dog": [1.0, 0.0], "one dog": [0.0, 3.0], "a cat": [0.0, -1.0], "one cat": [0.0, -2.0]}
    templates = ["{a}", "one {}"]
    found = class_vectors(lambda texts: torch.tensor([vectors[text] for text in texts]), ["dog", "cat"], templates)
    torch.testing.assert_close(found, torch.tensor([[0.5**0.5, 0.5**0.5], [0.0, -1.0]]))
    with pytest.raises(ValueError, match="0 classes in 1 templates make nothing to choose"):
        class_vectors(lambda _: torch.ones(1, 2), [], ["{}"])


def test_a_linear_probe_reads_what_a_line_divides_and_nothing_else() -> None:
    dice = np.random.default_rng(0)
    x = dice.normal(size=(400, 6))
    line, circle = (x[:, 0] + x[:, 1] > 0).astype(np.int64), (x[:, 0] ** 2 + x[:, 1] ** 2 > 1.4).astype(np.int64)
    for wanted, low, high in ((line, 95, 100), (circle, 30, 70)):
        probe = linear_probe((x[:300], wanted[:300]), (x[300:], wanted[300:]))
        assert low <= probe.score.value <= high
        assert len(probe.hits) == 100
    with pytest.raises(ValueError, match="3 features and 3 classes teach nothing"):
        linear_probe((x[:3], line[:3]), (x, line))
