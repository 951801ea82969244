"""What was watched, and what was seen."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import dataclass, field, replace

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention.compiled import run_as_written
from regard.attention.core import Edit, Look
from regard.attention.edits import Edited
from regard.names import unknown


class Trace:
    """The looks of each attention, by its name in the model, in the order they happened."""

    def __init__(self, aliases: Mapping[str, str], attentions: Iterable[str], *, hidden: bool = False) -> None:
        self._aliases = aliases  # every name a module has, and the first of them
        self._attentions = list(attentions)
        self._looks: dict[str, list[Look]] = {}
        self._hidden: dict[str, list[Tensor]] | None = {} if hidden else None
        self.called: dict[str, str] = {}  # modules that were hooked and ran, and their classes

    @property
    def names(self) -> list[str]:
        """The attentions that looked, first look first."""
        return list(self._looks)

    def __iter__(self) -> Iterator[str]:
        return iter(self._looks)

    def __len__(self) -> int:
        return len(self._looks)

    def __getitem__(self, name: str) -> list[Look]:
        """Every look of one attention; decoding leaves one for each step."""
        first = self._aliases.get(name, name)
        if first in self._looks:
            return self._looks[first]
        if first in self.unseen():
            raise KeyError(self.excuse())
        if first not in self._attentions:
            below = [each for each in self.known if each.startswith(f"{name}.")]
            raise KeyError(
                unknown("attention", name, below or self.known) if self.known else "the model has no attention"
            )
        raise KeyError(
            f"{name!r} is watched but has not looked; run the model inside the scope, "
            f"itself and not a compiled one or a copy"
        )

    @torch.no_grad()
    def weights(self, name: str, look: int | None = None) -> Float[Tensor, "b h q k"]:
        """What one attention looked at: one `look`, or all laid end to end, where earlier steps give later keys 0."""
        looks = self[name]
        if look is not None:
            return looks[look].weights()
        if len({(each.q.shape[0], each.q.shape[1]) for each in looks}) > 1:
            batches = ", ".join(str(each.q.shape[0]) for each in looks)
            raise ValueError(f"{name!r} looked {len(looks)} times with batches {batches}; ask for one, say look=0")
        keys = max(each.k.shape[-2] for each in looks)
        return torch.cat([F.pad(each.weights(), (0, keys - each.k.shape[-2])) for each in looks], dim=-2)

    @torch.no_grad()
    def map(self, name: str, look: int | None = None) -> Float[Tensor, "b h cells keys"]:
        """What one attention looked at over the whole map, where it looks inside the groups of a partition."""
        looks = self[name]
        if look is None and any(each.layout for each in looks):
            if len(looks) > 1:
                raise ValueError(f"{name!r} looked {len(looks)} times over maps; ask for one, say look=0")
            look = 0
        layout = None if look is None else looks[look].layout
        weights = self.weights(name, look)
        return weights if layout is None else layout.unfold(weights)

    def part(self, name: str, parts: Sequence[str]) -> None:
        """Give each row of the batch of an attention a name of its own, where the rows are of different things.

        Say, of several pictures that were seen at once: whoever reads the trace then finds one attention for each.
        """
        looks = self[name]
        if any(look.q.shape[0] != len(parts) or look.k.shape[0] != len(parts) for look in looks):
            raise ValueError(f"{name!r} has other rows than the {len(parts)} names; give one for each row of its batch")
        for row, part in enumerate(parts):
            self._looks[part] = [_row(look, row) for look in looks]
        del self._looks[self._aliases.get(name, name)]

    @property
    def hidden(self) -> dict[str, list[Tensor]]:
        """The residual stream after each block, by the block's name: one tensor for each time that it ran."""
        if self._hidden is None:
            raise ValueError("the residual stream was not kept; write record(model, hidden=True)")
        return self._hidden

    @property
    def nbytes(self) -> int:
        """The memory that the kept tensors hold alive, shared ones counted once."""
        looks = [look for looks in self._looks.values() for look in looks]
        kept = [t for look in looks for t in (look.q, look.k, look.visible, look.bias) if isinstance(t, Tensor)]
        kept += [stream for streams in (self._hidden or {}).values() for stream in streams]
        storages = [t.untyped_storage() for t in kept]
        return sum({s.data_ptr(): s.nbytes() for s in storages}.values())

    def __repr__(self) -> str:
        return f"Trace({len(self)} of {len(self.known)} attentions looked: {', '.join(self.names)})"

    @property
    def known(self) -> list[str]:
        """The attentions that are watched, whether they looked or not."""
        return list(dict.fromkeys([*self._attentions, *self._looks]))

    def unseen(self) -> dict[str, str]:
        """Attentions that ran and were not seen to look, neither they nor what is around or inside them."""
        ran = {name: kind for name, kind in self.called.items() if name in self._attentions}
        for look in self._looks:
            ran = {
                name: kind
                for name, kind in ran.items()
                if name != look and not name.startswith(f"{look}.") and not look.startswith(f"{name}.")
            }
        return ran

    def excuse(self) -> str:
        """Which attentions ran unseen, why, and what to do about it."""
        unseen = self.unseen()
        names, kinds = list(unseen), ", ".join(sorted(set(unseen.values())))
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        return (
            f"{', '.join(map(repr, names[:3]))}{more} ({kinds}) cannot be watched: they write their softmax out, "
            f"where F.scaled_dot_product_attention or nn.MultiheadAttention would be seen; load a transformers model "
            f'with attn_implementation="sdpa", or call that function in forward'
        )

    def _keep(self, name: str, look: Look) -> None:
        self._looks.setdefault(name, []).append(
            replace(
                look,
                q=look.q.detach(),
                k=look.k.detach(),
                bias=None if look.bias is None else look.bias.detach(),
                # A score that is being learned will be another one when the trace is read.
                score=deepcopy(look.score) if isinstance(look.score, nn.Module) else look.score,
                edit=look.edit.recall if isinstance(look.edit, Edited) else None,
            )
        )


def _row(look: Look, row: int) -> Look:
    """One row of a look's batch, as if it had been alone."""
    one = slice(row, row + 1)
    visible, bias = look.visible, look.bias
    if isinstance(visible, Tensor) and visible.ndim == 4 and visible.shape[0] > 1:
        visible = visible[one]
    if bias is not None and bias.ndim == 4 and bias.shape[0] > 1:
        bias = bias[one]
    edit = None if look.edit is None else lambda _, whole=look: whole.weights()[one]
    return replace(look, q=look.q[one], k=look.k[one], visible=visible, bias=bias, edit=edit)


@dataclass(slots=True, eq=False)
class Scope:
    """One `record` at work: what it watches, what it edits, what it saw."""

    names: Mapping[nn.Module, str]  # the first name of each module
    edits: Mapping[str, Edit]
    trace: Trace
    fired: set[str] = field(default_factory=set)
    open: bool = True


scopes: ContextVar[tuple[Scope, ...]] = ContextVar("regard_scopes", default=())


def tell(modules: Iterable[nn.Module], look: Look) -> Look:
    """Tell every open scope what the innermost of some nested modules looks at; the look as they edited it."""
    run_as_written()
    modules = list(modules)
    for scope in scopes.get():
        name = next((scope.names[each] for each in modules if each in scope.names), None) if scope.open else None
        if name is None:
            continue
        if name in scope.edits:
            look = replace(look, edit=Edited(name, scope.edits[name], look.edit))
            scope.fired.add(name)
        if torch._C._current_graph_task_id() == -1:  # a checkpoint that is computed again in backward is no new look
            scope.trace._keep(name, look)
    return look
