"""Picture files as RGB, read with bounds by Pillow.

Pillow is an extra, which is loaded only by what needs it.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from n6build.base.errors import N6Error
from n6build.base.files import files_in, read_at_most

if TYPE_CHECKING:
    from PIL.Image import Image

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff")
_MOST_BYTES = 256 << 20
# The largest cameras have about so many.
_MOST_PIXELS = 150_000_000
# Sixteen bits of a channel are cut to eight.
_TO_8_BITS = 1 / 256


def require_pillow() -> ModuleType:
    """Return the package PIL.

    Raises:
        N6Error: N6-PICTURE-001 if Pillow is not installed.
    """
    try:
        import PIL.Image  # noqa: PLC0415 - an extra
        import PIL.ImageDraw  # noqa: PLC0415
        import PIL.ImageOps  # noqa: PLC0415
        import PIL.ImageSequence  # noqa: PLC0415
    except ImportError as error:
        what = "pictures need the package Pillow, which is not installed"
        raise N6Error("N6-PICTURE-001", what, hint="pip install 'n6build[pictures]'") from error
    return PIL


def picture_files(path: Path) -> list[Path]:
    """Return the pictures of a folder in the order of their names, or the file itself.

    Raises:
        N6Error: N6-PICTURE-002 for a folder without pictures; N6-FILE-00x.
    """
    if not path.is_dir():
        return [path]
    files = sorted(each for each in files_in(path, "*") if each.suffix.lower() in SUFFIXES)
    if not files:
        what = "contains no picture"
        raise N6Error("N6-PICTURE-002", what, where=str(path), hint=f"a picture ends with {', '.join(SUFFIXES)}")
    return files


def open_pictures(path: Path) -> Iterator[Image]:
    """Yield a file's picture as RGB, or each one of an animation.

    It is turned as its EXIF data says.

    Raises:
        N6Error: N6-PICTURE-001; N6-PICTURE-002 for a file that is no picture, is cut off, or is too
            large; N6-FILE-00x.
    """
    pillow = require_pillow()
    with _read(path, pillow) as opened:
        for each in pillow.ImageSequence.Iterator(opened):
            yield _rgb(pillow, pillow.ImageOps.exif_transpose(each))


def open_numbers(path: Path) -> Image:
    """Return a picture of numbers with a byte for each pixel.

    These are its grey values, or the indices of its palette.

    Raises:
        N6Error: N6-PICTURE-001; N6-PICTURE-002 for a file with colours, or as in `open_pictures`; N6-FILE-00x.
    """
    pillow = require_pillow()
    with _read(path, pillow) as opened:
        if opened.mode == "1":
            bits: Image = opened.convert("L").point(lambda value: value // 255)
            return bits
        if opened.mode not in ("L", "P"):
            hint = "save it in grey or with a palette, where the value of a pixel is a number"
            raise _no_picture(path, f"has colours ({opened.mode}), not a number for each pixel", hint)
        # Without its palette, an index is a grey value.
        numbers: Image = pillow.Image.frombytes("L", opened.size, opened.tobytes())
        return numbers


@contextmanager
def _read(path: Path, pillow: ModuleType) -> Iterator[Image]:
    content = read_at_most(path, _MOST_BYTES)
    try:
        with warnings.catch_warnings():
            # A bound of n6build's own follows.
            warnings.simplefilter("ignore", pillow.Image.DecompressionBombWarning)
            opened = pillow.Image.open(io.BytesIO(content))
        if opened.width * opened.height > _MOST_PIXELS:
            raise _no_picture(path, f"has {opened.width} x {opened.height} pixels", "make it smaller")
        yield opened
    except pillow.UnidentifiedImageError as error:
        hint = "convert it to PNG or JPEG, as HEIC files of phones need: heif-convert in.heic out.jpg"
        raise _no_picture(path, "is no picture that Pillow knows", hint) from error
    # Pillow has no common class for damaged files.
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError, pillow.Image.DecompressionBombError) as error:
        raise _no_picture(path, f"is damaged or too large: {str(error)[:200]}", "save it again") from error


def _rgb(pillow: ModuleType, picture: Image) -> Image:
    if picture.mode in ("I;16", "I;16B", "I;16L", "I"):
        picture = picture.convert("I").point(lambda value: value * _TO_8_BITS).convert("L")
    if picture.mode in ("RGBA", "LA", "PA") or (picture.mode == "P" and "transparency" in picture.info):
        # What is transparent is black, as in a scene without light.
        picture = picture.convert("RGBA")
        ground = pillow.Image.new("RGBA", picture.size, (0, 0, 0, 255))
        picture = pillow.Image.alpha_composite(ground, picture)
    return picture.convert("RGB")


def _no_picture(path: Path, what: str, hint: str) -> N6Error:
    return N6Error("N6-PICTURE-002", what, where=str(path), hint=hint)


def tiled(pictures: Sequence[Image], columns: int) -> bytes:
    """Return a PNG with pictures side by side, in rows of at most this many."""
    columns = min(len(pictures), columns)
    width, height = (max(sizes) for sizes in zip(*(each.size for each in pictures), strict=True))
    whole = require_pillow().Image.new("RGB", (width * columns, height * -(-len(pictures) // columns)), "white")
    for place, each in enumerate(pictures):
        whole.paste(each, (place % columns * width, place // columns * height))
    content = io.BytesIO()
    whole.save(content, "PNG")
    return content.getvalue()
