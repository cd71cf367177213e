"""Values that the NPU lost by saturation in a run, as lines for the console."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from n6build.base.console import clipped, printable
from n6build.base.size_text import counted
from n6build.board.run.npu_epochs import HardwareEpoch
from n6build.board.virtual_board.npu_record import SaturatedChannel, Saturation

# Most rows of the console; run.json and the report have all of them.
_SHOWN = 10
_NAME = 40
_RULE = "  " + "-" * 100
# Remedies: the constants of an epoch come from the scales and from the weights of its layer.
REMEDY = (
    "calibrate with representative data, so that the layer's output gets a larger scale; or even out its channels: "
    "clip or equalise the weights and biases of those that are far larger than the others"
)


@dataclass(frozen=True)
class SaturatedUnit:
    """A unit whose format did not hold all values in an epoch.

    Attributes:
        epoch: ST's number of the epoch.
        layer: Names of the epoch's operators, or the settings of its units.
        unit: Name of the unit.
        saturation: Values that its format did not hold.
    """

    epoch: int
    layer: str
    unit: str
    saturation: Saturation


def saturated_units(epochs: Sequence[HardwareEpoch]) -> tuple[SaturatedUnit, ...]:
    """Return the units with values that their formats did not hold, by epochs."""
    return tuple(
        SaturatedUnit(epoch.number, epoch.layer or epoch.operators, unit.unit, unit.saturation)
        for epoch in epochs
        for unit in epoch.units
        if unit.saturation
    )


def losing_units(epochs: Sequence[HardwareEpoch]) -> tuple[SaturatedUnit, ...]:
    """Return the units that lost values, by epochs."""
    return tuple(each for each in saturated_units(epochs) if each.saturation.lost)


def saturation_lines(units: Sequence[SaturatedUnit]) -> list[str]:
    """Return a table of the channels that lost values, the sums, and a remedy.

    Args:
        units: Result of `saturated_units`; without values that are lost or open, there are no lines.
    """
    return [*_lost_lines(units), *_open_lines(units)]


def _open_lines(units: Sequence[SaturatedUnit]) -> list[str]:
    open_ = [each for each in units if each.saturation.open]
    if not open_:
        return []
    epochs = list(dict.fromkeys(each.epoch for each in open_))
    named = ", ".join(map(str, epochs[:_SHOWN])) + (" ..." if len(epochs) > _SHOWN else "")
    values = sum(each.saturation.open for each in open_)
    return [
        f"  {counted(values, 'value')} saturated in results of more than 8 bits that a later epoch reads (epoch {named}); "
        "epochs=1 compares that epoch's output."
    ]


def _lost_lines(units: Sequence[SaturatedUnit]) -> list[str]:
    rows = [(unit, channel) for unit in units for channel in unit.saturation.channels if channel.lost]
    if not rows:
        return []
    rows.sort(key=lambda row: -row[1].lost)
    lost = sum(channel.lost for _, channel in rows)
    epochs = len({unit.epoch for unit, _ in rows})
    more = len(rows) - _SHOWN
    return [
        f"  {'NPU epoch that saturated':<{_NAME}}{'unit':<9}{'channel':>8}{'bits':>6}{'lost':>12}{'furthest':>14}{'limit':>11}",
        _RULE,
        *(_row(*row) for row in rows[:_SHOWN]),
        *([f"  and {counted(more, 'more channel')}; run.json and the report have all"] if more > 0 else []),
        _RULE,
        f"  {counted(lost, 'value')} of {counted(len(rows), 'channel')} in {counted(epochs, 'epoch')} saturated, and the "
        "outputs of these epochs show it; the reference has no such limit.",
        f"  To avoid it: {REMEDY}.",
    ]


def _row(unit: SaturatedUnit, channel: SaturatedChannel) -> str:
    name = clipped(f"{unit.epoch:>4}  {printable(unit.layer)}", _NAME - 1)
    furthest, limit = furthest_of(unit.saturation, channel)
    numbers = f"{channel.channel:>8}{8 * unit.saturation.bytes:>6}{channel.lost:>12,}{furthest:>14,}{limit:>11,}"
    return f"  {name:<{_NAME}}{unit.unit:<9}{numbers}"


def furthest_of(saturation: Saturation, channel: SaturatedChannel) -> tuple[int, int]:
    """Return the value furthest outside of the format, and the format's end there."""
    lowest, highest = saturation.limits
    below, above = lowest - min(channel.lowest, lowest), max(channel.highest, highest) - highest
    return (channel.lowest, lowest) if below > above else (channel.highest, highest)


def saturation_text(unit: SaturatedUnit) -> str:
    """Return a unit's worst channel in words.

    An example is 'ARITH3 loses 141 values of channel 47, up to 40,086 in 16 bits (32,767)'.
    """
    worst = max(unit.saturation.channels, key=lambda channel: channel.lost)
    furthest, limit = furthest_of(unit.saturation, worst)
    others = unit.saturation.lost - worst.lost
    return (
        f"{unit.unit} loses {counted(worst.lost, 'value')} of channel {worst.channel}, up to {furthest:,} in "
        f"{8 * unit.saturation.bytes} bits ({limit:,})" + (f", and {others:,} of other channels" if others else "")
    )
