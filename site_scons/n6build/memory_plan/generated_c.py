"""The memory plan as C tables for the Appli, which holds no address of its own, and as symbols for its linker."""

from __future__ import annotations

from n6build.memory_plan.plan import MemoryPlan
from n6build.paths import TEMPLATES
from n6build.templates import render

TEMPLATE = TEMPLATES / "n6_memory_plan.c.j2"


def plan_source(plan: MemoryPlan) -> str:
    return render(TEMPLATE, {"plan": plan})


def pools_script(plan: MemoryPlan) -> str:
    """Linker script that gives relative memory pools, symbols _mem_pool_<fname>_<network>, the address of their weights."""
    head = f"/* Generated: where the relative memory pools of {plan.application} lie. */\n"
    suffixes = {network.name: network.suffix for network in plan.networks}
    return head + "".join(
        f"_mem_pool_{image.pool}_{suffixes[image.network]} = 0x{image.destination:08X};\n"
        for image in plan.images
        if image.relative
    )
