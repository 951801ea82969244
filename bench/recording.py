"""What watching costs: time with and without a scope, and the memory it keeps beside weights that are written out."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import torch
from rich.table import Table
from torch import nn
from transformers import GPT2Config, GPT2Model

from bench.clock import Times, console, race, show
from regard.attention import multihead, record

LONG = (1, 4096, 768, 12)


def run(*, quick: bool, bfloat16: bool) -> list[dict[str, object]]:  # noqa: ARG001
    rows = {}
    for batch, tokens, width, heads in ((8, 256, 384, 6), (1, 2048, 768, 12)):
        attn, x = multihead(width, heads).eval(), torch.randn(batch, tokens, width)

        def plain(attn: nn.Module = attn, x: torch.Tensor = x) -> None:
            with torch.no_grad():
                attn(x)

        def watched(attn: nn.Module = attn, x: torch.Tensor = x) -> None:
            with torch.no_grad(), record(attn):
                attn(x)

        with torch.no_grad(), record(attn):
            same = attn(x)
        with torch.no_grad():
            equal = same.equal(attn(x))
        rows[f"b{batch} n{tokens} w{width}, bit-equal: {equal}"] = race(
            {"not watched": plain, "watched": watched}, seconds=1.0 if quick else 6.0
        )
    rows.update(_foreign(1.0 if quick else 6.0))
    numbers = show("Watching", rows, reference="not watched")
    table = Table(title=f"Peak memory of one forward at n = {LONG[1]}", title_justify="left", title_style="bold")
    table.add_column("who")
    table.add_column("MB above the model and its input", justify="right")
    for way in ("not watched", "watched", "weights returned"):
        # A process of its own for each: the peak of a process never goes down again.
        script = f"from bench.recording import peak; print(peak({way!r}))"
        out = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
        table.add_row(
            way if way != "weights returned" else "nn.MultiheadAttention, weights returned", f"{float(out):.0f}"
        )
        numbers.append({"table": "Peak memory", "who": way, "MB": float(out)})
    console.print(table)
    return numbers


def _foreign(seconds: float) -> dict[str, dict[str, Times]]:
    """Models that are not ours, which torch has to show to the scope operation by operation."""
    layer = nn.TransformerEncoderLayer(384, 6, 1536, batch_first=True)
    encoder, x = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False).eval(), torch.randn(4, 256, 384)
    config = GPT2Config(
        n_embd=384, n_layer=6, n_head=6, n_positions=256, vocab_size=1000, bos_token_id=0, eos_token_id=0
    )
    gpt2, words = GPT2Model(config).eval(), torch.randint(1000, (4, 256))
    works = {
        "GPT-2 of transformers, 6 layers, b4 n256 w384": (gpt2, words),
        "the same, one word": (gpt2, words[:1, :1]),
        "nn.TransformerEncoder, 4 layers, b4 n256 w384": (encoder, x),
    }
    rows = {}
    for work, (model, given) in works.items():

        def plain(model: nn.Module = model, given: torch.Tensor = given) -> None:
            with torch.no_grad():
                model(given)

        def watched(model: nn.Module = model, given: torch.Tensor = given) -> None:
            with torch.no_grad(), record(model):
                model(given)

        def slow_path(run: Callable[[], None] = plain) -> None:
            torch.backends.mha.set_fastpath_enabled(False)
            run()
            torch.backends.mha.set_fastpath_enabled(True)

        ways: dict[str, Callable[[], None]] = {"not watched": plain, "watched": watched}
        if model is encoder:
            ways["not watched, without torch's fast path"] = slow_path
        rows[work] = race(ways, seconds=seconds)
    return rows


def peak(way: str) -> float:
    """Megabytes that one forward needs at its height (Linux: the kernel's own mark, set back before)."""
    batch, tokens, width, heads = LONG
    torch.set_num_threads(2)
    x = torch.randn(batch, tokens, width)
    ours, theirs = multihead(width, heads).eval(), nn.MultiheadAttention(width, heads, batch_first=True).eval()
    with torch.no_grad():
        ours(x[:, :256])
        theirs(x[:, :16], x[:, :16], x[:, :16], average_attn_weights=False)
        Path("/proc/self/clear_refs").write_text("5")
        before = _high_water()
        if way == "not watched":
            ours(x)
        elif way == "watched":
            with record(ours) as trace:
                ours(x)
            assert trace.names == [""]
        else:
            theirs(x, x, x, average_attn_weights=False)
    return _high_water() - before


def _high_water() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024
