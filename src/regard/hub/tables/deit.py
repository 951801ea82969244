"""DeiT as Hugging Face keeps it, with the classifier of its second token or without (Touvron 2021)."""

from collections.abc import Mapping, Set
from typing import Any

from regard.hub.tables import vit
from regard.hub.tables.picture import CLASSIFIER, Picture, task_by_classes
from regard.hub.tables.rules import same
from regard.hub.tables.table import Table
from regard.models.deit import FAMILY, Config
from regard.text import Tokenizer

TAUGHT = "ForImageClassificationWithTeacher"

PICTURE = Picture(
    "DeiT",
    "deit",
    "DeiT",
    vit.SIZES,
    vit.PLAIN,
    ("attention_probs_dropout_prob",),
    fixed=vit.FIXED,
    without_effect=vit.WITHOUT_EFFECT,
    classifiers=(CLASSIFIER, TAUGHT),
)


def _rules(fields: Mapping[str, Any], _: Mapping[str, Any]) -> Any:
    taught = fields["distilled"] == "averaged" and fields["classes"]
    return (
        *vit.rules("deit"),
        same("deit.embeddings.distillation_token", "distill"),
        same("cls_classifier.{p}" if taught else "classifier.{p}", "head.{p}"),
        same("distillation_classifier.{p}", "distill_head.{p}"),
    )


def _config(given: Mapping[str, Any], _: Set[str]) -> dict[str, Any]:
    fields = PICTURE.config(given)
    # The bare model is one whose second token no classifier reads.
    distilled = "averaged" if PICTURE.head(given.get("architectures")) == TAUGHT else "unread"
    return {**fields, "distilled": distilled}


def _to_json(given: Config, tokenizer: Tokenizer | None) -> dict[str, Any]:
    return PICTURE.to_json(given, tokenizer, TAUGHT if given.distilled == "averaged" else CLASSIFIER)


def _fits(config: Config) -> bool:
    """Whether transformers' DeiT can be this one: it always has the second token."""
    return vit.fits(config) and config.distilled != "none" and (config.distilled == "unread" or config.classes > 0)


TABLE = Table(
    "deit",
    FAMILY,
    _rules,
    _config,
    _to_json,
    lambda _, found: found,
    task_by_classes,
    lambda _: vit.unused("deit"),
    prefix="deit.",
    fits=_fits,
)
