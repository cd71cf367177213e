"""Small ONNX models, quantised (QDQ) and not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from onnx import ModelProto, TensorProto, helper, numpy_helper, shape_inference


class OnnxGraph:
    """A graph that grows by one node at a time.

    Methods return the names of new values.
    """

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._initializers: list[Any] = []
        self._count = 0

    def new(self, what: str) -> str:
        self._count += 1
        return f"{what}_{self._count}"

    def constant(self, values: ArrayLike) -> str:
        name = self.new("constant")
        self._initializers.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def add(self, kind: str, inputs: Sequence[str], names: list[str], **attributes: Any) -> list[str]:
        """Add a node whose outputs have these names."""
        self._nodes.append(helper.make_node(kind, inputs, names, **attributes))
        return names

    def finished(self, inputs: Sequence[Any], outputs: Sequence[Any], **opsets: int) -> ModelProto:
        """Return the model with all shapes."""
        graph = helper.make_graph(self._nodes, "g", inputs, outputs, self._initializers)
        domains = [helper.make_opsetid("" if name == "onnx" else name, version) for name, version in opsets.items()]
        return shape_inference.infer_shapes(helper.make_model(graph, ir_version=8, opset_imports=domains))


def onnx_bytes(
    nodes: Sequence[Any],
    inputs: Mapping[str, Sequence[Any]],
    outputs: Mapping[str, Sequence[Any]],
    constants: Mapping[str, ArrayLike] | None = None,
    opset: int = 13,
    ir_version: int = 9,
) -> bytes:
    """Return a model with float32 inputs and outputs of these shapes."""
    given, made = (
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape)) for name, shape in ports.items()]
        for ports in (inputs, outputs)
    )
    initializers = [numpy_helper.from_array(np.asarray(values), name) for name, values in (constants or {}).items()]
    graph = helper.make_graph(nodes, "g", given, made, initializers)
    opsets = [helper.make_opsetid("", opset)]
    return bytes(helper.make_model(graph, ir_version=ir_version, opset_imports=opsets).SerializeToString())


def onnx_model(*, quantised: bool, ir_version: int = 9) -> bytes:
    constants: dict[str, ArrayLike] = {"w": np.ones((4, 4), np.int8 if quantised else np.float32)}
    nodes = [helper.make_node("Gemm", ["x", "d" if quantised else "w"], ["y"])]
    if quantised:
        constants |= {"s": np.float32(0.1), "z": np.int8(0)}
        nodes.insert(0, helper.make_node("DequantizeLinear", ["w", "s", "z"], ["d"]))
    return onnx_bytes(nodes, {"x": ["batch", 4]}, {"y": ["batch", 4]}, constants, 17, ir_version)


def qdq_convolution(
    *, channels: int = 2, kernels: int = 3, size: int = 5, zero_point: int = -3, seed: int = 0
) -> bytes:
    """Return a model x -> Q -> DQ -> Conv -> Relu -> Q -> DQ -> y.

    Scales are powers of two, so floating point computes it without rounding.
    """
    rng = np.random.default_rng(seed)
    arrays: dict[str, ArrayLike] = {
        "s_x": np.float32(2**-4),
        "z_x": np.int8(zero_point),
        "w": rng.integers(-127, 128, (kernels, channels, 3, 3)).astype(np.int8),
        "s_w": np.full(kernels, 2**-6, np.float32),
        "z_w": np.zeros(kernels, np.int8),
        "s_y": np.float32(2**-2),
        "z_y": np.int8(-128),
    }
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s_x", "z_x"], ["x_q"]),
        helper.make_node("DequantizeLinear", ["x_q", "s_x", "z_x"], ["x_d"]),
        helper.make_node("DequantizeLinear", ["w", "s_w", "z_w"], ["w_d"], axis=0),
        helper.make_node("Conv", ["x_d", "w_d"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("QuantizeLinear", ["r", "s_y", "z_y"], ["y_q"]),
        helper.make_node("DequantizeLinear", ["y_q", "s_y", "z_y"], ["y"]),
    ]
    shapes = [["batch", depth, size, size] for depth in (channels, kernels)]
    return onnx_bytes(nodes, {"x": shapes[0]}, {"y": shapes[1]}, arrays)
