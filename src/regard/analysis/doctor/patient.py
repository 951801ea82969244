"""A model as the doctor takes it: what it is fed with, which of its inputs are words, and how their padding is said."""

import math
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, fields, is_dataclass
from inspect import Parameter, signature
from typing import Any, get_args

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.analysis.anatomy import read_answer
from regard.attention import Packed
from regard.models.family import Family

# By which words the places of an answer run, and which words can be padded; the first that a model takes.
WRITTEN = ("target", "decoder_input_ids", "ids", "input_ids")
READ = ("source", "ids", "input_ids")
PADDING = ("lengths", "visible")  # what an example says of padding, which the checks say themselves
FOREIGN = 10  # words of a text for a model of others


@dataclass(frozen=True, slots=True, eq=False)
class Patient:
    """A model and all that the checks ask of it."""

    model: nn.Module
    draw: Callable[[], dict[str, Any]]  # what forward reads, for a batch of two; other numbers every time
    fresh: Callable[[], nn.Module] | None = None  # the same model with new weights
    frozen: tuple[str, ...] = ()  # parameters that get no gradient, by how their names begin
    text: Int[Tensor, "1 n"] | None = None
    steps: int = 60  # of the training that has to learn one batch by heart

    @property
    def takes(self) -> Mapping[str, Parameter]:
        """The arguments of forward."""
        return signature(self.model.forward).parameters

    @property
    def written(self) -> str | None:
        """The words by whose places the answer runs."""
        return next((name for name in WRITTEN if name in self.takes and name in self.draw()), None)

    @property
    def read(self) -> str | None:
        """The words that can be padded."""
        return next((name for name in READ if name in self.takes), None)

    def beside(self, inputs: Mapping[str, Any]) -> list[str]:
        """The inputs that run by the words that are read: these themselves, and what is said of each of them."""
        assert self.read is not None
        shape = inputs[self.read].shape
        same = [name for name, x in inputs.items() if isinstance(x, Tensor) and x.shape == shape]
        return [name for name in same if name == self.read or name != self.written]

    @property
    def sides(self) -> tuple[str, ...]:
        """Where the words that are read may be padded."""
        if self.read is None or self._fills():
            return ()
        if "visible" in self.takes or self._lifts_positions():
            return ("behind", "before")
        return ("behind",) if {"lengths", "attention_mask"} & self.takes.keys() else ()

    @property
    def packs(self) -> bool:
        """Whether texts may lie one behind another in one row."""
        return "visible" in self.takes and Packed in get_args(self.takes["visible"].annotation)

    def hide(self, real: Bool[Tensor, "b n"]) -> dict[str, Any]:
        """How this model is told which words are there."""
        behind = bool(real[:, 0].all())
        if "lengths" in self.takes and behind:
            return {"lengths": real.sum(dim=1)}
        if "visible" in self.takes:
            return {"visible": real}
        said: dict[str, Any] = {"attention_mask": real.long()}
        return said if behind else said | {"position_ids": (real.cumsum(dim=1) - 1).clamp(min=0)}

    def answer(self, inputs: Mapping[str, Any]) -> Tensor:
        """What the model says."""
        return as_rows(read_answer(self.model(**inputs)))

    def answers(self, inputs: Mapping[str, Any]) -> list[Tensor]:
        """All that the model says of each row of a batch, and not of the batch, as a temperature is."""
        rows = len(next(x for x in inputs.values() if isinstance(x, Tensor)))
        return [x for x in fold(self.model(**inputs)) if x.ndim and len(x) == rows]

    def speaks(self, output: Any) -> bool:
        """Whether an output holds logits, and not states alone."""
        named = (getattr(output, name, None) for name in ("logits", "prediction_logits"))
        return isinstance(output, Tensor) or any(isinstance(each, Tensor) for each in named)

    def choices(self, model: nn.Module) -> Float[Tensor, "*b c"] | None:
        """The logits of words or classes, as this model or one like it gives them; None where it chooses from none.

        States alone are no choice, nor is a picture; and nor are the other rows of a batch, as texts are for CLIP.
        """
        inputs = self.draw()
        output, alone = model(**inputs), model(**row(inputs, 0))
        answer = as_rows(read_answer(output))
        fixed = answer.shape[-1] == as_rows(read_answer(alone)).shape[-1]
        return answer if self.speaks(output) and fixed and answer.ndim <= 3 and answer.shape[-1] > 1 else None

    def _fills(self) -> bool:
        # SigLIP's rows are as long as its context, and it reads padding as it reads words.
        context = getattr(getattr(self.model, "config", None), "context", None)
        inputs = self.draw()
        return self.read in inputs and inputs[self.read].shape[1] == context

    def _lifts_positions(self) -> bool:
        # Others' decoders leave it to their caller to count positions; their encoders are padded behind.
        causal = any(getattr(module, "is_causal", False) is True for module in self.model.modules())
        return causal and {"attention_mask", "position_ids"} <= self.takes.keys()


def admit(
    model: nn.Module, family: Family | None, inputs: Mapping[str, Any] | None, text: Tensor | None, steps: int
) -> Patient:
    """Find out how to feed a model: by its family's example, by inputs that are given, or as transformers does."""
    config = getattr(model, "config", None)
    fresh: Callable[[], nn.Module] | None = None
    device = next(model.parameters()).device
    if family is not None:
        made = family

        def draw() -> dict[str, Any]:
            return _place(_example(made, model), device)

        def fresh() -> nn.Module:
            return made.model(config).to(device).eval()
    elif inputs is not None:

        def draw() -> dict[str, Any]:
            return dict(inputs)
    elif "input_ids" in signature(model.forward).parameters:

        def draw() -> dict[str, Any]:
            return _place(_foreign(model), device)
    else:
        raise ValueError(
            f"nothing says what a {type(model).__name__} reads; give its family, or inputs= by the names of its forward"
        )
    if family is None and hasattr(config, "to_dict"):  # of transformers

        def fresh() -> nn.Module:
            return type(model)(deepcopy(config)).to(device).eval()

    return Patient(model, draw, fresh, () if family is None else family.frozen, text, steps)


def _example(family: Family, model: Any) -> dict[str, Any]:
    """What forward reads of an example, with rows of words twice as long as there, where they may be so long."""
    one, other = (family.example(model.config) for _ in range(2))
    most = getattr(model.config, "context", math.inf)

    def lengthen(name: str) -> Any:
        x = one[name]
        if not isinstance(x, Tensor) or x.ndim != 2 or x.is_floating_point() or 2 * x.shape[1] >= most:
            return x
        # What is said of things that are no words, as the labels of points, is as long as these.
        if any(isinstance(y, Tensor) and y.is_floating_point() and y.shape[:-1] == x.shape for y in one.values()):
            return x
        # Words are followed by others; marks, as of the words before which a picture stands, by none.
        return torch.cat((x, torch.zeros_like(x) if x.dtype == torch.bool else other[name]), dim=1)

    return {name: lengthen(name) for name in one if name not in PADDING}


def _foreign(model: Any) -> dict[str, Any]:
    """Random words that are no special ones, of which positions may depend."""
    config = model.config
    special = {getattr(config, f"{role}_token_id", None) for role in ("pad", "bos", "eos", "sep", "cls", "mask")}
    known = torch.tensor([i for i in range(model.get_input_embeddings().num_embeddings) if i not in special])
    drawn = {"input_ids": known[torch.randint(len(known), (2, FOREIGN))]}
    if getattr(config, "is_encoder_decoder", False):
        drawn["decoder_input_ids"] = known[torch.randint(len(known), (2, FOREIGN - 2))]
    return drawn


def row(inputs: Mapping[str, Any], i: int) -> dict[str, Any]:
    """One of a batch, as a batch of its own."""
    return {name: x[i : i + 1] if isinstance(x, Tensor) else x for name, x in inputs.items()}


def as_rows(answer: Tensor) -> Tensor:
    """One number for each row is an answer of one number."""
    return answer[:, None] if answer.ndim == 1 else answer


def fold(output: object) -> Iterator[Tensor]:
    """The tensors of whatever a model or a module gives."""
    if isinstance(output, Tensor):
        yield output
        return
    if is_dataclass(output) and not isinstance(output, type | Mapping):
        output = [getattr(output, field.name) for field in fields(output)]
    parts = output.values() if isinstance(output, Mapping) else output if isinstance(output, list | tuple) else ()
    for part in parts:
        yield from fold(part)


def _place(inputs: Mapping[str, Any], device: torch.device) -> dict[str, Any]:
    return {name: x.to(device) if isinstance(x, Tensor) else x for name, x in inputs.items()}
