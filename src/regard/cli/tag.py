"""Tag the words of texts: names of people and places, parts of speech, or whatever the model has learnt.

Texts are arguments, or lines on standard input. Where tags such as B-PER and I-PER mark spans, these are printed, and
the tag of each word otherwise.

    regard tag --model hub:dslim/bert-base-NER "Karel and Mario live in Prague."
    regard tag --model runs/tag-0 --json < lines.txt
"""

import json
from dataclasses import dataclass
from typing import Annotated, Any

from tyro.conf import Positional, arg

from regard.cli.lines import Failure, print_answers
from regard.cli.load import load_model
from regard.files import jsonable
from regard.names import Dtype

GROUP = "Train and run"


@dataclass(frozen=True, slots=True)
class Flags:
    texts: Annotated[Positional[tuple[str, ...]], arg(metavar="TEXT")] = ()
    """What to tag; without it, standard input line by line."""
    model: str = ""
    """A name that `regard list zoo` shows, a folder, or hub:owner/name; the default tagger if left out."""
    words: bool = False
    """Print the tag of each word, also where tags mark spans."""
    dtype: Dtype = "float32"
    """Data type (dtype) of the weights; int8 is fastest on a CPU."""
    json: bool = False
    """Print JSON, one text a line: words and spans, each with its place in the text, and scores."""


def main(flags: Flags) -> None:
    """Print the spans or the tags of each text."""
    tag: Any = load_model(flags.model, task="tag", dtype=flags.dtype)
    from regard.analysis.spans import prefixed

    spans = prefixed(tag.labels) and not flags.words

    def show(text: str, found: Any) -> str:
        if flags.json:
            facts = {"error": found.reason} if isinstance(found, Failure) else jsonable(found)
            return json.dumps({"text": text, **facts}, ensure_ascii=False)
        if isinstance(found, Failure):
            return ""
        if spans:
            return ", ".join(f"{each.text} {each.label} {each.score:.0%}" for each in found.spans)
        return " ".join(f"{word.text}/{word.tag}" for word in found.words)

    print_answers(flags.texts, tag, show)
