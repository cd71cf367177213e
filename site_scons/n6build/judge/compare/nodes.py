"""Nodes of a compiled network, by the names of its buffers.

ST's compiler names a buffer after a node of its own graph. It makes these nodes from the operators of
the model, and numbers them so that a node comes behind the nodes it reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from n6build.compile.artifacts.made_buffers import MadeBuffer
from n6build.judge.compare.tensors import kernel_mark

# Add_43_out_0, Gemm_99_conv_4_off_bias_out_256.
_NODE = re.compile(r"(([A-Za-z]\w*?)_(\d{1,9}))(?:_conv_\d+)?_(zero_off_out|off_bias_out|out)_\d+", re.ASCII)
_ANY_NODE = re.compile(r"(([A-Za-z][A-Za-z\d]*?)_(\d{1,9}))(?:_.*)?", re.ASCII)
# The kind alone, of any buffer.
NODE_KIND = re.compile(r"([A-Za-z]\w*?)_\d+(?=_)", re.ASCII)
# Node Conv2D_16 reads Conv2D_16_zero_off_out_19 (INFERRED: true wherever both are known in YAMNet and ReID).
READ_BY = "_zero_off_"
# The compiler copies a buffer to another place or order, under its name with such an ending (INFERRED from Core 2.1 to 4.0).
_COPY = re.compile(r"(?:_cp_in_\d+|_copy_in_\d+|_inserted_out\d+)+\Z", re.ASCII)
# An operator is computed in steps: MaxPool_431_decomposed_5_out_1788, Resize_495_resize_NN_expansion_concat_1797_out_1800.
_STEP = re.compile(r"(([A-Za-z][A-Za-z\d]*?)_(\d{1,9}))_(?:decomposed_\d+|resize_\w+)_out_(\d{1,9})", re.ASCII)
# The beginning of a node's name, and the operators of a model that it may be, in letters of lower case.
_OPERATORS: Mapping[str, tuple[str, ...]] = {
    "conv2d": ("conv", "depthwiseconv2d"),
    "gemm": ("fullyconnected", "gemm", "matmul"),
    "concat": ("concat",),
    "averagepool": ("averagepool", "mean"),
    "maxpool": ("maxpool", "reducemax"),
    "sigmoid": ("logistic", "sigmoid"),
}


@dataclass(frozen=True)
class NodeBuffer:
    """A buffer and its place at a node.

    Attributes:
        buffer: The buffer.
        side: "input" if the node reads it, "output" if the node makes it, "step" if the node makes it
            in one of several steps.
        step: The compiler's number of the step.
    """

    buffer: MadeBuffer
    side: Literal["input", "output", "step"]
    step: int = 0


@dataclass(frozen=True)
class Node:
    """A node of the compiler's graph.

    Attributes:
        name: Name of the node, such as Conv2D_16.
        kind: Its kind in letters of lower case, such as conv2d.
        number: Its number.
        kernel: Mark of its weights, empty without weights.
        buffers: Its buffers.
    """

    name: str
    kind: str
    number: int
    kernel: str
    buffers: tuple[NodeBuffer, ...]

    def may_be(self, operator: str) -> bool:
        """Return true if an operator of the model may be this node."""
        made = letters(operator)
        return any(word in made for word in _OPERATORS.get(self.kind, (self.kind,)))


def nodes_of(buffers: Iterable[MadeBuffer], kernels: Mapping[str, tuple[float, ...]]) -> list[Node]:
    """Return the nodes of a network, by their numbers.

    Args:
        buffers: All buffers of the network.
        kernels: Scales of weights, by node.
    """
    found: dict[str, tuple[str, int]] = {}
    at: dict[str, list[NodeBuffer]] = {}
    for name in (*(buffer.name for buffer in buffers), *kernels):
        original = original_name(name)
        if match := _STEP.fullmatch(original) or _NODE.fullmatch(original) or _ANY_NODE.fullmatch(name):
            found.setdefault(match[1], (letters(match[2]), int(match[3])))
    for buffer in buffers:
        placed = _placed(buffer)
        if placed:
            at.setdefault(placed[0], []).append(placed[1])
    return sorted(
        (
            Node(name, kind, number, kernel_mark(kernels[name]) if name in kernels else "", tuple(at.get(name, ())))
            for name, (kind, number) in found.items()
        ),
        key=lambda node: (node.number, node.name),
    )


def _placed(buffer: MadeBuffer) -> tuple[str, NodeBuffer] | None:
    name = original_name(buffer.name)
    if match := _STEP.fullmatch(name):
        return match[1], NodeBuffer(buffer, "step", int(match[4]))
    if match := _NODE.fullmatch(name):
        return match[1], NodeBuffer(buffer, "input" if match[4] == "zero_off_out" else "output")
    return None


def original_name(name: str) -> str:
    """Return the name without the endings of a copy."""
    return _COPY.sub("", name)


def inner_steps(buffers: Iterable[MadeBuffer]) -> dict[str, str]:
    """Return the buffers that a node makes before its last step, with the node's name."""
    steps: dict[str, list[NodeBuffer]] = {}
    for buffer in buffers:
        placed = _placed(buffer)
        if placed and placed[1].side == "step":
            steps.setdefault(placed[0], []).append(placed[1])
    return {
        each.buffer.name: node
        for node, made in steps.items()
        for each in made
        if each.step != max(one.step for one in made)
    }


def node_number(name: str) -> int:
    """Return the number of the node that a buffer is named after, -1 without one."""
    match = _ANY_NODE.fullmatch(name)
    return int(match[3]) if match else -1


def letters(text: str) -> str:
    """Return letters and digits in lower case: CONV_2D and Conv2D are both conv2d."""
    return "".join(filter(str.isalnum, text)).lower()
