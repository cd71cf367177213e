"""Results of a model's operators before their last rounding.

The NPU and the reference interpreter both round these numbers, but the NPU has rounded some of its own
before. The distance of a result from such a number shows a fault that rounding cannot explain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from n6build.compile.reference.graph import Graph, Operator, Quantisation, Tensor
from n6build.compile.reference.ranges import ActivationOptions, clamp_range
from n6build.compile.reference.windows import WindowOptions, window_output
from n6build.judge.compare.tensors import ReferenceTensor

Real = NDArray[np.float64]
_LIMITS = {"int8": (-128, 127)}
# Operators that keep values and their order.
_SAME_VALUES = ("RESHAPE", "SQUEEZE", "EXPAND_DIMS")


@dataclass(frozen=True)
class Unrounded:
    """A tensor before its last rounding, in steps of its quantisation.

    Attributes:
        values: The values in the tensor's shape.
        response: Root of the sum of squares of the changes that single steps of the features cause, for
            the most sensitive channel; 0 for an operator without weights.
        most: Sum of these changes.
    """

    values: Real
    response: float
    most: float


def unrounded(graph: Graph, tensors: Sequence[ReferenceTensor]) -> dict[str, Unrounded]:
    """Return the operators' results, by the tensor's name.

    They are computed from the interpreter's rounded inputs, and are limited like the result. Tensors of
    other types or operators are left out.

    Args:
        graph: Graph of the .tflite file.
        tensors: Tensors of the interpreter.
    """
    known = {each.index: each for each in tensors if each.index >= 0}
    found = dict(_each(graph, known))
    for operator in graph.operators:
        source, made = known.get(operator.inputs[0] or 0), known.get(operator.output)
        if operator.kind in _SAME_VALUES and source and made and source.name in found:
            before = found[source.name]
            found[made.name] = replace(before, values=before.values.reshape(made.values.shape))
    return found


def _each(graph: Graph, known: Mapping[int, ReferenceTensor]) -> Iterator[tuple[str, Unrounded]]:
    for operator in graph.operators:
        made, compute = known.get(operator.output), _KINDS.get(operator.kind)
        output = graph.tensors[operator.output]
        if made is None or compute is None or made.type not in _LIMITS or not _is_plain(output):
            continue
        inputs = _Inputs(graph, operator, known)
        if inputs.are_known:
            real = compute(inputs)
            low, high = clamp_range(_activation(operator), inputs.quantisation(output), *_LIMITS[made.type])
            if real is not None and real.size == made.values.size:
                values = real.reshape(made.values.shape).clip(low, high)
                yield made.name, Unrounded(values, *_responses(operator.kind, inputs))


def _responses(kind: str, inputs: _Inputs) -> tuple[float, float]:
    """Return `response` and `most` of a convolution."""
    axes = {"CONV_2D": (1, 2, 3), "DEPTHWISE_CONV_2D": (0, 1, 2), "FULLY_CONNECTED": (1,)}.get(kind)
    if axes is None:
        return 0.0, 0.0
    step = inputs.quantisation(inputs.tensor(0)).scale / inputs.quantisation(inputs.output).scale
    changes = np.abs(inputs.real(1)) * step
    return float(np.sqrt(np.square(changes).sum(axis=axes).max())), float(changes.sum(axis=axes).max())


def _is_plain(tensor: Tensor) -> bool:
    return tensor.quantisation is not None and len(tensor.quantisation.scales) == 1


def _activation(operator: Operator) -> Any:
    options = operator.options
    return options.activation if isinstance(options, ActivationOptions | WindowOptions) else "NONE"


class _Inputs:
    """The operands of an operator, as real numbers."""

    def __init__(self, graph: Graph, operator: Operator, known: Mapping[int, ReferenceTensor]) -> None:
        self.operator = operator
        self._tensors = [None if each is None else graph.tensors[each] for each in operator.inputs]
        self._known = known
        self.output = graph.tensors[operator.output]

    @property
    def are_known(self) -> bool:
        """Return whether each operand is int8 with one quantisation, or a constant."""
        return all(
            each is None
            or each.data is not None
            or (each.index in self._known and self._known[each.index].type in _LIMITS and _is_plain(each))
            for each in self._tensors
        )

    def __len__(self) -> int:
        return len(self._tensors)

    @staticmethod
    def quantisation(tensor: Tensor) -> Quantisation:
        assert tensor.quantisation is not None
        return tensor.quantisation

    def real(self, place: int) -> Real:
        """Return an operand, without its quantisation."""
        tensor = self.tensor(place)
        scales, zero_points = self._by_axis(tensor)
        values = tensor.data if tensor.data is not None else self._known[tensor.index].values
        return (values.astype(np.float64) - zero_points) * scales

    def tensor(self, place: int) -> Tensor:
        found = self._tensors[place]
        assert found is not None
        return found

    def bias(self) -> Real | float:
        """Return the third operand, 0 if the operator has none."""
        return self.real(2) if len(self) > 2 and self._tensors[2] is not None else 0.0

    def steps(self, real: Real) -> Real:
        """Return real numbers in steps of the output."""
        quantisation = self.quantisation(self.output)
        return real / quantisation.scale + quantisation.zero_point

    def _by_axis(self, tensor: Tensor) -> tuple[Real, Real]:
        quantisation = tensor.quantisation or Quantisation((1.0,), (0,))
        shape = [1] * len(tensor.shape)
        if len(quantisation.scales) > 1:
            shape[quantisation.axis] = len(quantisation.scales)
        return (
            np.array(quantisation.scales, np.float64).reshape(shape),
            np.array(quantisation.zero_points, np.float64).reshape(shape),
        )


def _taps(inputs: _Inputs, height: int, width: int) -> Iterator[tuple[int, int, Real]]:
    """Yield each tap of a window with the values that it meets, zeros in the padding."""
    options = inputs.operator.options
    assert isinstance(options, WindowOptions)
    source = inputs.real(0)
    sizes = []
    for size, window, stride, dilation in (
        (source.shape[1], height, options.stride_h, options.dilation_h),
        (source.shape[2], width, options.stride_w, options.dilation_w),
    ):
        count, before = window_output(size, window, stride, dilation, options.padding)
        after = max(0, (count - 1) * stride + (window - 1) * dilation + 1 - size - before)
        sizes.append((count, before, after, stride, dilation))
    (rows, top, bottom, stride_h, dilation_h), (columns, left, right, stride_w, dilation_w) = sizes
    padded = np.pad(source, ((0, 0), (top, bottom), (left, right), (0, 0)))
    for y, x in product(range(height), range(width)):
        first, second = y * dilation_h, x * dilation_w
        yield (
            y,
            x,
            padded[
                :,
                first : first + (rows - 1) * stride_h + 1 : stride_h,
                second : second + (columns - 1) * stride_w + 1 : stride_w,
            ],
        )


def _conv_2d(inputs: _Inputs) -> Real | None:
    weights = inputs.real(1)
    if weights.ndim != 4 or weights.shape[3] != inputs.tensor(0).shape[3]:
        return None
    total: Any = inputs.bias()
    for y, x, values in _taps(inputs, weights.shape[1], weights.shape[2]):
        total = total + values @ weights[:, y, x].T
    return inputs.steps(total)


def _depthwise(inputs: _Inputs) -> Real | None:
    weights = inputs.real(1)
    depth = inputs.tensor(0).shape[3]
    if weights.ndim != 4 or weights.shape[3] % depth:
        return None
    total: Any = inputs.bias()
    for y, x, values in _taps(inputs, weights.shape[1], weights.shape[2]):
        total = total + np.repeat(values, weights.shape[3] // depth, axis=3) * weights[0, y, x]
    return inputs.steps(total)


def _fully_connected(inputs: _Inputs) -> Real | None:
    weights = inputs.real(1)
    return inputs.steps(inputs.real(0).reshape(-1, weights.shape[1]) @ weights.T + inputs.bias())


def _mean(inputs: _Inputs) -> Real | None:
    source, axes = inputs.real(0), inputs.tensor(1).data
    if axes is None:
        return None
    return inputs.steps(source.mean(axis=tuple(int(axis) for axis in np.ravel(axes))))


def _average(inputs: _Inputs) -> Real | None:
    options = inputs.operator.options
    if not isinstance(options, WindowOptions) or options.padding != "VALID":
        return None
    total: Any = 0.0
    for _, _, values in _taps(inputs, options.height, options.width):
        total = total + values
    return inputs.steps(total / (options.height * options.width))


def _of_two(function: Callable[[Real, Real], Real]) -> Callable[[_Inputs], Real | None]:
    return lambda inputs: inputs.steps(function(inputs.real(0), inputs.real(1)))


def _of_one(function: Callable[[Real], Real]) -> Callable[[_Inputs], Real | None]:
    return lambda inputs: inputs.steps(function(inputs.real(0)))


def _logistic(values: Real) -> Real:
    return 1 / (1 + np.exp(-values))


# Operators whose result follows from the real numbers of their operands.
_KINDS: dict[str, Callable[[_Inputs], Real | None]] = {
    "CONV_2D": _conv_2d,
    "DEPTHWISE_CONV_2D": _depthwise,
    "FULLY_CONNECTED": _fully_connected,
    "ADD": _of_two(np.add),
    "SUB": _of_two(np.subtract),
    "MUL": _of_two(np.multiply),
    "MEAN": _mean,
    "AVERAGE_POOL_2D": _average,
    "LOGISTIC": _of_one(_logistic),
    "TANH": _of_one(np.tanh),
    "QUANTIZE": _of_one(np.positive),
}
