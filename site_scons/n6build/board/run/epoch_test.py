"""Test of each epoch of a network on inputs of the reference interpreter.

The virtual board takes a list of buffers. It reads each one when the epoch that makes it has ended,
then overwrites it with the tensor of the reference interpreter. A fault begins in the first wrong
epoch, since no error can come from an epoch before it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from n6build.compile.artifacts.description import EpochBlock, EpochInfo
from n6build.describe.model import EpochTolerance
from n6build.judge.compare.buffers import JoinedBuffer, UnjoinedBuffer
from n6build.judge.compare.measure import Measure, measure
from n6build.judge.compare.memory_order import in_memory_order

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class FedEpoch:
    """Comparison of a buffer made by an epoch with its tensor of the model.

    Attributes:
        epoch: ST's number of the epoch.
        operators: Operators of the epoch, empty if they are unknown.
        buffer: Name of the buffer.
        tensor: Name of the model's tensor.
        elements: Number of elements.
        equal: Number of equal elements.
        within_1: Number of elements that are at most one step away.
        max: Largest difference, in steps.
        good: True if the buffer is within the tolerance.
        reads_from: An epoch whose result this epoch reads although no tensor could replace it; None
            if all inputs were right.
    """

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
    """A buffer for the virtual board to read and to overwrite.

    Attributes:
        joined: The buffer with its tensor.
        network: Index of the network in the application.
        when: Meaning of `number`.
        number: The epoch's place in the table of epoch blocks, or its label in a blob.
        wanted: The expected bytes.
    """

    joined: JoinedBuffer
    network: int
    when: Literal["place", "label"]
    number: int
    wanted: bytes


def watched(
    network: int, joined: Sequence[JoinedBuffer], blocks: Sequence[EpochBlock]
) -> tuple[list[Watched], list[UnjoinedBuffer]]:
    """Split buffers into those that can be watched and the others.

    Args:
        network: Index of the network in the application.
        joined: Buffers with their tensors.
        blocks: Epoch blocks of the network, in the order of their table.
    """
    found, others = [], []
    for each in joined:
        buffer, tensor = each.buffer, each.tensor
        moment = _moment(buffer.epoch, blocks)
        order = in_memory_order(tensor.values, buffer.shape, channels_last=tensor.channels_last)
        if moment is None:
            others.append(UnjoinedBuffer(buffer, f"epoch {buffer.epoch} does not run"))
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
    """Return the bytes of a tensor in the type of its buffer.

    The compiler stores some signed tensors as unsigned and the other way round: their values are moved
    by half the range.
    """
    import numpy as np  # noqa: PLC0415 - planning compares nothing.

    half = 1 << (8 * values.dtype.itemsize - 1)
    shift = half * (stored.startswith("u") - kind.startswith("u"))
    return (values.astype(np.int64) + shift).astype(np.dtype(stored).newbyteorder("<")).tobytes()


# Lines of each buffer in the request: get and replace.
LINES_EACH = 2


def request(watched: Sequence[Watched]) -> tuple[str, bytes]:
    """Return the board's list of buffers and the bytes that replace them.

    The list has LINES_EACH lines for each buffer.
    """
    lines, data = [], bytearray()
    for each in watched:
        where = f"{each.network} {each.when} {each.number} 0x{each.joined.buffer.address:08x} {len(each.wanted)} {len(data)}"
        lines += [f"get {where}", f"replace {where}"]
        data += each.wanted
    return "".join(f"{line}\n" for line in lines), bytes(data)


def handed_over(watched: Sequence[Watched], data: bytes, done: Collection[int]) -> list[bytes | None]:
    """Return the bytes of each buffer of a `request`, None if its epoch did not run.

    Args:
        watched: Buffers of the request, in its order.
        data: Bytes that the board returned, one buffer after another.
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
    """Compare the bytes of a buffer with its tensor.

    Args:
        watched: The buffer.
        made: The board's bytes of it.
        epochs: Epochs of the network.
        tolerance: Allowed distance.
        reading_others: Result of `fed_inputs.reading_others`.
    """
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
    """Return true if a buffer is within the tolerance.

    One element may differ by one step in a tensor that is too small for the share.
    """
    return found.equal >= math.floor(tolerance.equal * found.elements) and found.within_1 >= math.ceil(
        tolerance.within_1 * found.elements
    )
