"""Everyday sentences in English and Italian (Tiedemann 2020)."""

from regard.data.dataset import Dataset, File
from regard.data.fetch import get
from regard.data.rows import Columns, divide, table

DATASET = Dataset(
    name="tatoeba-en-it",
    kind="pairs",
    about="everyday sentences in English and Italian (Tiedemann 2020, the test file of v2023-09-26)",
    terms="CC BY 2.0 FR",
    home="https://github.com/Helsinki-NLP/Tatoeba-Challenge",
    languages=("en", "it"),
    splits={"train": 26_254, "val": 1_435, "test": 1_523},  # by `regard.data.divide`
    files=(
        File(
            "tatoeba-test-v2023-09-26.eng-ita.txt.gz",
            627_470,
            "5923032e65cee2cfb6778d7d8c8fc1ffe87020d606b1ccf762066503ce2b1f2e",
        ),
    ),
    folder="https://raw.githubusercontent.com/Helsinki-NLP/Tatoeba-Challenge/master/data/release/test/v2023-09-26",
)


def read(split: str, source: str, target: str) -> list[tuple[str, str]]:  # noqa: ARG001 - of two languages
    (path,) = get(DATASET)
    english_first = divide(table(path, Columns(2, 3)))[split]
    return english_first if source == "en" else [(second, first) for first, second in english_first]
