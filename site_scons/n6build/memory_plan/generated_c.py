"""The memory plan as C tables for the Appli, which holds no address of its own, and as symbols for its linker."""

from __future__ import annotations

from n6build.memory_plan.plan import MemoryPlan
from n6build.paths import TEMPLATES
from n6build.templates import render

TEMPLATE = TEMPLATES / "n6_memory_plan.c.j2"


def plan_source(plan: MemoryPlan) -> str:
    return render(TEMPLATE, {"plan": plan})


def pools_script(plan: MemoryPlan) -> str:
    """Linker script with symbols: of relative memory pools, _mem_pool_<fname>_<network>, where their weights are, and of the
    regions of the external RAM, n6_region_<name>_start and _end, for a heap or a framebuffer that is placed there."""
    head = f"/* Generated: where the relative memory pools and the external regions of {plan.application} lie. */\n"
    suffixes = {network.name: network.suffix for network in plan.networks}
    symbols = {
        f"_mem_pool_{image.pool}_{suffixes[image.network]}": image.destination
        for image in plan.images
        if image.relative
    }
    for region in plan.external_regions:
        symbols[f"n6_region_{region.name}_start"] = region.address
        symbols[f"n6_region_{region.name}_end"] = region.address + region.size
    return head + "".join(f"{name} = 0x{address:08X};\n" for name, address in symbols.items())
