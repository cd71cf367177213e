"""Checks of a program that somebody else links, by its ELF file."""

from __future__ import annotations

from collections.abc import Iterator

from n6build.base.findings import Finding
from n6build.base.span import Span
from n6build.checks.check import check
from n6build.checks.subject import Subject
from n6build.hardware.aliases import secure_alias
from n6build.image.elf import Section
from n6build.memory_plan.plan import PoolUse

_INTERNAL = (0x2000_0000, 0x4000_0000)


def _sections(subject: Subject) -> list[Section]:
    """Empty where there is nothing that they could be in the way of."""
    return list(subject.program.sections) if subject.program and subject.plan.pools else []


def _physical(address: int) -> int:
    return secure_alias(address) if _INTERNAL[0] <= address < _INTERNAL[1] else address


def _in_use(subject: Subject) -> list[tuple[PoolUse, Span]]:
    nor = subject.board.nor
    return [
        (pool, Span(_physical(pool.address), pool.used))
        for pool in subject.plan.pools
        if pool.used and not nor.base <= pool.address < nor.base + nor.size
    ]


@check("N6-CHECK-026", "a program of somebody else leaves the networks their memory", "error", _sections)
def memory_of_a_network(subject: Subject) -> Iterator[Finding]:
    """A section, such as a heap or a stack, in the part of a memory pool that a network uses."""
    assert subject.program is not None
    for section in subject.program.sections:
        taken = Span(_physical(section.address), section.bytes)
        for pool, used in _in_use(subject):
            start, end = max(taken.address, used.address), min(taken.end, used.end)
            if start >= end:
                continue
            names = [symbol.name for symbol in subject.program.symbols if start <= _physical(symbol.address) < end]
            whose = f", '{names[0]}' for one" if names else ""
            what = (
                f"section {section.name} has {end - start} bytes at 0x{start:08X} in what network {pool.network} uses of pool "
                f"{pool.name}{whose}"
            )
            hint = f"keep 0x{used.address:08X} to 0x{used.end:08X} out of the linker script, or choose another profile"
            yield Finding(subject.program.file, what, hint)
