"""Synthetic hum of machines with and without a fault, for model anomaly.

Features are five frames of 128 log-mel bands in a row, of shape (640,).

A clip depends on its split and its index alone. Its class is `index % 2`, but in TRAIN every clip is
normal: the autoencoder learns only machines without a fault, and so rebuilds faulty ones badly.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from models.features import SAMPLE_RATE, Framing, Signal, log_mel, mel_filters
from models.splits import TRAIN

FRAMES, BANDS = 5, 128
SHAPE = (FRAMES * BANDS,)
FRAMING = Framing(window=1024, hop=512, fft=2048)
SAMPLES = FRAMING.hop * (FRAMES - 1) + FRAMING.window
FILTERS = mel_filters(BANDS, FRAMING.fft, low_hz=60, high_hz=7900)
TIME = np.arange(SAMPLES) / SAMPLE_RATE

CLASSES = ("normal", "anomalous")


class Machine(NamedTuple):
    """A machine with a fan and a gear.

    Attributes:
        rate: Revolutions per second.
        blades: Number of blades of the fan.
        teeth: Number of teeth of the gear.
        air_hz: Centre of the noise of the air in Hz.
    """

    rate: float
    blades: int
    teeth: int
    air_hz: float


MACHINES = (Machine(24.5, 7, 41, 900), Machine(29.0, 9, 53, 1500), Machine(37.0, 5, 67, 2300))


def _noise(random: Generator, centre_hz: float, width_hz: float) -> Signal:
    """Return Gaussian noise around a centre, with deviation 1."""
    spectrum = np.fft.rfft(random.standard_normal(SAMPLES))
    frequency = np.fft.rfftfreq(SAMPLES, 1 / SAMPLE_RATE)
    signal = np.fft.irfft(spectrum * np.exp(-(((frequency - centre_hz) / width_hz) ** 2)), SAMPLES)
    result: Signal = signal / signal.std()
    return result


def _tone(random: Generator, frequency: float) -> Signal:
    return np.sin(2 * np.pi * (frequency * TIME + random.uniform()))


def _worn_bearing(random: Generator, machine: Machine) -> Signal:
    ring = _noise(random, random.uniform(2500, 6500), 120)
    return random.uniform(0.02, 0.3) * ring * (1 + _tone(random, machine.rate * 0.4 * (machine.blades + 3)))


def _imbalance(random: Generator, machine: Machine) -> Signal:
    shaking = [_tone(random, machine.rate * n) / n**0.5 for n in (2, 3, 4)]
    result: Signal = random.uniform(0.1, 1.5) * np.sum(shaking, axis=0)
    return result


def _chipped_tooth(random: Generator, machine: Machine) -> Signal:
    mesh = _tone(random, machine.rate * machine.teeth * 1.5) + _tone(random, machine.rate * machine.teeth * 2)
    return random.uniform(0.02, 0.4) * mesh * (1 + _tone(random, machine.rate))


def _rubbing(random: Generator, machine: Machine) -> Signal:
    return random.uniform(0.01, 0.3) * _noise(random, 4800, 1500) * (1 + 0.8 * _tone(random, machine.rate))


_FAULTS: tuple[Callable[[Generator, Machine], Signal], ...] = (
    _worn_bearing,
    _imbalance,
    _chipped_tooth,
    _rubbing,
)


def clip(split: int, index: int) -> tuple[NDArray[np.float32], int]:
    """Return the features of one clip, of shape `SHAPE`, and its class.

    Args:
        split: A split of `models.splits`.
        index: Number of the clip in the split.
    """
    random = np.random.default_rng((30, split, index))
    label = 0 if split == TRAIN else index % len(CLASSES)
    machine = MACHINES[random.integers(len(MACHINES))]
    load = random.uniform(0.5, 1.0)
    machine = machine._replace(rate=machine.rate * (1.02 - 0.04 * load))

    signal = 0.25 * load * _noise(random, machine.air_hz, 0.6 * machine.air_hz)
    signal += sum(0.6 / n * _tone(random, machine.rate * n) for n in range(2, 9))
    signal += sum(0.8 * load / n * _tone(random, machine.rate * machine.blades * n) for n in (1, 2, 3))
    signal += sum(0.3 * load / n * _tone(random, machine.rate * machine.teeth * n) for n in (1, 2))
    signal += 0.4 * _tone(random, 100) + 0.2 * _tone(random, 200)
    if label:
        fault = _FAULTS[random.integers(len(_FAULTS))]
        signal += fault(random, machine)
    signal += 0.02 * random.standard_normal(SAMPLES)
    signal *= random.uniform(0.9, 1.1)

    bands = log_mel(signal, FRAMING, FILTERS)
    return (bands.reshape(SHAPE) / 4).astype(np.float32), label
