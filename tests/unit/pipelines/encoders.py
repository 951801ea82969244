"""Small encoders that have learnt nothing, with a tokenizer as BERT's."""

from pathlib import Path
from typing import Any

import tokenizers
import torch
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

from regard.models.bert import BERT, Config
from regard.text import Tokenizer

WORDS = ["the", "dog", "cat", "runs", "sleeps", "and", "who", "park", "in", "karel", "mario", "##s", "##ing", ".", "?"]
NAMES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]


def tokenizer_of(folder: Path) -> Tokenizer:
    """WordPiece between [CLS] and [SEP], in lower case."""
    inner = tokenizers.Tokenizer(models.WordPiece({name: i for i, name in enumerate(NAMES)}, unk_token="[UNK]"))
    inner.normalizer, inner.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    inner.decoder = decoders.WordPiece()
    inner.add_special_tokens(NAMES[:5])
    inner.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    folder.mkdir(parents=True, exist_ok=True)
    inner.save(str(folder / "tokenizer.json"))
    return Tokenizer.load(folder)


def bert(head: Any, *, classes: int = 2, context: int = 24) -> BERT:
    """A BERT whose first weights are large enough to tell texts apart."""
    torch.manual_seed(0)
    config = Config(
        vocab=len(NAMES),
        width=16,
        depth=2,
        heads=2,
        hidden=16,
        context=context,
        dropout=0.0,
        head=head,
        classes=classes,
    )
    model = BERT(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.mul_(20)
    return model
