"""PAD: elements of real value 0 before and behind any dimension."""

from __future__ import annotations

from collections.abc import Iterator

from n6build.compile.reference.descriptors import ENDS, SHAPE, Kernel, Member, Structure
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.movement import MOVABLE, MOVE, Array, Movement, Pair, known
from n6build.compile.reference.operands import Operands, Padding
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.paddings import padded, paddings_of, zero_of
from n6build.compile.reference.rules import (
    CONVERT,
    INT32,
    INT64,
    Problem,
    Rule,
    check_per_tensor,
    check_same_quantisation,
    shown,
)
from n6build.compile.reference.windows import shape_of

KERNEL = Kernel(
    "pad",
    Structure(
        "n6k_pad_t",
        (
            *ENDS,
            Member("in", SHAPE),
            Member("out", SHAPE),
            Member("pad_top", "uint16_t"),
            Member("pad_left", "uint16_t"),
            Member("pad_front", "uint16_t", note="channels"),
            Member("value", "int8_t"),
        ),
        doc="Pads NHWC with `value`; channels are padded too when the shapes say so.",
    ),
)

KERNELS = (KERNEL, MOVE)


def check(operands: Operands) -> Iterator[Problem]:
    """Check a PAD or PADV2.

    The paddings have to match the shapes. The value has to have the scale of the output.
    """
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
    yield from MOVEMENT.check(operands)


def _pairs(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    yield from padded(output, known(inputs[0]), paddings_of(operands), _value(operands))


MOVEMENT = Movement(_pairs)


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


def lower(operands: Operands) -> KernelCall | list[KernelCall]:
    """Return the kernel call of a PAD or PADV2, or the calls."""
    padding = padding_of(operands)
    if padding is None:
        return MOVEMENT.lower(operands)
    return KernelCall(
        KERNEL,
        {
            "input": operands.first,
            "output": operands.output,
            "in": shape_of(operands.first),
            "out": shape_of(operands.output),
            "pad_top": padding.top,
            "pad_left": padding.left,
            "pad_front": padding.front,
            "value": padding.value,
        },
    )


OPERATOR = OperatorKind(
    name="PAD",
    label="Pad",
    rule=Rule(inputs=(MOVABLE, (*INT32, *INT64)), required=2, constants=(1,), output=MOVABLE, check=check),
    lower=lower,
    kernels=KERNELS,
    padding=padding_of,
    fold=MOVEMENT.fold,
)
