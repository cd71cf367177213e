"""Bits that a program tests, and variables that a loop reads, from Thumb code.

Only the forms that compilers write for such loops are decoded (Armv8-M manual, instruction set).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

_ALL = 0xFFFFFFFF
# Instructions that are looked at behind a read, and halfwords of the longest loop.
_LOOKED_AT = 10
_LONGEST = 48
# Conditions that look at the sign: MI, PL, GE, LT.
_BY_SIGN = (4, 5, 10, 11)
_PC = 15


@dataclass(frozen=True)
class Memory:
    """Instructions or data in memory.

    Attributes:
        at: Address of the first byte.
        data: The bytes.
    """

    at: int
    data: bytes

    def half(self, address: int) -> int | None:
        """Return the halfword at an address; None outside."""
        return self._number(address, 2)

    def word(self, address: int) -> int | None:
        """Return the word at an address; None outside."""
        return self._number(address, 4)

    def _number(self, address: int, size: int) -> int | None:
        offset = address - self.at
        if offset < 0 or offset + size > len(self.data):
            return None
        return int.from_bytes(self.data[offset : offset + size], "little")

    def instructions(self, address: int) -> Iterator[tuple[int, int, int]]:
        """Yield address, first and second halfword of the instructions from an address on.

        The second halfword of a short instruction is -1.
        """
        while (first := self.half(address)) is not None:
            if first >> 11 in (0b11101, 0b11110, 0b11111):
                second = self.half(address + 2)
                if second is None:
                    return
                yield address, first, second
                address += 4
            else:
                yield address, first, -1
                address += 2


NOTHING = Memory(0, b"")


def _expanded(first: int, second: int) -> int:
    """Return the modified immediate of a 32-bit instruction."""
    value, code = second & 0xFF, (first >> 10 & 1) << 4 | (second >> 12 & 7) << 1 | second >> 7 & 1
    if code < 8:
        return (value, value | value << 16, value << 8 | value << 24, value * 0x01010101)[code >> 1]
    rotated = 0x80 | value & 0x7F
    return (rotated >> code | rotated << 32 - code) & _ALL


@dataclass(frozen=True)
class _Load:
    """A read of memory: target, base register and offset.

    The base is None if it is not one register.
    """

    target: int
    base: int | None
    offset: int = 0


def _load(first: int, second: int) -> _Load | None:
    """Return the read that an instruction makes, or None."""
    if second < 0:
        target, base, number = first & 7, first >> 3 & 7, first >> 6 & 31
        scale = {0b01101: 4, 0b01111: 1, 0b10001: 2}.get(first >> 11)
        if scale:
            return _Load(target, base, number * scale)
        if first >> 9 in (0b0101011, 0b0101100, 0b0101101, 0b0101110, 0b0101111):
            return _Load(target, None)
        return _Load(first >> 8 & 7, 13, (first & 0xFF) * 4) if first >> 11 == 0b10011 else None
    if first & 0xFFF0 in (0xF8D0, 0xF890, 0xF8B0, 0xF990, 0xF9B0):
        return _Load(second >> 12, first & 15, second & 0xFFF)
    if first & 0xFFF0 in (0xF850, 0xF810, 0xF830):
        return (
            _Load(second >> 12, first & 15, -(second & 0xFF)) if second & 0xF00 == 0xC00 else _Load(second >> 12, None)
        )
    return None


def polled_bits(code: Memory, registers: Sequence[int], stack: Memory = NOTHING) -> int | None:
    """Return the bits that a program tests of the value that it reads.

    The result is None if the code does not show it.

    Args:
        code: Instructions, the first of which is the read.
        registers: r0 to r14 at the read.
        stack: Memory from the stack pointer on: without optimisation, masks are there.
    """
    known: dict[int, int | None] = dict(enumerate(registers))
    instructions = itertools.islice(code.instructions(code.at), _LOOKED_AT)
    load = next((_load(first, second) for _, first, second in instructions), None)
    value = load.target if load else -1
    shift: int | None = None
    for _, first, second in instructions if load else ():
        if shift is not None:
            if second >= 0 or first >> 12 != 0b1101:
                return None if shift else _ALL
            return 1 << 31 - shift if first >> 8 & 15 in _BY_SIGN else _ALL >> shift
        bits = _short_bits(first, value, known) if second < 0 else _long_bits(first, second, value, known)
        if bits is not None:
            return bits
        if _is_branch(first, second):
            return None
        if other := _load(first, second):
            if other.target == value:
                return None
            base = None if other.base is None else known.get(other.base)
            address = None if base is None else base + other.offset
            known[other.target] = stack.word(address) if address is not None else None
            continue
        shift = _shift_of(first, second, value)
        value = value if shift else _move(first, second, value, known)
    return None


def _shift_of(first: int, second: int, value: int) -> int | None:
    """Return the bits by which an instruction shifts left to set the flags.

    A comparison with zero sets the same flags as a shift by none.
    """
    if second < 0 and first >> 11 == 0b00000 and first >> 3 & 7 == value:  # LSLS
        return first >> 6 & 31
    is_compare = first == 0x2800 | value << 8 if second < 0 else first == 0xF1B0 | value and second == 0x0F00
    return 0 if is_compare else None


def _short_bits(first: int, value: int, known: dict[int, int | None]) -> int | None:
    """Return the bits of a register that a 16-bit instruction tests, or None."""
    low, high = first & 7, first >> 3 & 7
    bits = None
    if first >> 6 in (0b0100001000, 0b0100000000) and value in (low, high):  # TST, ANDS
        bits = known.get(high if value == low else low)
    elif first >> 6 == 0b0100001110 and value == high:  # BICS
        bits = known.get(low)
    elif (
        (first >> 11 == 0b00101 and first >> 8 & 7 == value and first & 0xFF)
        or (first >> 6 == 0b0100001010 and value in (low, high))
        or (first & 0xF500 == 0xB100 and low == value)
    ):  # CMP, CBZ, CBNZ
        bits = _ALL
    return bits


def _long_bits(first: int, second: int, value: int, known: dict[int, int | None]) -> int | None:
    """Return the bits of a register that a 32-bit instruction tests, or None."""
    source, has_constant = first & 15, first >> 11 == 0b11110 and not second >> 15
    bits = None
    if has_constant and first & 0xFBE0 == 0xF000 and source == value:  # AND, TST
        bits = _expanded(first, second)
    elif has_constant and first & 0xFBE0 == 0xF020 and source == value:  # BIC
        bits = ~_expanded(first, second) & _ALL
    elif (
        has_constant
        and first & 0xFBF0 == 0xF1B0
        and source == value
        and second & 0xFFF != 0xF00
        and second >> 8 & 15 == _PC
    ):  # CMP
        bits = _ALL
    elif first & 0xFFE0 == 0xEA00 and value in (source, second & 15):  # AND, TST
        bits = known.get(second & 15 if source == value else source)
    elif first & 0xFFE0 == 0xEA20 and second & 15 == value:  # BIC
        bits = known.get(source)
    elif first & 0xFFF0 == 0xF3C0 and source == value:  # UBFX
        bits = (_ALL >> 31 - (second & 31)) << ((second >> 12 & 7) << 2 | second >> 6 & 3) & _ALL
    return bits


def _move(first: int, second: int, value: int, known: dict[int, int | None]) -> int:
    """Note what an instruction moves, and return its register."""
    target = second >> 8 & 15
    if second < 0 and first >> 11 == 0b00100:  # MOVS with a constant
        known[first >> 8 & 7] = first & 0xFF
    elif second < 0 and first >> 8 == 0b01000110:  # MOV
        moved_to, source = first & 7 | first >> 4 & 8, first >> 3 & 15
        if source == value:
            return moved_to
        known[moved_to] = known.get(source)
    elif first & 0xFBEF == 0xF04F and not second >> 15:  # MOV with a constant
        known[target] = _expanded(first, second)
    elif first & 0xFBF0 == 0xF240 and not second >> 15:  # MOVW
        known[target] = (first & 15) << 12 | (first >> 10 & 1) << 11 | (second >> 12 & 7) << 8 | second & 0xFF
    return value


def _is_branch(first: int, second: int) -> bool:
    if second < 0:
        return first >> 12 == 0b1101 or first >> 11 == 0b11100 or first >> 8 == 0b01000111
    return first >> 11 == 0b11110 and bool(second >> 15)


def _target(address: int, first: int, second: int) -> int | None:
    """Return the target of a branch, None for other instructions and calls."""
    if second < 0:
        if first >> 12 == 0b1101 and first >> 8 & 15 < 14:
            return address + 4 + 2 * ((first & 0xFF ^ 0x80) - 0x80)
        return address + 4 + 2 * ((first & 0x7FF ^ 0x400) - 0x400) if first >> 11 == 0b11100 else None
    if first & 0xF800 == 0xF000 and second & 0xD000 == 0x8000 and first >> 7 & 7 != 7:
        offset = (first >> 10 & 1) << 19 | (second >> 11 & 1) << 18 | (second >> 13 & 1) << 17
        offset |= (first & 63) << 11 | second & 0x7FF
        return address + 4 + 2 * ((offset ^ 0x80000) - 0x80000)
    if first & 0xF800 == 0xF000 and second & 0xD000 == 0x9000:
        sign = first >> 10 & 1
        top = [int((second >> bit & 1) == sign) for bit in (13, 11)]
        offset = sign << 23 | top[0] << 22 | top[1] << 21 | (first & 0x3FF) << 11 | second & 0x7FF
        return address + 4 + 2 * ((offset ^ 0x800000) - 0x800000)
    return None


@dataclass(frozen=True)
class Loop:
    """A loop without calls.

    Attributes:
        start: Address of its first instruction.
        end: Address of its branch back.
        reads: Addresses that it reads, as far as they are known.
        has_reads: True if it reads memory at all.
    """

    start: int
    end: int
    reads: tuple[int, ...] = ()
    has_reads: bool = field(default=False)


def loop_at(code: Memory, pc: int, registers: Mapping[int, int]) -> Loop | None:
    """Return the loop around an instruction.

    The result is None if there is none, or if it calls functions.

    Args:
        code: Instructions around it.
        pc: Address of the instruction.
        registers: Values of registers in the loop.
    """
    start = end = None
    for address, first, second in code.instructions(pc):
        target = _target(address, first, second)
        if target is not None and target <= pc and code.half(target) is not None:
            end, start = address, target
            break
        if _ends_search(first, second) or address - pc > 2 * _LONGEST:
            return None
    if start is None or end is None:
        return None
    reads: list[int] = []
    known, has_reads = dict(registers), False
    for address, first, second in code.instructions(start):
        if address > end:
            break
        if _ends_search(first, second) and address != end:
            return None
        if second < 0 and first >> 11 == 0b01001:
            literal = code.word((address + 4 & ~3) + 4 * (first & 0xFF))
            if literal is not None:
                known[first >> 8 & 7] = literal
        elif load := _load(first, second):
            has_reads = True
            if load.base is not None and load.base in known:
                reads.append((known[load.base] + load.offset) & _ALL)
            known.pop(load.target, None)
    return Loop(start, end, tuple(dict.fromkeys(reads)), has_reads)


def _ends_search(first: int, second: int) -> bool:
    """Return true for calls and returns."""
    if second < 0:
        return first >> 8 in (0b01000111, 0b10111101)
    return first & 0xF800 == 0xF000 and second & 0xD000 in (0xD000, 0xC000)
