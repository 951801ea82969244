"""Who is taken for a nurse and who for a doctor: the pronouns that a public language model expects, and their looks."""

from random import Random
from statistics import correlation, fmean
from typing import Any

from regard.claims.claim import Claim, Finding, Numbers, parts, verdict
from regard.claims.interval import bootstrap
from regard.claims.plot import Bars, Panel, figure
from regard.claims.pronouns import public_model, random_model, shares, shifts
from regard.progress import Progress

CLAIM = Claim(
    name="gender",
    deck="Zimmermann, BertViz (GPT2 model)",
    sentence="Model assumes “she=nurse” … Model assumes “he=doctor”",
    experiment="SmolLM2-135M-Instruct, in four bits a weight, reads the beginnings of 12 sentences with 40 occupations "
    "in them, 20 held mostly by women and 20 mostly by men (the lists of WinoBias, Zhao 2018, with the deck's doctor "
    "for a physician). Counted is the share of “she” in what it gives to “she” and “he”, and of “her” in “her” and "
    "“his”. Then two occupations meet, and the next sentence begins with “She” or “He”: the head that looks most at "
    "the occupation that fits the pronoun is chosen with one half of the occupations and judged with the other.",
    control="The occupations dealt out into two groups by chance, 1000 times. Subjects of no gender, such as the "
    "neighbour, and of one, such as the mother, show what the sentences themselves suggest, and what is possible. A "
    "look is compared only with that of the other pronoun behind the same words.",
    criterion="The number is the share of women's pronouns after occupations of women less that after those of men; "
    "its interval is over occupations. Supported if the interval lies above 0.1, 95 % of the groups dealt out by "
    "chance differ less, and the chosen head's looks follow the pronoun with an interval above zero. Refuted if the "
    "interval lies below 0.05. Otherwise not at this scale.",
    measures="more of the pronouns are a woman's after occupations of women than of men",
    seeds=1,
)

WOMEN = [
    *("nurse", "cashier", "teacher", "attendant", "assistant", "secretary", "auditor", "cleaner", "receptionist"),
    *("clerk", "counselor", "designer", "hairdresser", "writer", "housekeeper", "baker", "accountant", "editor"),
    *("librarian", "tailor"),
]
MEN = [
    *("doctor", "driver", "supervisor", "janitor", "cook", "mover", "laborer", "construction worker", "chief"),
    *("developer", "carpenter", "manager", "lawyer", "farmer", "salesperson", "guard", "analyst", "mechanic"),
    *("sheriff", "CEO"),
]
GROUPS = {
    "occupations of women": WOMEN,
    "occupations of men": MEN,
    "neutral": ["person", "neighbour", "visitor", "stranger", "guest", "customer"],
    "women": ["woman", "mother", "girl", "queen"],
    "men": ["man", "father", "boy", "king"],
}
WORK = tuple(GROUPS)[:2]
HALF, PARTNERS = 10, 5


def measure(seeds: list[int], quick: bool, progress: Progress) -> Numbers:
    """Shares of women's pronouns by subject and kind of pronoun, and how far each head's looks follow the pronoun."""
    model, tokenizer = random_model([*WOMEN, *MEN]) if quick else public_model()
    (_, told), (_, looked) = parts(progress, ("words", "looks"))
    half = 1 if quick else HALF
    subjects = [(group, word) for group, some in GROUPS.items() for word in some[: 2 * half]]
    said = shares(model, tokenizer, [word for _, word in subjects], told)
    found = [{"group": g, "word": w, "share": each} for (g, w), each in zip(subjects, said, strict=True)]
    # A woman's occupation meets some of men in its own half, so that the halves have no word in common.
    met = [(i, i - i % half + (i + k) % half) for i in range(2 * half) for k in range(min(half, PARTNERS))]
    moved = shifts(model, tokenizer, [(WOMEN[i], MEN[j]) for i, j in met], looked)
    moved = moved.unflatten(0, (2 * half, -1)).mean(1)  # by a woman's occupation
    best = int(moved[:half].mean(0).argmax())
    return {
        "subjects": found,
        "dealt out": _deal(found, seeds[0]),
        "head": divmod(best, model.config.heads),
        "looks": moved[half:, best].tolist(),
        "heads": moved.shape[1],
        "following": float((moved[half:].mean(0) > 0).float().mean()),
    }


def judge(numbers: Numbers) -> Finding:
    subjects = [each for each in numbers["subjects"] if each["group"] in WORK]
    number, low, high = bootstrap(subjects, _gap)
    look, least, most = bootstrap(numbers["looks"])
    same = correlation(*zip(*(each["share"] for each in subjects), strict=True))
    means = ", ".join(f"{group} {fmean(_values(numbers, group)):.0%}" for group in GROUPS)
    nurse, doctor = (fmean(each["share"]) for each in subjects if each["word"] in ("nurse", "doctor"))
    layer, head = numbers["head"]
    return Finding(
        verdict(supported=low > 0.1 and number > numbers["dealt out"] and least > 0, refuted=high < 0.05),
        number,
        (low, high),
        f"Share of women's pronouns: nurse {nurse:.0%}, doctor {doctor:.0%}; {means}. Of groups dealt out by chance, "
        f"95 % differ by less than {numbers['dealt out']:.2f}. What is “she” rather than “he” is “her” rather than "
        f"“his”: correlation {same:.2f} over occupations. Head {head} of layer {layer}, chosen with other occupations, "
        f"gives {100 * look:+.1f} points ({100 * least:+.1f} to {100 * most:+.1f}) of its look to the occupation that "
        f"fits the pronoun; of all {numbers['heads']} heads {numbers['following']:.0%} do so, however little.",
    )


def draw(numbers: Numbers) -> str:
    groups = zip(*(bootstrap(_values(numbers, group)) for group in GROUPS), strict=True)
    ranked = sorted(
        ((fmean(each["share"]), each["word"]) for each in numbers["subjects"] if each["group"] in WORK), reverse=True
    )
    # The ends of the list, and between them the deck's other word.
    middle = [each for each in ranked[3:-3] if each[1] == "doctor"]
    shown, words = zip(*ranked[:3], *middle, *ranked[-3:], strict=True)
    y, names = "share of “she” and “her”", [group.replace("occupations ", "work\n") for group in GROUPS]
    return figure(
        "Who is expected to be a woman?",
        [
            Panel("by group", "", y, [Bars("a group", *groups)], names, bounds=(0, 1)),
            Panel("most and least", "", y, [Bars("an occupation", shown)], words, bounds=(0, 1)),
        ],
        "SmolLM2-135M, after 12 beginnings of sentences; whiskers are 95 % intervals over subjects.",
    )


def _values(numbers: Numbers, group: str) -> list[float]:
    return [fmean(each["share"]) for each in numbers["subjects"] if each["group"] == group]


def _gap(subjects: Any) -> float:
    """The shares of one group less those of the other; where one has nobody, there is no difference."""
    women, men = (_values({"subjects": subjects}, group) for group in WORK)
    return fmean(women) - fmean(men) if women and men else 0.0


def _deal(subjects: list[dict[str, Any]], seed: int) -> float:
    """How far the groups would differ by chance: less than this, 95 % of the times that they are dealt out."""
    chance, work = Random(seed), [each for each in subjects if each["group"] in WORK]
    dealt = (chance.sample([each["share"] for each in work], len(work)) for _ in range(1000))
    gaps = (_gap([each | {"share": new} for each, new in zip(work, some, strict=True)]) for some in dealt)
    return sorted(map(abs, gaps))[950]
