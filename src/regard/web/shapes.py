"""What the answers of several tasks are made of."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from regard.web.question import Picture, draw

if TYPE_CHECKING:
    from PIL import Image

    from regard.analysis.reading import Reading

Output = dict[str, Any]
Answered = tuple["Reading", Output]
LARGE = 1024  # pixels along the longer side of pictures that are open together


@contextmanager
def kept_output(model: Any) -> Iterator[list[Any]]:
    """What a model gives while the scope lasts, call by call."""
    found: list[Any] = []
    handle = model.register_forward_hook(lambda _, __, output: found.append(output))
    try:
        yield found
    finally:
        handle.remove()


def read_hypothesis(pipeline: Any, found: Any) -> Output:
    """One of the outputs of a search; the last of its pieces is the stop, where it came to it."""
    one = found.hypothesis
    ids = [*one.words, *([pipeline.stop] if one.finished or not one.words else [])]
    words = pipeline.tokenizer.words(ids)
    facts = {"text": found.text, "score": one.score, "log_prob": one.log_prob, "finished": one.finished}
    return facts | {"labels": list(words.pieces), "words": [list(span) for span in words.spans], "names": words.labels}


def open_small(pipeline: Any, picture: Picture) -> "Image.Image":
    """One of several pictures, no larger than it takes: a dozen of the largest would fill the memory."""
    return reduced(pipeline.open(draw(picture)))


def reduced(picture: "Image.Image") -> "Image.Image":
    """The picture itself, or a smaller copy of a large one."""
    if max(picture.size) <= LARGE:
        return picture
    found = picture.copy()
    found.thumbnail((LARGE, LARGE))
    return found
