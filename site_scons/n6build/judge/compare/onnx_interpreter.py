"""ONNX Runtime as the reference interpreter of ONNX models.

Outputs are computed in integers if the model is quantised. Tensors inside are computed without
optimisations, which would remove some of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from n6build.judge.compare.limits import MAX_NAME, MAX_RANK, bounded, check_activations
from n6build.judge.compare.onnx_plan import (
    has_real_weights,
    has_unsigned_activations,
    is_stored_elsewhere,
    selected_rows,
    tensor_plans,
)
from n6build.judge.compare.tensors import Port, ReferenceTensor, RefusedError

# An optimisation of onnxruntime.
WEIGHT_QUANTISATION = "WeightBiasQuantization"


class OnnxModel:
    """A session of ONNX Runtime.

    Attributes:
        instead: Empty: there is one set of kernels.
    """

    instead = ""

    def __init__(self, data: bytes, *, all_tensors: bool) -> None:
        """Start a session.

        Args:
            data: Bytes of the model.
            all_tensors: True to keep the quantised tensors inside, too.

        Raises:
            RefusedError: If the model is not supported; the parser and the interpreter raise other errors.
        """
        import onnxruntime  # noqa: PLC0415 - only where a session is made.

        model = onnx.load_model_from_string(data)
        graph = model.graph
        bounded(len(graph.node), "operators")
        if not graph.node:
            raise RefusedError("it has no graph")
        if is_stored_elsewhere(graph):
            raise RefusedError("its weights are in a separate file; save the model in one file")
        constants = {each.name for each in graph.initializer}
        plans = tensor_plans(graph)
        known = {each.name: (each.scale, each.zero_point) for each in plans}
        self._inputs = [_port(each, known) for each in graph.input if each.name not in constants]
        check_activations((each.shape, 8) for each in self._inputs)
        self._rows = selected_rows(model)
        self._output_ports = [
            replace(port, shape=(self._rows[port.name], *port.shape[1:])) if port.name in self._rows else port
            for port in (_port(each, known) for each in graph.output)
        ]
        self._outputs = [each.name for each in graph.output]
        self._plans = plans if all_tensors else []
        inputs = {each.name for each in self._inputs}
        for plan in self._plans:
            if plan.place not in {*self._outputs, *inputs}:
                graph.output.append(onnx.helper.make_empty_tensor_value_info(plan.place))
        options = onnxruntime.SessionOptions()
        levels = onnxruntime.GraphOptimizationLevel
        options.graph_optimization_level = levels.ORT_DISABLE_ALL if all_tensors else levels.ORT_ENABLE_ALL
        # int8 is computed in integers, too, as on processors of Arm.
        options.add_session_config_entry("session.qdqisint8allowed", "1")
        if has_unsigned_activations(graph):
            # Without VNNI, sums of uint8 times int8 would saturate at 16 bits on x86. int8 models do not start with that option.
            options.add_session_config_entry("session.x64quantprecision", "1")
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = options.enable_mem_pattern = False
        # It would quantise weights of float32 with one scale for all channels, more coarsely than the model.
        disabled = [WEIGHT_QUANTISATION] if has_real_weights(graph) else []
        self._session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"], disabled_optimizers=disabled
        )
        self._values: dict[str, NDArray[np.generic]] = {}

    def inputs(self) -> list[Port]:
        """Return the inputs in the model's order."""
        return self._inputs

    def output_ports(self) -> list[Port]:
        """Return the outputs' descriptions in the model's order."""
        return self._output_ports

    def run(self, inputs: Sequence[NDArray[np.generic]]) -> None:
        """Run an inference on inputs in the model's types and shapes."""
        given = {port.name: values for port, values in zip(self._inputs, inputs, strict=True)}
        wanted = dict.fromkeys((*self._outputs, *(each.place for each in self._plans)))
        made = [name for name in wanted if name not in given]
        values = zip(made, self._session.run(made, given), strict=True)
        self._values = {**given, **{name: self._filled(name, np.asarray(each)) for name, each in values}}

    def _filled(self, name: str, values: NDArray[np.generic]) -> NDArray[np.generic]:
        """Return selected boxes with as many rows as the network has."""
        rows = self._rows.get(name, 0) - (values.shape[0] if values.ndim else 0)
        return values if rows <= 0 else np.pad(values, ((0, rows), (0, 0)), constant_values=-1)

    def outputs(self) -> list[NDArray[np.generic]]:
        """Return the outputs' values in the model's order."""
        return [np.asarray(self._values[name]) for name in self._outputs]

    def tensors(self) -> list[ReferenceTensor]:
        """Return the tensors in the order of execution, the inputs first."""
        return [plan.with_values(np.asarray(self._values[plan.place]), channels_last=False) for plan in self._plans]


def _port(value: Any, quantised: Mapping[str, tuple[float, int]]) -> Port:
    """Return an input or output; `quantised` has scale and zero point by name."""
    tensor = value.type.tensor_type
    name = value.name[:MAX_NAME]
    try:
        kind = str(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type))
    except (KeyError, TypeError, ValueError):
        raise RefusedError(f"'{name}' has no type") from None
    bounded(len(tensor.shape.dim), "dimensions", MAX_RANK)
    shape = tuple(int(size.dim_value) if size.HasField("dim_value") else 1 for size in tensor.shape.dim)
    if any(size < 1 for size in shape):
        raise RefusedError(f"'{name}' has the shape {list(shape)}")
    return Port(value.name, kind, shape, *quantised.get(value.name, (1.0, 0)))
