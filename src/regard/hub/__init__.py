"""Models on disk: our own folders, and other people's checkpoints."""

from regard.hub.store import Stored, load, save

__all__ = ["Stored", "load", "save"]
