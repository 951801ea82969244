"""A translator with one attention: the query of a word is the word before it and its position, and nothing else."""

from dataclasses import dataclass

from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import Memory, multihead, padding
from regard.layers.position import Sinusoidal


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """The source, and how many words were written."""

    memory: Memory
    length: int

    def select(self, rows: Int[Tensor, " r"]) -> "State":
        return State(self.memory.select(rows), self.length)


class Translator(nn.Module):
    """Embeddings, positions, one look at the source, one linear map to words."""

    cross_attentions = ("attn",)

    def __init__(self, vocab: int, width: int = 64) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.position = Sinusoidal(width)
        self.attn = multihead(width, heads=1)
        self.to_vocab = nn.Linear(width, vocab)

    def forward(
        self, source: Int[Tensor, "b n"], target: Int[Tensor, "b m"], *, lengths: Int[Tensor, " b"]
    ) -> Float[Tensor, "b m v"]:
        logits, _ = self.step(target, self.start(source, lengths=lengths))
        return logits

    def start(self, source: Int[Tensor, "b n"], *, lengths: Int[Tensor, " b"]) -> State:
        visible = padding(lengths, source.shape[1])
        return State(self.attn.remember(self.position(self.embed(source)), visible=visible), 0)

    def step(self, words: Int[Tensor, "b m"], state: State) -> tuple[Float[Tensor, "b m v"], State]:
        x = self.position(self.embed(words), start=state.length)
        logits = self.to_vocab(x + self.attn(x, state.memory))
        return logits, State(state.memory, state.length + words.shape[1])
