"""Photographs of people and dogs doing things, with five captions each (Hodosh 2013)."""

from collections.abc import Iterator

from regard.data.dataset import Dataset, File
from regard.data.errors import DataError
from regard.data.fetch import get
from regard.data.rows import lines

LISTS = {"train": "Flickr_8k.trainImages.txt", "val": "Flickr_8k.devImages.txt", "test": "Flickr_8k.testImages.txt"}

# fmt: off
DATASET = Dataset(
    name="flickr8k",
    kind="text",
    about="captions of photographs of people and dogs doing things, five a photograph (Hodosh 2013)",
    terms="research and education, not commercial",
    home="https://hockenmaier.cs.illinois.edu/Framing_Image_Description",
    languages=("en",),
    splits={"train": 30_000, "val": 5_000, "test": 5_000},  # captions; photographs in none of the lists are left out
    files=(
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
    tokens, names = get(DATASET, ["Flickr8k.token.txt.gz", LISTS[split]])
    captions: dict[str, list[str]] = {}
    for number, line in enumerate(lines(tokens), start=1):
        photo, mark, caption = line.partition("\t")
        if not mark:
            raise DataError(f"{tokens}, line {number} has no tab between photograph and caption; fetch it again")
        captions.setdefault(photo.partition("#")[0], []).append(caption.strip())
    return (captions[name.strip()] for name in lines(names) if name.strip())
