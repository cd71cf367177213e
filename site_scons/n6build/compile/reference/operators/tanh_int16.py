"""TANH: the hyperbolic tangent of int16 elements."""

from __future__ import annotations

from n6build.compile.reference.logistic_int16 import function_of_int16

OPERATOR = function_of_int16("TANH int16", "Tanh", "tanh_int16", powers=(0, 1))
