"""REDUCE_MIN: the smallest element over any dimensions."""

from __future__ import annotations

from n6build.compile.reference.reduced_extremes import extreme

OPERATOR = extreme("REDUCE_MIN", "ReduceMin", "reduce_min")
