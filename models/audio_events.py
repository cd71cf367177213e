"""Synthetic audio events of ten kinds, for model miniresnet.

Clips have one second, with background noise. Features are log-mel patches of shape (64, 50, 1).

A clip depends on its split and its index alone; its class is `index % 10`.
"""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from models.features import SAMPLE_RATE, Framing, Signal, log_mel, mel_filters, standardised

SHAPE = (64, 50, 1)
FRAMING = Framing(window=640, hop=320, fft=1024)
SAMPLES = FRAMING.hop * (SHAPE[1] - 1) + FRAMING.window
FILTERS = mel_filters(SHAPE[0], FRAMING.fft, low_hz=60, high_hz=7800)
TIME = np.arange(SAMPLES) / SAMPLE_RATE


def _tone(frequency: Signal | float, harmonics: Signal) -> Signal:
    """Return a sum of harmonics of a fundamental, which may move.

    Harmonics that reach 7.5 kHz are left out.

    Args:
        frequency: Fundamental in Hz.
        harmonics: Amplitudes, from the fundamental on.
    """
    frequency = np.broadcast_to(frequency, TIME.shape)
    phase = 2 * np.pi * np.cumsum(frequency) / SAMPLE_RATE
    signal = np.zeros_like(TIME)
    for number, amplitude in enumerate(harmonics, start=1):
        if number * frequency.max() < 7500:
            signal += amplitude * np.sin(number * phase)
    return signal


def _noise(random: Generator, low_hz: float, high_hz: float) -> Signal:
    """Return Gaussian noise between two frequencies, with deviation 1."""
    spectrum = np.fft.rfft(random.standard_normal(SAMPLES))
    frequency = np.fft.rfftfreq(SAMPLES, 1 / SAMPLE_RATE)
    spectrum[(frequency < low_hz) | (frequency > high_hz)] = 0
    signal = np.fft.irfft(spectrum, SAMPLES)
    result: Signal = signal / (signal.std() + 1e-9)
    return result


def _decay(onset: float, seconds: float, attack: float = 0.002) -> Signal:
    """Return the envelope of a struck object, with an exponential decay.

    It is silent until `onset`, and then has a short attack. All times are in seconds.
    """
    since = np.maximum(TIME - onset, 0)
    return np.minimum(since / attack, 1) * np.exp(-since / seconds)


def _bump(onset: float, seconds: float) -> Signal:
    """Return the envelope of a breath: half a sine from `onset`, `seconds` long."""
    part = (TIME - onset) / seconds
    return np.where((part > 0) & (part < 1), np.sin(np.pi * np.clip(part, 0, 1)), 0.0)


def _onsets(random: Generator, count: int, spacing: float) -> Signal:
    """Return `count` onsets in seconds, `spacing` apart on average."""
    return random.uniform(0.02, 0.15) + spacing * (np.arange(count) + random.uniform(-0.12, 0.12, count))


def _siren(random: Generator) -> Signal:
    centre, depth, rate = random.uniform(600, 1100), random.uniform(0.2, 0.45), random.uniform(0.8, 3.5)
    sweep = np.sin(2 * np.pi * (rate * TIME + random.uniform()))
    if random.uniform() < 0.5:  # Two tones instead of a wail.
        sweep = np.tanh(8 * sweep)
    return _tone(centre * (1 + depth * sweep), 1 / np.arange(1, 7) ** random.uniform(0.8, 1.6))


def _chirp(random: Generator) -> Signal:
    signal = np.zeros_like(TIME)
    for onset in _onsets(random, int(random.integers(2, 6)), random.uniform(0.13, 0.22)):
        seconds = random.uniform(0.04, 0.1)
        start, ratio = random.uniform(2200, 4200), random.uniform(1.25, 1.8)
        slope = np.clip((TIME - onset) / seconds, 0, 1) * random.choice([-1, 1])
        signal += _bump(onset, seconds) * _tone(start * ratio**slope, np.array([1, 0.15]))
    return signal


def _click_train(random: Generator) -> Signal:
    signal, spacing = np.zeros_like(TIME), random.uniform(0.05, 0.14)
    body = _noise(random, random.uniform(800, 2000), random.uniform(5000, 7800))
    for onset in np.arange(random.uniform(0, spacing), 1.0, spacing):
        signal += random.uniform(0.8, 1.2) * _decay(onset, 0.003, 0.0005) * body
    return signal


def _noise_burst(random: Generator) -> Signal:
    low = random.uniform(100, 2500)
    return _bump(random.uniform(0.02, 0.45), random.uniform(0.25, 0.5)) ** 0.5 * _noise(random, low, low * 4)


def _hum(random: Generator) -> Signal:
    harmonics = random.uniform(0.1, 1, 12) / np.arange(1, 13) ** random.uniform(0.4, 1)
    return _tone(random.choice([100.0, 120.0]) * random.uniform(0.99, 1.01), harmonics)


def _bark(random: Generator) -> Signal:
    signal, pitch = np.zeros_like(TIME), random.uniform(280, 550)
    for onset in _onsets(random, int(random.integers(1, 4)), random.uniform(0.28, 0.36)):
        seconds = random.uniform(0.12, 0.2)
        part = np.clip((TIME - onset) / seconds, 0, 1)
        formant = np.exp(-(((pitch * np.arange(1, 13) - random.uniform(900, 1500)) / 700) ** 2)) + 0.05
        voice = _tone(pitch * (1 + 0.35 * np.sin(np.pi * part)), formant)
        signal += _bump(onset, seconds) * (voice + 0.3 * _noise(random, 500, 4000))
    return signal


def _knock(random: Generator) -> Signal:
    signal, wood = np.zeros_like(TIME), random.uniform(140, 420)
    for onset in _onsets(random, int(random.integers(2, 6)), random.uniform(0.15, 0.24)):
        struck = _tone(wood, np.array([1, 0.5, 0.2])) + 0.3 * _noise(random, 60, 1800)
        signal += random.uniform(0.6, 1.2) * _decay(onset, random.uniform(0.018, 0.04)) * struck
    return signal


def _glass(random: Generator) -> Signal:
    onset = random.uniform(0.02, 0.3)
    signal = 0.8 * _decay(onset, 0.03) * _noise(random, 2000, 7800)
    for shard in range(14):
        delay = 0.0 if shard < 5 else random.exponential(0.15)
        ring = np.sin(2 * np.pi * random.uniform(1800, 7400) * TIME + random.uniform(0, 6))
        signal += random.uniform(0.2, 0.8) * _decay(onset + delay, random.uniform(0.03, 0.16)) * ring
    return signal


def _engine(random: Generator) -> Signal:
    rate = random.uniform(22, 55) * (1 + random.uniform(-0.25, 0.25) * TIME)
    number = np.arange(1, 40)
    harmonics = random.uniform(0.4, 1, number.size) * np.exp(-number / random.uniform(8, 18))
    firing = 1 + 0.5 * np.sin(2 * np.pi * np.cumsum(rate) / SAMPLE_RATE)
    return _tone(rate, harmonics) + 0.25 * firing * _noise(random, 100, 1500)


def _whistle(random: Generator) -> Signal:
    pitch, glide = random.uniform(900, 3000), random.uniform(-0.15, 0.15)
    vibrato = random.uniform(0, 0.012) * np.sin(2 * np.pi * random.uniform(4, 7) * TIME)
    breath = _noise(random, pitch * 0.8, min(pitch * 1.3, 7500))
    envelope = _bump(random.uniform(0, 0.2), random.uniform(0.5, 0.8)) ** 0.4
    return envelope * (_tone(pitch * (1 + glide * TIME + vibrato), np.array([1, 0.04])) + 0.12 * breath)


_EVENTS: dict[str, Callable[[Generator], Signal]] = {
    "siren": _siren,
    "chirp": _chirp,
    "click_train": _click_train,
    "noise_burst": _noise_burst,
    "hum": _hum,
    "bark": _bark,
    "knock": _knock,
    "glass": _glass,
    "engine": _engine,
    "whistle": _whistle,
}
CLASSES = tuple(_EVENTS)


def _background(random: Generator) -> Signal:
    """Return coloured noise, flat to steeply falling, with deviation 1."""
    spectrum = np.fft.rfft(random.standard_normal(SAMPLES))
    frequency = np.fft.rfftfreq(SAMPLES, 1 / SAMPLE_RATE)
    signal = np.fft.irfft(spectrum * (frequency + 50) ** -random.uniform(0, 1), SAMPLES)
    result: Signal = signal / signal.std()
    return result


def clip(split: int, index: int) -> tuple[NDArray[np.float32], int]:
    """Return the features of one clip, of shape `SHAPE`, and its class.

    Args:
        split: A split of `models.splits`.
        index: Number of the clip in the split.
    """
    random = np.random.default_rng((10, split, index))
    label = index % len(CLASSES)
    event = _EVENTS[CLASSES[label]](random)
    level = 10 ** (random.uniform(-14, 10) / 20)  # In dB over the background, measured over the whole clip.
    signal = level * event / (event.std() + 1e-9) + _background(random)
    patch = standardised(log_mel(signal, FRAMING, FILTERS)).T
    return patch[..., None].astype(np.float32), label
