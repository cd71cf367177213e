"""Random operators that reduce, normalise, search or keep a state.

They are calls of their kernels.
"""

import itertools
from collections.abc import Callable, Sequence

import numpy as np
import sequence_models as models
from one_op_models import Quantisation, reduction, window_output

from kernels.case_of_call import case_of
from kernels.draws import int8
from kernels.kernel_descriptors import Case


def scale(value: float) -> float:
    return float(np.float32(value))


def quantisation(rng: np.random.Generator) -> Quantisation:
    """Return a quantisation, one time in three with a power of two as scale.

    With it, many scaled values are halfway between integers.
    """
    value = 2.0 ** int(rng.integers(-8, -2)) if rng.random() < 0.3 else rng.uniform(0.005, 0.2)
    return Quantisation(scale(value), int(rng.integers(-128, 128)))


def a_shape(rng: np.random.Generator, ranks: tuple[int, int] = (1, 5), elements: int = 4000) -> tuple[int, ...]:
    """Return a shape of small sizes, many of them 1.

    One size may be larger than a vector.
    """
    rank = int(rng.integers(ranks[0], ranks[1] + 1))
    shape = [int(rng.choice([1, 1, 2, 3, 4, 5, 7, 9])) for _ in range(rank)]
    shape[int(rng.integers(rank))] = int(rng.integers(1, 50))
    while np.prod(shape) > elements:
        largest = int(np.argmax(shape))
        shape[largest] = (shape[largest] + 1) // 2
    return tuple(shape)


def some_axes(rng: np.random.Generator, rank: int) -> tuple[int, ...]:
    chosen = [axis for axis in range(rank) if rng.random() < 0.5] or [int(rng.integers(rank))]
    return tuple(axis - rank if rng.random() < 0.3 else axis for axis in rng.permutation(chosen).tolist())


def mean(
    rng: np.random.Generator, shape: tuple[int, ...], axes: Sequence[int], keep_dims: bool = True, gain: float = 1.0
) -> Case:
    """Return a mean.

    Args:
        gain: Input scale / output scale.
    """
    return _sum("MEAN", rng, shape, axes, keep_dims, gain)


def _sum(
    kind: str, rng: np.random.Generator, shape: tuple[int, ...], axes: Sequence[int], keep_dims: bool, gain: float
) -> Case:
    given = quantisation(rng)
    target = Quantisation(scale(given.per_tensor / gain), int(rng.integers(-128, 128)))
    model = reduction(kind, shape, axes, given, target, keep_dims)
    return case_of(f"{kind} {shape} over {axes} gain {gain:.3f}", model, [int8(rng, shape)], int(np.prod(shape)))


def extreme(
    kind: str, rng: np.random.Generator, shape: tuple[int, ...], axes: Sequence[int], keep_dims: bool = True
) -> Case:
    """Return a maximum or minimum.

    Args:
        kind: REDUCE_MAX or REDUCE_MIN.
    """
    given = quantisation(rng)
    model = reduction(kind, shape, axes, given, given, keep_dims)
    return case_of(f"{kind} {shape} over {axes}", model, [int8(rng, shape)], int(np.prod(shape)))


def sum_within_bytes(rng: np.random.Generator) -> Case:
    """Return a SUM that the reference computes correctly.

    The reference reads int8 elements as uint8, which does not show in these elements, zero points
    and results.
    """
    shape = (1, int(rng.integers(1, 9)), int(rng.integers(1, 40)))
    given = Quantisation(scale(rng.uniform(0.005, 0.2)), int(rng.integers(0, 10)))
    target = Quantisation(scale(given.per_tensor * shape[1] * rng.uniform(1.3, 4)), int(rng.integers(5, 20)))
    values = rng.integers(0, 128, shape).astype(np.int8)
    return case_of(f"SUM {shape}", reduction("SUM", shape, (1,), given, target), [values], values.size)


def sum_of(rng: np.random.Generator) -> Case:
    """Return any SUM."""
    shape, axes = _shape_and_axes(rng)
    return _sum("SUM", rng, shape, axes, bool(rng.random() < 0.5), float(10 ** rng.uniform(-2.5, 1)))


def _shape_and_axes(rng: np.random.Generator) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return a shape with axes in one or two places."""
    while True:
        shape = a_shape(rng)
        axes = some_axes(rng, len(shape))
        named = [axis in {each % len(shape) for each in axes} for axis, size in enumerate(shape) if size > 1]
        if sum(one and not before for before, one in itertools.pairwise([False, *named])) <= 2:
            return shape, axes


def _random_mean(rng: np.random.Generator) -> Case:
    shape, axes = _shape_and_axes(rng)
    return mean(rng, shape, axes, bool(rng.random() < 0.5), float(10 ** rng.uniform(-0.5, 1.5)))


def _random_extreme(kind: str, rng: np.random.Generator) -> Case:
    return extreme(kind, rng, *_shape_and_axes(rng), bool(rng.random() < 0.5))


def lstm(
    rng: np.random.Generator, steps: int, inputs: int, cells: int, loud: float = 1.0, cell_clip: float = 0.0
) -> Case:
    """Return an LSTM.

    Args:
        loud: Range of the gates; 1 is most of the range of their functions.
    """
    given = Quantisation(scale(rng.uniform(0.01, 0.1)), int(rng.integers(-128, 128)))
    output = Quantisation(scale(rng.uniform(0.004, 0.0079)), int(rng.integers(-20, 20)))
    hidden = Quantisation(scale(rng.uniform(0.004, 0.0079)), int(rng.integers(-20, 20)))
    wide = loud * 4 / (np.sqrt(inputs) * 74 * 74 * given.per_tensor)
    deep = loud * 2 / (np.sqrt(cells) * 74 * 74 * output.per_tensor)
    shape, square = (cells, inputs), (cells, cells)
    model = models.lstm(
        steps,
        [rng.integers(-127, 128, shape, dtype=np.int8) for _ in range(4)],
        [rng.integers(-127, 128, square, dtype=np.int8) for _ in range(4)],
        [rng.integers(-3000, 3000, cells, dtype=np.int32) for _ in range(4)],
        [scale(wide * rng.uniform(0.3, 1.5)) for _ in range(4)],
        [scale(deep * rng.uniform(0.3, 1.5)) for _ in range(4)],
        given,
        output,
        2.0 ** int(rng.integers(-15, -8)),
        hidden if rng.random() < 0.5 else output,
        cell_clip,
        bool(rng.random() < 0.3),
    )
    name = f"LSTM {steps} steps of {inputs} to {cells} loud {loud:.2f} clip {cell_clip:.2f}"
    return case_of(name, model, [int8(rng, (steps, inputs))], steps * 4 * cells * (inputs + cells))


def _random_lstm(rng: np.random.Generator) -> Case:
    steps, inputs, cells = int(rng.integers(1, 12)), int(rng.integers(1, 40)), int(rng.integers(1, 40))
    clip = float(rng.uniform(0.01, 3)) if rng.random() < 0.3 else 0.0
    return lstm(rng, steps, inputs, cells, float(10 ** rng.uniform(-1, 0.7)), clip)


def svdf(rng: np.random.Generator, inputs: int, units: int, rank: int, memory: int, gain: float = 1.0) -> Case:
    """Return an SVDF.

    Args:
        gain: Share of the int16 range that the features fill.
    """
    filters = units * rank
    given = quantisation(rng)
    feature_scale = scale(rng.uniform(0.0005, 0.02))
    state_scale = scale(np.sqrt(inputs) * 74 * 74 * given.per_tensor * feature_scale / 10000 / gain)
    time_scale = scale(rng.uniform(1e-6, 1e-4))
    output_scale = scale(np.sqrt(memory * rank) * 10000 * 8000 * state_scale * time_scale / 60)
    model = models.svdf(
        rng.integers(-127, 128, (filters, inputs), dtype=np.int8),
        rng.integers(-12000, 12001, (filters, memory), dtype=np.int16),
        rng.integers(-30000, 30000, units, dtype=np.int32),
        (feature_scale, time_scale, state_scale),
        given,
        Quantisation(output_scale, int(rng.integers(-60, 60))),
        rank,
    )
    work = filters * (inputs + memory)
    return case_of(f"SVDF {inputs} to {units} rank {rank} memory {memory}", model, [int8(rng, (1, inputs))], work)


def _random_svdf(rng: np.random.Generator) -> Case:
    inputs, units, memory = int(rng.integers(1, 60)), int(rng.integers(1, 12)), int(rng.integers(1, 20))
    return svdf(rng, inputs, units, int(rng.integers(1, 4)), memory, float(rng.uniform(0.3, 4)))


def by_rows(kind: str, rng: np.random.Generator, shape: tuple[int, ...], given: Quantisation) -> Case:
    """Return an operator on rows.

    A row in ten has equal elements, and a row in ten is the zero point.

    Args:
        kind: LOG_SOFTMAX or L2_NORMALIZATION.
    """
    values = int8(rng, shape)
    rows = values.reshape(-1, shape[-1])
    for row in rows[rng.random(len(rows)) < 0.1]:
        row[:] = int(rng.integers(-128, 128))
    rows[rng.random(len(rows)) < 0.1] = given.zero_point
    return case_of(f"{kind} {shape} scale {given.scale}", models.by_rows(kind, shape, given), [values], values.size)


def _random_log_softmax(rng: np.random.Generator) -> Case:
    given = Quantisation(scale(10 ** rng.uniform(-3, 0.6)), int(rng.integers(-128, 128)))
    return by_rows("LOG_SOFTMAX", rng, (1, *a_shape(rng, (1, 3), 600)), given)


def _random_l2_normalization(rng: np.random.Generator) -> Case:
    shape = (1, *a_shape(rng, (1, 3), 600))
    if rng.random() < 0.2:
        shape = (1, int(rng.integers(500, 3000)))
    return by_rows("L2_NORMALIZATION", rng, shape, quantisation(rng))


def search(
    kind: str, rng: np.random.Generator, shape: tuple[int, ...], axis: int, index_type: type[np.generic] = np.int32
) -> Case:
    """Return a search, half of the time with many equal elements.

    Args:
        kind: Max or Min.
    """
    values = int8(rng, shape) // (1 if rng.random() < 0.5 else 40)
    model = models.search(kind, shape, axis, index_type, quantisation(rng))
    return case_of(f"Arg{kind} {shape} along {axis}", model, [values], values.size)


def _random_search(kind: str, rng: np.random.Generator) -> Case:
    shape = a_shape(rng)
    axis = int(rng.integers(-len(shape), len(shape)))
    return search(kind, rng, shape, axis, np.int64 if rng.random() < 0.4 else np.int32)


def batch_matmul(
    rng: np.random.Generator,
    x_shape: tuple[int, ...],
    y_shape: tuple[int, ...],
    adj_x: bool = False,
    adj_y: bool = False,
    constant: bool = False,
) -> Case:
    """Return a matrix multiplication.

    Args:
        constant: The second matrix is a constant.
    """
    x, y = quantisation(rng), quantisation(rng)
    depth = x_shape[-2 if adj_x else -1]
    target = scale(np.sqrt(depth) * 100 * 100 * x.per_tensor * y.per_tensor / 80 / rng.uniform(0.3, 3))
    given = [int8(rng, x_shape), int8(rng, y_shape)]
    output = Quantisation(target, int(rng.integers(-60, 60)))
    fixed = given[1] if constant else None
    model = models.batch_matmul(x_shape, y_shape, x, y, output, adj_x, adj_y, fixed)
    name = f"matrices {x_shape} {'T' * adj_x} and {y_shape} {'T' * adj_y} {'constant' * constant}"
    work = int(np.prod(x_shape)) * y_shape[-2 if adj_y else -1]
    return case_of(name, model, given[:1] if constant else given, work)


def _random_batch_matmul(rng: np.random.Generator) -> Case:
    rows, columns, depth = (int(rng.integers(1, 24)) for _ in range(3))
    batches = tuple(int(rng.integers(1, 4)) for _ in range(int(rng.integers(0, 3))))
    adj_x, adj_y = (bool(each) for each in rng.random(2) < 0.5)
    x = (depth, rows) if adj_x else (rows, depth)
    y = (columns, depth) if adj_y else (depth, columns)
    alone = int(rng.integers(0, 3))
    x_batches = (1,) * len(batches) if alone == 1 else batches
    y_batches = () if alone == 2 else batches
    return batch_matmul(rng, (*x_batches, *x), (*y_batches, *y), adj_x, adj_y, bool(rng.random() < 0.3))


def transpose_conv(
    rng: np.random.Generator,
    output_shape: tuple[int, int, int],
    depth: int,
    window: tuple[int, int],
    stride: tuple[int, int] = (2, 2),
    padding: str = "SAME",
    activation: str = "NONE",
    per_channel: bool = True,
) -> Case:
    given = quantisation(rng)
    channels = output_shape[2]
    weights = rng.integers(-127, 128, (channels, *window, depth), dtype=np.int8)
    scales = [scale(each) for each in rng.uniform(0.002, 0.02, channels if per_channel else 1)]
    target = scale(np.sqrt(depth * 3) * 74 * 74 * given.per_tensor * 0.01 / 60)
    bias = rng.integers(-3000, 3000, channels, dtype=np.int32) if rng.random() < 0.7 else None
    output = Quantisation(target, int(rng.integers(-60, 60)))
    model = models.transpose_conv(output_shape, weights, bias, scales, given, output, stride, padding, activation)
    sizes = [window_output(output_shape[axis], window[axis], stride[axis], 1, padding)[0] for axis in (0, 1)]
    values = int8(rng, (1, *sizes, depth))
    name = f"transposed conv {values.shape} to {output_shape} window {window} stride {stride} {padding} {activation}"
    return case_of(name, model, [values], values.size * window[0] * window[1] * channels)


def _random_transpose_conv(rng: np.random.Generator) -> Case:
    window, stride = (tuple(int(each) for each in rng.integers(1, 5, 2)) for _ in range(2))
    padding = "SAME" if rng.random() < 0.5 else "VALID"
    height, width = (int(rng.integers(window[axis], window[axis] + 9)) for axis in (0, 1))
    activation = str(rng.choice(["NONE", "NONE", "RELU", "RELU6"]))
    shape = (height, width, int(rng.integers(1, 12)))
    depth = int(rng.integers(1, 24))
    return transpose_conv(
        rng, shape, depth, (window[0], window[1]), (stride[0], stride[1]), padding, activation, bool(rng.random() < 0.6)
    )


_RANDOM: dict[str, Callable[[np.random.Generator], Case]] = {
    "sum": _random_mean,
    "reduce_max": lambda rng: _random_extreme("REDUCE_MAX", rng),
    "arg_max": lambda rng: _random_search("Max", rng),
    "arg_min": lambda rng: _random_search("Min", rng),
    "batch_matmul": _random_batch_matmul,
    "transpose_conv": _random_transpose_conv,
    "l2_normalization": _random_l2_normalization,
    "log_softmax": _random_log_softmax,
    "lstm": _random_lstm,
    "svdf": _random_svdf,
    "reduce_min": lambda rng: _random_extreme("REDUCE_MIN", rng),
}


def random_case(kernel: str, rng: np.random.Generator) -> Case:
    """Return any operator of that kernel, small enough to be quick."""
    return _RANDOM[kernel](rng)
