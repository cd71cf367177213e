"""Backtraces of stopped programs.

They come from the debug information and a copy of the stack.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from n6build.base.elf_damage import elf_damage, open_elf
from n6build.board.virtual_board.thumb_loops import Memory

if TYPE_CHECKING:
    from elftools.dwarf.callframe import CFARule, RegisterRule

_SP, _LR, _PC = 13, 14, 15
MOST_FRAMES = 24
# Reading unwind tables takes a second for each megabyte; a large application has a third of that.
_MOST_TABLE_BYTES = 4 << 20
# Values of LR with which an exception returns, and their bits (Armv8-M manual).
_RETURNS_FROM = 0xFFFFFF80
_AFTER_RESET = 0xFFFFFFFF
_WITHOUT_FPU, _WITHOUT_CALLEE_SAVED, _FROM_PROCESS_STACK = 1 << 4, 1 << 5, 1 << 2
_FRAME, _FPU_FRAME, _CALLEE_SAVED = 0x20, 0x68, 0x28
_IS_PADDED = 1 << 9


@dataclass(frozen=True)
class Frame:
    """A function that has not returned.

    Attributes:
        pc: Its instruction; of a caller, inside the call.
        after_exception: True if an exception interrupted it.
    """

    pc: int
    after_exception: bool = False


def is_exception_return(link: int) -> bool:
    """Return true for a value of LR with which an exception returns."""
    return link & _RETURNS_FROM == _RETURNS_FROM and link != _AFTER_RESET


class Unwinder:
    """Unwind tables of programs. A damaged file has none."""

    def __init__(self, programs: Sequence[Path]) -> None:
        self._tables = [_Table(path) for path in programs]

    def frames(self, registers: Sequence[int], stack: Memory) -> tuple[Frame, ...]:
        """Return the functions from the innermost one on, as far as they are known.

        Args:
            registers: r0 to r15.
            stack: From the stack pointer, or from the frame of an exception that has just begun.
        """
        values: dict[int, int] = dict(enumerate(registers))
        frames = [Frame(values[_PC])]
        seen = set()
        while len(frames) < MOST_FRAMES:
            caller = self._caller(values, frames[-1], stack, is_first=len(frames) == 1)
            if caller is None or caller[_PC] == _AFTER_RESET or (caller[_PC], caller.get(_SP)) in seen:
                break
            values, exception = caller, is_exception_return(caller[_PC])
            if exception:
                popped = _interrupted(values, values[_PC], stack)
                if popped is None:
                    break
                values = popped
            seen.add((values[_PC], values.get(_SP)))
            pc = values[_PC] & ~1
            if pc == 0:
                break
            frames.append(Frame(pc if exception else pc - 2, exception))
        return tuple(frames)

    def _caller(self, values: dict[int, int], frame: Frame, stack: Memory, *, is_first: bool) -> dict[int, int] | None:
        for table in self._tables:
            found = table.caller(values, frame.pc, stack)
            if found is not None:
                return found
        # A function without a table, such as one of the C library, may not have saved the link yet.
        if is_first or frame.after_exception:
            return {**values, _PC: values[_LR]} if values.get(_LR) not in (None, 0, 0xFFFFFFFF) else None
        return None


def _interrupted(values: dict[int, int], returns: int, stack: Memory) -> dict[int, int] | None:
    """Return the registers that an exception has saved."""
    # The stack is that of the exception that began last; an inner one uses the main stack.
    at = stack.at if returns & _FROM_PROCESS_STACK else values.get(_SP, stack.at)
    if not returns & _WITHOUT_CALLEE_SAVED:
        at += _CALLEE_SAVED
    saved = [stack.word(at + 4 * place) for place in range(8)]
    if None in saved:
        return None
    r0, r1, r2, r3, r12, link, pc, xpsr = (word or 0 for word in saved)
    size = _FRAME if returns & _WITHOUT_FPU else _FPU_FRAME
    sp = at + size + (4 if xpsr & _IS_PADDED else 0)
    return {**values, 0: r0, 1: r1, 2: r2, 3: r3, 12: r12, _SP: sp, _LR: link, _PC: pc}


class _Table:
    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def _entries(self) -> list[tuple[int, int, object]]:
        """Return start, end and entry of each function, by start."""
        from elftools.dwarf.callframe import FDE  # noqa: PLC0415 - only for a program that has stopped.

        try:
            elf = open_elf(self._path)
            section = elf.get_section_by_name(".debug_frame")
            if section is None or section.data_size > _MOST_TABLE_BYTES:
                return []
            entries = elf.get_dwarf_info().CFI_entries()
            found = [
                (each["initial_location"], each["initial_location"] + each["address_range"], each)
                for each in entries
                if isinstance(each, FDE) and each["address_range"]
            ]
        except elf_damage():
            return []
        return sorted(found, key=lambda each: each[:2])

    @cached_property
    def _starts(self) -> list[int]:
        return [start for start, _, _ in self._entries]

    def caller(self, values: dict[int, int], pc: int, stack: Memory) -> dict[int, int] | None:
        place = bisect.bisect_right(self._starts, pc) - 1
        if place < 0 or pc >= self._entries[place][1]:
            return None
        try:
            rows = self._entries[place][2].get_decoded().table  # type: ignore[attr-defined]
            row = [each for each in rows if each["pc"] <= pc][-1]
            return _restored(values, row, stack)
        except elf_damage():
            return None


def _restored(values: dict[int, int], row: dict[object, object], stack: Memory) -> dict[int, int] | None:
    """Return the registers of the caller; None if they are not known."""
    rule: CFARule = row["cfa"]  # type: ignore[assignment]
    if rule.reg is None or rule.offset is None or rule.reg not in values:
        return None
    frame_address = values[rule.reg] + rule.offset
    restored = {**values, _SP: frame_address}
    for register, saved in row.items():
        if not isinstance(register, int):
            continue
        where: RegisterRule = saved  # type: ignore[assignment]
        if where.type == "OFFSET" and isinstance(where.arg, int):
            word = stack.word(frame_address + where.arg)
            if word is None and register == _LR:
                return None
            restored[register] = word or 0
    if restored.get(_LR) in (None, 0):
        return None
    return {**restored, _PC: restored[_LR]}
