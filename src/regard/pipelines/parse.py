"""Parse: a sentence in, its constituency tree out, written as a line of brackets (Vinyals 2015; Vaswani 2017, §6.3)."""

import time
from collections.abc import Sequence

from regard.analysis.scores import Score
from regard.analysis.trees import parseval
from regard.data import grow, treebank
from regard.pipelines.familiar import answer_familiar
from regard.pipelines.pipeline import Evaluation
from regard.pipelines.sequence import SequenceToSequence
from regard.progress import Progress
from regard.world.language import Tree, leaves, trees

ENDLESS = 500  # sentences of the world, which has no last one


class Parse(SequenceToSequence):
    """A parser: the model writes the tree without its words, which then take the places of the tags."""

    task, takes, gives = "parse", "sentence", "tree"

    def longest(self, length: int) -> int:
        """A word brings its tag, and as a rule less than one phrase, which takes three: bracket, label, bracket."""
        return 6 * length + 20

    @answer_familiar
    def __call__(
        self, inputs: Sequence[str], *, beam: int = 1, batch: int = 100, progress: Progress | None = None
    ) -> list[Tree]:
        """The tree of each sentence, whose words are divided by spaces; a line that is no tree is mended."""
        sentences = [inputs] if isinstance(inputs, str) else list(inputs)
        written = self.write(self.encode(sentences), beam=beam, batch=batch, progress=progress)
        return [grow(each.text, sentence.split()) for each, sentence in zip(written, sentences, strict=True)]

    @answer_familiar
    def evaluate(
        self,
        data: str = "world",
        *,
        split: str = "test",
        limit: int = 0,
        length: tuple[int, int] = (6, 12),
        beam: int = 1,
        progress: Progress | None = None,
    ) -> Evaluation:
        """Labelled F1 as evalb computes it, exact match and tags; `length` is that of the world's sentences."""
        split = split or "test"
        if data == "world":
            right = [each.tree for each in trees(split=split, length=length)[: limit or ENDLESS]]
        else:
            right = treebank(data, split)[: limit or None]
        began = time.perf_counter()
        found = self([" ".join(leaves(tree)) for tree in right], beam=beam, progress=progress)
        seconds = time.perf_counter() - began
        score = parseval(found, right)
        named = {"f1": score.f1, "exact": score.exact, "tags": score.tags}
        measured = {name: Score(value, count=len(right)) for name, value in named.items()}
        return Evaluation(self.name, data, split, len(right), seconds, measured, {"length": list(length), "beam": beam})


PIPELINE = Parse
