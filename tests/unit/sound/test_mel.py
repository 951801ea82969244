"""A spectrogram says which frequencies are loud when, as other people compute it too."""

import numpy as np
import pytest
from scipy.signal import spectrogram  # type: ignore[import-untyped]

from regard.chance import Chance
from regard.sound import Spectrogram, log_mel, vary
from regard.sound.mel import filters
from regard.sound.vary import place, stretch

RATE, WINDOW, HOP, MELS = 8000, 256, 80, 40
SEES = Spectrogram()


def tone(hertz: float, seconds: float = 0.5) -> np.ndarray:
    return np.sin(2 * np.pi * hertz * np.arange(int(RATE * seconds)) / RATE).astype(np.float32)


def test_powers_are_those_of_scipy() -> None:
    samples = np.random.default_rng(0).standard_normal(4000).astype(np.float32)
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)
    _, _, power = spectrogram(
        samples.astype(float), RATE, hann, noverlap=WINDOW - HOP, detrend=False, scaling="spectrum", mode="psd"
    )
    power[1:-1] /= 2  # theirs counts negative frequencies too
    expected = np.log10((power * hann.sum() ** 2).T @ filters(RATE, WINDOW, MELS))
    np.testing.assert_allclose(log_mel(samples, RATE, window=WINDOW, hop=HOP, mels=MELS), expected, atol=1e-4)


def test_bands_peak_where_the_mel_scale_says() -> None:
    bank = filters(RATE, 4096, MELS)
    mel = 2595 * np.log10(1 + RATE / 2 / 700)
    centres = 700 * (10 ** (np.arange(1, MELS + 1) * mel / (MELS + 1) / 2595) - 1)
    found = np.fft.rfftfreq(4096, 1 / RATE)[bank.argmax(axis=0)]
    np.testing.assert_allclose(found, centres, atol=RATE / 4096)
    inside = bank[(np.fft.rfftfreq(4096, 1 / RATE) > centres[0]) & (np.fft.rfftfreq(4096, 1 / RATE) < centres[-1])]
    np.testing.assert_allclose(inside.sum(axis=1), 1, atol=1e-9)  # no frequency counts more than another


def test_1000_hertz_is_1000_mel() -> None:
    assert 2595 * np.log10(1 + 1000 / 700) == pytest.approx(1000, abs=0.1)


@pytest.mark.parametrize("hertz", [250, 1000, 3000])
def test_a_tone_is_loudest_in_its_own_band(hertz: float) -> None:
    seen = SEES(tone(hertz))
    bank = filters(RATE, WINDOW, MELS)
    nearest = bank[np.abs(np.fft.rfftfreq(WINDOW, 1 / RATE) - hertz).argmin()].argmax()
    assert abs(int(seen.mean(axis=0).argmax()) - int(nearest)) <= 1


def test_how_loud_a_recording_is_makes_no_difference() -> None:
    np.testing.assert_allclose(SEES(tone(440)), SEES(tone(440) * 0.01), atol=1e-3)
    assert (SEES(tone(440)).min(), SEES(tone(440)).max()) == (pytest.approx(-1, abs=1.0), 1.0)


def test_a_short_sound_stands_between_silence_and_of_a_long_one_the_loudest_stretch_is_seen() -> None:
    short = SEES.fit(SEES(tone(440, 0.2)))
    assert short.shape == (96, 40)
    assert (short[0] == -1).all()
    assert (short[-1] == -1).all()
    assert short[48].max() > 0.5
    quiet = 0.001 * np.random.default_rng(0).standard_normal(3 * RATE).astype(np.float32)
    quiet[2 * RATE : 3 * RATE] += tone(440, 1.0)
    assert (SEES.fit(SEES(quiet))[5:].max(axis=1) > 0.9).all()


def test_a_sound_shorter_than_a_window_has_one_frame() -> None:
    assert SEES(tone(440, 0.02)).shape == (1, 40)


def test_bands_that_a_window_cannot_tell_apart_are_refused() -> None:
    with pytest.raises(ValueError, match="of 80 mel bands are narrower than 125 Hz, which a window of 64 samples"):
        filters(RATE, 64, 80)


def test_faster_is_shorter_and_keeps_its_ends() -> None:
    rising = np.linspace(-1, 1, 50, dtype=np.float32)[:, None].repeat(4, axis=1)
    fast = stretch(rising, 1.25)
    assert len(fast) == 40
    np.testing.assert_allclose((fast[0, 0], fast[-1, 0]), (-1, 1), atol=1e-6)
    np.testing.assert_allclose(np.diff(fast[:, 0]), 2 / 39, atol=1e-5)
    assert stretch(rising[:1], 2.0).shape == (2, 4)


def test_a_sound_is_moved_and_cut_off_at_the_edges() -> None:
    loud = np.ones((10, 2), np.float32)
    assert place(loud, 20)[5:15].min() == 1
    assert place(loud, 20, 3)[8:18].min() == 1
    assert place(loud, 20, 12)[17:].min() == 1
    assert place(loud, 4).min() == 1


def test_a_varied_sound_is_another_each_time_and_the_same_by_the_same_chance() -> None:
    seen = SEES(tone(440))
    first, again, other = (vary(seen, 96, Chance(0, "vary", number)) for number in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert first.shape == (96, 40)
    assert -1 <= first.min() <= first.max() <= 1
    still = vary(SEES.fit(seen), 96, Chance(0, "x", 0), shift=0.0, speed=0.0, gain=0.0, masks=0)
    np.testing.assert_allclose(still, SEES.fit(seen), atol=1e-6)
