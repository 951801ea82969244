"""Beam search beside one that is slow and obvious: it reads every beginning anew and considers every word."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from regard.decode import beam, greedy
from regard.models.transformer import PRESETS, Transformer

START, STOP = 1, 2


def model(seed: int) -> Transformer:
    torch.manual_seed(seed)
    made = Transformer(replace(PRESETS["transformer-nano"], vocab=1100)).eval()
    with torch.no_grad():
        made.embed.weight *= 3.0  # more decided than chance, so that beams differ
        made.embed.weight[STOP] *= 1.2
    return made


def obvious(
    one: Transformer, source: Tensor, size: int, limit: int, length_penalty: float
) -> list[tuple[float, tuple[int, ...], bool]]:
    """Scores, words and whether they came to a stop, best first."""

    def norm(length: int) -> float:
        return float(((5 + length) / 6) ** length_penalty)

    living: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    done: list[tuple[float, tuple[int, ...], bool]] = []
    for length in range(1, limit + 1):
        grown = []
        for before, words in living:
            gained = one(source[None], torch.tensor([[START, *words]]))[0, -1].log_softmax(dim=-1)
            grown += [(before + gain, (*words, word)) for word, gain in enumerate(gained.tolist())]
        grown.sort(reverse=True)
        done += [(total / norm(length), words[:-1], True) for total, words in grown[:size] if words[-1] == STOP]
        living = [each for each in grown if each[1][-1] != STOP][:size]
        if done and living[0][0] / norm(limit) <= max(done)[0]:
            break
        if length == limit:
            done += [(total / norm(length), words, False) for total, words in living]
    return sorted(done, reverse=True)


@torch.no_grad()
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("size", [1, 2, 4])
def test_the_search_finds_what_an_obvious_one_finds(seed: int, size: int) -> None:
    one, lengths, limits = model(seed), torch.tensor([7, 3, 5]), [9, 6, 8]
    source = torch.randint(4, 1100, (3, 7))
    start, first = one.start(source, lengths=lengths), torch.full((3,), START)
    found = beam(one.step, start, first, stop=STOP, limit=limits, size=size, length_penalty=0.6)
    for i, (best,) in enumerate(found):
        score, words, finished = obvious(one, source[i, : lengths[i]], size, limits[i], 0.6)[0]
        assert (best.words, best.finished) == (words, finished)
        assert best.score == pytest.approx(score, abs=1e-3)
    if size == 1:
        walked = greedy(one.step, start, first, stop=STOP, limit=limits)
        assert [each.words for each in walked] == [best.words for (best,) in found]
