"""Draw a map of vectors in two or three dimensions: words, points of a table, or one word in many sentences.

What is near on a map by t-SNE or UMAP was near before; how far apart clusters are says little. PCA keeps the directions
of most variance. Under the map stand its facts: KL, the neighbours that it keeps, and trustworthiness. Without --out,
places are printed as lines.

    regard map vectors.txt --words king queen man woman --out words.svg
    regard map vectors.bin --count 1000 --how pca --dimensions 3 --out words.png
    regard map points.csv --perplexity 50 --out map.csv              numbers, with a label in each row or not
    regard map points.npy --labels names.txt --how umap --json
    regard map world-bert --sentences lines.txt --word bank --out bank.svg     a line may have a tab and a group

In the last form each point is one sentence: the state of the word after a layer (--layer) of the model.
"""

import csv
import io
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional, arg

from regard.cli.errors import UsageError
from regard.cli.load import load_model
from regard.names import Dtype

if TYPE_CHECKING:
    import numpy as np

    from regard.analysis.maps import Map, Quality
    from regard.words import Vectors

GROUP = "Look inside"

FORMATS = (".svg", ".png", ".csv")
AXES = "xyz"
GROUPS = 24  # labels that are told apart by colour; more of them are words


@dataclass(frozen=True, slots=True)
class Flags:
    source: Annotated[Positional[str], arg(metavar="FILE_OR_MODEL")]
    """A file of word vectors, a table of numbers (.npy, .csv, .tsv), or a model: a name, a folder or hub:owner/name."""
    how: Literal["pca", "tsne", "umap"] = "tsne"
    """The method; t-SNE is exact up to 5,000 points, and of more by openTSNE where it is installed."""
    words: tuple[str, ...] = ()
    """Of word vectors, the words to show; without them, the most frequent."""
    count: int = 500
    """Of word vectors, how many words to show where none are named."""
    dimensions: Literal[2, 3] = 2
    """Dimensions of the map."""
    perplexity: float = 30.0
    """How many neighbours a point has for t-SNE; one that is too large for the set is lowered."""
    neighbours: int = 15
    """How many neighbours a point has for UMAP."""
    seed: int = 0
    """Where chance begins; t-SNE and UMAP differ from seed to seed."""
    labels: Path | None = None
    """Of a table, a file with a label in each line."""
    sentences: Path | None = None
    """Of a model of texts, a file with a sentence in each line; a tab and the name of a group may follow."""
    word: tuple[str, ...] = ()
    """The word, or words, whose states in the sentences are shown."""
    layer: int = -1
    """The layer whose states are shown, counted from 0; -1 is the last."""
    dtype: Dtype = "float32"
    """Data type (dtype) of a model's weights."""
    out: Path | None = None
    """Where to write the map: a name that ends in .svg, .png or .csv."""
    json: bool = False
    """Print JSON: places, facts and quality."""


@dataclass(frozen=True, slots=True, eq=False)
class _Named:
    """Points, and what is known of each."""

    points: "np.ndarray"
    title: str
    words: Sequence[str] = ()
    groups: Sequence[str] = ()
    about: Sequence[str] = ()


def main(flags: Flags) -> None:
    """Make the map, and say how far it can be trusted."""
    if flags.out is not None and flags.out.suffix not in FORMATS:
        raise UsageError(f"--out {flags.out} has no format that is known; end it in {', '.join(FORMATS)}")
    if flags.out is not None and not flags.out.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {flags.out.absolute().parent}; make it, or write elsewhere by --out")
    given = _points(flags)
    from regard.analysis.maps import draw_map, quality
    from regard.progress import bar

    try:
        with bar(f"{flags.how} of {len(given.points):,} points") as progress:
            found = draw_map(
                given.points,
                flags.how,
                dimensions=flags.dimensions,
                perplexity=flags.perplexity,
                neighbours=flags.neighbours,
                seed=flags.seed,
                progress=progress,
            )
        measured = quality(given.points, found.places) if len(found) > 2 else None
    except ValueError as error:
        raise UsageError(str(error)) from None
    except ImportError as error:
        raise SystemExit(str(error)) from None
    if "lowered" in found.facts:
        print(f"regard: {found.facts['lowered']}", file=sys.stderr)
    caption = found.caption + (_says(measured) if measured else "")
    if flags.json:
        print(json.dumps(_facts(given, found, measured), ensure_ascii=False))
    elif flags.out is None:
        print(_lines(given, found), end="")
        print(f"regard: {caption}", file=sys.stderr)
    if flags.out is not None:
        _write(flags.out, given, found, caption)
        if not flags.json:
            print(f"{flags.out}: {len(found):,} points, {caption}")


def _points(flags: Flags) -> _Named:
    from regard.data.errors import DataError

    suffix = Path(flags.source).suffix.lower()
    contextual = flags.sentences is not None or flags.word
    try:
        if suffix in (".csv", ".tsv") or (suffix == ".npy" and not flags.words and _is_table(flags.source)):
            if flags.words or contextual:
                raise UsageError(f"{flags.source} is a table of points; --words, --word and --sentences are for models")
            return _table(flags)
        if flags.labels is not None:
            raise UsageError(f"--labels names the rows of a table, and {flags.source} is none; leave it out")
        from regard.words.files import find_vectors, read_vectors

        if find_vectors(flags.source) is not None:
            vectors = read_vectors(flags.source)
        else:
            pipeline: Any = load_model(flags.source, dtype=flags.dtype)
            if pipeline.task != "words":
                return _contexts(flags, pipeline)
            from regard.words import Vectors

            vectors = Vectors.of(pipeline.checkpoint)
        if contextual:
            raise UsageError(f"{vectors.name} has one vector a word in any sentence; choose by --words which to show")
        return _vectors(flags, vectors)
    except DataError as error:
        raise UsageError(str(error)) from None
    except ValueError as error:  # of strangers' files, and CheckpointError
        raise UsageError(str(error)) from None


def _is_table(path: str) -> bool:
    """Whether an array has no list of words beside it, as vectors have."""
    return not any(Path(path).with_suffix(ending).exists() for ending in (".txt", ".json", ".vocab"))


def _table(flags: Flags) -> _Named:
    from regard.data.points import read_points

    found = read_points(flags.source, flags.labels)
    repeated = len(set(found.labels)) <= min(GROUPS, len(found.labels) // 2)
    groups, words = (found.labels, ()) if repeated else ((), found.labels)
    return _Named(found.points, Path(flags.source).stem, words, groups)


def _vectors(flags: Flags, vectors: "Vectors") -> _Named:
    import numpy as np

    if flags.count < 1 and not flags.words:
        raise UsageError(f"--count {flags.count} leaves no words to show; give 2 or more")
    words = list(dict.fromkeys(flags.words)) or list(vectors.first(flags.count).words)
    rows = np.asarray(vectors.matrix[vectors.rows(words)], np.float32)
    # Words are compared by directions alone, as by their cosines.
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return _Named(rows, f"{len(words):,} words of {vectors.name}", words)


def _contexts(flags: Flags, pipeline: Any) -> _Named:
    from regard.analysis.contexts import contexts
    from regard.progress import bar

    if flags.words:
        raise UsageError(f"{pipeline.name} gives a word a vector in each sentence; say --sentences FILE --word WORD")
    if pipeline.takes == "picture" or pipeline.tokenizer is None:
        raise UsageError(f"{pipeline.name} reads no texts, so that it has no words to show; choose a model of texts")
    if flags.sentences is None or not flags.word:
        raise UsageError(f"{pipeline.name} gives a word a vector in each sentence; say --sentences FILE --word WORD")
    lines, groups = _sentences(flags.sentences)
    with bar(f"reading {len(lines):,} sentences") as progress:
        found = contexts(
            pipeline.model,
            pipeline.tokenizer,
            lines,
            flags.word,
            layer=flags.layer,
            limit=pipeline.limit,
            lower=bool(pipeline.card.get("lower")),
            progress=progress,
        )
    named = [groups[each.sentence] for each in found.occurrences] if any(groups) else []
    kinds = named or ([each.word for each in found.occurrences] if len(flags.word) > 1 else [])
    near = [_beside(lines[each.sentence], each.first, each.last) for each in found.occurrences]
    about = [lines[each.sentence] for each in found.occurrences]
    said = " and ".join(f"“{word}”" for word in flags.word)
    return _Named(
        found.vectors, f"{said} in {len(lines):,} sentences, {pipeline.name}, {found.layer}", near, kinds, about
    )


def _sentences(path: Path) -> tuple[list[str], list[str]]:
    """The sentences of a file, and the group behind each, if any."""
    from regard.data.rows import lines

    rows = [line.partition("\t") for line in lines(path) if line.strip()]
    if not rows:
        raise UsageError(f"{path} has no sentences; write one in each line")
    return [row[0].strip() for row in rows], [row[2].strip() for row in rows]


def _beside(sentence: str, first: int, last: int) -> str:
    """A word and its neighbours, which tell its sense better than itself."""
    before, after = sentence[:first].split(), sentence[last:].split()
    return " ".join((*before[-1:], sentence[first:last], *after[:1]))


def _says(measured: "Quality") -> str:
    return (
        f"; {measured.preservation:.0%} of {measured.neighbours} nearest neighbours kept, trustworthiness "
        f"{measured.trustworthiness:.3f}"
    )


def _rows(given: _Named, found: "Map") -> list[dict[str, Any]]:
    """What is known of each point."""
    rows = []
    for i, place in enumerate(found.places.tolist()):
        row: dict[str, Any] = {axis: round(value, 5) for axis, value in zip(AXES, place, strict=False)}
        row |= {"label": given.words[i]} if given.words else {}
        row |= {"group": given.groups[i]} if given.groups else {}
        row |= {"text": given.about[i]} if given.about else {}
        rows.append(row)
    return rows


def _facts(given: _Named, found: "Map", measured: "Quality | None") -> dict[str, Any]:
    from regard.files import jsonable

    facts = {"title": given.title, "method": found.method, "facts": jsonable(dict(found.facts))}
    facts |= {"quality": jsonable(measured)} if measured else {}
    return facts | {"points": _rows(given, found)}


def _lines(given: _Named, found: "Map") -> str:
    return "".join("\t".join(str(value) for value in row.values()) + "\n" for row in _rows(given, found))


def _write(out: Path, given: _Named, found: "Map", caption: str) -> None:
    from regard.files import write

    if out.suffix == ".csv":
        rows, held = _rows(given, found), io.StringIO(newline="")
        table = csv.DictWriter(held, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
        write(out, held.getvalue())
        return
    from regard.analysis.maps.figure import draw, png, svg

    drawing = draw(
        found.places, words=given.words, groups=given.groups, about=given.about, title=given.title, caption=caption
    )
    write(out, svg(drawing) if out.suffix == ".svg" else png(drawing))
