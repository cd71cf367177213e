"""EXPAND_DIMS: the input with a new dimension of size 1; this costs nothing."""

from __future__ import annotations

from n6build.compile.reference.movement import MOVABLE, REGROUPING
from n6build.compile.reference.moving_kind import moving
from n6build.compile.reference.rules import INT32, INT64

OPERATOR = moving("EXPAND_DIMS", "ExpandDims", REGROUPING, (MOVABLE, (*INT32, *INT64)), constants=(1,))
