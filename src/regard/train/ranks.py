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
from torch.distributed.fsdp import FSDPModule, fully_shard
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
        shard = partial(fully_shard, mesh=init_device_mesh(self.device.type, (self.count,)))
        # Block by block, so that while it computes a process holds one block whole, and not the model. What a decoder
        # remembers of its source is projected before its blocks run, so these projections are units of their own.
        warnings.filterwarnings("ignore", "FSDP2-wrapped module", UserWarning)  # nobody changes their output in place
        for name in getattr(model, "cross_attentions", ()):
            attention = model.get_submodule(name)
            for projection in ("k", "v"):
                shard(attention.get_submodule(projection))
        for stack in [module for module in model.modules() if isinstance(module, nn.ModuleList)]:
            for block in stack:
                if next(block.parameters(), None) is not None:
                    shard(block)
        shard(model)
        return model

    def no_sync(self, shared: nn.Module, last: bool) -> AbstractContextManager[Any]:
        """Keep the gradients of a batch to oneself, unless it is the last of its step."""
        if self.count > 1 and isinstance(shared, nn.parallel.DistributedDataParallel) and not last:
            return shared.no_sync()
        if self.count > 1 and isinstance(shared, FSDPModule):
            shared.set_requires_gradient_sync(last)
        return nullcontext()


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
