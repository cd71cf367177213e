"""The memory plan as C tables for the Appli and as symbols for its linker.

The Appli itself contains no addresses.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from n6build.base.paths import TEMPLATES
from n6build.base.span import Span
from n6build.base.templates import render
from n6build.place.memory_plan.board_memory import ModelsMemory, region_of_pools
from n6build.place.memory_plan.plan import NPU_READ_AHEAD, MemoryPlan
from n6build.place.reloc.model_format import READ_ONLY_ALIGNMENT
from n6build.place.reloc.slots import executable_ram_part, name_crc32
from n6build.place.trust.release import subject

TEMPLATE = TEMPLATES / "n6_memory_plan.c.j2"
MODELS_TEMPLATE = TEMPLATES / "n6_models.c.j2"
LoadMode = Literal["copy", "xip"]


def plan_source(plan: MemoryPlan, *, verified: bool = False) -> str:
    """Return the text of n6_memory_plan.c.

    It has the networks with their test vectors and buffers, the RAM banks to power and the images to
    load.

    Args:
        plan: Memory plan.
        verified: The program looks each image up in its release, by its subject.
    """
    models = {network.name: network.model for network in plan.networks}
    return render(TEMPLATE, {"plan": plan, "verified": verified, "subject": _subject, "models": models})


def models_source(plan: MemoryPlan, memory: ModelsMemory, load_mode: LoadMode, *, verified: bool = False) -> str:
    """Return the text of n6_models.c.

    It has the relocatable models of a plan, and the RAM that any model may use.

    Args:
        plan: Memory plan.
        memory: Memory of the board for relocatable models.
        load_mode: Load mode of all models.
        verified: Half of a model's executable RAM is for the verified copy of its code.
    """
    part = executable_ram_part(memory.executable_ram, len(plan.models))
    values = {
        "plan": plan,
        "banks": memory.memories,
        "read_ahead": NPU_READ_AHEAD,
        "external_ram": external_ram_parts(plan, memory.external),
        "part": part,
        "verified_from": part // 2 // READ_ONLY_ALIGNMENT * READ_ONLY_ALIGNMENT,
        "alignment": READ_ONLY_ALIGNMENT,
        "load_mode": load_mode,
        "verified": verified,
        "name_crc32": name_crc32,
        "subject": _subject,
    }
    return render(MODELS_TEMPLATE, values)


def _subject(content: str, model: str, file: str = "") -> str:
    return "{" + ", ".join(f"0x{byte:02x}" for byte in subject(content, model, file)) + "}"


def external_ram_parts(plan: MemoryPlan, regions: Collection[str]) -> list[Span]:
    """Return the part of the external RAM that each model has for its relative pools.

    The parts are equal parts of the region with this board's memory pools. They are empty if the
    firmware cannot map external RAM.

    Args:
        plan: Memory plan.
        regions: Names of the regions that the firmware maps.
    """
    count = len(plan.models)
    whole = region_of_pools(plan.external_regions, regions)
    if whole is None:
        return [Span(0, 0)] * count
    size = whole.size // count // plan.cache_line * plan.cache_line
    return [Span(whole.address + index * size, size) for index in range(count)]


def pools_script(plan: MemoryPlan) -> str:
    """Return the linker script with symbols of pools and regions.

    A relative memory pool has the symbol _mem_pool_<fname>_<network> at its weights. A region of the
    external RAM has the symbols n6_region_<name>_start and _end, for a heap or a framebuffer in it.
    """
    head = f"/* Generated: addresses of the relative memory pools and the external regions of {plan.application}. */\n"
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
