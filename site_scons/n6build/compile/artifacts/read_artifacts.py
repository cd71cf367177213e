"""The description of a compiled network, read from c_info and network.c.

c_info comes first; network.c adds facts found only there, and replaces a missing c_info.

Check that c_info and network.c describe the same network. ST's compiler writes both in one run,
with the same buffers. Files that are copied by hand get mixed up, and one of them may be edited.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from n6build.base.console import clipped
from n6build.base.errors import N6Error
from n6build.base.files import is_file, remembered
from n6build.compile.artifacts.c_info_reader import CInfo, read_c_info
from n6build.compile.artifacts.description import (
    EpochBlock,
    EpochInfo,
    InitializerImage,
    IoBuffer,
    NetworkArtifacts,
    PoolRange,
    Quantised,
    StateBuffer,
)
from n6build.compile.artifacts.network_c import NetworkSource, SourceBuffer, SourceEpoch, SourcePool, read_network_c
from n6build.compile.artifacts.stored import read_stored, stored_name
from n6build.compile.artifacts.weights import check_weights
from n6build.describe.compiled_folder import weights_name

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


# The reference backend gives this prefix to buffers that a network keeps from one inference to the next.
STATE_PREFIX = "State_"
_MAPPINGS = {"hw": "NODE_HW", "sw": "NODE_SW", "hybrid": "NODE_SW_HW", "ec": "NODE_EC"}
_IO_TYPES = ("int8", "uint8", "int16", "uint16", "int32", "int64", "float32", "bool")


@remembered
def read_artifacts(folder: Path, name: str, weights: tuple[str, ...] | None = None) -> NetworkArtifacts:
    """Read the description of a compiled network.

    Args:
        folder: Folder of stage 1.
        name: Name of the network.
        weights: Names of the raw files, for a caller that reads none of them, so that new weights
            do not affect it; None: they are searched, and their sizes checked.

    Raises:
        N6Error: N6-FILE-002 if a file is missing; N6-NET-020, N6-NET-022 and N6-NETC-00x if a file
            is invalid; N6-NET-026 if c_info is of another network; N6-NET-021 if the size of a raw
            file differs from that of its pool's initializers.
    """
    path = folder / f"{name}.c"
    if not is_file(path) and is_file(stored := folder / stored_name(name)):
        return read_stored(stored)
    info_path = folder / f"{name}_c_info.json"
    source = _source(path, info_path)
    postfixes = {pool.name: pool.fname for pool in source.pools}
    if is_file(info_path):
        info = read_c_info(info_path, postfixes)
        require_same_network(info, source, info_path)
    else:
        info = _from_source(source, path)
    artifacts = NetworkArtifacts(
        name=name,
        suffix=source.suffix,
        source=path,
        pools=info.pools,
        initializers=_initializers(folder, name, info.pools, weights),
        inputs=info.inputs,
        outputs=info.outputs,
        quantised=info.quantised,
        epochs=_epochs_that_run(info.epochs, source),
        ll_aton=source.ll_aton,
        library_call=source.library_call,
        tools=info.tools,
        described_by=info_path.name if is_file(info_path) else path.name,
        blocks=tuple(EpochBlock(each.index, each.last, _MAPPINGS[each.kind]) for each in source.epochs),
        states=tuple(_state(buffer) for buffer in source.internals if buffer.name.startswith(STATE_PREFIX)),
    )
    for image in artifacts.initializers if weights is None else ():
        check_weights(image.file, image.bytes)
    return artifacts


def _state(buffer: SourceBuffer) -> StateBuffer:
    address = None if buffer.base is None else buffer.base + buffer.offset_start
    return StateBuffer(buffer.name, address, buffer.offset_end - buffer.offset_start)


def _source(path: Path, info_path: Path) -> NetworkSource:
    try:
        return read_network_c(path)
    except N6Error as error:
        if error.id == "N6-NETC-001" and is_file(info_path):
            # c_info gives the better reason: the network is for another target, or was only validated.
            read_c_info(info_path)
        raise


def _epochs_that_run(described: Sequence[EpochInfo], source: NetworkSource) -> tuple[EpochInfo, ...]:
    """Return the epochs in blocks.

    c_info also lists epochs without code. Up to Core 2.2 nothing in it distinguishes them.
    """
    if not source.epochs:
        return tuple(described)
    known = {epoch.index: epoch for epoch in described}
    found: dict[int, EpochInfo] = {}
    for block in source.epochs:
        inside = [known[number] for number in range(block.index, block.last + 1) if number in known]
        found |= {epoch.index: epoch for epoch in inside or _from_block(block)}
    return tuple(found.values())


def _from_block(block: SourceEpoch) -> list[EpochInfo]:
    return [
        EpochInfo(number, f"epoch_{number}", block.operators, 0, 0, _MAPPINGS[block.kind])
        for number in range(block.index, block.last + 1)
    ]


def _initializers(
    folder: Path, name: str, pools: tuple[PoolRange, ...], weights: tuple[str, ...] | None
) -> tuple[InitializerImage, ...]:
    """Return the raw files of the pools.

    A network without weights leaves an empty file; a pool without initializers leaves none.
    """

    def is_there(file: Path) -> bool:
        return is_file(file) if weights is None else file.name in weights

    holding = [pool for pool in pools if pool.weights_bytes]
    unnamed = folder / weights_name(name, "")
    images = []
    for pool in pools:
        file = folder / weights_name(name, pool.fname)
        if holding == [pool] and not is_there(file) and is_there(unnamed):
            file = unnamed
        if pool.weights_bytes or is_there(file):
            images.append(
                InitializerImage(pool.name, pool.fname, pool.address, file, pool.weights_bytes, pool.relative)
            )
    return tuple(images)


def _from_source(source: NetworkSource, path: Path) -> CInfo:
    concrete = {pool.fname: pool for pool in source.pools if not pool.is_virtual}
    if not concrete:
        hint = f"put {path.stem}_c_info.json beside it, which describes the memory pools"
        raise N6Error("N6-NET-022", "names no memory pools", where=path.name, hint=hint)
    ports, others = (*source.inputs, *source.outputs), (*source.params, *source.internals)
    buffers = (*ports, *others)
    return CInfo(
        pools=tuple(_pool(pool, buffers, all_buffers=source.knows_all_buffers) for pool in concrete.values()),
        inputs=tuple(_io(buffer, path) for buffer in source.inputs),
        outputs=tuple(_io(buffer, path) for buffer in source.outputs),
        quantised=tuple(
            Quantised(
                buffer.name,
                buffer.type,
                (min(buffer.scale), max(buffer.scale)),
                (min(buffer.offset), max(buffer.offset)),
                is_io,
            )
            for group, is_io in ((ports, True), (others, False))
            for buffer in group
            if buffer.scale and buffer.offset
        ),
        epochs=(),
        tools=(("network compiler", source.git_description),),
    )


def _pool(pool: SourcePool, buffers: Sequence[SourceBuffer], *, all_buffers: bool) -> PoolRange:
    # The base of a buffer may be that of a virtual pool, which begins before this one.
    weights = max(
        0,
        *(
            buffer.offset_end if buffer.base is None else buffer.base + buffer.offset_end - pool.address
            for buffer in buffers
            if buffer.is_param and buffer.pool == pool.fname
        ),
        0,
    )
    if not pool.used_bytes:
        used = 0
    elif pool.rights == "ACC_READ":
        used = weights
    elif not all_buffers:
        used = max(weights, pool.used_bytes)
    elif pool.relative:
        used = max((buffer.offset_end for buffer in buffers if buffer.pool == pool.fname), default=0)
    else:
        used = max(
            0,
            *(min(end - pool.address, pool.size) for begin, end in _spans(buffers) if begin < pool.address + pool.size),
            0,
        )
    address = 0 if pool.relative else pool.address
    return PoolRange(pool.name, pool.fname, address, pool.size, used, weights, pool.rights, pool.relative)


def _spans(buffers: Sequence[SourceBuffer]) -> list[tuple[int, int]]:
    """Return address ranges; a virtual pool's buffer may span several concrete pools."""
    return [
        (buffer.base + buffer.offset_start, buffer.base + buffer.offset_end)
        for buffer in buffers
        if buffer.base is not None
    ]


def _io(buffer: SourceBuffer, path: Path) -> IoBuffer:
    for kind in _IO_TYPES:
        if kind == buffer.type:
            return IoBuffer(
                name=buffer.name,
                address=None if buffer.base is None else buffer.base + buffer.offset_start,
                bytes=buffer.offset_end - buffer.offset_start,
                type=kind,  # type: ignore[arg-type]
                shape=buffer.shape,
                scale=buffer.scale[0] if buffer.scale else 1.0,
                zero_point=buffer.offset[0] if buffer.offset else 0,
                own=buffer.is_user_allocated,
            )
    raise N6Error("N6-NET-020", f"buffer {buffer.name} has the type {buffer.type}", where=path.name)
