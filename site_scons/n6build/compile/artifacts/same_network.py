"""Check that c_info and network.c describe the same network.

ST's compiler writes both in one run, with the same buffers. Files that are copied by hand get mixed
up, and one of them may be edited.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from n6build.base.console import clipped
from n6build.base.errors import N6Error
from n6build.compile.artifacts.c_info_reader import CInfo
from n6build.compile.artifacts.description import IoBuffer, Quantised
from n6build.compile.artifacts.network_c import NetworkSource, SourceBuffer

# c_info has nine digits of a scale.
_SAME_SCALE = 1e-5
_LONGEST_NAME = 80


def require_same_network(info: CInfo, source: NetworkSource, c_info: Path) -> None:
    """Refuse a c_info that contradicts network.c.

    Args:
        info: Content of c_info.
        source: Content of network.c.
        c_info: The file, for messages.

    Raises:
        N6Error: N6-NET-026 with the first buffer that differs.
    """
    for difference in _differences(info, source):
        hint = "use both files of the same run of the compiler, without changes by hand; or remove c_info"
        what = f"describes another network than network.c: {difference}"
        raise N6Error("N6-NET-026", what, where=c_info.name, hint=hint)


def _differences(info: CInfo, source: NetworkSource) -> Iterator[str]:
    for kind, described, listed in (("input", info.inputs, source.inputs), ("output", info.outputs, source.outputs)):
        if listed:
            yield from _of_ports(kind, described, listed)
    by_name = {each.name: each for each in info.quantised}
    for buffer in (*source.inputs, *source.outputs, *source.params, *source.internals):
        if buffer.scale and buffer.offset and buffer.name in by_name and not _is_alike(by_name[buffer.name], buffer):
            yield f"buffer {_named(buffer.name)} has another scale or zero point there"


def _of_ports(kind: str, described: Sequence[IoBuffer], listed: Sequence[SourceBuffer]) -> Iterator[str]:
    for number, (port, buffer) in enumerate(zip_longest(described, listed)):
        if port is None or buffer is None:
            yield f"it has {len(described)} {kind}s, and network.c has {len(listed)}"
            return
        size = buffer.offset_end - buffer.offset_start
        if port.bytes != size:
            yield f"{kind} {number} has {port.bytes} bytes, and in network.c {size}"
        address = None if buffer.base is None else buffer.base + buffer.offset_start
        if None not in (port.address, address) and port.address != address:
            yield f"{kind} {number} is at 0x{port.address:08X}, and in network.c at 0x{address:08X}"


def _is_alike(described: Quantised, buffer: SourceBuffer) -> bool:
    pairs = zip(described.scales, (min(buffer.scale), max(buffer.scale)), strict=True)
    zeros = (min(buffer.offset), max(buffer.offset))
    return described.zero_points == zeros and all(math.isclose(*pair, rel_tol=_SAME_SCALE) for pair in pairs)


def _named(name: str) -> str:
    return clipped(name, _LONGEST_NAME)
