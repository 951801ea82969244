"""Sounds of strangers are opened within bounds, mixed and resampled aloud, or refused in a sentence."""

import io
import struct
import wave
from pathlib import Path

import numpy as np
import pytest

from regard.sound import Sound, SoundError, open_sound, resample

RATE = 8000
TONE = np.sin(2 * np.pi * 440 * np.arange(RATE // 2) / RATE).astype(np.float32) * 0.5


def wav(samples: np.ndarray, *, rate: int = RATE, bits: int = 16, kind: int = 1) -> bytes:
    """A WAV file of samples "n" or "n c" from -1 to 1."""
    samples = samples[:, None] if samples.ndim == 1 else samples
    channels = samples.shape[1]
    if kind == 3:
        data = samples.astype({32: "<f4", 64: "<f8"}[bits]).tobytes()
    elif bits == 8:
        data = (np.round(samples * 127) + 128).astype(np.uint8).tobytes()
    else:
        whole = np.round(samples.astype(np.float64) * (2 ** (bits - 1) - 1)).astype("<i4")
        data = whole.reshape(-1, 1).view(np.uint8).reshape(-1, 4)[:, : bits // 8].tobytes()
    block = channels * bits // 8
    about = struct.pack("<HHIIHH", kind, channels, rate, rate * block, block, bits)
    inside = b"WAVEfmt " + struct.pack("<I", len(about)) + about + b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(inside)) + inside


def test_a_file_of_the_standard_library_is_read(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes((TONE * 32767).astype("<i2").tobytes())
    (tmp_path / "tone.wav").write_bytes(buffer.getvalue())
    found = open_sound(tmp_path / "tone.wav")
    assert (found.rate, found.seconds, found.said) == (RATE, 0.5, ())
    np.testing.assert_allclose(found.samples, TONE, atol=1e-4)


@pytest.mark.parametrize(("bits", "kind"), [(8, 1), (16, 1), (24, 1), (32, 1), (32, 3), (64, 3)])
def test_all_plain_samples_are_the_same_sound(bits: int, kind: int) -> None:
    found = open_sound(wav(TONE, bits=bits, kind=kind))
    np.testing.assert_allclose(found.samples, TONE, atol=0.02 if bits == 8 else 1e-4)
    assert found.samples.dtype == np.float32


def test_the_loudest_negative_sample_keeps_its_sign() -> None:
    low = struct.pack("<i", -(1 << 23))[:3]
    data = wav(np.r_[TONE, 0.25].astype(np.float32), bits=24)[:-3] + low
    assert open_sound(data).samples[-1] == -1.0


def test_stereo_is_mixed_and_that_is_said() -> None:
    found = open_sound(wav(np.stack([TONE, 0.5 * TONE], axis=1)))
    np.testing.assert_allclose(found.samples, 0.75 * TONE, atol=1e-4)
    assert found.said == ("its 2 channels were mixed to one",)


@pytest.mark.parametrize("rate", [4_000, 11_025, 44_100])
def test_another_rate_is_resampled_and_that_is_said(rate: int) -> None:
    tone = np.sin(2 * np.pi * 440 * np.arange(rate // 2) / rate).astype(np.float32) * 0.5
    found = open_sound(wav(tone, rate=rate), rate=RATE)
    assert (found.rate, found.said) == (RATE, ("it was resampled to 8,000 Hz",))
    assert abs(found.seconds - 0.5) < 0.001
    middle = slice(400, 3600)  # the ends are sharp edges
    np.testing.assert_allclose(found.samples[middle], TONE[middle], atol=0.02)


def test_what_is_too_high_for_a_rate_is_not_heard_lower() -> None:
    rate = 44_100
    high = np.sin(2 * np.pi * 6_000 * np.arange(rate) / rate).astype(np.float32)
    assert np.abs(resample(high, rate, 8_000)[500:-500]).max() < 0.01


def extensible() -> bytes:
    """As recorders write 24 bits: the true format is in an extension."""
    plain = wav(TONE, bits=24)
    about = bytearray(plain[20:36])
    about[:2] = struct.pack("<H", 0xFFFE)
    longer = bytes(about) + struct.pack("<HHI", 22, 24, 4) + struct.pack("<H", 1) + bytes(14)
    return plain[:16] + struct.pack("<I", len(longer)) + longer + plain[36:]


def test_an_extended_header_is_read() -> None:
    np.testing.assert_allclose(open_sound(extensible()).samples, TONE, atol=1e-4)


def test_chunks_between_are_passed_over_and_a_stream_ends_where_the_file_does() -> None:
    plain = wav(TONE)
    noted = plain[:36] + b"LIST" + struct.pack("<I", 5) + b"notes\0" + plain[36:]
    np.testing.assert_allclose(open_sound(noted).samples, TONE, atol=1e-4)
    streamed = plain[:40] + b"\xff\xff\xff\xff" + plain[44:]
    np.testing.assert_allclose(open_sound(streamed).samples, TONE, atol=1e-4)


NAN = np.r_[TONE, np.nan].astype(np.float32)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is empty; give a WAV file"),
        (b"ID3 this is an mp3", "is no WAV file; save it as a WAV file of plain samples"),
        (wav(TONE)[:100], "is cut short: 56 of 8,000 bytes are there; save it again"),
        (wav(TONE)[:30], "is damaged: its WAV header names no samples"),
        (wav(TONE[:0]), "is empty; give a sound of 0.02 seconds or more"),
        (wav(TONE[:10]), "lasts 0.0013 seconds; give 0.02 or more"),
        (wav(np.zeros(RATE, np.float32)), "is silent, all samples are equal; give a sound"),
        (wav(np.stack([TONE, -TONE], axis=1)), "is silent, its channels cancel each other"),
        (wav(NAN, bits=32, kind=3), "has samples that are no numbers; save it again"),
        (wav(TONE, kind=2), "is compressed, by WAV's format 2; save it as a WAV file of plain samples"),
        (wav(TONE, rate=10), "claims 1 channels of 10 Hz in 2 bytes a sample"),
    ],
    ids=str,
)
def test_what_cannot_be_heard_is_refused_in_a_sentence(data: bytes, why: str) -> None:
    with pytest.raises(SoundError) as caught:
        open_sound(data, name="seven.wav")
    assert str(caught.value).startswith("seven.wav ")
    assert why in str(caught.value)


def test_a_file_that_is_not_there_or_too_large_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SoundError, match="is not there; give the path of a WAV file"):
        open_sound(tmp_path / "none.wav")
    (tmp_path / "long.wav").write_bytes(wav(TONE))
    with pytest.raises(SoundError, match=r"lasts 0 seconds, and at most 0\.1 are read; cut it"):
        open_sound(tmp_path / "long.wav", most_seconds=0.1)
    with pytest.raises(SoundError, match=r"give a smaller file|more than 100 bytes"):
        open_sound(tmp_path / "long.wav", most_bytes=100)


def test_a_sound_knows_how_long_it_is() -> None:
    assert Sound(TONE, RATE).seconds == 0.5
