"""What an operator needs of its tensors: types, shapes, quantisation. One error names operator, tensor and what is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from n6build.base.errors import N6Error
from n6build.network.reference.graph import DType, Graph, Operator, Quantisation, SoftmaxOptions, Tensor, WindowOptions

MAX_DIMENSION = 0xFFFF
# Outside of this a scale is not the result of a calibration; its fixed-point multiplier would lose all precision.
MIN_SCALE, MAX_SCALE = 1e-9, 1e4
_LIMITS: dict[DType, tuple[int, int]] = {"int8": (-128, 127), "uint8": (0, 255)}


@dataclass(frozen=True)
class _Problem:
    """An error before the other operators were looked at."""

    id: str
    what: str
    hint: str


_QUANTISE = "quantise the model to int8 (full integer, with a representative data set)"
_CONVERT = "convert the model again; if it persists, this graph is not what the operator's definition says"


class _Operands:
    """The tensors of one operator, by position."""

    def __init__(self, graph: Graph, operator: Operator) -> None:
        self.operator = operator
        self.inputs = tuple(None if index is None else graph.tensors[index] for index in operator.inputs)
        self.output = graph.tensors[operator.output]

    def input(self, position: int) -> Tensor | None:
        return self.inputs[position] if position < len(self.inputs) else None

    @property
    def first(self) -> Tensor:
        tensor = self.inputs[0]
        assert tensor is not None
        return tensor


def check_graph(graph: Graph, where: str) -> None:
    """Raises N6-NET-004 (type), -005 (shape or batch), -006 (quantisation), -007 (operands do not fit), for the first
    operator in question; the text says how many others are like it."""
    problems = [(operator, problem) for operator in graph.operators if (problem := _problem(graph, operator))]
    if not problems:
        _check_batches(graph, where)
        return
    operator, problem = problems[0]
    alike = sum(other.id == problem.id for _, other in problems[1:])
    more = f" (and {alike} more operators alike)" if alike else ""
    raise N6Error(problem.id, f"{operator}: {problem.what}{more}", where=where, hint=problem.hint)


def _problem(graph: Graph, operator: Operator) -> _Problem | None:
    rule = _RULES[operator.kind]
    operands = _Operands(graph, operator)
    checks = (
        _check_arity(operands, rule),
        _check_types(operands, rule),
        _check_activation_quantisation(operands, rule),
        _check_dimensions(operands),
    )
    for check in checks:
        problem = next(check, None)
        if problem:
            return problem
    return next(rule.check(operands), None)


def _check_batches(graph: Graph, where: str) -> None:
    for index in (*graph.inputs, *graph.outputs):
        tensor = graph.tensors[index]
        if len(tensor.shape) > 1 and tensor.shape[0] != 1:
            raise N6Error(
                "N6-NET-005",
                f"tensor {_shown(tensor)} has a batch of {tensor.shape[0]}: shape {list(tensor.shape)}",
                where=where,
                hint="convert the model with batch 1",
            )


def _shown(tensor: Tensor) -> str:
    return f"{tensor.name!a} ({tensor.dtype})"


@dataclass(frozen=True)
class _Rule:
    """inputs: allowed types by position, constants marked by `constants`. required: how many have to be there."""

    inputs: tuple[tuple[DType, ...], ...]
    required: int
    constants: tuple[int, ...]
    output: tuple[DType, ...]
    check: Callable[[_Operands], Iterator[_Problem]]


def _check_arity(operands: _Operands, rule: _Rule) -> Iterator[_Problem]:
    present = [position for position in range(rule.required) if operands.input(position) is not None]
    if len(present) < rule.required or len(operands.inputs) > len(rule.inputs):
        yield _Problem("N6-NET-007", f"has {len(operands.inputs)} inputs, not {len(rule.inputs)}", _CONVERT)


def _check_types(operands: _Operands, rule: _Rule) -> Iterator[_Problem]:
    pairs = [(tensor, types) for tensor, types in zip(operands.inputs, rule.inputs, strict=False) if tensor is not None]
    for tensor, types in [*pairs, (operands.output, rule.output)]:
        if tensor.dtype not in types:
            yield _Problem("N6-NET-004", f"tensor {_shown(tensor)} has to be {' or '.join(types)}", _QUANTISE)
    for position, operand in enumerate(operands.inputs):
        if operand is not None and position in rule.constants and operand.data is None:
            yield _Problem("N6-NET-007", f"tensor {_shown(operand)} has to be a constant", "freeze the model's weights")
        if operand is not None and position == 0 and operand.data is not None:
            yield _Problem("N6-NET-007", f"tensor {_shown(operand)} is a constant", "fold constants before converting")


def _check_activation_quantisation(operands: _Operands, rule: _Rule) -> Iterator[_Problem]:
    candidates = [
        tensor for position, tensor in enumerate(operands.inputs) if tensor and position not in rule.constants
    ]
    for candidate in [*candidates, operands.output]:
        if candidate.dtype in ("int8", "uint8"):
            yield from _check_per_tensor(candidate)


def _check_per_tensor(tensor: Tensor) -> Iterator[_Problem]:
    quantisation = tensor.quantisation
    if quantisation is None:
        yield _Problem("N6-NET-006", f"tensor {_shown(tensor)} has no quantisation", _QUANTISE)
        return
    if len(quantisation.scales) != 1:
        yield _Problem(
            "N6-NET-006",
            f"tensor {_shown(tensor)} has {len(quantisation.scales)} scales; activations have one",
            _QUANTISE,
        )
        return
    if not MIN_SCALE <= quantisation.scale <= MAX_SCALE:
        yield _Problem(
            "N6-NET-006",
            f"tensor {_shown(tensor)} has the scale {quantisation.scale:g}, outside of {MIN_SCALE:g} to {MAX_SCALE:g}",
            "calibrate with representative data; a constant or infinite activation gives such a scale",
        )
    low, high = _LIMITS[tensor.dtype]
    if not low <= quantisation.zero_point <= high:
        yield _Problem(
            "N6-NET-006",
            f"tensor {_shown(tensor)} has the zero point {quantisation.zero_point}, outside of {low} to {high}",
            _QUANTISE,
        )


def _check_dimensions(operands: _Operands) -> Iterator[_Problem]:
    for tensor in (*operands.inputs, operands.output):
        if tensor is not None and len(tensor.shape) == 4 and max(tensor.shape) > MAX_DIMENSION:
            yield _Problem(
                "N6-NET-005", f"tensor {_shown(tensor)} has the shape {list(tensor.shape)}", f"at most {MAX_DIMENSION}"
            )


def _check_weight_quantisation(weights: Tensor, axis: int) -> Iterator[_Problem]:
    """One scale, or one for each index of `axis`; symmetric."""
    quantisation = weights.quantisation
    if quantisation is None:
        yield _Problem("N6-NET-006", f"tensor {_shown(weights)} has no quantisation", _QUANTISE)
        return
    count, channels = len(quantisation.scales), weights.shape[axis]
    if count not in (1, channels) or (count > 1 and quantisation.axis != axis):
        yield _Problem(
            "N6-NET-006",
            f"tensor {_shown(weights)} of shape {list(weights.shape)} has {count} scales along dimension "
            f"{quantisation.axis}; expected 1, or {channels} along dimension {axis}",
            _QUANTISE,
        )
    if any(not math.isfinite(scale) or scale <= 0 for scale in quantisation.scales):
        yield _Problem("N6-NET-006", f"tensor {_shown(weights)} has a scale that is not positive", _QUANTISE)
    if any(zero_point != 0 for zero_point in quantisation.zero_points):
        yield _Problem(
            "N6-NET-006", f"tensor {_shown(weights)} has a zero point other than 0", "use symmetric int8 weights"
        )


def _check_bias(bias: Tensor | None, channels: int) -> Iterator[_Problem]:
    if bias is not None and bias.elements != channels:
        yield _Problem(
            "N6-NET-007", f"tensor {_shown(bias)} has {bias.elements} values instead of {channels}", _CONVERT
        )


def _check_rank_4(*tensors: Tensor) -> Iterator[_Problem]:
    for tensor in tensors:
        if len(tensor.shape) != 4:
            yield _Problem(
                "N6-NET-005", f"tensor {_shown(tensor)} has the shape {list(tensor.shape)}, not NHWC", _CONVERT
            )
        elif tensor.shape[0] != 1:
            yield _Problem(
                "N6-NET-005",
                f"tensor {_shown(tensor)} has a batch of {tensor.shape[0]}",
                "convert the model with batch 1",
            )


def _check_same_quantisation(a: Tensor, b: Tensor) -> Iterator[_Problem]:
    if a.quantisation and b.quantisation and _parameters(a.quantisation) != _parameters(b.quantisation):
        yield _Problem(
            "N6-NET-006", f"tensors {_shown(a)} and {_shown(b)} have to have the same scale and zero point", _QUANTISE
        )


def _parameters(quantisation: Quantisation) -> tuple[float, int]:
    return quantisation.scale, quantisation.zero_point


def window_output(size: int, window: int, stride: int, dilation: int, padding: str) -> tuple[int, int]:
    """Output size along one dimension and the padding before it."""
    extent = (window - 1) * dilation + 1
    if padding == "VALID":
        return (size - extent) // stride + 1, 0
    output = -(-size // stride)
    return output, max(0, (output - 1) * stride + extent - size) // 2


def _check_window(operands: _Operands, height: int, width: int, channels: int) -> Iterator[_Problem]:
    options = operands.operator.options
    assert isinstance(options, WindowOptions)
    numbers = (height, width, options.stride_h, options.stride_w, options.dilation_h, options.dilation_w)
    if min(numbers) < 1 or max(numbers) > MAX_DIMENSION:
        yield _Problem("N6-NET-007", f"window, stride or dilation is out of range: {numbers}", _CONVERT)
        return
    _, in_h, in_w, _ = operands.first.shape
    out_h, _ = window_output(in_h, height, options.stride_h, options.dilation_h, options.padding)
    out_w, _ = window_output(in_w, width, options.stride_w, options.dilation_w, options.padding)
    if operands.output.shape != (1, out_h, out_w, channels) or min(out_h, out_w) < 1:
        yield _Problem(
            "N6-NET-007",
            f"tensor {_shown(operands.output)} has the shape {list(operands.output.shape)} instead of "
            f"{[1, out_h, out_w, channels]}",
            _CONVERT,
        )


def _check_convolution(operands: _Operands) -> Iterator[_Problem]:
    weights = operands.input(1)
    assert weights is not None
    yield from _check_rank_4(operands.first, operands.output)
    if len(weights.shape) != 4 or weights.shape[3] != operands.first.shape[3]:
        yield _Problem(
            "N6-NET-007",
            f"tensor {_shown(weights)} of shape {list(weights.shape)} does not fit {operands.first.shape[3]} input channels",
            "grouped convolutions are not supported",
        )
        return
    yield from _check_weight_quantisation(weights, 0)
    yield from _check_bias(operands.input(2), weights.shape[0])
    yield from _check_window(operands, weights.shape[1], weights.shape[2], weights.shape[0])


def _check_depthwise(operands: _Operands) -> Iterator[_Problem]:
    weights = operands.input(1)
    assert weights is not None
    yield from _check_rank_4(operands.first, operands.output)
    if len(weights.shape) != 4 or weights.shape[0] != 1 or weights.shape[3] % operands.first.shape[3]:
        yield _Problem(
            "N6-NET-007",
            f"tensor {_shown(weights)} of shape {list(weights.shape)} does not fit {operands.first.shape[3]} input channels",
            _CONVERT,
        )
        return
    yield from _check_weight_quantisation(weights, 3)
    yield from _check_bias(operands.input(2), weights.shape[3])
    yield from _check_window(operands, weights.shape[1], weights.shape[2], weights.shape[3])


def _check_fully_connected(operands: _Operands) -> Iterator[_Problem]:
    weights = operands.input(1)
    assert weights is not None
    if len(weights.shape) != 2 or operands.first.elements % weights.shape[-1]:
        yield _Problem(
            "N6-NET-007",
            f"tensor {_shown(weights)} of shape {list(weights.shape)} does not fit {operands.first.elements} inputs",
            _CONVERT,
        )
        return
    outputs, inputs = weights.shape
    yield from _check_weight_quantisation(weights, 0)
    yield from _check_bias(operands.input(2), outputs)
    if operands.output.elements != operands.first.elements // inputs * outputs:
        yield _Problem(
            "N6-NET-007",
            f"tensor {_shown(operands.output)} has {operands.output.elements} elements instead of "
            f"{operands.first.elements // inputs * outputs}",
            _CONVERT,
        )


def _check_add(operands: _Operands) -> Iterator[_Problem]:
    second = operands.input(1)
    assert second is not None
    shapes = [operands.first.shape, second.shape]
    single = 1 in (operands.first.elements, second.elements)
    largest = max(operands.first, second, key=lambda tensor: tensor.elements)
    if not (shapes[0] == shapes[1] or single) or operands.output.elements != largest.elements:
        yield _Problem(
            "N6-NET-007",
            f"tensors {_shown(operands.first)} {list(shapes[0])} and {_shown(second)} {list(shapes[1])} are not of one shape",
            "broadcasting is supported for a single element only",
        )


def _check_pooling(operands: _Operands) -> Iterator[_Problem]:
    options = operands.operator.options
    assert isinstance(options, WindowOptions)
    yield from _check_rank_4(operands.first, operands.output)
    yield from _check_same_quantisation(operands.first, operands.output)
    yield from _check_window(operands, options.height, options.width, operands.first.shape[3])


def _check_pad(operands: _Operands) -> Iterator[_Problem]:
    paddings = operands.input(1)
    assert paddings is not None and paddings.data is not None
    yield from _check_rank_4(operands.first, operands.output)
    yield from _check_same_quantisation(operands.first, operands.output)
    if paddings.shape != (4, 2):
        yield _Problem("N6-NET-007", f"tensor {_shown(paddings)} has the shape {list(paddings.shape)}", _CONVERT)
        return
    amounts = paddings.data.tolist()
    sizes = tuple(size + before + after for size, (before, after) in zip(operands.first.shape, amounts, strict=True))
    if min(min(both) for both in amounts) < 0 or amounts[0] != [0, 0] or sizes != operands.output.shape:
        yield _Problem(
            "N6-NET-007",
            f"paddings {amounts} do not make {list(operands.output.shape)} of {list(operands.first.shape)}",
            _CONVERT,
        )
    value = operands.input(2)
    if value is not None:
        if value.elements != 1:
            yield _Problem(
                "N6-NET-007", f"tensor {_shown(value)} has {value.elements} elements instead of one", _CONVERT
            )
        yield from _check_per_tensor(value)
        yield from _check_same_quantisation(value, operands.output)


def _check_reshape(operands: _Operands) -> Iterator[_Problem]:
    if operands.first.elements != operands.output.elements or operands.first.dtype != operands.output.dtype:
        yield _Problem(
            "N6-NET-007",
            f"tensor {_shown(operands.first)} {list(operands.first.shape)} does not become "
            f"{_shown(operands.output)} {list(operands.output.shape)}",
            _CONVERT,
        )
    yield from _check_same_quantisation(operands.first, operands.output)


def _check_mean(operands: _Operands) -> Iterator[_Problem]:
    axes = operands.input(1)
    assert axes is not None and axes.data is not None
    yield from _check_rank_4(operands.first)
    rank = len(operands.first.shape)
    named = [int(axis) for axis in axes.data.reshape(-1)]
    # Negative axes count from the end; others outside of the rank stay what they are and match nothing.
    if {axis + rank if -rank <= axis < 0 else axis for axis in named} != {1, 2}:
        yield _Problem(
            "N6-NET-007",
            f"tensor {_shown(axes)} names the axes {named}; height and width, [1, 2], are supported",
            "use a global average over the image",
        )
        return
    if operands.output.elements != operands.first.shape[3]:
        yield _Problem(
            "N6-NET-007",
            f"tensor {_shown(operands.output)} has {operands.output.elements} elements instead of "
            f"{operands.first.shape[3]}",
            _CONVERT,
        )


def _check_softmax(operands: _Operands) -> Iterator[_Problem]:
    assert isinstance(operands.operator.options, SoftmaxOptions)
    quantisation = operands.output.quantisation
    assert quantisation is not None
    if quantisation.zero_point != -128 or not math.isclose(quantisation.scale, 1 / 256, rel_tol=1e-6):
        yield _Problem(
            "N6-NET-006",
            f"tensor {_shown(operands.output)} has scale {quantisation.scale:g} and zero point {quantisation.zero_point}; "
            "a softmax has 1/256 and -128",
            _QUANTISE,
        )
    if operands.first.elements != operands.output.elements or not operands.first.shape:
        yield _Problem("N6-NET-007", f"tensor {_shown(operands.output)} has another shape than its input", _CONVERT)


def _check_elementwise(operands: _Operands) -> Iterator[_Problem]:
    if operands.first.elements != operands.output.elements:
        yield _Problem("N6-NET-007", f"tensor {_shown(operands.output)} has another shape than its input", _CONVERT)


_I8: tuple[DType, ...] = ("int8",)
_BYTE: tuple[DType, ...] = ("int8", "uint8")
_F32: tuple[DType, ...] = ("float32",)
_I32: tuple[DType, ...] = ("int32",)
_ANY: tuple[DType, ...] = ("int8", "uint8", "float32")

_RULES: dict[str, _Rule] = {
    "ADD": _Rule((_I8, _I8), 2, (), _I8, _check_add),
    "AVERAGE_POOL_2D": _Rule((_I8,), 1, (), _I8, _check_pooling),
    "CONV_2D": _Rule((_I8, _I8, _I32), 2, (1, 2), _I8, _check_convolution),
    "DEPTHWISE_CONV_2D": _Rule((_I8, _I8, _I32), 2, (1, 2), _I8, _check_depthwise),
    "DEQUANTIZE": _Rule((_BYTE,), 1, (), _F32, _check_elementwise),
    "FULLY_CONNECTED": _Rule((_I8, _I8, _I32), 2, (1, 2), _I8, _check_fully_connected),
    "MAX_POOL_2D": _Rule((_I8,), 1, (), _I8, _check_pooling),
    "MEAN": _Rule((_I8, _I32), 2, (1,), _I8, _check_mean),
    "PAD": _Rule((_I8, _I32), 2, (1,), _I8, _check_pad),
    "PADV2": _Rule((_I8, _I32, _I8), 3, (1, 2), _I8, _check_pad),
    "QUANTIZE": _Rule(((*_BYTE, *_F32),), 1, (), _BYTE, _check_elementwise),
    "RESHAPE": _Rule((_ANY, _I32), 1, (1,), _ANY, _check_reshape),
    "SOFTMAX": _Rule((_I8,), 1, (), _I8, _check_softmax),
}
