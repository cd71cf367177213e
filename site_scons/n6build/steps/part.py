"""A part of an application's plan."""

from __future__ import annotations

from dataclasses import dataclass

from n6build.plan.step import Step


@dataclass(frozen=True)
class Part:
    """goals: name -> files that it stands for; an empty one is known, but has nothing to do."""

    steps: tuple[Step, ...]
    goals: dict[str, tuple[str, ...]]


NO_PART = Part((), {})
