"""Recurrent translation: what holds with a fixed context and with any attention."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from regard.attention import record, uniform
from regard.models.seq2seq import PRESETS, Config, Seq2Seq, State

NANO = PRESETS["seq2seq-nano"]
KINDS = {
    "fixed": replace(NANO, attention="none", cell="lstm", bidirectional=False, depth=2),
    "fixed, both ways": replace(NANO, attention="none", target=None),
    "additive": NANO,
    "additive, deep": replace(NANO, cell="lstm", depth=2),
    "dot": replace(NANO, attention="dot", bidirectional=False, cell="rnn"),
    "bilinear": replace(NANO, attention="bilinear", cell="lstm"),
    "concat": replace(NANO, attention="concat"),
    "fed": replace(NANO, attention="bilinear", input_feeding=True),
}
LOOKING = {name: config for name, config in KINDS.items() if config.attention != "none"}
every_kind = pytest.mark.parametrize("config", KINDS.values(), ids=KINDS)
every_look = pytest.mark.parametrize("config", LOOKING.values(), ids=LOOKING)


def model(config: Config) -> Seq2Seq:
    return Seq2Seq(config).eval()


def words(*shape: int) -> Tensor:
    return torch.randint(1, NANO.vocab, shape)


def close(one: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


def written(one: Seq2Seq, pieces: list[Tensor], state: State) -> Tensor:
    logits = []
    for piece in pieces:
        after, state = one.step(piece, state)
        logits.append(after)
    return torch.cat(logits, dim=1)


@every_kind
def test_a_padded_batch_equals_its_sentences_alone(config: Config) -> None:
    one, source, target = model(config), words(3, 7), words(3, 5)
    lengths = torch.tensor([7, 1, 4])
    together = one(source, target, lengths=lengths)
    for i, length in enumerate(lengths):
        close(together[i : i + 1], one(source[i : i + 1, :length], target[i : i + 1]))


@every_kind
def test_a_word_cannot_see_its_future(config: Config) -> None:
    one, source, target = model(config), words(1, 5), words(1, 6)
    other = target.clone()
    other[0, 3] = 1 + target[0, 3] % (NANO.vocab - 1)
    before, after = one(source, target), one(source, other)
    close(before[:, :3], after[:, :3])
    assert before[:, 3:].ne(after[:, 3:]).any(dim=-1).all()


@given(st.sampled_from(sorted(KINDS)), st.lists(st.integers(1, 3), min_size=1, max_size=5))
def test_writing_in_steps_equals_writing_at_once(kind: str, steps: list[int]) -> None:
    one, source, target = model(KINDS[kind]), words(2, 5), words(2, sum(steps))
    lengths = torch.tensor([5, 3])
    in_steps = written(one, list(target.split(steps, dim=1)), one.start(source, lengths=lengths))
    close(in_steps, one(source, target, lengths=lengths))


@every_kind
def test_selected_rows_go_on_as_if_they_had_always_stood_there(config: Config) -> None:
    one, source, target, rows = model(config), words(2, 5), words(2, 3), torch.tensor([1, 0, 1])
    lengths, newer = torch.tensor([5, 2]), words(3, 2)
    _, state = one.step(target, one.start(source, lengths=lengths))
    logits, _ = one.step(newer, state.select(rows))
    whole = one(source[rows], torch.cat((target[rows], newer), dim=1), lengths=lengths[rows])
    close(logits, whole[:, 3:])


@every_look
def test_hypotheses_that_change_places_within_a_sentence_leave_its_source_where_it_is(config: Config) -> None:
    one = model(config)
    beams = one.start(words(2, 5)).select(torch.tensor([0, 0, 1, 1]))
    assert beams.select(torch.tensor([1, 1, 3, 2])).memory is beams.memory
    assert beams.select(torch.tensor([2, 3, 0, 1])).memory is not beams.memory


@every_look
def test_the_alignment_of_source_and_target_lies_end_to_end(config: Config) -> None:
    one, source, target = model(config), words(2, 5), words(2, 4)
    lengths = torch.tensor([5, 3])
    with record(one) as whole:
        watched = one(source, target, lengths=lengths)
    with record(one) as stepped:
        written(one, list(target.split(1, dim=1)), one.start(source, lengths=lengths))
    assert watched.equal(one(source, target, lengths=lengths))
    alignment = whole.weights("decoder.attn")
    assert alignment.shape == (2, 1, 4, 5)
    assert alignment[1, ..., 3:].eq(0.0).all()  # padding
    close(alignment.sum(dim=-1), torch.ones(2, 1, 4))
    close(stepped.weights("decoder.attn"), alignment)


@every_look
def test_what_is_looked_at_is_what_is_written_from(config: Config) -> None:
    one, source, target = model(config), words(1, 5), words(1, 4)
    with record(one, edits={"decoder.attn": uniform}):
        edited = one(source, target)
    assert not edited.isclose(one(source, target)).all()


@pytest.mark.parametrize("config", [config for config in KINDS.values() if config.attention == "none"])
def test_without_attention_there_is_no_memory_and_the_context_stays_as_it_is(config: Config) -> None:
    one = model(config)
    start = one.start(words(2, 9))
    _, later = one.step(words(2, 3), start)
    assert start.memory is None
    assert later.extra_input is start.extra_input
    assert start.extra_input.shape == (2, config.hidden * (2 if config.bidirectional else 1))  # however long the source


def test_the_fixed_context_is_read_at_every_step() -> None:
    one = model(KINDS["fixed"])
    state = one.start(words(1, 5))
    other = replace(state, extra_input=state.extra_input + 1.0)
    assert not one.step(words(1, 1), state)[0].equal(one.step(words(1, 1), other)[0])


@every_look
def test_annotations_become_keys_once(config: Config) -> None:
    one, seen = model(config), []
    one.decoder.attn.k.register_forward_hook(lambda _, x, __: seen.append(x[0].shape[1]))
    written(one, list(words(2, 6).split(1, dim=1)), one.start(words(2, 5)))
    one(words(2, 5), words(2, 6))
    assert seen == [5, 5]


@pytest.mark.parametrize(
    ("kind", "runs"), [("fixed", 1), ("dot", 1), ("bilinear", 1), ("concat", 1), ("additive", 6), ("fed", 6)]
)
def test_the_recurrence_runs_through_at_once_where_no_step_waits_for_a_look(kind: str, runs: int) -> None:
    one, seen = model(KINDS[kind]), []
    one.decoder.recurrent.register_forward_hook(lambda *_: seen.append(1))
    one(words(2, 5), words(2, 6))
    assert len(seen) == runs


def test_one_vocabulary_has_one_table() -> None:
    shared, apart = model(replace(NANO, target=None)), model(NANO)
    tables = [[m.num_embeddings for m in one.modules() if isinstance(m, nn.Embedding)] for one in (shared, apart)]
    assert tables == [[40], [40, 48]]
    assert shared(words(1, 3), words(1, 2)).shape == (1, 2, 40)
    assert apart(words(1, 3), words(1, 2)).shape == (1, 2, 48)


@every_kind
def test_dropout_is_for_training_alone(config: Config) -> None:
    one, source, target = Seq2Seq(replace(config, dropout=0.5)), words(1, 5), words(1, 4)
    assert not one(source, target).equal(one(source, target))
    one.eval()
    assert one(source, target).equal(one(source, target))


@every_kind
def test_everything_learns(config: Config) -> None:
    one = Seq2Seq(config)
    one(words(2, 5), words(2, 4), lengths=torch.tensor([5, 2])).logsumexp(dim=-1).sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() and p.grad.any() for p in one.parameters())


def test_a_dot_product_wants_both_sides_of_one_width() -> None:
    with pytest.raises(ValueError, match="a state of width 24 with annotations of width 48; set bidirectional=False"):
        model(replace(NANO, attention="dot"))


def test_only_luongs_order_has_something_to_feed() -> None:
    with pytest.raises(ValueError, match="attention 'additive' looks at nothing then; choose dot, bilinear, concat"):
        model(replace(NANO, input_feeding=True))


@pytest.mark.usefixtures("as_users_meet_it")
def test_an_unknown_attention_or_cell_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="no attention is called 'general'; choose one of none, additive, dot, biline"):
        model(replace(NANO, attention="general"))
    with pytest.raises(ValueError, match="no cell is called 'tanh'; choose one of rnn, gru, lstm"):
        model(replace(NANO, cell="tanh"))


def test_an_empty_sentence_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="sequence 1 has length 0, which leaves nothing to read"):
        model(NANO)(words(2, 5), words(2, 4), lengths=torch.tensor([5, 0]))
