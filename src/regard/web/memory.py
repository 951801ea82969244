"""How much memory a question may take beyond that of its model; whoever asks for more is refused, and nobody is harmed.

Linux alone knows such a bound. Elsewhere, time alone ends a question.
"""

import sys
from pathlib import Path

MOST = 6 * 2**30  # bytes
REFUSED = ("can't allocate memory", "not enough memory", "std::bad_alloc")  # as torch says it


def bound(most: int | None = MOST) -> None:
    """Let the process take so much more than it holds now; None is as much as it likes."""
    if sys.platform != "linux":
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = hard if most is None else held() + most
    endless = hard == resource.RLIM_INFINITY
    resource.setrlimit(resource.RLIMIT_DATA, (wanted if endless else min(wanted, hard), hard))


def held() -> int:
    """The bytes that count against the bound."""
    lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData"))


def was_refused(error: BaseException) -> bool:
    """Whether something failed for want of memory."""
    return isinstance(error, MemoryError) or any(said in str(error) for said in REFUSED)
