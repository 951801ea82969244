"""Models as ONNX files, one a graph, which onnxruntime and many others run without Python and torch."""

import logging
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import ExportedProgram

from regard.hub.runtimes.graphs import Graph, bound_axes, free_axes, graphs_of, other_inputs

MISSING = "writing ONNX needs the packages onnx and onnxscript; in a clone of regard, pip install '.[export]'"
CLOSE = 1e-4  # how near the answers of another runtime must be to ours
_WHOLE = 1 << 30  # bytes of weights that one file holds; protobuf ends at twice that


@dataclass(frozen=True, slots=True)
class Written:
    """A graph on the disk, and how far the answers of onnxruntime were from ours on sizes that were not traced."""

    path: Path
    inputs: Mapping[str, tuple[int | str, ...]]  # their shapes; a free axis by its name
    outputs: tuple[str, ...]
    difference: float | None  # None where onnxruntime is not installed


def write_onnx(folder: Path, model: nn.Module, example: Mapping[str, Any], *, any_size: bool = False) -> list[Written]:
    """Write `model.onnx`, and of a model that writes `start.onnx` and `step.onnx`; each is run to compare."""
    try:
        import onnx  # noqa: F401
        import onnxscript  # noqa: F401  # which torch needs to translate
    except ImportError:
        raise ImportError(MISSING) from None
    written, graphs = [], graphs_of(model.eval(), example, any_size=any_size)
    for graph in graphs:
        program = graph.trace()
        bound = bound_axes(program, graph)
        if bound and graph.name == "model" and len(graphs) > 1:
            continue  # whoever writes step by step does not need the whole
        if bound:
            which = ", ".join(f"{name} of {size} words" for name, size in bound.items())
            raise ValueError(
                f"a recurrence is unrolled word by word when it is traced, so its graph would read {which} alone; "
                f"{type(model).__name__} has no place in ONNX"
            )
        written.append(write_graph(folder, graph, program))
    return written


def write_graph(folder: Path, graph: Graph, program: ExportedProgram) -> Written:
    """Write a graph as one file under its name, and run it on other sizes than those that were traced."""
    import onnx

    with _quiet():
        made = torch.onnx.export(
            program, input_names=list(graph.inputs), output_names=list(graph.outputs), dynamo=True, verbose=False
        )
    assert made is not None
    proto, path = made.model_proto, folder / f"{graph.name}.onnx"
    _name_axes(proto, free_axes(program, graph))
    heavy = proto.ByteSize() > _WHOLE
    onnx.save_model(proto, str(path), save_as_external_data=heavy, location=f"{graph.name}.data" if heavy else None)
    shapes = {value.name: _shape(value) for value in proto.graph.input}
    return Written(path, shapes, graph.outputs, compare(path, graph, other_inputs(program, graph)))


def compare(path: Path, graph: Graph, inputs: Mapping[str, Tensor]) -> float | None:
    """The greatest difference between what onnxruntime and what torch make of these inputs; None without the first."""
    try:
        import onnxruntime
    except ImportError:
        return None
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors alone
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    taken = {value.name for value in session.get_inputs()}
    theirs = session.run(None, {name: x.numpy() for name, x in inputs.items() if name in taken})
    with torch.no_grad():
        ours = graph.module(*inputs.values())
    return max(
        float((torch.from_numpy(one).double() - other.double()).abs().max()) if other.numel() else 0.0
        for one, other in zip(theirs, ours, strict=True)
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what the translator says of itself, such as that torchvision is not installed."""
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "onnxscript", "onnx_ir")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _name_axes(proto: Any, called: Mapping[str, str]) -> None:
    """Call the free axes by their names, where the tracer has numbered them."""
    pattern = re.compile(r"\b(" + "|".join(map(re.escape, called)) + r")\b") if called else None
    for value in (*proto.graph.input, *proto.graph.output, *proto.graph.value_info):
        for size in value.type.tensor_type.shape.dim:
            if pattern is not None and size.dim_param:
                size.dim_param = pattern.sub(lambda found: called[found.group()], size.dim_param)


def _shape(value: Any) -> tuple[int | str, ...]:
    return tuple(size.dim_param or size.dim_value for size in value.type.tensor_type.shape.dim)
