"""RELU: negative values become 0; input and output may have different scales."""

from __future__ import annotations

from n6build.compile.reference.by_type import also_of
from n6build.compile.reference.float32 import float_function
from n6build.compile.reference.lookup import clamped_operator

OPERATOR = also_of(clamped_operator("RELU", "Relu"), float_function("RELU", "Relu"))
