"""Cases of kernels from models of one operator: the call that the compiler makes of it, and its constants."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from n6build.network.reference.descriptors import Structure
from n6build.network.reference.epochs import Fields
from n6build.network.reference.graph import Operator, Tensor
from n6build.network.reference.kernel_call import Constant, KernelCall, Parameter, Scratch
from n6build.network.reference.kinds import KINDS
from n6build.network.reference.operands import Operands, operands_of
from n6build.network.reference.tflite_reader import read_graph
from n6build.network.reference.unsigned import as_signed
from numpy.typing import NDArray
from uint8_models import raised

from kernels.kernel_descriptors import Case, inner_layout

_NUMPY: dict[str, type[np.generic]] = {
    "int8": np.int8,
    "uint8": np.uint8,
    "int16": np.int16,
    "int32": np.int32,
    "float32": np.float32,
}


def compiled_case(name: str, model: bytes, inputs: Sequence[NDArray[np.generic]]) -> Case:
    """model: of one operator, which becomes one call. inputs: as the model takes them."""
    with tempfile.NamedTemporaryFile(suffix=".tflite") as file:
        file.write(model)
        file.flush()
        graph = as_signed(read_graph(Path(file.name)))
    operator, operands = next(
        (operator, operands_of(graph, operator)) for operator in graph.operators if not operator.added
    )
    call = _call(operator, operands)
    activations = dict(zip((tensor.index for tensor in _activations(operands)), inputs, strict=True))
    buffers: dict[str, NDArray[np.generic]] = {}
    values: dict[str, object] = {}
    scratch = 0
    for member in call.kernel.descriptor.members:
        argument = call.arguments[member.name]
        match argument:
            case Tensor() if argument.index == operands.output.index:
                pass
            case Tensor():
                given = activations[argument.index]
                buffers[member.name] = raised(given).view(np.int8) if argument.unsigned else given
            case Parameter(tensor):
                assert tensor.data is not None
                buffers[member.name] = tensor.data
            case Constant(dtype, data):
                buffers[member.name] = data.astype(dtype)
            case Scratch():
                scratch = argument.bytes
            case Fields():
                assert isinstance(member.type, Structure)
                values[member.name] = inner_layout(member.type)(**dict(argument.members))
            case _:
                values[member.name] = argument
    output = operands.output
    return Case(
        name=name,
        kernel=call.kernel.name,
        values=values,
        buffers=buffers,
        output=(output.shape, _NUMPY[output.dtype]),
        scratch=scratch,
        model=model,
        inputs=inputs,
        work=call.macs or output.elements,
    )


def _call(operator: Operator, operands: Operands) -> KernelCall:
    calls = KINDS[operator.kind].lower(operands)
    assert isinstance(calls, KernelCall)
    return calls


def _activations(operands: Operands) -> list[Tensor]:
    return [tensor for tensor in operands.inputs if tensor is not None and tensor.data is None]
