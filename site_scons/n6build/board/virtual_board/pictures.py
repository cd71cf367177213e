"""Pictures that the emulator keeps, of pipes and panel, and boxes drawn in them.

The format is that of n6virt_pictures.c. A box is four lines that DMA2D fills one after the other, in
one colour: two of equal width and two of equal height, as ST's utilities draw a rectangle.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from n6build.base.regular_file import open_regular

# Source, frame of the camera, width and height; guest time.
_HEAD = struct.Struct("<4IQ")
PANEL, PIPE_2, FILL, LAYER = 0, 3, 4, 5
# Address, pitch and bytes of a pixel.
_SURFACE = struct.Struct("<3I")
_SIDES = 4
_MOST_SIDE = 1 << 13


@dataclass(frozen=True)
class Kept:
    """A picture of the board.

    Attributes:
        source: PANEL, or 1 to 3 for pipes 0 to 2 of DCMIPP.
        frame: Number of the camera's frame, from 1; for the panel, the last one before.
        width: Pixels of a row.
        height: Rows.
        time: Guest time in instructions.
        pixels: Rows of R, G, B.
    """

    source: int
    frame: int
    width: int
    height: int
    time: int
    pixels: bytes


@dataclass(frozen=True)
class Rectangle:
    """A rectangle in memory.

    Attributes:
        source: FILL for one that DMA2D filled, LAYER for a layer of the picture that follows.
        what: Colour of a fill in the format of its pixels, number of a layer.
        width: Pixels of a row; for a layer, its left edge on the panel.
        height: Rows; for a layer, its upper edge.
        address: Address of the first pixel.
        pitch: Bytes from row to row.
        bytes: Bytes of a pixel.
    """

    source: int
    what: int
    width: int
    height: int
    address: int
    pitch: int
    bytes: int


@dataclass(frozen=True)
class Box:
    """A box on the panel: its left and upper edge, its size in pixels, its colour."""

    x: int
    y: int
    width: int
    height: int
    colour: int


def read_kept(file: Path) -> Iterator[Kept | Rectangle]:
    """Yield the records of a file; one that is cut off ends it."""
    with open_regular(file) as opened:
        while (kept := _next(opened)) is not None:
            yield kept


def _next(opened: BinaryIO) -> Kept | Rectangle | None:
    head = opened.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    source, frame, width, height, time = _HEAD.unpack(head)
    if source in (FILL, LAYER):
        content = opened.read(_SURFACE.size)
        return (
            Rectangle(source, frame, width, height, *_SURFACE.unpack(content))
            if len(content) == _SURFACE.size
            else None
        )
    if not (0 < width <= _MOST_SIDE and 0 < height <= _MOST_SIDE):
        return None
    pixels = opened.read(3 * width * height)
    return Kept(source, frame, width, height, time, pixels) if len(pixels) == 3 * width * height else None


def boxes_in(fills: Sequence[Rectangle], layers: Sequence[Rectangle]) -> tuple[Box, ...]:
    """Return the boxes that fills draw in layers, in their order.

    Args:
        fills: Filled rectangles since the picture before.
        layers: Layers of the picture.
    """
    found: list[Box] = []
    place = 0
    while place + _SIDES <= len(fills):
        box = _box(fills[place : place + _SIDES], layers)
        found += [box] if box else []
        place += _SIDES if box else 1
    return tuple(found)


def _box(sides: Sequence[Rectangle], layers: Sequence[Rectangle]) -> Box | None:
    """Return the box that four lines draw in a layer, or None if they draw none."""
    flat = [side for side in sides if side.height == 1 and side.width > 1]
    tall = [side for side in sides if side.width == 1 and side.height > 1]
    if not _is_outline(flat, tall):
        return None
    first = min(sides, key=lambda side: side.address)
    # The pitch of a single line has no effect.
    layer = _layer_with(first, tall[0].pitch, layers)
    if layer is None:
        return None
    row, column = divmod(first.address - layer.address, layer.pitch)
    return Box(layer.width + column // layer.bytes, layer.height + row, flat[0].width, tall[0].height, first.what)


def _is_outline(flat: Sequence[Rectangle], tall: Sequence[Rectangle]) -> bool:
    """Return whether four lines may be the sides of a box.

    Two have equal width, two have equal height, and all have one colour.
    """
    colours, widths = {side.what for side in (*flat, *tall)}, {side.width for side in flat}
    heights = {side.height for side in tall}
    return len(flat) == len(tall) == _SIDES // 2 and len(colours) == len(widths) == len(heights) == 1


def _layer_with(first: Rectangle, pitch: int, layers: Sequence[Rectangle]) -> Rectangle | None:
    """Return the layer that a line is drawn in, or None.

    Args:
        first: The line with the lowest address.
        pitch: Bytes from row to row.
        layers: Layers of the picture.
    """
    alike = [layer for layer in layers if layer.pitch == pitch and layer.bytes == first.bytes]
    before = [layer for layer in alike if layer.pitch and layer.address <= first.address]
    return max(before, key=lambda layer: layer.address, default=None)
