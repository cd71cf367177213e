"""SUB of int16."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import tflite

from n6build.network.reference.operands import Operands
from n6build.network.reference.operator_kind import OperatorKind
from n6build.network.reference.options import OptionsReader
from n6build.network.reference.rules import Problem, shown
from n6build.network.reference.sums_int16 import KERNEL, RULE, lowering, read


def _check(operands: Operands) -> Iterator[Problem]:
    yield from RULE.check(operands)
    first = operands.first
    if first.elements < operands.output.elements:
        what = f"tensor {shown(first)} {list(first.shape)} is smaller than what is taken from it"
        yield Problem("N6-NET-007", what, "with int16, the second operand of SUB is broadcast only")


OPERATOR = OperatorKind(
    name="SUB int16",
    label="Sub",
    options=OptionsReader(tflite.SubOptions, tflite.BuiltinOptions.SubOptions, read),
    rule=replace(RULE, check=_check),
    lower=lowering(minus=True),
    kernels=(KERNEL,),
)
