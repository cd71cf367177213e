"""Writer of .tflite models of one operator on sequences.

The operators reduce, normalise, search or keep a state.
"""

from collections.abc import Collection, Mapping, Sequence

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from numpy.typing import NDArray
from one_op_models import Quantisation, Tensor, window_output, write_model


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
    """Return a model of a reduction.

    Args:
        kind: MEAN, SUM, REDUCE_MAX or REDUCE_MIN.
    """
    options = schema.ReducerOptionsT()
    options.keepDims = keep_dims
    tensors = [
        Tensor("input", shape, np.int8, quantisation),
        Tensor("axes", (len(axes),), np.int32, None, np.array(axes, np.int32)),
        Tensor("output", reduced_shape(shape, axes, keep_dims), np.int8, out_quantisation),
    ]
    opcode = getattr(schema.BuiltinOperator, kind)
    return write_model(opcode, tensors, options, schema.BuiltinOptions.ReducerOptions, version=2)


def with_states(
    model: bytes, states: Collection[int], absent: Mapping[int, int] | None = None, intermediates: Collection[int] = ()
) -> bytes:
    """Change tensors of a model of one operator into states and intermediates.

    Args:
        states: Tensors that become states.
        absent: Tensor -> number of missing inputs before it.
        intermediates: Tensors that become intermediates and are no inputs.
    """
    tree = schema.ModelT.InitFromObj(schema.Model.GetRootAs(model, 0))
    graph = tree.subgraphs[0]
    (operator,) = graph.operators
    for index in states:
        graph.tensors[index].isVariable = True
    inputs: list[int] = []
    for index in map(int, operator.inputs):
        inputs += [-1] * (absent or {}).get(index, 0)
        if index not in intermediates:
            inputs.append(index)
    operator.inputs = inputs
    operator.intermediates = list(intermediates)
    graph.inputs = [index for index in map(int, graph.inputs) if index not in (*states, *intermediates)]
    builder = flatbuffers.Builder(1024)
    builder.Finish(tree.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def lstm(
    steps: int,
    weights: Sequence[NDArray[np.int8]],
    recurrent: Sequence[NDArray[np.int8]],
    biases: Sequence[NDArray[np.int32]],
    scales: Sequence[float],
    recurrent_scales: Sequence[float],
    given: Quantisation,
    output: Quantisation,
    cell_scale: float = 2.0**-11,
    hidden: Quantisation | None = None,
    cell_clip: float = 0.0,
    time_major: bool = False,
) -> bytes:
    """Return a model of an LSTM; its gates are input, forget, cell and output.

    Args:
        weights: [cells][inputs] for each gate.
        recurrent: [cells][cells] for each gate.
        biases: [cells] for each gate.
    """
    options = schema.UnidirectionalSequenceLSTMOptionsT()
    options.fusedActivationFunction = schema.ActivationFunctionType.TANH
    options.cellClip, options.timeMajor = cell_clip, time_major
    cells, inputs = weights[0].shape
    shape = (steps, 1) if time_major else (1, steps)
    tensors = [Tensor("input", (*shape, inputs), np.int8, given)]
    for name, values, of_values in (("weights", weights, scales), ("recurrent", recurrent, recurrent_scales)):
        for gate, (each, scale) in enumerate(zip(values, of_values, strict=True)):
            tensors.append(Tensor(f"{name}{gate}", each.shape, np.int8, Quantisation(scale), each))
    tensors += [
        Tensor(f"bias{gate}", each.shape, np.int32, Quantisation(1.0), each) for gate, each in enumerate(biases)
    ]
    states = len(tensors), len(tensors) + 1
    tensors.append(Tensor("output state", (1, cells), np.int8, output))
    tensors.append(Tensor("cell state", (1, cells), np.int16, Quantisation(cell_scale)))
    inside = range(len(tensors), len(tensors) + 5)
    tensors += [Tensor(f"intermediate{gate}", (), np.int16, Quantisation(2.0**-12)) for gate in range(4)]
    tensors.append(Tensor("hidden", (), np.int8, hidden or output))
    tensors.append(Tensor("output", (*shape, cells), np.int8, output))
    model = write_model(
        schema.BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_LSTM,
        tensors,
        options,
        schema.BuiltinOptions.UnidirectionalSequenceLSTMOptions,
        version=3,
    )
    # There are neither peepholes before the biases nor a projection before the states.
    return with_states(model, states, {9: 3, states[0]: 2}, inside)


def svdf(
    features: NDArray[np.int8],
    time: NDArray[np.int16],
    bias: NDArray[np.int32],
    scales: tuple[float, float, float],
    given: Quantisation,
    output: Quantisation,
    rank: int = 1,
) -> bytes:
    """Return a model of an SVDF.

    Args:
        features: Array of [filters][inputs].
        time: Array of [filters][memory].
        bias: Array of [filters / rank].
        scales: Scales of features, time and state.
    """
    options = schema.SVDFOptionsT()
    options.rank = rank
    options.fusedActivationFunction = schema.ActivationFunctionType.RELU
    filters, inputs = features.shape
    tensors = [
        Tensor("input", (1, inputs), np.int8, given),
        Tensor("features", features.shape, np.int8, Quantisation(scales[0]), features),
        Tensor("time", time.shape, np.int16, Quantisation(scales[1]), time),
        Tensor("bias", bias.shape, np.int32, Quantisation(1.0), bias),
        Tensor("state", (1, filters * time.shape[1]), np.int16, Quantisation(scales[2])),
        Tensor("output", (1, filters // rank), np.int8, output),
    ]
    model = write_model(schema.BuiltinOperator.SVDF, tensors, options, schema.BuiltinOptions.SVDFOptions, version=3)
    return with_states(model, [4])


def by_rows(kind: str, shape: tuple[int, ...], given: Quantisation) -> bytes:
    """Return a model of an operator over the last dimension.

    Args:
        kind: LOG_SOFTMAX or L2_NORMALIZATION.
    """
    code = {"LOG_SOFTMAX": "LogSoftmaxOptions", "L2_NORMALIZATION": "L2NormOptions"}[kind]
    output = Quantisation(1 / 16, 127) if kind == "LOG_SOFTMAX" else Quantisation(1 / 128, 0)
    tensors = [Tensor("input", shape, np.int8, given), Tensor("output", shape, np.int8, output)]
    options = getattr(schema, f"{code}T")()
    return write_model(
        getattr(schema.BuiltinOperator, kind), tensors, options, getattr(schema.BuiltinOptions, code), version=2
    )


def search(kind: str, shape: tuple[int, ...], axis: int, index_type: type[np.generic], given: Quantisation) -> bytes:
    """Return a model of a search.

    Args:
        kind: Max or Min.
        index_type: Type of the output.
    """
    options = getattr(schema, f"Arg{kind}OptionsT")()
    options.outputType = {np.int32: schema.TensorType.INT32, np.int64: schema.TensorType.INT64}[index_type]
    tensors = [
        Tensor("input", shape, np.int8, given),
        Tensor("axis", (), np.int32, None, np.array(axis, np.int32)),
        Tensor("output", reduced_shape(shape, [axis], keep_dims=False), index_type),
    ]
    opcode = getattr(schema.BuiltinOperator, f"ARG_{kind.upper()}")
    return write_model(opcode, tensors, options, getattr(schema.BuiltinOptions, f"Arg{kind}Options"), version=2)


def batch_matmul(
    x_shape: tuple[int, ...],
    y_shape: tuple[int, ...],
    x: Quantisation,
    y: Quantisation,
    output: Quantisation,
    adj_x: bool = False,
    adj_y: bool = False,
    y_values: NDArray[np.int8] | None = None,
) -> bytes:
    """Return a model of a matrix multiplication.

    Args:
        y_values: Values of a constant second matrix; None for an input.
    """
    options = schema.BatchMatMulOptionsT()
    options.adjX, options.adjY = adj_x, adj_y
    rank = max(len(x_shape), len(y_shape))
    batches = np.broadcast_shapes((1,) * (rank - 2), x_shape[:-2], y_shape[:-2])
    rows, columns = x_shape[-1 if adj_x else -2], y_shape[-2 if adj_y else -1]
    tensors = [
        Tensor("x", x_shape, np.int8, x),
        Tensor("y", y_shape, np.int8, y, y_values),
        Tensor("output", (*batches, rows, columns), np.int8, output),
    ]
    return write_model(
        schema.BuiltinOperator.BATCH_MATMUL, tensors, options, schema.BuiltinOptions.BatchMatMulOptions, version=2
    )


def transpose_conv(
    output_shape: tuple[int, int, int],
    weights: NDArray[np.int8],
    bias: NDArray[np.int32] | None,
    scales: Sequence[float],
    given: Quantisation,
    output: Quantisation,
    stride: tuple[int, int] = (2, 2),
    padding: str = "SAME",
    activation: str = "NONE",
) -> bytes:
    """Return a model of a transposed convolution.

    Args:
        weights: Array of [output channel][height][width][input channel].
    """
    options = schema.TransposeConvOptionsT()
    options.padding = getattr(schema.Padding, padding)
    options.strideH, options.strideW = stride
    options.fusedActivationFunction = getattr(schema.ActivationFunctionType, activation)
    sizes = [window_output(output_shape[axis], weights.shape[1 + axis], stride[axis], 1, padding)[0] for axis in (0, 1)]
    shape = np.array([1, *output_shape], np.int32)
    tensors = [
        Tensor("shape", (4,), np.int32, None, shape),
        Tensor("weights", weights.shape, np.int8, Quantisation(scales, 0, 0), weights),
        Tensor("input", (1, *sizes, weights.shape[3]), np.int8, given),
    ]
    if bias is not None:
        tensors.append(Tensor("bias", bias.shape, np.int32, Quantisation([1.0] * len(scales)), bias))
    tensors.append(Tensor("output", (1, *output_shape), np.int8, output))
    return write_model(
        schema.BuiltinOperator.TRANSPOSE_CONV,
        tensors,
        options,
        schema.BuiltinOptions.TransposeConvOptions,
        version=3 if activation == "NONE" else 4,
    )
