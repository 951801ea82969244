"""Where sentences end, by rules that need no model."""

import re

# A mark, what closes behind it, a space, and what can begin a sentence.
_END = re.compile(r"""(?<=[.!?…])(["'”’»)\]]*)\s+(?=["'“‘«(\[]*[^\W_a-z])""")
# What has a full stop inside of a sentence: titles, months, Latin, initials.
_INSIDE = re.compile(
    r"(?:^|[\s(\"'“])(?:[A-Z]|[A-Z]\.[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Gen|Col|Lt|Sgt|Capt|Rev|Hon|Gov|Sen|Rep|Pres|No|"
    r"Vol|Fig|pp|p|ed|eds|cf|vs|viz|ca|c|b|d|r|fl|approx|est|Inc|Ltd|Co|Corp|Mt|Ft|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep"
    r"|Oct|Nov|Dec|i\.e|e\.g|etc|al|U\.S|U\.K|Bros|Univ|Dept)\.$"
)


def sentences(paragraph: str) -> list[str]:
    """The sentences of a paragraph, without the space around them."""
    found, start = list[str](), 0
    for match in _END.finditer(paragraph):
        part = paragraph[start : match.end(1)]
        if not _INSIDE.search(paragraph[max(start, match.start() - 12) : match.start()]):
            found.append(part.strip())
            start = match.end()
    found.append(paragraph[start:].strip())
    return [each for each in found if each]
