"""Every epoch of a network on the virtual board, fed with the reference interpreter's tensors and compared with what it makes of
them: the first that is wrong is where a fault begins, since none can come from an epoch before.

The board is given a list of buffers: each is read when the epoch that makes it has ended, then overwritten with what the
reference interpreter has there.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from n6build.compare.buffers import JoinedBuffer, UnjoinedBuffer
from n6build.compare.layout import in_memory_order
from n6build.compare.measure import Measure, measure
from n6build.models.model import EpochTolerance
from n6build.network.artifacts.description import EpochBlock, EpochInfo

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class FedEpoch:
    """A buffer that an epoch made, and the tensor of the model that it should be. epoch: ST's number. operators: of the epoch,
    empty where they are not known. equal, within_1: of the elements. max: largest difference. good: within the tolerance.
    reads_from: an epoch whose result it reads that was not replaced with the reference's, since nothing is known to compare it
    with; None: all of its inputs were right."""

    epoch: int
    operators: str
    buffer: str
    tensor: str
    elements: int
    equal: int
    within_1: int
    max: int
    good: bool
    reads_from: int | None


@dataclass(frozen=True)
class Watched:
    """A buffer to read and to overwrite. network: its index in the application. when, number: what the board tells its epoch by,
    the place in the table of epoch blocks, or its label in a blob. wanted: the bytes that it should have."""

    joined: JoinedBuffer
    network: int
    when: Literal["place", "label"]
    number: int
    wanted: bytes


def watched(
    network: int, joined: Sequence[JoinedBuffer], blocks: Sequence[EpochBlock]
) -> tuple[list[Watched], list[UnjoinedBuffer]]:
    """What can be watched of these, and what cannot. blocks: of the network, in the order of their table."""
    found, others = [], []
    for each in joined:
        buffer, tensor = each.buffer, each.tensor
        moment = _moment(buffer.epoch, blocks)
        order = in_memory_order(tensor.values, buffer.shape, channels_last=tensor.channels_last)
        if moment is None:
            others.append(UnjoinedBuffer(buffer, f"nothing runs for epoch {buffer.epoch}"))
        elif order is None:
            others.append(
                UnjoinedBuffer(buffer, f"its layout {buffer.shape} does not follow from the model's {tensor.shape}")
            )
        else:
            found.append(Watched(each, network, *moment, _as_stored(order, tensor.type, buffer.type)))
    return found, others


def _moment(epoch: int, blocks: Sequence[EpochBlock]) -> tuple[Literal["place", "label"], int] | None:
    for place, block in enumerate(blocks):
        if block.first <= epoch <= block.last:
            return ("label", epoch) if block.mapping == "NODE_EC" else ("place", place)
    return None


def _as_stored(values: np.ndarray, kind: str, stored: str) -> bytes:
    """The compiler keeps tensors unsigned that are signed in the model, or the other way round: moved by half the range."""
    import numpy as np  # noqa: PLC0415 - planning compares nothing.

    half = 1 << (8 * values.dtype.itemsize - 1)
    shift = half * (stored.startswith("u") - kind.startswith("u"))
    return (values.astype(np.int64) + shift).astype(np.dtype(stored).newbyteorder("<")).tobytes()


# Of each buffer, in what the board is given.
LINES_EACH = 2


def request(watched: Sequence[Watched]) -> tuple[str, bytes]:
    """For the virtual board: LINES_EACH lines for each buffer, and the bytes that it is overwritten with."""
    lines, data = [], bytearray()
    for each in watched:
        where = f"{each.network} {each.when} {each.number} 0x{each.joined.buffer.address:08x} {len(each.wanted)} {len(data)}"
        lines += [f"get {where}", f"replace {where}"]
        data += each.wanted
    return "".join(f"{line}\n" for line in lines), bytes(data)


def handed_over(watched: Sequence[Watched], data: bytes, done: Collection[int]) -> list[bytes | None]:
    """Return the bytes of each buffer of a `request`, None for those of an epoch that did not run.

    Args:
        watched: As in the request.
        data: What the board has handed over, one buffer behind the other.
        done: Numbers of the request's lines that were carried out, from 1.
    """
    found: list[bytes | None] = []
    start = 0
    for number, each in enumerate(watched):
        end = start + len(each.wanted)
        found.append(data[start:end] if number * LINES_EACH + 1 in done else None)
        start = end
    return found


def fed(
    watched: Watched,
    made: bytes,
    epochs: Sequence[EpochInfo],
    tolerance: EpochTolerance,
    reading_others: Mapping[int, int],
) -> FedEpoch:
    """made: the bytes that the board has there. epochs: of the network. reading_others: as of fed_inputs.py."""
    import numpy as np  # noqa: PLC0415 - planning compares nothing.

    buffer = watched.joined.buffer
    kind = np.dtype(buffer.type).newbyteorder("<")
    found = measure(np.frombuffer(made, kind), np.frombuffer(watched.wanted, kind), buffer.zero_point)
    return FedEpoch(
        epoch=buffer.epoch,
        operators=next((epoch.kind for epoch in epochs if epoch.index == buffer.epoch), ""),
        buffer=buffer.name,
        tensor=watched.joined.tensor.name,
        elements=found.elements,
        equal=found.equal,
        within_1=found.within_1,
        max=int(found.max),
        good=_is_good(found, tolerance),
        reads_from=reading_others.get(buffer.epoch),
    )


def _is_good(found: Measure, tolerance: EpochTolerance) -> bool:
    """Of a tensor that is too small for such a share, one element may differ by one step."""
    return found.equal >= math.floor(tolerance.equal * found.elements) and found.within_1 >= math.ceil(
        tolerance.within_1 * found.elements
    )
