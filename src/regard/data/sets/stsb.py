"""Pairs of sentences, and how much they mean the same, from 0 to 5 (Cer 2017)."""

from regard.data.dataset import Dataset, File
from regard.data.fetch import get
from regard.data.rows import folds, lines

DATASET = Dataset(
    name="stsb",
    kind="similarity",
    about="pairs of sentences, and how much they mean the same, from 0 to 5 (Cer 2017)",
    terms="see its licence",
    home="http://ixa2.si.ehu.eus/stswiki/index.php/STSbenchmark",
    languages=("en",),
    splits={"train": 5_235, "val": 514, "test": 1_500},
    # The published training pairs are divided, so that no sentence is in train and val; the published dev is the test.
    files=(
        File("sts-train.csv.gz", 251_980, "d92d0c636b069c04b529979c731fbd7bb4ed069530758d6db09df209fa2a1b42"),
        File("sts-dev.csv.gz", 80_547, "abf194bec5bfca9ddefaa10a5f911a0f3d82b2c9ec5d12d1daedec5fd48a9339"),
    ),
)


def read(split: str) -> list[tuple[tuple[str, str], str]]:
    (path,) = get(DATASET, [f"sts-{'dev' if split == 'test' else 'train'}.csv.gz"])
    cells = [
        line.split("\t") for line in lines(path) if line
    ]  # tabs, whatever its name says; some rows have more cells
    found = [((row[5].strip(), row[6].strip()), row[4]) for row in cells]
    if split == "test":
        return found
    sides = folds([((0, first), (0, second)) for (first, second), _ in found])
    return [row for row, side in zip(found, sides, strict=True) if (side == "train") == (split == "train")]
