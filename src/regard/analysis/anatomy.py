"""The parts of a model that are looked at or replaced while it runs, ours or somebody's: input, layers, answer.

Layers are found by running the model once, since only that tells in which order they come and which of them are shared.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import signature
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Int
from torch import Tensor, nn

from regard.attention import Trace, record
from regard.decode.forcing import evaluating

Inputs = Mapping[str, Any]  # the keyword arguments of a forward
Vocabulary = Callable[[Tensor], Tensor]  # from what a model gives, "b n w", to logits "b n v"

# What others call the last product of an attention, and what a block computes of each token alone.
PROJECTIONS = ("out", "o_proj", "c_proj", "out_proj", "out_lin", "dense", "o", "wo")
MLPS = ("mlp", "ffn", "feed_forward", "ffn_output", "fc2", "output.dense")
ANSWERS = ("logits", "prediction_logits", "hidden", "last_hidden_state")


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """A block of a model, the `run`-th time that it runs, and the parts of it."""

    name: str
    module: nn.Module
    run: int
    attention: str  # the name of its self-attention
    heads: int


def feed(model: nn.Module, ids: Int[Tensor, "b n"]) -> dict[str, Tensor]:
    """The arguments by which a model reads ids; one with an encoder and a decoder reads them with both."""
    names = signature(model.forward).parameters
    if "ids" in names:
        return {"ids": ids}
    if "source" in names and "target" in names:
        return {"source": ids, "target": ids}
    if "input_ids" in names:
        both = getattr(getattr(model, "config", None), "is_encoder_decoder", False)
        return {"input_ids": ids} | ({"decoder_input_ids": ids} if both else {})
    raise ValueError(f"a {type(model).__name__} reads {', '.join(names)}, and no ids; choose a model of texts")


def as_inputs(model: nn.Module, given: Int[Tensor, "b n"] | Inputs) -> dict[str, Any]:
    """The arguments of a forward, from themselves or from ids."""
    return dict(given) if isinstance(given, Mapping) else feed(model, given)


def widen(inputs: Inputs, rows: int) -> dict[str, Any]:
    """One input, given so many times at once."""
    return {name: x.expand(rows, *x.shape[1:]) if isinstance(x, Tensor) else x for name, x in inputs.items()}


def is_causal(model: nn.Module) -> bool:
    """Whether a model says that no word of it sees its future: ours write in steps, others mark their attentions."""
    return writes(model) or any(getattr(module, "is_causal", False) is True for module in model.modules())


def writes(model: nn.Module) -> bool:
    """Whether a model of ours goes on word by word; the steps of one that paints take noise away."""
    step = getattr(model, "step", None)
    return step is not None and "words" in signature(step).parameters


def vocab_of(model: nn.Module) -> int | None:
    """How many words a model chooses from, as its config says."""
    config = getattr(model, "config", None)
    for name in ("target", "vocab", "vocab_size"):
        if isinstance(found := getattr(config, name, None), int):
            return found
    return None


def read_answer(output: Any) -> Tensor:
    """What a model says: its logits, or its last states where it has no head."""
    if isinstance(output, Tensor):
        return output
    for name in ANSWERS:
        if isinstance(found := getattr(output, name, None), Tensor) and found.is_floating_point():
            return found
    parts = output.values() if isinstance(output, Mapping) else output if isinstance(output, tuple | list) else ()
    for part in parts:
        if isinstance(part, Tensor):
            return part
    raise TypeError(f"a model that gives a {type(output).__name__} has no answer to read; give one that gives logits")


def find_vocabulary(model: nn.Module, output: Any, given: Vocabulary | None) -> Vocabulary:
    """How to get from a model's answer to the logits of words: as `given`, or as the model itself tells."""
    if given is not None:
        return given
    answer, vocab = read_answer(output), vocab_of(model)
    if answer.ndim == 3 and answer.shape[-1] == vocab:
        return lambda logits: logits
    embed = getattr(model, "get_input_embeddings", lambda: None)()  # of transformers
    tied = getattr(getattr(model, "config", None), "tie_word_embeddings", False) and is_causal(model)
    if tied and isinstance(embed, nn.Embedding) and answer.shape[-1] == embed.embedding_dim:
        return lambda states: F.linear(states, embed.weight)
    raise ValueError(
        f"a {type(model).__name__} gives {tuple(answer.shape)}, which are no logits of {vocab} words for each place; "
        f"load it with the head it was trained with, or give vocabulary=, a function from states to logits"
    )


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """One run of a model: what its attentions looked at, what it gave, and its blocks in the order they ended."""

    trace: Trace
    output: Any
    blocks: Sequence[str]


@torch.no_grad()
def watch(model: nn.Module, inputs: Inputs) -> Watched:
    """Run a model once, with attentions and stream watched."""
    ended: list[str] = []
    blocks = {
        block: f"{name}.{i}" if name else i
        for name, stack in model.named_modules()
        if isinstance(stack, nn.ModuleList | nn.Sequential)
        for i, block in reversed(list(stack.named_children()))  # a block that stands in two places has its first name
    }
    handles = [block.register_forward_hook(_note(name, ended)) for block, name in blocks.items()]
    try:
        with evaluating(model), record(model, hidden=True) as trace:
            output = model(**inputs)
    finally:
        for handle in handles:
            handle.remove()
    return Watched(trace, output, [name for name in ended if name in trace.hidden])


def layers(model: nn.Module, run: Watched, *, stack: str | None = None) -> list[Layer]:
    """The blocks of one stack in their order: of that named so, or of the last one that ran."""
    trace, seen, found = run.trace, Counter[str](), list[Layer]()
    names = [name for name in run.blocks if not any(name.startswith(f"{outer}.") for outer in run.blocks)]
    stacks = list(dict.fromkeys(name.rpartition(".")[0] for name in names))
    if not stacks:
        raise ValueError(
            f"a {type(model).__name__} has no layers to look between: they are searched in the nn.ModuleList whose "
            f"parts attend"
        )
    if stack is not None and stack not in stacks:
        raise ValueError(f"no layers stand in {stack!r}; they stand in {', '.join(stacks)}")
    for name in names:
        if name.rpartition(".")[0] == (stacks[-1] if stack is None else stack):
            attention = next(each for each in (*trace, *trace.known) if each.startswith(f"{name}."))
            heads = trace[attention][0].q.shape[1] if attention in trace.names else 0
            found.append(Layer(name, model.get_submodule(name), seen[name], attention, heads))
            seen[name] += 1
    return found


def name_layers(every: Sequence[Layer]) -> tuple[str, ...]:
    """What to call layers; where blocks are shared, the runs of one are told apart."""
    shared = any(layer.run for layer in every)
    return tuple(f"{layer.name}, run {layer.run}" if shared else layer.name for layer in every)


def find_part(model: nn.Module, layer: Layer, part: str) -> tuple[nn.Module, bool]:
    """Where a part of a layer can be replaced: a module, and whether by what it is given instead of what it gives.

    The parts are the `stream` after the block, and what its `attention`, its `mlp` or one of its `heads` adds to it.
    """
    if part == "stream":
        return layer.module, False
    attention = model.get_submodule(layer.attention)
    if part == "attention":
        return attention, False
    if part == "heads":
        parts = dict(attention.named_children())
        found = next((parts[name] for name in PROJECTIONS if name in parts), None)
        # Without a product of its own, as in BERT of transformers, an attention gives its heads side by side.
        return (attention, False) if found is None else (found, True)
    for name in MLPS:
        for path, module in layer.module.named_modules():
            if f".{path}".endswith(f".{name}") and "attention" not in path:
                return module, False
    raise ValueError(f"{layer.name} has no part called {' or '.join(MLPS)}, so that its MLP cannot be replaced")


@contextmanager
def replaced(
    module: nn.Module, change: Callable[[Tensor], Tensor], *, run: int = 0, given: bool = False
) -> Iterator[None]:
    """Let `change` decide what a module gives, or is `given`, the `run`-th time it runs, while the scope lasts."""
    runs = 0

    def turn() -> bool:
        nonlocal runs
        runs += 1
        return runs == run + 1

    def after(_: nn.Module, __: object, output: Any) -> Any:
        return _with_first(output, change) if turn() else None

    def before(_: nn.Module, args: tuple[Any, ...]) -> Any:
        return _with_first(args, change) if turn() else None

    handle = module.register_forward_pre_hook(before) if given else module.register_forward_hook(after)
    try:
        yield
    finally:
        handle.remove()
    if runs <= run:
        raise ValueError(f"a {type(module).__name__} did not run where it was to be replaced; it may be fused away")


def _note(name: str, ended: list[str]) -> Callable[..., None]:
    return lambda *_: ended.append(name)


def _with_first(output: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """A tensor changed, or the first of several."""
    if isinstance(output, Tensor):
        return change(output)
    if isinstance(output, tuple | list) and output and isinstance(output[0], Tensor):
        return type(output)((change(output[0]), *output[1:]))
    raise TypeError(f"a part of the model gives a {type(output).__name__}, of which no tensor is the stream")
