"""Articles of a Wikipedia dump as plain text: streamed page by page, without XML, templates, tables and links."""

import re
from collections.abc import Iterator
from html import unescape

from regard.data.sentences import sentences

FEWEST = 4  # words of a sentence that is kept; shorter ones are names and remains of lists
LONGEST = 2**21  # characters of a page
MARKS = ("*", "#", ":", ";", "=", "|", "!", "{", "}", " ", "-")  # with which lines begin that are no paragraphs

# Pages of these are about pages, not about the world.
ASIDE = re.compile(
    r"(?:Talk|User|User talk|Wikipedia|Wikipedia talk|Image|Image talk|File|File talk|MediaWiki|MediaWiki talk|Template"
    r"|Template talk|Help|Help talk|Category|Category talk|Portal|Portal talk|Media|Special|Module|Draft):"
)
_REDIRECT = re.compile(r"\s*#\s*redirect", re.IGNORECASE)
_TEXT = re.compile(r"<text[^>]*?(/?)>")
# Where a region begins that goes with all it holds.
_OPEN = re.compile(
    r"<(?:(!--)|(ref|math|gallery|timeline|nowiki|pre|code|source|table|imagemap|hiero)\b[^<>]*?(/?)>)", re.IGNORECASE
)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_TEMPLATE = re.compile(r"\{\{[^{}]*\}\}")
_TABLE = re.compile(r"\{\|(?:(?!\{\||\|\}).)*\|\}", re.DOTALL)
_ASIDE_LINK = re.compile(r"\[\[\s*(?:(?i:Image|File|Category|Media)|[a-z]{2,3}(?:-[a-z]+)*|simple)\s*:")
_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)*([^\[\]|]*)\]\]")
_ADDRESS = re.compile(r"\[(?:https?|ftp)://\S+?(?:\s+([^\[\]]*))?\]")
_BARE = re.compile(r"(?:https?|ftp)://\S+")
_QUOTES = re.compile(r"'{2,}")
_EMPTY = re.compile(r"\(\s*[,;:]*\s*\)")
_SPACE = re.compile(r"\s+")
_BEFORE = re.compile(r" +([,.;:!?)])")


def articles(lines: Iterator[str]) -> Iterator[list[str]]:
    """The articles of a dump, each as its sentences; redirects, talk and pages that do not end are left out."""
    for title, markup in pages(lines):
        if not ASIDE.match(title) and not _REDIRECT.match(markup):
            found = [each for line in plain(markup) for each in sentences(line) if each.count(" ") + 1 >= FEWEST]
            if len(found) > 1:
                yield found


def pages(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    """The title and the wiki markup of each page."""
    title, inside, size, begun = "", list[str](), 0, False
    for line in lines:
        if not begun:
            if "<title>" in line:
                title = unescape(line.partition("<title>")[2].partition("</title>")[0])
            begin = _TEXT.search(line)
            if begin is None or begin.group(1):
                continue
            begun, inside, size, line = True, [], 0, line[begin.end() :]
        here, end, _ = line.partition("</text>")
        size += len(here)
        if size <= LONGEST:
            inside.append(here)
        if end:
            yield title, unescape("\n".join(inside))
            begun = False


def plain(markup: str) -> list[str]:
    """The paragraphs of wiki markup; headings, lists, tables and templates are left out."""
    text = _TAG.sub("", _without_regions(unescape(markup).replace("\xa0", " ")))
    for pattern in (_TEMPLATE, _TABLE):  # from the innermost outwards
        for _ in range(12):
            text, count = pattern.subn("", text)
            if not count:
                break
    text = _ADDRESS.sub(lambda match: match.group(1) or "", text)
    for _ in range(3):  # a picture's caption has links of its own
        text = _LINK.sub(_named, text)
    text = _BARE.sub("", text)
    text = _EMPTY.sub("", _QUOTES.sub("", text))
    paragraphs = (line.strip() for line in text.split("\n") if not line.startswith(MARKS))
    return [_BEFORE.sub(r"\1", _SPACE.sub(" ", line)) for line in paragraphs if line]


def _without_regions(text: str) -> str:
    """The text without comments, references, formulas and the like; a region that never ends is left as it is."""
    kept, place, endless = list[str](), 0, set[str]()
    for begin in _OPEN.finditer(text):
        comment, tag, closed = begin.groups()
        close = "-->" if comment else rf"</{tag.lower()}\s*>"
        if begin.start() < place or close in endless:
            continue
        end = begin if closed else re.compile(close, re.IGNORECASE).search(text, begin.end())
        if end is None:
            endless.add(close)  # so that nobody looks for it twice
            continue
        kept.append(text[place : begin.start()])
        place = end.end()
    return "".join((*kept, text[place:]))


def _named(link: re.Match[str]) -> str:
    """What a link shows; those to pictures, categories and other languages show nothing."""
    return "" if _ASIDE_LINK.match(link.group()) else link.group(1)
