"""A model as the doctor takes it: what it is fed with, which of its inputs are words, and how their padding is said."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any, get_args

import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn

from regard.analysis.anatomy import read_answer
from regard.attention import Packed
from regard.models.family import Family

# By which words the places of an answer run, and which words can be padded; the first that a model takes.
WRITTEN = ("target", "decoder_input_ids", "ids", "input_ids")
READ = ("source", "ids", "input_ids")
FOREIGN = 10  # words of a text for a model of others


@dataclass(frozen=True, slots=True, eq=False)
class Patient:
    """A model and all that the checks ask of it."""

    model: nn.Module
    draw: Callable[[], dict[str, Any]]  # what forward requires, for a batch of two; other numbers every time
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

    @property
    def sides(self) -> tuple[str, ...]:
        """Where the words that are read may be padded."""
        if self.read is None:
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
        return read_answer(self.model(**inputs))

    def speaks(self, output: Any) -> bool:
        """Whether an output holds logits, and not states alone."""
        named = (getattr(output, name, None) for name in ("logits", "prediction_logits"))
        return isinstance(output, Tensor) or any(isinstance(each, Tensor) for each in named)

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
    """What forward requires of an example, with rows of words twice as long as there."""
    names = signature(model.forward).parameters
    one, other = (family.example(model.config) for _ in range(2))
    required = [name for name in one if names[name].default is Parameter.empty]
    words = [name for name in required if isinstance(one[name], Tensor) and one[name].ndim == 2]
    return {
        name: torch.cat((one[name], other[name]), dim=1) if name in words and not one[name].is_floating_point()
        else one[name]
        for name in required
    }  # fmt: skip


def _foreign(model: Any) -> dict[str, Any]:
    """Random words that are no special ones, of which positions may depend."""
    config = model.config
    special = {getattr(config, f"{role}_token_id", None) for role in ("pad", "bos", "eos", "sep", "cls", "mask")}
    known = torch.tensor([i for i in range(model.get_input_embeddings().num_embeddings) if i not in special])
    drawn = {"input_ids": known[torch.randint(len(known), (2, FOREIGN))]}
    if getattr(config, "is_encoder_decoder", False):
        drawn["decoder_input_ids"] = known[torch.randint(len(known), (2, FOREIGN - 2))]
    return drawn


def _place(inputs: Mapping[str, Any], device: torch.device) -> dict[str, Any]:
    return {name: x.to(device) if isinstance(x, Tensor) else x for name, x in inputs.items()}
