"""Checks of a third-party program: vectors, caches, and buffers of the NPU.

Checks of caches and buffers that a third-party program shares with the NPU. The networks get the
buffers from the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from n6build.base.findings import Finding
from n6build.base.span import Span
from n6build.check.check import check
from n6build.check.checked_board import CheckedBoard
from n6build.check.rules.programs import blamed_symbol, memories, off_after_reset, outside, physical, pools_in_use
from n6build.check.subject import ForeignProgram, Subject
from n6build.describe.formats.boot_header import STACK_ALIGNMENT
from n6build.describe.hardware.soc import SYSTEM_EXCEPTIONS
from n6build.place.image.elf_reader import Symbol
from n6build.place.image.foreign import StartedProgram
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


# Bytes, from the architecture (VTOR.TBLOFF).
_LEAST_TABLE_ALIGNMENT = 128
_WORD = 4


def _started(subject: Subject) -> list[tuple[ForeignProgram, StartedProgram]]:
    return [(program, program.start) for program in subject.programs if program.start is not None]


@check("N6-CHECK-027", "third-party programs have a valid vector table", "error", _started)
def vector_table(subject: Subject) -> Iterator[Finding]:
    """Report a wrong initial stack pointer, reset handler or place of the table."""
    for program, start in _started(subject):
        table = next(
            (each for each in program.symbols if each.address == start.address and each.bytes >= 2 * _WORD), None
        )
        where = blamed_symbol(program, table)
        named = f"'{table.name}' of {program.file}" if table else f"the vector table of {program.file}"
        for what, hint in (*_stack(subject.board, program, start), *_reset(program, start), *_place(start, table)):
            yield Finding(where, f"{named}: {what}", hint)


def _stack(board: CheckedBoard, program: ForeignProgram, start: StartedProgram) -> Iterator[tuple[str, str]]:
    said = f"the initial stack pointer 0x{start.stack:08X}"
    hint = "set the first vector to the end of the stack, for example _estack"
    top = Span(physical(start.stack - STACK_ALIGNMENT), STACK_ALIGNMENT)
    ram = {name: span for name, span in memories(board).items() if name not in ("NOR", "BOOTROM")}
    if start.stack < STACK_ALIGNMENT or outside(top, list(ram.values())) is not None:
        yield f"{said} is outside the RAM of {board.name}", hint
        return
    if start.stack % STACK_ALIGNMENT:
        yield f"{said} is not a multiple of {STACK_ALIGNMENT}", hint
    off = [name for name, span in off_after_reset(board).items() if span.address <= top.address < span.end]
    # It is unknown which memories a third-party FSBL switches on before it starts an Appli.
    if off and (program.role == "fsbl" or start.address is not None):
        yield f"{said} is in {off[0]}, which is off when the program starts", "use RAM that is on after reset"


def _reset(program: ForeignProgram, start: StartedProgram) -> Iterator[tuple[str, str]]:
    handler = start.reset & ~1
    symbol = next((each for each in program.symbols if each.address == handler), None)
    said = f"the reset vector 0x{start.reset:08X}" + (f" ('{symbol.name}')" if symbol else "")
    if start.reset & 1 == 0:
        yield (
            f"{said} has no Thumb bit",
            "declare the function of the second vector as one (.thumb_func in assembler)",
        )
    code = [Span(each.address, each.bytes) for each in program.sections if each.is_code]
    loaded = [Span(start.address, start.bytes)] if start.address is not None else []
    if (code or loaded) and outside(Span(handler, 2), code or loaded) is not None:
        yield (
            f"{said} is outside the code of the program",
            "make the vector table the first section, and check that the file belongs to this program",
        )


def _place(start: StartedProgram, table: object) -> Iterator[tuple[str, str]]:
    if start.address is None:
        return
    size = getattr(table, "bytes", 0)
    needed = _LEAST_TABLE_ALIGNMENT
    while needed < size:
        needed *= 2
    if start.address % needed:
        what = (
            f"it is at 0x{start.address:08X}; with {size // _WORD or 'its'} vectors it must be a multiple of {needed}"
        )
        yield what, f"write ALIGN({needed}) before it in the linker script"


def _waiting(subject: Subject) -> list[tuple[ForeignProgram, StartedProgram]]:
    """Return the programs in which a runtime waits for the NPU."""
    if not any(network.artifacts.uses_npu for network in subject.networks):
        return []
    return [each for each in _started(subject) if each[0].role == "appli" and _handlers(subject.board, each[0])]


def _handlers(board: CheckedBoard, program: ForeignProgram) -> dict[str, Symbol]:
    """Return the handlers of ll_aton, named as in the device's vector table."""
    wanted = {f"{name}_IRQHandler": name for name in board.interrupts if re.fullmatch(r"NPU\d", name)}
    return {wanted[symbol.name]: symbol for symbol in program.symbols if symbol.name in wanted}


@check("N6-CHECK-034", "interrupts of the NPU reach their handlers", "error", _waiting)
def unheard_interrupts(subject: Subject) -> Iterator[Finding]:
    """Report handlers that the vector table does not reach.

    Without its handler, the first inference never ends.
    """
    for program, start in _waiting(subject):
        for name, symbol in sorted(_handlers(subject.board, program).items()):
            number = SYSTEM_EXCEPTIONS + subject.board.interrupts[name]
            vector = start.vectors[number] if number < len(start.vectors) else 0
            if vector & ~1 != symbol.address:
                there = next((each.name for each in program.symbols if each.address == vector & ~1), f"0x{vector:08X}")
                what = f"vector {number} of {program.file}, for {name}, is {there} instead of {symbol.name}"
                yield Finding(
                    blamed_symbol(program, symbol), what, "put it there, as in the vector table of ST's start-up file"
                )


@check("N6-CHECK-032", "third-party programs can be checked", "warning", lambda subject: subject.programs)
def what_cannot_be_read(subject: Subject) -> Iterator[Finding]:
    """Report the parts of a third-party program that the other checks cannot read."""
    for program in subject.programs:
        if not program.has_elf:
            what = "has no ELF file beside it: n6build checked its vector table and its slot, but not its memory"
            yield Finding(
                program.file, what, f"pass the ELF file ({program.role}=FILE.elf), or put it beside this file"
            )
        elif not program.symbols:
            yield Finding(
                program.file,
                "has no symbols: n6build checked its sections, but cannot name variables",
                "do not strip it",
            )
        for region in program.regions:
            if region.address is None or region.bytes is None:
                what = f"region {region.name} was not checked: n6build cannot compute its value"
                yield Finding(f"{region.file}:{region.line}", what, "write ORIGIN and LENGTH as numbers")
