"""Elements before and behind each dimension.

Operators:
    MIRROR_PAD: each dimension continued by its mirror image. The outermost element is there once
        (REFLECT) or twice (SYMMETRIC).
    PAD: elements of real value 0 before and behind any dimension.
    PADV2: padding with a value that the model chooses.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import tflite

from n6build.compile.reference.descriptors import ENDS, SHAPE, Member, kernel_with, of_type
from n6build.compile.reference.graph import DType
from n6build.compile.reference.kernel_call import KernelCall, ends
from n6build.compile.reference.movement import MOVABLE, MOVE, Array, Movement, Pair, known, moving
from n6build.compile.reference.operands import Operands, Padding
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.paddings import padded, paddings_of, zero_of
from n6build.compile.reference.reference_options import OptionsReader, choice, names_in
from n6build.compile.reference.rules import (
    CONVERT,
    INDEX,
    Problem,
    Rule,
    check_per_tensor,
    check_same_quantisation,
    shown,
)
from n6build.compile.reference.windows import shape_of

_KERNEL = kernel_with(
    "pad",
    *ENDS,
    *of_type(SHAPE, "in", "out"),
    *of_type("uint16_t", "pad_top", "pad_left"),
    Member("pad_front", "uint16_t", note="channels"),
    Member("value", "int8_t"),
    doc="Pads NHWC with `value`; channels are padded too when the shapes say so.",
)


def _check(operands: Operands) -> Iterator[Problem]:
    """Check that paddings match the shapes, and the value the output's scale."""
    value = operands.optional(2)
    if value is not None:
        if value.elements != 1:
            yield Problem("N6-NET-007", f"tensor {shown(value)} has {value.elements} elements instead of one", CONVERT)
        if value.dtype != operands.output.dtype:
            yield Problem("N6-NET-007", f"tensor {shown(value)} is not {operands.output.dtype}", CONVERT)
        elif value.dtype in ("int8", "uint8", "int16"):
            yield from check_per_tensor(value)
        yield from check_same_quantisation(value, operands.output)
    yield from check_same_quantisation(operands.first, operands.output)
    yield from _MOVEMENT.check(operands)


def _pairs(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    yield from padded(output, known(inputs[0]), paddings_of(operands), _value(operands))


def _value(operands: Operands) -> float:
    value = operands.optional(2)
    return zero_of(operands.output) if value is None or value.data is None else value.data.reshape(-1)[0].item()


def _is_image(operands: Operands) -> bool:
    """Return whether the kernel for images can pad this input.

    An operator behind a PAD can take over only such a padding.
    """
    return (
        operands.first.dtype == "int8"
        and len(operands.first.shape) == 4
        and paddings_of(operands)[0] == (0, 0)
        and operands.first.shape[0] == 1
    )


def padding_of(operands: Operands) -> Padding | None:
    """Return the padding of an int8 image, or None for any other input.

    Its value is that of the operator, or the output's zero point.
    """
    if not _is_image(operands):
        return None
    _, (top, _), (left, _), (front, back) = paddings_of(operands)
    return Padding(operands.operator.index, operands.first, top, left, front, int(_value(operands)), front + back > 0)


def _lower(operands: Operands) -> KernelCall | list[KernelCall]:
    padding = padding_of(operands)
    if padding is None:
        return _MOVEMENT.lower(operands)
    return KernelCall(
        _KERNEL,
        {
            **ends(operands),
            "in": shape_of(operands.first),
            "out": shape_of(operands.output),
            "pad_top": padding.top,
            "pad_left": padding.left,
            "pad_front": padding.front,
            "value": padding.value,
        },
    )


_NAMES = names_in(tflite.MirrorPadMode)


def _read_mode(table: tflite.MirrorPadOptions) -> int:
    """Return the number of outermost elements that the mirror image leaves out."""
    return {"REFLECT": 1, "SYMMETRIC": 0}[choice(_NAMES, table.Mode(), ("REFLECT", "SYMMETRIC"), "mode")]


def _mirrored(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    source, skipped = known(inputs[0]), operands.options(int)
    parts = [
        _mirror_parts(size, before, after, skipped)
        for size, (before, after) in zip(source.shape, paddings_of(operands), strict=True)
    ]
    for chosen in itertools.product(*parts):
        yield Pair(output[tuple(target for target, _ in chosen)], source[tuple(taken for _, taken in chosen)])


def _mirror_parts(size: int, before: int, after: int, skipped: int) -> list[tuple[slice, slice]]:
    """Return (target, source) of a dimension and of its images before and after.

    Raises:
        ValueError: If the dimension has too few elements to mirror.
    """
    if max(before, after) > size - skipped:
        raise ValueError(f"no {max(before, after)} elements to mirror")
    parts = [(slice(before, before + size), slice(None))]
    if before:
        parts.append((slice(0, before), slice(skipped + before - 1, skipped - 1 if skipped else None, -1)))
    if after:
        last = size - 1 - skipped
        parts.append((slice(before + size, None), slice(last, last - after if last >= after else None, -1)))
    return parts


_MOVEMENT = Movement(_pairs)
_MODE = OptionsReader(tflite.MirrorPadOptions, _read_mode)


def _pad(name: str, inputs: tuple[tuple[DType, ...], ...]) -> OperatorKind:
    rule = Rule(inputs, len(inputs), tuple(range(1, len(inputs))), MOVABLE, _check)
    return OperatorKind(name, "Pad", rule, _lower, (_KERNEL, MOVE), padding=padding_of, fold=_MOVEMENT.fold)


OPERATORS = (
    moving("MIRROR_PAD", "MirrorPad", _mirrored, (MOVABLE, INDEX), constants=(1,), options=_MODE),
    _pad("PAD", (MOVABLE, INDEX)),
    _pad("PADV2", (MOVABLE, INDEX, MOVABLE)),
)
