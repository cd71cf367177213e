"""A WAV file, as the virtual board's microphone hears it."""

from __future__ import annotations

import io
import wave
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import read_at_most, write_atomically

# Ten minutes at 96 kHz, two channels of 32 bits.
_MOST_BYTES = 512 << 20
_MOST_HZ = 768_000
# An eight-bit sample is unsigned, with silence at 128.
_SIGNED = bytes(value ^ 0x80 for value in range(256))
_SIGN = bytes(0xFF if value & 0x80 else 0 for value in range(256))


@dataclass(frozen=True)
class Recording:
    """file: numbers of 24 bits, signed, in 32, little endian, one channel. hz: samples a second."""

    file: Path
    hz: int


def convert_recording(wav: Path, file: Path) -> Recording:
    """The first channel of a WAV file with PCM samples of 8 to 32 bits, written to `file`: the numbers as they are, apart from 8
    bits, which become 16, and of 32 the upper 24. Raises N6-AUDIO-001 if it is none, N6-FILE-00x."""
    content = read_at_most(wav, _MOST_BYTES)
    try:
        with wave.open(io.BytesIO(content)) as reader:
            channels, width, hz = reader.getnchannels(), reader.getsampwidth(), reader.getframerate()
            if not (1 <= width <= 4 and channels and 0 < hz <= _MOST_HZ):
                raise _no_recording(wav, f"has {channels} channels of {8 * width} bits at {hz} Hz")
            frames = reader.readframes(len(content))
    # RuntimeError: a chunk that claims to end behind the file.
    except (wave.Error, EOFError, RuntimeError) as error:
        raise _no_recording(wav, f"cannot be read: {error}") from error
    write_atomically(file, _first_channel(frames, channels, width))
    return Recording(file, hz)


def _first_channel(frames: bytes, channels: int, width: int) -> bytes:
    step = channels * width
    whole = frames[: len(frames) // step * step]
    most_significant = whole[width - 1 :: step]
    if width == 1:
        most_significant = most_significant.translate(_SIGNED)
    samples = bytearray(4 * len(most_significant))
    # Bytes from the most significant one of a sample down to where it has no more, or 24 bits are through.
    top = max(width, 2) if width < 4 else 3
    samples[top - 1 :: 4] = most_significant
    for byte in range(1, min(width, 3)):
        samples[top - 1 - byte :: 4] = whole[width - 1 - byte :: step]
    sign = most_significant.translate(_SIGN)
    for byte in range(top, 4):
        samples[byte::4] = sign
    return bytes(samples)


def _no_recording(wav: Path, what: str) -> N6Error:
    return N6Error(
        "N6-AUDIO-001",
        what,
        where=wav.name,
        hint="a WAV file with PCM samples of 8, 16, 24 or 32 bits, at 768 kHz or less",
    )
