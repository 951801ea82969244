"""Sentences from the literature of linguistics that are English, or are not (Warstadt 2019)."""

from regard.data.dataset import Dataset, File
from regard.data.fetch import get
from regard.data.rows import Columns, belongs, table

SAID = {"0": "unacceptable", "1": "acceptable"}

DATASET = Dataset(
    name="cola",
    kind="labels",
    about="sentences from the literature of linguistics that are English, or are not (Warstadt 2019)",
    terms="research",
    home="https://nyu-mll.github.io/CoLA",
    languages=("en",),
    splits={"train": 7_723, "val": 828, "test": 527},
    # The published training sentences are divided by `regard.data.belongs`; the published dev sentences are the test.
    files=(
        File("in_domain_train.tsv.gz", 107_339, "2c4fa56cffdae2931e0e07df4f8b29452b3808de6f1908a735ac27908ed315f8"),
        File("in_domain_dev.tsv.gz", 9_947, "61892c69e96c6deb8ce6dfe5c45fe30eb4d749fcf8c0d12d0456c1301ff93aa2"),
    ),
)


def read(split: str) -> list[tuple[tuple[str], str]]:
    (path,) = get(DATASET, [f"in_domain_{'dev' if split == 'test' else 'train'}.tsv.gz"])
    found: list[tuple[tuple[str], str]] = [((text,), SAID[label]) for text, label in table(path, Columns(3, 1))]
    return found if split == "test" else [row for row in found if (belongs(row[0][0]) == "train") == (split == "train")]
