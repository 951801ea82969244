"""Photographs of people and dogs doing things, with five captions each (Hodosh 2013).

The photographs are a smaller copy: the short side has 128 pixels.
"""

from collections.abc import Iterator

from regard.data.captioned import Captioned
from regard.data.dataset import Dataset, File
from regard.data.errors import DataError
from regard.data.fetch import get
from regard.data.rows import lines
from regard.data.tarred import Tarred

LISTS = {"train": "Flickr_8k.trainImages.txt", "val": "Flickr_8k.devImages.txt", "test": "Flickr_8k.testImages.txt"}

# fmt: off
DATASET = Dataset(
    name="flickr8k",
    kind="text",
    about="photographs of people and dogs doing things, five captions each; the short side is 128 (Hodosh 2013)",
    terms="research and education, not commercial",
    home="https://hockenmaier.cs.illinois.edu/Framing_Image_Description",
    languages=("en",),
    splits={"train": 30_000, "val": 5_000, "test": 5_000},  # captions; photographs in none of the lists are left out
    files=(
        File("images.tar", 54_333_440, "51e768749dbee21c15b1f8cacf217e38f314dfb7efa2b311e6963a70327a8adb"),
        File("Flickr8k.token.txt.gz", 868_614, "ef73541bfee443d3304d477081b3a10301bfef2263b65e76c2eaa289a6b11ae1"),
        File("Flickr_8k.trainImages.txt", 154_678, "e330ddd5156a4c2d2e2b67bc587e70e588f2d132bd8a10dc54dcb71e58115d8e"),
        File("Flickr_8k.devImages.txt", 25_801, "18ba829f47f6df1cb830bf7f0506e2ddf333818925299babbd1bbcaf50fdc504"),
        File("Flickr_8k.testImages.txt", 25_775, "c0924146c131458ceba45da59670fe9520eadce1e5cafffa16a817672a9b1f17"),
    ),
)
# fmt: on


def read(split: str) -> Iterator[str]:
    """Captions, one a line."""
    return (f"{caption}\n" for captions in documents(split) for caption in captions)


def documents(split: str) -> Iterator[list[str]]:
    """The captions of one photograph after another, in the order of the list of the split."""
    return (captions for _, captions in _rows(split))


def captioned(split: str) -> Captioned:
    """The photographs of a split, each with its captions, as people write them: no space and no full stop behind."""
    rows = list(_rows(split))
    names = tuple(name for name, _ in rows)
    (images,) = get(DATASET, ["images.tar"])
    tidy = tuple(tuple(caption.rstrip(" .") for caption in captions) for _, captions in rows)
    return Captioned(tidy, Tarred.of(images, names), names)


def _rows(split: str) -> Iterator[tuple[str, list[str]]]:
    """The name of each photograph of a split and its captions as they are published."""
    tokens, names = get(DATASET, ["Flickr8k.token.txt.gz", LISTS[split]])
    captions: dict[str, list[str]] = {}
    for number, line in enumerate(lines(tokens), start=1):
        photo, mark, caption = line.partition("\t")
        if not mark:
            raise DataError(f"{tokens}, line {number} has no tab between photograph and caption; fetch it again")
        captions.setdefault(photo.partition("#")[0], []).append(caption.strip())
    return ((name.strip(), captions[name.strip()]) for name in lines(names) if name.strip())
