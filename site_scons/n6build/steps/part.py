"""A part of an application's plan."""

from __future__ import annotations

from dataclasses import dataclass

from n6build.plan.step import Step


@dataclass(frozen=True)
class Part:
    """goals: what may be asked for by name -> files; one that is empty is known, and there is nothing to do for it."""

    steps: tuple[Step, ...]
    goals: dict[str, tuple[str, ...]]
