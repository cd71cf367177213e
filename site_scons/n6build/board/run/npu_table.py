"""Work of the NPU in each of its epochs, as a table for the console."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

from n6build.base.console import clipped, printable
from n6build.board.run.npu_epochs import HardwareEpoch
from n6build.board.virtual_board.npu_record import UnitWork

# Most epochs that are shown of a network; run.json and the report have all of them.
SHOWN = 20
_RULE = "  " + "-" * 100
_OPERATORS = 28
_NAME = re.compile(r"(\D+)(\d*)")


def npu_table(epochs: Sequence[HardwareEpoch]) -> list[str]:
    """Return a table of the epochs of the first inference.

    If there are many, only those with the most work are shown, in their order. The table has no times, since the virtual NPU
    does not know them. It is empty without epochs.
    """
    if not epochs:
        return []
    busiest = sorted(epochs, key=lambda each: (each.macs, each.reads + each.writes), reverse=True)[:SHOWN]
    others = [epoch for epoch in epochs if epoch not in busiest]
    return [
        f"  {'NPU epoch':<{_OPERATORS + 6}}{'MACs':>14}{'bytes read':>14}{'written':>14}  units",
        _RULE,
        *(
            _row(f"{epoch.number:>4}  {printable(epoch.operators)}", [epoch], units_text(epoch))
            for epoch in epochs
            if epoch in busiest
        ),
        *([_row(f"{len(others):>4}  others, in run.json", others, "")] if others else []),
        _RULE,
        _row(f"{len(epochs):>4}  epochs", epochs, ""),
        _RULE,
        "  The virtual NPU computes with the settings of the units, but does not know their times.",
    ]


def _row(name: str, epochs: Iterable[HardwareEpoch], units: str) -> str:
    macs, reads, writes = (sum(each) for each in zip(*((e.macs, e.reads, e.writes) for e in epochs), strict=True))
    shown = clipped(name, _OPERATORS + 5)
    return f"  {shown:<{_OPERATORS + 6}}{macs:>14,}{reads:>14,}{writes:>14,}  {units}".rstrip()


def units_text(epoch: HardwareEpoch) -> str:
    """Return the computing units, and the bytes that each stream engine moved.

    An example is 'CONVACC 0,1  ARITH 0,3 | in 6:98,304  out 0:24,576'.
    """
    computing = (_NAME.fullmatch(unit.unit) for unit in epoch.units if not is_engine(unit))
    kinds = itertools.groupby((match.groups() for match in computing if match), key=lambda parts: parts[0])
    units = "  ".join(f"{kind} {','.join(index for _, index in group)}".rstrip() for kind, group in kinds)
    engines = [(unit.unit.removeprefix("STRENG"), unit) for unit in epoch.units if is_engine(unit)]
    read = "".join(f" {index}:{engine.reads:,}" for index, engine in engines if engine.reads)
    written = "".join(f" {index}:{engine.writes:,}" for index, engine in engines if engine.writes)
    return f"{units} | {f'in{read}  ' if read else ''}{f'out{written}' if written else ''}".strip(" |")


def is_engine(unit: UnitWork) -> bool:
    """Return true if the unit moves data between memory and the other units."""
    return unit.unit.startswith("STRENG")
