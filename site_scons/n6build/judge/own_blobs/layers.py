"""Layers of a network, which run again only if they have changed.

The search for a network that is precise enough takes several attempts. Each layer runs as a blob of
its own, on the interpreter's tensors. Such runs serve only to find imprecise operators: all
published results are those of a run of the network's own blobs.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

from n6build.compile.neural_art.compile_epochs import CompiledForNpu
from n6build.compile.neural_art.hardware_epoch import HardwareEpoch, Limit, Unit, Value
from n6build.compile.neural_art.placement import addresses
from n6build.compile.neural_art.program import blob
from n6build.compile.reference.epochs import Address
from n6build.describe.hardware.npu import Npu
from n6build.judge.own_blobs.agreement import Agreement, MadeTensor, agreements_of, bytes_of, made_tensors
from n6build.judge.own_blobs.model_program import Exchange, Run, replay
from n6build.judge.own_blobs.proof import BLOBS_AT, memory_regions
from n6build.judge.own_blobs.reference_tensors import ReferenceTensors

# Agreements by the keys of layers.
Known = MutableMapping[str, Sequence[Agreement]]


@dataclass(frozen=True)
class Layer:
    """Epochs that lead from tensors of the model to tensors of the model.

    Attributes:
        given: names of the input buffers.
        key: digest of everything that decides the agreement: registers, links, kernels and the
            interpreter's tensors, but not their addresses.
    """

    epochs: tuple[int, ...]
    given: tuple[str, ...]
    made: tuple[MadeTensor, ...]
    key: str


def layers_of(compiled: CompiledForNpu, reference: ReferenceTensors) -> tuple[Layer, ...] | None:
    """Return the layers of a network, or None if it cannot be cut into layers.

    This is so if an epoch reads data of another layer, or a tensor that the interpreter does not show.
    """
    hardware, tensors = compiled.lowered.hardware, compiled.lowered.tensors
    made = made_tensors(compiled, reference)
    layers: list[Layer] = []
    epochs: list[int] = []
    for index in sorted(hardware):
        epochs.append(index)
        complete = tuple(each for each in made if each.epoch == index)
        if not complete:
            continue
        written = {name for each in epochs for name in hardware[each].writes}
        read = dict.fromkeys(name for each in epochs for name in hardware[each].reads)
        given = tuple(name for name in read if name not in written)
        if any(tensors.get(name) not in reference.values for name in given):
            return None
        key = _key(compiled, reference, [hardware[each] for each in epochs], [each.buffer.name for each in complete])
        layers.append(Layer(tuple(epochs), given, complete, key))
        epochs = []
    return tuple(layers)


def agreements_by_key(
    layers: Sequence[Layer], forced: Sequence[Agreement]
) -> Iterator[tuple[str, Sequence[Agreement]]]:
    """Yield the agreements of each layer, by its key.

    Args:
        layers: layers of a network.
        forced: agreements of the whole network.
    """
    for layer in layers:
        yield layer.key, [each for each in forced if each.epoch == layer.epochs[-1]]


def agreements_of_layers(layers: Sequence[Layer], known: Known) -> list[Agreement]:
    """Return known agreements, with the current numbers of epochs and buffer names.

    Args:
        layers: layers of the network.
        known: agreements of all these layers.
    """
    return [
        replace(found, epoch=made.epoch, buffer=made.buffer.name)
        for layer in layers
        for found, made in zip(known[layer.key], layer.made, strict=True)
    ]


def run_layers(
    npu: Npu, program: Path, compiled: CompiledForNpu, layers: Sequence[Layer], reference: ReferenceTensors
) -> Iterator[tuple[str, Sequence[Agreement]]]:
    """Run layers, and yield the agreements of each, by its key.

    Raises:
        N6Error: N6-NPU-011 for a blob that the model refuses.
    """
    address_of = addresses(compiled.placement)
    hardware = compiled.lowered.hardware
    blobs = []
    for layer in layers:
        words = blob(npu, [(index, hardware[index]) for index in layer.epochs], address_of)
        blobs.append(struct.pack(f"<{len(words)}I", *words))
    starts = list(accumulate(map(len, blobs), initial=BLOBS_AT))
    buffers = {buffer.name: buffer for buffer in compiled.lowered.network.buffers}
    runs = []
    for at, layer in zip(starts, layers, strict=False):
        given = [
            (
                compiled.placement.places[name].address,
                bytes_of(buffers[name], reference.values[compiled.lowered.tensors[name]]),
            )
            for name in layer.given
        ]
        exchanges = [Exchange(each.epoch, each.address, each.buffer.bytes) for each in layer.made]
        for vector in range(reference.count):
            before = [(address, rows[vector].tobytes()) for address, rows in given]
            runs.append(Run(at, before, exchanges))
    ran = replay(program, [*memory_regions(compiled), (BLOBS_AT, b"".join(blobs))], runs)
    for place, layer in enumerate(layers):
        found = ran[place * reference.count : (place + 1) * reference.count]
        yield layer.key, agreements_of(layer.made, [each.exchanged for each in found])


def _key(
    compiled: CompiledForNpu, reference: ReferenceTensors, epochs: Sequence[HardwareEpoch], made: Sequence[str]
) -> str:
    lowered = compiled.lowered
    kernels = {each.name: each.data for each in lowered.network.initializers}
    held = {buffer.name: buffer.tensor for buffer in lowered.network.buffers if buffer.tensor}
    temporaries: dict[str, int] = {}

    def content(name: str) -> tuple[str, str | int]:
        if name in kernels:
            return "kernels", hashlib.sha256(kernels[name]).hexdigest()
        if name in lowered.tensors:
            return held[name].dtype, reference.digests[lowered.tensors[name]]
        return "temporary", temporaries.setdefault(name, len(temporaries))

    def of_value(value: Value) -> object:
        match value:
            case Address(name, offset):
                return content(name), offset
            case Limit(end):
                return "limit", content(end.name), end.offset
        return value

    def of_unit(unit: Unit) -> object:
        settings = [(each.register, each.repeated, *map(of_value, each.values)) for each in unit.settings]
        return replace(unit, settings=()), settings

    told = [([of_unit(unit) for unit in epoch.units], epoch.links) for epoch in epochs]
    return hashlib.sha256(repr((told, [content(name) for name in made])).encode()).hexdigest()
