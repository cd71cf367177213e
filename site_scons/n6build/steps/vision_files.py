"""Camera and display of a run on the virtual board."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from n6build.base.console import say
from n6build.base.files import read_bytes, to_json, write_atomically
from n6build.base.paths import project_path
from n6build.base.pictures import require_pillow
from n6build.base.regular_file import open_regular
from n6build.board.virtual_board.camera import MOST_PICTURES, PATTERN, write_pictures
from n6build.board.virtual_board.pictures import FILL, LAYER, PANEL, PIPE_2, Box, Kept, Rectangle, boxes_in, read_kept
from n6build.board.virtual_board.run import NorBoot

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
