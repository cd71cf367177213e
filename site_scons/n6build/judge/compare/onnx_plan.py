"""Tensors of an ONNX graph (QDQ) whose values a chip has, too.

They are the inputs and the outputs of QuantizeLinear.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from n6build.compile.reference.onnx.operators.non_max_suppression import most_rows
from n6build.judge.compare.limits import MAX_NAME
from n6build.judge.compare.tensors import TensorPlan, kernel_mark

QUANTISE, DEQUANTISE = "QuantizeLinear", "DequantizeLinear"
_TYPES = ("int8", "uint8", "int16", "uint16")


def is_stored_elsewhere(graph: onnx.GraphProto) -> bool:
    """Return true if a tensor's data is in another file.

    The model could choose any name for such a file.
    """
    return any(onnx.external_data_helper.uses_external_data(each) for each in _stored(graph))


def _stored(graph: Any) -> Iterator[Any]:
    """Yield the tensors in the file, including subgraphs; protobuf bounds their depth."""
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    for node in graph.node:
        for attribute in node.attribute:
            yield attribute.t
            yield from attribute.tensors
            for sparse in (attribute.sparse_tensor, *attribute.sparse_tensors):
                yield from (sparse.values, sparse.indices)
            for inner in (attribute.g, *attribute.graphs):
                if inner.node or inner.initializer:
                    yield from _stored(inner)


# Batches, classes, boxes.
_SCORE_DIMENSIONS = 3
# Layers whose second input is weights.
_LAYERS = ("Conv", "ConvTranspose", "Gemm", "MatMul")


def has_unsigned_activations(graph: onnx.GraphProto) -> bool:
    """Return true if a QuantizeLinear makes uint8."""
    constants = {each.name: each for each in graph.initializer} | _constant_nodes(graph.node)
    for node in graph.node:
        if node.op_type == QUANTISE:
            zero_point = constants.get(node.input[2]) if len(node.input) > 2 else None
            if zero_point is None or zero_point.data_type == onnx.TensorProto.UINT8:
                return True
    return False


def has_real_weights(graph: onnx.GraphProto) -> bool:
    """Return true if a layer has constant weights of float32."""
    constants = {each.name: each for each in graph.initializer} | _constant_nodes(graph.node)
    weights = [constants.get(node.input[1]) for node in graph.node if node.op_type in _LAYERS and len(node.input) > 1]
    return any(each is not None and each.data_type == onnx.TensorProto.FLOAT for each in weights)


def selected_rows(model: onnx.ModelProto) -> dict[str, int]:
    """Return the largest number of rows of each output of a NonMaxSuppression.

    A network fills its output up to them with -1. An open batch counts as 1; an output without a known shape is left out.
    """
    nodes = [node for node in model.graph.node if node.op_type == "NonMaxSuppression" and len(node.input) > 2]
    if not nodes:
        return {}
    inferred = onnx.shape_inference.infer_shapes(model).graph
    shapes = {
        each.name: [int(size.dim_value) or 1 for size in each.type.tensor_type.shape.dim]
        for each in (*inferred.value_info, *inferred.input)
    }
    constants = {each.name: each for each in model.graph.initializer} | _constant_nodes(model.graph.node)
    found = {}
    for node in nodes:
        most, scores = constants.get(node.input[2]), shapes.get(node.input[1], [])
        if most is not None and math.prod(most.dims) == 1 and len(scores) == _SCORE_DIMENSIONS:
            of_class = int(onnx.numpy_helper.to_array(most).reshape(-1)[0])
            found[str(node.output[0])] = most_rows(scores, of_class)
    return found


def tensor_plans(graph: onnx.GraphProto) -> list[TensorPlan]:
    """Return inputs, activations with one quantisation, and real outputs.

    The order is that of the graph, which is the order of execution.
    """
    flow = _Flow(graph)
    plans = [_input_plan(graph, flow, each.name) for each in graph.input if each.name not in flow.constants]
    names = {plan.name for plan in plans}
    for node in graph.node:
        quantisation = flow.quantisation(node) if node.op_type == QUANTISE else None
        if quantisation is None or node.input[0] in flow.computed_constants:
            continue
        operators, sources = flow.before(node.input[0], names)
        if not operators:
            operators = ["input" if node.input[0] in names else QUANTISE]
        name, real = node.output[0], node.input[0]
        plans.append(_plan(name, operators, sources, quantisation, real, flow.kernel(real, names)))
        names.add(name)
    for name in (each.name for each in graph.output if each.name not in names):
        # An output of real numbers has no quantisation of its own.
        operators, sources = flow.before(name, names)
        if sources:
            plans.append(_plan(name, operators or [DEQUANTISE], sources, (1.0, 0), "", ""))
    return plans


def _plan(
    name: str, operators: list[str], sources: tuple[str, ...], quantisation: tuple[float, int], real: str, kernel: str
) -> TensorPlan:
    return TensorPlan(name, "+".join(operators)[:MAX_NAME], sources, *quantisation, name, real, kernel)


def _input_plan(graph: Any, flow: _Flow, name: str) -> TensorPlan:
    """Return the plan of an input.

    The DequantizeLinear that reads an integer input has its scale and zero point.
    """
    takers = [node for node in graph.node if node.op_type == DEQUANTISE and node.input[0] == name]
    found = [each for node in takers if (each := flow.quantisation(node)) is not None]
    return TensorPlan(name, "input", (), *(found[0] if found else (1.0, 0)), name)


class _Flow:
    """Operators that make values, and the values that never change.

    Attributes:
        constants: Tensors of the file by name.
        computed_constants: Names of these, and of values that are computed only from constants.
    """

    def __init__(self, graph: Any) -> None:
        self.constants = {each.name: each for each in graph.initializer} | _constant_nodes(graph.node)
        self.computed_constants = set(self.constants)
        self._makers: dict[str, tuple[int, Any]] = {}
        for place, node in enumerate(graph.node):
            if node.input and all(name in self.computed_constants for name in node.input if name):
                self.computed_constants.update(node.output)
            self._makers.update((name, (place, node)) for name in node.output if name)

    def quantisation(self, node: Any) -> tuple[float, int] | None:
        """Return scale and zero point of a QuantizeLinear or DequantizeLinear.

        None means that there are several, that they are no constants, or that their type is not compared.
        """
        stored = [self._array(name) for name in node.input[1:3] if name]
        if not stored or any(each is None or each.size != 1 for each in stored):
            return None
        zero_point = stored[1] if len(stored) > 1 else np.zeros(1, np.uint8)
        if zero_point is None or stored[0] is None or zero_point.dtype.name not in _TYPES:
            return None
        return float(stored[0].reshape(-1)[0]), int(zero_point.reshape(-1)[0])

    def _array(self, name: str) -> NDArray[Any] | None:
        stored = self.constants.get(name)
        # Only scalars are read here: the interpreter checks the content of large tensors.
        if stored is None or any(size != 1 for size in stored.dims):
            return None
        return np.asarray(onnx.numpy_helper.to_array(stored))

    def kernel(self, name: str, known: Iterable[str]) -> str:
        """Return the mark of the weights between a value and its known sources.

        It is empty if no operator, or more than one, has weights.
        """
        known = frozenset(known)
        found: set[str] = set()
        waiting, seen = [name], {name}
        while waiting:
            each = waiting.pop()
            if each in known or each not in self._makers:
                continue
            node = self._makers[each][1]
            weights = self._makers.get(node.input[1]) if len(node.input) > 1 else None
            scales = self.constants.get(weights[1].input[1]) if weights and weights[1].op_type == DEQUANTISE else None
            if scales is not None and weights and weights[1].input[0] in self.computed_constants:
                found.add(kernel_mark(onnx.numpy_helper.to_array(scales).reshape(-1)))
            waiting += [one for one in node.input if one not in seen and one not in self.computed_constants]
            seen.update(node.input)
        return found.pop() if len(found) == 1 else ""

    def before(self, name: str, known: Iterable[str]) -> tuple[list[str], tuple[str, ...]]:
        """Return the operators between a value and its known sources, and these sources.

        Both are in the order of the graph.
        """
        known = frozenset(known)
        operators: dict[int, str] = {}
        sources: dict[str, None] = {}
        waiting, seen = [name], {name}
        while waiting:
            each = waiting.pop()
            if each in known:
                sources[each] = None
            elif each in self._makers:
                place, node = self._makers[each]
                if node.op_type not in (QUANTISE, DEQUANTISE):
                    operators[place] = node.op_type
                new = [one for one in node.input if one and one not in seen and one not in self.computed_constants]
                seen.update(new)
                # The last one is processed first.
                waiting += reversed(new)
        return [operators[place] for place in sorted(operators)], tuple(sources)


def _constant_nodes(nodes: Iterable[Any]) -> dict[str, Any]:
    return {
        node.output[0]: attribute.t
        for node in nodes
        if node.op_type == "Constant" and node.output
        for attribute in node.attribute
        if attribute.name == "value"
    }
