"""Fits of the model of expected times, and their errors for left-out data.

A fit minimises the mean of |ln(expected / measured)|, which a few wrong rows do not move much. Its
search changes one or two parameters at a time: five parameters need no more, and each run finds the
same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
from n6build.judge.timing.facts import Measurements, contradictions
from numpy.typing import NDArray
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
_STEPS = (0.3, 0.1, 0.03, 0.01, 0.003)
_NO_GAIN = 1e-9
_SEED, _SPLITS = 20, 10


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
        return Work(
            elements=self.elements[rows],
            macs=self.macs[rows],
            flash=self.flash[rows],
            ghz=self.ghz[rows],
            rate=self.rate[rows],
            begins=np.cumsum([0, *sizes[:-1]]),
            measured=self.measured[kept],
            names=tuple(self.names[index] for index in kept),
            groups=tuple(self.groups[index] for index in kept),
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
    rows = [
        (epoch, facts.clocks[table.clocks], table.what)
        for table in facts.tables
        for epoch in table.epochs
        if epoch.bytes_known or not known
    ]
    return Work(
        elements=_array(epoch.elements for epoch, _, _ in rows),
        macs=_array(epoch.macs for epoch, _, _ in rows),
        flash=_array(epoch.weights for epoch, _, _ in rows),
        ghz=_array(clocks.npu / 1e3 for _, clocks, _ in rows),
        rate=_array(2 * clocks.nor / 1e3 for _, clocks, _ in rows),
        begins=np.arange(len(rows)),
        measured=_array(epoch.core / clocks.cpu * 1e3 for epoch, clocks, _ in rows),
        names=tuple(epoch.id for epoch, _, _ in rows),
        groups=tuple(group for _, _, group in rows),
    )


def network_work(facts: Measurements) -> Work:
    """Return the networks of known layers only, without contradicting measurements.

    Weights are scaled to those of the compiled network.
    """
    refused = {id for each in contradictions(facts) for id in each.ids}
    rows = []
    for network in facts.networks:
        if network.layers is None or network.unknown or network.weights != "flash" or network.external_kib:
            continue
        if network.id not in refused:
            layers = layers_of(network.layers)
            scale = (network.weights_kib or 0) * 1024 / sum(layer.weights for layer in layers) or 1.0
            rows.append((network, facts.clocks[network.clocks], layers, scale))
    sizes = [len(layers) for _, _, layers, _ in rows]
    return Work(
        elements=_array(layer.elements for _, _, layers, _ in rows for layer in layers),
        macs=_array(layer.macs for _, _, layers, _ in rows for layer in layers),
        flash=_array(layer.weights * scale for _, _, layers, scale in rows for layer in layers),
        ghz=_array(clocks.npu / 1e3 for _, clocks, layers, _ in rows for _ in layers),
        rate=_array(2 * clocks.nor / 1e3 for _, clocks, layers, _ in rows for _ in layers),
        begins=np.cumsum([0, *sizes[:-1]]),
        measured=_array(network.ms * 1e6 for network, _, _, _ in rows),
        names=tuple(network.id for network, _, _, _ in rows),
        groups=tuple(network.family for network, _, _, _ in rows),
    )


def _array(values: Any) -> Array:
    return np.array(list(values), dtype=np.float64)


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

    @property
    def text(self) -> str:
        """Return a text such as 'median 5.0 %, 90 % within 12.0 % (36)'."""
        return f"median {self.median:.1%}, 90 % within {self.nine_of_ten:.1%} ({len(self.ratios)})"


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


def estimates_off(facts: Measurements) -> float:
    """Return the median of |expected / measured - 1| of ST's compiler."""
    return float(np.median([abs(1 / each.ratio - 1) for each in facts.estimates]))


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
    }
