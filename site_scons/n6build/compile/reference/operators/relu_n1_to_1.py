"""RELU_N1_TO_1: values clamped to -1 to 1.

Input and output may have different scales.
"""

from __future__ import annotations

from n6build.compile.reference.lookup import clamped_operator

OPERATOR = clamped_operator("RELU_N1_TO_1", "ReluN1To1")
