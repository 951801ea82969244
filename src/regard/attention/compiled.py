"""Compiled functions and watching: while anybody watches, they run as they are written, or nothing would be seen."""

import sys
import threading
from contextlib import AbstractContextManager

import torch

watching = False  # in any thread; compiled code has read it, and is compiled anew when it changes
_watchers: set[object] = set()
_lock = threading.Lock()
_stance: AbstractContextManager[object] | None = None


def begin(watcher: object) -> None:
    global watching
    with _lock:
        _watchers.add(watcher)
        watching = True
    run_as_written()


def end(watcher: object) -> None:
    global watching, _stance
    with _lock:
        _watchers.discard(watcher)
        watching = bool(_watchers)
        if not watching and _stance is not None:
            _stance.__exit__(None, None, None)
            _stance = None


def run_as_written() -> None:
    """Let torch.compile step aside; before somebody has called it, its compiler is not even loaded."""
    global _stance
    if _stance is not None or "torch._dynamo" not in sys.modules:
        return
    try:
        with _lock:
            _stance = _stance or torch.compiler.set_stance("force_eager")
    except RuntimeError as error:
        raise RuntimeError(
            "a compiled function is not watched from within; call torch.compile before the scope, and open the scope "
            "around the call"
        ) from error
