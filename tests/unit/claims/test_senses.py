"""Senses are named by their nearest centre, and one vector for both is a guess."""

import torch

from regard.claims.senses import PAIRS, Told, named, tell


def occurrences(count: int) -> list[Told]:
    """Stories of one word each: every pair in both senses by turns."""
    every = [(pair, sense) for pair in range(len(PAIRS)) for sense in (0, 1)]
    return [Told([[7]], [(0, *every[i % len(every)])]) for i in range(count * len(every))]


def test_one_vector_for_both_senses_is_a_guess() -> None:
    told = occurrences(6)
    assert named([torch.ones(1, 4)] * len(told), told) == 0.5


def test_vectors_that_know_the_sense_name_all_of_them() -> None:
    told = occurrences(6)
    vectors = [torch.full((1, 4), float(one.places[0][2])) for one in told]
    assert named(vectors, told) == 1.0


def test_words_of_a_pair_are_written_alike_and_their_sense_is_kept() -> None:
    told = tell(300)
    spelt: dict[int, set[int]] = {}
    for one in told:
        words = [word for sentence in one.sentences for word in sentence]
        for place, pair, _ in one.places:
            spelt.setdefault(pair, set()).add(words[place])
    assert {(pair, sense) for one in told for _, pair, sense in one.places} == {
        (pair, sense) for pair in range(len(PAIRS)) for sense in (0, 1)
    }
    assert all(len(words) == 1 for words in spelt.values())
    assert len(set.union(*spelt.values())) == len(PAIRS)
