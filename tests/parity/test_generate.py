"""What `transformers` writes by the same weights, word by word; its processors on the same logits; its chats."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    TopKLogitsWarper,
    TopPLogitsWarper,
)
from transformers.utils.chat_template_utils import render_jinja_template

from regard.decode import Speller
from regard.decode.penalty import penalise
from regard.decode.sampling import narrow
from regard.hub import Checkpoint, load
from regard.pipelines.generate import Generate
from regard.text.chat import render

VOCAB, STOP, NEW = 60, 7, 12
PROMPTS = [[3, 14, 15, 9, 26, 5], [35, 8], [11], [9, 7, 9, 32, 38, 46, 2, 6, 4]]


@cache
def theirs() -> Any:
    config = GPT2Config(
        vocab_size=VOCAB, n_positions=32, n_embd=32, n_layer=2, n_head=4, bos_token_id=1, eos_token_id=STOP
    )
    model = GPT2LMHeadModel(config).eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model


@pytest.fixture
def ours(tmp_path: Path) -> Generate:
    theirs().save_pretrained(tmp_path)
    found = load(tmp_path)
    pipeline = Generate(Checkpoint(found.model, found.family, None, {}, tmp_path, "tiny"))
    pipeline.prompts.stops = frozenset((STOP,))
    return pipeline


def told(prompts: list[list[int]], **wishes: Any) -> list[tuple[int, ...]]:
    """By their own generate, of prompts that are padded on the left."""
    longest = max(map(len, prompts))
    ids = torch.tensor([[0] * (longest - len(prompt)) + prompt for prompt in prompts])
    mask = torch.tensor([[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts])
    out = theirs().generate(ids, attention_mask=mask, max_new_tokens=NEW, pad_token_id=0, **wishes)
    return [_until_stop(row[longest:].tolist()) for row in out]


def _until_stop(ids: list[int]) -> tuple[int, ...]:
    return tuple(ids[: ids.index(STOP)] if STOP in ids else ids)


def test_greedy_words_are_theirs_alone_and_in_a_batch_that_is_padded_on_the_left(ours: Generate) -> None:
    written = ours(PROMPTS, max_new_tokens=NEW)
    assert [each.ids for each in written] == told(PROMPTS, do_sample=False)
    for prompt, each in zip(PROMPTS, written, strict=True):
        assert [each.ids] == told([prompt], do_sample=False)
        assert each.finished == (len(each.ids) < NEW)


@pytest.mark.parametrize("penalty", [1.2, 2.5, 0.8])
def test_a_repetition_penalty_gives_their_words(ours: Generate, penalty: float) -> None:
    # One by one, since theirs counts the padding of a batch as if it had been said.
    for prompt in PROMPTS:
        (written,) = ours([prompt], max_new_tokens=NEW, repetition_penalty=penalty)
        assert [written.ids] == told([prompt], do_sample=False, repetition_penalty=penalty)


def test_a_beam_finds_what_theirs_finds(ours: Generate) -> None:
    for prompt in PROMPTS:
        (written,) = ours([prompt], max_new_tokens=6, beam=3, length_penalty=0.0)
        ids = theirs().generate(
            torch.tensor([prompt]),
            attention_mask=torch.ones(1, len(prompt)),
            max_new_tokens=6,
            num_beams=3,
            length_penalty=0.0,
            do_sample=False,
            early_stopping="never",
            pad_token_id=0,
        )[0, len(prompt) :]
        assert written.ids == _until_stop(ids.tolist())


def logits(rows: int = 20, vocab: int = 700) -> Tensor:
    return 4 * torch.randn(rows, vocab)


@pytest.mark.parametrize(
    ("mine", "their"),
    [
        ({"top_k": 5}, [TopKLogitsWarper(5)]),
        ({"top_k": 1}, [TopKLogitsWarper(1)]),
        ({"top_p": 0.3}, [TopPLogitsWarper(0.3)]),
        ({"top_p": 0.9}, [TopPLogitsWarper(0.9)]),
        ({"min_p": 0.05}, [MinPLogitsWarper(0.05)]),
        ({"min_p": 1.0}, [MinPLogitsWarper(1.0)]),
        (
            {"top_k": 40, "top_p": 0.8, "min_p": 0.1},
            [TopKLogitsWarper(40), TopPLogitsWarper(0.8), MinPLogitsWarper(0.1)],
        ),
    ],
    ids=lambda each: str(each) if isinstance(each, dict) else "theirs",
)
def test_the_words_that_may_be_drawn_are_theirs(mine: dict[str, Any], their: list[Any]) -> None:
    for given in (logits(), logits() / 40):  # a few words hold most of the probability, or hundreds do
        expected = given
        for each in their:
            expected = each(None, expected)
        assert narrow(given, **mine).equal(expected)


def test_what_was_said_counts_as_little_as_theirs() -> None:
    given, ids = logits(), torch.randint(700, (20, 30))
    said = torch.zeros(20, 700, dtype=torch.bool).scatter_(1, ids, True)
    expected = RepetitionPenaltyLogitsProcessor(1.3)(ids, given.clone())
    torch.testing.assert_close(penalise(given, said, 1.3), expected)


CHATS = {
    "chatml": (
        "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\n"
        "You are helpful.<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + "
        "'<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
    ),
    "llama 2": (
        "{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set system_message = "
        "messages[0]['content'] %}{% else %}{% set loop_messages = messages %}{% set system_message = false %}{% endif "
        "%}{% for message in loop_messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
        "{{ raise_exception('Roles must alternate') }}{% endif %}{% if loop.index0 == 0 and system_message != false %}"
        "{% set content = '<<SYS>>\n' + system_message + '\n<</SYS>>\n\n' + message['content'] %}{% else %}{% set "
        "content = message['content'] %}{% endif %}{% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + "
        "content.strip() + ' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ ' ' + content.strip() + ' ' + "
        "eos_token }}{% endif %}{% endfor %}"
    ),
    "namespaces, filters and blocks": (
        "{%- set ns = namespace(count=0, names=[]) %}\n{%- for m in messages %}\n    {%- if m.role == 'user' %}\n"
        "        {%- set ns.count = ns.count + 1 %}\n    {%- endif %}\n"
        "    {%- if loop.index > 3 %}{% break %}{% endif %}\n"
        "    {{- '[' ~ loop.index0 ~ ':' ~ m.role | upper ~ '] ' ~ m.content | trim }}\n{%- endfor %}\n"
        "{{ ns.count }} {{ messages | map(attribute='role') | unique | join(', ') }} {{ messages[-1] | tojson }}\n"
        "{%- for key, value in messages[0].items() %} {{ key }}={{ value | length }}{% endfor %}\n"
        "{%- generation %}said{% endgeneration %}{{ messages | selectattr('role', 'equalto', 'user') | list | length }}"
        "{%- macro twice(x) %}{{ x }}{{ x }}{% endmacro %}{{ twice('ab') }}{{ 'x-y'.split('-')[1] * 3 }}{{ 7 // 2 }}"
    ),
}
TALK = [
    {"role": "system", "content": "Be short, please."},
    {"role": "user", "content": "  Größe <b>?  "},
    {"role": "assistant", "content": "Yes."},
    {"role": "user", "content": "Why?"},
]


@pytest.mark.parametrize("name", CHATS)
@pytest.mark.parametrize("talk", [TALK, TALK[1:], TALK[1:2]], ids=["system", "three", "one"])
def test_chats_are_laid_out_as_theirs(name: str, talk: list[dict[str, str]]) -> None:
    for answer in (True, False):
        (expected,), _ = render_jinja_template(
            [talk], chat_template=CHATS[name], add_generation_prompt=answer, bos_token="<s>", eos_token="</s>"
        )
        assert render(CHATS[name], talk, start="<s>", stop="</s>", answer=answer) == expected


def test_pieces_join_to_the_text_of_a_tokenizer_of_theirs_that_marks_spaces(tmp_path: Path) -> None:
    """As Llama's: a word carries the space before it, and what is unknown is written in bytes."""
    from tokenizers import Tokenizer as Theirs
    from tokenizers import decoders, models, normalizers

    from regard.text import Tokenizer

    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁the", "▁cat", "s", "▁", "."]
    inner = Theirs(models.BPE({piece: i for i, piece in enumerate(pieces)}, [], unk_token="<unk>", byte_fallback=True))
    inner.normalizer = normalizers.Replace(" ", "▁")
    inner.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    inner.save(str(tmp_path / "tokenizer.json"))
    tokenizer = Tokenizer.load(tmp_path)
    the, cat, s, stop = (pieces.index(piece) for piece in ("▁the", "▁cat", "s", "."))
    euro = [3 + byte for byte in "€".encode()]
    ids = [cat, s, *euro, the, *euro[:2], stop]
    speller = Speller(tokenizer, [the])
    shown = [speller.add(word) for word in ids]
    assert shown[:5] == [" cat", "s", "", "", "€"]
    speller.finish()
    assert "the" + speller.text == tokenizer.decode([the, *ids])
