"""The file <network>_ecblobs.h: the blobs as arrays.

It has the form that ST's compiler gives that file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from n6build.base.paths import TEMPLATES
from n6build.base.templates import render

# Planning a build needs the name of the template, but not the modules that make blobs.
if TYPE_CHECKING:
    from n6build.compile.neural_art.blocks import Block

TEMPLATE = TEMPLATES / "network_ecblobs.h.j2"
_ON_A_LINE = 4


def blob_header(blocks: Sequence[Block], name: str, backend: str) -> str:
    """Return the text of the header.

    Args:
        blocks: Blobs with their words.
        name: Name of the network.
        backend: Name of the compiler, for a comment.
    """
    blobs = [{"blob": block.blob, "count": len(block.words) // 2, "lines": _lines(block)} for block in blocks]
    return render(TEMPLATE, {"name": name, "backend": backend, "blobs": blobs})


def _lines(block: Block) -> list[str]:
    pairs = [f"0x{high:08x}{low:08x}UL" for low, high in zip(block.words[::2], block.words[1::2], strict=True)]
    return [", ".join(pairs[first : first + _ON_A_LINE]) for first in range(0, len(pairs), _ON_A_LINE)]
