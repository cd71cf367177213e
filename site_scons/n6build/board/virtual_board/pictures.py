"""Pictures that the emulator keeps, of pipes and panel.

The format is that of n6virt_pictures.c.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

# Source, frame of the camera, width and height; guest time.
_HEAD = struct.Struct("<4IQ")
PANEL, PIPE_2 = 0, 3
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


def read_kept(file: Path) -> Iterator[Kept]:
    """Yield the pictures of a file; one that is cut off ends it."""
    with file.open("rb") as opened:
        while (kept := _next(opened)) is not None:
            yield kept


def _next(opened: BinaryIO) -> Kept | None:
    head = opened.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    source, frame, width, height, time = _HEAD.unpack(head)
    if not (0 < width <= _MOST_SIDE and 0 < height <= _MOST_SIDE):
        return None
    pixels = opened.read(3 * width * height)
    return Kept(source, frame, width, height, time, pixels) if len(pixels) == 3 * width * height else None
