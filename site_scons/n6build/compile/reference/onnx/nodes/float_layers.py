"""Layers of real numbers which are not quantised, in float32."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.onnx.building import Building
from n6build.compile.reference.onnx.node import Node, NodeFamily, Translate
from n6build.compile.reference.onnx.nodes.convolution import check_groups
from n6build.compile.reference.onnx.nodes.matrix import matrices_of
from n6build.compile.reference.onnx.operators.float_rows import ReduceOptions
from n6build.compile.reference.onnx.operators.float_windows import WindowOptions
from n6build.compile.reference.onnx.real import in_float32, made_in_float32, real_operator
from n6build.compile.reference.onnx.storage import Order, Shape, as_in_the_model, channels_last
from n6build.compile.reference.onnx.values import Float32, Held, Value
from n6build.compile.reference.onnx.windowing import Windowing, output_sizes, windowing_of

_EXPORT = "export the model again"
# From this version on, Softmax is over one dimension; before, it was over all dimensions from `axis` on.
_OVER_ONE = 13


def _softmax(node: Node, building: Building) -> Value:
    of = in_float32(node, building, 0)
    axis = node.axis(int(node.attributes.get("axis", -1 if node.version >= _OVER_ONE else 1)), len(of.shape))
    if node.version < _OVER_ONE and math.prod(of.shape[axis + 1 :]) > 1:
        raise node.error(
            "N6-NET-008", "is over several dimensions", "reshape them to one, or export with operator set 13"
        )
    order = (*(each for each in of.order if each != axis), axis)
    tensor = building.ordered(of, order).tensor
    return made_in_float32(node, building, "FloatSoftmax", [tensor], of.shape, order, node.type == "LogSoftmax")


# Reductions


def _rows(building: Building, of: Held, axes: Sequence[int]) -> Tensor:
    """Return a tensor whose last dimensions in memory are those to reduce."""
    kept = [axis for axis in range(len(of.shape)) if axis not in axes]
    return building.ordered(of, (*kept, *axes)).tensor


def _reduced(
    node: Node, building: Building, of: Held, axes: Sequence[int], operation: str, *, keeps_rank: bool, mean: bool
) -> Held:
    shape = tuple(1 if axis in axes else size for axis, size in enumerate(of.shape))
    if not keeps_rank:
        shape = tuple(size for axis, size in enumerate(of.shape) if axis not in axes) or (1,)
    count = math.prod(of.shape[axis] for axis in axes)
    options = ReduceOptions(operation, count, count if mean else 1)
    rows = _rows(building, of, axes)
    return made_in_float32(node, building, "FloatReduce", [rows], shape, as_in_the_model(len(shape)), options)


def _reduce(operation: str, *, mean: bool = False) -> Translate:
    def translate(node: Node, building: Building) -> Value:
        of = in_float32(node, building, 0)
        rank = len(of.shape)
        axes = sorted({node.axis(axis, rank) for axis in node.integers("axes", 1) or []})
        if not axes and node.attributes.get("noop_with_empty_axes"):
            return of
        keeps_rank = bool(node.attributes.get("keepdims", 1))
        made = axes or list(range(rank))
        return _reduced(node, building, of, made, operation, keeps_rank=keeps_rank, mean=mean)

    return translate


def _global_pool(operation: str) -> Translate:
    def translate(node: Node, building: Building) -> Value:
        of = in_float32(node, building, 0)
        axes = list(range(2, len(of.shape)))
        if not axes:
            raise node.error("N6-NET-007", f"its input has the shape {list(of.shape)}", _EXPORT)
        return _reduced(node, building, of, axes, operation, keeps_rank=True, mean=operation == "SUM")

    return translate


# Windows


def _conv(node: Node, building: Building) -> Value:
    of = in_float32(node, building, 0)
    weights = node.constant(1).numbers()
    bias = node.optional_constant(2)
    groups, rank = int(node.attributes.get("group", 1)), len(of.shape)
    check_groups(node, of.shape, weights.shape, groups)
    windowing = windowing_of(node, of.shape[2:], weights.shape[2:])
    shape = (of.shape[0], weights.shape[0], *output_sizes(node, windowing, of.shape[2:]))
    order = channels_last(rank)
    inputs = [
        building.ordered(of, order).tensor,
        building.constant(f"{node.outputs[0]} weights", weights.transpose(0, *range(2, rank), 1)),
        building.constant(f"{node.outputs[0]} bias", _bias(node, None if bias is None else bias.numbers(), shape[1])),
    ]
    return made_in_float32(node, building, "FloatConv", inputs, shape, order, WindowOptions(windowing, groups))


def _bias(node: Node, numbers: Float32 | None, channels: int) -> Float32:
    if numbers is None:
        return np.zeros(channels, np.float32)
    if numbers.size != channels:
        raise node.error("N6-NET-007", f"its bias has {numbers.size} values instead of {channels}", _EXPORT)
    return numbers.reshape(-1)


def _pool(*, average: bool) -> Translate:
    def translate(node: Node, building: Building) -> Value:
        of = in_float32(node, building, 0)
        rank = len(of.shape)
        counts = bool(node.attributes.get("count_include_pad", 0))
        if rank not in (3, 4) or len(node.outputs) > 1 or (counts and node.attributes.get("ceil_mode")):
            what = "has another rank, returns indices, or has ceil_mode together with count_include_pad"
            raise node.error("N6-NET-008", what, "export it over one or two dimensions, without indices")
        windowing = windowing_of(node, of.shape[2:], tuple(map(int, node.attributes["kernel_shape"])))
        _check_padding(node, windowing)
        shape: Shape = (*of.shape[:2], *output_sizes(node, windowing, of.shape[2:]))
        order = channels_last(rank)
        options = WindowOptions(windowing, average=average, counts_padding=counts)
        return made_in_float32(node, building, "FloatPool", [building.ordered(of, order).tensor], shape, order, options)

    return translate


def _check_padding(node: Node, windowing: Windowing) -> None:
    pads = (*windowing.before, *windowing.after)
    if any(pad >= size for pad, size in zip(pads, windowing.window * 2, strict=True)):
        what = f"paddings {windowing.before}, {windowing.after} are as large as its window {windowing.window}"
        raise node.error("N6-NET-007", what, "pad by less than the window")


# Products of matrices


def _matmul(node: Node, building: Building) -> Value:
    x, y = (in_float32(node, building, position) for position in (0, 1))
    return _product(node, building, x, y)


def _product(node: Node, building: Building, x: Held, y: Held) -> Held:
    """Return the product of two tensors of matrices."""
    of_x, of_y, shape = matrices_of(node, x.shape, y.shape)
    rank = len(shape)
    natural = as_in_the_model(rank)
    inputs_of_kernel = [
        _matrices(building, x, of_x, natural),
        _matrices(building, y, of_y, (*range(rank - 2), rank - 1, rank - 2)),
    ]
    return made_in_float32(node, building, "FloatMatMul", inputs_of_kernel, shape, natural)


def _matrices(building: Building, of: Held, shape: Shape, order: Order) -> Tensor:
    data = of.tensor.data
    if data is not None:
        # Constants are put in order when the model is compiled.
        return building.constant(of.tensor.name, data.reshape(shape).transpose(order))
    widened = of if of.shape == shape else building.reshaped(of, shape)
    return building.ordered(widened, order).tensor


def _gemm(node: Node, building: Building) -> Value:
    """Translate a Gemm to a product and a sum; alpha and beta have to be 1."""
    attributes = node.attributes
    if (attributes.get("alpha", 1.0), attributes.get("beta", 1.0)) != (1.0, 1.0):
        what = f"has alpha {attributes.get('alpha', 1.0):g} and beta {attributes.get('beta', 1.0):g}"
        raise node.error("N6-NET-008", what, "use alpha 1 and beta 1")
    x, y = (
        _turned(building, in_float32(node, building, position))
        if attributes.get(name)
        else in_float32(node, building, position)
        for position, name in enumerate(("transA", "transB"))
    )
    made = _product(node, building, x, y)
    if node.given(2) is None:
        return made
    summand = building.in_model_order(in_float32(node, building, 2)).tensor
    total = real_operator(building, "ADD", [made.tensor, summand], node.outputs[0], made.tensor.shape)
    return Held(total, made.shape, made.order)


def _turned(building: Building, of: Held) -> Held:
    if of.tensor.data is not None:
        return Held(building.constant(of.tensor.name, of.tensor.data.T), of.shape[::-1], of.order)
    return Held(of.tensor, of.shape[::-1], tuple(1 - axis for axis in of.order))


# Normalisations


def _norm(node: Node, building: Building, axes: Sequence[int], scale: Tensor, bias: Tensor) -> Held:
    """Return normalised numbers, scaled and shifted.

    Their mean along the last dimensions is 0, their deviation 1.
    """
    of = building.in_model_order(in_float32(node, building, 0))
    name, shape = node.outputs[0], of.shape
    order = as_in_the_model(len(shape))

    def combined(kind: str, a: Tensor, b: Tensor, what: str) -> Tensor:
        return real_operator(building, kind, [a, b], f"{name} {what}", np.broadcast_shapes(a.shape, b.shape))

    mean = _reduced(node, building, of, axes, "SUM", keeps_rank=True, mean=True)
    centred = combined("SUB", of.tensor, mean.tensor, "centred")
    square = Held(combined("MUL", centred, centred, "squares"), shape, order)
    variance = _reduced(node, building, square, axes, "SUM", keeps_rank=True, mean=True)
    epsilon = building.constant(f"{name} epsilon", np.full(1, node.attributes.get("epsilon", 1e-5), np.float32))
    raised = combined("ADD", variance.tensor, epsilon, "variance")
    deviation = real_operator(building, "SQRT", [raised], f"{name} deviation", raised.shape)
    scaled = combined("MUL", combined("DIV", centred, deviation, "normal"), scale, "scaled")
    return Held(real_operator(building, "ADD", [scaled, bias], name, shape), shape, order)


def _layer_normalization(node: Node, building: Building) -> Value:
    shape = node.value(0).shape
    axis = node.axis(int(node.attributes.get("axis", -1)), len(shape))
    if any(node.outputs[1:]):
        raise node.error("N6-NET-008", "gives mean or deviation, too", "export the model for inference")
    depth = shape[axis:]
    bias = node.optional_constant(2)
    numbers = [node.constant(1).numbers(), np.zeros(depth, np.float32) if bias is None else bias.numbers()]
    constants = _constants(node, building, numbers, depth)
    return _norm(node, building, range(axis, len(shape)), *constants)


def _instance_normalization(node: Node, building: Building) -> Value:
    shape = node.value(0).shape
    if len(shape) < 3:
        raise node.error("N6-NET-007", f"its input has the shape {list(shape)}", "use channels and a dimension behind")
    sizes = (shape[1], *(1,) * (len(shape) - 2))
    constants = _constants(node, building, [node.constant(position).numbers() for position in (1, 2)], sizes)
    return _norm(node, building, range(2, len(shape)), *constants)


def _constants(node: Node, building: Building, numbers: Sequence[Float32], shape: Shape) -> tuple[Tensor, Tensor]:
    if any(each.size != math.prod(shape) for each in numbers):
        raise node.error("N6-NET-007", f"scale and bias have other sizes than {list(shape)}", _EXPORT)
    scale, bias = (
        building.constant(f"{node.outputs[0]} {name}", each.reshape(shape))
        for name, each in zip(("scale", "bias"), numbers, strict=True)
    )
    return scale, bias


def _prelu(node: Node, building: Building) -> Value:
    """Translate a PRelu: max(x, 0) + slope * min(x, 0)."""
    of = building.in_model_order(in_float32(node, building, 0))
    slopes = in_float32(node, building, 1)
    name, shape = node.outputs[0], of.tensor.shape
    zero = building.constant(f"{name} zero", np.zeros(1, np.float32))
    high, low = (
        real_operator(building, kind, [of.tensor, zero], f"{name} {kind.lower()}", shape)
        for kind in ("MAXIMUM", "MINIMUM")
    )
    product = real_operator(building, "MUL", [low, slopes.tensor], f"{name} product", shape)
    return Held(real_operator(building, "ADD", [high, product], name, shape), of.shape, of.order)


FAMILY = NodeFamily(
    in_float32={
        "Softmax": _softmax,
        "LogSoftmax": _softmax,
        "ReduceMean": _reduce("SUM", mean=True),
        "ReduceSum": _reduce("SUM"),
        "ReduceProd": _reduce("PRODUCT"),
        "ReduceMax": _reduce("LARGEST"),
        "ReduceMin": _reduce("SMALLEST"),
        "GlobalAveragePool": _global_pool("SUM"),
        "GlobalMaxPool": _global_pool("LARGEST"),
        "Conv": _conv,
        "AveragePool": _pool(average=True),
        "MaxPool": _pool(average=False),
        "MatMul": _matmul,
        "Gemm": _gemm,
        "LayerNormalization": _layer_normalization,
        "InstanceNormalization": _instance_normalization,
        "PRelu": _prelu,
    }
)
