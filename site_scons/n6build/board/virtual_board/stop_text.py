"""Explanation of a run that stops before its goal.

It names the register, variable or interrupt that a program waits for, and the place and cause of
assertions, faults and endless loops.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path

from n6build.base.elf_damage import elf_damage, open_elf
from n6build.board.virtual_board.findings_file import State, Stops, Wait
from n6build.board.virtual_board.source_lines import Places
from n6build.board.virtual_board.stop_functions import ASSERTIONS, ENDS, stop_addresses
from n6build.board.virtual_board.thumb_loops import Memory, loop_at, polled_bits
from n6build.board.virtual_board.unwind import Unwinder, is_exception_return
from n6build.describe.hardware.blocks import blocks_of, register_name
from n6build.describe.hardware.soc import Soc

_EXCEPTIONS = {2: "NMI", 3: "HardFault", 4: "MemManage", 5: "BusFault", 6: "UsageFault", 7: "SecureFault"}
_STACK_OVERFLOW = 20
_MMFAR_VALID, _BFAR_VALID = 7, 15
_CFSR = {
    0: "the MPU forbids the fetch of an instruction",
    1: "the MPU forbids the access to {mmfar}",
    3: "the MPU forbids a return from an exception to load registers",
    4: "the MPU forbids an exception to save registers",
    5: "the MPU forbids to save FPU registers",
    8: "the fetch of an instruction fails",
    9: "the access to {bfar} fails",
    10: "an earlier write fails",
    11: "registers cannot be loaded at the return from an exception",
    12: "registers cannot be saved for an exception: the stack pointer is not in RAM",
    13: "FPU registers cannot be saved",
    16: "the instruction is undefined",
    17: "the address has no Thumb bit: a jump to data, or a damaged pointer to a function",
    18: "the value of LR or PC is invalid at the return from an exception",
    19: "the coprocessor or FPU is off (CPACR)",
    _STACK_OVERFLOW: "stack overflow: the stack pointer is below its limit",
    24: "an access is not aligned",
    25: "a division by zero",
}
_SFSR = {
    0: "a non-secure program enters secure code not at an SG instruction",
    1: "the integrity signature of an exception's frame is wrong",
    2: "the return from an exception is invalid",
    3: "secure memory is accessed by a non-secure program, at {sfar}",
    4: "a branch from secure to non-secure code is invalid",
    5: "FPU registers cannot be saved for lack of security",
    7: "FPU registers cannot be saved",
}
_VECTOR_TABLE, _FORCED = 1, 30


def exception_name(number: int) -> str:
    """Return the name of an exception."""
    return _EXCEPTIONS.get(number, f"exception {number}")


def is_fault(number: int) -> bool:
    """Return true for an exception that a fault causes."""
    return 3 <= number <= 7


def has_stack_overflow(state: State) -> bool:
    """Return true if the stack pointer was below its limit."""
    return bool(state.faults[0] >> _STACK_OVERFLOW & 1)


def fault_text(state: State) -> str:
    """Return the causes of a fault in words, with its registers."""
    cfsr, hfsr, mmfar, bfar, sfsr, sfar = state.faults
    addresses = {
        "mmfar": f"0x{mmfar:08x}" if cfsr >> _MMFAR_VALID & 1 else "an address",
        "bfar": f"0x{bfar:08x}" if cfsr >> _BFAR_VALID & 1 else "an address",
        "sfar": f"0x{sfar:08x}",
    }
    causes = [text.format(**addresses) for bit, text in _CFSR.items() if cfsr >> bit & 1]
    causes += [text.format(**addresses) for bit, text in _SFSR.items() if sfsr >> bit & 1]
    if hfsr >> _VECTOR_TABLE & 1:
        causes.append("the vector table cannot be read (VTOR)")
    values = {"CFSR": cfsr, "HFSR": hfsr, "SFSR": sfsr}
    shown = ", ".join(f"{name} 0x{value:08x}" for name, value in values.items() if value)
    return f"{'; '.join(causes) or 'no cause is recorded'} ({shown or 'CFSR 0'})"


_ALL = 0xFFFFFFFF
_SHOWN_STOPS = 3
_SHOWN_INTERRUPTS = 6
_USES_PROCESS_STACK = 2
_SP, _PC = 13, 15
_WRITABLE, _ALLOCATED = 1, 2


@dataclass(frozen=True)
class Explanation:
    """Reason why a program does not go on.

    Attributes:
        verb: Word in front of the line: Waits, Stopped or Called.
        text: The line.
    """

    verb: str
    text: str


@dataclass(frozen=True)
class Explainer:
    """Explains the stops of one run.

    Attributes:
        soc: Chip of the board.
        programs: ELF files.
    """

    soc: Soc
    programs: tuple[Path, ...]

    @cached_property
    def places(self) -> Places:
        """Return the places of the programs."""
        return Places(self.programs)

    @cached_property
    def _unwinder(self) -> Unwinder:
        return Unwinder(self.programs)

    @cached_property
    def _stops(self) -> Mapping[int, str]:
        return stop_addresses(self.programs)

    def explain(self, stops: Stops, unmodelled: Collection[int], *, ended_early: bool) -> tuple[Explanation, ...]:
        """Return the reasons in their order in the run.

        Args:
            stops: Stops of the run.
            unmodelled: Addresses of registers without a model.
            ended_early: False if the run has reached its goal: only assertions, faults and calls of
                error handlers are explained then.
        """
        of_end = self._of_end(stops, unmodelled) if ended_early else ()
        return (*self._of_functions(stops.functions), *of_end)

    def _of_functions(self, states: Sequence[State]) -> Iterator[Explanation]:
        shown = 0
        for state in states:
            name = self._stops.get(state.registers[_PC] & ~1, "")
            # An assertion calls abort, which calls _exit.
            if shown >= _SHOWN_STOPS or (name in ("abort", *ENDS) and shown):
                continue
            shown += 1
            yield from self._of_state(state, name)

    def _of_state(self, state: State, name: str) -> Iterator[Explanation]:
        if name in ASSERTIONS:
            yield Explanation("Stopped", _assertion(state, name))
        elif name:
            yield Explanation("Stopped", f"{name}() is called{self._arguments(state)}")
        elif is_fault(state.exception):
            yield Explanation("Stopped", f"{exception_name(state.exception)}: {fault_text(state)}")
        yield from self._overflow(state)
        yield from self._called(state)

    def _arguments(self, state: State) -> str:
        function = self.places.function_at(state.registers[_PC])
        names = self.places.parameters(state.registers[_PC]) if function else ()
        if not names:
            return ""
        values = [
            f'{name}="{text}"' if (text := state.texts[place]) else f"{name}=0x{state.registers[place]:x}"
            for place, name in enumerate(names[:4])
        ]
        return f" with {', '.join(values)}"

    def _called(self, state: State) -> Iterator[Explanation]:
        if has_stack_overflow(state):
            yield from self._on_stack(Memory(*state.stack))
            return
        frames = self._unwinder.frames(state.registers, Memory(*state.stack))
        for (pc, after_exception), group in groupby(frames[1:], lambda each: (each.pc, each.after_exception)):
            times = len(list(group))
            more = ", where the exception came" if after_exception else f", {times} times" if times > 1 else ""
            yield Explanation("Called", f"from {self.places.of(pc)}{more}")

    def _on_stack(self, stack: Memory) -> Iterator[Explanation]:
        """Yield the functions that the stack returns to.

        The fault's own frame was not saved.
        """
        words = (stack.word(stack.at + offset) or 0 for offset in range(0, len(stack.data) - 3, 4))
        names = Counter(name for word in words if word & 1 and (name := self.places.function_at(word - 2)))
        if names:
            shown = ", ".join(
                f"{name}(){f' {count} times' if count > 1 else ''}" for name, count in names.most_common(3)
            )
            yield Explanation("Called", f"by functions that the stack returns to: {shown}")

    def _overflow(self, state: State) -> Iterator[Explanation]:
        if has_stack_overflow(state):
            return
        on_main = state.exception or not state.limits[2] & _USES_PROCESS_STACK
        if is_exception_return(state.registers[14]) and not on_main:
            return
        if on_main and (where := self._data_at(state.registers[_SP])):
            text = f"stack overflow: the stack pointer 0x{state.registers[_SP]:08x} is in {where}"
            yield Explanation("Stopped", text)

    def _data_at(self, address: int) -> str:
        """Return the section of variables at an address, with the variable.

        Both are empty if there is none.
        """
        for path in self.programs:
            try:
                for section in open_elf(path).iter_sections():
                    start, flags = section["sh_addr"], section["sh_flags"]
                    name = str(section.name)
                    if flags & (_WRITABLE | _ALLOCATED) != _WRITABLE | _ALLOCATED or not _holds_variables(name):
                        continue
                    if start <= address < start + section["sh_size"]:
                        variable = self.places.variable_at(address)
                        return "" if "stack" in variable.lower() else f"{name}{f', {variable}' if variable else ''}"
            except elf_damage():
                continue
        return ""

    def _of_end(self, stops: Stops, unmodelled: Collection[int]) -> Iterator[Explanation]:
        for wait in stops.waits:
            yield Explanation("Waits", self.wait_text(wait, wait.address in unmodelled))
        state = stops.state
        if state is None or stops.waits or stops.functions:
            return
        pc = state.registers[_PC] & ~1
        if stops.asleep:
            yield Explanation("Waits", f"it sleeps at {self.places.of(pc)} (WFI or WFE); {self._interrupts(stops)}")
        else:
            registers = dict(enumerate(state.registers[:13]))
            loop = loop_at(Memory(*state.code), pc, registers)
            if loop is None:
                return
            if loop.reads:
                names = ", ".join(self.places.variable_at(address) or f"0x{address:08x}" for address in loop.reads)
                text = f"it loops at {self.places.of(loop.start)}, and reads {names} in memory, which does not change"
                yield Explanation("Waits", text)
            elif not loop.has_reads:
                yield Explanation("Stopped", f"an endless loop at {self.places.of(loop.start)}")
            else:
                yield Explanation("Waits", f"it loops at {self.places.of(loop.start)}, and reads memory")
        if is_fault(state.exception):
            yield Explanation("Stopped", f"{exception_name(state.exception)}: {fault_text(state)}")
        yield from self._overflow(state)
        yield from self._called(state)

    def _interrupts(self, stops: Stops) -> str:
        if not stops.interrupts:
            return "no interrupt is enabled"
        names = {number: name for name, number in self.soc.interrupts.items()}
        shown = [names.get(number, str(number)) for number in stops.interrupts[:_SHOWN_INTERRUPTS]]
        more = len(stops.interrupts) - len(shown)
        return f"enabled interrupts: {', '.join(shown)}{f' and {more} more' if more else ''}"

    def wait_text(self, wait: Wait, is_unmodelled: bool) -> str:
        """Return the sentence on a register that a program waits for."""
        bits = polled_bits(Memory(wait.pc, wait.code), wait.registers, Memory(wait.registers[_SP], wait.stack))
        name = register_name(self.soc, wait.address)
        part = "" if bits in (None, _ALL) else f", {_bits_text(self.soc, wait.address, bits or 0)}"
        text = f"0x{wait.address:08X} {name}{part}: reads 0x{wait.value:08x}, {wait.reads:,} times since instruction "
        text += f"{wait.since:,}, at {self.places.of(wait.pc)}"
        if is_unmodelled:
            text += "; the virtual board has no model of this register, which keeps what is written to it"
        return text


def _holds_variables(section: str) -> bool:
    return not any(word in section.lower() for word in ("stack", "heap", "noinit"))


def _assertion(state: State, name: str) -> str:
    file, line, expression, function = ASSERTIONS[name]
    text = f"assertion at {state.texts[file] or 'an unknown file'}:{state.registers[line]}"
    if function >= 0 and state.texts[function]:
        text += f" in {state.texts[function]}()"
    return text + (f": {state.texts[expression]}" if expression >= 0 and state.texts[expression] else "")


def _bits_text(soc: Soc, address: int, bits: int) -> str:
    """Return the names of fields that have these bits, or their numbers."""
    fields = _fields(soc, address)
    names = [name for name, mask in fields.items() if mask & bits]
    if names and not bits & ~sum(fields[name] for name in names):
        return f"{'bit' if bits.bit_count() == 1 else 'bits'} {', '.join(names)}"
    numbers = [str(number) for number in range(32) if bits >> number & 1]
    return f"bit {numbers[0]}" if len(numbers) == 1 else f"bits 0x{bits:x}"


def _fields(soc: Soc, address: int) -> dict[str, int]:
    for block in blocks_of(soc):
        if block.base <= address < block.end:
            for register in soc.peripherals[block.kind].registers.values():
                if register.offset == address - block.base:
                    return {name: _mask(bits) for name, bits in register.fields.items()}
    return {}


def _mask(bits: int | tuple[int, ...]) -> int:
    low, high = (bits, bits) if isinstance(bits, int) else (bits[0], bits[-1])
    return (1 << high + 1) - (1 << low)
