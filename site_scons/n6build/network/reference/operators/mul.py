"""MUL: the product of two tensors whose shapes broadcast."""

from __future__ import annotations

import tflite

from n6build.network.reference.broadcasting import check_broadcast
from n6build.network.reference.integers import also_of_integers
from n6build.network.reference.products import product_operator

OPERATOR = also_of_integers(
    product_operator(
        "MUL",
        "Mul",
        (tflite.MulOptions, tflite.BuiltinOptions.MulOptions),
        lambda a, b, output: a * b / output,
        check_broadcast,
    )
)
