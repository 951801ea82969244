"""What the tables of models of pictures share: a config.json that says sizes, and whether there is a classifier.

Theirs are `…ForImageClassification`, or the bare `…Model`, whose pooler nothing of ours reads.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from regard.hub.gate import CheckpointError, listed
from regard.hub.tables.encoder import FIXED, WITHOUT_EFFECT
from regard.hub.tables.table import find_problems
from regard.text import Tokenizer

CLASSIFIER, BARE = "ForImageClassification", "Model"
TASKS = {True: "recognize", False: "features"}  # with classes and without


@dataclass(frozen=True, slots=True)
class Picture:
    """How one kind of model of pictures is described, there and here."""

    title: str  # what errors call it
    model_type: str
    stem: str  # of the names of their classes
    # Their fields for ours, and what `transformers` takes for one that a file leaves out.
    sizes: Mapping[str, tuple[str, Any]]
    own: Mapping[str, Any] = field(default_factory=dict)  # fields of ours that are always the same there
    same_as_dropout: tuple[str, ...] = ()  # their fields that must say the same as that of `dropout`
    sides: tuple[str, ...] = ("size", "patch")  # our fields that theirs may say for height and width apart
    fixed: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    without_effect: Set[str] = frozenset()
    classifiers: tuple[str, ...] = (CLASSIFIER,)  # the ends of the names of classes that have one

    def config(self, given: Mapping[str, Any], problems: Sequence[str] = ()) -> dict[str, Any]:
        """Our fields for their config.json; every field is honoured or refused by its name, as are other `problems`."""
        known = {name for name, _ in self.sizes.values()} | {*self.same_as_dropout}
        known |= {"architectures", "id2label", "num_labels", "_num_labels"} | WITHOUT_EFFECT | self.without_effect
        found = [*problems, *find_problems(given, known, {**FIXED, **self.fixed})]
        fields = {ours: given.get(theirs, default) for ours, (theirs, default) in self.sizes.items()}
        for ours in self.sides:
            if isinstance(side := fields.get(ours), list) and len(set(map(str, side))) == 1:
                fields[ours] = side[0]
            elif isinstance(side, list):
                found.append(f"{self.sizes[ours][0]} is {str(side)[:40]}, and only squares are supported")
        for name in self.same_as_dropout:
            if (other := given.get(name, 0.0)) != fields["dropout"]:
                theirs = self.sizes["dropout"][0]
                found.append(f"{name} is {str(other)[:40]} and {theirs} {fields['dropout']}, and they must be the same")
        head, labels = self.head(given.get("architectures")), given.get("id2label")
        if head is None:
            choice = ", ".join(f"{self.stem}{end}" for end in (*self.classifiers, BARE))
            found.append(f"architectures is {str(given['architectures'])[:60]}; known are {choice}")
        if not isinstance(labels, dict | None):
            found.append(f"id2label is {str(labels)[:40]}, and no object")
        if found:
            raise CheckpointError(f"this {self.title} is not supported: {listed(found)}")
        classes = len(labels) if labels else given.get("num_labels", given.get("_num_labels", 2))
        return {**self.own, **fields, "classes": 0 if head == BARE else classes}

    def head(self, architectures: object) -> str | None:
        """The end of the name of their class; a file that says none is taken for the bare model."""
        if architectures is None:
            return BARE
        if not isinstance(architectures, list) or len(architectures) != 1:
            return None
        known = {f"{self.stem}{end}": end for end in (*self.classifiers, BARE)}
        return known.get(str(architectures[0]))

    def to_json(self, given: Any, _: Tokenizer | None, end: str = CLASSIFIER) -> dict[str, Any]:
        """Their config.json for our config."""
        names = {i: f"LABEL_{i}" for i in range(given.classes)}
        return {
            "model_type": self.model_type,
            "architectures": [f"{self.stem}{end if given.classes else BARE}"],
            **{theirs: getattr(given, ours) for ours, (theirs, _) in self.sizes.items()},
            **dict.fromkeys(self.same_as_dropout, getattr(given, "dropout", 0.0)),
            **{theirs: allowed[0] for theirs, allowed in self.fixed.items()},
            **({"id2label": names, "label2id": {name: i for i, name in names.items()}} if names else {}),
        }


def task_by_classes(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The card of a model of pictures: with classes it names what it sees."""
    return {"task": TASKS[bool(fields["classes"])]}
