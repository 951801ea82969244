"""What the tables of encoders share: BERT's relatives write config.json alike, and say in it which head they have.

A head is said by `architectures`, or by the tensors where it is silent. A pooler that no head reads is left out.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from regard.hub.gate import CheckpointError, listed
from regard.hub.tables.rules import Rule, alias, same
from regard.hub.tables.table import find_problems
from regard.layers.heads import Head
from regard.text import Tokenizer

HEADS: Mapping[str, Head] = {
    "ForPreTraining": "pretraining",
    "ForMaskedLM": "masked",
    "ForSequenceClassification": "classify",
    "ForTokenClassification": "tokens",
    "ForQuestionAnswering": "spans",
    "Model": "none",
}
# Theirs is first where several compute the same, up to rounding.
ACTIVATIONS: Mapping[str, Sequence[str]] = {
    "gelu": ("gelu", "gelu_python"),
    "gelu_tanh": ("gelu_pytorch_tanh", "gelu_new", "gelu_fast", "gelu_accurate", "gelu_python_tanh"),
    "relu": ("relu",),
    "silu": ("silu", "swish"),
}
# What our encoders can only do in one way; a file may leave each out.
FIXED: Mapping[str, tuple[object, ...]] = {
    "position_embedding_type": ("absolute",),
    "is_decoder": (False,),
    "is_encoder_decoder": (False,),
    "add_cross_attention": (False,),
    "cross_attention_hidden_size": (None,),
    "tie_encoder_decoder": (False,),
    "tie_word_embeddings": (True,),
    "pruned_heads": ({},),
    "quantization_config": (None,),
    "per_layer_config": (None,),
}
# These change no output: padding is given by lengths, so that its id does not matter; how classes are called and their
# loss is computed; how weights were first drawn; how a decoder, which this is not, would write; who made the file.
WITHOUT_EFFECT: Set[str] = {
    *("model_type", "_name_or_path", "_commit_hash", "transformers_version", "torch_dtype", "dtype", "use_bfloat16"),
    *("initializer_range", "use_cache", "gradient_checkpointing", "chunk_size_feed_forward", "attn_implementation"),
    *("_attn_implementation_autoset", "torchscript", "tf_legacy_loss", "return_dict", "output_attentions"),
    *("output_hidden_states", "output_past", "label2id", "problem_type", "finetuning_task", "task_specific_params"),
    *("pad_token_id", "bos_token_id", "eos_token_id", "sep_token_id", "decoder_start_token_id", "tokenizer_class"),
    *("prefix", "language", "name", "sentence_transformers", "max_length", "min_length", "do_sample", "early_stopping"),
    *("num_beams", "num_beam_groups", "diversity_penalty", "temperature", "top_k", "top_p", "typical_p"),
    *("repetition_penalty", "length_penalty", "no_repeat_ngram_size", "encoder_no_repeat_ngram_size"),
    *("bad_words_ids", "num_return_sequences", "output_scores", "return_dict_in_generate", "forced_bos_token_id"),
    *("forced_eos_token_id", "remove_invalid_values", "exponential_decay_length_penalty", "suppress_tokens"),
    *("begin_suppress_tokens",),
}


@dataclass(frozen=True, slots=True)
class Encoder:
    """How one kind of encoder is described, there and here."""

    title: str  # what errors call it
    model_type: str
    stem: str  # of the names of their classes
    prefix: str  # of their names of tensors
    # Their fields for ours, and what `transformers` takes for one that a file leaves out.
    sizes: Mapping[str, tuple[str, Any]]
    # Their fields that must say the same as that of `dropout`, and what they say where a file leaves them out; None, if
    # that is the same.
    dropouts: Mapping[str, float | None]
    words: str  # a tensor that only a head of hidden words has
    activation: tuple[str, str] = ("hidden_act", "gelu")
    sentences: str | None = None  # a tensor that only the head of two sentences has
    pooler: tuple[str, tuple[Head, ...]] | None = None  # what their pooler is called, and the heads that read it
    fixed: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    without_effect: Set[str] = frozenset()

    @property
    def heads(self) -> dict[str, Head]:
        """Our heads, by the names of their classes."""
        known = {each: head for each, head in HEADS.items() if self.sentences is not None or head != "pretraining"}
        return {f"{self.stem}{each}": head for each, head in known.items()}

    def config(self, given: Mapping[str, Any], names: Set[str], problems: Sequence[str] = ()) -> dict[str, Any]:
        """Our fields for their config.json; every field is honoured or refused by its name, as are other `problems`."""
        sizes = {ours: given.get(theirs, default) for ours, (theirs, default) in self.sizes.items()}
        said = given.get(*self.activation)
        activation = next((ours for ours, theirs in ACTIVATIONS.items() if said in theirs), None)
        head, labels = self._head(given.get("architectures"), names), given.get("id2label")
        problems = [*problems, *find_problems(given, self._known(), {**FIXED, **self.fixed}), *self._dropouts(given)]
        if activation is None:
            known = ", ".join(each for theirs in ACTIVATIONS.values() for each in theirs)
            problems.append(f"{self.activation[0]} is {str(said)[:40]!r}; known are {known}")
        if head is None:
            problems.append(f"architectures is {str(given['architectures'])[:60]}; known are {', '.join(self.heads)}")
        if self.pooler is not None and head in self.pooler[1] and not any(self.pooler[0] in name for name in names):
            problems.append(f"the pooler, which the head {head!r} reads, is missing")
        if not isinstance(labels, dict | None):
            problems.append(f"id2label is {str(labels)[:40]}, and no object")
        if problems:
            raise CheckpointError(f"this {self.title} is not supported: {listed(problems)}")
        classes = len(labels) if labels else given.get("num_labels", given.get("_num_labels", 2))
        return {
            **sizes,
            "activation": activation,
            "head": head,
            "classes": classes if head in ("classify", "tokens") else 2,
        }

    def to_json(self, given: Any, tokenizer: Tokenizer | None) -> dict[str, Any]:
        """Their config.json for our config."""
        names = {i: f"LABEL_{i}" for i in range(given.classes)} if given.head in ("classify", "tokens") else {}
        return {
            "model_type": self.model_type,
            "architectures": [theirs for theirs, ours in self.heads.items() if ours == given.head],
            **{theirs: getattr(given, ours) for ours, (theirs, _) in self.sizes.items()},
            **dict.fromkeys(self.dropouts, given.dropout),
            self.activation[0]: ACTIVATIONS[given.activation][0],
            "pad_token_id": 0 if tokenizer is None else tokenizer.pad,
            **({"id2label": names, "label2id": {name: i for i, name in names.items()}} if names else {}),
        }

    def unused(self, fields: Mapping[str, Any]) -> Set[str]:
        """The pooler, below heads that read the tokens themselves: older files have it all the same."""
        if self.pooler is None or fields["head"] in self.pooler[1]:
            return frozenset()
        return {f"{self.prefix}{self.pooler[0]}.{name}" for name in ("weight", "bias")}

    def _known(self) -> Set[str]:
        theirs = {name for name, _ in self.sizes.values()} | self.dropouts.keys() | {self.activation[0]}
        labels = {"architectures", "id2label", "num_labels", "_num_labels"}
        return theirs | labels | WITHOUT_EFFECT | self.without_effect

    def _dropouts(self, given: Mapping[str, Any]) -> list[str]:
        name, default = self.sizes["dropout"]
        dropout = given.get(name, default)
        others = {each: (given.get(each, default), default) for each, default in self.dropouts.items()}
        return [
            f"{each} is {str(other)[:40]} and {name} {str(dropout)[:40]}, and they must be the same"
            for each, (other, default) in others.items()
            if other != dropout and (other is not None or default is not None)
        ]

    def _head(self, architectures: object, names: Set[str]) -> Head | None:
        """Our name of the heads of a file, or None where they are not known."""
        said: Head | None = None
        if architectures is None:
            said = "masked" if self.words in names else "none"
        elif isinstance(architectures, list) and len(architectures) == 1 and isinstance(architectures[0], str):
            said = self.heads.get(architectures[0])
        return "pretraining" if said in ("masked", "none") and self.sentences in names else said


def norm(theirs: str, ours: str) -> list[Rule]:
    """A LayerNorm, whose weight and bias were called gamma and beta at first."""
    names = {"weight": "gamma", "bias": "beta"}
    return [
        *(same(f"{theirs}.{name}", f"{ours}.{name}") for name in names),
        *(alias(f"{theirs}.{old}", f"{ours}.{name}") for name, old in names.items()),
    ]
