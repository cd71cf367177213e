"""ONNX models with float32 between quantised operators or behind the last one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from qdq_models import Qdq, Scale

A, B = Scale(0.031, -3), Scale(0.017, 11)
# Of results of most functions of numbers of A.
OUT = Scale(0.05, 7)
SHAPE = (1, 6, 5, 7)
Random = np.random.Generator
# Adds nodes that read a value of a shape, and returns the result and its shape.
Step = Callable[[Qdq, str, tuple[int, ...], Random], tuple[str, tuple[int, ...]]]


def integers(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def normal(rng: Random, *shape: int) -> np.ndarray:
    return rng.normal(0, 1, shape).astype(np.float32)


def real(model: Qdq, shape: Sequence[int], scale: Scale = A) -> str:
    """Add an input that is quantised, and a sum that int8 does not hold."""
    offsets = np.linspace(-0.013, 0.017, shape[-1], dtype=np.float32)
    return model.node("Add", [model.input(shape, scale), model.constant(offsets)])[0]


def one(
    kind: str, shape: Sequence[int] = SHAPE, *constants: Any, outputs: int = 1, opset: int = 18, **options: Any
) -> bytes:
    """Return a model of one operator that reads and makes real numbers."""
    model = Qdq(opset)
    inputs = [real(model, shape), *(model.constant(each) for each in constants)]
    types = [1, 7] if kind == "TopK" else [7 if kind in ("ArgMax", "ArgMin", "Cast") else 1]
    return model.model(model.node(kind, inputs, outputs, **options), types)


def of_two(kind: str, a: Sequence[int] = SHAPE, b: Sequence[int] = SHAPE, **options: Any) -> bytes:
    """Return a model of one operator of two tensors of real numbers."""
    model = Qdq(18)
    return model.model(model.node(kind, [real(model, a), real(model, b, B)], **options))


def positive(kind: str, *constants: Any, **options: Any) -> bytes:
    """Return a model of a function of numbers above 0."""
    model = Qdq(18)
    raised = model.node("Add", [model.node("Abs", [real(model, SHAPE)])[0], model.constant(np.float32(0.01))])
    return model.model(model.node(kind, [*raised, *(model.constant(each) for each in constants)], **options))


def unquantised(kind: str, shape: Sequence[int], *constants: Any, types: Sequence[int] = (), **options: Any) -> bytes:
    """Return a model of one operator whose input is quantised and whose output is not."""
    model = Qdq(18)
    inputs = [model.input(shape, A), *(model.constant(each) for each in constants)]
    return model.model(model.node(kind, inputs, **options), types)


def selection(rng: Random, opset: int = 18) -> bytes:
    """Return a model of a NonMaxSuppression of boxes that are quantised or not.

    Quantised scores are often equal.
    """
    model = Qdq(opset)
    batches, classes, count = (int(size) for size in rng.integers(1, (3, 4, 40)))
    boxes, scores = (
        model.input(shape, scale) if rng.random() < 0.5 else real(model, shape, scale)
        for shape, scale in (((batches, count, 4), Scale(0.02, -3)), ((batches, classes, count), B))
    )
    least = rng.choice([-3.0, 0.0, 0.5]) if rng.random() < 0.7 else None
    limits = [np.float32(each) for each in (rng.uniform(0, 0.7), least) if each is not None]
    constants = [integers(int(rng.integers(1, 12))), *(np.reshape(each, 1) for each in limits)]
    names = [model.constant(each) for each in constants]
    made = model.node("NonMaxSuppression", [boxes, scores, *names], center_point_box=int(rng.integers(2)))
    return model.model(made, [7])


def _behind_a_constant() -> bytes:
    model = Qdq(18)
    parts = [model.constant(_weights(1, 3, 5, 7)), real(model, SHAPE)]
    return model.model(model.node("Concat", parts, axis=1))


def _weights(*shape: int) -> np.ndarray:
    return normal(np.random.default_rng(4), *shape)


_NOTHING = np.zeros(0, np.float32)


def resized(sizes: np.ndarray, way: str = "half_pixel", **options: Any) -> bytes:
    """Return a model of a resize by real numbers, or to integers."""
    before = [_NOTHING] * (1 if sizes.dtype == np.float32 else 2)
    return one("Resize", SHAPE, *before, sizes, coordinate_transformation_mode=way, **options)


def _beside_a_constant() -> bytes:
    """Return a model with outputs that only constants decide."""
    model = Qdq(18)
    name = real(model, SHAPE)
    size = model.node("Gather", [*model.node("Shape", [name]), model.constant(np.int64(2))])
    count = model.node("Range", [model.constant(np.int64(0)), *size, model.constant(np.int64(1))])
    grid = model.node("Tile", [*model.node("Cast", count, to=1), model.constant(integers(3))])
    filled = model.node("ConstantOfShape", [model.constant(integers(15))])
    anchors = model.node("Add", [*grid, *model.node("Cast", filled, to=1)])
    halves = [
        model.qdq(model.constant(normal(np.random.default_rng(seed), 4)), scale) for seed, scale in enumerate((A, B))
    ]
    outputs = [
        *model.node("Neg", [name]),
        *anchors,
        *model.node("Identity", count),
        *model.node("Concat", halves, axis=0),
    ]
    return model.model(outputs, [1, 1, 7, 1])


# Operators that round as often as ONNX Runtime, or not at all.
EXACT: dict[str, bytes] = {
    **{kind: of_two(kind) for kind in ("Add", "Sub", "Mul", "Div", "Max", "Min")},
    "mul for each channel": of_two("Mul", SHAPE, (6, 1, 1)),
    "square": one("Pow", SHAPE, np.float32(2)),
    "cube": one("Pow", SHAPE, np.float32(3)),
    **{kind: one(kind) for kind in ("Neg", "Abs", "Floor", "Ceil", "Round", "Relu", "LeakyRelu")},
    "Sqrt": positive("Sqrt"),
    "Reciprocal": positive("Reciprocal"),
    "clip": one("Clip", SHAPE, np.float32(-0.5), np.float32(1.25)),
    "reshape": one("Reshape", SHAPE, integers(0, -1, 7)),
    "transpose": one("Transpose", perm=[0, 3, 1, 2]),
    "slice": one("Slice", SHAPE, integers(1, 2), integers(5, 99), integers(1, 3), integers(2, 1)),
    "squeeze": one("Squeeze", (1, 6, 1, 7), integers(2)),
    "gather": one("Gather", SHAPE, integers(5, -1, 0, 2, 4), axis=1),
    "expand": one("Expand", (6, 1, 7), integers(1, 6, 9, 1)),
    "pad": one("Pad", SHAPE, integers(0, 0, 1, 2, 0, 1, 0, 3), np.float32(0.3)),
    "concat": of_two("Concat", SHAPE, (1, 2, 5, 7), axis=1),
    "concat of a constant": one("Concat", SHAPE, _weights(1, 3, 5, 7), axis=1),
    "concat behind a constant": _behind_a_constant(),
    "depth to space": one("DepthToSpace", (1, 12, 3, 4), blocksize=2),
    "resize to twice the size": resized(
        np.array([1, 1, 2, 2], np.float32), "asymmetric", mode="nearest", nearest_mode="floor"
    ),
    "max pool": one("MaxPool", SHAPE, kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1]),
    "max pool, dilated": one("MaxPool", SHAPE, kernel_shape=[2, 2], dilations=[2, 3]),
    "global max pool": one("GlobalMaxPool"),
    "largest of rows": one("ReduceMax", SHAPE, integers(1, 3)),
    "smallest of all": one("ReduceMin", SHAPE),
    "top k": one("TopK", SHAPE, integers(3), outputs=2, axis=1),
    "bottom k": one("TopK", SHAPE, integers(7), outputs=2, largest=0),
    **{
        f"non-maximum suppression {seed}": selection(np.random.default_rng(seed), opset)
        for seed, opset in enumerate((11, 11, 18, 18, 19, 20))
    },
    "arg max": one("ArgMax", SHAPE, axis=1),
    "arg min": one("ArgMin", SHAPE, axis=-1, keepdims=0),
    "batch normalisation": one("BatchNormalization", SHAPE, *(np.abs(_weights(6)) + np.float32(0.5) for _ in range(4))),
    "arg max of int8": unquantised("ArgMax", SHAPE, types=[7], axis=1),
    "a constant": _beside_a_constant(),
    "cast to integers": one("Cast", SHAPE, to=7),
}
# Operators whose results differ from those of ONNX Runtime by so many ulps of the largest at most.
CLOSE: dict[str, tuple[float, bytes]] = {
    **{
        kind: (4, one(kind, opset=18))
        for kind in ("Sigmoid", "Tanh", "Exp", "Erf", "Softplus", "Softsign", "HardSwish", "HardSigmoid", "Elu", "Mish")
    },
    "gelu": (4, one("Gelu", opset=20)),
    "Log": (4, positive("Log")),
    "root": (4, positive("Pow", np.float32(0.3))),
    "negative power": (16, positive("Pow", np.float32(-1.7))),
    "softmax": (4, one("Softmax", SHAPE, axis=1)),
    "log softmax": (4, one("LogSoftmax", SHAPE, axis=-1)),
    "mean": (4, one("ReduceMean", SHAPE, integers(2, 3))),
    "mean of channels": (4, one("ReduceMean", SHAPE, integers(1), keepdims=0)),
    "sum": (32, one("ReduceSum", SHAPE, integers(1, 2, 3))),
    "product": (8, one("ReduceProd", SHAPE, integers(3))),
    "global average pool": (4, one("GlobalAveragePool")),
    "average pool": (4, one("AveragePool", SHAPE, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])),
    "average pool that counts padding": (
        4,
        one("AveragePool", SHAPE, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1),
    ),
    "average pool over one dimension": (4, one("AveragePool", (1, 3, 12), kernel_shape=[3])),
    "conv": (8, one("Conv", SHAPE, _weights(5, 6, 3, 3), _weights(5), pads=[1, 1, 1, 1])),
    "conv in groups": (8, one("Conv", SHAPE, _weights(9, 2, 3, 2), group=3, strides=[2, 1])),
    "conv of each channel": (8, one("Conv", SHAPE, _weights(6, 1, 3, 3), group=6, dilations=[1, 2])),
    "conv over one dimension": (8, one("Conv", (1, 6, 30), _weights(9, 6, 5), _weights(9), pads=[2, 2], strides=[2])),
    "conv of int8 without a scale": (8, unquantised("Conv", SHAPE, _weights(5, 6, 3, 3), _weights(5))),
    "transposed conv": (
        8,
        one("ConvTranspose", SHAPE, _weights(6, 4, 3, 3), _weights(4), strides=[2, 2], pads=[1, 1, 1, 1]),
    ),
    "transposed conv of each channel": (8, one("ConvTranspose", SHAPE, _weights(6, 1, 4, 4), group=6, strides=[2, 2])),
    "gemm": (8, one("Gemm", (4, 37), _weights(13, 37), _weights(13), transB=1)),
    "gemm, both turned": (8, one("Gemm", (37, 4), _weights(13, 37), _weights(13), transA=1, transB=1)),
    "matmul": (8, one("MatMul", (1, 5, 37), _weights(37, 13))),
    "matmul of two activations": (8, of_two("MatMul", (1, 2, 17, 19), (1, 2, 19, 5))),
    "matmul of one matrix for all": (8, of_two("MatMul", (1, 3, 4, 19), (19, 5))),
    "layer normalisation": (8, one("LayerNormalization", (1, 17, 48), _weights(48), _weights(48))),
    "instance normalisation": (8, one("InstanceNormalization", SHAPE, _weights(6), _weights(6))),
    "prelu": (1, one("PRelu", SHAPE, _weights(6, 1, 1))),
    "resize linearly": (4, resized(integers(1, 6, 11, 4), mode="linear")),
    "resize linearly, corners aligned": (4, resized(integers(1, 6, 9, 14), "align_corners", mode="linear")),
}


def distance(made: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> float:
    """Return the largest distance of two lists of outputs.

    It is in ulps of the largest number of an output.

    Infinity stands for integers, infinite numbers or shapes that differ.
    """
    return max(_distance(mine, wanted) for mine, wanted in zip(made, expected, strict=True))


def _distance(mine: np.ndarray, wanted: np.ndarray) -> float:
    if wanted.dtype == np.int64 and wanted.ndim == 2 and mine.shape[0] > wanted.shape[0]:
        # Rows of a NonMaxSuppression behind the last selected box.
        wanted = np.pad(wanted, ((0, mine.shape[0] - wanted.shape[0]), (0, 0)), constant_values=-1)
    if mine.size != wanted.size or mine.dtype != wanted.dtype:
        return np.inf
    mine = mine.reshape(wanted.shape)
    if wanted.dtype != np.float32:
        return 0.0 if np.array_equal(mine, wanted) else np.inf
    finite = np.isfinite(wanted)
    if not np.array_equal(mine[~finite], wanted[~finite], equal_nan=True):
        return np.inf
    largest = np.abs(wanted[finite]).max(initial=np.float32(np.finfo(np.float32).tiny))
    return float(np.abs(mine[finite] - wanted[finite]).max(initial=0) / np.spacing(largest))


def normalised_convolution(groups: int = 1) -> bytes:
    """Return a convolution, a batch normalisation directly behind it, and a limit."""
    model, rng = Qdq(), np.random.default_rng(5)
    weights = rng.integers(-127, 128, (8, 4 // groups, 3, 3)).astype(np.int8)
    scales = rng.uniform(0.001, 0.004, 8).astype(np.float32)
    made = model.node("Conv", [model.input((1, 4, 9, 7), A), model.weights(weights, scales)], group=groups)
    constants = [
        rng.uniform(0.3, 2, 8).astype(np.float32) * sign for sign in (np.array([1, -1] * 4, np.float32), 1, 1, 1)
    ]
    made = model.node("BatchNormalization", [*made, *map(model.constant, constants)], epsilon=1e-3)
    return model.model([model.qdq(model.node("Relu", made)[0], Scale(0.02, -128))])


def with_real_weights(*, exact: bool = True) -> bytes:
    """Return a convolution with float32 weights that int8 holds, or does not hold."""
    model, rng = Qdq(), np.random.default_rng(6)
    steps = rng.integers(-127, 128, (8, 4, 3, 3)).astype(np.float32)
    weights = steps * rng.uniform(0.001, 0.004, (8, 1, 1, 1)).astype(np.float32)
    if not exact:
        weights = (weights + normal(rng, *weights.shape) * np.float32(1e-3)).astype(np.float32)
    inputs = [model.input((1, 4, 9, 7), A), model.constant(weights), model.constant(normal(rng, 8))]
    return model.model([model.operator("Conv", inputs, Scale(0.05, 3))])
