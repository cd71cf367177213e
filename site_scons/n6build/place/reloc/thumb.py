"""An interpreter for Thumb functions that return the address of a table.

Only such functions lead to the tables of a network. Compilers differ in the registers that they
use, in whether they save any, and in how they reach data: through the GOT, relative to r9 or to pc.
The interpreter refuses all other instructions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from n6build.place.reloc.model_format import Segment

# Functions of n6build and of ST take three instructions.
_MOST = 64
_SB, _SP, _LR, _PC = 9, 13, 14, 15
# The return address and the stack of the function; neither is a link address.
_CALLER, _STACK = 0xFFFF_FFFF, 0xE000_0000
_WORD = 0xFFFF_FFFF


class NotConstantError(Exception):
    """A function whose result does not follow from the file alone, with the reason."""


def returned_address(entry: int, read: Callable[[int], int]) -> int:
    """Return r0 of a function without arguments.

    Args:
        entry: link address of the function, with the Thumb bit.
        read: function that returns the word of the model at a link address, a multiple of 4; it may
            raise any error for an address outside the model.

    Raises:
        NotConstantError: if the code does anything else; also the errors of `read`.
    """
    core = _Core(read, entry & ~1)
    for _ in range(_MOST):
        if core.step():
            return core.value(0)
    raise NotConstantError(f"has more than {_MOST} instructions")


@dataclass
class _Core:
    """The state of the processor.

    Attributes:
        registers: registers with a known value.
        stack: words that the function has written to its stack.
        at: address of the next instruction.
    """

    read: Callable[[int], int]
    at: int
    registers: dict[int, int] = field(default_factory=lambda: {_SB: Segment.RAM.origin, _SP: _STACK, _LR: _CALLER})
    stack: dict[int, int] = field(default_factory=dict)

    def value(self, register: int) -> int:
        if register == _PC:
            return self.at + 4
        if register not in self.registers:
            raise NotConstantError(f"uses r{register}, which has no value")
        return self.registers[register]

    def set(self, register: int, value: int) -> None:
        self.registers[register] = value & _WORD

    def load(self, address: int) -> int:
        address &= _WORD
        if address % 4:
            raise NotConstantError(f"reads 0x{address:08X}, which is not a word")
        if address in self.stack:
            return self.stack[address]
        return self.read(address)

    def store(self, address: int, register: int) -> None:
        if not _STACK - 4 * _MOST <= address < _STACK or address % 4:
            raise NotConstantError(f"writes to 0x{address:08X}")
        # A register without a known value belongs to the caller and is only saved.
        self.stack[address] = self.registers.get(register, 0)

    def half(self, address: int) -> int:
        return self.read(address & ~3) >> (8 * (address & 2)) & 0xFFFF

    def step(self) -> bool:
        """Carry out one instruction, and return whether the function has returned."""
        first = self.half(self.at)
        if first >> 11 in (0b11101, 0b11110, 0b11111):
            returned = self._wide(first, self.half(self.at + 2))
            self.at += 4
        elif first >> 11 == 0b11100:  # b
            returned = False
            self.at += 4 + 2 * ((first & 0x7FF) - (0x800 if first & 0x400 else 0))
        else:
            returned = self._narrow(first)
            self.at += 2
        return returned

    def _narrow(self, code: int) -> bool:
        if code >> 7 == 0b010001110:  # bx rm
            return self._return(self.value(code >> 3 & 15))
        if code >> 9 in (0b1011010, 0b1011110):  # push, pop
            named = [number for number in range(8) if code >> number & 1]
            extra = _PC if code >> 11 & 1 else _LR
            return self._many([*named, *([extra] if code >> 8 & 1 else [])], is_load=bool(code >> 11 & 1))
        if not (self._narrow_sum(code) or self._narrow_move(code) or code == 0xBF00):  # nop
            raise NotConstantError(f"has the instruction 0x{code:04X}")
        return False

    def _narrow_sum(self, code: int) -> bool:
        """Carry out the computation of a register, and return false for any other."""
        low, middle, high, imm8 = code & 7, code >> 3 & 7, code >> 6 & 7, code & 0xFF
        if code >> 11 == 0b00100:  # movs rd, #imm8
            self.set(code >> 8 & 7, imm8)
        elif code >> 11 in (0b00110, 0b00111):  # adds, subs rd, #imm8
            sign = -1 if code >> 11 & 1 else 1
            self.set(code >> 8 & 7, self.value(code >> 8 & 7) + sign * imm8)
        elif code >> 9 == 0b0001100:  # adds rd, rn, rm
            self.set(low, self.value(middle) + self.value(high))
        elif code >> 9 == 0b0001110:  # adds rd, rn, #imm3; movs rd, rn
            self.set(low, self.value(middle) + high)
        elif code >> 6 == 0:  # movs rd, rm
            self.set(low, self.value(middle))
        elif code >> 8 in (0b01000100, 0b01000110):  # add, mov with any register
            to, source = code >> 4 & 8 | low, code >> 3 & 15
            self.set(to, self.value(source) + (0 if code >> 8 & 2 else self.value(to)))
        elif code >> 11 in (0b10100, 0b10101):  # add rd, pc or sp, #imm8
            base = self.value(_SP) if code >> 11 & 1 else self.value(_PC) & ~3
            self.set(code >> 8 & 7, base + 4 * imm8)
        elif code >> 8 == 0b10110000:  # add, sub sp, #imm7
            self.set(_SP, self.value(_SP) + (-4 if code & 0x80 else 4) * (code & 0x7F))
        else:
            return False
        return True

    def _narrow_move(self, code: int) -> bool:
        """Carry out a load or a store, and return false for any other."""
        low, middle, imm8 = code & 7, code >> 3 & 7, code & 0xFF
        if code >> 11 == 0b01001:  # ldr rt, [pc, #imm8]
            self.set(code >> 8 & 7, self.load((self.value(_PC) & ~3) + 4 * imm8))
        elif code >> 9 == 0b0101100:  # ldr rt, [rn, rm]
            self.set(low, self.load(self.value(middle) + self.value(code >> 6 & 7)))
        elif code >> 11 in (0b01100, 0b01101):  # str, ldr rt, [rn, #imm5]
            address = self.value(middle) + 4 * (code >> 6 & 31)
            self._move(low, address, is_load=bool(code >> 11 & 1))
        elif code >> 11 in (0b10010, 0b10011):  # str, ldr rt, [sp, #imm8]
            self._move(code >> 8 & 7, self.value(_SP) + 4 * imm8, is_load=bool(code >> 11 & 1))
        else:
            return False
        return True

    def _wide(self, first: int, second: int) -> bool:
        if (first, second & 0xFFF) == (0xF85D, 0xB04):  # pop {rt}
            return self._many([second >> 12], is_load=True)
        if (first, second & 0xFFF) == (0xF84D, 0xD04):  # push {rt}
            return self._many([second >> 12], is_load=False)
        if first in (0xE92D, 0xE8BD):  # push.w, pop.w
            return self._many([number for number in range(16) if second >> number & 1], is_load=first == 0xE8BD)
        hint = 0xF3AF  # nop.w, bti, pac, aut
        if not (self._wide_move(first, second) or self._wide_sum(first, second) or first == hint):
            raise NotConstantError(f"has the instruction 0x{first:04X} 0x{second:04X}")
        return False

    def _wide_move(self, first: int, second: int) -> bool:
        """Carry out a load or a store, and return false for any other."""
        base = first & 15
        if first >> 4 == 0xF85 and second >> 6 & 0x3F == 0 and base != _PC:  # ldr.w rt, [rn, rm, lsl #n]
            self.set(second >> 12, self.load(self.value(base) + (self.value(second & 15) << (second >> 4 & 3))))
        elif first in (0xF85F, 0xF8DF):  # ldr.w rt, [pc, #imm12]
            sign = 1 if first & 0x80 else -1
            self.set(second >> 12, self.load((self.value(_PC) & ~3) + sign * (second & 0xFFF)))
        elif first >> 4 in (0xF8C, 0xF8D):  # str.w, ldr.w rt, [rn, #imm12]
            self._move(second >> 12, self.value(base) + (second & 0xFFF), is_load=bool(first & 0x10))
        else:
            return False
        return True

    def _wide_sum(self, first: int, second: int) -> bool:
        """Carry out the computation of a register, and return false for any other."""
        base, to = first & 15, second >> 8 & 15
        imm16 = base << 12 | (first >> 10 & 1) << 11 | (second >> 12 & 7) << 8 | second & 0xFF
        operation = first & 0xFBF0
        if operation == 0xF240 and not second >> 15:  # movw
            self.set(to, imm16)
        elif operation == 0xF2C0 and not second >> 15:  # movt
            self.set(to, imm16 << 16 | self.value(to) & 0xFFFF)
        elif first >> 4 == 0xEB0 and second & 0x70F0 == 0:  # add.w rd, rn, rm
            self.set(to, self.value(base) + self.value(second & 15))
        elif operation in (0xF200, 0xF2A0) and not second >> 15:  # addw, subw rd, rn, #imm12; adr.w
            start = self.value(_PC) & ~3 if base == _PC else self.value(base)
            self.set(to, start + (-1 if operation == 0xF2A0 else 1) * (imm16 & 0xFFF))
        elif first & 0xFBFF == 0xF04F and second >> 8 & 0xF0 == 0 and imm16 & 0xF00 == 0:  # mov.w rd, #imm8
            self.set(to, imm16 & 0xFF)
        else:
            return False
        return True

    def _move(self, register: int, address: int, *, is_load: bool) -> None:
        if is_load:
            self.set(register, self.load(address))
        else:
            self.store(address & _WORD, register)

    def _many(self, registers: list[int], *, is_load: bool) -> bool:
        at = self.value(_SP) - (0 if is_load else 4 * len(registers))
        for place, register in enumerate(registers):
            if not is_load:
                self.store(at + 4 * place, register)
            elif register != _PC:
                self.set(register, self.load(at + 4 * place))
        returned = is_load and _PC in registers and self._return(self.load(at + 4 * (len(registers) - 1)))
        self.set(_SP, at + (4 * len(registers) if is_load else 0))
        return returned

    def _return(self, address: int) -> bool:
        if address != _CALLER:
            raise NotConstantError("calls another function")
        return True
