"""Cases of kernels made by the compiler: the one call that a model of one operator becomes, with all that it takes."""

import ctypes
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from n6build.network.reference.descriptors import Pointer, Structure
from n6build.network.reference.epochs import Address, Fields, Network
from n6build.network.reference.graph_checks import check_graph
from n6build.network.reference.lowering import lower
from n6build.network.reference.tflite_reader import read_graph
from numpy.typing import NDArray

from kernels.kernel_descriptors import DESCRIPTORS, Case, inner_layout


def case_of(name: str, model: bytes, inputs: Sequence[NDArray[np.generic]], work: int) -> Case:
    """model: one operator that becomes one call. work: as in Case."""
    network = _compiled(model)
    (epoch,) = network.epochs
    buffers: dict[str, NDArray[np.generic]] = {}
    values: dict[str, Any] = {}
    descriptor = DESCRIPTORS[epoch.kernel]
    for (member, value), described in zip(epoch.descriptor.members, descriptor.members, strict=True):
        if not isinstance(value, Address):
            values[member] = _in_c(value, described.type)
        elif value.name != epoch.output and not (epoch.scratch and value.name == epoch.scratch.name):
            buffers[member] = _content(network, value, inputs)
    output = network.outputs[0].tensor
    return Case(
        name=f"{name} ({epoch.kernel})",
        kernel=epoch.kernel,
        values=values,
        buffers=buffers,
        output=(output.shape, np.dtype(output.dtype).type),
        scratch=epoch.scratch.bytes if epoch.scratch else 0,
        state=tuple(_members_of(epoch.descriptor, {state.buffer for state in network.states})),
        model=model,
        inputs=inputs,
        work=work,
    )


def _compiled(model: bytes) -> Network:
    with tempfile.NamedTemporaryFile(suffix=".tflite") as file:
        path = Path(file.name)
        path.write_bytes(model)
        graph = read_graph(path)
    check_graph(graph, path.name)
    return lower(graph, path.name)


def _members_of(descriptor: Fields, buffers: set[str]) -> list[str]:
    return [member for member, value in descriptor.members if isinstance(value, Address) and value.name in buffers]


def _content(network: Network, address: Address, inputs: Sequence[NDArray[np.generic]]) -> NDArray[np.generic]:
    for initializer in network.initializers:
        if initializer.name == address.name:
            return np.frombuffer(initializer.data, initializer.dtype).reshape(initializer.shape)
    for port, values in zip(network.inputs, inputs, strict=True):
        if port.buffer == address.name:
            return values
    (state,) = (state for state in network.states if state.buffer == address.name)
    filled = np.full(state.tensor.bytes, state.start, np.uint8)
    return filled.view(state.tensor.dtype).reshape(state.tensor.shape)


def _in_c(value: object, kind: object) -> object:
    if not isinstance(value, Fields):
        return value
    assert isinstance(kind, Structure)
    types = {member.name: member.type for member in kind.members}
    assert not any(isinstance(each, Pointer) for each in types.values())
    layout: type[ctypes.Structure] = inner_layout(kind)
    return layout(**{member: _in_c(part, types[member]) for member, part in value.members})
