"""Prompts as a language model reads them: texts, ids or conversations; and what ends its own texts."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from regard import files
from regard.decode.spell import Speller
from regard.hub import Checkpoint
from regard.pipelines.pipeline import TooLongError
from regard.text import chat
from regard.text.chat import Message

# A text, ids, or the messages of a conversation.
Prompt = str | Sequence[int] | Sequence[Message]

# What models of other libraries end a text or their turn with, beside the stop that their tokenizer names.
ENDS = ("<|endoftext|>", "<|end_of_text|>", "<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|end|>")


class Prompts:
    """How the prompts of one model are read. Without a tokenizer they are ids."""

    def __init__(self, checkpoint: Checkpoint, limit: int) -> None:
        self.checkpoint, self.limit = checkpoint, limit
        self.tokenizer: Any = checkpoint.tokenizer
        self.pad: int = getattr(self.tokenizer, "pad", None) or 0
        # Of a model that was trained on lines, each begins with the start and ends with the stop.
        self.lines = checkpoint.card.get("rows") == "lines"
        self.stops = frozenset[int]() if self.tokenizer is None else _ends(self.tokenizer)

    def encode(self, prompts: Sequence[Prompt], *, talk: bool = False, system: str = "") -> list[list[int]]:
        """The ids of each prompt; what does not fit into the context is refused. With `talk`, a text is a user's."""
        if system and not talk:
            raise ValueError("what a system prompt says is part of a chat; say chat=True, or put it into the prompt")
        found = [self._ids(prompt, talk, system) for prompt in prompts]
        for index, ids in enumerate(found):
            if len(ids) > self.limit:
                raise TooLongError(index, len(ids), self.limit)
        return found

    def speller(self, prompt: Sequence[int], stop: Sequence[str] = ()) -> Speller:
        """Who puts what follows a prompt into text; without a tokenizer, there is none."""
        if self.tokenizer is None and stop:
            raise ValueError(f"{self.checkpoint.name} has no tokenizer, so that no stop string is ever read in its ids")
        return Speller(self.tokenizer or _Mute(), prompt, stop)

    def template(self) -> str:
        """The chat template of the model: that of its card, or of the files that came with its tokenizer."""
        given = self.checkpoint.card.get("chat_template")
        beside = self.checkpoint.folder / "chat_template.jinja"
        if given is None and self.checkpoint.family is not None and beside.is_file():
            given = files.read(beside, 4 * chat.TEMPLATE).decode(errors="replace")
        if given is None and self.tokenizer is not None:
            settings = self.tokenizer.files().get("tokenizer_config.json", b"{}")
            given = json.loads(settings).get("chat_template")
        if isinstance(given, list):  # several by name
            given = {each.get("name"): each.get("template") for each in given if isinstance(each, dict)}.get("default")
        if not isinstance(given, str):
            raise ValueError(f"{self.checkpoint.name} has no chat template; it goes on with texts, so leave chat out")
        return given

    def _ids(self, prompt: Prompt, talk: bool, system: str) -> list[int]:
        if not isinstance(prompt, str) and all(type(each) is int for each in prompt):
            return self._check(prompt)
        if self.tokenizer is None:
            name = self.checkpoint.name
            raise ValueError(f"{name} has no tokenizer to read a text with; give one by tokenizer=, or give ids")
        if not isinstance(prompt, str) and not talk:
            raise ValueError(f"a {type(prompt).__name__} of messages is a chat; say chat=True, or give a text")
        ids: list[int]
        if talk:
            (ids,) = self.tokenizer.encode([self._render(prompt, system)], start=False, stop=False)
        elif self.lines:
            (ids,) = self.tokenizer.encode([prompt], start=self.tokenizer.start is not None, stop=False)
        else:
            (ids,) = self.tokenizer.encode([prompt])
        return ids or [self._begin()]

    def _render(self, prompt: Any, system: str) -> str:
        messages: list[Message] = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else list(prompt)
        if not messages or not all(isinstance(each, Mapping) and "role" in each for each in messages):
            raise ValueError('a chat is a text, or messages such as {"role": "user", "content": "Hello"}')
        if system:
            messages.insert(0, {"role": "system", "content": system})
        ids = self.tokenizer.start, self.tokenizer.stop
        start, stop = ("" if i is None else self.tokenizer.entry(i) for i in ids)
        return chat.render(self.template(), messages, start=start, stop=stop)

    def _begin(self) -> int:
        """What an empty prompt begins with."""
        first: int | None = self.tokenizer.start if self.tokenizer.start is not None else self.tokenizer.stop
        if first is None:
            name = self.checkpoint.name
            raise ValueError(
                f"an empty prompt leaves {name} nothing to go on from, as no token begins a text; give a word"
            )
        return first

    def _check(self, ids: Sequence[Any]) -> list[int]:
        model: Any = self.checkpoint.model
        wrong = [i for i in ids if not 0 <= i < model.config.vocab]
        if wrong or not ids:
            what = f"the id {wrong[0]}" if wrong else "an empty list of ids"
            raise ValueError(f"{what} is no prompt; give one id or more, each from 0 to {model.config.vocab - 1}")
        return list(ids)


def _ends(tokenizer: Any) -> frozenset[int]:
    """The ids that end a text."""
    named = {i for i in tokenizer.specials if tokenizer.entry(i) in ENDS}
    return frozenset(named if tokenizer.stop is None else named | {tokenizer.stop})


class _Mute:
    """The tokenizer of a model that has none."""

    def decode(self, ids: Sequence[int]) -> str:  # noqa: ARG002
        return ""
