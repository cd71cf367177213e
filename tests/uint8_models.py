"""Models of uint8, as they were before int8.

They are models of `one_op_models` with every int8 value and zero point raised by 128.
"""

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from numpy.typing import NDArray
from one_op_models import packed, tree_of


def to_uint8(model: bytes, weights_zero_point: int | None = None) -> bytes:
    """Return the model with uint8 instead of int8.

    Args:
        weights_zero_point: Zero point of constants with more than one element; None for the model's
            (128 after the rise).
    """
    tree = tree_of(model)
    for code in tree.operatorCodes:
        code.version = 1
    for tensor in (each for graph in tree.subgraphs for each in graph.tensors):
        if tensor.type != schema.TensorType.INT8:
            continue
        tensor.type = schema.TensorType.UINT8
        tensor.quantization.zeroPoint = [int(zero) + 128 for zero in tensor.quantization.zeroPoint]
        if tensor.buffer:
            buffer = tree.buffers[tensor.buffer]
            buffer.data = np.asarray(buffer.data) ^ np.uint8(128)
            if weights_zero_point is not None and len(buffer.data) > 1:
                tensor.quantization.zeroPoint = [weights_zero_point]
    return packed(tree)


def raised(values: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return an int8 array as it is in such a model."""
    return values.view(np.uint8) ^ np.uint8(128)
