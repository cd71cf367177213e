"""Sound of a run on the virtual board: heard by its microphones, and played."""

from __future__ import annotations

import wave
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from n6build.base.console import show
from n6build.base.files import read_bytes, write_atomically
from n6build.base.paths import project_path
from n6build.base.regular_file import open_regular
from n6build.board.virtual_board.recording import convert_recording
from n6build.board.virtual_board.run import NorBoot


@dataclass(frozen=True)
class Sound:
    """Files of options audio and audio_out.

    Attributes:
        heard: WAV file for the microphones; empty for silence.
        played: WAV file to write; empty for none.
    """

    heard: str = ""
    played: str = ""

    @property
    def outputs(self) -> tuple[str, ...]:
        """Outputs of the step that makes the run."""
        return (project_path(self.played),) if self.played else ()


@contextmanager
def with_sound(boot: NorBoot, sound: Sound) -> Iterator[NorBoot]:
    """Give the board its sound, and write what it played.

    The file is written even if the run fails.

    Args:
        boot: Images and options of the virtual board.
        sound: Files of the options.

    Raises:
        N6Error: N6-AUDIO-001 for a recording that cannot be read; N6-FILE-00x.
    """
    if sound.heard:
        boot = replace(boot, heard=convert_recording(Path(sound.heard), boot.nor.with_name("audio.raw")))
    if not sound.played:
        yield boot
        return
    raw, played = boot.nor.with_name("played.wav"), Path(sound.played)
    # An emulator that does not start writes no file, and an old one must not pass for its own.
    for old in (raw, played):
        old.unlink(missing_ok=True)
    try:
        yield replace(boot, played=raw)
    finally:
        _keep(raw, played)


def _keep(raw: Path, played: Path) -> None:
    # A board that plays nothing leaves an empty file.
    if not raw.is_file() or not raw.stat().st_size:
        show(f"The board played nothing, so {played} is not written: no SAI sent samples")
        return
    write_atomically(played, read_bytes(raw))
    with open_regular(played) as file, wave.open(file) as reader:
        hz, channels, bits = reader.getframerate(), reader.getnchannels(), 8 * reader.getsampwidth()
        what = f"{reader.getnframes() / hz:.2f} s, {channels} channels of {bits} bits at {hz:,} Hz"
    show(f"The board played {what}: {played}")
    raw.unlink()
