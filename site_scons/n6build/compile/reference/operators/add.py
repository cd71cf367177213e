"""ADD: the sum of two tensors whose shapes broadcast."""

from __future__ import annotations

import tflite

from n6build.compile.reference.by_type import also_of
from n6build.compile.reference.float32 import float_arithmetic
from n6build.compile.reference.integers import integer_operator
from n6build.compile.reference.ranges import read_fused_activation
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.sums import sum_operator

OPERATOR = also_of(
    sum_operator(
        "ADD", "Add", OptionsReader(tflite.AddOptions, tflite.BuiltinOptions.AddOptions, read_fused_activation)
    ),
    integer_operator("ADD", "Add"),
    float_arithmetic("ADD", "Add"),
)
