"""Fit of the costs and errors of classes of operators to whole networks.

Three costs are fitted: of layers, of the flash, and of elements that the CPU helps to move. The
others are fixed: an epoch of its own takes a cycle an element, as all streams do, and operators on the
CPU were measured one by one. The fit minimises the mean of |expected / measured - 1|; a family counts
by the root of its networks, so that large families do not decide alone.

Each error is for networks whose family was left out. `Checked` leaves a family out of both, the costs
and the errors, so that its range knows nothing of the family.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from benchmarks.measure import Head, Rows
from n6build.judge.timing.facts import Measurements, contradictions
from numpy.typing import NDArray
from timing_layers import layers_of

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Single epochs reach up to 128 MACs in a cycle and whole networks 82: with 170, no layer is held back wrongly. The fit can
# not know it, as few layers are bound by it.
MACS_PER_CYCLE = 170
# A stream moves an element a cycle.
PASS_CYCLES = 1.0
# Networks with less of other operators show the error of layers.
_PLAIN = 0.8
_ROUNDS, _SMALLEST = 60, 0.01
# Nine of ten values are between these quantiles.
LOW, HIGH = 0.05, 0.95
# Fewer values do not show the spread of measurements.
_LEAST = 5
# An operator that was measured once or twice depends on its shape in an unknown way.
_DOUBLE = 2.0


@dataclass(frozen=True)
class Networks:
    """Networks whose classes of operators are known, a value each.

    Attributes:
        ids: Ids of the rows.
        names: Networks in words.
        families: Families.
        measured: ms.
        fitted: ms at a cost of 1: layers, flash, moved elements.
        fixed: ms of all other classes.
    """

    ids: tuple[str, ...]
    names: tuple[str, ...]
    families: NDArray[np.str_]
    measured: Array
    fitted: Array
    fixed: Array

    def parts(self, costs: Array) -> tuple[Array, Array]:
        """Return the expected ms of layers with their weights, and of all other classes."""
        return self.fitted[:, :2] @ costs[:2], self.fitted[:, 2] * costs[2] + self.fixed


@dataclass(frozen=True)
class Checked:
    """The expected time of a network whose family was left out of costs and errors.

    Attributes:
        id: Id of the row.
        name: The network.
        family: Its family.
        measured: ms.
        ms: Expected time.
        low: Lower end of its range.
        high: Upper end of its range.
    """

    id: str
    name: str
    family: str
    measured: float
    ms: float
    low: float
    high: float

    @property
    def inside(self) -> bool:
        """Return whether the measured time is in the range."""
        return self.low <= self.measured <= self.high


def class_networks(facts: Measurements) -> Networks:
    """Return the networks of known classes, weights in flash, nothing in PSRAM."""
    medians = {kind: _median(facts, kind) for kind in ("Softmax", "DequantizeLinear")}
    refused = {id for each in contradictions(facts) for id in each.ids}
    rows = []
    for each in facts.networks:
        work = each.work
        if each.weights != "flash" or each.external_kib or each.id in refused or not each.weights_kib:
            continue
        if work is None and (each.layers is None or each.unknown):
            continue
        clocks = facts.clocks[each.clocks]
        if work is None:
            assert each.layers is not None
            layers = sum(max(layer.elements, layer.macs / MACS_PER_CYCLE) for layer in layers_of(each.layers))
            passes = moved = softmax = floats = 0
        else:
            layers, passes, moved = work.layers, work.passes, work.moved
            softmax, floats = work.softmax, work.floats
        by_cpu = softmax * medians["Softmax"] + floats * medians["DequantizeLinear"]
        columns = (
            layers / clocks.npu / 1e3,
            each.weights_kib * 1024 / (2 * clocks.nor) / 1e3,
            moved / clocks.cpu / 1e3,
            passes * PASS_CYCLES / clocks.npu / 1e3 + by_cpu / clocks.cpu / 1e3,
        )
        rows.append((each.id, each.what, each.family, each.ms, columns))
    ids, names, families, measured, parts = zip(*rows, strict=True)
    values = np.array(parts)
    return Networks(ids, names, np.array(families), np.array(measured), values[:, :3], values[:, 3])


def _median(facts: Measurements, kind: str) -> float:
    return float(np.median([row.cycles / row.elements for row in facts.operators if row.kind == kind]))


def fit_costs(networks: Networks, used: Mask) -> Array:
    """Return the fitted costs of layers, flash and moved elements."""
    measured = networks.measured[used]
    matrix = networks.fitted[used] / measured[:, None]
    target = 1 - networks.fixed[used] / measured
    families = networks.families[used]
    fair = np.array([np.sum(families == family) ** -0.5 for family in families])
    weights = fair
    costs = np.zeros(matrix.shape[1])
    for _ in range(_ROUNDS):
        root = np.sqrt(weights)
        costs = np.linalg.lstsq(matrix * root[:, None], target * root, rcond=None)[0]
        weights = fair / np.maximum(np.abs(matrix @ costs - target), _SMALLEST)
    return np.maximum(costs, 0.0)


def left_out(networks: Networks, used: Mask) -> tuple[Array, Array, list[Array]]:
    """Return the parts of networks without their family, and the costs of the fits."""
    layers, others = np.zeros(len(used)), np.zeros(len(used))
    fits = []
    for family in sorted(set(networks.families[used])):
        of_family = used & (networks.families == family)
        costs = fit_costs(networks, used & ~of_family)
        fits.append(costs)
        for whole, part in zip((layers, others), networks.parts(costs), strict=True):
            whole[of_family] = part[of_family]
    return layers, others, fits


def class_ratios(networks: Networks, used: Mask) -> tuple[Array, Array]:
    """Return measured / expected of layers, and of all other classes.

    Networks with few other operators show the ratio of layers. In the others, the whole difference is
    put on the other operators, so that their range is rather too wide.
    """
    layers, others, _ = left_out(networks, used)
    share = np.divide(layers, layers + others, out=np.zeros_like(layers), where=used)
    plain, mixed = used & (share > _PLAIN), used & (share <= _PLAIN)
    whole = layers + others
    return networks.measured[plain] / whole[plain], np.maximum(
        (networks.measured - layers)[mixed] / others[mixed], 0.01
    )


def checked(facts: Measurements) -> tuple[Checked, ...]:
    """Return each network with a range that knows nothing of its family."""
    networks = class_networks(facts)
    found = []
    for family in sorted(set(networks.families)):
        used = networks.families != family
        layers, others = networks.parts(fit_costs(networks, used))
        ends = [np.quantile(ratios, [LOW, HIGH]) for ratios in class_ratios(networks, used)]
        for index in np.flatnonzero(~used):
            low, high = (layers[index] * ends[0][end] + others[index] * ends[1][end] for end in (0, 1))
            names = networks.ids[index], networks.names[index], family, networks.measured[index]
            found.append(Checked(*names, layers[index] + others[index], low, high))
    return tuple(found)


def class_lines(facts: Measurements) -> list[str]:
    """Return the lines of the model's file about classes of operators."""
    networks = class_networks(facts)
    used = np.ones(len(networks.ids), dtype=bool)
    costs = fit_costs(networks, used)
    fits = np.array([*left_out(networks, used)[2], costs])
    spans = [three(*values) for values in zip(fits.min(axis=0), costs, fits.max(axis=0), strict=True)]
    shares = 1 / fits[:, 1]
    layers, others = class_ratios(networks, used)
    by_cpu: Mapping[str, Sequence[float]] = {
        name: [row.cycles / row.elements for row in facts.operators if row.kind == kind]
        for name, kind in (("softmax", "Softmax"), ("floats", "DequantizeLinear"))
    }
    return [
        "classes:",
        f"  macs_per_cycle: {three(*[MACS_PER_CYCLE] * 3)}",
        f"  flash_share: {three(shares.min(), 1 / costs[1], shares.max())}",
        "  cycles:",
        f"    layers: {spans[0]}",
        f"    passes: {three(*[PASS_CYCLES] * 3)}",
        f"    moved: {spans[2]}",
        *(f"    {name}: {three(min(row), float(np.median(row)), max(row))}" for name, row in by_cpu.items()),
        "  errors:",
        f"    layers: {span_of(layers)}",
        f"    others: {span_of(others)}",
    ]


def network_rows(networks: Sequence[Checked]) -> Rows:
    """Yield each network with a range that knows nothing of its family."""
    yield Head(("network, its family left out", "family", "measured", "expected", "range", "inside"))
    for each in networks:
        inside = "yes" if each.inside else "no"
        yield (
            each.name,
            each.family,
            f"{each.measured:.2f}",
            f"{each.ms:.2f}",
            f"{each.low:.2f} to {each.high:.2f}",
            inside,
        )
    count = sum(each.inside for each in networks)
    yield "all", str(len({each.family for each in networks})), "", "", "", f"{count} of {len(networks)}"


def span_of(values: Iterable[float]) -> str:
    """Return the range of nine of ten values, and the median between them."""
    sample = np.array(list(values), dtype=float)
    low, middle, high = np.quantile(sample, [LOW, 0.5, HIGH])
    return three(float(low), float(middle), float(high))


def three(low: float, value: float, high: float) -> str:
    """Return a range and a value in it."""
    return f"{{low: {number(low)}, value: {number(value)}, high: {number(high)}}}"


def number(value: float) -> str:
    """Return four digits of a number, in a form that YAML reads as a number."""
    return f"{float(f'{value:.4g}'):.10g}" if value < 1e6 else f"{value:.0f}"


def listed(rows: Iterable[tuple[str, float]]) -> list[str]:
    """Return the range of each kind, from half to twice the values if they are few."""
    found: dict[str, list[float]] = defaultdict(list)
    for kind, value in rows:
        found[kind].append(value)
    return [
        f"  {kind}: {doubled(values) if len(values) < _LEAST else _whole(values, 1.0)}"
        for kind, values in sorted(found.items())
    ]


def doubled(values: Sequence[float]) -> str:
    """Return a range from half of the smallest to twice the largest value."""
    return _whole(values, _DOUBLE)


def _whole(values: Sequence[float], factor: float) -> str:
    return three(min(values) / factor, float(np.median(values)), max(values) * factor)
