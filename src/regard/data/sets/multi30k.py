"""Captions of photographs in four languages (Elliott 2016)."""

from regard.data.dataset import Dataset, File
from regard.data.fetch import get
from regard.data.rows import parallel

# fmt: off
FILES = (
    File("train.en.gz", 568_929, "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f"),
    File("train.de.gz", 637_044, "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6"),
    File("train.fr.gz", 604_242, "622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c"),
    File("train.cs.gz", 593_827, "a65adb8b32e3bc664f21ecba7a6e7f6950fd1f405e135f7c312faabdb6255077"),
    File("val.en.gz", 21_650, "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28"),
    File("val.de.gz", 24_681, "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a"),
    File("val.fr.gz", 23_001, "ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9"),
    File("val.cs.gz", 22_096, "b63226e05c4bd5dd6a42897d74b86a1b9d2c31498252c572b1ea7f7996927fcc"),
    File("test_2016_flickr.en.gz", 21_077, "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9"),
    File("test_2016_flickr.de.gz", 22_890, "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8"),
    File("test_2016_flickr.fr.gz", 22_310, "6d326e188d259fb1d04ac19eae3af956559b3a0b93d7635e56c90987c40c8b90"),
    File("test_2016_flickr.cs.gz", 22_572, "200a4a74cc9560f051924abb9803be008d1908d77f747e9141aeb86dfd2797f1"),
    File("test_2017_flickr.en.gz", 19_138, "76a444ee25172e72695cddb13ae4a3bda59430617be88e0bb46b60504f054074"),
    File("test_2017_flickr.de.gz", 21_471, "a2c89666db00c495cd8513b9d708d5a3acc205d7de312ef2bf5fb7ebc1540aee"),
    File("test_2017_flickr.fr.gz", 20_434, "3ba671ceb2299f3304ffafefea7a833d08632fbaf0ba18546f8a2ec2391af496"),
)
# fmt: on
DATASET = Dataset(
    name="multi30k",
    kind="pairs",
    about="captions of photographs in English, German, French and Czech (Elliott 2016)",
    terms="research; the captions describe Flickr30k images",
    home="https://github.com/multi30k/dataset",
    languages=("en", "de", "fr", "cs"),
    splits={"train": 29_000, "val": 1_014, "test_2016_flickr": 1_000, "test_2017_flickr": 1_000},
    files=FILES,
    folder="https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw",
)


def read(split: str, source: str, target: str) -> list[tuple[str, str]]:
    return parallel(*get(DATASET, [f"{split}.{source}.gz", f"{split}.{target}.gz"]))
