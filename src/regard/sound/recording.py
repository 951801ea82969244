"""Sounds of strangers: WAV files opened within bounds, always one channel of numbers from -1 to 1.

Whatever is wrong with a file is a `SoundError` in one sentence. Sizes are read from the header and checked before
anything is decoded; what had to be done to a sound, such as mixing its channels, is told beside it.
"""

import math
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float32

from regard import files

BYTES = 64 * 2**20  # of a file
SECONDS = 600.0
LEAST = 0.02  # seconds in which there is anything to hear
RATES = (1_000, 384_000)
CHANNELS = 32
CHUNKS = 1000  # of a file, before its samples
_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
_STREAMED = 0xFFFFFFFF  # what a program writes that does not know how long it will be
_WAY = "save it as a WAV file of plain samples (PCM), say by ffmpeg -i IN -c:a pcm_s16le OUT.wav"


class SoundError(ValueError):
    """A sound that cannot be opened, with the reason and the way out in one sentence."""


@dataclass(frozen=True, slots=True, eq=False)
class Sound:
    """One channel of samples from -1 to 1, how many there are in a second, and what was done to get there."""

    samples: Float32[np.ndarray, " n"]
    rate: int
    said: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate


def open_sound(
    source: str | Path | bytes,
    *,
    rate: int = 0,
    name: str = "",
    most_bytes: int = BYTES,
    most_seconds: float = SECONDS,
) -> Sound:
    """A sound from a WAV file or its bytes: 8, 16, 24 or 32 bits or floats, channels mixed, at this rate or its own.

    `name` is what an error calls bytes. What is empty or silent is refused, since nothing could be heard in it.
    """
    name = name or (str(source) if isinstance(source, str | Path) else "the sound")
    data = _bytes(source, name, most_bytes)
    about, place, size = _find(data, name)
    kind, channels, own, _, block, bits = about
    if kind not in (_PCM, _FLOAT):
        raise SoundError(f"{name} is compressed, by WAV's format {kind}; {_WAY}")
    if (kind, bits) not in _READERS:
        raise SoundError(f"{name} has samples of {bits} bits, and 8, 16, 24, 32 and floats are read; {_WAY}")
    if not 1 <= channels <= CHANNELS or not RATES[0] <= own <= RATES[1] or block != channels * bits // 8:
        raise SoundError(f"{name} claims {channels} channels of {own:,} Hz in {block} bytes a sample; {_WAY}")
    if size < block:
        raise SoundError(f"{name} is empty; give a sound of {LEAST} seconds or more")
    if (seconds := size / block / own) > most_seconds:
        raise SoundError(f"{name} lasts {seconds:.0f} seconds, and at most {most_seconds:g} are read; cut it")
    whole = data[place : place + size // block * block]
    return _mixed(_READERS[kind, bits](whole).reshape(-1, channels), own, rate, name)


def _mixed(samples: Float32[np.ndarray, "n c"], own: int, rate: int, name: str) -> Sound:
    said = []
    channels = samples.shape[1]
    if not np.isfinite(samples).all():
        raise SoundError(f"{name} has samples that are no numbers; save it again, or leave it out")
    mono = samples.mean(axis=1, dtype=np.float32)
    if channels > 1:
        said.append(f"its {channels} channels were mixed to one")
    if len(mono) < LEAST * own:
        raise SoundError(f"{name} lasts {len(mono) / own:.4f} seconds; give {LEAST} or more")
    if float(np.ptp(mono)) == 0.0:
        cancelled = (
            "its channels cancel each other" if channels > 1 and np.ptp(samples) > 0 else "all samples are equal"
        )
        raise SoundError(f"{name} is silent, {cancelled}; give a sound in which something can be heard")
    if rate and rate != own:
        mono, own = resample(mono, own, rate), rate
        said.append(f"it was resampled to {rate:,} Hz")
    return Sound(mono, own, tuple(said))


def resample(samples: Float32[np.ndarray, " n"], rate: int, to: int) -> Float32[np.ndarray, " m"]:
    """The same sound at another rate; what is too high for the new one is left out, so that it is not heard lower."""
    edge = int(0.01 * rate)  # silence between end and beginning, which a Fourier transform takes for neighbours
    step = rate // math.gcd(rate, to)  # after so many samples both rates meet, or else all of it would be out of step
    padded = np.pad(samples.astype(np.float64), (0, -(-(len(samples) + edge) // step) * step - len(samples)))
    count = len(padded) * to // rate
    spectrum = np.fft.rfft(padded)
    kept = min(len(padded), count) // 2 + 1
    wanted = np.zeros(count // 2 + 1, complex)
    wanted[:kept] = spectrum[:kept]
    length = max(1, round(len(samples) * to / rate))
    found: np.ndarray = np.fft.irfft(wanted, count)[:length] * (count / len(padded))
    return found.astype(np.float32)


def _bytes(source: str | Path | bytes, name: str, limit: int) -> bytes:
    try:
        data = source if isinstance(source, bytes) else files.read(Path(source), limit)
    except FileNotFoundError:
        raise SoundError(f"{name} is not there; give the path of a WAV file") from None
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise SoundError(
            f"{said if name in said else f'{name} cannot be read ({said})'}; give a smaller file"
        ) from None
    if len(data) > limit:
        raise SoundError(f"{name} has more than {limit:,} bytes; cut it, or raise most_bytes")
    if not data:
        raise SoundError(f"{name} is empty; give a WAV file")
    return data


def _find(data: bytes, name: str) -> tuple[tuple[int, ...], int, int]:
    """What the samples are (format, channels, rate, bytes a second, bytes a block, bits), and where they lie."""
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise SoundError(f"{name} is no WAV file; {_WAY}")
    about: tuple[int, ...] | None = None
    for kind, place, size in _chunks(data):
        inside = data[place : place + size]
        if kind == b"fmt " and len(inside) >= 16:
            about = struct.unpack_from("<HHIIHH", inside)
            if about[0] == _EXTENSIBLE and len(inside) >= 26:  # the true format follows
                about = (struct.unpack_from("<H", inside, 24)[0], *about[1:])
        if kind == b"data":
            if about is None:
                break
            left = len(data) - place
            if size > left and size != _STREAMED:
                raise SoundError(f"{name} is cut short: {left:,} of {size:,} bytes are there; save it again")
            return about, place, min(size, left)
    raise SoundError(f"{name} is damaged: its WAV header names no samples; save it again, or leave it out")


def _chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    place = 12
    for _ in range(CHUNKS):
        if place + 8 > len(data):
            return
        kind, size = data[place : place + 4], struct.unpack_from("<I", data, place + 4)[0]
        yield kind, place + 8, size
        place += 8 + size + size % 2


def _of_24(data: bytes) -> Float32[np.ndarray, " n"]:
    parts = np.frombuffer(data, np.uint8).reshape(-1, 3).astype(np.int32)
    whole = parts[:, 0] | parts[:, 1] << 8 | parts[:, 2] << 16
    return ((whole ^ 1 << 23) - (1 << 23)).astype(np.float32) / np.float32(1 << 23)


def _of_doubles(data: bytes) -> Float32[np.ndarray, " n"]:
    with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused as such
        return np.frombuffer(data, "<f8").astype(np.float32)


_READERS: Mapping[tuple[int, int], Callable[[bytes], np.ndarray]] = {
    (_PCM, 8): lambda data: (np.frombuffer(data, np.uint8).astype(np.float32) - 128) / np.float32(128),
    (_PCM, 16): lambda data: np.frombuffer(data, "<i2").astype(np.float32) / np.float32(1 << 15),
    (_PCM, 24): _of_24,
    (_PCM, 32): lambda data: (np.frombuffer(data, "<i4") / float(1 << 31)).astype(np.float32),
    (_FLOAT, 32): lambda data: np.frombuffer(data, "<f4").astype(np.float32),
    (_FLOAT, 64): _of_doubles,
}
