"""Checkpoints of nanoGPT and minGPT: weights under their names give the logits that their equations give."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from regard.attention import record
from regard.hub import CheckpointError, export, load, save
from regard.models.gpt import FAMILY, GPT, Config, Details

ARGS = dict(n_layer=2, n_head=4, n_embd=32, block_size=16, bias=True, vocab_size=50, dropout=0.2)


def weights(depth: int = 2, width: int = 32, *, bias: bool = True, tied: bool = True) -> dict[str, Tensor]:
    """A state dict as `GPT.state_dict()` gives it there."""
    torch.manual_seed(0)

    def draw(*shape: int) -> Tensor:
        return torch.randn(shape) * 0.3

    state = {"transformer.wte.weight": draw(50, width), "transformer.wpe.weight": draw(16, width)}
    shapes = {
        "ln_1": (width,),
        "attn.c_attn": (3 * width, width),
        "attn.c_proj": (width, width),
        "ln_2": (width,),
        "mlp.c_fc": (4 * width, width),
        "mlp.c_proj": (width, 4 * width),
    }
    parts = {f"transformer.h.{i}.{name}": shape for i in range(depth) for name, shape in shapes.items()}
    for name, shape in {**parts, "transformer.ln_f": (width,)}.items():
        state[f"{name}.weight"] = draw(*shape)
        if bias:
            state[f"{name}.bias"] = draw(shape[0])
    return {**state, "lm_head.weight": state["transformer.wte.weight"] if tied else draw(50, width)}


def logits(state: dict[str, Tensor], ids: Tensor, heads: int, gelu: str) -> tuple[Tensor, list[Tensor]]:
    """What their code computes, written out, and the attention weights of each layer."""

    def linear(x: Tensor, name: str) -> Tensor:
        return F.linear(x, state[f"{name}.weight"], state.get(f"{name}.bias"))

    def norm(x: Tensor, name: str) -> Tensor:
        return F.layer_norm(x, x.shape[-1:], state[f"{name}.weight"], state.get(f"{name}.bias"), 1e-5)

    def apart(x: Tensor) -> Tensor:
        return x.unflatten(-1, (heads, -1)).transpose(1, 2)

    x, looks = state["transformer.wte.weight"][ids] + state["transformer.wpe.weight"][: ids.shape[1]], []
    for i in range(sum(name.endswith("ln_1.weight") for name in state)):
        layer = f"transformer.h.{i}"
        q, k, v = map(apart, linear(norm(x, f"{layer}.ln_1"), f"{layer}.attn.c_attn").chunk(3, dim=-1))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        looks.append(scores.masked_fill(hidden, -math.inf).softmax(dim=-1))
        x = x + linear((looks[-1] @ v).transpose(1, 2).flatten(2), f"{layer}.attn.c_proj")
        up = F.gelu(linear(norm(x, f"{layer}.ln_2"), f"{layer}.mlp.c_fc"), approximate=gelu)
        x = x + linear(up, f"{layer}.mlp.c_proj")
    return norm(x, "transformer.ln_f") @ state["lm_head.weight"].T, looks


def same(ours: GPT, state: dict[str, Tensor], heads: int, gelu: str) -> None:
    ids = torch.randint(50, (2, 9))
    wanted, looks = logits(state, ids, heads, gelu)
    with record(ours) as trace:
        torch.testing.assert_close(ours(ids), wanted, atol=1e-4, rtol=1e-4)
    for i, each in enumerate(looks):
        torch.testing.assert_close(trace.weights(f"decoder.blocks.{i}.attn"), each, atol=1e-5, rtol=1e-4)


def whole(state: dict[str, Tensor], **changes: Any) -> dict[str, Any]:
    """A checkpoint with all that nanoGPT puts into one."""
    args = {name: value for name, value in (ARGS | changes).items() if value != "left out"}
    optimizer = {"state": {0: {"step": torch.tensor(3.0), "exp_avg": torch.zeros(2)}}, "param_groups": [{"lr": 1e-3}]}
    config = {"out_dir": "out", "compile": True, "learning_rate": 1e-3}
    return {
        "model": state,
        "optimizer": optimizer,
        "model_args": args,
        "iter_num": 250,
        "best_val_loss": torch.tensor(1.5),
        "config": config,
    }


@torch.no_grad()
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("compiled", [True, False])
def test_a_checkpoint_of_nanogpt_says_and_looks_as_before(tmp_path: Path, bias: bool, compiled: bool) -> None:
    state = weights(bias=bias)
    named = {f"_orig_mod.{name}" if compiled else name: tensor for name, tensor in state.items()}
    torch.save(whole(named, bias=bias), tmp_path / "ckpt.pt")
    stored = load(tmp_path / "ckpt.pt", pickle=True)
    assert (stored.family.name, stored.name, stored.tokenizer) == ("gpt", "ckpt", None)
    assert stored.card == {"title": "ckpt", "task": "generate"}
    kind = {"activation": "gelu", "details": Details(bias=bias)}
    assert stored.model.config == Config(50, 16, 32, 2, 4, 128, dropout=0.2, attn_dropout=0.2, **kind)
    assert not stored.model.training
    same(stored.model, state, 4, "none")


@torch.no_grad()
def test_masks_are_left_out_and_settings_of_first_versions_may_be_silent(tmp_path: Path) -> None:
    state = weights() | {f"transformer.h.{i}.attn.bias": torch.ones(1, 1, 16, 16).tril() for i in range(2)}
    torch.save(whole(state, bias="left out", dropout="left out"), tmp_path / "ckpt.pt")
    ours = load(tmp_path / "ckpt.pt", pickle=True).model
    assert (ours.config.details.bias, ours.config.dropout) == (True, 0.0)
    same(ours, state, 4, "none")


@torch.no_grad()
@pytest.mark.parametrize("tied", [True, False])
def test_a_state_dict_of_mingpt_has_the_heads_of_its_size_and_may_write_by_a_matrix_of_its_own(
    tmp_path: Path, tied: bool
) -> None:
    state = weights(3, 48, tied=tied)
    torch.save(state, tmp_path / "model.pt")
    ours = load(tmp_path / "model.pt", pickle=True).model
    assert ours.config == Config(50, 16, 48, 3, 3, 192, details=Details(tied=tied))
    same(ours, state, 3, "tanh")


@torch.no_grad()
def test_it_is_a_model_of_ours_from_then_on_and_goes_in_steps(tmp_path: Path) -> None:
    torch.save(whole(weights(bias=False, tied=False), bias=False), tmp_path / "ckpt.pt")
    stored = load(tmp_path / "ckpt.pt", pickle=True)
    save(tmp_path / "own", stored.model, family=stored.family, card=stored.card)
    again: Any = load(tmp_path / "own").model
    ids = torch.randint(50, (2, 9))
    assert again(ids).equal(stored.model(ids))
    start, state = again.step(ids[:, :4], again.start(2))
    rest, _ = again.step(ids[:, 4:], state)
    torch.testing.assert_close(torch.cat((start, rest), 1), again(ids), atol=1e-5, rtol=1e-5)
    with pytest.raises(
        ValueError, match="GPT-2 has no such GPT: bias is False and must be True; tied is False and must"
    ):
        export(tmp_path / "out", again)
    assert not (tmp_path / "out").exists()


def test_a_gpt_without_bias_is_no_gpt1_either(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="GPT-1 has no such GPT: bias is False and must be True"):
        export(tmp_path / "out", GPT(Config(50, 16, 32, 2, 4, 128, norm_first=False, details=Details(bias=False))))


def bomb() -> dict[str, Any]:
    """A vocabulary of a billion words, all of which are the same one."""
    return whole(weights() | {"transformer.wte.weight": torch.zeros(1, 32).expand(10**9, 32)}, vocab_size=10**9)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (lambda: whole(weights(), n_head="left out"), "the model_args of {} are not supported: n_head is missing"),
        (lambda: whole(weights(), rotary=True), "are not supported: rotary is not known"),
        (lambda: whole(weights(), n_head=5), "width 32 does not split into 5 heads"),
        (lambda: whole(weights(), n_head="many"), "heads is 'many', not int"),
        (lambda: whole(weights(), bias=False), "unknown decoder.blocks.0.attn.k.bias"),
        (lambda: whole(weights(bias=False)), "missing decoder.blocks.0.attn.k.bias"),
        (lambda: whole(weights(), n_layer=10**6), "far larger model than"),
        (lambda: whole(weights(), block_size=17), "position.table has shape (16, 32), not (17, 32)"),
        (lambda: whole(weights()) | {"model_args": [1]}, "has model_args that are [1], and no settings"),
        (lambda: whole({}), "is no GPT of nanoGPT or minGPT, which has the matrices transformer.wte.weight and"),
        (lambda: whole(weights() | {"extra.weight": torch.ones(2)}), "extra.weight is not known"),
        (lambda: whole(weights() | {"transformer.ln_f.weight": torch.full((32,), math.nan)}), "NaN or infinite"),
        (lambda: weights(), "2 layers of width 32 do not say how many heads they have; save {{'model': state, 'model_"),
        (lambda: {"model": 3}, "holds no state dict of tensors, alone or as 'model' beside 'model_args'"),
        (lambda: [1, 2], "holds no state dict of tensors"),
        (bomb, "transformer.wte.weight in {} is larger than what is stored of it"),
    ],
)
def test_what_is_wrong_with_a_checkpoint_is_said(tmp_path: Path, given: Any, why: str) -> None:
    path = tmp_path / "ckpt.pt"
    torch.save(given(), path)
    with pytest.raises(CheckpointError) as caught:
        load(path, pickle=True)
    assert why.format(path) in str(caught.value)


def test_a_pickle_is_read_only_if_it_is_trusted_and_runs_nothing_even_then(tmp_path: Path) -> None:
    path = tmp_path / "ckpt.pt"
    torch.save(whole(weights()), path)
    with pytest.raises(CheckpointError, match="is a pickle, which is read only if you trust it: load it with pickle=T"):
        load(path)
    torch.save({"model": Evil(tmp_path / "evil")}, path)
    with pytest.raises(CheckpointError, match="holds no model that can be loaded"):
        load(path, pickle=True)
    assert not (tmp_path / "evil").exists()
    path.write_bytes(b"PK\x03\x04 cut off")
    with pytest.raises(CheckpointError):
        load(path, pickle=True)
    with pytest.raises(CheckpointError, match=r"none.pt is not there; give the path of a checkpoint of nanoGPT"):
        load(tmp_path / "none.pt", pickle=True)
    save(tmp_path / "folder.pt", GPT(Config(50, 16, 32, 2, 4, 128)), family=FAMILY)
    assert load(tmp_path / "folder.pt").family is FAMILY


class Evil:
    """What a pickle may do where its code is run."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return Path.touch, (self.mark,)
