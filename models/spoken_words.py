"""Synthetic speech for model keyword, as cepstra of shape (49, 10, 1).

A small formant synthesiser speaks ten short words and other words; there are clips of silence too.
The speech is a caricature: a pulse train or noise, shaped frame by frame by three resonances that
move from sound to sound. It has the structure of a keyword task, but not its difficulty; the model
knows no human voice.

A clip depends on its split and its index alone; its class is `index % 12`.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from models.features import (
    SAMPLE_RATE,
    Framing,
    Signal,
    cosine_transform,
    log_mel,
    mel_filters,
    standardised,
)

SHAPE = (49, 10, 1)
FRAMING = Framing(window=480, hop=320, fft=512)
SAMPLES = 16_000
FILTERS = mel_filters(40, FRAMING.fft, low_hz=60, high_hz=7600)
CEPSTRA = cosine_transform(FILTERS.shape[0], SHAPE[1])

CLASSES = ("silence", "unknown", "yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go")


class Sound(NamedTuple):
    """A speech sound.

    Attributes:
        seconds: Length.
        formants: Resonances in Hz.
        voice: Level of the voice.
        noise_hz: Centre of the noise in Hz.
        noise_width: Width of the noise in Hz.
        noise: Level of the noise.
    """

    seconds: float
    formants: tuple[float, float, float] = (500, 1500, 2500)
    voice: float = 0.0
    noise_hz: float = 3000
    noise_width: float = 1500
    noise: float = 0.0


CLOSURE = Sound(0.05)
SOUNDS = {
    "i": (Sound(0.12, (300, 2300, 3000), 1.0),),
    "e": (Sound(0.13, (550, 1850, 2500), 1.0),),
    "ae": (Sound(0.15, (700, 1700, 2450), 1.0),),
    "uh": (Sound(0.13, (640, 1200, 2400), 1.0),),
    "a": (Sound(0.14, (750, 1150, 2500), 1.0),),
    "aw": (Sound(0.16, (580, 860, 2400), 1.0),),
    "o": (Sound(0.13, (490, 950, 2400), 1.0),),
    "u": (Sound(0.11, (320, 850, 2250), 0.8),),
    "er": (Sound(0.15, (480, 1350, 1700), 0.9),),
    "n": (Sound(0.08, (280, 1500, 2500), 0.35),),
    "m": (Sound(0.08, (250, 1050, 2200), 0.35),),
    "l": (Sound(0.07, (360, 1100, 2700), 0.5),),
    "r": (Sound(0.07, (350, 1150, 1600), 0.55),),
    "y": (Sound(0.06, (280, 2250, 3000), 0.5),),
    "w": (Sound(0.07, (300, 700, 2200), 0.5),),
    "s": (Sound(0.13, noise_hz=5600, noise_width=1100, noise=0.5),),
    "sh": (Sound(0.13, noise_hz=3200, noise_width=900, noise=0.5),),
    "f": (Sound(0.12, noise_hz=4500, noise_width=3000, noise=0.22),),
    "h": (Sound(0.06, noise_hz=1500, noise_width=1200, noise=0.15),),
    "t": (CLOSURE, Sound(0.03, noise_hz=4600, noise_width=1500, noise=0.6)),
    "p": (CLOSURE, Sound(0.025, noise_hz=900, noise_width=700, noise=0.45)),
    "k": (CLOSURE, Sound(0.03, noise_hz=1900, noise_width=700, noise=0.55)),
    "d": (CLOSURE, Sound(0.02, (300, 1700, 2600), 0.3, 3800, 1300, 0.3)),
    "b": (CLOSURE, Sound(0.02, (250, 850, 2200), 0.3, 800, 600, 0.25)),
    "g": (CLOSURE, Sound(0.02, (280, 1900, 2300), 0.3, 1800, 600, 0.3)),
}
WORDS = {
    "yes": "y e s",
    "no": "n o u",
    "up": "uh p",
    "down": "d a u n",
    "left": "l e f t",
    "right": "r a i t",
    "on": "aw n",
    "off": "aw f",
    "stop": "s t aw p",
    "go": "g o u",
}
# fmt: off
OTHER_WORDS = (  # The words from "y e t" on differ from a keyword by one sound.
    "b e d", "b er d", "k ae t", "d aw g", "h ae p i", "h a u s", "t r i", "w a u", "s i k s", "s e w e n", "f i sh",
    "m u n", "y e t", "n a u", "uh k", "d a n", "l e s", "r a i s", "aw m", "aw s", "s t aw k", "g o n",
)
# fmt: on

_FRAME, _STEP = 512, 128
_BINS = np.arange(_FRAME // 2 + 1) * SAMPLE_RATE / _FRAME


def _speak(random: Generator, word: str) -> Signal:
    """Return a word in one voice, at a random place in `SAMPLES` samples.

    Its level is arbitrary.
    """
    sounds = [sound for name in word.split() for sound in SOUNDS[name]]
    tempo, tract = random.uniform(0.85, 1.4), random.uniform(0.88, 1.16)
    seconds = tempo * np.array([s.seconds for s in sounds]) * random.uniform(0.8, 1.25, len(sounds))
    begin = random.uniform(0.05, 0.95 - seconds.sum()) if seconds.sum() < 0.9 else 0.05
    ends = begin + np.cumsum(seconds)
    middles = ends - seconds / 2

    time = np.arange(0, SAMPLES, _STEP) / SAMPLE_RATE
    inside = np.clip((time - begin) / 0.015, 0, 1) * np.clip((ends[-1] - time) / 0.03, 0, 1)

    def glide(values: list[float]) -> Signal:
        return np.interp(time, middles, values)

    # Levels change quickly. Resonances glide, because sounds colour their neighbours.
    which = np.minimum(np.searchsorted(ends, time), len(sounds) - 1)
    voice = np.convolve(np.array([s.voice for s in sounds])[which] * inside, np.full(3, 1 / 3), "same")
    noise = np.array([s.noise for s in sounds])[which] * inside

    envelope = np.full((time.size, _BINS.size), 0.02)
    for formant, gain in enumerate((1.0, 0.6, 0.35)):
        wobble = random.uniform(0.95, 1.05)
        centre = tract * wobble * glide([s.formants[formant] for s in sounds])[:, None]
        width = 50 + 0.05 * centre
        envelope += gain / (1 + ((_BINS - centre) / width) ** 2)
    centre = tract * np.array([s.noise_hz for s in sounds])[which][:, None]
    width = np.array([s.noise_width for s in sounds])[which][:, None]
    fricative = np.exp(-(((_BINS - centre) / width) ** 2))

    clock = np.arange(SAMPLES + _FRAME) / SAMPLE_RATE
    pitch = random.uniform(85, 260) * (1 + random.uniform(-0.25, 0.15) * clock)
    beats = np.floor(np.cumsum(pitch) / SAMPLE_RATE + random.uniform())
    pulses = np.diff(beats, prepend=beats[0]) * np.sqrt(SAMPLE_RATE / pitch)
    breath = random.standard_normal(SAMPLES + _FRAME)

    window = np.hanning(_FRAME)
    spectra = [
        np.fft.rfft(np.lib.stride_tricks.sliding_window_view(source, _FRAME)[::_STEP][: time.size] * window)
        for source in (pulses, breath)
    ]
    shaped = np.fft.irfft(
        spectra[0] * envelope * (3 * voice)[:, None] + spectra[1] * fricative * noise[:, None], _FRAME
    )
    signal = np.zeros(SAMPLES + _FRAME)
    for index, frame in enumerate(shaped):
        signal[index * _STEP : index * _STEP + _FRAME] += frame
    return signal[:SAMPLES]


def _background(random: Generator) -> Signal:
    """Return coloured noise with deviation 1, in 30 % of the clips with a mains hum."""
    spectrum = np.fft.rfft(random.standard_normal(SAMPLES))
    frequency = np.fft.rfftfreq(SAMPLES, 1 / SAMPLE_RATE)
    signal = np.fft.irfft(spectrum * (frequency + 50) ** -random.uniform(0, 0.9), SAMPLES)
    signal /= signal.std()
    if random.uniform() < 0.3:
        signal += 0.7 * np.sin(2 * np.pi * random.choice([100, 120, 200, 240]) * np.arange(SAMPLES) / SAMPLE_RATE)
    result: Signal = signal / signal.std()
    return result


def clip(split: int, index: int) -> tuple[NDArray[np.float32], int]:
    """Return the features of one clip, of shape `SHAPE`, and its class.

    Args:
        split: A split of `models.splits`.
        index: Number of the clip in the split.
    """
    random = np.random.default_rng((20, split, index))
    label = index % len(CLASSES)
    name = CLASSES[label]
    signal = _background(random)
    if name != "silence":
        speech = _speak(random, WORDS[name] if name in WORDS else str(random.choice(OTHER_WORDS)))
        level = 10 ** (random.uniform(-10, 10) / 20)  # In dB over the background, measured over the whole clip.
        signal += level * speech / speech.std()
    cepstra = standardised(log_mel(signal, FRAMING, FILTERS)) @ CEPSTRA
    return cepstra[..., None].astype(np.float32), label
