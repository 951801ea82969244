"""GGUF: one file with a model, its tokenizer and how to talk to it, as llama.cpp reads it.

It is read here, not written. Weights of fewer bits become float32, by the package `gguf`, which is an extra.
"""

from regard.hub.gguf.model import find, read

__all__ = ["find", "read"]
