"""Look inside a model of `transformers`, or of anybody: run it on a text or on tensors with every attention watched."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from regard.analysis.reading import Reading, maps_of
from regard.attention import record
from regard.decode.forcing import evaluating
from regard.hub import Checkpoint, CheckpointError
from regard.pipelines.familiar import answer_familiar
from regard.pipelines.pipeline import Edits, Evaluation, Pipeline, TooLongError
from regard.text import Words


class Foreign(Pipeline):
    """Somebody else's model. What it gives is its own; what can be done here is to look inside it.

    An input is a text, where there is a tokenizer, or the keyword arguments of the model as a mapping.
    """

    task, takes, gives = "look", "text or tensors", "the model's own output"

    def __call__(self, inputs: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]]) -> list[Any]:
        """The model's own output for each input."""
        every = [inputs] if isinstance(inputs, str | Mapping) else inputs
        with evaluating(self.model), torch.no_grad():
            return [self.model(**self._arguments(each)) for each in every]

    def evaluate(self, data: str, *, split: str = "", limit: int = 0, progress: Any = None) -> Evaluation:  # noqa: ARG002
        """Nothing is known of what a foreign model should say."""
        raise ValueError(
            f"{self.name} is not one of regard's models, so that nothing says what is right for it on {data}; "
            f"load it as a task, as by task='translate', or use attend"
        )

    @answer_familiar
    @torch.no_grad()
    def attend(self, given: str | Mapping[str, Any], *, edits: Edits | None = None) -> Reading:
        """Run the model once with every attention watched; rows and columns are its tokens where they are as many."""
        arguments = self._arguments(given)
        with evaluating(self.model), record(self.model, edits=edits) as trace:
            output = self.model(**arguments)
        axes, maps = maps_of(trace, self._tokens(arguments, "input_ids"), self._tokens(arguments, "decoder_input_ids"))
        caption = f"“{given}”" if isinstance(given, str) else ", ".join(given)
        return Reading(self.name, axes, maps, trace, output, caption)

    def _arguments(self, given: str | Mapping[str, Any]) -> dict[str, Any]:
        if isinstance(given, Mapping):
            return dict(given)
        if not isinstance(given, str):
            raise ValueError(
                f"a {type(given).__name__} is no input of {self.name}; give a text, or the arguments of its forward "
                f"by name, as {{'input_ids': ids}}"
            )
        if self.tokenizer is None:
            raise ValueError(f"{self.name} has no tokenizer to read a text with; give one by tokenizer=, or tensors")
        if hasattr(self.tokenizer, "convert_ids_to_tokens"):  # of transformers
            found = dict(self.tokenizer(given, return_tensors="pt"))
        else:
            found = {"input_ids": torch.tensor(self.tokenizer.encode([given]))}
        if (tokens := found["input_ids"].shape[1]) > self.limit:
            raise TooLongError(0, tokens, self.limit)
        if getattr(getattr(self.model, "config", None), "is_encoder_decoder", False):
            found.setdefault("decoder_input_ids", found["input_ids"])  # it writes what it reads
        return {name: tensor.to(self.device) for name, tensor in found.items()}

    def _tokens(self, arguments: Mapping[str, Any], name: str) -> dict[int, Words]:
        """The tokens of a text that went in, by how many they are."""
        ids = arguments.get(name)
        if self.tokenizer is None or not isinstance(ids, torch.Tensor):
            return {}
        row = ids[0].tolist()
        if hasattr(self.tokenizer, "convert_ids_to_tokens"):
            return {len(row): Words.whole([str(each) for each in self.tokenizer.convert_ids_to_tokens(row)])}
        return {len(row): self.tokenizer.words(row)}


def open_with_transformers(folder: Path, name: str, tokenizer: Any) -> Checkpoint:
    """A Hugging Face folder that no table or no task of ours takes, opened by `transformers` where it is installed.

    Nothing is fetched, and no code of the folder is run.
    """
    try:
        from transformers import AutoModel, AutoTokenizer
    except ImportError:
        raise CheckpointError(
            f"{folder} is a Hugging Face model that no task of regard takes; to look at it by transformers, in a clone "
            f"of regard, pip install '.[hf]'"
        ) from None
    settings = {"local_files_only": True, "trust_remote_code": False}
    try:
        with _silence():
            model = AutoModel.from_pretrained(folder, attn_implementation="sdpa", use_safetensors=True, **settings)
            found = tokenizer or (AutoTokenizer.from_pretrained(folder, **settings) if _has_tokenizer(folder) else None)
    except Exception as error:  # whatever a stranger's folder brings about there
        raise CheckpointError(
            f"{folder} cannot be opened by transformers: {' '.join(str(error).split())[:300]}"
        ) from None
    return Checkpoint(model.eval(), None, found, {"title": type(model).__name__}, folder, name)


@contextmanager
def _silence() -> Iterator[None]:
    """No progress bars and reports of `transformers` for a while."""
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


def _has_tokenizer(folder: Path) -> bool:
    return any(
        (folder / name).is_file() for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt", "vocab.json")
    )
