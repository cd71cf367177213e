"""Smallest and largest sums that CONVACC units can make in an epoch, from their kernels alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from n6build.judge.npu.settings import EpochSettings, UnitSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Frames outside of AFILT's FIRST to LAST count as zeros.
_FRAME_ZERO = 3
_DEEP_GROUP = 8
_LANES = 3
# Sums are looked at up to so many standard deviations from their mean, with independent inputs that are all equally likely.
# Measured on four networks of ST's compiler with noise: the furthest sum of a layer is at 2.7 to 3.2 of them, and every channel
# that lost values is found; with six, most of the channels that are named never get there.
_DEVIATIONS = 3
# No engine of a network moves more kernels; a damaged blob may have any number.
_MOST_BYTES = 64 << 20
_MOST_FRAMES = 1 << 16


@dataclass(frozen=True)
class Weights:
    """Weights of a network, as the stream engines address them.

    Attributes:
        parts: Bytes by their first address.
        pools: Bytes by the name of a pool to whose address a loader still adds its begin.
    """

    parts: Mapping[int, bytes]
    pools: Mapping[str, bytes]

    def at(self, address: int, count: int, pool: str) -> bytes | None:
        """Return bytes of the weights, or None if not all of them are known."""
        parts = {0: self.pools[pool]} if pool in self.pools else {} if pool else self.parts
        for start, data in parts.items():
            if start <= address and address + count <= start + len(data):
                return data[address - start : address - start + count]
        return None


@dataclass(frozen=True)
class Epoch:
    """An epoch with its connections.

    Attributes:
        units: Units that are on, by name.
        source_of: Returns the name of the unit that feeds a destination such as 'ARITH0.x'; empty for
            one without a source.
        weights: Weights of the network.
    """

    units: Mapping[str, UnitSettings]
    source_of: Callable[[str], str]
    weights: Weights


def connected(settings: EpochSettings, sources: Sequence[str], destinations: Sequence[str], weights: Weights) -> Epoch:
    """Return an epoch with its connections.

    Args:
        settings: Settings of the epoch.
        sources: Names of the stream switch's sources.
        destinations: Names of its destinations.
        weights: Weights of the network.
    """
    units = {unit.name: unit for unit in settings.units}
    links: dict[str, str] = {}
    switch = units.get("STRSWITCH")
    for number, destination in enumerate(destinations if switch else ()):
        fields = switch.fields if switch else {}
        context = next((each for each in (0, 1) if fields.get((f"DST{number}", f"EN{each}"))), None)
        if context is not None:
            source = fields.get((f"DST{number}", f"LINK{context}"), len(sources))
            links[destination] = sources[source].partition(".")[0] if source < len(sources) else ""
    return Epoch(units, lambda destination: links.get(destination, ""), weights)


@dataclass(frozen=True)
class Sums:
    """Bounds of the values of a CONVACC before its format narrows them.

    Attributes:
        low: Smallest value of each channel.
        high: Largest value of each channel.
    """

    low: NDArray[np.int64]
    high: NDArray[np.int64]


def sums_of(epoch: Epoch, unit: UnitSettings) -> Sums | None:
    """Return the bounds of a CONVACC's output, or None if they are unknown.

    Channels have the order of the output: kernels of a frame, then frames. Inputs may have any value
    of their format, but not all of many inputs are at their worst ends together. Frames of partial
    sums are left out.
    """
    frames = _frames(epoch, unit, set())
    if frames is None:
        return None
    low, high = frames
    fields = unit.fields
    count = len(low)
    if not fields.get(("CTRL", "NOSUM")):
        total = max(1, fields.get(("AFILT", "TOT"), 1)) if fields.get(("CTRL", "AFILTMODE")) == _FRAME_ZERO else count
        if count % total:
            return None
        low, high = low[total - 1 :: total], high[total - 1 :: total]
    return Sums(low.ravel(), high.ravel())


def _frames(epoch: Epoch, unit: UnitSettings, seen: set[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return bounds as frames x kernels, not narrowed yet."""
    import numpy as np  # noqa: PLC0415 - planning checks nothing.

    products = None if unit.name in seen else _products(epoch, unit)
    if products is None:
        return None
    low, high = products
    fields = unit.fields
    shift, added = fields.get(("DFORMAT", "OUTSHIFT"), 0), fields.get(("DFORMAT", "INSHIFT"), 0)
    if fields.get(("CTRL", "NOSUM")):
        return low >> shift, high >> shift
    source = epoch.source_of(f"{unit.name}.sums")
    other = epoch.units.get(source)
    if other and other.kind == "CONVACC" and source != unit.name:
        before = _frames(epoch, other, seen | {unit.name})
        if before is None or before[0].shape != low.shape:
            return None
        first, last = (narrowed(each, other.fields.get(("DFORMAT", "OBYTES"), 0)) for each in before)
        return (low + (first << added)) >> shift, (high + (last << added)) >> shift
    if other is None or other.kind not in ("CONVACC", "STRENG"):
        return None
    # The sums are the unit's own frame before, directly or through memory.
    bytes_ = fields.get(("DFORMAT", "OBYTES"), 0)
    total = max(1, fields.get(("AFILT", "TOT"), 1)) if fields.get(("CTRL", "AFILTMODE")) == _FRAME_ZERO else 0
    first, last = fields.get(("AFILT", "FIRST"), 0), fields.get(("AFILT", "LAST"), 0)
    results = []
    for bound in (low, high):
        made = np.empty_like(bound)
        for frame in range(len(bound)):
            sums = frame > 0 and (not total or first <= frame % total <= last)
            before = narrowed(made[frame - 1], bytes_) << added if sums else 0
            made[frame] = (bound[frame] + before) >> shift
        results.append(made)
    return results[0], results[1]


def narrowed(values: NDArray[np.int64], bytes: int) -> NDArray[np.int64]:
    """Return values saturated to so many bytes."""
    import numpy as np  # noqa: PLC0415 - as above.

    half = 1 << (8 * max(1, bytes) - 1)
    return np.clip(values, -half, half - 1)


def _products(epoch: Epoch, unit: UnitSettings) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return the bounds of each frame's products, as frames x kernels."""
    import numpy as np  # noqa: PLC0415 - as above.

    kernels = _kernels(epoch, unit)
    if kernels is None:
        return None
    features = _features(epoch, unit)
    if features is None:
        return None
    lowest, highest = features
    positive = np.where(kernels > 0, kernels, 0).sum(axis=2)
    negative = np.where(kernels < 0, kernels, 0).sum(axis=2)
    low, high = positive * lowest + negative * highest, positive * highest + negative * lowest
    spread = np.sqrt((kernels * kernels).sum(axis=2) / 12) * (highest - lowest + 1)
    likely = (_DEVIATIONS * spread).astype(np.int64) + 1
    return np.maximum(low, (low + high) // 2 - likely), np.minimum(high, (low + high) // 2 + likely)


def _features(epoch: Epoch, unit: UnitSettings) -> tuple[int, int] | None:
    """Return the smallest and the largest feature, after the subtraction.

    A stream engine may read fewer bytes than the unit takes; the others are zeros. Features of more
    than 8 bits are results of another epoch in between, whose range is unknown.
    """
    fields = unit.fields
    bits = 8 if fields.get(("CTRL", "SIMD")) == 1 else 8 * fields.get(("DFORMAT", "FBYTES"), 1)
    subtracted = fields.get(("FSUB", "FSUB"), 0)
    subtracted -= (subtracted >> 23) << 24
    is_unsigned = bool(fields.get(("CTRL", "FUNSIGNED")))
    source = epoch.units.get(epoch.source_of(f"{unit.name}.features"))
    if source and source.kind == "STRENG":
        read = 8 * sum(source.fields.get(("CTRL", f"SIZE{lane}"), 0) > 0 for lane in range(_LANES))
        if read < bits and source.fields.get(("CTRL", "SIZE0")):
            extended = source.fields.get(("CTRL", "LSBMODE")) and source.fields.get(("CTRL", "SIGNEXT"))
            bits, is_unsigned = read, not extended
    if bits > 8:
        return None
    lowest, highest = (0, (1 << bits) - 1) if is_unsigned else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    return lowest - subtracted, highest - subtracted


def _kernels(epoch: Epoch, unit: UnitSettings) -> NDArray[np.int64] | None:
    """Return a unit's kernels as frames x kernels x values."""
    import numpy as np  # noqa: PLC0415 - as above.

    fields = unit.fields
    engine = epoch.units.get(epoch.source_of(f"{unit.name}.kernels"))
    if engine is None or engine.kind != "STRENG" or fields.get(("CTRL", "FSTAT")) or not fields.get(("CTRL", "SIMD")):
        return None
    data = _bytes_of(epoch, engine)
    if data is None:
        return None
    number = fields.get(("KFORMAT", "NR"), 0) or 256
    depth = fields.get(("KFORMAT", "BTCDEPTH"), 0) or 256
    deep = bool(fields.get(("CTRL", "DEEPMODE")))
    taps = fields.get(("KFORMAT", "WIDTH"), 0) * fields.get(("KFORMAT", "HEIGHT"), 0) * depth
    shared, first = fields.get(("KFILT", "TOT"), 1), fields.get(("KFILT", "FIRST"), 0)
    shared, first = (shared, first) if shared > 1 else (number, 0)
    padded = -(-number * taps // 3) * 3 if deep else number * taps
    if not taps or first + number > shared or (deep and (shared % number or first % number)):
        return None
    of_all = shared // number * padded if deep else taps * shared
    before = first // number * padded if deep else taps * first
    frames = len(data) // of_all
    if not 0 < frames <= _MOST_FRAMES:
        return None
    values = np.frombuffer(data, np.int8, frames * of_all).reshape(frames, of_all)[:, before : before + number * taps]
    if not deep:
        return values.reshape(frames, number, taps).astype(np.int64)
    groups = [
        values[:, start * taps : min(start + _DEEP_GROUP, number) * taps].reshape(frames, taps, -1).swapaxes(1, 2)
        for start in range(0, number, _DEEP_GROUP)
    ]
    return np.concatenate(groups, axis=1).astype(np.int64)


def _bytes_of(epoch: Epoch, engine: UnitSettings) -> bytes | None:
    """Return the bytes that an engine reads in all its frames; a frame that is read again and again once."""
    fields = engine.fields
    lanes = sum(fields.get(("CTRL", f"SIZE{lane}"), 0) > 0 for lane in range(_LANES))
    size = (fields.get(("FSIZE", "WIDTH"), 0) | fields.get(("FSIZE", "HEIGHT"), 0) << 16) * lanes
    count = max(1, fields.get(("LIMIT", "CNT"), 1))
    step, again = fields.get(("FOFFSET", "REG"), 0), fields.get(("FRPTOFF", "REG"), 0)
    repeat = fields.get(("FRAME_RPT", "REG"), 0)
    if not fields.get(("CTRL", "RAW")) or not size:
        return None
    if not step or (repeat and not again):
        count = min(count, repeat) if step else 1
    if size * count > _MOST_BYTES or count > _MOST_FRAMES:
        return None
    address, pool = fields.get(("ADDR", "REG"), 0), engine.bases.get("ADDR", "")
    offsets = (
        number % repeat * step + number // repeat * again if repeat else number * step for number in range(count)
    )
    frames = [epoch.weights.at(address + offset, size, pool) for offset in offsets]
    return None if None in frames else b"".join(frame for frame in frames if frame is not None)
