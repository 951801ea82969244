"""One attention equation, every model on it; look inside while it runs at full speed."""

__version__ = "0.1.0"
