"""Compiled and exported, for any length: a mask costs no graph of its own.

Each test runs in a process of its own, without the checks of the types: what a user compiles does not have them.
"""

import subprocess
import sys


def run(script: str) -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True)


def test_ten_lengths_need_no_more_graphs_than_torchs_own_attention_whatever_the_mask() -> None:
    run("""
import torch
from torch import nn
from torch._dynamo.testing import CompileCounter
from regard.attention import both, causal, local, multihead, padding, prefix

LENGTHS = (5, 6, 9, 14, 17, 23, 30, 64, 130, 200)  # on both sides of every choice of a path

def lengths(n):
    return torch.tensor([n, n - 2])

def graphs(module, call):
    torch._dynamo.reset()
    counter = CompileCounter()
    compiled = torch.compile(module, backend=counter)
    for n in LENGTHS:
        call(compiled, n)
    return counter.frame_count

class Inside(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = multihead(16, 4)

    def forward(self, x, lengths):
        return self.attn(x, visible=both(causal(x.shape[1]), padding(lengths, x.shape[1])))

def torchs(compiled, n):
    x = torch.randn(2, n, 16)
    compiled(x, x, x, need_weights=False, attn_mask=torch.ones(n, n).bool().triu(1))

limit = graphs(nn.MultiheadAttention(16, 4, batch_first=True), torchs)
masks = {
    "none": lambda n: None,
    "causal": causal,
    "padding": lambda n: padding(lengths(n), n),
    "boolean": lambda n: torch.rand(n, n) < 0.6,
    "window": lambda n: causal(n, window=4),
    "local": lambda n: local(n, reach=2),
    "prefix": lambda n: prefix(n, length=3),
    "both": lambda n: both(causal(n), padding(lengths(n), n)),
}
for name, mask in masks.items():
    found = graphs(multihead(16, 4), lambda attn, n: attn(torch.randn(2, n, 16), visible=mask(n)))
    assert found <= limit, f"{name}: {found} graphs, {limit} of torch"
found = graphs(Inside(), lambda model, n: model(torch.randn(2, n, 16), lengths(n)))
assert found <= limit, f"masks made inside: {found} graphs, {limit} of torch"
""")


def test_every_form_of_looking_is_exported_for_any_batch_and_length() -> None:
    run("""
import torch
from torch import nn
from torch.export import Dim, export
from regard.attention import both, causal, multihead, padding

FORMS = {  # the call, and the inputs for a batch, a length and another length
    "no mask": (lambda attn, x: attn(x), lambda b, n, m: []),
    "causal": (lambda attn, x: attn(x, visible=causal(x.shape[1])), lambda b, n, m: []),
    "padding": (
        lambda attn, x, lengths: attn(x, visible=both(causal(x.shape[1]), padding(lengths, x.shape[1]))),
        lambda b, n, m: [torch.arange(1, b + 1)],
    ),
    "queries × keys": (lambda attn, x, mask: attn(x, visible=mask), lambda b, n, m: [torch.rand(n, n) < 0.6]),
    "batch × 1 × 1 × keys": (
        lambda attn, x, mask: attn(x, visible=mask),
        lambda b, n, m: [torch.rand(b, 1, 1, n) < 0.6],
    ),
    "memory": (
        lambda attn, x, y, lengths: attn(x, attn.remember(y, visible=padding(lengths, y.shape[1]))),
        lambda b, n, m: [torch.randn(b, m, 16), torch.arange(1, b + 1)],
    ),
    "step": (lambda attn, x, y: attn.step(x, attn.remember(y))[0], lambda b, n, m: [torch.randn(b, m, 16)]),
}

class Looking(nn.Module):
    def __init__(self, call):
        super().__init__()
        self.attn, self.call = multihead(16, 4), call

    def forward(self, *inputs):
        return self.call(self.attn, *inputs)

def inputs(form, b, n, m):
    return torch.randn(b, n, 16), *FORMS[form][1](b, n, m)

for form in FORMS:
    model, example = Looking(FORMS[form][0]).eval(), inputs(form, 3, 10, 7)
    sizes = tuple({i: Dim.DYNAMIC for i, size in enumerate(x.shape) if size in (3, 10, 7)} for x in example)
    program = export(model, example, dynamic_shapes=(sizes,)).module()
    other = inputs(form, 5, 170, 21)
    torch.testing.assert_close(program(*other), model(*other), msg=form)
""")


def test_a_whole_model_of_texts_is_compiled_once_for_all_lengths_however_they_are_padded() -> None:
    run("""
import torch
from torch._dynamo.testing import CompileCounter
from regard.models import build

for name in ("gpt-nano", "bert-nano"):
    for padded in ("no", "lengths", "visible"):
        torch._dynamo.reset()
        counter, model = CompileCounter(), build(name).eval()
        compiled = torch.compile(model, backend=counter)
        with torch.no_grad():
            for n in (5, 6, 9, 14, 23, 30):
                ids, options = torch.randint(48, (2, n)), {}
                if padded == "lengths":
                    options["lengths"] = torch.tensor([n, n - 2])
                if padded == "visible":
                    options["visible"] = torch.arange(n) >= torch.tensor([[0], [2]])
                compiled(ids, **options)
        # The first length is taken for a number, the second for a symbol that serves all others.
        assert counter.frame_count <= 2, f"{name}, padding by {padded}: {counter.frame_count} graphs"
""")
