"""Look inside a model of `transformers`, or of anybody: run it on a text or on tensors with every attention watched."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from regard.analysis.reading import Map, Reading, read_layer
from regard.analysis.view import Axis, Latents
from regard.attention import record
from regard.decode.forcing import evaluating
from regard.hub import Checkpoint, CheckpointError
from regard.pipelines.pipeline import Edits, Evaluation, Pipeline
from regard.text import Words


class Foreign(Pipeline):
    """Somebody else's model. What it gives is its own; what can be done here is to look inside it.

    An input is a text, where there is a tokenizer, or the keyword arguments of the model as a mapping.
    """

    task, takes, gives = "look", "text or tensors", "the model's own output"

    def __call__(self, inputs: Sequence[str | Mapping[str, Any]]) -> list[Any]:
        """The model's own output for each input."""
        with evaluating(self.model), torch.no_grad():
            return [self.model(**self._arguments(each)) for each in ([inputs] if isinstance(inputs, str) else inputs)]

    def evaluate(self, data: str, *, split: str = "", limit: int = 0, progress: Any = None) -> Evaluation:  # noqa: ARG002
        """Nothing is known of what a foreign model should say."""
        raise ValueError(
            f"{self.name} is not one of regard's models, so that nothing says what is right for it on {data}; "
            f"load it as a task, as by task='translate', or use attend"
        )

    @torch.no_grad()
    def attend(self, given: str | Mapping[str, Any], *, edits: Edits | None = None) -> Reading:
        """Run the model once with every attention watched; rows and columns are its tokens where they are as many."""
        arguments = self._arguments(given)
        with evaluating(self.model), record(self.model, edits=edits) as trace:
            output = self.model(**arguments)
        tokens = self._tokens(arguments)
        axes: dict[str, Axis] = {}
        maps = []
        for name in trace:
            *_, heads, queries, keys = trace.map(name).shape
            for size in (queries, keys):
                axes.setdefault(str(size), tokens.get(size) or Latents(size))
            kind = "self" if queries == keys else "cross"
            maps.append(Map(name, kind, read_layer(name), heads, str(queries), str(keys), kind))  # type: ignore[arg-type]
        caption = f"“{given}”" if isinstance(given, str) else ", ".join(given)
        return Reading(self.name, axes, tuple(maps), trace, output, caption)

    def _arguments(self, given: str | Mapping[str, Any]) -> dict[str, Any]:
        if not isinstance(given, str):
            return dict(given)
        if self.tokenizer is None:
            raise ValueError(f"{self.name} has no tokenizer to read a text with; give one by tokenizer=, or tensors")
        if hasattr(self.tokenizer, "convert_ids_to_tokens"):  # of transformers
            found = dict(self.tokenizer(given, return_tensors="pt"))
        else:
            found = {"input_ids": torch.tensor(self.tokenizer.encode([given]))}
        if getattr(getattr(self.model, "config", None), "is_encoder_decoder", False):
            found.setdefault("decoder_input_ids", found["input_ids"])  # it writes what it reads
        return {name: tensor.to(self.device) for name, tensor in found.items()}

    def _tokens(self, arguments: Mapping[str, Any]) -> dict[int, Words]:
        """The tokens of each text that went in, by how many they are."""
        found: dict[int, Words] = {}
        for name in ("input_ids", "decoder_input_ids"):
            ids = arguments.get(name)
            if self.tokenizer is None or not isinstance(ids, torch.Tensor):
                continue
            row = ids[0].tolist()
            if hasattr(self.tokenizer, "convert_ids_to_tokens"):
                found[len(row)] = Words.whole([str(each) for each in self.tokenizer.convert_ids_to_tokens(row)])
            else:
                found[len(row)] = self.tokenizer.words(row)
        return found


def open_with_transformers(what: Any, tokenizer: Any) -> Checkpoint | None:
    """A Hugging Face folder that no table of ours reads, opened by `transformers` where that is installed.

    Nothing is fetched, and no code of the folder is run. None where it is no such folder.
    """
    folder = Path(str(what))
    if (
        not (folder / "config.json").is_file()
        or "model_type" not in (folder / "config.json").read_text("utf-8")[: 10**6]
    ):
        return None
    try:
        from transformers import AutoModel, AutoTokenizer
    except ImportError:
        raise CheckpointError(
            f"{folder} is a Hugging Face model that regard has no table for; pip install transformers, to look at it"
        ) from None
    settings = {"local_files_only": True, "trust_remote_code": False}
    try:
        model = AutoModel.from_pretrained(folder, attn_implementation="sdpa", use_safetensors=True, **settings)
        found = tokenizer or (AutoTokenizer.from_pretrained(folder, **settings) if _has_tokenizer(folder) else None)
    except Exception as error:  # whatever a stranger's folder brings about there
        raise CheckpointError(
            f"{folder} cannot be opened by transformers: {' '.join(str(error).split())[:300]}"
        ) from None
    return Checkpoint(model.eval(), None, found, {"title": type(model).__name__}, folder, folder.resolve().name)


def _has_tokenizer(folder: Path) -> bool:
    return any(
        (folder / name).is_file() for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt", "vocab.json")
    )
