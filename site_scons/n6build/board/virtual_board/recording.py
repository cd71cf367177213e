"""A WAV file as input of the virtual board's microphone."""

from __future__ import annotations

import io
import wave
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import read_at_most, write_atomically

# Enough for ten minutes at 96 kHz, with two channels of 32 bits.
_MOST_BYTES = 512 << 20
_MOST_HZ = 768_000
# An eight-bit sample is unsigned, with silence at 128.
_SIGNED = bytes(value ^ 0x80 for value in range(256))
_SIGN = bytes(0xFF if value & 0x80 else 0 for value in range(256))


@dataclass(frozen=True)
class Recording:
    """A recording for the emulator.

    Attributes:
        file: Signed samples of 24 bits, in 32 bits, little endian, one channel.
        hz: Samples per second.
    """

    file: Path
    hz: int


def convert_recording(wav: Path, file: Path) -> Recording:
    """Convert the first channel of a WAV file with PCM samples of 8 to 32 bits.

    Values stay as they are, with two exceptions: 8 bits become 16, and 32 bits keep the upper 24.

    Args:
        wav: The WAV file.
        file: File to write.

    Raises:
        N6Error: N6-AUDIO-001 for an unsupported file; N6-FILE-00x.
    """
    content = read_at_most(wav, _MOST_BYTES)
    try:
        with wave.open(io.BytesIO(content)) as reader:
            channels, width, hz = reader.getnchannels(), reader.getsampwidth(), reader.getframerate()
            if not (1 <= width <= 4 and channels and 0 < hz <= _MOST_HZ):
                raise _no_recording(wav, f"has {channels} channels of {8 * width} bits at {hz} Hz")
            frames = reader.readframes(len(content))
    # RuntimeError is raised for a chunk whose size exceeds the file.
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
    # Copy the bytes of a sample from the most significant one down, at most 24 bits.
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
        hint="use a WAV file with PCM samples of 8, 16, 24 or 32 bits, at 768 kHz or less",
    )
