"""RELU_0_TO_1: values clamped to 0 to 1.

Input and output may have different scales.
"""

from __future__ import annotations

from n6build.compile.reference.lookup import clamped_operator

OPERATOR = clamped_operator("RELU_0_TO_1", "Relu0To1")
