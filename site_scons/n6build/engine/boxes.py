"""A plan as few boxes with few arrows, for a picture.

A box has the steps of one kind in one folder. An arrow that other arrows imply is left out.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from n6build.engine.plan import Plan, needs_of
from n6build.engine.step import Step

_LETTERS = 26


@dataclass(frozen=True)
class Box:
    """Steps that are drawn as one.

    Attributes:
        steps: At least one step; all have the same verb.
        label: Files of the steps; for several compilations the folder of the sources.
        level: Number of steps in the longest chain in front of them.
    """

    steps: tuple[Step, ...]
    label: str
    level: int


@dataclass(frozen=True)
class Edge:
    """An arrow between two boxes.

    Attributes:
        tail: Index of the box that comes first.
        head: Index of the box that needs it.
        after: Whether the head only waits for the tail and reads none of its files.
    """

    tail: int
    head: int
    after: bool


def boxes_of(plan: Plan) -> tuple[Box, ...]:
    """Return the boxes of a plan by level.

    Steps of one box have the same level, so no boxes form a cycle.
    """
    levels: dict[str, int] = {}
    groups: dict[tuple[int, str, str, str], list[Step]] = {}
    for step in plan.steps:
        level = 1 + max((levels[file] for file in needs_of(step) if file in levels), default=-1)
        levels |= dict.fromkeys(step.outputs, level)
        key = (level, step.verb, os.path.dirname(step.name), os.path.dirname(_known_as(step)))
        groups.setdefault(key, []).append(step)
    labels = {key: _label(group, 1) for key, group in groups.items()}
    times = Counter((key[1], label) for key, label in labels.items())
    for key, group in groups.items():
        if times[key[1], labels[key]] > 1:
            labels[key] = _label(group, 2)
    return tuple(Box(tuple(groups[key]), labels[key], key[0]) for key in sorted(groups, key=lambda key: key[0]))


def _label(group: Sequence[Step], parts: int) -> str:
    """Return the last parts of a path, as the label of a box.

    It is the path of a step, or the folder of several compilations; other steps are listed by their
    names.
    """
    if len(group) > 1 and group[0].verb != "Compile":
        names = ", ".join(os.path.basename(step.name) for step in group)
        return names if len(names) <= _LETTERS else f"{names[: _LETTERS - 3]}..."
    path = _known_as(group[0]).split("/")
    # 'kernels' could be anything, 'firmware/kernels' is clear.
    label = "/".join(path[-parts:] if len(group) == 1 else path[:-1][-parts - 1 :])
    return label if len(label) <= _LETTERS else f"...{label[3 - _LETTERS :]}"


def _known_as(step: Step) -> str:
    """Return the name of a step, or the source of a compilation.

    The source is better known than the object file.
    """
    return step.sources[0] if step.verb == "Compile" and step.sources else step.name


def edges_of(boxes: Sequence[Box]) -> tuple[Edge, ...]:
    """Return the arrows that no others imply.

    An arrow for content is only implied by arrows for content.

    Args:
        boxes: All boxes of a plan, from `boxes_of`.
    """
    content = _reduced(_needed(boxes, lambda step: (*step.sources, *step.templates)))
    order = _reduced(_needed(boxes, needs_of))
    return tuple(
        Edge(tail, head, after=not content[head] >> tail & 1)
        for head in range(len(boxes))
        for tail in _numbers(content[head] | order[head])
    )


def _needed(boxes: Sequence[Box], files_of: Callable[[Step], Iterable[str]]) -> list[int]:
    """Return the boxes that each box needs, as the bits of a number.

    Sets of boxes are compared thousands of times.
    """
    makers = {file: 1 << number for number, box in enumerate(boxes) for step in box.steps for file in step.outputs}
    return [reduce(or_, (makers.get(file, 0) for step in box.steps for file in files_of(step)), 0) for box in boxes]


def _reduced(needed: Sequence[int]) -> list[int]:
    """Return those of the needed boxes that a box does not also need indirectly."""
    above: list[int] = []
    kept: list[int] = []
    for direct in needed:
        indirect = reduce(or_, (above[number] for number in _numbers(direct)), 0)
        above.append(direct | indirect)
        kept.append(direct & ~indirect)
    return kept


def _numbers(bits: int) -> list[int]:
    return [number for number, bit in enumerate(reversed(f"{bits:b}")) if bit == "1"]
