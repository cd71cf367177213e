"""SOFTMAX: softmax over the last dimension."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import tflite

from n6build.compile.reference.descriptors import ROWS, Kernel, Member, Structure
from n6build.compile.reference.fixed_point import exponent_scaling
from n6build.compile.reference.kernel_call import KernelCall, row_arguments
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.reference_options import OptionsReader, UnsupportedError
from n6build.compile.reference.rules import CONVERT, INT8, Problem, Rule, check_quantisation_is, shown

_KERNEL = Kernel(
    "softmax",
    Structure(
        "n6k_softmax_t",
        (
            *ROWS,
            Member("multiplier", "int32_t"),
            Member("left_shift", "int32_t"),
            Member("diff_min", "int32_t"),
        ),
        doc="int8 -> int8 (output scale 1/256, zero point -128) row by row, in the fixed point of the reference resolver, "
        "which ends the program where a row's sum of exponentials reaches 512; here such a row becomes -128 throughout.",
    ),
)


@dataclass(frozen=True)
class Options:
    """Options of a SOFTMAX.

    Attributes:
        beta: Factor of the exponents.
    """

    beta: float


def _read(table: tflite.SoftmaxOptions) -> Options:
    beta = float(table.Beta())
    if not math.isfinite(beta) or beta <= 0:
        raise UnsupportedError(f"beta is {beta}", "set beta to a positive number")
    return Options(beta)


def _check(operands: Operands) -> Iterator[Problem]:
    yield from check_quantisation_is(operands.output, 256, -128, "a softmax")
    if operands.first.elements != operands.output.elements or not operands.first.shape:
        yield Problem("N6-NET-007", f"tensor {shown(operands.output)} has another shape than its input", CONVERT)


def _lower(operands: Operands) -> KernelCall:
    options = operands.operator.options
    assert isinstance(options, Options)
    scale = required_quantisation(operands.first).scale
    scaling = exponent_scaling(options.beta * scale)
    return KernelCall(
        _KERNEL,
        {
            **row_arguments(operands.first, operands.output),
            "multiplier": scaling.multiplier,
            "left_shift": scaling.left_shift,
            "diff_min": scaling.diff_min,
        },
    )


OPERATOR = OperatorKind(
    name="SOFTMAX",
    label="Softmax",
    options=OptionsReader(tflite.SoftmaxOptions, tflite.BuiltinOptions.SoftmaxOptions, _read),
    rule=Rule(inputs=(INT8,), required=1, constants=(), output=INT8, check=_check),
    lower=_lower,
    kernels=(_KERNEL,),
)
