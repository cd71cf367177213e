"""Fit of the model of expected times to the measurements.

    .venv/bin/python tools/fit_timing.py             fits, writes, and prints the errors for data that was left out of a fit
    .venv/bin/python tools/fit_timing.py --check     writes nothing, and ends with status 1 if the file is not the fit's output

It reads boards/soc/stm32n6-timings.yaml, and writes boards/soc/stm32n6-time-model.yaml. The same
measurements always give the same file.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from n6build.base.files import write_atomically
from n6build.judge.timing.facts import MEASUREMENTS, Measurements, contradictions, read_measurements
from n6build.judge.timing.model import MODEL
from timing_fit import (
    EPOCH_FREE,
    LAYER_FREE,
    HeldOut,
    Parameters,
    epoch_work,
    estimates_off,
    fit_epochs,
    fit_layers,
    network_work,
    validations,
)

_NAMES = ("elements_per_cycle", "macs_per_cycle", "flash_share", "overlap", "overhead_cycles")
# Nine of ten values are between these quantiles.
_LOW, _HIGH = 0.05, 0.95
# Fewer values do not show the spread of measurements.
_LEAST = 5
# An operator that was measured once or twice depends on its shape in an unknown way.
_DOUBLE = 2.0

_HEADER = """\
# Written by tools/fit_timing.py from {source}; not edited by hand. What the numbers mean: n6build/judge/timing/model.py.
# low, high: of parameters, the smallest and the largest of all fits to a part of the measurements; of errors, measured / expected
# of what was not fitted to, which nine of ten are between.
"""


def main(arguments: Sequence[str]) -> int:
    """Fit the model, and return the exit status."""
    facts = read_measurements()
    figures = validations(facts)
    for name, held in figures.items():
        print(f"{name:<50} {held.text}")
    print(f"{'networks, by the compiler of ST':<50} median {estimates_off(facts):.1%} ({len(facts.estimates)})")
    for each in contradictions(facts):
        print(f"contradiction: {each.what}, {' and '.join(each.ids)} differ by a factor of {each.spread:.1f}")
    text = model_text(facts, figures)
    if "--check" in arguments:
        return int(Path(MODEL).read_text(encoding="utf-8") != text)
    write_atomically(MODEL, text)
    print(f"wrote {MODEL.name}")
    return 0


def model_text(facts: Measurements, figures: Mapping[str, HeldOut]) -> str:
    """Return the text of the file with the parameters."""
    epochs, networks = epoch_work(facts), network_work(facts)
    halves = figures["epochs, half against half, ten random halvings"]
    lines = [_HEADER.format(source=MEASUREMENTS.name).rstrip()]
    lines += _parameters("epochs", fit_epochs(epochs), halves.fits, EPOCH_FREE)
    layer_fits = (*figures["networks, half against half, ten random halvings"].fits,)
    layer_fits += figures["networks, a family left out"].fits
    lines += _parameters("layers", fit_layers(networks), layer_fits, LAYER_FREE)
    by_cpu = [epoch.start + epoch.end for table in facts.tables if not table.epoch_controller for epoch in table.epochs]
    lines.append(f"by_cpu: {_span(by_cpu)}")
    lines.append(f"by_controller: {_span([block.start + block.end for block in facts.blocks])}")
    lines.append("errors:")
    for bound in ("stream", "macs", "flash"):
        ratios = [ratio for ratio, waits in zip(halves.ratios, halves.bounds, strict=True) if waits == bound]
        lines.append(f"  {bound}: {_span(ratios)}")
    lines.append(f"  network: {_span(figures['networks, a family left out'].ratios)}")
    lines.append("operators:")
    lines += _listed((row.kind, row.cycles / row.elements) for row in facts.operators)
    lines.append("cpu_macs:")
    lines += _listed((row.layer, row.cycles_per_mac) for row in facts.cpu_layers)
    lines.append("measured:")
    for name in ("cpu", "npu", "nor"):
        values = sorted(getattr(clocks, name) for clocks in facts.clocks.values())
        lines.append(f"  {name}: {_three(values[0], float(np.median(values)), values[-1])}")
    layered = {network.id for network in facts.networks if network.layers is not None}
    mattering = [each for each in contradictions(facts) if layered & {*each.ids}]
    said = [f"{each.what} ({' and '.join(each.ids)}) by a factor of {each.spread:.1f}" for each in mattering]
    lines.append(f"contradictions: [{', '.join(map(_quoted, said))}]")
    return "\n".join(lines) + "\n"


def _parameters(name: str, fit: Parameters, fits: Sequence[Parameters], free: Sequence[int]) -> list[str]:
    lines = [f"{name}:"]
    for index, (parameter, value) in enumerate(zip(_NAMES, fit, strict=True)):
        among = [each[index] for each in (*fits, fit)] if index in free else [value]
        lines.append(f"  {parameter}: {_three(min(among), value, max(among))}")
    return lines


def _listed(rows: Iterable[tuple[str, float]]) -> list[str]:
    """Return the range of each kind, from half to twice the values if they are few."""
    found: dict[str, list[float]] = defaultdict(list)
    for kind, value in rows:
        found[kind].append(value)
    lines = []
    for kind, values in sorted(found.items()):
        middle, few = float(np.median(values)), len(values) < _LEAST
        low = min(values) / (_DOUBLE if few else 1)
        high = max(values) * (_DOUBLE if few else 1)
        lines.append(f"  {kind}: {_three(low, middle, high)}")
    return lines


def _span(values: Iterable[float]) -> str:
    """Return the range of nine of ten values, and the median between them."""
    sample = np.array(list(values), dtype=float)
    low, middle, high = np.quantile(sample, [_LOW, 0.5, _HIGH])
    return _three(float(low), float(middle), float(high))


def _three(low: float, value: float, high: float) -> str:
    return f"{{low: {_number(low)}, value: {_number(value)}, high: {_number(high)}}}"


def _number(value: float) -> str:
    """Return four digits of a number, in a form that YAML reads as a number."""
    return f"{float(f'{value:.4g}'):.10g}" if value < 1e6 else f"{value:.0f}"


def _quoted(text: str) -> str:
    return f'"{text}"'


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
