"""Checks of caches and buffers that a third-party program shares with the NPU.

The networks get the buffers from the program.
"""

from __future__ import annotations

from collections.abc import Iterator

from n6build.base.findings import Finding
from n6build.check.check import check
from n6build.check.rules.programs import blamed_symbol, physical, pools_in_use
from n6build.check.subject import ForeignProgram, Subject
from n6build.place.memory_plan.plan import OwnBuffer, PlannedNetwork

# The names are those of CMSIS (cachel1_armv7.h), of ST's applications (mcu_cache.h) and of this project. CMSIS inlines its
# functions, but debug information keeps their names.
_ENABLING = frozenset({"SCB_EnableDCache", "mcu_cache_enable", "n6_caches_enable"})
_CLEANING = frozenset(
    {
        "SCB_CleanDCache",
        "SCB_CleanDCache_by_Addr",
        "SCB_CleanInvalidateDCache",
        "SCB_CleanInvalidateDCache_by_Addr",
        "mcu_cache_clean",
        "mcu_cache_clean_range",
        "mcu_cache_clean_invalidate",
        "mcu_cache_clean_invalidate_range",
        "n6_dcache_clean",
        "n6_dcache_clean_invalidate",
    }
)
CACHE_FUNCTIONS = _ENABLING | _CLEANING
# These memories are inside the CPU: no other master reaches them through the bus.
_TIGHTLY_COUPLED = ("ITCM", "DTCM")


def _cached(subject: Subject) -> list[ForeignProgram]:
    """Return programs known to switch the data cache on, beside networks for the NPU."""
    if not any(network.artifacts.uses_npu for network in subject.networks):
        return []
    return [each for each in subject.programs if each.role == "appli" and each.functions & _ENABLING]


@check("N6-CHECK-030", "a third-party program cleans the data cache that it enables", "warning", _cached)
def cache_that_nobody_cleans(subject: Subject) -> Iterator[Finding]:
    """Report a program that switches the data cache on and never cleans it.

    With the data cache on, the NPU reads the memory as it was before the CPU wrote an input.
    """
    for program in _cached(subject):
        if not program.functions & _CLEANING:
            (enabling, *_) = sorted(program.functions & _ENABLING)
            symbol = next((each for each in program.symbols if each.name == enabling), None)
            what = f"{program.file} calls {enabling}(), but no function that cleans the data cache"
            hint = (
                "call SCB_CleanDCache_by_Addr for each input before an inference, or use n6_network_run, which does it"
            )
            yield Finding(blamed_symbol(program, symbol), what, hint)


def _protected(subject: Subject) -> list[ForeignProgram]:
    return [each for each in subject.programs if each.role == "appli" and each.mpu] if subject.plan.pools else []


@check("N6-CHECK-035", "tables for the MPU let the program write the memory of networks", "error", _protected)
def memory_that_cannot_be_written(subject: Subject) -> Iterator[Finding]:
    """Report read-only MPU regions over inputs and activations of a network.

    Attributes of caches are not in such a table, and are not checked.
    """
    for program in _protected(subject):
        for region in program.mpu:
            for pool, used in pools_in_use(subject):
                start, end = max(physical(region.address), used.address), min(physical(region.end - 1) + 1, used.end)
                if region.is_writable or start >= end:
                    continue
                what = (
                    f"region 0x{region.address:08X}..0x{region.end:08X} of '{region.table.name}' in {program.file} "
                    f"is read-only, but network {pool.network} uses 0x{start:08X}..0x{end:08X} of it (pool {pool.name})"
                )
                yield Finding(
                    blamed_symbol(program, region.table),
                    what,
                    "make this region writable: ARM_MPU_RBAR(..., RO = 0, ...)",
                )


def _buffers(subject: Subject) -> list[tuple[ForeignProgram, PlannedNetwork, OwnBuffer]]:
    programs = [each for each in subject.programs if each.role == "appli" and each.has_elf and each.symbols]
    return [
        (each, network, own) for each in programs for network in subject.plan.networks for own in network.own_buffers
    ]


@check("N6-CHECK-031", "the NPU can reach the inputs and outputs in a third-party program", "error", _buffers)
def buffers_of_the_networks(subject: Subject) -> Iterator[Finding]:
    """Report buffers of a third-party program that the NPU cannot use.

    The program has the buffers of networks that were compiled without room for their inputs or
    outputs.
    """
    board, line = subject.board, subject.plan.cache_line
    for program, network, own in _buffers(subject):
        name = f"{network.name}_{own.direction}_{own.index}"
        symbol = next((each for each in program.symbols if each.name == name), None)
        if symbol is None:
            what = f"{program.file} has no buffer '{name}' for {own.direction} {own.index} of {network.model}"
            hint = "link it with the objects of this build; scons plan lists them"
            yield Finding(program.file, what, hint)
            continue
        said, where = f"'{name}' of {program.file}, 0x{symbol.address:08X},", blamed_symbol(program, symbol)
        if symbol.bytes and symbol.bytes < own.bytes:
            what = f"{said} has {symbol.bytes} bytes of {own.bytes}: it was compiled for another network"
            yield Finding(where, what, "link it with the objects of this build")
        if symbol.address % line:
            what = f"{said} does not begin on a cache line of {line} bytes: it shares the line with other variables"
            yield Finding(where, what, f"write ALIGN({line}) before its section in the linker script")
        at = physical(symbol.address)
        inside = [each for each in _TIGHTLY_COUPLED if board.memories[each].address <= at < board.memories[each].end]
        if inside:
            what = f"{said} is in {inside[0]}, which the NPU cannot reach"
            yield Finding(where, what, "place it in AXISRAM")
