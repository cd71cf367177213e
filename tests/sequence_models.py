"""Writer of .tflite models of one operator that reduces, normalises, searches or keeps a state, for tests."""

from collections.abc import Sequence

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from one_op_models import Quantisation, Tensor, write_model


def reduced_shape(shape: Sequence[int], axes: Sequence[int], keep_dims: bool) -> tuple[int, ...]:
    named = {axis % len(shape) for axis in axes}
    if keep_dims:
        return tuple(1 if axis in named else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in named)


def reduction(
    kind: str,
    shape: tuple[int, ...],
    axes: Sequence[int],
    quantisation: Quantisation,
    out_quantisation: Quantisation,
    keep_dims: bool = True,
) -> bytes:
    """kind: MEAN, SUM, REDUCE_MAX or REDUCE_MIN."""
    options = schema.ReducerOptionsT()
    options.keepDims = keep_dims
    tensors = [
        Tensor("input", shape, np.int8, quantisation),
        Tensor("axes", (len(axes),), np.int32, None, np.array(axes, np.int32)),
        Tensor("output", reduced_shape(shape, axes, keep_dims), np.int8, out_quantisation),
    ]
    opcode = getattr(schema.BuiltinOperator, kind)
    return write_model(opcode, tensors, options, schema.BuiltinOptions.ReducerOptions, version=2)
