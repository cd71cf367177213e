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

from n6build.board.run.comparison_text import percent
from n6build.compile.artifacts.description import EpochBlock, EpochInfo
from n6build.describe.model import EpochTolerance
from n6build.judge.compare.buffers import JoinedBuffer, UnjoinedBuffer
from n6build.judge.compare.measure import Measure, measure
from n6build.judge.compare.memory_order import arrangements, in_memory_order

if TYPE_CHECKING:
    import numpy as np

    from n6build.judge.compare.epoch_bound import ExpectedError, Verdict
    from n6build.judge.compare.tensors import ReferenceTensor

# An epoch that reads a result without tensor has the errors of several epochs. Measured on good networks.
_OF_SEVERAL = EpochTolerance(equal=0.7, within_1=0.94)
_MOST_STEPS = float(1 << 31)


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
        good: True if the buffer is within its bound or tolerance.
        furthest: Largest error in front of the last rounding that the epoch's constants explain, in
            steps; None if a tolerance decides.
        why: The reason why the buffer is not good, in words.
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
    furthest: float | None = None
    why: str = ""


@dataclass(frozen=True)
class Bound:
    """The bound that an epoch's constants give to a buffer.

    Attributes:
        error: Errors of the epoch's own arithmetic; None if the constants do not tell.
        exact: The tensor before its last rounding, in the tensor's shape; None if it is unknown.
    """

    error: ExpectedError | None
    exact: np.ndarray | None


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
        order = in_memory_order(tensor.values, buffer.shape, channels_last=tensor.channels_last, order=buffer.order)
        if moment is None:
            others.append(UnjoinedBuffer(buffer, f"epoch {buffer.epoch} does not run"))
        elif order is None:
            others.append(UnjoinedBuffer(buffer, _without_order(buffer.shape, tensor)))
        else:
            found.append(Watched(each, network, *moment, _as_stored(order, tensor.type, buffer.type)))
    return found, others


def _without_order(shape: tuple[int, ...], tensor: ReferenceTensor) -> str:
    if arrangements(tensor.shape, shape, channels_last=tensor.channels_last):
        return "axes of equal length may be in either order in its memory"
    return f"its shape {shape} in memory is no order of the model's {tensor.shape}"


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

    if stored == "float32":
        return values.astype("<f4").tobytes()
    shift = _moved_by(values.dtype.itemsize, kind, stored)
    return (values.astype(np.int64) + shift).astype(np.dtype(stored).newbyteorder("<")).tobytes()


def _moved_by(size: int, kind: str, stored: str) -> int:
    return (1 << (8 * size - 1)) * (stored.startswith("u") - kind.startswith("u"))


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
    tolerance: EpochTolerance | None,
    reading_others: Mapping[int, int],
    bound: Bound | None = None,
) -> FedEpoch:
    """Compare the bytes of a buffer with its tensor.

    Args:
        watched: The buffer.
        made: The board's bytes of it.
        epochs: Epochs of the network.
        tolerance: Allowed distance; None for the bound, or for a default without one.
        reading_others: Result of `fed_inputs.reading_others`.
        bound: Bound by the epoch's constants, None if they give none.
    """
    import numpy as np  # noqa: PLC0415 - planning compares nothing.

    buffer = watched.joined.buffer
    kind = np.dtype(buffer.type).newbyteorder("<")
    mine, wanted = np.frombuffer(made, kind), np.frombuffer(watched.wanted, kind)
    if buffer.type == "float32":
        mine, wanted = (_in_steps(values, watched.joined.step) for values in (mine, wanted))
    found = measure(mine, wanted, buffer.zero_point)
    reads_from = reading_others.get(buffer.epoch)
    if tolerance is None and bound is not None and bound.error is not None and buffer.type != "float32":
        verdict = _judged(watched, mine, wanted, bound.error, bound.exact)
        why, furthest = verdict.why, verdict.furthest
    else:
        is_of_several = bound is not None and reads_from is not None
        why, furthest = _outside(found, tolerance or (_OF_SEVERAL if is_of_several else EpochTolerance())), None
    return FedEpoch(
        epoch=buffer.epoch,
        operators=next((epoch.kind for epoch in epochs if epoch.index == buffer.epoch), ""),
        buffer=buffer.name,
        tensor=watched.joined.tensor.name,
        elements=found.elements,
        equal=found.equal,
        within_1=found.within_1,
        max=int(found.max),
        good=not why,
        reads_from=reads_from,
        furthest=furthest,
        why=why,
    )


def _in_steps(values: np.ndarray, step: float) -> np.ndarray:
    """Return real numbers as whole steps, to compare them like integers."""
    import numpy as np  # noqa: PLC0415 - planning compares nothing.

    with np.errstate(all="ignore"):
        steps = np.rint(values.astype(np.float64) / step)
    return np.nan_to_num(steps, nan=_MOST_STEPS, posinf=_MOST_STEPS, neginf=-_MOST_STEPS).clip(
        -_MOST_STEPS, _MOST_STEPS
    )


def _judged(
    watched: Watched, mine: np.ndarray, wanted: np.ndarray, error: ExpectedError, values: np.ndarray | None
) -> Verdict:
    """Judge a buffer by its bound, in the values of the model's type."""
    import numpy as np  # noqa: PLC0415 - planning compares nothing.

    from n6build.judge.compare.epoch_bound import judge_epoch  # noqa: PLC0415

    buffer, tensor = watched.joined.buffer, watched.joined.tensor
    exact = channels = None
    if values is not None:
        exact = in_memory_order(values, buffer.shape, channels_last=tensor.channels_last, order=buffer.order)
        axis = values.ndim - 1 if tensor.channels_last or values.ndim < 2 else 1
        numbers = np.ascontiguousarray(
            np.moveaxis(np.broadcast_to(np.arange(values.shape[axis]), np.moveaxis(values, axis, -1).shape), -1, axis)
        )
        channels = in_memory_order(numbers, buffer.shape, channels_last=tensor.channels_last, order=buffer.order)
    shift = _moved_by(mine.dtype.itemsize, tensor.type, buffer.type)
    return judge_epoch(mine.astype(np.int64) - shift, wanted.astype(np.int64) - shift, error, exact, channels)


def _outside(found: Measure, tolerance: EpochTolerance) -> str:
    """Return the reason why a buffer is outside its tolerance, empty if it is not.

    One element may differ by one step in a tensor that is too small for the share.
    """
    is_good = found.equal >= math.floor(tolerance.equal * found.elements) and found.within_1 >= math.ceil(
        tolerance.within_1 * found.elements
    )
    if is_good:
        return ""
    return (
        f"{percent(found.equal, found.elements)} equal ({100 * tolerance.equal:g} wanted), "
        f"{percent(found.within_1, found.elements)} within 1 ({100 * tolerance.within_1:g})"
    )
