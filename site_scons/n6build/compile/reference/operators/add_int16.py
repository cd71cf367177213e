"""ADD: the sum of two int16 tensors whose shapes broadcast."""

from __future__ import annotations

import tflite

from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.sums_int16 import KERNEL, RULE, lowering, read

OPERATOR = OperatorKind(
    name="ADD int16",
    label="Add",
    options=OptionsReader(tflite.AddOptions, tflite.BuiltinOptions.AddOptions, read),
    rule=RULE,
    lower=lowering(minus=False),
    kernels=(KERNEL,),
)
