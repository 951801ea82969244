"""Small Flamingos that have learnt nothing, and the language models they are made around."""

from pathlib import Path
from typing import Any

import torch
from torch import nn

from regard.data.talked import world_talks
from regard.hub import save
from regard.models import flamingo, gpt
from regard.text import Tokenizer
from regard.vision import Processor, Size

TOKENIZER = Tokenizer.train(world_talks("train", 200), kind="words", vocab=400, lower=True)
LANGUAGE = gpt.Config(TOKENIZER.vocab, 96, 32, 2, 4, 64, dropout=0.0, attn_dropout=0.0)


def small(*, gates: float = 0.7, **changes: Any) -> flamingo.Flamingo:
    """A small one whose gates are open, so that pictures matter."""
    torch.manual_seed(0)
    model = flamingo.FAMILY.build("flamingo-nano", language=LANGUAGE, **changes).eval()
    assert isinstance(model, flamingo.Flamingo)
    for block in model.gated:
        for gate in (block.cross_gate, block.mlp_gate):
            nn.init.constant_(gate, gates)
    return model


def save_flamingo(folder: Path) -> Path:
    about = {"task": "ask", "title": "Small and untaught", "data": "world"}
    processor = Processor(size=Size(height=16, width=16))
    save(folder, small(), family=flamingo.FAMILY, card=about, tokenizer=TOKENIZER, processor=processor)
    return folder


def save_language(folder: Path) -> Path:
    torch.manual_seed(0)
    about = {"task": "generate", "title": "Small and untaught", "data": "world", "rows": "lines"}
    model = gpt.GPT(LANGUAGE)
    nn.init.normal_(model.embed.weight, std=0.5)  # what is frozen must be able to say something surely
    save(folder, model, family=gpt.FAMILY, card=about, tokenizer=TOKENIZER)
    return folder
