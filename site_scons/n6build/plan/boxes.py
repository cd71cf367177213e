"""A plan as few boxes: steps of one kind in one folder are drawn as one, and arrows implied by others are omitted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from n6build.plan.plan import Plan, needs_of
from n6build.plan.step import Step

_LETTERS = 26


@dataclass(frozen=True)
class Box:
    """label: the files, or for several compilations the folder of their sources. level: length of the longest chain of steps
    before it."""

    steps: tuple[Step, ...]
    label: str
    level: int

    @property
    def verb(self) -> str:
        """What all its steps do, as on the console."""
        return self.steps[0].verb

    @property
    def files(self) -> int:
        """Number of files that its steps make."""
        return sum(len(step.outputs) for step in self.steps)


@dataclass(frozen=True)
class Edge:
    """tail, head: indices of boxes. after: the tail only has to be done first; the head reads nothing of it."""

    tail: int
    head: int
    after: bool


def boxes_of(plan: Plan) -> tuple[Box, ...]:
    """In the order of the first step of each. Steps of one box are equally deep in the plan, so no boxes form a cycle."""
    levels = _levels(plan)
    groups: dict[tuple[object, ...], list[Step]] = {}
    for step in plan.steps:
        key = (step.verb, levels[step.name], _folder(step.name), _folder(_shown(step)))
        groups.setdefault(key, []).append(step)
    labels = _labels(list(groups.values()))
    return tuple(
        Box(tuple(group), label, levels[group[0].name]) for group, label in zip(groups.values(), labels, strict=True)
    )


def edges_of(plan: Plan, boxes: Sequence[Box]) -> tuple[Edge, ...]:
    """Transitively reduced. An edge for content gives way only to other edges for content, one for order to any."""
    place = {step.name: number for number, box in enumerate(boxes) for step in box.steps}
    content: list[int] = []
    order: list[int] = []
    for number, box in enumerate(boxes):
        content.append(_makers(plan, place, (file for step in box.steps for file in (*step.sources, *step.templates))))
        order.append(content[number] | _makers(plan, place, (file for step in box.steps for file in step.after)))
    by_level = sorted(range(len(boxes)), key=lambda number: boxes[number].level)
    content = _reduced(content, by_level)
    order = _reduced(order, by_level)
    return tuple(
        Edge(tail, head, after=not content[head] >> tail & 1)
        for head in range(len(boxes))
        for tail in _numbers(content[head] | order[head])
    )


def _levels(plan: Plan) -> dict[str, int]:
    levels: dict[str, int] = {}
    for step in plan.steps:
        before = (plan.makers[file].name for file in needs_of(step) if file in plan.makers)
        levels[step.name] = 1 + max((levels[name] for name in before), default=-1)
    return levels


def _makers(plan: Plan, place: Mapping[str, int], files: Iterable[str]) -> int:
    """Boxes as the bits of a number, since sets of them are compared thousands of times."""
    return reduce(or_, (1 << place[plan.makers[file].name] for file in files if file in plan.makers), 0)


def _reduced(before: Sequence[int], by_level: Sequence[int]) -> list[int]:
    """Of the boxes that each box needs, those that it does not also need indirectly."""
    kept = [0] * len(before)
    above = [0] * len(before)
    for number in by_level:
        further = reduce(or_, (above[each] for each in _numbers(before[number])), 0)
        kept[number] = before[number] & ~further
        above[number] = before[number] | further
    return kept


def _numbers(bits: int) -> list[int]:
    found = []
    while bits:
        lowest = bits & -bits
        found.append(lowest.bit_length() - 1)
        bits ^= lowest
    return found


def _labels(groups: Sequence[Sequence[Step]]) -> list[str]:
    """The last parts of each path, with one more part if two boxes would otherwise have the same label."""
    paths = [_path(group) for group in groups]
    used: dict[tuple[str, str], set[str]] = {}
    for group, path in zip(groups, paths, strict=True):
        for parts in (1, 2, 3):
            used.setdefault((group[0].verb, _last(path, parts)), set()).add(path)
    return [_label(group, path, used) for group, path in zip(groups, paths, strict=True)]


def _label(group: Sequence[Step], path: str, used: Mapping[tuple[str, str], set[str]]) -> str:
    if len(group) > 1 and group[0].verb != "Compile":
        names = ", ".join(_last(step.name, 1) for step in group)
        return names if len(names) <= _LETTERS else f"{names[: _LETTERS - 3]}..."
    # 'kernels' could be anything, 'firmware/kernels' is clear.
    for parts in range(1 if len(group) == 1 else 2, 4):
        label = _last(path, parts)
        if len(used[group[0].verb, label]) == 1:
            break
    return label if len(label) <= _LETTERS else f"...{label[3 - _LETTERS :]}"


def _path(group: Sequence[Step]) -> str:
    return _shown(group[0]) if len(group) == 1 else _folder(_shown(group[0]))


def _shown(step: Step) -> str:
    """For a compilation its source, which is better known than the object file."""
    return step.sources[0] if step.verb == "Compile" and step.sources else step.name


def _last(path: str, parts: int) -> str:
    return "/".join(path.split("/")[-parts:])


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "."
