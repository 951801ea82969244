"""What every family promises to other runtimes: graphs for any batch and length, the same in torch and in ONNX.

The example of a family is traced once; whatever is then run has other sizes.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.hub.runtimes.graphs import NEXT, bound_axes, free_axes, graphs_of, other_inputs
from regard.hub.runtimes.onnx import CLOSE, write_graph
from regard.models.family import Family, families, family

ONNX = all(map(find_spec, ("onnx", "onnxscript", "onnxruntime")))  # the extra `export`
every_family = pytest.mark.parametrize("one", families().values(), ids=lambda one: one.name)
UNROLLED = "a recurrence is unrolled word by word when it is traced"
# Texts whose length cannot be left free, and why; and what has no place in ONNX at all.
BOUND = {
    ("caption", "model"): UNROLLED,
    ("seq2seq", "model"): UNROLLED,
    ("seq2seq", "start"): UNROLLED,
    ("intra", "model"): UNROLLED,
}
NOT_ONNX = {
    "graph": "ONNX has no eigenvectors, which the places of nodes are made of",
    "intra": "the first word looks at an empty memory, and onnxruntime reshapes nothing that is empty",
}
# Pictures of any size, where tracing that takes seconds.
ANY_SIZE = ("vit", "convnext")

pytestmark = [
    pytest.mark.usefixtures("as_users_meet_it"),  # the checks of shapes would be traced too
    pytest.mark.filterwarnings("ignore:The tensor attributes .*_flat_weights"),  # of torch's own recurrences
]


def nano(one: Family) -> Any:
    (name,) = (name for name in one.presets if name.endswith("-nano"))
    return one.build(name).eval()


@every_family
@torch.no_grad()
def test_a_model_is_the_same_in_torchs_export_and_in_onnxruntime_for_any_batch_and_length(
    one: Family, tmp_path: Path
) -> None:
    model = nano(one)
    for graph in graphs_of(model, one.example(model.config)):
        program = graph.trace()
        assert "batch" in free_axes(program, graph).values()
        assert bool(bound_axes(program, graph)) == ((one.name, graph.name) in BOUND), graph.name
        inputs = other_inputs(program, graph)
        ours, theirs = graph.module(*inputs.values()), program.module()(*inputs.values())
        for mine, other in zip(ours, theirs, strict=True):
            torch.testing.assert_close(mine, other, atol=1e-5, rtol=1e-4)
        if ONNX and one.name not in NOT_ONNX:
            written = write_graph(tmp_path, graph, program)
            assert written.difference is not None
            assert written.difference < CLOSE, graph.name
            assert all(shape[0] in ("batch", "texts") for shape in written.inputs.values()), written.inputs


@pytest.mark.parametrize("name", ANY_SIZE)
def test_a_model_of_pictures_is_exported_for_any_size(name: str) -> None:
    one = family(name)
    model = nano(one)
    (graph,) = graphs_of(model, one.example(model.config), any_size=True)
    program = graph.trace()
    assert set(free_axes(program, graph).values()) >= {"batch", "height", "width"}
    inputs = other_inputs(program, graph)
    with torch.no_grad():
        torch.testing.assert_close(program.module()(*inputs.values()), graph.module(*inputs.values()))


WRITERS = ("transformer", "gpt", "llama")


@pytest.mark.parametrize("name", WRITERS)
@torch.no_grad()
def test_cached_steps_in_onnxruntime_write_what_the_model_says_of_the_whole(name: str, tmp_path: Path) -> None:
    """From an empty past, a prompt first and then one word at a time, for one row: sizes that were never traced."""
    runtime = pytest.importorskip("onnxruntime", reason="the extra `export` is not installed")
    one = family(name)
    model = nano(one)
    for graph in graphs_of(model, one.example(model.config))[1:]:
        write_graph(tmp_path, graph, graph.trace())
    words = torch.randint(model.config.vocab, (1, 7))
    step = runtime.InferenceSession(str(tmp_path / "step.onnx"), providers=["CPUExecutionProvider"])
    shapes = {value.name: value.shape for value in step.get_inputs()}
    state = {
        name: torch.zeros(1, shape[1], 0, shape[3]).numpy() for name, shape in shapes.items() if name.startswith("past")
    }
    if (tmp_path / "start.onnx").exists():
        source = torch.randint(model.config.vocab, (1, 6))
        start = runtime.InferenceSession(str(tmp_path / "start.onnx"), providers=["CPUExecutionProvider"])
        given = {"source": source.numpy(), "lengths": torch.tensor([4]).numpy()}
        state |= dict(zip([value.name for value in start.get_outputs()], start.run(None, given), strict=True))
        whole = model(source, words, lengths=torch.tensor([4]))
    else:
        whole = model(words)
    said, names = [], [value.name for value in step.get_outputs()]
    for piece in (words[:, :4], words[:, 4:5], words[:, 5:6], words[:, 6:]):
        found = dict(zip(names, step.run(None, {"words": piece.numpy(), **state}), strict=True))
        said.append(torch.from_numpy(found.pop("logits")))
        state |= {name.removeprefix(NEXT): x for name, x in found.items()}
    torch.testing.assert_close(torch.cat(said, dim=1), whole, atol=CLOSE, rtol=0.0)
