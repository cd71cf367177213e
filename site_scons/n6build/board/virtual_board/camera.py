"""Pictures as input of the virtual board's image sensor."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.describe.hardware.board import Board, OnBus


@dataclass(frozen=True)
class Camera:
    """Pictures for the emulator.

    Attributes:
        file: Pictures of the sensor's size, one after the other: rows of R, G, B.
        device: The sensor on its bus.
    """

    file: Path
    device: OnBus


def camera_values(camera: Camera) -> dict[str, int | str]:
    """Return the camera in the format of n6virt_camera.c."""
    device, sensor = camera.device, camera.device.part.sensor
    assert sensor is not None
    place = f"{device.bus}:0x{device.address:x}:{sensor.width}x{sensor.height}:{sensor.lanes}:{sensor.bits}"
    starts = f"0x{sensor.streams.number:x}=0x{sensor.streams.value:x}"
    described = f"{place}:{starts}:0x{sensor.period_lines:x}:{sensor.line_ns}"
    return {"camera": str(camera.file).replace(",", ",,"), "camera-sensor": described}


def sensor_of(board: Board) -> OnBus:
    """Return the board's image sensor.

    Raises:
        N6Error: N6-CAMERA-001 if the board has none, or several.
    """
    sensors = [device for device in board.i2c if device.part.sensor is not None]
    if len(sensors) != 1:
        what = f"board {board.name} has {len(sensors)} image sensors on its I2C buses; a camera needs one"
        hint = "add its part to i2c in board.yaml (docs/own-board.md)" if not sensors else "remove the others from board.yaml"
        raise N6Error("N6-CAMERA-001", what, where="option camera", hint=hint)
    return sensors[0]
