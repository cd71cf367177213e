"""Lifetimes of buffers, and the buffers that share memory.

A buffer shares memory with another one if it takes the other's place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from n6build.compile.reference.epochs import Address, Buffer, Epoch
from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.liveness import root_of


def buffers_of(
    epochs: Sequence[Epoch],
    tensors: Mapping[str, Tensor],
    parts: Mapping[str, Address],
    inputs: Sequence[str],
    outputs: Sequence[str],
    states: Sequence[str] = (),
) -> tuple[Buffer, ...]:
    """Return the buffers of a network with the epochs that use them.

    Args:
        epochs: Epochs numbered in the order in which they run.
        tensors: Tensors by the names of the buffers that hold them.
        parts: Places in a larger buffer, by the names of the buffers that are made there.
        inputs: Names of the network's input buffers.
        outputs: Names of the network's output buffers.
        states: Names of buffers that are always in use.
    """
    first, last = _in_use(epochs, parts, [*inputs, *states], [*outputs, *states])
    buffers = {name: Buffer(name, tensor.bytes, first[name], last[name], tensor) for name, tensor in tensors.items()}
    for name, inside in parts.items():
        buffers[name] = replace(buffers[name], inside=inside)
    _share(buffers, epochs, set(inputs), {*outputs, *states})
    scratch = (
        Buffer(epoch.scratch.name, epoch.scratch.bytes, epoch.index, epoch.index, None)
        for epoch in epochs
        if epoch.scratch
    )
    return (*buffers.values(), *scratch)


def _in_use(
    epochs: Sequence[Epoch], parts: Mapping[str, Address], inputs: Sequence[str], outputs: Sequence[str]
) -> tuple[dict[str, int], dict[str, int]]:
    """Return the first and the last epoch of each buffer.

    0 is before the first epoch. A buffer made of parts alone is in use from its last part on, and
    the other parts stay until then.
    """
    first = dict.fromkeys(inputs, 0)
    last = dict(first)
    for epoch in epochs:
        first.setdefault(epoch.output, epoch.index)
        last[epoch.output] = epoch.index
    made_of_parts_alone = {inside.name for inside in parts.values()} - {epoch.output for epoch in epochs}
    for name, inside in parts.items():
        if inside.name in made_of_parts_alone:
            first[inside.name] = last[inside.name] = max(first.get(inside.name, 0), first[name])
    for name, inside in parts.items():
        last[name] = max(last[name], first[inside.name])
    for epoch in epochs:
        for name in epoch.inputs:
            last[name] = max(last[name], epoch.index)
    last |= dict.fromkeys(outputs, len(epochs))
    return first, last


def _share(buffers: dict[str, Buffer], epochs: Sequence[Epoch], inputs: set[str], outputs: set[str]) -> None:
    """Let an epoch's output take the memory of an input that is not needed any more."""
    alike: dict[str, set[str]] = {}
    for buffer in buffers.values():
        alike.setdefault(root_of(buffer, buffers)[0].name, set()).add(buffer.name)
    for epoch in epochs:
        for place in epoch.in_place:
            taker, (root, base) = buffers[epoch.output], root_of(buffers[place.name], buffers)
            members = [buffers[name] for name in alike[root.name]]
            if taker.inside is None and _may_take(taker, place, epoch.index, buffers, members, inputs, outputs):
                buffers[taker.name] = replace(taker, inside=Address(root.name, base + place.offset))
                alike[root.name] |= alike.pop(taker.name)


def _may_take(
    taker: Buffer,
    place: Address,
    epoch: int,
    buffers: Mapping[str, Buffer],
    members: Sequence[Buffer],
    inputs: set[str],
    outputs: set[str],
) -> bool:
    """Return whether an output may take the memory of an input.

    `members` are the buffers that share memory with the input.
    """
    giver = buffers[place.name]
    if giver.name in outputs:
        return False
    root, base = root_of(giver, buffers)
    start = base + place.offset
    if taker.name in outputs and (root.name in inputs or start > 0 or root.bytes != taker.bytes):
        # An output is a whole buffer, and the application owns it at the same time as the inputs.
        return False
    others = [other for other in members if other is not giver and other.last >= epoch]
    return taker.first == giver.last == epoch and not any(
        offset < start + taker.bytes and start < offset + other.bytes
        for other in others
        for offset in [root_of(other, buffers)[1]]
    )
