"""Join of a compiled network's buffers with the tensors of its model.

The join uses size, scale, zero point and the epoch that makes a buffer; it never uses similar values.
Buffers and tensors with the same size and quantisation are joined in the order in which they are made.
This needs the same number of both, and a model that makes them in that order, each from the one before.
All other buffers are listed with the reason.
"""

from __future__ import annotations

import itertools
import re
import struct
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from n6build.compile.artifacts.made_buffers import MadeBuffer
from n6build.judge.compare.tensors import ReferenceTensor

# Operators that keep the order of values: their output is equal to the tensor before.
_VIEWS = frozenset({"RESHAPE", "SQUEEZE", "EXPAND_DIMS", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity"})
# ST's compiler copies a buffer to another place or layout, under its name with this ending (INFERRED from Core 2.2 and 3.0).
_COPY = re.compile(r"(.+?)(?:_cp_in_\d+)+", re.ASCII)
# ST's compiler names buffers after a node: Add_43_out_0.
_NODE = re.compile(r"([A-Za-z]\w*?)_\d+(?=_)", re.ASCII)
# Node Conv2D_16 reads Conv2D_16_zero_off_out_19 (INFERRED: true wherever both are known in YAMNet and ReID).
_READ_BY = "_zero_off_"

# Size in bytes, scale, zero point as of a signed type, bits.
_Key = tuple[int, float, int, int]


@dataclass(frozen=True)
class JoinedBuffer:
    """A buffer with the model's tensor that it holds."""

    buffer: MadeBuffer
    tensor: ReferenceTensor


@dataclass(frozen=True)
class UnjoinedBuffer:
    """A buffer that is not compared, with the reason in words."""

    buffer: MadeBuffer
    why: str


def join_buffers(
    buffers: Sequence[MadeBuffer], tensors: Sequence[ReferenceTensor]
) -> tuple[list[JoinedBuffer], list[UnjoinedBuffer]]:
    """Join buffers with tensors, and return the joined and the other buffers.

    Both lists are sorted by epoch.

    Args:
        buffers: Buffers of the network, by epoch.
        tensors: Tensors of the model, in the order in which its interpreter makes them.
    """
    made, copies = _without_copies(buffers)
    by_key: defaultdict[_Key, list[ReferenceTensor]] = defaultdict(list)
    for tensor in _without_views(tensors):
        by_key[_key_of_tensor(tensor)].append(tensor)
    groups: defaultdict[_Key, list[MadeBuffer]] = defaultdict(list)
    for buffer in made:
        groups[_key_of_buffer(buffer)].append(buffer)
    ancestors = _ancestors(tensors)
    joined: dict[str, JoinedBuffer] = {}
    unjoined: dict[str, UnjoinedBuffer] = {}
    for key, group in groups.items():
        for some, candidates in _by_operator(group, by_key[key]):
            why = _objection(some, candidates, ancestors)
            if why:
                unjoined |= {buffer.name: UnjoinedBuffer(buffer, why) for buffer in some}
            else:
                pairs = zip(some, candidates, strict=True)
                joined |= {buffer.name: JoinedBuffer(buffer, tensor) for buffer, tensor in pairs}
    for name, found in _by_reader(unjoined, joined, tensors):
        joined[name] = found
        del unjoined[name]
    for copy, source in copies:
        if source.name in joined:
            joined[copy.name] = JoinedBuffer(copy, joined[source.name].tensor)
        else:
            unjoined[copy.name] = UnjoinedBuffer(copy, f"it is a copy of {source.name}, which is not compared")
    order = [buffer.name for buffer in buffers]
    return [joined[name] for name in order if name in joined], [unjoined[name] for name in order if name in unjoined]


def _without_copies(buffers: Sequence[MadeBuffer]) -> tuple[list[MadeBuffer], list[tuple[MadeBuffer, MadeBuffer]]]:
    """Return the original buffers, and each copy with its source.

    The same memory under a second name is left out.
    """
    by_name = {buffer.name: buffer for buffer in buffers}
    places: set[tuple[int, int | None, _Key]] = set()
    made, copies = [], []
    for buffer in buffers:
        key = _key_of_buffer(buffer)
        source = by_name.get(match[1]) if (match := _COPY.fullmatch(buffer.name)) else None
        place = (buffer.epoch, buffer.address, key)
        if source and _key_of_buffer(source) == key:
            copies.append((buffer, source))
        elif buffer.address is None or place not in places:
            made.append(buffer)
            places.add(place)
    return made, copies


def _without_views(tensors: Sequence[ReferenceTensor]) -> list[ReferenceTensor]:
    """Return the tensors without the model's inputs, and without equal ones.

    A reshape and similar operators make a tensor that is equal to the one before.
    """
    by_name = {tensor.name: tensor for tensor in tensors}
    return [
        tensor
        for tensor in tensors
        if tensor.inputs
        and not (
            _VIEWS.issuperset(tensor.operator.split("+"))
            and len(tensor.inputs) == 1
            and (source := by_name.get(tensor.inputs[0])) is not None
            and _key_of_tensor(source) == _key_of_tensor(tensor)
        )
    ]


def _by_operator(
    buffers: Sequence[MadeBuffer], tensors: Sequence[ReferenceTensor]
) -> list[tuple[list[MadeBuffer], list[ReferenceTensor]]]:
    """Return all buffers with all tensors, or those of each operator if counts differ.

    An epoch may run several operators: only the last one's tensor gets to memory. It may also make
    tensors that the model does not have.
    """
    if len(buffers) == len(tensors):
        return [(list(buffers), list(tensors))]
    groups: defaultdict[str, list[MadeBuffer]] = defaultdict(list)
    for buffer in buffers:
        groups[_operator(buffer)].append(buffer)
    return [
        (group, [tensor for tensor in tensors if operator in _letters(tensor.operator)])
        for operator, group in groups.items()
    ]


def _by_reader(
    unjoined: Mapping[str, UnjoinedBuffer], joined: Mapping[str, JoinedBuffer], tensors: Sequence[ReferenceTensor]
) -> list[tuple[str, JoinedBuffer]]:
    """Return the buffers that are named after their reader, with their tensors.

    The reader is a node. Its output has to be known, and the node needs to have one input.
    """
    by_name = {tensor.name: tensor for tensor in tensors}
    made = {
        match[0]: each.tensor
        for each in joined.values()
        if (match := _NODE.match(each.buffer.name)) and _READ_BY not in each.buffer.name
    }
    found = []
    for name, each in unjoined.items():
        match = _NODE.match(name)
        reader = made.get(match[0]) if match and _READ_BY in name else None
        source = by_name.get(reader.inputs[0]) if reader and len(reader.inputs) == 1 else None
        if source and _key_of_tensor(source) == _key_of_buffer(each.buffer):
            found.append((name, JoinedBuffer(each.buffer, source)))
    return found


def _operator(buffer: MadeBuffer) -> str:
    """Return the operator that made a buffer, empty if the name does not show it.

    Some buffers are named after the operator that reads them.
    """
    match = _NODE.match(buffer.name)
    return _letters(match[1]) if match and _READ_BY not in buffer.name else ""


def _letters(text: str) -> str:
    """Return letters and digits in lower case: CONV_2D and Conv2D are both conv2d."""
    return "".join(filter(str.isalnum, text)).lower()


def _objection(
    buffers: Sequence[MadeBuffer], tensors: Sequence[ReferenceTensor], ancestors: Mapping[str, frozenset[str]]
) -> str:
    if not tensors:
        return "the model has no tensor of its size, scale and zero point"
    if len(tensors) != len(buffers):
        return f"{len(buffers)} of its size, scale and zero point in the network, {len(tensors)} in the model"
    epochs = [buffer.epoch for buffer in buffers]
    if len(set(epochs)) != len(epochs):
        return f"epoch {max(epochs, key=epochs.count)} makes several of its size, scale and zero point"
    if any(before.name not in ancestors[after.name] for before, after in itertools.pairwise(tensors)):
        return f"the model makes {len(tensors)} of its size, scale and zero point side by side, in no order"
    return ""


def _ancestors(tensors: Sequence[ReferenceTensor]) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for tensor in tensors:
        known = [name for name in tensor.inputs if name in found]
        found[tensor.name] = frozenset(known).union(*(found[name] for name in known))
    return found


def _key_of_buffer(buffer: MadeBuffer) -> _Key:
    return _key(buffer.bytes, buffer.type, buffer.scale, buffer.zero_point)


def _key_of_tensor(tensor: ReferenceTensor) -> _Key:
    return _key(tensor.values.nbytes, tensor.type, tensor.scale, tensor.zero_point)


def _key(size: int, kind: str, scale: float, zero_point: int) -> _Key:
    """Return a key that is equal for a buffer and its tensor.

    The compiler stores many tensors as unsigned: the same values, shifted by half the range. Scales are
    numbers of 32 bits.
    """
    bits = 16 if kind.endswith("16") else 8
    shift = 1 << (bits - 1) if kind.startswith("u") else 0
    return (size, _single(scale), zero_point - shift, bits)


def _single(scale: float) -> float:
    try:
        return float(struct.unpack("<f", struct.pack("<f", scale))[0])
    except OverflowError:
        return scale
