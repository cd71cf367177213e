"""A part of an application's plan."""

from __future__ import annotations

from dataclasses import dataclass

from n6build.engine.step import Step


@dataclass(frozen=True)
class Part:
    """Steps and goals of a part of the plan.

    Attributes:
        steps: Steps of the part.
        goals: Files of each goal, by name; a goal without files is valid but has nothing to do.
    """

    steps: tuple[Step, ...]
    goals: dict[str, tuple[str, ...]]


NO_PART = Part((), {})
