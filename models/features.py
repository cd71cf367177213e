"""Spectral features of mono sound: power frames, log-mel bands and cepstra.

numpy is the only library they need.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SAMPLE_RATE = 16_000
"""Hz, for every sound under models/."""

Signal = NDArray[np.float64]


class Framing(NamedTuple):
    """The cut of a signal into overlapping frames, with all lengths in samples.

    Attributes:
        window: Length of a frame.
        hop: Distance from the start of one frame to the start of the next.
        fft: Length of the Fourier transform; frames are padded to it with zeros.
    """

    window: int
    hop: int
    fft: int


def power_frames(signal: Signal, framing: Framing) -> Signal:
    """Return the power spectrum of every whole frame: (frames, fft / 2 + 1).

    The frames have a Hann window.
    """
    frames = np.lib.stride_tricks.sliding_window_view(signal, framing.window)[:: framing.hop]
    spectrum = np.fft.rfft(frames * np.hanning(framing.window), framing.fft)
    return spectrum.real**2 + spectrum.imag**2


def mel_filters(bands: int, fft: int, low_hz: float, high_hz: float) -> Signal:
    """Return triangular filters spaced evenly in mel.

    A frequency f in Hz is 2595 log10(1 + f / 700) mel.

    Args:
        bands: Number of filters.
        fft: Length of the Fourier transform in samples.
        low_hz: Lower edge of the first filter.
        high_hz: Upper edge of the last filter.

    Returns:
        Weights of the frequencies, (bands, fft / 2 + 1).
    """
    low, high = 2595 * np.log10(1 + np.array([low_hz, high_hz]) / 700)
    edges = 700 * (10 ** (np.linspace(low, high, bands + 2) / 2595) - 1)
    bins = np.arange(fft // 2 + 1) * SAMPLE_RATE / fft
    rising = (bins - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - bins) / (edges[2:] - edges[1:-1])[:, None]
    return np.maximum(0.0, np.minimum(rising, falling))


def log_mel(signal: Signal, framing: Framing, filters: Signal) -> Signal:
    """Return the natural logarithm of the mel band powers: (frames, bands)."""
    return np.log(power_frames(signal, framing) @ filters.T + 1e-6)


def cosine_transform(bands: int, coefficients: int) -> Signal:
    """Return the orthonormal DCT-II as a matrix (bands, coefficients).

    Log-mel @ matrix gives cepstra.
    """
    angle = np.pi * np.outer(np.arange(bands) + 0.5, np.arange(coefficients)) / bands
    matrix: Signal = np.cos(angle) * np.sqrt(2 / bands)
    matrix[:, 0] /= np.sqrt(2)
    return matrix


def standardised(patch: Signal) -> Signal:
    """Return the patch with mean 0 and deviation 1 over all its values.

    The loudness of a clip then does not matter.
    """
    result: Signal = (patch - patch.mean()) / (patch.std() + 1e-6)
    return result
