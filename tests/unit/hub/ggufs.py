"""GGUF files for tests, written byte by byte, so that they can be wrong in any way."""

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from gguf.quants import quantize
from torch import Tensor

from regard.models.llama import Llama

Row = tuple[str, Sequence[int], int, int]  # name, axes as the file has them, type, offset


def text(said: str | bytes) -> bytes:
    data = said.encode() if isinstance(said, str) else said
    return struct.pack("<Q", len(data)) + data


def value(given: Any) -> bytes:
    """A value behind the number of its type."""
    if isinstance(given, bytes):  # as it is
        return given
    if isinstance(given, bool):
        return struct.pack("<I?", 7, given)
    if isinstance(given, int):
        return struct.pack("<Ii", 5, given)
    if isinstance(given, float):
        return struct.pack("<If", 6, given)
    if isinstance(given, str):
        return struct.pack("<I", 8) + text(given)
    if isinstance(given[0], str):
        return struct.pack("<IIQ", 9, 8, len(given)) + b"".join(map(text, given))
    code, letter = (6, "f") if isinstance(given[0], float) else (5, "i")
    return struct.pack(f"<IIQ{len(given)}{letter}", 9, code, len(given), *given)


def written(
    keys: Sequence[tuple[str, Any]],
    rows: Sequence[Row],
    data: bytes,
    *,
    version: int = 3,
    counts: tuple[int, int] | None = None,
) -> bytes:
    tensors, many = counts or (len(rows), len(keys))
    head = b"GGUF" + struct.pack("<IQQ", version, tensors, many)
    head += b"".join(text(name) + value(each) for name, each in keys)
    for name, axes, kind, offset in rows:
        head += text(name) + struct.pack(f"<I{len(axes)}QIQ", len(axes), *axes, kind, offset)
    return head + bytes(-len(head) % 32) + data


def keys_of(one: Llama, architecture: str) -> dict[str, Any]:
    config = one.config
    head = config.width // config.heads if config.details.head_width is None else config.details.head_width
    sizes = {
        "block_count": config.depth,
        "context_length": config.context,
        "embedding_length": config.width,
        "feed_forward_length": config.hidden,
        "attention.head_count": config.heads,
        "attention.head_count_kv": config.groups,
        "attention.layer_norm_rms_epsilon": config.details.eps,
        "attention.key_length": head,
        "attention.value_length": head,
        "rope.freq_base": config.turn.base,
        "rope.dimension_count": head,
    }
    return {"general.architecture": architecture, **{f"{architecture}.{name}": each for name, each in sizes.items()}}


NAMES = {
    "embed": "token_embd",
    "norm": "output_norm",
    "to_vocab": "output",
    "attn.q": "attn_q",
    "attn.k": "attn_k",
    "attn.v": "attn_v",
    "attn.out": "attn_output",
    "attn.q_norm": "attn_q_norm",
    "attn.k_norm": "attn_k_norm",
    "attn_norm": "attn_norm",
    "mlp_norm": "ffn_norm",
    "mlp.gate": "ffn_gate",
    "mlp.up": "ffn_up",
    "mlp.down": "ffn_down",
}


def tensors_of(one: Llama, architecture: str) -> dict[str, np.ndarray[Any, Any]]:
    """The weights under llama.cpp's names; its Llama has the two channels of a pair side by side."""
    found = {}
    for name, tensor in one.state_dict().items():
        whole, _, last = name.rpartition(".")
        block, ours = "", whole
        if whole.startswith("decoder.blocks."):
            _, _, number, ours = whole.split(".", 3)
            block = f"blk.{number}."
        heads = {"attn.q": one.config.heads, "attn.k": one.config.groups}.get(ours)
        laid = beside(tensor, heads) if architecture == "llama" and heads else tensor
        found[f"{block}{NAMES[ours]}.{last}"] = laid.numpy()
    return found


def beside(x: Tensor, heads: int) -> Tensor:
    halves = x.reshape(heads, 2, x.shape[0] // heads // 2, *x.shape[1:])
    return halves.swapaxes(1, 2).reshape(x.shape)


def laid_out(
    tensors: Mapping[str, np.ndarray[Any, Any]], kinds: Mapping[str, gguf.GGMLQuantizationType] | None = None
) -> tuple[list[Row], bytes]:
    """Tensors one behind another, each in the type that is said or else float32."""
    rows, data = list[Row](), b""
    for name, numbers in tensors.items():
        kind = (kinds or {}).get(name, gguf.GGMLQuantizationType.F32)
        rows.append((name, numbers.shape[::-1], int(kind), len(data)))
        packed = quantize(np.ascontiguousarray(numbers), kind).tobytes()
        data += packed + bytes(-len(packed) % 32)
    return rows, data


def save(path: Path, one: Llama, architecture: str, more: Mapping[str, Any] | None = None) -> None:
    rows, data = laid_out(tensors_of(one, architecture))
    path.write_bytes(written([*(keys_of(one, architecture) | dict(more or {})).items()], rows, data))
