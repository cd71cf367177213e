"""Containers of blobs as ST's compiler writes them."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from n6build.describe.formats.npu_blob import ContainerLayout
from n6build.judge.npu.containers import Patch, Relocation

_Entry = tuple[str, list[int], Sequence[int]]


def in_container(
    layout: ContainerLayout,
    blob: Sequence[int],
    relocations: Sequence[Relocation] = (),
    patches: Sequence[Patch] = (),
) -> list[int]:
    """Return the words of a container.

    Args:
        layout: Version of the container.
        blob: Words of the blob, with its header.
        relocations: Relocated words.
        patches: Patched words, of a version that has a patch table.
    """
    words = [layout.magic, *[0] * (layout.header_words - 1)]
    words[1] = 4 * len(words)
    words += _table([(each.name, [], each.places) for each in relocations])
    if patches:
        assert layout.patch_words
        words[2] = 4 * len(words)
        words += _table([(each.name, _middle(layout, each), each.places) for each in patches])
    words += [0] * (len(words) % 2)
    words[layout.blob_word] = 4 * len(words)
    # The section of debug information, which has no words, is in front of the blob.
    words[layout.blob_word - 1] = words[layout.blob_word] if not layout.patch_words else 0
    return [*words, *blob]


def _middle(layout: ContainerLayout, patch: Patch) -> list[int]:
    """Return the words between the name and the count of a patch."""
    if layout.patch_words == 4:
        assert not patch.shift
        return [patch.mask]
    return [patch.shift & 0xFFFF_FFFF, patch.mask]


def _table(entries: Sequence[_Entry]) -> list[int]:
    """Return the words of a table: entries, then the name and the list of each."""
    head, body = [len(entries)], list[int]()
    size = 1 + sum(3 + len(middle) for _, middle, _ in entries)
    for name, middle, places in entries:
        text = name.encode() + bytes(4 - len(name) % 4)
        start = 4 * (size + len(body))
        head += [start, *middle, len(places), start + len(text)]
        body += [*struct.unpack(f"<{len(text) // 4}I", text), *places]
    return head + body
