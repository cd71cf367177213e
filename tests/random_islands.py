"""Random ONNX graphs of the operators that are computed in float32."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import float_islands
import numpy as np
from kernels.graph_on_host import GraphOnHost
from kernels.host_kernels import HostKernels
from network.onnx_equality import onnx_graph, outputs_of, random_onnx_inputs
from qdq_models import Qdq, Scale

Random = np.random.Generator
Shape = tuple[int, ...]


@dataclass
class Island:
    """A graph that grows by one operator at a time.

    Attributes:
        model: The model.
        rng: Source of all choices.
        name: The value that the next operator reads.
        shape: Its shape.
        ulps: Distance from onnxruntime that the operators so far may have together, in ulps of the largest number.
        kinds: Types of the operators so far.
    """

    model: Qdq
    rng: Random
    name: str
    shape: Shape
    ulps: float
    kinds: list[str]

    def add(self, kind: str, *constants: Any, shape: Shape | None = None, ulps: float = 0, **options: Any) -> None:
        names = [self.model.constant(np.asarray(each)) for each in constants]
        self.name = self.model.node(kind, [self.name, *names], **options)[0]
        self.shape = self.shape if shape is None else shape
        # Later operators may double the distance of the ones before.
        self.ulps = 2 * self.ulps + ulps
        self.kinds.append(kind)

    def axis(self) -> int:
        return int(self.rng.integers(1, len(self.shape)))

    def numbers(self, *shape: int) -> np.ndarray:
        return self.rng.normal(0, 1, shape).astype(np.float32)


def _function(at: Island) -> None:
    at.add(
        str(
            at.rng.choice(["Sigmoid", "Tanh", "Erf", "Softplus", "Softsign", "HardSwish", "HardSigmoid", "Elu", "Mish"])
        ),
        ulps=4,
    )


def _exact_function(at: Island) -> None:
    at.add(str(at.rng.choice(["Neg", "Abs", "Relu", "LeakyRelu"])), ulps=1)


def _exponential(at: Island) -> None:
    at.add("Clip", np.float32(-4), np.float32(3))
    at.add("Exp", ulps=8)


def _root(at: Island) -> None:
    at.add("Abs")
    at.add("Add", np.float32(0.5), ulps=1)
    kind = str(at.rng.choice(["Sqrt", "Log", "Reciprocal", "Pow"]))
    at.add(kind, *([np.float32(at.rng.uniform(-2, 2))] if kind == "Pow" else []), ulps=16)


def _arithmetic(at: Island) -> None:
    sizes = [size if at.rng.random() < 0.5 else 1 for size in at.shape]
    at.add(str(at.rng.choice(["Add", "Sub", "Mul", "Max", "Min"])), at.numbers(*sizes), ulps=4)


def _transpose(at: Island) -> None:
    perm = [0, *(1 + at.rng.permutation(len(at.shape) - 1))]
    at.add("Transpose", shape=tuple(at.shape[axis] for axis in perm), perm=[int(axis) for axis in perm])


def _reshape(at: Island) -> None:
    first, second, *rest = at.shape[1:]
    shape = (1, first * second, *rest) if rest else (1, first, second, 1)
    at.add("Reshape", np.array(shape, np.int64), shape=shape)


def _slice(at: Island) -> None:
    axis = at.axis()
    size = at.shape[axis]
    begin = int(at.rng.integers(0, size))
    end = int(at.rng.integers(begin + 1, size + 1))
    shape = tuple(end - begin if each == axis else kept for each, kept in enumerate(at.shape))
    at.add("Slice", *(np.array([each], np.int64) for each in (begin, end, axis)), shape=shape)


def _gather(at: Island) -> None:
    axis = at.axis()
    places = at.rng.integers(0, at.shape[axis], int(at.rng.integers(1, 6)))
    at.add("Gather", places, shape=(*at.shape[:axis], len(places), *at.shape[axis + 1 :]), axis=axis)


def _concat(at: Island) -> None:
    axis = at.axis()
    sizes = [int(at.rng.integers(1, 4)) if each == axis else size for each, size in enumerate(at.shape)]
    shape = tuple(size + sizes[axis] if each == axis else size for each, size in enumerate(at.shape))
    at.add("Concat", at.numbers(*sizes), shape=shape, axis=axis)


def _pad(at: Island) -> None:
    before, after = (at.rng.integers(0, 3, len(at.shape)) for _ in range(2))
    before[0] = after[0] = 0
    shape = tuple(int(sum(sizes)) for sizes in zip(before, at.shape, after, strict=True))
    at.add("Pad", np.concatenate([before, after]).astype(np.int64), np.float32(at.rng.normal()), shape=shape)


def _softmax(at: Island) -> None:
    at.add(str(at.rng.choice(["Softmax", "LogSoftmax"])), ulps=8, axis=at.axis())


def _reduce(at: Island) -> None:
    axis = at.axis()
    kind = str(at.rng.choice(["ReduceMean", "ReduceMax", "ReduceMin"]))
    shape = tuple(1 if each == axis else size for each, size in enumerate(at.shape))
    at.add(kind, np.array([axis], np.int64), shape=shape, ulps=32 if kind == "ReduceMean" else 0)


def _of_images(step: Callable[[Island], None]) -> Callable[[Island], None]:
    """Return a step that is left out if the value is no image."""
    return lambda at: step(at) if len(at.shape) == 4 else None


def _pool(at: Island) -> None:
    window = [int(at.rng.integers(1, min(3, size) + 1)) for size in at.shape[2:]]
    shape = (*at.shape[:2], *(size - wide + 1 for size, wide in zip(at.shape[2:], window, strict=True)))
    kind = str(at.rng.choice(["MaxPool", "AveragePool"]))
    at.add(kind, shape=shape, ulps=32 if kind == "AveragePool" else 0, kernel_shape=window)


def _conv(at: Island) -> None:
    channels, window = int(at.rng.integers(1, 7)), [int(at.rng.integers(1, min(3, size) + 1)) for size in at.shape[2:]]
    shape = (1, channels, *(size - wide + 1 for size, wide in zip(at.shape[2:], window, strict=True)))
    at.add("Conv", at.numbers(channels, at.shape[1], *window), at.numbers(channels), shape=shape, ulps=64)


def _resize(at: Island) -> None:
    sizes = (*at.shape[:2], *(int(size) for size in at.rng.integers(1, 10, 2)))
    nothing = np.zeros(0, np.float32)
    mode = str(at.rng.choice(["half_pixel", "align_corners", "asymmetric"]))
    how = {"mode": "linear", "coordinate_transformation_mode": mode}
    at.add("Resize", nothing, nothing, np.array(sizes, np.int64), shape=sizes, ulps=16, **how)


def _matmul(at: Island) -> None:
    columns = int(at.rng.integers(1, 8))
    at.add("MatMul", at.numbers(at.shape[-1], columns), shape=(*at.shape[:-1], columns), ulps=64)


_STEPS: tuple[Callable[[Island], None], ...] = (
    *(_function, _function, _exact_function, _exponential, _root, _arithmetic, _arithmetic, _transpose, _reshape),
    *(_slice, _gather, _concat, _pad, _softmax, _reduce, _matmul),
    *map(_of_images, (_pool, _conv, _resize)),
)
# The quantisation of outputs.
_OUTPUT = Scale(0.05, 3)
_SCALES = (Scale(0.031, -3), Scale(0.05, 120, "uint8"), Scale(0.01, 40))


def island(seed: int) -> tuple[bytes, float, list[str]]:
    """Return a random model, its allowed ulps, and the types of its operators.

    Infinity stands for an output that is quantised again, which may be off by one step.
    """
    rng = np.random.default_rng([7, seed])
    model = Qdq(18)
    shape = (1, *(int(size) for size in rng.integers(1, 9, int(rng.integers(2, 4)))))
    scale = _SCALES[int(rng.integers(len(_SCALES)))]
    name = float_islands.real(model, shape, scale) if rng.random() < 0.5 else model.input(shape, scale)
    at = Island(model, rng, name, shape, 1.0, [])
    for _ in range(int(rng.integers(1, 5))):
        _STEPS[int(rng.integers(len(_STEPS)))](at)
    if rng.random() < 0.4:
        return model.model([model.qdq(at.name, _OUTPUT)]), np.inf, at.kinds
    return model.model([at.name]), at.ulps, at.kinds


@dataclass(frozen=True)
class Compared:
    """A random graph, compared with onnxruntime.

    Attributes:
        kinds: Types of its operators.
        is_quantised: Whether its output is quantised.
        distance: Largest distance, in steps or in ulps of the largest number.
        allowed: Largest allowed distance in ulps.
        differing: Number of elements that differ.
        elements: Number of elements.
    """

    kinds: list[str]
    is_quantised: bool
    distance: float
    allowed: float
    differing: int
    elements: int

    def is_within(self, step: float = 1.001) -> bool:
        """Return whether the distance is allowed."""
        return self.distance <= (step if self.is_quantised else self.allowed)


def compared(kernels: HostKernels, folder: Path, seed: int) -> Compared:
    """Return the comparison of a random graph.

    Args:
        kernels: Kernels of this host.
        folder: Folder for the model.
        seed: Seed of the graph and of its inputs.
    """
    model, allowed, kinds = island(seed)
    graph = onnx_graph(model, folder)
    inputs = random_onnx_inputs(model, seed)
    (made,), (wanted,) = GraphOnHost(kernels, graph).run(inputs), outputs_of(model, inputs)
    quantised = bool(np.isinf(allowed))
    steps = np.abs(made.reshape(wanted.shape) - wanted) / np.float32(_OUTPUT.scale)
    distance = float(steps.max()) if quantised else float_islands.distance([made], [wanted])
    return Compared(kinds, quantised, distance, allowed, int(np.count_nonzero(steps)), wanted.size)


def selection_distance(kernels: HostKernels, folder: Path, seed: int) -> float:
    """Return the distance of a random NonMaxSuppression from onnxruntime.

    It is 0, or infinity if a number differs.

    Args:
        kernels: Kernels of this host.
        folder: Folder for the model.
        seed: Seed of the graph and of its inputs.
    """
    rng = np.random.default_rng([8, seed])
    model = float_islands.selection(rng, int(rng.integers(11, 21)))
    graph = onnx_graph(model, folder)
    inputs = random_onnx_inputs(model, seed)
    return float_islands.distance(GraphOnHost(kernels, graph).run(inputs), outputs_of(model, inputs))
