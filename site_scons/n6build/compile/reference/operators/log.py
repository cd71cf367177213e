"""LOG: the natural logarithm.

For 0 and below it is the lowest element, as in the reference resolver.
"""

from __future__ import annotations

import numpy as np

from n6build.compile.reference.lookup import exactly, float_table, lookup_operator

OPERATOR = lookup_operator("LOG", "Log", float_table(exactly(np.log)))
