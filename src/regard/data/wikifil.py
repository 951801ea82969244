"""A Wikipedia dump as words alone, small a–z and single spaces: the rules of Mahoney's `wikifil`, which made text8.

What a browser would show is kept: the text of links, captions, names of categories. Tables, templates, references,
addresses and links to other languages go; digits are spelt; redirects are left out, and every other letter is a space.
Here every page is a line of its own, so that no window of words reaches from one page into the next.
`regard.data.wiki` is the other reading of the same dump, as prose.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from regard import files
from regard.data.fetch import cache, get
from regard.data.stretch import Stretch
from regard.progress import Progress

FORMAT = 1  # rises with the rules, so that an older cleaning is not taken for theirs
BYTES = 100_000_000  # of enwik8, unpacked

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

_BEGIN = re.compile(r"<text[^>]*>")
_REDIRECT = re.compile("#redirect", re.IGNORECASE)
# The rules in their order: a pattern, and what is left in its place.
RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile("&amp;"), "&"),
    (re.compile("&lt;"), "<"),
    (re.compile("&gt;"), ">"),
    (re.compile("<ref[^<]*</ref>"), ""),
    (re.compile("<[^>]*>"), ""),  # tags
    (re.compile(r"\[http:[^\] ]*"), "["),  # an address, not what is shown for it
    (re.compile(r"\|(?:thumb|left|right|\d+px)", re.IGNORECASE), ""),  # how a picture is set
    (re.compile(r"\[\[image:[^\[\]]*\|", re.IGNORECASE), ""),  # a picture, not its caption
    (re.compile(r"\[\[category:([^|\]]*)[^\]]*\]\]", re.IGNORECASE), r"[[\1]]"),
    (re.compile(r"\[\[[a-z\-]*:[^\]]*\]\]"), ""),  # the same page in other languages
    (re.compile(r"\[\[[^|\]]*\|"), "[["),  # where a link leads, not what it says
    (re.compile(r"\{\{[^}]*\}\}"), ""),  # templates
    (re.compile(r"\{[^}]*\}"), ""),  # tables
    (re.compile(r"[\[\]]"), ""),
    (re.compile("&[^;]*;"), " "),  # characters by their names
)
# Letters of ASCII alone become small ones: the Kelvin sign is no k.
_SPELT = {ord(str(digit)): f" {name} " for digit, name in enumerate(DIGITS)} | {
    ord(letter.upper()): letter for letter in "abcdefghijklmnopqrstuvwxyz"
}
_OTHER = re.compile("[^a-z]+")


def words(markup: str) -> str:
    """The words of the markup of one page, as the dump writes it."""
    for pattern, left in RULES:
        markup = pattern.sub(left, markup)
    return _OTHER.sub(" ", markup.translate(_SPELT)).strip()


def pages(lines: Iterable[str]) -> Iterator[str]:
    """The words of each page of a dump that has any, in order; the dump is read line by line."""
    inside: list[str] | None = None
    for line in lines:
        if inside is None:
            begin = _BEGIN.search(line)
            if begin is None or begin.group().endswith("/>"):
                continue
            inside, line = [], line[begin.end() :]
        here, end, _ = line.partition("</text>")
        inside.append(here)
        if end:
            markup, inside = "\n".join(inside), None
            if not _REDIRECT.search(markup) and (found := words(markup)):
                yield found


def enwik8(progress: Progress = lambda _: None) -> Path:
    """enwik8 as words, a page a line: cleaned once, and kept in the cache from then on."""
    from regard.data.sets import SETS

    path = cache() / "data" / "enwik8" / f"words-{FORMAT}.txt"
    if path.is_file():
        return path
    (dump,) = get(SETS["enwik8"])
    with files.replacing(path) as beside, beside.open("w", encoding="ascii") as out:
        for line in pages(_told(Stretch(dump, 0, BYTES).lines(), progress)):
            out.write(line + "\n")
    progress(1.0)
    return path


def _told(lines: Iterable[str], progress: Progress) -> Iterator[str]:
    """The same lines; now and then somebody is told how far they have come."""
    read = 0
    for number, line in enumerate(lines):
        read += len(line) + 1
        if number % 10_000 == 0:
            progress(min(1.0, read / BYTES))
        yield line
