"""How alike what the layers of networks know is: `regard look --how cka`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from regard.cli.sheets import Shown

if TYPE_CHECKING:
    from regard.pipelines.pictured import Pictured

COMPARED, TOGETHER = 256, 64  # pictures of a set by which networks are compared, and how many of them at once


def compare(models: "Mapping[str, Pictured]", data: str) -> Shown:
    """CKA: how alike what layers know is, within the first model, and between it and each other one."""
    from regard.analysis.seeing import cka
    from regard.analysis.seeing.figure import Sheet
    from regard.data import SETS
    from regard.data.pictures import pictures

    known = pictures(data, "test" if data == "world" or data in SETS else "val")
    names, chosen = list(models), range(min(COMPARED, len(known)))
    parts = [chosen[i : i + TOGETHER] for i in range(0, len(chosen), TOGETHER)]
    if len(parts) > 1 and len(parts[-1]) < TOGETHER:  # a short one would count as much as the others
        parts.pop()
    sheets, facts = list[Sheet](), dict[str, Any]()
    for one, other in [
        (names[0], names[0]),
        *(pair for name in names[1:] for pair in ((names[0], name), (name, name))),
    ]:
        first, second = models[one], models[other]
        opened = ([known.picture(i) for i in part] for part in parts)  # as they are read, since photos are large
        found = cka(first.model, second.model, ((first.tensors(some), second.tensors(some)) for some in opened))
        title = f"within {one}" if one == other else f"{one} (rows), {other} (columns)"
        facts[title] = {"rows": found.rows, "columns": found.columns, "cka": found.cka.round(4).tolist()}
        sheets.append(Sheet(title, found.cka.clip(0, 1), None, len(found.rows) / len(found.columns)))
    caption = (
        f"CKA of the maps behind each block, the first on top and at the left, on {sum(map(len, parts))} pictures of "
        f"{data}: darker is more alike, from 0 to 1"
    )
    return Shown(facts | {"pictures": sum(map(len, parts))}, sheets, caption, len(sheets))
