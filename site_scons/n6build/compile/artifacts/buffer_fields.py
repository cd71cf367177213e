"""Type, numbers, shape and order of a buffer as ST's compiler writes them."""

from __future__ import annotations

from typing import Literal

ChannelOrder = Literal["first", "last", "groups", "unknown"]

# The names in network.c.
CHANNEL_ORDERS: dict[str, ChannelOrder] = {"CHPos_First": "first", "CHPos_Last": "last", "CHPos_Mixed": "groups"}


def in_groups(shape: tuple[int, ...], batch: int) -> tuple[int, ...]:
    """Return the shape in memory of channels in groups, (1, C / batch, H, W, batch).

    The result is empty if the channels cannot be in such groups.

    Args:
        shape: The shape with its channels last, (1, H, W, C).
        batch: Channels of a group.
    """
    if len(shape) != 4 or batch < 1 or shape[3] % batch:
        return ()
    return (shape[0], shape[3] // batch, shape[1], shape[2], batch)


def shape_in_memory(
    order: ChannelOrder, shape: tuple[int, ...], batch: int, stored: tuple[int, ...]
) -> tuple[int, ...]:
    """Return the shape in memory of a buffer in network.c.

    Args:
        order: Order of the channels.
        shape: The shape with its channels last.
        batch: Channels of a group.
        stored: The shape in memory that the file has. Buffers with groups of different sizes share one
            (Core 2.1 to 3.0), so that it counts only for other orders.
    """
    stored = stored or shape
    return in_groups(shape, batch) or stored if order == "groups" else stored


def numpy_type(name: str) -> str:
    """Return a type as NumPy names it: DataType_INT8 -> int8."""
    kind = name.removeprefix("DataType_").lower()
    return "float32" if kind == "float" else kind


def c_float(value: str) -> float:
    """Return a floating-point constant of C, NaN if it is none."""
    try:
        return float(value.rstrip("fF") if value.lower() not in ("inf", "-inf") else value)
    except ValueError:
        # NAN, INFINITY, or not a number at all: never a scale that a network can have.
        return float("nan")
