"""Values of a model's tensor in the order of a buffer of the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def in_memory_order(values: np.ndarray, shape: tuple[int, ...], *, channels_last: bool) -> np.ndarray | None:
    """Return the values of a tensor as a buffer holds them, flat.

    None means that the shapes do not determine the order.

    Args:
        values: Values of the tensor.
        shape: Shape of the buffer in memory; (1, C / b, H, W, b) for channels in groups of b.
        channels_last: True if the tensor has its channels last.
    """
    import numpy as np  # noqa: PLC0415 - planning compares nothing.

    if values.ndim != 4:
        return values.reshape(-1) if without_ones(values.shape) == without_ones(shape) else None
    last = values if channels_last else np.moveaxis(values, 1, -1)
    first = np.moveaxis(last, -1, 1)
    orders = [each for each in (last, first) if each.shape == shape]
    orders = orders or [each for each in (last, first) if without_ones(each.shape) == without_ones(shape)]
    if len(shape) == 5 and shape[1] * shape[4] == last.shape[3] and shape[2:4] == last.shape[1:3]:
        orders.append(np.moveaxis(last.reshape(*last.shape[:3], shape[1], shape[4]), 3, 1))
    flat = [each.reshape(-1) for each in orders]
    # Axes of equal length may be in either order, which is no problem if the values are the same.
    return flat[0] if flat and all(np.array_equal(each, flat[0]) for each in flat) else None


def without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the lengths of the axes that determine the order of values."""
    return tuple(size for size in shape if size != 1)
