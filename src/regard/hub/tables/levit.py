"""LeViT as Hugging Face keeps it: bare, with one classifier, or with that of a teacher beside it (Graham 2021).

Theirs has layers in a row where ours has blocks: an attention and an MLP each, and an attention that shrinks the map
and its MLP where a stage ends.
"""

from collections.abc import Mapping, Sequence, Set
from typing import Any

from regard.hub.gate import listed
from regard.hub.tables.picture import CLASSIFIER, Picture, task_by_classes
from regard.hub.tables.rules import Rule, ignored, same
from regard.hub.tables.table import Table
from regard.models.levit import FAMILY, STEM, Config
from regard.text import Tokenizer

STAGES = 3  # theirs can have no other number
TAUGHT = "ForImageClassificationWithTeacher"

PICTURE = Picture(
    "LeViT",
    "levit",
    "Levit",
    sizes={
        "size": ("image_size", 224),
        "channels": ("num_channels", 3),
        "widths": ("hidden_sizes", [128, 256, 384]),
        "depths": ("depths", [4, 4, 4]),
        "heads": ("num_attention_heads", [4, 8, 12]),
        "drop_path": ("drop_path_rate", 0),
    },
    own={"value_ratio": 2, "expansion": 2},
    sides=("size",),
    fixed={
        "kernel_size": (3,),
        "stride": (2,),
        "padding": (1,),
        "patch_size": (2**STEM, [2**STEM, 2**STEM]),
        "mlp_ratio": ([2] * STAGES,),
        "attention_ratio": ([2] * STAGES,),
    },
    without_effect={"key_dim", "down_ops"},  # which are read apart
    classifiers=(CLASSIFIER, TAUGHT),
)


def _norm(theirs: str, ours: str) -> list[Rule]:
    """A linear map and its batch norm."""
    return [
        same(f"{theirs}.linear.weight", f"{ours}.linear.weight"),
        same(f"{theirs}.batch_norm.{{p}}", f"{ours}.norm.{{p}}"),
    ]


_MLP = (*_norm("linear_up", "mlp.0"), *_norm("linear_down", "mlp.2"))
_ATTENTION = (
    *_norm("queries_keys_values", "attn.qkv"),
    *_norm("projection", "attn.attn.out.1"),
    same("attention_biases", "attn.attn.bias.table"),
    ignored("attention_bias_idxs"),
)
_SHRINK = (
    *_norm("keys_values", "attn.kv"),
    *_norm("queries", "attn.q"),
    *_norm("projection", "attn.attn.out.1"),
    same("attention_biases", "attn.attn.bias.table"),
    ignored("attention_bias_idxs"),
)
_OTHERS: tuple[Rule, ...] = (
    *(
        rule
        for i in range(STEM)
        for rule in (
            same(f"levit.patch_embeddings.embedding_layer_{i + 1}.convolution.weight", f"stem.{2 * i}.0.weight"),
            same(f"levit.patch_embeddings.embedding_layer_{i + 1}.batch_norm.{{p}}", f"stem.{2 * i}.1.{{p}}"),
        )
    ),
    same("classifier.batch_norm.{p}", "head.0.{p}"),
    same("classifier.linear.{p}", "head.1.{p}"),
    same("classifier_distill.batch_norm.{p}", "teacher_head.0.{p}"),
    same("classifier_distill.linear.{p}", "teacher_head.1.{p}"),
)


def rules(fields: Mapping[str, Any], _: Mapping[str, Any]) -> Sequence[Rule]:
    """Which layer of theirs is which half of a block depends on how many there are before the map shrinks."""
    found = list(_OTHERS)
    for stage, depth in enumerate(fields["depths"]):
        layers = f"levit.encoder.stages.{stage}.layers"
        for i in range(depth):
            block = f"stages.{stage}.{i}"
            found += [rule.within(f"{layers}.{2 * i}.module", block) for rule in _ATTENTION]
            found += [rule.within(f"{layers}.{2 * i + 1}.module", block) for rule in _MLP]
        if stage + 1 < STAGES:
            found += [rule.within(f"{layers}.{2 * depth}", f"shrinks.{stage}") for rule in _SHRINK]
            found += [rule.within(f"{layers}.{2 * depth + 1}.module", f"shrinks.{stage}") for rule in _MLP]
    return found


def _config(given: Mapping[str, Any], _: Set[str]) -> dict[str, Any]:
    """Our fields for their config.json; every field is honoured or refused by its name."""
    keys, size = given.get("key_dim", [16] * STAGES), given.get("image_size", 224)
    problems = [
        f"{name} is {str(given[name])[:40]}, and only lists of {STAGES} are supported"
        for name in ("hidden_sizes", "depths", "num_attention_heads")
        if name in given and not _is_stages(given[name])
    ]
    if not _is_stages(keys) or len(set(map(str, keys))) > 1:
        problems.append(f"key_dim is {str(keys)[:40]}, and only lists of {STAGES} times the same are supported")
    if "down_ops" in given and not _shrinks_as_published(given):
        problems.append(f"down_ops is {str(given['down_ops'])[:60]}, and only what follows from key_dim is supported")
    if type(size) is int and size % 2**STEM:
        problems.append(f"image_size is {size}, and only multiples of {2**STEM} are supported")
    fields = PICTURE.config(given, problems)
    drop, taught = fields["drop_path"], PICTURE.head(given.get("architectures")) == TAUGHT
    return {
        **fields,
        "head_width": keys[0],
        "distilled": taught,
        "drop_path": float(drop) if type(drop) is int else drop,
    }


def _is_stages(value: object) -> bool:
    return isinstance(value, list) and len(value) == STAGES


def _shrinks_as_published(given: Mapping[str, Any]) -> bool:
    """Whether a file says of its shrinking attentions what `transformers` would take them for anyway."""
    try:
        key, widths = given.get("key_dim", [16])[0], given.get("hidden_sizes", [128, 256, 384])
        wanted = [["Subsample", key, width // key, 4, 2, 2] for width in widths[: STAGES - 1]]
        return given["down_ops"] in (wanted, [*wanted, [""]])
    except (TypeError, IndexError, ZeroDivisionError):
        return False


def _to_json(given: Config, tokenizer: Tokenizer | None) -> dict[str, Any]:
    """Their config.json for our config, or all that they have no field for."""
    wanted = {"value_ratio": 2, "expansion": 2}
    problems = [
        f"{name} is {getattr(given, name)} and must be {value}"
        for name, value in wanted.items()
        if getattr(given, name) != value
    ]
    if len(given.depths) != STAGES:
        problems.append(f"there are {len(given.depths)} stages and must be {STAGES}")
    if given.size % 2**STEM:
        problems.append(f"size is {given.size} and must be a multiple of {2**STEM}")
    if problems:
        raise ValueError(f"LeViT of Hugging Face has no such model: {listed(problems)}")
    about = PICTURE.to_json(given, tokenizer, TAUGHT if given.distilled else CLASSIFIER)
    # Their rate of dropping is a whole number, and so none; it is for training alone.
    return {**about, "key_dim": [given.head_width] * STAGES, "drop_path_rate": 0}


TABLE = Table("levit", FAMILY, rules, _config, _to_json, lambda _, found: found, task_by_classes, prefix="levit.")
