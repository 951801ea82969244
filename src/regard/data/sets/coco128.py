"""A few photographs of COCO 2017 with boxes and masks of what is on them (Lin 2014)."""

from regard.data.annotated import Detections, Marked
from regard.data.coco import read_coco
from regard.data.dataset import Dataset, File
from regard.data.fetch import get
from regard.data.tarred import Tarred

# fmt: off
DATASET = Dataset(
    name="coco128",
    kind="boxes",
    about="photographs of COCO 2017 with boxes and masks of 80 kinds of things, at most 480 pixels wide (Lin 2014)",
    terms="annotations CC BY 4.0; photographs: the licence that the JSON names",
    home="https://cocodataset.org",
    splits={"train": 100, "val": 100},
    files=(
        File("images.tar", 8_499_200, "2c9e0d7589c952e45c85c5868430d2415091b39cf32629bc00f27f7ae1109a67"),
        File("instances.json.gz", 326_712, "ec89cf734f6b4dd1e362d6c88e2329cde4c55b9a06cb500ecc7ce55033c56271"),
    ),
)
# fmt: on


def detections(split: str) -> Detections:
    """The photographs of a split, and what is marked in them."""
    images, annotations = get(DATASET)
    found = read_coco(annotations)
    rows = [row for row, record in enumerate(found.records) if record["split"] == f"{split}2017"]
    names = tuple(found.names[row] for row in rows)
    return Detections(found.labels, Tarred.of(images, names), Marked([found.objects[row] for row in rows]), names)
