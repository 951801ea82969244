"""Two ways to go on with a text, of which one is right: four tasks for whoever can tell what is likely."""

from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

from regard.claims.writing import Text
from regard.world.language import Clause, Entity, grammar, nexts, reports, sentences, stories
from regard.world.language.reports import BAD, GOOD

_PRONOUNS = (("he", "she", "it"), ("him", "her", "it"))  # of a subject, and of others
_SAID = (1, 2, 3, 4, 6, 7, 8, 9, 11)  # qualities that are said in training by plain “was”


class Choice(NamedTuple):
    """A beginning, and two ways to go on with it."""

    begin: Text
    right: Text
    wrong: Text


def agreement() -> Iterator[Choice]:
    """The verb as it is, or as it would be for one instead of several, or several instead of one."""
    say = grammar("en")
    for one in sentences("en", split="test"):
        clause = one.meaning.body
        if one.meaning.question or not isinstance(clause, Clause) or not isinstance(clause.subject, Entity):
            continue
        turned = clause._replace(subject=clause.subject._replace(number=0 if clause.subject.number == 1 else 1))
        tokens = say(one.meaning._replace(body=turned))
        mine = [i for i, tag in enumerate(one.tags) if tag in ("VBZ", "VBP")]
        other = [word for word, _, tag in tokens if tag in ("VBZ", "VBP")]
        if len(mine) == len(other) == 1 and other[0] != one.words[mine[0]]:
            before, verb, rest = one.words[: mine[0]], one.words[mine[0]], one.words[mine[0] + 1 :]
            yield Choice(before, (verb, *rest), (other[0], *rest))


def pronoun() -> Iterator[Choice]:
    """A pronoun of a story, or another of the same case and number."""
    chance = Random(0)
    for story in stories(split="test"):
        for (sentence, place), _ in story.antecedents:
            said = story.sentences[sentence]
            alike = _PRONOUNS[0 if place == 0 else 1]  # a subject stands first
            if said[place] in alike:
                before = tuple(word for each in story.sentences[:sentence] for word in each) + said[:place]
                other = chance.choice([each for each in alike if each != said[place]])
                rest = said[place + 1 :]
                yield Choice(before, (said[place], *rest), (other, *rest))


def next_sentence() -> Iterator[Choice]:
    """The sentence that follows, or one of another story."""
    items = nexts(split="test")
    follow, strange = (one for one in items if one.follows), (one for one in items if not one.follows)
    for one, other in zip(follow, strange, strict=False):
        yield Choice(tuple(word for sentence in one.story for word in sentence), one.sentence, other.sentence)


def verdict() -> Iterator[Choice]:
    """Behind a report and “but” stands the opposite: a bad word if the report was good, a good one if it was bad."""
    chance = Random(0)
    for report in reports(split="test"):
        if "," in report.words:  # two halves, of which one contradicts the other already
            continue
        subject = next(after for word, after in zip(report.words, report.words[1:], strict=False) if word == "the")
        free = [i for i in _SAID if GOOD[i] not in report.words and BAD[i] not in report.words]
        i = chance.choice(free)
        begin = (*report.words[:-1], ",", "but", "the", subject, "was")
        good, bad = (GOOD[i],), (BAD[i],)
        yield Choice(begin, bad, good) if report.label == "positive" else Choice(begin, good, bad)


CHOICES: dict[str, Callable[[], Iterator[Choice]]] = {
    "agreement": agreement,
    "pronoun": pronoun,
    "next sentence": next_sentence,
    "good or bad": verdict,
}
