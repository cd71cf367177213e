"""Channels that can lose values by saturation, from constants of a network.

ST's compiler requantises a convolution in steps. Each has a format of 16 bits: the sum after a shift,
then its product with the channel's factor, to which the last step adds the bias. A channel with a
large bias may need a product that 16 bits do not hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from n6build.base.errors import N6Error
from n6build.base.files import read_at_most
from n6build.compile.artifacts.description import NetworkArtifacts
from n6build.compile.artifacts.network_c import MAX_BYTES, parse_network_c
from n6build.describe.hardware.npu import Npu
from n6build.judge.npu.blobs import Blob, blobs_of_network
from n6build.judge.npu.names import names_of
from n6build.judge.npu.requantise import AFFINE, MOST_STEPS, PRODUCT, RequantiseStep, step_of
from n6build.judge.npu.settings import UnitSettings, epochs_of_blob
from n6build.judge.npu.sums import Epoch, Weights, connected, narrowed, sums_of, weights_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NO_SHIFT = 16
# Channels whose output ends fewer steps too early are left out: a sixteenth of its range.
_LOST_STEPS = 16


@dataclass(frozen=True)
class CutChannel:
    """A channel whose values may be lost by saturation.

    Attributes:
        epoch: ST's number of the epoch.
        unit: Unit whose format is too small.
        channel: Number of the channel among those of the unit.
        bits: Bits of the format.
        needs: Furthest value of the channel, if all inputs are at their ends.
        limit: End of the format.
        ends_at: Value at which the epoch's output ends because of that.
        wanted: Value at which it would end if the format held all.
    """

    epoch: int
    unit: str
    channel: int
    bits: int
    needs: int
    limit: int
    ends_at: int
    wanted: int


@dataclass(frozen=True)
class Reach:
    """The channels of a network that were looked at.

    Attributes:
        layers: Number of requantised convolutions, by epochs.
        unknown: Number of these whose sums are unknown.
        cut: Channels that may lose values.
    """

    layers: int
    unknown: int
    cut: tuple[CutChannel, ...]


def reach(blobs: Iterable[Blob], npu: Npu, weights: Weights) -> Reach:
    """Return the channels of a network that may lose values by saturation.

    Args:
        blobs: Blobs of the network.
        npu: The chip's NPU.
        weights: Weights of the network.

    Raises:
        N6Error: N6-NPU-003.
    """
    names = names_of(npu)
    layers = unknown = 0
    cut: list[CutChannel] = []
    for blob in blobs:
        for settings in epochs_of_blob(blob, names):
            epoch = connected(settings, names.sources, names.destinations, weights)
            chains = {
                tuple(each.name for each in (convolution, *steps)): (convolution, steps)
                for convolution, steps in _chains(epoch)
            }
            for convolution, steps in chains.values():
                found = _cut_channels(epoch, settings.number, convolution, steps)
                layers += 1
                unknown += found is None
                cut += found or ()
    return Reach(layers, unknown, tuple(cut))


def reach_of_network(artifacts: NetworkArtifacts, npu: Npu) -> Reach | None:
    """Return the channels of a compiled network that may lose values by saturation.

    Args:
        artifacts: The network; its weights are read.
        npu: The chip's NPU.

    Returns:
        None for a network without network.c or blobs, and for one with blobs that cannot be read: they
        may run on a real board.
    """
    source = artifacts.source
    if artifacts.is_linked:
        return None
    text = read_at_most(source, MAX_BYTES).decode("utf-8", "replace")
    try:
        blobs = blobs_of_network(source, parse_network_c(text, source.name).ecblobs_header)
        return reach(blobs, npu, weights_of(artifacts)) if blobs else None
    except N6Error:
        return None


def _chains(epoch: Epoch) -> Iterator[tuple[UnitSettings, list[UnitSettings]]]:
    """Yield each convolution and the ARITH units up to its output of one byte.

    Other units behind that do not matter: the value is at an end of its format already, or it is not.
    """
    for engine in epoch.units.values():
        if engine.kind != "STRENG" or not engine.fields.get(("CTRL", "DIR")):
            continue
        source = epoch.units.get(epoch.source_of(f"{engine.name}.in"))
        for _ in range(MOST_STEPS):
            if source and source.kind in ("POOL", "ACTIV"):
                source = epoch.units.get(epoch.source_of(f"{source.name}.in"))
        units: list[UnitSettings] = []
        while source and source.kind == "ARITH" and _is_step(source) and len(units) < MOST_STEPS:
            units.insert(0, source)
            source = epoch.units.get(epoch.source_of(f"{source.name}.x"))
        while units and units[-1].fields.get(("CTRL", "OBYTES")) == 1 and not _narrows(units[-1]):
            units.pop()
        if source and source.kind == "CONVACC" and units and units[-1].fields.get(("CTRL", "OBYTES")) == 1:
            yield source, units


def _is_step(arith: UnitSettings) -> bool:
    """Return whether a unit computes with one stream and does not shift it first."""
    fields = arith.fields
    single = fields.get(("CTRL", "OP")) in (AFFINE, PRODUCT) and not fields.get(("CTRL", "DUALIN"))
    return single and fields.get(("INSHIFTER", "FSHIFTX"), _NO_SHIFT) in (0, _NO_SHIFT)


def _narrows(arith: UnitSettings) -> bool:
    return bool(arith.fields.get(("CTRL", "SAT")))


def _cut_channels(
    epoch: Epoch, number: int, convolution: UnitSettings, arithmetic: list[UnitSettings]
) -> list[CutChannel] | None:
    """Return the channels of a layer that may lose values; None for unknown sums."""
    import numpy as np  # noqa: PLC0415 - as above.

    sums = sums_of(epoch, convolution)
    if sums is None:
        return None
    count = len(sums.low)
    steps = [step_of(unit, count) for unit in arithmetic]
    known = [each for each in steps if each is not None]
    if len(known) < len(steps):
        return None
    cut: list[CutChannel] = []
    ends = (sums.low, sums.high)
    stages: list[tuple[UnitSettings, int]] = [(convolution, convolution.fields.get(("DFORMAT", "OBYTES"), 0))]
    stages += [(each.unit, each.bytes) for each in known]
    for place, (unit, bytes_) in enumerate(stages):
        if bytes_ < 2:
            break
        half = 1 << (8 * bytes_ - 1)
        behind = known[place:]
        for limit, is_above in ((-half, False), (half - 1, True)):
            furthest = np.maximum(*ends) if is_above else np.minimum(*ends)
            outside = furthest > limit if is_above else furthest < limit
            last = _output(behind, np.full(count, limit))
            true = _output(behind, furthest, saturates=False)
            # The output has an end of 8 bits, or of the clip or ReLU in the last step.
            for channel in map(int, np.flatnonzero(outside & (np.abs(true - last) >= _LOST_STEPS))):
                needs, ends_at, wanted = (int(each[channel]) for each in (furthest, last, true))
                cut.append(CutChannel(number, unit.name, channel, 8 * bytes_, needs, limit, ends_at, wanted))
        kept = tuple(narrowed(each, bytes_) for each in ends)
        if behind:
            ends = (behind[0].raw(kept[0]), behind[0].raw(kept[1]))
    return cut


def _output(steps: list[RequantiseStep], values: NDArray[np.int64], *, saturates: bool = True) -> NDArray[np.int64]:
    """Return the output of the last step for values before the first one.

    Args:
        steps: Steps in their order.
        values: A value of each channel.
        saturates: Whether formats of more than one byte saturate, as on the chip.
    """
    for step in steps:
        raw = step.raw(values)
        values = narrowed(raw, step.bytes) if saturates or step.bytes == 1 else raw
    return values
