"""Two sentences of the news, and whether they say the same (Dolan 2005)."""

from regard.data.dataset import Dataset, File
from regard.data.fetch import get
from regard.data.rows import folds, lines

SAID = {"0": "different", "1": "equivalent"}

DATASET = Dataset(
    name="mrpc",
    kind="labels",
    about="pairs of sentences of the news, and whether they say the same (Dolan 2005)",
    terms="research",
    home="https://www.microsoft.com/en-us/download/details.aspx?id=52398",
    languages=("en",),
    splits={"train": 3_633, "val": 447, "test": 1_725},
    # The published training pairs are divided, so that no sentence is in train and val.
    files=(
        File(
            "msr_paraphrase_train.txt.gz", 359_853, "84f6fcf962f96bb67727710b4b455f192b68f4196e730f0bb22fbf1998f705c4"
        ),
        File("msr_paraphrase_test.txt.gz", 153_731, "20ccc1309163adfd143b66298db672499cee378a5bc87c936608dde5eea41444"),
    ),
)


def read(split: str) -> list[tuple[tuple[str, str], str]]:
    (path,) = get(DATASET, [f"msr_paraphrase_{'test' if split == 'test' else 'train'}.txt.gz"])
    cells = [line.split("\t") for number, line in enumerate(lines(path)) if number and line]
    found = [((first.strip(), second.strip()), SAID[label]) for label, _, _, first, second in cells]
    if split == "test":
        return found
    sides = folds([((0, first), (0, second)) for (first, second), _ in found])
    return [row for row, side in zip(found, sides, strict=True) if (side == "train") == (split == "train")]
