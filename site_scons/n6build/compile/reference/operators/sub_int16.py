"""SUB: the difference of two int16 tensors whose shapes broadcast."""

from __future__ import annotations

import tflite

from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.sums_int16 import KERNEL, RULE, lowering, read

OPERATOR = OperatorKind(
    name="SUB int16",
    label="Sub",
    options=OptionsReader(tflite.SubOptions, tflite.BuiltinOptions.SubOptions, read),
    rule=RULE,
    lower=lowering(minus=True),
    kernels=(KERNEL,),
)
