"""MAXIMUM: the larger of two elements, of tensors whose shapes broadcast."""

from __future__ import annotations

from n6build.network.reference.extremes import extreme_operator
from n6build.network.reference.integers import also_of_integers

OPERATOR = also_of_integers(extreme_operator("MAXIMUM", "Maximum"))
