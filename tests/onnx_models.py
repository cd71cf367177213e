"""Small ONNX models, quantised (QDQ) and not."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper, numpy_helper


def onnx_model(*, quantised: bool, ir_version: int = 9) -> bytes:
    weights = np.ones((4, 4), np.int8 if quantised else np.float32)
    initializers = [numpy_helper.from_array(weights, "w")]
    nodes = [helper.make_node("Gemm", ["x", "d" if quantised else "w"], ["y"])]
    if quantised:
        initializers += [numpy_helper.from_array(np.array(0.1, np.float32), "s")]
        initializers += [numpy_helper.from_array(np.array(0, np.int8), "z")]
        nodes.insert(0, helper.make_node("DequantizeLinear", ["w", "s", "z"], ["d"]))
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 4]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:], initializers)
    return bytes(helper.make_model(graph, ir_version=ir_version).SerializeToString())
