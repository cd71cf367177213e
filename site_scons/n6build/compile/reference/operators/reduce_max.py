"""REDUCE_MAX: the largest element over any dimensions."""

from __future__ import annotations

from n6build.compile.reference.reduced_extremes import extreme

OPERATOR = extreme("REDUCE_MAX", "ReduceMax", "reduce_max")
