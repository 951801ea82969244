"""Models of pictures of `transformers` beside ours: tiny ones with random weights, and whether both see the same."""

import json
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor, nn

from regard.attention import record


def theirs(architecture: str, config: Any) -> Any:
    """A model whose constants are not zero and norms not one, where mistakes with them would not show."""
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    model = getattr(transformers, architecture)(config)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model.eval()


def opened(architecture: str, folder: Path, missing: tuple[str, ...] = ()) -> Any:
    """A folder as `transformers` opens it, which misses nothing else and meets nothing strange."""
    kind = getattr(transformers, architecture)
    model, told = kind.from_pretrained(folder, output_loading_info=True, attn_implementation="eager")
    absent = {name for name in told.pop("missing_keys") if not name.startswith(missing or ("\0",))}
    assert not absent
    assert not any(told.values())
    return model.eval()


def change_config(folder: Path, **changes: Any) -> None:
    """Write other settings into a config.json; None takes one out."""
    path = folder / "config.json"
    about = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({name: value for name, value in about.items() if value is not None}))


def close(mine: Tensor, their: Tensor) -> None:
    torch.testing.assert_close(mine, their, atol=2e-5, rtol=1e-4)


def compare(ours: Any, other: Any, image: Tensor, **how: Any) -> None:
    """Logits, the streams behind all blocks, and the weights of every attention are the same."""
    told = other(image, output_hidden_states=True, output_attentions=True, **how)
    with record(ours, hidden=True) as trace:
        logits = ours(image)
    if "logits" in told:
        close(logits, told.logits)
    for (mine,), their in zip(trace.hidden.values(), told.hidden_states[1:], strict=True):
        close(mine, their)
    for name, weights in zip(trace, told.attentions, strict=True):
        close(trace.weights(name), weights)
