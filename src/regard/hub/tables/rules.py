"""Other people's names for the same weights, as data: each rule is read forwards to load and backwards to save.

same("layers.{i}.fc1.{p}", "blocks.{i}.mlp.up.{p}")   # a hole stands for one whole segment of a name
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from regard.hub.gate import CheckpointError, listed

Kind = Literal[
    "same", "transposed", "squeezed", "lifted", "split", "split_transposed", "behind", "tied", "alias", "ignored"
]


@dataclass(frozen=True, slots=True)
class Rule:
    """What a tensor is called there and here, and how it is laid out there."""

    kind: Kind
    theirs: str
    ours: tuple[str, ...] = ()
    rows: int = 0  # that theirs has in front

    def within(self, theirs: str, ours: str) -> "Rule":
        """The same rule for a part of a larger model."""
        inside = self.ours if self.kind == "tied" else tuple(f"{ours}.{name}" for name in self.ours)
        return Rule(self.kind, f"{theirs}.{self.theirs}", inside, self.rows)

    def load(self, tensor: Tensor) -> Sequence[Tensor]:
        if self.kind == "split":
            return tensor.chunk(len(self.ours))
        if self.kind == "split_transposed":
            return tensor.T.chunk(len(self.ours))
        if self.kind == "behind":
            return [tensor[self.rows :]]
        if self.kind == "lifted":
            return [tensor[None, None]]
        return [tensor.T if self.kind == "transposed" else tensor.squeeze(0) if self.kind == "squeezed" else tensor]

    def save(self, tensors: Sequence[Tensor]) -> Tensor:
        if self.kind == "split":
            return torch.cat(list(tensors))
        if self.kind == "split_transposed":
            return torch.cat(list(tensors)).T
        (tensor,) = tensors
        if self.kind == "lifted":
            return tensor[0, 0]
        if self.kind == "behind":
            return torch.cat((tensor.new_zeros(self.rows, *tensor.shape[1:]), tensor))
        return tensor.T if self.kind == "transposed" else tensor[None] if self.kind == "squeezed" else tensor


def same(theirs: str, ours: str) -> Rule:
    """Only the name differs."""
    return Rule("same", theirs, (ours,))


def transposed(theirs: str, ours: str) -> Rule:
    """Inputs and outputs of a matrix are exchanged, as in GPT-2's Conv1D."""
    return Rule("transposed", theirs, (ours,))


def squeezed(theirs: str, ours: str) -> Rule:
    """A vector that they keep as a matrix of one row."""
    return Rule("squeezed", theirs, (ours,))


def lifted(theirs: str, ours: str) -> Rule:
    """A vector that we keep as one token of one row, such as CLIP's [CLS]."""
    return Rule("lifted", theirs, (ours,))


def split(theirs: str, ours: Sequence[str]) -> Rule:
    """Several of our tensors stacked into one, such as queries, keys and values."""
    return Rule("split", theirs, tuple(ours))


def split_transposed(theirs: str, ours: Sequence[str]) -> Rule:
    """Several of our matrices side by side in one, inputs and outputs exchanged, as in GPT-2's c_attn."""
    return Rule("split_transposed", theirs, tuple(ours))


def behind(theirs: str, ours: str, rows: int) -> Rule:
    """A table with so many more rows in front, which nothing reads, as RoBERTa's positions; they are written as 0."""
    return Rule("behind", theirs, (ours,), rows)


def tied(theirs: str, other: str) -> Rule:
    """A second copy of another of their tensors, which must be equal to it; it is not written."""
    return Rule("tied", theirs, (other,))


def alias(theirs: str, ours: str) -> Rule:
    """Another of their names for the same, as older files have it; it is not written."""
    return Rule("alias", theirs, (ours,))


def ignored(theirs: str) -> Rule:
    """What a model computes by itself, such as a table of sines; it is not written."""
    return Rule("ignored", theirs)


def load(rules: Sequence[Rule], theirs: Mapping[str, Tensor], *, prefix: str = "") -> dict[str, Tensor]:
    """Our tensors from theirs; every name of theirs is claimed by one rule, or all that are not are told at once.

    `prefix` is what a model saved without its head leaves out of its names, such as "transformer.".
    """
    theirs = {_with_prefix(rules, name, prefix, theirs): tensor for name, tensor in theirs.items()}
    found: dict[str, Tensor] = {}
    problems: list[str] = []
    for name, tensor in theirs.items():
        claims = [(rule, holes) for rule in rules if (holes := _match(rule.theirs, name)) is not None]
        if len(claims) != 1:
            problems.append(f"{name[:80]} is {'claimed twice' if claims else 'not known'}")
            continue
        ((rule, holes),) = claims
        if rule.kind == "ignored":
            continue
        if rule.kind == "tied":
            other = theirs.get(_fill(rule.ours[0], holes))
            if other is None or other.shape != tensor.shape or not (tensor.is_meta or tensor.equal(other)):
                problems.append(f"{name} is not the copy of {_fill(rule.ours[0], holes)} that it should be")
            continue
        if not _splits(rule, tensor):
            problems.append(f"{name} of shape {tuple(tensor.shape)} does not split into {len(rule.ours)}")
            continue
        for ours, part in zip(rule.ours, rule.load(tensor), strict=True):
            if (mine := _fill(ours, holes)) in found:
                problems.append(f"{name} is {mine}, which is there already")
            found[mine] = part
    if problems:
        raise CheckpointError(f"the names of these weights are not all understood: {listed(problems)}")
    return found


def save(rules: Sequence[Rule], ours: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Their tensors from ours; every name of ours is claimed by one rule, or all that are not are told at once."""
    found: dict[str, Tensor] = {}
    claimed: dict[str, int] = dict.fromkeys(ours, 0)
    for rule in (rule for rule in rules if rule.kind not in ("tied", "alias", "ignored")):
        for names, holes in _parts(rule, ours):
            found[_fill(rule.theirs, holes)] = rule.save([ours[name] for name in names])
            for name in names:
                claimed[name] += 1
    problems = [
        f"{name} is {'claimed twice' if count else 'not known'}" for name, count in claimed.items() if count != 1
    ]
    if problems:
        raise CheckpointError(f"this model cannot be written under their names: {listed(problems)}")
    return found


def _with_prefix(rules: Sequence[Rule], name: str, prefix: str, taken: Mapping[str, Tensor]) -> str:
    """A name that no rule claims, as the one that a rule would claim if the prefix stood before it."""
    whole = prefix + name
    if whole in taken or any(_match(rule.theirs, name) is not None for rule in rules):
        return name
    return whole if any(_match(rule.theirs, whole) is not None for rule in rules) else name


def _splits(rule: Rule, tensor: Tensor) -> bool:
    if rule.kind == "split":
        return tensor.ndim > 0 and tensor.shape[0] % len(rule.ours) == 0
    return rule.kind != "split_transposed" or (tensor.ndim == 2 and tensor.shape[1] % len(rule.ours) == 0)


def _parts(rule: Rule, ours: Mapping[str, Tensor]) -> Iterator[tuple[list[str], dict[str, str]]]:
    """The groups of our names that a rule puts together, with what stands in its holes."""
    for name in ours:
        if (holes := _match(rule.ours[0], name)) is not None:
            names = [_fill(each, holes) for each in rule.ours]
            if all(each in ours for each in names):
                yield names, holes


def _match(pattern: str, name: str) -> dict[str, str] | None:
    parts = re.split(r"\{(\w+)\}", pattern)
    regex = "".join(f"(?P<{part}>[^.]+)" if i % 2 else re.escape(part) for i, part in enumerate(parts))
    found = re.fullmatch(regex, name)
    return None if found is None else found.groupdict()


def _fill(pattern: str, holes: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda hole: holes[hole[1]], pattern)
