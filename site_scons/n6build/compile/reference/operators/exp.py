"""EXP: e^x."""

from __future__ import annotations

import numpy as np

from n6build.compile.reference.lookup import exactly, float_table, lookup_operator

OPERATOR = lookup_operator("EXP", "Exp", float_table(exactly(np.exp)))
