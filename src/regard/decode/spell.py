"""Words as text while they are written: in whole characters, and up to a stop string."""

from collections.abc import Sequence
from typing import Any

BROKEN = "\ufffd"  # what half a character is shown as
BEFORE = 8  # ids that tell how the text goes on, as whether a space follows


class Speller:
    """The text of one row, word by word; `done` once a stop string was written, of which nothing is shown.

    A piece of byte-level BPE may end inside a character, and a stop string may begin in one piece and end in another:
    what is not certain yet is held back until it is.
    """

    def __init__(self, tokenizer: Any, prompt: Sequence[int] = (), stop: Sequence[str] = ()) -> None:
        if not all(stop):
            raise ValueError("an empty stop string would end every text before it begins; leave it out")
        self.text = ""  # all that was shown
        self.done = False
        self._decode = tokenizer.decode
        # Of bytes, only the last character may be half of one; of other pieces, a whole run of bytes may change again.
        self._by_byte = getattr(tokenizer, "kind", None) == "bytes"
        self._ids = list(prompt[-BEFORE:])
        self._taken = len(self._decode(self._ids))  # characters of the ids that were taken
        self._held = ""
        self._stop = tuple(stop)

    def add(self, word: int) -> str:
        """What can be shown now that a word has followed."""
        self._ids.append(word)
        spelled = self._decode(self._ids)
        if not spelled.endswith(BROKEN):
            return self._show(self._take(spelled, len(spelled)))
        return self._show(self._take(spelled, len(spelled) - 1)) if self._by_byte else ""

    def finish(self) -> str:
        """What was held back, once no word follows."""
        spelled = self._decode(self._ids)
        last = self._show(self._take(spelled, len(spelled)))
        held, self._held = self._held, ""
        self.text += held
        return last + held

    def _take(self, spelled: str, certain: int) -> str:
        """What the ids say beyond what was taken; only the last few of them stay, for the next to be spelled behind."""
        new, open_end = spelled[self._taken : certain], len(spelled) - certain
        self._ids = self._ids[-BEFORE:]
        self._taken = len(self._decode(self._ids)) - open_end
        return new

    def _show(self, new: str) -> str:
        if self.done:
            return ""
        held = self._held + new
        found = [place for stop in self._stop if (place := held.find(stop)) >= 0]
        if found:
            self.done, show, self._held = True, held[: min(found)], ""
        else:
            keep = max((_overlap(held, stop) for stop in self._stop), default=0)
            show, self._held = held[: len(held) - keep], held[len(held) - keep :]
        self.text += show
        return show


def _overlap(text: str, stop: str) -> int:
    """How much of the end of a text might be the beginning of a stop string."""
    return next((size for size in range(min(len(text), len(stop) - 1), 0, -1) if text.endswith(stop[:size])), 0)
