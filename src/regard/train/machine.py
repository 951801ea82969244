"""What the machine is good at, and how to ask it for that."""

import ctypes
import os
import platform
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch

from regard.attention.kernel import cpu_multiplies_bfloat16
from regard.train.plan import Precision

# Of glibc's mallopt: never map large blocks afresh, never give memory back, grow by 64 MB at a time.
_MALLOPT = {-4: 0, -1: 2**31 - 1, -2: 64 << 20}


def keep_memory() -> bool:
    """Let the C library keep the memory it freed, so that a step does not fault in its arrays page by page.

    That takes a quarter of a translation model's training step on a CPU. Only glibc offers it; True where it did.
    """
    if not sys.platform.startswith("linux") or platform.libc_ver()[0] != "glibc":
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return [mallopt(parameter, value) for parameter, value in _MALLOPT.items()] == [1, 1, 1]


def device() -> torch.device:
    """A GPU of this process where there is one, and the CPU elsewhere."""
    if torch.cuda.is_available():
        return torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
    return torch.device("cpu")


def autocast(where: torch.device, precision: Precision) -> AbstractContextManager[Any]:
    """Matrix products in bfloat16, where the plan or the hardware wants it."""
    helps = torch.cuda.is_bf16_supported() if where.type == "cuda" else cpu_multiplies_bfloat16()
    if precision == "bfloat16" or (precision == "auto" and helps):
        return torch.autocast(where.type, dtype=torch.bfloat16)
    return nullcontext()


def describe() -> dict[str, str | int]:
    """What a run was made with."""
    return {
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "threads": torch.get_num_threads(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
