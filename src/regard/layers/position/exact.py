"""Angles and waves are computed in float64: in float32, position 100,000 times a frequency may be off by 0.004."""

import torch
from torch import Tensor


def to_float64(x: Tensor) -> Tensor:
    """x in float64, on the CPU where the device has none (Apple's GPUs)."""
    return x.to("cpu" if x.device.type == "mps" else x.device, torch.float64)
