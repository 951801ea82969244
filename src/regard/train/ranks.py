"""Several processes that train one model: who I am among them, and what we sum up.

`torchrun` starts the processes; without it there is one. Between CPUs they talk by gloo, between GPUs by nccl.
"""

import os
import warnings
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard, register_fsdp_forward_method
from torch.distributed.tensor import DTensor, distribute_tensor

from regard.train import machine
from regard.train.plan import Parallel


class Ranks:
    """The processes of a training; as a context it joins them, and parts from them at the end."""

    def __init__(self) -> None:
        self.rank, self.count = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
        self.device = machine.device()

    def __enter__(self) -> "Ranks":
        if self.count > 1:
            if self.device.type == "cuda":
                torch.cuda.set_device(self.device)
            dist.init_process_group("nccl" if self.device.type == "cuda" else "gloo")
        return self

    def __exit__(self, *_: object) -> None:
        if self.count > 1:
            dist.destroy_process_group()

    @property
    def first(self) -> bool:
        """Whether this process writes the files."""
        return self.rank == 0

    def sum(self, *values: float) -> list[float]:
        """Each value, summed over all processes."""
        if self.count == 1:
            return list(values)
        total = torch.tensor(values, dtype=torch.float64, device=self.device)
        dist.all_reduce(total)
        found: list[float] = total.tolist()
        return found

    def barrier(self) -> None:
        if self.count > 1:
            dist.barrier()

    def share(self, model: nn.Module, parallel: Parallel, *, idle: bool = False) -> nn.Module:
        """The model as all processes train it: a copy in each (DDP), or a shard in each (FSDP).

        Some of its weights may be `idle` in a batch and get no gradient, which DDP has to look for.
        """
        model = model.to(self.device)
        if self.count == 1:
            return model
        if parallel == "ddp":
            return nn.parallel.DistributedDataParallel(model, find_unused_parameters=idle)
        # Block by block, so that while it computes a process holds one block whole, and not the model. FSDP takes no
        # single numbers, such as the scale of a CLIP: each process keeps those, and their gradients are averaged.
        warnings.filterwarnings("ignore", "FSDP2-wrapped module", UserWarning)  # nobody changes their output in place
        numbers = {parameter for parameter in model.parameters() if parameter.ndim == 0}
        mesh = init_device_mesh(self.device.type, (dist.get_world_size(),))
        shard = partial(fully_shard, mesh=mesh, ignored_params=numbers)
        for unit in _units(model):
            shard(unit)
            if hasattr(unit, "remember"):  # which is asked before the blocks run
                register_fsdp_forward_method(unit, "remember")
        shard(model)
        return model

    def average(self, shared: nn.Module) -> None:
        """Average the gradients that backward left to each process: of an FSDP model, those of single numbers."""
        if self.count > 1 and isinstance(shared, FSDPModule):
            for parameter in shared.parameters():
                if parameter.grad is not None and not isinstance(parameter, DTensor):
                    dist.all_reduce(parameter.grad)
                    parameter.grad /= self.count

    def no_sync(self, shared: nn.Module, last: bool) -> AbstractContextManager[Any]:
        """Keep the gradients of a batch to oneself, unless it is the last of its step."""
        if self.count > 1 and isinstance(shared, nn.parallel.DistributedDataParallel) and not last:
            return shared.no_sync()
        if self.count > 1 and isinstance(shared, FSDPModule):
            shared.set_requires_gradient_sync(last)
        return nullcontext()


def _units(model: nn.Module) -> list[nn.Module]:
    """What a process holds whole while it computes: blocks, and what they remember a context by; inner ones first.

    A table is no block: it hands out vectors of its own, which are gone when a block is let go.
    """
    found = [getattr(module, "cross", None) for module in model.modules()]
    found += [block for stack in model.modules() if isinstance(stack, nn.ModuleList) for block in stack]
    units = {each for each in found if isinstance(each, nn.Module) and _is_block(each)}
    return [each for each in [*model.modules()][::-1] if each in units]


def _is_block(module: nn.Module) -> bool:
    """Whether a module computes with weights of its parts, and is neither a table nor only a list of others."""
    computes = any(not isinstance(part, nn.Embedding) for part in module.children())
    return computes and not isinstance(module, nn.ModuleList) and next(module.parameters(), None) is not None


def full_tensor(tensor: Tensor) -> Tensor:
    """A tensor with the shards of all processes, who all must ask for it."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor.detach()


def local(tensor: Tensor) -> Tensor:
    """The part of a tensor that this process has."""
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def like(given: Tensor, place: Tensor) -> Tensor:
    """A whole tensor, cut up as another one is."""
    if isinstance(place, DTensor):
        return distribute_tensor(given.to(place.device), place.device_mesh, place.placements)
    return given.to(place.device)
