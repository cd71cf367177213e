"""A graph of the compiler, run operator by operator with the plain kernels.

Nothing is placed in memory and no C is generated, so that a graph takes milliseconds.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from n6build.compile.reference.descriptors import Pointer, Structure
from n6build.compile.reference.epochs import Fields
from n6build.compile.reference.graph import Graph, Tensor
from n6build.compile.reference.kernel_call import Argument, Constant, KernelCall, Parameter, Scratch
from n6build.compile.reference.kinds import KINDS
from n6build.compile.reference.operands import operands_of
from numpy.typing import NDArray

from kernels.host_kernels import HostKernels
from kernels.kernel_descriptors import DESCRIPTORS, layout_of, structure_of

Array = NDArray[Any]
_ALIGNMENT = 16


class GraphOnHost:
    """The tensors of one inference."""

    def __init__(self, kernels: HostKernels, graph: Graph) -> None:
        self._kernels = kernels
        self._graph = graph
        self._arrays: dict[int, Array] = {}

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        """Return the outputs for these inputs, in the shapes of their tensors."""
        graph = self._graph
        self._arrays = {index: np.ascontiguousarray(each) for index, each in zip(graph.inputs, inputs, strict=True)}
        for operator in graph.operators:
            calls = KINDS[operator.kind].lower(operands_of(graph, operator))
            for call in [calls] if isinstance(calls, KernelCall) else calls:
                self._call(call)
        return [self._array(graph.tensors[index]) for index in graph.outputs]

    def _array(self, tensor: Tensor) -> Array:
        if tensor.data is not None:
            return np.ascontiguousarray(tensor.data)
        if tensor.index not in self._arrays:
            # Elements that no kernel writes are seen.
            self._arrays[tensor.index] = np.full(tensor.bytes, 0xC3, np.uint8).view(tensor.dtype).reshape(tensor.shape)
        return self._arrays[tensor.index]

    def _call(self, call: KernelCall) -> None:
        descriptor = DESCRIPTORS[call.kernel.name]
        kept: list[Array] = []
        values: dict[str, object] = {}
        for member in descriptor.members:
            argument = call.arguments[member.name]
            if isinstance(member.type, Pointer):
                array = self._pointed_to(argument)
                kept.append(array)
                values[member.name] = array.ctypes.data
            elif isinstance(argument, Fields):
                assert isinstance(member.type, Structure)
                values[member.name] = structure_of(member.type, argument)
            else:
                values[member.name] = argument
        self._kernels.call(call.kernel.name, bytes(layout_of(descriptor, ctypes.c_uint64)(**values)))

    def _pointed_to(self, argument: Argument) -> Array:
        match argument:
            case Tensor():
                return self._array(argument)
            case Parameter(tensor):
                return self._array(tensor)
            case Constant(dtype, data):
                return np.ascontiguousarray(data, dtype)
            case Scratch(size):
                memory = np.zeros(size + _ALIGNMENT, np.uint8)
                return memory[-memory.ctypes.data % _ALIGNMENT :]
        raise AssertionError(f"{argument} has no address")
