"""Steps of ARITH units that turn the sums of a convolution into its output.

A step is y = narrowed((a x >> first) + (c << second) >> last) for each channel. Its coefficients stand in
the unit's registers, in its table of 512 channels, or come as a stream from the weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from n6build.judge.npu.settings import UnitSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AFFINE, PRODUCT = 0, 7
# Offset of the coefficients in a unit; a channel has two words.
_COEFFICIENTS_AT = 0x400
_COEFFICIENTS = 512
_MOST_STREAMED = 1 << 22


@dataclass(frozen=True)
class RequantiseStep:
    """A step of a layer.

    Attributes:
        unit: Settings of the unit.
        a: Factor of each channel.
        c: Constant of each channel.
    """

    unit: UnitSettings
    a: NDArray[np.int64]
    c: NDArray[np.int64]

    @property
    def bytes(self) -> int:
        """Return the bytes of a result."""
        return self.unit.fields.get(("CTRL", "OBYTES"), 0)

    def raw(self, x: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the results before they are narrowed."""
        import numpy as np  # noqa: PLC0415 - planning checks nothing.

        fields = self.unit.fields
        y = (self.a * x >> fields.get(("SHIFT", "AX"), 0)) + (self.c << fields.get(("SHIFT", "C"), 0))
        shift = fields.get(("SHIFT", "RES"), 0)
        if shift:
            y = np.sign(y) * (np.abs(y) + (1 << (shift - 1) if fields.get(("CTRL", "ROUND")) else 0) >> shift)
        if fields.get(("CTRL", "CLIPOUT")):
            lowest, highest = (_signed(fields.get(("CLIPRANGE", name), 0)) for name in ("CLIPMIN", "CLIPMAX"))
            y = np.clip(y, lowest, highest)
        return np.maximum(y, 0) if fields.get(("CTRL", "ORNDMODE"), 0) >> 1 else y


def step_of(arith: UnitSettings, count: int) -> RequantiseStep | None:
    """Return a step with the coefficients of `count` channels; None in another order."""
    import numpy as np  # noqa: PLC0415 - as above.

    fields = arith.fields
    varies = {name: bool(fields.get(("CTRL", f"COEFF{name}"))) for name in "ABC"}
    first = fields.get(("COEFFADDR", "ADDR"), 0)
    if any(varies.values()) and count > min(_COEFFICIENTS - first, _channels_of(arith)):
        return None
    fixed = {
        "A": fields.get(("COEFFAC", "A"), 0),
        "B": fields.get(("COEFFB", "B"), 0),
        "C": fields.get(("COEFFAC", "C"), 0),
    }
    numbers: dict[str, list[int]] = {}
    for name, (word, low) in {"A": (0, 0), "B": (0, 16), "C": (1, 0)}.items():
        numbers[name] = [
            arith.tables.get(_COEFFICIENTS_AT + 8 * (first + channel) + 4 * word, 0) >> low & 0xFFFF
            if varies[name]
            else fixed[name]
            for channel in range(count)
        ]
    a = np.array([_signed(each) for each in numbers["A"]], np.int64)
    if fields.get(("CTRL", "OP")) == PRODUCT:
        return RequantiseStep(arith, a, np.zeros(count, np.int64))
    if fields.get(("CTRL", "COMBINEBC")):
        c = [_signed(b << 16 | c, 32) for b, c in zip(numbers["B"], numbers["C"], strict=True)]
    else:
        c = [_signed(each) for each in numbers["C"]]
    return RequantiseStep(arith, a, np.array(c, np.int64))


def _channels_of(arith: UnitSettings) -> int:
    """Return the number of coefficients that the running address takes in turn.

    Counters move it by one, or back to the first. Addresses wrap behind the last coefficient, so that a
    move back may be written as one forward.
    """
    offsets = [
        arith.fields.get(("ADDROFFSET", f"OFFSET{counter}"), 0)
        for counter in (1, 2, 3)
        if arith.fields.get(("CTRL", f"CNT{counter}"))
    ]
    return max((-offset % _COEFFICIENTS for offset in offsets if offset != 1), default=_COEFFICIENTS - 1) + 1


def _signed(value: int, bits: int = 16) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value
