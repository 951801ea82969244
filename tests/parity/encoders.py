"""Encoders of `transformers` beside ours: tiny ones with random weights, what they say, and whether it is the same."""

import json
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor, nn

from regard.attention import record
from regard.layers.heads import Output

VOCAB, PAD, CONTEXT = 50, 1, 16
SIZE = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, vocab_size=VOCAB)
# True at tokens, of rows that are padded behind and of rows that are padded in front.
BEHIND = torch.arange(7) < torch.tensor([7, 4, 1])[:, None]
IN_FRONT = BEHIND.flip(1)
COUNTING = ("roberta", "camembert", "xlm-roberta")


def theirs(architecture: str, config: Any) -> Any:
    """A model whose biases are not zero and norms not one, where mistakes with them would not show."""
    if "QuestionAnswering" in architecture or "PreTraining" in architecture:
        config.num_labels = 2
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    model = getattr(transformers, architecture)(config)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model.eval()


def opened(architecture: str, folder: Path) -> Any:
    """A folder as `transformers` opens it, which misses nothing and meets nothing strange."""
    kind = getattr(transformers, architecture)
    model, told = kind.from_pretrained(folder, output_loading_info=True, attn_implementation="eager")
    assert not any(told.values())
    return model.eval()


def compare(ours: Any, other: Any, kept: Tensor, segments: int, *, layers: int = 1) -> None:
    """Whatever both say of some texts is the same outside of the padding: outputs, streams and attention weights.

    `layers` are those that are run through one after another before the first of them is met again.
    """
    ids = torch.randint(2, VOCAB, kept.shape).where(kept, PAD)
    kinds = torch.randint(segments, kept.shape)
    told = _said(other, ids, kinds, kept)
    # Theirs pools what stands first, be it padding; ours pools the first token.
    order = kept.long().argsort(dim=1, descending=True, stable=True)
    first = _said(other, *(each.gather(1, order) for each in (ids, kinds, kept)))
    with record(ours, hidden=True) as trace:
        found: Output = ours(ids, segments=kinds, visible=kept)
    spans = torch.stack((told.start_logits, told.end_logits), -1) if "start_logits" in told else None
    words = told.get("logits", told.get("prediction_logits", spans))
    pairs = [
        (found.logits, first.logits if words is not None and words.ndim == 2 else words),
        (found.next_sentence, first.get("seq_relationship_logits", first.get("sop_logits"))),
    ]
    if "pooler_output" in told:
        pairs.append((found.pooled, first.pooler_output))
    for mine, their in pairs:
        assert (mine is None) == (their is None)
        if mine is not None:
            close(*((mine[kept], their[kept]) if mine.ndim == 3 else (mine, their)))
    close(found.hidden[kept], told.hidden_states[-1][kept])
    streams = _in_order(list(trace.hidden.values()), layers)
    looks = _in_order([trace[name] for name in trace.names], layers)
    for mine, their in zip(streams, told.hidden_states[1:], strict=True):
        close(mine[kept], their[kept])
    for look, weights in zip(looks, told.attentions, strict=True):
        close(look.weights().transpose(1, 2)[kept], weights.transpose(1, 2)[kept])


def _in_order(seen: list[list[Any]], layers: int) -> list[Any]:
    """What was seen of each block, in the order in which they ran."""
    groups = [seen[i : i + layers] for i in range(0, len(seen), layers)]
    return [each for group in groups for at_once in zip(*group, strict=True) for each in at_once]


def _said(other: Any, ids: Tensor, kinds: Tensor, kept: Tensor) -> Any:
    # Theirs count the padding in front, but for RoBERTa, which counts tokens by itself.
    positions = None if other.config.model_type in COUNTING else (kept.long().cumsum(1) - 1).clamp(min=0)
    has_kinds = other.config.model_type != "distilbert"
    return other(
        input_ids=ids,
        attention_mask=kept.long(),
        position_ids=positions,
        **({"token_type_ids": kinds} if has_kinds else {}),
        output_hidden_states=True,
        output_attentions=True,
    )


def close(ours: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(ours, other, atol=5e-5, rtol=1e-4)


def change_config(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    given = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({name: value for name, value in given.items() if value != "left out"}))
