"""ADD: the sum of two tensors whose shapes broadcast."""

from __future__ import annotations

import tflite

from n6build.network.reference.integers import also_of_integers
from n6build.network.reference.options import OptionsReader
from n6build.network.reference.ranges import read_fused_activation
from n6build.network.reference.sums import sum_operator

OPERATOR = also_of_integers(
    sum_operator(
        "ADD", "Add", OptionsReader(tflite.AddOptions, tflite.BuiltinOptions.AddOptions, read_fused_activation)
    )
)
