"""Models on disk: our own folders, and other people's checkpoints."""

from regard.hub.store import Checkpoint, load, save

__all__ = ["Checkpoint", "load", "save"]
