"""Recurrent translation beside plain assemblies of torch's loops and attention written out, sentence by sentence."""

from copy import deepcopy
from itertools import product

import pytest
import torch
from torch import Tensor

from regard.attention import record
from regard.models.seq2seq import Config, Seq2Seq

LENGTHS = torch.tensor([6, 3, 1])
CELLS = ("rnn", "gru", "lstm")

each = pytest.mark.parametrize(
    "config",
    [
        Config(20, 30, 5, 8, cell, depth, attention, bidirectional, feeding)
        for cell, depth, (attention, bidirectional, feeding) in product(
            CELLS,
            (1, 2),
            (
                ("none", False, False),
                ("none", True, False),
                ("additive", True, False),
                ("additive", False, False),
                ("dot", False, False),
                ("dot", False, True),
                ("bilinear", True, False),
                ("bilinear", True, True),
                ("concat", True, False),
                ("concat", False, True),
            ),
        )
    ],
    ids=lambda c: f"{c.cell}{c.depth}-{c.attention}{'-both' * c.bidirectional}{'-fed' * c.input_feeding}",
)


def plain(parts: Seq2Seq, source: Tensor, target: Tensor) -> tuple[Tensor, Tensor | None]:
    """One sentence through the same linears and loops, by the papers' equations: logits, and weights if there are any.

    Torch's states are (layers and directions, hidden), and a recurrence steps by one word.
    """
    assert parts.embed_target is not None
    encoder, decoder, config = parts.encoder.loop, parts.decoder.recurrent.loop, parts.config
    h, end = encoder(parts.embed(source))
    lstm = config.cell == "lstm"
    hidden, cell = end if lstm else (end, None)
    if config.bidirectional:
        pairs = [torch.cat((hidden[2 * i], hidden[2 * i + 1])) for i in range(config.depth)]
        start = torch.stack([torch.tanh(parts.bridge.weight @ pair + parts.bridge.bias) for pair in pairs])
        c, cell = pairs[-1], torch.zeros_like(start)
    else:
        start, c = hidden, hidden[-1]
    state = (start, cell) if lstm else start
    fed, logits, weights = torch.zeros(config.width), [], []
    for word in target:
        y = parts.embed_target(word)
        if config.attention == "none":
            s, state = decoder(torch.cat((y, c))[None], state)
            features = torch.cat((s[0], y, c))
        elif config.attention == "additive":
            before = (state[0] if lstm else state)[-1]
            attn = parts.decoder.attn
            energy = torch.tanh(attn.q.weight @ before + h @ attn.k.weight.T + attn.k.bias)
            a = torch.softmax(energy @ attn.score.energy.weight[0], dim=0)
            weights.append(a)
            s, state = decoder(torch.cat((y, a @ h))[None], state)
            features = torch.cat((s[0], y, a @ h))
        else:
            s, state = decoder((torch.cat((y, fed)) if config.input_feeding else y)[None], state)
            attn = parts.decoder.attn
            if config.attention == "concat":
                energy = torch.tanh(attn.q.weight @ s[0] + h @ attn.k.weight.T + attn.k.bias)
                a = torch.softmax(energy @ attn.score.energy.weight[0], dim=0)
            else:
                a = torch.softmax(h @ (attn.q.weight @ s[0] if config.attention == "bilinear" else s[0]), dim=0)
            weights.append(a)
            features = torch.cat((a @ h, s[0]))
        fed = torch.tanh(parts.decoder.readout.weight @ features + parts.decoder.readout.bias)
        logits.append(parts.to_vocab.weight @ fed + parts.to_vocab.bias)
    return torch.stack(logits), torch.stack(weights) if weights else None


@each
def test_logits_gradients_and_attention_are_those_of_plain_assemblies(config: Config) -> None:
    ours = Seq2Seq(config).eval()
    parts = deepcopy(ours)
    source, target, goal = torch.randint(20, (3, 6)), torch.randint(30, (3, 5)), torch.randn(3, 5, 30)
    with record(ours) as trace:
        logits = ours(source, target, lengths=LENGTHS)
    answers = [plain(parts, source[i, :length], target[i]) for i, length in enumerate(LENGTHS)]
    torch.testing.assert_close(logits, torch.stack([one for one, _ in answers]), atol=1e-5, rtol=1e-5)

    assert trace.names == ([] if config.attention == "none" else ["decoder.attn"])
    for i, (length, (_, weights)) in enumerate(zip(LENGTHS, answers, strict=True)):
        if weights is not None:
            torch.testing.assert_close(trace.weights("decoder.attn")[i, 0, :, :length], weights, atol=1e-5, rtol=1e-5)

    (logits * goal).sum().backward()
    sum((one * wanted).sum() for (one, _), wanted in zip(answers, goal, strict=True)).backward()
    mine, other = ({name: p.grad for name, p in one.named_parameters()} for one in (ours, parts))
    torch.testing.assert_close(mine, other, atol=1e-4, rtol=1e-4)
