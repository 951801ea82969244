"""Each criterion can be met, missed, and left open: verdicts on numbers made by hand."""

import math
from itertools import islice
from random import Random
from typing import Any

import pytest
import torch

from regard.claims import (
    alignment,
    antecedents,
    bottleneck,
    directions,
    distilled,
    finetuning,
    future,
    gender,
    heads,
    importance,
    joining,
    longer,
    memory,
    objectives,
    order,
    recall,
    scale,
    sequential,
    sharing,
    shots,
    steadier,
    table1,
    understanding,
    zeroshot,
)
from regard.claims.choices import CHOICES
from regard.claims.claim import Numbers, verdict
from regard.train.small import count_parameters

OPEN = "not at this scale"


def test_what_is_refuted_is_not_supported_too() -> None:
    assert verdict(supported=True, refuted=True) == "refuted"
    assert verdict(supported=True, refuted=False) == "supported"
    assert verdict(supported=False, refuted=False) == OPEN


@pytest.mark.parametrize(("slower", "verdict"), [(8.0, "supported"), (1.6, OPEN), (1.0, "refuted")])
def test_sequential(slower: float, verdict: str) -> None:
    points = [
        {"layer": layer, "length": length, "threads": threads, "cost": [cost, cost, cost], "work": 1}
        for threads in (1, 2)
        for layer, far in (("recurrence", slower), ("attention", 1.0))
        for length, cost in ((8, 1.0), (512, far))
    ]
    found = sequential.judge({"words": 512, "width": 256, "points": points})
    assert (found.verdict, found.number) == (verdict, slower)
    assert "second thread speeds up the recurrence 1.00×" in found.says


def _table(*, growing: int = 0) -> Numbers:
    """The table as it should be, but for the chains of so many layers."""
    sizes = {"n": (64, 128), "d": (32, 64), "k": (2, 4), "r": (4, 8)}
    counts = [
        {"layer": name, "size": size, "value": value, "operations": 100 * value**power}
        for name, powers in table1.EXPONENTS.items()
        for size, power in powers.items()
        for value in sizes[size]
    ]
    wrong = [name for name, power in table1.CHAINS.items() if power == 0][:growing]
    chains = [
        {"layer": name, "n": n, "chain": 5 * n ** (1 if name in wrong else power)}
        for name, power in table1.CHAINS.items()
        for n in (64, 128)
    ]
    far = [(name, n, table1._formula(name, n)) for name in (*table1.EXPONENTS, "not dilated") for n in (16, 64)]
    paths = [{"layer": name, "n": n, "path": path, "table": path} for name, n, path in far]
    times = [{"layer": name, "n": n, "seconds": 1e-3 * n} for name in table1.EXPONENTS for n in (64, 128)]
    return {"counts": counts, "chains": chains, "paths": paths, "times": times}


def test_table1() -> None:
    assert table1.judge(_table()).verdict == "supported"
    assert table1.judge(_table(growing=1)).verdict == OPEN
    spoiled = _table(growing=3)
    assert table1.judge(spoiled).verdict == "refuted"
    assert "self-attention, sequential operations" in table1.judge(spoiled).says


def test_a_wrong_exponent_and_a_wrong_path_are_found() -> None:
    numbers = _table()
    numbers["counts"][1]["operations"] *= 2
    numbers["paths"][0]["path"] += 2
    says = table1.judge(numbers).says
    assert "self-attention, complexity" in says
    assert "self-attention, path length" in says


@pytest.mark.parametrize(
    ("gradient", "entropy", "without", "verdict"),
    [(0.01, 0.1, 0.4, "supported"), (0.01, 0.1, 0.9, OPEN), (0.9, 0.1, 0.4, "refuted"), (0.01, 0.8, 0.4, "refuted")],
)
def test_scale(gradient: float, entropy: float, without: float, verdict: str) -> None:
    looks = [
        {"width": width, "score": score, "seed": seed, "variance": 1.0, "mean gradient": 0.1}
        | {"gradient": 0.1 if score == scale.SCORES[0] else 0.1 * gradient, "entropy": entropy}
        for width in (4, 1024)
        for score in scale.SCORES
        for seed in (0, 1)
    ]
    runs = [
        {"width": 256, "score": score, "lr": lr, "seed": seed, "accuracy": accuracy * lr}
        for score, accuracy in zip(scale.SCORES, (0.9, without), strict=True)
        for lr in (0.5, 1.0)
        for seed in (0, 1)
    ]
    found = scale.judge({"keys": 64, "looks": looks, "runs": runs})
    assert found.verdict == verdict
    assert found.number == pytest.approx(gradient)


@pytest.mark.parametrize(
    ("moved", "blind", "seeing", "verdict"),
    [
        (1e-15, 0.5, 0.99, "supported"),
        (1e-15, 0.5, 0.7, OPEN),
        (1e-3, 0.5, 0.99, "refuted"),
        (0.0, 0.8, 0.99, "refuted"),
    ],
)
def test_order(moved: float, blind: float, seeing: float, verdict: str) -> None:
    numbers = {
        "moved": [{"kind": kind, "seed": 0, "moved": m} for kind, m in zip(order.KINDS, (moved, 1.0), strict=True)],
        "runs": [
            {"kind": kind, "question": question, "seed": seed, "accuracy": accuracy}
            for kind, accuracy in zip(order.KINDS, (blind, seeing), strict=True)
            for question in order.QUESTIONS
            for seed in (0, 1)
        ],
    }
    assert order.judge(numbers).verdict == verdict


@pytest.mark.parametrize(
    ("leak", "differ", "slower", "verdict"),
    [
        (0.0, 1e-7, 9.0, "supported"),
        (0.0, 1e-7, 1.5, OPEN),
        (1e-9, 1e-7, 9.0, "refuted"),
        (0.0, 0.1, 9.0, "refuted"),
        (0.0, 1e-7, 0.5, "refuted"),
    ],
)
def test_future(leak: float, differ: float, slower: float, verdict: str) -> None:
    seconds = dict(zip(future.WAYS, ([1.0, 1.0], [2.0, 2.0], [slower, slower]), strict=True))
    numbers = {
        "leaks": [{"seed": 0, "masked": leak, "open": 0.1}],
        "points": [{"length": 64, "differ": differ, "seconds": seconds}],
    }
    assert future.judge(numbers).verdict == verdict


@pytest.mark.parametrize(("plain", "verdict"), [(0.1, "supported"), (0.85, OPEN), (0.95, "refuted")])
def test_recall(plain: float, verdict: str) -> None:
    runs = [
        {"kind": kind, "seed": seed, "parameters": 1, "accuracy": [0.95, plain if kind == "RNN" else 0.95]}
        for kind in recall.KINDS
        for seed in (0, 1)
    ]
    assert recall.judge({"distances": [1, 128], "steps": 1, "runs": runs}).verdict == verdict


@pytest.mark.parametrize(
    ("eight", "verdict"), [((0.8, 0.81), "supported"), ((0.7, 0.75), OPEN), ((0.6, 0.61), "refuted")]
)
def test_heads(eight: tuple[float, float], verdict: str) -> None:
    runs = [
        {"kind": kind, "seed": seed, "parameters": 1, "loss": 1.0, "accuracy": accuracy}
        for kind in heads.KINDS
        for seed, accuracy in enumerate(eight if kind == "8" else (0.72, 0.73))
    ]
    assert heads.judge({"runs": runs, "steps": 1, "pairs": 1}).verdict == verdict


def _bins(*, short: bool, long: bool) -> list[dict[str, Any]]:
    right, wrong = tuple("abcdefgh"), tuple("abcdzyxw")
    counts = [bottleneck._counts(right if good else wrong, right) for good in (short, long)]
    return [{"counts": {name: [n] * 3 for name, n in zip(bottleneck.COLUMNS, each, strict=True)}} for each in counts]


@pytest.mark.parametrize(
    ("fixed", "attention", "verdict"), [(False, True, "supported"), (True, True, OPEN), (True, False, "refuted")]
)
def test_bottleneck(fixed: bool, attention: bool, verdict: str) -> None:
    runs = [
        {"kind": kind, "seed": 0, "bins": _bins(short=True, long=attention if kind == "attention" else fixed)}
        for kind in bottleneck.KINDS
    ]
    assert bottleneck.judge({"runs": runs, "steps": 1}).verdict == verdict


def test_bleu_is_that_of_sacrebleu() -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    said = ["the dog eats the red apple in the house", "a cat sees a bird and the old man", "the end is near now"]
    right = ["the dog eats a red apple in the house", "a cat sees the bird and an old man", "the end is very near now"]
    items = [bottleneck._counts(tuple(s.split()), tuple(r.split())) for s, r in zip(said, right, strict=True)]
    theirs = sacrebleu.corpus_bleu(said, [right], tokenize="none", smooth_method="none").score
    assert bottleneck._bleu(items) == pytest.approx(theirs)


@pytest.mark.parametrize(
    ("error", "swapped", "verdict"),
    [(0.1, 0.9, "supported"), (0.1, 0.3, OPEN), (0.38, 0.9, OPEN), (0.95, 0.9, "refuted")],
)
def test_alignment(error: float, swapped: float, verdict: str) -> None:
    errors = {"attention": error, "diagonal": 0.4, "shuffled": 0.9, "uniform": 0.88}
    runs = [{"seed": 0, "accuracy": 0.9, "error": errors, "swapped": dict.fromkeys(alignment.WAYS, swapped)}]
    assert alignment.judge({"runs": runs, "sentences": 1, "swapped": 2, "steps": 1}).verdict == verdict


def test_words_that_change_places_are_neighbours_on_both_sides() -> None:
    from regard.world.language import Pair

    crossing = frozenset({(0, 0), (1, 2), (2, 1), (3, 3)})
    pair = Pair(("la", "casa", "rossa", "."), ("the", "red", "house", "."), crossing, None)
    assert alignment._swaps(pair) == [(1, 2), (2, 1)]


@pytest.mark.parametrize(
    ("women", "men", "look", "verdict"),
    [(0.8, 0.4, 0.1, "supported"), (0.8, 0.4, -0.1, OPEN), (0.5, 0.42, 0.1, OPEN), (0.5, 0.5, 0.1, "refuted")],
)
def test_gender(women: float, men: float, look: float, verdict: str) -> None:
    means = dict(zip(gender.GROUPS, (women, men, 0.5, 0.9, 0.1), strict=True))
    subjects = [
        {"group": group, "word": word, "share": [means[group] - 0.01 * (i % 2), means[group] + 0.01 * (i % 3)]}
        for group, words in gender.GROUPS.items()
        for i, word in enumerate(words)
    ]
    looks = {"head": [1, 2], "heads": 8, "following": 0.5, "looks": [look, look]}
    found = gender.judge({"subjects": subjects, "dealt out": gender._deal(subjects, 0)} | looks)
    assert found.verdict == verdict
    assert found.number == pytest.approx(women - men, abs=0.01)


def test_an_occupation_has_one_side() -> None:
    assert len({*gender.WOMEN, *gender.MEN}) == 4 * gender.HALF


@pytest.mark.parametrize(
    ("found", "without", "verdict"),
    [(0.9, 0.5, "supported"), (0.9, 0.95, OPEN), (0.35, 0.5, OPEN), (0.2, 0.5, "refuted")],
)
def test_antecedents(found: float, without: float, verdict: str) -> None:
    hits = dict.fromkeys(antecedents.WAYS, 0.3) | {"best head": found}
    right = {antecedents.ON: 1.0, antecedents.OFF: without, antecedents.OTHER: 0.98}
    runs = [{"seed": seed, "head": [0, 1], "hits": hits, "right": right} for seed in (0, 1)]
    judged = antecedents.judge({"runs": runs, "asked": 1, "steps": 1})
    assert judged.verdict == verdict
    assert judged.number == pytest.approx(found - 0.3)


def test_what_it_stands_for_is_found_by_its_word() -> None:
    from regard.claims.glosses import GERMAN, tell
    from regard.world.language import stories

    told = next(one for one in map(tell, stories()) if one.its)
    place, named = told.its[0]
    assert (told.words[place], named in told.nouns) == ("it", True)
    assert GERMAN.decode([told.german[place]])[0] in ("er", "ihn", "sie", "es", "ihm", "ihr")
    assert antecedents._share([told], [[one for _, one in told.its]]) == 1


@pytest.mark.parametrize(
    ("one", "eight", "shuffled", "verdict"),
    [
        (0.5, 0.8, 0.25, "supported"),
        (0.5, 0.8, 0.6, OPEN),
        (0.5, 0.53, 0.25, OPEN),
        (0.5, 0.5, 0.25, "refuted"),
        (0.5, 0.8, 0.85, "refuted"),
    ],
)
def test_shots(one: float, eight: float, shuffled: float, verdict: str) -> None:
    runs = [
        {"size": size, "labels": labels, "seed": seed, "parameters": 1, "right": [0.25, one, last]}
        for size in shots.SIZES
        for labels, last in zip(shots.LABELS, (eight, shuffled), strict=True)
        for seed in (0, 1)
    ]
    found = shots.judge({"runs": runs, "ideal": [[0.25, 0.7, 1.0]], "shots": [0, 1, 8], "steps": 1})
    assert found.verdict == verdict
    assert found.number == pytest.approx(eight - one)


def test_examples_that_do_not_mislead_can_be_counted() -> None:
    prompts = [shots._prompt(Random(i), held=True, misled=0.0) for i in range(20)]
    assert all(prompt.answers == prompt.right for prompt in prompts)
    assert [shots._counted(prompts, count) for count in (0, 1, 8)] == [0.25, 1.0, 1.0]


@pytest.mark.parametrize(
    ("trained", "worst", "verdict"),
    [(0.9, 0.9, "supported"), (0.9, 0.5, OPEN), (0.65, 0.65, OPEN), (0.55, 0.55, "refuted")],
)
def test_zeroshot(trained: float, worst: float, verdict: str) -> None:
    scores = dict.fromkeys(zeroshot.TASKS, trained) | {zeroshot.TASKS[-1]: worst}
    controls = {way: dict.fromkeys(zeroshot.TASKS, mean) for way, mean in (("untrained", 0.5), ("frequency", 0.6))}
    runs = [{"seed": seed, "GPT": scores} | controls for seed in (0, 1)]
    assert zeroshot.judge({"runs": runs, "asked": 1, "steps": 1}).verdict == verdict


def test_two_ways_to_go_on_differ() -> None:
    for make in CHOICES.values():
        assert all(one.right != one.wrong and one.begin for one in islice(make(), 8))


@pytest.mark.parametrize(
    ("exponent", "window", "differ", "verdict"),
    [(2, 1, 1e-7, "supported"), (1, 1, 1e-7, "refuted"), (1, 1, 0.1, OPEN), (1, 2, 1e-7, OPEN), (1.5, 1, 1e-7, OPEN)],
)
def test_memory(exponent: float, window: float, differ: float, verdict: str) -> None:
    powers = dict(zip(memory.WAYS, (2, exponent, exponent, window, 1), strict=True))
    peaks = [
        {"way": way, "pass": during, "n": n, "bytes": round(8 * n**power)}
        for way, power in powers.items()
        for during in memory.PASSES
        for n in (64, 256, 1024)
    ]
    found = memory.judge({"peaks": peaks, "differ": differ})
    assert found.verdict == verdict
    assert found.number == pytest.approx(exponent)


def test_every_byte_is_counted() -> None:
    peak = memory._peak(lambda x: (x * 2)[:, :1] + x * 3, torch.zeros(1, 16, 64), "forward")
    assert peak == 3 * 16 * 64 * 4


@pytest.mark.parametrize(
    ("shared", "verdict"), [((0.6, 0.61), "supported"), ((0.6, 0.9), OPEN), ((0.8, 0.81), "refuted")]
)
def test_sharing(shared: tuple[float, float], verdict: str) -> None:
    rates = {kind: shared if kind.startswith("k = v, equal size") else (0.5, 0.51) for kind in sharing.KINDS}
    runs = _contest(rates | {sharing.SEPARATE: (0.7, 0.71)})
    assert sharing.judge({"runs": runs, "steps": 1}).verdict == verdict


@pytest.mark.parametrize(
    ("beside", "without", "verdict"),
    [
        ((0.7, 0.711), 0.5, "supported"),
        ((0.7, 0.711), 0.9, OPEN),
        ((0.6, 0.8), 0.5, OPEN),
        ((0.6, 0.61), 0.5, "refuted"),
        ((0.8, 0.81), 0.5, "refuted"),
    ],
)
def test_joining(beside: tuple[float, float], without: float, verdict: str) -> None:
    rates = {joining.ADDED: (0.7, 0.71), joining.SIZE: beside, joining.NARROW: beside, joining.NONE: (without, without)}
    assert joining.judge({"runs": _contest(rates), "steps": 1}).verdict == verdict


def _contest(rates: dict[str, tuple[float, float]]) -> list[dict[str, Any]]:
    return [
        {"kind": kind, "seed": seed, "parameters": 1, "accuracy": rate}
        for kind, both in rates.items()
        for seed, rate in enumerate(both)
    ]


@pytest.mark.parametrize(
    ("eight", "spread", "hasty", "verdict"),
    [
        (0.005, 0.1, 0.05, "supported"),
        (0.005, 0.9, 0.05, OPEN),
        (0.005, 0.1, 0.01, OPEN),
        (0.02, 0.1, 0.05, "refuted"),
    ],
)
def test_steadier(eight: float, spread: float, hasty: float, verdict: str) -> None:
    unsteady = dict.fromkeys(steadier.KINDS, 0.01) | {"8": eight, steadier.HASTY: hasty}
    runs = [
        {"kind": kind, "seed": seed, "unsteady": each, "last": 1 + seed * (spread if kind == "8" else 0.5)}
        for kind, each in unsteady.items()
        for seed in (0, 1)
    ]
    found = steadier.judge({"runs": runs, "steps": 1})
    assert found.verdict == verdict
    assert found.number == pytest.approx(eight / 0.01)


def test_a_steady_fall_is_steady_however_steep() -> None:
    assert steadier._unsteady([2.0**-step for step in range(9)]) == pytest.approx(0, abs=1e-12)
    assert steadier._unsteady([2.0 ** (step % 2) for step in range(9)]) == pytest.approx(math.log(2))


@pytest.mark.parametrize(
    ("fixed", "table", "verdict"),
    [(0.95, 0.1, "supported"), (0.7, 0.1, OPEN), (0.3, 0.1, "refuted"), (0.95, 0.95, "refuted")],
)
def test_longer(fixed: float, table: float, verdict: str) -> None:
    beyond = dict.fromkeys(longer.KINDS, 0.5) | {"sinusoidal": fixed, "learned": table}
    runs = [
        {"kind": kind, "seed": seed} | {question: [1.0, 1.0, *[each] * 6] for question in longer.QUESTIONS}
        for kind, each in beyond.items()
        for seed in (0, 1)
    ]
    assert longer.judge({"runs": runs, "places": []}).verdict == verdict


@pytest.mark.parametrize(
    ("own", "other", "verdict"),
    [(0.7, 0.1, "supported"), (0.4, 0.1, OPEN), (0.1, 0.0, "refuted"), (0.7, 0.8, "refuted")],
)
def test_importance(own: float, other: float, verdict: str) -> None:
    rates = (*zip(importance.WAYS, (own, other, 0.0, 0.5), strict=True), ("with gradients", 0.5))
    ways = {way: [rate, rate] for way, rate in rates}
    models = [{"model": name, "ways": ways, "layers": [{"occlusion": own}]} for name in importance.MODELS]
    assert importance.judge({"models": models}).verdict == verdict


def test_ranks_alone_are_correlated() -> None:
    one = torch.tensor([[1.0, 2.0, 9.0], [1.0, 2.0, 3.0]])
    assert importance._ranked(one, one.exp()) == pytest.approx(1)
    assert importance._ranked(one, -one) == pytest.approx(-1)


def test_what_is_compared_at_equal_size_is_of_equal_size() -> None:
    sizes = [count_parameters(bottleneck._model(kind, 1614)) for kind in ("attention", "fixed context")]
    assert sizes[1] == pytest.approx(sizes[0], rel=0.02)
    assert len({count_parameters(heads._model(kind, 100)) for kind in heads.KINDS[:-1]}) == 1
    states = [count_parameters(recall._model(kind)) for kind in recall.KINDS]
    assert max(states) < 1.3 * min(states)
    for one, kinds in ((sharing, sharing.KINDS[:4]), (joining, joining.KINDS[:2])):
        alike = [count_parameters(one._model(kind, 1614)) for kind in kinds]
        assert max(alike) < 1.02 * min(alike)


@pytest.mark.parametrize(
    ("article", "noun", "verdict"),
    [
        ((0.7, 0.72), 0.7, "supported"),
        ((0.7, 0.72), 0.95, OPEN),
        ((0.4, 0.8), 0.7, OPEN),
        ((0.3, 0.32), 0.7, "refuted"),
    ],
)
def test_directions(article: tuple[float, float], noun: float, verdict: str) -> None:
    both, one = ([(right, noun) for right in article], [(0.5, 0.7), (0.52, 0.7)])
    runs = [
        {"kind": kind, "seed": seed, "accuracy": dict(zip(directions.PLACES, right, strict=True))}
        for kind, found in zip(directions.KINDS, (both, one), strict=True)
        for seed, right in enumerate(found)
    ]
    assert directions.judge({"runs": runs}).verdict == verdict


@pytest.mark.parametrize(
    ("words", "follows", "verdict"),
    [(0.7, 0.6, "supported"), (0.79, 0.6, OPEN), (0.9, 0.6, "refuted"), (0.7, 0.9, "refuted")],
)
def test_objectives(words: float, follows: float, verdict: str) -> None:
    means = dict(zip(objectives.KINDS, (0.5, follows, words, 0.8), strict=True))
    runs = [
        {"kind": kind, "task": task, "seed": seed, "accuracy": mean + (0.02 * seed if kind == "both" else 0.0)}
        for kind, mean in means.items()
        for task in understanding.TASKS
        for seed in (0, 1, 2)
    ]
    found = objectives.judge({"runs": runs, "learnt": [{"kind": "both", "words": 0.5, "next": 0.9}]})
    assert found.verdict == verdict
    assert found.number == pytest.approx(0.82 - words)


@pytest.mark.parametrize(
    ("seconds", "scratch", "briefly", "verdict"),
    [
        (20.0, 0.6, 0.7, "supported"),
        (5.0, 0.6, 0.7, OPEN),
        (20.0, 0.6, 0.8, OPEN),
        (1.0, 0.6, 0.7, "refuted"),
        (20.0, 0.9, 0.7, "refuted"),
    ],
)
def test_finetuning(seconds: float, scratch: float, briefly: float, verdict: str) -> None:
    means = dict(zip(finetuning.KINDS, (scratch, briefly, 0.8), strict=True))
    numbers = {
        "costs": [{"kind": kind, "seed": seed, "seconds": seconds} for kind in means for seed in (0, 1)],
        "runs": [
            {"kind": kind, "task": task, "labels": labels, "seed": seed, "seconds": 1.0, "accuracy": mean}
            for kind, mean in means.items()
            for task in understanding.TASKS
            for labels in finetuning.LABELS
            for seed in (0, 1)
        ],
    }
    found = finetuning.judge(numbers)
    assert (found.verdict, found.number) == (verdict, seconds)


@pytest.mark.parametrize(
    ("taught", "untaught", "verdict"),
    [(0.88, 0.7, "supported"), (0.88, 0.88, OPEN), (0.7, 0.6, "refuted"), (0.88, 0.95, "refuted")],
)
def test_distilled(taught: float, untaught: float, verdict: str) -> None:
    means = dict(zip(distilled.KINDS, (0.9, taught, untaught, untaught), strict=True))
    runs = [
        {"kind": kind, "seed": seed, "parameters": 1, "words": 0.5, "scores": dict.fromkeys(understanding.TASKS, mean)}
        for kind, mean in means.items()
        for seed in (0, 1)
    ]
    guesses, seconds = dict.fromkeys(understanding.TASKS, 0.5), {"teacher": [2.0], "student": [1.0]}
    found = distilled.judge({"runs": runs, "guesses": guesses, "seconds": seconds})
    assert found.verdict == verdict
    assert found.number == pytest.approx((taught - 0.5) / 0.4)
