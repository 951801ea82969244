"""The page of the documentation that shows all claims, made from what is stored so that it cannot drift from it.

Make it again by `python -m regard.claims.page docs/claims.md`.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from regard.claims.claim import Claim, Result, claims, load
from regard.files import write

OPENING = """\
# Claims

What lectures say about attention, put to the test. Each claim is one file of `regard.claims`: the sentence, an
experiment, its control, and a criterion that was written before the first run. The verdict is computed from the
numbers: *supported*, *not at this scale*, or *refuted*. Intervals are of 95 %. Minutes are of processor time.

The lectures: K. Zimmermann, *Transformers* (Czech Technical University); *Transformers / Vision Transformers*
(EE/CS/CNS148, 2022); I. Najdenkoska and Y. M. Asano, *Lecture 7: Attention & Transformers*; Trần Vũ Hoàng's lecture on
attention; A. Erdem, *Lecture 4: Attention and Transformers* (COMP547, Koç University, 2024).

| claim | verdict | number |
|---|---|---|
"""


def page(root: str) -> str:
    """The whole page; `root` leads from it to the folder of the results."""
    found = [(one, load(one.name)) for one in claims().values()]
    rows = [
        f"| {one.name} | {result.verdict} | {result.summary} {one.measures} |"
        if result
        else f"| {one.name} | not run yet | |"
        for one, result in found
    ]
    return OPENING + "\n".join(rows) + "\n\n" + "\n".join(part for each in found for part in _section(*each, root))


def _section(one: Claim, result: Result | None, root: str) -> Iterator[str]:
    yield f"## {one.name}\n"
    yield f"> {one.sentence}\n>\n> — {one.deck}\n"
    yield f"**Experiment.** {one.experiment}\n"
    yield f"**Control.** {one.control}\n"
    yield f"**Criterion.** {one.criterion}\n"
    if result is None:
        yield "**Not run yet.**\n"
    else:
        yield f"**{result.verdict.capitalize()}: {result.summary} {one.measures}.** {result.says}\n"
        yield f"![{one.name}]({root}/{one.name}.svg)\n"
        yield f"*{result.conditions}.*\n"
    yield f"```sh\nregard claim run {one.name}\n```\n"


if __name__ == "__main__":
    write(Path(sys.argv[1]), page("../src/regard/claims/results"))
