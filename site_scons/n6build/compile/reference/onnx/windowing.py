"""Windows of ONNX: kernel, strides, dilations and paddings by dimension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from n6build.compile.reference.windows import MAX_DIMENSION

if TYPE_CHECKING:
    from n6build.compile.reference.onnx.node import Node
    from n6build.compile.reference.onnx.storage import Shape

_EXPORT = (
    "export the model again; if the error persists, the exporter wrote a node that breaks the operator's definition"
)


@dataclass(frozen=True)
class Windowing:
    """A window; each field has one number for each dimension.

    Attributes:
        window: Sizes of the kernel.
        strides: Steps of the window.
        dilations: Distances of neighbouring taps.
        before: Padding in front of the input.
        after: Padding behind the input.
    """

    window: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]


def windowing_of(node: Node, sizes: Shape, window: Shape) -> Windowing:
    """Return the windowing of a node.

    Args:
        node: Node with a window.
        sizes: Sizes of the input without batch and channels.
        window: Sizes of the kernel.

    Raises:
        N6Error: N6-NET-007 if the attributes do not fit together or are out of range.
    """
    rank = len(sizes)
    strides = _numbers(node, "strides", [1] * rank)
    dilations = _numbers(node, "dilations", [1] * rank)
    pads = _numbers(node, "pads", [0] * 2 * rank)
    lengths = {len(window), len(strides), len(dilations), len(pads) // 2}
    numbers = (*window, *strides, *dilations)
    if lengths != {rank} or min(numbers) < 1 or max(*numbers, *pads) > MAX_DIMENSION or min(pads) < 0:
        raise node.error("N6-NET-007", f"window {list(window)}, strides {strides}, paddings {pads}", _EXPORT)
    before, after = pads[:rank], pads[rank:]
    automatic = node.attributes.get("auto_pad", b"NOTSET")
    if automatic in (b"SAME_UPPER", b"SAME_LOWER"):
        for axis, size in enumerate(sizes):
            extent = (window[axis] - 1) * dilations[axis] + 1
            total = max(0, (-(-size // strides[axis]) - 1) * strides[axis] + extent - size)
            before[axis] = total // 2 if automatic == b"SAME_UPPER" else total - total // 2
            after[axis] = total - before[axis]
    elif automatic == b"VALID":
        before, after = [0] * rank, [0] * rank
    return Windowing(tuple(window), tuple(strides), tuple(dilations), tuple(before), tuple(after))


def output_sizes(node: Node, windowing: Windowing, sizes: Shape) -> Shape:
    """Return the sizes of the output without batch and channels.

    Raises:
        N6Error: N6-NET-007 if the window is larger than the input.
    """
    made = []
    for axis, size in enumerate(sizes):
        extent = (windowing.window[axis] - 1) * windowing.dilations[axis] + 1
        room = size + windowing.before[axis] + windowing.after[axis] - extent
        if node.attributes.get("ceil_mode"):
            room += windowing.strides[axis] - 1
        count = room // windowing.strides[axis] + 1
        # A window that begins behind the input is left out.
        if node.attributes.get("ceil_mode") and (count - 1) * windowing.strides[axis] >= size + windowing.before[axis]:
            count -= 1
        if count < 1:
            raise node.error("N6-NET-007", f"its window {list(windowing.window)} is larger than {list(sizes)}", _EXPORT)
        made.append(count)
    return tuple(made)


def _numbers(node: Node, name: str, otherwise: list[int]) -> list[int]:
    return [int(number) for number in node.attributes.get(name, otherwise)]
