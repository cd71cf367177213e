"""Functions that an ACTIV unit computes from its tables.

They are quadratic polynomials for parts of its input.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from n6build.judge.npu.settings import UnitSettings

_ROM0, _ROM1 = 0x400, 0x800
_WORDS = 32
_SEGMENTS = 64
_BITS = 16
# An input of 16 bits is compared with the value this many steps on, since single results are rounded.
_APART = 64


def values_of_table(unit: UnitSettings) -> NDArray[np.int64] | None:
    """Return the function's value for each input, from the lowest to the highest.

    None means that the epoch did not write the tables.

    Args:
        unit: Settings of an ACTIV unit whose type is a function.
    """
    fields = unit.fields
    outer = np.array([unit.tables.get(_ROM0 + 4 * place, -1) for place in range(_WORDS)])
    bits = fields.get(("FUNC", "BWIDTH"), 0)
    if (outer[: 1 << min(bits, 5)] < 0).any():
        return None
    size = 1 << (8 * max(1, min(2, fields.get(("CTRL", "FBYTES"), 1))))
    signed = bool(fields.get(("FUNC", "SIGNEDOP")))
    x = np.arange(size, dtype=np.int64) - (size // 2 if signed else 0)
    u = ((x << fields.get(("ACTIVPARAM", "FUNC"), 0)) + (1 << (_BITS - 1) if signed else 0)) & ((1 << _BITS) - 1)
    entry = outer[u >> (_BITS - bits)]
    inner = entry >> 6 & 3
    segment = (entry & 63) + ((u >> (_BITS - bits - inner)) & ((1 << inner) - 1))
    if segment.max(initial=0) >= _SEGMENTS:
        return None
    words = np.array([unit.tables.get(_ROM1 + 4 * place, 0) for place in range(2 * _SEGMENTS)], np.int64)
    a, b, c = (_signed(part & 0xFFFF) for part in (words[0::2], words[0::2] >> 16, words[1::2]))
    result = a[segment] * x * x
    result += (b[segment] * x) << fields.get(("FUNC", "BSHIFT"), 0)
    result += c[segment] << fields.get(("FUNC", "CSHIFT"), 0)
    shift = fields.get(("FUNC", "OUTSHIFT"), 0)
    return np.asarray((result + ((1 << shift) >> 1)) >> shift, np.int64)


def slope_of_table(unit: UnitSettings) -> float | None:
    """Return the largest change of the result for a step of the input.

    The result is None if the tables are unknown.
    """
    values = values_of_table(unit)
    if values is None:
        return None
    apart = _APART if len(values) > 256 else 1
    return float(np.abs(values[apart:] - values[:-apart]).max()) / apart


def _signed(values: NDArray[np.int64]) -> NDArray[np.int64]:
    return values - ((values & 0x8000) << 1)
