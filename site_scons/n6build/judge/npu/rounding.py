"""Errors that an epoch's own constants cause in front of its last rounding.

The NPU rounds where a unit shifts to the right: behind a convolution, behind a scale of each channel, and
at the end. A reference interpreter rounds only at the end. Each earlier rounding is off by up to half of
its own step, and the units behind it multiply that. What remains, in steps of the output, follows from
shifts and coefficients alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from n6build.judge.npu.activation_table import slope_of_table
from n6build.judge.npu.moved import span_of
from n6build.judge.npu.names import Names
from n6build.judge.npu.settings import EpochSettings, UnitSettings

Channels = NDArray[np.float64]

_AFFINE, _MULTIPLY = 0, 7
_GLOBAL_AVERAGE = 10
_AVERAGE = (2, _GLOBAL_AVERAGE)
_FUNCTION = 3
# An error between -1/2 and 1/2 of a step, any of them as likely.
_HALF, _VARIANCE = 0.5, 1 / 12
# Units that one stream passes. A damaged blob may connect units in a circle.
_LONGEST = 12
_ENTRY_BYTES, _TABLE_AT = 8, 0x400
# Relative error of a factor that comes as a stream (INFERRED: scales of 16 bits that use ten bits or more).
_OF_STREAM = 2.0**-10
# Bytes of a stream that is not the rounding of a tensor of the model.
_UNROUNDED = 3


@dataclass(frozen=True)
class Rounding:
    """The error of a written value in front of its rounding, in output steps.

    Attributes:
        engine: Name of the stream engine.
        address: First address that it writes; None if a loader adds the address.
        expected: Mean distance over all channels, which is also the expected share of elements that
            differ from a reference that rounds once.
        furthest: Largest possible distance.
        relative: Largest relative error of a product of coefficients, which are rounded, too.
        tilt: Largest mean of the error. Half steps are rounded up, and a shift by few bits meets many.
        features: Expected share of a convolution's features that are off by one step, since the same
            epoch made them; 0 if it read them from memory.
    """

    engine: str
    address: int | None
    expected: float
    furthest: float
    relative: float
    tilt: float = 0.0
    features: float = 0.0


@dataclass(frozen=True)
class _Error:
    """The error of a stream, for each channel or the same for all.

    Attributes:
        variance: Variance in front of the last rounding.
        furthest: Largest distance in front of it.
        relative: Relative error of coefficients.
        rounded: Bytes to which the stream was rounded since, which is an error of its own for the next
            unit; 0 if it was not.
        tilt: Mean of the error in front of the last rounding.
        own_tilt: Mean of the error of the last rounding.
        features: As in `Rounding`.
    """

    variance: Channels
    furthest: Channels
    relative: Channels
    rounded: int = 0
    tilt: float = 0.0
    own_tilt: float = 0.0
    features: float = 0.0

    def scaled(self, factors: Channels, relative: Channels | float = 0.0) -> _Error:
        """Return the error behind a multiplication, with the last rounding included."""
        variance, furthest = self.variance, self.furthest
        if self.rounded == 1:
            # The model has this tensor, too: mostly both have the same value, else they differ by one step.
            variance, furthest = np.minimum(1, np.sqrt(variance)), np.ceil(furthest)
        elif self.rounded:
            variance, furthest = variance + _VARIANCE, furthest + _HALF
        factors = np.abs(factors)
        if len(factors) not in (1, len(variance)) and len(variance) > 1:
            variance, furthest = variance.max(keepdims=True), furthest.max(keepdims=True)
        return _Error(
            variance * factors**2,
            furthest * factors,
            _sum(self.relative, relative),
            tilt=(self.tilt + self.own_tilt) * float(factors.max()),
            features=self.features,
        )

    def plus(self, variance: Channels | float, furthest: Channels | float) -> _Error:
        """Return the error with another one that does not depend on it."""
        return replace(self, variance=_sum(self.variance, variance), furthest=_sum(self.furthest, furthest))


def _sum(first: Channels, second: Channels | float) -> Channels:
    other = np.atleast_1d(np.asarray(second, np.float64))
    if len(first) != len(other) and 1 not in (len(first), len(other)):
        return np.asarray(first.max(keepdims=True) + other.max(keepdims=True), np.float64)
    return first + other


def _exact() -> _Error:
    zero = np.zeros(1)
    return _Error(zero, zero, zero)


@dataclass(frozen=True)
class _Written:
    """Memory that an epoch has written, and the error of it; None if that is unknown."""

    first: int
    end: int
    error: _Error | None


def roundings_of(
    epochs: Iterable[EpochSettings], names: Names, replaced: Mapping[int, Sequence[tuple[int, int]]]
) -> dict[int, tuple[Rounding, ...]]:
    """Return the errors of each epoch's stream engines, by ST's number of the epoch.

    An epoch also has the errors of results that it reads, unless they were replaced by tensors of the
    reference. Engines with an unknown error are left out.

    Args:
        epochs: The epochs, in the order of their computation.
        names: Names of units and ports.
        replaced: Address and bytes of each replaced buffer, by the number of the epoch that makes it.
    """
    found: dict[int, tuple[Rounding, ...]] = {}
    memory: list[_Written] = []
    for epoch in epochs:
        flow = _Flow({unit.name: unit for unit in epoch.units}, names, memory)
        writers = [unit for unit in epoch.units if unit.kind == "STRENG" and unit.fields.get(("CTRL", "DIR"))]
        errors = [(unit, flow.into(f"{unit.name}.in")) for unit in writers]
        made = tuple(_rounding(unit, error) for unit, error in errors if error is not None)
        found[epoch.number] = (*found.get(epoch.number, ()), *made)
        written = [_Written(*span_of(unit), error) for unit, error in errors if "ADDR" not in unit.bases]
        others = [_Written(at, at + size, None) for at, size in replaced.get(epoch.number, ())]
        memory = [*_without(memory, written), *written]
        memory = list(_without(memory, others))
    return found


def _rounding(unit: UnitSettings, error: _Error) -> Rounding:
    return Rounding(
        unit.name,
        None if "ADDR" in unit.bases else unit.fields.get(("ADDR", "REG")),
        float(np.minimum(1, np.sqrt(error.variance)).mean()),
        float(error.furthest.max()),
        float(error.relative.max()),
        error.tilt,
        error.features,
    )


def _without(memory: Iterable[_Written], others: Sequence[_Written]) -> Iterator[_Written]:
    for each in memory:
        if not any(other.first < each.end and each.first < other.end for other in others):
            yield each


class _Flow:
    """The streams of an epoch, followed from a writer to the engines that read."""

    def __init__(self, units: Mapping[str, UnitSettings], names: Names, memory: Sequence[_Written]) -> None:
        self._units = units
        self._memory = memory
        self._sources = names.sources
        self._places = {name: place for place, name in enumerate(names.destinations)}
        switch = units.get("STRSWITCH")
        self._links = switch.fields if switch else {}

    def into(self, port: str, depth: int = 0) -> _Error | None:
        """Return the error of the stream into a port; None if it is unknown."""
        unit = self._before(port)
        if unit is None or depth > _LONGEST:
            return None
        compute = {
            "STRENG": self._from_memory,
            "CONVACC": self._convolution,
            "ARITH": self._arithmetic,
            "POOL": self._pool,
            "ACTIV": self._activation,
        }.get(unit.kind)
        return compute(unit, depth + 1) if compute else None

    def _before(self, port: str) -> UnitSettings | None:
        """Return the unit that a port takes its stream from, None without one."""
        register = f"DST{self._places[port]}" if port in self._places else ""
        for context in (0, 1):
            if self._links.get((register, f"EN{context}")):
                source = self._links.get((register, f"LINK{context}"), -1)
                name = self._sources[source] if 0 <= source < len(self._sources) else ""
                return self._units.get(name.partition(".")[0])
        return None

    def _from_memory(self, unit: UnitSettings, _: int) -> _Error | None:
        """Return the error of what an engine reads.

        Values of 16 bits are sums that an earlier epoch has rounded.
        """
        first = _number(unit, "ADDR", "REG")
        before = [each for each in self._memory if each.first <= first < each.end and "ADDR" not in unit.bases]
        error = before[-1].error if before else _exact()
        wide = unit.fields.get(("CTRL", "SIZE1")) and not unit.fields.get(("CTRL", "RAW_OUT"))
        return replace(error, rounded=_UNROUNDED) if error is not None and wide else error

    def _convolution(self, unit: UnitSettings, depth: int) -> _Error | None:
        features = self.into(f"{unit.name}.features", depth)
        if features is None:
            return None
        # The kernels are the factors of an error in the features.
        off = float(np.minimum(1, np.sqrt(features.variance)).mean())
        error = replace(_exact(), features=max(off, features.features))
        sums = 1
        if not unit.fields.get(("CTRL", "NOSUM")):
            before = self._before(f"{unit.name}.sums")
            if before is not None and before.name != unit.name:
                inner = self.into(f"{unit.name}.sums", depth)
                if inner is None:
                    return None
                inner = inner.scaled(np.array([2.0 ** _number(unit, "DFORMAT", "INSHIFT")]))
                error = replace(inner, features=max(inner.features, error.features))
            if unit.fields.get(("DFORMAT", "INSHIFT")) and (before is None or before.kind != "CONVACC"):
                # Sums through memory are rounded each time.
                sums = max(1, unit.fields.get(("AFILT", "TOT"), 1))
        shift = _number(unit, "DFORMAT", "OUTSHIFT")
        if not shift:
            return error
        error = error.scaled(np.array([2.0**-shift]))
        extra = sums - 1
        error = error.plus(extra * _VARIANCE, extra * _HALF)
        return replace(error, rounded=_UNROUNDED, own_tilt=2.0 ** -(shift + 1))

    def _arithmetic(self, unit: UnitSettings, depth: int) -> _Error | None:
        operation = unit.fields.get(("CTRL", "OP"), 0)
        first = self.into(f"{unit.name}.x", depth)
        dual = unit.fields.get(("CTRL", "DUALIN"))
        second = self.into(f"{unit.name}.y", depth) if dual else _exact()
        if first is None or second is None:
            return None
        shift = _number(unit, "SHIFT", "RES")
        if operation == _AFFINE and not dual and _only_moves(unit, shift):
            return first
        if operation == _MULTIPLY and dual:
            factors = [np.array([_largest(unit, side) / 2.0**shift]) for side in ("Y", "X")]
            both = _both(first.scaled(factors[0], _OF_STREAM), second.scaled(factors[1]))
        elif operation == _AFFINE:
            both = self._affine(unit, first, second, shift)
        else:
            # A minimum, a maximum or a clip is one of its operands.
            return first if not dual else _either(first, second)
        return replace(both, rounded=max(1, unit.fields.get(("CTRL", "OBYTES"), 2)))

    @staticmethod
    def _affine(unit: UnitSettings, first: _Error, second: _Error, shift: int) -> _Error:
        parts = []
        for error, name, inner in ((first, "A", "AX"), (second, "B", "BY")):
            if name == "B" and (unit.fields.get(("CTRL", "COMBINEBC")) or not unit.fields.get(("CTRL", "DUALIN"))):
                continue
            factors = _coefficients(unit, name)
            cut = _number(unit, "SHIFT", inner)
            # A power of two has no rounding error; of others the last bit is rounded.
            exact = np.array(
                [0.0 if value and not abs(int(value)) & (abs(int(value)) - 1) else 1.0 for value in factors]
            )
            part = error.scaled(factors / 2.0 ** (cut + shift), exact * _HALF / np.maximum(1, np.abs(factors)))
            if cut:
                # This shift cuts bits off, which is an error of up to a whole step.
                part = part.plus(4 * _VARIANCE / 4.0**shift, 1 / 2.0**shift)
                part = replace(part, tilt=part.tilt + _HALF / 2.0**shift)
            parts.append(part)
        return parts[0] if len(parts) == 1 else _both(*parts)

    def _pool(self, unit: UnitSettings, depth: int) -> _Error | None:
        error = self.into(f"{unit.name}.in", depth)
        if error is None or unit.fields.get(("CTRL", "TYPE")) not in _AVERAGE:
            return error
        # The mean of independent errors is smaller; the largest stays.
        count, shift = _window(unit), _number(unit, "CTRL", "OUTSHIFT")
        scaled = error.scaled(np.array([count * max(1, _number(unit, "MULVAL", "MULVAL")) / 2.0**shift]))
        return replace(scaled, variance=scaled.variance / count, rounded=_UNROUNDED if shift else 0)

    def _activation(self, unit: UnitSettings, depth: int) -> _Error | None:
        error = self.into(f"{unit.name}.in", depth)
        if error is None or unit.fields.get(("CTRL", "TYPE")) != _FUNCTION:
            return error
        slope = slope_of_table(unit)
        if slope is None:
            return None
        scaled = error.scaled(np.array([slope]))
        # The polynomials of the table miss the function by up to half a step.
        scaled = scaled.plus(_VARIANCE, _HALF)
        return replace(scaled, rounded=max(1, unit.fields.get(("CTRL", "OBYTES"), 1)))


def _window(unit: UnitSettings) -> int:
    """Return the number of elements whose mean or sum a pool makes."""
    if unit.fields.get(("CTRL", "TYPE")) == _GLOBAL_AVERAGE:
        width = _number(unit, "FDIMS", "FEATX") // max(1, _number(unit, "PDIMS", "BSIZE"))
        return max(1, width * _number(unit, "FDIMS", "FEATY"))
    return max(1, _number(unit, "PDIMS", "WINX") * _number(unit, "PDIMS", "WINY"))


def _only_moves(unit: UnitSettings, shift: int) -> bool:
    """Return whether a unit only adds a zero point, which rounds nothing."""
    return not _number(unit, "SHIFT", "AX") and bool((_coefficients(unit, "A") == 2.0**shift).all())


def _both(first: _Error, second: _Error) -> _Error:
    relative = first.relative.max(keepdims=True), second.relative.max(keepdims=True)
    return _Error(
        _sum(first.variance, second.variance),
        _sum(first.furthest, second.furthest),
        np.maximum(*relative),
        tilt=first.tilt + second.tilt,
        features=max(first.features, second.features),
    )


def _either(first: _Error, second: _Error) -> _Error:
    largest = partial(max, key=lambda error: float(error.furthest.max()))
    worst = largest((first, second))
    return _Error(
        worst.variance,
        worst.furthest,
        worst.relative,
        max(first.rounded, second.rounded),
        max(first.tilt, second.tilt),
        max(first.own_tilt, second.own_tilt),
        max(first.features, second.features),
    )


def _coefficients(unit: UnitSettings, name: str) -> Channels:
    """Return the factors A or B, one or one for each channel."""
    if not unit.fields.get(("CTRL", f"COEFF{name}")):
        register = ("COEFFAC", "A") if name == "A" else ("COEFFB", "B")
        return np.array([float(_signed(unit.fields.get(register, 0)))])
    shift = 0 if name == "A" else 16
    words = [word for offset, word in sorted(unit.tables.items()) if offset >= _TABLE_AT and not offset % _ENTRY_BYTES]
    found = [float(value) for word in words if (value := _signed(word >> shift & 0xFFFF))]
    return np.array(found or [float(_signed(0x8000))])


def _signed(value: int) -> int:
    return value - 0x1_0000 if value & 0x8000 else value


def _number(unit: UnitSettings, register: str, field: str) -> int:
    return unit.fields.get((register, field), 0)


def _largest(unit: UnitSettings, side: str) -> float:
    """Return the largest value that an operand of a product can have, by its bytes."""
    size = max(1, unit.fields.get(("INSHIFTER", f"FBYTES{side}"), 2) or 2)
    return float(1 << (8 * size - 1))
