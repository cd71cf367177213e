"""Sources of an STM32H747 application that a compiled network changes.

They are main.h, main.c and ai_interface.h.

Edits in host sources: between two markers, or in a macro's value. All other bytes stay the same.
Files are read as bytes: line ends, encodings and a missing last newline are kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import read_bytes
from n6build.compile.application.activation_buffers import (
    activation_block,
    input_macros,
    picture_bytes,
    place_pictures,
)
from n6build.compile.artifacts.c_info_pools import ActivationPools
from n6build.compile.model_facts import read_model_facts
from n6build.describe.application import Application, Aspect

_START = re.compile(rb"^[^\n]*@GENERATED CODE START\b[^\n]*\n?", re.MULTILINE)
_STOP = re.compile(rb"^[^\n]*@GENERATED CODE STOP\b[^\n]*\n?", re.MULTILINE)


def replace_block(data: bytes, block: str, file: str) -> bytes:
    """Return `data` with `block` between the lines of its markers.

    Replacing the same block twice changes nothing.

    Raises:
        N6Error: N6-APP-020 if a marker is missing; N6-APP-021 if the markers appear twice or in the
            wrong order.
    """
    starts, stops = list(_START.finditer(data)), list(_STOP.finditer(data))
    for word, found in (("START", starts), ("STOP", stops)):
        if not found:
            hint = "put it back: n6build only writes between '@GENERATED CODE START' and '@GENERATED CODE STOP'"
            raise N6Error("N6-APP-020", f"marker '@GENERATED CODE {word}' is missing", where=file, hint=hint)
        if len(found) > 1:
            where = f"{file}:{_line(data, found[1].start())}"
            raise N6Error("N6-APP-021", f"marker '@GENERATED CODE {word}' appears twice", where=where)
    start, stop = starts[0], stops[0]
    if stop.start() < start.end():
        where = f"{file}:{_line(data, stop.start())}"
        raise N6Error("N6-APP-021", "'@GENERATED CODE STOP' comes before START", where=where)
    newline = b"\r\n" if start[0].endswith(b"\r\n") else b"\n"
    return data[: start.end()] + block.encode().replace(b"\n", newline) + data[stop.start() :]


def replace_defines(data: bytes, values: Mapping[str, str], file: str) -> bytes:
    """Return `data` with new values of macros, in parentheses.

    Comments behind the values stay.

    Raises:
        N6Error: N6-APP-022 if a macro is not defined, or defined twice.
    """
    for name, value in values.items():
        head = rb"^([ \t]*#[ \t]*define[ \t]+" + name.encode() + rb"\b)"
        pattern = re.compile(head + rb"([ \t]*)(\([^()\r\n]*\)|[^\s/]*)", re.MULTILINE)
        found = list(pattern.finditer(data))
        if len(found) != 1:
            what = f"macro {name} is defined {len(found)} times instead of once"
            raise N6Error("N6-APP-022", what, where=file, hint=f"add a line: #define {name} ({value})")
        (match,) = found
        data = data[: match.end(1)] + (match[2] or b" ") + f"({value})".encode() + data[match.end() :]
    return data


def replace_section(data: bytes, section: str, ram: str, file: str) -> bytes:
    """Return `data` with the variable in `.<section>_<any RAM>` moved to `ram`.

    Raises:
        N6Error: N6-APP-023 if there is no such variable.
    """
    pattern = re.compile(rb'(section\(")\.' + section.encode() + rb'(?:_\w+)?("\))')
    if not pattern.search(data):
        raise N6Error("N6-APP-023", f"no variable is in a section .{section}", where=file)
    return pattern.sub(rb"\g<1>." + f"{section}_{ram}".encode() + rb"\g<2>", data)


def _line(data: bytes, position: int) -> int:
    return data.count(b"\n", 0, position) + 1


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


# ST's applications have grey pictures, and RGB565 for a network with three channels.
_CHANNELS = (1, 3)
Picture = tuple[int, int, int]


@dataclass(frozen=True)
class ProjectFiles:
    """The sources to change; interface_h is ai_interface.h."""

    main_h: Path
    main_c: Path
    interface_h: Path


def patched_files(
    files: ProjectFiles, network: ActivationPools, picture: Picture, application: Application | None, axiram_bytes: int
) -> dict[Path, bytes]:
    """Return the new content of those files that change.

    Args:
        files: Sources of the project.
        network: Pools from the network's c_info.
        picture: Height, width and channels of the network's input.
        application: Key `application` of the model.yaml, for the aspect.
        axiram_bytes: AXI RAM for activations and pictures together.

    Raises:
        N6Error: N6-APP-010 if the picture exceeds VGA; N6-APP-02x if a file lacks a part to
            replace.
    """
    height, width, channels = picture
    camera = camera_resolution(width, height, (application or Application()).aspect)
    pictures = place_pictures(
        network.pools,
        axiram_bytes,
        captured_bytes=picture_bytes(*camera.buffer, channels),
        rescaled_bytes=picture_bytes(width, height, channels),
    )
    macros = {"CAMERA_RESOLUTION": camera.mode, "CAM_RES_WIDTH": camera.width, "CAM_RES_HEIGHT": camera.height}
    main_c = replace_block(read_bytes(files.main_c), activation_block(network.pools) + "\n", files.main_c.name)
    main_c = replace_section(main_c, "CapturedImage_Buffer", pictures.captured, files.main_c.name)
    main_c = replace_section(main_c, "RescaledImage_Buffer", pictures.rescaled, files.main_c.name)
    wanted = {
        files.main_h: replace_defines(read_bytes(files.main_h), macros, files.main_h.name),
        files.main_c: main_c,
        files.interface_h: replace_block(
            read_bytes(files.interface_h), input_macros(network.input_index) + "\n", files.interface_h.name
        ),
    }
    return {path: data for path, data in wanted.items() if data != read_bytes(path)}


def picture_of(network: ActivationPools, model: Path | None) -> Picture:
    """Return height, width and channels of the network's input.

    They come from the model file, as in ST's script, or from c_info without one.

    Raises:
        N6Error: N6-APP-011 if the input is not a picture with one or three channels; N6-MODEL-020
            for the file.
    """
    shape, where = (network.picture or network.input_shape), "network_c_info.json"
    if model is not None:
        inputs = read_model_facts(model).inputs
        shape, where = _channels_last(inputs[0].shape if inputs else ()), model.name
    if len(shape) != 3 or shape[2] not in _CHANNELS or min(shape) < 1:
        what = f"the network's input has the shape {list(shape)}: it is not a picture with 1 or 3 channels"
        raise N6Error(
            "N6-APP-011",
            what,
            where=where,
            hint="pass a model whose input is height x width x channels, for example 224 x 224 x 3",
        )
    return shape[0], shape[1], shape[2]


def mismatch(network: ActivationPools, picture: Picture) -> str | None:
    """Return a note if model and c_info disagree on the input's picture, else None."""
    if picture == network.picture:
        return None
    compiled = " x ".join(map(str, network.picture or network.input_shape))
    return (
        f"the model's input is {' x '.join(map(str, picture))}, but that of c_info is {compiled}: the files "
        f"belong to different networks"
    )


def _channels_last(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape without the batch, channels last; ONNX has channels first."""
    picture = shape[-3:]
    first = len(picture) == 3 and picture[0] in _CHANNELS and picture[2] not in _CHANNELS
    return (picture[1], picture[2], picture[0]) if first else picture
