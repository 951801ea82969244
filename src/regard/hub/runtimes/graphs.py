"""A model as graphs of tensors, which need no Python: its whole pass, and the two halves of writing where it writes.

Batches, lengths and pasts are free in a graph, whatever the example had; the size of pictures is, where that is asked
for. Which sizes could be left free is found by tracing, and the axes are called as the signature of `forward` calls
them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from inspect import signature
from typing import Any, get_args, get_type_hints

import torch
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram, export

from regard.attention import Memory

AXES = {"b": "batch", "n": "length", "m": "target_length", "t": "texts", "f": "frames", "h": "height", "w": "width"}
PICTURES = ("h w", "y x", "x y", "s t")  # how shapes end that are those of pictures
TEXTS = ("length", "target_length", "source_length", "past_length")
NEXT = "next."  # before the name of what a step leaves for the step after it
_PAST = 3  # words before the step that is traced
TIMES = {"height": 2, "width": 3}  # how much larger than its own a picture is from which graphs for any size are made

Axes = Mapping[str, Sequence[str | None]]  # of every input by its name; None is an axis of one size


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """One computation of a model: what goes in, an example of it, and what comes out, all by name."""

    name: str
    module: nn.Module  # takes the inputs one by one, and gives a tuple
    inputs: Mapping[str, Tensor]
    axes: Axes
    outputs: tuple[str, ...]

    def trace(self) -> ExportedProgram:
        """The graph as torch exports it, for every size of its free axes."""
        free = tuple(
            {i: Dim.AUTO for i, axis in enumerate(self.axes[name]) if axis is not None and x.shape[i] > 1}
            for name, x in self.inputs.items()
        )
        with torch.no_grad():
            return export(self.module, tuple(self.inputs.values()), dynamic_shapes=(free,))


def graphs_of(model: nn.Module, example: Mapping[str, Any], *, any_size: bool = False) -> list[Graph]:
    """The whole model; and of one that writes, `start`, which reads a source, and `step`, which goes on from a state.

    `example` are inputs of `forward` for a batch of two. A decoder without a source starts from an empty past.
    """
    found = [_whole(model, example, any_size)]
    if hasattr(model, "step") and hasattr(model, "start"):
        found += _writing(model, example, any_size)
    return found


def sizes_of(program: ExportedProgram, graph: Graph) -> dict[str, tuple[Any, ...]]:
    """The shape of each input as it was traced: a number, or an expression of symbols where the size is free."""
    nodes = [node for node in program.graph.nodes if node.op == "placeholder"][-len(graph.inputs) :]
    return {
        name: tuple(_size(size) for size in node.meta["val"].shape)
        for name, node in zip(graph.inputs, nodes, strict=True)
    }


def _size(size: Any) -> Any:
    """A size as a number wherever it is one, also where the tracer has found that out."""
    if isinstance(size, int):
        return size
    return int(size.node.expr) if size.node.expr.is_number else size.node.expr


def bound_axes(program: ExportedProgram, graph: Graph) -> dict[str, int]:
    """The inputs whose texts the graph takes in one length alone, as that of a recurrence does, which is unrolled."""
    return {
        name: size
        for name, sizes in sizes_of(program, graph).items()
        for size, axis, traced in zip(sizes, graph.axes[name], graph.inputs[name].shape, strict=True)
        if axis in TEXTS and traced > 1 and isinstance(size, int)
    }


def free_axes(program: ExportedProgram, graph: Graph) -> dict[str, str]:
    """The symbols of the sizes that are free, and what their axes are called."""
    called: dict[str, str] = {}
    for name, sizes in sizes_of(program, graph).items():
        for size, axis in zip(sizes, graph.axes[name], strict=True):
            if axis is not None and not isinstance(size, int) and size.is_symbol:
                called.setdefault(str(size), axis)
    return called


def other_inputs(program: ExportedProgram, graph: Graph) -> dict[str, Tensor]:
    """Inputs of other sizes than those that were traced, with what is in the example again and again."""
    symbols: dict[Any, int] = {}
    shapes = sizes_of(program, graph)
    for name, sizes in shapes.items():
        for size, traced, axis in zip(sizes, graph.inputs[name].shape, graph.axes[name], strict=True):
            if not isinstance(size, int) and size.is_symbol and size not in symbols:
                most = program.range_constraints[size].upper
                wanted = traced + 1 if axis == "batch" else 2 * traced
                symbols[size] = int(most) if most < wanted else wanted
    return {
        name: _tiled(x, [size if isinstance(size, int) else int(size.subs(symbols)) for size in shapes[name]])
        for name, x in graph.inputs.items()
    }


def _tiled(x: Tensor, sizes: Sequence[int]) -> Tensor:
    for axis, size in enumerate(sizes):
        x = x.index_select(axis, torch.arange(size) % x.shape[axis])
    return x


# --- the whole


class Whole(nn.Module):
    """A model that takes its inputs one by one, and gives the tensors of whatever it returns."""

    def __init__(self, model: nn.Module, names: Sequence[str], settings: Mapping[str, Any]) -> None:
        super().__init__()
        self.model, self.names, self.settings = model, tuple(names), dict(settings)

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        output = self.model(**dict(zip(self.names, inputs, strict=True)), **self.settings)
        return tuple(tensors_of(output, "").values())


def _whole(model: nn.Module, example: Mapping[str, Any], any_size: bool) -> Graph:
    takes = signature(model.forward).parameters
    inputs = {name: x for name, x in example.items() if isinstance(x, Tensor)}
    settings = {name: x for name, x in example.items() if not isinstance(x, Tensor)}
    if "lengths" in takes and "lengths" not in inputs:
        inputs |= _lengths(model, inputs)
    axes = _axes(model.forward, inputs, any_size)
    if any_size:
        # Of its own size a model asks nothing of positions, and what it does not do then is not in the graph.
        inputs = {
            name: _tiled(x, [x.shape[i] * TIMES.get(axis or "", 1) for i, axis in enumerate(axes[name])])
            for name, x in inputs.items()
        }
    module = Whole(model, list(inputs), settings)
    with torch.no_grad():
        names = tensors_of(model(**inputs, **settings), "")
    outputs = tuple(f"output.{name}" if name in inputs else name for name in names)
    return Graph("model", module, inputs, axes, outputs)


def tensors_of(output: object, name: str) -> dict[str, Tensor]:
    """The tensors of whatever a model returns, by the path of their names; a lone one is its `output`."""
    if isinstance(output, Tensor):
        return {name or "output": output}
    parts: dict[str, Tensor] = {}
    for key, part in _parts(output):
        parts |= tensors_of(part, f"{name}.{key}" if name else key)
    return parts


def _parts(value: object) -> Iterator[tuple[str, Any]]:
    if is_dataclass(value):
        yield from ((field.name, getattr(value, field.name)) for field in fields(value) if field.init)
    elif isinstance(value, Mapping):
        yield from ((str(key), part) for key, part in value.items())
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        yield from zip(value._fields, value, strict=True)
    elif isinstance(value, list | tuple):
        yield from ((str(i), part) for i, part in enumerate(value))


def _axes(method: Any, inputs: Mapping[str, Tensor], any_size: bool) -> dict[str, tuple[str | None, ...]]:
    """What the axes of each input are called, as the shapes in a signature say."""
    hints, found = get_type_hints(method), dict[str, tuple[str | None, ...]]()
    for name, x in inputs.items():
        written = [each.dim_str.split() for each in (hints[name], *get_args(hints[name])) if hasattr(each, "dim_str")]
        # Of a starred axis there may be none.
        written += [[axis for axis in dims if not axis.startswith("*")] for dims in written]
        letters = next((dims for dims in written if len(dims) == x.ndim), None)
        if letters is None:  # of any number of axes
            found[name] = ("batch", *[None] * (x.ndim - 1))
            continue
        letters = [letter.lstrip("*#") for letter in letters]
        pictured = x.ndim > 2 and " ".join(letters[-2:]) in PICTURES
        axes = [AXES.get(letter, letter) for letter in letters]
        if not pictured:  # where it is not that of pictures, the letter is that of words
            axes = ["words" if axis == "width" else axis for axis in axes]
        found[name] = (*axes[:-2], None, None) if pictured and not any_size else tuple(axes)
    if not any_size and any(axes[-2:] == (None, None) for axes in found.values()):
        # Numbers for the cells of a picture of one size are as many as those.
        found |= {name: ("batch", None) for name, x in inputs.items() if x.ndim == 2 and x.is_floating_point()}
    return found


# --- writing


class Start(nn.Module):
    """What a model has read of a source, as tensors."""

    def __init__(self, model: nn.Module, names: Sequence[str]) -> None:
        super().__init__()
        self.model, self.names = model, tuple(names)

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        start: Any = self.model.start
        return tuple(_leaves(start(**dict(zip(self.names, inputs, strict=True)))).values())


class Step(nn.Module):
    """The next words of a model that writes: their logits, and all of its state that they change."""

    def __init__(self, model: nn.Module, state: Any) -> None:
        super().__init__()
        self.model, self.state = model, state
        self.names = tuple(_leaves(state))
        step: Any = model.step
        before = _leaves(state)
        with torch.no_grad():
            _, after = step(torch.zeros(2, 1, dtype=torch.long), state)
        self.changed = tuple(name for name, x in _leaves(after).items() if x is not before.get(name))

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        step: Any = self.model.step
        words, *given = inputs
        state = _rebuilt(self.state, dict(zip(self.names, given, strict=True)), words.shape[0])
        logits, after = step(words, state)
        left = _leaves(after)
        return (logits, *(left[name] for name in self.changed))


def _writing(model: Any, example: Mapping[str, Any], any_size: bool) -> list[Graph]:
    takes = signature(model.start).parameters
    needed = {name for name, each in takes.items() if each.default is each.empty}
    if not needed <= {"rows", *example}:  # it starts from what another model has said
        return []
    if "rows" in takes:  # nothing to read
        start, state = [], model.start(2)
    else:
        inputs = {name: x for name, x in example.items() if name in takes and isinstance(x, Tensor)}
        if "lengths" in takes and "lengths" not in inputs:
            inputs |= _lengths(model, inputs)
        with torch.no_grad():
            state = model.start(**inputs)
        axes = _axes(model.start, inputs, any_size)
        start = [Graph("start", Start(model, list(inputs)), inputs, axes, tuple(_leaves(state)))]
    if "words" not in signature(model.step).parameters:  # a denoiser, which has no past
        return start
    grows = "past" in " ".join(name for name, _ in _parts(state)) or hasattr(state, "words")
    with torch.no_grad():
        if grows:
            _, state = model.step(torch.zeros(2, _PAST, dtype=torch.long), state)
    module = Step(model, state)
    # A recurrence unrolls its words when it is traced, so a graph of it takes one at a time.
    given = {"words": torch.zeros(2, 2 if grows else 1, dtype=torch.long)}
    given |= {name: x.contiguous() for name, x in _leaves(state).items()}
    outputs = ("logits", *(NEXT + name for name in module.changed))
    return [*start, Graph("step", module, given, {name: _state_axes(name, x) for name, x in given.items()}, outputs)]


def _lengths(model: nn.Module, inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Lengths of a source that may be padded. Torch's recurrences pack by values, so those read rows of one length."""
    if "source" not in inputs or any(isinstance(module, nn.RNNBase) for module in model.modules()):
        return {}
    words = inputs["source"].shape[1]
    return {"lengths": torch.tensor([words, words - 1])}


def _leaves(state: object, name: str = "") -> dict[str, Tensor]:
    """The tensors of a state by name, without those that hold nothing."""
    if isinstance(state, Tensor):
        return {name: state} if state.numel() else {}
    found: dict[str, Tensor] = {}
    for key, part in _parts(state):
        if key != "sentences":  # which source a row writes about is for those who select rows
            found |= _leaves(part, _path(state, name, key))
    return found


def _rebuilt(state: Any, leaves: Mapping[str, Tensor], batch: int, name: str = "") -> Any:
    """A state like this one with other tensors in it."""
    if isinstance(state, Tensor):
        return leaves[name] if name in leaves else state.new_zeros((batch, *state.shape[1:]))
    parts = {key: _rebuilt(part, leaves, batch, _path(state, name, key)) for key, part in _parts(state)}
    if isinstance(state, list | tuple):
        return list(parts.values())
    return replace(state, **parts) if is_dataclass(state) and not isinstance(state, type) else state


def _path(state: object, name: str, key: str) -> str:
    """What a part of a state is called. What is visible of a source is the same for all that look at it."""
    if isinstance(state, Memory):
        if key == "visible" and "past" not in name:
            return key
        key = {"k": "key", "v": "value"}.get(key, key)
    return f"{name}.{key}" if name else key


def _state_axes(name: str, x: Tensor) -> tuple[str | None, ...]:
    axes: list[str | None] = ["batch", *[None] * (x.ndim - 1)]
    if name == "words":
        axes[1] = "length"
    elif name == "visible":
        axes[-1] = "source_length"
    elif name.endswith((".key", ".value")):
        axes[-2] = "past_length" if "past" in name else "source_length"
    return tuple(axes)
