"""The memory plan as C tables for the Appli, which holds no address of its own."""

from __future__ import annotations

from n6build.memory_plan.plan import MemoryPlan
from n6build.paths import TEMPLATES
from n6build.templates import render

TEMPLATE = TEMPLATES / "n6_memory_plan.c.j2"


def plan_source(plan: MemoryPlan) -> str:
    return render(TEMPLATE, {"plan": plan})
