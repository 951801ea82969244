"""How well a parser parses: the phrases that two trees of a sentence share (PARSEVAL; Black 1991, Collins 1997)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from regard.world.language import Tree, leaves

ROOTS = frozenset({"TOP", "ROOT"})  # a label that every tree has says nothing
PUNCTUATION = frozenset({",", ":", "``", "''", "."})  # tags; where such a word hangs is a matter of taste

Phrase = tuple[str, int, int]  # its label, and the places of its first word and behind its last


@dataclass(frozen=True, slots=True)
class Score:
    """Percentages over a corpus."""

    precision: float  # of the phrases that were found, those that are right
    recall: float  # of the right phrases, those that were found
    exact: float  # of the sentences, those with all phrases right and no other
    tags: float  # of the words, those whose tag is right
    count: int  # sentences

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def parseval(found: Sequence[Tree], right: Sequence[Tree]) -> Score:
    """Compare trees as evalb does: tags are no phrases, and punctuation is taken out before words are counted.

    What is punctuation, the right tree says. Unlike evalb, ADVP and PRT are two labels.
    """
    if len(found) != len(right) or not right:
        raise ValueError(f"{len(found)} trees cannot be compared with {len(right)}; give one for each, 1 or more")
    shared = told = known = exact = tagged = words = 0
    for number, (one, other) in enumerate(zip(found, right, strict=True)):
        if leaves(one) != leaves(other):
            raise ValueError(
                f"trees {number} stand over different words, {' '.join(leaves(one))!r} and {' '.join(leaves(other))!r}"
            )
        theirs, ours = list(_tags(other)), list(_tags(one))
        kept = [tag not in PUNCTUATION for tag in theirs]
        a, b = phrases(one, kept), phrases(other, kept)
        shared, told, known = shared + (a & b).total(), told + a.total(), known + b.total()
        exact += a == b
        tagged += sum(tag == wanted for tag, wanted in zip(ours, theirs, strict=True))
        words += len(theirs)
    # A corpus without phrases, all of whose words hang on the root, is parsed right by finding none.
    precision, recall = (100 * shared / count if count else 100.0 for count in (told, known))
    return Score(precision, recall, 100 * exact / len(right), 100 * tagged / words, len(right))


def phrases(tree: Tree, kept: Sequence[bool] | None = None) -> Counter[Phrase]:
    """The phrases of a tree, without its tags; places count the words that are kept, and all where nothing is said."""
    found: list[Phrase] = []
    places = [0]
    for keep in [True] * len(leaves(tree)) if kept is None else kept:
        places.append(places[-1] + keep)
    _collect(tree, 0, places, found)
    return Counter(found)


def _collect(tree: Tree, start: int, places: list[int], found: list[Phrase]) -> int:
    """Add the phrases of a tree that begins at a word; the place of the word behind it."""
    end = start
    for child in tree.children:
        end = end + 1 if isinstance(child, str) else _collect(child, end, places, found)
    tag = len(tree.children) == 1 and isinstance(tree.children[0], str)
    if not tag and tree.label not in ROOTS and places[start] < places[end]:
        found.append((tree.label, places[start], places[end]))
    return end


def _tags(tree: Tree) -> Iterator[str]:
    """The tag of each word; where a word hangs on a phrase without one, nothing."""
    alone = len(tree.children) == 1
    for child in tree.children:
        if isinstance(child, str):
            yield tree.label if alone else ""
        else:
            yield from _tags(child)
