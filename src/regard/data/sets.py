"""The named data sets: what they are, on which terms, where they live, and how each file is recognised."""

from dataclasses import dataclass

RAW = "https://raw.githubusercontent.com"


@dataclass(frozen=True, slots=True)
class File:
    """A file as its home publishes it."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Dataset:
    """A set of sentences that has a name. `splits` says how many each has, or how many pairs; None is without end."""

    name: str
    about: str
    terms: str
    home: str
    languages: tuple[str, ...]
    splits: dict[str, int | None]
    files: tuple[File, ...] = ()
    folder: str = ""  # the address that file names are appended to; none where the home has another form

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    def file(self, name: str) -> File:
        """One of its files."""
        found = next((file for file in self.files if file.name == name), None)
        if found is None:
            raise ValueError(f"{self.name} has no file {name!r}; it has {', '.join(f.name for f in self.files)}")
        return found


# fmt: off
_MULTI30K = (
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
_TATOEBA = (
    File(
        "tatoeba-test-v2023-09-26.eng-ita.txt.gz",
        627_470,
        "5923032e65cee2cfb6778d7d8c8fc1ffe87020d606b1ccf762066503ce2b1f2e",
    ),
)
# Of GLUE's two files with labels, the training phrases are divided, and the validation sentences are the test.
_SST2 = (
    File("train.tsv.gz", 1_296_278, "6ca4e5263d501878f4d62f077157b7bb7d9963542c55bc6800442efc42ffa92e"),
    File("dev.tsv.gz", 147_268, "154c711e8e71f1bb16d35f7cf2d0fe802da59a499d45cb421626abbc621e394c"),
    File("test.tsv.gz", 38_131, "19553efc6f7bac0b7fdd37d4e29dc37c15e9e779767249a16f857fbfcedb23fa"),
)

SETS = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            "multi30k",
            "captions of photographs in English, German, French and Czech (Elliott 2016)",
            "research; the captions describe Flickr30k images",
            "https://github.com/multi30k/dataset",
            ("en", "de", "fr", "cs"),
            {"train": 29_000, "val": 1_014, "test_2016_flickr": 1_000, "test_2017_flickr": 1_000},
            _MULTI30K,
            f"{RAW}/multi30k/dataset/master/data/task1/raw",
        ),
        Dataset(
            "tatoeba-en-it",
            "everyday sentences in English and Italian (Tiedemann 2020, the test file of v2023-09-26)",
            "CC BY 2.0 FR",
            "https://github.com/Helsinki-NLP/Tatoeba-Challenge",
            ("en", "it"),
            {"train": 26_254, "val": 1_435, "test": 1_523},  # by `regard.data.divide`
            _TATOEBA,
            f"{RAW}/Helsinki-NLP/Tatoeba-Challenge/master/data/release/test/v2023-09-26",
        ),
        Dataset(
            "world",
            "sentences of the embedded little world, made as they are asked for",
            "as regard itself",
            "regard.world.language",
            ("en", "de", "it", "cs"),
            {"train": None, "test": None},
        ),
        Dataset(
            "sst2",
            "phrases of film reviews that praise or blame (Socher 2013, in the form of GLUE, Wang 2019)",
            "research",
            "https://gluebenchmark.com/tasks",
            ("en",),
            {"train": 60_614, "val": 6_735, "test": 872},
            _SST2,
        ),
    )
}


def find(name: str) -> Dataset:
    """The set of a name."""
    if name not in SETS:
        raise ValueError(f"no data set is called {name!r}; choose {', '.join(SETS)}")
    return SETS[name]
