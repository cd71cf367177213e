"""Writer of .tflite models of one operator on sequences.

The operators reduce, normalise, search or keep a state.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from one_op_models import (
    TYPES,
    Quantisation,
    Shape,
    Tensor,
    Type,
    packed,
    reduced_shape,
    tree_of,
    window_output,
    write_model,
)


def with_states(
    model: bytes, states: Collection[int], absent: Mapping[int, int] | None = None, intermediates: Collection[int] = ()
) -> bytes:
    """Change tensors of a model of one operator into states and intermediates.

    Args:
        states: Tensors that become states.
        absent: Tensor -> number of missing inputs before it.
        intermediates: Tensors that become intermediates and are no inputs.
    """
    tree = tree_of(model)
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
    return packed(tree)


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
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        tensors,
        "UnidirectionalSequenceLSTM",
        3,
        fusedActivationFunction="TANH",
        cellClip=cell_clip,
        timeMajor=time_major,
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
    filters, inputs = features.shape
    tensors = [
        Tensor("input", (1, inputs), np.int8, given),
        Tensor("features", features.shape, np.int8, Quantisation(scales[0]), features),
        Tensor("time", time.shape, np.int16, Quantisation(scales[1]), time),
        Tensor("bias", bias.shape, np.int32, Quantisation(1.0), bias),
        Tensor("state", (1, filters * time.shape[1]), np.int16, Quantisation(scales[2])),
        Tensor("output", (1, filters // rank), np.int8, output),
    ]
    model = write_model("SVDF", tensors, "SVDF", 3, rank=rank, fusedActivationFunction="RELU")
    return with_states(model, [4])


def by_rows(kind: str, shape: tuple[int, ...], given: Quantisation) -> bytes:
    """Return a model of an operator over the last dimension.

    Args:
        kind: LOG_SOFTMAX or L2_NORMALIZATION.
    """
    output = Quantisation(1 / 16, 127) if kind == "LOG_SOFTMAX" else Quantisation(1 / 128, 0)
    tensors = [Tensor("input", shape, np.int8, given), Tensor("output", shape, np.int8, output)]
    return write_model(kind, tensors, "LogSoftmax" if kind == "LOG_SOFTMAX" else "L2Norm", 2)


def search(kind: str, shape: Shape, axis: int, index_type: Type = np.int32, given: Quantisation | None = None) -> bytes:
    """Return a model of a search.

    Args:
        kind: Max or Min.
        index_type: Type of the output.
        given: Quantisation of int8; None for float32.
    """
    tensors = [
        Tensor("input", shape, np.int8 if given else np.float32, given),
        Tensor("axis", (), np.int32, None, np.array(axis, np.int32)),
        Tensor("output", reduced_shape(shape, [axis], keep_dims=False), index_type),
    ]
    return write_model(f"ARG_{kind.upper()}", tensors, f"Arg{kind}", 2, outputType=TYPES[index_type])


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
    rank = max(len(x_shape), len(y_shape))
    batches = np.broadcast_shapes((1,) * (rank - 2), x_shape[:-2], y_shape[:-2])
    rows, columns = x_shape[-1 if adj_x else -2], y_shape[-2 if adj_y else -1]
    tensors = [
        Tensor("x", x_shape, np.int8, x),
        Tensor("y", y_shape, np.int8, y, y_values),
        Tensor("output", (*batches, rows, columns), np.int8, output),
    ]
    return write_model("BATCH_MATMUL", tensors, "BatchMatMul", 2, adjX=adj_x, adjY=adj_y)


def transpose_conv(
    output_shape: tuple[int, int, int],
    weights: NDArray[np.int8],
    bias: NDArray[np.int32] | NDArray[np.int64] | None,
    scales: Sequence[float],
    given: Quantisation,
    output: Quantisation,
    stride: tuple[int, int] = (2, 2),
    padding: str = "SAME",
    activation: str = "NONE",
    dtype: type[np.int8] | type[np.int16] = np.int8,
) -> bytes:
    """Return a model of a transposed convolution.

    Args:
        weights: Array of [output channel][height][width][input channel].
        dtype: Type of the activations.
    """
    sizes = [window_output(output_shape[axis], weights.shape[1 + axis], stride[axis], 1, padding)[0] for axis in (0, 1)]
    shape = np.array([1, *output_shape], np.int32)
    tensors = [
        Tensor("shape", (4,), np.int32, None, shape),
        Tensor("weights", weights.shape, np.int8, Quantisation(scales, 0, 0), weights),
        Tensor("input", (1, *sizes, weights.shape[3]), dtype, given),
    ]
    if bias is not None:
        tensors.append(Tensor("bias", bias.shape, bias.dtype.type, Quantisation([1.0] * len(scales)), bias))
    tensors.append(Tensor("output", (1, *output_shape), dtype, output))
    return write_model(
        "TRANSPOSE_CONV",
        tensors,
        "TransposeConv",
        3 if activation == "NONE" else 4,
        padding=padding,
        strideH=stride[0],
        strideW=stride[1],
        fusedActivationFunction=activation,
    )
