"""The masked autoencoder as Hugging Face keeps it: a ViT that sees a part of the patches, and its decoder (He 2022)."""

from collections.abc import Mapping, Set
from typing import Any

from regard.hub.gate import CheckpointError
from regard.hub.tables import vit
from regard.hub.tables.picture import Picture
from regard.hub.tables.rules import Rule, alias, same, squeezed
from regard.hub.tables.table import Table
from regard.models.mae import FAMILY, Config
from regard.text import Tokenizer

ARCHITECTURE = "ViTMAEForPreTraining"
_DECODER = {
    "width": ("decoder_hidden_size", 512),
    "depth": ("decoder_num_hidden_layers", 8),
    "heads": ("decoder_num_attention_heads", 16),
    "hidden": ("decoder_intermediate_size", 2048),
    "masked": ("mask_ratio", 0.75),
    "normalized": ("norm_pix_loss", False),
}
_TOWER = Picture(
    "masked autoencoder",
    "vit_mae",
    "ViTMAE",
    vit.SIZES,
    vit.PLAIN,
    ("attention_probs_dropout_prob",),
    fixed=vit.FIXED,
    without_effect={theirs for theirs, _ in _DECODER.values()},
    classifiers=("ForPreTraining",),
)


def _layers() -> tuple[Rule, ...]:
    """The blocks of the decoder; some versions of `transformers` write them under a second name."""
    known = [rule.within("decoder.decoder_layers.{i}", "decoder.blocks.{i}") for rule in vit.LAYER]
    other = [alias(each.theirs.replace("decoder_layers", "decoder_encoder.layer"), each.ours[0]) for each in known]
    return (*known, *other)


RULES = (
    *(Rule(rule.kind, rule.theirs, tuple(f"tower.{name}" for name in rule.ours)) for rule in vit.rules("vit")),
    same("decoder.decoder_embed.{p}", "decoder.embed.{p}"),
    same("decoder.mask_token", "decoder.mask"),
    squeezed("decoder.decoder_pos_embed", "decoder.position.table"),
    *_layers(),
    same("decoder.decoder_norm.{p}", "decoder.norm.{p}"),
    same("decoder.decoder_pred.{p}", "decoder.paint.{p}"),
)


def _config(given: Mapping[str, Any], _: Set[str]) -> dict[str, Any]:
    """Our fields for their config.json; their positions are a table, although they were waves once."""
    if (said := given.get("architectures")) not in (None, [ARCHITECTURE]):
        wrong = f"architectures is {str(said)[:60]}; known is {ARCHITECTURE}"
        raise CheckpointError(f"this {_TOWER.title} is not supported: {wrong}")
    decoder = {ours: given.get(theirs, default) for ours, (theirs, default) in _DECODER.items()}
    return {"tower": {**_TOWER.config(given), "classes": 0}, **decoder, "ground": False}


def _to_json(given: Config, tokenizer: Tokenizer | None) -> dict[str, Any]:
    decoder = {theirs: getattr(given, ours) for ours, (theirs, _) in _DECODER.items()}
    return {**_TOWER.to_json(given.tower, tokenizer), **decoder, "architectures": [ARCHITECTURE]}


def _fits(given: Config) -> bool:
    """Whether theirs can be this one: waves are a table there, which ours does not keep."""
    return vit.fits(given.tower) and not given.ground


TABLE = Table(
    "vit_mae",
    FAMILY,
    RULES,
    _config,
    _to_json,
    lambda _, found: found,
    {"task": "features"},
    fits=_fits,
)
