"""Files of a run on the virtual board: sound, pictures, NPU trace, profile.

Files of the virtual board's NPU in a run: its record, and its readable trace. The record is in the
folder of the virtual board, and the trace is an output of the step.
"""

from __future__ import annotations

import io
import wave
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from n6build.base.console import say, show
from n6build.base.files import is_file, read_bytes, read_lines, to_json, write_atomically, write_chunks_atomically
from n6build.base.paths import project_path
from n6build.base.pictures import require_pillow
from n6build.base.regular_file import open_regular
from n6build.board.virtual_board.camera import MOST_PICTURES, PATTERN, write_pictures
from n6build.board.virtual_board.npu_files import NpuFiles
from n6build.board.virtual_board.pictures import FILL, LAYER, PANEL, PIPE_2, Box, Kept, Rectangle, boxes_in, read_kept
from n6build.board.virtual_board.profile import profile_lines, read_profile
from n6build.board.virtual_board.recording import convert_recording
from n6build.board.virtual_board.run import NorBoot
from n6build.describe.choices import Trace
from n6build.describe.hardware.board import Board
from n6build.judge.npu.names import names_of
from n6build.judge.npu.trace import TracedNetwork, trace_lines


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


_TRACE_NAME = "npu_trace.txt"


def trace_output(run: str, trace: str) -> tuple[str, ...]:
    """Return the trace file beside run.json, or nothing without a trace."""
    return (str(Path(run).with_name(_TRACE_NAME)),) if trace == "npu" else ()


@contextmanager
def npu_files(
    folder: Path, board: Board, networks: Sequence[TracedNetwork], outputs: Sequence[Path], *, record: bool
) -> Iterator[NpuFiles]:
    """Provide the NPU files of one run.

    The trace is written even if the run fails, because it may show the cause.

    Args:
        folder: Folder of the virtual board.
        board: Board of the run.
        networks: Networks whose buffers the trace names.
        outputs: Outputs of the step; a trace is made if one of them is its file.
        record: Epochs are recorded.
    """
    output = next((each for each in outputs if each.name == _TRACE_NAME), None)
    files = NpuFiles(
        record=folder / "npu_record.jsonl" if record else None,
        trace=folder / "npu_trace.raw" if output else None,
    )
    # Remove files of an earlier run: an emulator that does not start writes none, and old ones must not pass for its own.
    for path in (files.record, files.trace):
        if path is not None:
            path.unlink(missing_ok=True)
    try:
        yield files
    finally:
        if output and files.trace and is_file(files.trace):
            raw = (line.decode("utf-8", "replace") for line in read_lines(files.trace))
            lines = trace_lines(raw, names_of(board.soc.npu), networks)
            write_chunks_atomically(output, (f"{line}\n".encode() for line in lines))
            files.trace.unlink()


_PROFILE_NAME = "profile.json"


def run_outputs(run: str, trace: Trace) -> tuple[str, ...]:
    """Return the outputs of a run: its result, also as JUnit XML, and its trace.

    Args:
        run: Path of run.json.
        trace: Record of the run that option trace asks for.
    """
    profile = (str(Path(run).with_name(_PROFILE_NAME)),) if trace == "profile" else ()
    return (run, str(Path(run).with_suffix(".xml")), *trace_output(run, trace), *profile)


@contextmanager
def profiled(boot: NorBoot, outputs: Sequence[Path], programs: Sequence[Path]) -> Iterator[NorBoot]:
    """Profile a run if the profile is one of its outputs.

    The profile is written even if the run fails, because it may show the cause.

    Args:
        boot: Images and options of the virtual board.
        outputs: Outputs of the step.
        programs: ELF files, for the names of functions.
    """
    output = next((each for each in outputs if each.name == _PROFILE_NAME), None)
    if output is None:
        yield boot
        return
    raw = boot.nor.with_name("profile.raw")
    # An emulator that does not start writes no file, and an old one must not pass for its own.
    raw.unlink(missing_ok=True)
    try:
        yield replace(boot, profile=raw)
    finally:
        # An emulator that did not end properly leaves an empty file.
        if raw.is_file() and raw.stat().st_size:
            profile = read_profile(raw, programs, boot.board.soc)
            write_atomically(output, to_json(asdict(profile)))
            show("\n".join(profile_lines(profile)))
            raw.unlink()


if TYPE_CHECKING:
    from PIL.Image import Image

SHEET, BOXES = "contact-sheet.png", "boxes.json"
# Of a contact sheet.
_HEIGHT = 480
_GAP = 8


@dataclass(frozen=True)
class Vision:
    """Options camera, raw, unplug and display.

    Attributes:
        camera: What the image sensor sees; empty for no sensor.
        display: Folder for the pictures of the panel; empty for none.
        unplug: Frames until the camera is unplugged; 0 for never.
        is_raw: The sensor sends raw pixels.
    """

    camera: str = ""
    display: str = ""
    unplug: int = 0
    is_raw: bool = False

    @property
    def state(self) -> tuple[str, ...]:
        """Files and folders that a run reads and writes besides its own."""
        named = [self.display] + ([] if self.camera.startswith(PATTERN) else [self.camera])
        return tuple(project_path(each) for each in named if each)

    def outputs(self, run: str) -> tuple[str, ...]:
        """Return the copy of the contact sheet for the report.

        Args:
            run: Path of run.json.
        """
        return (str(Path(run).with_name(SHEET)),) if self.display else ()


@contextmanager
def with_vision(boot: NorBoot, vision: Vision) -> Iterator[NorBoot]:
    """Give the board its camera, and write the pictures of its panel.

    They are written even if the run fails, because they may show the cause.

    Args:
        boot: Images and options of the virtual board.
        vision: Values of the options.

    Raises:
        N6Error: Errors of `write_pictures`; N6-FILE-001 for a folder that cannot be written.
    """
    if vision.camera:
        camera, count = write_pictures(vision.camera, boot.board, boot.nor.with_name("camera.raw"))
        boot = replace(boot, camera=replace(camera, frames=vision.unplug, is_raw=vision.is_raw))
        note = f"the first {count} pictures, " if count == MOST_PICTURES else f"{count} pictures, " if count > 1 else ""
        pixels = "raw pixels, for the ISP" if vision.is_raw else "as finished pixels, without the ISP"
        end = f", unplugged after frame {vision.unplug}" if vision.unplug else ""
        say("Camera", f"{vision.camera}: {note}{pixels}{end}", camera.device.part.name)
    if not vision.display:
        yield boot
        return
    folder, raw = Path(vision.display), boot.nor.with_name("pictures.raw")
    for old in (*folder.glob("frame-*.png"), folder / SHEET, folder / BOXES):
        old.unlink(missing_ok=True)
    raw.unlink(missing_ok=True)
    # A folder that cannot be written ends the run before it begins.
    write_atomically(folder / SHEET, b"")
    try:
        yield replace(boot, pictures=raw)
    finally:
        _write_panel(folder, raw, boot)
        raw.unlink(missing_ok=True)


def _write_panel(folder: Path, raw: Path, boot: NorBoot) -> None:
    shown: list[Kept] = []
    seen: Kept | None = None
    last_seen: Kept | None = None
    drawn: list[Rectangle] = []
    boxes: list[tuple[Box, ...]] = []
    for kept in read_kept(raw) if raw.is_file() else ():
        if isinstance(kept, Rectangle):
            drawn.append(kept)
        elif kept.source == PIPE_2:
            seen = kept
        elif kept.source == PANEL:
            fills, layers = ([each for each in drawn if each.source == source] for source in (FILL, LAYER))
            boxes.append(boxes_in(fills, layers))
            drawn, last_seen = [], seen
            if not shown or kept.pixels != shown[-1].pixels:
                shown = [kept]
                write_atomically(folder / f"frame-{len(boxes):04}.png", _png(_picture(kept)))
    if not shown:
        (folder / SHEET).unlink(missing_ok=True)
    if not shown and raw.is_file():
        say("Display", "the panel has shown nothing: LTDC reloaded no layer at a vertical blanking")
    if not shown:
        return
    write_atomically(folder / SHEET, _png(_sheet(shown[-1], last_seen, boot)))
    write_atomically(folder / BOXES, to_json([[asdict(box) for box in each] for each in boxes]))
    for box in boxes[-1]:
        say("Box", f"{box.width} x {box.height} pixels at ({box.x}, {box.y}) of the last picture")
    say("Display", f"{len(boxes)} pictures in {project_path(str(folder))}, the last one in {SHEET}")


def _sheet(shown: Kept, seen: Kept | None, boot: NorBoot) -> Image:
    """Return a sheet: the camera's picture, the picture for the network, the panel."""
    parts = [_picture(shown)]
    if seen is not None:
        parts.insert(0, _picture(seen))
    if boot.camera is not None:
        parts.insert(0, _sent(boot, shown.frame))
    scaled = [each.resize((max(each.width * _HEIGHT // each.height, 1), _HEIGHT)) for each in parts]
    width = sum(each.width for each in scaled) + _GAP * (len(scaled) - 1)
    sheet: Image = require_pillow().Image.new("RGB", (width, _HEIGHT), "white")
    left = 0
    for each in scaled:
        sheet.paste(each, (left, 0))
        left += each.width + _GAP
    return sheet


def _sent(boot: NorBoot, frame: int) -> Image:
    """Return the camera's picture in this frame; the last one repeats."""
    assert boot.camera is not None
    sensor = boot.camera.device.part.sensor
    assert sensor is not None
    size = 3 * sensor.width * sensor.height
    with open_regular(boot.camera.file) as file:
        count = file.seek(0, io.SEEK_END) // size
        file.seek(size * min(max(frame - 1, 0), count - 1))
        pixels = file.read(size)
    picture: Image = require_pillow().Image.frombytes("RGB", (sensor.width, sensor.height), pixels)
    return picture


def _picture(kept: Kept) -> Image:
    picture: Image = require_pillow().Image.frombytes("RGB", (kept.width, kept.height), kept.pixels)
    return picture


def _png(picture: Image) -> bytes:
    content = io.BytesIO()
    picture.save(content, "PNG")
    return content.getvalue()


def keep_sheet(vision: Vision, outputs: Sequence[Path]) -> None:
    """Copy the contact sheet to its output, which is empty if nothing was shown."""
    for copy in (each for each in outputs if each.name == SHEET):
        sheet = Path(vision.display) / SHEET
        write_atomically(copy, read_bytes(sheet) if sheet.is_file() else b"")
