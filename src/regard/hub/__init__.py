"""Models on disk: our own folders, and other people's checkpoints."""

from regard.hub.gate import CheckpointError, NoTableError
from regard.hub.huggingface import export
from regard.hub.load import find, load
from regard.hub.store import Checkpoint, convert, save

__all__ = ["Checkpoint", "CheckpointError", "NoTableError", "convert", "export", "find", "load", "save"]
