"""ADD: the sum of two tensors whose shapes broadcast."""

from __future__ import annotations

import tflite

from n6build.network.reference.options import OptionsReader
from n6build.network.reference.ranges import read_fused_activation
from n6build.network.reference.sums import sum_operator

OPERATOR = sum_operator(
    "ADD", "Add", OptionsReader(tflite.AddOptions, tflite.BuiltinOptions.AddOptions, read_fused_activation)
)
