"""Checks of a third-party program's memory, by its ELF file and linker script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from n6build.base.findings import Finding
from n6build.base.span import Span
from n6build.check.check import check
from n6build.check.checked_board import CheckedBoard
from n6build.check.subject import ForeignProgram, Subject
from n6build.describe.hardware.aliases import secure_alias
from n6build.place.image.elf_reader import Symbol
from n6build.place.memory_plan.plan import PoolUse

_INTERNAL = (0x1000_0000, 0x4000_0000)
# Linker scripts of STM32CubeMX and others reserve heap and stack by these symbols, without a section of their own.
_STACK_SIZES = ("_Min_Stack_Size", "__stack_size__", "__STACK_SIZE")
_HEAP_SIZES = ("_Min_Heap_Size", "__heap_size__", "__HEAP_SIZE")
_HEAP_STARTS = ("_end", "end", "__end__", "__heap_start__", "__HeapBase")


def physical(address: int) -> int:
    """Return an address in the secure alias if it is inside the chip."""
    return secure_alias(address) if _INTERNAL[0] <= address < _INTERNAL[1] else address


def memories(board: CheckedBoard) -> dict[str, Span]:
    """Return all memories that can hold code or data, by name."""
    found = {**board.memories, "NOR": board.nor}
    if board.external_ram:
        found["external RAM"] = board.external_ram
    return found


def off_after_reset(board: CheckedBoard) -> dict[str, Span]:
    """Return the memories that are off until the firmware switches them on."""
    return {name: board.memories[name] for name in board.off}


def outside(span: Span, spans: Sequence[Span]) -> int | None:
    """Return the first address of `span` that no other span covers, or None.

    The other spans may be adjacent.
    """
    at = span.address
    for each in sorted(spans, key=lambda one: one.address):
        if each.address <= at < each.end:
            at = each.end
    return at if at < span.end else None


def _overlap(one: Span, other: Span) -> Span | None:
    start, end = max(one.address, other.address), min(one.end, other.end)
    return Span(start, end - start) if start < end else None


@check("N6-CHECK-029", "third-party programs are in memories of the board", "error", lambda subject: subject.programs)
def memory_that_is_not_there(subject: Subject) -> Iterator[Finding]:
    """Report regions of the linker script, or sections, outside the board's memories."""
    spans = list(memories(subject.board).values())
    name = subject.board.name
    for program in subject.programs:
        for region in program.regions:
            if region.address is None or not region.bytes:
                continue
            taken = Span(physical(region.address), region.bytes)
            missing = outside(taken, spans)
            if missing is not None:
                what = (
                    f"region {region.name} is 0x{region.address:08X}..0x{region.address + region.bytes:08X}, and "
                    f"{name} has no memory at 0x{missing:08X}: {taken.end - missing} bytes too many"
                )
                yield Finding(
                    f"{region.file}:{region.line}",
                    what,
                    f"check that board={subject.board.name} is right; otherwise correct LENGTH",
                )
        for section in program.sections:
            missing = outside(Span(physical(section.address), section.bytes), spans)
            if missing is not None:
                where, most = _blamed(program, Span(section.address, section.bytes))
                what = (
                    f"section {section.name} of {program.file} has {section.bytes} bytes at 0x{section.address:08X}{most} and "
                    f"{name} has no memory at 0x{missing:08X}"
                )
                yield Finding(
                    where, what, _script_hint(program, section.address, "select the right board, or correct MEMORY")
                )


def pools_in_use(subject: Subject) -> list[tuple[PoolUse, Span]]:
    """Return the pools in RAM with the range that networks use of them."""
    nor = subject.board.nor
    return [
        (pool, Span(physical(pool.address), pool.used))
        for pool in subject.plan.pools
        if pool.used and not nor.address <= pool.address < nor.end
    ]


def _applis(subject: Subject) -> list[ForeignProgram]:
    """Return third-party Applis, none if there are no pools they could overlap.

    An FSBL has ended when networks run.
    """
    return [each for each in subject.programs if each.role == "appli" and each.has_elf] if subject.plan.pools else []


def _reserved(program: ForeignProgram) -> Iterator[tuple[str, Span]]:
    """Yield the memory that is taken at run time.

    This is sections, and heap and stack as far as the linker script gives their sizes.
    """
    for section in program.sections:
        yield f"section {section.name}", Span(section.address, section.bytes)
    stack = next((program.labels[name] for name in _STACK_SIZES if name in program.labels), 8)
    if program.start is not None and program.start.stack >= stack > 0:
        yield "the stack", Span(program.start.stack - stack, stack)
    heap = next((program.labels[name] for name in _HEAP_SIZES if name in program.labels), 0)
    start = next((program.labels[name] for name in _HEAP_STARTS if name in program.labels), 0)
    if heap and start:
        yield "the heap", Span(start, heap)


@check("N6-CHECK-026", "a third-party program leaves the networks their memory", "error", _applis)
def memory_of_a_network(subject: Subject) -> Iterator[Finding]:
    """Report sections, heap and stack in memory that a network uses."""
    for program in _applis(subject):
        told: set[int] = set()
        for name, span in _reserved(program):
            for pool, used in pools_in_use(subject):
                common = _overlap(Span(physical(span.address), span.size), used)
                if common is None or common.address in told:
                    continue
                # Heap and stack often have a section as well, which must not be reported twice.
                told.add(common.address)
                where, most = _blamed(program, common)
                what = (
                    f"{name} of {program.file} has {common.size} bytes at 0x{common.address:08X}{most} in pool "
                    f"{pool.name}, which network {pool.network} uses"
                )
                keep = f"keep 0x{used.address:08X} to 0x{used.end:08X} free, or choose another profile"
                yield Finding(where, what, _script_hint(program, span.address, keep))


@check("N6-CHECK-028", "a third-party program uses no RAM that is off", "warning", _applis)
def memory_that_is_off(subject: Subject) -> Iterator[Finding]:
    """Report sections in a memory that is off after reset and never switched on.

    Networks of the memory plan switch on the memories that they use.
    """
    on = {bank.name for bank in subject.plan.banks}
    for program in _applis(subject):
        for section in program.sections:
            for name, span in off_after_reset(subject.board).items():
                common = _overlap(Span(physical(section.address), section.bytes), span)
                if common is None or name in on:
                    continue
                where, most = _blamed(program, common)
                what = (
                    f"section {section.name} of {program.file} has {common.size} bytes{most} in {name}, which is "
                    f"off after reset, and no network of the memory plan switches it on"
                )
                hint = (
                    "switch the memory on (RCC MEMENR, RAMCFG) before any write, also in start-up code, or move "
                    "the section"
                )
                yield Finding(where, what, _script_hint(program, section.address, hint))


def _loaders(subject: Subject) -> list[ForeignProgram]:
    """Return third-party FSBLs, none if the Appli is third-party as well.

    Such an Appli may be copied elsewhere, or not at all.
    """
    ours = not any(each.role == "appli" for each in subject.programs)
    if not ours or not subject.appli_bytes:
        return []
    return [each for each in subject.programs if each.role == "fsbl" and each.has_elf]


@check("N6-CHECK-033", "an FSBL does not use the RAM of the Appli", "error", _loaders)
def loader_in_the_way(subject: Subject) -> Iterator[Finding]:
    """Report sections of a third-party FSBL where n6build's Appli runs.

    The FSBL copies the Appli there.
    """
    appli = next(region for region in subject.plan.linker_regions if region.name == "Appli")
    copied = Span(appli.address, subject.appli_bytes)
    for program in _loaders(subject):
        for name, span in _reserved(program):
            common = _overlap(Span(physical(span.address), span.size), copied)
            if common is not None:
                where, most = _blamed(program, common)
                what = (
                    f"{name} of {program.file} has {common.size} bytes at 0x{common.address:08X}{most} where it "
                    f"copies the Appli (0x{copied.address:08X}..0x{copied.end:08X})"
                )
                yield Finding(where, what, _script_hint(program, span.address, "move the FSBL's data above the Appli"))


def _blamed(program: ForeignProgram, span: Span) -> tuple[str, str]:
    """Return the place to look at, and words about the largest symbol in a span."""
    inside = [
        (common.size, symbol)
        for symbol in program.symbols
        if (
            common := _overlap(
                Span(physical(symbol.address), max(1, symbol.bytes)), Span(physical(span.address), span.size)
            )
        )
    ]
    if not inside:
        return program.file, ""
    size, symbol = max(inside, key=lambda each: (each[0], each[1].name))
    most = f"{size} of them '{symbol.name}'" if symbol.bytes else f"'{symbol.name}' among them"
    return program.place(symbol) or program.file, f", {most},"


def blamed_symbol(program: ForeignProgram, symbol: Symbol | None) -> str:
    """Return the place of a symbol, or the file of its program."""
    return (program.place(symbol) if symbol else "") or program.file


def _script_hint(program: ForeignProgram, address: int, hint: str) -> str:
    for region in program.regions:
        if region.address is not None and region.bytes and region.address <= address < region.address + region.bytes:
            return f"{hint} (region {region.name}, {region.file}:{region.line})"
    return f"{hint} (in its linker script)"
