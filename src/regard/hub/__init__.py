"""Models on disk: our own folders, and other people's checkpoints."""

from regard.hub.store import Checkpoint, CheckpointError, load, save

__all__ = ["Checkpoint", "CheckpointError", "load", "save"]
