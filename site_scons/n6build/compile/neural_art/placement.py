"""Placement of the buffers, with bytes behind each that an engine may read ahead.

It is the plan of the reference backend in all other respects.

Guards: memory around buffers that no epoch may write. They are inputs and outputs of the network at
the same place, which no epoch knows of. The program that runs the network fills them with a
pattern. If it does not find the pattern in the outputs again, an engine has written where it should
not. No firmware has to know of guards: its handling of inputs and outputs, also of its caches, is
right for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from n6build.base.errors import N6Error
from n6build.compile.memory_pools import MemoryPool, RoomierProfile
from n6build.compile.neural_art.hardware_epoch import READ_AHEAD
from n6build.compile.reference.epochs import Address, Buffer, Initializer, Network, Port
from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.liveness import aligned
from n6build.compile.reference.placement import Place, Placement, place

# At least one kernel of a frame of sixteen is not of zeros.
_MOST_FILLED = 15
BEFORE, BEHIND = "_guard_before", "_guard_behind"


def with_room(network: Network, guard: int, written: Mapping[str, int]) -> tuple[Buffer, ...]:
    """Return the buffers with room for guards on both sides.

    They also have room for everything that is written of them, and are in use all the time.

    Args:
        network: Network without guards.
        guard: Bytes of a guard.
        written: As from `ends_of_writes`.
    """
    last = len(network.epochs)
    return tuple(
        replace(buffer, bytes=aligned(guard) + _written(buffer, written) + _behind(guard), first=0, last=last)
        for buffer in network.buffers
    )


def _written(buffer: Buffer, written: Mapping[str, int]) -> int:
    """Return the bytes of a buffer, with those that kernels of zeros write behind it.

    Anything more is a fault of this compiler, which a guard has to find.
    """
    filled = written.get(buffer.name, 0) - buffer.bytes
    return buffer.bytes + (filled if 0 < filled <= _MOST_FILLED else 0)


def _behind(guard: int) -> int:
    """Return the bytes behind a buffer, which engines may read ahead."""
    return max(aligned(guard), READ_AHEAD)


def with_guards(
    network: Network, placement: Placement, guard: int, written: Mapping[str, int]
) -> tuple[Network, Placement]:
    """Return the network and the placement with guards.

    A guard behind a buffer goes to the end of a cache line.

    Args:
        network: Network without guards.
        placement: Placement of the buffers of `with_room`, without that room.
        guard: As in `with_room`.
        written: As in `with_room`.
    """
    buffers: list[Buffer] = []
    places: dict[str, Place] = {}
    known = max((buffer.tensor.index for buffer in network.buffers if buffer.tensor), default=-1)
    for buffer in network.buffers:
        place = placement.places[buffer.name]
        end = place.offset + _written(buffer, written)
        spans = {
            BEFORE: (place.offset - aligned(guard), aligned(guard)),
            BEHIND: (end, aligned(end + _behind(guard)) - end),
        }
        for side, (offset, size) in spans.items():
            name = buffer.name + side
            tensor = Tensor(known + 1 + len(buffers), name, "int8", (1, size), None)
            buffers.append(Buffer(name, size, 0, len(network.epochs), tensor))
            places[name] = Place(place.pool, offset, size)
    ports = tuple(Port(buffer.name, buffer.tensor) for buffer in buffers if buffer.tensor)
    return (
        replace(
            network,
            buffers=(*network.buffers, *buffers),
            inputs=(*network.inputs, *ports),
            outputs=(*network.outputs, *ports),
        ),
        replace(placement, places={**placement.places, **places}),
    )


_SLACK = "Read_ahead_of_the_kernels"


def placed(
    network: Network,
    pools: Sequence[MemoryPool],
    roomier: Sequence[RoomierProfile],
    guard: int,
    written: Mapping[str, int],
) -> tuple[Network, Placement]:
    """Return the network and its placement.

    The network gets readable bytes behind its last initializer.

    Args:
        network: Lowered network.
        pools: Memory pools in order of preference.
        roomier: Profiles with more RAM.
        guard: As in `NpuOptions`. With guards, no buffer takes the memory of another one.
        written: As from `ends_of_writes`.

    Raises:
        N6Error: N6-NET-010 to N6-NET-013 if the pools do not suit the network; N6-NET-031 if a pool
            has no address, which a blob has to contain.
    """
    require_addresses(pools)
    slack = Initializer(_SLACK, len(network.epochs), "int8", (READ_AHEAD,), None, memoryview(bytes(READ_AHEAD)))
    network = replace(network, initializers=(*network.initializers, slack))
    roomy = with_room(network, guard, written) if guard else _with_read_ahead(network)
    placement = place(replace(network, buffers=roomy), pools, roomier)
    sizes = {buffer.name: buffer.bytes for buffer in network.buffers}
    before = aligned(guard)
    places = {
        name: replace(found, offset=found.offset + before, bytes=sizes[name]) if name in sizes else found
        for name, found in placement.places.items()
    }
    placement = replace(placement, places=places)
    return with_guards(network, placement, guard, written) if guard else (network, placement)


def require_addresses(pools: Sequence[MemoryPool]) -> None:
    """Check that all pools have addresses.

    ST's relocatable blobs come with lists of words that its loader corrects, in a copy in RAM.
    Blobs of this backend have no such lists.

    Raises:
        N6Error: N6-NET-031 if the place of a pool depends on where a model is installed.
    """
    for pool in pools:
        if pool.mode == "USEMODE_RELATIVE":
            what = (
                f"memory pool {pool.name} has no address before a model is installed, but blobs of backend "
                f"neural_art need fixed addresses"
            )
            hint = "use loader=linked, or loader=reloc with another backend, for example backend=reference"
            raise N6Error("N6-NET-031", what, where=pool.name, hint=hint)


def _with_read_ahead(network: Network) -> tuple[Buffer, ...]:
    return tuple(replace(buffer, bytes=buffer.bytes + READ_AHEAD) for buffer in network.buffers)


def addresses(placement: Placement) -> Callable[[Address], int]:
    """Return a function from an address of the network to that in a blob."""

    def address_of(wanted: Address) -> int:
        return placement.places[wanted.name].address + wanted.offset

    return address_of
