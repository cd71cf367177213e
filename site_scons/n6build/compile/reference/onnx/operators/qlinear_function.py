"""QLinearFunction: any function of one element.

Its options are the results for -128 to 127.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from n6build.compile.reference.lookup import lookup_operator
from n6build.compile.reference.operands import Operands


def _table(operands: Operands) -> NDArray[np.int8]:
    results = operands.operator.options
    assert isinstance(results, tuple) and len(results) == 256
    return np.array(results, np.int8)


OPERATOR = lookup_operator("QLinearFunction", "QLinearFunction", _table)
