"""The order of the epochs, chosen for a low peak of memory use.

It is the order of the model unless another one needs less memory at its peak. Where everything
meets in one epoch, the order divides into independent sections. The section with the highest peak
is searched for the best order. How a set of done epochs was reached does not matter. An epoch that
leaves no more in memory than it finds is done at once.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from n6build.compile.reference.epochs import Address, Epoch
from n6build.compile.reference.liveness import aligned

# Sets of done epochs that are searched in one section, in about a second. Beyond, only the best of each length are searched.
_MAX_STATES = 20_000
_WIDTH = 64


def scheduled(
    epochs: Sequence[Epoch],
    sizes: Mapping[str, int],
    parts: Mapping[str, Address],
    inputs: Sequence[str],
    outputs: Sequence[str],
    states: Sequence[str] = (),
) -> list[Epoch]:
    """Return the epochs in the best order found, numbered from 1.

    Args:
        epochs: Epochs in the order of the model.
        sizes: Bytes of each buffer.
        parts: Places in a larger buffer, by the names of the buffers that are made there.
        inputs: Names of the network's input buffers.
        outputs: Names of the network's output buffers.
        states: Names of buffers that are always in use. Each epoch that reads one may write it,
            too.
    """
    units = _units_of(epochs)
    order = _best_order(_Memory(units, sizes, parts, [*inputs, *states], [*outputs, *states], states))
    ordered = [epoch for number in order for epoch in units[number].epochs]
    return [replace(epoch, index=index) for index, epoch in enumerate(ordered, 1)]


class _State(NamedTuple):
    """A state of the beam search.

    Attributes:
        peak: Highest use of memory so far, in bytes.
        live: Bytes that are still needed.
        done: Units that are done, as bits.
        ready: Units that may be next, as bits.
        order: Order of the done units.
    """

    peak: int
    live: int
    done: int
    ready: int
    order: list[int]


@dataclass(frozen=True)
class _Unit:
    """Consecutive epochs that make one buffer.

    Attributes:
        epochs: The epochs.
        made: Name of the buffer that they make.
        read: Names of the buffers that they read.
        scratch: Bytes of scratch.
        in_place: Names of buffers whose memory the output may take.
    """

    epochs: tuple[Epoch, ...]
    made: str
    read: frozenset[str]
    scratch: int
    in_place: frozenset[str]


@dataclass(frozen=True)
class _Step:
    """The state after a unit is done.

    Attributes:
        done: All units that are done, as bits.
        ready: Units that may be next, as bits.
        live: Bytes that are still needed.
        peak: Bytes that were needed while the unit ran.
    """

    done: int
    ready: int
    live: int
    peak: int


def _units_of(epochs: Sequence[Epoch]) -> list[_Unit]:
    groups: list[list[Epoch]] = []
    for epoch in epochs:
        if groups and groups[-1][-1].output == epoch.output:
            groups[-1].append(epoch)
        else:
            groups.append([epoch])
    return [
        _Unit(
            epochs=tuple(group),
            made=group[0].output,
            read=frozenset(name for epoch in group for name in epoch.inputs),
            scratch=max((aligned(epoch.scratch.bytes) for epoch in group if epoch.scratch), default=0),
            in_place=frozenset(place.name for epoch in group for place in epoch.in_place if len(group) == 1),
        )
        for group in groups
    ]


class _Memory:
    """Memory that the units need, and the units that they depend on.

    Sets of units are the bits of an integer.
    """

    def __init__(
        self,
        units: Sequence[_Unit],
        sizes: Mapping[str, int],
        parts: Mapping[str, Address],
        inputs: Sequence[str],
        outputs: Sequence[str],
        states: Sequence[str],
    ) -> None:
        self.units = units
        self._states = states
        self.given = tuple(dict.fromkeys(inputs))
        # A part has its memory already, so the whole only needs memory for the rest.
        self._sizes = {name: aligned(size) for name, size in sizes.items()}
        for name, inside in parts.items():
            self._sizes[inside.name] -= min(self._sizes[inside.name], self._sizes[name])
        self._parts: dict[str, list[str]] = {}
        for name, inside in parts.items():
            self._parts.setdefault(inside.name, []).append(name)
        self._kept = {each for name in outputs for each in (name, *self._parts_of(name))}
        self._makers: dict[str, int] = {}
        self._users: dict[str, int] = {}
        for number, unit in enumerate(units):
            self._makers[unit.made] = self._makers.get(unit.made, 0) | 1 << number
            for name in self._used_by(unit):
                self._users[name] = self._users.get(name, 0) | 1 << number
        self.needs = [self._needs(number) for number in range(len(units))]
        self._held = [tuple(self._held_by(unit)) for unit in units]
        self.followers: list[list[int]] = [[] for _ in units]
        for number, needed in enumerate(self.needs):
            for other in _numbers(needed):
                self.followers[other].append(number)

    def _parts_of(self, name: str) -> Iterator[str]:
        for part in self._parts.get(name, ()):
            yield part
            yield from self._parts_of(part)

    def _used_by(self, unit: _Unit) -> set[str]:
        return {each for name in unit.read for each in (name, *self._parts_of(name))}

    def _needs(self, number: int) -> int:
        """Return the units that have to be done before this one.

        They are units before this one in the model that touch the same memory, unless both only
        read it. A unit that completes a buffer comes after the buffer's parts.
        """
        unit = self.units[number]
        needed = self._makers[unit.made] | self._users.get(unit.made, 0)
        for name in (*self._used_by(unit), *self._parts_of(unit.made)):
            needed |= self._makers.get(name, 0) | (self._users[name] if name in self._states else 0)
        return needed & ((1 << number) - 1)

    def _held_by(self, unit: _Unit) -> Iterator[tuple[int, int, bool]]:
        """Yield the memory of each buffer that a unit reads or makes.

        An item has its bytes, the units that have to be done before it is free, and whether the
        output may take it.
        """
        for name in (*sorted(self._used_by(unit)), unit.made):
            if name not in self._kept:
                until = self._users.get(name, 0) | self._makers.get(name, 0)
                yield self._sizes[name], until, name in unit.in_place

    def start(self) -> _Step:
        """Return the state before the first epoch."""
        live = sum(self._sizes[name] for name in self.given)
        return _Step(0, sum(1 << number for number, needed in enumerate(self.needs) if not needed), live, live)

    def after(self, step: _Step, number: int) -> _Step:
        """Return the state after one more unit; its peak is of this unit alone."""
        unit = self.units[number]
        done = step.done | 1 << number
        exists = unit.made in self._states or step.done & self._makers[unit.made]
        made = 0 if exists else self._sizes[unit.made]
        freed, in_place = 0, False
        for size, until, may_be_taken in self._held[number]:
            if not until & ~done:
                freed += size
                in_place |= may_be_taken and size >= made
        peak = step.live + unit.scratch + (0 if in_place else made)
        ready = step.ready & ~(1 << number)
        for follower in self.followers[number]:
            if not self.needs[follower] & ~done:
                ready |= 1 << follower
        return _Step(done, ready, step.live + made - freed, peak)


def _numbers(bits: int) -> Iterator[int]:
    """Yield the numbers of the bits that are set, the lowest first."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


@dataclass
class _Section:
    """A section of the order that does not depend on the order of others.

    Attributes:
        start: State before the section.
        units: Units of the section in the best order so far.
        peak: Peak of that order, in bytes.
        is_searched: True if the section has been searched for a better order.
    """

    start: _Step
    units: list[int]
    peak: int
    is_searched: bool = False


def _best_order(memory: _Memory) -> list[int]:
    sections = _sections(memory)
    while sections:
        highest = max(sections, key=lambda section: section.peak)
        if highest.is_searched:
            break
        _search(memory, highest)
    return [number for section in sections for number in section.units]


def _sections(memory: _Memory) -> list[_Section]:
    """Return the sections in the order of the model.

    Each ends with a unit that all units before lead to and all units after need.
    """
    count = len(memory.units)
    before, after = [0] * count, [0] * count
    for number, needed in enumerate(memory.needs):
        for other in _numbers(needed):
            before[number] |= before[other] | 1 << other
    for number in reversed(range(count)):
        for other in memory.followers[number]:
            after[number] |= after[other] | 1 << other
    sections: list[_Section] = []
    step, units, peak = memory.start(), list[int](), 0
    start = step
    for number in range(count):
        step = memory.after(step, number)
        units.append(number)
        peak = max(peak, step.peak)
        if before[number] | after[number] | 1 << number == (1 << count) - 1 or number == count - 1:
            sections.append(_Section(start, units, peak))
            start, units, peak = step, [], 0
    return sections


def _search(memory: _Memory, section: _Section) -> None:
    section.is_searched = True
    found = _best_first(memory, section)
    if found is None:
        found = _beam(memory, section)
    if found and found[0] < section.peak:
        section.peak, section.units = found


def _best_first(memory: _Memory, section: _Section) -> tuple[int, list[int]] | None:
    """Return the lowest peak and its order, or None if the search takes too long.

    If no order is better than the known one, return that one.
    """
    start = section.start.done
    end = start | sum(1 << number for number in section.units)
    reached: dict[int, tuple[int, int]] = {start: (0, -1)}
    waiting = [(0, 0, start, section.start.ready, section.start.live)]
    while waiting:
        peak, _, done, ready, live = heapq.heappop(waiting)
        if done == end:
            return peak, _path(reached, start, end)
        for number, step in _steps(memory, _Step(done, ready, live, peak)):
            highest = max(peak, step.peak)
            known = reached.get(step.done)
            if highest < section.peak and (known is None or highest < known[0]):
                reached[step.done] = (highest, number)
                heapq.heappush(waiting, (highest, -step.done.bit_count(), step.done, step.ready, step.live))
        if len(reached) > _MAX_STATES:
            return None
    return section.peak, section.units


def _beam(memory: _Memory, section: _Section) -> tuple[int, list[int]] | None:
    """Return a low peak and its order, or None if no better order reaches the end.

    Of the sets with equally many members, only the best are continued.
    """
    states = [_State(0, section.start.live, section.start.done, section.start.ready, [])]
    for _ in section.units:
        following: dict[int, _State] = {}
        for peak, live, done, ready, order in states:
            for number, step in _steps(memory, _Step(done, ready, live, peak)):
                state = _State(max(peak, step.peak), step.live, step.done, step.ready, [*order, number])
                known = following.get(step.done)
                if state.peak < section.peak and (known is None or state < known):
                    following[step.done] = state
        states = sorted(following.values())[:_WIDTH]
    return (states[0].peak, states[0].order) if states else None


def _steps(memory: _Memory, so_far: _Step) -> list[tuple[int, _Step]]:
    steps = []
    for number in _numbers(so_far.ready):
        step = memory.after(so_far, number)
        if step.live <= so_far.live and step.peak <= so_far.peak:
            return [(number, step)]
        steps.append((number, step))
    return steps


def _path(reached: Mapping[int, tuple[int, int]], start: int, end: int) -> list[int]:
    numbers = []
    while end != start:
        number = reached[end][1]
        numbers.append(number)
        end &= ~(1 << number)
    return numbers[::-1]
