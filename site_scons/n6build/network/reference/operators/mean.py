"""MEAN: of each channel over height and width."""

from __future__ import annotations

from collections.abc import Iterator

from n6build.network.reference.descriptors import ENDS, Kernel, Member, Structure
from n6build.network.reference.fixed_point import accumulator_multiplier
from n6build.network.reference.kernel_call import KernelCall
from n6build.network.reference.operands import Operands, required_quantisation
from n6build.network.reference.operator_kind import OperatorKind
from n6build.network.reference.ranges import RANGE, output_range
from n6build.network.reference.rules import INT8, INT32, Problem, Rule, check_elements, check_nhwc, shown

_KERNEL = Kernel(
    "mean",
    Structure(
        "n6k_mean_t",
        (
            *ENDS,
            Member("pixels", "uint32_t"),
            Member("channels", "uint32_t"),
            Member("bias", "int32_t"),
            Member("multiplier", "int32_t"),
            Member("shift", "int32_t"),
            Member("range", RANGE),
        ),
        doc="Mean over all pixels of each channel. bias: -input zero point * pixels. multiplier, shift: of the scaling by "
        "input scale / (output scale * pixels). Rounding: double.",
    ),
)


def _check(operands: Operands) -> Iterator[Problem]:
    axes = operands.required(1)
    assert axes.data is not None
    yield from check_nhwc(operands.first)
    rank = len(operands.first.shape)
    named = [int(axis) for axis in axes.data.reshape(-1)]
    # Negative axes count from the end; those outside the rank stay as they are and match nothing.
    if {axis + rank if -rank <= axis < 0 else axis for axis in named} != {1, 2}:
        yield Problem(
            "N6-NET-007",
            f"tensor {shown(axes)} names the axes {named}; height and width, [1, 2], are supported",
            "use a global average over the image",
        )
        return
    yield from check_elements(operands.output, operands.first.shape[3])


def _divided(multiplier: int, shift: int, count: int) -> tuple[int, int]:
    """The scaling of a sum that makes a mean of `count` values of it: as the reference resolver folds the division.

    The multiplier is shifted up before it is divided, as far as its right shift of at most 31 bits goes along.
    """
    up = min(count.bit_length() - 1, 32, 31 + shift)
    return (multiplier << up) // count, shift - up


def _lower(operands: Operands) -> KernelCall:
    _, height, width, channels = operands.first.shape
    pixels = height * width
    given, target = required_quantisation(operands.first), required_quantisation(operands.output)
    multiplier, shift = _divided(*accumulator_multiplier(given.scale / target.scale), pixels)
    return KernelCall(
        _KERNEL,
        {
            "input": operands.first,
            "output": operands.output,
            "pixels": pixels,
            "channels": channels,
            "bias": -given.zero_point * pixels,
            "multiplier": multiplier,
            "shift": shift,
            "range": output_range(operands.output, "NONE"),
        },
    )


OPERATOR = OperatorKind(
    name="MEAN",
    label="Mean",
    rule=Rule(inputs=(INT8, INT32), required=2, constants=(1,), output=INT8, check=_check),
    lower=_lower,
    kernels=(_KERNEL,),
)
