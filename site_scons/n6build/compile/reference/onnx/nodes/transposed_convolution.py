"""ConvTranspose, computed as a convolution.

Each output channel is computed once for each place between two elements of the input (its phase).
These phases are then put side by side. No product with a zero is computed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from n6build.compile.reference.onnx.building import Building
from n6build.compile.reference.onnx.node import Node, NodeFamily
from n6build.compile.reference.onnx.nodes.convolution import Weights, parameters, weights_of
from n6build.compile.reference.onnx.operators.float_windows import WindowOptions
from n6build.compile.reference.onnx.operators.qlinear_conv import ConvOptions
from n6build.compile.reference.onnx.real import in_float32, made_in_float32
from n6build.compile.reference.onnx.storage import channels_last
from n6build.compile.reference.onnx.values import Constant, Held, Pending, Target, Value
from n6build.compile.reference.onnx.windowing import Windowing, windowing_of
from n6build.compile.reference.windows import MAX_DIMENSION


@dataclass(frozen=True)
class _Phases:
    """Phases along one dimension.

    Attributes:
        stride: Number of phases.
        window: Elements of the input that one output needs.
        before: Padding in front of the input.
        after: Padding behind the input.
        count: Places of the input at which all phases are computed.
        first: Number of the first wanted output element among all of them.
        size: Size of the output.
    """

    stride: int
    window: int
    before: int
    after: int
    count: int
    first: int
    size: int


def _phases(given: int, kernel: int, stride: int, padding: int, size: int) -> _Phases:
    window = -(-kernel // stride)
    skipped = min(padding // stride, window - 1)
    before = window - 1 - skipped
    first = padding - skipped * stride
    count = -(-(first + size) // stride)
    after = max(0, count - given - before + window - 1)
    return _Phases(stride, window, before, after, given + before + after - window + 1, first, size)


@dataclass(frozen=True)
class _Plan:
    """A transposed convolution as a convolution.

    Attributes:
        channels: Number of output channels.
        groups: Number of groups of channels.
        sizes: Height and width of the output.
        phases: Phases along the height and the width.
    """

    channels: int
    groups: int
    sizes: tuple[int, ...]
    phases: tuple[_Phases, _Phases]

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the output."""
        return (1, self.channels, *self.sizes)

    @property
    def shape_of_phases(self) -> tuple[int, ...]:
        """Return the shape of the convolution's output."""
        rows, columns = self.phases
        return (1, self.channels * rows.stride * columns.stride, rows.count, columns.count)

    @property
    def windowing(self) -> Windowing:
        """Return the window of the convolution."""
        pads = tuple(each.before for each in self.phases), tuple(each.after for each in self.phases)
        return Windowing(tuple(each.window for each in self.phases), (1, 1), (1, 1), *pads)


def _conv_transpose(node: Node, building: Building) -> Value:
    given, groups = node.quantised(0), int(node.attributes.get("group", 1))
    weights = weights_of(node, node.constant(1), 1 if groups == 1 else 0)
    plan = _plan(node, given.shape, weights.shape, groups)
    made = Weights(_phase_weights(weights, plan), _repeated(node.optional_constant(2), plan))
    order = channels_last(4)

    def make(target: Target) -> Held:
        source = building.ordered(given, order)
        inputs = [source.tensor, *parameters(node, building, source, made)]
        options = ConvOptions(target.low, target.high, plan.windowing, groups)
        of_phases = replace(target, name=f"{target.name} phases")
        computed = building.made("QLinearConv", inputs, of_phases, plan.shape_of_phases, order, options)
        return _cut(building, _side_by_side(building, computed, plan), plan, target.name)

    return Pending(plan.shape, make)


def _in_float32(node: Node, building: Building) -> Value:
    given, groups = in_float32(node, building, 0), int(node.attributes.get("group", 1))
    weights = Constant(node.constant(1).numbers())
    plan = _plan(node, given.shape, weights.shape, groups)
    bias = node.optional_constant(2)
    numbers = Constant(np.zeros(plan.channels, np.float32) if bias is None else bias.numbers())
    repeated = _repeated(numbers, plan)
    assert repeated is not None
    order, name = channels_last(4), node.outputs[0]
    inputs = [
        building.ordered(given, order).tensor,
        building.constant(f"{name} weights", _phase_weights(weights, plan).array.transpose(0, 2, 3, 1)),
        building.constant(f"{name} bias", repeated.array),
    ]
    options = WindowOptions(plan.windowing, groups)
    computed = made_in_float32(node, building, "FloatConv", inputs, plan.shape_of_phases, order, options)
    return _cut(building, _side_by_side(building, computed, plan), plan, name)


def _plan(node: Node, given: tuple[int, ...], weights: tuple[int, ...], groups: int) -> _Plan:
    """Return the phases of a node.

    Args:
        node: The node.
        given: Shape of its input.
        weights: Shape of its weights.
        groups: Number of groups of channels.

    Raises:
        N6Error: N6-NET-005 if sizes are too large; N6-NET-007 if they do not fit together;
            N6-NET-008 if its attributes are not supported.
    """
    if len(given) != 4 or len(weights) != 4 or groups < 1 or weights[0] != given[1]:
        what = f"weights {list(weights)} in {groups} groups do not fit its input {list(given)}"
        raise node.error("N6-NET-007", what, "use a transposed convolution over height and width")
    windowing = windowing_of(node, given[2:], weights[2:])
    automatic = node.attributes.get("auto_pad", b"NOTSET") not in (b"NOTSET", b"VALID")
    if max(windowing.dilations) > 1 or automatic or given[1] % groups or (groups > 1 and weights[1] > 1):
        hint = "export it without dilations and auto_pad, in one group or with one channel in each"
        raise node.error("N6-NET-008", "is dilated, has auto_pad, or groups of several channels", hint)
    sizes = _sizes(node, windowing, given[2:])
    channels = weights[1] * groups
    strides = windowing.strides
    if min(sizes) < 1 or max(sizes) > MAX_DIMENSION or channels * math.prod(strides) > MAX_DIMENSION:
        what = f"makes {channels} channels of {sizes}, with the strides {list(strides)}"
        raise node.error("N6-NET-005", what, f"use at most {MAX_DIMENSION} channels times strides, and as many outputs")
    rows, columns = (
        _phases(given[2 + axis], windowing.window[axis], windowing.strides[axis], windowing.before[axis], sizes[axis])
        for axis in range(2)
    )
    return _Plan(channels, groups, tuple(sizes), (rows, columns))


def _sizes(node: Node, windowing: Windowing, given: tuple[int, ...]) -> list[int]:
    added = [int(each) for each in node.attributes.get("output_padding", (0, 0))]
    sizes = [
        (size - 1) * stride + kernel + more - before - after
        for size, stride, kernel, more, before, after in zip(
            given, windowing.strides, windowing.window, added, windowing.before, windowing.after, strict=True
        )
    ]
    asked = node.attributes.get("output_shape")
    if asked is not None and [int(size) for size in asked][-2:] != sizes:
        raise node.error("N6-NET-008", f"asks for the output {list(asked)}", "give pads and output_padding instead")
    return sizes


def _phase_weights(weights: Constant, plan: _Plan) -> Constant:
    """Return weights as QLinearConv has them.

    Their shape is [output channel][input channel of its group][height][width]. Phases are the
    slower part of the output channel's number in one group, the faster one where each channel is a
    group.
    """
    (rows, columns), groups = plan.phases, plan.groups
    inputs, outputs, height, width = weights.shape
    sizes = (rows.window * rows.stride, columns.window * columns.stride)
    padded = np.zeros((inputs, outputs, *sizes), weights.array.dtype)
    padded[:, :, :height, :width] = weights.array
    split = padded.reshape(inputs, outputs, rows.window, rows.stride, columns.window, columns.stride)
    # The convolution applies the window of the transposed one in reverse order.
    split = split[:, :, ::-1, :, ::-1, :]
    each = rows.stride * columns.stride
    if groups == 1:
        array = split.transpose(3, 5, 1, 0, 2, 4).reshape(each * outputs, inputs, rows.window, columns.window)
    else:
        array = split.transpose(0, 1, 3, 5, 2, 4).reshape(inputs * each, 1, rows.window, columns.window)
    quantisation = weights.quantisation
    if quantisation is not None and len(quantisation.scales) > 1:
        scales = _per_phase(np.array(quantisation.scales), outputs * groups, each, groups)
        quantisation = replace(quantisation, scales=tuple(map(float, scales)), zero_points=(0,) * len(scales), axis=0)
    return Constant(array, quantisation)


def _per_phase(values: np.ndarray, channels: int, phases: int, groups: int) -> np.ndarray:
    """Return one value for each output channel of all phases.

    Args:
        values: One for each output channel, or fewer if they are alike in each group.
    """
    values = np.tile(values, channels // values.size)
    return np.tile(values, phases) if groups == 1 else np.repeat(values, phases)


def _repeated(bias: Constant | None, plan: _Plan) -> Constant | None:
    if bias is None:
        return None
    (rows, columns), channels, groups = plan.phases, plan.channels, plan.groups
    each = rows.stride * columns.stride
    quantisation = bias.quantisation
    if quantisation is not None and len(quantisation.scales) > 1:
        scales = _per_phase(np.array(quantisation.scales), channels, each, groups)
        quantisation = replace(quantisation, scales=tuple(map(float, scales)), zero_points=(0,) * len(scales))
    return Constant(_per_phase(bias.array.reshape(-1), channels, each, groups), quantisation)


def _side_by_side(building: Building, of: Held, plan: _Plan) -> Held:
    """Put the phases of each place of the input side by side in height and width."""
    (rows, columns), channels, groups = plan.phases, plan.channels, plan.groups
    if rows.stride == columns.stride == 1:
        return of
    tensor = of.tensor
    counts, strides = (rows.count, columns.count), (rows.stride, columns.stride)
    apart = (1, *counts, *strides, channels) if groups == 1 else (1, *counts, channels, *strides)
    perm = (0, 1, 3, 2, 4, 5) if groups == 1 else (0, 1, 4, 2, 5, 3)
    split = building.operator(
        "RESHAPE", [tensor], building.tensor(tensor.name, tensor.dtype, apart, tensor.quantisation)
    )
    order = building.constant(f"{tensor.name} phases", np.array(perm, np.int32))
    mixed = building.tensor(tensor.name, tensor.dtype, tuple(apart[axis] for axis in perm), tensor.quantisation)
    building.operator("TRANSPOSE", [split, order], mixed)
    sizes = (rows.count * rows.stride, columns.count * columns.stride)
    whole = building.tensor(tensor.name, tensor.dtype, (1, *sizes, channels), tensor.quantisation)
    building.operator("RESHAPE", [mixed], whole)
    return replace(of, tensor=whole, shape=(1, channels, *sizes))


def _cut(building: Building, of: Held, plan: _Plan, name: str) -> Held:
    """Return the wanted part of the output, under its name."""
    rows, columns = (slice(each.first, each.first + each.size) for each in plan.phases)
    shape = plan.shape
    if shape == of.shape:
        return of
    tensor = of.tensor
    stored = (1, *shape[2:], shape[1])
    output = building.tensor(name, tensor.dtype, stored, tensor.quantisation)
    slices = (slice(None), rows, columns, slice(None))
    return replace(of, tensor=building.operator("Part", [tensor], output, slices), shape=shape)


FAMILY = NodeFamily({"ConvTranspose": _conv_transpose}, {"ConvTranspose": _in_float32})
