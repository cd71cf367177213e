"""Pictures as input of the virtual board's image sensor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from n6build.base.errors import N6Error, did_you_mean
from n6build.base.files import write_chunks_atomically
from n6build.base.pictures import open_pictures, picture_files, require_pillow
from n6build.describe.hardware.board import Board, OnBus
from n6build.describe.hardware.i2c import Sensor
from n6build.describe.hardware.vision import PATTERNS

if TYPE_CHECKING:
    from PIL.Image import Image

PATTERN = "pattern:"
# From left to right, as on a test card.
_BARS = ("white", "yellow", "cyan", "lime", "magenta", "red", "blue", "black")
# Pictures of 15 MB each for a sensor of five megapixels; a run seldom needs more.
MOST_PICTURES = 64


@dataclass(frozen=True)
class Camera:
    """Pictures for the emulator.

    Attributes:
        file: Pictures of the sensor's size, one after the other: rows of R, G, B.
        device: The sensor on its bus.
        frames: Frames until the camera is unplugged; 0 for never.
        is_raw: The sensor sends raw pixels, for the ISP.
    """

    file: Path
    device: OnBus
    frames: int = 0
    is_raw: bool = False


def camera_values(camera: Camera) -> dict[str, int | str]:
    """Return the camera in the format of n6virt_camera.c."""
    device, sensor = camera.device, camera.device.part.sensor
    assert sensor is not None
    place = f"{device.bus}:0x{device.address:x}:{sensor.width}x{sensor.height}:{sensor.lanes}:{sensor.bits}"
    starts = f"0x{sensor.streams.number:x}=0x{sensor.streams.value:x}"
    colours = f"{PATTERNS[sensor.pattern]}:{sensor.black}:{':'.join(map(str, sensor.daylight))}"
    described = f"{place}:{starts}:0x{sensor.period_lines:x}:{sensor.line_ns}:{colours}"
    return {
        "camera": str(camera.file).replace(",", ",,"),
        "camera-sensor": described,
        "camera-raw": "on" if camera.is_raw else "off",
        "camera-frames": camera.frames,
    }


def sensor_of(board: Board) -> OnBus:
    """Return the board's image sensor.

    Raises:
        N6Error: N6-CAMERA-001 if the board has none, or several.
    """
    sensors = [device for device in board.i2c if device.part.sensor is not None]
    if len(sensors) != 1:
        what = f"board {board.name} has {len(sensors)} image sensors on its I2C buses; a camera needs one"
        hint = (
            "add its part to i2c in board.yaml (docs/own-board.md)"
            if not sensors
            else "remove the others from board.yaml"
        )
        raise N6Error("N6-CAMERA-001", what, where="option camera", hint=hint)
    return sensors[0]


def write_pictures(source: str, board: Board, file: Path) -> tuple[Camera, int]:
    """Write what the board's image sensor sees, for the emulator.

    A picture gets the sensor's size; its longer sides are cut, around its centre.

    Args:
        source: A picture, an animation, a folder of pictures, or the name of a pattern.
        board: Board with the sensor.
        file: File to write.

    Returns:
        The camera, and the number of pictures.

    Raises:
        N6Error: N6-CAMERA-001 for a board without a sensor; N6-CAMERA-002 for an unknown pattern;
            errors of `open_pictures` and `picture_files`.
    """
    device = sensor_of(board)
    sensor = device.part.sensor
    assert sensor is not None
    pillow = require_pillow()
    count = 0

    def chunks() -> Iterator[bytes]:
        nonlocal count
        for picture in _scene(source, sensor):
            count += 1
            size = (sensor.width, sensor.height)
            yield pillow.ImageOps.fit(picture, size, pillow.Image.Resampling.BILINEAR).tobytes()
            if count == MOST_PICTURES:
                return

    write_chunks_atomically(file, chunks())
    return Camera(file, device), count


def _scene(source: str, sensor: Sensor) -> Iterator[Image]:
    if not source.startswith(PATTERN):
        for path in picture_files(Path(source)):
            yield from open_pictures(path)
        return
    name = source.removeprefix(PATTERN)
    if name != "colorbars":
        what = f"no pattern '{name[:80]}'"
        raise N6Error("N6-CAMERA-002", what, where="option camera", hint=did_you_mean(name, ["colorbars"]))
    pillow = require_pillow()
    picture = pillow.Image.new("RGB", (sensor.width, sensor.height))
    for place, colour in enumerate(_BARS):
        left, right = (sensor.width * each // len(_BARS) for each in (place, place + 1))
        picture.paste(colour, (left, 0, right, sensor.height))
    yield picture
