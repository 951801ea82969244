"""Folders of small encoders that have learnt nothing."""

from pathlib import Path
from typing import Any

from tests.unit.pipelines.encoders import bert, tokenizer_of

from regard.hub import save
from regard.models.bert import FAMILY


def encoder(folder: Path, head: Any, task: str, **card: object) -> str:
    """The folder of a BERT with a head, whose card names its task."""
    labels = card.get("labels")
    model = bert(head, classes=len(labels) if isinstance(labels, list) else 2)
    tokenizer = tokenizer_of(folder / "tokenizer")
    save(folder / task, model, family=FAMILY, card={"task": task, **card}, tokenizer=tokenizer)
    return str(folder / task)
