"""PAD: adds elements of real value 0 around height, width and channels."""

from __future__ import annotations

from collections.abc import Iterator

from n6build.network.reference.descriptors import ENDS, SHAPE, Kernel, Member, Structure
from n6build.network.reference.kernel_call import KernelCall
from n6build.network.reference.operands import Operands, Padding, required_quantisation
from n6build.network.reference.operator_kind import OperatorKind
from n6build.network.reference.rules import (
    CONVERT,
    INT8,
    INT32,
    Problem,
    Rule,
    check_nhwc,
    check_per_tensor,
    check_same_quantisation,
    shown,
)
from n6build.network.reference.windows import shape_of

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


def check(operands: Operands) -> Iterator[Problem]:
    """For PAD and PADV2: the paddings match the shapes, and the value has the scale of the output."""
    paddings = operands.required(1)
    assert paddings.data is not None
    yield from check_nhwc(operands.first, operands.output)
    yield from check_same_quantisation(operands.first, operands.output)
    if paddings.shape != (4, 2):
        yield Problem("N6-NET-007", f"tensor {shown(paddings)} has the shape {list(paddings.shape)}", CONVERT)
        return
    amounts = paddings.data.tolist()
    sizes = tuple(size + before + after for size, (before, after) in zip(operands.first.shape, amounts, strict=True))
    if min(min(both) for both in amounts) < 0 or amounts[0] != [0, 0] or sizes != operands.output.shape:
        yield Problem(
            "N6-NET-007",
            f"paddings {amounts} do not make {list(operands.output.shape)} of {list(operands.first.shape)}",
            CONVERT,
        )
    value = operands.optional(2)
    if value is not None:
        if value.elements != 1:
            yield Problem("N6-NET-007", f"tensor {shown(value)} has {value.elements} elements instead of one", CONVERT)
        yield from check_per_tensor(value)
        yield from check_same_quantisation(value, operands.output)


def padding_of(operands: Operands) -> Padding:
    """value: the one given, or the output's zero point."""
    amounts, value = operands.required(1), operands.optional(2)
    assert amounts.data is not None
    _, (top, _), (left, _), (front, back) = (tuple(map(int, both)) for both in amounts.data.tolist())
    zero = required_quantisation(operands.output).zero_point
    filling = zero if value is None or value.data is None else int(value.data.reshape(-1)[0].item())
    return Padding(operands.operator.index, operands.first, top, left, front, filling, front + back > 0)


def lower(operands: Operands) -> KernelCall:
    """For PAD and PADV2."""
    padding = padding_of(operands)
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
    rule=Rule(inputs=(INT8, INT32), required=2, constants=(1,), output=INT8, check=check),
    lower=lower,
    kernels=(KERNEL,),
    padding=padding_of,
)
