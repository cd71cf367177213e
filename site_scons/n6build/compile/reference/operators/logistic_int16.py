"""LOGISTIC: 1 / (1 + e^-x) of int16 elements."""

from __future__ import annotations

from n6build.compile.reference.logistic_int16 import function_of_int16

OPERATOR = function_of_int16("LOGISTIC int16", "Logistic", "logistic_int16", powers=(0,))
