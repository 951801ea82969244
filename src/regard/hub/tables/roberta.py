"""RoBERTa as Hugging Face keeps it; CamemBERT and XLM-R have a `model_type` of their own and are laid out alike.

Theirs begin to count positions behind the id of the padding, since fairseq did: the rows of the table before that are
never read. They are left out here, and written as zeros.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from regard.hub.gate import CheckpointError
from regard.hub.tables.bert import body
from regard.hub.tables.encoder import Encoder
from regard.hub.tables.rules import Rule, behind, same, tied
from regard.hub.tables.table import Table, task_by_head
from regard.models.roberta import FAMILY, Config
from regard.text import Tokenizer

PAD = 1  # the id of the padding, where a file says nothing
_BODY: tuple[Rule, ...] = (
    *body("roberta."),
    same("lm_head.dense.{p}", "head.words.dense.{p}"),
    same("lm_head.layer_norm.{p}", "head.words.norm.{p}"),
    same("lm_head.bias", "head.words.to_vocab.bias"),
    tied("lm_head.decoder.bias", "lm_head.bias"),
    tied("lm_head.decoder.weight", "roberta.embeddings.word_embeddings.weight"),
)
# A classifier of texts pools by a layer of its own.
_CLASSIFIER = (
    same("classifier.dense.{p}", "head.pooler.dense.{p}"),
    same("classifier.out_proj.{p}", "head.classifier.{p}"),
)
_OTHERS = same("roberta.pooler.dense.{p}", "head.pooler.dense.{p}"), same("classifier.{p}", "head.classifier.{p}")


def rules(fields: Mapping[str, Any], about: Mapping[str, Any]) -> Sequence[Rule]:
    """Positions lie behind the id of the padding, and classifiers of texts and of tokens are named unlike."""
    rows = about.get("pad_token_id", PAD) + 1
    return (
        *_BODY,
        *(_CLASSIFIER if fields["head"] == "classify" else _OTHERS),
        behind("roberta.embeddings.position_embeddings.weight", "position.table", rows),
    )


def described(title: str, model_type: str, stem: str, vocab: int) -> Encoder:
    """RoBERTa or one of those that are laid out like it, with the vocabulary of a file that says nothing."""
    return Encoder(
        title,
        model_type,
        stem,
        "roberta.",
        sizes={
            "vocab": ("vocab_size", vocab),
            "width": ("hidden_size", 768),
            "depth": ("num_hidden_layers", 12),
            "heads": ("num_attention_heads", 12),
            "hidden": ("intermediate_size", 3072),
            "context": ("max_position_embeddings", 512),
            "segments": ("type_vocab_size", 2),
            "dropout": ("hidden_dropout_prob", 0.1),
            "eps": ("layer_norm_eps", 1e-12),
        },
        dropouts={"attention_probs_dropout_prob": 0.1, "classifier_dropout": None},
        words="lm_head.bias",
        pooler=("pooler.dense", ("none",)),
    )


def table(encoder: Encoder) -> Table:
    """A table of RoBERTa's layout; whatever it came from, a model is written as a RoBERTa."""

    def config(given: Mapping[str, Any], names: Set[str]) -> dict[str, Any]:
        """Our fields for their config.json; every field is honoured or refused by its name."""
        pad, places = given.get("pad_token_id", PAD), given.get(*encoder.sizes["context"])
        problems = []
        if type(pad) is not int or pad < 0:
            problems.append(f"pad_token_id is {str(pad)[:40]}, and positions are counted from behind it")
        elif type(places) is int and places < pad + 2:
            problems.append(f"max_position_embeddings is {places}, of which none lies behind pad_token_id {pad}")
        fields = encoder.config(given, names, problems)
        return {**fields, "context": places - pad - 1 if type(places) is int else places}

    def to_json(given: Config, tokenizer: Tokenizer | None) -> dict[str, Any]:
        """Their config.json for our config."""
        ids = (PAD, 0, 2) if tokenizer is None else (tokenizer.pad, tokenizer.start, tokenizer.stop)
        if ids[0] is None:
            raise ValueError("RoBERTa counts positions from behind the id of its padding, and this tokenizer has none")
        return {
            **encoder.to_json(given, tokenizer),
            "max_position_embeddings": given.context + ids[0] + 1,
            **dict(zip(("pad_token_id", "bos_token_id", "eos_token_id"), ids, strict=True)),
        }

    return Table(
        encoder.model_type,
        FAMILY,
        rules,
        config,
        to_json,
        tokenizer,
        task_by_head,
        encoder.unused,
        prefix=encoder.prefix,
        fits=lambda _: encoder.model_type == "roberta",
    )


def tokenizer(given: Mapping[str, Any], found: Tokenizer) -> Tokenizer:
    """A tokenizer whose padding is the model's."""
    pad = given.get("pad_token_id", PAD)
    if pad >= found.vocab:
        raise CheckpointError(f"pad_token_id is {pad}, which is no id of this tokenizer of {found.vocab}")
    return replace(found, pad=pad, specials=found.specials | {pad})


ENCODER = described("RoBERTa", "roberta", "Roberta", 50265)
TABLE = table(ENCODER)
