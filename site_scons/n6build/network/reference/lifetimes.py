"""From when to when each buffer is in use, and which buffers share memory because one takes the place of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from n6build.network.reference.epochs import Address, Buffer, Epoch
from n6build.network.reference.graph import Tensor
from n6build.network.reference.liveness import root_of


def buffers_of(
    epochs: Sequence[Epoch],
    tensors: Mapping[str, Tensor],
    parts: Mapping[str, Address],
    inputs: Sequence[str],
    outputs: Sequence[str],
    states: Sequence[str] = (),
) -> tuple[Buffer, ...]:
    """epochs: numbered in the order in which they run. tensors: by the buffer that holds them. parts: of a larger buffer, where
    they are made. inputs, outputs: buffers of the network's. states: buffers that are always there."""
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
    """First and last epoch of each buffer; 0 is before the first epoch. A buffer that is made of parts alone is there from its
    last part on, and the others stay until then."""
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
    """Lets the output of an epoch take the memory of an input that is not needed any more."""
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
    """members: that share memory with what would be taken."""
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
