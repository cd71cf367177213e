"""Sounds as inputs of a network: samples, mel bands, or cepstra."""

from __future__ import annotations

import math
import wave
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from n6build.base.errors import N6Error
from n6build.base.regular_file import open_regular
from n6build.describe.preprocess import Preprocess, Sound

Signal = NDArray[np.float64]
# Bands of silence have this power.
_FLOOR = 1e-6


def read_sound(path: Path, shape: Sequence[int], how: Preprocess) -> NDArray[np.float32]:
    """Return a sound in the shape of an input.

    A longer sound is cut, a shorter one continues with silence.

    Args:
        path: A WAV file of whole numbers.
        shape: Shape of the input.
        how: Pre-processing.

    Raises:
        N6Error: N6-QUANT-014 for a damaged file, another rate, or features of another number than the input takes.
    """
    sound, count = how.sound, math.prod(shape)
    signal = read_wav(path, sound.rate)
    if sound.features == "samples":
        return _of_length(signal, count).astype(np.float32).reshape(tuple(shape))
    width = next((each for each in reversed(shape) if each > 1), 1)
    frames = count // width
    features = _features(_of_length(signal, sound.window + (frames - 1) * sound.hop), sound, width)
    if features.size != count:
        what = (
            f"has {features.shape[0]} x {features.shape[1]} features, but the input takes {' x '.join(map(str, shape))}"
        )
        raise N6Error("N6-QUANT-014", what, where=path.name, hint="correct preprocess.sound: window, hop, bands")
    return features.astype(np.float32).reshape(tuple(shape))


def read_wav(path: Path, rate: int) -> Signal:
    """Return the samples of a WAV file from -1 to 1, its channels mixed to one.

    Raises:
        N6Error: N6-QUANT-014 for a damaged file, or another rate.
    """
    try:
        with open_regular(path) as opened, wave.open(opened) as file:
            width, channels, found = file.getsampwidth(), file.getnchannels(), file.getframerate()
            data = file.readframes(file.getnframes())
            if len(data) != file.getnframes() * width * channels:
                raise ValueError("it is cut off")
    except (wave.Error, EOFError, OSError, ValueError, MemoryError) as error:
        what = f"cannot be read as a WAV file of whole numbers: {str(error) or 'it is cut off'}"
        raise N6Error(
            "N6-QUANT-014", what, where=path.name, hint="save it again as 16-bit PCM, or remove it"
        ) from error
    if found != rate:
        what = f"has {found} samples per second, but the network takes {rate}"
        hint = f"convert it: sox in.wav -r {rate} out.wav, or set preprocess.sound.rate in model.yaml"
        raise N6Error("N6-QUANT-014", what, where=path.name, hint=hint)
    raw = np.frombuffer(data, np.uint8).reshape(-1, width)
    if width == 1:
        values = raw[:, 0].astype(np.int64) - 128
    else:
        # The sign is in the highest byte, which is the last one.
        parts = raw.astype(np.int64) << (8 * np.arange(width))
        values = parts.sum(axis=1)
        values -= (values >> (8 * width - 1)) << (8 * width)
    mixed: Signal = values.reshape(-1, channels).mean(axis=1) / float(1 << (8 * width - 1))
    return mixed


def _of_length(signal: Signal, count: int) -> Signal:
    return signal[:count] if len(signal) >= count else np.concatenate([signal, np.zeros(count - len(signal))])


def _features(signal: Signal, sound: Sound, width: int) -> Signal:
    """Return the features of each frame, (frames, bands or coefficients)."""
    frames = np.lib.stride_tricks.sliding_window_view(signal, sound.window)[:: sound.hop]
    spectrum = np.fft.rfft(frames * np.hanning(sound.window), max(sound.fft, sound.window))
    power = spectrum.real**2 + spectrum.imag**2
    bands: Signal = np.log(power @ mel_filters(sound).T + _FLOOR)
    if sound.features == "mfcc":
        bands = bands @ _cosines(sound.bands, width)
    if sound.standardise:
        bands = (bands - bands.mean()) / (bands.std() + _FLOOR)
    return bands


def mel_filters(sound: Sound) -> Signal:
    """Return triangular filters that are evenly spaced in mel, (bands, frequencies).

    A frequency f in Hz is 2595 log10(1 + f / 700) mel.
    """
    low, high = 2595 * np.log10(1 + np.array([sound.low_hz, sound.high_hz]) / 700)
    edges = 700 * (10 ** (np.linspace(low, high, sound.bands + 2) / 2595) - 1)
    length = max(sound.fft, sound.window)
    bins = np.arange(length // 2 + 1) * sound.rate / length
    rising = (bins - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - bins) / (edges[2:] - edges[1:-1])[:, None]
    return np.maximum(0.0, np.minimum(rising, falling))


def _cosines(bands: int, coefficients: int) -> Signal:
    """Return the orthonormal DCT-II as a matrix (bands, coefficients)."""
    angle = np.pi * np.outer(np.arange(bands) + 0.5, np.arange(coefficients)) / bands
    matrix: Signal = np.cos(angle) * np.sqrt(2 / bands)
    matrix[:, 0] /= np.sqrt(2)
    return matrix
