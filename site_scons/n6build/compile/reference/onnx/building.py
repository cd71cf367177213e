"""The graph for the kernels while it is built from an ONNX graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from n6build.compile.reference.graph import DType, Graph, Operator, Quantisation, Tensor
from n6build.compile.reference.onnx.storage import (
    Order,
    Shape,
    as_in_the_model,
    permutation,
    same_bytes,
    stored_shape,
)
from n6build.compile.reference.onnx.values import Constant, Held, Target

# Types of constants.
TYPES: dict[str, DType] = {"int8": "int8", "int32": "int32", "float32": "float32", "int64": "int64"}


class Building:
    """Tensors and operators in the order in which they were added."""

    def __init__(self) -> None:
        self._tensors: dict[int, Tensor] = {}
        self._operators: list[Operator] = []
        self._ordered: dict[tuple[int, Order], Tensor] = {}
        self._shaped: dict[tuple[int, Shape], Tensor] = {}
        self._real: dict[int, Tensor] = {}

    def graph(self, inputs: Sequence[Held], outputs: Sequence[Held]) -> Graph:
        """Return the graph of everything that leads to an output."""
        wanted = {held.tensor.index for held in outputs}
        kept = []
        for operator in reversed(self._operators):
            if operator.output in wanted:
                kept.append(operator)
                wanted.update(index for index in operator.inputs if index is not None)
        used = wanted | {held.tensor.index for held in inputs}
        tensors = {index: tensor for index, tensor in self._tensors.items() if index in used}
        given, made = (tuple(held.tensor.index for held in ports) for ports in (inputs, outputs))
        return Graph(tensors, tuple(reversed(kept)), given, made)

    def tensor(
        self,
        name: str,
        dtype: DType,
        shape: Shape,
        quantisation: Quantisation | None = None,
        data: NDArray[np.generic] | None = None,
        *,
        unsigned: bool = False,
        order: Order | None = None,
    ) -> Tensor:
        """Add a tensor and return it.

        Args:
            name: Name of the tensor.
            dtype: Type of its elements in memory.
            shape: Shape in memory.
            quantisation: Scale and zero point, None without.
            data: Elements of a constant.
            unsigned: Whether the ONNX graph has uint8.
            order: Order of the dimensions of the tensor that the ONNX graph has under this name.
        """
        index = len(self._tensors)
        tensor = Tensor(index, name, dtype, shape, quantisation, data, unsigned=unsigned, dimensions=order)
        self._tensors[tensor.index] = tensor
        return tensor

    def constant(self, name: str, array: NDArray[np.generic], quantisation: Quantisation | None = None) -> Tensor:
        """Add a constant and return its tensor.

        Args:
            name: Name of the tensor.
            array: Elements of int8, int32, int64 or float32.
            quantisation: Scale and zero point, None without.
        """
        array = np.ascontiguousarray(array).reshape(np.shape(array))
        return self.tensor(name, TYPES[array.dtype.name], array.shape, quantisation, array)

    def with_quantisation(self, tensor: Tensor, quantisation: Quantisation) -> Tensor:
        """Set the quantisation of an input of the network and return the tensor.

        Only the node that reads such an input knows its scale.
        """
        self._tensors[tensor.index] = replace(tensor, quantisation=quantisation)
        return self._tensors[tensor.index]

    def operator(self, kind: str, inputs: Sequence[Tensor | None], output: Tensor, options: object = None) -> Tensor:
        """Add an operator and return its output.

        Args:
            kind: Name of the operator.
            inputs: Tensors that it reads.
            output: Tensor that it makes.
            options: Options that the operator's module expects.
        """
        indices = tuple(None if tensor is None else tensor.index for tensor in inputs)
        self._operators.append(Operator(len(self._operators), kind, indices, output.index, options))
        return output

    def made(
        self,
        kind: str,
        inputs: Sequence[Tensor | None],
        target: Target,
        shape: Shape,
        order: Order,
        options: object = None,
    ) -> Held:
        """Add an operator whose int8 output a QuantizeLinear requests.

        Args:
            kind: Name of the operator.
            inputs: Tensors that it reads.
            target: Name and quantisation of the output.
            shape: Shape of the output in the ONNX graph.
            order: Order of the output's dimensions in memory.
            options: Options that the operator's module expects.
        """
        stored = stored_shape(shape, order)
        output = self.tensor(target.name, "int8", stored, target.quantisation, unsigned=target.unsigned, order=order)
        return Held(self.operator(kind, inputs, output, options), shape, order, unsigned=target.unsigned)

    def ordered(self, held: Held, order: Order) -> Held:
        """Return the same tensor in another order in memory.

        It is transposed if that changes its bytes. Its shape in memory becomes that of the ONNX
        graph.
        """
        if held.tensor.data is not None:
            array = held.tensor.data.reshape(stored_shape(held.shape, held.order))
            moved = self.constant(held.tensor.name, array.transpose(permutation(held.order, order)))
            return replace(held, tensor=moved, order=order)
        held = self._in_stored_shape(held)
        if held.order == order:
            return held
        perm = permutation(held.order, order)
        key = (held.tensor.index, perm)
        if key not in self._ordered:
            tensor = held.tensor
            output = self._same_elements(tensor, stored_shape(held.shape, order))
            if same_bytes(held.shape, held.order, order):
                self.operator("RESHAPE", [tensor], output)
            else:
                order_of = self.constant(f"{tensor.name} permutation", np.array(perm, np.int32))
                self.operator("TRANSPOSE", [tensor, order_of], output)
            self._ordered[key] = output
        return replace(held, tensor=self._ordered[key], order=order)

    def _in_stored_shape(self, held: Held) -> Held:
        """Return the tensor with its shape in memory as in the ONNX graph.

        Nodes that add or remove dimensions of size 1 leave the tensor in memory unchanged.
        """
        tensor, shape = held.tensor, stored_shape(held.shape, held.order)
        if tensor.shape == shape:
            return held
        key = (tensor.index, shape)
        if key not in self._shaped:
            output = self._same_elements(tensor, shape)
            self._shaped[key] = self.operator("RESHAPE", [tensor], output)
        return replace(held, tensor=self._shaped[key])

    def _same_elements(self, tensor: Tensor, shape: Shape) -> Tensor:
        """Add a tensor for the same elements in another order or shape."""
        return self.tensor(tensor.name, tensor.dtype, shape, tensor.quantisation, unsigned=tensor.unsigned)

    def in_model_order(self, held: Held) -> Held:
        """Return the same tensor in the order of the ONNX graph, as `ordered` does."""
        return self.ordered(held, as_in_the_model(len(held.shape)))

    def reshaped(self, held: Held, shape: Shape) -> Held:
        """Return the elements in another shape, in the order of the ONNX graph."""
        flat = self.in_model_order(held)
        tensor = flat.tensor
        if tensor.data is not None:
            constant = self.constant(tensor.name, tensor.data.reshape(shape))
            return replace(flat, tensor=constant, shape=shape, order=as_in_the_model(len(shape)))
        output = self._same_elements(tensor, shape)
        return replace(
            flat, tensor=self.operator("RESHAPE", [tensor], output), shape=shape, order=as_in_the_model(len(shape))
        )

    def signed(self, held: Held, quantisation: Quantisation) -> Held:
        """Return the real numbers of a tensor of integers.

        Args:
            held: Tensor of integers.
            quantisation: Quantisation as of int8. An input of the network, which has none yet, gets
                it.
        """
        tensor = held.tensor
        if tensor.quantisation is not None:
            return replace(held, real=True)
        if not held.unsigned:
            return replace(held, tensor=self.with_quantisation(tensor, quantisation), real=True)
        tensor = self.with_quantisation(tensor, unsigned(quantisation))
        output = self.tensor(tensor.name, "int8", tensor.shape, quantisation, unsigned=True)
        return replace(held, tensor=self.operator("QUANTIZE", [tensor], output), real=True)

    def in_float32(self, held: Held) -> Held:
        """Return the real numbers of a tensor as float32, in its order in memory.

        Args:
            held: Real numbers as integers, or float32.
        """
        if not held.real:
            return held
        tensor = held.tensor
        if tensor.index not in self._real:
            output = self.tensor(f"{tensor.name} as float32", "float32", tensor.shape)
            self._real[tensor.index] = self.operator("DEQUANTIZE", [tensor], output)
        return replace(held, tensor=self._real[tensor.index], real=False, unsigned=False)

    def leaving(self, held: Held, name: str) -> Held:
        """Return an output of the network, in the order of the ONNX graph.

        Real numbers leave as float32, everything else as integers.

        Args:
            held: Tensor that leaves the network.
            name: Name of the output.
        """
        held = self.in_model_order(held)
        tensor = held.tensor
        if tensor.data is not None:
            output = self.tensor(name, tensor.dtype, tensor.shape)
            return replace(held, tensor=self.operator("RESHAPE", [tensor], output))
        if held.real:
            output = self.tensor(name, "float32", tensor.shape)
            return replace(held, tensor=self.operator("DEQUANTIZE", [tensor], output), real=False)
        if held.unsigned and tensor.dtype == "int8" and tensor.quantisation is not None:
            output = self.tensor(name, "uint8", tensor.shape, unsigned(tensor.quantisation))
            return replace(held, tensor=self.operator("QUANTIZE", [tensor], output))
        if all(operator.output != tensor.index for operator in self._operators):
            held = self.reshaped(held, held.shape)
        self._tensors[held.tensor.index] = replace(held.tensor, name=name)
        return held

    def quantised_constant(self, constant: Constant, name: str, quantisation: Quantisation) -> Tensor:
        """Return a constant of real numbers, quantised to int8."""
        steps = np.rint(constant.numbers() / np.float32(quantisation.scale)) + quantisation.zero_point
        return self.constant(name, np.clip(steps, -128, 127).astype(np.int8), quantisation)


def unsigned(quantisation: Quantisation) -> Quantisation:
    """Return the quantisation of the same numbers as uint8, given that of int8."""
    return Quantisation((quantisation.scale,), (quantisation.zero_point + 128,))
