"""A kernel's case from a model of one operator, with the descriptor that the backend gives it."""

import tempfile
from pathlib import Path

import numpy as np
from n6build.network.reference.descriptors import Structure
from n6build.network.reference.epochs import Fields
from n6build.network.reference.graph import Graph, Tensor
from n6build.network.reference.kernel_call import Constant, KernelCall, Parameter
from n6build.network.reference.kinds import KINDS
from n6build.network.reference.operands import operands_of
from n6build.network.reference.tflite_reader import read_graph
from numpy.typing import NDArray

from kernels.kernel_descriptors import Case, structure_of


def case_of(name: str, model: bytes, *inputs: NDArray[np.generic]) -> Case:
    """inputs: of the model, in its order."""
    graph = _graph(model)
    (operator,) = graph.operators
    call = KINDS[operator.kind].lower(operands_of(graph, operator))
    assert isinstance(call, KernelCall)
    output = graph.tensors[operator.output]
    arrays = dict(zip(graph.inputs, inputs, strict=True))
    types = {member.name: member.type for member in call.kernel.descriptor.members}
    values: dict[str, object] = {}
    buffers: dict[str, NDArray[np.generic]] = {}
    for member, argument in call.arguments.items():
        match argument:
            case Tensor(index):
                if index != output.index:
                    buffers[member] = arrays[index]
            case Parameter(tensor):
                assert tensor.data is not None
                buffers[member] = tensor.data
            case Constant(_, data):
                buffers[member] = data
            case Fields():
                structure = types[member]
                assert isinstance(structure, Structure)
                values[member] = structure_of(structure, argument)
            case _:
                values[member] = argument
    return Case(
        name=name,
        kernel=call.kernel.name,
        values=values,
        buffers=buffers,
        output=(output.shape, np.dtype(output.dtype).type),
        model=model,
        inputs=inputs,
        work=output.elements,
    )


def _graph(model: bytes) -> Graph:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.tflite"
        file.write_bytes(model)
        return read_graph(file)
