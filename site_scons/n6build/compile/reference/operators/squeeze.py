"""SQUEEZE: the input without dimensions of size 1; this costs nothing."""

from __future__ import annotations

from n6build.compile.reference.movement import MOVABLE, REGROUPING
from n6build.compile.reference.moving_kind import moving

OPERATOR = moving("SQUEEZE", "Squeeze", REGROUPING, (MOVABLE,))
