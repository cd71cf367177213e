"""network.c and network.h: a placed network as C source for ll_aton."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from n6build.base.paths import TEMPLATES
from n6build.base.templates import render
from n6build.compile.ll_aton import Version
from n6build.compile.memory_pools import MemoryPool
from n6build.compile.reference.epochs import (
    ELEMENT_BITS,
    Address,
    Buffer,
    ConstantType,
    Fields,
    Initializer,
    Network,
    Port,
    Value,
)
from n6build.compile.reference.liveness import ALIGNMENT, root_of
from n6build.compile.reference.placement import Place, Placement
from n6build.compile.units import human_bytes

SOURCE_TEMPLATE = TEMPLATES / "network.c.j2"
HEADER_TEMPLATE = TEMPLATES / "network.h.j2"
RENDERED = (SOURCE_TEMPLATE, HEADER_TEMPLATE)
# From this version on the functions of an epoch have a second argument, the instance of the network.
TWO_ARGUMENTS = (1, 1, 3, 262)
# From this version on, a network states whether its weights and blobs are encrypted.
_ENCRYPTION: Version = (1, 1, 3, 8)
# Bytes that a hardware unit may read beyond a buffer's end. Without blobs they are only part of the description.
_READ_AHEAD = 64
# Types of ll_aton. A type that some release lacks becomes the nearest one; the number of bits distinguishes them.
_TYPES = {
    "int8": "INT8",
    "uint8": "UINT8",
    "int16": "INT16",
    "int32": "INT32",
    "int64": "INT32",
    "float32": "FLOAT",
    "float64": "FLOAT",
    "bool": "UINT8",
}


@dataclass(frozen=True)
class Blob:
    """Consecutive epochs that the epoch controller runs as one.

    Attributes:
        name: Name of the array with its words.
        first: First epoch of the blob.
        last: Last epoch of the blob.
        reads: Buffers made by the CPU that the blob reads.
        writes: All buffers that the blob makes.
        leaves: Buffers of `writes` that the CPU reads.
        rereads: Buffers of `writes` that the blob reads.
    """

    name: str
    first: int
    last: int
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    leaves: tuple[str, ...]
    rereads: tuple[str, ...]


def network_source(
    network: Network,
    placement: Placement,
    pools: Sequence[MemoryPool],
    name: str,
    backend: str,
    ll_aton: Version,
    blobs: Sequence[Blob] = (),
) -> str:
    """Return the text of network.c.

    Args:
        network: The compiled network.
        placement: Places of its buffers and initializers.
        pools: Memory pools of the profile.
        name: Suffix of every symbol, a C identifier.
        backend: Name of the compiler, for a comment.
        ll_aton: Version of the runtime.
        blobs: Blobs that hold the epochs without a kernel.
    """
    epochs = _epochs(network, placement, name)
    described = [_blob(blob, network, placement, name) for blob in blobs]
    return render(
        SOURCE_TEMPLATE,
        {
            "name": name,
            "backend": backend,
            "version": ll_aton,
            "passes_instance": ll_aton >= TWO_ARGUMENTS,
            "encryption": ll_aton >= _ENCRYPTION,
            "pools": [
                *(_pool(pool, placement.used_bytes(pool), name) for pool in pools),
                *(
                    _pool(joined.pool, placement.used_bytes(joined.pool), name, view="vpool ")
                    for joined in placement.joined
                ),
            ],
            "states": [
                {
                    "address": _address(placement.places[state.buffer], name),
                    "bytes": state.tensor.bytes,
                    "start": state.start,
                }
                for state in network.states
            ],
            "epochs": epochs,
            "blobs": described,
            # In the order in which they run.
            "items": sorted([*epochs, *described], key=lambda item: item["index"]),
            **_buffers(network, placement, name),
        },
    )


def _epochs(network: Network, placement: Placement, name: str) -> list[dict[str, Any]]:
    """Return the values of the epochs with a kernel for the template."""
    buffers = {buffer.name: buffer for buffer in network.buffers}
    outputs = {port.buffer for port in network.outputs}
    # An output, or a buffer inside one.
    leaving = {name for name, buffer in buffers.items() if outputs & {name, root_of(buffer, buffers)[0].name}}
    return [
        {
            "index": epoch.index,
            "blob": None,
            "kind": epoch.kind,
            "node": epoch.node,
            "kernel": epoch.kernel,
            "descriptor_type": epoch.descriptor_type,
            "descriptor": [
                f".{member} = {_value(value, placement, name)}," for member, value in epoch.descriptor.members
            ],
            "scratch": epoch.scratch,
            "clean": {
                "address": _address(placement.places[epoch.output], name),
                "bytes": buffers[epoch.output].bytes,
            }
            if epoch.output in leaving
            else None,
        }
        for epoch in network.epochs
        if epoch.kernel
    ]


def _buffers(network: Network, placement: Placement, name: str) -> dict[str, list[dict[str, Any]]]:
    """Return the values of all buffers for the template, by kind."""
    ports = {port.buffer for port in (*network.inputs, *network.outputs)}
    # A buffer that several epochs make is complete after the last of them.
    made = {buffer.name: buffer.first for buffer in network.buffers} | {
        output: epoch.index for epoch in network.epochs for output in (epoch.output, *epoch.more_outputs)
    }
    return {
        "inputs": [_port(port, made[port.buffer], placement, name) for port in network.inputs],
        "outputs": [_port(port, made[port.buffer], placement, name) for port in network.outputs],
        "params": [_initializer(item, placement.places[item.name], name) for item in network.initializers],
        "internals": [
            _buffer(buffer, made[buffer.name], placement.places[buffer.name], name)
            for buffer in network.buffers
            if buffer.name not in ports
        ],
    }


def _blob(blob: Blob, network: Network, placement: Placement, name: str) -> dict[str, Any]:
    """Return the values of a blob for the template.

    Ranges include the bytes behind a buffer that a unit may write or read. No other buffer uses
    them.
    """

    def ranges(buffers: Sequence[str]) -> list[dict[str, Any]]:
        places = ((buffer, placement.places[buffer]) for buffer in buffers)
        return [{"address": _address(place, name), "bytes": place.bytes + _READ_AHEAD} for _, place in places]

    def read_ahead() -> list[dict[str, Any]]:
        """Return the bytes behind buffers that may hold an earlier buffer of the CPU."""
        by_npu = {name for epoch in network.epochs if not epoch.kernel for name in (epoch.output, *epoch.more_outputs)}
        constants = {item.name for item in network.initializers}
        by_cpu = [place for buffer, place in placement.places.items() if buffer not in by_npu | constants]
        behind = [placement.places[buffer] for buffer in blob.rereads]
        behind = [replace(place, offset=place.end, bytes=_READ_AHEAD) for place in behind]
        shared = [each for each in behind if any(_overlap(each, place) for place in by_cpu)]
        return [{"address": _address(each, name), "bytes": each.bytes} for each in shared]

    return {
        "index": blob.first,
        "blob": blob.name,
        "name": blob.name,
        "first": blob.first,
        "last": blob.last,
        "epochs": [epoch for epoch in network.epochs if blob.first <= epoch.index <= blob.last],
        "clean": [*ranges(blob.reads), *read_ahead()],
        "forget_before": ranges(blob.writes),
        "forget_after": ranges(blob.leaves),
    }


def _overlap(one: Place, other: Place) -> bool:
    return one.address < other.address + other.bytes and other.address < one.address + one.bytes


def network_header(network: Network, name: str, origin: str) -> str:
    """Return the text of network.h.

    Args:
        network: The compiled network.
        name: Suffix of every symbol, a C identifier.
        origin: Name of the model file, without its suffix.
    """
    return render(
        HEADER_TEMPLATE,
        {
            "name": name,
            "prefix": name.upper(),
            "origin": _c_text(origin),
            "alignment": ALIGNMENT,
            "inputs": [port.tensor.bytes for port in network.inputs],
            "outputs": [port.tensor.bytes for port in network.outputs],
        },
    )


def _c_text(text: str) -> str:
    """Return a text for a C string literal, in printable ASCII only.

    No character of it ends the literal or starts a trigraph.
    """
    return "".join(letter if letter.isascii() and (letter.isalnum() or letter in " -_.+") else "_" for letter in text)


def _value(value: Value, placement: Placement, name: str) -> str:
    if isinstance(value, Address):
        return f"(void *){_address(placement.places[value.name], name, value.offset)}"
    if isinstance(value, Fields):
        return "{" + ", ".join(f".{member} = {_value(part, placement, name)}" for member, part in value.members) + "}"
    return c_float(value) if isinstance(value, float) else str(value)


def c_float(value: float) -> str:
    """Return a float32 as the shortest decimal that reads back as the same bits."""
    if math.isinf(value):
        return "__builtin_inff()" if value > 0 else "-__builtin_inff()"
    return f"{np.float32(value)!s}f"


def _base(pool: MemoryPool, name: str) -> str:
    if pool.mode == "USEMODE_RELATIVE":
        return f"((uintptr_t){_symbol(pool, name)})"
    return f"ATON_LIB_PHYSICAL_TO_VIRTUAL_ADDR(0x{pool.address:08x}UL)"


def _symbol(pool: MemoryPool, name: str) -> str:
    return f"_mem_pool_{pool.fname}_{name}"


def _address(place: Place, name: str, inside: int = 0) -> str:
    """Return the expression in C for an address.

    `inside` is the offset from the start of the place, in bytes.
    """
    offset = place.offset + inside
    if place.pool.mode == "USEMODE_RELATIVE":
        return f"({_base(place.pool, name)} + {offset}UL)"
    return f"ATON_LIB_PHYSICAL_TO_VIRTUAL_ADDR(0x{place.pool.address:08x}UL + {offset}UL)"


def _pool(pool: MemoryPool, used: int, name: str, view: str = "") -> dict[str, Any]:
    """Return the values of a memory pool for the template.

    `view` is the word for a virtual pool, which is a view of several others.
    """
    relative = pool.mode == "USEMODE_RELATIVE"
    return {
        "human": human_bytes(used) if used else "?",
        "used": used,
        "fname": pool.fname,
        "name": pool.name,
        "offset": f"0x{pool.address:08x}",
        "mode": "relative_mode" if relative else "absolute_mode",
        "symbol": _symbol(pool, name) if relative else "",
        "size": pool.size,
        "rights": view + {"ACC_READ": "READ_ONLY", "ACC_WRITE": "READ_WRITE"}[pool.rights],
        "throughput": pool.throughput,
        "latency": pool.latency,
        "byte_width": pool.byte_width,
        "freq_ratio": f"{pool.freq_ratio:g}",
        "cacheable": "ON" if pool.cacheable else "OFF",
        "read_power": f"{pool.read_power:g}",
        "write_power": f"{pool.write_power:g}",
        "initializers": "YES" if pool.use_for_initializers else "NO",
    }


def _info(
    name: str,
    place: Place,
    network: str,
    *,
    dtype: ConstantType,
    shape: Sequence[int],
    epoch: int,
    is_param: bool,
    scale: float | None = None,
    zero_point: int = 0,
    symbol: str = "",
) -> dict[str, Any]:
    end = place.offset + place.bytes
    symbol = symbol or name
    return {
        "name": name,
        "base": f"({_base(place.pool, network)})",
        "start": place.offset,
        "end": end,
        "limit": -(-end // 8) * 8 + _READ_AHEAD,
        "is_param": int(is_param),
        "epoch": epoch,
        "batch": shape[0] if len(shape) == 4 else 1,
        "shape": list(shape) or [1],
        "shape_symbol": f"shape_{symbol}",
        "qm": {"int8": 7, "uint8": 8, "int16": 15, "int32": 31, "int64": 63}.get(dtype, 0),
        "is_unsigned": int(dtype in ("uint8", "bool")),
        "type": _TYPES[dtype],
        "nbits": ELEMENT_BITS[dtype],
        "scale": None if scale is None else c_float(scale),
        "zero_point": zero_point,
        "scale_symbol": "" if scale is None else f"scale_{symbol}",
        "offset_symbol": "" if scale is None else f"offset_{symbol}",
    }


def _port(port: Port, epoch: int, placement: Placement, network: str) -> dict[str, Any]:
    """Return the values of an input or output of the network for the template.

    A view of a buffer keeps the buffer's name, but has the shape of the model's input or output.
    """
    quantisation = port.tensor.quantisation
    return _info(
        port.buffer,
        placement.places[port.buffer],
        network,
        dtype=port.tensor.dtype,
        shape=port.tensor.shape,
        epoch=epoch,
        is_param=False,
        scale=quantisation.scale if quantisation else None,
        zero_point=quantisation.zero_point if quantisation else 0,
        symbol=f"{port.buffer}_{port.tensor.index}",
    )


def _buffer(buffer: Buffer, epoch: int, place: Place, network: str) -> dict[str, Any]:
    tensor = buffer.tensor
    if tensor is None:
        return _info(buffer.name, place, network, dtype="int8", shape=[buffer.bytes], epoch=epoch, is_param=False)
    quantisation = tensor.quantisation
    return _info(
        buffer.name,
        place,
        network,
        dtype=tensor.dtype,
        shape=tensor.shape,
        epoch=epoch,
        is_param=False,
        scale=quantisation.scale if quantisation else None,
        zero_point=quantisation.zero_point if quantisation else 0,
    )


def _initializer(initializer: Initializer, place: Place, network: str) -> dict[str, Any]:
    """Return the values of an initializer for the template, without scales.

    Scales come with the weights. New weights of the same shape must leave this source as it is.
    """
    return _info(
        initializer.name,
        place,
        network,
        dtype=initializer.dtype,
        shape=initializer.shape,
        epoch=initializer.epoch,
        is_param=True,
    )
