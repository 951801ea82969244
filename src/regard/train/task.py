"""What a recipe hands to the loop: a model, its batches, what is good, and what its card should say."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from PIL import Image
from torch import Tensor, nn

from regard.models.family import Family
from regard.names import Dtype
from regard.text import Tokenizer
from regard.train.source import Source
from regard.vision.processor import Processor

Groups = Callable[[nn.Module], Sequence[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Task:
    """Everything that differs between one training and another."""

    model: nn.Module
    batches: Source | Iterable[Any]  # a `Source` resumes at once; of a DataLoader or a list, what was seen is skipped
    size: Callable[[Any], int]  # how many things of a batch are predicted, say words
    loss: Callable[[nn.Module, Any], Tensor]  # summed over these things
    score: Callable[[nn.Module], Mapping[str, float]]  # on held-out data
    metric: str  # the name of the score that decides which model is best
    higher_is_better: Collection[str] = ()  # the scores of which more is better; of all others, less
    unit: str = "words"  # of what `size` counts
    show: Callable[[nn.Module], list[dict[str, str]]] | None = None  # what the model makes of some held-out things
    # How it is trained, beyond the plan.
    settled: Mapping[str, Any] = field(default_factory=dict)  # flags that the data decide, as the steps of some epochs
    layer_decay: float = 1.0  # each block learns at this share of the lr of the block above it (Clark 2020)
    parameter_groups: Groups | None = None  # torch's groups, with "lr_scale" for a share of the plan's lr
    after_step: Callable[[nn.Module, int], None] | None = None  # say, a teacher in the model that follows its student
    idle: bool = False  # whether a batch may leave some weights without a gradient, say those of boxes
    teacher: nn.Module | None = None  # a model that is learnt from and stays as it is: a run goes on with no other
    # What is left at the end.
    # Makes a trained model one of its family, say from adapters; or gives the part of it that is kept, say an eye.
    merge: Callable[[nn.Module], nn.Module | None] | None = None
    family: Family | None = None  # without one, the state dict is saved, and only your own code can load it
    task: str = ""  # the pipeline that serves the model, such as translate
    card: Mapping[str, Any] = field(default_factory=dict)  # title, data, terms, languages, …
    trained_with: Mapping[str, Any] = field(default_factory=dict)  # facts in place of flags; None leaves a flag out
    measure: Callable[[nn.Module], Mapping[str, Any]] | None = None  # for the card: `measured`
    picture: Callable[[nn.Module], Image.Image] | None = None  # of what the model makes, beside it in the run's folder
    tokenizer: Tokenizer | None = None
    processor: Processor | None = None  # of pictures
    dtype: Dtype = "bfloat16"  # of the weights that are saved
    notes: Sequence[str] = ()  # what the user should know before the first step, say how a table was read

    def is_better(self, score: str, value: float, than: float) -> bool:
        return value > than if score in self.higher_is_better else value < than
