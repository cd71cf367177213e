"""Fit of the model of expected times to the measurements.

    .venv/bin/python tools/fit_timing.py             fits, writes, and prints the errors for data that was left out of a fit
    .venv/bin/python tools/fit_timing.py --check     writes nothing, and ends with status 1 if the file is not the fit's output

It reads boards/soc/stm32n6-timings.yaml, and writes boards/soc/stm32n6-time-model.yaml. The same
measurements always give the same file.

A fit minimises the mean of |ln(expected / measured)|, which a few wrong rows do not move much. Its
search changes one or two parameters at a time: five parameters need no more, and each run finds the
same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from pathlib import Path

import numpy as np
from benchmarks.measure import Head, Rows, print_tables
from n6build.base.files import write_atomically
from n6build.judge.timing.facts import MEASUREMENTS, Clocks, Measurements, contradictions, read_measurements
from n6build.judge.timing.model import MODEL
from numpy.typing import NDArray
from timing_classes import Checked, checked, class_lines, doubled, listed, network_rows, span_of, three
from timing_layers import layers_of

Array = NDArray[np.float64]

# The values are elements_per_cycle, macs_per_cycle, flash_share, overlap, overhead_cycles.
Parameters = tuple[float, float, float, float, float]
# A data sheet promises eight elements and 288 MACs a cycle, and the flash at its line's rate.
DATA_SHEET: Parameters = (8.0, 288.0, 1.0, 0.0, 0.0)
# The data supports these free parameters: without one of them, the errors of networks and epochs left out are larger.
# Epochs: an element a cycle and the line's rate hold as they are, and the shorter time is hidden behind the longer one.
EPOCH_FREE, EPOCH_START = (1, 4), (1.0, 110.0, 1.0, 0.0, 6000.0)
# Layers: both times add up, and include overheads and copies between them. MACs, or an overhead of their own, do not reduce
# the errors of families left out.
LAYER_FREE, LAYER_START = (0, 2), (0.9, 1e9, 1.0, 1.0, 0.0)
_NAMES = ("elements_per_cycle", "macs_per_cycle", "flash_share", "overlap", "overhead_cycles")
# These families have no other operators than layers.
_LAYERS_ONLY = frozenset({"mobilenet-v1", "mobilenet-v2", "dense"})
_STEPS = (0.3, 0.1, 0.03, 0.01, 0.003)
_NO_GAIN = 1e-9
_SEED, _SPLITS = 20, 10

_HEADER = """\
# Written by tools/fit_timing.py from {source}; not edited by hand. What the numbers mean: n6build/judge/timing/model.py.
# low, high: of parameters, the smallest and the largest of all fits to a part of the measurements; of errors, measured / expected
# of what was not fitted to, which nine of ten are between.
"""


def main(arguments: Sequence[str]) -> int:
    """Fit the model, and return the exit status."""
    facts = read_measurements()
    figures = validations(facts)
    print_tables(_table(facts, figures))
    print_tables(network_rows(checked(facts)))
    for each in contradictions(facts):
        print(f"contradiction: {each.what}, {' and '.join(each.ids)} differ by a factor of {each.spread:.1f}")
    text = model_text(facts, figures)
    if "--check" in arguments:
        return int(Path(MODEL).read_text(encoding="utf-8") != text)
    write_atomically(MODEL, text)
    print(f"wrote {MODEL.name}")
    return 0


def expected_times() -> Rows:
    """Yield the errors of expected times for data that was left out of a fit."""
    facts = read_measurements()
    yield from _table(facts, validations(facts))
    yield from network_rows(checked(facts))


def _table(facts: Measurements, figures: Mapping[str, HeldOut]) -> Rows:
    yield Head(("data", "median", "nine of ten within", "of"))
    for name, held in figures.items():
        yield name, f"{100 * held.median:.1f} %", f"{100 * held.nine_of_ten:.1f} %", str(len(held.ratios))
    off = np.median([abs(1 / each.ratio - 1) for each in facts.estimates])
    yield "networks, by ST's compiler", f"{100 * off:.1f} %", "", str(len(facts.estimates))


@dataclass(frozen=True)
class Work:
    """Rows of epochs or layers, one after the other.

    Attributes:
        elements: Elements of the widest stream.
        macs: MACs.
        flash: Bytes of flash.
        ghz: Clock of the NPU.
        rate: Rate of the flash, bytes in a nanosecond.
        begins: Index of the first row of each measurement.
        measured: ns.
        names: Names of the measurements.
        groups: Groups of measurements that are left out together.
    """

    elements: Array
    macs: Array
    flash: Array
    ghz: Array
    rate: Array
    begins: NDArray[np.intp]
    measured: Array
    names: tuple[str, ...]
    groups: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    def only(self, wanted: Sequence[bool] | NDArray[np.bool_]) -> Work:
        """Return some of the measurements."""
        ends = [*self.begins[1:], len(self.elements)]
        kept = [index for index, want in enumerate(wanted) if want]
        rows = np.concatenate([np.arange(self.begins[index], ends[index]) for index in kept])
        sizes = [ends[index] - self.begins[index] for index in kept]
        columns = {name: getattr(self, name)[rows] for name in ("elements", "macs", "flash", "ghz", "rate")}
        names, groups = (tuple(each[index] for index in kept) for each in (self.names, self.groups))
        return Work(
            **columns, begins=np.cumsum([0, *sizes[:-1]]), measured=self.measured[kept], names=names, groups=groups
        )


def expected(work: Work, parameters: Parameters) -> Array:
    """Return the ns of each measurement, like `npu_time` of the library, for all rows."""
    elements, macs, share, overlap, overhead = parameters
    compute = np.maximum(work.elements / elements, work.macs / macs) / work.ghz
    flash = work.flash / (share * work.rate)
    rows = np.maximum(compute, flash) + overlap * np.minimum(compute, flash) + overhead / work.ghz
    summed: Array = np.add.reduceat(rows, work.begins)
    return summed


def bounds(work: Work, parameters: Parameters) -> list[str]:
    """Return the part that each epoch waits for."""
    elements, macs, share, _, _ = parameters
    times = {
        "stream": work.elements / elements / work.ghz,
        "macs": work.macs / macs / work.ghz,
        "flash": work.flash / (share * work.rate),
    }
    names = list(times)
    return [names[index] for index in np.argmax(np.array(list(times.values())), axis=0)]


def fitted(work: Work, start: Parameters, free: Sequence[int]) -> Parameters:
    """Return fitted parameters.

    Args:
        work: Measurements.
        start: Parameters to begin with.
        free: Indexes of the parameters that may change.
    """

    def loss(values: Sequence[float]) -> float:
        ratio = expected(work, tuple(values)) / work.measured  # type: ignore[arg-type]
        return float(np.mean(np.abs(np.log(ratio))))

    found, least = list(start), loss(start)
    for step in _STEPS:
        moves = [
            {index: (1 + step) ** up, other: (1 + step) ** along}
            for index, other in combinations_with_replacement(free, 2)
            for up, along in product((1, -1), repeat=2)
        ]
        improves = True
        while improves:
            improves = False
            for move in moves:
                tried = [value * move.get(index, 1.0) for index, value in enumerate(found)]
                value = loss(tried)
                if value < least - _NO_GAIN:
                    found, least, improves = tried, value, True
    return tuple(found)  # type: ignore[return-value]


def epoch_work(facts: Measurements, *, known: bool = True) -> Work:
    """Return the epochs one by one.

    Args:
        facts: Measurements.
        known: Leave out epochs whose bytes are unknown.
    """
    found = []
    for table in facts.tables:
        clocks = facts.clocks[table.clocks]
        for epoch in table.epochs:
            if epoch.bytes_known or not known:
                rows = [(epoch.elements, epoch.macs, epoch.weights)]
                found.append((epoch.id, table.what, epoch.core / clocks.cpu * 1e3, clocks, rows))
    return _work(found)


def network_work(facts: Measurements) -> Work:
    """Return the networks of known layers only, without contradicting measurements.

    Weights are scaled to those of the compiled network.
    """
    refused = {id for each in contradictions(facts) for id in each.ids}
    found = []
    for network in facts.networks:
        if network.layers is None or network.unknown or network.weights != "flash" or network.external_kib:
            continue
        if network.id not in refused:
            layers = layers_of(network.layers)
            scale = (network.weights_kib or 0) * 1024 / sum(layer.weights for layer in layers) or 1.0
            rows = [(layer.elements, layer.macs, layer.weights * scale) for layer in layers]
            found.append((network.id, network.family, network.ms * 1e6, facts.clocks[network.clocks], rows))
    return _work(found)


def _work(measurements: Sequence[tuple[str, str, float, Clocks, Sequence[tuple[float, float, float]]]]) -> Work:
    """Return measurements with name, group, ns, clocks and rows of work."""
    names, groups, measured, clocks, rows = zip(*measurements, strict=True)
    elements, macs, flash = np.array([row for each in rows for row in each], dtype=np.float64).T
    sizes = [len(each) for each in rows]
    ghz, rate = np.repeat([(each.npu / 1e3, 2 * each.nor / 1e3) for each in clocks], sizes, axis=0).T
    return Work(elements, macs, flash, ghz, rate, np.cumsum([0, *sizes[:-1]]), np.array(measured), names, groups)


@dataclass(frozen=True)
class HeldOut:
    """The errors for data that was left out of a fit.

    Attributes:
        ratios: measured / expected.
        names: Names of the measurements.
        bounds: Parts that they wait for.
        fits: Parameters of each fit.
    """

    ratios: Array
    names: tuple[str, ...]
    bounds: tuple[str, ...]
    fits: tuple[Parameters, ...]

    @property
    def median(self) -> float:
        """Return the median of |expected / measured - 1|."""
        return float(np.median(np.abs(1 / self.ratios - 1)))

    @property
    def nine_of_ten(self) -> float:
        """Return the 90th percentile of |expected / measured - 1|."""
        return float(np.quantile(np.abs(1 / self.ratios - 1), 0.9))


def held_out(work: Work, parts: Sequence[NDArray[np.bool_]], fit: Callable[[Work], Parameters]) -> HeldOut:
    """Return the errors for parts that are left out, one after the other.

    Args:
        work: Measurements.
        parts: Masks of the parts.
        fit: Fit to the rest.
    """
    fits = [fit(work.only(~part)) for part in parts]
    asked = [unfitted(work.only(part), parameters) for part, parameters in zip(parts, fits, strict=True)]
    return HeldOut(
        np.concatenate([each.ratios for each in asked]),
        tuple(name for each in asked for name in each.names),
        tuple(bound for each in asked for bound in each.bounds),
        tuple(fits),
    )


def unfitted(work: Work, parameters: Parameters) -> HeldOut:
    """Return the errors of given parameters."""
    waits = bounds(work, parameters) if len(work) == len(work.elements) else []
    return HeldOut(work.measured / expected(work, parameters), work.names, tuple(waits), (parameters,))


def halves(work: Work) -> list[NDArray[np.bool_]]:
    """Return masks of every other measurement, and of the rest."""
    even = np.arange(len(work)) % 2 == 0
    return [even, ~even]


def families(work: Work) -> list[NDArray[np.bool_]]:
    """Return a mask for each group."""
    return [np.array([group == name for group in work.groups]) for name in sorted(set(work.groups))]


def fit_epochs(work: Work) -> Parameters:
    """Return the fitted parameters of epochs."""
    return fitted(work, EPOCH_START, EPOCH_FREE)


def fit_layers(work: Work) -> Parameters:
    """Return the fitted parameters of layers."""
    return fitted(work, LAYER_START, LAYER_FREE)


def random_halves(work: Work) -> list[NDArray[np.bool_]]:
    """Return the masks of ten splits in two, the same in every call."""
    generator = np.random.default_rng(_SEED)
    masks = []
    for _ in range(_SPLITS):
        chosen = np.zeros(len(work), dtype=bool)
        chosen[generator.permutation(len(work))[: len(work) // 2]] = True
        masks += [chosen, ~chosen]
    return masks


def validations(facts: Measurements) -> Mapping[str, HeldOut]:
    """Return all figures of docs/time.md, by their titles."""
    epochs, every, networks = epoch_work(facts), epoch_work(facts, known=False), network_work(facts)
    return {
        "epochs, half against half, ten random halvings": held_out(epochs, random_halves(epochs), fit_epochs),
        "epochs, every other one": held_out(epochs, halves(epochs), fit_epochs),
        "epochs, a network left out": held_out(epochs, families(epochs), fit_epochs),
        "epochs, those with unknown bytes too": held_out(every, random_halves(every), fit_epochs),
        "epochs, by the data sheet": unfitted(epochs, DATA_SHEET),
        "networks, half against half, ten random halvings": held_out(networks, random_halves(networks), fit_layers),
        "networks, every other one": held_out(networks, halves(networks), fit_layers),
        "networks, a family left out": held_out(networks, families(networks), fit_layers),
        "networks, by the data sheet": unfitted(networks, DATA_SHEET),
        "networks by classes, a family left out": _by_classes(checked(facts), every_network=True),
        "networks by classes, those with other operators": _by_classes(checked(facts), every_network=False),
    }


def _by_classes(networks: Sequence[Checked], *, every_network: bool) -> HeldOut:
    """Return the errors by classes, of all networks or of those not of layers only."""
    asked = [each for each in networks if every_network or each.family not in _LAYERS_ONLY]
    ratios = np.array([each.measured / each.ms for each in asked])
    return HeldOut(ratios, tuple(each.id for each in asked), (), ())


def model_text(facts: Measurements, figures: Mapping[str, HeldOut]) -> str:
    """Return the text of the file with the parameters."""
    epochs, networks = epoch_work(facts), network_work(facts)
    halves = figures["epochs, half against half, ten random halvings"]
    lines = [_HEADER.format(source=MEASUREMENTS.name).rstrip()]
    lines += _parameters("epochs", fit_epochs(epochs), halves.fits, EPOCH_FREE)
    layer_fits = (*figures["networks, half against half, ten random halvings"].fits,)
    layer_fits += figures["networks, a family left out"].fits
    lines += _parameters("layers", fit_layers(networks), layer_fits, LAYER_FREE)
    lines += class_lines(facts)
    by_cpu = [epoch.start + epoch.end for table in facts.tables if not table.epoch_controller for epoch in table.epochs]
    lines.append(f"by_cpu: {span_of(by_cpu)}")
    lines.append(f"by_controller: {span_of([block.start + block.end for block in facts.blocks])}")
    cycles = [each.cycles for each in facts.hybrid]
    lines.append(f"hybrid: {three(min(cycles), float(np.sqrt(min(cycles) * max(cycles))), max(cycles))}")
    lines.append("errors:")
    for bound in ("stream", "macs", "flash"):
        ratios = [ratio for ratio, waits in zip(halves.ratios, halves.bounds, strict=True) if waits == bound]
        lines.append(f"  {bound}: {span_of(ratios)}")
    lines.append(f"  network: {span_of(figures['networks, a family left out'].ratios)}")
    lines.append("operators:")
    operators = [(row.kind, row.cycles / row.elements) for row in facts.operators]
    lines += listed(operators)
    lines.append(f"unmeasured: {doubled([value for _, value in operators])}")
    lines.append("cpu_macs:")
    lines += listed((row.layer, row.cycles_per_mac) for row in facts.cpu_layers)
    lines.append("measured:")
    for name in ("cpu", "npu", "nor"):
        values = sorted(getattr(clocks, name) for clocks in facts.clocks.values())
        lines.append(f"  {name}: {three(values[0], float(np.median(values)), values[-1])}")
    layered = {network.id for network in facts.networks if network.layers is not None}
    mattering = [each for each in contradictions(facts) if layered & {*each.ids}]
    said = (f'"{each.what} ({" and ".join(each.ids)}) by a factor of {each.spread:.1f}"' for each in mattering)
    lines.append(f"contradictions: [{', '.join(said)}]")
    return "\n".join(lines) + "\n"


def _parameters(name: str, fit: Parameters, fits: Sequence[Parameters], free: Sequence[int]) -> list[str]:
    lines = [f"{name}:"]
    for index, (parameter, value) in enumerate(zip(_NAMES, fit, strict=True)):
        among = [each[index] for each in (*fits, fit)] if index in free else [value]
        lines.append(f"  {parameter}: {three(min(among), value, max(among))}")
    return lines


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
