"""WAV files for the virtual board's microphone."""

from __future__ import annotations

import io
import struct
import wave
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.board.virtual_board.recording import convert_recording


def wav(frames: bytes, *, channels: int = 1, width: int = 2, hz: int = 16_000) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setparams((channels, width, hz, 0, "NONE", ""))
        writer.writeframes(frames)
    return file.getvalue()


def converted(folder: Path, content: bytes) -> tuple[int, ...]:
    (folder / "sound.wav").write_bytes(content)
    recording = convert_recording(folder / "sound.wav", folder / "sound.raw")
    assert recording.hz == 16_000
    return tuple(value for (value,) in struct.iter_unpack("<i", recording.file.read_bytes()))


@pytest.mark.parametrize(
    ("width", "frames", "samples"),
    [
        (1, bytes([128, 255, 0, 129]), (0, 0x7F00, -0x8000, 0x100)),
        (2, struct.pack("<3h", 1, -32768, 32767), (1, -32768, 32767)),
        (3, bytes([0xFF, 0x01, 0x00, 0x00, 0x00, 0x80]), (0x1FF, -0x80_0000)),
        (4, struct.pack("<3i", 1 << 16, -1, -0x8000_0000), (0x100, -1, -0x80_0000)),
    ],
)
def test_numbers_are_heard_as_they_are_up_to_24_bits(
    tmp_path: Path, width: int, frames: bytes, samples: tuple[int, ...]
) -> None:
    assert converted(tmp_path, wav(frames, width=width)) == samples


def test_of_several_channels_the_first_is_heard(tmp_path: Path) -> None:
    assert converted(tmp_path, wav(struct.pack("<6h", 1, 10, 2, 20, 3, 30), channels=2)) == (1, 2, 3)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "cannot be read"),
        (b"RIFF\x04\0\0\0AVI ", "cannot be read: not a WAVE file"),
        (wav(b"")[:30], "cannot be read"),
        (wav(b"").replace(b"fmt \x10\0\0\0\x01\0", b"fmt \x10\0\0\0\x03\0"), "cannot be read: unknown format: 3"),
        (wav(b"", hz=1_000_000), "has 1 channels of 16 bits at 1000000 Hz"),
    ],
)
def test_what_is_no_recording_is_refused(tmp_path: Path, content: bytes, what: str) -> None:
    with pytest.raises(N6Error, match=f"^sound.wav: error N6-AUDIO-001: {what}"):
        converted(tmp_path, content)


@given(st.binary(max_size=60), st.integers(0, 43), st.binary(max_size=8))
def test_hostile_files_end_in_an_error_or_in_samples(
    tmp_path_factory: pytest.TempPathFactory, frames: bytes, position: int, damage: bytes
) -> None:
    folder = tmp_path_factory.mktemp("recording")
    content = bytearray(wav(frames[: len(frames) // 2 * 2]))
    content[position : position + len(damage)] = damage
    (folder / "sound.wav").write_bytes(content)
    try:
        recording = convert_recording(folder / "sound.wav", folder / "sound.raw")
    except N6Error as error:
        assert error.id == "N6-AUDIO-001"
    else:
        assert len(recording.file.read_bytes()) <= 4 * len(content)
