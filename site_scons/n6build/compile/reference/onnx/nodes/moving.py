"""Nodes that split, join or surround tensors.

Their elements stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from n6build.compile.reference.graph import Quantisation
from n6build.compile.reference.onnx.building import Building
from n6build.compile.reference.onnx.model_file import MAX_RANK
from n6build.compile.reference.onnx.node import Node, NodeFamily
from n6build.compile.reference.onnx.nodes.convolution import held_with
from n6build.compile.reference.onnx.nodes.quantising import quantise, target_of
from n6build.compile.reference.onnx.nodes.reshaping import held, in_shape
from n6build.compile.reference.onnx.operators.movements import PickOptions, SurroundOptions
from n6build.compile.reference.onnx.real import quantised_real
from n6build.compile.reference.onnx.storage import channels_last, stored_shape
from n6build.compile.reference.onnx.values import Constant, Held, Pending, Target, Value

# Largest size of a dimension.
MOST_SIZE = 1 << 20


def moved(
    node: Node, building: Building, kind: str, of: Held, shape: tuple[int, ...], options: object, part: int = 0
) -> Held:
    """Add an operator that keeps its input's type, scale and order in memory.

    Args:
        node: Node that names the output.
        building: Graph that gets the operator.
        kind: Name of the operator.
        of: Input of the operator.
        shape: Shape of the output in the ONNX graph.
        options: Options that the operator's module expects.
        part: Number of the node's output.
    """
    tensor = building.ordered(of, of.order).tensor
    stored = stored_shape(shape, of.order)
    output = building.tensor(
        node.outputs[part], tensor.dtype, stored, tensor.quantisation, unsigned=tensor.unsigned, order=of.order
    )
    return replace(of, tensor=building.operator(kind, [tensor], output, options), shape=shape)


def _part(node: Node, building: Building, of: Held, slices: Sequence[slice], part: int = 0) -> Held:
    shape = tuple(len(range(*each.indices(size))) for each, size in zip(slices, of.shape, strict=True))
    if 0 in shape:
        raise node.error("N6-NET-007", f"leaves nothing of {list(of.shape)}", "export the model again")
    if shape == of.shape and all(each.step in (None, 1) for each in slices):
        return of
    return moved(node, building, "Part", of, shape, tuple(slices[axis] for axis in of.order), part)


def _slice(node: Node, building: Building) -> Value:
    starts, ends = node.integers("starts", 1) or [], node.integers("ends", 2) or []
    value = node.value(0)
    rank = len(value.shape)
    axes = node.integers("axes", 3) or list(range(len(starts)))
    steps = node.integers("steps", 4) or [1] * len(starts)
    slices = [slice(None)] * rank
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        if step == 0:
            raise node.error("N6-NET-007", "has a step of 0", "export the model again")
        place = node.axis(axis, rank)
        size = value.shape[place]
        # An end far outside stands for the end of the dimension; backwards, that is before the first element.
        slices[place] = slice(start, None if step < 0 and end < -size else end, step)
    if isinstance(value, Constant):
        return Constant(value.array[tuple(slices)], value.quantisation)
    return _part(node, building, held(node), slices)


def _split(node: Node, building: Building) -> list[Value]:
    of = held(node)
    axis = node.axis(int(node.attributes.get("axis", 0)), len(of.shape))
    count, size = len(node.outputs), of.shape[axis]
    even = -(-size // count)
    sizes = node.integers("split", 1) or [min(even, size - even * index) for index in range(count)]
    if len(sizes) != count or sum(sizes) != size or min(sizes) < 1:
        raise node.error("N6-NET-007", f"splits {size} into {sizes}", "export the model again")
    made: list[Value] = []
    begin = 0
    for part, length in enumerate(sizes):
        slices = [slice(None)] * len(of.shape)
        slices[axis] = slice(begin, begin + length)
        made.append(_part(node, building, of, slices, part))
        begin += length
    return made


def _concat(node: Node, building: Building) -> Value:
    values = [node.value(position) for position in range(len(node.inputs))]
    axis = node.axis(int(node.attributes["axis"]), len(values[0].shape))
    if all(isinstance(value, Constant) for value in values):
        constants = [node.constant(position) for position in range(len(values))]
        return Constant(np.concatenate([_elements(each) for each in constants], axis))
    return _concatenated(node, building, values, axis)


def _elements(constant: Constant) -> NDArray[Any]:
    """Return the real numbers of a constant, or its elements if it is not quantised."""
    return constant.array if constant.quantisation is None else constant.numbers()


def _concatenated(node: Node, building: Building, values: Sequence[Value], axis: int) -> Value:
    shapes = [value.shape for value in values]
    rest = {shape[:axis] + shape[axis + 1 :] for shape in shapes}
    if len(rest) != 1:
        raise node.error("N6-NET-007", f"the shapes {shapes} do not fit together", "export the model again")
    shape = (*shapes[0][:axis], sum(each[axis] for each in shapes), *shapes[0][axis + 1 :])
    first = next((value for value in values if isinstance(value, Held)), None)
    order = first.order if first else channels_last(len(shape))

    def make(target: Target) -> Held:
        name, quantisation = target.name, target.quantisation
        parts = []
        for number, value in enumerate(values):
            part = quantise(node, building, value, replace(target, name=f"{name} part {number}"))
            if isinstance(part, Constant):
                array = part.array.transpose(order)
                parts.append(building.constant(f"{name} part {number}", array, quantisation))
            else:
                assert isinstance(part, Held)
                parts.append(building.ordered(part, order).tensor)
        return building.made("CONCATENATION", parts, target, shape, order, order.index(axis))

    held_ones = [value for value in values if isinstance(value, Held)]
    quantisations = {value.tensor.quantisation for value in held_ones}
    if len(held_ones) == len(values) and len(quantisations) == 1 and (not held_ones[0].real):
        return _joined(node, building, held_ones, shape, order.index(axis))
    return Pending(shape, make)


def _joined(node: Node, building: Building, parts: Sequence[Held], shape: tuple[int, ...], axis: int) -> Held:
    """Join parts of integers or of float32, which have one scale."""
    first, order = parts[0].tensor, parts[0].order
    tensors = [building.ordered(part, order).tensor for part in parts]
    stored = stored_shape(shape, order)
    output = building.tensor(
        node.outputs[0], first.dtype, stored, first.quantisation, unsigned=first.unsigned, order=order
    )
    return replace(parts[0], tensor=building.operator("CONCATENATION", tensors, output, axis), shape=shape)


def _qlinear_concat(node: Node, building: Building) -> Value:
    """Translate a QLinearConcat of com.microsoft.

    Inputs: scale and zero point of the output, then each tensor with both.
    """
    values: list[Value] = [held_with(node, building, position) for position in range(2, len(node.inputs), 3)]
    axis = node.axis(int(node.attributes["axis"]), len(values[0].shape))
    pending = _concatenated(node, building, values, axis)
    return quantise(node, building, pending, target_of(node, 0))


def _pad(node: Node, building: Building) -> Value:
    of = held(node)
    rank = len(of.shape)
    mode = node.attributes.get("mode", b"constant")
    quantisation = of.tensor.quantisation
    if mode != b"constant" or (quantisation is None and not of.is_float):
        raise node.error("N6-NET-008", f"pads with the mode {mode.decode()!a}", "use the mode constant with int8")
    pads = node.integers("pads", 1) or []
    axes = node.integers("axes", 3) or list(range(rank))
    number = node.optional_constant(2)
    real = float(node.attributes.get("value", 0.0) if number is None else number.numbers().reshape(-1)[0])
    before, after = [0] * rank, [0] * rank
    for index, axis in enumerate(axes):
        before[node.axis(axis, rank)], after[node.axis(axis, rank)] = pads[index], pads[index + len(axes)]
    if min(*before, *after) < 0 or max(*before, *after) > MOST_SIZE:
        raise node.error("N6-NET-007", f"pads by {pads}", "use paddings of 0 or more")
    shape = tuple(sum(sizes) for sizes in zip(before, of.shape, after, strict=True))
    if shape == of.shape:
        return of
    stored = tuple(before[axis] for axis in of.order)
    if of.is_float or not of.real or quantisation is None:
        value = real if of.is_float else int(real)
        return moved(node, building, "Surround", of, shape, SurroundOptions(stored, value))
    options = SurroundOptions(stored, _element(quantisation, real))

    def make(target: Target) -> Held:
        if target.quantisation == quantisation and not target.is_limited:
            return replace(moved(node, building, "Surround", of, shape, options), real=False)
        numbers = building.in_float32(of)
        padded = moved(node, building, "Surround", numbers, shape, SurroundOptions(stored, real))
        return quantised_real(building, padded, target)

    # The number is a step of the input's scale, unless the output is quantised in steps of that scale anyway.
    if _number(quantisation, options.value) == np.float32(real):
        return moved(node, building, "Surround", of, shape, options)
    return Pending(shape, make)


def _number(quantisation: Quantisation, element: float) -> np.float32:
    return np.float32(element - quantisation.zero_point) * np.float32(quantisation.scale)


def _element(quantisation: Quantisation, real: float) -> int:
    steps = np.rint(np.float32(real) / np.float32(quantisation.scale))
    return int(np.clip(float(steps) + quantisation.zero_point, -128, 127))


def _gather(node: Node, building: Building) -> Value:
    """Translate a Gather with constant indices."""
    value, indices = node.value(0), node.constant(1).array
    axis = node.axis(int(node.attributes.get("axis", 0)), len(value.shape))
    size = value.shape[axis]
    if indices.size == 0 or indices.min() < -size or indices.max() >= size:
        raise node.error("N6-NET-007", f"takes an element outside the {size} elements", "export the model again")
    if isinstance(value, Constant):
        if value.quantisation is not None and len(value.quantisation.scales) > 1:
            raise node.error("N6-NET-006", "takes parts of weights with a scale for each channel", "quantise behind it")
        return Constant(np.take(value.array, indices, axis), value.quantisation)
    of = held(node)
    places = tuple(int(index) % size for index in indices.reshape(-1))
    shape = (*of.shape[:axis], len(places), *of.shape[axis + 1 :])
    taken = moved(node, building, "Pick", of, shape, PickOptions(of.order.index(axis), places))
    return in_shape(building, taken, (*of.shape[:axis], *indices.shape, *of.shape[axis + 1 :]))


def _expand(node: Node, building: Building) -> Value:
    value = node.value(0)
    asked = tuple(node.integers("shape", 1) or [])
    try:
        shape = tuple(int(size) for size in np.broadcast_shapes(value.shape, asked))
    except ValueError:
        what = f"the shape {list(value.shape)} does not expand to {list(asked)}"
        raise node.error("N6-NET-007", what, "export the model again") from None
    if max(shape, default=1) > MOST_SIZE or len(shape) > MAX_RANK:
        raise node.error("N6-NET-005", f"makes the shape {list(shape)}", "export the model again")
    if shape == value.shape:
        return value
    if isinstance(value, Constant):
        return Constant(np.broadcast_to(value.array, shape), value.quantisation)
    wide = in_shape(building, held(node), (1,) * (len(shape) - len(value.shape)) + value.shape)
    return moved(node, building, "Expand", wide, shape, None)


FAMILY = NodeFamily(
    {
        "Slice": _slice,
        "Split": _split,
        "Concat": _concat,
        "QLinearConcat": _qlinear_concat,
        "Pad": _pad,
        "Gather": _gather,
        "Expand": _expand,
    }
)
