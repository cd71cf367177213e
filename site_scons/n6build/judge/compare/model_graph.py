"""The graph of a model's tensors, and the tensors that a buffer may hold."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator, Sequence

from n6build.compile.artifacts.made_buffers import MadeBuffer
from n6build.judge.compare.memory_order import arrangements
from n6build.judge.compare.tensors import ReferenceTensor

# A compiler merges these operators with others, moves their work elsewhere, or leaves them out.
_PASSED = frozenset(
    {"PAD", "PADV2", "QUANTIZE", "RELU", "RELU6", "RESHAPE", "SQUEEZE", "EXPAND_DIMS", "TRANSPOSE", "DEQUANTIZE"}
    | {"Pad", "QuantizeLinear", "Relu", "Clip", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity", "Transpose"}
)
# Tensors that are this far from an operator's own are not looked at.
_MOST_PASSED = 4
# The sets of ancestors grow with the square of the number.
_MOST_ORDERED = 1 << 12

# Size in bytes, scale, zero point as of a signed type, bits.
Key = tuple[int, float, int, int]


class ModelGraph:
    """The tensors of a model with their users.

    Attributes:
        tensors: All tensors, in the order in which the interpreter makes them.
        by_name: The tensors by name.
    """

    def __init__(self, tensors: Sequence[ReferenceTensor]) -> None:
        """Take the tensors in the order in which the interpreter makes them."""
        self.tensors = tuple(tensors)
        self.by_name = {each.name: each for each in tensors}
        self._users: defaultdict[str, list[ReferenceTensor]] = defaultdict(list)
        self._numbers = {each.name: number for number, each in enumerate(tensors)}
        self._before: dict[str, int] = {}
        for each in tensors:
            for name in dict.fromkeys(each.inputs):
                self._users[name].append(each)
            if len(tensors) <= _MOST_ORDERED:
                self._before[each.name] = self._ancestors(each)

    def _ancestors(self, tensor: ReferenceTensor) -> int:
        """Return the tensors that one is computed from, as bits at their numbers."""
        found = 0
        for name in tensor.inputs:
            if name in self._before:
                found |= self._before[name] | 1 << self._numbers[name]
        return found

    def is_before(self, first: str, second: str) -> bool:
        """Return true if the second tensor is computed from the first one.

        In a graph that is too large for it, the result is always false.
        """
        return bool(self._before.get(second, 0) >> self._numbers[first] & 1)

    def after(self, tensor: ReferenceTensor) -> list[ReferenceTensor]:
        """Return a tensor, then those that merged operators make of it, the nearest first."""
        found = [tensor]
        names = {tensor.name}
        nearest = [tensor]
        for _ in range(_MOST_PASSED):
            nearest = [user for each in nearest for user in self._users[each.name] if _is_passed(user)]
            nearest = [each for each in nearest if each.name not in names]
            names |= {each.name for each in nearest}
            found += nearest
        return found

    def behind(self, tensor: ReferenceTensor) -> set[str]:
        """Return the tensors that operators without weights make from one."""
        found: set[str] = set()
        waiting = [tensor]
        while waiting:
            new = [user for user in self._users[waiting.pop().name] if not user.kernel and user.name not in found]
            found |= {user.name for user in new}
            waiting += new
        return found

    def sources(self, tensor: ReferenceTensor) -> list[list[ReferenceTensor]]:
        """Return for each operand the tensor itself, then those before merged operators."""
        return [list(self._back(name)) for name in tensor.inputs]

    def _back(self, name: str) -> Iterator[ReferenceTensor]:
        for _ in range(_MOST_PASSED + 1):
            tensor = self.by_name.get(name)
            if tensor is None:
                return
            yield tensor
            if not _is_passed(tensor) or not tensor.inputs:
                return
            name = tensor.inputs[0]


def _is_passed(tensor: ReferenceTensor) -> bool:
    return len(tensor.inputs) == 1 and _PASSED.issuperset(tensor.operator.split("+"))


def fits(buffer: MadeBuffer, tensor: ReferenceTensor) -> bool:
    """Return true if a buffer may hold a tensor, by size, scale, zero point and shape."""
    return key_of_buffer(buffer) == key_of_tensor(tensor) and bool(
        arrangements(tensor.shape, buffer.shape, channels_last=tensor.channels_last)
    )


def key_of_buffer(buffer: MadeBuffer) -> Key:
    """Return the key of a buffer, which is that of the tensor in it."""
    return _key(buffer.bytes, buffer.type, buffer.scale, buffer.zero_point)


def key_of_tensor(tensor: ReferenceTensor) -> Key:
    """Return the key of a tensor, which is that of a buffer with it."""
    return _key(tensor.values.nbytes, tensor.type, tensor.scale, tensor.zero_point)


def _key(size: int, kind: str, scale: float, zero_point: int) -> Key:
    """Return a key that is equal for a buffer and its tensor.

    The compiler stores many tensors as unsigned: the same values, shifted by half the range. Scales are
    numbers of 32 bits.
    """
    bits = {"int8": 8, "uint8": 8, "int16": 16, "uint16": 16, "float32": 32}.get(kind, 0)
    shift = 1 << (bits - 1) if kind.startswith("u") else 0
    return (size, _single(scale), zero_point - shift, bits)


def _single(scale: float) -> float:
    try:
        return float(struct.unpack("<f", struct.pack("<f", scale))[0])
    except OverflowError:
        return scale
