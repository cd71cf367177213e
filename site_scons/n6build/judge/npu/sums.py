"""Bounds of the sums that CONVACC units can make, from their kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from n6build.base.files import read_bytes
from n6build.compile.artifacts.description import NetworkArtifacts
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
_MOST_BYTES = 8 << 20
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


def weights_of(artifacts: NetworkArtifacts) -> Weights:
    """Return the weights of a compiled network from its raw files.

    Raises:
        N6Error: N6-FILE-002, N6-FILE-003.
    """
    contents = [(image, read_bytes(image.file)) for image in artifacts.initializers]
    parts = {image.address: data for image, data in contents if not image.relative}
    return Weights(parts, {image.fname: data for image, data in contents})


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
        low: Smallest values.
        high: Largest values.
    """

    low: NDArray[np.int64]
    high: NDArray[np.int64]


def sums_of(epoch: Epoch, unit: UnitSettings) -> Sums | None:
    """Return the bounds of a CONVACC's output, or None if they are unknown.

    There is a bound for each channel, in the order of the output: kernels of a frame, then frames. Inputs may have any value
    of their format, but not all of many inputs are at their worst ends together. Frames of partial
    sums are left out.
    """
    import numpy as np  # noqa: PLC0415 - planning checks nothing.

    frames = _Frames(epoch)
    products = frames.products(unit.name)
    if products is None:
        return None
    count = len(products.low)
    made = [frames.of(unit.name, number) for number in range(count)]
    known = [each for each in made if each is not None]
    group = frames.group or count
    if len(known) < count or count % group:
        return None
    last = known[group - 1 :: group]
    return Sums(np.concatenate([each.low for each in last]), np.concatenate([each.high for each in last]))


class _Frames:
    """Output frames of CONVACC units before they are narrowed, in their order.

    Attributes:
        group: Number of frames that are summed to one; 0 for all.
    """

    def __init__(self, epoch: Epoch) -> None:
        self.group = 1
        self._epoch = epoch
        self._products: dict[str, Sums | None] = {}
        self._made: dict[tuple[str, int], Sums | None] = {}

    def products(self, name: str) -> Sums | None:
        """Return the bounds of a unit's products, as frames x kernels."""
        if name not in self._products:
            self._products[name] = _products(self._epoch, self._epoch.units[name])
        return self._products[name]

    def of(self, name: str, number: int) -> Sums | None:
        """Return the bounds of a frame, or None if they are unknown."""
        key = name, number
        if key not in self._made:
            self._made[key] = None  # A unit that waits for itself has no frame.
            self._made[key] = self._make(name, number)
        return self._made[key]

    def _make(self, name: str, number: int) -> Sums | None:
        products, fields = self.products(name), self._epoch.units[name].fields
        if products is None or number >= len(products.low):
            return None
        low, high = products.low[number], products.high[number]
        if not fields.get(("CTRL", "NOSUM")):
            if not (found := self._find(name)):
                return None
            source, is_before = found
            if self._is_summed(name, number, is_before=is_before):
                sums = self.of(source, number - is_before)
                if sums is None or sums.low.shape != low.shape:
                    return None
                size, shift = self._bytes(source), fields.get(("DFORMAT", "INSHIFT"), 0)
                low = low + (narrowed(sums.low, size) << shift)
                high = high + (narrowed(sums.high, size) << shift)
        shift = fields.get(("DFORMAT", "OUTSHIFT"), 0)
        return Sums(low >> shift, high >> shift)

    def _is_summed(self, name: str, number: int, *, is_before: bool) -> bool:
        """Return whether a frame is added to sums, and remember the size of groups."""
        fields = self._epoch.units[name].fields
        filters = fields.get(("CTRL", "AFILTMODE")) == _FRAME_ZERO
        total = max(1, fields.get(("AFILT", "TOT"), 1))
        if is_before:
            self.group = max(self.group, total) if filters and self.group else 0
        phase = number % total
        summed = not filters or fields.get(("AFILT", "FIRST"), 0) <= phase <= fields.get(("AFILT", "LAST"), 0)
        return summed and (number > 0 or not is_before)

    def _find(self, name: str) -> tuple[str, bool] | None:
        """Return the unit that makes a unit's sums, and if they come a frame later.

        Sums through memory are written by an engine to the address that another one reads.
        """
        units, source_of = self._epoch.units, self._epoch.source_of
        source = source_of(f"{name}.sums")
        if source in units and units[source].kind == "STRENG":
            address = units[source].fields.get(("ADDR", "REG"))
            writers = (
                each.name
                for each in units.values()
                if each.kind == "STRENG"
                and each.fields.get(("CTRL", "DIR"))
                and each.fields.get(("ADDR", "REG")) == address
            )
            writer = next(writers, "")
            source = source_of(f"{writer}.in") if writer else ""
            return (source, True) if source in units and units[source].kind == "CONVACC" else None
        return (source, source == name) if source in units and units[source].kind == "CONVACC" else None

    def _bytes(self, name: str) -> int:
        return self._epoch.units[name].fields.get(("DFORMAT", "OBYTES"), 0)


def narrowed(values: NDArray[np.int64], bytes: int) -> NDArray[np.int64]:
    """Return values saturated to so many bytes."""
    import numpy as np  # noqa: PLC0415 - as above.

    half = 1 << (8 * max(1, bytes) - 1)
    return np.clip(values, -half, half - 1)


def _products(epoch: Epoch, unit: UnitSettings) -> Sums | None:
    """Return the bounds of each frame's products, as frames x kernels."""
    import numpy as np  # noqa: PLC0415 - as above.

    kernels = kernels_of(epoch, unit)
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
    mean = (low + high) // 2
    return Sums(np.maximum(low, mean - likely), np.minimum(high, mean + likely))


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


def kernels_of(epoch: Epoch, unit: UnitSettings) -> NDArray[np.int64] | None:
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
    """Return the bytes of all frames of an engine, one frame if all are the same."""
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
