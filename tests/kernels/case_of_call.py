"""Cases of kernels, made from models of one operator.

A case is the call that the compiler makes of the operator, with all its operands.
"""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from n6build.compile.reference.descriptors import Structure
from n6build.compile.reference.epochs import Fields
from n6build.compile.reference.graph import Graph, Tensor
from n6build.compile.reference.graph_checks import check_graph
from n6build.compile.reference.kernel_call import Constant, KernelCall, Parameter, Scratch
from n6build.compile.reference.kinds import KINDS
from n6build.compile.reference.operands import operands_of
from n6build.compile.reference.tflite_reader import read_graph
from n6build.compile.reference.unsigned import as_signed
from numpy.typing import NDArray
from uint8_models import raised

from kernels.kernel_descriptors import Case, structure_of

Array = NDArray[np.generic]


def case_of(name: str, model: bytes, inputs: Sequence[Array], work: int = 0, checked: bool = True) -> Case:
    """Return the case of a model's operator.

    Args:
        model: A model of one operator; of several calls, the case is the last one.
        inputs: Inputs of the model.
        work: As in Case; 0 for the call's own number.
        checked: Whether the compiler accepts the model.
    """
    graph = _graph(model, checked)
    operator = next(operator for operator in graph.operators if not operator.added)
    operands = operands_of(graph, operator)
    calls = KINDS[operator.kind].lower(operands)
    *_, call = [calls] if isinstance(calls, KernelCall) else calls
    activations = [tensor for tensor in operands.inputs if tensor and tensor.data is None and not tensor.is_state]
    arrays = {tensor.index: values for tensor, values in zip(activations, inputs, strict=True)}

    def content(tensor: Tensor) -> Array:
        if tensor.is_state:
            filled = np.full(tensor.bytes, tensor.start, np.uint8)
            return filled.view(tensor.dtype).reshape(tensor.shape)
        given = arrays[tensor.index]
        return raised(given).view(np.int8) if tensor.unsigned else given

    return case_of_call(name, call, operands.output, content, model, inputs, work)


def case_of_call(
    name: str,
    call: KernelCall,
    output: Tensor,
    content: Callable[[Tensor], Array],
    model: bytes = b"",
    inputs: Sequence[Array] = (),
    work: int = 0,
) -> Case:
    """Return the case of a call.

    Args:
        content: Function that returns each activation and state that the call reads.
        model: As in Case.
        inputs: As in Case.
        work: As in Case; 0 for the call's own number.
    """
    values: dict[str, object] = {}
    buffers: dict[str, Array] = {}
    scratch, states = 0, []
    for member in call.kernel.descriptor.members:
        argument = call.arguments[member.name]
        match argument:
            case Tensor():
                if argument.index != output.index:
                    buffers[member.name] = content(argument)
                if argument.is_state:
                    states.append(member.name)
            case Parameter(tensor):
                assert tensor.data is not None
                buffers[member.name] = tensor.data
            case Constant(dtype, data):
                buffers[member.name] = data.astype(dtype)
            case Scratch(size):
                scratch = size
            case Fields():
                assert isinstance(member.type, Structure)
                values[member.name] = structure_of(member.type, argument)
            case _:
                values[member.name] = argument
    return Case(
        name=f"{name} ({call.kernel.name})",
        kernel=call.kernel.name,
        values=values,
        buffers=buffers,
        output=(output.shape, np.dtype(output.dtype).type),
        scratch=scratch,
        state=tuple(states),
        model=model,
        inputs=inputs,
        work=work or call.macs or output.elements,
    )


def _graph(model: bytes, checked: bool) -> Graph:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.tflite"
        file.write_bytes(model)
        graph = as_signed(read_graph(file))
    if checked:
        check_graph(graph, file.name)
    return graph
