"""Spectral features of mono sound: power frames, log-mel bands and cepstra, with numpy alone."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SAMPLE_RATE = 16_000
"""Hz, for every sound under models/."""

Signal = NDArray[np.float64]


class Framing(NamedTuple):
    """How a signal is cut into overlapping frames; all lengths in samples."""

    window: int
    hop: int
    fft: int


def power_frames(signal: Signal, framing: Framing) -> Signal:
    """Power spectrum of every whole Hann-windowed frame: (frames, fft / 2 + 1)."""
    frames = np.lib.stride_tricks.sliding_window_view(signal, framing.window)[:: framing.hop]
    spectrum = np.fft.rfft(frames * np.hanning(framing.window), framing.fft)
    return spectrum.real**2 + spectrum.imag**2


def mel_filters(bands: int, fft: int, low_hz: float, high_hz: float) -> Signal:
    """Triangular filters spaced evenly in mel (2595 log10(1 + f / 700)): (bands, fft / 2 + 1)."""
    low, high = 2595 * np.log10(1 + np.array([low_hz, high_hz]) / 700)
    edges = 700 * (10 ** (np.linspace(low, high, bands + 2) / 2595) - 1)
    bins = np.arange(fft // 2 + 1) * SAMPLE_RATE / fft
    rising = (bins - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - bins) / (edges[2:] - edges[1:-1])[:, None]
    return np.maximum(0.0, np.minimum(rising, falling))


def log_mel(signal: Signal, framing: Framing, filters: Signal) -> Signal:
    """Natural logarithm of the mel band powers: (frames, bands)."""
    return np.log(power_frames(signal, framing) @ filters.T + 1e-6)


def cosine_transform(bands: int, coefficients: int) -> Signal:
    """Orthonormal DCT-II as a matrix (bands, coefficients): log-mel @ matrix gives cepstra."""
    angle = np.pi * np.outer(np.arange(bands) + 0.5, np.arange(coefficients)) / bands
    matrix: Signal = np.cos(angle) * np.sqrt(2 / bands)
    matrix[:, 0] /= np.sqrt(2)
    return matrix


def standardised(patch: Signal) -> Signal:
    """The patch with mean 0 and deviation 1 over all its values: the loudness of a clip does not matter."""
    result: Signal = (patch - patch.mean()) / (patch.std() + 1e-6)
    return result
