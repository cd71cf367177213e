"""The order of the epochs: that of the model, unless another one needs less memory at its worst moment.

Where everything meets in one epoch, the order falls into sections that do not depend on one another. The section with the
highest peak is searched for the best order: it does not matter how a set of done epochs was reached, and what leaves no more in
memory than it finds is done at once.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from n6build.network.reference.epochs import Address, Epoch
from n6build.network.reference.liveness import aligned

# Sets of done epochs that are looked at in one section, about a second; where there are more, only the best of each length.
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
    """Numbered from 1. sizes: bytes of each buffer. parts: of a larger buffer, where they are made. inputs, outputs: buffers of
    the network's. states: buffers that are always there, and that each epoch that reads one may write, too."""
    units = _units_of(epochs)
    order = _best_order(_Memory(units, sizes, parts, [*inputs, *states], [*outputs, *states], states))
    ordered = [epoch for number in order for epoch in units[number].epochs]
    return [replace(epoch, index=index) for index, epoch in enumerate(ordered, 1)]


class _State(NamedTuple):
    """peak: so far. live: bytes that are still needed. done, ready: as of a step. order: of what is done."""

    peak: int
    live: int
    done: int
    ready: int
    order: list[int]


@dataclass(frozen=True)
class _Unit:
    """Epochs that run one after the other, since they make one buffer. made, read: buffers. scratch: bytes. in_place: buffers
    whose memory the output may take."""

    epochs: tuple[Epoch, ...]
    made: str
    read: frozenset[str]
    scratch: int
    in_place: frozenset[str]


@dataclass(frozen=True)
class _Step:
    """A unit is done. done: all that are, as bits. ready: those that may be next. live: bytes that are still needed. peak: bytes
    that were needed meanwhile."""

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
    """What the units need of memory and of one another. Sets of units are the bits of an integer."""

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
        # What is made as a part needs no memory in the whole any more.
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
        """Units before this one in the model that touch the same memory, unless both only read it. What completes a buffer comes
        after its parts."""
        unit = self.units[number]
        needed = self._makers[unit.made] | self._users.get(unit.made, 0)
        for name in (*self._used_by(unit), *self._parts_of(unit.made)):
            needed |= self._makers.get(name, 0) | (self._users[name] if name in self._states else 0)
        return needed & ((1 << number) - 1)

    def _held_by(self, unit: _Unit) -> Iterator[tuple[int, int, bool]]:
        """What a unit reads or makes: bytes, the units that have to be done before it is free, and whether the output may take
        its memory."""
        for name in (*sorted(self._used_by(unit)), unit.made):
            if name not in self._kept:
                until = self._users.get(name, 0) | self._makers.get(name, 0)
                yield self._sizes[name], until, name in unit.in_place

    def start(self) -> _Step:
        """Before the first epoch."""
        live = sum(self._sizes[name] for name in self.given)
        return _Step(0, sum(1 << number for number, needed in enumerate(self.needs) if not needed), live, live)

    def after(self, step: _Step, number: int) -> _Step:
        """What a unit adds to it. peak: of this unit alone."""
        unit = self.units[number]
        done = step.done | 1 << number
        made = 0 if step.done & self._makers[unit.made] else self._sizes[unit.made]
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
    """Of the bits that are set, the lowest first."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


@dataclass
class _Section:
    """start: what is done before. units: in the best order so far, whose peak is known."""

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
    """In the order of the model, each up to a unit that everything before leads to and everything after needs."""
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
    """The lowest peak there is, with the order of it, or the one that is known; None where that takes too long."""
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
    """A low peak: of the sets with equally many members only the best go on. None where none leads to the end."""
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
