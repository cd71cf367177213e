"""Values of a model's tensor in the order of a buffer of the network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from n6build.compile.artifacts.buffer_lives import ChannelOrder

_AXES = 4


@dataclass(frozen=True)
class Arrangement:
    """A way to bring a tensor's values into the order of a buffer.

    Attributes:
        split: Shape that the values get first.
        axes: Order of its axes in memory.
        order: Place of the channels in memory.
    """

    split: tuple[int, ...]
    axes: tuple[int, ...]
    order: ChannelOrder

    def flat(self, values: np.ndarray) -> np.ndarray:
        """Return the values of a tensor as the buffer holds them."""
        return values.reshape(self.split).transpose(self.axes).reshape(-1)


def arrangements(shape: tuple[int, ...], memory: tuple[int, ...], *, channels_last: bool) -> list[Arrangement]:
    """Return the possible orders of a tensor's values in a buffer.

    Args:
        shape: Shape of the tensor.
        memory: Shape of the buffer in memory; (1, C / b, H, W, b) for channels in groups of b.
        channels_last: True if the tensor has its channels last.
    """
    if len(shape) == _AXES - 1:
        # A line is a picture of one row or column.
        shape = (*shape[:2], 1, shape[2]) if channels_last else (*shape, 1)
    if len(shape) != _AXES:
        same = without_ones(shape) == without_ones(memory)
        return [Arrangement(shape, tuple(range(len(shape))), "unknown")] if same else []
    last, first = ((0, 1, 2, 3), (0, 3, 1, 2)) if channels_last else ((0, 2, 3, 1), (0, 1, 2, 3))
    whole = [Arrangement(shape, last, "last"), Arrangement(shape, first, "first")]
    found = [each for each in whole if _moved(each) == memory]
    found = found or [each for each in whole if without_ones(_moved(each)) == without_ones(memory)]
    count, height, width, channels = _moved(whole[0])
    if len(memory) == _AXES + 1 and memory == (count, channels // memory[4], height, width, memory[4]):
        groups = (channels // memory[4], memory[4])
        if channels_last:
            grouped = Arrangement((count, height, width, *groups), (0, 3, 1, 2, 4), "groups")
        else:
            grouped = Arrangement((count, *groups, height, width), (0, 1, 3, 4, 2), "groups")
        found.append(grouped)
    different: dict[tuple[int, ...], Arrangement] = {}
    for each in found:
        # Axes of length one do not determine the order.
        different.setdefault(tuple(axis for axis in each.axes if each.split[axis] != 1), each)
    return list(different.values()) if not any(_is_flat(each) for each in found) else found[:1]


def in_memory_order(
    values: np.ndarray, memory: tuple[int, ...], *, channels_last: bool, order: ChannelOrder = "unknown"
) -> np.ndarray | None:
    """Return the values of a tensor as a buffer holds them, flat.

    None means that shapes and order do not determine it.

    Args:
        values: Values of the tensor.
        memory: Shape of the buffer in memory.
        channels_last: True if the tensor has its channels last.
        order: Place of the channels in memory. It counts where axes of equal length may be in either
            order.
    """
    import numpy as np  # noqa: PLC0415 - planning compares nothing.

    found = arrangements(values.shape, memory, channels_last=channels_last)
    if len(found) > 1:
        found = [each for each in found if each.order == order] or found
    flat = [each.flat(values) for each in found]
    return flat[0] if flat and all(np.array_equal(each, flat[0]) for each in flat) else None


def _moved(arrangement: Arrangement) -> tuple[int, ...]:
    return tuple(arrangement.split[axis] for axis in arrangement.axes)


def _is_flat(arrangement: Arrangement) -> bool:
    """Return true if at most one axis is longer than one."""
    return len(without_ones(arrangement.split)) < 2


def without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the lengths of the axes that determine the order of values."""
    return tuple(size for size in shape if size != 1)
