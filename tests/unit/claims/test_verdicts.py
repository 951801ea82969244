"""Each criterion can be met, missed, and left open: verdicts on numbers made by hand."""

from typing import Any

import pytest

from regard.claims import alignment, bottleneck, future, heads, order, recall, scale, sequential, table1
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


def test_what_is_compared_at_equal_size_is_of_equal_size() -> None:
    sizes = [count_parameters(bottleneck._model(kind, 1614)) for kind in ("attention", "fixed context")]
    assert sizes[1] == pytest.approx(sizes[0], rel=0.02)
    assert len({count_parameters(heads._model(kind, 100)) for kind in heads.KINDS[:-1]}) == 1
    states = [count_parameters(recall._model(kind)) for kind in recall.KINDS]
    assert max(states) < 1.3 * min(states)
