"""The first hundred million bytes of the English Wikipedia of March 2006 (Mahoney 2006)."""

from collections.abc import Iterator

from regard.data.dataset import Dataset, File
from regard.data.fetch import get
from regard.data.stretch import Stretch
from regard.data.wiki import articles

EDGES = {"train": (0, 90_000_000), "val": (90_000_000, 95_000_000), "test": (95_000_000, 100_000_000)}

DATASET = Dataset(
    name="enwik8",
    kind="text",
    about="the first hundred million bytes of the English Wikipedia of March 2006, with its markup (Mahoney 2006)",
    terms="CC BY-SA, GFDL",
    home="http://mattmahoney.net/dc/textdata.html",
    languages=("en",),
    splits={split: end - start for split, (start, end) in EDGES.items()},  # bytes
    files=(File("enwik8.gz", 36_548_940, "d52ea2118b505f79007e084b2f49acef9fd0e45fb481f84b2cab0a7191a7ef60"),),
)


def read(split: str) -> Iterator[str]:
    return _stretch(split).blocks()


def documents(split: str) -> Iterator[list[str]]:
    """Articles without their markup, each as its sentences; one that the end of a split cuts is in none."""
    return articles(_stretch(split).lines())


def _stretch(split: str) -> Stretch:
    (path,) = get(DATASET)
    return Stretch(path, *EDGES[split])
