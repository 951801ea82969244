"""Sounds: opened safely, as pictures of time and frequency, and varied for training."""

from regard.sound.mel import Spectrogram, log_mel
from regard.sound.recording import Sound, SoundError, open_sound, resample
from regard.sound.vary import vary

__all__ = ["Sound", "SoundError", "Spectrogram", "log_mel", "open_sound", "resample", "vary"]
