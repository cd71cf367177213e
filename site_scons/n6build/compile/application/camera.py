"""The camera's resolution for a network, as in ST's STM32H747 applications."""

from __future__ import annotations

from dataclasses import dataclass

from n6build.base.errors import N6Error
from n6build.describe.application import Aspect

_QVGA, _VGA = (320, 240), (640, 480)


@dataclass(frozen=True)
class CameraResolution:
    """A resolution of the camera, and the frame that the application keeps of it.

    Attributes:
        mode: Macro of the camera driver.
        width: Macro of the kept frame's width.
        height: Macro of the kept frame's height.
        pixels: Values of these macros, (width, height).
        buffer: Pixels of the buffer, (width, height); padding adds borders up to a square.
    """

    mode: str
    width: str
    height: str
    pixels: tuple[int, int]
    buffer: tuple[int, int]


# Each aspect lists the largest network (width, height) and the resolution captured for it. A crop keeps a square as high as
# the picture; padding adds borders up to a square.
_RULES: dict[Aspect, tuple[tuple[tuple[int, int], CameraResolution], ...]] = {
    "crop": (
        ((240, 240), CameraResolution("CAMERA_R320x240", "QVGA_RES_HEIGHT", "QVGA_RES_HEIGHT", (240, 240), (240, 240))),
        ((480, 480), CameraResolution("CAMERA_R640x480", "VGA_RES_HEIGHT", "VGA_RES_HEIGHT", (480, 480), (480, 480))),
    ),
    "padding": (
        ((320, 320), CameraResolution("CAMERA_R320x240", "QVGA_RES_WIDTH", "QVGA_RES_HEIGHT", _QVGA, (320, 320))),
        ((640, 640), CameraResolution("CAMERA_R640x480", "VGA_RES_WIDTH", "VGA_RES_HEIGHT", _VGA, (640, 640))),
    ),
    "fit": (
        (_QVGA, CameraResolution("CAMERA_R320x240", "QVGA_RES_WIDTH", "QVGA_RES_HEIGHT", _QVGA, _QVGA)),
        (_VGA, CameraResolution("CAMERA_R640x480", "VGA_RES_WIDTH", "VGA_RES_HEIGHT", _VGA, _VGA)),
    ),
}


def camera_resolution(width: int, height: int, aspect: Aspect) -> CameraResolution:
    """Return the smallest resolution that covers a network of width x height pixels.

    A full screen is captured like the aspect 'fit'.

    Raises:
        N6Error: N6-APP-010 beyond VGA.
    """
    rules = _RULES.get(aspect, _RULES["fit"])
    for (limit_width, limit_height), resolution in rules:
        if width <= limit_width and height <= limit_height:
            return resolution
    (limit_width, limit_height), _ = rules[-1]
    beyond = max(width - limit_width, height - limit_height)
    raise N6Error(
        "N6-APP-010",
        f"a network of {width} x {height} pixels exceeds VGA by {beyond} pixels with aspect '{aspect}'",
        where="application.aspect",
        hint=f"compile the network for {limit_width} x {limit_height} pixels at most, or change application.aspect",
    )
