"""Phrases of film reviews that praise or blame (Socher 2013, in the form of GLUE, Wang 2019)."""

from regard.data.dataset import Dataset, File
from regard.data.fetch import get
from regard.data.rows import Columns, table

DATASET = Dataset(
    name="sst2",
    kind="labels",
    about="phrases of film reviews that praise or blame (Socher 2013, in the form of GLUE, Wang 2019)",
    terms="research",
    home="https://gluebenchmark.com/tasks",
    languages=("en",),
    splits={"train": 60_614, "val": 6_735, "test": 872},
    # Of GLUE's two files with labels, the training phrases are divided, and the validation sentences are the test.
    files=(
        File("train.tsv.gz", 1_296_278, "6ca4e5263d501878f4d62f077157b7bb7d9963542c55bc6800442efc42ffa92e"),
        File("dev.tsv.gz", 147_268, "154c711e8e71f1bb16d35f7cf2d0fe802da59a499d45cb421626abbc621e394c"),
        File("test.tsv.gz", 38_131, "19553efc6f7bac0b7fdd37d4e29dc37c15e9e779767249a16f857fbfcedb23fa"),
    ),
)


def read(split: str) -> list[tuple[tuple[str], str]]:
    (path,) = get(DATASET, [f"{'dev' if split == 'val' else split}.tsv.gz"])
    return [((text.strip(),), label) for text, label in table(path, Columns(0, 1, header=True))]
