"""Search for a known cause that explains the distance from the reference.

A cause is named only if the outputs are within tolerance without it, and if that cannot be an
accident: each cause has to prove itself in bits (closeness.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from n6build.judge.compare.closeness import (
    MUCH_NEARER,
    Closeness,
    Steps,
    closeness,
    is_nearer,
    proof_of_outputs,
    proof_of_values,
    spread,
)
from n6build.judge.compare.input_causes import ChangedInput
from n6build.judge.compare.measure import measure
from n6build.judge.compare.output_causes import Undone, undone
from n6build.judge.compare.readings import CapturedOutput, Reading, elements_of, is_quantised, readings_of
from n6build.judge.compare.tensors import Port

# Bits of proof: an accident is named in one of a thousand comparisons.
_SURE = 10.0
# Least significant difference of floating-point outputs, as a share of the standard deviation.
_FLOAT_STEP = 1 / 256
# Causes cannot be told apart if they are as near as the nearest one, within this factor.
_AS_NEAR = 1.5
# Pairs of causes are only tried if there are few of them.
_MOST_PAIRS = 4000
_MOST_SHOWN = 5


@dataclass(frozen=True)
class Reference:
    """Outputs of the reference interpreter, for one output of the model.

    Attributes:
        wanted: For unchanged inputs, in steps, a row for each vector.
        changed: For changed inputs, each with its change, of the first vectors.
        unrelated: For unrelated inputs, a row for each.
        of_all: Function that computes a changed input for all vectors.
    """

    wanted: Steps
    changed: tuple[tuple[ChangedInput, Steps], ...]
    unrelated: Steps
    of_all: Callable[[ChangedInput], Steps]


@dataclass(frozen=True)
class Fit:
    """A cause without which an output is within tolerance.

    Attributes:
        causes: Names of the causes, mostly one.
        what: Event on the board, for each of them.
        near: Distance of the output without them.
        bits: Bits of proof; negative if it may be an accident.
        is_free: True if an order was chosen that fits; a rule that fits as well is the better explanation.
    """

    causes: tuple[str, ...]
    what: tuple[str, ...]
    near: Closeness
    bits: float
    is_free: bool = False


@dataclass(frozen=True)
class Diagnosis:
    """Distance of one output from the reference, and its causes.

    Attributes:
        name: Name of the output.
        type: Type of the model's output.
        rows: Number of vectors.
        how: Type as which the captured values were read.
        where: Files and lines.
        near: Distance of the unchanged values.
        cosine: Least cosine of a vector.
        other_top: Number of vectors with another class.
        within: True if they are within tolerance.
        fits: Causes that explain them; several if they cannot be told apart.
        unproved: Causes that would explain them, too, but may do so by accident.
        written: Value of every byte, if the output was never written.
    """

    name: str
    type: str
    rows: int
    how: str
    where: tuple[str, ...]
    near: Closeness
    cosine: float
    other_top: int
    within: bool
    fits: tuple[Fit, ...]
    unproved: tuple[Fit, ...]
    written: str = ""


def diagnose(
    output: CapturedOutput, reference: Reference, others: Sequence[tuple[str, Steps]], cosine: float, *, top1: bool
) -> Diagnosis:
    """Return the distance of an output from the reference, and its causes.

    Args:
        output: The captured output.
        reference: Reference of this output, with at least as many vectors.
        others: Name and reference of the model's outputs with the same number of elements.
        cosine: Least cosine of each vector.
        top1: True if the largest element has to be the same.
    """
    port, rows = output.port, output.rows
    wanted = reference.wanted[:rows]
    readings = readings_of(output)
    plain = readings[0]
    step = _step_of(port, wanted)
    near = closeness(plain.steps, wanted, step)
    least, other_top = _by_vector(plain.steps, wanted, port)
    limit = math.sqrt(2 * (1 - cosine))
    # The cosine does not show another scale.
    is_near = near.max <= step or _relative(plain.steps, wanted, port) <= limit
    within = least >= cosine and is_near and not (top1 and other_top) and not plain.cause
    fits: list[Fit] = []
    unproved: list[Fit] = []
    if near.max or plain.cause:
        search = _Search(port, readings, reference, rows, others, step)
        found = [fit for fit in search.fits(limit) if _is_better(fit, near, plain, within=within)]
        # An unproved cause that is nearer wins over a proved cause that is less near.
        nearest = _nearest(found)
        fits = [fit for fit in nearest if fit.bits >= 0]
        unproved = [] if fits else nearest
    return Diagnosis(
        port.name,
        port.type,
        rows,
        plain.how,
        output.where,
        near,
        least,
        other_top,
        within,
        tuple(fits),
        tuple(unproved),
        "" if within else _never_written(output),
    )


def is_equal(output: CapturedOutput, wanted: Steps) -> bool:
    """Return true if an output equals the reference, with the usual reading.

    Args:
        output: The captured output.
        wanted: Output of the reference, of at least as many vectors.
    """
    plain = readings_of(output)[0]
    return not plain.cause and np.array_equal(plain.steps, wanted[: output.rows])


def _is_better(fit: Fit, near: Closeness, plain: Reading, *, within: bool) -> bool:
    if within:
        # Rounding differs on the NPU: within tolerance, only a cause that explains every bit is reported.
        return fit.near.max == 0
    return bool(plain.cause) or fit.near.error * MUCH_NEARER <= near.error


def _step_of(port: Port, wanted: Steps) -> float:
    """Return 1 for quantised values, for floats a share of their deviation."""
    return 1.0 if is_quantised(port) else max(float(wanted.std()) * _FLOAT_STEP, float(np.finfo(np.float32).tiny))


def _by_vector(got: Steps, wanted: Steps, port: Port) -> tuple[float, int]:
    """Return the least cosine, and the number of vectors with another largest element."""
    cosines = [measure(mine, theirs, port.zero_point).cosine for mine, theirs in zip(got, wanted, strict=True)]
    with np.errstate(all="ignore"):
        tops = [theirs[np.nan_to_num(mine).argmax()] != theirs.max() for mine, theirs in zip(got, wanted, strict=True)]
    return min(cosines, default=1.0), sum(map(bool, tops))


def _relative(got: Steps, wanted: Steps, port: Port) -> float:
    """Return the largest relative difference of a vector.

    It is the length of the difference, divided by that of the reference from the zero point.
    """
    with np.errstate(all="ignore"):
        differences = np.linalg.norm(got - wanted, axis=1)
        lengths = np.linalg.norm(wanted - port.zero_point, axis=1)
    return float(np.nan_to_num(differences / np.maximum(lengths, 1e-30), nan=np.inf).max(initial=0))


def _never_written(output: CapturedOutput) -> str:
    """Return the value of every byte if all are equal, otherwise an empty text."""
    data = np.frombuffer(output.values.tobytes(), np.uint8)
    if data.size < 4 or (data != data[0]).any():
        return ""
    return "0" if data[0] == 0 else f"0x{data[0]:02X}"


def _nearest(fits: Sequence[Fit]) -> list[Fit]:
    """Return the nearest fits; of equal results, the simplest."""
    best = min((fit.near.error for fit in fits), default=0.0)
    near = [fit for fit in fits if fit.near.error <= best * _AS_NEAR + 1e-9]
    simplest = min(((len(fit.causes), fit.is_free) for fit in near), default=(0, False))
    found = [fit for fit in near if (len(fit.causes), fit.is_free) == simplest]
    # A cause may have two descriptions with the same result: the first one is enough.
    return list({(fit.causes, fit.near): fit for fit in reversed(found)}.values())[::-1][:_MOST_SHOWN]


@dataclass(frozen=True)
class _Search:
    port: Port
    readings: Sequence[Reading]
    reference: Reference
    rows: int
    others: Sequence[tuple[str, Steps]]
    step: float

    @property
    def wanted(self) -> Steps:
        return self.reference.wanted[: self.rows]

    def fits(self, limit: float) -> list[Fit]:
        """Return the causes with an error of at most `limit`."""
        plain = self.readings[0].steps
        values = [each for reading in self.readings for each in undone(reading, self.wanted, self.port)]
        values += [
            Undone("outputs in another order", f"the values are those of '{name}'", plain, steps)
            for name, steps in self._others()
        ]
        tried = len(values) + len(self.reference.changed) + 1
        needed = _SURE + math.log2(tried)
        found = [fit for each in values if (fit := self._of_values(each, limit, needed))]
        found += [
            fit for change, steps in self.reference.changed if (fit := self._of_input(change, steps, limit, needed))
        ]
        found += self._of_vectors(limit, needed)
        if found:
            return found
        pairs = [
            (each, change, steps)
            for each in values
            if each.wanted is self.wanted or np.array_equal(each.wanted, self.wanted)
            for change, steps in self.reference.changed
        ]
        if len(pairs) > _MOST_PAIRS:
            return []
        needed = _SURE + math.log2(tried + len(pairs))
        return [fit for each, change, steps in pairs if (fit := self._of_both(each, change, steps, limit, needed))]

    def _others(self) -> list[tuple[str, Steps]]:
        return [(name, steps[: self.rows]) for name, steps in self.others if steps.shape[1] == elements_of(self.port)]

    def _near(self, got: Steps, wanted: Steps, limit: float) -> Closeness | None:
        if got.shape != wanted.shape:
            return None
        near = closeness(got, wanted, self.step)
        return near if near.error <= limit or near.max <= self.step else None

    def _of_values(self, each: Undone, limit: float, needed: float) -> Fit | None:
        near = self._near(each.got, each.wanted, limit)
        if near is None:
            return None
        # Floats may differ by less than a step of the model's integers.
        step = min(self.step, float(each.wanted.std()) * _FLOAT_STEP) if each.is_real else self.step
        bits = proof_of_values(self._far(), each.got, each.wanted, step or self.step, each.fields)
        return Fit((each.cause,), (each.what,), near, bits - each.freedom - needed, each.freedom > 0)

    def _far(self) -> Steps:
        """Return the distance of the captured values, infinite without a usual reading."""
        plain = self.readings[0]
        if plain.cause:
            return np.full_like(self.wanted, np.inf)
        with np.errstate(all="ignore"):
            return np.nan_to_num(np.abs(plain.steps - self.wanted), nan=np.inf)

    def _pool(self, without: Steps) -> list[Steps]:
        """Return outputs for all other inputs: they show the look of an unrelated result."""
        pool = [steps[: self.rows] for _, steps in self.reference.changed if steps is not without]
        shape = pool[0].shape if pool else self.wanted.shape
        rows = (*self.reference.wanted, *self.reference.unrelated)
        return [*pool, *(np.broadcast_to(row, shape) for row in rows)]

    def _of_input(self, change: ChangedInput, steps: Steps, limit: float, needed: float) -> Fit | None:
        got = self.readings[0].steps
        near = self._near_changed(got, change, steps, limit)
        if near is None or not is_nearer(got[: len(steps)], steps[: self.rows], self.reference.unrelated, self.step):
            return None
        bits = self._proof(got, steps) - needed
        return Fit((change.cause,), (change.what,), near, bits)

    def _near_changed(self, got: Steps, change: ChangedInput, steps: Steps, limit: float) -> Closeness | None:
        first = steps[: self.rows]
        near = self._near(got[: len(first)], first, limit)
        if near is None or len(first) == self.rows:
            return near
        return self._near(got, self.reference.of_all(change)[: self.rows], limit)

    def _proof(self, got: Steps, steps: Steps) -> float:
        """Return the bits of proof by the vectors that were computed with all changes."""
        first = steps[: self.rows]
        rows = len(first)
        pool = [each[:rows] for each in self._pool(steps)]
        return proof_of_outputs(got[:rows], self.wanted[:rows], first, pool, self.step)

    def _of_both(self, each: Undone, change: ChangedInput, steps: Steps, limit: float, needed: float) -> Fit | None:
        near = self._near_changed(each.got, change, steps, limit)
        if near is None:
            return None
        rows = len(steps[: self.rows])
        if not is_nearer(each.got[:rows], steps[:rows], self.reference.unrelated, self.step):
            return None
        bits = proof_of_values(self._far()[:rows], each.got[:rows], steps[:rows], self.step)
        bits = min(bits, self._proof(each.got, steps)) - each.freedom - needed
        return Fit((each.cause, change.cause), (each.what, change.what), near, bits)

    def _of_vectors(self, limit: float, needed: float) -> list[Fit]:
        """Return fits with outputs of other vectors: a stale buffer, or another order."""
        got, all_rows = self.readings[0].steps, self.reference.wanted
        width = (limit * spread(self.wanted, self.step)) ** 2
        places = []
        for number, mine in enumerate(got):
            with np.errstate(all="ignore"):
                distances = np.nan_to_num(np.square(all_rows - mine).mean(axis=1), nan=np.inf)
            least = float(distances.min())
            is_own = distances[number] <= least * _AS_NEAR**2 + (self.step / 2) ** 2
            place = number if is_own else int(distances.argmin())
            if distances[place] <= width:
                places.append(place)
            elif number == 0 and len(got) > 2:
                # The buffer may hold any content before the first vector.
                places.append(-1)
            else:
                return []
        if places == [*range(len(places))]:
            return []
        cause, what, free = _of_places(places, len(all_rows))
        first = int(places[0] < 0)
        if first and what != _BEFORE:
            return []
        moved = all_rows[places]
        moved[:first] = got[:first]
        if not is_nearer(got[first:], moved[first:], self.reference.unrelated, self.step):
            return []
        near = closeness(got[first:], moved[first:], self.step)
        return [Fit((cause,), (what,), near, self._proof(got, moved) - free - needed)]


_BEFORE = "outputs are those of the vector before"


def _of_places(places: Sequence[int], count: int) -> tuple[str, str, float]:
    """Return the cause, its description and the bits that were free to choose.

    `places` has the reference's vector for each captured one.
    """
    wrong = [number for number, place in enumerate(places) if place != number]
    each = math.log2(max(count, 2))
    if len(places) > 1 and sorted(places) == [*range(count)]:
        what = "each output is that of another vector, all of them once"
        return "vectors in another order", what, math.log2(math.factorial(count)) if count < 100 else count * each
    if len(set(places)) == 1:
        return "stale output buffer", f"every output is that of vector {places[0]}", each
    if all(places[number] == number - 1 for number in wrong):
        return "stale output buffer", _BEFORE, 0.0
    shown = ", ".join(f"{number} is that of {places[number]}" for number in wrong[:4])
    more = ", ..." if len(wrong) > 4 else ""
    return "stale output buffer", f"outputs of other vectors: {shown}{more}", len(wrong) * each
