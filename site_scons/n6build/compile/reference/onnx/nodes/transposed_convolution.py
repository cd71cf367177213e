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
from n6build.compile.reference.onnx.operators.qlinear_conv import ConvOptions
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


def _conv_transpose(node: Node, building: Building) -> Value:
    given, groups = node.quantised(0), int(node.attributes.get("group", 1))
    weights = weights_of(node, node.constant(1), 1 if groups == 1 else 0)
    if len(given.shape) != 4 or len(weights.shape) != 4 or groups < 1 or weights.shape[0] != given.shape[1]:
        what = f"weights {list(weights.shape)} in {groups} groups do not fit its input {list(given.shape)}"
        raise node.error("N6-NET-007", what, "use a transposed convolution over height and width")
    windowing = windowing_of(node, given.shape[2:], weights.shape[2:])
    automatic = node.attributes.get("auto_pad", b"NOTSET") not in (b"NOTSET", b"VALID")
    if (
        max(windowing.dilations) > 1
        or automatic
        or given.shape[1] % groups
        or (groups > 1 and weights.array.shape[1] > 1)
    ):
        hint = "export it without dilations and auto_pad, in one group or with one channel in each"
        raise node.error("N6-NET-008", "is dilated, has auto_pad, or groups of several channels", hint)
    sizes = _sizes(node, windowing, given.shape[2:])
    channels = weights.shape[1] * groups
    strides = windowing.strides
    if min(sizes) < 1 or max(sizes) > MAX_DIMENSION or channels * math.prod(strides) > MAX_DIMENSION:
        what = f"makes {channels} channels of {sizes}, with the strides {list(strides)}"
        raise node.error("N6-NET-005", what, f"use at most {MAX_DIMENSION} channels times strides, and as many outputs")
    phases = [
        _phases(
            given.shape[2 + axis], windowing.window[axis], windowing.strides[axis], windowing.before[axis], sizes[axis]
        )
        for axis in range(2)
    ]
    made = Weights(
        _phase_weights(weights, phases, groups), _repeated(node.optional_constant(2), channels, phases, groups)
    )
    order = channels_last(4)

    def make(target: Target) -> Held:
        source = building.ordered(given, order)
        inputs = [source.tensor, *parameters(node, building, source, made)]
        pads = tuple(each.before for each in phases), tuple(each.after for each in phases)
        window = Windowing(tuple(each.window for each in phases), (1, 1), (1, 1), *pads)
        shape = (1, made.data.shape[0], phases[0].count, phases[1].count)
        options = ConvOptions(target.low, target.high, window, groups)
        of_phases = replace(target, name=f"{target.name} phases")
        computed = building.made("QLinearConv", inputs, of_phases, shape, order, options)
        whole = _side_by_side(building, computed, channels, phases, groups)
        return _cut(building, whole, phases, target.name)

    return Pending((1, channels, *sizes), make)


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


def _phase_weights(weights: Constant, phases: list[_Phases], groups: int) -> Constant:
    """Return weights as QLinearConv has them.

    Their shape is [output channel][input channel of its group][height][width]. Phases are the
    slower part of the output channel's number in one group, the faster one where each channel is a
    group.
    """
    rows, columns = phases
    inputs, outputs, height, width = weights.shape
    padded = np.zeros((inputs, outputs, rows.window * rows.stride, columns.window * columns.stride), np.int8)
    padded[:, :, :height, :width] = weights.array
    split = padded.reshape(inputs, outputs, rows.window, rows.stride, columns.window, columns.stride)
    # The convolution applies the window of the transposed one in reverse order.
    split = split[:, :, ::-1, :, ::-1, :]
    each = rows.stride * columns.stride
    if groups == 1:
        array = split.transpose(3, 5, 1, 0, 2, 4).reshape(each * outputs, inputs, rows.window, columns.window)
    else:
        array = split.transpose(0, 1, 3, 5, 2, 4).reshape(inputs * each, 1, rows.window, columns.window)
    assert weights.quantisation is not None
    quantisation = weights.quantisation
    if len(quantisation.scales) > 1:
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


def _repeated(bias: Constant | None, channels: int, phases: list[_Phases], groups: int) -> Constant | None:
    if bias is None:
        return None
    each = phases[0].stride * phases[1].stride
    quantisation = bias.quantisation
    if quantisation is not None and len(quantisation.scales) > 1:
        scales = _per_phase(np.array(quantisation.scales), channels, each, groups)
        quantisation = replace(quantisation, scales=tuple(map(float, scales)), zero_points=(0,) * len(scales))
    return Constant(_per_phase(bias.array.reshape(-1), channels, each, groups), quantisation)


def _side_by_side(building: Building, of: Held, channels: int, phases: list[_Phases], groups: int) -> Held:
    """Put the phases of each place of the input side by side in height and width."""
    rows, columns = phases
    if rows.stride == columns.stride == 1:
        return of
    tensor = of.tensor
    counts, strides = (rows.count, columns.count), (rows.stride, columns.stride)
    apart = (1, *counts, *strides, channels) if groups == 1 else (1, *counts, channels, *strides)
    perm = (0, 1, 3, 2, 4, 5) if groups == 1 else (0, 1, 4, 2, 5, 3)
    split = building.operator("RESHAPE", [tensor], building.tensor(tensor.name, "int8", apart, tensor.quantisation))
    order = building.constant(f"{tensor.name} phases", np.array(perm, np.int32))
    mixed = building.tensor(tensor.name, "int8", tuple(apart[axis] for axis in perm), tensor.quantisation)
    building.operator("TRANSPOSE", [split, order], mixed)
    sizes = (rows.count * rows.stride, columns.count * columns.stride)
    whole = building.tensor(tensor.name, "int8", (1, *sizes, channels), tensor.quantisation)
    building.operator("RESHAPE", [mixed], whole)
    return replace(of, tensor=whole, shape=(1, channels, *sizes))


def _cut(building: Building, of: Held, phases: list[_Phases], name: str) -> Held:
    """Return the wanted part of the output, under its name."""
    rows, columns = (slice(each.first, each.first + each.size) for each in phases)
    shape = (*of.shape[:2], phases[0].size, phases[1].size)
    if shape == of.shape:
        return of
    tensor = of.tensor
    stored = (1, *shape[2:], shape[1])
    output = building.tensor(name, "int8", stored, tensor.quantisation)
    slices = (slice(None), rows, columns, slice(None))
    return replace(of, tensor=building.operator("Part", [tensor], output, slices), shape=shape)


FAMILY = NodeFamily({"ConvTranspose": _conv_transpose})
