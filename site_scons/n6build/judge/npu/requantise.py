"""Steps of ARITH units that turn the sums of a convolution into its output.

A step is y = narrowed((a x >> first) + c >> last) for each channel. Its coefficients stand in the unit's
registers, in its table of 512 channels, or come as a stream from the weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from n6build.judge.npu.settings import UnitSettings
from n6build.judge.npu.sums import Epoch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AFFINE, PRODUCT = 0, 7
# Steps in a row; a damaged blob may connect units in a circle.
MOST_STEPS = 4
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
        c_bit: Change of `c` by the last bit of the constant.
        c_rounded: Change of `c` by the last bit of a constant of 16 bits, which is rounded itself; 0
            without one.
    """

    unit: UnitSettings
    a: NDArray[np.int64]
    c: NDArray[np.int64]
    c_bit: int = 1
    c_rounded: int = 0

    @property
    def bytes(self) -> int:
        """Return the bytes of a result."""
        return self.unit.fields.get(("CTRL", "OBYTES"), 0)

    def raw(self, x: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the results before they are narrowed."""
        import numpy as np  # noqa: PLC0415 - planning checks nothing.

        fields = self.unit.fields
        y = (self.a * x >> fields.get(("SHIFT", "AX"), 0)) + self.c
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
    shift = fields.get(("SHIFT", "C"), 0)
    return RequantiseStep(arith, a, np.array(c, np.int64) << shift, 1 << shift)


def step_in(epoch: Epoch, arith: UnitSettings, count: int, of_frame: int) -> RequantiseStep | None:
    """Return a step whose factors or constants may come as a stream to port y.

    Args:
        epoch: Epoch of the unit.
        arith: Settings of the unit, which takes the sums at port x.
        count: Number of channels.
        of_frame: Number of channels in a frame of the sums.

    Returns:
        None for another operation, and for coefficients that are unknown.
    """
    import numpy as np  # noqa: PLC0415 - as above.

    fields = arith.fields
    operation = fields.get(("CTRL", "OP"))
    if operation not in (AFFINE, PRODUCT):
        return None
    if not fields.get(("CTRL", "DUALIN")):
        return step_of(arith, count)
    stream = epoch.units.get(epoch.source_of(f"{arith.name}.y"))
    values = _streamed(epoch, stream, count, of_frame) if stream and stream.kind == "STRENG" else None
    if values is None or fields.get(("CTRL", "COEFFA")) or fields.get(("CTRL", "COEFFB")):
        return None
    if operation == PRODUCT:
        return RequantiseStep(arith, values, np.zeros(count, np.int64))
    fixed = step_of(arith, count)
    if fixed is None or fields.get(("SHIFT", "BY")):
        return None
    factor = _signed(fields.get(("COEFFB", "B"), 0))
    return RequantiseStep(arith, fixed.a, factor * values + fixed.c, c_rounded=abs(factor))


def _streamed(epoch: Epoch, engine: UnitSettings, count: int, of_frame: int) -> NDArray[np.int64] | None:
    """Return numbers of 16 bits that an engine repeats for each pixel of a channel.

    In memory they are frames x pixels x channels of a frame, with equal pixels.
    """
    import numpy as np  # noqa: PLC0415 - as above.

    fields = engine.fields
    width, frames = fields.get(("FSIZE", "WIDTH"), 0), count // of_frame if count % of_frame == 0 else 0
    is_wide = fields.get(("CTRL", "SIZE1")) and not fields.get(("CTRL", "SIZE2"))
    total = frames * width
    if not frames or not width or width % of_frame or not is_wide or 2 * total > _MOST_STREAMED:
        return None
    data = epoch.weights.at(fields.get(("ADDR", "REG"), 0), 2 * total, engine.bases.get("ADDR", ""))
    if data is None:
        return None
    values = np.frombuffer(data, "<i2").reshape(frames, width // of_frame, of_frame).astype(np.int64)
    # A damaged pixel has another number than the others of its channel.
    usual = np.median(values, axis=1, keepdims=True).astype(np.int64)
    furthest = np.abs(values - usual).argmax(axis=1, keepdims=True)
    return np.take_along_axis(values, furthest, axis=1).reshape(-1)


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
