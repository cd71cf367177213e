"""MUL: the product of two tensors whose shapes broadcast."""

from __future__ import annotations

import numpy as np
import tflite

from n6build.compile.reference.broadcasting import check_broadcast
from n6build.compile.reference.by_type import also_of
from n6build.compile.reference.float32 import float_arithmetic
from n6build.compile.reference.integers import integer_operator
from n6build.compile.reference.products import product_operator


def product_of_scales(a: np.float32, b: np.float32, output: np.float32) -> np.float32:
    """Return the scale of a product relative to the output's.

    It is computed in float32, as in the reference resolver.
    """
    return a * b / output


OPERATOR = also_of(
    product_operator(
        "MUL",
        "Mul",
        (tflite.MulOptions, tflite.BuiltinOptions.MulOptions),
        product_of_scales,
        check_broadcast,
    ),
    integer_operator("MUL", "Mul"),
    float_arithmetic("MUL", "Mul"),
)
