"""RELU6: values clamped to 0 to 6; input and output may have different scales."""

from __future__ import annotations

from n6build.compile.reference.by_type import also_of
from n6build.compile.reference.float32 import float_function
from n6build.compile.reference.lookup import clamped_operator

OPERATOR = also_of(clamped_operator("RELU6", "Relu6"), float_function("RELU6", "Relu6"))
